/* SPDX-License-Identifier: MIT */
/* Tracing data of recordings: of both byte orders and both versions, cut at every byte, with counts and sizes that lie;
 * and the tracepoints that a reader finds in a file and in a stream, whose records go on behind them. */
#include "bytes.h"
#include "recording.h"
#include "test.h"

static struct perfev_error err;
static struct bytes bytes;
static struct guard guard;

static int setup(void **state)
{
	(void)state;
	memset(&err, 0, sizeof(err));
	return guard_open(&guard) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	guard_close(&guard);
	return 0;
}

static const char page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n";
static const char event[] = "# compressed entry header\n";
static const char function[] = "name: function\nID: 1\nformat:\n\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n";
static const char switched[] = "name: sched_switch\nID: 314\nformat:\n"
			       "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			       "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
			       "\tfield:pid_t next_pid;\toffset:8;\tsize:4;\tsigned:1;\n";
static const char broken[] = "name: broken\nID: 8\nformat:\n\tfield:int a\n";
static const char printk[] = "0xffffffff82000000 : \"rcu_sched\"\n";
static const char tasks[] = "1 init\n";

static void put_sized(const char *text, unsigned width)
{
	put_number(&bytes, strlen(text), width);
	put_bytes(&bytes, text, strlen(text));
}

/* ret: where the number of systems is. */
static size_t put_section(const char *version)
{
	size_t systems;

	put_bytes(&bytes, "\x17\x08\x44tracing", 10);
	put_bytes(&bytes, version, strlen(version) + 1);
	put_u8(&bytes, bytes.big);
	put_u8(&bytes, 8);
	put_u32(&bytes, 4096);
	put_bytes(&bytes, "header_page", 12);
	put_sized(page, 8);
	put_bytes(&bytes, "header_event", 13);
	put_sized(event, 8);
	put_u32(&bytes, 1);
	put_sized(function, 8);
	systems = bytes.size;
	put_u32(&bytes, 3);
	put_bytes(&bytes, "empty", 6);
	put_u32(&bytes, 0);
	put_bytes(&bytes, "sched", 6);
	put_u32(&bytes, 1);
	put_sized(switched, 8);
	put_bytes(&bytes, "odd", 4);
	put_u32(&bytes, 2);
	put_sized(broken, 8);
	put_sized(switched, 8); /* the same again */
	put_u32(&bytes, 0);
	put_sized(printk, 4);
	if (strcmp(version, "0.5"))
		put_sized(tasks, 8);
	return systems;
}

static struct perfev_bytes section_of(size_t size)
{
	struct perfev_bytes section = {guard_put(&guard, bytes.data, size), size};

	return section;
}

static void assert_bytes(struct perfev_bytes got, const char *wanted)
{
	assert_int_equal(got.size, strlen(wanted));
	assert_memory_equal(got.data, wanted, got.size);
}

static void expect(struct perfev_tracing *t, const char *system, const char *text)
{
	struct perfev_tracing_format format;

	assert_int_equal(perfev_feature_tracing_next(t, &format, &err), 1);
	assert_string_equal(format.system, system);
	assert_bytes(format.text, text);
}

static void test_sections(void **state)
{
	static const char *const versions[] = {"0.5", "0.6", "0.7"};
	struct perfev_tracing_format format;
	struct perfev_tracing t;
	size_t i;

	(void)state;
	for (i = 0; i < 6; i++) {
		bytes.size = 0;
		bytes.big = i & 1;
		put_section(versions[i / 2]);
		put_bytes(&bytes, "\0\0\0", 3); /* behind a record it is padded */
		memset(&t, 0x55, sizeof(t));
		assert_works(perfev_feature_tracing(&t, section_of(bytes.size), &err));
		assert_string_equal(t.version, versions[i / 2]);
		assert_int_equal(t.swapped, bytes.big != host_is_big());
		assert_int_equal(t.long_bytes, 8);
		assert_int_equal(t.page_bytes, 4096);
		assert_bytes(t.header_page, page);
		assert_bytes(t.header_event, event);
		expect(&t, "ftrace", function);
		expect(&t, "sched", switched);
		expect(&t, "odd", broken);
		expect(&t, "odd", switched);
		assert_int_equal(perfev_feature_tracing_next(&t, &format, &err), 0);
		assert_int_equal(perfev_feature_tracing_next(&t, &format, &err), 0);
		assert_int_equal(t.kallsyms.size, 0);
		assert_bytes(t.printk_formats, printk);
		assert_bytes(t.saved_cmdlines, i < 2 ? "" : tasks);
	}
}

