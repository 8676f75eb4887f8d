/* SPDX-License-Identifier: MIT */
/* From records to names, end to end: programs are run that say where their functions are; what they say is
 * mapped is fed as records; and the addresses have those names, also in children, after exec, and in files
 * that are stripped, changed or gone. */
#include "feeding.h"

/* ---- programs ----------------------------------------------------------------------------------------------------- */

static void test_programs(void **state)
{
	struct perfev_frame stub;

	(void)state;
	run_helper("helperpie");
	feed_maps(7);
	expect_functions(7, "helperpie");
	run_helper("helpernopie");
	feed_maps(8);
	expect_functions(8, "helpernopie");
	/* where code has fixed addresses, that of an imported function is its stub */
	stub = find(8, address_of("lib_work"), USER);
	assert_non_null(stub.symbol);
	assert_string_equal(stub.symbol,
			    strstr(stub.module, "helpernopie") ? "lib_work@plt" : "lib_work");
	expect_nameless(7, 1, "[unknown]");
	expect_nameless(9, address_of("main"), "[unknown]"); /* of another process */
}

/* A child has what its parent had, until it maps something, or runs another program. */
static void test_forks(void **state)
{
	uint64_t page;

	(void)state;
	run_helper("helpernopie");
	feed_maps(7);
	feed_fork(8, 8, 7, 0);
	expect_functions(8, "helpernopie");
	page = address_of("main") & ~UINT64_C(0xfff);
	feed_mmap2(8, page, page + 4096, 0, "/nowhere/other", NULL);
	expect_nameless(8, address_of("main"), "/nowhere/other");
	expect_functions(7, "helpernopie");
	feed_fork(9, 9, 8, 0);
	expect_nameless(9, address_of("main"), "/nowhere/other");
	feed_comm(7, 7, "other", true); /* its last samples are inside of exec, called by the old program */
	expect_functions(7, "helpernopie");
	feed_sample(8);
	expect_functions(7, "helpernopie");
	feed_sample(7);
	expect_nameless(7, address_of("main"), "[unknown]");
	expect_nameless(9, address_of("main"), "/nowhere/other");
	feed_maps(9);
	expect_functions(9, "helpernopie");
	feed_fork(9, 10, 9, 0); /* a thread: nothing changes */
	expect_functions(9, "helpernopie");
	feed_fork(9, 9, 7, PERF_RECORD_MISC_FORK_EXEC); /* one that was made up: its mappings follow by themselves */
	expect_functions(9, "helpernopie");
}

static void test_names_of_threads(void **state)
{
	(void)state;
	assert_string_equal(perfev_symbols_comm(symbols, 7, 8), ":8");
	feed_comm(7, 7, "main", false);
	assert_string_equal(perfev_symbols_comm(symbols, 7, 7), "main");
	assert_string_equal(perfev_symbols_comm(symbols, 7, 8), "main"); /* of its process */
	feed_comm(7, 8, "worker", false);
	assert_string_equal(perfev_symbols_comm(symbols, 7, 8), "worker");
	feed_fork(9, 9, 7, 0);
	assert_string_equal(perfev_symbols_comm(symbols, 9, 9), "main");
	feed_comm(9, 9, "next", true);
	assert_string_equal(perfev_symbols_comm(symbols, 9, 9), "next");
	assert_string_equal(perfev_symbols_comm(symbols, -1, -1), ":-1");
	assert_string_equal(perfev_symbols_comm(symbols, 0, 0), "swapper");
}

/* ---- files that are not as they should be ------------------------------------------------------------------------------ */

static void test_stripped(void **state)
{
	struct perfev_module_info info;

	(void)state;
	run_helper("helperstripped");
	feed_maps(7);
	expect(7, address_of("lib_hidden"), "lib_hidden", "libhelper.so");
	info = expect_nameless(7, address_of("work_hidden"), "helperstripped");
	assert_non_null(strstr(info.why, "no debug file"));
	assert_int_equal(info.build_id.size, 20);
}

static void make_folders(char *path)
{
	char *at;

	for (at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = 0;
		mkdir(path, 0700);
		*at = '/';
	}
}

static void remove_tree(const char *path)
{
	char command[4400];

	snprintf(command, sizeof(command), "rm -r '%s'", path);
	assert_int_equal(system(command), 0);
}

