/* SPDX-License-Identifier: MIT */
/* Formats of tracepoints: each kind of declaration gives the field that C would; texts that are cut, odd or hostile are
 * refused with their place. */
#include "formats.h"

/* ---- declarations --------------------------------------------------------------------------------------- */

struct row {
	const char *declaration;
	uint32_t size;
	const char *name, *type;
	uint32_t element_size, count;
	uint8_t kind, place;
	bool is_array, is_long;
};

#define INTEGER PERFEV_FIELD_INTEGER
#define POINTER PERFEV_FIELD_POINTER
#define STRING	PERFEV_FIELD_STRING
#define BITMASK PERFEV_FIELD_BITMASK
#define OTHER	PERFEV_FIELD_OTHER
#define FIXED	PERFEV_FIELD_FIXED
#define DATA	PERFEV_FIELD_DATA_LOC
#define REL	PERFEV_FIELD_REL_LOC
#define REST	PERFEV_FIELD_REST

static const struct row rows[] = {
	{"int a", 4, "a", "int", 4, 1, INTEGER, FIXED, false, false},
	{"unsigned a", 4, "a", "unsigned", 4, 1, INTEGER, FIXED, false, false},
	{"bool a", 1, "a", "bool", 1, 1, INTEGER, FIXED, false, false},
	{"char a", 1, "a", "char", 1, 1, INTEGER, FIXED, false, false},
	{"enum zone_type a", 4, "a", "enum zone_type", 4, 1, INTEGER, FIXED, false, false},
	{"unsigned long a", 8, "a", "unsigned long", 8, 1, INTEGER, FIXED, false, true},
	{"long unsigned int a", 8, "a", "long unsigned int", 8, 1, INTEGER, FIXED, false, true},
	{"long long a", 8, "a", "long long", 8, 1, INTEGER, FIXED, false, false},
	{"size_t a", 8, "a", "size_t", 8, 1, INTEGER, FIXED, false, true},
	{"unknown_t a", 2, "a", "unknown_t", 2, 1, INTEGER, FIXED, false, false},
	{"unknown_t a", 24, "a", "unknown_t", 24, 1, OTHER, FIXED, false, false},
	{"struct in_addr a", 4, "a", "struct in_addr", 4, 1, OTHER, FIXED, false, false},
	{"union u a", 8, "a", "union u", 8, 1, OTHER, FIXED, false, false},
	/* pointers, of any spelling */
	{"void * a", 8, "a", "void *", 8, 1, POINTER, FIXED, false, false},
	{"char *a", 8, "a", "char *", 8, 1, POINTER, FIXED, false, false},
	{"char*a", 8, "a", "char*", 8, 1, POINTER, FIXED, false, false},
	{"const char *const * a", 8, "a", "const char *const *", 8, 1, POINTER, FIXED, false, false},
	{"struct page * a", 4, "a", "struct page *", 4, 1, POINTER, FIXED, false, false},
	{"unsigned long * a", 8, "a", "unsigned long *", 8, 1, POINTER, FIXED, false, false},
	{"__attribute__((user)) char * a", 8, "a", "__attribute__((user)) char *", 8, 1, POINTER, FIXED, false,
	 false},
	/* arrays */
	{"char a[16]", 16, "a", "char[16]", 1, 16, STRING, FIXED, true, false},
	{"const char a[16]", 16, "a", "const char[16]", 1, 16, STRING, FIXED, true, false},
	{"char a [16]", 16, "a", "char [16]", 1, 16, STRING, FIXED, true, false},
	{"char a[TASK_COMM_LEN]", 16, "a", "char[TASK_COMM_LEN]", 1, 16, STRING, FIXED, true, false},
	{"unsigned char a[6]", 6, "a", "unsigned char[6]", 1, 6, INTEGER, FIXED, true, false},
	{"signed char a[6]", 6, "a", "signed char[6]", 1, 6, INTEGER, FIXED, true, false},
	{"u8 a[6]", 6, "a", "u8[6]", 1, 6, INTEGER, FIXED, true, false},
	{"unsigned int a[10]", 40, "a", "unsigned int[10]", 4, 10, INTEGER, FIXED, true, false},
	{"long a[3]", 24, "a", "long[3]", 8, 3, INTEGER, FIXED, true, true},
	{"u16 a[2][3]", 12, "a", "u16[2][3]", 2, 6, INTEGER, FIXED, true, false},
	{"u32 a[N_MAX]", 24, "a", "u32[N_MAX]", 4, 6, INTEGER, FIXED, true, false},
	{"foo_t a[N_MAX]", 24, "a", "foo_t[N_MAX]", 1, 24, INTEGER, FIXED, true, false},
	{"u32 a[7]", 24, "a", "u32[7]", 4, 6, INTEGER, FIXED, true, false}, /* its size is what counts */
	{"struct s a[2]", 24, "a", "struct s[2]", 12, 2, OTHER, FIXED, true, false},
	{"void * a[2]", 16, "a", "void *[2]", 8, 2, POINTER, FIXED, true, false},
	{"char a[]", 0, "a", "char[]", 1, 0, STRING, REST, true, false},
	{"unsigned long a[]", 0, "a", "unsigned long[]", 8, 0, INTEGER, REST, true, true},
	/* somewhere else */
	{"__data_loc char[] a", 4, "a", "__data_loc char[]", 1, 0, STRING, DATA, true, false},
	{"__rel_loc char[] a", 4, "a", "__rel_loc char[]", 1, 0, STRING, REL, true, false},
	{"__data_loc u64[] a", 4, "a", "__data_loc u64[]", 8, 0, INTEGER, DATA, true, false},
	{"__data_loc unsigned int[] a", 4, "a", "__data_loc unsigned int[]", 4, 0, INTEGER, DATA, true, false},
	{"__data_loc unsigned long[] a", 4, "a", "__data_loc unsigned long[]", 8, 0, INTEGER, DATA, true, true},
	{"__data_loc u8[] a", 4, "a", "__data_loc u8[]", 1, 0, INTEGER, DATA, true, false},
	{"__data_loc struct s[] a", 4, "a", "__data_loc struct s[]", 0, 0, OTHER, DATA, true, false},
	{"__data_loc foo_t[] a", 4, "a", "__data_loc foo_t[]", 0, 0, OTHER, DATA, true, false},
	{"__data_loc cpumask_t a", 4, "a", "__data_loc cpumask_t", 8, 0, BITMASK, DATA, true, false},
	{"cpumask_t a", 16, "a", "cpumask_t", 8, 2, BITMASK, FIXED, true, false},
	{"cpumask_t a[2]", 32, "a", "cpumask_t[2]", 8, 4, BITMASK, FIXED, true, false},
	{"cpumask_t a", 6, "a", "cpumask_t", 1, 6, BITMASK, FIXED, true, false},
	{"cpumask_t * a", 8, "a", "cpumask_t *", 8, 1, POINTER, FIXED, false, false},
	{"__rel_loc cpumask_t a", 4, "a", "__rel_loc cpumask_t", 8, 0, BITMASK, REL, true, false},
};

