/* SPDX-License-Identifier: MIT */
/* Reading recordings that were made without the library: files and streams of both byte orders, both
 * versions and all attr sizes; mapped, copied, in memory, and through a pipe in pieces of any size. */
#include "left.h"
#include "recording.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct perfev_error err;

static int setup(void **state)
{
	*state = malloc(sizeof(struct recording));
	left_begin();
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	left_check();
	free(*state);
	return 0;
}

static struct perfev_reader *open_memory(const struct recording *r)
{
	struct perfev_bytes bytes = {r->bytes.data, r->bytes.size};
	struct perfev_reader *reader;

	if (perfev_reader_open_memory(&reader, bytes, "memory", NULL, &err) < 0)
		fail_msg("%s", err.text);
	return reader;
}

static void check(const struct recording *r)
{
	struct perfev_reader *reader = open_memory(r);
	struct perfev_reader_info info;

	perfev_reader_describe(reader, &info);
	assert_int_equal(info.swapped, r->bytes.big != host_is_big());
	assert_int_equal(info.pipe, r->stream);
	assert_int_equal(info.cut, r->cut);
	assert_int_equal(info.version, r->version1 ? 1 : 2);
	assert_int_equal(info.size, r->bytes.size);
	recording_expect(r, reader);
	perfev_reader_describe(reader, &info);
	assert_int_equal(info.position, r->data_end);
	perfev_reader_close(reader);
}

static void test_both_orders(void **state)
{
	struct recording *r = *state;
	size_t count;
	int form;

	for (count = 1; count <= MADE_EVENTS; count++)
		for (form = 0; form < 16; form++) {
			recording_init(r, count);
			r->stream = form & 2;
			r->cut = (form & 4) && !r->stream;
			r->no_names = form & 8;
			if (r->stream)
				r->no_names = false;
			recording_make(r, form & 1);
			check(r);
		}
}

/* Attrs of kernels of all ages, and of some to come. */
static void test_attr_sizes(void **state)
{
	struct recording *r = *state;
	int form;

	recording_init(r, 3);
	for (r->attr_size = 64; r->attr_size <= 200; r->attr_size += 8)
		for (form = 0; form < 4; form++) {
			r->stream = form & 2;
			recording_make(r, form & 1);
			check(r);
		}
}

static void test_version_1(void **state)
{
	static const uint32_t sizes[] = {64, 72, 80, 96, 104};
	struct recording *r = *state;
	size_t i;

	for (i = 0; i < 5; i++) {
		recording_init(r, 2);
		r->version1 = true;
		r->attr_size = sizes[i];
		recording_make(r, false);
		check(r);
		recording_make(r, true);
		check(r);
	}
}

/* Features may have any number; those without a name are there too. */
static void test_features(void **state)
{
	struct recording *r = *state;

	recording_init(r, 1);
	r->features = ~(UINT64_C(1) << PERFEV_FEATURE_EVENT_DESC | 1);
	recording_make(r, false);
	check(r);
	recording_make(r, true);
	check(r);
}

/* The bitmap of a big machine whose longs had 32 bits: HOSTNAME tells. */
static void test_bitmap_of_32_bits(void **state)
{
	struct recording *r = *state;

	recording_init(r, 1);
	recording_make(r, !host_is_big());
	set_number(&r->bytes, 72, r->features & UINT32_MAX, 4);
	set_number(&r->bytes, 76, r->features >> 32, 4);
	check(r);
}

/* Sizes of 0 in an attr are those of the first kernels. */
static void test_attr_without_size(void **state)
{
	struct recording *r = *state;
	struct perfev_reader_event_info info;
	struct perfev_reader *reader;

	recording_init(r, 2);
	recording_make(r, false);
	set_number(&r->bytes, r->attrs_at + 4, 0, 4);
	reader = open_memory(r);
	assert_true(perfev_reader_event_at(reader, 0, &info));
	assert_int_equal(info.attr->size, 64);
	assert_int_equal(info.attr->config2, 0);
	assert_true(info.attr->config == r->events[0].attr.config);
	perfev_reader_close(reader);
}

/* ---- files and pipes ------------------------------------------------------------------------------------- */

