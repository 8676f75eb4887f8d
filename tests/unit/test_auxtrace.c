/* SPDX-License-Identifier: MIT */
/* Traces in files: what is written is found again by the records that announce it, piece by piece; an index that lies is
 * not believed; and the traces of a recording of perf are there, byte for byte as many as were announced. */
#include "bytes.h"
#include "test.h"

#include <perfev/auxtrace.h>
#include <perfev/reader.h>
#include <perfev/writer.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static struct perfev_error err;
static char path[] = "/tmp/perfev-auxtrace-XXXXXX";

/* PERF_RECORD_AUX with an identifier behind it. */
static void append_aux(struct perfev_writer *writer, uint64_t offset, uint64_t size, uint64_t id)
{
	struct perfev_record record;
	struct bytes bytes;
	size_t at;

	bytes.size = 0;
	bytes.big = host_is_big();
	at = begin_record(&bytes, PERF_RECORD_AUX, 0);
	put_u64(&bytes, offset);
	put_u64(&bytes, size);
	put_u64(&bytes, 0);
	put_u64(&bytes, id);
	end_record(&bytes, at);
	assert_works(perfev_record_from_bytes(&record, (struct perfev_bytes){bytes.data, bytes.size}, 0, &err));
	assert_works(perfev_writer_append(writer, &record, &err));
	assert_works(perfev_writer_flush(writer, &err));
}

static void append_ids(struct perfev_writer *writer)
{
	struct perfev_record record;
	struct bytes bytes;
	size_t at;
	int i;

	bytes.size = 0;
	bytes.big = host_is_big();
	at = begin_record(&bytes, PERFEV_RECORD_ID_INDEX, 0);
	put_u64(&bytes, 2);
	for (i = 0; i < 2; i++) {
		put_u64(&bytes, 70 + (uint64_t)i);
		put_u64(&bytes, (uint64_t)i); /* ring */
		put_u64(&bytes, 0);
		put_u64(&bytes, 0);
	}
	end_record(&bytes, at);
	assert_works(perfev_record_from_bytes(&record, (struct perfev_bytes){bytes.data, bytes.size}, 0, &err));
	assert_works(perfev_writer_append(writer, &record, &err));
	assert_works(perfev_writer_flush(writer, &err));
}

static void append_trace(struct perfev_writer *writer, uint32_t ring, uint64_t offset, const char *first, const char *second)
{
	struct perfev_auxtrace trace = {.offset = offset, .reference = offset + 1, .idx = ring, .cpu = 3, .tid = UINT32_MAX};
	struct perfev_bytes part[2] = {{first, strlen(first)}, {second, strlen(second)}};

	assert_works(perfev_writer_put_trace(writer, &trace, part, &err));
}

static void write_file(void)
{
	struct perf_event_attr attr = {.type = 40, .size = sizeof(attr), .sample_type = PERF_SAMPLE_IDENTIFIER, .sample_id_all = 1};
	const uint64_t ids[] = {70, 71};
	struct perfev_writer *writer;
	int fd;

	memcpy(path + sizeof(path) - 7, "XXXXXX", 6);
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	assert_works(perfev_writer_open(&writer, path, NULL, &err));
	assert_works(perfev_writer_add_event(writer, "trace", &attr, ids, 2, &err));
	assert_works(perfev_writer_start(writer, &err));
	append_ids(writer);
	append_aux(writer, 1000, 16, 70);
	append_trace(writer, 0, 1000, "0123456", "789"); /* 10 bytes, and 6 of nothing */
	append_trace(writer, 0, 1010, "abcdef", "");
	append_aux(writer, 5, 3, 71);
	append_trace(writer, 1, 0, "....", ".XYZ");
	append_aux(writer, 1016, 4, 70); /* never written */
	assert_works(perfev_writer_finish(writer, &err));
	perfev_writer_close(writer);
}

/* The text of what a record announces. */
static int collect(struct perfev_reader *reader, const struct perfev_record *aux, char *to)
{
	struct perfev_bytes piece;
	uint64_t skip = 0;
	int r;

	while ((r = perfev_reader_trace(reader, aux, skip, &piece, &err)) > 0) {
		memcpy(to + skip, piece.data, piece.size);
		skip += piece.size;
	}
	to[skip] = 0;
	return r;
}

