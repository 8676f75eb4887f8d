/* SPDX-License-Identifier: MIT */
/* The kernel's image: where it is found, and names, lines and inlined functions out of it, for a kernel that was at another
 * address. The image is a program that is linked as if it were one. */
#include "foreign.h"


#define MOVED UINT64_C(0x7200000) /* by that much, against where it was linked for */

static uint8_t id[20];
static char hex[41];
static uint64_t text, function; /* as linked */

static const char source[] =
	"__asm__(\".text\\n.globl _text\\n_text:\\n.globl _stext\\n_stext:\\n.skip 64\\n\");\n"
	"volatile int n = 3;\n"
	"static inline __attribute__((always_inline)) int inner(int x)\n"
	"{\n"
	"	return x * n + n; /* line 5 */\n"
	"}\n"
	"__attribute__((noinline)) int vfs_look(int x)\n"
	"{\n"
	"	return inner(x) + 1; /* line 9 */\n"
	"}\n"
	"void _start(void) { n = vfs_look(n); for (;;) ; }\n";

static uint64_t address_in(const char *path, const char *name)
{
	char line[256];
	unsigned long long address = 0;
	FILE *out;

	snprintf(line, sizeof(line), "nm %s | sed -n 's/ [Tt] %s$//p'", path, name);
	out = popen(line, "r");
	assert_non_null(out);
	if (!fgets(line, sizeof(line), out) || sscanf(line, "%llx", &address) != 1)
		address = 0;
	pclose(out);
	assert_true(address);
	return address;
}

