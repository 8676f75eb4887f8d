/* SPDX-License-Identifier: MIT */
/*
 * perfev/clock.h - the clock of perf events, and the CPU's cycle counter
 *
 * Times of events are of the kernel's own clock, unless attr.use_clockid names another. Where that clock
 * is made of the CPU's cycle counter (the TSC of x86, CNTVCT of arm64, the time CSR of riscv), a program
 * can take a time itself, and traces that have cycles can be put beside records that have times.
 */
#ifndef PERFEV_CLOCK_H
#define PERFEV_CLOCK_H

#include <perfev/counter.h>

PERFEV_BEGIN

/* How cycles become ns: time = zero + cycles x mult / 2^shift. As the kernel's mmap page and records of
 * type TIME_CONV have it. */
struct perfev_clock {
	uint64_t zero;
	uint64_t cycles; /* of counters narrower than 64 bits: where they were, and their mask */
	uint64_t mask;	 /* UINT64_MAX: all bits are there */
	uint32_t mult;
	uint32_t shift;
};

/*
 * perfev_clock_load() - the clock that a mapped page tells
 * @page: perf_event_mmap_page, of a counter, a ring, or perfev_raw_mmap().
 * Return: true; false when the kernel gives none: the cycle counter is not its clock here, or it is
 * older than 3.12.
 * Since: 0.1
 */
PERFEV_API bool perfev_clock_load(struct perfev_clock *ret, const struct perf_event_mmap_page *page);

/*
 * perfev_counter_clock() - the same of a counter that was opened with opts.user_read
 * Return: 0; -EOPNOTSUPP when there is none.
 * Since: 0.1
 */
PERFEV_API int perfev_counter_clock(const struct perfev_counter *counter, struct perfev_clock *ret,
				    struct perfev_error *err);

/* perfev_clock_time() - ns of the perf clock, at that many cycles */
PERFEV_API uint64_t perfev_clock_time(const struct perfev_clock *clock, uint64_t cycles);
/* perfev_clock_cycles() - cycles at that time of the perf clock, which is not before clock->zero */
PERFEV_API uint64_t perfev_clock_cycles(const struct perfev_clock *clock, uint64_t time_ns);

/*
 * perfev_cycles() - the cycle counter, now
 * Return: true, or false where the library knows of none that programs may read.
 */
PERFEV_API bool perfev_cycles(uint64_t *ret);

PERFEV_END

#endif
