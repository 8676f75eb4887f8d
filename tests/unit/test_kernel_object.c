/* SPDX-License-Identifier: MIT */
/* Names of a module of the kernel out of its file, when it was unloaded before the recording was read: a file that is not linked,
 * as the kernel lays it out. And which file that is, as depmod wrote it down. */
#include "foreign.h"

#include "capture/module_paths.h"
#include "symbols/kernel_object.h"
#include "symbols/elf_symbols.h"

#include <dlfcn.h>

#define START UINT64_C(0xffffffffc0310000)

static char path[] = "/lib/modules/6.9-test/kernel/drivers/test-dev.ko";

static const char source[] =
	"__asm__(\".section .text\\n.type first, @function\\nfirst:\\n.skip 21\\n.size first, 21\\n.type second, @function\\n\"\n"
	"	\"second:\\n.skip 11\\n.size second, 11\\n\"\n"
	"	\".section .init.text, \\\"ax\\\", @progbits\\n.type at_start, @function\\nat_start:\\n.skip 64\\n.size at_start, 64\\n\"\n"
	"	\".section .rodata\\n.type data, @object\\ndata:\\n.skip 64\\n.size data, 64\\n\"\n"
	"	\".section .text.unlikely, \\\"ax\\\", @progbits\\n.balign 64\\n.type cold, @function\\ncold:\\n.skip 5\\n.size cold, 5\\n\"\n"
	"	\".section .exit.text, \\\"ax\\\", @progbits\\n.balign 16\\n.type at_end, @function\\nat_end:\\n.skip 9\\n.size at_end, 9\\n\"\n"
	"	\".section .text.ftrace_trampoline, \\\"ax\\\", @progbits\\n.skip 1\\n\"\n"
	"	\".section .text.behind, \\\"ax\\\", @progbits\\n.type behind, @function\\nbehind:\\n.skip 9\\n.size behind, 9\\n\");\n";

/* The module in the folder; a build-id of twenty equal digits. */
static void make_module(const char *digit)
{
	FILE *file = fopen("m.c", "w");

	assert_non_null(file);
	fputs(source, file);
	assert_int_equal(fclose(file), 0);
	make(shell("printf '.section .note.gnu.build-id, \"a\", @note\\n.balign 4\\n.long 4, 20, 3\\n.ascii \"GNU\\\\0\"\\n.fill 20, 1, %s\\n'"
	      " > id.s && gcc -c m.c -o m.o && gcc -c id.s -o id.o && ld -r m.o id.o -o m.ko && mkdir -p .%.*s && cp m.ko .%s",
	      digit, (int)(strrchr(path, '/') - path), path, path));
}

/* A recording of another machine: its kernel has other modules by now. */
static void open_symbols(const uint8_t *id)
{
	static const char kallsyms[] = "ffffffff81000000 T _text\nffffffff81001000 T one\n"
				       "ffffffffc0310000 t other_function\t[other]\nffffffffc0320000 t last\t[other]\n";
	struct perfev_build_id entry = {.misc = PERF_RECORD_MISC_KERNEL, .pid = -1, .size = 20, .filename = path};
	struct perfev_symbols_opts opts = {.size = sizeof(opts), .foreign = 1, .symfs = root, .kallsyms = "kallsyms"};
	FILE *file = fopen("kallsyms", "w");

	assert_non_null(file);
	fputs(kallsyms, file);
	fclose(file);
	perfev_symbols_free(symbols);
	assert_works(perfev_symbols_new(&symbols, &opts, &err));
	if (id) {
		memcpy(entry.id, id, 20);
		assert_works(perfev_symbols_build_id(symbols, &entry, &err));
	}
	feed_kernel_map(0xffffffff81000000, 0xffffffff81000000, "[kernel.kallsyms]_text");
	feed_kernel_map(START, 0, path);
}

static void expect_at(uint64_t offset, const char *name)
{
	struct perfev_frame frame = find(0, START + offset, KERNEL);

	if (name)
		assert_string_equal(frame.symbol ? frame.symbol : "(none)", name);
	else
		assert_null(frame.symbol);
	assert_true(frame.flags & PERFEV_FRAME_KERNEL);
	assert_string_equal(frame.module, "[test_dev]");
}

static void expect_names(void)
{
	expect_at(0, "first");
	expect_at(20, "first");
	expect_at(21, "second");
	expect_at(31, "second");
	expect_at(64, "cold");
	expect_at(68, "cold");
	expect_at(80, "at_end");
	expect_at(88, "at_end");
	expect_at(120, NULL); /* behind what the kernel makes larger nothing is known */
	assert_string_equal(find(0, 0xffffffff81001004, KERNEL).symbol, "one");
}

