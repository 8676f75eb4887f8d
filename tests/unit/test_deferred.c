/* SPDX-License-Identifier: MIT */
/* Deferred call chains: samples come out once each, with the user part of their own thread and cookie or with none,
 * whatever the order; memory has a bound; nothing that stands in a record does harm. */
#include "bytes.h"
#include "test.h"

#include <perfev/deferred.h>
#include <perfev/meaning.h>

static struct perfev_error err;
static struct perfev_layout *layout;
static struct perfev_deferred *deferred;
static struct bytes bytes;
static bool other_order;

#define KERNEL UINT64_C(0xffffffff81000000)

static int setup(void **state)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
								    PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_CGROUP,
				       .sample_id_all = 1, .defer_callchain = 1};

	(void)state;
	other_order = false;
	deferred = NULL;
	return perfev_layout_new(&layout, &attr, &err) < 0 || perfev_deferred_new(&deferred, NULL, &err) < 0;
}

static int teardown(void **state)
{
	(void)state;
	perfev_deferred_free(deferred);
	perfev_layout_free(layout);
	return 0;
}

static void begin(uint32_t type, uint16_t misc)
{
	bytes.size = 0;
	bytes.big = host_is_big() != other_order;
	begin_record(&bytes, type, misc);
}

static void view(struct perfev_record *ret)
{
	struct perfev_bytes all = {bytes.data, bytes.size};

	end_record(&bytes, 0);
	assert_works(perfev_record_from_bytes(ret, all, other_order ? PERFEV_RECORD_SWAPPED : 0, &err));
}

static int feed(void)
{
	struct perfev_record record;

	view(&record);
	record.offset = bytes.size;
	record.source = 3;
	return perfev_deferred_feed(deferred, &record, layout, &err);
}

