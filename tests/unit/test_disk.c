/* SPDX-License-Identifier: MIT */
/*
 * Disks that are full, writes that are short, and recorders that end, at each write of a recording: what the reader finds
 * has every round that was written, and a copy of it is a whole recording. The writes are intercepted when linking.
 */
#include "recording.h"
#include "test.h"

#include <perfev/writer.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 5

static struct perfev_error err;
static char path[64], copy_path[64];
static struct recording recording;
static volatile int *written; /* rounds; shared with the recorder */
#define rounds_written (*written)

/* ---- the disk ------------------------------------------------------------------------------------------------------- */

enum mode {
	WHOLE,
	SHORT, /* no write takes more than that many bytes */
	FULL,  /* from the write of that number on, but for some bytes of it */
	KILL   /* the recorder, a process of its own, ends there, after as many bytes */
};

static struct {
	enum mode mode;
	unsigned writes, at; /* so far; the one that fails */
	size_t bytes;
} disk;

ssize_t __real_writev(int fd, const struct iovec *vector, int count);
ssize_t __wrap_writev(int fd, const struct iovec *vector, int count);
ssize_t __real_pwrite64(int fd, const void *data, size_t size, off_t offset);
ssize_t __wrap_pwrite64(int fd, const void *data, size_t size, off_t offset);
ssize_t __real_pwrite(int fd, const void *data, size_t size, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *data, size_t size, off_t offset);

/* The first bytes of a vector. */
static ssize_t write_some(int fd, const struct iovec *vector, int count, size_t limit)
{
	static unsigned char bytes[1 << 20];
	size_t used = 0;
	int i;

	for (i = 0; i < count && used < limit; i++) {
		size_t n = vector[i].iov_len < limit - used ? vector[i].iov_len : limit - used;

		memcpy(bytes + used, vector[i].iov_base, n);
		used += n;
	}
	return write(fd, bytes, used);
}

ssize_t __wrap_writev(int fd, const struct iovec *vector, int count)
{
	unsigned number = disk.writes++;
	ssize_t n;

	if (disk.mode == WHOLE || (disk.mode != SHORT && number < disk.at))
		return __real_writev(fd, vector, count);
	if (disk.mode == SHORT)
		return write_some(fd, vector, count, disk.bytes);
	n = number == disk.at && disk.bytes ? write_some(fd, vector, count, disk.bytes) : 0;
	if (disk.mode == KILL)
		_exit(0);
	if (n > 0)
		return n;
	errno = ENOSPC;
	return -1;
}

ssize_t __wrap_pwrite(int fd, const void *data, size_t size, off_t offset)
{
	unsigned number = disk.writes++;
	size_t n = size < disk.bytes || size <= 8 ? size : disk.bytes; /* no disk cuts a word */

	if (disk.mode == WHOLE || disk.mode == FULL || (disk.mode == KILL && number < disk.at))
		return __real_pwrite(fd, data, size, offset); /* it is the file's already */
	if (disk.mode == KILL) {
		if (n && __real_pwrite(fd, data, n, offset) < 0)
			abort();
		_exit(0);
	}
	return __real_pwrite(fd, data, n, offset);
}

ssize_t __wrap_pwrite64(int fd, const void *data, size_t size, off_t offset)
{
	return __wrap_pwrite(fd, data, size, offset);
}

/* ---- a recorder ------------------------------------------------------------------------------------------------------ */

