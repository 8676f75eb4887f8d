/* SPDX-License-Identifier: MIT */
/* ELF files: made by hand in both classes and orders, and by the compiler; then with every byte of their
 * headers changed, cut anywhere, and with counts and sizes that lie: an answer or an error, soon. */
#include "bytes.h"
#include "left.h"
#include "test.h"

#include "symbols/elf.h"
#include "symbols/module.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static struct guard guard;
static struct bytes file;

/* ---- files made by hand ------------------------------------------------------------------------------ */

#define TEXT_AT	   0x1000 /* where the code is in memory; in the file it is at 0x200 */
#define PLT_AT	   0x2000
#define CODE_BYTES 0x200

struct shape {
	bool wide, big;
	uint16_t machine;
};

static void put_word(const struct shape *s, uint64_t value)
{
	put_number(&file, value, s->wide ? 8 : 4);
}

static void put_symbol(const struct shape *s, uint32_t name, uint64_t value, uint64_t size,
		       uint8_t info, uint16_t section)
{
	put_u32(&file, name);
	if (s->wide) {
		put_u8(&file, info);
		put_u8(&file, 0);
		put_u16(&file, section);
		put_u64(&file, value);
		put_u64(&file, size);
	} else {
		put_u32(&file, value);
		put_u32(&file, size);
		put_u8(&file, info);
		put_u8(&file, 0);
		put_u16(&file, section);
	}
}

static void put_section(const struct shape *s, uint32_t name, uint32_t type, uint64_t address,
			uint64_t offset, uint64_t size, uint32_t link, uint64_t entry)
{
	put_u32(&file, name);
	put_u32(&file, type);
	put_word(s, 0);
	put_word(s, address);
	put_word(s, offset);
	put_word(s, size);
	put_u32(&file, link);
	put_u32(&file, 0);
	put_word(s, 0);
	put_word(s, entry);
}

static void put_segment(const struct shape *s, uint32_t type, uint64_t offset, uint64_t address,
			uint64_t size)
{
	put_u32(&file, type);
	if (s->wide)
		put_u32(&file, 5);
	put_word(s, offset);
	put_word(s, address);
	put_word(s, address);
	put_word(s, size);
	put_word(s, size);
	if (!s->wide)
		put_u32(&file, 5);
	put_word(s, 4096);
}

/* Names of sections and symbols in one table of strings, at these places. */
static const char strings[] =
	"\0.text\0.symtab\0.strtab\0.plt\0.rela.plt\0.note\0first\0second\0called\0";
enum { S_TEXT = 1, S_SYMTAB = 7, S_STRTAB = 15, S_PLT = 23, S_RELA = 28, S_NOTE = 38, N_FIRST = 44,
       N_SECOND = 50, N_CALLED = 57 };

static void put_header(const struct shape *s, uint64_t segments, uint64_t sections)
{
	static const unsigned char magic[4] = {0x7f, 'E', 'L', 'F'};

	file.size = 0;
	put_bytes(&file, magic, 4);
	put_u8(&file, s->wide ? 2 : 1);
	put_u8(&file, s->big ? 2 : 1);
	put_u8(&file, 1);
	while (file.size < 16)
		put_u8(&file, 0);
	put_u16(&file, 2);
	put_u16(&file, s->machine);
	put_u32(&file, 1);
	put_word(s, TEXT_AT);
	put_word(s, segments);
	put_word(s, sections);
	put_u32(&file, 0);
	put_u16(&file, s->wide ? 64 : 52);
	put_u16(&file, s->wide ? 56 : 32);
	put_u16(&file, 2);
	put_u16(&file, s->wide ? 64 : 40);
	put_u16(&file, 7);
	put_u16(&file, 3);
}

