/* SPDX-License-Identifier: MIT */
/* Reading samplers: every record comes out with its event, waiting ends when it should, and what is lost
 * adds up. */
#include "sampling.h"

/* ---- records ------------------------------------------------------------------------------------------------- */

static void test_records(void **state)
{
	struct perfev_record record;

	(void)state;
	assert_works(open_with("cycles,cs", perfev_on_all_cpus(), PERF_SAMPLE_IP, NULL));
	assert_int_equal(perfev_sampler_wait(sampler, 0, &err), 0);
	expect_end();
	write_sample(nth(6), 600);
	write_sample(nth(1), 101);
	write_sample(nth(0), 100);
	write_sample(nth(7), 601);
	write_lost(nth(7), 3);
	assert_int_equal(perfev_sampler_wait(sampler, -1, &err), 1);
	expect_sample(101, 0, 1);
	expect_sample(100, 0, 0);
	write_sample(nth(1), 102); /* for the next pass */
	expect_sample(600, 3, 0);
	expect_sample(601, 3, 1);
	assert_int_equal(perfev_sampler_next(sampler, &record, &err), 1);
	assert_int_equal(record.type, PERF_RECORD_LOST);
	assert_int_equal(perfev_sampler_event(sampler, &record), 1); /* by its trailer */
	expect_end();
	assert_true(nth(0)->page->data_tail == 0);
	perfev_sampler_release(sampler);
	assert_int_equal(nth(0)->page->data_tail, 48);
	assert_true(nth(6)->page->data_tail == nth(6)->page->data_head);
	assert_int_equal(perfev_sampler_wait(sampler, 0, &err), 1);
	expect_sample(102, 0, 1);
	expect_end();
	expect_end();
	assert_int_equal(perfev_sampler_wait(sampler, 0, &err), 0);
}

static void test_unknown_ids(void **state)
{
	struct perfev_record record;
	uint64_t words[3] = {0, 0, 0};

	(void)state;
	assert_works(open_with("cycles,cs", perfev_on_self(), PERF_SAMPLE_IP, NULL));
	memset(&record, 0, sizeof(record));
	record.data = words;
	record.type = PERF_RECORD_SAMPLE;
	for (record.size = 0; record.size <= 24; record.size += 8) {
		assert_int_equal(perfev_sampler_event(sampler, &record), -1);
		assert_null(perfev_sampler_layout(sampler, &record));
	}
	words[1] = 123456;
	record.size = 24;
	assert_null(perfev_sampler_layout(sampler, &record));
	record.type = PERF_RECORD_COMM;
	words[2] = nth(1)->id;
	assert_int_equal(perfev_sampler_event(sampler, &record), 1);
}

/* One damaged ring is reported and passed over; the others are read. */
static void test_damaged_ring(void **state)
{
	struct perfev_record record;

	(void)state;
	assert_works(open_with("cycles", perfev_on_all_cpus(),
			       PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP, NULL));
	write_sample(nth(0), 1);
	write_sample(nth(1), 2);
	write_sample(nth(2), 3);
	nth(1)->ring.data[6] = 4; /* the size of the record */
	expect_sample(1, 0, 0);
	assert_fails(perfev_sampler_next(sampler, &record, &err), EBADMSG);
	assert_int_equal(err.why, PERFEV_WHY_CORRUPT);
	assert_says("ring 1");
	expect_sample(3, 2, 0);
	expect_end();
	perfev_sampler_release(sampler);
	write_sample(nth(1), 4);
	expect_sample(4, 1, 0);
	expect_end();
}

/* ---- waiting -------------------------------------------------------------------------------------------------- */

static void test_timeouts(void **state)
{
	(void)state;
	assert_works(open_with("cycles", perfev_on_self(), PERF_SAMPLE_IP, NULL));
	assert_int_equal(perfev_sampler_wait(sampler, 0, &err), 0);
	assert_int_equal(fake.now_ms, 0);
	assert_int_equal(perfev_sampler_wait(sampler, 50, &err), 0);
	assert_int_equal(fake.now_ms, 50);
	fake.wait_result = -EINTR;
	assert_fails(perfev_sampler_wait(sampler, -1, &err), EINTR);
	assert_false(perfev_sampler_ended(sampler));
	write_sample(nth(0), 1);
	fake.waits = 0;
	assert_int_equal(perfev_sampler_wait(sampler, 1000, &err), 1); /* looks before it sleeps */
	assert_int_equal(fake.waits, 0);
}

