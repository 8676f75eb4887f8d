/* SPDX-License-Identifier: MIT */
/* Events as text: whatever the attr is, either its text gives it back, or it is refused; and what text can say
 * is never refused. */
#include "test.h"
#include "bytes.h"
#include "machine.h"

#include "capture/event.h"
#include "fake/kernel.h"

static struct perfev_error err;
static const struct perfev_parse_opts there = {sizeof(there), "/there/sys", "/there/tracing"};

static bool put_there(void *context, const char *path, const char *text)
{
	char full[300];

	(void)context;
	snprintf(full, sizeof(full), "/there/%s", path);
	fake_file(full, text);
	return true;
}

static void go_to(const char *machine)
{
	fake_reset();
	assert_true(machine_read(machine, put_there, NULL));
}

static uint64_t seed = 88172645463325252u;

static uint64_t next(void)
{
	return next_random(&seed) >> 3;
}

static uint64_t below(uint64_t limit)
{
	return next() % limit;
}

/* Numbers of every length. */
static uint64_t number(void)
{
	return next() << 3 >> below(64);
}

/* The same attr: all of it, but for where counting starts. */
static bool same(const struct perf_event_attr *attr, const char *text)
{
	struct perf_event_attr a = *attr, b;
	struct perfev_events *events;
	bool result;

	if (perfev_events_parse_at(&events, text, &there, &err) < 0)
		return false;
	b = *perfev_event_attr(perfev_events_at(events, 0));
	a.disabled = b.disabled = 0;
	result = perfev_events_count(events) == 1 && !memcmp(&a, &b, sizeof(a));
	perfev_events_free(events);
	return result;
}

/* The length of the text, or what refused it. */
static int format(char *text, size_t size, const struct perf_event_attr *attr)
{
	struct perfev_event *event;
	int r;

	assert_works(perfev_event_new(&event, "it", attr, &err));
	r = event_format_at(text, size, event, &there, &err);
	perfev_event_free(event);
	if (r >= 0 && !same(attr, text))
		fail_msg("%s does not mean it", text);
	return r;
}

static const char *const machines[] = {"alderlake", "xeon", "zen", "big-little", "riscv"};

static void test_any_attr(void **state)
{
	char text[1000];
	int i, k, taken = 0;

	(void)state;
	for (i = 0; i < 3000; i++) {
		struct perf_event_attr attr;

		if (i % 600 == 0)
			go_to(machines[i / 600]);
		memset(&attr, 0, sizeof(attr));
		for (k = 0; k <= i % 3; k++) { /* some bytes of it */
			size_t at = below(sizeof(attr));

			((unsigned char *)&attr)[at] = (unsigned char)number();
		}
		if (i % 2)
			attr.type = (uint32_t)below(30);
		attr.size = sizeof(attr);
		taken += format(text, sizeof(text), &attr) >= 0;
	}
	print_message("%d of them can be said\n", taken);
	assert_true(taken > 100);
	fake_reset();
}

static void some_modifiers(struct perf_event_attr *attr)
{
	switch (below(6)) {
	case 0:
		attr->exclude_user = 1;
		break;
	case 1:
		attr->exclude_kernel = attr->exclude_hv = 1;
		break;
	case 2:
		attr->exclude_guest = 1;
		attr->exclude_idle = 1;
		break;
	case 3:
		attr->exclude_host = 1;
		attr->precise_ip = below(4) & 3;
		break;
	case 4:
		attr->pinned = attr->exclusive = 1;
		break;
	default:
		break;
	}
}

static void some_settings(struct perf_event_attr *attr)
{
	switch (below(8)) {
	case 0:
		attr->sample_period = number() >> 1;
		break;
	case 1:
		attr->sample_period = below(10000) + 1;
		attr->freq = 1;
		break;
	case 2:
		attr->inherit = 1;
		break;
	case 3:
		attr->sample_max_stack = (uint16_t)number();
		attr->sample_stack_user = (uint32_t)below(8000) * 8;
		break;
	case 4:
		attr->sample_type = PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = below(UINT64_C(1) << 20) + 1;
		break;
	case 5:
		attr->write_backward = attr->aux_output = 1;
		break;
	case 6:
		attr->sample_type = PERF_SAMPLE_AUX;
		attr->aux_sample_size = (uint32_t)below(65535) + 1;
		break;
	default:
		attr->aux_start_paused = 1;
		break;
	}
}

