/* SPDX-License-Identifier: MIT */
/* Files that are looked for, made by the compiler and the tools of this machine, each below a folder that stands for the
 * root: debug files by build-id, link and cache, symbols packed in a file, debug information that is split and shared.
 * What does not belong together is refused, and said. Skipped where a tool is not there. */
#include "left.h"
#include "shell.h"
#include "test.h"

#include "base/library.h"
#include "symbols/dwarf_line.h"
#include "symbols/link.h"
#include "symbols/mini.h"
#include "symbols/module.h"

#include <unistd.h>

static char root[64], old[4096];
static struct module_places places;
static struct module *module;

static const char source[] =
	"volatile int n;\n"
	"static inline __attribute__((always_inline)) int inner(int x) { int i, s = 0; for (i = 0; i < n; i++) s += x * n; return s; }\n"
	"static __attribute__((noinline)) int hidden(int x) { return inner(x) + 1; }\n"
	"int exported(int x) { return hidden(x) - n; }\n"
	"int main(int c, char **v) { (void)v; return exported(c); }\n";

/* ---- making files --------------------------------------------------------------------------------------------- */

/* bin/p, with options; full.p is the same file as the compiler made it. */
static void compile(const char *options)
{
	FILE *file = fopen("p.c", "w");

	assert_non_null(file);
	fputs(source, file);
	fclose(file);
	make(shell("mkdir -p bin usr/lib/debug && cd bin && gcc -O1 -rdynamic -Wl,--build-id %s ../p.c -o p && cp p ../full.p && "
		   "objcopy --only-keep-debug p ../p.debug",
		   options));
}

static void id_of(const char *path, char *to)
{
	struct elf elf;
	uint8_t id[20];
	int i, n;

	assert_int_equal(elf_open(&elf, path), 0);
	n = elf_build_id(&elf, id);
	elf_close(&elf);
	assert_int_equal(n, 20);
	for (i = 0; i < n; i++)
		sprintf(to + 2 * i, "%02x", id[i]);
}

static void unload(void)
{
	module_free(module);
	module = NULL;
}

static struct module *load_as(const char *name, const char *id_from)
{
	struct elf elf;

	unload();
	module = calloc(1, sizeof(*module));
	assert_non_null(module);
	module->name = strdup(name);
	assert_non_null(module->name);
	module->pid = 7;
	if (id_from) {
		assert_int_equal(elf_open(&elf, id_from), 0);
		module->build_id_size = (uint8_t)elf_build_id(&elf, module->build_id);
		module->recorded_id = true;
		elf_close(&elf);
	}
	assert_int_equal(module_load(module, &places, true), 0);
	return module;
}

static struct module *load(void)
{
	return load_as("/bin/p", NULL);
}

/* ---- questions ------------------------------------------------------------------------------------------------ */

/* Where a function of the unstripped file is. */
static uint64_t address_of(const char *name, uint64_t *end)
{
	struct elf_section table, strings;
	struct elf_symbol symbol;
	struct elf elf;
	uint64_t i, at = 0;

	assert_int_equal(elf_open(&elf, "full.p"), 0);
	assert_true(elf_section_of_type(&elf, ELF_SYMTAB, &table) && elf_section(&elf, table.link, &strings));
	for (i = 0; i < elf_symbol_count(&elf, &table); i++)
		if (elf_symbol(&elf, &table, i, &symbol) && !strcmp(elf_string(&elf, &strings, symbol.name), name)) {
			at = symbol.value;
			*end = at + symbol.size;
		}
	elf_close(&elf);
	assert_int_not_equal(at, 0);
	return at;
}

static const char *name_of(const char *function)
{
	uint64_t end;
	long index = table_find(&module->table, address_of(function, &end));

	return index < 0 ? "" : module->table.items[index].name;
}

static void expect_why(const char *part)
{
	if (!strstr(module->why, part))
		fail_msg("'%s' does not say '%s'", module->why, part);
}

