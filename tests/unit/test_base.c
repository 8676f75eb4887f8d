/* SPDX-License-Identifier: MIT */
/* Base: error texts stay one printable line whatever goes into them; the nearest name is near; option
 * structs of other sizes are taken or refused by their rule; containers keep their bounds. */
#include "test.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/digits.h"
#include "base/error.h"
#include "base/map.h"
#include "base/opts.h"

#include <ctype.h>
#include <errno.h>

static struct perfev_error err;

/* ---- errors ---------------------------------------------------------------------------------------- */

static void test_error_fields(void **state)
{
	struct perfev_error before;

	(void)state;
	memset(&err, 0xff, sizeof(err));
	assert_int_equal(error_set(&err, -EACCES, PERFEV_WHY_PARANOID, 7, "cannot open %s", "x"),
			 -EACCES);
	assert_int_equal(err.code, -EACCES);
	assert_int_equal(err.why, PERFEV_WHY_PARANOID);
	assert_int_equal(err.where, 7);
	assert_string_equal(err.text, "cannot open x");
	assert_int_equal(err.reserved[0] | err.reserved[1] | err.reserved[2] | err.reserved[3], 0);
	before = err;
	assert_int_equal(error_set(NULL, -EIO, PERFEV_WHY_DISK, 0, "%s", "lost"), -EIO);
	assert_int_equal(error_errno(NULL, -EIO, "%s", "lost"), -EIO);
	assert_int_equal(error_memory(NULL), -ENOMEM);
	error_append(NULL, "%s", "lost");
	assert_memory_equal(&before, &err, sizeof(err));
}

static void test_error_errno(void **state)
{
	char text[128];

	(void)state;
	assert_int_equal(error_errno(&err, -ENOENT, "cannot read %s", "it"), -ENOENT);
	assert_int_equal(err.code, -ENOENT);
	assert_int_equal(err.why, PERFEV_WHY_OTHER);
	assert_true(err.where == UINT64_MAX);
	assert_string_equal(err.text, "cannot read it: No such file or directory; look at the name again");
	assert_int_equal(error_errno(&err, -EIO, "cannot read %s", "it"), -EIO);
	snprintf(text, sizeof(text), "cannot read it: %s; the log of the kernel (dmesg) may say more", strerror(EIO));
	assert_string_equal(err.text, text); /* each C library has its own words */
	assert_int_equal(error_memory(&err), -ENOMEM);
	assert_int_equal(err.why, PERFEV_WHY_MEMORY);
	assert_true(err.where == UINT64_MAX);
}

/* Every byte that can move a cursor, in a name from outside. */
static void test_error_texts_are_printable(void **state)
{
	char name[64];
	int c;

	(void)state;
	for (c = 1; c < 256; c++) {
		snprintf(name, sizeof(name), "a%cb", c);
		error_set(&err, -EINVAL, PERFEV_WHY_SYNTAX, 1, "cannot parse '%s'", name);
		assert_int_equal(strlen(err.text), strlen("cannot parse 'a.b'"));
		if (c < 0x20 || c == 0x7f)
			assert_string_equal(err.text, "cannot parse 'a?b'");
		else
			assert_int_equal((unsigned char)err.text[15], c);
	}
	/* the same controls once more, as UTF-8 has them: U+0080 to U+009F, with CSI among them */
	for (c = 0x80; c < 0xa0; c++) {
		snprintf(name, sizeof(name), "\xc2%c31m", c);
		error_set(&err, -EINVAL, PERFEV_WHY_SYNTAX, 1, "'%s'", name);
		assert_string_equal(err.text, "'??31m'");
	}
	error_set(&err, -EINVAL, PERFEV_WHY_SYNTAX, 1, "%s", "gr\xc3\xbc\xc3\x9f \xc2\xa7");
	assert_string_equal(err.text, "gr\xc3\xbc\xc3\x9f \xc2\xa7");
	error_append(&err, "%s", "\n\x1b[2J");
	assert_string_equal(err.text, "gr\xc3\xbc\xc3\x9f \xc2\xa7??[2J");
}

