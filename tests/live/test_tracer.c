/* SPDX-License-Identifier: MIT */
/*
 * Traces of the PMU that is made of timers (tests/vm/pmus): word w of its trace is MAGIC | w, so that each byte is known
 * by its place. It makes truncation, gaps and flags when it is told to.
 */
#include "live.h"

#include <perfev/tracer.h>

#define MAGIC UINT64_C(0xfa00000000000000)

static struct perfev_error err;
static struct perfev_tracer *tracer;

static int teardown(void **state)
{
	(void)state;
	perfev_tracer_close(tracer);
	tracer = NULL;
	return 0;
}

static struct perfev_event *event_of(const char *text)
{
	struct perfev_event *event;

	if (access("/sys/bus/event_source/devices/aux_fake", F_OK))
		SKIP("the PMUs of tests/vm are not here");
	assert_works(perfev_event_parse(&event, text, &err));
	return event;
}

static int try_open(struct perfev_event *event, const struct perfev_tracer_opts *opts)
{
	int r = perfev_tracer_open(&tracer, (const struct perfev_event *const *)&event, 1, perfev_on_self(), opts, &err);

	perfev_event_free(event);
	return r;
}

/* What came of a trace. next: the word that follows; skipped: words that were left out. */
struct seen {
	uint64_t next, skipped, chunks, bytes, flags;
	bool begun;
};

static void look_at_bytes(struct seen *seen, const unsigned char *at, size_t size)
{
	size_t i;

	assert_int_equal(size % 8, 0);
	for (i = 0; i < size; i += 8) {
		uint64_t word;

		memcpy(&word, at + i, 8);
		assert_true((word & MAGIC) == MAGIC);
		word &= ~MAGIC;
		if (seen->begun && word != seen->next)
			seen->skipped += word - seen->next;
		seen->begun = true;
		seen->next = word + 1;
	}
	seen->bytes += size;
}

static void look_at_chunk(struct seen *seen, const struct perfev_chunk *chunk)
{
	struct perfev_aux aux;

	if (chunk->record.type != PERF_RECORD_AUX)
		return;
	assert_works(perfev_aux_decode(&aux, &chunk->record, perfev_tracer_layout(tracer, &chunk->record), &err));
	seen->flags |= aux.flags;
	seen->chunks++;
	look_at_bytes(seen, chunk->part[0].data, chunk->part[0].size);
	look_at_bytes(seen, chunk->part[1].data, chunk->part[1].size);
}

/* All that is there now. */
static void drain(struct seen *seen)
{
	struct perfev_chunk chunk;
	int r;

	while ((r = perfev_tracer_next(tracer, &chunk, &err)) > 0)
		look_at_chunk(seen, &chunk);
	assert_works(r);
	perfev_tracer_release(tracer);
}

/* For so many bytes, at most. */
static void trace(struct seen *seen, uint64_t bytes, bool slow)
{
	int looks = 0;

	assert_works(perfev_tracer_start(tracer, &err));
	while (seen->bytes < bytes && looks++ < 20000) {
		assert_works(perfev_tracer_wait(tracer, 0, &err));
		burn_ms(slow ? 20 : 1);
		drain(seen);
	}
	assert_works(perfev_tracer_stop(tracer, &err));
	drain(seen);
}

/* Every byte once, in order, over at least 20 trips round the area, at four sizes of it. */
static void test_every_byte(void **state)
{
	struct perfev_tracer_opts opts = {.size = sizeof(opts)};
	struct perfev_trace_info info;

	(void)state;
	for (opts.aux_bytes = 32 * 1024; opts.aux_bytes <= 256 * 1024; opts.aux_bytes *= 2) {
		struct seen seen = {0};

		opts.chunk_bytes = opts.aux_bytes == 64 * 1024 ? 1000 * 8 : 0;
		assert_works(try_open(event_of("aux_fake/kb=4,tick=2/u"), &opts));
		assert_int_equal(perfev_tracer_aux_bytes(tracer), opts.aux_bytes);
		trace(&seen, 20 * opts.aux_bytes, false);
		perfev_tracer_describe(tracer, &info);
		assert_true(seen.bytes >= 20 * opts.aux_bytes);
		assert_int_equal(seen.skipped, 0);
		assert_int_equal(seen.next, seen.bytes / 8);
		assert_int_equal(info.bytes, seen.bytes);
		assert_int_equal(info.gaps, 0);
		if (!opts.chunk_bytes)
			assert_in_range(seen.chunks, info.records - 10, info.records); /* some have flags only */
		else
			assert_true(seen.chunks > info.records);
		teardown(NULL);
	}
}

