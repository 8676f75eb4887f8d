/* SPDX-License-Identifier: MIT */
/* Regions: sums by name and place, the price of measuring taken off, formulas, events that do not fit together. */
#include "test.h"

#include "base/formula.h"
#include "fake/kernel.h"

#include <perfev/region.h>

#include <errno.h>
#include <locale.h>

static struct perfev_error err;
static struct perfev_regions *regions;
static uint64_t price; /* what each reading counts, of all events */

static void go_on(void)
{
	int i;

	for (i = 0; i < fake.event_count; i++) {
		fake.events[i].count += price;
		fake.events[i].enabled_ns += 10;
		fake.events[i].running_ns += 10;
	}
}

static int setup(void **state)
{
	(void)state;
	fake_reset();
	fake_file("/sys/bus/event_source/devices/software/type", "1\n");
	price = 0;
	fake.on_read = go_on;
	regions = NULL;
	unsetenv("PERFEV_EVENTS");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	perfev_regions_close(regions);
	return fake_left();
}

static int open_them(const char *text)
{
	struct perfev_regions_opts opts = {.size = sizeof(opts), .events = text};

	return perfev_regions_open(&regions, &opts, &err);
}

static void work(uint64_t count)
{
	int i;

	for (i = 0; i < fake.event_count; i++)
		if (fake.events[i].open)
			fake.events[i].count += count * (uint64_t)(i + 1);
}

static void expect(const char *name, size_t event, uint64_t count, uint64_t overhead)
{
	struct perfev_region_value value;
	int index = perfev_region_find(regions, name);

	assert_true(index >= 0);
	assert_true(perfev_region_value_at(regions, (size_t)index, event, &value));
	assert_int_equal(value.status, PERFEV_COUNTED);
	assert_int_equal(value.count, count);
	assert_int_equal(value.overhead, overhead);
}

static void expect_region(size_t index, const char *name, int parent, uint64_t entries, uint64_t iterations)
{
	struct perfev_region_info info;

	assert_true(perfev_region_at(regions, index, &info));
	assert_string_equal(info.name, name);
	assert_int_equal(info.parent, parent);
	assert_int_equal(info.entries, entries);
	assert_int_equal(info.iterations, iterations);
	assert_int_equal(info.depth, parent < 0 ? 0 : 1);
}

static void begin(const char *name)
{
	assert_works(perfev_region_begin(regions, name));
}

static void end(void)
{
	assert_works(perfev_region_end(regions));
}

static void test_sums(void **state)
{
	struct perfev_region_value value;
	int i;

	(void)state;
	assert_works(open_them("faults,cs"));
	assert_int_equal(perfev_regions_count(regions), 0);
	for (i = 0; i < 3; i++) {
		begin("a");
		work(100);
		begin("b");
		work(7);
		assert_works(perfev_region_end_n(regions, 7));
		end();
		work(1000); /* between regions */
		begin("b");
		work(1);
		end();
	}
	assert_int_equal(perfev_regions_count(regions), 3);
	expect_region(0, "a", -1, 3, 3);
	expect_region(1, "b", 0, 3, 21);
	expect_region(2, "b", -1, 3, 3); /* the same name elsewhere */
	expect("a", 0, 321, 0);
	expect("a", 1, 642, 0);
	assert_true(perfev_region_value_at(regions, 1, 0, &value));
	assert_int_equal(value.count, 21);
	assert_true(value.per_iteration > 0.99 && value.per_iteration < 1.01);
	assert_true(perfev_region_value_at(regions, 2, 1, &value));
	assert_int_equal(value.count, 6);
	assert_false(perfev_region_value_at(regions, 3, 0, &value));
	assert_false(perfev_region_value_at(regions, 0, 2, &value));
	assert_int_equal(perfev_region_find(regions, "c"), -1);
}

/* One system call each: both events are in one group. */
static void test_the_price_is_taken_off(void **state)
{
	(void)state;
	price = 5;
	assert_works(open_them("faults,cs"));
	begin("a");
	work(100);
	end();
	expect("a", 0, 100, 5); /* of the reading at its end */
	begin("a");
	begin("b");
	work(3);
	end();
	end();
	expect("a", 0, 103, 20); /* twice its own, and two readings of what is within */
	expect("b", 0, 3, 5);
	begin("c");
	end();
	expect("c", 0, 0, 5);
}