static void what_is_counted(struct perf_event_attr *attr)
{
	attr->type = (uint32_t)(below(3) ? below(30) : number() >> 33);
	if (attr->type == PERF_TYPE_BREAKPOINT) {
		attr->bp_type = (uint32_t)below(7) + 1;
		attr->bp_addr = number();
		attr->bp_len = below(8) + 1;
		return;
	}
	attr->config = below(2) ? below(12) : number();
	if (below(2))
		attr->config1 = number();
	if (below(4) == 0)
		attr->config2 = number();
	if (below(8) == 0)
		attr->config3 = number();
	if (below(8) == 0)
		attr->config4 = number();
}

/* On each kind of machine: a type may be a PMU's there, or none's. */
static void test_what_text_can_say(void **state)
{
	char text[1000];
	int i;

	(void)state;
	for (i = 0; i < 3000; i++) {
		struct perf_event_attr attr;

		if (i % 600 == 0)
			go_to(machines[i / 600]);
		memset(&attr, 0, sizeof(attr));
		attr.size = sizeof(attr);
		what_is_counted(&attr);
		some_modifiers(&attr);
		some_settings(&attr);
		if (format(text, sizeof(text), &attr) < 0)
			fail_msg("on %s: %s", machines[i / 600], err.text);
	}
	fake_reset();
}

/* A server has hundreds of PMUs: those that a text does not mean are not read. */
static void test_only_what_is_meant_is_read(void **state)
{
	static const struct {
		const char *text;
		int most; /* files and folders */
	} rows[] = {
		{"cs", 0}, {"mem:0x10:w", 0}, {"r1", 1}, {"cycles:u", 1}, {"sched:sched_switch", 1}, {"cpu/event=1/", 45}, {"power/energy-pkg/", 25},
		{"intel_bts//", 12},
	};
	struct perfev_events *events;
	char text[100];
	size_t i;
	int before;

	(void)state;
	go_to("xeon");
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		before = fake.opened;
		assert_works(perfev_events_parse_at(&events, rows[i].text, &there, &err));
		if (fake.opened - before > rows[i].most)
			fail_msg("'%s' reads %d", rows[i].text, fake.opened - before);
		perfev_events_free(events);
	}
	assert_works(perfev_events_parse_at(&events, "power/energy-pkg/", &there, &err));
	before = fake.opened;
	assert_works(event_format_at(text, sizeof(text), perfev_events_at(events, 0), &there, &err));
	assert_string_equal(text, "power/energy-pkg/");
	assert_in_range(fake.opened - before, 0, 40);
	perfev_events_free(events);
	fake_reset();
}

/* The length is that of the whole text, whatever room there is for it. */
static void test_room(void **state)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE, .size = sizeof(attr)};
	struct perfev_event *event;
	char text[8] = "1234567";

	(void)state;
	go_to("zen");
	attr.exclude_kernel = attr.exclude_hv = 1;
	assert_works(perfev_event_new(&event, "it", &attr, &err));
	assert_int_equal(event_format_at(NULL, 0, event, &there, &err), 8);
	assert_int_equal(event_format_at(text, 1, event, &there, &err), 8);
	assert_string_equal(text, "");
	assert_int_equal(event_format_at(text, 5, event, &there, &err), 8);
	assert_string_equal(text, "cycl");
	assert_int_equal(event_format_at(text, 8, event, &there, &err), 8);
	assert_string_equal(text, "cycles:");
	perfev_event_attr(event)->mmap = 1; /* no text says that */
	assert_fails(event_format_at(text, sizeof(text), event, &there, &err), EINVAL);
	assert_int_equal(err.why, PERFEV_WHY_UNSUPPORTED);
	assert_says("cannot write event it as text");
	perfev_event_free(event);
	fake_reset();
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_any_attr),
	cmocka_unit_test(test_what_text_can_say),
	cmocka_unit_test(test_only_what_is_meant_is_read),
	cmocka_unit_test(test_room),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
