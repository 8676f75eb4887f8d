/* SPDX-License-Identifier: MIT */
/* Functions that are made at run time: lists of them, perf-PID.map and jitdump files; compared with maps of single bytes. */
#include "feeding.h"

#include "symbols/jit.h"

#include "symbols/functions.h"
#include "symbols/perf_map.h"

#define SPACE 200

static uint64_t seed = 88172645463325252u;

static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};

/* ---- lists ---------------------------------------------------------------------------------------------- */

static void test_newest_wins(void **state)
{
	struct functions f = {NULL, 0, 0};

	(void)state;
	assert_int_equal(functions_add(&f, 100, 50, "one"), 0);
	assert_int_equal(functions_add(&f, 200, 50, "two"), 0);
	assert_string_equal(functions_find(&f, 149)->name, "one");
	assert_null(functions_find(&f, 150));
	assert_null(functions_find(&f, 99));
	assert_int_equal(functions_add(&f, 140, 80, "three"), 0); /* both are gone */
	assert_int_equal(f.count, 1);
	assert_null(functions_find(&f, 100));
	assert_string_equal(functions_find(&f, 219)->name, "three");
	functions_remove(&f, 0, 140);
	assert_int_equal(f.count, 1);
	functions_remove(&f, 219, 220);
	assert_int_equal(f.count, 0);
	assert_int_equal(functions_add(&f, UINT64_MAX - 1, 50, "around"), 0); /* its end is before its start */
	assert_int_equal(functions_add(&f, 5, 0, "empty"), 0);
	assert_int_equal(f.count, 0);
	functions_free(&f);
}

static void test_list_against_single_bytes(void **state)
{
	struct functions f = {NULL, 0, 0};
	int owner[SPACE] = {0}, i, k;

	(void)state;
	for (i = 1; i < 3000; i++) {
		uint32_t start = random_below(&seed, SPACE), size = 1 + random_below(&seed, 20);
		uint32_t end = start + size < SPACE ? start + size : SPACE;

		for (k = 0; k < SPACE; k++) { /* what it touches goes as a whole */
			int old = owner[k], j;

			if (k < (int)start || k >= (int)end || !old)
				continue;
			for (j = 0; j < SPACE; j++)
				owner[j] = owner[j] == old ? 0 : owner[j];
		}
		for (k = (int)start; k < (int)end && i % 5; k++)
			owner[k] = i;
		if (i % 5)
			assert_int_equal(functions_add(&f, start, end - start, names[i % 8]), 0);
		else
			functions_remove(&f, start, end);
		for (k = 0; k < SPACE; k++) {
			const struct function *found = functions_find(&f, (uint64_t)k);

			assert_true(owner[k] ? found && found->name == names[owner[k] % 8] : !found);
		}
	}
	functions_free(&f);
}

/* ---- perf-PID.map ---------------------------------------------------------------------------------------- */

