/* SPDX-License-Identifier: MIT */
/* Events at a place, on a kernel that is written here: probes by their PMU with its bits anywhere, and through tracefs where there
 * is none, which then keeps nothing of them. */
#include "places.h"

#include "capture/dynamic_probe.h"

#define PATH "build-that-is-not-there/x"

/* ---- probes by their PMUs ---------------------------------------------------------------------------------- */

/* A probe in other words: its attr, but that config1 points to a text. */
static void expect_probe(struct perfev_event *event, uint32_t type, uint64_t config, const char *what, uint64_t config2)
{
	const struct perf_event_attr *attr = perfev_event_attr(event);

	assert_int_equal(attr->type, type);
	assert_int_equal(attr->config, config);
	assert_int_equal(attr->config2, config2);
	if (what)
		assert_string_equal((const char *)(uintptr_t)attr->config1, what);
	else
		assert_int_equal(attr->config1, 0);
	perfev_event_free(event);
}

static void test_bits_of_the_pmu(void **state)
{
	struct perfev_event *event;

	(void)state;
	machine();
	probe_pmus();
	expect_probe(parse("kprobe:vfs_read"), 40, 0, "vfs_read", 0);
	expect_probe(parse("kretprobe:vfs_read"), 40, 1 << 5, "vfs_read", 0);
	expect_probe(parse("kprobe:vfs_read+0x10"), 40, 0, "vfs_read", 16);
	expect_probe(parse("kprobe:0xffffffff81000000"), 40, 0, NULL, 0xffffffff81000000);
	expect_probe(parse("uprobe:/x:0x40"), 41, 0, "/x", 0x40);
	expect_probe(parse("uretprobe:/x:64"), 41, 1 << 3, "/x", 0x40);
	expect_probe(parse("uretprobe:/x:0x40(0x1000)"), 41, 0x100008, "/x", 0x40);
	/* and without text */
	assert_works(perfev_event_kprobe(&event, "vfs_read", 16, true, &err));
	assert_string_equal(perfev_event_name(event), "kretprobe:vfs_read+0x10");
	expect_probe(event, 40, 1 << 5, "vfs_read", 16);
	assert_works(perfev_event_kprobe(&event, NULL, 0xffffffff81000000, false, &err));
	assert_string_equal(perfev_event_name(event), "kprobe:0xffffffff81000000");
	expect_probe(event, 40, 0, NULL, 0xffffffff81000000); /* not the PMU of the other kind */
	assert_works(perfev_event_uprobe(&event, "/x", 0x40, 0x1000, true, &err));
	assert_string_equal(perfev_event_name(event), "uretprobe:/x:0x40(0x1000)");
	expect_probe(event, 41, 0x100008, "/x", 0x40);
	assert_int_equal(control.count, 0); /* nothing went to tracefs */
}

static void test_pmus_without_bits(void **state)
{
	struct perfev_event *event;

	(void)state;
	machine();
	fake_file(DEVICES "uprobe/type", "41\n");
	fake_file(DEVICES "uprobe/format/retprobe", "config:0\n");
	fake_file(DEVICES "kprobe/type", "40\n");
	fake_file(DEVICES "kprobe/format/retprobe", "nonsense\n");
	assert_fails(perfev_event_parse(&event, "uprobe:/x:0x40(8)", &err), EOPNOTSUPP);
	assert_says("no reference counters");
	assert_fails(perfev_event_parse(&event, "kretprobe:f", &err), EOPNOTSUPP);
	assert_says("no bit retprobe");
	assert_fails(perfev_event_uprobe(&event, "/x", 64, 8, false, &err), EOPNOTSUPP);
	fake_file(DEVICES "uprobe/format/ref_ctr_offset", "config:32-63\n");
	assert_fails(perfev_event_uprobe(&event, "/x", 64, UINT64_C(1) << 32, false, &err), EINVAL);
	assert_says("at most 0xffffffff");
}

