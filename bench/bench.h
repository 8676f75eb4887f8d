/* SPDX-License-Identifier: MIT */
/* Timing for benchmarks: two things in turn, many times, and the ratio of each pair. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifndef BENCH_PAIRS /* short operations take more */
#define BENCH_PAIRS 31
#endif

static inline double bench_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline int bench_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static inline double bench_median(double *numbers, int count)
{
	qsort(numbers, (size_t)count, sizeof(*numbers), bench_compare);
	return numbers[count / 2];
}

/* ns for each of @count operations of @work. */
static inline double bench_once(void (*work)(void *, int), void *context, int count)
{
	double start = bench_now();

	work(context, count);
	return (bench_now() - start) / count;
}

/* Prints a row: ours, the other, and the median ratio of pairs that ran one after the other. */
static inline void bench_pair(const char *name, const char *other_name, void (*work)(void *, int),
			      void (*other)(void *, int), void *context, int count)
{
	double ours[BENCH_PAIRS], theirs[BENCH_PAIRS], ratios[BENCH_PAIRS];
	int i;

	bench_once(work, context, count);
	bench_once(other, context, count);
	for (i = 0; i < BENCH_PAIRS; i++) {
		ours[i] = bench_once(work, context, count);
		theirs[i] = bench_once(other, context, count);
		ratios[i] = ours[i] / theirs[i];
	}
	printf("%-34s %9.1f ns   %-22s %9.1f ns   ratio %.3f\n", name, bench_median(ours, BENCH_PAIRS), other_name,
	       bench_median(theirs, BENCH_PAIRS), bench_median(ratios, BENCH_PAIRS));
}

/* A row without another. */
static inline void bench_row(const char *name, void (*work)(void *, int), void *context, int count)
{
	double ours[BENCH_PAIRS];
	int i;

	bench_once(work, context, count);
	for (i = 0; i < BENCH_PAIRS; i++)
		ours[i] = bench_once(work, context, count);
	printf("%-34s %9.1f ns\n", name, bench_median(ours, BENCH_PAIRS));
}

#endif