static void test_declarations(void **state)
{
	char line[256];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		const struct perfev_field *got;

		snprintf(line, sizeof(line), "\tfield:%s;\toffset:16;\tsize:%u;\tsigned:1;\n", row->declaration,
			 row->size);
		if (parse(format_of(line, "\"\""), strlen(format_of(line, "\"\"")), true, 8) < 0)
			fail_msg("%s: %s", row->declaration, err.text);
		got = field(row->name);
		assert_string_equal(got->type, row->type);
		if (got->element_size != row->element_size || got->count != row->count || got->kind != row->kind ||
		    got->place != row->place || got->is_array != row->is_array || got->is_long != row->is_long)
			fail_msg("%s: element %u, count %u, kind %u, place %u, array %d, long %d", row->declaration,
				 got->element_size, got->count, got->kind, got->place, got->is_array, got->is_long);
		assert_int_equal(got->offset, 16);
		assert_int_equal(got->size, row->size);
		assert_true(got->is_signed && got->swapped);
	}
}

static void test_what_it_has(void **state)
{
	struct perfev_tracepoint_info info;

	(void)state;
	assert_works(parse_text(format_of("\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n"
					  "\tfield:int common_a;\toffset:12;\tsize:4;\tsigned:1;\n",
					  "\"a=%d\nb\", REC->a\n")));
	perfev_tracepoint_describe(tp, &info);
	assert_string_equal(info.system, "sys");
	assert_string_equal(info.name, "it");
	assert_int_equal(info.id, 77);
	assert_int_equal(info.field_count, 6);
	assert_int_equal(info.common_count, 4); /* what follows the empty line is its own, whatever its name */
	assert_string_equal(info.print_format, "\"a=%d\nb\", REC->a");
	assert_ptr_equal(perfev_tracepoint_field_at(tp, 4), field("a"));
	assert_null(perfev_tracepoint_field_at(tp, 6));
	assert_null(perfev_tracepoint_field(tp, "b"));
	assert_null(perfev_tracepoint_field(tp, ""));
}

