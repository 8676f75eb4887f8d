/* SPDX-License-Identifier: MIT */
/* Facts about the machine: read from files that are there, missing, empty or odd, and never guessed; and
 * probes, which answer with the cause. */
#include "test.h"

#include "capture/explain.h"
#include "fake/kernel.h"

#include <errno.h>

#define UNKNOWN INT64_MIN

static struct perfev_error err;

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

static int64_t paranoid_of(const char *text)
{
	struct perfev_system s;

	fake_file("/proc/sys/kernel/perf_event_paranoid", text);
	perfev_system_read(&s);
	return s.paranoid;
}

static void test_numbers(void **state)
{
	(void)state;
	assert_int_equal(paranoid_of("-1\n"), -1);
	assert_int_equal(paranoid_of("0\n"), 0);
	assert_int_equal(paranoid_of("4"), 4);
	assert_int_equal(paranoid_of("  2 \n"), 2);
	assert_int_equal(paranoid_of("2 3\n"), 2);
	assert_true(paranoid_of("") == UNKNOWN);
	assert_true(paranoid_of("\n\n") == UNKNOWN);
	assert_true(paranoid_of("none\n") == UNKNOWN);
	assert_true(paranoid_of("-") == UNKNOWN);
	assert_int_equal(paranoid_of("99999999999999999999999999999"), INT64_MAX);
}

/* A machine without any file: everything is marked as not known. */
static void test_nothing(void **state)
{
	struct perfev_system s;

	(void)state;
	memset(&s, 0x55, sizeof(s));
	perfev_system_read(&s);
	assert_string_equal(s.hostname, "host");
	assert_string_equal(s.release, "6.1.0");
	assert_string_equal(s.arch, "machine");
	assert_string_equal(s.cpu_desc, "");
	assert_string_equal(s.cpu_id, "");
	assert_true(s.cpus_available == UNKNOWN && s.cpus_online == UNKNOWN && s.memory_kb == UNKNOWN);
	assert_true(s.paranoid == UNKNOWN && s.kptr_restrict == UNKNOWN &&
		    s.max_sample_rate == UNKNOWN);
	assert_true(s.mlock_kb == UNKNOWN && s.max_stack == UNKNOWN && s.seccomp == UNKNOWN);
	assert_int_equal(s.files_soft, 1024);
	assert_int_equal(s.memlock_hard, 65536);
	assert_int_equal(s.uid, 1000);
	assert_true(s.capabilities == 0);
	fake_error("/proc/cpuinfo", -EACCES);
	fake_error("/proc/self/status", -EACCES);
	perfev_system_read(&s);
	assert_string_equal(s.cpu_desc, "");
}

static void test_a_machine(void **state)
{
	struct perfev_system s;

	(void)state;
	fake_file("/proc/cpuinfo",
		  "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n"
		  "model name\t: Some CPU @ 2.5GHz\nstepping\t: 7\n\nprocessor\t: 1\n"
		  "vendor_id\t: Other\n");
	fake_file("/proc/meminfo", "MemTotal:       16330540 kB\nMemFree: 1 kB\n");
	fake_file("/proc/self/status", "Name:\tSeccomp: 9\nCapEff:\t0000004000000000\nSeccomp:\t2\n"
				       "Seccomp_filters:\t1\n");
	fake_file("/sys/devices/system/cpu/possible", "0,2-15\n"); /* one with a gap */
	fake_file("/sys/devices/system/cpu/online", "0,2-3,8\n");
	fake_file("/proc/sys/kernel/kptr_restrict", "1\n");
	fake_file("/proc/sys/kernel/perf_event_max_sample_rate", "100000\n");
	fake_file("/proc/sys/kernel/perf_event_mlock_kb", "516\n");
	fake_file("/proc/sys/kernel/perf_event_max_stack", "127\n");
	fake.files_hard = UINT64_MAX;
	perfev_system_read(&s);
	assert_string_equal(s.cpu_desc, "Some CPU @ 2.5GHz");
	assert_string_equal(s.cpu_id, "GenuineIntel,6,85,7");
	assert_int_equal(s.memory_kb, 16330540);
	assert_true(s.capabilities == PERFEV_CAP_PERFMON);
	assert_int_equal(s.seccomp, 2);
	assert_int_equal(s.cpus_available, 16);
	assert_int_equal(s.cpus_online, 4);
	assert_int_equal(s.kptr_restrict, 1);
	assert_int_equal(s.max_sample_rate, 100000);
	assert_int_equal(s.mlock_kb, 516);
	assert_int_equal(s.max_stack, 127);
	assert_true(s.files_hard == INT64_MAX); /* no limit */
}

