/* SPDX-License-Identifier: MIT */
/* Symbols that are packed in a file, and sections that are: read when they are asked for, and left where they are damaged. */
#include "searching.h"

#include "base/library.h"
#include "symbols/mini.h"

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

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_mini, setup, teardown),
	cmocka_unit_test(test_sizes_of_xz),
	cmocka_unit_test_setup_teardown(test_packed, setup, teardown),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
