/* SPDX-License-Identifier: MIT */
/* Feature sections, field by field: each from bytes of both orders; cut to every length, and with counts that lie. */
#include "bytes.h"
#include "test.h"

#include <perfev/feature.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static struct perfev_error err;
static struct guard guard;
static struct bytes bytes;

/* A section, as numbers of so many bytes (8:7), strings of sections (s8:text: a length, then as many bytes), and bytes
 * (t8:text); and its fields. */
static const struct {
	unsigned feature;
	const char *fields, *text;
} rows[] = {
	{PERFEV_FEATURE_HOSTNAME, "s8:host", "0 text=host"},
	{PERFEV_FEATURE_NRCPUS, "4:8 4:4", "0 available=8 0 online=4"},
	{PERFEV_FEATURE_TOTAL_MEM, "8:4096", "0 kb=4096"},
	{PERFEV_FEATURE_CMDLINE, "4:2 s8:perf s8:record", "1 argument=perf 1 argument=record"},
	{PERFEV_FEATURE_CMDLINE, "4:0", ""},
	{PERFEV_FEATURE_EVENT_DESC, "4:1 4:4 4:99 4:2 s8:cycles 8:7 8:8", "0 attr_size=4 1 attr=[4] 1 name=cycles 2 id=7 2 id=8"},
	{PERFEV_FEATURE_CPU_TOPOLOGY, "4:1 s4:0-1 4:2 s4:0 s4:1", "1 cores=0-1 1 threads=0 1 threads=1"},
	{PERFEV_FEATURE_CPU_TOPOLOGY, "4:1 s4:0-1 4:1 s4:0 4:0 4:0 4:1 4:0",
	 "1 cores=0-1 1 threads=0 1 core=0 1 socket=0 1 core=1 1 socket=0"},
	{PERFEV_FEATURE_CPU_TOPOLOGY, "4:1 s4:0-1 4:1 s4:0 4:0 4:0 4:1 4:0 4:1 s4:0-1 4:0 4:0",
	 "1 cores=0-1 1 threads=0 1 core=0 1 socket=0 1 core=1 1 socket=0 1 dies=0-1 1 die=0 1 die=0"},
	{PERFEV_FEATURE_NUMA_TOPOLOGY, "4:1 4:0 8:100 8:50 s4:0-1", "1 node=0 1 total_kb=100 1 free_kb=50 1 cpus=0-1"},
	{PERFEV_FEATURE_PMU_MAPPINGS, "4:2 4:4 s4:cpu 4:1 s12:software", "1 type=4 1 name=cpu 1 type=1 1 name=software"},
	{PERFEV_FEATURE_GROUP_DESC, "4:1 s4:g 4:0 4:2", "1 name=g 1 leader=0 1 members=2"},
	{PERFEV_FEATURE_AUXTRACE, "8:1 8:4096 8:48", "1 offset=4096 1 size=48"},
	{PERFEV_FEATURE_AUXTRACE, "8:4096 8:48", "1 offset=4096 1 size=48"},
	{PERFEV_FEATURE_CACHE, "4:1 4:1 4:2 4:64 4:512 4:8 s8:Unified s4:1M s4:0", "0 version=1 1 level=2 1 line_size=64 "
										  "1 sets=512 1 ways=8 1 type=Unified "
										  "1 size=1M 1 cpus=0"},
	{PERFEV_FEATURE_SAMPLE_TIME, "8:1 8:2", "0 first_ns=1 0 last_ns=2"},
	{PERFEV_FEATURE_MEM_TOPOLOGY, "8:1 8:4096 8:1 8:0 8:70 8:70 8:1 8:2",
	 "0 version=1 0 block_size=4096 1 node=0 1 bits=70 1 blocks=[16]"},
	{PERFEV_FEATURE_CLOCKID, "8:1", "0 resolution_ns=1"},
	{PERFEV_FEATURE_BPF_PROG_INFO, "4:1 4:4 4:8 8:3 t4:info t8:data", "1 arrays=3 1 info=[4] 1 data=[8]"},
	{PERFEV_FEATURE_BPF_BTF, "4:1 4:9 4:4 t4:btf", "1 id=9 1 btf=[4]"},
	{PERFEV_FEATURE_COMPRESSED, "4:0 4:1 4:3 4:7 4:528384", "0 version=0 0 type=1 0 level=3 0 ratio=7 0 mmap_len=528384"},
	{PERFEV_FEATURE_CLOCK_DATA, "4:1 4:4 8:10 8:20", "0 version=1 0 clockid=4 0 wall_clock_ns=10 0 clockid_ns=20"},
	{PERFEV_FEATURE_HYBRID_TOPOLOGY, "4:1 s12:cpu_core s4:0-1", "1 pmu=cpu_core 1 cpus=0-1"},
	{PERFEV_FEATURE_PMU_CAPS, "4:1 4:2 s4:a s4:1 s4:b s4:2 s4:cpu", "2 name=a 2 value=1 2 name=b 2 value=2 1 pmu=cpu"},
	{PERFEV_FEATURE_PMU_CAPS, "4:2 4:0 s4:cpu 4:0 s4:gpu", "1 pmu=cpu 1 pmu=gpu"},
	{PERFEV_FEATURE_CPU_DOMAIN_INFO, "4:17 4:2 4:0 4:1 4:0 s4:SMT s4:3 s4:0-1 4:1 4:0",
	 "0 schedstat_version=17 0 max_domains=2 1 cpu=0 2 domain=0 2 name=SMT 2 cpumask=3 2 cpus=0-1 1 cpu=1"},
	{PERFEV_FEATURE_CPU_DOMAIN_INFO, "4:15 4:2 4:0 4:1 4:0 s4:3 s4:0-1",
	 "0 schedstat_version=15 0 max_domains=2 1 cpu=0 2 domain=0 2 cpumask=3 2 cpus=0-1"},
	{PERFEV_FEATURE_E_MACHINE, "4:62 4:0", "0 machine=62 0 flags=0"},
	{PERFEV_FEATURE_CLN_SIZE, "4:64", "0 bytes=64"},
	{PERFEV_FEATURE_SIMPLEPERF_META_INFO, "t4:key t6:value t2:a t2:b", "1 key=key 1 value=value 1 key=a 1 value=b"},
	{PERFEV_FEATURE_SIMPLEPERF_FILE2,
	 "4:19 1:10 1:2 t2:/a 1:16 1:2 1:24 1:7 1:34 1:5 1:8 1:3 1:26 1:1 t1:f 1:50 1:2 1:8 1:9 4:4 1:10 1:2 t2:/b",
	 "1 path=/a 1 type=2 1 min_vaddr=7 1 offset_of_address=9 1 symbols=1 2 address=3 2 size=0 2 name=f 1 path=/b 1 type=0 "
	 "1 min_vaddr=0 1 offset_of_address=18446744073709551615 1 symbols=0"},
	{PERFEV_FEATURE_SIMPLEPERF_FILE, "4:44 t4:/a/b 1:0 4:2 8:4096 4:1 8:5 4:6 t2:fn 1:0 8:7",
	 "1 path=/a/b 1 type=2 1 min_vaddr=4096 1 offset_of_address=7 1 symbols=1 2 address=5 2 size=6 2 name=fn"},
	/* messages: a field is its number * 8, + 2 when it has a length */
	{PERFEV_FEATURE_SIMPLEPERF_DEBUG_UNWIND, "1:10 1:6 1:10 1:2 t2:/a 1:16 1:9 1:10 1:2 1:16 1:7 1:24 1:1 1:10 1:0",
	 "1 path=/a 1 size=9 1 path= 1 size=7 1 path= 1 size=0"},
	{PERFEV_FEATURE_SIMPLEPERF_DEBUG_UNWIND, "", ""},
	{PERFEV_FEATURE_SIMPLEPERF_ETM_BRANCH_LIST,
	 "1:10 1:2 t2:ok 1:18 1:35 1:26 1:19 1:8 1:64 1:18 1:7 1:10 1:1 1:5 1:16 1:3 1:24 1:9 1:18 1:6 1:10 1:2 2:0 1:16 1:9 "
	 "1:10 1:2 t2:/b 1:18 1:2 t2:a1 1:32 1:1 1:42 1:2 1:8 1:5 1:24 1:70",
	 "0 magic=ok 0 kernel_start_address=70 1 path=/b 1 build_id=a1 1 binary_type=1 1 kernel_start_address=5 2 address=64 "
	 "3 branch=[1] 3 branch_size=3 3 count=9 3 branch=[2] 3 branch_size=9 3 count=0"},
	{PERFEV_FEATURE_BRANCH_STACK, "", ""},
	{200, "t5:bytes", "0 bytes=[5]"},
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
	unsigned long width = strtoul(word + (word[0] >= 'a'), &end, 10), i;
	size_t n = strcspn(end + 1, " ");

	if (word[0] < 'a') {
		put_number(&bytes, strtoull(end + 1, NULL, 10), (unsigned)width);
		return;
	}
	if (word[0] == 's')
		put_u32(&bytes, width);
	put_bytes(&bytes, end + 1, n);
	for (i = n; i < width; i++)
		put_u8(&bytes, 0);
}