/* Elements of masks look like any longs; what prints them tells. */
static void test_masks(void **state)
{
	const char *fields = "\tfield:__data_loc unsigned long[] a;\toffset:8;\tsize:4;\tsigned:0;\n"
			     "\tfield:__rel_loc unsigned long[] b;\toffset:12;\tsize:4;\tsigned:0;\n"
			     "\tfield:__data_loc unsigned long[] ab;\toffset:16;\tsize:4;\tsigned:0;\n"
			     "\tfield:__data_loc u64[] c;\toffset:20;\tsize:4;\tsigned:0;\n";

	(void)state;
	assert_works(parse_text(format_of(fields, "\"%s\", __get_bitmask(a), __get_rel_bitmask(b), "
						  "__get_bitmask(c), __get_bitmask(none)")));
	assert_int_equal(field("a")->kind, PERFEV_FIELD_BITMASK);
	assert_int_equal(field("b")->kind, PERFEV_FIELD_BITMASK);
	assert_int_equal(field("ab")->kind, PERFEV_FIELD_INTEGER);
	assert_int_equal(field("c")->kind, PERFEV_FIELD_INTEGER);
}

/* Kernels before 2.6.33 do not say it. */
static void test_signs_of_old_kernels(void **state)
{
	static const struct {
		const char *type;
		bool is_signed;
	} types[] = {
		{"int", true}, {"unsigned int", false}, {"unsigned", false}, {"long", true}, {"u32", false},
		{"s64", true}, {"pid_t", true}, {"char *", false}, {"signed char", true}, {"char", false},
		{"unknown_t", false}, {"unsigned long long", false}, {"long long", true}, {"size_t", false},
	};
	char line[256];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		snprintf(line, sizeof(line), "\tfield:%s a;\toffset:8;\tsize:4;\n", types[i].type);
		assert_works(parse_text(format_of(line, "\"\"")));
		if (field("a")->is_signed != types[i].is_signed)
			fail_msg("%s", types[i].type);
	}
}

static void test_words(void **state)
{
	static const struct {
		const char *fields;
		uint32_t given, wanted;
	} words[] = {
		{"\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n", 0, 8},
		{"\tfield:long a;\toffset:8;\tsize:4;\tsigned:1;\n", 0, 4},
		{"\tfield:void * a;\toffset:8;\tsize:4;\tsigned:0;\n", 0, 4},
		{"\tfield:void * a;\toffset:8;\tsize:8;\tsigned:0;\n", 0, 8},
		{"\tfield:long a[3];\toffset:8;\tsize:4;\tsigned:1;\n", 0, 8},
		{"\tfield:long a;\toffset:8;\tsize:2;\tsigned:1;\n", 0, 8},
		{"\tfield:long a;\toffset:8;\tsize:4;\tsigned:1;\n", 8, 8},
		{"\tfield:long a;\toffset:8;\tsize:8;\tsigned:1;\n", 4, 4},
	};
	struct perfev_tracepoint_info info;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *text = format_of(words[i].fields, "\"\"");

		assert_works(parse(text, strlen(text), false, words[i].given));
		perfev_tracepoint_describe(tp, &info);
		assert_int_equal(info.long_bytes, words[i].wanted);
	}
	assert_fails(parse("", 0, false, 5), EINVAL);
	assert_int_equal(err.why, PERFEV_WHY_ARGUMENT);
}

/* ---- odd and hostile texts ------------------------------------------------------------------------------- */

