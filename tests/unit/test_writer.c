/* SPDX-License-Identifier: MIT */
/* Writing recordings, and reading them again: as files and streams, with 1 to 5 events, ids, names,
 * sections and build-ids; and calls in the wrong order. */
#include "writing.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_recording(const struct recording *r, const char *to)
{
	static const char *const line[] = {"perfev", "record", "a program", ""};
	struct perfev_writer *writer;

	assert_works(perfev_writer_open(&writer, to, NULL, &err));
	add_events(writer, r);
	assert_works(perfev_writer_put_string(writer, PERFEV_FEATURE_HOSTNAME, "before", &err));
	assert_works(perfev_writer_put_string(writer, PERFEV_FEATURE_VERSION, "1.2", &err));
	assert_works(perfev_writer_start(writer, &err));
	assert_works(perfev_writer_put_string(writer, PERFEV_FEATURE_ARCH, "machine", &err));
	append_records(writer, r, 0);
	assert_works(perfev_writer_flush(writer, &err));
	assert_works(perfev_writer_put_strings(writer, PERFEV_FEATURE_CMDLINE, line, 4, &err));
	assert_works(perfev_writer_put_string(writer, PERFEV_FEATURE_HOSTNAME, "host", &err));
	assert_works(perfev_writer_finish(writer, &err));
	assert_works(perfev_writer_finish(writer, &err));
	perfev_writer_close(writer);
}

static void expect_sections(struct perfev_reader *reader)
{
	static const char *const line[] = {"perfev", "record", "a program", ""};
	struct perfev_bytes section;
	size_t position = 0, i;

	assert_true(perfev_reader_feature(reader, PERFEV_FEATURE_HOSTNAME, &section));
	assert_string_equal(perfev_feature_string(section, false), "host");
	assert_true(perfev_reader_feature(reader, PERFEV_FEATURE_ARCH, &section));
	assert_string_equal(perfev_feature_string(section, false), "machine");
	assert_true(perfev_reader_feature(reader, PERFEV_FEATURE_VERSION, &section));
	assert_string_equal(perfev_feature_string(section, false), "1.2");
	assert_true(perfev_reader_feature(reader, PERFEV_FEATURE_CMDLINE, &section));
	for (i = 0; i < 4; i++)
		assert_string_equal(perfev_feature_strings(section, false, &position), line[i]);
	assert_null(perfev_feature_strings(section, false, &position));
	assert_false(perfev_reader_feature(reader, PERFEV_FEATURE_OSRELEASE, &section));
}

static void expect_events(const struct recording *r, struct perfev_reader *reader)
{
	struct perfev_reader_event_info info;
	size_t i;

	assert_int_equal(perfev_reader_event_count(reader), r->event_count);
	for (i = 0; i < r->event_count; i++) {
		assert_true(perfev_reader_event_at(reader, i, &info));
		assert_string_equal(info.name, r->events[i].name);
		assert_memory_equal(info.attr, &r->events[i].attr, sizeof(*info.attr));
		assert_int_equal(info.id_count, MADE_IDS);
		assert_memory_equal(info.ids, r->events[i].ids, MADE_IDS * 8);
	}
}

/* The same records in the same order, and whose they are. */
static void expect_records(const struct recording *r, struct perfev_reader *reader)
{
	struct perfev_record record;
	size_t i = 0, samples = 0;

	while (perfev_reader_next(reader, &record, &err) > 0) {
		if (record.type == PERFEV_RECORD_HEADER_ATTR ||
		    record.type == PERFEV_RECORD_HEADER_FEATURE)
			continue; /* a stream's own */
		assert_in_range(i, 0, r->record_count - 1);
		assert_memory_equal(record.data, r->bytes.data + r->record_at[i++], record.size);
		if (record.type == PERF_RECORD_SAMPLE)
			assert_int_equal(perfev_reader_event(reader, &record),
					 samples++ % r->event_count);
		if (record.type == PERFEV_RECORD_AUXTRACE)
			assert_memory_equal(record.tail.data, "these bytes are trace...", 24);
	}
	assert_int_equal(i, r->record_count);
	assert_null(perfev_reader_damage(reader));
}

static void test_files(void **state)
{
	struct recording *r = *state;
	struct perfev_reader *reader;
	struct stat st;
	size_t count;

	for (count = 1; count <= MADE_EVENTS; count++) {
		recording_init(r, count);
		recording_make(r, host_is_big());
		write_recording(r, path);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 0777, 0600);
		assert_works(perfev_reader_open(&reader, path, NULL, &err));
		expect_records(r, reader);
		expect_events(r, reader);
		expect_sections(reader);
		perfev_reader_close(reader);
	}
}