/* A reader that comes too late: the PMU stops when its area is full, and goes on when there is room. */
static void test_a_slow_reader(void **state)
{
	struct perfev_tracer_opts opts = {.size = sizeof(opts), .aux_bytes = 32 * 1024};
	struct perfev_trace_info info;
	struct seen seen = {0};

	(void)state;
	assert_works(try_open(event_of("aux_fake/kb=16,tick=2/u"), &opts));
	trace(&seen, 10 * opts.aux_bytes, true);
	perfev_tracer_describe(tracer, &info);
	assert_true(info.truncated >= 5);
	assert_true(seen.flags & PERF_AUX_FLAG_TRUNCATED);
	assert_true(seen.bytes >= 10 * opts.aux_bytes);
	assert_int_equal(seen.next, seen.bytes / 8 + seen.skipped); /* all that was written is there */
}

/* Words that the PMU passes over are gaps, as large as it was told. */
static void test_gaps(void **state)
{
	struct perfev_tracer_opts opts = {.size = sizeof(opts), .aux_bytes = 128 * 1024};
	struct perfev_trace_info info;
	struct seen seen = {0};

	(void)state;
	assert_works(try_open(event_of("aux_fake/kb=4,tick=5,skip=3/u"), &opts));
	trace(&seen, 200 * 1024, false);
	perfev_tracer_describe(tracer, &info);
	assert_true(info.gaps > 10);
	assert_int_equal(info.gap_bytes, info.gaps * 3 * 8);
	assert_int_equal(info.gap_bytes, seen.skipped * 8);
}

static void test_flags(void **state)
{
	static const struct {
		const char *text;
		uint64_t flag;
	} rows[] = {
		{"aux_fake/flags=4/u", PERF_AUX_FLAG_PARTIAL},
		{"aux_fake/flags=8/u", PERF_AUX_FLAG_COLLISION},
		{"aux_fake/flags=0x100/u", 0x100}, /* of the PMU's own form */
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct perfev_trace_info info;
		struct seen seen = {0};

		assert_works(try_open(event_of(rows[i].text), NULL));
		trace(&seen, 64 * 1024, false);
		perfev_tracer_describe(tracer, &info);
		assert_true(seen.flags & rows[i].flag);
		assert_int_equal(info.partial > 0, rows[i].flag == PERF_AUX_FLAG_PARTIAL);
		assert_int_equal(info.collisions > 0, rows[i].flag == PERF_AUX_FLAG_COLLISION);
		teardown(NULL);
	}
}