static void write_text(char path[], const char *text)
{
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static const char *name_at(const struct table *table, uint64_t address)
{
	long index = table_find(table, address);

	return index < 0 ? "" : table->items[index].name;
}

static void test_map_lines(void **state)
{
	static const char text[] = "7f0010 20 first\n"
				   "0x7f0030 0x10 name with spaces\n"
				   "7F0040 10 upper\r\n"
				   "7f0050 0 empty\n"
				   "zz 10 no number\n"
				   "7f0060 10\n"
				   "7f0070 10 \n"
				   "ffffffffffffffff 10 around the end\n"
				   "11112222333344445 10 too long\n"
				   "\n"
				   "7f0080 10 last, without an end of its line";
	char path[] = "/tmp/perfev-test-XXXXXX";
	struct table table;
	struct buffer buffer = {NULL, 0, 0, 0};

	(void)state;
	memset(&table, 0, sizeof(table));
	write_text(path, text);
	assert_int_equal(perf_map_read(&table, &buffer, path), 0);
	assert_int_equal(table.count, 4);
	assert_string_equal(name_at(&table, 0x7f002f), "first");
	assert_string_equal(name_at(&table, 0x7f0030), "name with spaces");
	assert_string_equal(name_at(&table, 0x7f004f), "upper\r");
	assert_string_equal(name_at(&table, 0x7f008f), "last, without an end of its line");
	assert_string_equal(name_at(&table, 0x7f0090), "");
	table_free(&table);
	buffer_free(&buffer);
	unlink(path);
	assert_int_equal(perf_map_read(&table, &buffer, path), -ENOENT);
	assert_int_equal(perf_map_read(&table, &buffer, "/dev/zero"), -EINVAL);
	buffer_free(&buffer);
}

/* A later line counts where several have an address. */
static void test_map_against_single_bytes(void **state)
{
	int round, i, k;

	(void)state;
	for (round = 0; round < 200; round++) {
		char path[] = "/tmp/perfev-test-XXXXXX", text[4096] = "";
		int owner[SPACE] = {0}, count = 1 + (int)random_below(&seed, 40);
		struct buffer buffer = {NULL, 0, 0, 0};
		struct table table;
		size_t used = 0;

		for (i = 1; i <= count; i++) {
			uint32_t start = random_below(&seed, SPACE), size = 1 + random_below(&seed, SPACE / 4);

			size = start + size < SPACE ? size : SPACE - start;
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%x %x %s%d\n", start, size, names[i % 8], i);
			for (k = (int)start; k < (int)(start + size); k++)
				owner[k] = i;
		}
		memset(&table, 0, sizeof(table));
		write_text(path, text);
		assert_int_equal(perf_map_read(&table, &buffer, path), 0);
		for (k = 0; k < SPACE; k++) {
			char wanted[16] = "";

			if (owner[k])
				snprintf(wanted, sizeof(wanted), "%s%d", names[owner[k] % 8], owner[k]);
			assert_string_equal(name_at(&table, (uint64_t)k), wanted);
		}
		table_free(&table);
		buffer_free(&buffer);
		unlink(path);
	}
}

/* ---- in a recording ------------------------------------------------------------------------------------------ */

static char folder[] = "/tmp/perfev-test-XXXXXX";

static void put(struct bytes *to, uint32_t word)
{
	put_u32(to, word);
}

static void put_load(struct bytes *to, uint64_t time, uint64_t address, uint64_t size, const char *name)
{
	size_t length = strlen(name) + 1;

	put(to, 0);
	put(to, (uint32_t)(16 + 40 + length + size));
	put_u64(to, time);
	put(to, 7);
	put(to, 7);
	put_u64(to, address);
	put_u64(to, address);
	put_u64(to, size);
	put_u64(to, 1);
	put_bytes(to, name, length);
	while (size--)
		put_bytes(to, "\x90", 1);
}

static void put_move(struct bytes *to, uint64_t time, uint64_t from, uint64_t address, uint64_t size)
{
	put(to, 1);
	put(to, 16 + 48);
	put_u64(to, time);
	put(to, 7);
	put(to, 7);
	put_u64(to, address);
	put_u64(to, from);
	put_u64(to, address);
	put_u64(to, size);
	put_u64(to, 1);
}

static void write_dump(const char *path)
{
	static struct bytes dump;
	FILE *file = fopen(path, "w");

	dump.size = 0;
	put(&dump, 0x4a695444);
	put(&dump, 1);
	put(&dump, 40);
	put(&dump, 62);
	put(&dump, 0);
	put(&dump, 7);
	put_u64(&dump, 50);
	put_u64(&dump, 0);
	put_load(&dump, 100, 0x5000, 0x100, "early");
	put_load(&dump, 200, 0x5080, 0x100, "over it");
	put_move(&dump, 300, 0x5080, 0x9000, 0x100);
	put_load(&dump, 400, 0x9000, 0x10, "cut off at the end of the file");
	assert_non_null(file);
	assert_int_equal(fwrite(dump.data, 1, dump.size - 4, file), dump.size - 4);
	assert_int_equal(fclose(file), 0);
}

/* A record of that time, of a clock. */
static void tell_time(uint64_t time, bool monotonic)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME};
	size_t at = begin_record(&bytes, PERF_RECORD_SAMPLE, USER);
	struct perfev_layout *layout;
	struct perfev_record record;

	attr.use_clockid = monotonic;
	attr.clockid = monotonic;
	put_u32(&bytes, 7);
	put_u32(&bytes, 7);
	put_u64(&bytes, time);
	end_record(&bytes, at);
	assert_works(perfev_layout_new(&layout, &attr, &err));
	assert_works(perfev_record_from_bytes(&record, (struct perfev_bytes){bytes.data + at, bytes.size - at}, 0, &err));
	assert_works(perfev_symbols_feed(symbols, &record, layout, &err));
	perfev_layout_free(layout);
	bytes.size = 0;
}

static void map_only_dump(int32_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/jit-7.dump", folder);
	feed_mmap2(pid, 0x1000, 0x2000, 0, path, NULL);
}

static void map_dump(int32_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/jit-7.dump", folder);
	write_dump(path);
	feed_mmap2(pid, 0x5000, 0xa000, 0, "//anon", NULL);
	map_only_dump(pid);
}

static void test_dump_in_time(void **state)
{
	(void)state;
	expect_nameless(7, 0x5010, "[unknown]");
	map_dump(7);
	tell_time(99, true);
	expect_nameless(7, 0x5010, "/tmp/perf-7.map");
	tell_time(100, true);
	expect(7, 0x5010, "early", "jit-7.dump");
	expect(7, 0x50ff, "early", "jit-7.dump");
	tell_time(250, true);
	expect_nameless(7, 0x5010, "/tmp/perf-7.map");
	expect(7, 0x5080, "over it", "jit-7.dump");
	assert_int_equal(find(7, 0x5090, USER).offset, 0x10);
	feed_fork(8, 8, 7, 0);
	expect(8, 0x5080, "over it", "jit-7.dump");
	expect_nameless(9, 0x5080, "[unknown]");
	map_only_dump(9);
	expect(9, 0x5080, "over it", "jit-7.dump");
	tell_time(300, true);
	expect(7, 0x9000, "over it", "jit-7.dump");
	expect_nameless(7, 0x5080, "/tmp/perf-7.map");
	feed_mmap2(7, 0x9000, 0xa000, 0, "//anon", NULL); /* the same memory again */
	expect(7, 0x9000, "over it", "jit-7.dump");
	feed_mmap2(7, 0x9000, 0xa000, 0, "/nowhere/library", NULL);
	expect_nameless(7, 0x9000, "/nowhere/library");
	feed_comm(7, 7, "next", true);
	feed_sample(7);
	expect_nameless(7, 0x5080, "[unknown]");
}