/* What the caller gave is freed and written over before anything is opened: a sanitizer would see a use. */
static void test_places_are_kept(void **state)
{
	char *path = strdup("/some/where"), *name = strdup("vfs_read"), *text = strdup("uprobe:/some/where:0x10");
	struct perfev_event *events[3], *copy;
	struct perfev_counter *counter;
	size_t i;

	(void)state;
	machine();
	probe_pmus();
	assert_true(path && name && text);
	assert_works(perfev_event_uprobe(&events[0], path, 0x10, 0, false, &err));
	assert_works(perfev_event_kprobe(&events[1], name, 0, false, &err));
	events[2] = parse(text);
	memset(path, 'x', strlen(path));
	memset(name, 'x', strlen(name));
	memset(text, 'x', strlen(text));
	free(path);
	free(name);
	free(text);
	for (i = 0; i < 3; i++) {
		assert_works(perfev_event_copy(&copy, events[i], &err));
		assert_true(perfev_event_attr(copy)->config1 != perfev_event_attr(events[i])->config1);
		perfev_event_free(events[i]);
		assert_works(perfev_counter_open(&counter, copy, perfev_on_self(), NULL, &err));
		assert_string_equal((const char *)(uintptr_t)fake.events[i].attr.config1,
				    i == 1 ? "vfs_read" : "/some/where");
		perfev_counter_close(counter);
		perfev_event_free(copy);
	}
	assert_int_equal(fake_left(), 0);
}

/* A refusal of the PMU is told; it is not tried again in tracefs. */
static int refuse_symbol(struct fake_event *event, struct perf_event_attr *attr)
{
	(void)event;
	return attr->type == 40 ? -EINVAL : 0;
}

static void test_a_bad_symbol_is_not_tried_elsewhere(void **state)
{
	struct perfev_event *event;
	struct perfev_counter *counter;

	(void)state;
	machine();
	probe_pmus();
	fake.on_open = refuse_symbol;
	event = parse("kprobe:no_such_function");
	assert_fails(perfev_counter_open(&counter, event, perfev_on_self(), NULL, &err), EINVAL);
	perfev_event_free(event);
	assert_int_equal(control.count, 0);
	assert_int_equal(fake_left(), 0);
}

/* ---- probes of tracefs --------------------------------------------------------------------------------------- */

/* The first line that was written is "KIND:perfev/NAME PLACE". */
static void expect_line(int index, char kind, const char *place)
{
	const char *line = control.lines[index], *blank = strchr(line, ' ');

	if (line[0] != kind || strncmp(line + 1, ":perfev/p500_", 13) || !blank || strncmp(blank + 1, place, strlen(place)) ||
	    strcmp(blank + 1 + strlen(place), "\n"))
		fail_msg("line %d is %s", index, line);
}

