/* SPDX-License-Identifier: MIT */
/* PMUs as sysfs tells them: on machines of each kind, and where files are huge, binary, cut or missing. */
#include "test.h"
#include "machine.h"

#include "capture/pmu.h"

#include <sys/stat.h>
#include <unistd.h>

#define DEVICES "sys/bus/event_source/devices/"

static struct perfev_error err;

/* ---- bits ---------------------------------------------------------------------------------------------- */

static void test_bits(void **state)
{
	static const struct {
		const char *text;
		unsigned word;
		uint64_t mask;
	} rows[] = {
		{"config:0-7", 0, 0xff}, {"config:0", 0, 1}, {"config:63", 0, UINT64_C(1) << 63},
		{"config:0-63", 0, UINT64_MAX}, {"config1:1-62", 1, UINT64_MAX / 4 * 2},
		{"config:0-7,32-35", 0, 0xf000000ff}, {"config:0-7,32-35,59-60", 0, 0xff | UINT64_C(0xf) << 32 | UINT64_C(3) << 59},
		{"config2:1,6-10,44", 2, 0x1000000007c2}, {"config3:0", 3, 1}, {"config4:5-5", 4, 0x20},
		{"config:32-35,0-7", 0, 0xf000000ff}, {"config:0-3,2-5", 0, 0x3f},
	};
	static const char *const wrong[] = {
		"", "config", "config:", "config:x", "config:64", "config:0-64", "config:7-0", "config:0-", "config:-7",
		"config:0,", "config:,0", "config:0;1", "config5:0", "config0:0", "confi:0", "config:0 1", "config:0-7 ",
		"config1", "config11:0", "config:99999999999999999999", "\x01\x02\x03", "config:0-7,", " config:0",
	};
	struct pmu_bits bits;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!pmu_bits(&bits, rows[i].text) || bits.word != rows[i].word || bits.mask != rows[i].mask)
			fail_msg("'%s': %u, 0x%llx", rows[i].text, bits.word, (unsigned long long)bits.mask);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (pmu_bits(&bits, wrong[i]))
			fail_msg("'%s' is taken: 0x%llx", wrong[i], (unsigned long long)bits.mask);
}

static void test_scatter(void **state)
{
	uint64_t seed = 88172645463325252u, word;
	int i;

	(void)state;
	assert_true(pmu_scatter(&word, 0xf000000ff, 0x1c2) && word == 0x1000000c2);
	assert_false(pmu_scatter(&word, 0xf000000ff, 0x1000));
	assert_false(pmu_scatter(&word, 0, 1));
	assert_true(pmu_scatter(&word, 0, 0) && word == 0);
	assert_true(pmu_scatter(&word, UINT64_MAX, UINT64_MAX) && word == UINT64_MAX);
	for (i = 0; i < 10000; i++) { /* there and back, whatever the bits */
		uint64_t mask, value;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		mask = seed ^ seed >> 29;
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		value = pmu_gather(mask, seed);
		assert_true(pmu_scatter(&word, mask, value));
		assert_true(word == (seed & mask) && pmu_gather(mask, word) == value);
	}
}

/* ---- machines ------------------------------------------------------------------------------------------ */

