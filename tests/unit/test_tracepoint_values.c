/* SPDX-License-Identifier: MIT */
/* Values of tracepoints of both byte orders and both words; no read leaves the raw bytes. */
#include "formats.h"

static struct bytes bytes;

/* The raw bytes of such a sample, of the order of bytes.big and of longs of this width. */
static struct perfev_bytes make_values(unsigned width)
{
	struct perfev_bytes raw;

	bytes.size = 0;
	put_u16(&bytes, 77);
	put_u16(&bytes, 0);
	put_u32(&bytes, (uint32_t)-5);
	put_u8(&bytes, 200);
	put_u8(&bytes, (uint8_t)-2);
	put_u16(&bytes, 60000);
	put_u16(&bytes, (uint16_t)-300);
	put_u8(&bytes, 0);
	put_u32(&bytes, 4000000000u);
	put_u8(&bytes, 0);
	put_u32(&bytes, (uint32_t)-70000);
	put_u64(&bytes, UINT64_C(0xfedcba9876543210));
	put_u64(&bytes, (uint64_t)INT64_C(-5000000000));
	put_bytes(&bytes, "abcdefgh", 8); /* no zero ends it */
	put_u32(&bytes, 11u << 16 | 104);
	put_u32(&bytes, 5u << 16 | (115 - 56));
	put_u64(&bytes, UINT64_C(0xffff888012345678));
	put_u16(&bytes, 1);
	put_u16(&bytes, (uint16_t)-1);
	put_u16(&bytes, 3);
	put_u16(&bytes, 0);
	put_u32(&bytes, 16u << 16 | 80);
	put_u32(&bytes, 8u << 16 | 96);
	/* CPUs 0 to 2, 31, and 64 + 1 */
	if (width == 8) {
		put_u64(&bytes, 0x80000007);
		put_u64(&bytes, 2);
	} else {
		put_u32(&bytes, 0x80000007);
		put_u32(&bytes, 0);
		put_u32(&bytes, 2);
		put_u32(&bytes, 0);
	}
	put_u32(&bytes, 9);
	put_u32(&bytes, 10);
	put_bytes(&bytes, "a \"name\"\n\t", 11);
	put_bytes(&bytes, "/a/b", 5);
	put_bytes(&bytes, "\0\0\0\0", 4); /* padding */
	raw.data = guard_put(&guard, bytes.data, bytes.size);
	raw.size = bytes.size;
	return raw;
}

static void assert_number(const char *name, struct perfev_bytes raw, int64_t wanted)
{
	uint64_t same;
	int64_t got;

	assert_true(perfev_field_int(field(name), raw, &got));
	assert_true(perfev_field_uint(field(name), raw, &same));
	assert_true(got == wanted && same == (uint64_t)wanted);
	assert_true(perfev_field_int_at(field(name), raw, 0, &got) && got == wanted);
	assert_false(perfev_field_int_at(field(name), raw, 1, &got));
	assert_int_equal(perfev_field_count(field(name), raw), 1);
}

static void assert_text(const char *name, struct perfev_bytes raw, const char *wanted)
{
	struct perfev_bytes got;

	assert_true(perfev_field_string(field(name), raw, &got));
	assert_int_equal(got.size, strlen(wanted));
	assert_memory_equal(got.data, wanted, got.size);
}

static void check_values(struct perfev_bytes raw)
{
	struct perfev_bytes got;
	uint64_t number;
	int64_t value;
	size_t i;

	assert_number("common_type", raw, 77);
	assert_number("common_pid", raw, -5);
	assert_number("a", raw, 200);
	assert_number("b", raw, -2);
	assert_number("c", raw, 60000);
	assert_number("d", raw, -300);
	assert_number("e", raw, 4000000000);
	assert_number("f", raw, -70000);
	assert_number("g", raw, (int64_t)UINT64_C(0xfedcba9876543210));
	assert_number("h", raw, INT64_C(-5000000000));
	assert_number("at", raw, (int64_t)UINT64_C(0xffff888012345678));
	assert_text("comm", raw, "abcdefgh");
	assert_text("name", raw, "a \"name\"\n\t");
	assert_text("path", raw, "/a/b");
	assert_int_equal(perfev_field_count(field("list"), raw), 3);
	assert_true(perfev_field_int_at(field("list"), raw, 1, &value) && value == -1);
	assert_true(perfev_field_int_at(field("list"), raw, 2, &value) && value == 3);
	assert_false(perfev_field_int_at(field("list"), raw, 3, &value));
	assert_false(perfev_field_int(field("list"), raw, &value));
	assert_int_equal(perfev_field_count(field("more"), raw), 2);
	assert_true(perfev_field_uint_at(field("more"), raw, 1, &number) && number == 10);
	assert_true(perfev_field_uint_at(field("comm"), raw, 1, &number) && number == 'b');
	for (i = 0; i < 200; i++)
		assert_int_equal(perfev_field_bit(field("cpus"), raw, i), i < 3 || i == 31 || i == 65);
	assert_false(perfev_field_bit(field("a"), raw, 0));
	assert_true(perfev_field_bytes(field("box"), raw, &got) && got.size == 2);
	assert_false(perfev_field_uint(field("box"), raw, &number));
	assert_false(perfev_field_uint_at(field("box"), raw, 0, &number));
	assert_false(perfev_field_string(field("a"), raw, &got));
	assert_false(perfev_field_string(field("list"), raw, &got));
}

