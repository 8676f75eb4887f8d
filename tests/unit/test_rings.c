/* SPDX-License-Identifier: MIT */
/* What a kernel does to its rings beside writing samples, by the one that is simulated (fake/ring.h): the AUX area,
 * throttling, loss by two counts. A tracer's reader is written out here, as its protocol has it. */
#include "sampling.h"

#include <perfev/raw.h>

#define AUX_TYPE  42
#define AUX_BYTES ((size_t)16384)

/* ---- the AUX area ---------------------------------------------------------------------------------------- */

static struct perf_event_mmap_page *page;
static unsigned char *aux;
static int fd;
static uint64_t written, took; /* bytes of trace: each byte is its number */
static uint64_t data_tail;

static int open_tracer(bool overwrite, uint32_t watermark)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .type = AUX_TYPE, .sample_type = PERF_SAMPLE_TID,
				       .sample_id_all = 1, .aux_watermark = watermark};
	void *area;
	int r;

	fake.aux_type = AUX_TYPE;
	written = took = data_tail = 0;
	fd = perfev_raw_open(&attr, 0, 2, -1, PERF_FLAG_FD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(perfev_raw_mmap(&page, fd, FAKE_PAGE, true), 0);
	r = perfev_raw_mmap_aux(&area, fd, page, AUX_BYTES, !overwrite);
	aux = r == 0 ? area : NULL;
	return r;
}

static void close_tracer(void)
{
	if (aux)
		assert_int_equal(perfev_raw_munmap_aux(aux, AUX_BYTES), 0);
	assert_int_equal(perfev_raw_munmap(page, FAKE_PAGE), 0);
	perfev_raw_close(fd);
	aux = NULL;
}

static unsigned char byte_of(uint64_t number)
{
	return (unsigned char)(number ^ number >> 8 ^ number >> 16);
}

static size_t trace(size_t size)
{
	static unsigned char bytes[4 * AUX_BYTES];
	size_t i, n;

	for (i = 0; i < size; i++)
		bytes[i] = byte_of(written + i);
	n = fake_trace(fake_event_of(fd), bytes, size, 0);
	written += n;
	return n;
}

/* The next record of the ring: false when there is none. */
static bool next_aux(struct perfev_aux *ret)
{
	unsigned char copy[64];
	struct perfev_bytes bytes = {copy, 0};
	struct perf_event_attr attr = fake_event_of(fd)->attr;
	struct perfev_record record;
	struct perfev_layout *layout;
	struct perfev_any any;
	size_t i;

	if (__atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE) == data_tail)
		return false;
	for (i = 0; i < sizeof(copy); i++)
		copy[i] = ((unsigned char *)page)[FAKE_PAGE + ((data_tail + i) & (FAKE_PAGE - 1))];
	bytes.size = sizeof(copy);
	assert_works(perfev_record_from_bytes(&record, bytes, 0, &err));
	assert_works(perfev_layout_new(&layout, &attr, &err));
	assert_works(perfev_any_decode(&any, &record, layout, &err));
	assert_int_equal(any.type, PERF_RECORD_AUX);
	*ret = any.as.aux;
	perfev_layout_free(layout);
	assert_int_equal(ret->trailer.tid, fake.pid);
	data_tail += record.size;
	__atomic_store_n(&page->data_tail, data_tail, __ATOMIC_RELEASE);
	return true;
}

/* Takes what was announced, checks each byte, and gives it back: without reducing the tail. */
static uint64_t take_aux(void)
{
	struct perfev_aux record;
	uint64_t flags = 0, i;

	while (next_aux(&record)) {
		assert_true(record.aux_offset == took);
		for (i = 0; i < record.aux_size; i++)
			assert_int_equal(aux[(took + i) & (AUX_BYTES - 1)], byte_of(took + i));
		took += record.aux_size;
		flags |= record.flags;
	}
	assert_true(took == page->aux_head);
	__atomic_store_n(&page->aux_tail, took, __ATOMIC_RELEASE);
	return flags;
}

static void test_aux_ten_laps(void **state)
{
	uint64_t seed = 7;

	(void)state;
	assert_int_equal(open_tracer(false, 0), 0);
	while (took < 10 * AUX_BYTES) {
		size_t size = 1 + random_below(&seed, 6000);

		assert_int_equal(trace(size), size);
		assert_true(take_aux() == 0);
	}
	assert_true(page->aux_head > AUX_BYTES && page->aux_tail == page->aux_head); /* never reduced */
	close_tracer();
}

