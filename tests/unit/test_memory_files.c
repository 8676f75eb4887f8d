/* SPDX-License-Identifier: MIT */
/* Memory that runs out for reading, writing, ordering, profiles and tracepoints. */
#include "recording.h"
#include "run_out.h"

#include "fake/kernel.h"

#include <perfev/perfev.h>

#include <unistd.h>

static struct recording recording;

static int read_recording(void)
{
	struct perfev_bytes view = {recording.bytes.data, recording.bytes.size};
	struct perfev_reader *reader = NULL;
	struct perfev_record record;
	struct perfev_loss loss;
	int r = perfev_reader_open_memory(&reader, view, "it", NULL, &err);

	if (r == 0)
		while ((r = perfev_reader_next(reader, &record, &err)) > 0)
			;
	if (reader)
		perfev_reader_loss(reader, &loss);
	perfev_reader_close(reader);
	assert_int_equal(r < 0, has_failed);
	return r;
}

/* A partial reader forgives damage, not a lack of memory. */
static int read_partly(void)
{
	struct perfev_bytes view = {recording.bytes.data, recording.data_end - 10};
	struct perfev_reader_opts opts = {.size = sizeof(opts), .partial = 1};
	struct perfev_reader *reader = NULL;
	struct perfev_record record;
	int r = perfev_reader_open_memory(&reader, view, "it", &opts, &err);

	if (r == 0)
		while ((r = perfev_reader_next(reader, &record, &err)) > 0)
			;
	perfev_reader_close(reader);
	assert_int_equal(r < 0, has_failed);
	return r;
}

static const char *write_to;

static int write_recording(void)
{
	static const struct perfev_build_id id = {2, -1, 20, {1}, "/bin/x"};
	const struct made_event *event = &recording.events[0];
	struct perfev_writer *writer = NULL;
	int r = perfev_writer_open(&writer, write_to, NULL, &err);

	if (r == 0)
		r = perfev_writer_add_event(writer, "one", &event->attr, event->ids, 3, &err);
	if (r == 0)
		r = perfev_writer_put_string(writer, PERFEV_FEATURE_HOSTNAME, "host", &err);
	if (r == 0)
		r = perfev_writer_start(writer, &err);
	if (r == 0)
		r = perfev_writer_put_string(writer, PERFEV_FEATURE_ARCH, "arch", &err);
	if (r == 0)
		r = perfev_writer_put_build_ids(writer, &id, 1, &err);
	if (r == 0)
		r = perfev_writer_round(writer, &err);
	if (r == 0)
		r = perfev_writer_finish(writer, &err);
	perfev_writer_close(writer);
	return r;
}

static int order_records(void)
{
	struct perf_event_attr attr;
	struct perfev_layout *layout = NULL;
	struct perfev_order *order = NULL;
	struct perfev_record record;
	uint64_t words[4] = {0, 0, 0, 0};
	int r, i;

	memset(&attr, 0, sizeof(attr));
	memset(&record, 0, sizeof(record));
	attr.sample_type = PERF_SAMPLE_TIME;
	record.data = words;
	record.type = PERF_RECORD_SAMPLE;
	record.size = 16;
	words[0] = PERF_RECORD_SAMPLE | UINT64_C(16) << 48;
	r = perfev_layout_new(&layout, &attr, &err);
	if (r == 0)
		r = perfev_order_new(&order, NULL, &err);
	for (i = 0; r == 0 && i < 300; i++) {
		words[1] = (uint64_t)(i * 7 % 50); /* 0: no time */
		r = perfev_order_push(order, &record, layout, &err);
		if (r == 0 && i % 100 == 99)
			r = perfev_order_round(order, &err);
	}
	if (order)
		perfev_order_end(order, NULL);
	while (order && perfev_order_next(order, &record) > 0)
		;
	perfev_order_free(order);
	perfev_layout_free(layout);
	return r;
}

/* Samples of ten threads that wait, and the user parts of some. */
static int join_chains(void)
{
	struct perf_event_attr attr;
	struct perfev_layout *layout = NULL;
	struct perfev_deferred *deferred = NULL;
	const struct perfev_layout *of;
	struct perfev_record record, out;
	int r, i;

	memset(&attr, 0, sizeof(attr));
	memset(&record, 0, sizeof(record));
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN;
	attr.sample_id_all = attr.defer_callchain = 1;
	r = perfev_layout_new(&layout, &attr, &err);
	if (r == 0)
		r = perfev_deferred_new(&deferred, NULL, &err);
	for (i = 0; r == 0 && i < 30; i++) {
		uint64_t sample[] = {0, (uint64_t)(i % 10), 2, PERF_CONTEXT_USER_DEFERRED, 7};
		uint64_t user[] = {0, 7, 1, 0x1000, (uint64_t)(i % 10)};
		bool is_user = i >= 20;
		struct perf_event_header header = {is_user ? PERF_RECORD_CALLCHAIN_DEFERRED : PERF_RECORD_SAMPLE, 0, 40};

		record.data = is_user ? user : sample;
		memcpy(is_user ? user : sample, &header, sizeof(header));
		record.type = header.type;
		record.size = header.size;
		r = perfev_deferred_feed(deferred, &record, layout, &err);
		while (r == 0 && perfev_deferred_next(deferred, &out, &of) > 0)
			;
	}
	perfev_deferred_free(deferred);
	perfev_layout_free(layout);
	return r;
}