static int no_room(struct fake_event *event, struct perf_event_attr *attr)
{
	(void)attr;
	return event->group_fd >= 0 && event->attr.config == PERF_COUNT_HW_INSTRUCTIONS ? -EINVAL : 0;
}

/* Two groups; the second had a counter for half of the time. */
static void test_events_that_do_not_fit(void **state)
{
	struct perfev_region_value value;
	int i;

	(void)state;
	fake_file("/sys/bus/event_source/devices/cpu/type", "4\n");
	fake.on_open = no_room;
	assert_works(open_them("cycles,instructions,branches"));
	assert_int_equal(perfev_regions_events(regions), 3);
	begin("a");
	work(10);
	for (i = 0; i < fake.event_count; i++) {
		fake.events[i].enabled_ns += 1000;
		fake.events[i].running_ns += fake.events[i].attr.config == PERF_COUNT_HW_CPU_CYCLES ? 1000 : 500;
	}
	end();
	assert_true(perfev_region_value_at(regions, 0, 0, &value));
	assert_true(value.share > 0.999);
	assert_true(perfev_region_value_at(regions, 0, 1, &value));
	assert_string_equal(value.event, "instructions");
	assert_true(value.share > 0.4 && value.share < 0.6);
	assert_true(value.count > 30); /* estimated for all the time */
}

/* Two counters: no third event of a group. */
static int two_counters(struct fake_event *event, struct perf_event_attr *attr)
{
	int i, members = 1;

	(void)attr;
	for (i = 0; i < fake.event_count; i++)
		members += fake.events[i].open && fake.events[i].group_fd == event->group_fd;
	return event->group_fd >= 0 && members > 1 ? -EINVAL : 0;
}

static int leader_of(uint64_t config)
{
	int i;

	for (i = 0; i < fake.event_count; i++)
		if (fake.events[i].open && fake.events[i].attr.config == config)
			return fake.events[i].group_fd >= 0 ? fake.events[i].group_fd : fake.events[i].fd;
	return -1;
}

/* What stands in braces is on the PMU together, so that its ratios are of one time. */
static void test_braces_stay_together(void **state)
{
	int i;

	(void)state;
	fake_file("/sys/bus/event_source/devices/cpu/type", "4\n");
	fake.on_open = two_counters;
	assert_works(open_them("cycles,{instructions,branches},branch-misses"));
	assert_int_equal(fake_left(), 4);
	assert_int_equal(leader_of(PERF_COUNT_HW_INSTRUCTIONS), leader_of(PERF_COUNT_HW_BRANCH_INSTRUCTIONS));
	assert_int_not_equal(leader_of(PERF_COUNT_HW_INSTRUCTIONS), leader_of(PERF_COUNT_HW_CPU_CYCLES));
	assert_int_not_equal(leader_of(PERF_COUNT_HW_INSTRUCTIONS), leader_of(PERF_COUNT_HW_BRANCH_MISSES));
	begin("a");
	for (i = 0; i < fake.event_count; i++)
		fake.events[i].count += fake.events[i].open ? fake.events[i].attr.config + 1 : 0;
	end();
	expect("a", 0, PERF_COUNT_HW_CPU_CYCLES + 1, 0);
	expect("a", 1, PERF_COUNT_HW_INSTRUCTIONS + 1, 0);
	expect("a", 2, PERF_COUNT_HW_BRANCH_INSTRUCTIONS + 1, 0);
	expect("a", 3, PERF_COUNT_HW_BRANCH_MISSES + 1, 0);
	perfev_regions_close(regions);
	assert_works(open_them("{cycles,instructions,branches}")); /* more than any PMU holds */
	assert_int_equal(fake_left(), 3);
}

