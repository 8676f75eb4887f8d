/* SPDX-License-Identifier: MIT */
/* Memory that runs out for what measures: each allocation of each piece of work fails once. What it was done on can be used and
 * freed afterwards; and what is done again and again allocates nothing. */
#include "machine.h"
#include "run_out.h"

#include "capture/event.h"
#include "fake/kernel.h"

#include <perfev/perfev.h>

/* ---- the work ---------------------------------------------------------------------------------------------- */

static int parse_events(void)
{
	struct perfev_events *events = NULL, *more = NULL;
	struct perfev_event *event = NULL;
	int r = perfev_events_parse(&events, "cycles:u,{cs,r1},faults,L1-dcache-loads", &err);

	if (r == 0)
		r = perfev_event_parse(&event, "cs", &err);
	if (r == 0)
		r = perfev_events_new(&more, &err);
	if (r == 0)
		r = perfev_events_add(more, event, -1, &err);
	if (r == 0)
		r = perfev_events_append(more, events, &err);
	perfev_events_free(events);
	perfev_events_free(more);
	perfev_event_free(event);
	return r;
}

/* ---- event text on another machine ------------------------------------------------------------------------- */

static const struct perfev_parse_opts there = {sizeof(there), "/there/sys", "/there/tracing"};
static const char *text_there;
static size_t count_there; /* of events that it means; 0: to be counted */

static bool put_there(void *context, const char *path, const char *text)
{
	char full[300];

	(void)context;
	snprintf(full, sizeof(full), "/there/%s", path);
	fake_file(full, text);
	return true;
}

static int parse_there(void)
{
	struct perfev_events *list = NULL;
	char text[1000];
	size_t i;
	int r = perfev_events_parse_at(&list, text_there, &there, &err);

	for (i = 0; r >= 0 && i < perfev_events_count(list); i++)
		r = event_format_at(text, sizeof(text), perfev_events_at(list, i), &there, &err);
	if (r >= 0 && !count_there)
		count_there = perfev_events_count(list);
	if (r >= 0) /* none is overlooked */
		assert_int_equal(perfev_events_count(list), count_there);
	perfev_events_free(list);
	assert_int_equal(fake_left(), 0);
	return r < 0 ? r : 0;
}

static int list_pmus(void)
{
	struct perfev_pmus *pmus = NULL;
	int r = perfev_pmus_read(&pmus, there.sysfs, &err);

	perfev_pmus_free(pmus);
	assert_int_equal(fake_left(), 0);
	return r;
}

static int probe_lines;

static int take_probe(const char *path, const char *text)
{
	long in = fail_in; /* the kernel has memory of its own */
	char name[64], id[200];

	(void)path;
	if (sscanf(text + 1, ":perfev/%63s", name) != 1)
		return -EINVAL;
	snprintf(id, sizeof(id), "/there/tracing/events/perfev/%s/id", name);
	if (text[0] == '-') {
		fake_remove(id);
		probe_lines--;
		return 0;
	}
	fail_in = -1;
	fake_file(id, "5");
	fail_in = in;
	probe_lines++;
	return 0;
}

static int probe_there(void)
{
	struct perfev_events *list = NULL;
	int r = perfev_events_parse_at(&list, "kprobe:f:u,{uprobe:/x:1,cs}", &there, &err);

	perfev_events_free(list);
	assert_int_equal(probe_lines, 0);
	assert_int_equal(fake_left(), 0);
	return r;
}

static int make_events(void)
{
	struct perfev_event *list[5] = {NULL};
	int r = perfev_event_hardware(&list[0], 0, &err), i;

	if (r == 0)
		r = perfev_event_breakpoint(&list[1], 16, 0, HW_BREAKPOINT_W, &err);
	if (r == 0)
		r = perfev_event_kprobe(&list[2], "f", 1, true, &err);
	if (r == 0)
		r = perfev_event_uprobe(&list[3], "/x", 1, 2, true, &err);
	if (r == 0)
		r = perfev_event_tracepoint(&list[4], "s", "t", &err);
	for (i = 0; i < 5; i++)
		perfev_event_free(list[i]);
	assert_int_equal(fake_left(), 0);
	return r;
}

