/* SPDX-License-Identifier: MIT */
/*
 * Readings: counts that say what they are.
 *
 * The kernel's answers are turned into a status: no bytes at all is a pinned event in error state;
 * running 0 is an event that never had a counter; a switch event without kernel mode would read 0
 * whatever happens, because switches happen in the kernel. The two times are taken at slightly
 * different moments, so running may exceed enabled: it is cut to it.
 */
#include "reading.h"

#include "base/error.h"
#include "kernel/sys.h"

#include <errno.h>
#include <string.h>

bool reading_is_hidden(const struct perf_event_attr *attr)
{
	return attr->exclude_kernel && attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
		attr->config == PERF_COUNT_SW_CPU_MIGRATIONS ||
		attr->config == PERF_COUNT_SW_CGROUP_SWITCHES);
}

/* Without a count there is nothing but the status. */
int reading_without(struct perfev_reading *ret, ssize_t n)
{
	if (n < 0 && n != -ENODEV)
		return (int)n;
	memset(ret, 0, sizeof(*ret));
	ret->status = n ? PERFEV_GONE : PERFEV_ERROR_STATE;
	return 0;
}

int reading_refuse_group(const char *name, int code, struct perfev_error *err)
{
	if (code == -ECHILD)
		return error_set(err, code, PERFEV_WHY_COMBINATION, ERROR_NOWHERE,
				 "cannot read the group of %.100s: members were added or dropped after a child "
				 "inherited it; open the group again, or its events one by one",
				 name);
	if (code == -ENOSPC)
		return error_set(err, code, PERFEV_WHY_COUNTERS, ERROR_NOWHERE,
				 "cannot read the group of %.100s: others have added members to it, and now it has "
				 "more than %d; close theirs",
				 name, PERFEV_GROUP_MAX);
	if (code == -EIO)
		return error_set(err, code, PERFEV_WHY_CORRUPT, ERROR_NOWHERE,
				 "cannot read the group of %.100s: the kernel's answer has another form than was "
				 "asked for",
				 name);
	return error_errno(err, code, "cannot read the group of %.100s", name);
}

/* The leader of a group answers for all of them; its own count is the first. */
int reading_take_leader(struct perfev_reading *ret, int fd, const struct perf_event_attr *attr)
{
	uint64_t words[READING_GROUP_WORDS];
	unsigned stride = reading_stride(attr);
	ssize_t n = sys_read_inline(fd, words, sizeof(words));

	if (n <= 0)
		return reading_without(ret, n);
	if ((size_t)n < (READING_GROUP_HEAD + stride) * sizeof(*words))
		return -EIO;
	ret->count = words[3];
	ret->enabled_ns = words[1];
	ret->running_ns = words[2];
	ret->id = words[4];
	ret->lost = stride > 2 ? words[5] : 0;
	reading_judge(ret, reading_is_hidden(attr));
	return 0;
}

/* a * b / c without overflow of the product; saturates. c is not 0. */
static uint64_t scale(uint64_t a, uint64_t b, uint64_t c)
{
#ifdef __SIZEOF_INT128__
	PERFEV_EXTENSION typedef unsigned __int128 wide;
	wide product = (wide)a * b / c;

	return product > UINT64_MAX ? UINT64_MAX : (uint64_t)product;
#else
	uint64_t whole = a / c, rest = a % c;
	long double estimate = (long double)whole * (long double)b +
			       (long double)rest * (long double)b / (long double)c;

	return estimate >= (long double)UINT64_MAX ? UINT64_MAX : (uint64_t)estimate;
#endif
}

bool perfev_reading_scaled(const struct perfev_reading *reading, uint64_t *ret)
{
	if (reading->running_ns == 0)
		return false;
	*ret = reading->running_ns >= reading->enabled_ns
		       ? reading->count
		       : scale(reading->count, reading->enabled_ns, reading->running_ns);
	return true;
}

/* From best to worst; a sum is as good as its worst part, but parts that were never scheduled do not
 * spoil others that were: on some CPU a thread never runs. */
static int rank(enum perfev_status status)
{
	static const int ranks[] = {
		[PERFEV_NOT_COUNTED] = 0, [PERFEV_COUNTED] = 1,	      [PERFEV_GONE] = 2,
		[PERFEV_ERROR_STATE] = 3, [PERFEV_NOT_SUPPORTED] = 4,
	};

	return ranks[status];
}

void perfev_reading_add(struct perfev_reading *sum, const struct perfev_reading *more)
{
	sum->count += more->count;
	sum->enabled_ns += more->enabled_ns;
	sum->running_ns += more->running_ns;
	sum->lost += more->lost;
	if (rank(more->status) > rank(sum->status)) {
		sum->status = more->status;
		sum->why = more->why;
	}
}

bool perfev_reading_since(struct perfev_reading *ret, const struct perfev_reading *now,
			  const struct perfev_reading *before)
{
	struct perfev_reading since = *now;

	if (now->count < before->count || now->enabled_ns < before->enabled_ns ||
	    now->running_ns < before->running_ns || now->lost < before->lost) {
		*ret = since;
		return false;
	}
	since.count -= before->count;
	since.enabled_ns -= before->enabled_ns;
	since.running_ns -= before->running_ns;
	since.lost -= before->lost;
	if (since.status == PERFEV_COUNTED && since.running_ns == 0) {
		since.status = PERFEV_NOT_COUNTED;
		since.why = PERFEV_WHY_COUNTERS;
	}
	*ret = since;
	return true;
}

bool perfev_reading_rate(const struct perfev_reading *reading, double *ret)
{
	if (reading->status != PERFEV_COUNTED || reading->running_ns == 0)
		return false;
	*ret = (double)reading->count * 1e9 / (double)reading->running_ns;
	return true;
}
