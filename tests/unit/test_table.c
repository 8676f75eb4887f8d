/* SPDX-License-Identifier: MIT */
/* Tables of symbols: which of several at one address is taken, where each ends, which one an address is in;
 * and kallsyms, with modules, hidden addresses and lines that are none. */
#include "left.h"
#include "test.h"

#include "symbols/kallsyms.h"
#include "symbols/table.h"

#include <errno.h>
#include <unistd.h>

#define LOCAL  0
#define GLOBAL 1
#define WEAK   2

static void add(struct table *table, uint64_t start, uint64_t size, int binding, const char *name)
{
	struct symbol symbol = {start, start + size, name, (uint8_t)binding, false, 0};

	assert_int_equal(table_add(table, &symbol), 0);
}

static const char *name_at(const struct table *table, uint64_t address)
{
	long index = table_find(table, address);

	return index < 0 ? "" : table->items[index].name;
}

/* ---- choice ------------------------------------------------------------------------------------------ */

/* Two symbols at one address, in both orders. */
static void expect_choice(uint64_t a_size, int a, const char *a_name, uint64_t b_size, int b,
			  const char *b_name)
{
	int order;

	for (order = 0; order < 2; order++) {
		struct table table = {NULL, 0, 0, NULL, NULL};

		if (order)
			add(&table, 100, a_size, a, a_name);
		add(&table, 100, b_size, b, b_name);
		if (!order)
			add(&table, 100, a_size, a, a_name);
		add(&table, 50, 10, GLOBAL, "other");
		assert_int_equal(table_finish(&table), 0);
		assert_int_equal(table.count, 2);
		assert_string_equal(name_at(&table, 100), a_name);
		table_free(&table);
	}
}

static void test_choice(void **state)
{
	(void)state;
	expect_choice(8, LOCAL, "strong", 8, WEAK, "weak");
	expect_choice(8, GLOBAL, "global", 8, LOCAL, "local");
	expect_choice(8, GLOBAL, "strong", 8, WEAK, "a much longer name");
	expect_choice(8, GLOBAL, "name", 8, GLOBAL, "_a_longer_name");
	expect_choice(8, GLOBAL, "_name", 8, GLOBAL, "__a_longer_name");
	expect_choice(8, GLOBAL, "longer", 8, GLOBAL, "short");
}

/* A size is the strongest reason, wherever in the file it stands. Of those without one, the last at an address goes on to the
 * next symbol (perf does the same). */
static void test_choice_by_size(void **state)
{
	struct table table = {NULL, 0, 0, NULL, NULL};

	(void)state;
	add(&table, 100, 0, GLOBAL, "a longer label");
	add(&table, 100, 8, WEAK, "sized");
	add(&table, 200, 8, LOCAL, "sized too");
	add(&table, 200, 0, GLOBAL, "a label behind it");
	add(&table, 250, 0, GLOBAL, "a longer one");
	add(&table, 250, 0, GLOBAL, "last");
	add(&table, 300, 8, GLOBAL, "other");
	assert_int_equal(table_finish(&table), 0);
	assert_string_equal(name_at(&table, 100), "sized");
	assert_string_equal(name_at(&table, 107), "sized");
	assert_string_equal(name_at(&table, 108), "");
	assert_string_equal(name_at(&table, 200), "sized too");
	assert_string_equal(name_at(&table, 208), "");
	assert_string_equal(name_at(&table, 250), "last");
	assert_string_equal(name_at(&table, 299), "last");
	table_free(&table);
}

/* ---- where symbols end --------------------------------------------------------------------------------- */

