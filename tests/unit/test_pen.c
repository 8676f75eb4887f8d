/* SPDX-License-Identifier: MIT */
/* The command's own numbers are those of printf(), whatever the number and the width; and text goes to the file as it is. */
#include "test.h"

#include "../../cli/pen.h"

#include <inttypes.h>

static uint64_t seed = 88172645463325252u;

/* Of any length: numbers of few digits are as likely as those of many. */
static uint64_t some_number(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed >> (seed & 63);
}

static void expect(const char *what, const char *got, const char *end, const char *wanted)
{
	if ((size_t)(end - got) != strlen(wanted) || memcmp(got, wanted, strlen(wanted)))
		fail_msg("%s: \"%.*s\", and not \"%s\"", what, (int)(end - got), got, wanted);
}

static void check(uint64_t number)
{
	static const int widths[] = {0, 1, 5, 10, 16, 40};
	char got[160], wanted[160];
	size_t i;

	for (i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		snprintf(wanted, sizeof(wanted), "%*" PRIu64, widths[i], number);
		expect("put_number", got, put_number(got, number, widths[i]), wanted);
		snprintf(wanted, sizeof(wanted), "%*" PRIx64, widths[i], number);
		expect("put_hex", got, put_hex(got, number, widths[i]), wanted);
		if (widths[i] > 16)
			continue;
		snprintf(wanted, sizeof(wanted), "%0*" PRIu64, widths[i] ? widths[i] : 1, number);
		expect("put_zeros", got, put_zeros(got, number, widths[i]), wanted);
	}
	snprintf(wanted, sizeof(wanted), "%16" PRIx64, number);
	expect("put_hex_column", got, put_hex_column(got, number), wanted);
	snprintf(wanted, sizeof(wanted), "%06" PRIu64, number % 1000000);
	expect("put_six_digits", got, put_six_digits(got, (uint32_t)(number % 1000000)), wanted);
	snprintf(wanted, sizeof(wanted), "%016" PRIx64, number);
	expect("put_hex_zeros", got, put_hex_zeros(got, number, 16), wanted);
	snprintf(wanted, sizeof(wanted), "%04" PRIx64, number & 0xffff);
	expect("put_hex_zeros", got, put_hex_zeros(got, number & 0xffff, 4), wanted);
}

static void test_borders(void **state)
{
	uint64_t power;
	int i;

	(void)state;
	check(0);
	check(UINT64_MAX);
	for (power = 1, i = 0; i < 20; i++, power *= 10) {
		check(power - 1);
		check(power);
		check(power + 1);
	}
	for (i = 0; i < 64; i++) {
		check(UINT64_C(1) << i);
		check((UINT64_C(1) << i) - 1);
	}
}

static void test_any(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < 50000; i++)
		check(some_number());
}

/* Pieces of any size come out as they were put in, and the room that was asked for is there. */
static void test_file(void **state)
{
	static char wanted[3 << 20], got[3 << 20];
	static struct pen pen;
	size_t size = 0, i;
	char *at;

	(void)state;
	for (i = 0; i < sizeof(wanted); i++)
		wanted[i] = (char)some_number();
	pen.out = tmpfile();
	assert_non_null(pen.out);
	while (size < sizeof(wanted) - 2 * PEN_BYTES) {
		size_t n = some_number() % (some_number() % 8 ? 300 : PEN_BYTES + 1);

		if (some_number() % 2) {
			pen_bytes(&pen, wanted + size, n);
		} else {
			at = pen_room(&pen, n);
			assert_true(at >= pen.text && at + n <= pen.text + sizeof(pen.text));
			memcpy(at, wanted + size, n);
			pen_end(&pen, at + n);
		}
		size += n;
		if (some_number() % 100 == 0)
			pen_flush(&pen);
	}
	pen_flush(&pen);
	assert_false(pen.failed);
	rewind(pen.out);
	assert_int_equal(fread(got, 1, sizeof(got), pen.out), size);
	assert_memory_equal(got, wanted, size);
	fclose(pen.out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_borders),
		cmocka_unit_test(test_any),
		cmocka_unit_test(test_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