static void make(size_t row, bool big)
{
	const char *at;

	memset(&bytes, 0, sizeof(bytes));
	bytes.big = big;
	for (at = rows[row].fields; *at; at += strcspn(at, " "), at += *at == ' ')
		put_field(at);
}

/* Its fields as text, of the first @size bytes. */
static int walk(size_t row, size_t size, char *text, size_t room)
{
	struct perfev_bytes section = {guard_put(&guard, bytes.data, size), size};
	struct perfev_feature_walk w;
	struct perfev_feature_field field;
	size_t used = 0;
	int r, count = 0;

	text[0] = 0;
	perfev_feature_begin(&w, rows[row].feature, section, bytes.big != host_is_big(), 2);
	while ((r = perfev_feature_next(&w, &field, &err)) > 0) {
		char value[64];

		assert_in_range(++count, 0, 100000); /* it ends */
		if (field.kind == PERFEV_FEATURE_TEXT)
			snprintf(value, sizeof(value), "%s", field.text);
		else if (field.kind == PERFEV_FEATURE_NUMBER)
			snprintf(value, sizeof(value), "%" PRIu64, field.number);
		else
			snprintf(value, sizeof(value), "[%zu]", field.bytes.size);
		if (used < room)
			used += (size_t)snprintf(text + used, room - used, "%s%u %s=%s", used ? " " : "", field.depth, field.name,
						 value);
	}
	assert_int_equal(perfev_feature_next(&w, &field, NULL), 0);
	return r;
}