static void test_ends(void **state)
{
	struct table table = {NULL, 0, 0, NULL, NULL};

	(void)state;
	add(&table, 0x5000, 0, GLOBAL, "last");
	add(&table, 0x1000, 0, GLOBAL, "first");
	add(&table, 0x2000, 16, GLOBAL, "sized");
	add(&table, 0x3000, 0, GLOBAL, "third");
	assert_int_equal(table_finish(&table), 0);
	assert_string_equal(name_at(&table, 0xfff), "");
	assert_string_equal(name_at(&table, 0x1000), "first");
	assert_string_equal(name_at(&table, 0x1fff), "first");
	assert_string_equal(name_at(&table, 0x200f), "sized");
	assert_string_equal(name_at(&table, 0x2010), "");
	assert_string_equal(name_at(&table, 0x4fff), "third");
	assert_string_equal(name_at(&table, 0x5fff), "last"); /* to the end of the page after */
	assert_string_equal(name_at(&table, 0x6000), "");
	assert_string_equal(name_at(&table, UINT64_MAX), "");
	table_free(&table);
}

/* Without a size it does not. */
static void test_labels(void **state)
{
	struct table table = {NULL, 0, 0, NULL, NULL};

	(void)state;
	add(&table, 90, 0, GLOBAL, "before");
	add(&table, 100, 100, GLOBAL, "function");
	add(&table, 140, 0, GLOBAL, "label");
	add(&table, 200, 0, GLOBAL, "behind");
	add(&table, 210, 0, LOCAL, "last");
	assert_int_equal(table_finish(&table), 0);
	assert_string_equal(name_at(&table, 99), "before");
	assert_string_equal(name_at(&table, 140), "function");
	assert_string_equal(name_at(&table, 199), "function");
	assert_string_equal(name_at(&table, 200), "behind");
	assert_string_equal(name_at(&table, 210), "last");
	table_free(&table);
}

/* A label inside a function ends, and the function goes on behind it. */
static void test_nested(void **state)
{
	struct table table = {NULL, 0, 0, NULL, NULL};
	uint64_t i;

	(void)state;
	add(&table, 100, 100, GLOBAL, "outer");
	add(&table, 120, 10, LOCAL, "inner");
	add(&table, 122, 2, LOCAL, "innermost");
	assert_int_equal(table_finish(&table), 0);
	assert_string_equal(name_at(&table, 119), "outer");
	assert_string_equal(name_at(&table, 121), "inner");
	assert_string_equal(name_at(&table, 123), "innermost");
	assert_string_equal(name_at(&table, 124), "inner");
	assert_string_equal(name_at(&table, 130), "outer");
	assert_string_equal(name_at(&table, 199), "outer");
	assert_string_equal(name_at(&table, 200), "");
	table_free(&table);
	add(&table, 0, 1000000, GLOBAL, "outer"); /* however many stand in between, there is an answer */
	for (i = 1; i < 1000; i++)
		add(&table, i * 10, 1, LOCAL, "small");
	assert_int_equal(table_finish(&table), 0);
	assert_string_equal(name_at(&table, 15), "outer");
	assert_string_equal(name_at(&table, 300), "small");
	assert_true(table_find(&table, 9999) >= -1);
	table_free(&table);
}

static void test_empty(void **state)
{
	struct table table = {NULL, 0, 0, NULL, NULL};

	(void)state;
	assert_int_equal(table_finish(&table), 0);
	assert_int_equal(table_find(&table, 0), -1);
	assert_int_equal(table_find(&table, UINT64_MAX), -1);
	table_free(&table);
}

/* Any order in, the same table out. */
static void test_sorting(void **state)
{
	uint64_t seed = 1234567, i, k;
	struct table table = {NULL, 0, 0, NULL, NULL};

	(void)state;
	for (i = 0; i < 3000; i++) {
		k = (i * 1871 + seed) % 3000; /* each number once */
		add(&table, k * 16, 16, GLOBAL, k % 2 ? "odd" : "even");
	}
	assert_int_equal(table_finish(&table), 0);
	assert_int_equal(table.count, 3000);
	for (i = 0; i < 3000 * 16; i++) {
		assert_int_equal(table_find(&table, i), i / 16);
		assert_string_equal(name_at(&table, i), i / 16 % 2 ? "odd" : "even");
	}
	table_free(&table);
}