static void test_a_server(void **state)
{
	static const char *const cha[] = {"uncore_cha_0", "uncore_cha_1", "uncore_cha_2", "uncore_cha_10"};
	const struct perfev_pmu *pmu;
	struct perfev_pmus *pmus;
	struct machine machine;
	size_t i, at = 0;

	(void)state;
	assert_true(machine_new(&machine, "xeon"));
	assert_works(perfev_pmus_read(&pmus, machine.sysfs, &err));
	assert_int_equal(perfev_pmus_count(pmus), 19);
	assert_null(perfev_pmus_at(pmus, 19));
	assert_null(perfev_pmus_at(pmus, SIZE_MAX));
	for (i = 0; i < perfev_pmus_count(pmus); i++)
		if (!strncmp(perfev_pmus_at(pmus, i)->name, "uncore_cha", 10))
			assert_string_equal(perfev_pmus_at(pmus, i)->name, cha[at++]);
	pmu = perfev_pmus_find(pmus, "cpu");
	assert_non_null(pmu);
	assert_int_equal(pmu->type, 4);
	assert_int_equal(pmu->flags, PERFEV_PMU_CORE);
	assert_int_equal(pmu->cpu_count, 0);
	assert_int_equal(pmu->format_count, 10);
	assert_string_equal(pmu->formats[0].name, "any"); /* sorted */
	assert_string_equal(pmu->formats[0].text, "config:21");
	assert_int_equal(pmu->event_count, 7); /* total.slots.scale is none */
	assert_string_equal(perfev_pmu_cap_value(pmu, "max_precise"), "3");
	assert_null(perfev_pmu_cap_value(pmu, "none"));
	assert_string_equal(pmu->identifier, "");
	pmu = perfev_pmus_find(pmus, "intel_cqm");
	assert_int_equal(pmu->flags, PERFEV_PMU_SYSTEM_WIDE);
	assert_int_equal(pmu->cpu_count, 2);
	assert_int_equal(pmu->cpus[1], 18);
	assert_int_equal(pmu->event_count, 1);
	assert_true(pmu->events[0].snapshot && pmu->events[0].per_package);
	assert_string_equal(pmu->events[0].unit, "Bytes");
	assert_true(pmu->events[0].scale > 65535 && pmu->events[0].scale < 65537);
	assert_null(perfev_pmus_find(pmus, "nothing"));
	perfev_pmus_free(pmus);
	machine_free(&machine);
}

static void test_other_machines(void **state)
{
	static const struct {
		const char *machine, *pmu;
		uint32_t flags;
		size_t cpus;
	} rows[] = {
		{"alderlake", "cpu_core", PERFEV_PMU_CORE | PERFEV_PMU_PARTIAL, 16},
		{"alderlake", "cpu_atom", PERFEV_PMU_CORE | PERFEV_PMU_PARTIAL, 8},
		{"alderlake", "power", PERFEV_PMU_SYSTEM_WIDE, 1},
		{"alderlake", "msr", 0, 0},
		{"alderlake", "intel_pt", 0, 0},
		{"zen", "cpu", PERFEV_PMU_CORE, 0},
		{"zen", "ibs_op", 0, 0},
		{"zen", "amd_l3", PERFEV_PMU_SYSTEM_WIDE, 2},
		{"big-little", "armv8_cortex_a53", PERFEV_PMU_CORE | PERFEV_PMU_PARTIAL, 4},
		{"big-little", "armv8_cortex_a72", PERFEV_PMU_CORE | PERFEV_PMU_PARTIAL, 2},
		{"big-little", "arm_spe_0", 0, 2},
		{"big-little", "smmuv3_pmcg_2b402", PERFEV_PMU_SYSTEM_WIDE, 1},
		{"mainframe", "cpum_cf", PERFEV_PMU_CORE, 0},
		{"mainframe", "cpum_sf", 0, 0},
		{"riscv", "cpu", PERFEV_PMU_CORE, 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct perfev_pmu *pmu;
		struct perfev_pmus *pmus;
		struct machine machine;

		assert_true(machine_new(&machine, rows[i].machine));
		assert_works(perfev_pmus_read(&pmus, machine.sysfs, &err));
		pmu = perfev_pmus_find(pmus, rows[i].pmu);
		if (!pmu || pmu->flags != rows[i].flags || pmu->cpu_count != rows[i].cpus)
			fail_msg("%s on %s: flags %u, %zu CPUs", rows[i].pmu, rows[i].machine, pmu ? pmu->flags : 99,
				 pmu ? pmu->cpu_count : 99);
		if (!strcmp(rows[i].pmu, "intel_pt"))
			assert_int_equal(pmu->addr_filters, 2);
		perfev_pmus_free(pmus);
		machine_free(&machine);
	}
}

/* ---- hostile trees --------------------------------------------------------------------------------------- */

static void put(const struct machine *machine, const char *path, const char *text)
{
	char full[300];

	snprintf(full, sizeof(full), DEVICES "%s", path);
	assert_true(machine_file(machine, full, text, strlen(text)));
}

/* A file of @size times the same letter behind its beginning. */
static void put_long(const struct machine *machine, const char *path, const char *begin, char letter, size_t size)
{
	char *text = malloc(strlen(begin) + size + 1);

	assert_non_null(text);
	strcpy(text, begin);
	memset(text + strlen(begin), letter, size);
	text[strlen(begin) + size] = 0;
	put(machine, path, text);
	free(text);
}

static struct perfev_pmus *read_and_remove(struct machine *machine)
{
	struct perfev_pmus *pmus;

	assert_works(perfev_pmus_read(&pmus, machine->sysfs, &err));
	machine_free(machine);
	return pmus;
}

static void test_types(void **state)
{
	static const char *const wrong[] = {"", "\n", "x", "-1", "4x", "2147483648", "99999999999999999999", "4 5", "\x04"};
	struct perfev_pmus *pmus;
	struct machine machine;
	char path[64];
	size_t i;

	(void)state;
	assert_true(machine_new(&machine, ""));
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(path, sizeof(path), "bad%zu/type", i);
		put(&machine, path, wrong[i]);
	}
	put_long(&machine, "long/type", "4", '0', 300);
	put_long(&machine, "huge/type", "", '\n', 1 << 20);
	put(&machine, "none/format/event", "config:0\n");
	put(&machine, "largest/type", "2147483647");
	put(&machine, "plain", "a file, and not a folder");
	pmus = read_and_remove(&machine);
	assert_int_equal(perfev_pmus_count(pmus), 2);
	assert_int_equal(perfev_pmus_find(pmus, "largest")->type, INT32_MAX);
	perfev_pmus_free(pmus);
}

