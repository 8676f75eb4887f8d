/* SPDX-License-Identifier: MIT */
/* Names of kernel code, of places that have none, and of what is odd; numbers of frames; readable names. */
#include "feeding.h"

#include "symbols/demangle.h"

/* ---- the kernel ------------------------------------------------------------------------------------------------------------ */

static void expect_kernel(uint64_t ip, const char *name, const char *module)
{
	struct perfev_frame frame = find(0, ip, KERNEL);

	assert_true(frame.flags & PERFEV_FRAME_KERNEL);
	if (name)
		assert_string_equal(frame.symbol, name);
	else
		assert_null(frame.symbol);
	assert_string_equal(frame.module, module);
}

static const char kallsyms[] = "ffffffff81000000 T _stext\n"
			       "ffffffff81000000 T _text\n"
			       "ffffffff81001000 t one\n"
			       "ffffffff81002000 T two\n"
			       "ffffffffc0000000 t inside\t[mod]\n";

static void test_kernel(void **state)
{
	struct perfev_module_info info;

	(void)state;
	with_kallsyms(kallsyms);
	expect_kernel(0xffffffff81001004, "one", "[kernel.kallsyms]");
	expect_kernel(0xffffffff81002004, "two", "[kernel.kallsyms]");
	expect_kernel(0xffffffffc0000004, "inside", "[mod]");
	expect_kernel(0xffffffffa0000000, NULL, "[kernel.kallsyms]");
	expect_kernel(0, NULL, "[kernel.kallsyms]");
	/* functions that came while it ran, the newest first; and went again */
	feed_ksymbol(0xffffffffa0000000, 0x100, "bpf_prog_1", 0);
	expect_kernel(0xffffffffa0000004, "bpf_prog_1", "[bpf]");
	expect_kernel(0xffffffffa0000100, NULL, "[kernel.kallsyms]");
	feed_ksymbol(0xffffffffa0000000, 0x80, "bpf_prog_2", 0);
	expect_kernel(0xffffffffa0000004, "bpf_prog_2", "[bpf]");
	expect_kernel(0xffffffffa0000090, NULL, "[kernel.kallsyms]");
	feed_ksymbol(0xffffffffa0000200, 0x80, "bpf_prog_3", 0);
	feed_ksymbol(0xffffffffa0000180, 0x90, "bpf_prog_4", 0); /* where bpf_prog_3 was: that is gone */
	expect_kernel(0xffffffffa000020f, "bpf_prog_4", "[bpf]");
	expect_kernel(0xffffffffa0000210, NULL, "[kernel.kallsyms]");
	expect_kernel(0xffffffffa0000004, "bpf_prog_2", "[bpf]");
	feed_ksymbol(0xffffffffa0000000, 0x80, "bpf_prog_2", PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER);
	expect_kernel(0xffffffffa0000004, NULL, "[kernel.kallsyms]");
	assert_true(perfev_symbols_module(symbols, find(0, 0, KERNEL).module_id, &info));
	assert_int_equal(info.symbol_count, 4);
	assert_false(perfev_symbols_module(symbols, 9999, &info));
}

/* The recorded kernel was at another address: its map tells. */
static void test_moved_kernel(void **state)
{
	(void)state;
	with_kallsyms("ffffffff81000000 T _text\n");
	perfev_symbols_free(symbols);
	assert_works(perfev_symbols_new(&symbols, NULL, &err));
	with_kallsyms(kallsyms);
	perfev_symbols_free(symbols);
	{
		char path[] = "/tmp/perfev-test-XXXXXX";
		struct perfev_symbols_opts opts;
		int fd = mkstemp(path);

		assert_int_equal(write(fd, kallsyms, strlen(kallsyms)), (ssize_t)strlen(kallsyms));
		close(fd);
		memset(&opts, 0, sizeof(opts));
		opts.size = sizeof(opts);
		opts.kallsyms = path;
		assert_works(perfev_symbols_new(&symbols, &opts, &err));
		feed_kernel_map(0xffffffff91000000, 0xffffffff91000000, "[kernel.kallsyms]_text");
		expect_kernel(0xffffffff91001004, "one", "[kernel.kallsyms]");
		expect_kernel(0xffffffff91009000, NULL, "[kernel.kallsyms]");
		expect_kernel(0xffffffff81001004, NULL, "[unknown]"); /* nothing was mapped there */
		unlink(path);
	}
}