static void test_error_texts_end(void **state)
{
	char name[2000];
	size_t i;

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	error_set(&err, -EINVAL, PERFEV_WHY_SYNTAX, 1, "%s", name);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	error_append(&err, "%s", "more");
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	error_errno(&err, -EIO, "%s", name);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	for (i = sizeof(err.text) - 8; i < sizeof(err.text) + 8; i++) {
		error_set(&err, -EINVAL, PERFEV_WHY_SYNTAX, 1, "%.*s", (int)i, name);
		error_append(&err, "%s", "yz");
		assert_in_range(strlen(err.text), sizeof(err.text) - 7, sizeof(err.text) - 1);
	}
	assert_int_equal(sizeof(err), 512);
}

static void test_why_names(void **state)
{
	int i, k;

	(void)state;
	for (i = 0; i < PERFEV_WHY_COUNT_; i++) {
		assert_non_null(perfev_why_name((enum perfev_why)i));
		for (k = 0; k < i; k++)
			assert_string_not_equal(perfev_why_name((enum perfev_why)i),
						perfev_why_name((enum perfev_why)k));
	}
	assert_string_equal(perfev_why_name((enum perfev_why)PERFEV_WHY_COUNT_), "other");
	assert_string_equal(perfev_why_name((enum perfev_why)-1), "other");
	assert_string_equal(perfev_why_name(PERFEV_WHY_NO_PMU), "no-pmu");
	assert_string_equal(perfev_version(), "0.1.0");
}

/* ---- nearest ------------------------------------------------------------------------------------------ */

static void test_nearest(void **state)
{
	static const char *const names[] = {"cycles", NULL, "instructions", "", "page-faults",
					    "L1-dcache-load-misses", "cs"};
	static const struct {
		const char *word, *wanted;
	} rows[] = {
		{"cycles", "cycles"},	   {"cylces", "cycles"},     {"cycle", "cycles"},
		{"CYCLES", "cycles"},	   {"ccles", "cycles"},      {"cyclexs", "cycles"},
		{"instrctions", "instructions"}, {"instr", "instructions"}, {"page-fault", "page-faults"},
		{"pgae-fautls", "page-faults"},	 {"cs", "cs"},		     {"CS", "cs"},
		{"l1-dcache-load-mises", "L1-dcache-load-misses"},
		{"zzzzzz", NULL},	   {"c", NULL},		     {"", NULL},
		{"cx", NULL},		   {"dcache", NULL},
	};
	const size_t count = sizeof(names) / sizeof(names[0]);
	char word[80];
	const char *found;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		found = perfev_nearest(rows[i].word, names, count);
		if (!rows[i].wanted && found)
			fail_msg("%s: %s", rows[i].word, found);
		if (rows[i].wanted && (!found || strcmp(found, rows[i].wanted)))
			fail_msg("%s: %s", rows[i].word, found ? found : "nothing");
	}
	assert_null(perfev_nearest("cycles", names, 0));
	for (i = 60; i < sizeof(word) - 1; i++) { /* around the longest that is compared */
		const char *one = word;

		memset(word, 'q', i);
		word[i] = 0;
		assert_true(perfev_nearest(word, &one, 1) == (i <= 64 ? word : NULL));
	}
}

/* ---- options -------------------------------------------------------------------------------------------- */

struct known {
	size_t size;
	uint64_t a, b;
};

struct newer {
	struct known known;
	uint64_t c;
	char d[8];
};