/* Software events need no counter: they do not take turns with those that do. */
static void test_software_does_not_wait(void **state)
{
	const struct fake_event *e;
	int i, leaders = 0;

	(void)state;
	fake_file("/sys/bus/event_source/devices/cpu/type", "4\n");
	fake.on_open = no_room;
	assert_works(open_them("cycles,cs,instructions,faults"));
	for (i = 0; i < fake.event_count; i++) {
		e = &fake.events[i];
		if (!e->open)
			continue;
		leaders += e->group_fd < 0;
		if (e->attr.type == PERF_TYPE_SOFTWARE && e->group_fd >= 0)
			assert_int_equal(fake_event_of(e->group_fd)->attr.type, PERF_TYPE_SOFTWARE);
	}
	assert_int_equal(leaders, 3);
	begin("a");
	for (i = 0; i < fake.event_count; i++)
		fake.events[i].count += fake.events[i].open ? fake.events[i].attr.config + 1 : 0;
	end();
	expect("a", 0, PERF_COUNT_HW_CPU_CYCLES + 1, 0); /* each in its place */
	expect("a", 1, PERF_COUNT_SW_CONTEXT_SWITCHES + 1, 0);
	expect("a", 2, PERF_COUNT_HW_INSTRUCTIONS + 1, 0);
	expect("a", 3, PERF_COUNT_SW_PAGE_FAULTS + 1, 0);
}

static int no_cycles(struct fake_event *event, struct perf_event_attr *attr)
{
	(void)event;
	return attr->type == PERF_TYPE_HARDWARE ? -ENOENT : 0;
}

static void test_events_that_are_not_there(void **state)
{
	struct perfev_region_value value;
	double number;

	(void)state;
	fake.on_open = no_cycles;
	assert_fails(open_them("cycles,instructions"), ENOENT);
	assert_says("no hardware counters");
	assert_null(regions);
	assert_works(open_them("cycles,faults"));
	begin("a");
	work(5);
	end();
	assert_true(perfev_region_value_at(regions, 0, 0, &value));
	assert_int_equal(value.status, PERFEV_NOT_SUPPORTED);
	assert_true(strstr(value.error->text, "no hardware counters") != NULL);
	assert_true(perfev_region_value_at(regions, 0, 1, &value));
	assert_int_equal(value.status, PERFEV_COUNTED);
	assert_works(perfev_region_metric(&number, regions, 0, "faults * 2", &err));
	assert_fails(perfev_region_metric(&number, regions, 0, "faults / cycles", &err), ENODATA);
	assert_says("cycles was not counted");
	assert_fails(open_them("faluts"), EINVAL);
	assert_says("did you mean faults?");
}

static void test_the_variable(void **state)
{
	struct perfev_regions_opts opts = {.size = sizeof(opts), .variable = "OTHER_EVENTS"};

	(void)state;
	setenv("PERFEV_EVENTS", "cs", 1);
	assert_works(perfev_regions_open(&regions, NULL, &err));
	assert_int_equal(perfev_regions_events(regions), 1);
	perfev_regions_close(regions);
	assert_works(open_them("faults,cs")); /* a text goes first */
	assert_int_equal(perfev_regions_events(regions), 2);
	perfev_regions_close(regions);
	setenv("OTHER_EVENTS", "cs,faults,dummy", 1);
	assert_works(perfev_regions_open(&regions, &opts, &err));
	assert_int_equal(perfev_regions_events(regions), 3);
	unsetenv("OTHER_EVENTS");
	unsetenv("PERFEV_EVENTS");
}

static void test_misuse(void **state)
{
	int i;

	(void)state;
	assert_works(open_them("faults"));
	assert_int_equal(perfev_region_end(regions), -EINVAL);
	for (i = 0; i < 1000; i++)
		begin("deep");
	assert_true(perfev_region_begin(regions, "too deep") < 0);
	for (i = 0; i < 1000; i++)
		end();
	assert_int_equal(perfev_regions_count(regions), 1000);
	begin("x");
	fake.events[fake.event_count - 1].read_result = -EIO;
	assert_int_equal(perfev_region_end(regions), -EIO);
	assert_int_equal(perfev_region_begin(regions, "y"), -EIO);
	fake.events[fake.event_count - 1].read_result = 0;
	end();
	assert_int_equal(perfev_region_end(regions), -EINVAL); /* y never began */
	perfev_regions_clear(regions);
	begin("x");
	work(3);
	end();
	expect("x", 0, (uint64_t)fake.event_count * 3, 0);
}