static void test_odd_files(void **state)
{
	struct perfev_system s;
	char *text = malloc(6000);

	(void)state;
	assert_non_null(text);
	/* an arm machine: another file says what it is; names longer than their place are cut */
	memset(text, 'x', 5999);
	memcpy(text, "Processor : ", 12);
	text[5999] = 0;
	fake_file("/proc/cpuinfo", text);
	fake_file("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", "0x00000000410fd0c0\n");
	fake_file("/proc/meminfo", "MemTotal:\n");
	fake_file("/proc/self/status", "CapEff:\t\nSeccomp:\n");
	fake_file("/sys/devices/system/cpu/possible", "what\n");
	fake_file("/sys/devices/system/cpu/online", "\n");
	perfev_system_read(&s);
	assert_int_equal(strlen(s.cpu_desc), sizeof(s.cpu_desc) - 1);
	assert_string_equal(s.cpu_id, "0x00000000410fd0c0");
	assert_true(s.cpus_available == UNKNOWN && s.cpus_online == UNKNOWN);
	assert_true(s.memory_kb == UNKNOWN);
	assert_true(s.seccomp == UNKNOWN);
	fake_file("/proc/cpuinfo", "vendor_id");
	perfev_system_read(&s);
	assert_string_equal(s.cpu_desc, "");
	free(text);
}

/* ---- facts of a refusal --------------------------------------------------------------------------------- */

static int explained(int code, int32_t pid, int32_t cpu)
{
	struct perf_event_attr attr;
	struct explain_open facts = {
		.event = "cycles", .attr = &attr, .pid = pid, .cpu = cpu, .group_fd = -1};

	memset(&attr, 0, sizeof(attr));
	attr.exclude_kernel = 1;
	assert_int_equal(explain_open(code, &facts, NULL), code);
	assert_int_equal(explain_open(code, &facts, &err), code);
	return (int)err.why;
}

static void test_facts_of_a_refusal(void **state)
{
	static const char *const pmus[] = {"cpu", "cpu_atom", "armv8_pmuv3_0", "cpum_cf", "odd/cpus"};
	char path[96];
	size_t i;

	(void)state;
	fake_file("/proc/sys/kernel/perf_event_paranoid", "2\n");
	fake_file("/sys/devices/system/cpu/cpu0/topology", "");
	fake_file("/sys/devices/system/cpu/cpu1/online", "1\n");
	fake_file("/sys/devices/system/cpu/cpu2/online", "0\n");
	assert_int_equal(explained(-ENOENT, 0, -1), PERFEV_WHY_NO_PMU);
	fake_file("/sys/bus/event_source/devices/software/type", "1\n");
	assert_int_equal(explained(-ENOENT, 0, -1), PERFEV_WHY_NO_PMU);
	for (i = 0; i < 5; i++) {
		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s%s", pmus[i],
			 strchr(pmus[i], '/') ? "" : "/type");
		fake_file(path, "4\n");
		assert_int_equal(explained(-ENOENT, 0, -1), PERFEV_WHY_NO_EVENT);
		fake_remove(path);
	}
	fake_file("/sys/bus/event_source/devices/cpu/type", "4\n");
	assert_int_equal(explained(-EINVAL, -1, 0), PERFEV_WHY_COMBINATION);
	assert_int_equal(explained(-EINVAL, -1, 1), PERFEV_WHY_COMBINATION);
	assert_int_equal(explained(-EINVAL, -1, 2), PERFEV_WHY_NO_CPU);
	assert_int_equal(explained(-ENODEV, -1, 3), PERFEV_WHY_NO_CPU);
	fake_owner("/proc/812", 1001);
	assert_int_equal(explained(-EACCES, 812, -1), PERFEV_WHY_OTHER_USER);
	assert_says("uid 1001");
	fake_owner("/proc/812", 1000);
	assert_int_equal(explained(-EACCES, 812, -1), PERFEV_WHY_CAPABILITY);
	assert_int_equal(explained(-EACCES, 813, -1), PERFEV_WHY_CAPABILITY); /* its owner is not known */
}

/* ---- trials ------------------------------------------------------------------------------------------------ */

static int trials, enabled_trials;