static void test_opts(void **state)
{
	struct known full;
	struct newer newer;

	(void)state;
	memset(&full, 0xff, sizeof(full));
	assert_works(opts_copy(&full, sizeof(full), NULL, &err));
	assert_int_equal(full.size, sizeof(full));
	assert_int_equal(full.a | full.b, 0);

	memset(&newer, 0, sizeof(newer));
	newer.known.size = sizeof(newer);
	newer.known.a = 1;
	newer.known.b = 2;
	assert_works(opts_copy(&full, sizeof(full), &newer, &err));
	assert_int_equal(full.size, sizeof(full));
	assert_int_equal(full.a, 1);
	assert_int_equal(full.b, 2);

	newer.d[7] = 1;
	assert_fails(opts_copy(&full, sizeof(full), &newer, &err), E2BIG);
	assert_int_equal(err.why, PERFEV_WHY_OPTIONS);
	assert_int_equal(err.where, sizeof(newer) - 1);
	newer.d[7] = 0;
	newer.c = 1;
	assert_fails(opts_copy(&full, sizeof(full), &newer, NULL), E2BIG);
}

/* A caller of an older header has a shorter struct: what lies behind it is not read. */
static void test_shorter_opts(void **state)
{
	struct known full;
	size_t *size = malloc(offsetof(struct known, b));
	uint64_t a = 5;

	(void)state;
	assert_non_null(size);
	*size = offsetof(struct known, b);
	memcpy((unsigned char *)size + offsetof(struct known, a), &a, 8);
	memset(&full, 0xff, sizeof(full));
	assert_works(opts_copy(&full, sizeof(full), size, &err));
	assert_int_equal(full.size, sizeof(full));
	assert_int_equal(full.a, 5);
	assert_int_equal(full.b, 0);
	*size = sizeof(size_t);
	assert_works(opts_copy(&full, sizeof(full), size, &err));
	assert_int_equal(full.a, 0);
	for (*size = 0; *size < sizeof(size_t); ++*size) {
		assert_fails(opts_copy(&full, sizeof(full), size, &err), EINVAL);
		assert_int_equal(err.why, PERFEV_WHY_ARGUMENT);
		assert_says("sizeof");
	}
	free(size);
}

/* ---- containers ------------------------------------------------------------------------------------------- */

static void test_buffer(void **state)
{
	struct buffer buffer = {NULL, 0, 0, 1000};
	unsigned char *at;

	(void)state;
	assert_int_equal(buffer_append(&buffer, NULL, 0), 0);
	assert_int_equal(buffer_append(&buffer, "abc", 3), 0);
	at = buffer_extend(&buffer, 5);
	assert_non_null(at);
	assert_memory_equal(buffer.data, "abc\0\0\0\0\0", 8);
	assert_ptr_equal(at, buffer.data + 3);
	assert_int_equal(buffer_reserve(&buffer, 992), 0);
	assert_int_equal(buffer.size, 8);
	assert_true(buffer.room >= 1000);
	assert_fails(buffer_reserve(&buffer, 993), EFBIG);
	assert_null(buffer_extend(&buffer, 993));
	assert_fails(buffer_append(&buffer, "x", SIZE_MAX), ENOMEM);
	assert_fails(buffer_reserve(&buffer, SIZE_MAX / 2), ENOMEM);
	assert_int_equal(buffer.size, 8);
	buffer_free(&buffer);
	assert_null(buffer.data);
	assert_int_equal(buffer.size | buffer.room, 0);
	buffer_free(&buffer);
}

static void test_array(void **state)
{
	size_t room = 0, i;
	uint64_t *array = NULL;

	(void)state;
	for (i = 0; i < 1000; i++) {
		uint64_t *more = array_grow(array, &room, i, sizeof(*array));

		assert_non_null(more);
		assert_true(room > i);
		array = more;
		array[i] = i;
	}
	for (i = 0; i < 1000; i++)
		assert_int_equal(array[i], i);
	room = SIZE_MAX / 4;
	assert_null(array_grow(array, &room, room, sizeof(*array)));
	assert_int_equal(room, SIZE_MAX / 4);
	free(array);
}