/* What is inlined somewhere in hidden(); "": nothing is known, or nothing has a name. */
static const char *inlined(void)
{
	uint64_t end, at = address_of("hidden", &end), there = at;
	struct dwarf *dwarf = module_dwarf(module, &places, &there);

	for (; dwarf && at < end; at++) {
		struct dwarf_unit *unit = dwarf_unit_at(dwarf, at);
		const struct dwarf_function *function = unit ? dwarf_function_at(unit, at) : NULL;

		if (function && function->parent) {
			const char *name = dwarf_name(dwarf, unit, function);

			return name ? name : "nameless";
		}
	}
	return "";
}

static uint32_t line_of(const char *function)
{
	uint64_t end, at = address_of(function, &end);
	struct dwarf *dwarf = module_dwarf(module, &places, &at);
	struct dwarf_unit *unit = dwarf ? dwarf_unit_at(dwarf, at) : NULL;
	const struct dwarf_row *row = unit ? dwarf_row_at(dwarf, unit, at) : NULL;

	return row ? row->line : 0;
}

static void expect_all(const char *file)
{
	assert_string_equal(name_of("hidden"), "hidden");
	assert_string_equal(name_of("exported"), "exported");
	assert_string_equal(inlined(), "inner");
	assert_in_range(line_of("hidden"), 2, 3); /* its own, or of what is inlined at its start */
	assert_non_null(module->debug_file);
	if (!strstr(module->debug_file, file))
		fail_msg("%s is not %s", module->debug_file, file);
}

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

/* ---- packed symbols ------------------------------------------------------------------------------------------- */

/* S36: joined with the exported ones, not in their place. */
static void test_mini(void **state)
{
	(void)state;
	compile("-g");
	make(shell("objcopy -S --remove-section .gnu_debuglink --remove-section .comment --keep-symbol=hidden p.debug mini && xz -k mini && "
		   "objcopy --strip-all --add-section .gnu_debugdata=mini.xz bin/p"));
	load();
	assert_string_equal(name_of("hidden"), "hidden");
	assert_string_equal(name_of("exported"), "exported");
	assert_true(module->has_mini);
	expect_why("packed in it");
	make(shell("cp full.p bin/p && head -c 200 mini.xz >cut; tail -c 100 mini.xz >>cut; objcopy --strip-all --add-section "
		   ".gnu_debugdata=cut bin/p"));
	load();
	assert_string_equal(name_of("hidden"), "");
	assert_string_equal(name_of("exported"), "exported");
	expect_why("cannot be unpacked");
	make(shell("cp full.p bin/p && head -c 100000000 /dev/zero | xz -1 >big && objcopy --strip-all --add-section .gnu_debugdata=big "
		   "bin/p"));
	load();
	assert_string_equal(name_of("exported"), "exported");
	expect_why("cannot be unpacked");
}