/* Equal in everything: the one that came last, as it goes on to the next symbol. */
static void test_without_sizes(void **state)
{
	struct table table = {NULL, 0, 0, NULL, NULL};

	(void)state;
	add(&table, 100, 0, GLOBAL, "a");
	add(&table, 100, 0, GLOBAL, "b");
	add(&table, 100, 0, GLOBAL, "c");
	add(&table, 200, 0, GLOBAL, "d");
	assert_int_equal(table_finish(&table), 0);
	assert_int_equal(table.count, 2);
	assert_string_equal(name_at(&table, 199), "c");
	table_free(&table);
}

/* ---- kallsyms ---------------------------------------------------------------------------------------------- */

static int load(struct kallsyms *ret, const char *text)
{
	char path[] = "/tmp/perfev-test-XXXXXX";
	int fd = mkstemp(path), r;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	r = kallsyms_load(ret, path);
	unlink(path);
	return r;
}

static void expect_symbol(const struct kallsyms *k, uint64_t address, const char *name,
			  const char *module)
{
	long index = table_find(&k->table, address);
	const struct symbol *symbol;

	assert_true(index >= 0);
	symbol = &k->table.items[index];
	assert_string_equal(symbol->name, name);
	if (module)
		assert_string_equal(k->modules[symbol->module - 1], module);
	else
		assert_int_equal(symbol->module, 0);
}

static void test_kallsyms(void **state)
{
	struct kallsyms k;

	(void)state;
	left_begin();
	assert_int_equal(load(&k,
			      "0000000000000000 A fixed_percpu_data\n"
			      "ffffffff81000000 T _stext\n"
			      "ffffffff81000000 T _text\n"
			      "ffffffff81001000 t local_one\n"
			      "ffffffff81001100 W weak_one\n"
			      "ffffffff81001200 r read_only\n"
			      "ffffffff81001300 D data_one\n"
			      "ffffffff81001400 T $x\n"
			      "ffffffff81001400 T .Lmark\n"
			      "ffffffff81002000 T last_of_kernel\n"
			      "ffffffffc0000000 t mod_one\t[first]\n"
			      "ffffffffc0000100 t mod_two\t[first]\n"
			      "ffffffffc0005000 t other_one\t[second]\n"
			      "FFFFFFFFC0006000 t big_letters\t[second]"), /* and no end of the line */
			 0);
	assert_true(k.ref_text == 0xffffffff81000000 && k.ref_stext == 0xffffffff81000000);
	expect_symbol(&k, 0xffffffff81001000, "local_one", NULL);
	expect_symbol(&k, 0xffffffff810010ff, "local_one", NULL);
	expect_symbol(&k, 0xffffffff81001250, "weak_one", NULL); /* read-only data count for nothing */
	expect_symbol(&k, 0xffffffff81001450, "data_one", NULL);
	expect_symbol(&k, 0xffffffff81002fff, "last_of_kernel", NULL);
	expect_symbol(&k, 0xffffffffc0000050, "mod_one", "[first]");
	expect_symbol(&k, 0xffffffffc0000fff, "mod_two", "[first]");
	expect_symbol(&k, 0xffffffffc0005fff, "other_one", "[second]");
	expect_symbol(&k, 0xffffffffc0006010, "big_letters", "[second]");
	/* the last of the kernel does not go on into modules, nor one module into another */
	assert_int_equal(table_find(&k.table, 0xffffffffa0000000), -1);
	assert_int_equal(table_find(&k.table, 0xffffffffc0004000), -1);
	kallsyms_free(&k);
	left_check();
}

