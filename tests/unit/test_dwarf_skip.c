/* SPDX-License-Identifier: MIT */
/* Values that are passed over by steps: of each form, in any order, in units of all sizes, and cut. */
#include "bytes.h"
#include "test.h"

#include "symbols/dwarf_skip.h"

static uint64_t seed = UINT64_C(0x2545f4914f6cdd1d);

static const struct form {
	uint32_t form;
	int bytes; /* of the value below; -1: that many as an address has, -2: as an offset has */
	const char *value;
} forms[] = {
	{0x01, -1, "12345678"}, {0x03, 5, "\3\0abc"},     {0x04, 6, "\2\0\0\0ab"}, {0x05, 2, "ab"},	   {0x06, 4, "abcd"},
	{0x07, 8, "abcdefgh"},	{0x08, 4, "abc"},	  {0x09, 3, "\2ab"},	     {0x0a, 4, "\3abc"},   {0x0b, 1, "a"},
	{0x0c, 1, "\1"},	{0x0d, 3, "\xff\x80\1"}, {0x0e, -2, "abcdefgh"},   {0x0f, 2, "\x80\1"}, {0x10, -2, "abcdefgh"},
	{0x11, 1, "a"},		{0x12, 2, "ab"},	  {0x13, 4, "abcd"},	     {0x14, 8, "abcdefgh"}, {0x15, 1, "\5"},
	{0x17, -2, "abcdefgh"}, {0x18, 1, "\0"},	  {0x19, 0, ""},	     {0x1a, 2, "\x81\0"}, {0x1b, 1, "\7"},
	{0x1c, 4, "abcd"},	{0x1d, -2, "abcdefgh"},	  {0x1e, 16, "abcdefghabcdefgh"}, {0x1f, -2, "abcdefgh"}, {0x20, 8, "abcdefgh"},
	{0x21, 0, ""},		{0x22, 1, "\1"},	  {0x23, 2, "\xff\1"},	     {0x24, 8, "abcdefgh"}, {0x25, 1, "a"},
	{0x26, 2, "ab"},	{0x27, 3, "abc"},	  {0x28, 4, "abcd"},	     {0x29, 1, "a"},	    {0x2a, 2, "ab"},
	{0x2b, 3, "abc"},	{0x2c, 4, "abcd"},	  {0x1f01, 1, "\1"},	     {0x1f02, 1, "\2"},	    {0x1f20, -2, "abcdefgh"},
	{0x1f21, -2, "abcdefgh"},
};
#define FORMS	(sizeof(forms) / sizeof(forms[0]))
#define SPECS	60

/* Values of some forms, one behind the other: their steps lead to the end, and not there when it is earlier. */
static void expect_passed(struct dwarf_sizes sizes, size_t count)
{
	struct dwarf_spec specs[SPECS];
	unsigned char bytes[SPECS * 16];
	uint8_t steps[SPECS];
	struct dwarf_reader r;
	size_t size = 0, i;
	int n;

	for (i = 0; i < count; i++) {
		const struct form *f = &forms[random_below(&seed, FORMS)];
		size_t length = f->bytes == -1 ? sizes.address : f->bytes == -2 ? sizes.offset : (size_t)f->bytes;

		if (f->form == 0x10 && sizes.version < 3)
			length = sizes.address;
		specs[i] = (struct dwarf_spec){3, f->form, 77};
		memcpy(bytes + size, f->value, length);
		size += length;
	}
	n = dwarf_steps(steps, specs, count, sizes);
	assert_true(n >= 0 && (size_t)n <= count);
	r = (struct dwarf_reader){bytes, bytes + size, false, false};
	assert_true(dwarf_step_over(&r, steps, (size_t)n));
	assert_ptr_equal(r.at, bytes + size);
	for (i = 0; i < size; i++) {
		r = (struct dwarf_reader){bytes, bytes + i, false, false};
		assert_false(dwarf_step_over(&r, steps, (size_t)n));
	}
}

static void test_steps(void **state)
{
	static const struct dwarf_sizes sizes[] = {{8, 4, 5}, {8, 8, 5}, {4, 4, 4}, {8, 4, 2}};
	static const uint32_t unknown[] = {0, 2, 0x16, 0x2d, 0x1f00, 0x1f03, 0x1f22, 0xffffffff};
	struct dwarf_spec spec = {3, 0, 0};
	uint8_t step;
	size_t i;

	(void)state;
	for (i = 0; i < 4000; i++)
		expect_passed(sizes[i % 4], random_below(&seed, SPECS + 1));
	for (i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		spec.form = unknown[i];
		assert_int_equal(dwarf_steps(&step, &spec, 1, sizes[0]), -1);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_steps),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
