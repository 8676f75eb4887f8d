/* SPDX-License-Identifier: MIT */
/* JSON of records: how it looks, which other ways of saying the same are taken, and what is wrong with what is none.
 * That each record comes back from its JSON is in test_sample.c and test_record.c. */
#include "bytes.h"
#include "test.h"

static struct perfev_error err;
static struct perfev_layout *layout;

static int setup(void **state)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .sample_id_all = 1};

	(void)state;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_READ |
			   PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER |
			   PERF_SAMPLE_STACK_USER | PERF_SAMPLE_AUX | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT;
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_ID;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX | PERF_SAMPLE_BRANCH_COUNTERS;
	attr.sample_regs_user = 5;
	assert_works(perfev_layout_new(&layout, &attr, &err));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	perfev_layout_free(layout);
	return 0;
}

#define TRAILER ",\"sample_id\":{\"pid\":1,\"tid\":2,\"time\":9007199254740991,\"cpu\":4}}"
#define SAMPLE                                                                                                     \
	"{\"type\":\"SAMPLE\",\"misc\":2,\"ip\":\"0x7f00\",\"pid\":1,\"tid\":2,\"time\":\"9007199254740992\",\"cpu\":4,"     \
	"\"read\":{\"enabled\":10,\"counts\":[{\"count\":5,\"id\":6},{\"count\":\"18446744073709551615\",\"id\":8}]}," \
	"\"callchain\":[\"0xfffffffffffffe00\",\"0x7f00\"],\"raw\":\"01020304\","                                    \
	"\"branches\":{\"hw_idx\":9,\"entries\":[{\"from\":\"0x1\",\"to\":\"0x2\",\"mispredicted\":1,\"predicted\":0,"   \
	"\"in_tx\":0,\"abort\":0,\"cycles\":65535,\"type\":15,\"spec\":3,\"new_type\":2,\"priv\":7}],"               \
	"\"counters\":[\"0xff\"]},\"regs_user\":{\"abi\":2,\"values\":[\"0x10\",\"0x11\"]},"                          \
	"\"stack_user\":{\"size\":16,\"data\":\"aabb\"},\"weight\":\"0x5\",\"weight_struct\":\"0x5\","                 \
	"\"aux\":\"0011223344556677\"}"

/* Exactly what is written for the bytes that they mean. */
static const char *const lines[] = {
	"{\"type\":\"COMM\",\"misc\":8192,\"pid\":300,\"tid\":4294967295,\"comm\":\"bash\"" TRAILER,
	"{\"type\":\"COMM\",\"misc\":0,\"pid\":0,\"tid\":0,\"comm\":\"\"" TRAILER,
	"{\"type\":\"COMM\",\"misc\":0,\"pid\":0,\"tid\":0,\"comm\":\"a \\\"b\\\" \\\\ \\u000a\\u007f \xc3\xa4 \xe2\x82\xac "
	"\xf0\x9f\x98\x80\"" TRAILER,
	"{\"type\":\"COMM\",\"misc\":0,\"pid\":0,\"tid\":0,\"comm\":{\"hex\":\"61ff0a\"}" TRAILER,
	"{\"type\":\"MMAP2\",\"misc\":2,\"pid\":1,\"tid\":1,\"addr\":\"0x400000\",\"len\":\"0x1000\",\"pgoff\":\"0x0\",\"maj\":8,"
	"\"min\":1,\"ino\":77,\"ino_generation\":3,\"prot\":5,\"flags\":2,\"filename\":\"/bin/x y\"" TRAILER,
	"{\"type\":\"MMAP2\",\"misc\":16386,\"pid\":1,\"tid\":1,\"addr\":\"0x400000\",\"len\":\"0x1000\",\"pgoff\":\"0x0\","
	"\"build_id\":\"0102030405\",\"prot\":5,\"flags\":2,\"filename\":\"//anon\"" TRAILER,
	"{\"type\":\"SWITCH\",\"misc\":8192" TRAILER,
	"{\"type\":\"NAMESPACES\",\"misc\":0,\"pid\":1,\"tid\":1,\"links\":[\"0x1\",\"0x2\",\"0x3\",\"0x4\"]" TRAILER,
	"{\"type\":\"BPF_EVENT\",\"misc\":0,\"bpf_type\":1,\"flags\":0,\"id\":5,\"tag\":\"0011223344556677\"" TRAILER,
	"{\"type\":\"TEXT_POKE\",\"misc\":0,\"addr\":\"0xffffffff81000000\",\"old\":\"0f1f440000\",\"new\":\"e8\"" TRAILER,
	"{\"type\":\"READ\",\"misc\":0,\"pid\":1,\"tid\":2,\"values\":{\"enabled\":3,\"counts\":[]}" TRAILER,
	"{\"type\":\"CALLCHAIN_DEFERRED\",\"misc\":0,\"cookie\":\"0x1\",\"ips\":[]" TRAILER,
	SAMPLE,
	"{\"type\":71,\"misc\":7,\"body\":\"00112233\"}",
	"{\"type\":9999,\"misc\":0,\"body\":\"\"}",
};
#define LINES (sizeof(lines) / sizeof(lines[0]))