/* A debug file is found by build-id; all files below another root. */
static void test_debug_file(void **state)
{
	char root[] = "/tmp/perfev-test-XXXXXX", path[9000], hex[41];
	struct perfev_symbols_opts opts;
	struct perfev_module_info info;
	uint8_t id[20];
	int i;

	(void)state;
	memset(&opts, 0, sizeof(opts));
	opts.size = sizeof(opts);
	assert_non_null(mkdtemp(root));
	assert_int_equal(perfev_build_id_read(id, helper("helpernopie"), &err), 20);
	for (i = 0; i < 20; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	snprintf(path, sizeof(path), "%s/usr/lib/debug/.build-id/%.2s/%s.debug", root, hex, hex + 2);
	make_folders(path);
	assert_int_equal(symlink(helper("helpernopie"), path), 0);
	snprintf(path, sizeof(path), "%s%s", root, helper("helperstripped"));
	make_folders(path);
	assert_int_equal(symlink(helper("helperstripped"), path), 0);
	perfev_symbols_free(symbols);
	opts.symfs = root;
	assert_works(perfev_symbols_new(&symbols, &opts, &err));
	run_helper("helperstripped");
	feed_maps(7);
	expect(7, address_of("work_hidden"), "work_hidden", "helperstripped");
	assert_true(perfev_symbols_module(symbols, find(7, address_of("main"), USER).module_id, &info));
	assert_non_null(strstr(info.file, ".debug"));
	/* the library is not below that root, and the machine's own is not taken in its place */
	info = expect_nameless(7, address_of("lib_hidden"), "libhelper.so");
	assert_non_null(strstr(info.why, "No such file"));
	remove_tree(root);
}

/* A file that was changed since is not used: its names would be wrong ones. */
static void test_build_ids(void **state)
{
	static const uint8_t other[20] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
					  11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
	struct perfev_build_id entry;
	struct perfev_module_info info;
	uint8_t id[20];
	uint64_t start;

	(void)state;
	run_helper("helpernopie");
	start = maps[0].start;
	assert_int_equal(perfev_build_id_read(id, maps[0].name, &err), 20);
	feed_mmap2(7, start, maps[0].end, maps[0].offset, maps[0].name, other);
	info = expect_nameless(7, address_of("main"), "helpernopie");
	assert_non_null(strstr(info.why, "another build-id"));
	assert_memory_equal(info.build_id.data, other, 20);
	feed_mmap2(8, start, maps[0].end, maps[0].offset, maps[0].name, id);
	expect(8, address_of("main"), "main", "helpernopie");
	feed_mmap2(9, start, maps[0].end, maps[0].offset, maps[0].name, NULL); /* nothing is said: it is used */
	expect(9, address_of("main"), "main", "helpernopie");
	/* the list of a recording says it for mappings that do not */
	memset(&entry, 0, sizeof(entry));
	entry.size = 20;
	memcpy(entry.id, other, 20);
	entry.filename = maps[0].name;
	assert_works(perfev_symbols_build_id(symbols, &entry, &err));
	feed_mmap2(10, start, maps[0].end, maps[0].offset, maps[0].name, NULL);
	expect_nameless(10, address_of("main"), "helpernopie");
	memcpy(entry.id, id, 20); /* the last one counts */
	assert_works(perfev_symbols_build_id(symbols, &entry, &err));
	feed_mmap2(11, start, maps[0].end, maps[0].offset, maps[0].name, NULL);
	expect(11, address_of("main"), "main", "helpernopie");
}

static void test_files_that_are_none(void **state)
{
	static const struct {
		const char *name, *why;
	} rows[] = {
		{"/nowhere/program", "No such file"},	   {"/tmp", "cannot be read"},
		{"", "made at run time"},
		{"/memfd:jit (deleted)", "memfd"},
		{"/gone (deleted)", "deleted"},		   {"/etc/passwd", "no ELF file"},
	};
	struct perfev_module_info info;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		feed_mmap2(7, 0x1000 * (i + 1), 0x1000 * (i + 2), 0, rows[i].name, NULL);
		info = expect_nameless(7, 0x1000 * (i + 1) + 5, rows[i].name);
		if (!info.why || !strstr(info.why, rows[i].why))
			fail_msg("%s: %s", rows[i].name, info.why);
	}
}

/* Code that was made at run time belongs to the list of functions that its process may write. */
static void test_code_made_at_run_time(void **state)
{
	static const char *const names[] = {"//anon", "/dev/zero (deleted)", "[heap]", "[stack]",
					    "/SYSV00000000 (deleted)", "/anon_hugepage (deleted)"};
	struct perfev_module_info info;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		feed_mmap2(7, 0x1000 * (i + 1), 0x1000 * (i + 2), 0, names[i], NULL);
		info = expect_nameless(7, 0x1000 * (i + 1) + 5, "/tmp/perf-7.map");
		assert_non_null(strstr(info.why, "made at run time"));
	}
}

