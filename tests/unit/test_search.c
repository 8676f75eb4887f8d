/* SPDX-License-Identifier: MIT */
/* Files that are looked for, made by the compiler and the tools of this machine, each below a folder that stands for the
 * root: debug files by build-id, link and cache, debug information that is split and shared. What does not belong together is
 * refused, and said. Skipped where a tool is not there. */
#include "searching.h"

#include "symbols/link.h"

/* ---- debug files ---------------------------------------------------------------------------------------------- */

/* S32: in the folder of build-ids; a file there that has another one is not used. */
static void test_by_build_id(void **state)
{
	char id[41];

	(void)state;
	compile("-g");
	id_of("full.p", id);
	make(shell("strip bin/p && mkdir -p usr/lib/debug/.build-id/%.2s && cp p.debug usr/lib/debug/.build-id/%.2s/%s.debug", id, id,
		   id + 2));
	load();
	expect_all("/usr/lib/debug/.build-id/");
	make(shell("gcc -g -Wl,--build-id p.c -o usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2));
	load();
	assert_string_equal(name_of("hidden"), "");
	assert_string_equal(name_of("exported"), "exported");
	expect_why("has another build-id");
	expect_why("no debug file for build-id");
	assert_string_equal(inlined(), "");
	/* one without what is wanted does not end the search */
	make(shell("cp bin/p usr/lib/debug/.build-id/%.2s/%s.debug; objcopy --add-gnu-debuglink=p.debug bin/p && cp p.debug bin/", id,
		   id + 2));
	load();
	expect_all("/bin/p.debug");
}

/* S35: a file without build-id; its debug file has the checksum that the link says, or is not used. */
static void test_by_link(void **state)
{
	static const char *const folders[] = {"bin", "bin/.debug", "usr/lib/debug/bin", "usr/lib/debug/usr/bin"};
	size_t i;

	(void)state;
	compile("-g -Wl,--build-id=none");
	make(shell("objcopy --strip-all --add-gnu-debuglink=p.debug bin/p"));
	for (i = 0; i < 4; i++) {
		make(shell("mkdir -p %s && cp p.debug %s/", folders[i], folders[i]));
		load();
		expect_all(folders[i]);
		make(shell("printf x >>%s/p.debug", folders[i]));
		load();
		assert_string_equal(name_of("hidden"), "");
		expect_why("has another checksum than its .gnu_debuglink says");
		assert_string_equal(inlined(), "");
		make(shell("rm %s/p.debug", folders[i]));
	}
	load();
	expect_why("no debug file");
	expect_why(".gnu_debuglink");
}

/* S33: a link that names the file itself; one of a file with another build-id. */
static void test_wrong_links(void **state)
{
	(void)state;
	compile("-g");
	make(shell("strip bin/p && cp p.debug p && objcopy --add-gnu-debuglink=p bin/p"));
	load();
	assert_string_equal(name_of("hidden"), "");
	assert_string_equal(name_of("exported"), "exported");
	assert_string_equal(inlined(), "");
	make(shell("cp full.p bin/p && gcc -g -Wl,--build-id p.c -o bin/p.debug && objcopy --strip-all "
		   "--add-gnu-debuglink=bin/p.debug bin/p"));
	load();
	assert_string_equal(name_of("hidden"), "");
	expect_why("has another build-id");
}

/* S34: sections that end before the checksum, or have no end. */
static void test_short_links(void **state)
{
	static const char *const contents[] = {"p.debug\\0", "p.debug\\0\\1\\2\\3", "p.debug", "\\0\\0\\0\\0\\0\\0\\0\\0", "../p\\0\\0\\0\\0\\1\\2\\3\\4"};
	size_t i;

	(void)state;
	compile("-g");
	for (i = 0; i < sizeof(contents) / sizeof(contents[0]); i++) {
		make(shell("printf '%s' >section && cp full.p bin/p && objcopy --strip-all --add-section .gnu_debuglink=section "
			   "bin/p && cp p.debug bin/",
			   contents[i]));
		load();
		assert_string_equal(name_of("exported"), "exported");
		assert_string_equal(name_of("hidden"), "");
		assert_false(module->search.linked);
	}
}

/* S28: a stripped copy in the cache does not stand before the debug file, which is found from where the file was. */
static void test_cache(void **state)
{
	char id[41];

	(void)state;
	compile("-g");
	id_of("full.p", id);
	make(shell("objcopy --strip-all --add-gnu-debuglink=p.debug bin/p && mkdir -p home/bin/p/%s home/.build-id/%.2s && mv bin/p "
		   "home/bin/p/%s/elf && ln -s ../../bin/p/%s home/.build-id/%.2s/%s",
		   id, id, id, id, id, id + 2));
	places.cache = "home";
	load_as("/bin/p", "full.p");
	assert_string_equal(name_of("exported"), "exported");
	assert_non_null(strstr(module->file, "home/.build-id"));
	make(shell("mkdir -p usr/lib/debug/bin && cp p.debug usr/lib/debug/bin/"));
	load_as("/bin/p", "full.p");
	expect_all("/usr/lib/debug/bin/p.debug");
	make(shell("rm usr/lib/debug/bin/p.debug && cp p.debug home/bin/p/%s/debug", id));
	load_as("/bin/p", "full.p");
	expect_all("home/.build-id");
	/* without a recorded build-id a cache has nothing */
	load();
	assert_null(module->file);
	expect_why("No such file");
	/* the vdso of another kernel */
	make(shell("mv home/bin/p/%s/elf home/bin/p/%s/vdso", id, id));
	load_as("[vdso]", "full.p");
	assert_string_equal(name_of("exported"), "exported");
	load_as("[vdso]", NULL);
	assert_null(module->file);
	/* S31: an archive of the cache, unpacked below the folder that stands for the root */
	places.cache = NULL;
	make(shell("mkdir -p bin/p/%s && cp full.p bin/p/%s/elf", id, id));
	load_as("/bin/p", "full.p");
	expect_all("/elf");
}

/* S10: a deleted file that came back; one that is another now. */
static void test_deleted(void **state)
{
	(void)state;
	compile("-g");
	load_as("/bin/p (deleted)", "full.p");
	expect_all("/bin/p");
	load_as("/bin/p (deleted)", NULL);
	assert_null(module->file);
	expect_why("deleted");
	make(shell("gcc -g -Wl,--build-id p.c -o bin/p"));
	load_as("/bin/p (deleted)", "full.p");
	assert_null(module->file);
	expect_why("deleted");
	expect_why("has another build-id");
}

/* S13: as the process sees its files, while it lives. */
static void test_container(void **state)
{
	char proc[80];

	(void)state;
	compile("-g");
	snprintf(proc, sizeof(proc), "%s/proc", root);
	places.proc = proc;
	make(shell("mkdir -p proc/7/root/opt && mv bin/p proc/7/root/opt/"));
	load_as("/opt/p", NULL);
	expect_all("/proc/7/root/opt/p");
	make(shell("cd proc/7/root/opt && objcopy --strip-all --add-gnu-debuglink=../../../../p.debug p && mkdir .debug && cp "
		   "../../../../p.debug .debug/"));
	load_as("/opt/p", NULL);
	expect_all("/proc/7/root/opt/.debug/p.debug");
	/* the machine has a file of that name too: it is that one, unless a build-id tells */
	make(shell("mkdir opt && gcc -g -Wl,--build-id -Dhidden=other p.c -o opt/p"));
	load_as("/opt/p", NULL);
	assert_string_not_equal(name_of("hidden"), "hidden");
	load_as("/opt/p", "full.p");
	expect_all("/proc/7/root/opt/.debug/p.debug");
	make(shell("rm opt/p"));
	places.proc = NULL;
	load_as("/opt/p", NULL);
	assert_null(module->file);
	expect_why("No such file");
}

static void test_checksum(void **state)
{
	unsigned char bytes[64];
	size_t size, i;

	(void)state;
	assert_int_equal(link_crc((const unsigned char *)"123456789", 9), 0xcbf43926);
	assert_int_equal(link_crc(bytes, 0), 0);
	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 37);
	for (size = 0; size <= sizeof(bytes); size++) {
		uint32_t crc = UINT32_MAX; /* a bit at a time */

		for (i = 0; i < size * 8; i++) {
			uint32_t bit = (crc ^ (uint32_t)bytes[i / 8] >> i % 8) & 1;

			crc = crc >> 1 ^ (bit ? 0xedb88320 : 0);
		}
		assert_int_equal(link_crc(bytes, size), ~crc);
	}
}

/* ---- shared and split debug information ------------------------------------------------------------------------- */

static void dwz_pair(const char *options)
{
	compile(options);
	make(shell("sed s/exported/other/g p.c >q.c && gcc -O1 %s q.c -o bin/q && dwz -m bin/common -r bin/p bin/q && readelf -S bin/p | grep -q "
		   "'debugaltlink\\|debug_sup'",
		   options));
}

/* S37: names are in a file that several share; without it, or with another, functions around are still known. */
static void test_shared(void **state)
{
	(void)state;
	dwz_pair("-g -gdwarf-4");
	load();
	expect_all("/bin/p");
	assert_string_equal(module->dwarf->why, "");
	make(shell("mv bin/common bin/away"));
	load();
	assert_string_equal(name_of("hidden"), "hidden");
	assert_string_not_equal(inlined(), "inner");
	assert_in_range(line_of("hidden"), 2, 3);
	assert_non_null(strstr(module->dwarf->why, "is missing"));
	make(shell("cp full.p bin/common"));
	load();
	assert_string_not_equal(inlined(), "inner");
	assert_non_null(strstr(module->dwarf->why, "has another build-id"));
	/* by build-id */
	{
		char id[41];

		id_of("bin/away", id);
		make(shell("mkdir -p usr/lib/debug/.build-id/%.2s && mv bin/away usr/lib/debug/.build-id/%.2s/%s.debug", id, id, id + 2));
	}
	load();
	expect_all("/bin/p");
}

/* The path of a link counts from where the debug file is, not from the symbolic link that leads to it. */
static void test_shared_beside_the_debug_file(void **state)
{
	char id[41];

	(void)state;
	dwz_pair("-g -gdwarf-4");
	id_of("full.p", id);
	make(shell("mkdir -p usr/lib/debug/bin usr/lib/debug/.build-id/%.2s && objcopy --only-keep-debug bin/p usr/lib/debug/bin/p.debug && "
		   "mv bin/common usr/lib/debug/bin/ && strip bin/p && ln -s ../../bin/p.debug usr/lib/debug/.build-id/%.2s/%s.debug",
		   id, id, id + 2));
	load();
	expect_all(".build-id");
	assert_string_equal(module->dwarf->why, "");
}

/* S38: .dwo files of DWARF 4 and 5: there, gone, of another compilation, moved with the program; and packages. */
static void split(const char *options, const char *tool)
{
	compile(options);
	places.symfs = ""; /* .dwo files are where the compiler was */
	{
		char path[128], names[512];

		snprintf(path, sizeof(path), "%s/bin/p", root);
		load_as(path, NULL);
		expect_all("/bin/p");
		assert_string_equal(module->dwarf->why, "");
		make(shell("mkdir away && mv bin/*.dwo away/"));
		load_as(path, NULL);
		assert_string_equal(name_of("hidden"), "hidden");
		assert_string_equal(inlined(), "");
		assert_in_range(line_of("hidden"), 2, 3);
		assert_non_null(strstr(module->dwarf->why, ".dwo is missing"));
		assert_int_equal(module->dwarf->missing, 1);
		/* another compilation's, of the same name */
		snprintf(names, sizeof(names), "sed 's/int n;/int n, m;/' p.c >r.c && cp r.c p.c && cd bin && mv p keep && gcc -O1 %s ../p.c -o p && mv keep p", options);
		make(shell("%s", names));
		load_as(path, NULL);
		assert_string_equal(inlined(), "");
		assert_in_range(line_of("hidden"), 2, 3);
		assert_non_null(strstr(module->dwarf->why, "another compilation"));
		/* a package beside the program, then beside its debug file */
		make(shell("rm bin/*.dwo && cp away/*.dwo bin/ && (cd bin && %s -e p -o p.dwp) && rm bin/*.dwo", tool));
		load_as(path, NULL);
		expect_all("/bin/p");
		assert_string_equal(module->dwarf->why, "");
		make(shell("cp p.debug bin/ && mv bin/p.dwp bin/p.debug.dwp && objcopy --strip-all --add-gnu-debuglink=bin/p.debug bin/p"));
		load_as(path, NULL);
		expect_all("p.debug");
		make(shell("mv bin/p.debug.dwp bin/q.dwp"));
		load_as(path, NULL);
		assert_string_equal(inlined(), "");
		make(shell("mv bin/q.dwp bin/p.dwp"));
		load_as(path, NULL);
		expect_all("p.debug");
	}
}

static void test_split_4(void **state)
{
	(void)state;
	split("-gdwarf-4 -gsplit-dwarf", "dwp");
}

static void test_split_5(void **state)
{
	(void)state;
	split("-gdwarf-5 -gsplit-dwarf", "llvm-dwp");
}

/* A program that was moved, with its .dwo files. */
static void test_split_moved(void **state)
{
	(void)state;
	compile("-gdwarf-5 -gsplit-dwarf");
	load(); /* below the other root there is no such folder as the compiler's */
	expect_all("/bin/p");
}

/* A package with each of its bytes that matter changed gives an answer, or none. */
static void test_hostile_package(void **state)
{
	unsigned char *data;
	long size, at;
	FILE *file;

	(void)state;
	compile("-gdwarf-5 -gsplit-dwarf");
	make(shell("llvm-dwp -e bin/p -o bin/p.dwp && rm bin/*.dwo"));
	file = fopen("bin/p.dwp", "rb+");
	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	data = malloc((size_t)size);
	assert_non_null(data);
	rewind(file);
	assert_int_equal(fread(data, 1, (size_t)size, file), (size_t)size);
	alarm(120);
	for (at = 64; at < size; at += 3) {
		fseek(file, at, SEEK_SET);
		fputc(data[at] ^ 0x81, file);
		fflush(file);
		load();
		inlined();
		line_of("hidden");
		fseek(file, at, SEEK_SET);
		fputc(data[at], file);
	}
	alarm(0);
	fclose(file);
	free(data);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_by_build_id, setup, teardown),
	cmocka_unit_test_setup_teardown(test_by_link, setup, teardown),
	cmocka_unit_test_setup_teardown(test_wrong_links, setup, teardown),
	cmocka_unit_test_setup_teardown(test_short_links, setup, teardown),
	cmocka_unit_test_setup_teardown(test_cache, setup, teardown),
	cmocka_unit_test_setup_teardown(test_deleted, setup, teardown),
	cmocka_unit_test_setup_teardown(test_container, setup, teardown),
	cmocka_unit_test(test_checksum),
	cmocka_unit_test_setup_teardown(test_shared, setup, teardown),
	cmocka_unit_test_setup_teardown(test_shared_beside_the_debug_file, setup, teardown),
	cmocka_unit_test_setup_teardown(test_split_4, setup, teardown),
	cmocka_unit_test_setup_teardown(test_split_5, setup, teardown),
	cmocka_unit_test_setup_teardown(test_split_moved, setup, teardown),
	cmocka_unit_test_setup_teardown(test_hostile_package, setup, teardown),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
