/* SPDX-License-Identifier: MIT */
/* Memory that runs out for symbols, stacks by call frame information, and the tables of a program that unwinds itself. */
#include "feeding.h"
#include "run_out.h"

#include <perfev/perfev.h>

static char kallsyms[64];
static struct perfev_record records[80];
static unsigned char *record_bytes;
static size_t record_count;

static int look_up(struct perfev_symbols *s)
{
	static const struct {
		uint64_t ip;
		uint32_t mode;
	} places[] = {{0, USER}, {1, USER}, {0xffffffff81000010, KERNEL}, {0xffffffffc0000010, KERNEL},
		      {5, KERNEL}, {5, PERF_RECORD_MISC_HYPERVISOR}};
	struct perfev_place place;
	struct perfev_frame found;
	size_t i;
	int r = 0;

	for (i = 0; r >= 0 && i < sizeof(places) / sizeof(places[0]); i++) {
		place.ip = i ? places[i].ip : functions[0].address;
		place.cpumode = places[i].mode;
		place.pid = 7;
		r = perfev_symbols_find(s, &place, &found, 1, &err);
		if (r > 0 && i == 0)
			assert_string_equal(found.symbol, "work_one");
	}
	return r < 0 ? r : 0;
}

static int name_places(void)
{
	static const struct perfev_build_id id = {2, -1, 20, {1}, "/bin/x"};
	struct perfev_symbols_opts opts;
	struct perfev_symbols *s = NULL;
	size_t i;
	int r;

	memset(&opts, 0, sizeof(opts));
	opts.size = sizeof(opts);
	opts.kallsyms = kallsyms;
	r = perfev_symbols_new(&s, &opts, &err);
	if (r == 0)
		r = perfev_symbols_build_id(s, &id, &err);
	for (i = 0; r == 0 && i < record_count; i++)
		r = perfev_symbols_feed(s, &records[i], NULL, &err);
	if (r == 0)
		r = look_up(s);
	if (r == 0)
		assert_non_null(perfev_symbols_comm(s, 7, 8));
	if (s && r < 0) { /* and again, with memory, on what was left half done */
		struct perfev_error first = err;

		fail_in = -1;
		for (i = 0; i < record_count; i++)
			assert_works(perfev_symbols_feed(s, &records[i], NULL, &err));
		perfev_symbols_comm(s, 7, 8);
		for (i = 0; i < 3; i++) {
			struct perfev_place place = {0xffffffff81000010 + i * 0x1000, 7,
						     i == 2 ? USER : KERNEL};
			struct perfev_frame found;

			assert_int_equal(perfev_symbols_find(s, &place, &found, 1, &err), 1);
			place.ip = functions[0].address;
			assert_int_equal(perfev_symbols_find(s, &place, &found, 1, &err), 1);
		}
		err = first;
	}
	perfev_symbols_free(s);
	return r;
}

/* Tables are made for the first stack; for the next one nothing is allocated. */
static int unwind_stacks(void)
{
	static const uint64_t stack[8];
	uint64_t values[3] = {0x1000, 0x2000, functions[0].address}; /* bp, sp, ip */
	struct perfev_unwinder_opts opts = {.size = sizeof(opts), .arch = PERFEV_ARCH_X86};
	struct perfev_unwind_state state = {{PERF_SAMPLE_REGS_ABI_64, 7 << PERF_REG_X86_BP, {values, 3, false}},
					    {stack, sizeof(stack)}, 7};
	struct perfev_unwinder *unwinder = NULL;
	struct perfev_symbols *s = NULL;
	struct perfev_unwound unwound;
	size_t i;
	int r = perfev_symbols_new(&s, NULL, &err);

	for (i = 0; r == 0 && i < record_count; i++)
		r = perfev_symbols_feed(s, &records[i], NULL, &err);
	if (r == 0)
		r = perfev_unwinder_new(&unwinder, s, &opts, &err);
	if (r == 0)
		r = perfev_unwind(unwinder, &state, &unwound, &err);
	if (r == 0) {
		long saved = fail_in;
		bool failed = has_failed;

		fail_in = 0;
		has_failed = false;
		assert_works(perfev_unwind(unwinder, &state, &unwound, &err));
		assert_false(has_failed);
		assert_true(unwound.count >= 1);
		fail_in = saved;
		has_failed = failed;
	}
	perfev_unwinder_free(unwinder);
	perfev_symbols_free(s);
	return r;
}

static int make_own_tables(void)
{
	struct perfev_own_tables *tables = NULL;
	int r = perfev_own_tables_new(&tables, &err);

	perfev_own_tables_free(tables);
	return r == -ENOTSUP ? 0 : r;
}

/* ---- tests -------------------------------------------------------------------------------------------------------- */

/* The records of the helper's mappings and some others, kept for many turns. */
static void keep_records(void)
{
	size_t i, used = 0;

	record_bytes = malloc(1 << 20);
	assert_non_null(record_bytes);
	for (i = 0; i < map_count + 3; i++) {
		struct perfev_bytes view = {record_bytes + used, 0};

		bytes.size = 0;
		begin_record(&bytes,
			     i < map_count        ? PERF_RECORD_MMAP2
			     : i == map_count     ? PERF_RECORD_COMM
			     : i == map_count + 1 ? PERF_RECORD_FORK
						  : PERF_RECORD_KSYMBOL,
			     USER);
		put_u32(&bytes, i == map_count + 1 ? 8 : 7);
		put_u32(&bytes, 7);
		if (i < map_count) {
			put_u64(&bytes, maps[i].start);
			put_u64(&bytes, maps[i].end - maps[i].start);
			put_u64(&bytes, maps[i].offset);
			put_bytes(&bytes, (const char[24]){0}, 24); /* no device, no inode */
			put_u32(&bytes, 5);
			put_u32(&bytes, 2);
			put_text(&bytes, maps[i].name, 8);
		} else {
			put_u64(&bytes, 7);
			put_u64(&bytes, 7);
			put_u64(&bytes, 0);
		}
		end_record(&bytes, 0);
		memcpy(record_bytes + used, bytes.data, bytes.size);
		view.size = bytes.size;
		assert_works(perfev_record_from_bytes(&records[record_count++], view, 0, &err));
		used += (bytes.size + 7) & ~(size_t)7;
	}
}

static void test_symbols(void **state)
{
	static const char text[] =
		"ffffffff81000000 T one\nffffffff81001000 T two\nffffffffc0000000 t x\t[mod]\n";
	int fd;

	(void)state;
	strcpy(kallsyms, "/tmp/perfev-test-XXXXXX");
	fd = mkstemp(kallsyms);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	bytes.big = host_is_big();
	run_helper("helpernopie");
	keep_records();
	run_out("symbols", name_places);
	run_out("stacks", unwind_stacks);
	run_out("own tables", make_own_tables);
	free(record_bytes);
	unlink(kallsyms);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_symbols),
};

int main(void)
{
	(void)setup;
	(void)teardown;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