/* Cut at every byte: refused, or understood as far as it goes; the whole is understood. */
static void test_cut_everywhere(void **state)
{
	struct perfev_tracepoint_info info;
	const char *text = values_format();
	size_t size = strlen(text), i, fields = 0;

	(void)state;
	for (i = 0; i <= size; i++) {
		int r = parse(text, i, false, 0);

		if (r < 0) {
			assert_int_equal(r, -EINVAL);
			assert_int_equal(err.why, PERFEV_WHY_SYNTAX);
			assert_true(err.where <= i);
			continue;
		}
		perfev_tracepoint_describe(tp, &info);
		assert_true(info.field_count >= fields && info.field_count <= 20);
		fields = info.field_count;
	}
	assert_int_equal(fields, 20);
}

static void test_other_lines(void **state)
{
	struct perfev_tracepoint_info info;
	char text[4096], *to = text;
	const char *from;

	(void)state;
	/* lines that end as elsewhere */
	for (from = values_format(); *from; from++) {
		if (*from == '\n')
			*to++ = '\r';
		*to++ = *from;
	}
	*to = 0;
	assert_works(parse_text(text));
	perfev_tracepoint_describe(tp, &info);
	assert_string_equal(info.name, "it");
	assert_int_equal(info.field_count, 20);
	assert_int_equal(info.common_count, 4);
	assert_string_equal(info.print_format, "\"\"");
	/* members and lines of newer kernels, and blanks */
	assert_works(parse_text("name:it\nID:7\nnew: line\nformat:\n field: int a ; size: 4; other:x; offset: 8;\n"
				"\n\tfield:int b;\toffset:12;\tsize:4;\tsigned:1;\tlen:9;\tfilter_type:0;\n"));
	assert_string_equal(field("a")->type, "int");
	assert_int_equal(field("a")->offset, 8);
	assert_true(field("b")->is_signed);
	/* the same name twice: the first */
	assert_works(parse_text("name: it\nID: 7\n\tfield:int a;\toffset:0;\tsize:4;\n"
				"\tfield:int a;\toffset:4;\tsize:4;\n"));
	assert_int_equal(field("a")->offset, 0);
	/* no fields at all */
	assert_works(parse_text("name: it\nID: 7\n"));
	assert_null(perfev_tracepoint_field_at(tp, 0));
	/* zeros in the middle */
	assert_works(parse("name: it\nID: 7\n\0\n", 18, false, 0));
}