static void write_on_third(int timeout_ms)
{
	(void)timeout_ms;
	if (fake.waits == 3)
		write_sample(nth(2), 9);
	nth(fake.waits == 3 ? 2 : 0)->ready = true; /* the others are woken for nothing */
	fake.now_ms += 10;
}

static void test_wake_ups_for_nothing(void **state)
{
	(void)state;
	assert_works(open_with("cycles", perfev_on_all_cpus(), PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP, NULL));
	fake.on_wait = write_on_third;
	assert_int_equal(perfev_sampler_wait(sampler, -1, &err), 1);
	expect_sample(9, 2, 0);
	expect_end();
	perfev_sampler_release(sampler);
	fake.waits = 10;
	assert_int_equal(perfev_sampler_wait(sampler, 100, &err), 0); /* not for ever */
	assert_in_range(fake.waits, 11, 25);
}

/* A ring is over when the last task that writes to it has ended, and after its records were read. */
static void test_tasks_end(void **state)
{
	int i, hung;

	(void)state;
	assert_works(open_with("cycles", perfev_on_process(7),
			       PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP, NULL));
	/* rows are thread by thread: events 0-3 of thread 7, 4-7 of 8, 8-11 of 9 */
	for (hung = 0; hung < 8; hung++) {
		nth(hung)->hung_up = true;
		assert_int_equal(perfev_sampler_wait(sampler, 20, &err), 0);
		assert_false(perfev_sampler_ended(sampler));
	}
	write_sample(nth(9), 4); /* thread 9 lives: on the second CPU */
	assert_int_equal(perfev_sampler_wait(sampler, -1, &err), 1);
	expect_sample(4, 1, 0);
	expect_end();
	perfev_sampler_release(sampler);
	write_sample(nth(10), 5);
	for (i = 8; i < 12; i++)
		nth(i)->hung_up = true; /* hides the wake-up */
	assert_int_equal(perfev_sampler_wait(sampler, -1, &err), 1);
	assert_false(perfev_sampler_ended(sampler));
	expect_sample(5, 2, 0);
	expect_end();
	perfev_sampler_release(sampler);
	assert_int_equal(perfev_sampler_wait(sampler, -1, &err), 0);
	assert_true(perfev_sampler_ended(sampler));
	assert_int_equal(perfev_sampler_wait(sampler, -1, &err), 0);
}

static void write_to_the_last(int timeout_ms)
{
	(void)timeout_ms;
	write_sample(nth(11), 11);
	nth(11)->ready = true; /* one is not enough for the mark */
}

/* All but the last descriptor of the last ring have hung up: that one is polled, and wakes. */
static void test_the_last_one_wakes(void **state)
{
	int i;

	(void)state;
	assert_works(open_with("cycles", perfev_on_process(7), PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP, NULL));
	for (i = 0; i < 11; i++) {
		nth(i)->hung_up = true;
		assert_int_equal(perfev_sampler_wait(sampler, 0, &err), 0);
	}
	assert_int_equal(perfev_sampler_wait(sampler, 10, &err), 0);
	assert_false(perfev_sampler_ended(sampler));
	fake.on_wait = write_to_the_last;
	assert_int_equal(perfev_sampler_wait(sampler, -1, &err), 1);
	expect_sample(11, 3, 0);
}

/* In another order: the one that is polled lives longest, or ends first. */
/* What hung up because it did not fit comes back when it is started again. */
static void test_started_again(void **state)
{
	(void)state;
	assert_works(open_with("cycles", perfev_on_cpu(2), PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP, NULL));
	nth(0)->hung_up = true;
	assert_int_equal(perfev_sampler_wait(sampler, -1, &err), 0);
	assert_true(perfev_sampler_ended(sampler));
	nth(0)->hung_up = false;
	assert_works(perfev_sampler_start(sampler, &err));
	assert_false(perfev_sampler_ended(sampler));
	write_sample(nth(0), 9);
	assert_int_equal(perfev_sampler_wait(sampler, -1, &err), 1);
	expect_sample(9, 0, 0);
}

static void test_tasks_end_backwards(void **state)
{
	int i;

	(void)state;
	assert_works(open_with("cycles", perfev_on_process(7), PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP, NULL));
	for (i = 11; i > 0; i--) {
		nth(i)->hung_up = true;
		assert_int_equal(perfev_sampler_wait(sampler, 0, &err), 0);
		assert_false(perfev_sampler_ended(sampler));
	}
	nth(0)->hung_up = true;
	assert_int_equal(perfev_sampler_wait(sampler, -1, &err), 0);
	assert_true(perfev_sampler_ended(sampler));
}

