/* SPDX-License-Identifier: MIT */
/* What is done for an event beside the bare open: its filter, the precision that the PMU has, weak groups,
 * groups whose leader samples, and what is refused because perfev does not do it. */
#include "test.h"

#include "fake/kernel.h"

#include <perfev/sampler.h>
#include <perfev/set.h>

#include <errno.h>

static struct perfev_error err;

static int setup(void **state)
{
	(void)state;
	fake_reset();
	fake_file("/sys/devices/system/cpu/online", "0-1\n");
	fake_file("/proc/sys/kernel/perf_event_paranoid", "-1\n");
	fake_file("/sys/bus/event_source/devices/cpu/type", "4\n");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return fake_left();
}

static struct perfev_events *parse(const char *text)
{
	struct perfev_events *events;

	assert_works(perfev_events_parse(&events, text, &err));
	return events;
}

static int open_set(struct perfev_set **ret, const char *text, struct perfev_target on, bool partial)
{
	struct perfev_set_opts opts = {.size = sizeof(opts), .partial = partial};
	struct perfev_events *events = parse(text);
	int r = perfev_set_open(ret, events, on, &opts, &err);

	perfev_events_free(events);
	return r;
}

/* ---- filters ------------------------------------------------------------------------------------------------ */

static char filter_seen[64];
static int filters, filter_result;

static int take_filter(struct fake_event *event, unsigned request, unsigned long argument)
{
	(void)event;
	if (request != PERF_EVENT_IOC_SET_FILTER)
		return 0;
	filters++;
	snprintf(filter_seen, sizeof(filter_seen), "%s", (const char *)(uintptr_t)argument);
	return filter_result;
}

static struct perfev_event *filtered(uint32_t type)
{
	struct perf_event_attr attr = {.type = type, .size = sizeof(attr), .config = 5};
	struct perfev_event *event;

	assert_works(perfev_event_new(&event, "sched:x", &attr, &err));
	assert_works(perfev_event_set_filter(event, "pid == 7", &err));
	return event;
}

static void test_filter(void **state)
{
	struct perfev_event *event = filtered(PERF_TYPE_TRACEPOINT);
	struct perfev_counter *counter;

	(void)state;
	filters = filter_result = 0;
	fake.on_ioctl = take_filter;
	assert_works(perfev_counter_open(&counter, event, perfev_on_self(), NULL, &err));
	assert_int_equal(filters, 1);
	assert_string_equal(filter_seen, "pid == 7");
	perfev_event_free(event);
	perfev_counter_close(counter);
}

static void test_filter_on_every_cpu(void **state)
{
	struct perfev_event *event = filtered(PERF_TYPE_TRACEPOINT);
	struct perfev_events *events;
	struct perfev_set *set;

	(void)state;
	filters = filter_result = 0;
	fake.on_ioctl = take_filter;
	assert_works(perfev_events_new(&events, &err));
	assert_works(perfev_events_add(events, event, -1, &err));
	assert_works(perfev_set_open(&set, events, perfev_on_all_cpus(), NULL, &err));
	assert_int_equal(filters, 2);
	perfev_set_close(set);
	perfev_events_free(events);
	perfev_event_free(event);
}

static void test_filter_that_is_refused(void **state)
{
	static const struct {
		uint32_t type;
		int code;
		enum perfev_why why;
		const char *says;
	} rows[] = {
		{PERF_TYPE_TRACEPOINT, -EINVAL, PERFEV_WHY_SYNTAX, "the kernel does not understand it; compare fields"},
		{PERF_TYPE_SOFTWARE, -EINVAL, PERFEV_WHY_UNSUPPORTED, "its PMU does not take that"},
		{PERF_TYPE_TRACEPOINT, -ENOMEM, PERFEV_WHY_MEMORY, "memory"},
		{PERF_TYPE_TRACEPOINT, -EBADF, PERFEV_WHY_OTHER, "cannot filter sched:x by 'pid == 7'"},
	};
	size_t i;

	(void)state;
	fake.on_ioctl = take_filter;
	for (i = 0; i < 4; i++) {
		struct perfev_event *event = filtered(rows[i].type);
		struct perfev_counter *counter;

		filter_result = rows[i].code;
		assert_int_equal(perfev_counter_open(&counter, event, perfev_on_self(), NULL, &err),
				 rows[i].code);
		assert_int_equal(err.why, rows[i].why);
		assert_says(rows[i].says);
		assert_int_equal(fake.opened, fake.closed);
		assert_int_equal(perfev_counter_open(&counter, event, perfev_on_self(), NULL, NULL),
				 rows[i].code);
		perfev_event_free(event);
	}
}

