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
	PERFEV_GONE,	    /* its PMU was removed, or it was taken out of its group */
	PERFEV_NOT_SUPPORTED /* could not be opened (sets and groups) */
};

/* What was read. */
struct perfev_reading {
	uint64_t count;
	uint64_t enabled_ns; /* time the event was on, in its tasks or on its CPU */
	uint64_t running_ns; /* time it had a counter; never above enabled_ns */
	uint64_t lost;	     /* records dropped [6.0], with PERF_FORMAT_LOST in attr.read_format; else 0 */
	uint64_t id;	     /* by which records name the event; 0 in sums and in user-space reads */
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

/*
 * perfev_reading_since() - what was counted between two readings of the same event
 * Its status is that of the time between: an event that had no counter then is not counted, whatever it
 * had before. Not for events that are gauges (PERFEV_EVENT_SNAPSHOT).
 * Return: true; false when @now is less than @before, as after a reset: then *@ret is @now.
 * Since: 0.1
 */
PERFEV_API bool perfev_reading_since(struct perfev_reading *ret, const struct perfev_reading *now,
				     const struct perfev_reading *before);

/*
 * perfev_reading_rate() - events in each second that the event was counted
 * Multiplexing does not change it, as both the count and the time are of the running part.
 * Return: true, or false when it never ran and nothing can be said.
 * Since: 0.1
 */
PERFEV_API bool perfev_reading_rate(const struct perfev_reading *reading, double *ret);

/*
 * perfev_reading_to_json() - {"count":10,"enabled_ns":5,"running_ns":5,"lost":0,"id":7,"status":"counted","why":"none"}
 * Numbers above 2^53 - 1 are decimal texts, as json.h says; why is a name of perfev_why_name().
 * @ret: gets at most @size bytes, terminated; may be NULL when @size is 0.
 * Return: the length of the whole JSON.
 * Since: 0.1
 */
PERFEV_API int perfev_reading_to_json(char *ret, size_t size, const struct perfev_reading *reading,
				      struct perfev_error *err);

/*
 * perfev_reading_from_json() - a reading from such JSON
 * All members have to be there, in any order; status and why may be their numbers.
 * Return: 0; -EINVAL (why SYNTAX) with err->where = the offset in the JSON.
 * Since: 0.1
 */
PERFEV_API int perfev_reading_from_json(struct perfev_reading *ret, const char *json, struct perfev_error *err);

/* What an open may leave out rather than fail; perfev_*_dropped() says what was. */
enum perfev_drop {
	PERFEV_DROP_KERNEL = 1 << 0, /* kernel and hypervisor modes, when they are forbidden */
	PERFEV_DROP_RING = 1 << 1,   /* ring size: halved until it fits the locked-memory budget */
	PERFEV_DROP_GROUP = 1 << 2,  /* its group, which was weak (W) and did not fit on the PMU; always
				      * allowed, as W asks for it */
	PERFEV_DROP_INHERIT = 1 << 3 /* samplers: attr.inherit, which kernels before 6.12 have not with counts
				      * in samples (S); always allowed, as is shown there */
};

struct perfev_counter;

struct perfev_counter_opts {
	size_t size;
	uint32_t may_drop;  /* enum perfev_drop */
	uint32_t user_read; /* not 0: map the event's page, so that perfev_counter_read_fast() can do without
			     * the kernel. A page that cannot be mapped is no error of the open:
			     * perfev_counter_can_read_fast() says why. */
	uint32_t partial;   /* groups only; not 0: members that cannot be opened are left out */
	uint32_t reserved;
	const struct perfev_counter *output; /* samples go into the ring of this one, from the first: as
					      * PERF_FLAG_FD_OUTPUT with FD_NO_GROUP, or of a group's
					      * members perfev_counter_set_output(). NULL: to a ring of
					      * its own. */
};

/*
 * perfev_counter_open() - open one event on one target
 * @on: a thread, a CPU, or a cgroup on a CPU. perfev_on_process() and perfev_on_all_cpus() need a
 *	set (set.h).
 * The counter is stopped unless attr.disabled was cleared. Its descriptor is close-on-exec. To
 * attr.read_format the two times and the id are added, and PERF_FORMAT_GROUP is taken away.
 * Return: 0, or a negative errno; the error says which rule of the kernel was met.
 * Since: 0.1
 */
PERFEV_API int perfev_counter_open(struct perfev_counter **ret, const struct perfev_event *event,
				   struct perfev_target on, const struct perfev_counter_opts *opts,
				   struct perfev_error *err);
/* perfev_counter_close() - a member of a group is left alone: its group closes it */
PERFEV_API void perfev_counter_close(struct perfev_counter *counter);

/* ---- counting ---------------------------------------------------------------------------------- */

/* perfev_counter_start(), perfev_counter_stop() - count from now on; count no more
 * Return: 0, or a negative errno. The time that the calls take is not counted. */
PERFEV_API int perfev_counter_start(struct perfev_counter *counter, struct perfev_error *err);
PERFEV_API int perfev_counter_stop(struct perfev_counter *counter, struct perfev_error *err);
/* perfev_counter_reset() - set the count to 0; the times go on, and so do counts of children that have
 * ended
 * Return: 0, or a negative errno. */
PERFEV_API int perfev_counter_reset(struct perfev_counter *counter, struct perfev_error *err);

/*
 * perfev_counter_read() - a snapshot, by one system call
 * Allocates nothing; with err NULL it may be called from a signal handler, which saves errno as any.
 * Return: 0, or a negative errno.
 */
PERFEV_API int perfev_counter_read(const struct perfev_counter *counter, struct perfev_reading *ret,
				   struct perfev_error *err);

/*
 * perfev_counter_read_fast() - a snapshot without a system call, where that can be; else by one
 * From the event's page and the CPU's counter, with the times up to now. Needs opts.user_read, and the
 * thread that the event counts: any other caller is given perfev_counter_read(). Lost and id read 0.
 * A child made by fork(2) has not the page, and must not call this.
 * Return: 1, read without the kernel; 0, by read(2); a negative errno.
 * Since: 0.1
 */
PERFEV_API int perfev_counter_read_fast(const struct perfev_counter *counter,
					struct perfev_reading *ret, struct perfev_error *err);

/*
 * perfev_counter_can_read_fast() - whether perfev_counter_read_fast() does without the kernel here, now
 * Return: true; false with the cause in @err: software events have no counter, the machine or a sysctl
 * forbids it, the clock is not steady, the event has no counter at this moment.
 * Since: 0.1
 */
PERFEV_API bool perfev_counter_can_read_fast(const struct perfev_counter *counter,
					     struct perfev_error *err);

/* ---- what else an open counter can be told ----------------------------------------------------- */

/*
 * perfev_counter_refresh() - start, for @overflows more overflows of its period; then it is stopped
 * Each overflow can be told by a signal (perfev_counter_signal()), or, when the descriptor has a ring,
 * by poll(2). Kernels from 6.16 on leave tracepoints, probes and breakpoints dead after the last one;
 * this starts them again, and so does perfev_counter_start(). Their first overflow may then come early.
 * Return: 0; -EINVAL when the event does not sample or is inherited, or for @overflows below 1;
 * -EOPNOTSUPP for clocks on kernels 6.16 and 6.17, which hang; a negative errno.
 * Since: 0.1
 */
PERFEV_API int perfev_counter_refresh(struct perfev_counter *counter, int overflows,
				      struct perfev_error *err);

/*
 * perfev_counter_signal() - a signal at each overflow
 * Its siginfo has si_fd, the descriptor, and si_code: POLL_IN, or POLL_HUP at the last one of
 * perfev_counter_refresh().
 * @number: of the signal; 0: no more.
 * @tid: which thread gets it; 0: the caller.
 * Return: 0, or a negative errno.
 * Since: 0.1
 */
PERFEV_API int perfev_counter_signal(struct perfev_counter *counter, int number, int32_t tid,
				     struct perfev_error *err);

/*
 * perfev_counter_set_period() - another period, or with attr.freq another frequency, from now on
 * Return: 0; -EINVAL when the event does not sample, for 0, for bit 63, for a frequency above
 * perf_event_max_sample_rate, for less than the PMU can; a negative errno.
 * Since: 0.1
 */
PERFEV_API int perfev_counter_set_period(struct perfev_counter *counter, uint64_t period,
					 struct perfev_error *err);

/*
 * perfev_counter_set_filter() - as perfev_event_set_filter(), of an open event
 * Return: 0; -EEXIST when a tracepoint or probe has one, as the kernel does not replace it; -EINVAL for
 * one that it does not take; a negative errno.
 * Since: 0.1
 */
PERFEV_API int perfev_counter_set_filter(struct perfev_counter *counter, const char *filter,
					 struct perfev_error *err);

/*
 * perfev_counter_attach_bpf() - run a BPF program at each event
 * On a tracepoint or probe it runs for every task, whatever the target.
 * @prog_fd: from bpf(2); may be closed afterwards.
 * Return: 0, or a negative errno.
 * Since: 0.1
 */
PERFEV_API int perfev_counter_attach_bpf(struct perfev_counter *counter, int prog_fd,
					 struct perfev_error *err);

/*
 * perfev_counter_bpf_ids() - the BPF programs on a tracepoint
 * @ret: gets at most @room ids.
 * Return: how many there are, which may be more than @room; -EPERM without CAP_PERFMON; -EINVAL for
 * what is no tracepoint; a negative errno.
 * Since: 0.1
 */
PERFEV_API int perfev_counter_bpf_ids(const struct perfev_counter *counter, uint32_t *ret,
				      size_t room, struct perfev_error *err);

/*
 * perfev_counter_pause_output(), perfev_counter_resume_output() - write nothing into the ring that the
 * event has mapped, and write again. What comes meanwhile is lost, and counted as that.
 * Return: 0; -EINVAL without a ring; a negative errno.
 * Since: 0.1
 */
PERFEV_API int perfev_counter_pause_output(struct perfev_counter *counter, struct perfev_error *err);
PERFEV_API int perfev_counter_resume_output(struct perfev_counter *counter, struct perfev_error *err);

/*
 * perfev_counter_set_output() - write samples into the ring of @to, or with NULL no longer
 * Return: 0; -EINVAL when the two do not fit: another CPU, thread or clock, no ring there, or one of its
 * own; a negative errno.
 * Since: 0.1
 */
PERFEV_API int perfev_counter_set_output(struct perfev_counter *counter,
					 const struct perfev_counter *to, struct perfev_error *err);

/*
 * perfev_counter_modify() - move an open breakpoint to the place, kind and length of @event
 * Its sig_data is taken too. It goes on counting when it was started with perfev_counter_start() or
 * perfev_counter_refresh(). When that is refused all is as before.
 * Return: 0; -EINVAL when @event is no breakpoint; -EOPNOTSUPP when the counter is none; a negative
 * errno.
 * Since: 0.1
 */
PERFEV_API int perfev_counter_modify(struct perfev_counter *counter, const struct perfev_event *event,
				     struct perfev_error *err);

/* ---- what it is -------------------------------------------------------------------------------- */

/* perfev_counter_id() - the number by which records name the event; also before 3.12, by reading it
 * Return: 0, or a negative errno. */
PERFEV_API int perfev_counter_id(const struct perfev_counter *counter, uint64_t *ret,
				 struct perfev_error *err);
/* perfev_counter_attr() - the attr as the kernel took it: what was dropped is not in it */
PERFEV_API const struct perf_event_attr *perfev_counter_attr(const struct perfev_counter *counter);
/* Its descriptor, which stays the counter's. */
PERFEV_API int perfev_counter_fd(const struct perfev_counter *counter);
/*
 * perfev_counter_release() - close the counter, but not its descriptor
 * Return: the descriptor, which is the caller's now; -EBUSY for a member of a group, which stays as it
 * is.
 * Since: 0.1
 */
PERFEV_API int perfev_counter_release(struct perfev_counter *counter);
/* What was left out: enum perfev_drop. */
PERFEV_API uint32_t perfev_counter_dropped(const struct perfev_counter *counter);

/* ---- all at once ------------------------------------------------------------------------------- */

/*
 * perfev_start_all(), perfev_stop_all() - every event that the calling thread opened, on whatever task
 * Not those that others opened on it.
 * Return: 0, or a negative errno.
 * Since: 0.1
 */
PERFEV_API int perfev_start_all(struct perfev_error *err);
PERFEV_API int perfev_stop_all(struct perfev_error *err);

PERFEV_END

#endif