static void test_hidden_and_garbage(void **state)
{
	static const char *const garbage[] = {
		"",
		"\n\n\n",
		"this is no kallsyms\nat all\n",
		"ffffffff81000000\nffffffff81000000 \nffffffff81000000 T\nffffffff81000000 T",
		"ffffffff81000000 TT name\nT ffffffff81000000 name\n",
		"ffffffff81000000  T name\n",
	};
	struct kallsyms k;
	size_t i;

	(void)state;
	left_begin();
	assert_int_equal(load(&k, "0000000000000000 T _text\n0000000000000000 T some\n"), -ENODATA);
	for (i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++) {
		assert_int_equal(load(&k, garbage[i]), -EINVAL);
		assert_null(k.text);
		assert_null(k.table.items);
	}
	assert_int_equal(kallsyms_load(&k, "/nowhere/kallsyms"), -ENOENT);
	assert_int_equal(kallsyms_load(&k, "/tmp"), -EISDIR);
	assert_int_equal(load(&k, "\xff\xfe garbage\nffffffff81000000 T one\n\x01\x02\n1 T \n"), 0);
	expect_symbol(&k, 0xffffffff81000000, "one", NULL);
	kallsyms_free(&k);
	kallsyms_free(&k);
	left_check();
}

/* Addresses are read the same whatever was read before them: with fewer digits, with letters of both kinds, in other parts of
 * the address space; and brackets belong to a module only behind a tab. */
static void test_lines_of_all_kinds(void **state)
{
	static const uint64_t uppers[] = {0, 0xffffffff, 0xffffffff, 0xffff8000, 0xabcdef01, 0x1};
	static const char *const forms[] = {"%llx t ", "%016llx t ", "%016llX t ", "%09llx t ", "%020llx t "};
	static const char *const ends[] = {"one", "two]", "[three]", "four\t[m]"};
	uint64_t address[4000];
	char *text = malloc(sizeof(address) / 8 * 64), *at = text;
	struct kallsyms k;
	uint32_t i, mixed;

	(void)state;
	assert_non_null(text);
	for (i = 0; i < sizeof(address) / 8; i++) {
		mixed = i * 2654435761u; /* another one each time */
		address[i] = uppers[mixed >> 28 & 15 ? mixed >> 24 & 3 : mixed % 6] << 32 | mixed;
		if (!address[i])
			address[i] = 1;
		at += sprintf(at, forms[mixed >> 8 & 15 ? 1 : mixed >> 12 & 3 ? 0 : mixed >> 14 & 3], (unsigned long long)address[i]);
		at += sprintf(at, "%s\n", ends[mixed >> 20 & 3]);
	}
	assert_int_equal(load(&k, text), 0);
	for (i = 0; i < sizeof(address) / 8; i++) {
		uint32_t end = (i * 2654435761u) >> 20 & 3;

		expect_symbol(&k, address[i], end == 3 ? "four" : ends[end], end == 3 ? "[m]" : NULL);
	}
	kallsyms_free(&k);
	free(text);
}

/* More modules than a number of 16 bits can tell apart. */
static void test_many_modules(void **state)
{
	char *text = malloc(70000 * 40), *at = text;
	struct kallsyms k;
	uint64_t i;

	(void)state;
	assert_non_null(text);
	for (i = 1; i <= 70000; i++)
		at += sprintf(at, "%llx t f\t[m%llu]\n", (unsigned long long)(i << 20),
			      (unsigned long long)i);
	assert_int_equal(load(&k, text), 0);
	expect_symbol(&k, UINT64_C(1) << 20, "f", "[m1]");
	expect_symbol(&k, UINT64_C(65534) << 20, "f", "[m65534]");
	assert_true(table_find(&k.table, UINT64_C(70000) << 20) >= 0);
	assert_true(k.module_count < 65536);
	kallsyms_free(&k);
	free(text);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_choice),
	cmocka_unit_test(test_choice_by_size),
	cmocka_unit_test(test_ends),
	cmocka_unit_test(test_nested),
	cmocka_unit_test(test_labels),
	cmocka_unit_test(test_empty),
	cmocka_unit_test(test_sorting),
	cmocka_unit_test(test_without_sizes),
	cmocka_unit_test(test_kallsyms),
	cmocka_unit_test(test_hidden_and_garbage),
	cmocka_unit_test(test_lines_of_all_kinds),
	cmocka_unit_test(test_many_modules),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