/* No room: cut, and said so; the event stands still until it is enabled again. */
static void test_aux_full(void **state)
{
	(void)state;
	assert_int_equal(open_tracer(false, 0), 0);
	assert_int_equal(trace(10000), 10000);
	assert_int_equal(trace(10000), AUX_BYTES - 1 - 10000);
	assert_int_equal(trace(10), 0);
	assert_false(fake_event_of(fd)->enabled);
	assert_int_equal(perfev_raw_enable(fd, 0), 0);
	assert_int_equal(trace(10), 0); /* on again, and still full: nothing is said */
	assert_true(take_aux() == PERF_AUX_FLAG_TRUNCATED);
	assert_true(took == AUX_BYTES - 1);
	assert_int_equal(trace(10), 0);
	assert_int_equal(perfev_raw_enable(fd, 0), 0);
	assert_int_equal(trace(10), 10);
	assert_true(take_aux() == 0);
	close_tracer();
}

/* The fault of a reader that stores its tail modulo the size: after a lap there is no room any more. */
static void test_aux_tail_reduced(void **state)
{
	struct perfev_aux record;
	int i;

	(void)state;
	assert_int_equal(open_tracer(false, 0), 0);
	for (i = 0; i < 20 && trace(4096) == 4096; i++) {
		while (next_aux(&record))
			;
		page->aux_tail = page->aux_head & (AUX_BYTES - 1);
	}
	assert_in_range(i, 4, 5);
	close_tracer();
}

static void test_aux_wakes(void **state)
{
	struct fake_event *event;
	int wakes = 0, i;

	(void)state;
	assert_int_equal(open_tracer(false, 4096), 0);
	event = fake_event_of(fd);
	for (i = 0; i < 64; i++) {
		event->ready = false;
		assert_int_equal(trace(1024), 1024);
		wakes += event->ready;
		take_aux();
	}
	assert_int_equal(wakes, 16);
	close_tracer();
}

/* Nobody reads: what is newest stays, and records say of which mode they are. */
static void test_aux_overwrite(void **state)
{
	struct perfev_aux record;
	uint64_t i;

	(void)state;
	assert_int_equal(open_tracer(true, 0), 0);
	for (i = 0; i < 10; i++)
		assert_int_equal(trace(AUX_BYTES / 2 + 100), AUX_BYTES / 2 + 100);
	assert_true(page->aux_head == written);
	for (i = written - AUX_BYTES; i < written; i++)
		assert_int_equal(aux[i & (AUX_BYTES - 1)], byte_of(i));
	for (i = 0; next_aux(&record); i++)
		assert_true(record.flags == PERF_AUX_FLAG_OVERWRITE);
	assert_int_equal(i, 10);
	assert_int_equal(fake_trace(fake_event_of(fd), NULL, 0, 0), 0);
	assert_false(next_aux(&record)); /* nothing to tell */
	assert_int_equal(fake_trace(fake_event_of(fd), NULL, 0, PERF_AUX_FLAG_PARTIAL), 0);
	assert_true(next_aux(&record) && record.flags == (PERF_AUX_FLAG_OVERWRITE | PERF_AUX_FLAG_PARTIAL));
	close_tracer();
}

static void test_aux_refused(void **state)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE};
	void *area;

	(void)state;
	assert_int_equal(open_tracer(false, 0), 0);
	assert_int_equal(perfev_raw_mmap_aux(&area, fd, page, AUX_BYTES, true), -EINVAL); /* twice */
	close_tracer();
	fd = perfev_raw_open(&attr, 0, -1, -1, 0);
	assert_int_equal(perfev_raw_mmap(&page, fd, FAKE_PAGE, true), 0);
	assert_int_equal(perfev_raw_mmap_aux(&area, fd, page, AUX_BYTES, true), -EOPNOTSUPP);
	assert_int_equal(perfev_raw_mmap_aux(&area, fd, page, AUX_BYTES + FAKE_PAGE, true), -EINVAL);
	close_tracer();
}

/* ---- throttling ---------------------------------------------------------------------------------------------- */

