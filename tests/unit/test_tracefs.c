/* SPDX-License-Identifier: MIT */
/* Where tracepoints are found: tracefs mounted here or there, under debugfs only, not at all, not to be read; names
 * that are mistyped, numbers that nobody has, formats that are broken. */
#include "test.h"

#include "fake/kernel.h"

static struct perfev_error err;
static struct perfev_tracepoint *tp;

static int setup(void **state)
{
	(void)state;
	fake_reset();
	tp = NULL;
	memset(&err, 0, sizeof(err));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	perfev_tracepoint_free(tp);
	return fake_left();
}

static void put_tracepoint(const char *root, const char *name, int id)
{
	char path[128], text[256];

	snprintf(path, sizeof(path), "%s/events/%s/id", root, name);
	snprintf(text, sizeof(text), "%d\n", id);
	fake_file(path, text);
	snprintf(path, sizeof(path), "%s/events/%s/format", root, name);
	snprintf(text, sizeof(text), "name: %s\nID: %d\nformat:\n\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n",
		 strchr(name, '/') + 1, id);
	fake_file(path, text);
}

static void put_all(const char *root)
{
	put_tracepoint(root, "sched/sched_switch", 314);
	put_tracepoint(root, "sched/sched_wakeup", 315);
	put_tracepoint(root, "irq/softirq_entry", 20);
}

static void expect(const char *name, const char *tracefs, const char *system, uint64_t id)
{
	struct perfev_tracepoint_info info;

	perfev_tracepoint_free(tp);
	tp = NULL;
	if (name)
		assert_works(perfev_tracepoint_find(&tp, name, tracefs, &err));
	else
		assert_works(perfev_tracepoint_find_id(&tp, id, tracefs, &err));
	perfev_tracepoint_describe(tp, &info);
	assert_string_equal(info.system, system);
	assert_int_equal(info.id, id);
	assert_int_equal(info.field_count, 1);
}

/* Each mount alone is enough, wherever it is. */
static void test_mounts(void **state)
{
	static const struct {
		const char *mounts, *root;
	} mounts[] = {
		{"tracefs /sys/kernel/tracing tracefs rw 0 0\n", "/sys/kernel/tracing"},
		{"none /sys/kernel/debug debugfs rw 0 0\n", "/sys/kernel/debug/tracing"},
		{"sysfs /sys sysfs rw 0 0\nx /mnt/my\\040traces tracefs rw 0 0\n", "/mnt/my traces"},
		{"none /d debugfs rw 0 0\nnone /t tracefs rw 0 0\n", "/t"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		fake_reset();
		fake_file("/proc/self/mounts", mounts[i].mounts);
		put_all(mounts[i].root);
		expect("sched:sched_switch", NULL, "sched", 314);
		expect(NULL, NULL, "irq", 20);
	}
	fake_reset();
	put_all("/copy"); /* of another machine */
	expect("irq:softirq_entry", "/copy", "irq", 20);
	expect(NULL, "/copy", "sched", 315);
}

static void test_not_mounted(void **state)
{
	(void)state;
	fake_file("/proc/self/mounts", "sysfs /sys sysfs rw 0 0\n");
	assert_fails(perfev_tracepoint_find(&tp, "sched:sched_switch", NULL, &err), ENOENT);
	assert_int_equal(err.why, PERFEV_WHY_NOT_FOUND);
	assert_says("tracefs is not mounted; run mount -t tracefs tracefs /sys/kernel/tracing");
	assert_fails(perfev_tracepoint_find_id(&tp, 314, NULL, &err), ENOENT);
	assert_says("tracefs is not mounted");
}

/* The file is there, and this user may not read it: not an unknown name. */
static void test_no_right(void **state)
{
	(void)state;
	fake_file("/proc/self/mounts", "tracefs /t tracefs rw 0 0\n");
	put_all("/t");
	fake_error("/t/events/sched/sched_switch/format", -EACCES);
	assert_fails(perfev_tracepoint_find(&tp, "sched:sched_switch", NULL, &err), EACCES);
	assert_int_equal(err.why, PERFEV_WHY_CAPABILITY);
	assert_says("cannot look up sched:sched_switch: this user may not read /t; run as root, or mount it with gid= and mode=");
	fake_error("/t/events/sched/sched_switch/format", -EIO);
	assert_fails(perfev_tracepoint_find(&tp, "sched:sched_switch", NULL, &err), EIO);
}

static void test_mistyped(void **state)
{
	static const char *const none[] = {"", ":", "sched", "sched:", ":sched_switch", "sched:../x", "../x:y", "a/b:c",
					   "sched:*", "sched:sched_switc?", ".:x", "x:.."};
	char longer[600];
	size_t i;

	(void)state;
	fake_file("/proc/self/mounts", "tracefs /t tracefs rw 0 0\n");
	put_all("/t");
	assert_fails(perfev_tracepoint_find(&tp, "sched:sched_swich", NULL, &err), ENOENT);
	assert_int_equal(err.why, PERFEV_WHY_UNKNOWN_EVENT);
	assert_says("cannot find tracepoint sched:sched_swich: there is none of that name; did you mean "
		    "sched:sched_switch?");
	assert_fails(perfev_tracepoint_find(&tp, "sced:sched_wakeup", NULL, &err), ENOENT);
	assert_says("did you mean sched:sched_wakeup?");
	assert_fails(perfev_tracepoint_find(&tp, "sched:zzzzzzzzzzzz", NULL, &err), ENOENT);
	assert_says("perfev list");
	assert_fails(perfev_tracepoint_find(&tp, "sched:sched_swich", NULL, NULL), ENOENT);
	assert_fails(perfev_tracepoint_find_id(&tp, 999, NULL, &err), ENOENT);
	assert_says("none of the 3 in /t has that number");
	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		assert_fails(perfev_tracepoint_find(&tp, none[i], NULL, &err), EINVAL);
		assert_int_equal(err.why, PERFEV_WHY_ARGUMENT);
	}
	memset(longer, 'x', sizeof(longer));
	longer[50] = ':';
	longer[599] = 0;
	assert_fails(perfev_tracepoint_find(&tp, longer, NULL, &err), EINVAL);
	longer[50] = 'x';
	longer[590] = ':';
	assert_fails(perfev_tracepoint_find(&tp, longer, NULL, &err), EINVAL);
	longer[0] = '/';
	assert_fails(perfev_tracepoint_find(&tp, "a:b", longer, &err), ENAMETOOLONG);
}

