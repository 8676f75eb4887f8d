/* SPDX-License-Identifier: MIT */
/* The text of records: how it looks, and what is wrong with text that is none. That each record comes back from
 * its text is in test_sample.c and test_record.c. */
#include "bytes.h"
#include "test.h"

#include <perfev/record.h>

#include <errno.h>

static struct perfev_error err;
static struct perfev_layout *layout, *plain;

static int setup(void **state)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .sample_id_all = 1};

	(void)state;
	assert_works(perfev_layout_new(&plain, &(struct perf_event_attr){.size = sizeof(attr)}, &err));
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_READ |
			   PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER |
			   PERF_SAMPLE_STACK_USER | PERF_SAMPLE_AUX;
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
	perfev_layout_free(plain);
	return 0;
}

#define TRAILER " @ tid=1/2 time=3 cpu=4"
#define SAMPLE                                                                                                 \
	"SAMPLE misc=0x2 ip=0x7f00 tid=1/2 time=3 cpu=4 read={enabled=10,counts=[{count=5,id=6},{count=7,id=8}]} " \
	"callchain=[0xfffffffffffffe00,0x7f00] raw=hex:01020304 "                                              \
	"branches={hw_idx=9,entries=[{from=0x1,to=0x2,mispredicted=1,predicted=0,in_tx=0,abort=0,cycles=65535," \
	"type=15,spec=3,new_type=2,priv=7}],counters=[0xff]} regs_user={abi=2,values=[0x10,0x11]} "           \
	"stack_user={size=16,data=hex:aabb} aux=hex:0011223344556677"

/* Lines that are exactly what is written for the bytes that they mean. */
static const char *const lines[] = {
	"COMM misc=0x2000 pid=300 tid=300 comm=\"bash\"" TRAILER,
	"COMM misc=0x0 pid=4294967295 tid=0 comm=\"\"" TRAILER,
	"COMM misc=0x0 pid=1 tid=1 comm=\"a \\\"b\\\" \\\\ \\x0a\\x7f \xc3\xa4\"" TRAILER,
	"MMAP2 misc=0x2 pid=1 tid=1 addr=0x400000 len=0x1000 pgoff=0x0 maj=8 min=1 ino=77 ino_generation=3 prot=0x5 flags=0x2 "
	"filename=\"/bin/x y\"" TRAILER,
	"MMAP2 misc=0x4002 pid=1 tid=1 addr=0x400000 len=0x1000 pgoff=0x0 build_id=hex:0102030405 prot=0x5 flags=0x2 "
	"filename=\"//anon\"" TRAILER,
	"SWITCH misc=0x2000" TRAILER,
	"NAMESPACES misc=0x0 pid=1 tid=1 links=[0x1,0x2,0x3,0x4]" TRAILER,
	"BPF_EVENT misc=0x0 type=1 flags=0x0 id=5 tag=hex:0011223344556677" TRAILER,
	"TEXT_POKE misc=0x0 addr=0xffffffff81000000 old=hex:0f1f440000 new=hex:e8" TRAILER,
	"READ misc=0x0 pid=1 tid=2 values={enabled=3,counts=[{count=1,id=2}]}" TRAILER,
	"READ misc=0x0 pid=1 tid=2 values={enabled=3,counts=[]}" TRAILER,
	"CALLCHAIN_DEFERRED misc=0x0 cookie=0x1 ips=[]" TRAILER,
	SAMPLE,
	"71 misc=0x7 body=hex:00112233",
	"9999 misc=0x0 body=hex:",
};

static void test_lines(void **state)
{
	unsigned char bytes[4096];
	char text[4096];
	size_t i;
	int swapped;

	(void)state;
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		for (swapped = 0; swapped < 2; swapped++) {
			struct perfev_bytes view = {bytes, 0};
			struct perfev_record record;
			int r = perfev_record_parse(bytes, sizeof(bytes), lines[i], layout, (unsigned)swapped, &err);

			if (r < 8)
				fail_msg("%s", err.text);
			view.size = (size_t)r;
			assert_works(perfev_record_from_bytes(&record, view, (unsigned)swapped, &err));
			assert_int_equal(record.size, r);
			r = perfev_record_format(text, sizeof(text), &record, layout, &err);
			assert_string_equal(text, lines[i]);
			assert_int_equal(r, strlen(lines[i]));
			assert_int_equal(perfev_record_format(text, 10, &record, layout, &err), r);
			assert_int_equal(strlen(text), 9);
			assert_memory_equal(text, lines[i], 9);
		}
}

static void test_blanks_and_bases(void **state)
{
	unsigned char first[64], second[64];
	int r = perfev_record_parse(first, sizeof(first), "COMM misc=0x10 pid=16 tid=0x1f comm=\"x\"", plain, 0, &err);

	(void)state;
	assert_int_equal(r, 24);
	assert_int_equal(perfev_record_parse(second, sizeof(second),
					     "  COMM\tmisc=16   pid=0x10 tid=31\tcomm=\"\\x78\"  \n", plain, 0, &err), r);
	assert_memory_equal(first, second, (size_t)r);
}

/* The sample above with something else in place of a part of it. */
static void check_sample_mistake(const char *part, const char *other, const char *says)
{
	unsigned char bytes[4096];
	const char *at = strstr(SAMPLE, part);
	char text[2048];

	assert_non_null(at);
	snprintf(text, sizeof(text), "%.*s%s%s", (int)(strlen(SAMPLE) - strlen(at)), SAMPLE, other, at + strlen(part));
	assert_fails(perfev_record_parse(bytes, sizeof(bytes), text, layout, 0, &err), EINVAL);
	assert_says(says);
}

