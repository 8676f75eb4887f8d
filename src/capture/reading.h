/* SPDX-License-Identifier: MIT */
/* From the bytes of read(2) to a reading. */
#ifndef CAPTURE_READING_H
#define CAPTURE_READING_H

#include "kernel/sys.h"

#include <perfev/group.h>

#include <errno.h>

/* What a counter's own reading needs in its read_format. */
#define READING_FORMAT \
	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID)

/* What a group's leader answers: how many members, two times; then of each its count, its id, and with
 * PERF_FORMAT_LOST what it lost. */
#define READING_GROUP_HEAD  3
#define READING_GROUP_WORDS (READING_GROUP_HEAD + 3 * PERFEV_GROUP_MAX)

static inline unsigned reading_stride(const struct perf_event_attr *attr)
{
	return attr->read_format & PERF_FORMAT_LOST ? 3 : 2;
}

/* reading_is_group() - whether @n bytes are an answer of a group's leader, whole */
static inline bool reading_is_group(const uint64_t *words, ssize_t n, unsigned stride)
{
	return (size_t)n >= READING_GROUP_HEAD * 8 && words[0] <= PERFEV_GROUP_MAX &&
	       (size_t)n == (READING_GROUP_HEAD + words[0] * stride) * 8;
}

/* reading_refuse_group() - why the group that @name leads cannot be read. Return: @code */
int reading_refuse_group(const char *name, int code, struct perfev_error *err);

/* reading_is_hidden() - the event happens in the kernel only, and that is excluded: it would read 0 */
bool reading_is_hidden(const struct perf_event_attr *attr);

/* reading_without() - what no bytes, or an errno, mean */
int reading_without(struct perfev_reading *ret, ssize_t n);

/* reading_judge() - what a count and its two times mean: cuts running_ns, sets status and why */
static inline void reading_judge(struct perfev_reading *ret, bool hidden)
{
	if (ret->running_ns > ret->enabled_ns)
		ret->running_ns = ret->enabled_ns;
	ret->status = PERFEV_COUNTED;
	ret->why = PERFEV_WHY_NONE;
	if (hidden || ret->running_ns == 0) {
		ret->status = PERFEV_NOT_COUNTED;
		ret->why = hidden ? PERFEV_WHY_PARANOID : PERFEV_WHY_COUNTERS;
	}
}

/* reading_bind() - of an event of a task that is bound to a CPU: the kernel lets its time go on while the task is
 * elsewhere, which is no time without a counter. Whether it had to take turns on its CPU, nobody tells. */
static inline void reading_bind(struct perfev_reading *ret)
{
	if (ret->running_ns)
		ret->enabled_ns = ret->running_ns;
}

/* reading_from() - a reading from what read(2) answered: @n bytes, or a negative errno
 * Return: 0, also when its event is in error state; a negative errno without explanation. */
static inline int reading_from(struct perfev_reading *ret, const uint64_t *words, ssize_t n,
			       const struct perf_event_attr *attr)
{
	if (n <= 0)
		return reading_without(ret, n);
	if ((size_t)n != (attr->read_format & PERF_FORMAT_LOST ? 40 : 32))
		return -EIO;
	ret->count = words[0];
	ret->enabled_ns = words[1];
	ret->running_ns = words[2];
	ret->id = words[3];
	ret->lost = attr->read_format & PERF_FORMAT_LOST ? words[4] : 0;
	reading_judge(ret, attr->exclude_kernel && reading_is_hidden(attr));
	return 0;
}

/* reading_take() - read one descriptor whose attr is @attr; inline, as each return after a system call costs
 * Return: as reading_from(). */
static inline int reading_take(struct perfev_reading *ret, int fd, const struct perf_event_attr *attr)
{
	uint64_t words[5];

	return reading_from(ret, words, sys_read_inline(fd, words, sizeof(words)), attr);
}

/* reading_take_leader() - the same of a group's leader: its own count */
int reading_take_leader(struct perfev_reading *ret, int fd, const struct perf_event_attr *attr);

#endif