/* The JSON of the record whose bytes these are. */
static int written(char *text, size_t room, const unsigned char *bytes, int size, unsigned flags)
{
	struct perfev_bytes view = {bytes, (size_t)size};
	struct perfev_record record;

	assert_works(perfev_record_from_bytes(&record, view, flags, &err));
	assert_int_equal(record.size, size);
	return perfev_record_to_json(text, room, &record, layout, &err);
}

static void test_lines(void **state)
{
	unsigned char bytes[4096];
	char text[4096];
	unsigned flags;
	size_t i;

	(void)state;
	for (i = 0; i < LINES; i++)
		for (flags = 0; flags < 2; flags++) {
			int r = perfev_record_from_json(bytes, sizeof(bytes), lines[i], layout, flags, &err);

			if (r < 8)
				fail_msg("%s", err.text);
			assert_int_equal(written(text, sizeof(text), bytes, r, flags), strlen(lines[i]));
			assert_string_equal(text, lines[i]);
			assert_int_equal(written(text, 10, bytes, r, flags), strlen(lines[i]));
			assert_memory_equal(text, lines[i], 9);
			assert_int_equal(strlen(text), 9);
		}
}

/* ---- the same said otherwise --------------------------------------------------------------------------------- */

static void check_same(const char *json, const char *line)
{
	unsigned char first[4096], second[4096];
	int r = perfev_record_from_json(first, sizeof(first), line, layout, 0, &err);

	if (r < 8)
		fail_msg("%s: %s", line, err.text);
	if (perfev_record_from_json(second, sizeof(second), json, layout, 0, &err) != r || memcmp(first, second, (size_t)r))
		fail_msg("%s: %s", json, err.text);
}

static void test_other_ways(void **state)
{
	static const char line[] = "{\"type\":\"COMM\",\"misc\":16,\"pid\":1,\"tid\":2,\"comm\":\"\xc3\xa4/\"" TRAILER;

	(void)state;
	check_same("{\"comm\":\"\xc3\xa4/\",\"misc\":16,\"pid\":1,\"sample_id\":{\"cpu\":4,\"time\":9007199254740991,"
		   "\"tid\":2,\"pid\":1},\"tid\":2,\"type\":\"COMM\"}", line);
	check_same(" {\n\t\"type\" : \"COMM\" , \"misc\":\"0x10\",\"pid\":\"1\",\"tid\":\"0x2\",\r\n\"comm\":\"\\u00E4\\/\","
		   "\"sample_id\":{ \"pid\":\"0x01\",\"tid\":2,\"time\":\"0x1fffffffffffff\",\"cpu\":4 } } \n", line);
	check_same("{\"type\":3,\"misc\":16,\"pid\":1,\"tid\":2,\"comm\":{\"hex\":\"C3a42F\"}" TRAILER, line);
	check_same("{\"\\u0074ype\":\"C\\u004fMM\",\"misc\":16,\"pid\":1,\"tid\":2,\"comm\":\"\\u00e4/\"" TRAILER, line);
	check_same("{\"type\":\"COMM\",\"misc\":0,\"pid\":0,\"tid\":0,\"comm\":\"a \\\"b\\\" \\\\ \\n\\u007f \\u00e4 \\u20ac "
		   "\\ud83d\\ude00\"" TRAILER, lines[2]);
	check_same("{\"type\":\"NAMESPACES\",\"misc\":0,\"links\":[ 1 ,\"2\", \"0x3\",4 ],\"tid\":1,\"pid\":1" TRAILER, lines[7]);
}

/* ---- mistakes ------------------------------------------------------------------------------------------------- */