/* Sections: 1 .text, 2 .symtab, 3 .strtab, 4 .plt, 5 .rela.plt, 6 .note. */
static void make(const struct shape *s)
{
	const uint64_t symbol = s->wide ? 24 : 16, relocation = s->wide ? 24 : 12;
	uint64_t segments, symtab, strtab, rela, note, sections;

	file.big = s->big;
	put_header(s, 0, 0);
	segments = file.size;
	put_segment(s, ELF_LOAD, 0x200, TEXT_AT, CODE_BYTES);
	put_segment(s, ELF_SEG_NOTE, 0x200, 0, 0);
	memset(file.data + file.size, 0x90, 0x200 + CODE_BYTES - file.size);
	file.size = 0x200 + CODE_BYTES;
	symtab = file.size;
	put_symbol(s, 0, 0, 0, 0, 0);
	put_symbol(s, N_FIRST, TEXT_AT, 0x20, 0x12, 1);		/* a function, global */
	put_symbol(s, N_SECOND, TEXT_AT + 0x40, 0x10, 0x02, 1); /* local */
	put_symbol(s, N_CALLED, 0, 0, 0x12, 0);			/* of another file */
	strtab = file.size;
	put_bytes(&file, strings, sizeof(strings));
	rela = file.size;
	put_word(s, 0);
	put_word(s, s->wide ? UINT64_C(3) << 32 | 7 : 3 << 8 | 7); /* symbol 3 */
	put_word(s, 0);
	note = file.size;
	put_u32(&file, 4);
	put_u32(&file, 8);
	put_u32(&file, 3);
	put_bytes(&file, "GNU\0BUILD-ID", 12);
	sections = file.size;
	put_section(s, 0, 0, 0, 0, 0, 0, 0);
	put_section(s, S_TEXT, 1, TEXT_AT, 0x200, CODE_BYTES, 0, 0);
	put_section(s, S_SYMTAB, ELF_SYMTAB, 0, symtab, symbol * 4, 3, symbol);
	put_section(s, S_STRTAB, 3, 0, strtab, sizeof(strings), 0, 0);
	put_section(s, S_PLT, 1, PLT_AT, 0x200, 0x60, 0, 16);
	put_section(s, S_RELA, ELF_RELA, 0, rela, relocation, 2, relocation);
	put_section(s, S_NOTE, ELF_NOTE, 0, note, 24, 0, 0);
	symtab = file.size;
	put_header(s, segments, sections);
	file.size = symtab;
}

static struct perfev_bytes view(size_t size)
{
	struct perfev_bytes bytes = {guard_put(&guard, file.data, size), size};

	return bytes;
}

/* The symbols of the file in @elf, as a module reads them. */
static struct module *load_module(const struct elf *elf)
{
	struct module_places places = {.symfs = NULL};
	struct module *module = calloc(1, sizeof(*module));

	assert_non_null(module);
	module->name = strdup("module");
	assert_non_null(module->name);
	module->elf = *elf;
	module->has_elf = true;
	assert_int_equal(module_load(module, &places, true), 0);
	return module;
}

static const char *name_in(const struct module *module, uint64_t address)
{
	long index = table_find(&module->table, address);

	return index < 0 ? "" : module->table.items[index].name;
}

