/* SPDX-License-Identifier: MIT */
/*
 * Tracers on a scripted kernel: bytes that wrap at every place of the area, positions past 4 GiB, chunks of a largest
 * size, areas that are full, records that announce what is not there, and what is refused.
 */
#include "capture/tracer.c"

#include "sampling.h"

static struct perfev_tracer *tracer;
static struct perfev_event *event;

#define AREA (4u * FAKE_PAGE)

static int end(void **state)
{
	(void)state;
	perfev_tracer_close(tracer);
	perfev_event_free(event);
	tracer = NULL;
	event = NULL;
	return fake_left();
}

static int open_tracer(struct perfev_target on, uint64_t chunk_bytes)
{
	struct perfev_tracer_opts opts = {.size = sizeof(opts), .aux_bytes = AREA, .chunk_bytes = chunk_bytes};
	struct perf_event_attr attr = {.type = 40, .size = sizeof(attr)};

	fake.aux_type = 40;
	if (!event)
		assert_works(perfev_event_new(&event, "trace", &attr, &err));
	return perfev_tracer_open(&tracer, (const struct perfev_event *const *)&event, 1, on, &opts, &err);
}

/* As if so much had been traced before. */
static void start_at(uint64_t position)
{
	struct area *area = &tracer->areas[0];

	nth(0)->ring.aux_head = area->page->aux_head = area->page->aux_tail = position;
	area->tail = area->given = position;
}

static unsigned char byte_at(uint64_t position)
{
	return (unsigned char)(position * 7 + (position >> 8) * 13);
}

static void write_trace(uint64_t position, size_t size, size_t wanted)
{
	unsigned char bytes[2 * AREA];
	size_t i;

	for (i = 0; i < size; i++)
		bytes[i] = byte_at(position + i);
	assert_int_equal(fake_trace(nth(0), bytes, size, 0), wanted);
}

/* Takes all chunks there are; how many bytes they had. */
static uint64_t read_trace(uint64_t position, uint64_t most, int *chunks)
{
	uint64_t size = 0;
	struct perfev_chunk chunk;
	int r;

	*chunks = 0;
	while ((r = perfev_tracer_next(tracer, &chunk, &err)) > 0) {
		int part;

		if (chunk.record.type != PERF_RECORD_AUX)
			continue;
		assert_true(!most || chunk.part[0].size + chunk.part[1].size <= most);
		for (part = 0; part < 2; part++) {
			size_t i;

			for (i = 0; i < chunk.part[part].size; i++)
				assert_int_equal(((const unsigned char *)chunk.part[part].data)[i], byte_at(position + size++));
		}
		++*chunks;
	}
	assert_works(r);
	return size;
}

static void test_wraps_everywhere(void **state)
{
	static const uint64_t starts[] = {0, (UINT64_C(1) << 32) - AREA / 2, UINT64_MAX - AREA * 3};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		uint64_t at = starts[i] & ~(uint64_t)7;
		int turn, chunks;

		assert_works(open_tracer(perfev_on_cpu(2), 0));
		start_at(at);
		assert_works(perfev_tracer_start(tracer, &err));
		for (turn = 0; turn < 3000; turn++) { /* ends at each multiple of 8 */
			size_t size = (size_t)(turn % 61) * 8 + 8;

			write_trace(at, size, size);
			assert_int_equal(perfev_tracer_wait(tracer, 0, &err), 1);
			assert_int_equal(read_trace(at, 0, &chunks), size);
			assert_int_equal(chunks, 1);
			at += size;
			perfev_tracer_release(tracer);
			assert_true(tracer->areas[0].page->aux_tail == at);
		}
		perfev_tracer_close(tracer);
		tracer = NULL;
	}
}

static void test_chunks_of_a_size(void **state)
{
	struct perfev_trace_info info;
	int chunks;

	(void)state;
	assert_works(open_tracer(perfev_on_cpu(2), 1000));
	assert_works(perfev_tracer_start(tracer, &err));
	start_at(AREA - 1504);
	write_trace(AREA - 1504, 3200, 3200);
	assert_int_equal(read_trace(AREA - 1504, 1000, &chunks), 3200);
	assert_int_equal(chunks, 4);
	perfev_tracer_describe(tracer, &info);
	assert_int_equal(info.records, 1);
	assert_int_equal(info.bytes, 3200);
	perfev_tracer_release(tracer);
	assert_int_equal(perfev_tracer_wait(tracer, 0, &err), 0);
}

