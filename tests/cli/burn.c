/* SPDX-License-Identifier: MIT */
/* A program with known shares: burn_50, burn_30 and burn_20 take 50, 30 and 20 % of its time. Seconds are of
 * each thread's own CPU time: a busy machine makes it longer, not less.
 *	burn [SECONDS]                        that
 *	burn threads N SECONDS | burn fork SECONDS
 *	burn touch N                          touches N new pages
 *	burn exit N                           prints a line, and exits with N */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

static volatile uint64_t sink;

/* The same loop in each, so that a round of any of them takes the same time. */
#define BURN(name)                                        \
	NOINLINE void name(uint64_t rounds);              \
	NOINLINE void name(uint64_t rounds)               \
	{                                                 \
		uint64_t x = rounds;                      \
                                                          \
		while (rounds--)                          \
			x = x * 6364136223846793005u + 1; \
		sink = x;                                 \
	}

BURN(burn_50)
BURN(burn_30)
BURN(burn_20)

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void burn(double seconds)
{
	double end = now() + seconds;

	while (now() < end) {
		burn_50(50000);
		burn_30(30000);
		burn_20(20000);
	}
}

static void *thread_main(void *seconds)
{
	burn(*(double *)seconds);
	return NULL;
}

/* @count threads at once. */
static void threads(int count, double seconds)
{
	pthread_t all[64];
	int i;

	for (i = 0; i < count && i < 64; i++)
		pthread_create(&all[i], NULL, thread_main, &seconds);
	for (i = 0; i < count && i < 64; i++)
		pthread_join(all[i], NULL);
}

/* Each is a page fault. */
static void touch(size_t pages)
{
	unsigned char *at = mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t i;

	if (at == MAP_FAILED)
		return;
	madvise(at, pages * 4096, MADV_NOHUGEPAGE);
	for (i = 0; i < pages; i++)
		at[i * 4096] = 1;
}

int main(int argc, char **argv)
{
	double seconds = argc > 2 ? atof(argv[argc - 1]) : argc > 1 ? atof(argv[1]) : 1;

	if (argc > 2 && !strcmp(argv[1], "threads")) {
		threads(atoi(argv[2]), seconds);
	} else if (argc > 1 && !strcmp(argv[1], "fork")) {
		if (fork() == 0) {
			burn(seconds);
			_exit(0);
		}
		burn(seconds);
		wait(NULL);
	} else if (argc > 2 && !strcmp(argv[1], "touch")) {
		touch((size_t)atoi(argv[2]));
	} else if (argc > 2 && !strcmp(argv[1], "exit")) {
		printf("to stdout\n");
		return atoi(argv[2]);
	} else {
		burn(seconds);
	}
	return 0;
}