/* The kernel is named by the file of its symbols; that is another one than runs here. */
static void test_kernel_by_its_file(void **state)
{
	struct perfev_build_id entry = {.misc = PERF_RECORD_MISC_KERNEL, .pid = -1, .size = 20, .id = {1, 2, 3}};
	struct perfev_module_info info;
	uint8_t id[20];

	(void)state;
	if (perfev_build_id_read(id, "/sys/kernel/notes", NULL) <= 0)
		skip();
	entry.filename = "/lib/modules/6.1.0/kernel/fs/ext4.ko"; /* which says nothing of the kernel */
	assert_works(perfev_symbols_build_id(symbols, &entry, &err));
	entry.filename = "/usr/lib/debug/boot/vmlinux-6.1.0";
	assert_works(perfev_symbols_build_id(symbols, &entry, &err));
	assert_true(perfev_symbols_module(symbols, find(0, 0xffffffff81001004, KERNEL).module_id, &info));
	assert_non_null(strstr(info.why, "another kernel than the recorded one"));
}

/* So is it when the mapping of the kernel has its build-id. */
static void test_kernel_by_its_mapping(void **state)
{
	static const uint8_t other[20] = {1, 2, 3};
	struct perfev_module_info info;
	uint8_t id[20];

	(void)state;
	if (perfev_build_id_read(id, "/sys/kernel/notes", NULL) <= 0)
		skip();
	feed_kernel_mmap2(0xffffffff81000000, 0xffffffff81000000, "[kernel.kallsyms]_text", other);
	assert_true(perfev_symbols_module(symbols, find(0, 0xffffffff81001004, KERNEL).module_id, &info));
	assert_int_equal(info.build_id.size, 20);
	assert_memory_equal(info.build_id.data, other, 20);
	assert_non_null(strstr(info.why, "another kernel than the recorded one"));
}

static void test_bad_kallsyms(void **state)
{
	struct perfev_module_info info;

	(void)state;
	with_kallsyms("0000000000000000 T _text\n");
	assert_true(perfev_symbols_module(symbols, find(0, 5, KERNEL).module_id, &info));
	assert_non_null(strstr(info.why, "hidden"));
	with_kallsyms("this is something else\n");
	assert_true(perfev_symbols_module(symbols, find(0, 5, KERNEL).module_id, &info));
	assert_null(strstr(info.why, "hidden"));
	assert_non_null(strstr(info.why, "no list of the kernel's symbols"));
}

/* ---- what is odd --------------------------------------------------------------------------------------------------------------- */

static void test_odd_places(void **state)
{
	static const uint32_t modes[] = {PERF_RECORD_MISC_CPUMODE_UNKNOWN,
					 PERF_RECORD_MISC_HYPERVISOR,
					 PERF_RECORD_MISC_GUEST_KERNEL,
					 PERF_RECORD_MISC_GUEST_USER,
					 6,
					 7,
					 99};
	static const char *const names[] = {"[unknown]", "[hypervisor]", "[guest]", "[guest]",
					    "[unknown]", "[unknown]",	 "[unknown]"};
	struct perfev_place place = {5, 7, USER};
	struct perfev_frame frame;
	size_t i;

	(void)state;
	for (i = 0; i < 7; i++) {
		frame = find(7, 0x1234, modes[i]);
		assert_null(frame.symbol);
		assert_string_equal(frame.module, names[i]);
		assert_true(frame.address == 0x1234);
	}
	assert_int_equal(perfev_symbols_find(symbols, &place, &frame, 0, &err), 0);
	feed_mmap2(7, UINT64_MAX - 0xfff, UINT64_MAX, UINT64_MAX, "//anon", NULL);
	expect_nameless(7, UINT64_MAX - 1, "/tmp/perf-7.map");
	feed_mmap2(7, 0x5000, 0x4000, 0, "//anon", NULL); /* its length is nearly 2^64 */
	expect_nameless(7, 0x6000, "/tmp/perf-7.map");
}