/* The image in the folder, and what is to be known of it. */
static void make_image(void)
{
	FILE *file = fopen("k.c", "w");
	int i;

	assert_non_null(file);
	fputs(source, file);
	fclose(file);
	make(shell("gcc -O1 -g -fno-toplevel-reorder -fno-pic -nostdlib -static -no-pie -Wl,--build-id -Wl,-Ttext=0x41000000 k.c -o image"));
	text = address_in("image", "_text");
	function = address_in("image", "vfs_look");
	assert_int_equal(perfev_build_id_read(id, "image", NULL), 20);
	for (i = 0; i < 20; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
}

/* A recording of that kernel, on another machine. */
static void open_symbols(struct perfev_symbols_opts opts, const uint8_t *recorded)
{
	struct perfev_build_id entry = {.misc = PERF_RECORD_MISC_KERNEL, .pid = -1, .size = 20, .filename = "[kernel.kallsyms]"};

	perfev_symbols_free(symbols);
	opts.size = sizeof(opts);
	opts.foreign = 1;
	assert_works(perfev_symbols_new(&symbols, &opts, &err));
	if (recorded) {
		memcpy(entry.id, recorded, 20);
		assert_works(perfev_symbols_build_id(symbols, &entry, &err));
	}
	feed_kernel_map(text + MOVED, text + MOVED, "[kernel.kallsyms]_text");
}

static const char *why(void)
{
	static struct perfev_module_info info;

	assert_true(perfev_symbols_module(symbols, find(0, function + MOVED, KERNEL).module_id, &info));
	return info.why ? info.why : "";
}

static void expect_name(const char *name)
{
	struct perfev_frame frame = find(0, function + MOVED, KERNEL);

	if (!name)
		assert_null(frame.symbol);
	else
		assert_string_equal(frame.symbol ? frame.symbol : "(none)", name);
	assert_string_equal(frame.module, "[kernel.kallsyms]");
}

/* Somewhere in the function there is one that was inlined, with its line and that of the call. */
static void expect_inlined(bool is)
{
	struct perfev_place place = {0, 0, KERNEL};
	struct perfev_frame frames[4];
	struct perfev_source lines[4];
	bool found = false;
	uint64_t at;

	for (at = function; at < function + 24 && !found; at++) {
		place.ip = at + MOVED;
		found = perfev_symbols_find(symbols, &place, frames, 4, &err) == 2;
	}
	assert_int_equal(found, is);
	if (!is) {
		assert_int_equal(perfev_symbols_source(symbols, &place, lines, 4, &err), 0);
		return;
	}
	assert_string_equal(frames[0].symbol, "inner");
	assert_string_equal(frames[1].symbol, "vfs_look");
	assert_int_equal(frames[0].flags, PERFEV_FRAME_KERNEL | PERFEV_FRAME_INLINED);
	assert_int_equal(frames[1].flags, PERFEV_FRAME_KERNEL);
	assert_int_equal(perfev_symbols_source(symbols, &place, lines, 4, &err), 2);
	assert_int_equal(lines[0].line, 5);
	assert_int_equal(lines[1].line, 9);
	assert_non_null(strstr(lines[0].file, "k.c"));
}

/* By its release, and by its build-id, in all places that are usual. */
static void test_places(void **state)
{
	static const char *const names[] = {"boot/vmlinux-6.9-test",
					    "usr/lib/debug/boot/vmlinux-6.9-test",
					    "usr/lib/debug/boot/vmlinux-6.9-test.debug",
					    "usr/lib/debug/lib/modules/6.9-test/vmlinux",
					    "usr/lib/debug/usr/lib/modules/6.9-test/vmlinux",
					    "usr/lib/debug/lib/modules/6.9-test/vmlinux.debug",
					    "lib/modules/6.9-test/vmlinux",
					    "lib/modules/6.9-test/build/vmlinux"};
	struct perfev_symbols_opts opts = {.symfs = root, .release = "6.9-test"};
	size_t i;

	(void)state;
	make_image();
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		make(shell("rm -rf boot usr lib; mkdir -p \"$(dirname %s)\" && cp image %s", names[i], names[i]));
		open_symbols(opts, id);
		expect_name("vfs_look");
		expect_inlined(true);
	}
	opts.release = NULL;
	open_symbols(opts, id);
	expect_name(NULL);
	make(shell("rm -rf lib; mkdir -p usr/lib/debug/.build-id/%.2s && cp image usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex, hex + 2));
	open_symbols(opts, id);
	expect_name("vfs_look");
	expect_inlined(true);
}

/* perf's cache has the kernel's symbols as text, and may have its image. */
static void test_cache(void **state)
{
	char cache[80];
	struct perfev_symbols_opts opts = {.cache = cache, .symfs = root};

	(void)state;
	make_image();
	snprintf(cache, sizeof(cache), "%s/cache", root);
	make(shell("mkdir -p cache/.build-id/%.2s/%s && cp image cache/.build-id/%.2s/%s/vmlinux", hex, hex + 2, hex, hex + 2));
	open_symbols(opts, id);
	expect_name("vfs_look");
	expect_inlined(true);
	make(shell("nm image | sed 's/vfs_look/of_text/' > cache/.build-id/%.2s/%s/kallsyms", hex, hex + 2));
	open_symbols(opts, id);
	expect_name("of_text");
}

/* An image of another kernel is never used, and one that nothing is known of only when it was named. */
static void test_another(void **state)
{
	struct perfev_symbols_opts opts = {.symfs = root, .release = "6.9-test"};
	char path[80];

	(void)state;
	make_image();
	make(shell("mkdir -p boot && cp image boot/vmlinux-6.9-test"));
	id[0] ^= 1;
	open_symbols(opts, id);
	expect_name(NULL);
	expect_inlined(false);
	assert_non_null(strstr(why(), "/boot/vmlinux-6.9-test has another build-id"));
	make(shell("mkdir -p usr/lib/debug/boot && cp image usr/lib/debug/boot/vmlinux-6.9-test")); /* told too, though it ends alike */
	open_symbols(opts, id);
	assert_non_null(strstr(why(), "/boot/vmlinux-6.9-test has another build-id; "));
	assert_non_null(strstr(why(), "/usr/lib/debug/boot/vmlinux-6.9-test has another build-id"));
	open_symbols(opts, NULL);
	expect_name(NULL);
	snprintf(path, sizeof(path), "%s/image", root);
	opts.vmlinux = path;
	open_symbols(opts, NULL);
	expect_name("vfs_look");
	expect_inlined(true);
	open_symbols(opts, id);
	expect_name(NULL);
	assert_non_null(strstr(why(), "/image has another build-id"));
	id[0] ^= 1;
	open_symbols(opts, id);
	expect_name("vfs_look");
	make(shell("echo text > other && strip image -o stripped"));
	snprintf(path, sizeof(path), "%s/other", root);
	open_symbols(opts, NULL);
	assert_non_null(strstr(why(), "/other is no ELF file"));
	snprintf(path, sizeof(path), "%s/stripped", root);
	open_symbols(opts, NULL);
	assert_non_null(strstr(why(), "/stripped has no symbols"));
	snprintf(path, sizeof(path), "%s/missing", root);
	open_symbols(opts, NULL);
	assert_non_null(strstr(why(), "/missing cannot be read: No such file"));
}

/* Names by kallsyms, and lines out of the image's debug file. */
static void test_debug_file(void **state)
{
	char path[80];
	struct perfev_symbols_opts opts = {.symfs = root, .release = "6.9-test", .kallsyms = path};

	(void)state;
	make_image();
	snprintf(path, sizeof(path), "%s/kallsyms", root);
	make(shell("nm image > kallsyms; mkdir -p usr/lib/debug/boot && objcopy --only-keep-debug image usr/lib/debug/boot/vmlinux-6.9-test"));
	open_symbols(opts, id);
	expect_name("vfs_look");
	expect_inlined(true);
	opts.kallsyms = NULL; /* it has symbols too */
	open_symbols(opts, id);
	expect_name("vfs_look");
	expect_inlined(true);
	/* kallsyms of this boot, and a recording that does not say where the kernel was */
	opts.kallsyms = path;
	make(shell("nm image | sed 's/^00000000/00000100/' > kallsyms"));
	perfev_symbols_free(symbols);
	opts.size = sizeof(opts);
	opts.vmlinux = "image";
	opts.foreign = 1;
	assert_works(perfev_symbols_new(&symbols, &opts, &err));
	function += (UINT64_C(0x10000000000)) - MOVED;
	expect_name("vfs_look");
	expect_inlined(true);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_places, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_cache, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_another, set_up, tear_down),
	cmocka_unit_test_setup_teardown(test_debug_file, set_up, tear_down),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