static void test_layout(void **state)
{
	(void)state;
	make_module("0x11");
	open_symbols(NULL);
	expect_names();
}

static void test_build_ids(void **state)
{
	uint8_t id[20];
	struct perfev_module_info info;

	(void)state;
	memset(id, 0x22, sizeof(id));
	make_module("0x22");
	open_symbols(id);
	expect_names();
	make_module("0x33");
	open_symbols(id);
	expect_at(0, NULL);
	assert_true(perfev_symbols_module(symbols, find(0, START, KERNEL).module_id, &info));
	assert_non_null(strstr(info.why, "/test-dev.ko has another build-id"));
	make(shell("mkdir -p usr/lib/debug/lib/modules/6.9-test/kernel/drivers"));
	make_module("0x22");
	make(shell("mv .%s usr/lib/debug%s", path, path));
	open_symbols(id);
	expect_names();
	make(shell("mv usr/lib/debug%s usr/lib/debug%s.debug", path, path));
	open_symbols(id);
	expect_names();
	make(shell("rm -r lib usr; mkdir -p usr/lib/debug/.build-id/22 && cp m.ko usr/lib/debug/.build-id/22/22222222222222222222222222222222222222.debug"));
	open_symbols(id);
	expect_names();
}

static bool without_libdeflate;

/* In place of the C library's: a machine that lacks a library. */
void *dlopen(const char *file, int flags)
{
	void *(*real)(const char *, int);
	void *address = dlsym(RTLD_NEXT, "dlopen");

	memcpy(&real, &address, sizeof(real)); /* a function is no object */
	return without_libdeflate && file && strstr(file, "libdeflate") ? NULL : real(file, flags);
}

static void expect_packed(const char *command)
{
	make(shell(command, path));
	open_symbols(NULL);
	expect_names();
	make(shell("head -c 100 .%s > cut && mv cut .%s", path, path));
	open_symbols(NULL);
	expect_at(0, NULL);
}

static void test_packed(void **state)
{
	(void)state;
	make_module("0x44");
	expect_packed("xz -c --check=crc32 m.ko > .%s");
	expect_packed("zstd -q -f m.ko -o .%s");
	expect_packed("gzip -c m.ko > .%s");
	without_libdeflate = true;
	expect_packed("gzip -c m.ko > .%s");
	without_libdeflate = false;
}

/* A byte of what is packed, of its checksum or of its size is another one. */
static void test_damaged_gzip(void **state)
{
	static unsigned char data[1 << 16];
	size_t size, i;
	FILE *file;

	(void)state;
	make_module("0x44");
	make(shell("gzip -c m.ko > packed"));
	file = fopen("packed", "r");
	assert_non_null(file);
	size = fread(data, 1, sizeof(data), file);
	fclose(file);
	for (i = 0; i < 6; i++) {
		size_t at = i / 2 == 0 ? size / 2 : size - 4 * (i / 2);

		data[at] ^= 1;
		file = fopen("packed", "w");
		assert_non_null(file);
		assert_int_equal(fwrite(data, 1, size, file), size);
		fclose(file);
		data[at] ^= 1;
		make(shell("cp packed .%s", path));
		without_libdeflate = i & 1;
		open_symbols(NULL);
		expect_at(0, NULL);
	}
	without_libdeflate = false;
}