/* Formats that are whole are given out, then the damage is told, then there are no more. */
static void test_cut_everywhere(void **state)
{
	struct perfev_tracing_format format;
	struct perfev_tracing t;
	size_t size, formats, most = 0;
	int r;

	(void)state;
	for (bytes.big = false;; bytes.big = true) {
		bytes.size = 0;
		put_section("0.6");
		for (size = 0; size < bytes.size; size++) {
			r = perfev_feature_tracing(&t, section_of(size), &err);
			for (formats = 0; r >= 0 && (r = perfev_feature_tracing_next(&t, &format, &err)) > 0;)
				formats++;
			assert_int_equal(r, -EINVAL);
			assert_int_equal(err.why, size < 10 ? PERFEV_WHY_FORMAT : PERFEV_WHY_TRUNCATED);
			assert_true(err.where <= size);
			assert_true(formats >= most || !size);
			most = formats;
			assert_int_equal(perfev_feature_tracing_next(&t, &format, &err), 0);
		}
		assert_int_equal(most, 4);
		most = 0;
		if (bytes.big)
			break;
	}
}

static void test_lies(void **state)
{
	static const uint64_t odd[] = {5, 0x7fffffff, 0xffffffff, UINT64_C(1) << 32, UINT64_C(1) << 63, UINT64_MAX};
	struct perfev_tracing_format format;
	struct perfev_tracing t;
	size_t systems, i, at;
	int r;

	(void)state;
	bytes.big = host_is_big();
	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		bytes.size = 0;
		systems = put_section("0.6");
		set_number(&bytes, systems, odd[i], 4); /* how many systems */
		assert_works(perfev_feature_tracing(&t, section_of(bytes.size), &err));
		for (at = 0; (r = perfev_feature_tracing_next(&t, &format, &err)) > 0; at++)
			assert_true(at < 100);
		assert_true(r == -EINVAL || (uint32_t)odd[i] == 0);
		bytes.size = 0;
		systems = put_section("0.6");
		set_number(&bytes, systems - strlen(function) - 8, odd[i], 8); /* how long a format is */
		assert_works(perfev_feature_tracing(&t, section_of(bytes.size), &err));
		for (at = 0; (r = perfev_feature_tracing_next(&t, &format, &err)) > 0; at++)
			assert_true(at < 100);
		assert_int_equal(r, -EINVAL);
	}
	assert_fails(perfev_feature_tracing(&t, (struct perfev_bytes){NULL, 0}, &err), EINVAL);
	assert_fails(perfev_feature_tracing(&t, (struct perfev_bytes){"no tracing data", 15}, NULL), EINVAL);
}

/* ---- readers ------------------------------------------------------------------------------------------------ */

static void put_sample(uint32_t next_pid)
{
	size_t at = begin_record(&bytes, PERF_RECORD_SAMPLE, 0);

	put_u32(&bytes, 20); /* RAW */
	put_u16(&bytes, 314);
	put_u16(&bytes, 0);
	put_u32(&bytes, 42);
	put_u32(&bytes, next_pid);
	put_u64(&bytes, 0); /* padding */
	end_record(&bytes, at);
}

/* A stream: an event, its formats behind a record, samples. */
static void put_stream(bool with_formats)
{
	struct perf_event_attr attr;
	size_t at, size_at, start;

	memset(&attr, 0, sizeof(attr));
	attr.type = PERF_TYPE_TRACEPOINT;
	attr.config = 314;
	attr.size = 64;
	attr.sample_type = PERF_SAMPLE_RAW;
	bytes.size = 0;
	put_u64(&bytes, 0x32454c4946524550);
	put_u64(&bytes, 16);
	at = begin_record(&bytes, PERFEV_RECORD_HEADER_ATTR, 0);
	put_attr(&bytes, &attr, 64);
	put_u64(&bytes, 1);
	end_record(&bytes, at);
	if (with_formats) {
		at = begin_record(&bytes, PERFEV_RECORD_HEADER_TRACING_DATA, 0);
		size_at = bytes.size;
		put_u64(&bytes, 0);
		end_record(&bytes, at);
		start = bytes.size;
		put_section("0.6");
		while (bytes.size % 8)
			put_u8(&bytes, 0);
		set_number(&bytes, size_at, bytes.size - start, 4);
	}
	put_sample(7);
	put_sample((uint32_t)-1);
}

static int64_t next_pid_of(struct perfev_reader *reader, const struct perfev_tracepoint *tp)
{
	const struct perfev_field *field = perfev_tracepoint_field(tp, "next_pid");
	struct perfev_record record;
	struct perfev_sample sample;
	int64_t value;

	assert_int_equal(perfev_reader_next(reader, &record, &err), 1);
	assert_int_equal(record.type, PERF_RECORD_SAMPLE);
	assert_works(perfev_sample_decode(&sample, &record, perfev_reader_layout(reader, &record), &err));
	assert_true(perfev_field_int(field, sample.raw, &value));
	return value;
}

