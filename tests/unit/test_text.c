/* SPDX-License-Identifier: MIT */
/* Globs match what they say and nothing else, quickly; numbers are read exactly or not at all. */
#include "test.h"

#include "base/glob.h"
#include "base/number.h"

#include <time.h>

/* ---- globs --------------------------------------------------------------------------------------------- */

static void test_globs(void **state)
{
	static const struct {
		const char *glob, *text;
		bool matches;
	} rows[] = {
		{"", "", true}, {"", "a", false}, {"a", "", false}, {"abc", "abc", true}, {"abc", "abd", false},
		{"abc", "ab", false}, {"abc", "abcd", false}, {"ABC", "abc", false},
		{"*", "", true}, {"*", "anything", true}, {"**", "x", true}, {"a*", "a", true}, {"a*", "ab", true},
		{"*a", "ba", true}, {"*a", "ab", false}, {"a*b*c", "a1b2c", true}, {"a*b*c", "a1c2b", false},
		{"*ab", "aab", true}, {"*aab*", "aaab", true}, {"a*a*a", "aa", false},
		{"?", "", false}, {"?", "a", true}, {"?", "ab", false}, {"a?c", "abc", true}, {"a?c", "ac", false},
		{"?*", "", false}, {"*?", "x", true},
		{"[ab]", "a", true}, {"[ab]", "c", false}, {"[ab]", "", false}, {"[a-c]x", "bx", true},
		{"[a-c]x", "dx", false}, {"[!a-c]", "d", true}, {"[!a-c]", "a", false}, {"[^a]", "b", true},
		{"[]]", "]", true}, {"[]a]", "a", true}, {"[!]]", "a", true}, {"[!]]", "]", false},
		{"[a-]", "-", true}, {"[a-]", "b", false}, {"[-a]", "-", true}, {"[0-9][0-9]", "42", true},
		{"[z-a]", "m", false}, {"x[*]", "x*", true}, {"x[*]", "xy", false}, {"[?]", "?", true},
		{"[", "[", true}, {"[", "a", false}, {"a[", "a[", true}, {"[ab", "[ab", true}, {"[ab", "a", false},
		{"[]", "[]", true}, {"*[", "ab[", true}, {"uncore_cha_[0-2]", "uncore_cha_1", true},
		{"uncore_cha_[0-2]", "uncore_cha_10", false}, {"*_[0-9]", "imc_5", true}, {"\\*", "*", false},
		{"\xc3*", "\xc3\xa4", true}, {"[\xc3]x", "\xc3x", true},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (glob_match(rows[i].glob, rows[i].text) != rows[i].matches)
			fail_msg("'%s' and '%s'", rows[i].glob, rows[i].text);
	assert_true(glob_is("a*") && glob_is("?") && glob_is("x[1]") && glob_is("["));
	assert_false(glob_is("") || glob_is("a.b-c]!"));
}

/* A glob of many stars against what almost matches: the work stays near the product of both lengths. */
static void test_globs_are_quick(void **state)
{
	char glob[2001], text[4001];
	clock_t start = clock();
	size_t i;

	(void)state;
	for (i = 0; i < 2000; i += 2)
		memcpy(glob + i, "*a", 2);
	glob[2000] = 0;
	memset(text, 'a', 4000);
	text[3999] = 'b';
	text[4000] = 0;
	assert_false(glob_match(glob, text));
	assert_true((clock() - start) / CLOCKS_PER_SEC < 10); /* not for ever */
}

/* ---- numbers ------------------------------------------------------------------------------------------- */

static void test_whole_numbers(void **state)
{
	static const struct {
		const char *text;
		bool parses, hex;	  /* as C writes it; in hexadecimal */
		uint64_t value, hex_value;
	} rows[] = {
		{"0", true, true, 0, 0}, {"10", true, true, 10, 16}, {"0x10", true, true, 16, 16},
		{"0X1f", true, true, 31, 31}, {"1f", false, true, 0, 31}, {"ABCdef", false, true, 0, 0xabcdef},
		{"010", true, true, 10, 16}, {"18446744073709551615", true, false, UINT64_MAX, 0},
		{"18446744073709551616", false, false, 0, 0}, {"99999999999999999999", false, false, 0, 0},
		{"0xffffffffffffffff", true, true, UINT64_MAX, UINT64_MAX},
		{"0x1ffffffffffffffff", false, false, 0, 0}, {"0x00000000000000001", false, false, 0, 0},
		{"", false, false, 0, 0}, {"0x", false, false, 0, 0}, {"x", false, false, 0, 0}, {"-1", false, false, 0, 0},
		{"+1", false, false, 0, 0}, {" 1", false, false, 0, 0}, {"1 ", false, false, 0, 0}, {"1,", false, false, 0, 0},
		{"1.0", false, false, 0, 0}, {"0x0x1", false, false, 0, 0}, {"1\n", false, false, 0, 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t value = 77, hex = 77;
		size_t size = strlen(rows[i].text);

		if (number_parse(rows[i].text, size, &value) != rows[i].parses ||
		    value != (rows[i].parses ? rows[i].value : 77))
			fail_msg("'%s' as a number: %llu", rows[i].text, (unsigned long long)value);
		if (number_hex(rows[i].text, size, &hex) != rows[i].hex || hex != (rows[i].hex ? rows[i].hex_value : 77))
			fail_msg("'%s' in hexadecimal: %llx", rows[i].text, (unsigned long long)hex);
	}
}

static bool same_double(double a, double b)
{
	return !memcmp(&a, &b, sizeof(a));
}

static void test_fractions(void **state)
{
	static const struct {
		const char *text;
		double value;
	} rows[] = {
		{"0", 0.0}, {"1", 1.0}, {"-1", -1.0}, {"+1.5", 1.5}, {"2.5E-1", 0.25}, {".5", 0.5}, {"5.", 5.0},
		{"-0", -0.0}, {"6.103515625e-5", 6.103515625e-5}, {"2.3283064365386962890625e-10", 0x1p-32},
		{"0.1", 0.1}, {"1e22", 1e22}, {"1e23", 1e23}, {"3.14159265358979323846", 3.14159265358979323846},
		{"1e+2", 100.0}, {"1E2", 100.0}, {"123456789012345678901234567890", 123456789012345678901234567890.0},
		{"4.9e-324", 4.9e-324}, {"1.7976931348623157e308", 1.7976931348623157e308}, {"65536", 65536.0},
		{"0.000000000000000000000001e24", 1.0}, {"9007199254740993", 9007199254740992.0},
	};
	static const char *const wrong[] = {"", "-", "+", ".", "e", "e5", "1e", "1e+", "1e-", "1ex", "1.2.3", "1,5", "--1",
					    "0x10", "inf", "nan", "1 ", " 1", "1e500", "1e99999999999999999999", "1f", "-."};
	char longest[402];
	double value;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!number_real(rows[i].text, strlen(rows[i].text), &value) || !same_double(value, rows[i].value))
			fail_msg("'%s': %.17g", rows[i].text, value);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (number_real(wrong[i], strlen(wrong[i]), &value))
			fail_msg("'%s' is taken for %.17g", wrong[i], value);
	memset(longest, '1', 401);
	assert_false(number_real(longest, 401, &value));
	/* no more than its size is read */
	assert_true(number_real("1.59", 3, &value) && same_double(value, 1.5));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_globs),	     cmocka_unit_test(test_globs_are_quick),
	cmocka_unit_test(test_whole_numbers), cmocka_unit_test(test_fractions),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