/* The kernel turns the event off; after release it is on again, unless it was stopped meanwhile. */
static void test_full_areas(void **state)
{
	struct perfev_trace_info info;
	int chunks;

	(void)state;
	assert_works(open_tracer(perfev_on_cpu(2), 0));
	assert_works(perfev_tracer_start(tracer, &err));
	write_trace(0, AREA + 800, AREA - 1); /* the last byte stays free, or full would look empty */
	assert_false(nth(0)->enabled);
	assert_int_equal(read_trace(0, 0, &chunks), AREA - 1);
	assert_false(nth(0)->enabled);
	perfev_tracer_release(tracer);
	assert_true(nth(0)->enabled);
	write_trace(AREA - 1, AREA + 8, AREA - 1);
	assert_works(perfev_tracer_stop(tracer, &err));
	assert_int_equal(read_trace(AREA - 1, 0, &chunks), AREA - 1);
	perfev_tracer_release(tracer);
	assert_false(nth(0)->enabled);
	perfev_tracer_describe(tracer, &info);
	assert_int_equal(info.truncated, 2);
	assert_int_equal(info.gaps, 0);
}

static void fill(uint64_t at)
{
	int chunks;

	write_trace(at, AREA + 8, AREA - 1);
	assert_int_equal(read_trace(at, 0, &chunks), AREA - 1);
	perfev_tracer_release(tracer);
	assert_true(nth(0)->enabled);
}

/* A kernel may turn the event off after its record was seen, and the event was enabled in vain: it is tried again, not more often
 * than is of use, until bytes come or it cannot be that any more. */
static void test_off_after_on(void **state)
{
	int64_t before;

	(void)state;
	assert_works(open_tracer(perfev_on_cpu(2), 0));
	assert_works(perfev_tracer_start(tracer, &err));
	fill(0);
	nth(0)->enabled = false;
	assert_int_equal(perfev_tracer_wait(tracer, 0, &err), 0);
	assert_false(nth(0)->enabled); /* a moment ago it was */
	fake.now_ms += 10;
	assert_int_equal(perfev_tracer_wait(tracer, 0, &err), 0);
	assert_true(nth(0)->enabled);
	nth(0)->enabled = false;
	before = fake.now_ms;
	assert_int_equal(perfev_tracer_wait(tracer, 60, &err), 0);
	assert_true(nth(0)->enabled);
	assert_in_range(fake.now_ms - before, 60, 66);
	fill(AREA - 1);
	nth(0)->enabled = false;
	fake.now_ms += 10000; /* the thread sleeps */
	assert_int_equal(perfev_tracer_wait(tracer, 100, &err), 0);
	assert_false(nth(0)->enabled);
	nth(0)->enabled = true;
	fill(2 * (AREA - 1));
	write_trace(3 * (AREA - 1), 16, 16);
	nth(0)->enabled = false;
	fake.now_ms += 10;
	assert_int_equal(perfev_tracer_wait(tracer, 100, &err), 1); /* it went on */
	assert_false(nth(0)->enabled);
}

static void announce_bytes(uint64_t offset, uint64_t size, uint64_t flags, uint16_t record_size)
{
	struct bytes bytes;
	size_t at;

	bytes.size = 0;
	bytes.big = host_is_big();
	at = begin_record(&bytes, PERF_RECORD_AUX, 0);
	if (record_size >= 32) {
		put_u64(&bytes, offset);
		put_u64(&bytes, size);
		put_u64(&bytes, flags);
	} else {
		put_u64(&bytes, offset);
	}
	end_record(&bytes, at);
	assert_true(fake_write(nth(0), bytes.data, bytes.size));
}

