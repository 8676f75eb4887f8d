/* SPDX-License-Identifier: MIT */
/* Readings: each answer of the kernel gives its status; estimates do not overflow; sums keep the worst. */
#include "test.h"

#include "fake/kernel.h"

#include <errno.h>

static struct perfev_error err;

/* What a counter reads when the kernel answers this. */
static struct perfev_reading read_as(const char *text, uint64_t enabled, uint64_t running, int result)
{
	struct perfev_counter *counter;
	struct perfev_event *event;
	struct perfev_reading reading;

	fake_reset();
	assert_works(perfev_event_parse(&event, text, &err));
	assert_works(perfev_counter_open(&counter, event, perfev_on_self(), NULL, &err));
	fake.events[0].count = 1000;
	fake.events[0].enabled_ns = enabled;
	fake.events[0].running_ns = running;
	fake.events[0].read_result = result;
	memset(&reading, 0xa5, sizeof(reading));
	if (result < 0 && result != -ENODEV)
		assert_int_equal(perfev_counter_read(counter, &reading, &err), result);
	else
		assert_works(perfev_counter_read(counter, &reading, &err));
	perfev_counter_close(counter);
	perfev_event_free(event);
	assert_int_equal(fake_left(), 0);
	return reading;
}

static void test_statuses(void **state)
{
	struct perfev_reading r = read_as("cycles", 50, 40, 0);

	(void)state;
	assert_int_equal(r.status, PERFEV_COUNTED);
	assert_int_equal(r.count, 1000);
	assert_int_equal(r.enabled_ns, 50);
	assert_int_equal(r.running_ns, 40);
	assert_int_equal(r.id, 7000);
	assert_int_equal(r.lost, 0);
	r = read_as("cycles", 40, 50, 0); /* the two are taken at different moments */
	assert_int_equal(r.status, PERFEV_COUNTED);
	assert_int_equal(r.running_ns, 40);
	r = read_as("cycles", 50, 0, 0);
	assert_int_equal(r.status, PERFEV_NOT_COUNTED);
	assert_int_equal(r.why, PERFEV_WHY_COUNTERS);
	r = read_as("cycles", 50, 50, FAKE_EMPTY);
	assert_int_equal(r.status, PERFEV_ERROR_STATE);
	assert_int_equal(r.count, 0);
	r = read_as("cycles", 50, 50, -ENODEV);
	assert_int_equal(r.status, PERFEV_GONE);
	assert_int_equal(r.count, 0);
	read_as("cycles", 50, 50, -EIO);
	assert_says("cycles");
}

static void test_what_happens_in_the_kernel(void **state)
{
	static const char *const hidden[] = {"cs:u", "migrations:u", "cgroup-switches:u"};
	struct perfev_reading r;
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		r = read_as(hidden[i], 50, 50, 0);
		assert_int_equal(r.status, PERFEV_NOT_COUNTED);
		assert_int_equal(r.why, PERFEV_WHY_PARANOID);
	}
	assert_int_equal(read_as("cs", 50, 50, 0).status, PERFEV_COUNTED);
	assert_int_equal(read_as("faults:u", 50, 50, 0).status, PERFEV_COUNTED);
	assert_int_equal(read_as("branches:u", 50, 50, 0).status, PERFEV_COUNTED); /* config 4 of another type */
}

static void test_short_answer(void **state)
{
	struct perfev_counter *counter;
	struct perfev_event *event;
	struct perfev_reading reading;

	(void)state;
	fake_reset();
	assert_works(perfev_event_parse(&event, "cycles", &err));
	assert_works(perfev_counter_open(&counter, event, perfev_on_self(), NULL, &err));
	fake.events[0].attr.read_format = 0; /* the kernel answers less than it was asked */
	assert_fails(perfev_counter_read(counter, &reading, &err), EIO);
	assert_fails(perfev_counter_read(counter, &reading, NULL), EIO);
	perfev_counter_close(counter);
	perfev_event_free(event);
}

static void test_scaled(void **state)
{
	static const uint64_t tera = UINT64_C(1) << 40;
	static const struct {
		uint64_t count, enabled, running, wanted;
		bool known;
	} rows[] = {
		{5, 10, 0, 0, false},
		{0, 0, 0, 0, false},
		{5, 10, 10, 5, true},
		{5, 10, 5, 10, true},
		{0, 10, 5, 0, true},
		{10, 3, 2, 15, true},
		{7, 3, 2, 10, true}, /* 10.5 */
		{5, 10, 20, 5, true},
		{1, UINT64_MAX, 1, UINT64_MAX, true},
		{UINT64_MAX, 2, 2, UINT64_MAX, true},
		{UINT64_MAX, 3, 2, UINT64_MAX, true},
		{UINT64_C(1) << 60, tera, UINT64_C(1) << 20, UINT64_MAX, true},
		{UINT64_C(1) << 60, tera, tera / 8, UINT64_C(1) << 63, true},
		{UINT64_C(1) << 60, tera, tera / 16, UINT64_MAX, true},
		{UINT64_C(123456789012345), 3000000000, 1000000000, UINT64_C(370370367037035), true},
	};
	struct perfev_reading r;
	uint64_t got;
	size_t i;

	(void)state;
	memset(&r, 0, sizeof(r));
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		r.count = rows[i].count;
		r.enabled_ns = rows[i].enabled;
		r.running_ns = rows[i].running;
		got = 0;
		assert_int_equal(perfev_reading_scaled(&r, &got), rows[i].known);
		if (got != rows[i].wanted)
			fail_msg("row %zu: %llu", i, (unsigned long long)got);
	}
}