static void test_made_by_hand(void **state)
{
	static const struct shape shapes[] = {
		{true, false, 62}, {true, true, 62}, {false, false, 3}, {false, true, 20}, /* ppc */
	};
	struct elf_section section;
	uint64_t address;
	uint8_t id[20];
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		struct elf elf;
		struct module *module;
		long stub;

		make(&shapes[i]);
		assert_int_equal(elf_open_memory(&elf, view(file.size)), 0);
		assert_int_equal(elf.machine, shapes[i].machine);
		assert_int_equal(elf.section_count, 7);
		assert_true(elf_section_named(&elf, ".symtab", &section));
		assert_int_equal(elf_symbol_count(&elf, &section), 4);
		assert_false(elf_section_named(&elf, ".nothing", &section));
		assert_true(elf_offset_to_address(&elf, 0x240, &address));
		assert_int_equal(address, TEXT_AT + 0x40);
		assert_false(elf_offset_to_address(&elf, 0x1ff, &address));
		assert_false(elf_offset_to_address(&elf, 0x200 + CODE_BYTES, &address));
		assert_int_equal(elf_build_id(&elf, id), 8);
		assert_memory_equal(id, "BUILD-ID\0\0\0\0\0\0\0\0\0\0\0\0", 20);
		module = load_module(&elf);
		assert_string_equal(name_in(module, TEXT_AT), "first");
		assert_string_equal(name_in(module, TEXT_AT + 0x1f), "first");
		assert_string_equal(name_in(module, TEXT_AT + 0x20), "");
		assert_string_equal(name_in(module, TEXT_AT + 0x4f), "second");
		stub = table_find(&module->table, PLT_AT + 16);
		assert_true(stub >= 0 && module->table.items[stub].plt);
		assert_string_equal(module->table.items[stub].name, "called");
		assert_string_equal(name_in(module, PLT_AT), ""); /* the header of the stubs */
		module_free(module);
	}
}

/* ---- what is asked of any file ------------------------------------------------------------------------------ */

static void ask(struct perfev_bytes bytes)
{
	struct elf_section section, strtab;
	struct elf_segment segment;
	struct elf_symbol symbol;
	struct module *module;
	struct elf elf;
	uint64_t address, k;
	uint8_t id[20];
	uint32_t i;

	if (elf_open_memory(&elf, bytes) < 0)
		return;
	for (i = 0; i < 70; i++) {
		if (elf_segment(&elf, i, &segment))
			elf_offset_to_address(&elf, segment.offset, &address);
		if (!elf_section(&elf, i, &section))
			continue;
		assert_true(strlen(section.name) < bytes.size);
		if (!elf_section(&elf, section.link, &strtab))
			continue;
		for (k = 0; k < 40; k++)
			if (elf_symbol(&elf, &section, k, &symbol)) {
				const char *name = elf_string(&elf, &strtab, symbol.name);

				assert_true(!name || strlen(name) < bytes.size);
			}
		assert_false(elf_symbol(&elf, &section, UINT64_MAX, &symbol));
	}
	assert_in_range(elf_build_id(&elf, id), 0, 20);
	elf_section_of_type(&elf, ELF_DYNSYM, &section);
	module = load_module(&elf);
	for (i = 0; i < 100; i++)
		table_find(&module->table, i * 64);
	module_free(module);
}

static void test_any_byte(void **state)
{
	static const struct shape shapes[] = {{true, false, 62}, {false, true, 40}};
	size_t i, at;
	int k;

	(void)state;
	alarm(120); /* the longest that is "soon" */
	for (i = 0; i < 2; i++) {
		make(&shapes[i]);
		for (at = 0; at < file.size; at++) {
			unsigned char old = file.data[at];

			if (at >= 0x100 && at < 0x200 + CODE_BYTES)
				continue; /* code */
			for (k = 0; k < 10; k++) {
				file.data[at] = (unsigned char)(k < 8    ? old ^ 1 << k
								: k == 8 ? 0xff
									 : 0);
				ask(view(file.size));
			}
			file.data[at] = old;
		}
	}
	alarm(0);
}

static void test_any_length(void **state)
{
	static const struct shape shapes[] = {{true, true, 62}, {false, false, 3}};
	size_t i, size;

	(void)state;
	for (i = 0; i < 2; i++) {
		make(&shapes[i]);
		for (size = 0; size < file.size; size++)
			ask(view(size));
	}
}