/* The newest bytes, whole: before the area went around and after; of PMUs that keep the head below the size, too. */
static void test_snapshots(void **state)
{
	static const char *const texts[] = {"aux_fake/kb=4,tick=10/u", "aux_fake/kb=4,tick=10,wrap=1/u"};
	struct perfev_tracer_opts opts = {.size = sizeof(opts), .aux_bytes = 64 * 1024, .snapshot = 1};
	struct perfev_chunk chunk;
	size_t i;
	int turn;

	(void)state;
	for (i = 0; i < 2; i++) {
		uint64_t before = 0;

		assert_works(try_open(event_of(texts[i]), &opts));
		assert_int_equal(perfev_tracer_snapshot(tracer, 0, &chunk, &err), 0);
		for (turn = 0; turn < 4; turn++) {
			struct seen seen = {0};
			struct perfev_aux aux;

			assert_works(perfev_tracer_start(tracer, &err));
			assert_fails(perfev_tracer_snapshot(tracer, 0, &chunk, &err), EINVAL);
			burn_ms(turn ? 40 : 5);
			assert_works(perfev_tracer_stop(tracer, &err));
			drain(&seen);
			memset(&seen, 0, sizeof(seen));
			assert_int_equal(perfev_tracer_snapshot(tracer, 0, &chunk, &err), 1);
			assert_works(perfev_aux_decode(&aux, &chunk.record, NULL, &err));
			assert_true(aux.flags & PERF_AUX_FLAG_OVERWRITE);
			look_at_bytes(&seen, chunk.part[0].data, chunk.part[0].size);
			look_at_bytes(&seen, chunk.part[1].data, chunk.part[1].size);
			assert_int_equal(seen.skipped, 0);
			assert_int_equal(seen.bytes, aux.aux_size);
			assert_true(seen.next > before);
			assert_int_equal(seen.bytes, seen.next * 8 < opts.aux_bytes ? seen.next * 8 : opts.aux_bytes);
			before = seen.next;
		}
		assert_fails(perfev_tracer_snapshot(tracer, 1, &chunk, &err), EINVAL);
		teardown(NULL);
	}
}

/* Samples that carry the newest bytes of the trace of their group's leader. */
static void test_trace_in_samples(void **state)
{
	static const size_t leaders[] = {0, 0};
	struct perfev_tracer_opts opts = {.size = sizeof(opts), .aux_bytes = 64 * 1024, .snapshot = 1, .leaders = leaders};
	struct perfev_event *events[2];
	struct perfev_chunk chunk;
	int samples = 0, with = 0;

	(void)state;
	events[0] = event_of("aux_fake/kb=4,tick=5/u");
	events[1] = event_of("cpu-clock/period=2000000/u");
	perfev_event_attr(events[1])->sample_type = PERF_SAMPLE_AUX | PERF_SAMPLE_TIME;
	perfev_event_attr(events[1])->aux_sample_size = 512;
	perfev_event_attr(events[1])->disabled = 0;
	assert_works(perfev_tracer_open(&tracer, (const struct perfev_event *const *)events, 2, perfev_on_self(), &opts, &err));
	perfev_event_free(events[0]);
	perfev_event_free(events[1]);
	assert_works(perfev_tracer_start(tracer, &err));
	burn_ms(60);
	assert_works(perfev_tracer_stop(tracer, &err));
	while (perfev_tracer_next(tracer, &chunk, &err) > 0) {
		struct perfev_sample sample;
		struct seen seen = {0};

		if (chunk.record.type != PERF_RECORD_SAMPLE)
			continue;
		samples++;
		assert_works(perfev_sample_decode(&sample, &chunk.record, perfev_tracer_layout(tracer, &chunk.record), &err));
		look_at_bytes(&seen, sample.aux.data, sample.aux.size);
		assert_int_equal(seen.skipped, 0);
		with += sample.aux.size == 512;
	}
	assert_true(samples > 10 && with > 5);
}

static void test_what_traces_nothing(void **state)
{
	struct perfev_event *event;

	(void)state;
	assert_works(perfev_event_parse(&event, "dummy:u", &err));
	assert_fails(perfev_tracer_open(&tracer, (const struct perfev_event *const *)&event, 1, perfev_on_self(), NULL, &err),
		     EOPNOTSUPP);
	assert_says("cannot trace dummy:u: its PMU writes no trace, as it has no AUX area");
	perfev_event_free(event);
	assert_fails(perfev_tracer_open(&tracer, NULL, 0, perfev_on_self(), NULL, &err), EINVAL);
}

/* One user only: the second is told so. */
static void test_one_user_only(void **state)
{
	struct perfev_tracer *first;

	(void)state;
	assert_works(try_open(event_of("aux_fake/trace/u"), NULL));
	first = tracer;
	tracer = NULL;
	assert_fails(try_open(event_of("aux_fake/trace/u"), NULL), EBUSY);
	assert_int_equal(err.why, PERFEV_WHY_BUSY);
	perfev_tracer_close(first);
}

