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

#include "decode/sample.h"
#include "kernel/sys.h"

#include <errno.h>
#include <string.h>

/* Happens in kernel mode only. */
static bool is_hidden(const struct perf_event_attr *attr)
{
	return attr->exclude_kernel && attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
		attr->config == PERF_COUNT_SW_CPU_MIGRATIONS ||
		attr->config == PERF_COUNT_SW_CGROUP_SWITCHES);
}

static void judge(struct perfev_reading *ret, const struct perf_event_attr *attr)
{
	if (ret->running_ns > ret->enabled_ns)
		ret->running_ns = ret->enabled_ns;
	ret->status = PERFEV_COUNTED;
	ret->why = PERFEV_WHY_NONE;
	if (is_hidden(attr)) {
		ret->status = PERFEV_NOT_COUNTED;
		ret->why = PERFEV_WHY_PARANOID;
	} else if (ret->running_ns == 0) {
		ret->status = PERFEV_NOT_COUNTED;
		ret->why = PERFEV_WHY_COUNTERS;
	}
}

int reading_take(struct perfev_reading *ret, int fd, const struct perf_event_attr *attr)
{
	uint64_t words[5];
	struct perfev_bytes bytes = {words, 0};
	struct perfev_values values;
	ssize_t n = sys_read(fd, words, sizeof(words));

	memset(ret, 0, sizeof(*ret));
	if (n < 0) {
		if (n != -ENODEV)
			return (int)n;
		ret->status = PERFEV_GONE;
		return 0;
	}
	if (n == 0) {
		ret->status = PERFEV_ERROR_STATE;
		return 0;
	}
	bytes.size = (size_t)n;
	values.lost = 0;
	values.id = 0;
	if (!values_decode(&values, bytes, false, attr->read_format))
		return -EIO;
	ret->count = values.count;
	ret->enabled_ns = values.enabled_ns;
	ret->running_ns = values.running_ns;
	ret->id = values.id;
	ret->lost = values.lost;
	judge(ret, attr);
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