/* Of another clock all of it counts at once. */
static void test_dump_of_another_clock(void **state)
{
	(void)state;
	map_dump(7);
	tell_time(1, false);
	expect(7, 0x9000, "over it", "jit-7.dump");
}

/* A container has its own folders. */
static void test_dump_in_a_namespace(void **state)
{
	static const char *const folders[] = {"/7", "/7/root", "/7/root/perfev-inside"};
	struct perfev_symbols_opts opts;
	char path[128];
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s%s", folder, folders[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	snprintf(path, sizeof(path), "%s/7/root/perfev-inside/jit-7.dump", folder);
	write_dump(path);
	perfev_symbols_free(symbols);
	memset(&opts, 0, sizeof(opts));
	opts.size = sizeof(opts);
	opts.proc = folder;
	assert_works(perfev_symbols_new(&symbols, &opts, &err));
	feed_mmap2(7, 0x1000, 0x2000, 0, "/perfev-inside/jit-7.dump", NULL);
	feed_mmap2(8, 0x1000, 0x2000, 0, "/perfev-inside/jit-7.dump", NULL); /* one that is gone */
	tell_time(1, false);
	expect(7, 0x9000, "over it", "/perfev-inside/jit-7.dump");
	expect_nameless(8, 0x9000, "[unknown]");
	assert_int_equal(unlink(path), 0);
	for (i = 3; i-- > 0;) {
		snprintf(path, sizeof(path), "%s%s", folder, folders[i]);
		assert_int_equal(rmdir(path), 0);
	}
}

static void test_dump_that_is_none(void **state)
{
	struct perfev_module_info info;

	(void)state;
	feed_mmap2(7, 0x5000, 0x6000, 0, "/nowhere/jit-7.dump", NULL);
	info = expect_nameless(7, 0x5000, "/nowhere/jit-7.dump");
	assert_non_null(strstr(info.why, "cannot read"));
	assert_false(jit_is_dump("/tmp/jit-.dump") || jit_is_dump("/tmp/jit-7.dump2") || jit_is_dump("/tmp/ajit-7.dump"));
	assert_true(jit_is_dump("jit-7.dump") && jit_is_dump("/var/a/.debug/jit/jit-123.dump"));
}

/* S21: the process did not map it, runs another program later, and has another number than it thinks. */
static void test_dump_that_is_named(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/jit-7.dump", folder);
	write_dump(path);
	assert_works(perfev_symbols_jitdump(symbols, path, -1, &err));
	assert_works(perfev_symbols_jitdump(symbols, path, 70, &err));
	feed_comm(7, 7, "program", true);
	feed_mmap2(7, 0x5000, 0xa000, 0, "//anon", NULL);
	tell_time(250, true);
	expect(7, 0x5080, "over it", "jit-7.dump");
	expect(70, 0x5080, "over it", "jit-7.dump");
	expect_nameless(8, 0x5080, "[unknown]");
	feed_comm(7, 7, "again", true);
	feed_mmap2(7, 0x1000, 0x2000, 0, "/nowhere/jit-7.dump", NULL); /* it says so after all, but that cannot be read */
	feed_mmap2(7, 0x5000, 0xa000, 0, "//anon", NULL);
	expect(7, 0x5080, "over it", "jit-7.dump");
	assert_fails(perfev_symbols_jitdump(symbols, "/nonexistent", -1, &err), ENOENT);
	assert_fails(perfev_symbols_jitdump(symbols, "/bin/sh", -1, &err), EINVAL);
}

static int begin(void **state)
{
	strcpy(folder, "/tmp/perfev-test-XXXXXX");
	return mkdtemp(folder) ? setup(state) : -1;
}

static int end(void **state)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/jit-7.dump", folder);
	unlink(path);
	rmdir(folder);
	return teardown(state);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_newest_wins),
	cmocka_unit_test(test_list_against_single_bytes),
	cmocka_unit_test(test_map_lines),
	cmocka_unit_test_setup_teardown(test_dump_that_is_named, begin, end),
	cmocka_unit_test(test_map_against_single_bytes),
	cmocka_unit_test_setup_teardown(test_dump_in_time, begin, end),
	cmocka_unit_test_setup_teardown(test_dump_of_another_clock, begin, end),
	cmocka_unit_test_setup_teardown(test_dump_in_a_namespace, begin, end),
	cmocka_unit_test_setup_teardown(test_dump_that_is_none, begin, end),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