/* Linux 6.18 returns -2 for "((a == 1)", -3 for a quote, -1 for a lone &: numbers of its parser's errors. */
static void test_errors_of_the_kernels_parser(void **state)
{
	struct perfev_event *event = filtered(PERF_TYPE_TRACEPOINT);
	struct perfev_counter *counter;

	(void)state;
	fake.on_ioctl = take_filter;
	for (filter_result = -10; filter_result < 0; filter_result++)
		if (filter_result != -EBADF) {
			assert_fails(perfev_counter_open(&counter, event, perfev_on_self(), NULL, &err), EINVAL);
			assert_int_equal(err.why, PERFEV_WHY_SYNTAX);
		}
	perfev_event_free(event);
}

/* Words that are compared are fields of the tracepoint; the first that is none is named. */
static void test_fields_of_a_filter(void **state)
{
	static const struct {
		const char *filter, *says;
	} rows[] = {
		{"cont == 3", "'cont' is no field of it; did you mean count?"},
		{"count == 3 && (fild > 1)", "'fild' is no field of it; did you mean field?"},
		{"count == other && !zzzzzz", "'zzzzzz' is no field of it; look at its format in tracefs"},
		{"field ~ \"(cont\" || count != 1 || conut & 1", "'conut' is no field of it; did you mean count?"},
		{"count ==", "the kernel does not understand it"},
		{"comm == \"x\" && CPU == 1 && count = 3", "the kernel does not understand it"},
		{"\"", "the kernel does not understand it"},
		{"", "the kernel does not understand it"},
	};
	size_t i;

	(void)state;
	fake_file("/proc/self/mounts", "none /t tracefs rw 0 0\n");
	fake_file("/t/events/sched/x/id", "5\n");
	fake_file("/t/events/sched/x/format",
		  "name: x\nID: 5\nformat:\n\tfield:int count;\toffset:8;\tsize:4;\tsigned:1;\n"
		  "\tfield:char field[16];\toffset:12;\tsize:16;\tsigned:0;\n");
	fake.on_ioctl = take_filter;
	filter_result = -EINVAL;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct perfev_event *event = filtered(PERF_TYPE_TRACEPOINT);
		struct perfev_counter *counter;

		assert_works(perfev_event_set_filter(event, rows[i].filter, &err));
		assert_fails(perfev_counter_open(&counter, event, perfev_on_self(), NULL, &err), EINVAL);
		assert_says(rows[i].says);
		perfev_event_free(event);
	}
}

/* ---- precision ---------------------------------------------------------------------------------------------- */

static unsigned most_precise;
static int too_precise = -EOPNOTSUPP;

static int limit_precision(struct fake_event *event, struct perf_event_attr *attr)
{
	(void)event;
	return attr->precise_ip > most_precise ? too_precise : 0;
}

static void test_as_precise_as_it_can(void **state)
{
	struct perfev_set *set;

	(void)state;
	fake.on_open = limit_precision;
	for (most_precise = 0; most_precise <= 3; most_precise++) {
		assert_works(open_set(&set, "cycles:P", perfev_on_all_cpus(), false));
		assert_int_equal(fake.events[fake.event_count - 1].attr.precise_ip, most_precise);
		assert_int_equal(fake.events[fake.event_count - 2].attr.precise_ip, most_precise);
		perfev_set_close(set);
	}
	most_precise = 1;
	assert_fails(open_set(&set, "cycles:pp", perfev_on_self(), false), EOPNOTSUPP);
	too_precise = -EBUSY; /* has nothing to do with precision */
	assert_fails(open_set(&set, "cycles:P", perfev_on_self(), false), EBUSY);
	too_precise = -EOPNOTSUPP;
}