/* What cannot be is an error, and everything goes on behind it. */
static void test_hostile_records(void **state)
{
	const uint64_t now = 5 * AREA;
	const struct {
		uint64_t offset, size;
	} rows[] = {
		{now, AREA + 8}, {now, UINT64_MAX}, {now + 8, 8}, {now - 8, 8}, {0, 8}, {UINT64_MAX - 7, 8},
		{now, 8}, {now + AREA, AREA}, {UINT64_MAX, UINT64_MAX},
	};
	struct perfev_chunk chunk;
	size_t i;
	int chunks;

	(void)state;
	assert_works(open_tracer(perfev_on_cpu(2), 0));
	assert_works(perfev_tracer_start(tracer, &err));
	start_at(now);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		announce_bytes(rows[i].offset, rows[i].size, 0, 32);
		assert_fails(perfev_tracer_next(tracer, &chunk, &err), EBADMSG);
		assert_int_equal(err.why, PERFEV_WHY_CORRUPT);
		assert_int_equal(perfev_tracer_next(tracer, &chunk, &err), 0);
		perfev_tracer_release(tracer);
	}
	announce_bytes(1, 0, 0, 16); /* cut short */
	announce_bytes(now, 0, PERF_AUX_FLAG_PARTIAL, 32); /* flags only */
	for (i = 0; i < 2; i++) {
		assert_int_equal(perfev_tracer_next(tracer, &chunk, &err), 1);
		assert_null(chunk.part[0].data);
		assert_int_equal(chunk.part[0].size + chunk.part[1].size, 0);
	}
	assert_int_equal(perfev_tracer_next(tracer, &chunk, &err), 0);
	write_trace(now, 80, 80);
	assert_int_equal(read_trace(now, 0, &chunks), 80);
}

static int refuse_aux(struct fake_event *e, size_t size)
{
	(void)e;
	return size == AREA ? -EPERM : 0;
}

/* What cannot be mapped is said, and nothing stays open; or a smaller area is taken. */
static void test_refusals(void **state)
{
	struct perfev_tracer_opts opts = {.size = sizeof(opts), .aux_bytes = AREA, .may_drop = PERFEV_DROP_RING};

	(void)state;
	assert_works(open_tracer(perfev_on_all_cpus(), 0));
	perfev_tracer_close(tracer);
	tracer = NULL;
	assert_int_equal(fake_left(), 0);
	fake.aux_type = 41; /* another PMU's */
	assert_fails(perfev_tracer_open(&tracer, (const struct perfev_event *const *)&event, 1, perfev_on_cpu(2), NULL, &err),
		     EOPNOTSUPP);
	assert_says("cannot trace trace: its PMU writes no trace");
	assert_int_equal(fake_left(), 0);
	fake.aux_type = 40;
	fake.on_map = refuse_aux;
	assert_fails(open_tracer(perfev_on_cpu(2), 0), EPERM);
	assert_int_equal(err.why, PERFEV_WHY_LOCKED_MEMORY);
	assert_int_equal(fake_left(), 0);
	assert_works(perfev_tracer_open(&tracer, (const struct perfev_event *const *)&event, 1, perfev_on_cpu(2), &opts, &err));
	assert_int_equal(perfev_tracer_aux_bytes(tracer), AREA / 2);
	assert_int_equal(nth(0)->attr.aux_watermark, AREA / 8);
	opts.aux_bytes = UINT64_MAX;
	perfev_tracer_close(tracer);
	tracer = NULL;
	assert_fails(perfev_tracer_open(&tracer, (const struct perfev_event *const *)&event, 1, perfev_on_cpu(2), &opts, &err),
		     ENOMEM);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_wraps_everywhere, setup, end),
	cmocka_unit_test_setup_teardown(test_chunks_of_a_size, setup, end),
	cmocka_unit_test_setup_teardown(test_full_areas, setup, end),
	cmocka_unit_test_setup_teardown(test_off_after_on, setup, end),
	cmocka_unit_test_setup_teardown(test_hostile_records, setup, end),
	cmocka_unit_test_setup_teardown(test_refusals, setup, end),
};

int main(void)
{
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	fake_reset();
	return failed;
}