/* Two threads, each with a price of its own. */
static void test_adding(void **state)
{
	struct perfev_regions *first;
	struct perfev_region_info info;

	(void)state;
	price = 5;
	assert_works(open_them("faults"));
	begin("a");
	work(100);
	begin("b");
	end();
	end();
	first = regions;
	price = 50;
	assert_works(open_them("faults"));
	begin("c");
	end();
	begin("a");
	work(10); /* counts for the first event too, which nobody reads any more */
	assert_fails(perfev_regions_add(first, regions, &err), EINVAL);
	assert_says("has not ended");
	end();
	assert_works(perfev_regions_add(first, regions, &err));
	perfev_regions_close(regions);
	regions = first;
	expect("a", 0, 100 + 10 * 2, 15 + 50);
	expect("c", 0, 0, 50);
	assert_true(perfev_region_at(regions, 0, &info));
	assert_int_equal(info.entries, 2);
	first = NULL;
	assert_works(perfev_regions_open(&first, &(struct perfev_regions_opts){.size = sizeof(struct perfev_regions_opts),
									       .events = "cs"}, &err));
	assert_fails(perfev_regions_add(regions, first, &err), EINVAL);
	assert_says("other events");
	perfev_regions_close(first);
}

/* ---- output ---------------------------------------------------------------------------------------------------- */

static char output[20000];
static size_t used;
static int sink_result;

static int collect(void *context, const void *data, size_t size)
{
	assert_ptr_equal(context, output);
	assert_true(used + size < sizeof(output));
	memcpy(output + used, data, size);
	used += size;
	output[used] = 0;
	return sink_result;
}

static void test_output(void **state)
{
	struct perfev_sink sink = {collect, output};

	(void)state;
	setlocale(LC_ALL, "de_DE.UTF-8"); /* whatever a program sets; it may not be there */
	fake.on_open = no_cycles;
	assert_works(open_them("faults,cycles"));
	begin("a \"b\"\n\\ü");
	work(5);
	assert_works(perfev_region_end_n(regions, 2));
	used = 0;
	sink_result = 0;
	assert_works(perfev_regions_json(regions, sink));
	assert_string_equal(output,
			    "{\"regions\":[\n{\"name\":\"a \\\"b\\\"\\u000a\\\\ü\",\"parent\":null,\"entries\":1,"
			    "\"iterations\":2,\"events\":[\n {\"event\":\"faults\",\"count\":5,\"overhead\":0,"
			    "\"per_iteration\":2.5,\"share\":1,\"status\":\"counted\",\"why\":null},\n "
			    "{\"event\":\"cycles\",\"count\":null,\"overhead\":null,\"per_iteration\":null,"
			    "\"share\":null,\"status\":\"not-supported\",\"why\":\"cannot open cycles on this thread: "
			    "this machine has no hardware counters (no CPU PMU in sysfs), common in virtual machines; "
			    "use cpu-clock, or give the guest a virtual PMU\"}]}]}\n");
	used = 0;
	assert_works(perfev_regions_text(regions, sink));
	assert_non_null(strstr(output, "1 time, 2 iterations\n"));
	assert_non_null(strstr(output, "                     5             2.50  faults\n"));
	assert_non_null(strstr(output, "         not-supported                   cycles\n"));
	sink_result = -EIO;
	used = 0;
	assert_int_equal(perfev_regions_json(regions, sink), -EIO);
	assert_int_equal(perfev_regions_text(regions, sink), -EIO);
	setlocale(LC_ALL, "C");
}

/* A name is what a program makes it: as long as it likes, no UTF-8, with controls. */
static void test_output_of_odd_names(void **state)
{
	struct perfev_sink sink = {collect, output};
	char name[700];

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	assert_works(open_them("faults"));
	begin(name);
	assert_works(perfev_region_end(regions));
	begin("a\nb\x1b[1m\xc2\x9b\xc3\xa4\xff\xed\xa0\x80");
	assert_works(perfev_region_end(regions));
	used = 0;
	sink_result = 0;
	assert_works(perfev_regions_text(regions, sink));
	assert_non_null(strstr(output, "nnn: 1 time\n"));
	assert_non_null(strstr(output, "a?b?[1m?\xc3\xa4\xff\xed\xa0\x80: 1 time\n"));
	used = 0;
	assert_works(perfev_regions_json(regions, sink));
	assert_non_null(strstr(output, "\"a\\u000ab\\u001b[1m\xc2\x9b\xc3\xa4\\ufffd\\ufffd\\ufffd\\ufffd\""));
	assert_non_null(strstr(output, name));
}

/* ---- formulas --------------------------------------------------------------------------------------------------- */

static int value_of(void *context, size_t index, double *ret)
{
	static const double values[] = {10, 4, 3, 7, 1000};

	(void)context;
	if (index == 5)
		return -ENODATA;
	*ret = values[index];
	return 0;
}