static void test_mistakes(void **state)
{
	static const struct {
		const char *text, *says;
		uint64_t column;
	} rows[] = {
		{"", "no type of record", 1},
		{"COMN misc=0", "no type of record", 1},
		{"COMM", "'misc' is missing", 5},
		{"COMM misc=", "a number is missing", 11},
		{"COMM misc=0x", "a number is missing", 13},
		{"COMM misc=65536 pid=1", "the number is too large", 15},
		{"COMM misc=0 pid=4294967296", "the number is too large", 26},
		{"COMM misc=0 tid=1", "'pid' is missing", 13},
		{"COMM misc=0 pid=1 tid=1 comm=x", "'\"' is missing", 30},
		{"COMM misc=0 pid=1 tid=1 comm=\"x", "the text has no end", 32},
		{"COMM misc=0 pid=1 tid=1 comm=\"\\q\"", "no such escape", 32},
		{"COMM misc=0 pid=1 tid=1 comm=\"\\x1\"", "no such escape", 32},
		{"COMM misc=0 pid=1 tid=1 comm=\"x\"", "'@' is missing", 33},
		{"COMM misc=0 pid=1 tid=1 comm=\"x\" @ tid=1", "'/' is missing", 41},
		{"SWITCH misc=0" TRAILER " more=1", "something is left over", 38},
		{"BPF_EVENT misc=0x0 type=1 flags=0x0 id=5 tag=hex:00" TRAILER, "a tag has 8 bytes", 52},
		{"BPF_EVENT misc=0x0 type=1 flags=0x0 id=5 tag=hex:0" TRAILER, "half a byte", 50},
		{"NAMESPACES misc=0x0 pid=1 tid=1 links=[1,2", "']' is missing", 43},
		{"NAMESPACES misc=0x0 pid=1 tid=1 links=[1,2,3]" TRAILER, "half a pair", 46},
		{"COMM misc=0 pid=1 tid=1 comm=\"a\\x00\"" TRAILER, "no text has a zero byte", 36},
		{"NAMESPACES misc=0x0 pid=1 tid=1 links=[1,]", "a number is missing", 42},
		{"MMAP2 misc=0x2 pid=1 tid=1 addr=0x400000 len=0x1000 pgoff=0x0 build_id=hex:", "a build-id has 1 to 20 bytes", 76},
		{"READ misc=0x0 pid=1 tid=2 values={counts=[]}", "'enabled=' is missing", 35},
		{"SAMPLE misc=0x2 ip=0x7f00 tid=1/2 time=3 cpu=4 read={enabled=10,counts=[{count=5}]}", "',id=' is missing", 81},
		{"71 misc=0", "'body' is missing", 10},
		{"32769 misc=1 body=hex:", "no misc bits", 13},
	};
	unsigned char bytes[4096];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(perfev_record_parse(bytes, sizeof(bytes), rows[i].text, layout, 0, &err), -EINVAL);
		if (!strstr(err.text, rows[i].says) || err.where != rows[i].column)
			fail_msg("%s: %s (%d)", rows[i].text, err.text, (int)err.where);
		assert_int_equal(perfev_record_parse(bytes, sizeof(bytes), rows[i].text, layout, 0, NULL), -EINVAL);
	}
	check_sample_mistake("counters=[0xff]", "counters=[1,2]", "a counter for each branch");
	check_sample_mistake("values=[0x10,0x11]", "values=[0x10]", "another number of registers");
	check_sample_mistake("abi=2,values=[0x10,0x11]", "abi=0,values=[0x10]", "another number of registers");
	assert_fails(perfev_record_parse(bytes, sizeof(bytes), "SAMPLE misc=0", NULL, 0, &err), EINVAL);
	assert_says("without a layout");
	assert_int_equal(perfev_record_parse(bytes, sizeof(bytes), "SWITCH misc=0", NULL, 0, &err), 8);
}

/* What was made of a text: nothing, or a whole record whose own size is the size told. */
static void check_parse(unsigned char *bytes, size_t room, const char *text, unsigned flags)
{
	int n = perfev_record_parse(bytes, room, text, layout, flags, &err);
	uint16_t size;

	if (n < 0) {
		assert_true(n == -EINVAL || n == -E2BIG || n == -ENOTSUP);
		assert_int_equal(err.code, n);
		return;
	}
	assert_true(n >= 8 && n <= UINT16_MAX);
	if ((size_t)n > room)
		return;
	memcpy(&size, bytes + 6, sizeof(size));
	assert_int_equal(flags & PERFEV_RECORD_SWAPPED ? (uint16_t)(size << 8 | size >> 8) : size, n);
}

/* Cut or changed anywhere it is an error, or another record: never more bytes than there is room for. */
static void test_noise(void **state)
{
	unsigned char *bytes = malloc(400); /* exact: a sanitizer sees what is behind it */
	uint64_t seed = 7;
	char text[2048];
	size_t i, at;
	int turn;

	(void)state;
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		size_t n = strlen(lines[i]);

		for (at = 0; at < n; at++) {
			memcpy(text, lines[i], at);
			text[at] = 0;
			check_parse(bytes, 400, text, 0);
			check_parse(bytes, at % 40, lines[i], 0);
		}
		for (turn = 0; turn < 2000; turn++) {
			memcpy(text, lines[i], n + 1);
			text[next_random(&seed) % n] = (char)(next_random(&seed) % 96 + 32);
			check_parse(bytes, 400, text, (unsigned)turn & 1);
		}
	}
	free(bytes);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_lines, setup, teardown),
	cmocka_unit_test_setup_teardown(test_blanks_and_bases, setup, teardown),
	cmocka_unit_test_setup_teardown(test_mistakes, setup, teardown),
	cmocka_unit_test_setup_teardown(test_noise, setup, teardown),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
