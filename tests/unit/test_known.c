/* SPDX-License-Identifier: MIT */
/*
 * What was found is found again by a short way. It must not outlive what changes: find() asks for each place once, again, and by
 * the long way, and here things change in between. Nameless places are one, as the short way has them only then.
 */
#include "feeding.h"

static uint64_t seed = 88172645463325252u;

static int begin(void **state)
{
	struct perfev_symbols_opts opts;

	memset(&opts, 0, sizeof(opts));
	opts.coarse = opts.no_inline = 1;
	setup(state);
	with_kallsyms_and("ffffffff81000000 T _text\nffffffff81001000 t one\nffffffff81002000 T two\n", opts);
	return 0;
}

static void expect_kernel(uint64_t ip, const char *name)
{
	struct perfev_frame frame = find(0, ip, KERNEL);

	assert_non_null(frame.symbol);
	assert_string_equal(frame.symbol, name);
	assert_int_equal(frame.file_offset, ip);
}

static void test_kernel(void **state)
{
	(void)state;
	expect_kernel(0xffffffff81001004, "one");
	expect_kernel(0xffffffff81002004, "two");
	assert_int_equal(find(0, 0xffffffff81002004, KERNEL).offset, 4);
	feed_ksymbol(0xffffffff81001000, 0x100, "newer", 0);
	expect_kernel(0xffffffff81001004, "newer");
	expect_kernel(0xffffffff81001100, "one");
	feed_ksymbol(0xffffffff81001000, 0x100, "newer", PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER);
	expect_kernel(0xffffffff81001004, "one");
	assert_null(find(0, 0xffffffffa0000000, KERNEL).symbol);
	assert_null(find(0, 0xffffffff81001004, PERF_RECORD_MISC_GUEST_KERNEL).symbol);
	assert_null(find(0, 0xffffffff81001004, PERF_RECORD_MISC_HYPERVISOR).symbol);
}

static void test_mappings(void **state)
{
	uint64_t main_at;
	uint32_t key;

	(void)state;
	run_helper("helpernopie");
	main_at = address_of("main");
	expect_nameless(7, main_at, "[unknown]");
	feed_maps(7);
	expect_functions(7, "helpernopie");
	assert_int_equal(find(7, main_at + 2, USER).offset, 2);
	feed_mmap2(7, main_at & ~UINT64_C(0xfff), (main_at & ~UINT64_C(0xfff)) + 4096, 0, "/nowhere/other", NULL);
	expect_nameless(7, main_at, "/nowhere/other");
	key = find(7, main_at, USER).key;
	assert_int_equal(find(7, main_at + 1, USER).key, key);
	assert_int_equal(find(7, main_at + 1, USER).file_offset, (main_at & 0xfff) + 1);
	assert_int_equal(find(7, 1, USER).address, 1); /* of what is nowhere */
	expect_nameless(8, main_at, "[unknown]");
}

/* A process may write a list of what it made at run time, which names places in files too. */
static void test_list(void **state)
{
	const char *path = "/tmp/perf-1999999996.map";
	FILE *file;

	(void)state;
	feed_mmap2(1999999996, 0x5000, 0x6000, 0, "/nowhere/image.dll", NULL);
	expect_nameless(1999999996, 0x5005, "/nowhere/image.dll");
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs("5000 10 named\n", file) >= 0);
	assert_int_equal(fclose(file), 0);
	feed_mmap2(1999999996, 0x10000, 0x11000, 0, "//anon", NULL);
	expect(1999999996, 0x5005, "named", path);
	expect_nameless(1999999996, 0x5010, "/nowhere/image.dll");
	assert_int_equal(unlink(path), 0);
}

/* Processes that map, fork and run programs in any order, and questions in between. */
static void test_any_order(void **state)
{
	int i;

	(void)state;
	run_helper("helperpie");
	for (i = 0; i < 20000; i++) {
		const uint32_t what = random_below(&seed, 40), map = random_below(&seed, (uint32_t)map_count);
		const int32_t pid = 1 + (int32_t)random_below(&seed, 5), other = 1 + (int32_t)random_below(&seed, 5);
		const uint64_t page = 0x1000 * (uint64_t)(1 + random_below(&seed, 64));

		if (what == 0)
			feed_fork(other, other, pid, 0);
		else if (what == 1)
			feed_comm(pid, pid, "next", true);
		else if (what == 2)
			feed_sample(pid);
		else if (what < 6)
			feed_mmap2(pid, page, page + maps[map].end - maps[map].start, maps[map].offset, maps[map].name, NULL);
		else
			find(pid, page + random_below(&seed, 4096), USER);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_kernel, begin, teardown),
		cmocka_unit_test_setup_teardown(test_mappings, begin, teardown),
		cmocka_unit_test_setup_teardown(test_list, begin, teardown),
		cmocka_unit_test_setup_teardown(test_any_order, begin, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
