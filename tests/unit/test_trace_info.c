/* SPDX-License-Identifier: MIT */
/* What perfev record writes about PMUs that trace (AUXTRACE_INFO), of machines that are made here: as perf has it, and as the
 * library's own decoder of ways takes it. */
#include "test.h"

#include "fake/kernel.h"

#include "../../cli/trace_info.c"

#define DEVICES "/sys/bus/event_source/devices/"

static uint64_t words[TRACE_INFO_WORDS];

static int setup(void **state)
{
	(void)state;
	fake_reset();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return fake_left();
}

static void put_cpu(int cpu, const char *const values[5])
{
	static const char *const files[] = {"trcidr/trcidr0", "trcidr/trcidr1", "trcidr/trcidr2", "trcidr/trcidr8",
					    "mgmt/trcauthstatus"};
	char path[128];
	int i;

	for (i = 0; i < 5; i++) {
		snprintf(path, sizeof(path), DEVICES "cs_etm/cpu%d/%s", cpu, files[i]);
		if (values[i])
			fake_file(path, values[i]);
	}
}

static void put_machine(void)
{
	static const char *const whole[] = {"0x28000ea1\n", "0x4100f422\n", "0x20001088\n", "0x0\n", "0xcc\n"};
	static const char *const cut[] = {"0x28000ea1\n", "0x4100f422\n", "nothing\n", "0x0\n", "0xcc\n"};

	fake_file(DEVICES "cs_etm/type", "9\n");
	fake_file(DEVICES "cs_etm/format/cycacc", "config:12\n");
	fake_file(DEVICES "cs_etm/format/contextid", "config:14\n");
	fake_file(DEVICES "cs_etm/format/timestamp", "config:28\n");
	fake_file(DEVICES "cs_etm/format/retstack", "config:29\n");
	fake_file("/sys/devices/system/cpu/online", "0-3\n");
	put_cpu(0, whole);
	put_cpu(1, cut);
	put_cpu(3, whole);
}

static void test_coresight(void **state)
{
	struct perf_event_attr attr = {.type = 9, .config = UINT64_C(1) << 12 | 1 << 28};
	struct perfev_sampler_id id = {.cpu = -1, .tid = 4};
	struct perfev_auxtrace_info info;
	struct perfev_flow_opts opts;
	struct perfev_error err;
	uint32_t type;
	size_t count;

	(void)state;
	put_machine();
	count = trace_info("cs_etm", &attr, &id, words, &type);
	assert_int_equal(type, PERFEV_AUXTRACE_CS_ETM);
	assert_int_equal(count, 3 + 2 * 10); /* CPU 1 does not say all, CPU 2 has none */
	assert_int_equal(words[0], 1);
	assert_int_equal(words[1], UINT64_C(9) << 32 | 2);
	assert_int_equal(words[3], UINT64_C(0x4040404040404040));
	assert_int_equal(words[4], 0);
	assert_int_equal(words[5], 7);
	assert_int_equal(words[6], 1 << 4 | 1 << 11); /* TRCCONFIGR: cycles, timestamps */
	assert_int_equal(words[7], 0x10);
	assert_int_equal(words[8], 0x28000ea1);
	assert_int_equal(words[9], 0x4100f422);
	assert_int_equal(words[10], 0x20001088);
	assert_int_equal(words[11], 0);
	assert_int_equal(words[12], 0xcc);
	assert_int_equal(words[14], 3);
	assert_int_equal(words[17], 0x16);
	info.type = type;
	info.numbers = (struct perfev_u64s){words, (uint32_t)count, false};
	assert_works(perfev_flow_setup(&opts, &info, &attr, NULL, &err));
	assert_int_equal(opts.units.count, count);
}

static void test_intel_pt(void **state)
{
	struct perf_event_attr attr = {.type = 8, .config = 0x400, .context_switch = 1};
	struct perfev_sampler_id ids[] = {{.cpu = -1, .tid = 4}, {.cpu = 2, .tid = 4}, {.cpu = 2, .tid = -1}};
	static const uint64_t switches[] = {2, 2, 3};
	uint32_t type;
	size_t i;

	(void)state;
	fake_file(DEVICES "intel_pt/type", "8\n");
	fake_file(DEVICES "intel_pt/format/tsc", "config:10\n");
	fake_file(DEVICES "intel_pt/format/noretcomp", "config:11\n");
	fake_file(DEVICES "intel_pt/format/mtc", "config:9\n");
	fake_file(DEVICES "intel_pt/format/mtc_period", "config:14-17\n");
	fake_file(DEVICES "intel_pt/caps/max_nonturbo_ratio", "20\n");
	for (i = 0; i < 3; i++) {
		assert_int_equal(trace_info("intel_pt", &attr, &ids[i], words, &type), 18);
		assert_int_equal(type, PERFEV_AUXTRACE_INTEL_PT);
		assert_int_equal(words[0], 8);
		assert_int_equal(words[5], 0x400);
		assert_int_equal(words[7], switches[i]); /* SWITCH_CPU_WIDE comes of whole CPUs only */
		assert_int_equal(words[9], i > 0);
		assert_int_equal(words[11], 0x3c000);
		assert_int_equal(words[15], 20);
	}
}

static void test_none(void **state)
{
	struct perf_event_attr attr = {.type = 9};
	struct perfev_sampler_id id = {.cpu = 0, .tid = -1};
	uint32_t type;

	(void)state;
	fake_file(DEVICES "cs_etm/type", "9\n");
	fake_file("/sys/devices/system/cpu/online", "0-3\n");
	assert_int_equal(trace_info("cs_etm", &attr, &id, words, &type), 0);
	assert_int_equal(trace_info("aux_fake", &attr, &id, words, &type), 0);
	assert_int_equal(type, PERFEV_AUXTRACE_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_coresight, setup, teardown),
		cmocka_unit_test_setup_teardown(test_intel_pt, setup, teardown),
		cmocka_unit_test_setup_teardown(test_none, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