static void test_values(void **state)
{
	static const char wanted[] =
		"a=200 b=-2 c=60000 d=-300 e=4000000000 f=-70000 g=18364758544493064720 h=-5000000000 "
		"comm=abcdefgh name=\"a \\\"name\\\"\\x0a\\x09\" path=/a/b at=0xffff888012345678 list={1,-1,3} box=0000 "
		"cpus={0-2,31,65} more={9,10}";
	char text[512];
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		unsigned width = i & 2 ? 4 : 8;
		struct perfev_bytes raw;

		bytes.big = i & 1;
		assert_works(parse(values_format(), strlen(values_format()), bytes.big != host_is_big(), width));
		raw = make_values(width);
		check_values(raw);
		memset(text, 'x', sizeof(text));
		assert_int_equal(perfev_tracepoint_format(text, sizeof(text), tp, raw), strlen(wanted));
		assert_string_equal(text, wanted);
	}
}

/* Each size of the buffer gets the beginning that fits, and the length of all. */
static void test_text_is_cut(void **state)
{
	char whole[512], text[512];
	struct perfev_bytes raw;
	size_t size, i;

	(void)state;
	bytes.big = host_is_big();
	assert_works(parse_text(values_format()));
	raw = make_values(8);
	size = perfev_tracepoint_format(whole, sizeof(whole), tp, raw);
	assert_int_equal(perfev_tracepoint_format(NULL, 0, tp, raw), size);
	for (i = 1; i <= size + 1; i++) {
		memset(text, 'x', sizeof(text));
		assert_int_equal(perfev_tracepoint_format(text, i, tp, raw), size);
		assert_int_equal(strlen(text), i - 1);
		assert_memory_equal(text, whole, i - 1);
		assert_int_equal(text[i], 'x');
	}
}

/* Raw bytes that end too early, at every byte: a field is there, whole, or it is not. */
static void test_short_samples(void **state)
{
	struct perfev_bytes whole, raw, got;
	const struct perfev_field *one;
	char text[512];
	int64_t number;
	size_t size, i;

	(void)state;
	bytes.big = host_is_big();
	assert_works(parse_text(values_format()));
	whole = make_values(8);
	for (size = 0; size <= whole.size; size++) {
		raw.data = guard_put(&guard, bytes.data, size);
		raw.size = size;
		for (i = 0; (one = perfev_tracepoint_field_at(tp, i)) != NULL; i++) {
			bool there = perfev_field_bytes(one, raw, &got);

			if (one->place == PERFEV_FIELD_FIXED)
				assert_int_equal(there, one->offset + one->size <= size);
			else if (there)
				assert_true(size >= 80 + 16);
			assert_int_equal(perfev_field_count(one, raw) > 0, there);
			if (!there)
				assert_false(perfev_field_int(one, raw, &number) ||
					     perfev_field_int_at(one, raw, 0, &number) ||
					     perfev_field_string(one, raw, &got) || perfev_field_bit(one, raw, 0));
		}
		perfev_tracepoint_format(text, sizeof(text), tp, raw);
	}
	raw.data = NULL;
	raw.size = 0;
	perfev_tracepoint_format(text, sizeof(text), tp, raw);
	assert_non_null(strstr(text, "a=? b=? "));
}