/* ---- losses --------------------------------------------------------------------------------------------------- */

static void test_losses(void **state)
{
	struct perfev_record record;
	struct perfev_loss loss;

	(void)state;
	assert_works(open_with("cycles,cs", perfev_on_all_cpus(), PERF_SAMPLE_IP, NULL));
	write_lost(nth(0), 5); /* ring 0: LOST says 5, the counts say 2 + 4 */
	nth(0)->lost = 2;
	nth(1)->lost = 4;
	write_lost(nth(3), 9); /* ring 1: LOST says 9 + 1, the counts 7 */
	write_lost(nth(2), 1);
	nth(2)->lost = 7;
	nth(4)->lost = 3; /* ring 2: no LOST record came any more */
	assert_works(perfev_sampler_loss(sampler, &loss, &err));
	assert_int_equal(loss.said, 0); /* not read yet */
	assert_int_equal(loss.counted, 16);
	while (perfev_sampler_next(sampler, &record, &err) > 0)
		;
	assert_works(perfev_sampler_loss(sampler, &loss, &err));
	assert_true(loss.exact);
	assert_int_equal(loss.said, 15);
	assert_int_equal(loss.counted, 16);
	assert_int_equal(loss.records, 6 + 10 + 3);
	assert_int_equal(loss.samples, 0);
	assert_int_equal(perfev_sampler_id_lost(sampler, 1, 0), 4);
	assert_int_equal(perfev_sampler_id_lost(sampler, 0, 2), 3);
	assert_int_equal(perfev_sampler_id_lost(sampler, 0, 9), 0);
	nth(4)->read_result = -EIO;
	assert_int_equal(perfev_sampler_id_lost(sampler, 0, 2), 0);
}

static int no_format_lost(struct fake_event *event, struct perf_event_attr *attr)
{
	(void)event;
	return attr->read_format & PERF_FORMAT_LOST ? -EINVAL : 0;
}

static void test_losses_of_old_kernels(void **state)
{
	struct perfev_record record;
	struct perfev_loss loss;

	(void)state;
	fake.on_open = no_format_lost;
	assert_works(open_with("cycles,cs", perfev_on_self(), PERF_SAMPLE_IP, NULL));
	assert_true(nth(0)->attr.read_format == PERF_FORMAT_ID);
	write_lost(nth(0), 5);
	nth(0)->lost = 100;
	while (perfev_sampler_next(sampler, &record, &err) > 0)
		;
	assert_works(perfev_sampler_loss(sampler, &loss, &err));
	assert_false(loss.exact);
	assert_int_equal(loss.records, 5);
	assert_int_equal(loss.counted, 0);
}

/* An event whose samples carry counts keeps its format, and does not count its losses: not exact then. */
static void test_losses_with_counts_in_samples(void **state)
{
	struct perfev_loss loss;

	(void)state;
	assert_works(open_with("cycles,cs", perfev_on_self(), PERF_SAMPLE_IP | PERF_SAMPLE_READ, NULL));
	assert_works(perfev_sampler_loss(sampler, &loss, &err));
	assert_false(loss.exact);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_records, setup, teardown),
	cmocka_unit_test_setup_teardown(test_unknown_ids, setup, teardown),
	cmocka_unit_test_setup_teardown(test_damaged_ring, setup, teardown),
	cmocka_unit_test_setup_teardown(test_timeouts, setup, teardown),
	cmocka_unit_test_setup_teardown(test_wake_ups_for_nothing, setup, teardown),
	cmocka_unit_test_setup_teardown(test_tasks_end, setup, teardown),
	cmocka_unit_test_setup_teardown(test_the_last_one_wakes, setup, teardown),
	cmocka_unit_test_setup_teardown(test_started_again, setup, teardown),
	cmocka_unit_test_setup_teardown(test_tasks_end_backwards, setup, teardown),
	cmocka_unit_test_setup_teardown(test_losses, setup, teardown),
	cmocka_unit_test_setup_teardown(test_losses_of_old_kernels, setup, teardown),
	cmocka_unit_test_setup_teardown(test_losses_with_counts_in_samples, setup, teardown),
};

int main(void)
{
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	fake_reset();
	return failed;
}