/* Standard output is a file for the time of a call. */
static void to_stdout(const struct recording *r)
{
	int old = dup(STDOUT_FILENO), fd = open(path, O_WRONLY | O_TRUNC);

	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	close(fd);
	write_recording(r, "-");
	dup2(old, STDOUT_FILENO);
	close(old);
}

static void test_streams(void **state)
{
	struct recording *r = *state;
	struct perfev_reader *reader;
	struct perfev_reader_info info;
	size_t count;

	for (count = 1; count <= MADE_EVENTS; count++) {
		recording_init(r, count);
		recording_make(r, host_is_big());
		to_stdout(r);
		assert_works(perfev_reader_open(&reader, path, NULL, &err));
		perfev_reader_describe(reader, &info);
		assert_true(info.pipe);
		expect_records(r, reader);
		expect_events(r, reader);
		expect_sections(reader);
		perfev_reader_close(reader);
	}
}

/* The attr table has the smallest size that holds all attrs: older readers take no larger one. */
static void test_attr_sizes(void **state)
{
	static const uint32_t sizes[] = {64, 72, 80, 96, 104, 112, 120, 128, 136, 144};
	struct perfev_writer *writer;
	unsigned char header[24];
	struct perf_event_attr attr;
	uint64_t size, id = 5;
	size_t i;
	int fd;

	(void)state;
	for (i = 0; i < 10; i++) {
		memset(&attr, 0, sizeof(attr));
		attr.size = sizeof(attr);
		((unsigned char *)&attr)[sizes[i] - 1] = 1;
		assert_works(perfev_writer_open(&writer, path, NULL, &err));
		assert_works(perfev_writer_add_event(writer, "a", &attr, &id, 1, &err));
		memset((unsigned char *)&attr + 8, 0, sizeof(attr) - 8);
		assert_works(perfev_writer_add_event(writer, "b", &attr, NULL, 0, &err));
		assert_works(perfev_writer_start(writer, &err));
		assert_works(perfev_writer_finish(writer, &err));
		perfev_writer_close(writer);
		fd = open(path, O_RDONLY);
		assert_int_equal(read(fd, header, 24), 24);
		close(fd);
		memcpy(&size, header + 16, 8);
		assert_int_equal(size, sizes[i] + 16);
	}
}

/* Nothing was recorded: that is not a recording that was cut short. */
static void test_no_records(void **state)
{
	struct recording *r = *state;
	struct perfev_reader *reader;
	struct perfev_reader_info info;

	recording_init(r, 2);
	recording_make(r, host_is_big());
	r->record_count = 0;
	write_recording(r, path);
	assert_works(perfev_reader_open(&reader, path, NULL, &err));
	perfev_reader_describe(reader, &info);
	assert_false(info.cut);
	expect_sections(reader);
	perfev_reader_close(reader);
}

/* A recorder that is killed leaves what it flushed, and no more is needed to read it. */
static void test_killed(void **state)
{
	struct recording *r = *state;
	struct perfev_reader *reader;
	struct perfev_writer *writer;
	struct perfev_record record;
	struct perfev_reader_info info;
	size_t n = 0;

	recording_init(r, 2);
	recording_make(r, host_is_big());
	assert_works(perfev_writer_open(&writer, path, NULL, &err));
	add_events(writer, r);
	assert_works(perfev_writer_start(writer, &err));
	append_records(writer, r, 0);
	assert_works(perfev_writer_round(writer, &err));
	append_records(writer, r, 0); /* never flushed */
	perfev_writer_close(writer);
	assert_works(perfev_reader_open(&reader, path, NULL, &err));
	perfev_reader_describe(reader, &info);
	assert_true(info.cut);
	while (perfev_reader_next(reader, &record, &err) > 0)
		n++;
	assert_int_equal(n, r->record_count + 1);
	assert_int_equal(record.type, PERFEV_RECORD_FINISHED_ROUND);
	perfev_reader_close(reader);
}

/* ---- sections ---------------------------------------------------------------------------------------- */

