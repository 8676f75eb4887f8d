/* SPDX-License-Identifier: MIT */
/* Order: records of several rings come out by time, stable, with bounded memory. */
#include "test.h"

struct made {
	struct perf_event_header header;
	uint64_t time;
};

static struct perfev_layout *layout;
static struct perfev_error err;

static int setup(void **state)
{
	struct perf_event_attr attr;

	(void)state;
	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.sample_type = PERF_SAMPLE_TIME;
	attr.sample_id_all = 1;
	return perfev_layout_new(&layout, &attr, &err);
}

static int teardown(void **state)
{
	(void)state;
	perfev_layout_free(layout);
	return 0;
}

/* A sample whose stream position is @offset. */
static void push(struct perfev_order *order, struct made *made, uint64_t time, uint64_t offset)
{
	struct perfev_record record;
	struct perfev_bytes bytes = {made, sizeof(*made)};

	made->header.type = PERF_RECORD_SAMPLE;
	made->header.misc = 0;
	made->header.size = sizeof(*made);
	made->time = time;
	assert_works(perfev_record_from_bytes(&record, bytes, 0, &err));
	record.offset = offset;
	assert_works(perfev_order_push(order, &record, layout, &err));
}

static void expect(struct perfev_order *order, uint64_t time, uint64_t offset)
{
	struct perfev_record record;
	uint64_t got;

	assert_int_equal(perfev_order_next(order, &record), 1);
	assert_true(perfev_record_time(&record, layout, &got));
	assert_int_equal(got, time);
	assert_int_equal(record.offset, offset);
}

static void test_rounds(void **state)
{
	struct perfev_order *order;
	struct perfev_record record;
	struct made made;

	(void)state;
	assert_works(perfev_order_new(&order, NULL, &err));
	push(order, &made, 10, 1);
	push(order, &made, 30, 2);
	push(order, &made, 20, 3);
	assert_works(perfev_order_round(order, &err));
	assert_int_equal(perfev_order_next(order, &record), 0); /* the next round may have older ones */
	push(order, &made, 25, 4);
	push(order, &made, 40, 5);
	assert_works(perfev_order_round(order, &err));
	expect(order, 10, 1);
	expect(order, 20, 3);
	expect(order, 25, 4);
	expect(order, 30, 2);
	assert_int_equal(perfev_order_next(order, &record), 0);
	assert_works(perfev_order_end(order, &err));
	expect(order, 40, 5);
	assert_int_equal(perfev_order_next(order, &record), 0);
	assert_int_equal(perfev_order_late(order), 0);
	perfev_order_free(order);
}

static void test_equal_times_keep_their_order(void **state)
{
	struct perfev_order *order;
	struct made made;
	uint64_t i;

	(void)state;
	assert_works(perfev_order_new(&order, NULL, &err));
	for (i = 0; i < 1000; i++)
		push(order, &made, 7 + (i % 3 == 0), i);
	assert_works(perfev_order_end(order, &err));
	for (i = 0; i < 1000; i++)
		if (i % 3)
			expect(order, 7, i);
	for (i = 0; i < 1000; i += 3)
		expect(order, 8, i);
	perfev_order_free(order);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_rounds),
	cmocka_unit_test(test_equal_times_keep_their_order),
};

int main(void)
{
	return cmocka_run_group_tests(tests, setup, teardown);
}