static void test_event_text(void **state)
{
	static const char *const texts[][2] = {
		{"alderlake", "{cycles,instructions}:S,topdown-retiring"},
		{"alderlake", "cpu_core/mem-loads,ldlat=3,cpu=cpu_atom,cpu=1/P"},
		{"alderlake", "uprobe:/x:0x10(1)/name=n/,kretprobe:f+1"},
		{"zen", "energy-pkg,amd_umc/event=1/"},
		{"big-little", "cs_etm/@tmc_etr0/,arm_spe//"},
		{"power", "hv_24x7/PM_PB_CYC__PHYS_CHIP,chip=1/"},
		{"xeon", "sched:sched_*:k,mem:0x10:w/name='x y'/"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		fake_reset();
		assert_true(machine_read(texts[i][0], put_there, NULL));
		text_there = texts[i][1];
		count_there = 0;
		assert_works(parse_there());
		run_out(text_there, parse_there);
	}
	run_out("PMUs", list_pmus);
	fake_reset();
	fake_file("/there/sys/bus/event_source/devices/software/type", "1");
	fake.on_append = take_probe;
	run_out("probes of tracefs", probe_there);
	fake_file("/sys/bus/event_source/devices/kprobe/type", "6");
	fake_file("/sys/bus/event_source/devices/kprobe/format/retprobe", "config:0");
	fake_file("/sys/bus/event_source/devices/uprobe/type", "7");
	fake_file("/sys/bus/event_source/devices/uprobe/format/retprobe", "config:0");
	fake_file("/sys/bus/event_source/devices/uprobe/format/ref_ctr_offset", "config:32-63");
	fake_file("/proc/self/mounts", "t /t tracefs rw 0 0\n");
	fake_file("/t/events/s/t/id", "9");
	run_out("events without text", make_events);
	fake_reset();
}

static struct perfev_events *events;

static int open_set(void)
{
	struct perfev_set *set = NULL;
	int r = perfev_set_open(&set, events, perfev_on_process(7), NULL, &err);

	perfev_set_close(set);
	assert_int_equal(fake_left(), 0);
	return r;
}

static int open_sampler(void)
{
	const struct perfev_event *list[2] = {perfev_events_at(events, 0), perfev_events_at(events, 1)};
	struct perfev_sampler_opts opts = {.size = sizeof(opts), .ring_bytes = 1 << 16};
	struct perfev_sampler *sampler = NULL;
	int r;

	perfev_event_attr(perfev_events_at(events, 0))->sample_period = 1;
	perfev_event_attr(perfev_events_at(events, 1))->sample_period = 1;
	r = perfev_sampler_open(&sampler, list, 2, perfev_on_all_cpus(), &opts, &err);

	perfev_sampler_close(sampler);
	assert_int_equal(fake_left(), 0);
	return r;
}

static int open_counter(void)
{
	const struct perfev_counter_opts opts = {.size = sizeof(opts), .user_read = 1};
	struct perfev_counter *counter = NULL;
	int r = perfev_counter_open(&counter, perfev_events_at(events, 0), perfev_on_self(), &opts,
				    &err);

	perfev_counter_close(counter);
	assert_int_equal(fake_left(), 0);
	return r;
}

static int measure_regions(void)
{
	struct perfev_regions_opts opts = {.size = sizeof(opts), .events = "cycles,cs,faults"};
	struct perfev_regions *regions = NULL, *more = NULL;
	double number;
	int r = perfev_regions_open(&regions, &opts, &err);

	if (r == 0)
		r = perfev_regions_open(&more, &opts, &err);
	if (r == 0)
		r = perfev_region_begin(regions, "a");
	if (r == 0) {
		r = perfev_region_begin(regions, "b");
		if (r == 0)
			perfev_region_end(regions);
		perfev_region_end(regions);
	}
	if (r == -ENOMEM && has_failed && more) { /* of a begin, which has no error to fill */
		err.code = r;
		err.why = PERFEV_WHY_MEMORY;
	}
	if (r == 0)
		r = perfev_regions_add(more, regions, &err);
	if (r == 0)
		r = perfev_region_metric(&number, more, 0, "1", &err);
	perfev_regions_close(regions);
	perfev_regions_close(more);
	assert_int_equal(fake_left(), 0);
	return r;
}

static int open_group(void)
{
	const struct perfev_counter_opts opts = {.size = sizeof(opts), .user_read = 1, .partial = 1};
	const struct perfev_event *list[3] = {perfev_events_at(events, 0), perfev_events_at(events, 1),
					      perfev_events_at(events, 2)};
	struct perfev_group *group = NULL;
	int r = perfev_group_open(&group, list, 3, perfev_on_self(), &opts, &err);

	if (r == 0) {
		r = perfev_group_add(group, list[0], &err);
		assert_int_equal(perfev_group_count(group), r < 0 ? 3 : 4);
		r = r < 0 ? r : 0;
	}
	perfev_group_close(group);
	assert_int_equal(fake_left(), 0);
	return r;
}

static int list_programs(void)
{
	struct perfev_event *event = NULL;
	struct perfev_counter *counter = NULL;
	uint32_t ids[2];
	int r = perfev_event_parse(&event, "2:314", &err);

	fake.bpf_count = 20;
	if (r == 0)
		r = perfev_counter_open(&counter, event, perfev_on_self(), NULL, &err);
	if (r == 0) {
		r = perfev_counter_bpf_ids(counter, ids, 2, &err);
		r = r == 20 ? 0 : r;
	}
	perfev_counter_close(counter);
	perfev_event_free(event);
	assert_int_equal(fake_left(), 0);
	return r;
}

static int synthesize(void)
{
	struct perfev_synth *synth = NULL;
	struct perfev_record record;
	int r = perfev_synth_open(&synth, perfev_on_process(7), NULL, NULL, &err);

	if (r == 0)
		while ((r = perfev_synth_next(synth, &record, &err)) > 0)
			;
	perfev_synth_close(synth);
	assert_int_equal(fake_left(), 0);
	assert_int_equal(r < 0, has_failed); /* records that are missing are not passed over */
	return r;
}

/* ---- tests -------------------------------------------------------------------------------------------------------- */

static void a_kernel(void)
{
	fake_reset();
	fake_file("/sys/devices/system/cpu/online", "0-3\n");
	fake_file("/sys/bus/event_source/devices/cpu/type", "4\n");
	fake_process(7, 1, "seven", "7 8 9");
	fake_file("/proc/7/maps", "1000-2000 r-xp 00000000 01:02 3 /bin/x\n");
	fake_file("/proc/kallsyms", "ffffffff81000000 T _text\nffffffff82000000 T _etext\n");
	fake_file("/proc/modules", "snd 40960 2 - Live 0xffffffffc0a00000\n");
}

static void test_capture(void **state)
{
	(void)state;
	run_out("events", parse_events);
	a_kernel();
	assert_works(perfev_events_parse(&events, "cycles,{cs,faults}", &err));
	run_out("counter", open_counter);
	run_out("regions", measure_regions);
	run_out("group", open_group);
	run_out("programs", list_programs);
	run_out("set", open_set);
	run_out("sampler", open_sampler);
	run_out("synthesis", synthesize);
	perfev_events_free(events);
	fake_reset();
}

/* Two samples and a type that is not known, in each of the rings. */
static void fill_rings(void)
{
	struct perf_event_header header = {PERF_RECORD_SAMPLE, 2, 24};
	uint64_t words[3] = {0, 0, 7};
	int i, k;

	for (i = 0; i < fake.event_count; i++)
		for (k = 0; k < 3; k++) {
			header.type = k < 2 ? PERF_RECORD_SAMPLE : 99;
			memcpy(words, &header, 8);
			words[1] = fake.events[i].id;
			if (fake.events[i].open && (fake.events[i].page || fake.events[i].output >= 0))
				assert_true(fake_write(&fake.events[i], words, 24));
		}
}

/* What is done again and again allocates nothing, as often as it is done: here each allocation would fail. */
static void test_nothing_is_allocated_meanwhile(void **state)
{
	const struct perfev_event *list[2];
	struct perfev_sampler *sampler = NULL;
	struct perfev_counter *counter = NULL;
	struct perfev_reading reading[3];
	struct perfev_record record;
	struct perfev_set *set = NULL;
	struct perfev_any any;
	int lap, n = 0;

	(void)state;
	a_kernel();
	assert_works(perfev_events_parse(&events, "cycles,{cs,faults}", &err));
	for (lap = 0; lap < 2; lap++) {
		list[lap] = perfev_events_at(events, (size_t)lap);
		perfev_event_attr(perfev_events_at(events, (size_t)lap))->sample_period = 1;
		perfev_event_attr(perfev_events_at(events, (size_t)lap))->sample_type = PERF_SAMPLE_IP;
	}
	assert_works(perfev_set_open(&set, events, perfev_on_process(7), NULL, &err));
	assert_works(perfev_counter_open(&counter, list[0], perfev_on_self(), NULL, &err));
	assert_works(perfev_sampler_open(&sampler, list, 2, perfev_on_all_cpus(), NULL, &err));
	has_failed = false;
	for (lap = 0; lap < 100; lap++) {
		fail_in = -1;
		fill_rings();
		fail_in = 0;
		assert_int_equal(perfev_sampler_wait(sampler, 0, &err), 1);
		for (; perfev_sampler_next(sampler, &record, &err) > 0; n++)
			perfev_any_decode(&any, &record, perfev_sampler_layout(sampler, &record), &err);
		perfev_sampler_release(sampler);
		assert_works(perfev_counter_read(counter, reading, &err));
		assert_works(perfev_set_read(set, reading, 3, &err));
		fail_in = -1;
	}
	assert_false(has_failed);
	assert_true(n >= 600);
	perfev_sampler_close(sampler);
	perfev_set_close(set);
	perfev_counter_close(counter);
	perfev_events_free(events);
	fake_reset();
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_event_text),
	cmocka_unit_test(test_capture),
	cmocka_unit_test(test_nothing_is_allocated_meanwhile),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