static void test_lines(void **state)
{
	static const struct {
		const char *text;
		char kind;
		const char *place;
	} rows[] = {
		{"kprobe:vfs_read", 'p', "vfs_read"}, {"kretprobe:vfs_read:k", 'r', "vfs_read"},
		{"kprobe:vfs_read+4/name=x/", 'p', "vfs_read+4"}, {"kprobe:0xffffffff81000000", 'p', "0xffffffff81000000"},
		{"uprobe:/bin/x:0x40", 'p', "/bin/x:0x40"}, {"uretprobe:/bin/x:64", 'r', "/bin/x:0x40"},
		{"uprobe:/bin/x:0x40(0x80)", 'p', "/bin/x:0x40(0x80)"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct perfev_event *event;

		machine();
		event = parse(rows[i].text);
		expect_line(0, rows[i].kind, rows[i].place);
		assert_int_equal(control.there, 1);
		expect_probe(event, PERF_TYPE_TRACEPOINT, 901, NULL, 0); /* frees it */
		assert_int_equal(control.there, 0);
		assert_int_equal(control.count, 2);
		assert_int_equal(fake_left(), 0);
	}
}

/* However many copies there are, it is there until the last one goes. */
static void test_copies_share_the_probe(void **state)
{
	struct perfev_event *event, *copy;
	struct perfev_events *list;
	struct perfev_set *set;

	(void)state;
	machine();
	event = parse("kprobe:vfs_read");
	assert_works(perfev_event_copy(&copy, event, &err));
	assert_works(perfev_events_new(&list, &err));
	assert_works(perfev_events_add(list, event, -1, &err));
	assert_works(perfev_events_append(list, list, &err));
	perfev_event_free(event);
	assert_works(perfev_set_open(&set, list, perfev_on_self(), NULL, &err));
	perfev_events_free(list);
	perfev_event_free(copy);
	assert_int_equal(control.there, 1); /* the set counts it */
	assert_int_equal(fake.events[0].attr.config, 901);
	perfev_set_close(set);
	assert_int_equal(control.there, 0);
	assert_int_equal(control.count, 2);
	assert_int_equal(fake_left(), 0);
}

static int refuse(struct fake_event *event, struct perf_event_attr *attr)
{
	(void)event;
	(void)attr;
	return -EINVAL;
}

/* Whatever fails afterwards, no line stays. */
static void test_failures_leave_nothing(void **state)
{
	static const char *const texts[] = {
		"kprobe:f,nothing", "kprobe:f:q", "{kprobe:f,kprobe:g", "kprobe:f/nothing=1/", "kprobe:f,kprobe:g,kprobe:+1",
		"kprobe:f x", "uprobe:/x:1,uprobe:/x",
	};
	struct perfev_events *events;
	struct perfev_set *set;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		machine();
		if (perfev_events_parse(&events, texts[i], &err) >= 0)
			fail_msg("'%s' is taken", texts[i]);
		if (control.there)
			fail_msg("'%s' leaves %d", texts[i], control.there);
	}
	machine(); /* a failing open */
	assert_works(perfev_events_parse(&events, "{kprobe:f,kretprobe:f}", &err));
	assert_int_equal(control.there, 2);
	fake.on_open = refuse;
	assert_fails(perfev_set_open(&set, events, perfev_on_self(), NULL, &err), EINVAL);
	perfev_events_free(events);
	assert_int_equal(control.there, 0);
	machine(); /* a probe whose id cannot be read */
	control.no_id = true;
	assert_fails(perfev_events_parse(&events, "kprobe:f", &err), ENOENT);
	assert_int_equal(control.there, 0);
	assert_int_equal(control.count, 2);
	assert_int_equal(fake_left(), 0);
}

static void test_refusals(void **state)
{
	struct perfev_event *event = NULL;

	(void)state;
	machine();
	control.refuse = -EACCES;
	assert_fails(perfev_event_parse(&event, "kprobe:f", &err), EACCES);
	assert_int_equal(err.why, PERFEV_WHY_CAPABILITY);
	assert_says("the kernel has no kprobe PMU, and this user may not write kprobe_events");
	control.refuse = -ENOENT; /* the kernel has none of that name */
	assert_fails(perfev_event_parse(&event, "kprobe:f", &err), ENOENT);
	assert_int_equal(err.why, PERFEV_WHY_NOT_FOUND);
	control.refuse = -EINVAL;
	assert_fails(perfev_event_parse(&event, "kprobe:f", &err), EINVAL);
	assert_int_equal(control.count, 3); /* once each: another try would be another line */
	fake_remove(TRACEFS "/kprobe_events");
	fake.on_append = NULL;
	assert_fails(perfev_event_parse(&event, "cs,kprobe:f", &err), ENOENT);
	assert_int_equal(err.why, PERFEV_WHY_NO_KERNEL);
	assert_int_equal(err.where, 4);
	assert_says("CONFIG_KPROBE_EVENTS");
	fake_remove("/proc/self/mounts");
	assert_fails(perfev_event_parse(&event, "uprobe:/x:1", &err), ENOENT);
	assert_says("not mounted");
	assert_null(event);
}