static void read_stream(struct perfev_reader *reader)
{
	const struct perfev_tracepoint *tp, *again;
	struct perfev_tracepoint_info info;
	struct perfev_record record;

	assert_int_equal(perfev_reader_next(reader, &record, &err), 1);
	assert_fails(perfev_reader_tracepoint(reader, 314, &tp, &err), ENOENT);
	assert_says("has no formats of tracepoints");
	assert_int_equal(perfev_reader_next(reader, &record, &err), 1);
	assert_int_equal(record.type, PERFEV_RECORD_HEADER_TRACING_DATA);
	assert_works(perfev_reader_tracepoint(reader, 314, &tp, &err));
	perfev_tracepoint_describe(tp, &info);
	assert_string_equal(info.name, "sched_switch");
	assert_string_equal(info.system, "sched");
	assert_int_equal(info.swapped, bytes.big != host_is_big());
	assert_int_equal(next_pid_of(reader, tp), 7);
	assert_int_equal(next_pid_of(reader, tp), -1);
	assert_int_equal(perfev_reader_next(reader, &record, &err), 0);
	assert_works(perfev_reader_tracepoint(reader, 314, &again, &err));
	assert_ptr_equal(again, tp);
	assert_works(perfev_reader_tracepoint(reader, 1, &again, &err));
	assert_fails(perfev_reader_tracepoint(reader, 8, &again, &err), EINVAL); /* a format that is broken */
	assert_says("damaged");
	assert_fails(perfev_reader_tracepoint(reader, UINT64_MAX, &again, NULL), EINVAL);
}

static void test_streams(void **state)
{
	struct perfev_reader *reader;

	(void)state;
	for (bytes.big = false;; bytes.big = true) {
		put_stream(true);
		assert_works(perfev_reader_open_memory(&reader, section_of(bytes.size), "it", NULL, &err));
		read_stream(reader);
		perfev_reader_close(reader);
		if (bytes.big)
			break;
	}
}

#ifndef _WIN32
#include <unistd.h>

/* From a pipe, whose bytes do not stay. */
static void test_pipes(void **state)
{
	struct perfev_reader *reader;
	int ends[2], kept;

	(void)state;
	bytes.big = !host_is_big();
	put_stream(true);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], bytes.data, bytes.size), (ssize_t)bytes.size);
	close(ends[1]);
	kept = dup(0);
	assert_int_equal(dup2(ends[0], 0), 0);
	close(ends[0]);
	assert_works(perfev_reader_open(&reader, "-", NULL, &err));
	read_stream(reader);
	perfev_reader_close(reader);
	dup2(kept, 0);
	close(kept);
}
#else
static void test_pipes(void **state)
{
	(void)state;
}
#endif

/* Formats that come twice: what was handed out stays what it was. */
static void test_formats_come_twice(void **state)
{
	const struct perfev_tracepoint *tp, *again;
	struct perfev_reader *reader;
	struct perfev_record record;
	struct bytes *two = malloc(sizeof(*two));
	size_t blob;
	int i;

	(void)state;
	assert_non_null(two);
	bytes.big = host_is_big();
	put_stream(true);
	*two = bytes;
	blob = 16 + 8 + 64 + 8;
	put_bytes(two, bytes.data + blob, bytes.size - blob);
	assert_works(perfev_reader_open_memory(&reader, (struct perfev_bytes){two->data, two->size}, "it", NULL, &err));
	for (i = 0; i < 2; i++)
		assert_int_equal(perfev_reader_next(reader, &record, &err), 1);
	assert_works(perfev_reader_tracepoint(reader, 314, &tp, &err));
	while (perfev_reader_next(reader, &record, &err) > 0)
		i++;
	assert_int_equal(i, 2 + 2 + 3);
	assert_works(perfev_reader_tracepoint(reader, 314, &again, &err));
	assert_ptr_equal(tp, again);
	perfev_reader_close(reader);
	free(two);
}

static void test_no_formats(void **state)
{
	const struct perfev_tracepoint *tp;
	struct perfev_reader *reader;
	struct perfev_record record;

	(void)state;
	bytes.big = host_is_big();
	put_stream(false);
	assert_works(perfev_reader_open_memory(&reader, section_of(bytes.size), "it", NULL, &err));
	while (perfev_reader_next(reader, &record, &err) > 0)
		;
	assert_fails(perfev_reader_tracepoint(reader, 314, &tp, &err), ENOENT);
	perfev_reader_close(reader);
}

/* Of a file, whose section is something else. */
static void test_a_section_of_something_else(void **state)
{
	static struct recording r;
	const struct perfev_tracepoint *tp;
	struct perfev_reader *reader;

	(void)state;
	recording_init(&r, 2);
	r.features = 1 << PERFEV_FEATURE_TRACING_DATA;
	recording_make(&r, host_is_big());
	assert_works(perfev_reader_open_memory(&reader, (struct perfev_bytes){r.bytes.data, r.bytes.size}, "it", NULL,
					       &err));
	assert_fails(perfev_reader_tracepoint(reader, 314, &tp, &err), EINVAL);
	assert_says("does not begin as tracing data do");
	perfev_reader_close(reader);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_sections, setup, teardown),
	cmocka_unit_test_setup_teardown(test_cut_everywhere, setup, teardown),
	cmocka_unit_test_setup_teardown(test_lies, setup, teardown),
	cmocka_unit_test_setup_teardown(test_streams, setup, teardown),
	cmocka_unit_test_setup_teardown(test_pipes, setup, teardown),
	cmocka_unit_test_setup_teardown(test_formats_come_twice, setup, teardown),
	cmocka_unit_test_setup_teardown(test_no_formats, setup, teardown),
	cmocka_unit_test_setup_teardown(test_a_section_of_something_else, setup, teardown),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