static void write_list(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* A program that has put its own code into other memory: it is the program's, unless a list says otherwise. */
static void test_moved_code(void **state)
{
	uint64_t page, work;
	char line[64];

	(void)state;
	run_helper("helpernopie");
	feed_maps(1999999990);
	page = address_of("main") & ~UINT64_C(0xfff);
	feed_mmap2(1999999990, page, page + 4096, 0, "//anon", NULL);
	expect(1999999990, address_of("main"), "main", "helpernopie");
	feed_fork(1999999991, 1999999991, 1999999990, 0);
	feed_mmap2(1999999991, page, page + 4096, 0, "/anon_hugepage (deleted)", NULL);
	expect(1999999991, address_of("main"), "main", "helpernopie");
	/* a library may be gone, and others use its place */
	work = address_of("lib_hidden") & ~UINT64_C(0xfff);
	feed_mmap2(1999999990, work, work + 4096, 0, "//anon", NULL);
	expect_nameless(1999999990, address_of("lib_hidden"), "/tmp/perf-1999999990.map");
	/* more than the program's code is not its code */
	feed_mmap2(1999999990, page, page + 0x100000, 0, "//anon", NULL);
	expect_nameless(1999999990, address_of("main"), "/tmp/perf-1999999990.map");
	snprintf(line, sizeof(line), "%llx 100 made\n", (unsigned long long)address_of("main"));
	write_list("/tmp/perf-1999999991.map", line);
	feed_mmap2(1999999991, page, page + 4096, 0, "//anon", NULL);
	expect(1999999991, address_of("main"), "made", "/tmp/perf-1999999991.map");
	assert_int_equal(unlink("/tmp/perf-1999999991.map"), 0);
}

/* Code that was compiled before lies in a file, which has no symbols; the list of functions names it. */
static void test_list_beside_files(void **state)
{
	char line[64];

	(void)state;
	run_helper("helpernopie");
	feed_maps(1999999992);
	feed_mmap2(1999999992, 0x5000, 0x6000, 0, "/nowhere/image.dll", NULL);
	snprintf(line, sizeof(line), "5000 10 named\n%llx 10 other\n", (unsigned long long)address_of("work_one"));
	write_list("/tmp/perf-1999999992.map", line);
	expect_nameless(1999999992, 0x5005, "/nowhere/image.dll"); /* no code was made at run time */
	feed_mmap2(1999999992, 0x10000, 0x11000, 0, "//anon", NULL);
	expect(1999999992, 0x5005, "named", "/tmp/perf-1999999992.map");
	expect_nameless(1999999992, 0x5010, "/nowhere/image.dll");
	expect(1999999992, address_of("work_one"), "work_one", "helpernopie"); /* which has one */
	assert_int_equal(unlink("/tmp/perf-1999999992.map"), 0);
}

/* Processes of a container have their own /tmp, and other numbers. */
static void test_list_in_a_namespace(void **state)
{
	static const char *const folders[] = {"", "/1999999993", "/1999999993/root", "/1999999993/root/tmp"};
	char folder[] = "/tmp/perfev-test-XXXXXX", path[128];
	struct perfev_symbols_opts opts;
	size_t i;

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (i = 1; i < 4; i++) {
		snprintf(path, sizeof(path), "%s%s", folder, folders[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	snprintf(path, sizeof(path), "%s/1999999993/status", folder);
	write_list(path, "Name:\tx\nNSpid:\t1999999993\t40\t12\nSigQ:\t7\n");
	snprintf(path, sizeof(path), "%s/1999999993/root/tmp/perf-12.map", folder);
	write_list(path, "5000 10 inside\n");
	perfev_symbols_free(symbols);
	memset(&opts, 0, sizeof(opts));
	opts.size = sizeof(opts);
	opts.proc = folder;
	assert_works(perfev_symbols_new(&symbols, &opts, &err));
	feed_mmap2(1999999993, 0x5000, 0x6000, 0, "//anon", NULL);
	expect(1999999993, 0x5005, "inside", "/tmp/perf-1999999993.map");
	feed_mmap2(1999999994, 0x5000, 0x6000, 0, "//anon", NULL); /* one that is gone */
	expect_nameless(1999999994, 0x5005, "/tmp/perf-1999999994.map");
	assert_int_equal(unlink(path), 0);
	snprintf(path, sizeof(path), "%s/1999999993/status", folder);
	assert_int_equal(unlink(path), 0);
	for (i = 4; i-- > 0;) {
		snprintf(path, sizeof(path), "%s%s", folder, folders[i]);
		assert_int_equal(rmdir(path), 0);
	}
}

/* A recording may say of a file what it cannot hold. */
static void test_places_beyond_files(void **state)
{
	uint64_t start;

	(void)state;
	run_helper("helpernopie");
	feed_mmap2(7, 0x10000, 0x20000, UINT64_C(1) << 40, maps[0].name, NULL);
	expect_nameless(7, 0x10005, "helpernopie");
	feed_mmap2(7, 0x10000, 0x20000, UINT64_MAX - 0xfff, maps[0].name, NULL);
	expect_nameless(7, 0x1fff0, "helpernopie");
	/* what is mapped are whole pages: behind a part is still its place, not that of the file's beginning */
	start = maps[0].start;
	feed_mmap2(8, start, maps[0].end, maps[0].offset, maps[0].name, NULL);
	assert_in_range(find(8, maps[0].end - 1, USER).address, start, maps[0].end);
}

/* The vdso of another kernel is not looked for in a file of that name. */
static void test_foreign_vdso(void **state)
{
	struct perfev_symbols_opts opts;
	struct perfev_module_info info;
	char folder[] = "/tmp/perfev-test-XXXXXX", old[4096];

	(void)state;
	assert_non_null(getcwd(old, sizeof(old)));
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(symlink("/bin/sh", "[vdso]"), 0);
	perfev_symbols_free(symbols);
	memset(&opts, 0, sizeof(opts));
	opts.size = sizeof(opts);
	opts.foreign = 1;
	assert_works(perfev_symbols_new(&symbols, &opts, &err));
	feed_mmap2(7, 0x7fff12340000, 0x7fff12342000, 0, "[vdso]", NULL);
	info = expect_nameless(7, 0x7fff12340a00, "[vdso]");
	assert_null(info.file);
	assert_int_equal(info.symbol_count, 0);
	assert_non_null(strstr(info.why, "kernel"));
	assert_int_equal(unlink("[vdso]"), 0);
	assert_int_equal(chdir(old), 0);
	assert_int_equal(rmdir(folder), 0);
}

/* That of a task of 32 bits is another one, of which this kernel may have none. */
static void test_vdso_of_32_bits(void **state)
{
	struct perfev_module_info info;
	struct perfev_frame frame;
	uint64_t offset;
	unsigned named = 0;

	(void)state;
	if (sizeof(void *) == 4)
		skip(); /* it is the own one */
	feed_mmap2(7, 0x7fff12340000, 0x7fff12342000, 0, "[vdso]", NULL);
	feed_mmap2(8, 0xf7fc9000, 0xf7fcb000, 0, "[vdso]", NULL);
	for (offset = 0; offset < 0x2000; offset += 16) {
		frame = find(8, 0xf7fc9000 + offset, USER);
		assert_string_equal(frame.module, "[vdso32]");
		named += frame.symbol && !strcmp(frame.symbol, "__kernel_rt_sigreturn");
		assert_string_equal(find(7, 0x7fff12340000 + offset, USER).module, "[vdso]");
	}
	assert_true(perfev_symbols_module(symbols, find(8, 0xf7fc9000, USER).module_id, &info));
#ifdef __x86_64__
	assert_true(!info.symbol_count || named);
#else
	(void)named;
#endif
}

static void test_own_vdso(void **state)
{
	struct perfev_frame frame;
	struct perfev_module_info info;
	uint64_t offset;
	bool found = false;

	(void)state;
	feed_mmap2(7, 0x7fff12340000, 0x7fff12342000, 0, "[vdso]", NULL);
	for (offset = 0; offset < 0x2000 && !found; offset += 16) {
		frame = find(7, 0x7fff12340000 + offset, USER);
		found = frame.symbol && strstr(frame.symbol, "gettime");
	}
	assert_true(perfev_symbols_module(symbols, find(7, 0x7fff12340000, USER).module_id, &info));
	if (info.symbol_count) /* not every kernel has one */
		assert_true(found);
	else
		assert_non_null(info.why);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_programs, setup, teardown),
	cmocka_unit_test_setup_teardown(test_forks, setup, teardown),
	cmocka_unit_test_setup_teardown(test_names_of_threads, setup, teardown),
	cmocka_unit_test_setup_teardown(test_stripped, setup, teardown),
	cmocka_unit_test_setup_teardown(test_debug_file, setup, teardown),
	cmocka_unit_test_setup_teardown(test_build_ids, setup, teardown),
	cmocka_unit_test_setup_teardown(test_files_that_are_none, setup, teardown),
	cmocka_unit_test_setup_teardown(test_code_made_at_run_time, setup, teardown),
	cmocka_unit_test_setup_teardown(test_moved_code, setup, teardown),
	cmocka_unit_test_setup_teardown(test_list_beside_files, setup, teardown),
	cmocka_unit_test_setup_teardown(test_list_in_a_namespace, setup, teardown),
	cmocka_unit_test_setup_teardown(test_places_beyond_files, setup, teardown),
	cmocka_unit_test_setup_teardown(test_foreign_vdso, setup, teardown),
	cmocka_unit_test_setup_teardown(test_own_vdso, setup, teardown),
	cmocka_unit_test_setup_teardown(test_vdso_of_32_bits, setup, teardown),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