/* A sample of the kernel's code, with @frames addresses and, unless it is 0, a cookie. */
static int feed_sample(uint32_t tid, uint64_t time, uint32_t frames, uint64_t cookie)
{
	uint32_t i;

	begin(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	put_u32(&bytes, 10);
	put_u32(&bytes, tid);
	put_u64(&bytes, time);
	put_u64(&bytes, 1 + frames + (cookie ? 2 : 0));
	put_u64(&bytes, PERF_CONTEXT_KERNEL);
	for (i = 0; i < frames; i++)
		put_u64(&bytes, KERNEL + i);
	if (cookie) {
		put_u64(&bytes, PERF_CONTEXT_USER_DEFERRED);
		put_u64(&bytes, cookie);
	}
	put_u64(&bytes, 77); /* the cgroup, behind the chain */
	return feed();
}

static void put_trailer(uint32_t tid)
{
	put_u32(&bytes, 10);
	put_u32(&bytes, tid);
	put_u64(&bytes, 1);
}

/* @frames addresses that count from the cookie. */
static int feed_user(uint32_t tid, uint64_t cookie, uint32_t frames)
{
	uint32_t i;

	begin(PERF_RECORD_CALLCHAIN_DEFERRED, PERF_RECORD_MISC_USER);
	put_u64(&bytes, cookie);
	put_u64(&bytes, frames);
	for (i = 0; i < frames; i++)
		put_u64(&bytes, cookie * 0x10000 + i);
	put_trailer(tid);
	return feed();
}

static int feed_end(uint32_t tid, bool exec)
{
	begin(exec ? PERF_RECORD_COMM : PERF_RECORD_EXIT, exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
	put_u32(&bytes, 10);
	put_u32(&bytes, exec ? tid : 10);
	if (exec) {
		put_text(&bytes, "new", 8);
	} else {
		put_u32(&bytes, tid);
		put_u32(&bytes, 10);
		put_u64(&bytes, 1);
	}
	put_trailer(tid);
	return feed();
}

/* A sample comes out: as one of the kernel with @frames and then @user_frames, those of @cookie. */
static void expect(uint32_t tid, uint64_t time, uint32_t frames, uint64_t cookie, uint32_t user_frames)
{
	const struct perfev_layout *of = NULL;
	struct perfev_callchain_entry entry;
	struct perfev_callchain chain;
	struct perfev_record record;
	struct perfev_sample sample;
	uint32_t i;

	assert_int_equal(perfev_deferred_next(deferred, &record, &of), 1);
	assert_ptr_equal(of, layout);
	assert_int_equal(record.source, 3);
	assert_int_equal(record.misc, PERF_RECORD_MISC_KERNEL);
	assert_works(perfev_sample_decode(&sample, &record, of, &err));
	assert_int_equal(sample.tid, tid);
	assert_true(sample.time == time && sample.cgroup == 77 && sample.pid == 10);
	assert_int_equal(sample.callchain.count, 1 + frames + (user_frames ? 1 + user_frames : 0));
	perfev_callchain_begin(&chain, sample.callchain, sample.misc);
	assert_true(chain.cookie == 0);
	for (i = 0; perfev_callchain_next(&chain, &entry) > 0; i++) {
		bool user = i >= frames;

		assert_int_equal(entry.context, user ? PERFEV_CONTEXT_USER : PERFEV_CONTEXT_KERNEL);
		assert_true(entry.ip == (user ? cookie * 0x10000 + i - frames : KERNEL + i));
	}
	assert_int_equal(i, frames + user_frames);
}

static void expect_none(void)
{
	const struct perfev_layout *of;
	struct perfev_record record;

	assert_int_equal(perfev_deferred_next(deferred, &record, &of), 0);
}

static void expect_counts(uint64_t joined, uint64_t alone, uint64_t unmatched, uint64_t waiting)
{
	struct perfev_deferred_info counts;

	perfev_deferred_describe(deferred, &counts);
	assert_int_equal(counts.joined, joined);
	assert_int_equal(counts.alone, alone);
	assert_int_equal(counts.unmatched, unmatched);
	assert_int_equal(counts.waiting, waiting);
}

/* ---- what a kernel writes ------------------------------------------------------------------------------------ */

static void test_joined(void **state)
{
	int order;

	(void)state;
	for (order = 0; order < 2; order++) {
		other_order = order;
		assert_int_equal(feed_sample(11, 1, 3, 500 + (uint64_t)order), 0);
		assert_int_equal(feed_sample(11, 2, 4, 0), 1); /* whole already */
		assert_int_equal(feed_sample(11, 3, 2, 500 + (uint64_t)order), 0);
		expect_none();
		assert_int_equal(feed_user(11, 500 + (uint64_t)order, 5), 0);
		expect(11, 1, 3, 500 + (uint64_t)order, 5);
		expect(11, 3, 2, 500 + (uint64_t)order, 5);
		expect_none();
		assert_int_equal(feed_sample(11, 4, 1, 500 + (uint64_t)order), 0); /* it came behind its user part */
		expect(11, 4, 1, 500 + (uint64_t)order, 5);
		expect_counts(3 * (uint64_t)(order + 1), 0, 0, 0);
	}
}

/* The same cookie of another thread, another cookie of the same. */
static void test_threads_apart(void **state)
{
	(void)state;
	assert_int_equal(feed_sample(11, 1, 1, 500), 0);
	assert_int_equal(feed_sample(12, 2, 1, 500), 0);
	assert_int_equal(feed_sample(12, 3, 1, 501), 0);
	assert_int_equal(feed_user(12, 500, 2), 0);
	expect(12, 2, 1, 500, 2);
	expect_none();
	assert_int_equal(feed_user(12, 502, 2), 0);
	expect_none();
	assert_int_equal(feed_user(12, 501, 1), 0);
	expect(12, 3, 1, 501, 1);
	assert_int_equal(feed_user(11, 500, 1), 0);
	expect(11, 1, 1, 500, 1);
	perfev_deferred_end(deferred);
	expect_none();
	expect_counts(3, 0, 1, 0);
}

static void test_never_comes(void **state)
{
	(void)state;
	assert_int_equal(feed_sample(11, 1, 2, 500), 0);
	assert_int_equal(feed_sample(12, 2, 2, 600), 0);
	assert_int_equal(feed_sample(13, 3, 2, 700), 0);
	assert_int_equal(feed_end(11, false), 1);
	expect(11, 1, 2, 0, 0);
	expect_none();
	assert_int_equal(feed_end(12, true), 1);
	expect(12, 2, 2, 0, 0);
	assert_int_equal(feed_user(12, 600, 1), 0); /* too late */
	perfev_deferred_end(deferred);
	expect(13, 3, 2, 0, 0);
	expect_none();
	expect_counts(0, 3, 1, 0);
}

/* A user part of no frames: the sample is complete, without one. */
static void test_empty_user_part(void **state)
{
	(void)state;
	assert_int_equal(feed_sample(11, 1, 2, 500), 0);
	assert_int_equal(feed_user(11, 500, 0), 0);
	expect(11, 1, 2, 500, 0);
	expect_counts(1, 0, 0, 0);
}

static void test_what_is_not_looked_at(void **state)
{
	struct perf_event_attr attr = *perfev_layout_attr(layout);
	struct perfev_layout *plain;
	struct perfev_record record;

	(void)state;
	attr.defer_callchain = 0;
	assert_works(perfev_layout_new(&plain, &attr, &err));
	begin(PERF_RECORD_SAMPLE, 1);
	put_u64(&bytes, 1); /* damaged, and not our business */
	view(&record);
	assert_int_equal(perfev_deferred_feed(deferred, &record, plain, &err), 1);
	assert_int_equal(perfev_deferred_feed(deferred, &record, NULL, &err), 1);
	perfev_layout_free(plain);
	begin(PERF_RECORD_COMM, 0);
	put_u32(&bytes, 10);
	put_u32(&bytes, 11);
	put_text(&bytes, "renamed", 8);
	put_trailer(11);
	assert_int_equal(feed_sample(11, 1, 1, 5), 0);
	begin(PERF_RECORD_COMM, 0); /* a new name is no new program */
	put_u32(&bytes, 10);
	put_u32(&bytes, 11);
	put_text(&bytes, "renamed", 8);
	put_trailer(11);
	assert_int_equal(feed(), 1);
	expect_none();
	expect_counts(0, 0, 0, 1);
}

static void test_ready_first(void **state)
{
	(void)state;
	assert_int_equal(feed_sample(11, 1, 1, 500), 0);
	assert_int_equal(feed_user(11, 500, 1), 0);
	assert_fails(feed_sample(11, 2, 1, 501), EBUSY);
	assert_says("perfev_deferred_next()");
	expect(11, 1, 1, 500, 1);
	assert_int_equal(feed_sample(11, 2, 1, 501), 0);
}

/* ---- bounds ------------------------------------------------------------------------------------------------------- */

/* A record has 16 bits for its size: the outermost frames are left out. */
static void test_too_long_for_a_record(void **state)
{
	struct perfev_deferred_info counts;
	uint32_t room;

	(void)state;
	assert_int_equal(feed_sample(11, 1, 100, 500), 0);
	assert_int_equal(feed_user(11, 500, 8000), 0);
	expect(11, 1, 100, 500, 8000);
	assert_int_equal(feed_sample(11, 2, 8100, 501), 0);
	assert_int_equal(feed_user(11, 501, 8000), 0);
	room = (65528 - 8 - 16 - 8 - 8 * 8101 - 8) / 8 - 1;
	expect(11, 2, 8100, 501, room);
	perfev_deferred_describe(deferred, &counts);
	assert_int_equal(counts.cut, 1);
	assert_int_equal(counts.joined, 2);
}

static void reopen(uint64_t max_bytes)
{
	struct perfev_deferred_opts opts = {.size = sizeof(opts), .max_bytes = max_bytes};

	perfev_deferred_free(deferred);
	assert_works(perfev_deferred_new(&deferred, &opts, &err));
}

static void test_memory_is_full(void **state)
{
	uint64_t given = 0, i;
	struct perfev_deferred_info counts;

	(void)state;
	reopen(1);
	for (i = 0; i < 10000; i++) {
		const struct perfev_layout *of;
		struct perfev_record record;

		assert_int_equal(feed_sample((uint32_t)(i % 50), i + 1, 100, 1000 + i), 0);
		while (perfev_deferred_next(deferred, &record, &of) > 0) {
			struct perfev_sample sample;

			assert_works(perfev_sample_decode(&sample, &record, of, &err));
			assert_true(sample.time == ++given); /* the oldest first */
		}
	}
	perfev_deferred_describe(deferred, &counts);
	assert_in_range(counts.waiting, 100, 256 * 1024 / 800);
	assert_true(counts.alone + counts.waiting == 10000);
}

static void test_too_many(void **state)
{
	struct perfev_deferred_info counts;
	const struct perfev_layout *of;
	struct perfev_record record;
	uint32_t i;

	(void)state;
	for (i = 0; i < PERFEV_DEFERRED_SAMPLES_MAX + 10; i++) {
		assert_int_equal(feed_sample(i, i, 1, 1), 0);
		assert_int_equal(perfev_deferred_next(deferred, &record, &of), i >= PERFEV_DEFERRED_SAMPLES_MAX);
	}
	perfev_deferred_describe(deferred, &counts);
	assert_int_equal(counts.waiting, PERFEV_DEFERRED_SAMPLES_MAX);
	assert_int_equal(counts.alone, 10);
}

/* User parts that nobody waits for are kept, one a thread, and go before samples do. */
static void test_user_parts_are_bounded(void **state)
{
	struct perfev_deferred_info counts;
	uint32_t i;

	(void)state;
	reopen(1);
	assert_int_equal(feed_sample(1, 1, 10, 7), 0);
	for (i = 0; i < 1000; i++) {
		assert_int_equal(feed_user(100 + i, 5, 1000), 0);
		expect_none();
	}
	perfev_deferred_describe(deferred, &counts);
	assert_in_range(counts.unmatched, 1000 - 256 * 1024 / 8000, 1000 - 256 * 1024 / 8300);
	assert_int_equal(counts.waiting, 1);
	assert_int_equal(feed_user(1, 7, 2), 0);
	expect(1, 1, 10, 7, 2);
}

/* ---- anything ------------------------------------------------------------------------------------------------------- */

/* Random threads, cookies and ends: against a list that is looked through. */
struct kept {
	uint64_t time, cookie;
	uint32_t tid;
	bool there;
};

static void take_all(struct kept *kept, size_t count, uint64_t *out, const uint64_t last_cookie[8])
{
	const struct perfev_layout *of;
	struct perfev_record record;
	struct perfev_sample sample;
	size_t i;

	while (perfev_deferred_next(deferred, &record, &of) > 0) {
		struct perfev_callchain_entry entry;
		struct perfev_callchain chain;
		uint64_t user = 0;

		assert_works(perfev_sample_decode(&sample, &record, of, &err));
		for (i = 0; i < count && !(kept[i].there && kept[i].time == sample.time); i++)
			;
		assert_true(i < count && kept[i].tid == sample.tid);
		kept[i].there = false;
		perfev_callchain_begin(&chain, sample.callchain, sample.misc);
		while (perfev_callchain_next(&chain, &entry) > 0)
			if (entry.context == PERFEV_CONTEXT_USER)
				user = entry.ip / 0x10000;
		assert_true(!user || (user == kept[i].cookie && last_cookie[kept[i].tid] == user));
		(*out)++;
	}
}

static void test_random_runs(void **state)
{
	static struct kept kept[20000];
	uint64_t seed = 17, out = 0, last_cookie[8] = {0};
	struct perfev_deferred_info counts;
	size_t in = 0;

	(void)state;
	while (in < 20000) {
		uint32_t tid = random_below(&seed, 8), what = random_below(&seed, 20);
		uint64_t cookie = 1 + random_below(&seed, 5);

		if (what < 12) {
			kept[in] = (struct kept){in + 1, cookie, tid, true};
			in++;
			assert_int_equal(feed_sample(tid, in, random_below(&seed, 20), cookie), 0);
		} else if (what < 19) {
			last_cookie[tid] = cookie;
			assert_int_equal(feed_user(tid, cookie, 1 + random_below(&seed, 30)), 0);
		} else {
			assert_int_equal(feed_end(tid, what & 1), 1);
		}
		take_all(kept, in, &out, last_cookie);
	}
	perfev_deferred_end(deferred);
	take_all(kept, in, &out, last_cookie);
	assert_int_equal(out, in);
	perfev_deferred_describe(deferred, &counts);
	assert_true(counts.joined + counts.alone == in && counts.waiting == 0);
	assert_true(counts.joined > in / 2 && counts.unmatched > 0);
}

static void test_hostile(void **state)
{
	uint64_t seed = 23;
	int i;

	(void)state;
	for (i = 0; i < 100000; i++) {
		const struct perfev_layout *of;
		struct perfev_record record, out;
		size_t n;

		begin(random_below(&seed, 2) ? PERF_RECORD_SAMPLE : random_below(&seed, 23), (uint16_t)next_random(&seed));
		for (n = random_below(&seed, 30); n; n--)
			put_u64(&bytes, random_below(&seed, 3)	? random_below(&seed, 12)
					: random_below(&seed, 2) ? PERF_CONTEXT_USER_DEFERRED
								   : next_random(&seed));
		view(&record);
		perfev_deferred_feed(deferred, &record, layout, &err);
		while (perfev_deferred_next(deferred, &out, &of) > 0) {
			struct perfev_sample sample;

			assert_works(perfev_sample_decode(&sample, &out, of, &err));
		}
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static const struct CMUnitTest tests[] = {
	TEST(test_joined),
	TEST(test_threads_apart),
	TEST(test_never_comes),
	TEST(test_empty_user_part),
	TEST(test_what_is_not_looked_at),
	TEST(test_ready_first),
	TEST(test_too_long_for_a_record),
	TEST(test_memory_is_full),
	TEST(test_too_many),
	TEST(test_user_parts_are_bounded),
	TEST(test_random_runs),
	TEST(test_hostile),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