static void expect_traces(void)
{
	static const char *const wanted[] = {"0123456789abcdef", "XYZ", ""};
	struct perfev_reader *reader;
	struct perfev_record record;
	struct perfev_auxtrace_info info;
	struct perfev_auxtrace trace;
	int aux = 0, traces = 0;

	assert_works(perfev_reader_open(&reader, path, NULL, &err));
	while (perfev_reader_next(reader, &record, &err) > 0) {
		char text[64];

		if (record.type == PERF_RECORD_AUX) {
			int r = collect(reader, &record, text);

			assert_int_equal(r, aux == 2 ? -ENOENT : 0);
			assert_string_equal(text, wanted[aux++]);
		}
		if (record.type == PERFEV_RECORD_AUXTRACE) {
			assert_works(perfev_auxtrace_decode(&trace, &record, &err));
			assert_int_equal(trace.cpu, 3);
			assert_true(trace.tid == UINT32_MAX);
			assert_true(trace.reference == trace.offset + 1);
			assert_int_equal(trace.bytes.size % 8, 0);
			traces++;
		} else {
			assert_fails(perfev_auxtrace_decode(&trace, &record, &err), EINVAL);
			assert_fails(perfev_auxtrace_info_decode(&info, &record, &err), EINVAL);
		}
	}
	assert_int_equal(aux, 3);
	assert_int_equal(traces, 3);
	perfev_reader_close(reader);
}

static void test_written_and_found(void **state)
{
	(void)state;
	write_file();
	expect_traces();
	unlink(path);
}

/* Without the file's own index. */
static void test_killed_recorder(void **state)
{
	static const char nothing[8];
	FILE *file;

	(void)state;
	write_file();
	file = fopen(path, "r+b");
	assert_non_null(file);
	assert_int_equal(fseek(file, 48, SEEK_SET), 0); /* the size of the records */
	assert_int_equal(fwrite(nothing, 1, 8, file), 8);
	fclose(file);
	expect_traces();
	unlink(path);
}

/* Each byte of the file changed: nothing outside of it is read, nothing goes on for ever. */
static void test_lies(void **state)
{
	unsigned char *bytes;
	size_t size, i;
	FILE *file;

	(void)state;
	write_file();
	file = fopen(path, "rb");
	assert_non_null(file);
	bytes = malloc(1 << 16);
	size = fread(bytes, 1, 1 << 16, file);
	fclose(file);
	unlink(path);
	for (i = 0; i < size; i++) {
		const unsigned char was = bytes[i];
		unsigned char *copy = malloc(size);
		struct perfev_reader *reader;
		struct perfev_record record;
		char text[1 << 16];

		bytes[i] = (unsigned char)(was ^ (1 + i % 255));
		memcpy(copy, bytes, size);
		bytes[i] = was;
		if (perfev_reader_open_memory(&reader, (struct perfev_bytes){copy, size}, "it", NULL, &err) == 0) {
			while (perfev_reader_next(reader, &record, &err) > 0)
				if (record.type == PERF_RECORD_AUX)
					assert_in_range(-collect(reader, &record, text), 0, 200);
			perfev_reader_close(reader);
		}
		free(copy);
	}
	free(bytes);
}

/* What is announced is there, to the last byte. */
static void test_a_recording_of_perf(void **state)
{
	const char *folder = getenv("PERFEV_TEST_DATA");
	struct perfev_reader *reader;
	struct perfev_record record;
	uint64_t announced = 0, found = 0;
	struct perfev_auxtrace_info info = {0};
	char name[4096];

	(void)state;
	snprintf(name, sizeof(name), "%s/quipper/perf.data.intel_pt-4.14", folder ? folder : "");
	if (!folder || access(name, R_OK))
		SKIP("PERFEV_TEST_DATA names no folder of recordings");
	assert_works(perfev_reader_open(&reader, name, NULL, &err));
	while (perfev_reader_next(reader, &record, &err) > 0) {
		struct perfev_bytes piece;
		struct perfev_aux aux;
		uint64_t skip = 0;

		if (record.type == PERFEV_RECORD_AUXTRACE_INFO)
			assert_works(perfev_auxtrace_info_decode(&info, &record, &err));
		if (record.type != PERF_RECORD_AUX)
			continue;
		assert_works(perfev_aux_decode(&aux, &record, perfev_reader_layout(reader, &record), &err));
		announced += aux.aux_size;
		while (perfev_reader_trace(reader, &record, skip, &piece, &err) > 0)
			skip += piece.size;
		found += skip;
	}
	assert_string_equal(perfev_auxtrace_type_name(info.type), "intel_pt");
	assert_true(announced > 1000);
	assert_true(found == announced);
	perfev_reader_close(reader);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_written_and_found),
	cmocka_unit_test(test_killed_recorder),
	cmocka_unit_test(test_lies),
	cmocka_unit_test(test_a_recording_of_perf),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