/* ---- groups ------------------------------------------------------------------------------------------------- */

static int no_room_for_three(struct fake_event *event, struct perf_event_attr *attr)
{
	return event->group_fd >= 0 && attr->type == PERF_TYPE_HARDWARE &&
			       attr->config == PERF_COUNT_HW_CACHE_REFERENCES ? -EINVAL : 0;
}

static void test_weak_group(void **state)
{
	struct perfev_set *set;
	int i, from;

	(void)state;
	fake.on_open = no_room_for_three;
	assert_fails(open_set(&set, "{cycles,instructions,cache-references}", perfev_on_self(), false), EINVAL);
	assert_int_equal(fake.opened, fake.closed);
	from = fake.event_count;
	assert_works(open_set(&set, "faults,{cycles,instructions,cache-references}:W,{cs,faults}:W",
			      perfev_on_self(), false));
	from = fake.event_count - 6;
	for (i = 0; i < 6; i++) {
		const struct fake_event *e = &fake.events[from + i];

		assert_int_equal(e->group_fd, i == 5 ? fake.events[from + 4].fd : -1);
		assert_int_equal(e->attr.disabled, i != 5);
		assert_int_equal(perfev_set_dropped(set, (size_t)i),
				 i >= 1 && i <= 3 ? PERFEV_DROP_GROUP : 0);
	}
	perfev_set_close(set);
}

static void test_leader_that_samples(void **state)
{
	struct perfev_events *events = parse("{cycles,instructions,cs}:S,faults");
	const struct perfev_event *list[4];
	size_t leaders[4], i;
	struct perfev_sampler_opts opts = {.size = sizeof(opts), .leaders = leaders};
	struct perfev_sampler *sampler;

	(void)state;
	for (i = 0; i < 4; i++) {
		struct perf_event_attr *attr = perfev_event_attr(perfev_events_at(events, i));

		attr->sample_period = 100;
		attr->sample_type = PERF_SAMPLE_IP;
		list[i] = perfev_events_at(events, i);
		leaders[i] = perfev_events_leader(events, i);
	}
	assert_works(perfev_sampler_open(&sampler, list, 4, perfev_on_cpu(0), &opts, &err));
	for (i = 0; i < 4; i++) {
		const struct fake_event *e = &fake.events[fake.event_count - 4 + (int)i];

		assert_int_equal(e->attr.sample_period, i == 1 || i == 2 ? 0 : 100);
		assert_int_equal(!!(e->attr.sample_type & PERF_SAMPLE_READ), i < 3);
		assert_int_equal(!!(e->attr.read_format & PERF_FORMAT_GROUP), i < 3);
		assert_int_equal(e->group_fd, i == 1 || i == 2 ? fake.events[fake.event_count - 4].fd : -1);
	}
	perfev_sampler_close(sampler);
	leaders[2] = 3;
	assert_fails(perfev_sampler_open(&sampler, list, 4, perfev_on_cpu(0), &opts, &err), EINVAL);
	leaders[2] = 1;
	assert_fails(perfev_sampler_open(&sampler, list, 4, perfev_on_cpu(0), &opts, &err), EINVAL);
	assert_says("cannot lead its group");
	perfev_events_free(events);
}

/* ---- what is no event, or not here -------------------------------------------------------------------------- */