/* From the best to the worst; what never ran does not spoil what did. */
static void test_sums(void **state)
{
	static const enum perfev_status order[] = {PERFEV_NOT_COUNTED, PERFEV_COUNTED, PERFEV_GONE,
						   PERFEV_ERROR_STATE, PERFEV_NOT_SUPPORTED};
	struct perfev_reading sum, more;
	int i, k;

	(void)state;
	for (i = 0; i < 5; i++)
		for (k = 0; k < 5; k++) {
			memset(&sum, 0, sizeof(sum));
			memset(&more, 0, sizeof(more));
			sum.status = order[i];
			more.status = order[k];
			sum.why = 1;
			more.why = 2;
			sum.count = 10;
			more.count = 5;
			sum.enabled_ns = more.enabled_ns = 7;
			more.running_ns = 3;
			sum.lost = 1;
			more.lost = 4;
			perfev_reading_add(&sum, &more);
			assert_int_equal(sum.status, order[i > k ? i : k]);
			assert_int_equal(sum.why, k > i ? 2 : 1);
			assert_int_equal(sum.count, 15);
			assert_int_equal(sum.enabled_ns, 14);
			assert_int_equal(sum.running_ns, 3);
			assert_int_equal(sum.lost, 5);
		}
}

static struct perfev_reading reading_of(uint64_t count, uint64_t enabled, uint64_t running)
{
	struct perfev_reading r = {.count = count, .enabled_ns = enabled, .running_ns = running, .id = 3};

	return r;
}

static void test_differences(void **state)
{
	struct perfev_reading before = reading_of(10, 100, 80), now = reading_of(25, 200, 130), r;

	(void)state;
	before.lost = 1;
	now.lost = 4;
	assert_true(perfev_reading_since(&r, &now, &before));
	assert_int_equal(r.count, 15);
	assert_int_equal(r.enabled_ns, 100);
	assert_int_equal(r.running_ns, 50);
	assert_int_equal(r.lost, 3);
	assert_int_equal(r.id, 3);
	assert_int_equal(r.status, PERFEV_COUNTED);
	assert_true(perfev_reading_since(&now, &now, &before)); /* into itself */
	assert_int_equal(now.count, 15);

	now = reading_of(10, 200, 80); /* it waited all the time */
	before = reading_of(10, 100, 80);
	assert_true(perfev_reading_since(&r, &now, &before));
	assert_int_equal(r.status, PERFEV_NOT_COUNTED);
	assert_int_equal(r.why, PERFEV_WHY_COUNTERS);
	assert_int_equal(r.enabled_ns, 100);

	now = reading_of(5, 300, 200); /* it was reset */
	assert_false(perfev_reading_since(&r, &now, &before));
	assert_int_equal(r.count, 5);
	assert_int_equal(r.status, PERFEV_COUNTED);
	now = reading_of(50, 90, 200); /* it is another */
	assert_false(perfev_reading_since(&r, &now, &before));
	now = reading_of(50, 200, 200);
	now.status = PERFEV_ERROR_STATE; /* what is worse stays */
	before.lost = 0;
	assert_true(perfev_reading_since(&r, &now, &before));
	assert_int_equal(r.status, PERFEV_ERROR_STATE);
}

static void test_rates(void **state)
{
	struct perfev_reading r = reading_of(500, 2000000000, 250000000);
	double rate = 0;

	(void)state;
	assert_true(perfev_reading_rate(&r, &rate)); /* per second of what it ran, and not of what it waited */
	assert_true(rate > 1999.99 && rate < 2000.01);
	r.running_ns = 0;
	assert_false(perfev_reading_rate(&r, &rate));
	r.running_ns = 1;
	r.status = PERFEV_NOT_COUNTED;
	assert_false(perfev_reading_rate(&r, &rate));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_statuses),
	cmocka_unit_test(test_what_happens_in_the_kernel),
	cmocka_unit_test(test_short_answer),
	cmocka_unit_test(test_scaled),
	cmocka_unit_test(test_sums),
	cmocka_unit_test(test_differences),
	cmocka_unit_test(test_rates),
};

int main(void)
{
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	fake_reset();
	return failed;
}