/* One line of tracefs is one probe: nothing in a name makes two of it, or cuts it. */
static void test_names_that_are_no_line(void **state)
{
	static const char *const paths[] = {"/a b", "/a\n-:perfev/x", "/a\tb", "/a#b", "/a\x7f", "/\n", "/a\r"};
	struct perfev_event *event;
	char name[5000];
	size_t i;

	(void)state;
	machine();
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		assert_fails(perfev_event_uprobe(&event, paths[i], 16, 0, false, &err), EINVAL);
		assert_fails(perfev_event_kprobe(&event, paths[i], 0, false, &err), EINVAL);
	}
	memset(name, 'n', sizeof(name));
	name[0] = '/';
	name[sizeof(name) - 1] = 0;
	assert_fails(perfev_event_uprobe(&event, name, 16, 0, false, &err), EINVAL);
	assert_says("no name of this length");
	name[590] = 0; /* with its offset it would be cut */
	assert_fails(perfev_event_kprobe(&event, name, UINT64_MAX, false, &err), EINVAL);
	assert_int_equal(control.count, 0);
	probe_pmus(); /* the PMU takes any path */
	assert_works(perfev_event_uprobe(&event, paths[0], 16, 0, false, &err));
	expect_probe(event, 41, 0, "/a b", 16);
}

/* What a process of our number left behind is passed over. */
static void test_names_that_are_taken(void **state)
{
	struct dynamic_probe *one, *two;
	uint64_t id;

	(void)state;
	machine();
	assert_int_equal(dynamic_probe_make(&one, &id, TRACEFS, "kprobe_events", 'p', "f"), 0);
	assert_int_equal(id, 901);
	assert_int_equal(dynamic_probe_make(&two, &id, TRACEFS, "kprobe_events", 'p', "f"), 0);
	assert_int_equal(id, 902);
	assert_int_equal(control.there, 2);
	assert_ptr_equal(dynamic_probe_share(one), one);
	dynamic_probe_release(one);
	assert_int_equal(control.there, 2);
	dynamic_probe_release(one);
	dynamic_probe_release(two);
	dynamic_probe_release(NULL);
	assert_null(dynamic_probe_share(NULL));
	assert_int_equal(control.there, 0);
	assert_int_equal(dynamic_probe_make(&one, &id, "/nonexistent", "kprobe_events", 'p', "f"), -ENOENT);
}

/* A tree that was given is the one that is written to. */
static void test_a_given_tracefs(void **state)
{
	static const struct perfev_parse_opts opts = {sizeof(opts), "/other/sys", "/other/tracing"};
	struct perfev_events *events;

	(void)state;
	machine();
	control.root = "/other/tracing";
	fake_file("/other/tracing/uprobe_events", "");
	assert_works(perfev_events_parse_at(&events, "uprobe:/x:1", &opts, &err));
	assert_int_equal(control.there, 1);
	perfev_events_free(events);
	assert_int_equal(control.there, 0);
	control.root = TRACEFS;
	assert_fails(perfev_events_parse_at(&events, "uprobe:/x:1", &opts, &err), ENOENT);
	assert_int_equal(control.count, 2); /* of the first */
}

/* ---- functions of programs ------------------------------------------------------------------------------------- */

static void test_functions_of_files(void **state)
{
	struct perfev_event *event;

	(void)state;
	machine();
	probe_pmus();
	assert_fails(perfev_event_parse(&event, "cs,uprobe:" PATH ":main", &err), ENOENT);
	assert_int_equal(err.where, 4);
	assert_says("cannot find function main in " PATH);
	assert_fails(perfev_event_parse(&event, "uprobe:tests/checks:main", &err), ENOEXEC);
	assert_says("it is no ELF file");
	assert_fails(perfev_event_parse(&event, "uprobe:/proc/self/exe:perfev_event_pars", &err), ENOENT);
	assert_says("did you mean perfev_event_parse?");
	event = parse("uprobe:/proc/self/exe:perfev_event_parse");
	assert_true(perfev_event_attr(event)->config2 > 0);
	perfev_event_free(event);
}

/* ---- the others without text ------------------------------------------------------------------------------------- */