static void test_arena(void **state)
{
	struct arena arena = {NULL};
	unsigned char *taken[400];
	size_t i, k;

	(void)state;
	assert_null(arena_take(&arena, SIZE_MAX));
	assert_null(arena_take(&arena, SIZE_MAX - 8));
	for (i = 0; i < 400; i++) {
		size_t size = i * i; /* some above the size of a block */

		taken[i] = arena_take(&arena, size);
		assert_non_null(taken[i]);
		assert_int_equal((uintptr_t)taken[i] % 8, 0);
		memset(taken[i], (int)(i & 255), size);
	}
	for (i = 0; i < 400; i++)
		for (k = 0; k < i * i; k++)
			assert_true(taken[i][k] == (i & 255));
	assert_string_equal(arena_text(&arena, "abcdef", 3), "abc");
	assert_string_equal(arena_text(&arena, "", 0), "");
	arena_free(&arena);
	assert_null(arena.blocks);
}

static void test_intern(void **state)
{
	struct interner interner;
	const char *first[2000];
	char text[32];
	size_t i;

	(void)state;
	memset(&interner, 0, sizeof(interner));
	for (i = 0; i < 2000; i++) {
		snprintf(text, sizeof(text), "name %zu", i);
		first[i] = intern(&interner, text);
		assert_string_equal(first[i], text);
		assert_ptr_not_equal(first[i], text);
	}
	for (i = 0; i < 2000; i++) {
		snprintf(text, sizeof(text), "name %zu", i);
		assert_ptr_equal(intern(&interner, text), first[i]);
	}
	assert_int_equal(interner.count, 2000);
	assert_string_equal(intern(&interner, ""), "");
	interner_free(&interner);
	interner_free(&interner);
}

static void test_map(void **state)
{
	struct map map = {NULL, 0, 0};
	uint64_t i, *value;

	(void)state;
	assert_null(map_find(&map, 0));
	for (i = 0; i < 5000; i++) {
		value = map_put(&map, i << 40 | i, i);
		assert_non_null(value);
		assert_true(*value == i);
	}
	for (i = 0; i < 5000; i++) {
		value = map_put(&map, i << 40 | i, 1); /* it is there: its value stays */
		assert_true(*value == i);
		*value += 7;
		assert_true(*map_find(&map, i << 40 | i) == i + 7);
		assert_null(map_find(&map, i << 40 | (i + 1)));
	}
	assert_int_equal(map.count, 5000);
	assert_true(*map_put(&map, UINT64_MAX, 3) == 3);
	map_free(&map);
	assert_null(map_find(&map, 0));
	map_free(&map);
}

/* ---- lists of CPUs ---------------------------------------------------------------------------------------------- */

static void expect_cpus(const char *text, const int32_t *wanted, size_t wanted_count)
{
	int32_t *cpus = NULL;
	size_t count = 77, i;
	int r = perfev_cpus_parse(&cpus, &count, text, &err);

	if (r < 0)
		fail_msg("'%s': %s", text, err.text);
	if (count != wanted_count)
		fail_msg("'%s': %zu CPUs", text, count);
	for (i = 0; i < count; i++)
		assert_int_equal(cpus[i], wanted[i]);
	free(cpus);
}

static void expect_bad_cpus(const char *text, uint64_t column)
{
	int32_t *cpus = NULL;
	size_t count;

	assert_fails(perfev_cpus_parse(&cpus, &count, text, &err), EINVAL);
	assert_null(cpus);
	assert_int_equal(err.why, PERFEV_WHY_SYNTAX);
	if (err.where != column)
		fail_msg("'%s': column %llu: %s", text, (unsigned long long)err.where, err.text);
}