static int setup(void **state)
{
	int fd, k;

	(void)state;
	for (k = 0; k < 2; k++) {
		char *to = k ? copy_path : path;

		strcpy(to, "/tmp/perfev-test-XXXXXX");
		fd = mkstemp(to);
		if (fd < 0)
			return -1;
		close(fd);
	}
	written = mmap(NULL, sizeof(*written), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (written == MAP_FAILED)
		return -1;
	recording_init(&recording, 2);
	recording_make(&recording, host_is_big());
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	unlink(copy_path);
	munmap((void *)(uintptr_t)written, sizeof(*written));
	return 0;
}

static int append_all(struct perfev_writer *writer)
{
	const struct recording *r = &recording;
	size_t i;
	int ret = 0;

	for (i = 0; ret == 0 && i < r->record_count; i++) {
		size_t end = i + 1 < r->record_count ? r->record_at[i + 1] : r->data_end;
		struct perfev_bytes bytes = {r->bytes.data + r->record_at[i], end - r->record_at[i]};
		struct perfev_record record;

		assert_works(perfev_record_from_bytes(&record, bytes, 0, &err));
		if (record.type == PERFEV_RECORD_FINISHED_ROUND)
			continue;
		record.tail.data = (const unsigned char *)record.data + record.size;
		record.tail.size = bytes.size - record.size;
		ret = perfev_writer_append(writer, &record, &err);
	}
	return ret;
}


/* What a recorder does; how far it came is in rounds_written. */
static int record(struct perfev_writer **writer, uint32_t compress)
{
	struct perfev_writer_opts opts = {.size = sizeof(opts), .compress = compress};
	size_t i;
	int r;

	rounds_written = 0;
	r = perfev_writer_open(writer, path, &opts, &err);
	if (r == -EOPNOTSUPP)
		skip();
	assert_works(r);
	for (i = 0; i < recording.event_count; i++) {
		const struct made_event *e = &recording.events[i];

		assert_works(perfev_writer_add_event(*writer, e->name, &e->attr, e->ids, e->id_count, &err));
	}
	assert_works(perfev_writer_put_string(*writer, PERFEV_FEATURE_HOSTNAME, "host", &err));
	r = perfev_writer_start(*writer, &err);
	while (r == 0 && rounds_written < ROUNDS) {
		r = append_all(*writer);
		if (r == 0)
			r = perfev_writer_round(*writer, &err);
		if (r == 0)
			rounds_written++;
	}
	perfev_writer_put_string(*writer, PERFEV_FEATURE_ARCH, "machine", &err);
	perfev_writer_finish(*writer, NULL);
	return r;
}

/* ---- what is left of it ------------------------------------------------------------------------------------------------ */

struct found {
	size_t rounds, records;
	bool damaged, hostname, names;
};

static bool look(const char *at, struct found *ret)
{
	struct perfev_reader_opts opts = {.size = sizeof(opts), .partial = 1};
	struct perfev_reader_event_info event;
	struct perfev_record record;
	struct perfev_reader *reader;
	struct perfev_bytes section;

	memset(ret, 0, sizeof(*ret));
	if (perfev_reader_open(&reader, at, &opts, &err) < 0)
		return false;
	while (perfev_reader_next(reader, &record, &err) > 0) {
		if (record.flags & PERFEV_RECORD_BROKEN)
			continue; /* the table of sections, of a file that has no end yet */
		ret->records++;
		ret->rounds += record.type == PERFEV_RECORD_FINISHED_ROUND;
	}
	ret->damaged = perfev_reader_damage(reader) != NULL;
	ret->hostname = perfev_reader_feature(reader, PERFEV_FEATURE_HOSTNAME, &section);
	ret->names = perfev_reader_event_at(reader, 1, &event) && !strcmp(event.name, recording.events[1].name);
	perfev_reader_close(reader);
	return true;
}

/* A copy is whole, and has as much. */
static void expect_copy(const struct found *before)
{
	struct perfev_reader_opts opts = {.size = sizeof(opts), .partial = 1};
	struct perfev_copy_opts how = {.size = sizeof(how), .rebuild = 1};
	struct perfev_reader *reader;
	struct found after;

	assert_works(perfev_reader_open(&reader, path, &opts, &err));
	assert_works(perfev_copy(copy_path, reader, &how, NULL, &err));
	perfev_reader_close(reader);
	assert_true(look(copy_path, &after));
	assert_false(after.damaged);
	assert_true(after.names);
	assert_int_equal(after.records, before->records ? before->records : 1);
	assert_true(after.hostname == before->hostname);
}

static void expect_rounds(bool may_be_damaged)
{
	struct found found;

	if (!look(path, &found) || !found.records) {
		assert_int_equal(rounds_written, 0); /* the head of the file did not come to be */
		return;
	}
	assert_in_range(found.rounds, (size_t)rounds_written, (size_t)rounds_written + 1);
	assert_true(found.hostname && found.names);
	if (!may_be_damaged)
		assert_false(found.damaged);
	disk.mode = WHOLE;
	expect_copy(&found);
}

static unsigned count_writes(uint32_t compress)
{
	struct perfev_writer *writer;

	memset(&disk, 0, sizeof(disk));
	assert_works(record(&writer, compress));
	perfev_writer_close(writer);
	assert_int_equal(rounds_written, ROUNDS);
	return disk.writes;
}

static void test_short_writes(void **state)
{
	static const size_t sizes[] = {1, 7, 100, 1000};
	struct perfev_writer *writer;
	struct found found;
	size_t i;
	uint32_t compress;

	(void)state;
	for (compress = 0; compress < 2; compress++)
		for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			memset(&disk, 0, sizeof(disk));
			disk.mode = SHORT;
			disk.bytes = sizes[i];
			assert_works(record(&writer, compress));
			perfev_writer_close(writer);
			assert_true(look(path, &found));
			assert_false(found.damaged);
			assert_int_equal(found.rounds, ROUNDS);
		}
}

/* The disk is full: the file is cut back to the last round, and finished as far as there is room. */
static void test_full_at_each_write(void **state)
{
	static const size_t sizes[] = {0, 1, 9, 100};
	struct perfev_writer *writer;
	uint32_t compress;
	unsigned writes;
	size_t i;

	(void)state;
	for (compress = 0; compress < 2; compress++) {
		writes = count_writes(compress);
		assert_in_range(writes, ROUNDS, 1000);
		for (i = 0; i < writes * sizeof(sizes) / sizeof(sizes[0]); i++) {
			memset(&disk, 0, sizeof(disk));
			disk.mode = FULL;
			disk.at = (unsigned)i % writes;
			disk.bytes = sizes[i / writes];
			record(&writer, compress);
			perfev_writer_close(writer);
			disk.mode = WHOLE;
			expect_rounds(false);
		}
	}
}

/* Killed in each write: nothing that was written before is lost. */
static void test_killed_at_each_write(void **state)
{
	static const size_t sizes[] = {0, 1, 9, 33, 100, 1000};
	struct perfev_writer *writer;
	uint32_t compress;
	unsigned writes;
	size_t i;

	(void)state;
	for (compress = 0; compress < 2; compress++) {
		writes = count_writes(compress);
		for (i = 0; i < writes * sizeof(sizes) / sizeof(sizes[0]); i++) {
			memset(&disk, 0, sizeof(disk));
			disk.mode = KILL;
			disk.at = (unsigned)i % writes;
			disk.bytes = sizes[i / writes];
			if (fork() == 0) {
				record(&writer, compress);
				_exit(1);
			}
			assert_true(wait(NULL) > 0);
			disk.mode = WHOLE;
			expect_rounds(true);
		}
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_short_writes, setup, teardown),
	cmocka_unit_test_setup_teardown(test_full_at_each_write, setup, teardown),
	cmocka_unit_test_setup_teardown(test_killed_at_each_write, setup, teardown),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