/* Each word of each section's header, and of each segment's, with numbers that lie. */
static void test_lies(void **state)
{
	static const uint64_t lies[] = {0,
					1,
					3,
					8,
					15,
					23,
					0x1fff,
					0x7fffffff,
					0xffffffff,
					UINT64_C(1) << 32,
					UINT64_C(1) << 63,
					UINT64_MAX - 23,
					UINT64_MAX};
	static const struct shape wide = {true, false, 62};
	size_t at, i, sections, copy;

	(void)state;
	alarm(120);
	file.big = false;
	make(&wide);
	sections = file.size - 7 * 64;
	for (at = 0; at < file.size; at += 8) {
		if (at >= 176 && at < sections)
			continue;
		for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
			make(&wide);
			copy = file.size;
			set_number(&file, at, lies[i], 8);
			ask(view(copy));
			make(&wide);
			set_number(&file, at, lies[i], 4);
			ask(view(copy));
			make(&wide);
			set_number(&file, at + 4, lies[i], 4);
			ask(view(copy));
		}
	}
	alarm(0);
}

/* Stubs whose symbols are in a table with entries of no or few bytes: nothing divides by that. */
static void test_symbols_without_size(void **state)
{
	static const struct shape wide = {true, false, 62};
	struct elf_section section;
	struct elf_symbol symbol;
	struct module *module;
	uint64_t entry, i;
	struct elf elf;

	(void)state;
	for (entry = 0; entry < 24; entry++) {
		make(&wide);
		set_number(&file, file.size - 7 * 64 + 2 * 64 + 56, entry, 8);
		assert_int_equal(elf_open_memory(&elf, view(file.size)), 0);
		assert_true(elf_section(&elf, 2, &section));
		assert_int_equal(section.entry_size, entry);
		assert_int_equal(elf_symbol_count(&elf, &section), 0);
		for (i = 0; i < 100; i++)
			assert_false(elf_symbol(&elf, &section, i, &symbol));
		module = load_module(&elf);
		assert_int_equal(module->table.count, 0);
		module_free(module);
	}
}

/* A table of strings that does not end in a zero has none that end: not even the last of the file. */
static void test_strings_without_end(void **state)
{
	static const struct shape wide = {true, false, 62};
	struct elf_section table;
	size_t size, at;
	struct elf elf;

	(void)state;
	for (size = 0; size <= sizeof(strings); size++) {
		make(&wide);
		set_number(&file, file.size - 7 * 64 + 3 * 64 + 32, size, 8);
		assert_int_equal(elf_open_memory(&elf, view(file.size)), 0);
		assert_true(elf_section(&elf, 3, &table));
		for (at = 0; at < size + 2; at++) {
			const char *text = elf_string(&elf, &table, at);

			assert_int_equal(text != NULL, at < size && !strings[size - 1]);
			assert_true(!text || at + strlen(text) < size);
		}
	}
}

/* ---- notes ------------------------------------------------------------------------------------------------------ */

static void test_notes(void **state)
{
	uint8_t id[20];
	size_t size;

	(void)state;
	file.big = host_is_big();
	file.size = 0;
	put_u32(&file, 5); /* another one comes first: its name and bytes are padded */
	put_u32(&file, 3);
	put_u32(&file, 3);
	put_bytes(&file, "Linux\0\0\0abc\0", 12);
	put_u32(&file, 4);
	put_u32(&file, 24); /* longer than an id can be */
	put_u32(&file, 3);
	put_bytes(&file, "GNU\0abcdefghijklmnopqrstuvwx", 28);
	assert_int_equal(elf_notes_build_id(file.data, file.size, false, id), 20);
	assert_memory_equal(id, "abcdefghijklmnopqrst", 20);
	for (size = 0; size < file.size; size++)
		assert_int_equal(elf_notes_build_id(view(size).data, size, false, id), 0);
	set_number(&file, 24, UINT32_MAX, 4);
	assert_int_equal(elf_notes_build_id(view(file.size).data, file.size, false, id), 0);
	set_number(&file, 24, 4, 4);
	set_number(&file, 28, UINT32_MAX - 2, 4);
	assert_int_equal(elf_notes_build_id(view(file.size).data, file.size, false, id), 0);
	assert_int_equal(elf_notes_build_id(view(0).data, 0, false, id), 0);
}