/* Functions that were inlined, and lines, out of the module's file or its debug file; also where kallsyms have its names. */
static void test_debug_information(void **state)
{
	static const char code[] = "volatile int n;\n"
				   "static inline __attribute__((always_inline)) int inner(int x)\n"
				   "{\n"
				   "	return x * n + n; /* line 4 */\n"
				   "}\n"
				   "__attribute__((noinline)) int look(int x)\n"
				   "{\n"
				   "	return inner(x) + 1; /* line 8 */\n"
				   "}\n"
				   "__attribute__((section(\".init.text\"))) int start(int x) { return inner(x); }\n"
				   "__attribute__((section(\".text.unlikely\"))) int rare(int x) { return inner(x); /* line 11 */ }\n";
	static const char *const commands[] = {"cp m.ko .%s", "objcopy --strip-debug m.ko .%s; objcopy --only-keep-debug m.ko usr/lib/debug%s",
					       "objcopy --compress-debug-sections m.ko .%s; rm usr/lib/debug%s"};
	struct perfev_frame frames[4];
	struct perfev_source lines[4];
	size_t i, found, rare;
	FILE *file;

	(void)state;
	make(shell("mkdir -p .%.*s usr/lib/debug%.*s", (int)(strrchr(path, '/') - path), path, (int)(strrchr(path, '/') - path), path));
	file = fopen("m.c", "w");
	assert_non_null(file);
	fputs(code, file);
	fclose(file);
	make(shell("gcc -O1 -g -fno-asynchronous-unwind-tables -c m.c -o m.o && ld -r --build-id m.o -o m.ko"));
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		struct perfev_place place = {0, 0, KERNEL};

		make(shell(commands[i], path, path));
		open_symbols(NULL);
		assert_string_equal(find(0, START, KERNEL).symbol, "look");
		for (found = rare = 0, place.ip = START; place.ip < START + 64; place.ip++) {
			int n = perfev_symbols_find(symbols, &place, frames, 4, &err);

			if (n != 2)
				continue;
			assert_string_equal(frames[0].symbol, "inner");
			assert_int_equal(frames[0].flags, PERFEV_FRAME_KERNEL | PERFEV_FRAME_INLINED);
			assert_string_equal(frames[1].module, "[test_dev]");
			assert_int_equal(perfev_symbols_source(symbols, &place, lines, 4, &err), 2);
			assert_int_equal(lines[0].line, 4);
			assert_int_equal(lines[1].line, strcmp(frames[1].symbol, "look") ? 11 : 8);
			found++;
			rare += !strcmp(frames[1].symbol, "rare");
		}
		assert_true(found > rare && rare > 0);
	}
}

/* A program maps something that is called like the module: it is another thing, whichever is asked for first. */
static void test_user_namesake(void **state)
{
	int i;

	(void)state;
	make_module("0x66");
	for (i = 0; i < 2; i++) {
		open_symbols(NULL);
		feed_mmap2(7, 0, 0x1000, 0, "[test_dev]", NULL);
		if (i)
			expect_names();
		assert_null(find(7, 0x44, USER).symbol);
		assert_null(find(7, 0x04, USER).symbol);
		expect_names();
	}
}

/* perf record --buildid-mmap: mappings of the kernel have build-ids, and there is no section of them. */
static void test_mapped_build_id(void **state)
{
	uint8_t id[20];

	(void)state;
	make_module("0x77");
	open_symbols(NULL);
	memset(id, 0x78, sizeof(id));
	feed_kernel_mmap2(START, 0, path, id);
	expect_at(0, NULL);
	open_symbols(NULL);
	memset(id, 0x77, sizeof(id));
	feed_kernel_mmap2(START, 0, path, id);
	expect_names();
}

/* What is no module: a program, and nothing. */
static void test_other_files(void **state)
{
	(void)state;
	make_module("0x55");
	make(shell("cp /bin/sh .%s", path));
	open_symbols(NULL);
	expect_at(0, NULL);
	make(shell("rm .%s", path));
	open_symbols(NULL);
	expect_at(0, NULL);
}

static void test_paths(void **state)
{
	struct module_paths paths;
	char found[128], small[10];
	FILE *file = fopen("modules.dep", "w");

	(void)state;
	assert_non_null(file);
	fputs("kernel/fs/jbd2/jbd2.ko.xz: kernel/lib/crc16.ko.xz\nupdates/dkms/snd-hda-intel.ko:\nno colon\nbare.ko:\n", file);
	fclose(file);
	assert_int_equal(module_paths_read(&paths, root), 0);
	assert_int_equal(paths.count, 3);
	assert_true(module_paths_find(&paths, "jbd2", found, sizeof(found)));
	assert_string_equal(found + strlen(root), "/kernel/fs/jbd2/jbd2.ko.xz");
	assert_true(module_paths_find(&paths, "snd_hda_intel", found, sizeof(found)));
	assert_string_equal(found + strlen(root), "/updates/dkms/snd-hda-intel.ko");
	assert_true(module_paths_find(&paths, "bare", found, sizeof(found)));
	assert_false(module_paths_find(&paths, "jbd", found, sizeof(found)));
	assert_false(module_paths_find(&paths, "jbd22", found, sizeof(found)));
	assert_false(module_paths_find(&paths, "jbd2", small, sizeof(small)));
	module_paths_free(&paths);
	assert_int_equal(module_paths_read(&paths, "/nonexistent"), -ENOENT);
	assert_false(module_paths_find(&paths, "jbd2", found, sizeof(found)));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_layout, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_build_ids, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_packed, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_damaged_gzip, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_debug_information, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_user_namesake, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_mapped_build_id, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_other_files, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_paths, set_up, tear_down),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