/* Frames have numbers that stay: the same place has the same one, others have others. */
static void test_keys(void **state)
{
	struct perfev_frame a, b, c;

	(void)state;
	run_helper("helpernopie");
	feed_maps(7);
	feed_maps(8);
	a = find(7, address_of("main"), USER);
	b = find(8, address_of("main") + 1, USER);
	c = find(7, address_of("work_one"), USER);
	assert_int_equal(a.key, b.key);
	assert_int_not_equal(a.key, c.key);
	assert_ptr_equal(a.symbol, b.symbol);
	feed_mmap2(7, 0x1000, 0x2000, 0, "/nowhere/program", NULL);
	a = find(7, 0x1001, USER);
	b = find(7, 0x1002, USER);
	assert_int_not_equal(a.key, b.key);
	assert_int_equal(find(7, 0x1001, USER).key, a.key);
	a = find(7, 1, USER); /* nothing is mapped there: those are one */
	b = find(9, 2, USER);
	assert_int_equal(a.key, b.key);
	assert_true(a.address == 1 && b.address == 2);
	assert_int_not_equal(find(7, 0x1001, USER).key, a.key);
}

/* One address in a process that maps all the time: what is known of it is what is mapped now. */
static void test_changing_mappings(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < 50000; i++) {
		const char *name = i % 2 ? "/memfd:a" : "/memfd:b";

		feed_mmap2(7, 0x1000, 0x2000, 0, name, NULL);
		assert_string_equal(find(7, 0x1234, USER).module, name);
	}
}

static void test_damaged_records(void **state)
{
	static const uint32_t types[] = {PERF_RECORD_MMAP,    PERF_RECORD_MMAP2,
					 PERF_RECORD_COMM,    PERF_RECORD_FORK,
					 PERF_RECORD_KSYMBOL, PERFEV_RECORD_HEADER_BUILD_ID};
	struct perfev_record record;
	struct perfev_bytes view;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		bytes.size = 0;
		begin_record(&bytes, types[i], USER);
		put_u32(&bytes, 1);
		put_u32(&bytes, 0x41414141);
		end_record(&bytes, 0);
		view.data = bytes.data;
		view.size = bytes.size;
		assert_works(perfev_record_from_bytes(&record, view, 0, &err));
		assert_fails(perfev_symbols_feed(symbols, &record, NULL, &err), EINVAL);
	}
	bytes.size = 0;
	begin_record(&bytes, PERF_RECORD_EXIT, 0); /* nothing is learned from it */
	end_record(&bytes, 0);
	assert_works(perfev_record_from_bytes(&record, view, 0, &err));
	record.type = PERF_RECORD_EXIT;
	assert_works(perfev_symbols_feed(symbols, &record, NULL, &err));
}

static void test_build_id_read(void **state)
{
	uint8_t id[20];

	(void)state;
	assert_int_equal(perfev_build_id_read(id, helper("libhelper.so"), &err), 20);
	assert_fails(perfev_build_id_read(id, "/nowhere", &err), ENOENT);
	assert_says("/nowhere");
	assert_fails(perfev_build_id_read(id, "/tmp", &err), EISDIR);
	/* a file of sysfs, which cannot be mapped; not every kernel has it */
	if (access("/sys/kernel/notes", R_OK) == 0)
		assert_in_range(perfev_build_id_read(id, "/sys/kernel/notes", &err), 1, 20);
}