static void test_refusals(void **state)
{
	static const struct {
		const char *text, *says;
	} texts[] = {
		{"", "it has no name"},
		{"name: it\n", "it has no id"},
		{"ID: 7\n", "it has no name"},
		{"name:\nID: 7\n", "it has no name"},
		{"name: it\nID:\n", "this is no id"},
		{"name: it\nID: -1\n", "this is no id"},
		{"name: it\nID: 99999999999999999999999\n", "this is no id"},
		{"name: it\nID: 2147483648\n", "this is no id"},
		{"name: it\nID: 7\n\tfield:int a\n", "does not end"},
		{"name: it\nID: 7\n\tfield:int a;\n", "offset and size"},
		{"name: it\nID: 7\n\tfield:int a;\toffset:0;\n", "offset and size"},
		{"name: it\nID: 7\n\tfield:int a;\tsize:4;\n", "offset and size"},
		{"name: it\nID: 7\n\tfield:int a;\toffset:-4;\tsize:4;\n", "offset and size"},
		{"name: it\nID: 7\n\tfield:int a;\toffset:0;\tsize:-4;\n", "offset and size"},
		{"name: it\nID: 7\n\tfield:int a;\toffset:65536;\tsize:4;\n", "offset and size"},
		{"name: it\nID: 7\n\tfield:int a;\toffset:4294967295;\tsize:4;\n", "offset and size"},
		{"name: it\nID: 7\n\tfield:int a;\toffset:18446744073709551615;\tsize:1;\n", "offset and size"},
		{"name: it\nID: 7\n\tfield:int a;\toffset:8;\tsize:four;\n", "offset and size"},
		{"name: it\nID: 7\n\tfield:a;\toffset:0;\tsize:4;\n", "no name, or no type"},
		{"name: it\nID: 7\n\tfield:;\toffset:0;\tsize:4;\n", "no name, or no type"},
		{"name: it\nID: 7\n\tfield:int *;\toffset:0;\tsize:4;\n", "no name, or no type"},
		{"name: it\nID: 7\n\tfield:[4];\toffset:0;\tsize:4;\n", "no name, or no type"},
		{"name: it\nID: 7\n\tfield:int ];\toffset:0;\tsize:4;\n", "no name, or no type"},
		{"name: it\nID: 7\n\tfield:__data_loc char[] a;\toffset:0;\tsize:8;\n", "other than 4 bytes"},
		{"name: it\nID: 7\n\tfield:__rel_loc char[] a;\toffset:0;\tsize:0;\n", "other than 4 bytes"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_fails(parse_text(texts[i].text), EINVAL);
		assert_says(texts[i].says);
		assert_int_equal(err.why, PERFEV_WHY_SYNTAX);
		assert_true(err.where <= strlen(texts[i].text));
		assert_fails(perfev_tracepoint_parse(&tp, (struct perfev_bytes){texts[i].text, strlen(texts[i].text)},
						     NULL, NULL),
			     EINVAL);
	}
}

/* Lines, words and numbers of fields without end, and many of them: quick, and within bounds. */
static void test_large_texts(void **state)
{
	size_t size = 1 << 20, i, used;
	char *text = malloc(size + 1);

	(void)state;
	assert_non_null(text);
	/* a name as long as the rest */
	used = (size_t)sprintf(text, "name: it\nID: 7\n\tfield:int ");
	memset(text + used, 'a', size - used);
	assert_fails(perfev_tracepoint_parse(&tp, (struct perfev_bytes){text, size}, NULL, &err), EINVAL);
	memcpy(text + size - 20, ";offset:8;size:4;\n", 18);
	text[size - 2] = text[size - 1] = '\n';
	assert_works(perfev_tracepoint_parse(&tp, (struct perfev_bytes){text, size}, NULL, &err));
	assert_int_equal(strlen(perfev_tracepoint_field_at(tp, 0)->name), size - 20 - used);
	perfev_tracepoint_free(tp);
	/* brackets and stars in the thousands */
	memset(text + used, '[', size - used);
	memset(text + used + 1000, ']', 5000);
	memcpy(text + size - 20, ";offset:8;size:4;\n", 18);
	assert_fails(perfev_tracepoint_parse(&tp, (struct perfev_bytes){text, size}, NULL, &err), EINVAL);
	for (i = used; i + 3 < size - 20; i += 3)
		memcpy(text + i, i == used ? "a  " : "[9]", 3);
	memset(text + i, ' ', size - 20 - i);
	assert_works(perfev_tracepoint_parse(&tp, (struct perfev_bytes){text, size}, NULL, &err));
	assert_int_equal(field("a")->count, 1);
	perfev_tracepoint_free(tp);
	/* a field in each line */
	used = (size_t)sprintf(text, "name: it\nID: 7\n");
	for (i = 0; i < 1025; i++)
		used += (size_t)sprintf(text + used, "field:u8 f%zu;offset:%zu;size:1;\n", i, i);
	assert_fails(perfev_tracepoint_parse(&tp, (struct perfev_bytes){text, used}, NULL, &err), EINVAL);
	assert_says("more fields than any tracepoint");
	text[used - 31] = 0;
	used = (size_t)(strrchr(text, '\n') - text);
	assert_works(perfev_tracepoint_parse(&tp, (struct perfev_bytes){text, used}, NULL, &err));
	assert_int_equal(field("f1000")->offset, 1000);
	perfev_tracepoint_free(tp);
	tp = NULL;
	assert_fails(perfev_tracepoint_parse(&tp, (struct perfev_bytes){text, size + 1}, NULL, &err), EINVAL);
	assert_says("no format has more than");
	free(text);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_declarations, setup, teardown),
	cmocka_unit_test_setup_teardown(test_what_it_has, setup, teardown),
	cmocka_unit_test_setup_teardown(test_masks, setup, teardown),
	cmocka_unit_test_setup_teardown(test_signs_of_old_kernels, setup, teardown),
	cmocka_unit_test_setup_teardown(test_words, setup, teardown),
	cmocka_unit_test_setup_teardown(test_cut_everywhere, setup, teardown),
	cmocka_unit_test_setup_teardown(test_other_lines, setup, teardown),
	cmocka_unit_test_setup_teardown(test_refusals, setup, teardown),
	cmocka_unit_test_setup_teardown(test_large_texts, setup, teardown),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
