/* SPDX-License-Identifier: MIT */
/* Sets in the kernel of the tests: a machine with four CPUs, of which numbers are missing, and process 7 with three
 * threads. */
#ifndef TESTS_UNIT_SETS_H
#define TESTS_UNIT_SETS_H

#include "test.h"

#include "fake/kernel.h"

#include <perfev/set.h>

static struct perfev_error err;

static int setup(void **state)
{
	(void)state;
	fake_reset();
	fake_file("/sys/devices/system/cpu/online", "0,2-3,8\n");
	fake_file("/sys/bus/event_source/devices/cpu/type", "4\n");
	fake_file("/proc/sys/kernel/perf_event_paranoid", "2\n");
	fake_process(7, 1, "seven", "7 8 9");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return fake_left();
}

static int open_set(struct perfev_set **ret, const char *text, struct perfev_target on,
		    uint32_t may_drop, bool partial)
{
	struct perfev_set_opts opts = {sizeof(opts), may_drop, partial};
	struct perfev_events *events;
	int r;

	assert_works(perfev_events_parse(&events, text, &err));
	memset(&err, 0xff, sizeof(err));
	r = perfev_set_open(ret, events, on, &opts, &err);
	perfev_events_free(events);
	return r;
}

/* How many rows are open. */
static inline size_t open_rows(const struct perfev_set *set)
{
	struct perfev_set_row row;
	size_t i, n = 0;

	for (i = 0; perfev_set_row_at(set, i, &row); i++)
		n += row.fd >= 0;
	assert_int_equal(i, perfev_set_row_count(set));
	return n;
}

#endif