static void test_sizes_of_xz(void **state)
{
	static const unsigned char whole[] = {
		0xfd, '7', 'z', 'X', 'Z', 0, 0, 4, 0xe6, 0xd6, 0xb4, 0x46, /* header */
		0, 1, 20, 5, 1, 2, 3, 4, /* index: a block, which is 20 bytes, and becomes 5; checksum */
		1, 2, 3, 4, 1, 0, 0, 0, 0, 4, 'Y', 'Z', /* footer: the index is 8 bytes */
		0, 0, 0, 0};
	unsigned char bytes[sizeof(whole)];
	size_t i, bit;

	(void)state;
	assert_int_equal(mini_size(whole, sizeof(whole)), 5);
	assert_int_equal(mini_size(whole, sizeof(whole) - 4), 5);
	for (i = 0; i < sizeof(whole) - 4; i++)
		assert_int_equal(mini_size(whole, i), 0);
	for (i = 0; i < sizeof(whole); i++)
		for (bit = 0; bit < 8; bit++) {
			memcpy(bytes, whole, sizeof(bytes));
			bytes[i] = (unsigned char)(bytes[i] ^ 1u << bit);
			assert_in_range(mini_size(bytes, sizeof(bytes)), 0, MINI_MAX);
		}
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

/* ---- packed sections ------------------------------------------------------------------------------------------- */

static bool is_packed(enum dwarf_section section)
{
	return module->dwarf->sections[section]->kind;
}

/* Changes a byte in the middle of a section of bin/p. */
static void damage(const char *name)
{
	struct elf_section section;
	struct elf elf;
	FILE *file;
	int byte;

	assert_int_equal(elf_open(&elf, "bin/p"), 0);
	assert_true(elf_section_named(&elf, name, &section));
	elf_close(&elf);
	file = fopen("bin/p", "rb+");
	assert_non_null(file);
	fseek(file, (long)(section.offset + section.size - 8), SEEK_SET); /* of zlib: within the data, or its checksum */
	byte = fgetc(file);
	fseek(file, -1, SEEK_CUR);
	fputc(byte ^ 0x55, file);
	fclose(file);
}

/* Each section is expanded when it is asked for: lines and texts are packed until then, and harm nothing when damaged. */
static void test_packed(void **state)
{
	uint64_t address = 0;
	static const char *const kinds[] = {"zlib", "zlib-gnu", "zstd"};
	size_t i, done = 0;

	(void)state;
	library_open("libdeflate.so.0"); /* they stay, and are not what is counted */
	library_open("libz.so.1");
	library_open("libzstd.so.1");
	left_begin();
	for (i = 0; i < 3; i++) {
		compile("-g");
		if (!shell("for i in 0 1 2 3 4 5 6 7; do sed \"s/\\b\\(n\\|inner\\|hidden\\|exported\\|main\\)\\b/\\1_of_a_rather_long_name_$i/g\" "
			   "p.c; done >more.c && cd bin && gcc -O1 -g -gdwarf-5 -rdynamic ../p.c ../more.c -o p && cp p ../full.p && "
			   "objcopy --compress-debug-sections=%s p", kinds[i]))
			continue;
		load();
		assert_non_null(module_dwarf(module, &places, &address));
		assert_true(is_packed(DWARF_LINE) && is_packed(DWARF_STR));
		assert_string_equal(inlined(), "inner");
		assert_true(is_packed(DWARF_LINE) && !is_packed(DWARF_STR));
		assert_in_range(line_of("hidden"), 2, 3);
		assert_false(is_packed(DWARF_LINE));
		damage(i == 1 ? ".zdebug_line" : ".debug_line");
		load();
		assert_int_equal(line_of("hidden"), 0);
		assert_string_equal(inlined(), "inner");
		damage(i == 1 ? ".zdebug_str" : ".debug_str");
		load();
		assert_string_equal(inlined(), "nameless");
		done++;
	}
	make(done > 0);
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

static int setup(void **state)
{
	(void)state;
	left_begin();
	strcpy(root, "/tmp/perfev-test-XXXXXX");
	memset(&places, 0, sizeof(places));
	places.symfs = root;
	return getcwd(old, sizeof(old)) && mkdtemp(root) && chdir(root) == 0 ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	unload();
	assert_int_equal(chdir(old), 0);
	assert_true(shell("rm -r '%s'", root));
	left_check();
	return 0;
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_by_build_id, setup, teardown),
	cmocka_unit_test_setup_teardown(test_by_link, setup, teardown),
	cmocka_unit_test_setup_teardown(test_wrong_links, setup, teardown),
	cmocka_unit_test_setup_teardown(test_short_links, setup, teardown),
	cmocka_unit_test_setup_teardown(test_cache, setup, teardown),
	cmocka_unit_test_setup_teardown(test_deleted, setup, teardown),
	cmocka_unit_test_setup_teardown(test_container, setup, teardown),
	cmocka_unit_test_setup_teardown(test_mini, setup, teardown),
	cmocka_unit_test(test_sizes_of_xz),
	cmocka_unit_test(test_checksum),
	cmocka_unit_test_setup_teardown(test_packed, setup, teardown),
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
