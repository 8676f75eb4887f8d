/* SPDX-License-Identifier: MIT */
/*
 * perfev/counter.h - counters: one event on one target, one descriptor
 *
 * Multiplexing: when more events are asked for than the CPU has counters, the kernel takes turns. A
 * reading then has running_ns < enabled_ns, and its count covers the running part only;
 * perfev_reading_scaled() estimates the whole. An event that never got a counter has running_ns 0:
 * that is "not counted", which is not the same as 0.
 */
#ifndef PERFEV_COUNTER_H
#define PERFEV_COUNTER_H

#include <perfev/event.h>
#include <perfev/target.h>

PERFEV_BEGIN

enum perfev_status {
	PERFEV_COUNTED = 0,
	PERFEV_NOT_COUNTED, /* never scheduled, or it cannot be seen: perfev_reading.why */
	PERFEV_ERROR_STATE, /* pinned, and could not stay on the PMU */
	PERFEV_GONE,	    /* its PMU was removed */
	PERFEV_NOT_SUPPORTED /* could not be opened (sets only) */
};

/* What was read. */
struct perfev_reading {
	uint64_t count;
	uint64_t enabled_ns; /* time the event was on, in its tasks or on its CPU */
	uint64_t running_ns; /* time it had a counter; never above enabled_ns */
	uint64_t lost;	     /* records dropped [6.0]; 0 when the kernel cannot say */
	uint64_t id;
	enum perfev_status status;
	uint32_t why; /* of PERFEV_NOT_COUNTED: PERFEV_WHY_COUNTERS it never had a counter;
		       * PERFEV_WHY_PARANOID it happens in the kernel, which was excluded */
};

/*
 * perfev_reading_scaled() - the count as if the event had run all the time it was on
 * Exact when it did; else an estimate, computed without overflow (the result saturates).
 * Return: true, or false when it never ran and nothing can be said.
 */
PERFEV_API bool perfev_reading_scaled(const struct perfev_reading *reading, uint64_t *ret);

/* perfev_reading_add() - add one reading to another: counts, times, losses; the worse status stays */
PERFEV_API void perfev_reading_add(struct perfev_reading *sum, const struct perfev_reading *more);

/* What an open may leave out rather than fail; perfev_*_dropped() says what was. */
enum perfev_drop {
	PERFEV_DROP_KERNEL = 1 << 0, /* kernel and hypervisor modes, when they are forbidden */
	PERFEV_DROP_RING = 1 << 1,   /* ring size: halved until it fits the locked-memory budget */
	PERFEV_DROP_GROUP = 1 << 2   /* its group, which was weak (W) and did not fit on the PMU; always
				      * allowed, as W asks for it */
};

struct perfev_counter_opts {
	size_t size;
	uint32_t may_drop; /* enum perfev_drop */
	uint32_t reserved;
};

struct perfev_counter;

/*
 * perfev_counter_open() - open one event on one target
 * @on: a thread, a CPU, or a cgroup on a CPU. perfev_on_process() and perfev_on_all_cpus() need a
 *	set (set.h).
 * The counter is stopped unless attr.disabled was cleared. Its descriptor is close-on-exec. To
 * attr.read_format the two times are added, and PERF_FORMAT_GROUP is taken away.
 * Return: 0, or a negative errno; the error says which rule of the kernel was met.
 * Since: 0.1
 */
PERFEV_API int perfev_counter_open(struct perfev_counter **ret, const struct perfev_event *event,
				   struct perfev_target on, const struct perfev_counter_opts *opts,
				   struct perfev_error *err);
PERFEV_API void perfev_counter_close(struct perfev_counter *counter);

/* perfev_counter_start(), perfev_counter_stop() - count from now on; count no more
 * Return: 0, or a negative errno. The time that the calls take is not counted. */
PERFEV_API int perfev_counter_start(struct perfev_counter *counter, struct perfev_error *err);
PERFEV_API int perfev_counter_stop(struct perfev_counter *counter, struct perfev_error *err);
/* perfev_counter_reset() - set the count to 0; the times go on, and so do counts of children that have
 * ended */
PERFEV_API int perfev_counter_reset(struct perfev_counter *counter, struct perfev_error *err);

/*
 * perfev_counter_read() - a snapshot, by one system call
 * Allocates nothing; with err NULL it may be called from a signal handler.
 */
PERFEV_API int perfev_counter_read(const struct perfev_counter *counter, struct perfev_reading *ret,
				   struct perfev_error *err);

/* Its descriptor, which stays the counter's. */
PERFEV_API int perfev_counter_fd(const struct perfev_counter *counter);
/* What was left out: enum perfev_drop. */
PERFEV_API uint32_t perfev_counter_dropped(const struct perfev_counter *counter);

PERFEV_END

#endif