static void check_mistake(const char *json, const char *says, uint64_t where)
{
	unsigned char bytes[4096];

	assert_int_equal(perfev_record_from_json(bytes, sizeof(bytes), json, layout, 0, &err), -EINVAL);
	if (!strstr(err.text, says) || err.where != where || err.why != PERFEV_WHY_SYNTAX)
		fail_msg("%s: %s (%d)", json, err.text, (int)err.where);
	assert_int_equal(perfev_record_from_json(bytes, sizeof(bytes), json, layout, 0, NULL), -EINVAL);
}

/* What is no JSON. */
static void test_syntax(void **state)
{
	char deep[4096];

	(void)state;
	check_mistake("", "a value is missing", 0);
	check_mistake(" {", "a text in quotes is missing", 2);
	check_mistake("{\"type\"", "':' is missing", 7);
	check_mistake("{\"type\":}", "a value is missing", 8);
	check_mistake("{\"type\":1,}", "a text in quotes is missing", 10);
	check_mistake("{\"type\":1 1}", "',' or '}' is missing", 10);
	check_mistake("{\"a\":[1 1]}", "',' or ']' is missing", 8);
	check_mistake("{\"a\":[1,]}", "a value is missing", 8);
	check_mistake("{\"a\":[1}", "',' or ']' is missing", 7);
	check_mistake("{\"type\":1}x", "something is left over", 10);
	check_mistake("{\"type\":\"\\x41\"}", "no such escape", 9);
	check_mistake("{\"type\":\"\\ud800\"}", "no such escape", 9);
	check_mistake("{\"type\":\"\\ud800\\u0041\"}", "no such escape", 9);
	check_mistake("{\"type\":\"\\udc00\"}", "no such escape", 9);
	check_mistake("{\"type\":\"\\u12\"}", "no such escape", 9);
	check_mistake("{\"type\":\"\xff\"}", "no character", 9);
	check_mistake("{\"type\":\"\xc0\x80\"}", "no character", 9);
	check_mistake("{\"type\":\"\xed\xa0\x80\"}", "no character", 9);
	check_mistake("{\"type\":\"\n\"}", "no character", 9);
	check_mistake("{\"type\":\"abc", "the text has no end", 12);
	check_mistake("{\"type\":01}", "',' or '}' is missing", 9);
	check_mistake("{\"type\":-}", "a value is missing", 9);
	check_mistake("{\"type\":1.}", "a value is missing", 10);
	check_mistake("{\"type\":1e}", "a value is missing", 10);
	check_mistake("{\"type\":nul}", "a value is missing", 8);
	check_mistake("{'type':1}", "a text in quotes is missing", 1);
	memset(deep, '[', sizeof(deep));
	deep[sizeof(deep) - 1] = 0;
	check_mistake(deep, "too many brackets", 32);
}

/* What is JSON, and no record. */
static void test_mistakes(void **state)
{
	(void)state;
	check_mistake("[]", "an object is missing", 0);
	check_mistake("{}", "'type' is missing", 1);
	check_mistake("{\"type\":\"COMN\",\"misc\":0}", "no type of record", 8);
	check_mistake("{\"type\":\"COMM\"}", "'misc' is missing", 1);
	check_mistake("{\"type\":\"COMM\",\"misc\":65536}", "the number is too large", 22);
	check_mistake("{\"type\":\"COMM\",\"misc\":-1}", "a whole number is missing", 22);
	check_mistake("{\"type\":\"COMM\",\"misc\":1.0}", "a whole number is missing", 22);
	check_mistake("{\"type\":\"COMM\",\"misc\":1e1}", "a whole number is missing", 22);
	check_mistake("{\"type\":\"COMM\",\"misc\":\"\"}", "a whole number is missing", 22);
	check_mistake("{\"type\":\"COMM\",\"misc\":\"0x\"}", "a whole number is missing", 22);
	check_mistake("{\"type\":\"COMM\",\"misc\":\"1 \"}", "a whole number is missing", 22);
	check_mistake("{\"type\":\"COMM\",\"misc\":null}", "a whole number is missing", 22);
	check_mistake("{\"type\":\"SWITCH\",\"misc\":0,\"a\":1" TRAILER, "is not known here", 26);
	check_mistake("{\"type\":\"SWITCH\",\"misc\":0,\"misc\":0" TRAILER, "there twice", 26);
	check_mistake("{\"a\":{\"b\":[\"]\"]},\"type\":\"SWITCH\",\"misc\":0" TRAILER, "is not known here", 1);
	check_mistake("{\"type\":\"SWITCH\",\"misc\":0}", "'sample_id' is missing", 1);
	check_mistake("{\"type\":\"SWITCH\",\"misc\":0,\"sample_id\":1}", "an object is missing", 38);
	check_mistake("{\"type\":\"COMM\",\"misc\":0,\"pid\":0,\"tid\":0,\"comm\":1}", "a text in quotes", 47);
	check_mistake("{\"type\":\"COMM\",\"misc\":0,\"pid\":0,\"tid\":0,\"comm\":\"a\\u0000\"}", "zero byte", 55);
	check_mistake("{\"type\":\"COMM\",\"misc\":0,\"pid\":0,\"tid\":0,\"comm\":{\"hex\":\"6100\"}}", "zero byte", 59);
	check_mistake("{\"type\":71,\"misc\":0,\"body\":\"0\"}", "two hexadecimal digits", 28);
	check_mistake("{\"type\":71,\"misc\":0,\"body\":\"0g\"}", "two hexadecimal digits", 28);
	check_mistake("{\"type\":71,\"misc\":0,\"body\":[]}", "a text in quotes", 27);
	check_mistake("{\"type\":32769,\"misc\":1,\"body\":\"\"}", "no misc bits", 22);
	check_mistake("{\"type\":\"NAMESPACES\",\"misc\":0,\"pid\":0,\"tid\":0,\"links\":{}}", "a list is missing", 54);
}