static void test_broken_formats(void **state)
{
	static char large[3 << 20];

	(void)state;
	fake_file("/proc/self/mounts", "tracefs /t tracefs rw 0 0\n");
	put_all("/t");
	fake_file("/t/events/irq/softirq_entry/format", "name: softirq_entry\n");
	assert_fails(perfev_tracepoint_find(&tp, "irq:softirq_entry", NULL, &err), EINVAL);
	assert_says("it has no id");
	memset(large, '#', sizeof(large) - 1);
	fake_file("/t/events/irq/softirq_entry/format", large);
	assert_true(perfev_tracepoint_find(&tp, "irq:softirq_entry", NULL, &err) < 0);
}

/* The event of a tracepoint, made without text, names the nearest too. */
static void test_events(void **state)
{
	struct perfev_event *event;

	(void)state;
	fake_file("/proc/self/mounts", "tracefs /t tracefs rw 0 0\n");
	put_all("/t");
	assert_works(perfev_event_tracepoint(&event, "sched", "sched_switch", &err));
	assert_int_equal(perfev_event_attr(event)->config, 314);
	perfev_event_free(event);
	assert_fails(perfev_event_tracepoint(&event, "sched", "sched_swich", &err), ENOENT);
	assert_says("did you mean sched:sched_switch?");
	assert_true(perfev_event_parse(&event, "sched:sched_swich", &err) < 0);
	assert_says("did you mean sched:sched_switch?");
	assert_true(perfev_event_parse(&event, "irk:softirq_entry", &err) < 0);
	assert_says("did you mean irq:softirq_entry?");
}

/* What a recording carries: the formats of some tracepoints, grouped by system; as its reader takes them. */
static void test_section_for_recordings(void **state)
{
	static const uint64_t ids[] = {315, 20, 99999, 314};
	static const char *const wanted[] = {"irq", "sched", "sched"};
	struct perfev_tracing tracing;
	struct perfev_tracing_format format;
	struct perfev_bytes section;
	size_t n = 0;

	(void)state;
	put_all("/t");
	put_tracepoint("/t", "zone/other", 7);
	fake_file("/t/events/header_page", "page");
	fake_file("/t/events/header_event", "event");
	fake_file("/t/printk_formats", "0xffff : \"%s\"\n");
	assert_works(perfev_tracing_read(&section, ids, 4, "/t", &err));
	assert_works(perfev_feature_tracing(&tracing, section, &err));
	assert_string_equal(tracing.version, "0.6");
	assert_int_equal(tracing.long_bytes, sizeof(long));
	assert_int_equal(tracing.header_page.size, 4);
	while (perfev_feature_tracing_next(&tracing, &format, &err) > 0) {
		assert_true(n < 3);
		assert_string_equal(format.system, wanted[n++]);
		assert_memory_equal(format.text.data, "name: ", 6);
	}
	assert_int_equal(n, 3);
	assert_int_equal(tracing.printk_formats.size, strlen("0xffff : \"%s\"\n"));
	assert_int_equal(tracing.kallsyms.size, 0);
	assert_int_equal(tracing.position, section.size);
	free((void *)(uintptr_t)section.data);
	assert_works(perfev_tracing_read(&section, NULL, 0, "/t", &err));
	assert_works(perfev_feature_tracing(&tracing, section, &err));
	assert_int_equal(perfev_feature_tracing_next(&tracing, &format, &err), 0);
	free((void *)(uintptr_t)section.data);
	assert_fails(perfev_tracing_read(&section, ids, 1, NULL, &err), ENOENT);
	assert_says("tracefs is not mounted");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_mounts, setup, teardown),
	cmocka_unit_test_setup_teardown(test_not_mounted, setup, teardown),
	cmocka_unit_test_setup_teardown(test_no_right, setup, teardown),
	cmocka_unit_test_setup_teardown(test_mistyped, setup, teardown),
	cmocka_unit_test_setup_teardown(test_broken_formats, setup, teardown),
	cmocka_unit_test_setup_teardown(test_events, setup, teardown),
	cmocka_unit_test_setup_teardown(test_section_for_recordings, setup, teardown),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