static const struct perfev_pmu_event *event_of(const struct perfev_pmu *pmu, const char *name)
{
	return pmu_event(pmu, name, strlen(name));
}

static void test_files_that_cannot_be_read(void **state)
{
	const struct perfev_pmu_event *event;
	const struct perfev_pmu *pmu;
	struct perfev_pmus *pmus;
	struct machine machine;

	(void)state;
	assert_true(machine_new(&machine, ""));
	put(&machine, "p/type", "7"); /* no newline anywhere */
	put(&machine, "p/format/event", "config:0-7");
	put_long(&machine, "p/format/cut", "config:0-1", '0', 1 << 16);
	put(&machine, "p/format/empty", "");
	put(&machine, "p/format/binary", "\xff\xfe\x01");
	put(&machine, "p/events/good", "event=1 \t\r\n");
	put(&machine, "p/events/a.b.c", "event=2\n\n\n");
	put(&machine, "p/events/a.b.c.scale", "2.5\n");
	put(&machine, "p/events/a.b.c.unit", "things\n");
	put(&machine, "p/events/empty", "\n");
	put_long(&machine, "p/events/longest", "event=", '0', 3000);
	put_long(&machine, "p/events/cut", "event=1", '0', 1 << 20);
	put(&machine, "p/events/orphan.scale", "2");
	put(&machine, "p/events/bad.scale", "two");
	put(&machine, "p/events/bad", "event=3");
	put(&machine, "p/events/bad.snapshot", "0");
	put_long(&machine, "p/events/bad.unit", "", 'u', 1 << 16);
	put(&machine, "p/cpumask", "0-3,x");
	put(&machine, "p/nr_addr_filters", "many");
	put(&machine, "p/caps/none", "");
	pmus = read_and_remove(&machine);
	pmu = perfev_pmus_find(pmus, "p");
	assert_non_null(pmu);
	assert_int_equal(pmu->format_count, 2);
	assert_null(pmu_format(pmu, "cut", 3));
	assert_int_equal(pmu->event_count, 4);
	assert_string_equal(event_of(pmu, "good")->terms, "event=1");
	assert_null(event_of(pmu, "cut"));
	assert_null(event_of(pmu, "orphan"));
	event = event_of(pmu, "A.B.c"); /* case does not matter */
	assert_non_null(event);
	assert_string_equal(event->terms, "event=2");
	assert_string_equal(event->unit, "things");
	assert_true(event->scale > 2.4 && event->scale < 2.6);
	event = event_of(pmu, "bad");
	assert_true(event->scale > 0.9 && event->scale < 1.1);
	assert_string_equal(event->unit, "");
	assert_false(event->snapshot || event->per_package);
	assert_int_equal(pmu->flags, PERFEV_PMU_SYSTEM_WIDE);
	assert_int_equal(pmu->cpu_count, 0);
	assert_int_equal(pmu->addr_filters, 0);
	assert_string_equal(perfev_pmu_cap_value(pmu, "none"), "");
	perfev_pmus_free(pmus);
}

