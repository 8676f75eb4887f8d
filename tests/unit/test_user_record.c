/* SPDX-License-Identifier: MIT */
/* Records of tools: each type from bytes of both orders, as text and JSON; cut to every length, and with numbers that
 * lie. */
#include "bytes.h"
#include "test.h"

#include <perfev/user_record.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static struct perfev_error err;
static struct guard guard;
static struct bytes bytes;

/* A record, as numbers of so many bytes (8:7), texts in so many (t16:name), and what it is as text. */
static const struct {
	uint32_t type;
	const char *fields, *text;
} rows[] = {
	{64, "4:1 4:64 8:9 8:1000 8:7 8:4 8:0 4:0 4:0 8:0 8:11 8:12",
	 "HEADER_ATTR misc=0x3 attr={\"type\":1,\"size\":64,\"config\":\"0x9\",\"sample_period\":1000,"
	 "\"sample_type\":[\"PERF_SAMPLE_IP\",\"PERF_SAMPLE_TID\",\"PERF_SAMPLE_TIME\"],"
	 "\"read_format\":[\"PERF_FORMAT_ID\"]} ids=[11,12]"},
	{65, "8:4 t8:branches", "HEADER_EVENT_TYPE misc=0x3 event_id=4 name=\"branches\""},
	{66, "4:512 4:0", "TRACING_DATA misc=0x3 bytes=512"},
	{67, "4:4294967295 t20:01234567890123456789 1:20 1:0 2:0 t8:/bin/a", /* without the bit: 20 bytes */
	 "BUILD_ID misc=0x3 pid=-1 build_id=hex:3031323334353637383930313233343536373839 filename=\"/bin/a\""},
	{68, "", "FINISHED_ROUND misc=0x3"},
	{69, "8:1 8:77 8:2 8:18446744073709551615 8:300", "ID_INDEX misc=0x3 entries=[{id=77,idx=2,cpu=-1,tid=300}]"},
	{69, "8:1 8:77 8:2 8:1 8:300 8:9 8:3",
	 "ID_INDEX misc=0x3 entries=[{id=77,idx=2,cpu=1,tid=300,machine_pid=9,vcpu=3}]"},
	{70, "4:1 4:0 8:8 8:31", "AUXTRACE_INFO misc=0x3 auxtrace_type=1 name=\"intel_pt\" numbers=[8,31]"},
	{71, "8:64 8:128 8:5 4:1 4:4294967295 4:1 4:0",
	 "AUXTRACE misc=0x3 bytes=64 aux_offset=0x80 reference=5 idx=1 tid=-1 cpu=1"},
	{72, "4:1 4:5 4:0 4:10 4:11 4:1 8:4198710 8:99 t64:no_code",
	 "AUXTRACE_ERROR misc=0x3 error_type=1 code=5 cpu=0 pid=10 tid=11 ip=0x401136 time=99 message=\"no_code\" "
	 "machine_pid=0 vcpu=0"},
	{72, "4:1 4:5 4:0 4:10 4:11 4:2 8:4198710 8:99 t64:no_code 4:7 4:1",
	 "AUXTRACE_ERROR misc=0x3 error_type=1 code=5 cpu=0 pid=10 tid=11 ip=0x401136 time=99 message=\"no_code\" "
	 "machine_pid=7 vcpu=1"},
	{72, "4:1 4:5 4:0 4:10 4:11 4:0 8:4198710 t64:no_code",
	 "AUXTRACE_ERROR misc=0x3 error_type=1 code=5 cpu=0 pid=10 tid=11 ip=0x401136 time=0 message=\"no_code\" "
	 "machine_pid=0 vcpu=0"},
	{73, "8:2 8:300 t16:bash 8:18446744073709551615 t16:a_name_of_16_byt",
	 "THREAD_MAP misc=0x3 threads=[{pid=300,comm=\"bash\"},{pid=-1,comm=\"a_name_of_16_byt\"}]"},
	{74, "2:0 2:3 2:1 2:65535 2:300 2:0", "CPU_MAP misc=0x3 cpus=[1,-1,300]"},
	{74, "2:1 2:2 2:4 4:5 4:1", "CPU_MAP misc=0x3 cpus=[0,2,32]"},
	{74, "2:1 2:1 2:8 4:0 8:9223372036854775809", "CPU_MAP misc=0x3 cpus=[0,63]"},
	{74, "2:2 1:1 1:0 2:4 2:6", "CPU_MAP misc=0x3 cpus=[-1,4,5,6]"},
	{74, "2:2 1:0 1:0 2:6 2:4", "CPU_MAP misc=0x3 cpus=[]"},
	{75, "8:2 8:0 8:1 8:9 8:5", "STAT_CONFIG misc=0x3 aggr_mode=1 tag_9=5"},
	{76, "8:7 4:4294967295 4:2 8:12 8:100 8:50",
	 "STAT misc=0x3 id=7 cpu=-1 thread=2 value=12 enabled=100 running=50"},
	{77, "8:1 8:1000", "STAT_ROUND misc=0x3 round=1 time=1000"},
	{78, "8:0 8:7 t8:msec", "EVENT_UPDATE misc=0x3 id=7 unit=\"msec\""},
	{78, "8:1 8:7 8:4602678819172646912", "EVENT_UPDATE misc=0x3 id=7 scale=0.5"},
	{78, "8:2 8:7 t8:cycles", "EVENT_UPDATE misc=0x3 id=7 name=\"cycles\""},
	{78, "8:3 8:7 2:0 2:2 2:0 2:1", "EVENT_UPDATE misc=0x3 id=7 cpus=[0,1]"},
	{78, "8:9 8:7 t8:later", "EVENT_UPDATE misc=0x3 id=7 update=9 bytes=hex:6c61746572000000"},
	{79, "8:10 8:20 8:30", "TIME_CONV misc=0x3 shift=10 mult=20 zero=30 cycles=0 mask=0 user_time_zero=0 user_time_short=0"},
	{79, "8:10 8:20 8:30 8:4 8:5 1:1 1:1 2:0 4:0",
	 "TIME_CONV misc=0x3 shift=10 mult=20 zero=30 cycles=4 mask=5 user_time_zero=1 user_time_short=1"},
	{80, "8:3 t8:section", "HEADER_FEATURE misc=0x3 feature=3 name=\"HOSTNAME\" section=hex:73656374696f6e00"},
	{81, "t8:zstd", "COMPRESSED misc=0x3 bytes=8"},
	{82, "", "FINISHED_INIT misc=0x3"},
	{83, "8:3 t8:zst", "COMPRESSED2 misc=0x3 bytes=3"},
	{84, "t512:program 8:1 t64:version t256:1.2",
	 "BPF_METADATA misc=0x3 program=\"program\" entries=[{key=\"version\",value=\"1.2\"}]"},
	{85, "8:9 4:1 2:15 2:0 4:1 4:2 4:3 4:4 4:5 4:6 8:7 8:8 8:9",
	 "85 misc=0x3 timestamp=9 cpu=1 version=15 yld_count=1 array_exp=2 sched_count=3 sched_goidle=4 ttwu_count=5 "
	 "ttwu_local=6 rq_cpu_time=7 run_delay=8 pcount=9"},
	{32769, "4:4 t4:text", "SIMPLEPERF_KERNEL_SYMBOL misc=0x0 bytes=hex:74657874"},
	{32770, "8:2 8:1 8:4096 t16:/lib/libc.so", "SIMPLEPERF_DSO misc=0x0 dso_type=2 dso_id=1 min_vaddr=0x1000 name=\"/lib/libc.so\""},
	{32771, "8:4198710 8:16 8:1 t8:main", "SIMPLEPERF_SYMBOL misc=0x0 addr=0x401136 len=0x10 dso_id=1 name=\"main\""},
	{32772, "t8:a_piece", "SIMPLEPERF_SPLIT misc=0x0 bytes=hex:615f706965636500"},
	{32773, "", "SIMPLEPERF_SPLIT_END misc=0x0"},
	{32774, "8:1 8:0 8:77", "SIMPLEPERF_EVENT_ID misc=0x0 pairs=[0,77]"},
	{32775, "4:10 4:11 8:1 8:99 8:1 8:4198710 8:4096",
	 "SIMPLEPERF_CALLCHAIN misc=0x0 pid=10 tid=11 chain_type=1 time=99 ips=[0x401136] sps=[0x1000]"},
	{32776, "8:1 8:2 8:3 8:4 8:5 8:6",
	 "SIMPLEPERF_UNWINDING_RESULT misc=0x0 time=1 used_time=2 error_code=3 error_addr=0x4 stack_start=0x5 stack_end=0x6"},
	{32776, "8:1 8:2 8:3 8:4 8:5 8:6 8:2 8:5 8:7 8:9 8:8 t8:stack 8:4",
	 "SIMPLEPERF_UNWINDING_RESULT misc=0x0 time=1 used_time=2 error_code=3 error_addr=0x4 stack_start=0x5 stack_end=0x6 "
	 "regs_user={abi=2,reg_mask=0x5,values=[0x7,0x9]} stack_user={size=8,data=hex:737461636b000000,dyn_size=4} ips=[] sps=[]"},
	{32776, "8:1 8:2 8:3 8:4 8:5 8:6 8:0 8:0 8:0 8:2 8:16 8:17 8:32 8:33",
	 "SIMPLEPERF_UNWINDING_RESULT misc=0x0 time=1 used_time=2 error_code=3 error_addr=0x4 stack_start=0x5 stack_end=0x6 "
	 "regs_user={abi=0,reg_mask=0x0,values=[]} stack_user={size=0,data=hex:,dyn_size=0} ips=[0x10,0x11] sps=[0x20,0x21]"},
	{32777, "4:4 t4:data", "SIMPLEPERF_TRACING_DATA misc=0x0 bytes=hex:64617461"},
	{32778, "8:5 t8:why", "SIMPLEPERF_DEBUG misc=0x0 time=5 text=\"why\""},
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static int setup(void **state)
{
	(void)state;
	return guard_open(&guard) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	guard_close(&guard);
	return 0;
}

static void put_field(const char *word)
{
	char *end;
	bool is_text = word[0] == 't';
	unsigned long width = strtoul(word + is_text, &end, 10);

	if (is_text) {
		size_t n = strcspn(end + 1, " "), i;

		put_bytes(&bytes, end + 1, n);
		for (i = n; i < width; i++)
			put_u8(&bytes, 0);
	} else {
		put_number(&bytes, strtoull(end + 1, NULL, 10), (unsigned)width);
	}
}

static void make(size_t row, bool big)
{
	const char *at;

	memset(&bytes, 0, sizeof(bytes));
	bytes.big = big;
	put_u32(&bytes, rows[row].type);
	put_u16(&bytes, rows[row].type < 32768 ? 3 : 0);
	put_u16(&bytes, 0);
	for (at = rows[row].fields; *at; at += strcspn(at, " "), at += *at == ' ')
		put_field(at);
	set_number(&bytes, 6, bytes.size, 2);
}

/* The first @size bytes, at whose end memory ends. */
static struct perfev_record cut(size_t size)
{
	struct perfev_bytes view = {guard_put(&guard, bytes.data, size), size};
	struct perfev_record record;
	unsigned flags = bytes.big == host_is_big() ? 0 : PERFEV_RECORD_SWAPPED;

	assert_works(perfev_record_from_bytes(&record, (struct perfev_bytes){bytes.data, bytes.size}, flags, &err));
	record.data = view.data;
	record.size = (uint32_t)size;
	return record;
}

static void test_each_type(void **state)
{
	char text[4096], json[4096];
	size_t i;
	int big;

	(void)state;
	for (i = 0; i < 2 * ROWS; i++) {
		struct perfev_record record;

		big = i & 1;
		make(i / 2, big);
		record = cut(bytes.size);
		assert_in_range(perfev_user_format(text, sizeof(text), &record, &err), 1, sizeof(text) - 1);
		assert_string_equal(text, rows[i / 2].text);
		assert_in_range(perfev_user_to_json(json, sizeof(json), &record, &err), 1, sizeof(json) - 1);
		assert_int_equal(json[0], '{');
		assert_int_equal(json[strlen(json) - 1], '}');
	}
}

/* What is cut is refused, or has a shorter form; nothing is read behind its end. */
static void test_cut(void **state)
{
	char text[4096];
	size_t i, size;

	(void)state;
	for (i = 0; i < ROWS; i++) {
		make(i, host_is_big());
		for (size = 8; size < bytes.size; size++) {
			struct perfev_record record = cut(size);
			int r = perfev_user_format(text, sizeof(text), &record, &err);

			assert_true(r > 0 || r == -EINVAL);
			if (r < 0)
				assert_true(strstr(err.text, "cannot ") == err.text);
		}
	}
}

/* Every number of the record, one after the other, becomes one that cannot be. */
static void test_numbers_that_lie(void **state)
{
	static const uint64_t lies[] = {0, 1, 0x7fff, 0xffff, 0x7fffffff, UINT64_MAX, UINT64_MAX / 8, UINT64_MAX / 16};
	static char text[1 << 20];
	size_t i, at, k;

	(void)state;
	for (i = 0; i < ROWS; i++)
		for (k = 0; k < sizeof(lies) / sizeof(lies[0]); k++) {
			make(i, host_is_big());
			for (at = 8; at + 8 <= bytes.size && at < 200; at += 2) {
				struct perfev_record record;
				int r;

				make(i, host_is_big());
				set_number(&bytes, at, lies[k], 8);
				record = cut(bytes.size);
				r = perfev_user_format(text, sizeof(text), &record, &err);
				assert_true(r > 0 || r == -EINVAL);
			}
		}
}

static void test_others(void **state)
{
	struct perfev_record record;
	struct perfev_user user;

	(void)state;
	make(0, host_is_big());
	record = cut(bytes.size);
	record.type = PERF_RECORD_SAMPLE;
	assert_fails(perfev_user_decode(&user, &record, &err), ENOTSUP);
	record.type = 200;
	assert_fails(perfev_user_decode(&user, &record, &err), ENOTSUP);
	record.type = PERFEV_RECORD_STAT;
	record.size = 4;
	assert_fails(perfev_user_decode(&user, &record, &err), EINVAL);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_each_type, setup, teardown),
	cmocka_unit_test_setup_teardown(test_cut, setup, teardown),
	cmocka_unit_test_setup_teardown(test_numbers_that_lie, setup, teardown),
	cmocka_unit_test_setup_teardown(test_others, setup, teardown),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
