/* SPDX-License-Identifier: MIT */
/*
 * The instructions by which a program reads a counter of the CPU, and the cycle counter that the kernel
 * makes its clock of. A test has its own in their place, by defining the guard of this file.
 *
 * Reading a counter that the kernel has not opened to this process is a fault (x86: SIGSEGV, others:
 * SIGILL): only numbers from an event's page may be asked for. No barriers: the protocol of the page needs
 * none, and a program that wants one knows better which.
 */
#ifndef KERNEL_ARCH_COUNTERS_H
#define KERNEL_ARCH_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__) || defined(__i386__)
#define COUNTERS_READABLE 1

#ifdef __x86_64__
/* Both clear the upper halves of the two registers. */
#define COUNTERS_JOIN "\n\tshlq $32, %%rdx\n\torq %%rdx, %0"
#define COUNTERS_OUT  "=a"(value) :
#define COUNTERS_LOST "rdx", "cc"
#else
#define COUNTERS_JOIN ""
#define COUNTERS_OUT  "=A"(value) :
#define COUNTERS_LOST "cc"
#endif

static inline uint64_t counters_read(uint32_t number)
{
	uint64_t value;

	__asm__ volatile("rdpmc" COUNTERS_JOIN : COUNTERS_OUT "c"(number) : COUNTERS_LOST);
	return value;
}

static inline uint64_t counters_cycles(void)
{
	uint64_t value;

	__asm__ volatile("rdtsc" COUNTERS_JOIN : COUNTERS_OUT : COUNTERS_LOST);
	return value;
}

#ifdef __x86_64__
#define COUNTERS_SCALE 1

/* value x mult / 2^shift, of which 64 bits are kept; a compiler would make sure that shift is below 64 */
static inline uint64_t counters_scale(uint64_t value, uint32_t mult, uint16_t shift)
{
	uint64_t low, high;

	__asm__("mulq %3" : "=a"(low), "=d"(high) : "%0"(value), "r"((uint64_t)mult) : "cc");
	__asm__("shrdq %b2, %1, %0" : "+r"(low) : "r"(high), "c"(shift) : "cc");
	return low;
}
#endif

#elif defined(__aarch64__)
#define COUNTERS_READABLE 1

/* PMEVCNTR<8 m + n>_EL0 are encoded as S3_3_C14_C<8 + m>_<n>; registers cannot be named by a variable. */
#define COUNTERS_CASE(m, n)                                                             \
	case (m) * 8 + (n):                                                             \
		__asm__ volatile("mrs %0, S3_3_C14_C" COUNTERS_WORD_##m "_" #n : "=r"(value)); \
		return value;
#define COUNTERS_WORD_0 "8"
#define COUNTERS_WORD_1 "9"
#define COUNTERS_WORD_2 "10"
#define COUNTERS_WORD_3 "11"
#define COUNTERS_SEVEN(m)                                                                        \
	COUNTERS_CASE(m, 0) COUNTERS_CASE(m, 1) COUNTERS_CASE(m, 2) COUNTERS_CASE(m, 3)          \
	COUNTERS_CASE(m, 4) COUNTERS_CASE(m, 5) COUNTERS_CASE(m, 6)
#define COUNTERS_EIGHT(m) COUNTERS_SEVEN(m) COUNTERS_CASE(m, 7)

static inline uint64_t counters_read(uint32_t number)
{
	uint64_t value;

	switch (number) {
	COUNTERS_EIGHT(0)
	COUNTERS_EIGHT(1)
	COUNTERS_EIGHT(2)
	COUNTERS_SEVEN(3)
	default: /* 31: PMCCNTR_EL0 */
		__asm__ volatile("mrs %0, S3_3_C9_C13_0" : "=r"(value));
		return value;
	}
}

static inline uint64_t counters_cycles(void)
{
	uint64_t value;

	__asm__ volatile("mrs %0, S3_3_C14_C0_2" : "=r"(value)); /* CNTVCT_EL0 */
	return value;
}

#elif defined(__riscv) && __riscv_xlen == 64
#define COUNTERS_READABLE 1

#define COUNTERS_CASE(n)                                                           \
	case (n):                                                                  \
		__asm__ volatile("csrr %0, 0xc00 + " #n : "=r"(value));            \
		return value;
#define COUNTERS_FOUR(a, b, c, d) COUNTERS_CASE(a) COUNTERS_CASE(b) COUNTERS_CASE(c) COUNTERS_CASE(d)

static inline uint64_t counters_read(uint32_t number)
{
	uint64_t value;

	switch (number & 31) {
	COUNTERS_FOUR(0, 2, 3, 4)
	COUNTERS_FOUR(5, 6, 7, 8)
	COUNTERS_FOUR(9, 10, 11, 12)
	COUNTERS_FOUR(13, 14, 15, 16)
	COUNTERS_FOUR(17, 18, 19, 20)
	COUNTERS_FOUR(21, 22, 23, 24)
	COUNTERS_FOUR(25, 26, 27, 28)
	COUNTERS_CASE(29)
	COUNTERS_CASE(30)
	COUNTERS_CASE(31)
	default: /* 1: the time, which no event is */
		return 0;
	}
}

static inline uint64_t counters_cycles(void)
{
	uint64_t value;

	__asm__ volatile("csrr %0, 0xc01" : "=r"(value)); /* time */
	return value;
}

#else /* others do not let programs read them */
#define COUNTERS_READABLE 0

static inline uint64_t counters_read(uint32_t number)
{
	(void)number;
	return 0;
}

static inline uint64_t counters_cycles(void)
{
	return 0;
}
#endif

#ifndef COUNTERS_SCALE
static inline uint64_t counters_scale(uint64_t value, uint32_t mult, uint16_t shift)
{
#ifdef __SIZEOF_INT128__
	__extension__ typedef unsigned __int128 wide;

	return (uint64_t)(((wide)value * mult) >> (shift & 63u));
#else
	uint64_t rest = value & ((UINT64_C(1) << (shift & 63u)) - 1);

	return (value >> (shift & 63u)) * mult + ((rest * mult) >> (shift & 63u));
#endif
}
#endif

#endif