static bool sample(struct fake_event *event, uint64_t ip)
{
	struct bytes bytes;

	bytes.size = 0;
	bytes.big = host_is_big();
	begin_record(&bytes, PERF_RECORD_SAMPLE, 2);
	put_u64(&bytes, event->id);
	put_u64(&bytes, ip);
	end_record(&bytes, 0);
	return fake_sample(event, bytes.data, bytes.size);
}

static void expect_throttle(uint32_t type, int event)
{
	struct perfev_record record;
	struct perfev_any any;

	assert_int_equal(perfev_sampler_next(sampler, &record, &err), 1);
	assert_int_equal(record.type, type);
	assert_int_equal(perfev_sampler_event(sampler, &record), event);
	assert_works(perfev_any_decode(&any, &record, perfev_sampler_layout(sampler, &record), &err));
	assert_true(any.as.throttle.id == nth(event)->id && any.as.throttle.trailer.id == nth(event)->id);
	assert_true(any.as.throttle.time == (uint64_t)fake.now_ms * 1000000);
}

static void test_throttled(void **state)
{
	int i;

	(void)state;
	assert_works(open_with("cycles,cs", perfev_on_cpu(2), PERF_SAMPLE_IP, NULL));
	assert_false(sample(nth(0), 1)); /* it is off */
	assert_works(perfev_sampler_start(sampler, &err));
	fake.samples_per_tick = 3;
	fake.now_ms = 40;
	for (i = 1; i <= 5; i++)
		assert_int_equal(sample(nth(0), (uint64_t)i), i <= 3);
	assert_true(sample(nth(1), 10)); /* the other one is not */
	expect_sample(1, 0, 0);
	expect_sample(2, 0, 0);
	expect_throttle(PERF_RECORD_THROTTLE, 0);
	expect_sample(3, 0, 0);
	expect_sample(10, 0, 1);
	expect_end();
	perfev_sampler_release(sampler);
	fake.now_ms = 44;
	fake_tick();
	assert_true(sample(nth(0), 6));
	expect_throttle(PERF_RECORD_UNTHROTTLE, 0);
	expect_sample(6, 0, 0);
	expect_end();
}

/* ---- loss ------------------------------------------------------------------------------------------------------- */

/* Two events, four rings, a reader that is slow at times: what was made is what was read and what is lost, by LOST
 * records as far as they came, and by the events' own counts exactly. */
static void test_losses_add_up(void **state)
{
	struct perfev_sampler_opts opts = {.size = sizeof(opts), .ring_bytes = FAKE_PAGE};
	uint64_t seed = 5, made, read_ = 0, said = 0;
	struct perfev_record record;
	struct perfev_loss loss;
	struct perfev_any any;
	int i;

	(void)state;
	assert_works(open_with("cycles,cs", perfev_on_all_cpus(), PERF_SAMPLE_IP, &opts));
	for (made = 0; made < 100000; made++) {
		write_sample(nth((int)random_below(&seed, 8)), made);
		if (random_below(&seed, 1500))
			continue;
		while (perfev_sampler_next(sampler, &record, &err) > 0) {
			assert_works(perfev_any_decode(&any, &record, perfev_sampler_layout(sampler, &record), &err));
			said += record.type == PERF_RECORD_LOST ? any.as.lost.lost : 0;
			read_ += record.type == PERF_RECORD_SAMPLE;
		}
		perfev_sampler_release(sampler);
	}
	while (perfev_sampler_next(sampler, &record, &err) > 0) {
		assert_works(perfev_any_decode(&any, &record, perfev_sampler_layout(sampler, &record), &err));
		said += record.type == PERF_RECORD_LOST ? any.as.lost.lost : 0;
		read_ += record.type == PERF_RECORD_SAMPLE;
	}
	assert_works(perfev_sampler_loss(sampler, &loss, &err));
	assert_true(loss.said == said && loss.said > 0 && loss.said <= loss.counted);
	assert_true(loss.exact && loss.records == loss.counted);
	assert_true(read_ + loss.records == made);
	for (i = 0, said = loss.said; i < 8; i++)
		said += nth(i)->ring.dropped; /* of rings that nobody wrote to since */
	assert_true(said == loss.counted);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static const struct CMUnitTest tests[] = {
	TEST(test_aux_ten_laps),
	TEST(test_aux_full),
	TEST(test_aux_tail_reduced),
	TEST(test_aux_wakes),
	TEST(test_aux_overwrite),
	TEST(test_aux_refused),
	TEST(test_throttled),
	TEST(test_losses_add_up),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
