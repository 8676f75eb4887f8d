/* SPDX-License-Identifier: MIT */
/* Faults that other libraries and tools had with samplers, which no other test would notice here: docs/faults.md. */
#include "sampling.h"

#include "capture/ring.h"

/* ---- what would be waited for in vain ---------------------------------------------------------------------- */

static int open_marked(uint32_t mark, uint32_t stack, const struct perfev_sampler_opts *opts)
{
	struct perfev_event *event;
	struct perf_event_attr *attr;
	const struct perfev_event *list[1];
	int r;

	perfev_sampler_close(sampler);
	sampler = NULL;
	assert_works(perfev_event_parse(&event, "faults", &err));
	list[0] = event;
	attr = perfev_event_attr(event);
	attr->sample_period = 1;
	attr->sample_type = PERF_SAMPLE_IP | (stack ? PERF_SAMPLE_STACK_USER : 0);
	attr->sample_stack_user = stack;
	attr->watermark = mark > 0;
	attr->wakeup_watermark = mark;
	r = perfev_sampler_open(&sampler, list, 1, perfev_on_self(), opts, &err);
	perfev_event_free(event);
	return r;
}

/* The kernel takes a mark that is never passed, and so the ring stays full. */
static void test_a_mark_beyond_the_ring(void **state)
{
	struct perfev_sampler_opts opts = {.size = sizeof(opts), .ring_bytes = 2 * FAKE_PAGE};

	(void)state;
	assert_works(open_marked(2 * FAKE_PAGE - 17, 0, &opts)); /* samples of 16 bytes: 8176 of them */
	assert_int_equal(nth(0)->attr.wakeup_watermark, 2 * FAKE_PAGE - 17);
	assert_fails(open_marked(2 * FAKE_PAGE - 16, 0, &opts), EINVAL);
	assert_fails(open_marked(2 * FAKE_PAGE, 0, &opts), EINVAL);
	assert_says("nobody is woken before its ring has more than 8192 bytes (wakeup_watermark), and it is full with 8176");
	assert_works(open_marked(2048, 4096, &opts));
	assert_fails(open_marked(4120, 4096, &opts), EINVAL); /* one of 4120 bytes or more */
	assert_fails(open_marked(UINT32_MAX, 0, &opts), EINVAL);
	opts.overwrite = 1; /* which nobody waits for */
	assert_works(open_marked(2 * FAKE_PAGE, 0, &opts));
}

static void test_a_sample_larger_than_the_ring(void **state)
{
	struct perfev_sampler_opts opts = {.size = sizeof(opts), .ring_bytes = FAKE_PAGE};

	(void)state;
	assert_works(open_marked(0, FAKE_PAGE - 32, &opts));
	assert_fails(open_marked(0, FAKE_PAGE - 24, &opts), EINVAL);
	assert_says("its samples have 4096 bytes or more, and never fit into a ring of 4096; ask for larger rings");
	opts.ring_bytes = 2 * FAKE_PAGE;
	assert_works(open_marked(0, FAKE_PAGE, &opts));
	/* of a larger stack the kernel takes what a record has room for, which is less than 64 KiB */
	opts.ring_bytes = 65536;
	assert_works(open_marked(0, 65528, &opts));
}

/* A ring has the mark of the event that mapped it; those of others mean nothing. */
static void test_the_mark_of_another(void **state)
{
	struct perfev_sampler_opts opts = {.size = sizeof(opts), .ring_bytes = FAKE_PAGE};
	const struct perfev_event *list[2];
	struct perfev_events *events;
	int i;

	(void)state;
	assert_works(perfev_events_parse(&events, "page-faults,context-switches", &err));
	for (i = 0; i < 2; i++) {
		struct perf_event_attr *attr = perfev_event_attr(perfev_events_at(events, (size_t)i));

		attr->sample_period = 1;
		attr->watermark = 1;
		attr->wakeup_watermark = i ? 2 * FAKE_PAGE : 64;
		list[i] = perfev_events_at(events, (size_t)i);
	}
	assert_works(perfev_sampler_open(&sampler, list, 2, perfev_on_self(), &opts, &err));
	perfev_sampler_close(sampler);
	sampler = NULL;
	opts.apart = 1;
	assert_fails(perfev_sampler_open(&sampler, list, 2, perfev_on_self(), &opts, &err), EINVAL);
	assert_says("nobody is woken");
	perfev_events_free(events);
}