static void expect_same(struct perfev_event *made, const char *text)
{
	struct perfev_event *event = parse(text);

	assert_memory_equal(perfev_event_attr(made), perfev_event_attr(event), sizeof(struct perf_event_attr));
	assert_string_equal(perfev_event_name(made), perfev_event_name(event));
	perfev_event_free(event);
	perfev_event_free(made);
}

static void test_constructors(void **state)
{
	struct perfev_event *event;
	uint32_t id;

	(void)state;
	machine();
	fake_file(DEVICES "cpu/type", "4\n");
	fake_file(DEVICES "cpu/format/event", "config:0-7,32-35\n");
	for (id = 0; id < PERF_COUNT_HW_MAX; id++) {
		assert_works(perfev_event_hardware(&event, id, &err));
		assert_int_equal(perfev_event_attr(event)->config, id);
		expect_same(event, perfev_event_name(event));
	}
	for (id = 0; id < PERF_COUNT_SW_MAX; id++) {
		assert_works(perfev_event_software(&event, id, &err));
		expect_same(event, perfev_event_name(event));
	}
	assert_works(perfev_event_cache(&event, 0, 0, 1, &err));
	expect_same(event, "L1-dcache-load-misses");
	assert_works(perfev_event_raw(&event, 0x1a8, &err));
	expect_same(event, "r1a8");
	assert_works(perfev_event_breakpoint(&event, 0x1000, 8, HW_BREAKPOINT_W, &err));
	expect_same(event, "mem:0x1000/8:w");
	assert_works(perfev_event_breakpoint(&event, 0x1000, 0, HW_BREAKPOINT_RW, &err));
	expect_same(event, "mem:0x1000:rw");
	assert_works(perfev_event_breakpoint(&event, 0x1000, 0, HW_BREAKPOINT_X, &err));
	assert_int_equal(perfev_event_attr(event)->bp_addr, 0x1000);
#if defined(__x86_64__) || defined(__i386__)
	assert_int_equal(perfev_event_attr(event)->bp_len, sizeof(long) < 8 ? 4 : 8);
#else
	assert_true(perfev_event_attr(event)->bp_len > 0);
#endif
	expect_same(event, "mem:0x1000:x");
	assert_works(perfev_event_pmu(&event, "cpu", "event=0x1c2,period=5", &err));
	expect_same(event, "cpu/event=0x1c2,period=5/");
	assert_works(perfev_event_pmu(&event, "cpu", "", &err));
	expect_same(event, "cpu//");
	assert_fails(perfev_event_pmu(&event, "cpu", "nothing=1", &err), EINVAL);
	assert_fails(perfev_event_hardware(&event, PERF_COUNT_HW_MAX, &err), EINVAL);
	assert_fails(perfev_event_software(&event, PERF_COUNT_SW_MAX, &err), EINVAL);
	assert_fails(perfev_event_cache(&event, PERF_COUNT_HW_CACHE_MAX, 0, 0, &err), EINVAL);
	assert_fails(perfev_event_cache(&event, 0, PERF_COUNT_HW_CACHE_OP_MAX, 0, &err), EINVAL);
	assert_fails(perfev_event_cache(&event, 0, 0, PERF_COUNT_HW_CACHE_RESULT_MAX, &err), EINVAL);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_bits_of_the_pmu),
	cmocka_unit_test(test_pmus_without_bits),
	cmocka_unit_test(test_places_are_kept),
	cmocka_unit_test(test_a_bad_symbol_is_not_tried_elsewhere),
	cmocka_unit_test(test_lines),
	cmocka_unit_test(test_copies_share_the_probe),
	cmocka_unit_test(test_failures_leave_nothing),
	cmocka_unit_test(test_refusals),
	cmocka_unit_test(test_names_that_are_no_line),
	cmocka_unit_test(test_names_that_are_taken),
	cmocka_unit_test(test_a_given_tracefs),
	cmocka_unit_test(test_functions_of_files),
	cmocka_unit_test(test_constructors),
};

int main(void)
{
	int r = cmocka_run_group_tests(tests, NULL, NULL);

	fake_reset();
	return r;
}
