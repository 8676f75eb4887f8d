/* SPDX-License-Identifier: MIT */
/*
 * A system call of three arguments, inline. After a system call each return of a function is dear on many CPUs, as
 * the kernel makes them forget where returns go; reads of counters are as short as that. It leaves errno alone, so
 * that a signal handler may use it. Where there is none the C library's functions are called.
 */
#ifndef KERNEL_ARCH_CALL_H
#define KERNEL_ARCH_CALL_H

#include <sys/syscall.h>

#if defined(__x86_64__) && !defined(__ILP32__)
#define CALL_INLINE 1

static inline long call3(long number, long a, long b, long c)
{
	long r = number;

	__asm__ volatile("syscall" : "+a"(r) : "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return r;
}

#elif defined(__aarch64__) && !defined(__ILP32__)
#define CALL_INLINE 1

static inline long call3(long number, long a, long b, long c)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
	return x0;
}

#elif defined(__riscv) && __riscv_xlen == 64
#define CALL_INLINE 1

static inline long call3(long number, long a, long b, long c)
{
	register long a7 __asm__("a7") = number;
	register long a0 __asm__("a0") = a;
	register long a1 __asm__("a1") = b;
	register long a2 __asm__("a2") = c;

	__asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2) : "memory");
	return a0;
}

#else
#define CALL_INLINE 0
#endif

#endif