static int refuse_large(struct fake_event *event, size_t size)
{
	(void)event;
	return size > 2 * FAKE_PAGE ? -EPERM : 0;
}

/* Rings are made smaller as long as they are of use; then what made them small is said. */
static void test_rings_that_would_be_too_small(void **state)
{
	struct perfev_sampler_opts opts = {.size = sizeof(opts), .may_drop = PERFEV_DROP_RING};

	(void)state;
	fake.on_map = refuse_large;
	assert_fails(open_marked(0, 16384, &opts), EPERM);
	assert_int_equal(err.why, PERFEV_WHY_LOCKED_MEMORY);
	assert_says("a ring of 32 KiB does not fit");
	assert_int_equal(fake_left(), 0);
	assert_works(open_marked(0, 2048, &opts));
	assert_int_equal(perfev_sampler_ring_bytes(sampler), FAKE_PAGE);
}

/* ---- polling --------------------------------------------------------------------------------------------------- */

static void write_unseen(int timeout_ms)
{
	(void)timeout_ms;
	write_sample(nth(0), 7);
	nth(0)->ready = false;
}

/* Records below the mark wake nobody: who stops waiting finds them all the same. */
static void test_records_below_the_mark(void **state)
{
	(void)state;
	assert_works(open_with("cycles", perfev_on_self(), PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP, NULL));
	fake.on_wait = write_unseen;
	assert_int_equal(perfev_sampler_wait(sampler, 50, &err), 1);
	assert_int_equal(fake.waits, 1);
	expect_sample(7, 0, 0);
	expect_end();
}

static void pass_time(int timeout_ms)
{
	(void)timeout_ms;
	fake.now_ms += 4;
}

/* A descriptor may say any of readable, hung up and failed, together too. What is in its ring is handed out first; what
 * has hung up or failed is waited for no more, or the wait would end for nothing from then on. */
static void test_every_answer_of_poll(void **state)
{
	unsigned answer;

	(void)state;
	for (answer = 1; answer < 8; answer++) {
		bool gone = answer & 6;

		setup(NULL);
		assert_works(open_with("cycles", perfev_on_self(), PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP, NULL));
		fake.poll_answer = answer;
		fake.on_wait = pass_time;
		assert_int_equal(perfev_sampler_wait(sampler, 10, &err), 0); /* nothing is there yet */
		assert_int_equal(perfev_sampler_ended(sampler), gone);
		write_sample(nth(0), answer);
		assert_false(perfev_sampler_ended(sampler));
		assert_int_equal(perfev_sampler_wait(sampler, -1, &err), 1);
		expect_sample(answer, 0, 0);
		expect_end();
		perfev_sampler_release(sampler);
		if (gone)
			assert_int_equal(perfev_sampler_wait(sampler, -1, &err), 0);
		assert_int_equal(perfev_sampler_ended(sampler), gone);
		assert_int_equal(teardown(NULL), 0);
		sampler = NULL;
	}
}

/* ---- rings ------------------------------------------------------------------------------------------------------ */

/* A type of a later kernel between two samples: it is handed out as it is, and what follows is what was written. */
static void test_a_type_of_the_future(void **state)
{
	struct perfev_record record;
	struct perfev_any any;
	struct bytes bytes = {.big = host_is_big()};
	int i;

	(void)state;
	assert_works(open_with("cycles", perfev_on_self(), PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP, NULL));
	write_sample(nth(0), 1);
	begin_record(&bytes, 99, 3);
	for (i = 0; i < 4; i++)
		put_u64(&bytes, UINT64_C(0x0008000000000009)); /* what would be a header */
	end_record(&bytes, 0);
	assert_true(fake_write(nth(0), bytes.data, bytes.size));
	write_sample(nth(0), 2);
	expect_sample(1, 0, 0);
	assert_int_equal(perfev_sampler_next(sampler, &record, &err), 1);
	assert_true(record.type == 99 && record.misc == 3 && record.size == 40);
	assert_memory_equal(record.data, bytes.data, 40);
	assert_fails(perfev_any_decode(&any, &record, perfev_sampler_layout(sampler, &record), &err), ENOTSUP);
	expect_sample(2, 0, 0);
	expect_end();
}