static int refuse_some(struct fake_event *event, struct perf_event_attr *attr)
{
	(void)event;
	trials++;
	enabled_trials += !attr->disabled;
	return (attr->pinned && attr->freq) || attr->sample_max_stack == 99 ? -EINVAL : 0;
}

static int explain_attr(struct perf_event_attr *attr, struct perfev_error *to)
{
	struct explain_open facts = {.event = "x", .attr = attr, .cpu = -1, .group_fd = -1};

	trials = enabled_trials = 0;
	return explain_open(-EINVAL, &facts, to);
}

/* All that is set is tried once without it; nothing that is opened counts; nobody asks, nobody tries. */
static void test_trials(void **state)
{
	struct perf_event_attr attr;

	(void)state;
	memset(&attr, 0xff, sizeof(attr));
	attr.type = PERF_TYPE_SOFTWARE;
	attr.disabled = 0;
	attr.sample_max_stack = 10;
	fake.on_open = refuse_some;
	assert_int_equal(explain_attr(&attr, NULL), -EINVAL);
	assert_int_equal(trials, 0);
	assert_int_equal(explain_attr(&attr, &err), -EINVAL);
	assert_says("does not take pinned together with freq;");
	assert_in_range(trials, 40, 110);
	assert_int_equal(enabled_trials, 0);
	memset(&attr, 0, sizeof(attr));
	attr.sample_max_stack = 99;
	explain_attr(&attr, &err);
	assert_says("does not take sample_max_stack (0x63);");
	assert_int_equal(err.why, PERFEV_WHY_ARGUMENT);
	attr.sample_max_stack = 0; /* it is taken now: it depends on the moment */
	explain_attr(&attr, &err);
	assert_says("this combination of options");
	assert_int_equal(fake.opened, fake.closed);
}

static int lacks_remove_on_exec(struct fake_event *event, struct perf_event_attr *attr)
{
	(void)event;
	return attr->sigtrap && !attr->remove_on_exec ? -EINVAL : 0;
}

/* A user without rights may not open it without exclude_kernel, which is not at fault. */
static int needs_exclude_kernel(struct fake_event *event, struct perf_event_attr *attr)
{
	(void)event;
	return attr->write_backward ? -EINVAL : attr->exclude_kernel ? 0 : -EACCES;
}

static void test_trials_that_say_nothing(void **state)
{
	struct perf_event_attr attr;

	(void)state;
	memset(&attr, 0, sizeof(attr));
	attr.sigtrap = 1;
	attr.mmap = 1;
	fake.on_open = lacks_remove_on_exec;
	explain_attr(&attr, &err);
	assert_says("does not take sigtrap without remove_on_exec; add that, or leave sigtrap out");
	memset(&attr, 0, sizeof(attr));
	attr.exclude_kernel = 1;
	attr.write_backward = 1;
	fake.on_open = needs_exclude_kernel;
	explain_attr(&attr, &err);
	assert_says("does not know write_backward, which Linux 4.7 brought;");
}

/* ---- probes ------------------------------------------------------------------------------------------------- */

static void test_names(void **state)
{
	int i, k;

	(void)state;
	for (i = 0; i < PERFEV_ABILITY_COUNT; i++) {
		assert_non_null(perfev_ability_title((enum perfev_ability)i));
		for (k = 0; k < i; k++)
			assert_string_not_equal(perfev_ability_name((enum perfev_ability)i),
						perfev_ability_name((enum perfev_ability)k));
	}
	assert_null(perfev_ability_name((enum perfev_ability)PERFEV_ABILITY_COUNT));
	assert_null(perfev_ability_title((enum perfev_ability)-1));
	assert_int_equal(perfev_probe((enum perfev_ability)PERFEV_ABILITY_COUNT, &err), 0);
	assert_int_equal(err.code, -EINVAL);
}

static int refuse_all(struct fake_event *event, struct perf_event_attr *attr)
{
	(void)event;
	(void)attr;
	return -EINVAL;
}

static int know_less(struct fake_event *event, struct perf_event_attr *attr)
{
	(void)event;
	attr->size = 112;
	return -E2BIG;
}

static int refuse_map(struct fake_event *event, size_t size)
{
	(void)event;
	(void)size;
	return -EPERM;
}