/* An event of such a PMU is refused with words, or means what could be read. */
static void test_events_of_such_trees(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{"p/binary=1/", "cannot be read"}, {"p/odd/", "no term"}, {"p/loop/", "no term 'loop'"},
		{"p/quote/", "cannot be read"}, {"p/slash/", "cannot be read"}, {"p/comma/", "cannot be read"}, {"p/half/", "needs a number"}, {"p/lines/", "cannot be read"},
	};
	struct perfev_events *events;
	struct machine machine;
	size_t i;

	(void)state;
	assert_true(machine_new(&machine, ""));
	put(&machine, "p/type", "7\n");
	put(&machine, "p/format/event", "config:0-7\n");
	put(&machine, "p/format/binary", "\xff\xfe\x01\n");
	put(&machine, "p/events/odd", "\x01\x02=\xff\n");
	put(&machine, "p/events/loop", "loop\n");
	put(&machine, "p/events/quote", "name='x\n");
	put(&machine, "p/events/half", "event=\n");
	put(&machine, "p/events/lines", "event=1\nevent=2\n");
	put(&machine, "p/events/slash", "event=1/event=2\n");
	put(&machine, "p/events/comma", "event=1,\n");
	put(&machine, "p/events/fine", "event=1,period=0x10\n");
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (perfev_events_parse_at(&events, rows[i].text, &machine.opts, &err) != -EINVAL)
			fail_msg("'%s' is taken", rows[i].text);
		assert_says(rows[i].says);
	}
	assert_works(perfev_events_parse_at(&events, "p/fine/", &machine.opts, &err));
	assert_int_equal(perfev_event_attr(perfev_events_at(events, 0))->sample_period, 16);
	perfev_events_free(events);
	machine_free(&machine);
}

/* ---- what comparable libraries got wrong ------------------------------------------------------------------------ */

static struct perf_event_attr attr_of(const struct machine *machine, const char *text)
{
	struct perfev_events *events;
	struct perf_event_attr attr;

	if (perfev_events_parse_at(&events, text, &machine->opts, &err) < 0)
		fail_msg("'%s': %s", text, err.text);
	attr = *perfev_event_attr(perfev_events_at(events, 0));
	perfev_events_free(events);
	return attr;
}

static void test_terms_that_others_get_wrong(void **state)
{
	struct perfev_event_info info;
	struct perfev_events *events;
	struct machine machine;

	(void)state;
	assert_true(machine_new(&machine, ""));
	put(&machine, "cpu/type", "4\n");
	put(&machine, "cpu/format/event", "config:0-7,32-35 \n");
	put(&machine, "cpu/format/umask", "config:8-15\n");
	put(&machine, "cpu/format/inv", "config:23\n");
	put(&machine, "cpu/format/threshold", "config3:4-7\n");
	put(&machine, "cpu/format/newest", "config4:0-63\n");
	put(&machine, "cpu/events/a.b", "event=10,inv\n");
	put(&machine, "cpu/events/a.b.scale", "2.3283064365386962890625e-10\n");
	put(&machine, "cpu/events/a.b.unit", "Joules\n");
	put(&machine, "cpu/events/often", "event=0xc0,period=200000\n");
	put(&machine, "cpu/events/none", "event=1,nothing=2\n");
	assert_int_equal(attr_of(&machine, "cpu/event=0x1C2/").config, 0x1000000c2);
	assert_int_equal(attr_of(&machine, "cpu/event=10/").config, 10); /* the others 0 */
	assert_int_equal(attr_of(&machine, "cpu/event=0x10/").config, 16);
	assert_int_equal(attr_of(&machine, "cpu/inv/").config, 1 << 23);
	assert_int_equal(attr_of(&machine, "cpu/threshold=15/").config3, 0xf0);
	assert_true(attr_of(&machine, "cpu/newest=0xffffffffffffffff/").config4 == UINT64_MAX);
	assert_int_equal(attr_of(&machine, "cpu/often/").sample_period, 200000);
	assert_works(perfev_events_parse_at(&events, "a.b", &machine.opts, &err));
	perfev_event_describe(perfev_events_at(events, 0), &info);
	assert_int_equal(perfev_event_attr(perfev_events_at(events, 0))->config, 10 | 1 << 23);
	assert_true(info.scale > 0x1p-33 && info.scale < 0x1p-31);
	assert_string_equal(info.unit, "Joules");
	perfev_events_free(events);
	assert_fails(perfev_events_parse_at(&events, "cpu/event=0x1000/", &machine.opts, &err), EINVAL);
	assert_fails(perfev_events_parse_at(&events, "cpu/nothing=2/", &machine.opts, &err), EINVAL);
	assert_fails(perfev_events_parse_at(&events, "cpu/none/", &machine.opts, &err), EINVAL);
	machine_free(&machine);
}