/* ---- files of the compiler ------------------------------------------------------------------------------------------ */

static const char *helper(const char *name)
{
	static char path[4200];
	ssize_t n = readlink("/proc/self/exe", path, 4096);

	assert_true(n > 0);
	path[n] = 0;
	strcpy(strrchr(path, '/') + 1, name);
	return path;
}

static void test_of_the_compiler(void **state)
{
	static const char *const names[] = {"helperpie", "helpernopie", "libhelper.so"};
	struct elf_section section;
	struct module *module;
	struct elf elf;
	uint8_t id[20];
	size_t i, k, found;

	(void)state;
	left_begin();
	for (i = 0; i < 3; i++) {
		assert_int_equal(elf_open(&elf, helper(names[i])), 0);
		assert_true(elf_section_named(&elf, ".text", &section));
		assert_true(elf_section_of_type(&elf, ELF_SYMTAB, &section));
		assert_int_equal(elf_build_id(&elf, id), 20);
		module = load_module(&elf);
		for (k = found = 0; k < module->table.count; k++)
			found += !strcmp(module->table.items[k].name,
					 i == 2 ? "lib_hidden" : "work_hidden");
		assert_int_equal(found, 1);
		module_free(module);
	}
	left_check();
}

/* The header, all segments and all sections of a real file, each byte changed. */
static void test_mutated_file(void **state)
{
	unsigned char *data = malloc(1 << 20);
	struct perfev_bytes bytes = {data, 0};
	uint64_t sections;
	ssize_t size;
	size_t at;
	int fd = open(helper("helpernopie"), O_RDONLY);

	(void)state;
	assert_non_null(data);
	size = read(fd, data, 1 << 20);
	close(fd);
	assert_in_range(size, 1000, (1 << 20) - 1);
	bytes.size = (size_t)size;
	memcpy(&sections, data + 40, 8);
	alarm(300);
	for (at = 0; at < bytes.size; at += at < sections && at >= 1024 ? 41 : 1) {
		unsigned char old = data[at];

		data[at] = (unsigned char)(old ^ 0x80);
		ask(bytes);
		data[at] = (unsigned char)(old + 1);
		ask(bytes);
		data[at] = old;
	}
	for (; bytes.size > 0; bytes.size -= bytes.size < 2048 ? 1 : 97)
		ask(bytes);
	alarm(0);
	free(data);
}

/* Names that recordings give are opened, whatever they are of: a pipe would wait for ever. */
static void test_no_regular_files(void **state)
{
	char folder[] = "/tmp/perfev-test-XXXXXX", path[64];
	struct elf elf;

	(void)state;
	left_begin();
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/pipe", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(20);
	assert_int_equal(elf_open(&elf, path), -EINVAL);
	alarm(0);
	unlink(path);
	assert_int_equal(elf_open(&elf, folder), -EISDIR);
	rmdir(folder);
	assert_int_equal(elf_open(&elf, "/dev/zero"), -EINVAL);
	assert_int_equal(elf_open(&elf, "/nowhere"), -ENOENT);
	assert_int_equal(elf_open(&elf, "/proc/self/maps"), -ENOEXEC);
	left_check();
}

static int setup(void **state)
{
	(void)state;
	return guard_open(&guard) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	guard_close(&guard);
	return 0;
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_made_by_hand),
	cmocka_unit_test(test_any_byte),
	cmocka_unit_test(test_any_length),
	cmocka_unit_test(test_lies),
	cmocka_unit_test(test_symbols_without_size),
	cmocka_unit_test(test_strings_without_end),
	cmocka_unit_test(test_notes),
	cmocka_unit_test(test_of_the_compiler),
	cmocka_unit_test(test_mutated_file),
	cmocka_unit_test(test_no_regular_files),
};

int main(void)
{
	return cmocka_run_group_tests(tests, setup, teardown);
}
