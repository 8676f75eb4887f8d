/* SPDX-License-Identifier: MIT */
/* The number of perf_event_open(2), also where the C library's headers are older than the kernel's
 * interface. From the system call tables of each architecture. */
#ifndef KERNEL_NR_H
#define KERNEL_NR_H

#if defined(__x86_64__) && defined(__ILP32__)
#define NR_PERF_EVENT_OPEN (0x40000000 + 298)
#elif defined(__x86_64__)
#define NR_PERF_EVENT_OPEN 298
#elif defined(__i386__)
#define NR_PERF_EVENT_OPEN 336
#elif defined(__arm__)
#define NR_PERF_EVENT_OPEN 364
#elif defined(__powerpc__)
#define NR_PERF_EVENT_OPEN 319
#elif defined(__s390__)
#define NR_PERF_EVENT_OPEN 331
#elif defined(__sparc__)
#define NR_PERF_EVENT_OPEN 327
#elif defined(__mips__) && _MIPS_SIM == _ABIO32
#define NR_PERF_EVENT_OPEN 4333
#elif defined(__mips__) && _MIPS_SIM == _ABIN32
#define NR_PERF_EVENT_OPEN 6296
#elif defined(__mips__)
#define NR_PERF_EVENT_OPEN 5292
#elif defined(__hppa__)
#define NR_PERF_EVENT_OPEN 318
#elif defined(__alpha__)
#define NR_PERF_EVENT_OPEN 493
#elif defined(__m68k__)
#define NR_PERF_EVENT_OPEN 332
#elif defined(__sh__)
#define NR_PERF_EVENT_OPEN 336
#elif defined(__xtensa__)
#define NR_PERF_EVENT_OPEN 327
#elif defined(__microblaze__)
#define NR_PERF_EVENT_OPEN 366
#elif defined(__ia64__) /* left the kernel in 6.7 */
#define NR_PERF_EVENT_OPEN 1352
#elif defined(__aarch64__) || defined(__riscv) || defined(__loongarch__) || defined(__csky__) ||   \
	defined(__arc__) || defined(__or1k__) || defined(__nios2__) || defined(__hexagon__)
#define NR_PERF_EVENT_OPEN 241 /* the table that newer architectures share */
#else /* newer than this file; a guess would make another call */
#include <sys/syscall.h>
#ifndef SYS_perf_event_open
#error "the number of perf_event_open on this architecture is not known: add it"
#endif
#define NR_PERF_EVENT_OPEN SYS_perf_event_open
#endif

#endif