/* What says where a field is comes from the sample: places outside are not read. */
static void test_places_outside(void **state)
{
	static const uint32_t odd[] = {0,	   1u << 16,	   64,		   0xffff,	 0xffff0000, UINT32_MAX,
				       1u << 16 | 63, 1u << 16 | 64, 65u << 16, 64u << 16, 65u << 16 | 1, 52u << 16 | 12,
				       53u << 16 | 12};
	static const bool fits[][2] = {{true, true},   {true, true},   {true, false},  {false, false}, {false, false},
				       {false, false}, {true, false},  {false, false}, {false, false}, {true, false},
				       {false, false}, {true, false},  {false, false}};
	struct perfev_bytes raw, got;
	size_t i;

	(void)state;
	bytes.big = host_is_big();
	assert_works(parse_text(format_of("\tfield:__data_loc char[] a;\toffset:8;\tsize:4;\tsigned:0;\n"
					  "\tfield:__rel_loc char[] b;\toffset:12;\tsize:4;\tsigned:0;\n",
					  "\"\"")));
	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		memset(bytes.data, 'x', 64);
		bytes.size = 8;
		put_u32(&bytes, odd[i]);
		put_u32(&bytes, odd[i]);
		raw.data = guard_put(&guard, bytes.data, 64);
		raw.size = 64;
		if (perfev_field_string(field("a"), raw, &got) != fits[i][0] ||
		    perfev_field_string(field("b"), raw, &got) != fits[i][1])
			fail_msg("0x%x", odd[i]);
	}
}

/* perf fills words: what has no end of its own has the padding too, but a text ends at its zero. */
static void test_rest_and_padding(void **state)
{
	struct perfev_bytes raw;

	(void)state;
	assert_works(parse_text(format_of("\tfield:char buf[];\toffset:8;\tsize:0;\tsigned:0;\n", "\"\"")));
	raw.data = guard_put(&guard, "12345678text\0\0\0\0", 16);
	raw.size = 16;
	assert_text("buf", raw, "text");
	assert_int_equal(perfev_field_count(field("buf"), raw), 8);
	raw.size = 8;
	assert_text("buf", raw, "");
	assert_int_equal(perfev_field_count(field("buf"), raw), 0);
	raw.size = 7;
	assert_false(perfev_field_bytes(field("buf"), raw, &raw));
}

/* The largest samples that the kernel makes; and more elements than are shown. */
static void test_large_samples(void **state)
{
	static unsigned char data[8192 + 4];
	struct perfev_bytes raw = {data, sizeof(data)};
	uint64_t number;
	size_t size;

	(void)state;
	assert_works(parse_text(format_of("\tfield:__data_loc u64[] a;\toffset:8;\tsize:4;\tsigned:0;\n"
					  "\tfield:__data_loc cpumask_t b;\toffset:8;\tsize:4;\tsigned:0;\n",
					  "\"\"")));
	memset(data, 0xaa, sizeof(data));
	memcpy(data + 8, &(uint32_t){8176u << 16 | 16}, 4);
	assert_int_equal(perfev_field_count(field("a"), raw), 1022);
	assert_true(perfev_field_uint_at(field("a"), raw, 1021, &number) && number == UINT64_C(0xaaaaaaaaaaaaaaaa));
	size = perfev_tracepoint_format(NULL, 0, tp, raw);
	assert_true(size > 256 * 20 && size < 256 * 40);
}

/* Nothing in a text steers a terminal, or looks like another field. */
static void test_strange_texts(void **state)
{
	static const struct {
		const char *raw, *wanted;
	} texts[] = {
		{"plain", "a=plain"},
		{"", "a=\"\""},
		{"two words", "a=\"two words\""},
		{"x=1", "a=\"x=1\""},
		{"back\\slash", "a=\"back\\\\slash\""},
		{"\033[2J", "a=\"\\x1b[2J\""},
		{"\302\2332J", "a=\"\\xc2\\x9b2J\""},
		{"\303\244", "a=\"\303\244\""},
		{"\177", "a=\"\\x7f\""},
	};
	char text[64], raw[32];
	size_t i;

	(void)state;
	assert_works(parse_text(format_of("\tfield:char a[16];\toffset:8;\tsize:16;\tsigned:0;\n", "\"\"")));
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct perfev_bytes view = {raw, 24};

		memset(raw, 0, sizeof(raw));
		strcpy(raw + 8, texts[i].raw);
		perfev_tracepoint_format(text, sizeof(text), tp, view);
		assert_string_equal(text, texts[i].wanted);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_values, setup, teardown),
	cmocka_unit_test_setup_teardown(test_text_is_cut, setup, teardown),
	cmocka_unit_test_setup_teardown(test_short_samples, setup, teardown),
	cmocka_unit_test_setup_teardown(test_places_outside, setup, teardown),
	cmocka_unit_test_setup_teardown(test_rest_and_padding, setup, teardown),
	cmocka_unit_test_setup_teardown(test_large_samples, setup, teardown),
	cmocka_unit_test_setup_teardown(test_strange_texts, setup, teardown),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
