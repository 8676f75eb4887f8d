/* SPDX-License-Identifier: MIT */
/* Readings on this kernel: their times, in a signal handler, their sums and rates, and the clock; nothing here needs a hardware
 * counter. */
#include "counting.h"

#include <signal.h>

/* ---- readings ---------------------------------------------------------------------------------------------- */

/* The two times are taken at different moments: running is never above enabled. */
static void test_running_is_never_above(void **state)
{
	struct perfev_counter *counter = open_counter("task-clock:u", 0);
	struct perfev_reading reading, before = {0}, since;
	int i;

	(void)state;
	assert_works(perfev_counter_start(counter, &err));
	for (i = 0; i < 100000; i++) {
		assert_works(perfev_counter_read(counter, &reading, NULL));
		if (reading.running_ns > reading.enabled_ns || !perfev_reading_since(&since, &reading, &before))
			fail_msg("read %d", i);
		before = reading;
	}
	perfev_counter_close(counter);
}

static struct perfev_counter *in_handler;
static volatile uint64_t seen_by_handler;

static void read_in_handler(int number)
{
	struct perfev_reading reading;

	(void)number;
	if (perfev_counter_read(in_handler, &reading, NULL) == 0)
		seen_by_handler = reading.count;
}

static void test_a_signal_handler_reads(void **state)
{
	(void)state;
	in_handler = open_counter("minor-faults:u", 0);
	signal(SIGUSR2, read_in_handler);
	assert_works(perfev_counter_start(in_handler, &err));
	touch_pages(30);
	errno = 12345;
	raise(SIGUSR2);
	assert_int_equal(errno, 12345);
	assert_true(seen_by_handler >= 30);
	perfev_counter_close(in_handler);
}

/* Rows of a set, and sums of them by thread and by CPU. */
static void test_sums(void **state)
{
	struct perfev_events *events = NULL;
	struct perfev_set *set = NULL;
	struct perfev_reading rows[8], sums[2], all[2];
	struct perfev_set_row row;
	int32_t ids[1];
	size_t n;

	(void)state;
	ids[0] = (int32_t)getpid();
	assert_works(perfev_events_parse(&events, "minor-faults:u,page-faults:u", &err));
	assert_works(perfev_set_open(&set, events, perfev_on_task(ids[0]), NULL, &err));
	n = perfev_set_row_count(set);
	assert_int_equal(n, 2);
	assert_works(perfev_set_start(set, &err)); /* code faults the first time */
	touch_pages(1);
	assert_works(perfev_set_stop(set, &err));
	assert_works(perfev_set_reset(set, &err));
	assert_works(perfev_set_start(set, &err));
	touch_pages(60);
	assert_works(perfev_set_stop(set, &err));
	assert_works(perfev_set_read_rows(set, rows, n, &err));
	assert_works(perfev_set_read(set, all, 2, &err));
	assert_true(perfev_set_row_at(set, 0, &row));
	perfev_set_sum(set, rows, row.tid, -1, sums);
	assert_int_equal(sums[0].count, 60);
	assert_int_equal(sums[1].count, all[1].count);
	perfev_set_sum(set, rows, -1, -1, sums);
	assert_int_equal(sums[0].count, 60);
	perfev_set_sum(set, rows, row.tid + 1, -1, sums);
	assert_int_equal(sums[0].status, PERFEV_NOT_COUNTED);
	assert_fails(perfev_set_read_rows(set, rows, 1, &err), EINVAL);
	assert_works(perfev_set_reset(set, &err));
	assert_works(perfev_set_read(set, all, 2, &err));
	assert_int_equal(all[0].count, 0);
	perfev_set_close(set);
	perfev_events_free(events);
}

/* Software events have no counter of the CPU: they are read by the kernel, and it is said. */
static void test_without_a_counter(void **state)
{
	struct perfev_counter_opts opts = {.size = sizeof(opts), .user_read = 1};
	struct perfev_event *event = NULL;
	struct perfev_counter *counter = NULL;
	struct perfev_reading reading;

	(void)state;
	assert_works(perfev_event_parse(&event, "minor-faults:u", &err));
	assert_works(perfev_counter_open(&counter, event, perfev_on_self(), &opts, &err));
	assert_int_equal(perfev_counter_read_fast(counter, &reading, &err), 0); /* code faults the first time */
	assert_works(perfev_counter_start(counter, &err));
	touch_pages(40);
	assert_int_equal(perfev_counter_read_fast(counter, &reading, &err), 0);
	assert_int_equal(reading.count, 40);
	assert_false(perfev_counter_can_read_fast(counter, &err));
	assert_says("it is counted by the kernel itself");
	perfev_counter_close(counter);
	perfev_event_free(event);
	assert_int_equal(count_mappings("perf_event"), 0);
}

/* The kernel stamps a fault between two looks at the cycle counter, where that is its clock. */
static void test_the_clock(void **state)
{
	struct perfev_counter_opts opts = {.size = sizeof(opts), .user_read = 1};
	struct perfev_event *event = NULL;
	struct perfev_counter *stamped = NULL;
	struct perf_event_mmap_page *ring;
	struct perfev_clock clock;
	uint64_t before, after, time, at;
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	int i;

	(void)state;
	if (!perfev_cycles(&before))
		SKIP("this program cannot read the cycle counter");
	assert_works(perfev_event_parse(&event, "page-faults:u", &err));
	assert_works(perfev_counter_open(&stamped, event, perfev_on_self(), &opts, &err));
	i = perfev_counter_clock(stamped, &clock, &err);
	perfev_counter_close(stamped);
	if (i == 0) {
		perfev_event_attr(event)->sample_period = 1;
		perfev_event_attr(event)->sample_type = PERF_SAMPLE_TIME;
		assert_works(perfev_counter_open(&stamped, event, perfev_on_self(), NULL, &err));
		assert_works(perfev_raw_mmap(&ring, perfev_counter_fd(stamped), size, true));
		assert_works(perfev_counter_start(stamped, &err));
	}
	perfev_event_free(event);
	if (i < 0)
		SKIP("%s", err.text);
	assert_true(perfev_cycles(&before)); /* whose code faults the first time */
	touch_pages(1);
	for (i = 0; i < 20; i++) {
		ring->data_tail = at = ring->data_head;
		assert_true(perfev_cycles(&before));
		touch_pages(1);
		assert_true(perfev_cycles(&after));
		assert_true(ring->data_head > at);
		at = ring->data_head - 8; /* of the last one: this loop's code may fault too */
		memcpy(&time, (char *)ring + ring->data_offset + at % ring->data_size, 8);
		if (time < perfev_clock_time(&clock, before) || time > perfev_clock_time(&clock, after))
			fail_msg("%llu is not in %llu to %llu", (unsigned long long)time,
				 (unsigned long long)perfev_clock_time(&clock, before),
				 (unsigned long long)perfev_clock_time(&clock, after));
		assert_true(perfev_clock_cycles(&clock, perfev_clock_time(&clock, before)) <= before);
	}
	perfev_raw_munmap(ring, size);
	perfev_counter_close(stamped);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_running_is_never_above),
	cmocka_unit_test(test_a_signal_handler_reads),
	cmocka_unit_test(test_sums),
	cmocka_unit_test(test_without_a_counter),
	cmocka_unit_test(test_the_clock),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