static const char *write_file(const struct recording *r)
{
	static char path[64];
	int fd;

	snprintf(path, sizeof(path), "/tmp/perfev-test-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, r->bytes.data, r->bytes.size), (ssize_t)r->bytes.size);
	close(fd);
	return path;
}

static void test_files(void **state)
{
	struct recording *r = *state;
	struct perfev_reader_opts opts = {.size = sizeof(opts)};
	struct perfev_reader *reader;
	const char *path;
	int form;

	for (form = 0; form < 8; form++) {
		recording_init(r, 3);
		r->stream = form & 2;
		opts.copy = !!(form & 4);
		recording_make(r, form & 1);
		path = write_file(r);
		assert_works(perfev_reader_open(&reader, path, &opts, &err));
		unlink(path);
		recording_expect(r, reader);
		perfev_reader_close(reader);
	}
}

/* A copied file may be cut by others while it is read. */
static void test_copy_outlives_its_file(void **state)
{
	struct recording *r = *state;
	struct perfev_reader_opts opts = {.size = sizeof(opts), .copy = 1};
	struct perfev_reader *reader;
	const char *path;

	recording_init(r, 2);
	recording_make(r, false);
	path = write_file(r);
	assert_works(perfev_reader_open(&reader, path, &opts, &err));
	assert_int_equal(truncate(path, 0), 0);
	recording_expect(r, reader);
	perfev_reader_close(reader);
	unlink(path);
}

/* A mapped file that becomes shorter is an error when that is noticed, not a signal. */
static void test_file_that_shrinks(void **state)
{
	struct recording *r = *state;
	struct perfev_reader *reader;
	struct perfev_record record;
	const char *path;

	recording_init(r, 2);
	recording_make(r, false);
	path = write_file(r);
	assert_works(perfev_reader_open(&reader, path, NULL, &err));
	assert_int_equal(truncate(path, (off_t)r->data_at), 0);
	assert_fails(perfev_reader_next(reader, &record, &err), EINVAL);
	assert_int_equal(err.why, PERFEV_WHY_TRUNCATED);
	assert_says("shorter");
	perfev_reader_close(reader);
	unlink(path);
}

/* The bytes come from a child through standard input, @piece with each read: a socket that keeps the borders
 * of what was written gives them so in every run. */
static pid_t send_pieces(const void *data, size_t size, size_t piece, bool borders)
{
	int ends[2];
	size_t at;
	pid_t child;

	assert_int_equal(borders ? socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) : pipe(ends), 0);
	child = fork();
	if (child == 0) {
		close(ends[0]);
		for (at = 0; at < size; at += piece) {
			size_t n = size - at < piece ? size - at : piece;

			if (write(ends[1], (const char *)data + at, n) != (ssize_t)n)
				_exit(1);
		}
		_exit(0);
	}
	close(ends[1]);
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	return child;
}

static void check_pieces(const struct recording *r, size_t piece)
{
	int old = dup(STDIN_FILENO), status;
	pid_t child = send_pieces(r->bytes.data, r->bytes.size, piece, true);
	struct perfev_reader *reader;

	assert_works(perfev_reader_open(&reader, "-", NULL, &err));
	recording_expect(r, reader);
	perfev_reader_close(reader);
	dup2(old, STDIN_FILENO);
	close(old);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void test_pieces(void **state)
{
	static const size_t pieces[] = {1, 3, 7, 8, 61, 1000, 4096, 1 << 17};
	struct recording *r = *state;
	size_t i;

	recording_init(r, 3);
	r->stream = true;
	for (i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		recording_make(r, i & 1);
		check_pieces(r, pieces[i]);
	}
}

/* Megabytes behind a record, more than the buffer begins with; then one more record. */
static void test_large_tail(void **state)
{
	enum { TAIL = 3000000 };
	struct recording *r = *state;
	int old = dup(STDIN_FILENO), status;
	unsigned char *data = malloc(TAIL + 1000);
	struct perfev_reader *reader;
	struct perfev_record record;
	size_t i;
	pid_t child;

	assert_non_null(data);
	r->bytes.size = 0;
	r->bytes.big = host_is_big();
	put_u64(&r->bytes, 0x32454c4946524550);
	put_u64(&r->bytes, 16);
	begin_record(&r->bytes, PERFEV_RECORD_AUXTRACE, 0);
	put_u64(&r->bytes, TAIL);
	set_number(&r->bytes, 22, 16, 2);
	memcpy(data, r->bytes.data, 32);
	for (i = 0; i < TAIL; i++)
		data[32 + i] = (unsigned char)(i * 31 >> 4);
	r->bytes.size = 0;
	begin_record(&r->bytes, PERFEV_RECORD_FINISHED_ROUND, 0);
	end_record(&r->bytes, 0);
	memcpy(data + 32 + TAIL, r->bytes.data, 8);
	child = send_pieces(data, 32 + TAIL + 8, 7919, false);
	assert_works(perfev_reader_open(&reader, "-", NULL, &err));
	assert_int_equal(perfev_reader_next(reader, &record, &err), 1);
	assert_int_equal(record.tail.size, TAIL);
	assert_memory_equal(record.tail.data, data + 32, TAIL);
	assert_int_equal(perfev_reader_next(reader, &record, &err), 1);
	assert_int_equal(record.type, PERFEV_RECORD_FINISHED_ROUND);
	assert_int_equal(record.offset, 32 + TAIL);
	assert_int_equal(perfev_reader_next(reader, &record, &err), 0);
	perfev_reader_close(reader);
	dup2(old, STDIN_FILENO);
	close(old);
	assert_int_equal(waitpid(child, &status, 0), child);
	free(data);
}

/* A file, whose tables are at its end, cannot be read from a pipe: that is said. */
static void test_file_in_a_pipe(void **state)
{
	struct recording *r = *state;
	struct perfev_reader *reader = NULL;
	int ends[2], old = dup(STDIN_FILENO);

	recording_init(r, 1);
	recording_make(r, false);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], r->bytes.data, 2000), 2000);
	close(ends[1]);
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	assert_fails(perfev_reader_open(&reader, "-", NULL, &err), ESPIPE);
	assert_says("standard input");
	assert_null(reader);
	dup2(old, STDIN_FILENO);
	close(old);
}

