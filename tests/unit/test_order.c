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

/* A record of a stream: what follows it is copied with it, and nothing else of the caller's stays. */
static void test_tails_are_copied(void **state)
{
	struct perfev_order *order;
	struct perfev_record record;
	unsigned char *bytes = calloc(1, 48 + 300000);
	size_t i;

	(void)state;
	assert_non_null(bytes);
	bytes[0] = 71; /* AUXTRACE, in either order of bytes below 256 */
	for (i = 0; i < 300000; i++)
		bytes[48 + i] = (unsigned char)(i * 7);
	memset(&record, 0, sizeof(record));
	record.type = 71;
	record.size = 48;
	record.data = bytes;
	record.tail.data = bytes + 48;
	record.tail.size = 300000;
	assert_works(perfev_order_new(&order, NULL, &err));
	assert_works(perfev_order_push(order, &record, layout, &err));
	memset(bytes, 0xee, 48 + 300000);
	free(bytes);
	assert_int_equal(perfev_order_next(order, &record), 1);
	assert_int_equal(record.size, 48);
	assert_int_equal(((const unsigned char *)record.data)[0], 71);
	assert_int_equal(record.tail.size, 300000);
	for (i = 0; i < 300000; i++)
		assert_true(((const unsigned char *)record.tail.data)[i] == (unsigned char)(i * 7));
	perfev_order_free(order);
}

/* What stays in its producer is not copied, and says so when it comes out again. */
static void test_stable_records_stay_where_they_are(void **state)
{
	struct perfev_order *order;
	struct perfev_record record;
	struct made made = {{PERF_RECORD_SAMPLE, 0, sizeof(made)}, 12};
	struct perfev_bytes bytes = {&made, sizeof(made)};

	(void)state;
	assert_works(perfev_order_new(&order, NULL, &err));
	assert_works(perfev_record_from_bytes(&record, bytes, PERFEV_RECORD_STABLE, &err));
	assert_works(perfev_order_push(order, &record, layout, &err));
	assert_works(perfev_order_end(order, &err));
	assert_int_equal(perfev_order_next(order, &record), 1);
	assert_ptr_equal(record.data, &made);
	assert_int_equal(record.flags, PERFEV_RECORD_STABLE);
	assert_int_equal(record.type, PERF_RECORD_SAMPLE);
	assert_int_equal(record.size, sizeof(made));
	perfev_order_free(order);
}

/* A record that comes after later ones have gone is counted, and goes at once. */
static void test_late_records(void **state)
{
	struct perfev_order *order;
	struct made made;

	(void)state;
	assert_works(perfev_order_new(&order, NULL, &err));
	push(order, &made, 100, 1);
	assert_works(perfev_order_end(order, &err));
	expect(order, 100, 1);
	push(order, &made, 100, 2); /* as old as the last is not too old */
	push(order, &made, 99, 3);
	expect(order, 99, 3);
	assert_int_equal(perfev_order_late(order), 1);
	assert_works(perfev_order_end(order, &err));
	expect(order, 100, 2);
	assert_int_equal(perfev_order_late(order), 1);
	perfev_order_free(order);
}

/* Little memory: the older half goes, and what comes in order still goes out in order, all of it. */
static void test_little_memory(void **state)
{
	struct perfev_order_opts opts = {sizeof(opts), 64 * 1024};
	struct perfev_order *order;
	struct perfev_record record;
	struct made made;
	uint64_t in, out = 0, time;

	(void)state;
	assert_works(perfev_order_new(&order, &opts, &err));
	for (in = 1; in <= 100000; in++) {
		push(order, &made, in, in);
		for (; perfev_order_next(order, &record) > 0; out++) {
			assert_true(perfev_record_time(&record, layout, &time));
			assert_int_equal(time, out + 1);
		}
		assert_true(in - out <= 64 * 1024 / sizeof(made));
	}
	assert_works(perfev_order_end(order, &err));
	for (; perfev_order_next(order, &record) > 0; out++)
		assert_int_equal(record.offset, out + 1);
	assert_int_equal(out, 100000);
	assert_int_equal(perfev_order_late(order), 0);
	perfev_order_free(order);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_rounds),
	cmocka_unit_test(test_equal_times_keep_their_order),
	cmocka_unit_test(test_tails_are_copied),
	cmocka_unit_test(test_stable_records_stay_where_they_are),
	cmocka_unit_test(test_late_records),
	cmocka_unit_test(test_little_memory),
};

int main(void)
{
	return cmocka_run_group_tests(tests, setup, teardown);
}