static void test_tools(void **state)
{
	struct perfev_reading r[2];
	struct perfev_events *events;
	const struct perfev_event *first;
	struct perfev_counter *counter;
	struct perfev_sampler *sampler;
	struct perfev_set *set;

	(void)state;
	assert_works(open_set(&set, "duration_time,faults", perfev_on_self(), false));
	assert_int_equal(perfev_set_row_count(set), 1);
	assert_null(perfev_set_error(set, 0));
	fake.events[0].running_ns = fake.events[0].enabled_ns = 1;
	assert_works(perfev_set_read(set, r, 2, &err));
	assert_int_equal(r[0].status, PERFEV_NOT_COUNTED);
	assert_int_equal(r[0].why, PERFEV_WHY_NONE);
	assert_int_equal(r[1].status, PERFEV_COUNTED);
	perfev_set_close(set);
	assert_works(open_set(&set, "user_time", perfev_on_self(), false));
	assert_int_equal(perfev_set_row_count(set), 0);
	perfev_set_close(set);
	events = parse("system_time");
	first = perfev_events_at(events, 0);
	assert_fails(perfev_counter_open(&counter, first, perfev_on_self(), NULL, &err), EINVAL);
	assert_says("system_time");
	assert_fails(perfev_sampler_open(&sampler, &first, 1, perfev_on_self(), NULL, &err), EINVAL);
	assert_says("sample cpu-clock");
	perfev_events_free(events);
}

static void test_what_perfev_does_not_do(void **state)
{
	struct perfev_set *set;

	(void)state;
	assert_fails(open_set(&set, "cycles:b", perfev_on_self(), false), EOPNOTSUPP);
	assert_says("leave b out");
	assert_fails(open_set(&set, "cycles:R", perfev_on_self(), false), EOPNOTSUPP);
	assert_says("leave R out");
	assert_int_equal(fake.event_count, 0);
	assert_works(open_set(&set, "cycles:X", perfev_on_self(), false));
	perfev_set_close(set);
}

/* A PMU of CPUs that the target leaves out. */
static void test_no_cpu_of_its_own(void **state)
{
	struct perfev_reading r[2];
	struct perfev_set *set;

	(void)state;
	fake_file("/sys/bus/event_source/devices/power/type", "30\n");
	fake_file("/sys/bus/event_source/devices/power/cpumask", "1\n");
	fake_file("/sys/bus/event_source/devices/power/format/event", "config:0-7\n");
	assert_fails(open_set(&set, "power/event=1/", perfev_on_cpu(0), false), ENODEV);
	assert_says("its PMU power counts on CPU 1 only, and none of these is wanted");
	assert_int_equal(err.why, PERFEV_WHY_NO_CPU);
	assert_works(open_set(&set, "power/event=1/,cs", perfev_on_cpu(0), true));
	assert_works(perfev_set_read(set, r, 2, &err));
	assert_int_equal(r[0].status, PERFEV_NOT_SUPPORTED);
	assert_int_equal(r[0].why, PERFEV_WHY_NO_CPU);
	perfev_set_close(set);
	assert_works(open_set(&set, "power/event=1/", perfev_on_all_cpus(), false));
	assert_int_equal(perfev_set_row_count(set), 1);
	perfev_set_close(set);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_filter, setup, teardown),
	cmocka_unit_test_setup_teardown(test_filter_on_every_cpu, setup, teardown),
	cmocka_unit_test_setup_teardown(test_filter_that_is_refused, setup, teardown),
	cmocka_unit_test_setup_teardown(test_fields_of_a_filter, setup, teardown),
	cmocka_unit_test_setup_teardown(test_errors_of_the_kernels_parser, setup, teardown),
	cmocka_unit_test_setup_teardown(test_as_precise_as_it_can, setup, teardown),
	cmocka_unit_test_setup_teardown(test_weak_group, setup, teardown),
	cmocka_unit_test_setup_teardown(test_leader_that_samples, setup, teardown),
	cmocka_unit_test_setup_teardown(test_tools, setup, teardown),
	cmocka_unit_test_setup_teardown(test_what_perfev_does_not_do, setup, teardown),
	cmocka_unit_test_setup_teardown(test_no_cpu_of_its_own, setup, teardown),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