static void test_cpus(void **state)
{
	static const int32_t numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15};
	static const int32_t gap[] = {0, 1, 2, 3, 8}, one[] = {1048575}, odd[] = {0, 2};

	(void)state;
	expect_cpus("0", numbers, 1);
	expect_cpus("0\n", numbers, 1);
	expect_cpus("000", numbers, 1);
	expect_cpus("0-0", numbers, 1);
	expect_cpus("0-3,8", gap, 5);
	expect_cpus("0-11,13-15", numbers, 15);
	expect_cpus("", NULL, 0);
	expect_cpus("\n", NULL, 0);
	expect_cpus("1048575", one, 1);
	expect_cpus("0,2", odd, 2);
	/* one that is named twice is opened once, or everything on it would count double */
	expect_cpus("8,0-3", gap, 5);
	expect_cpus("0-2,1-3,8,8", gap, 5);
	expect_cpus("2,0,2,0", odd, 2);
	assert_fails(perfev_cpus_parse(&(int32_t *){NULL}, &(size_t){0}, "5-3", &err), EINVAL);
	assert_says("the range ends before it begins at column 3");
	assert_fails(perfev_cpus_parse(&(int32_t *){NULL}, &(size_t){0}, "99999999999", &err), EINVAL);
	assert_says("the number is too large at column 1");
}

static void test_bad_cpus(void **state)
{
	char *many = malloc(20000), *at = many;
	int i;

	(void)state;
	assert_non_null(many);
	expect_bad_cpus("0-\n", 3);
	expect_bad_cpus("x", 1);
	expect_bad_cpus("-1", 1);
	expect_bad_cpus("0-3,", 5);
	expect_bad_cpus("0,,1", 3);
	expect_bad_cpus("3-1", 3);
	expect_bad_cpus("0-3-5", 4);
	expect_bad_cpus("0 1", 2);
	expect_bad_cpus("0x10", 2);
	expect_bad_cpus("+1", 1);
	expect_bad_cpus("1048576", 1);
	expect_bad_cpus("0-4294967296", 3);
	expect_bad_cpus("0,99999999999999999999999", 3);
	/* a text of a few KB is not worth gigabytes */
	for (i = 0; i < 1000; i++)
		at += sprintf(at, "%s0-1048575", i ? "," : "");
	expect_bad_cpus(many, 13);
	assert_says("too many");
	free(many);
}

/* ---- digits ---------------------------------------------------------------------------------------- */

/* Each byte at each place of a number: what is a digit, and where the number ends, as one digit at a time says. */
static void test_hexadecimal(void **state)
{
	static const char number[] = "fF09aA1e7b3C5d86420:";
	char text[sizeof(number)], *end;
	uint64_t value, expected;
	size_t at;
	int byte;

	(void)state;
	for (at = 0; at < sizeof(number); at++)
		for (byte = 0; byte < 256; byte++) {
			const char *p = text;

			memcpy(text, number, sizeof(number));
			text[at] = (char)byte;
			text[sizeof(number) - 1] = 0;
			for (expected = 0; isxdigit((unsigned char)*p); p++)
				expected = expected << 4 | (uint64_t)(*p <= '9' ? *p - '0' : (*p | 32) - 'a' + 10);
			end = digits_read_hex(text, text + sizeof(number), &value);
			assert_ptr_equal(end, p);
			assert_int_equal(value, expected);
			assert_ptr_equal(digits_read_hex(text, text, &value), p); /* nothing may be read at once */
			assert_int_equal(value, expected);
		}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_error_fields),
	cmocka_unit_test(test_error_errno),
	cmocka_unit_test(test_error_texts_are_printable),
	cmocka_unit_test(test_error_texts_end),
	cmocka_unit_test(test_why_names),
	cmocka_unit_test(test_nearest),
	cmocka_unit_test(test_opts),
	cmocka_unit_test(test_shorter_opts),
	cmocka_unit_test(test_buffer),
	cmocka_unit_test(test_array),
	cmocka_unit_test(test_arena),
	cmocka_unit_test(test_intern),
	cmocka_unit_test(test_map),
	cmocka_unit_test(test_cpus),
	cmocka_unit_test(test_bad_cpus),
	cmocka_unit_test(test_hexadecimal),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