/* Readable names, where this build has them: without parameters, long ones left alone. */
static void test_demangling(void **state)
{
	char text[64], *long_name = malloc(5000);

	(void)state;
	assert_non_null(long_name);
	assert_false(demangle("main", text, sizeof(text)));
	assert_false(demangle("", text, sizeof(text)));
	assert_false(demangle("_", text, sizeof(text)));
	assert_false(demangle("_Z", text, sizeof(text)));
	memset(long_name, '1', 4999);
	memcpy(long_name, "_ZN", 3);
	long_name[4999] = 0;
	assert_false(demangle(long_name, text, sizeof(text)));
	free(long_name);
	if (!demangle("_ZN4some3fooEi", text, sizeof(text)))
		return; /* built without libiberty */
	assert_string_equal(text, "some::foo");
	assert_true(demangle("_ZN4core3fmt5write17h0123456789abcdefE", text, sizeof(text)));
	assert_string_equal(text, "core::fmt::write");
	assert_false(demangle("_ZN4some3fooEi", text, 9)); /* no room for its end */
	assert_true(demangle("_ZN4some3fooEi", text, 10));
}

/* Of each kind of name, and none taken for another: a C++ name that ends as Rust's old ones do not, both kinds of Rust's, D's; with what
 * compilers and linkers put behind them. */
static void test_kinds_of_names(void **state)
{
	static const char *const names[][2] = {
		{"_ZN12_GLOBAL__N_113single_threadE", "(anonymous namespace)::single_thread"},
		{"_ZN3FooD0Ev", "Foo::~Foo"},
		{"_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()"},
		{"_ZNK3FoocvT_IiEEv", "Foo::operator int<int>"},
		{"_ZNSt6vectorIiSaIiEE9push_backERKi.cold.123", "std::vector<int, std::allocator<int> >::push_back"},
		{"_ZN4some3fooEi.isra.0.constprop.1", "some::foo"},
		{"_ZN4some3fooEi.llvm.123", "some::foo"},
		{"_Znwm@@GLIBCXX_3.4", "operator new"},
		{"_Znwm@GLIBCXX_3.4", "operator new"},
		{"_ZN4core3fmt5write17h0123456789abcdefE.llvm.123456", "core::fmt::write"},
		{"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE",
		 "<Test + 'static as foo::Bar<Test>>::bar"},
		{"_RNvC6_123foo3bar", "123foo::bar"},
		{"_RINvC7mycrate3fooKj1_E", "mycrate::foo::<1>"},
		{"_RNvXs_Cs1234_7mycrateNtB4_3FooNtNtC4core3fmt7Display3fmt", "<mycrate::Foo as core::fmt::Display>::fmt"},
		{"_RNvCs1234_7mycrate3foo.llvm.9D1C9369", "mycrate::foo"},
		{"_D3std5stdio7writelnFZv", "std.stdio.writeln()"},
		{"foo@@GLIBC_2.2.5", NULL},
		{"_RNvC6_123foo", NULL},
		{"_ZN4some", NULL},
		{"_Destroy", NULL},
	};
	char text[256];
	size_t i;

	(void)state;
	if (!demangle("_ZN4some3fooEi", text, sizeof(text)))
		return; /* built without libiberty */
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		bool done = demangle(names[i][0], text, sizeof(text));

		if (done != (names[i][1] != NULL) || (done && strcmp(text, names[i][1])))
			fail_msg("%s is %s", names[i][0], done ? text : "left alone");
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_kernel, setup, teardown),
	cmocka_unit_test_setup_teardown(test_moved_kernel, setup, teardown),
	cmocka_unit_test_setup_teardown(test_kernel_by_its_file, setup, teardown),
	cmocka_unit_test_setup_teardown(test_kernel_by_its_mapping, setup, teardown),
	cmocka_unit_test_setup_teardown(test_bad_kallsyms, setup, teardown),
	cmocka_unit_test_setup_teardown(test_odd_places, setup, teardown),
	cmocka_unit_test_setup_teardown(test_keys, setup, teardown),
	cmocka_unit_test_setup_teardown(test_changing_mappings, setup, teardown),
	cmocka_unit_test_setup_teardown(test_damaged_records, setup, teardown),
	cmocka_unit_test_setup_teardown(test_build_id_read, setup, teardown),
	cmocka_unit_test(test_demangling),
	cmocka_unit_test(test_kinds_of_names),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