static void test_each_section(void **state)
{
	char text[1024];
	size_t i;

	(void)state;
	for (i = 0; i < 2 * ROWS; i++) {
		make(i / 2, i & 1);
		assert_int_equal(walk(i / 2, bytes.size, text, sizeof(text)), 0);
		assert_string_equal(text, rows[i / 2].text);
	}
}

static void test_cut(void **state)
{
	char text[1024];
	size_t i, size;

	(void)state;
	for (i = 0; i < ROWS; i++) {
		make(i, host_is_big());
		for (size = 0; size < bytes.size; size++) {
			int r = walk(i, size, text, sizeof(text));

			assert_true(r == 0 || r == -EINVAL);
		}
	}
}

static void test_counts_that_lie(void **state)
{
	static const uint64_t lies[] = {0, 1, 3, 0x7fffffff, UINT32_MAX, UINT64_MAX, UINT64_MAX / 16};
	char text[1024];
	size_t i, at, k;

	(void)state;
	for (i = 0; i < ROWS; i++)
		for (k = 0; k < sizeof(lies) / sizeof(lies[0]); k++) {
			make(i, host_is_big());
			for (at = 0; at + 8 <= bytes.size; at++) {
				int r;

				make(i, host_is_big());
				set_number(&bytes, at, lies[k], lies[k] > UINT32_MAX ? 8 : 4);
				r = walk(i, bytes.size, text, sizeof(text));
				assert_true(r == 0 || r == -EINVAL);
			}
		}
}

/* No field of a message has the number 0: in messages that have no others in them it would look like one that is. */
static void test_fields_without_a_number(void **state)
{
	static const struct {
		uint32_t feature;
		const char *fields;
	} wrong[] = {
		{PERFEV_FEATURE_SIMPLEPERF_DEBUG_UNWIND, "1:10 1:4 1:2 1:2 1:2 1:0"},
		{PERFEV_FEATURE_SIMPLEPERF_ETM_BRANCH_LIST, "1:18 1:8 1:26 1:6 1:18 1:4 1:2 1:2 1:2 1:0"},
		{PERFEV_FEATURE_SIMPLEPERF_DEBUG_UNWIND, "1:0 1:0"},
	};
	struct perfev_feature_walk w;
	struct perfev_feature_field field;
	size_t i;
	int r;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const char *at;

		memset(&bytes, 0, sizeof(bytes));
		for (at = wrong[i].fields; *at; at += strcspn(at, " "), at += *at == ' ')
			put_field(at);
		perfev_feature_begin(&w, wrong[i].feature, (struct perfev_bytes){guard_put(&guard, bytes.data, bytes.size), bytes.size},
				     false, 2);
		while ((r = perfev_feature_next(&w, &field, &err)) > 0)
			;
		assert_int_equal(r, -EINVAL);
		assert_says("does not fit");
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_fields_without_a_number, setup, teardown),
	cmocka_unit_test_setup_teardown(test_each_section, setup, teardown),
	cmocka_unit_test_setup_teardown(test_cut, setup, teardown),
	cmocka_unit_test_setup_teardown(test_counts_that_lie, setup, teardown),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