/* More members than can be told apart. */
static void test_many_members(void **state)
{
	char text[4096] = "{", *at = text + 1;
	int i;

	(void)state;
	for (i = 0; i < 200; i++)
		at += sprintf(at, "\"a%d\":0,", i);
	strcpy(at, "\"type\":\"SWITCH\",\"misc\":0" TRAILER);
	check_mistake(text, "'type' is missing", 1);
}

/* ---- noise ---------------------------------------------------------------------------------------------------- */

/* What was made of a text: nothing, or a whole record, whose JSON means itself. (Of two weights only the second is
 * written, as perfev_sample has one.) */
static void check_noise(unsigned char *bytes, size_t room, const char *text, unsigned flags)
{
	static unsigned char again[4096];
	static char json[8192], last[8192];
	int n = perfev_record_from_json(bytes, room, text, layout, flags, &err), m;

	if (n < 0) {
		assert_int_equal(n, -EINVAL);
		assert_int_equal(err.code, n);
		assert_true(err.where <= strlen(text));
		return;
	}
	assert_in_range(n, 8, UINT16_MAX);
	if ((size_t)n > room)
		return;
	m = written(json, sizeof(json), bytes, n, flags);
	assert_in_range(m, 1, sizeof(json) - 1);
	assert_int_equal(perfev_record_from_json(again, sizeof(again), json, layout, flags, &err), n);
	assert_int_equal(written(last, sizeof(last), again, n, flags), m);
	assert_string_equal(last, json);
}

static void test_noise(void **state)
{
	static const char marks[] = "{}[]\":,\\0x9ae-";
	unsigned char *bytes = malloc(400); /* exact: a sanitizer sees what is behind it */
	uint64_t seed = 11;
	char text[2048];
	size_t i, at;
	int turn;

	(void)state;
	assert_non_null(bytes);
	for (i = 0; i < LINES; i++) {
		size_t n = strlen(lines[i]);

		for (at = 0; at < n; at++) {
			memcpy(text, lines[i], at);
			text[at] = 0;
			check_noise(bytes, 400, text, 0);
			check_noise(bytes, at % 40, lines[i], 0);
		}
		for (turn = 0; turn < 3000; turn++) {
			memcpy(text, lines[i], n + 1);
			text[next_random(&seed) % n] = turn % 3 ? marks[next_random(&seed) % 14]
								: (char)(next_random(&seed) % 255 + 1);
			check_noise(bytes, 400, text, (unsigned)turn & 1);
		}
	}
	free(bytes);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_lines),	   cmocka_unit_test(test_other_ways),	cmocka_unit_test(test_syntax),
	cmocka_unit_test(test_mistakes), cmocka_unit_test(test_many_members), cmocka_unit_test(test_noise),
};

int main(void)
{
	return cmocka_run_group_tests(tests, setup, teardown);
}