static void test_formulas(void **state)
{
	static const char *const names[] = {"instructions", "cycles", "L1-dcache-loads", "L1-dcache-load-misses",
					    "cpu/event=0x3c,umask=1/", "gone"};
	static const struct {
		const char *text;
		double value;
	} right[] = {
		{"instructions/cycles", 2.5}, {" 1 + 2*3 ", 7}, {"(1+2)*3", 9}, {"-cycles", -4}, {"2--1", 3},
		{"10-4-3", 3}, {"100/5/2", 10}, {"1.5e3", 1500}, {".5*cycles", 2}, {"1e-3", 0.001},
		{"L1-dcache-load-misses/L1-dcache-loads", 7. / 3}, {"L1-dcache-loads-1", 2},
		{"cpu/event=0x3c,umask=1//cycles", 250}, {"((((cycles))))", 4}, {"--cycles", 4},
	};
	static const struct {
		const char *text;
		int code;
		uint64_t where;
		const char *says;
	} wrong[] = {
		{"", EINVAL, 1, "it ends too early"}, {"1+", EINVAL, 3, "it ends too early"},
		{"cycels", EINVAL, 1, "did you mean cycles?"}, {"1 + zzzzz", EINVAL, 5, "no event here is called 'zzzzz'"},
		{"(1", EINVAL, 3, "a ) is missing"}, {"1)", EINVAL, 2, "something is left over"},
		{"1 2", EINVAL, 3, "something is left over"}, {"cycles_", EINVAL, 1, "no event here"},
		{"*", EINVAL, 1, "a name or a number is missing"}, {"1..2", EINVAL, 1, "a name or a number is missing"},
		{"1/0", ENODATA, 4, "divided by 0"}, {"1/(cycles-4)", ENODATA, 13, "divided by 0"},
		{"gone", ENODATA, 1, "gone was not counted"}, {"cycles/gone", ENODATA, 8, "gone was not counted"},
	};
	struct formula f = {.names = names, .count = 6, .value = value_of};
	char deep[400];
	double value;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		f.text = right[i].text;
		assert_works(formula_eval(&value, &f, &err));
		if (value < right[i].value - 1e-9 || value > right[i].value + 1e-9)
			fail_msg("%s: %f", f.text, value);
	}
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		f.text = wrong[i].text;
		assert_int_equal(formula_eval(&value, &f, &err), -wrong[i].code);
		if (!strstr(err.text, wrong[i].says) || err.where != wrong[i].where)
			fail_msg("%s: %s (%d)", f.text, err.text, (int)err.where);
		assert_int_equal(formula_eval(&value, &f, NULL), -wrong[i].code);
	}
	memset(deep, '(', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = 0;
	f.text = deep;
	assert_fails(formula_eval(&value, &f, &err), EINVAL);
	assert_says("nested too deep");
	memset(deep, '-', sizeof(deep) - 1);
	assert_fails(formula_eval(&value, &f, &err), EINVAL);
	f.text = "1e200 * 1e200";
	assert_fails(formula_eval(&value, &f, &err), ERANGE);
	assert_int_equal(err.where, 1); /* as each error in a formula, it has a place */
	f.text = "1e300 * 1e10 - 1e300 * 1e10"; /* infinite less infinite */
	assert_fails(formula_eval(&value, &f, &err), ERANGE);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_sums, setup, teardown),
	cmocka_unit_test_setup_teardown(test_the_price_is_taken_off, setup, teardown),
	cmocka_unit_test_setup_teardown(test_events_that_do_not_fit, setup, teardown),
	cmocka_unit_test_setup_teardown(test_braces_stay_together, setup, teardown),
	cmocka_unit_test_setup_teardown(test_software_does_not_wait, setup, teardown),
	cmocka_unit_test_setup_teardown(test_events_that_are_not_there, setup, teardown),
	cmocka_unit_test_setup_teardown(test_the_variable, setup, teardown),
	cmocka_unit_test_setup_teardown(test_misuse, setup, teardown),
	cmocka_unit_test_setup_teardown(test_adding, setup, teardown),
	cmocka_unit_test_setup_teardown(test_output, setup, teardown),
	cmocka_unit_test_setup_teardown(test_output_of_odd_names, setup, teardown),
	cmocka_unit_test(test_formulas),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