/* Every probe says why not, leaves nothing open, and opens nothing that counts. */
static void test_probes_that_fail(void **state)
{
	int i;

	(void)state;
	fake.on_open = refuse_all;
	for (i = 0; i < PERFEV_ABILITY_COUNT; i++) {
		memset(&err, 0, sizeof(err));
		assert_int_equal(perfev_probe((enum perfev_ability)i, &err), 0);
		assert_true(err.code < 0);
		assert_true(err.text[0]);
		assert_int_equal(perfev_probe((enum perfev_ability)i, NULL), 0);
	}
	perfev_probe(PERFEV_CAN_READ_LOST, &err);
	assert_int_equal(err.why, PERFEV_WHY_OLD_KERNEL);
	assert_says("Linux 6.0 does");
	fake.on_open = know_less;
	assert_int_equal(perfev_probe(PERFEV_CAN_DEFER, &err), 0);
	assert_says("this kernel knows 112 bytes");
	fake.on_open = NULL;
	fake.on_map = refuse_map;
	assert_int_equal(perfev_probe(PERFEV_CAN_SAMPLE, &err), 0);
	assert_int_equal(err.why, PERFEV_WHY_LOCKED_MEMORY);
	assert_int_equal(perfev_probe(PERFEV_CAN_USER_READ, &err), 0);
	assert_int_equal(err.why, PERFEV_WHY_UNSUPPORTED);
}

static void test_probes_that_work(void **state)
{
	int i;

	(void)state;
	fake_file("/proc/self/mounts", "none /trace tracefs rw 0 0\n");
	fake_file("/trace/events/syscalls/enable", "0\n");
	fake_file("/sys/bus/event_source/devices/kprobe/type", "8\n");
	fake_file("/sys/bus/event_source/devices/uprobe/type", "9\n");
	fake_file("/proc/kallsyms", "ffffffff81000000 T _text\n");
	fake_file("/sys/devices/system/cpu/online", "2-3\n");
	for (i = 0; i < PERFEV_ABILITY_COUNT; i++)
		if (i != PERFEV_CAN_USER_READ) /* whose page this kernel has no instruction for */
			assert_int_equal(perfev_probe((enum perfev_ability)i, &err), 1);
	for (i = 0; i < fake.event_count; i++) {
		assert_true(fake.events[i].attr.disabled);
		assert_false(fake.events[i].open);
		assert_true(fake.events[i].flags & PERF_FLAG_FD_CLOEXEC);
		assert_true(fake.events[i].pid == 0 || fake.events[i].cpu == 2);
	}
	fake_file("/proc/kallsyms", "0000000000000000 T _text\n");
	assert_int_equal(perfev_probe(PERFEV_CAN_KERNEL_SYMBOLS, &err), 0);
	assert_says("zeros");
	fake_file("/proc/kallsyms", "0000000000000000 A a\n0000000000000000 A b\n0000000000001000 A c\n");
	assert_int_equal(perfev_probe(PERFEV_CAN_KERNEL_SYMBOLS, &err), 1);
	fake_file("/proc/kallsyms", "0000000000000000 A a\n0000000000000000 T b\n");
	assert_int_equal(perfev_probe(PERFEV_CAN_KERNEL_SYMBOLS, &err), 0);
}

/* However many CPUs there are, what the machine can do is asked on one. */
static void test_probes_of_many_cpus(void **state)
{
	struct perfev_kernel kernel;
	int i, one;

	(void)state;
	for (i = 0; i < 2; i++) {
		fake_reset();
		fake_file("/sys/devices/system/cpu/online", i ? "0-255\n" : "0\n");
		perfev_kernel_read(&kernel);
		for (one = 0; one < PERFEV_ABILITY_COUNT; one++)
			perfev_probe((enum perfev_ability)one, NULL);
		assert_in_range(fake.event_count, 10, 100);
	}
}

/* Without their PMUs probes go through tracefs; what forbids them is told by the kernel. */
static void test_probes_of_tracefs(void **state)
{
	(void)state;
	assert_int_equal(perfev_probe(PERFEV_CAN_KPROBES, &err), 0);
	assert_says("no kprobe PMU (CONFIG_KPROBE_EVENTS), and no kprobe_events in tracefs");
	fake_file("/proc/self/mounts", "none /trace tracefs rw 0 0\n");
	fake_file("/trace/kprobe_events", "");
	assert_int_equal(perfev_probe(PERFEV_CAN_KPROBES, &err), 1);
	assert_int_equal(perfev_probe(PERFEV_CAN_UPROBES, &err), 0);
	assert_int_equal(perfev_probe(PERFEV_CAN_TRACEPOINTS, &err), 0);
	assert_says("/trace");
	assert_int_equal(fake.opened, fake.closed);
}