/* A descriptor that the reader opened is not for programs that are started later. */
static void test_close_on_exec(void **state)
{
	struct recording *r = *state;
	struct perfev_reader *reader;
	int ends[2], old = dup(STDIN_FILENO), fd;

	recording_init(r, 1);
	r->stream = true;
	recording_make(r, false);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], r->bytes.data, r->bytes.size), (ssize_t)r->bytes.size);
	close(ends[1]);
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	assert_works(perfev_reader_open(&reader, "-", NULL, &err));
	for (fd = 3; fd < 64; fd++)
		if (fd != old && fcntl(fd, F_GETFD) >= 0 && !isatty(fd)) {
			struct stat st;

			if (fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode) &&
			    fcntl(fd, F_GETFL) == O_RDONLY)
				assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		}
	perfev_reader_close(reader);
	dup2(old, STDIN_FILENO);
	close(old);
}

/* ---- what is no recording ------------------------------------------------------------------------------------ */

static void test_no_recording(void **state)
{
	static const char text[] =
		"This is no recording, whatever its name says, and it goes on for long enough "
		"that a header could stand here, which it does not.";
	struct perfev_bytes bytes = {text, 0};
	struct perfev_reader *reader = NULL;
	struct perfev_reader_opts bad = {.size = 1};

	(void)state;
	for (; bytes.size < sizeof(text); bytes.size++) {
		assert_fails(perfev_reader_open_memory(&reader, bytes, "it", NULL, &err), EINVAL);
		assert_int_equal(err.why, PERFEV_WHY_FORMAT);
		assert_says("cannot read it: it is no perf.data file");
	}
	assert_fails(perfev_reader_open(&reader, "/nowhere/perf.data", NULL, &err), ENOENT);
	assert_int_equal(err.why, PERFEV_WHY_NOT_FOUND);
	assert_fails(perfev_reader_open(&reader, "/tmp", NULL, &err), EISDIR);
	assert_fails(perfev_reader_open(&reader, "/dev/null", NULL, &err), EINVAL);
	assert_fails(perfev_reader_open(&reader, "/tmp", &bad, &err), EINVAL);
	assert_null(reader);
	perfev_reader_close(NULL);
}

/* A read that fails is an error, not an end: the recording would seem complete. */
static void test_reads_that_fail(void **state)
{
	struct perfev_reader_opts opts = {.size = sizeof(opts), .copy = 1};
	struct perfev_reader *reader = NULL;

	(void)state;
	assert_fails(perfev_reader_open(&reader, "/proc/self/mem", &opts, &err), EIO);
	assert_says("cannot read /proc/self/mem");
	assert_null(reader);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_both_orders, setup, teardown),
	cmocka_unit_test_setup_teardown(test_attr_sizes, setup, teardown),
	cmocka_unit_test_setup_teardown(test_version_1, setup, teardown),
	cmocka_unit_test_setup_teardown(test_features, setup, teardown),
	cmocka_unit_test_setup_teardown(test_bitmap_of_32_bits, setup, teardown),
	cmocka_unit_test_setup_teardown(test_attr_without_size, setup, teardown),
	cmocka_unit_test_setup_teardown(test_files, setup, teardown),
	cmocka_unit_test_setup_teardown(test_copy_outlives_its_file, setup, teardown),
	cmocka_unit_test_setup_teardown(test_file_that_shrinks, setup, teardown),
	cmocka_unit_test_setup_teardown(test_pieces, setup, teardown),
	cmocka_unit_test_setup_teardown(test_large_tail, setup, teardown),
	cmocka_unit_test_setup_teardown(test_file_in_a_pipe, setup, teardown),
	cmocka_unit_test_setup_teardown(test_close_on_exec, setup, teardown),
	cmocka_unit_test_setup_teardown(test_no_recording, setup, teardown),
	cmocka_unit_test_setup_teardown(test_reads_that_fail, setup, teardown),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
