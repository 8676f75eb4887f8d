/* SPDX-License-Identifier: MIT */
/* Writers on disks that are full, and that fill up: what was flushed is a recording, and a recording of nothing is none. */
#include "writing.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

static void test_full_device(void **state)
{
	struct recording *r = *state;
	struct perfev_writer *writer;

	recording_init(r, 1);
	recording_make(r, host_is_big());
	assert_works(perfev_writer_open(&writer, "/dev/full", NULL, &err));
	add_events(writer, r);
	assert_fails(perfev_writer_start(writer, &err), ENOSPC);
	assert_int_equal(err.why, PERFEV_WHY_DISK);
	assert_says("/dev/full: the disk is full, and nothing of it was written");
	perfev_writer_close(writer);
	assert_fails(perfev_writer_open(&writer, "/nowhere/x", NULL, &err), ENOENT);
	assert_says("/nowhere/x");
}

/* Nothing can be written at all: what was there before is there again, and nothing else. */
static void check_nothing(const struct recording *r, bool was_there, bool keep)
{
	struct perfev_writer_opts opts = {.size = sizeof(opts), .keep = keep};
	struct rlimit old, now;
	struct perfev_writer *writer;
	char text[8] = "", name[80];
	FILE *file;

	snprintf(name, sizeof(name), "%s.old", path);
	unlink(path);
	if (was_there) {
		file = fopen(path, "w");
		assert_non_null(file);
		assert_true(fputs("before", file) >= 0 && fclose(file) == 0);
	}
	getrlimit(RLIMIT_FSIZE, &old);
	now = old;
	now.rlim_cur = 0;
	assert_works(perfev_writer_open(&writer, path, &opts, &err));
	add_events(writer, r);
	setrlimit(RLIMIT_FSIZE, &now);
	assert_fails(perfev_writer_start(writer, &err), EFBIG);
	setrlimit(RLIMIT_FSIZE, &old);
	perfev_writer_close(writer);
	assert_int_equal(access(name, F_OK), -1);
	file = fopen(path, "r");
	assert_true(!file == !was_there);
	if (file) {
		assert_true(!fgets(text, sizeof(text), file) == !keep);
		fclose(file);
		assert_string_equal(text, keep ? "before" : "");
	}
}

static void test_nothing_written(void **state)
{
	struct recording *r = *state;

	signal(SIGXFSZ, SIG_IGN);
	recording_init(r, 1);
	recording_make(r, host_is_big());
	check_nothing(r, false, false);
	check_nothing(r, false, true);
	check_nothing(r, true, true);
	check_nothing(r, true, false); /* it was emptied when it was opened */
}

/* The disk is full after @limit bytes: what was flushed before is a whole recording. */
static void check_limit(const struct recording *r, rlim_t limit)
{
	struct rlimit old, now;
	struct perfev_reader *reader;
	struct perfev_record record;
	struct perfev_writer *writer;
	size_t flushed = 0, n = 0, i;
	uint64_t written;

	getrlimit(RLIMIT_FSIZE, &old);
	now = old;
	now.rlim_cur = limit;
	assert_works(perfev_writer_open(&writer, path, NULL, &err));
	add_events(writer, r);
	assert_works(perfev_writer_start(writer, &err));
	setrlimit(RLIMIT_FSIZE, &now);
	for (i = 0; i < 20; i++) {
		append_records(writer, r, 0);
		if (perfev_writer_flush(writer, &err) < 0)
			break;
		flushed += r->record_count;
	}
	assert_in_range(i, 0, 19);
	assert_int_equal(err.code, -EFBIG);
	assert_int_equal(err.why, PERFEV_WHY_DISK);
	written = perfev_writer_bytes(writer);
	assert_true(written <= limit);
	perfev_writer_finish(writer, &err); /* its sections may fit, or not */
	setrlimit(RLIMIT_FSIZE, &old);
	perfev_writer_close(writer);
	assert_works(perfev_reader_open(&reader, path, NULL, &err));
	while (perfev_reader_next(reader, &record, &err) > 0)
		n += record.type != PERFEV_RECORD_FINISHED_ROUND || flushed;
	assert_null(perfev_reader_damage(reader));
	assert_int_equal(n, flushed);
	assert_int_equal(perfev_reader_event_count(reader), r->event_count);
	perfev_reader_close(reader);
}

static void test_full_disk(void **state)
{
	struct recording *r = *state;
	struct sigaction ignore, old;
	rlim_t limit;

	memset(&ignore, 0, sizeof(ignore));
	ignore.sa_handler = SIG_IGN;
	sigaction(SIGXFSZ, &ignore, &old);
	recording_init(r, 2);
	recording_make(r, host_is_big());
	for (limit = 1400; limit < 6800; limit += 97)
		check_limit(r, limit);
	sigaction(SIGXFSZ, &old, NULL);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_full_device, setup, teardown),
	cmocka_unit_test_setup_teardown(test_nothing_written, setup, teardown),
	cmocka_unit_test_setup_teardown(test_full_disk, setup, teardown),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
