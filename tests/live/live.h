/* SPDX-License-Identifier: MIT */
/* What live tests share: work that makes events, and what they need. */
#ifndef TESTS_LIVE_H
#define TESTS_LIVE_H

#include "../unit/left.h"
#include "../unit/test.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* Sanitizers would touch pages of their own for each of ours. */
#define PLAIN __attribute__((noinline, unused, no_sanitize("address", "undefined")))

/* @count first touches of pages: minor faults. */
PLAIN static void touch_pages(size_t count)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i, some;

	for (; count; count -= some) { /* not all at once: pages may be large */
		unsigned char *memory;

		some = count < 1000 ? count : 1000;
		memory = mmap(NULL, some * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		assert_ptr_not_equal(memory, MAP_FAILED);
		madvise(memory, some * page, MADV_NOHUGEPAGE);
		for (i = 0; i < some; i++)
			*(volatile unsigned char *)(memory + i * page) = 1;
		munmap(memory, some * page);
	}
}

/* A program of 32 bits on a kernel of 64: its system calls are others, and not all can be traced. */
static inline bool is_compat(void)
{
	struct utsname name;

	return sizeof(long) == 4 && uname(&name) == 0 && (strstr(name.machine, "64") || !strcmp(name.machine, "s390x"));
}

/* @ms of this thread on a CPU: not of the clock, since others may want the CPU too. */
PLAIN static void burn_ms(long ms)
{
	struct timespec start, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
	do {
		volatile int i;

		for (i = 0; i < 10000; i++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < ms);
}

/* Whether this user may do what a test needs; skips when not. */
static inline void need(enum perfev_ability ability)
{
	struct perfev_error err;

	if (!perfev_probe(ability, &err))
		SKIP("%s", err.text);
}

#endif
