/* SPDX-License-Identifier: MIT */
/*
 * perfev/set.h - sets: many events on many threads and CPUs, planned and read as one
 */
#ifndef PERFEV_SET_H
#define PERFEV_SET_H

#include <perfev/counter.h>

PERFEV_BEGIN

struct perfev_set_opts {
	size_t size;
	uint32_t may_drop; /* enum perfev_drop */
	uint32_t partial;  /* not 0: events that cannot be opened are left out: perfev_set_error() */
};

struct perfev_set;

/*
 * perfev_set_open() - open all events on a target
 * One descriptor for each event, thread and CPU that the target takes; none for tools (PERFEV_TOOL_...), so that
 * the first event behind one leads their group. Threads of a process are looked up until no new one appears; those started later are counted when attr.inherit is set.
 * Return: 0; a negative errno when an event cannot be opened, or, with opts.partial, when none can.
 * Since: 0.1
 */
PERFEV_API int perfev_set_open(struct perfev_set **ret, const struct perfev_events *events,
			       struct perfev_target on, const struct perfev_set_opts *opts,
			       struct perfev_error *err);
PERFEV_API void perfev_set_close(struct perfev_set *set);

/* perfev_set_start(), perfev_set_stop() - all events on; all off. Return: 0, a negative errno. */
PERFEV_API int perfev_set_start(struct perfev_set *set, struct perfev_error *err);
PERFEV_API int perfev_set_stop(struct perfev_set *set, struct perfev_error *err);

/*
 * perfev_set_read() - the sum of each event over threads and CPUs
 * @ret: one reading for each event of the set, in its order; @count must be that number.
 * An event that could not be opened reads as PERFEV_NOT_SUPPORTED. A tool (PERFEV_TOOL_...), which is no
 * event, reads as PERFEV_NOT_COUNTED without a reason: its time is the caller's to take.
 * Return: 0, or a negative errno.
 */
PERFEV_API int perfev_set_read(const struct perfev_set *set, struct perfev_reading *ret,
			       size_t count, struct perfev_error *err);

/* One descriptor of a set. */
struct perfev_set_row {
	uint32_t event; /* index */
	int32_t tid;	/* -1: any */
	int32_t cpu;	/* -1: any */
	int32_t fd;	/* -1: not opened */
};

/* perfev_set_row_at(), perfev_set_row_read() - one descriptor of the set, and what it counted; @index
 * below the number of rows */
PERFEV_API size_t perfev_set_row_count(const struct perfev_set *set);
PERFEV_API bool perfev_set_row_at(const struct perfev_set *set, size_t index,
			       struct perfev_set_row *ret);
PERFEV_API int perfev_set_row_read(const struct perfev_set *set, size_t index,
				   struct perfev_reading *ret, struct perfev_error *err);

/*
 * perfev_set_read_rows() - what each descriptor counted
 * @ret: one reading a row; @count must be perfev_set_row_count().
 * Return: 0, or a negative errno.
 * Since: 0.1
 */
PERFEV_API int perfev_set_read_rows(const struct perfev_set *set, struct perfev_reading *ret,
				    size_t count, struct perfev_error *err);

/*
 * perfev_set_sum() - sums of such readings, or of the differences of two of them
 * @rows: one a row of the set. @tid, @cpu: of these rows only; -1: of all.
 * @ret: one reading for each event of the set, as perfev_set_read() gives them.
 * Since: 0.1
 */
PERFEV_API void perfev_set_sum(const struct perfev_set *set, const struct perfev_reading *rows,
			       int32_t tid, int32_t cpu, struct perfev_reading *ret);

/*
 * perfev_set_revive() - events back on CPUs that were offline
 * The kernel takes all events of a CPU that goes offline from it for good: their descriptors stay, and what
 * they counted. Where such a CPU is online again, this opens new ones; rows then read as the sum of both.
 * To be called now and then while CPUs are counted, at least a millisecond apart: what it knows a dead event
 * by is that its time has stood still since the last call (so that a CPU that was away between two calls is
 * seen by the third). CPUs that were offline at the open are not in the set.
 * Return: how many events were opened anew, 0 when there was nothing to do; a negative errno.
 * Since: 0.1
 */
PERFEV_API int perfev_set_revive(struct perfev_set *set, struct perfev_error *err);

/* perfev_set_reset() - all counts to 0, as perfev_counter_reset(). Return: 0, or a negative errno. */
PERFEV_API int perfev_set_reset(struct perfev_set *set, struct perfev_error *err);

/* Why the event at @index could not be opened, or NULL when it could. Lives as long as the set. */
PERFEV_API const struct perfev_error *perfev_set_error(const struct perfev_set *set, size_t index);
/* What was left out for the event at @index: enum perfev_drop. */
PERFEV_API uint32_t perfev_set_dropped(const struct perfev_set *set, size_t index);

PERFEV_END

#endif