static void test_one_event_for_each_kind_of_core(void **state)
{
	struct perfev_event_info info;
	struct perfev_events *events;
	struct machine machine;
	size_t i;

	(void)state;
	assert_true(machine_new(&machine, "alderlake"));
	assert_works(perfev_events_parse_at(&events, "cycles", &machine.opts, &err));
	assert_int_equal(perfev_events_count(events), 2);
	for (i = 0; i < 2; i++) {
		const struct perf_event_attr *attr = perfev_event_attr(perfev_events_at(events, i));

		perfev_event_describe(perfev_events_at(events, i), &info);
		assert_int_equal(attr->type, PERF_TYPE_HARDWARE);
		assert_int_equal(attr->config >> 32, i ? 4 : 10);
		assert_int_equal(info.cpu_count, i ? 16 : 8);
		assert_int_equal(info.cpus[0], i ? 0 : 16);
	}
	perfev_events_free(events);
	machine_free(&machine);
}

static void test_links_that_go_in_circles(void **state)
{
	char from[300];
	struct perfev_pmus *pmus;
	struct machine machine;
	static const char links[][16] = {"loop", "p/format", "p/events", "p/caps", "p/cpumask", "p/identifier"};
	size_t i;

	(void)state;
	assert_true(machine_new(&machine, ""));
	put(&machine, "p/type", "7\n");
	for (i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		const char *slash = strrchr(links[i], '/'), *name = slash ? slash + 1 : links[i];

		snprintf(from, sizeof(from), "%s/" DEVICES "%s", machine.root, links[i]);
		assert_int_equal(symlink(name, from), 0); /* to itself */
	}
	pmus = read_and_remove(&machine);
	assert_int_equal(perfev_pmus_count(pmus), 2);
	assert_int_equal(perfev_pmus_find(pmus, "p")->format_count, 0);
	assert_int_equal(perfev_pmus_find(pmus, "p")->flags, 0);
	perfev_pmus_free(pmus);
}

static void test_no_tree(void **state)
{
	struct perfev_pmus *pmus = NULL;

	(void)state;
	assert_fails(perfev_pmus_read(&pmus, "/nonexistent", &err), ENOENT);
	assert_says("cannot list the PMUs");
	assert_null(pmus);
	perfev_pmus_free(NULL);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_bits),
	cmocka_unit_test(test_scatter),
	cmocka_unit_test(test_a_server),
	cmocka_unit_test(test_other_machines),
	cmocka_unit_test(test_types),
	cmocka_unit_test(test_files_that_cannot_be_read),
	cmocka_unit_test(test_events_of_such_trees),
	cmocka_unit_test(test_terms_that_others_get_wrong),
	cmocka_unit_test(test_one_event_for_each_kind_of_core),
	cmocka_unit_test(test_links_that_go_in_circles),
	cmocka_unit_test(test_no_tree),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