static int discard(void *context, const void *data, size_t size)
{
	(void)context;
	(void)data;
	(void)size;
	return 0;
}

static int add_samples(struct perfev_profile *profile)
{
	struct perfev_profile_frame f = {"f", "/lib/m.so", 0, 0, 0};
	struct perfev_profile_stack stack = {NULL, 2, 1, 0, UINT32_MAX};
	uint32_t frames[2];
	int r = 0, i;

	stack.frames = frames;
	for (i = 0; r == 0 && i < 1200; i++) {
		f.address = (uint64_t)i;
		f.symbol = i % 2 ? "f" : NULL;
		r = perfev_profile_intern(profile, &frames[0], &f, &err);
		if (r == 0)
			r = perfev_profile_intern(profile, &frames[1], &f, &err);
		if (r == 0)
			r = perfev_profile_add(profile, &stack, &err);
	}
	return r;
}

static int make_profile(void)
{
	struct perfev_sink sink = {discard, NULL};
	struct perfev_profile *profile = NULL;
	struct perfev_function *table = NULL;
	struct perfev_profile_node *nodes = NULL;
	size_t n;
	int r = perfev_profile_new(&profile, &err);

	if (r == 0)
		r = perfev_profile_event(profile, "cycles", &err);
	if (r == 0)
		r = add_samples(profile);
	if (r == 0)
		r = perfev_profile_functions(profile, -1, &table, &n, &err);
	if (r == 0)
		r = perfev_profile_nodes(profile, &nodes, &n, &err);
	if (r == 0)
		r = perfev_profile_write_folded(profile, -1, &sink, &err);
	if (r == 0)
		r = perfev_profile_write_html(profile, NULL, &sink, &err);
	free(table);
	free(nodes);
	perfev_profile_free(profile);
	return r;
}

static int find_tracepoint(void)
{
	struct perfev_tracepoint *one = NULL, *other = NULL;
	struct perfev_printer *printer = NULL;
	struct perfev_bytes raw = {"12345678", 8};
	char text[64];
	int r = perfev_tracepoint_find(&one, "sched:sched_switch", NULL, &err);

	if (r == 0)
		r = perfev_tracepoint_find_id(&other, 314, NULL, &err);
	if (r == 0) {
		r = perfev_printer_new(&printer, one, NULL, &err);
		r = r == -EOPNOTSUPP ? 0 : r; /* libtraceevent is not there */
	}
	if (r == 0)
		perfev_tracepoint_format(text, sizeof(text), other, raw);
	perfev_printer_free(printer);
	perfev_tracepoint_free(one);
	perfev_tracepoint_free(other);
	assert_int_equal(fake_left(), 0);
	return r;
}

/* A recording with formats, made for the fuzzer. */
static struct perfev_bytes with_formats;

static int read_tracepoints(void)
{
	const struct perfev_tracepoint *tp;
	struct perfev_reader *reader = NULL;
	struct perfev_record record;
	struct perfev_bytes section;
	int r = perfev_reader_open_memory(&reader, with_formats, "it", NULL, &err);

	if (r == 0)
		while ((r = perfev_reader_next(reader, &record, &err)) > 0)
			;
	if (r == 0)
		r = perfev_reader_tracepoint(reader, 314, &tp, &err);
	/* what failed once can be asked again */
	if (r == -ENOMEM && reader && perfev_reader_feature(reader, PERFEV_FEATURE_TRACING_DATA, &section) &&
	    perfev_reader_event_count(reader))
		assert_int_equal(perfev_reader_tracepoint(reader, 314, &tp, &err), 0);
	perfev_reader_close(reader);
	return r;
}

/* ---- tests -------------------------------------------------------------------------------------------------------- */

static void test_tracepoints(void **state)
{
	static unsigned char data[1 << 16];
	FILE *file = fopen("tests/fuzz/corpus/reader/stream_tracepoint", "rb");

	(void)state;
	fake_reset();
	fake_file("/proc/self/mounts", "tracefs /t tracefs rw 0 0\n");
	fake_file("/t/events/sched/sched_switch/id", "314\n");
	fake_file("/t/events/sched/sched_switch/format",
		  "name: sched_switch\nID: 314\nformat:\n\tfield:int a;\toffset:4;\tsize:4;\tsigned:1;\n\n"
		  "print fmt: \"a=%d\", REC->a\n");
	run_out("tracepoint", find_tracepoint);
	fake_reset();
	if (!file)
		SKIP("this does not run in the root of the sources, where its recording is");
	with_formats.data = data;
	with_formats.size = fread(data, 1, sizeof(data), file);
	fclose(file);
	run_out("tracepoints of a recording", read_tracepoints);
}

static void test_files(void **state)
{
	static char path[] = "/tmp/perfev-test-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	close(fd);
	recording_init(&recording, 3);
	recording_make(&recording, host_is_big());
	run_out("reader", read_recording);
	run_out("partial reader", read_partly);
	recording.stream = true;
	recording_make(&recording, !host_is_big());
	run_out("reader of a stream", read_recording);
	write_to = path;
	run_out("writer", write_recording);
	unlink(path);
}

static void test_decode_and_profile(void **state)
{
	(void)state;
	run_out("order", order_records);
	run_out("deferred chains", join_chains);
	run_out("profile", make_profile);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_tracepoints),
	cmocka_unit_test(test_files),
	cmocka_unit_test(test_decode_and_profile),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