static void test_address_filters(void **state)
{
	struct perfev_event *event;
	struct seen seen = {0};

	(void)state;
	event = event_of("aux_fake/trace/u");
	assert_works(perfev_event_set_filter(event, "filter 0x0/0x1000@/t/live-tracer", &err));
	assert_works(try_open(event, NULL));
	trace(&seen, 32 * 1024, false);
	teardown(NULL);
	event = event_of("aux_fake/trace/u");
	assert_works(perfev_event_set_filter(event, "filtre 0x0/0x1000@/t/live-tracer", &err));
	assert_fails(try_open(event, NULL), EINVAL);
	assert_says("'filtre' is no action; did you mean filter?");
	event = event_of("aux_fake/trace/u");
	assert_works(perfev_event_set_filter(event, "filter 0x0/0x1000@/nonexistent/file", &err));
	assert_true(try_open(event, NULL) < 0);
	assert_says("/nonexistent/file");
	event = event_of("aux_fake/trace/u");
	assert_works(perfev_event_set_filter(event, "filter 0x0/8@/t/live-tracer,filter 0x8/8@/t/live-tracer,"
						    "filter 0x10/8@/t/live-tracer", &err));
	assert_true(try_open(event, NULL) < 0);
	assert_says("it has 3 ranges, and its PMU takes 2");
}

/* Started paused; an overflow of one event lets it go, another's stops it [6.13]. */
static void test_pause_and_resume(void **state)
{
	static const size_t leaders[] = {0, 0};
	struct perfev_tracer_opts opts = {.size = sizeof(opts), .leaders = leaders};
	struct perfev_event *events[2];
	struct seen seen = {0};
	int i, r;

	(void)state;
	for (i = 0; i < 2; i++) { /* nobody lets it go; somebody does */
		memset(&seen, 0, sizeof(seen));
		events[0] = event_of("aux_fake/kb=4,tick=2/u");
		events[1] = event_of("cpu-clock/period=2000000/u");
		perfev_event_attr(events[0])->aux_start_paused = 1;
		perfev_event_attr(events[1])->aux_resume = i == 1;
		perfev_event_attr(events[1])->disabled = 0;
		r = perfev_tracer_open(&tracer, (const struct perfev_event *const *)events, 2, perfev_on_self(), &opts, &err);
		perfev_event_free(events[0]);
		perfev_event_free(events[1]);
		if (r < 0 && err.why == PERFEV_WHY_OLD_KERNEL)
			SKIP("%s", err.text);
		assert_works(r);
		assert_works(perfev_tracer_start(tracer, &err));
		burn_ms(40);
		assert_works(perfev_tracer_stop(tracer, &err));
		drain(&seen);
		assert_int_equal(seen.bytes > 0, i == 1);
		teardown(NULL);
	}
}

static void test_nothing_is_left_behind(void **state)
{
	size_t descriptors = count_descriptors(), mappings = count_mappings("perf_event");
	int i;

	(void)state;
	for (i = 0; i < 50; i++) {
		assert_works(try_open(event_of("aux_fake/trace/u"), NULL));
		teardown(NULL);
	}
	assert_int_equal(count_descriptors(), descriptors);
	assert_int_equal(count_mappings("perf_event"), mappings);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_teardown(test_every_byte, teardown),
	cmocka_unit_test_teardown(test_a_slow_reader, teardown),
	cmocka_unit_test_teardown(test_gaps, teardown),
	cmocka_unit_test_teardown(test_flags, teardown),
	cmocka_unit_test_teardown(test_snapshots, teardown),
	cmocka_unit_test_teardown(test_trace_in_samples, teardown),
	cmocka_unit_test_teardown(test_what_traces_nothing, teardown),
	cmocka_unit_test_teardown(test_one_user_only, teardown),
	cmocka_unit_test_teardown(test_address_filters, teardown),
	cmocka_unit_test_teardown(test_pause_and_resume, teardown),
	cmocka_unit_test_teardown(test_nothing_is_left_behind, teardown),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