/* Kernels before 4.1 leave data_offset and data_size 0. */
static void test_a_page_of_an_old_kernel(void **state)
{
	(void)state;
	fake.no_data_offset = true;
	assert_works(open_with("cycles", perfev_on_self(), PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP, NULL));
	assert_int_equal(nth(0)->page->data_offset | nth(0)->page->data_size, 0);
	write_sample(nth(0), 11);
	expect_sample(11, 0, 0);
	expect_end();
}

/* Rings are counted in pages of the machine, and lie behind one of them. */
static void test_large_pages(void **state)
{
	static const size_t sizes[] = {16384, 65536};
	struct perfev_sampler_opts opts = {.size = sizeof(opts), .ring_bytes = 1};
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		fake.page_size = sizes[i];
		assert_works(open_with("cycles", perfev_on_self(), PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP, &opts));
		assert_int_equal(perfev_sampler_ring_bytes(sampler), sizes[i]);
		assert_int_equal(nth(0)->mapped, 2 * sizes[i]);
		write_sample(nth(0), 12);
		expect_sample(12, 0, 0);
		perfev_sampler_close(sampler);
		sampler = NULL;
	}
}

/* A head a whole ring ahead of the tail is a full ring, and not an empty one. */
static void test_full_is_not_empty(void **state)
{
	static struct perf_event_mmap_page page;
	static uint64_t data[512];
	struct perf_event_header header = {PERF_RECORD_SAMPLE, 2, 64};
	struct perfev_record record;
	struct ring ring;
	int i;

	(void)state;
	for (i = 0; i < 512; i += 8)
		memcpy(&data[i], &header, sizeof(header));
	assert_int_equal(ring_attach(&ring, &page, (const void *)data, sizeof(data), 0), 0);
	page.data_head = sizeof(data);
	assert_true(ring_has_data(&ring));
	assert_true(ring_begin(&ring));
	for (i = 0; i < 64; i++)
		assert_int_equal(ring_next(&ring, &record), 1);
	assert_int_equal(ring_next(&ring, &record), 0);
	ring_release(&ring);
	assert_int_equal(page.data_tail, sizeof(data)); /* not reduced */
	assert_false(ring_has_data(&ring));
	ring_unmap(&ring);
}

/* ---- opening ---------------------------------------------------------------------------------------------------- */

/* By threads or by CPUs: what is asked of the kernel is the same, side-band records too. */
static void test_all_ways_ask_for_the_same(void **state)
{
	const struct perfev_target ways[] = {perfev_on_self(), perfev_on_process(7), perfev_on_all_cpus(),
					     perfev_on_task_cpu(7, 2), perfev_on_cgroup(55, -1)};
	struct perf_event_attr first;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		const struct perfev_event *list[1];
		struct perf_event_attr got;
		struct perfev_event *event;
		int k;

		assert_works(perfev_event_parse(&event, "cycles", &err));
		*perfev_event_attr(event) = (struct perf_event_attr){
			.size = sizeof(got), .sample_period = 5, .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
			.context_switch = 1, .mmap2 = 1, .comm = 1, .task = 1, .namespaces = 1, .ksymbol = 1, .cgroup = 1};
		list[0] = event;
		assert_works(perfev_sampler_open(&sampler, list, 1, ways[i], NULL, &err));
		perfev_event_free(event);
		got = nth(0)->attr;
		got.inherit = 0; /* threads to come, of a process */
		if (i == 0)
			first = got;
		assert_memory_equal(&got, &first, sizeof(got));
		for (k = 0; k < fake.event_count; k++)
			assert_true(!fake.events[k].open || fake.events[k].attr.context_switch);
		perfev_sampler_close(sampler);
		sampler = NULL;
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static const struct CMUnitTest tests[] = {
	TEST(test_a_mark_beyond_the_ring),
	TEST(test_a_sample_larger_than_the_ring),
	TEST(test_the_mark_of_another),
	TEST(test_rings_that_would_be_too_small),
	TEST(test_records_below_the_mark),
	cmocka_unit_test(test_every_answer_of_poll),
	TEST(test_a_type_of_the_future),
	TEST(test_a_page_of_an_old_kernel),
	TEST(test_large_pages),
	TEST(test_full_is_not_empty),
	TEST(test_all_ways_ask_for_the_same),
};

int main(void)
{
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	fake_reset();
	return failed;
}