static const struct perfev_build_id ids[] = {
	{PERF_RECORD_MISC_USER,
	 -1,
	 20,
	 {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20},
	 "/bin/a"},
	{PERF_RECORD_MISC_KERNEL,
	 -1,
	 16,
	 {9, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
	 "[kernel.kallsyms]"},
	{PERF_RECORD_MISC_USER, 12, 8, {0, 0, 0, 0, 0, 0, 0, 8}, ""},
};

static void expect_build_id(const struct perfev_build_id *got, size_t i)
{
	assert_int_equal(got->misc & 7, ids[i].misc);
	assert_int_equal(got->pid, ids[i].pid);
	assert_int_equal(got->size, ids[i].size);
	assert_memory_equal(got->id, ids[i].id, 20);
	assert_string_equal(got->filename, ids[i].filename);
}

static void start(struct perfev_writer **ret, const struct recording *r, const char *to)
{
	assert_works(perfev_writer_open(ret, to, NULL, &err));
	add_events(*ret, r);
	assert_works(perfev_writer_start(*ret, &err));
}

static void test_build_ids(void **state)
{
	struct recording *r = *state;
	struct perfev_writer *writer;
	struct perfev_reader *reader;
	struct perfev_bytes section;
	struct perfev_build_id got;
	size_t position = 0, i;

	recording_init(r, 1);
	start(&writer, r, path);
	assert_works(perfev_writer_put_build_ids(writer, ids, 3, &err));
	assert_works(perfev_writer_finish(writer, &err));
	perfev_writer_close(writer);
	assert_works(perfev_reader_open(&reader, path, NULL, &err));
	assert_true(perfev_reader_feature(reader, PERFEV_FEATURE_BUILD_ID, &section));
	for (i = 0; i < 3; i++) {
		assert_int_equal(perfev_feature_build_id(&got, section, false, &position, &err), 1);
		expect_build_id(&got, i);
	}
	assert_int_equal(perfev_feature_build_id(&got, section, false, &position, &err), 0);
	perfev_reader_close(reader);
}

/* A stream has no sections: its build-ids are records, whether they are given before the start or after. */
static void check_stream_ids(const struct recording *r, bool before)
{
	int old = dup(STDOUT_FILENO), fd = open(path, O_WRONLY | O_TRUNC);
	struct perfev_writer *writer;
	struct perfev_reader *reader;
	struct perfev_record record;
	struct perfev_build_id got;
	size_t n = 0;

	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	close(fd);
	assert_works(perfev_writer_open(&writer, "-", NULL, &err));
	add_events(writer, r);
	if (before)
		assert_works(perfev_writer_put_build_ids(writer, ids, 3, &err));
	assert_works(perfev_writer_start(writer, &err));
	if (!before)
		assert_works(perfev_writer_put_build_ids(writer, ids, 3, &err));
	assert_works(perfev_writer_finish(writer, &err));
	perfev_writer_close(writer);
	dup2(old, STDOUT_FILENO);
	close(old);
	assert_works(perfev_reader_open(&reader, path, NULL, &err));
	while (perfev_reader_next(reader, &record, &err) > 0) {
		struct perfev_bytes bytes = {record.data, record.size};
		size_t position = 0;

		if (record.type != PERFEV_RECORD_HEADER_BUILD_ID)
			continue;
		assert_int_equal(record.size % 8, 0);
		assert_int_equal(perfev_feature_build_id(&got, bytes, false, &position, &err), 1);
		expect_build_id(&got, n++);
	}
	assert_int_equal(n, 3);
	perfev_reader_close(reader);
}

static void test_build_ids_of_a_stream(void **state)
{
	struct recording *r = *state;

	recording_init(r, 1);
	check_stream_ids(r, false);
	check_stream_ids(r, true);
}

/* More ids than a record of a stream can have: none is lost. */
static void test_many_ids_in_a_stream(void **state)
{
	struct recording *r = *state;
	int old = dup(STDOUT_FILENO), fd = open(path, O_WRONLY | O_TRUNC);
	uint64_t *many = malloc(20002 * sizeof(*many)), i, k, n = 0;
	struct perfev_reader_event_info info;
	struct perfev_writer *writer;
	struct perfev_reader *reader;
	struct perfev_record record;

	assert_non_null(many);
	for (i = 0; i < 20002; i++)
		many[i] = 7 * i + 1;
	recording_init(r, 1);
	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	close(fd);
	assert_works(perfev_writer_open(&writer, "-", NULL, &err));
	assert_works(perfev_writer_add_event(writer, "many", &r->events[0].attr, many, 20000, &err));
	assert_works(perfev_writer_add_event(writer, "few", &r->events[0].attr, many + 20000, 2, &err)); /* the same, and another */
	assert_works(perfev_writer_start(writer, &err));
	assert_works(perfev_writer_finish(writer, &err));
	perfev_writer_close(writer);
	dup2(old, STDOUT_FILENO);
	close(old);
	assert_works(perfev_reader_open(&reader, path, NULL, &err));
	while (perfev_reader_next(reader, &record, &err) > 0)
		assert_int_equal(record.size % 8, 0);
	for (i = 0; perfev_reader_event_at(reader, i, &info); i++) {
		assert_int_equal(info.id_count, i ? 2 : 20000);
		for (k = 0; k < info.id_count; k++)
			assert_int_equal(info.ids[k], many[n++]);
	}
	assert_int_equal(i, 2);
	assert_int_equal(n, 20002);
	perfev_reader_close(reader);
	free(many);
}

/* ---- calls in the wrong order ------------------------------------------------------------------------------- */

static void test_wrong_order(void **state)
{
	struct recording *r = *state;
	struct perfev_writer *writer;
	struct perfev_reader *reader;
	struct perfev_record record;
	struct perfev_bytes bytes;

	recording_init(r, 2);
	recording_make(r, host_is_big());
	bytes.data = r->bytes.data + r->record_at[0];
	bytes.size = 100;
	assert_works(perfev_record_from_bytes(&record, bytes, 0, &err));
	assert_works(perfev_writer_open(&writer, path, NULL, &err));
	assert_fails(perfev_writer_start(writer, &err), EINVAL);
	assert_says("it has no event");
	add_events(writer, r);
	/* a record in front of the header would be the header */
	assert_fails(perfev_writer_append(writer, &record, &err), EINVAL);
	assert_says("perfev_writer_start()");
	assert_fails(perfev_writer_round(writer, &err), EINVAL);
	assert_works(perfev_writer_start(writer, &err));
	assert_fails(perfev_writer_start(writer, &err), EINVAL);
	assert_says("started already");
	/* an event that comes too late is not in the table that was written */
	assert_fails(perfev_writer_add_event(writer, "late", &r->events[0].attr, NULL, 0, &err),
		     EINVAL);
	assert_says("late");
	assert_fails(perfev_writer_put_feature(writer, 256, bytes, &err), EINVAL);
	assert_fails(perfev_writer_put_string(writer, 1000, "x", &err), EINVAL);
	assert_works(perfev_writer_append(writer, &record, &err));
	assert_works(perfev_writer_finish(writer, &err));
	/* behind the sections is no place for records */
	assert_fails(perfev_writer_append(writer, &record, &err), EINVAL);
	perfev_writer_close(writer);
	perfev_writer_close(NULL);
	assert_works(perfev_reader_open(&reader, path, NULL, &err));
	assert_int_equal(perfev_reader_next(reader, &record, &err), 1);
	assert_int_equal(perfev_reader_next(reader, &record, &err), 0);
	assert_int_equal(perfev_reader_event_count(reader), 2);
	perfev_reader_close(reader);
}

static void test_keep_old(void **state)
{
	struct perfev_writer_opts opts = {.size = sizeof(opts), .keep = 1};
	struct recording *r = *state;
	struct perfev_writer *writer;
	char old[80];

	recording_init(r, 1);
	recording_make(r, host_is_big());
	write_recording(r, path);
	snprintf(old, sizeof(old), "%s.old", path);
	assert_works(perfev_writer_open(&writer, path, &opts, &err));
	perfev_writer_close(writer);
	assert_int_equal(access(old, R_OK), 0);
	assert_int_equal(unlink(old), 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_files, setup, teardown),
	cmocka_unit_test_setup_teardown(test_streams, setup, teardown),
	cmocka_unit_test_setup_teardown(test_attr_sizes, setup, teardown),
	cmocka_unit_test_setup_teardown(test_no_records, setup, teardown),
	cmocka_unit_test_setup_teardown(test_killed, setup, teardown),
	cmocka_unit_test_setup_teardown(test_build_ids, setup, teardown),
	cmocka_unit_test_setup_teardown(test_build_ids_of_a_stream, setup, teardown),
	cmocka_unit_test_setup_teardown(test_many_ids_in_a_stream, setup, teardown),
	cmocka_unit_test_setup_teardown(test_wrong_order, setup, teardown),
	cmocka_unit_test_setup_teardown(test_keep_old, setup, teardown),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