static int no_probes(struct fake_event *event, struct perf_event_attr *attr)
{
	(void)event;
	assert_int_equal(attr->config1, 0); /* no place: nothing would be put there */
	return attr->type == 9 ? -EACCES : attr->type == 8 ? -EINVAL : 0;
}

static void test_probes_that_are_forbidden(void **state)
{
	(void)state;
	fake_file("/sys/bus/event_source/devices/kprobe/type", "8\n");
	fake_file("/sys/bus/event_source/devices/uprobe/type", "9\n");
	fake.on_open = no_probes;
	assert_int_equal(perfev_probe(PERFEV_CAN_KPROBES, &err), 1);
	assert_int_equal(perfev_probe(PERFEV_CAN_UPROBES, &err), 0);
	assert_says("probes need CAP_PERFMON");
}

/* ---- what the kernel knows ------------------------------------------------------------------------------------ */

static int everything;

static int linux_5_12(struct fake_event *event, struct perf_event_attr *attr)
{
	(void)event;
	if (everything)
		return everything;
	if (attr->config3 || attr->config4 || attr->sig_data)
		return -E2BIG;
	if (attr->sigtrap || attr->remove_on_exec || attr->inherit_thread || attr->defer_output ||
	    attr->aux_action || (attr->read_format & PERF_FORMAT_LOST))
		return -EINVAL;
	if ((attr->sample_type & PERF_SAMPLE_READ) && attr->inherit)
		return -EINVAL;
	if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK)
		return attr->branch_sample_type & (PERF_SAMPLE_BRANCH_COUNTERS | PERF_SAMPLE_BRANCH_PRIV_SAVE)
			       ? -EINVAL
			       : -EOPNOTSUPP;
	return attr->namespaces || (attr->sample_type & PERF_SAMPLE_PHYS_ADDR) ? -EACCES : 0;
}

static void test_what_the_kernel_knows(void **state)
{
	struct perfev_kernel_item item;
	struct perfev_kernel kernel;
	size_t i;

	(void)state;
	everything = 0;
	fake.on_open = linux_5_12;
	perfev_kernel_read(&kernel);
	assert_true(kernel.unknown == 0);
	assert_true(kernel.has == (UINT64_C(1) << PERFEV_KERNEL_INHERIT_THREAD) - 1); /* in order of versions */
	for (i = 0; perfev_kernel_item_at(i, &item); i++) {
		unsigned major = 0, minor = 0;

		assert_int_equal(sscanf(item.since, "%u.%u", &major, &minor), 2);
		assert_int_equal(kernel.has >> i & 1, major * 100 + minor <= 512);
	}
	assert_int_equal(i, PERFEV_KERNEL_COUNT);
	everything = -EPERM;
	perfev_kernel_read(&kernel);
	assert_true(kernel.has == 0 && kernel.unknown == (UINT64_C(1) << PERFEV_KERNEL_COUNT) - 1);
	everything = -ENOSYS;
	perfev_kernel_read(&kernel);
	assert_true(kernel.has == 0 && kernel.unknown == (UINT64_C(1) << PERFEV_KERNEL_COUNT) - 1);
	assert_int_equal(fake.opened, fake.closed);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_numbers, setup, teardown),
	cmocka_unit_test_setup_teardown(test_nothing, setup, teardown),
	cmocka_unit_test_setup_teardown(test_a_machine, setup, teardown),
	cmocka_unit_test_setup_teardown(test_odd_files, setup, teardown),
	cmocka_unit_test_setup_teardown(test_facts_of_a_refusal, setup, teardown),
	cmocka_unit_test_setup_teardown(test_trials, setup, teardown),
	cmocka_unit_test_setup_teardown(test_trials_that_say_nothing, setup, teardown),
	cmocka_unit_test_setup_teardown(test_names, setup, teardown),
	cmocka_unit_test_setup_teardown(test_probes_that_fail, setup, teardown),
	cmocka_unit_test_setup_teardown(test_probes_that_work, setup, teardown),
	cmocka_unit_test_setup_teardown(test_probes_of_many_cpus, setup, teardown),
	cmocka_unit_test_setup_teardown(test_probes_of_tracefs, setup, teardown),
	cmocka_unit_test_setup_teardown(test_probes_that_are_forbidden, setup, teardown),
	cmocka_unit_test_setup_teardown(test_what_the_kernel_knows, setup, teardown),
};

int main(void)
{
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	fake_reset();
	return failed;
}
