/* SPDX-License-Identifier: MIT */
/* The plan: which descriptors a target needs, in which ring each writes, whose group it is in. */
#include "test.h"

#include "capture/plan.h"
#include "fake/kernel.h"

#include <errno.h>

static struct perfev_error err;
static struct perfev_event plain;
static const struct plan_event attrs[] = {
	{&plain, 0, false}, {&plain, 1, false}, {&plain, 2, false}, {&plain, 3, false}};
static const struct plan_event inheriting[] = {{&plain, 0, false}, {&plain, 1, true}};

static int setup(void **state)
{
	(void)state;
	fake_reset();
	fake_file("/sys/devices/system/cpu/online", "0,2-3,8\n");
	fake_process(7, 1, "seven", "7 8 9");
	fake_process(20, 1, "twenty", "20 21");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return fake_left();
}

static struct plan make(const struct plan_event *list, size_t count, bool rings,
			struct perfev_target on)
{
	struct plan_events events = {.items = list, .count = count, .rings = rings};
	struct plan plan;

	if (plan_make(&plan, &events, on, &err) < 0)
		fail_msg("%s", err.text);
	return plan;
}

/* Rows as text: "event pid cpu leader ring; ...". */
static void expect(struct plan *plan, const char *wanted, uint32_t rings)
{
	char text[4096] = "";
	size_t i, at = 0;

	for (i = 0; i < plan->count; i++) {
		const struct plan_row *r = &plan->rows[i];

		at += (size_t)snprintf(text + at, sizeof(text) - at, "%u %d %d %d %u; ", r->event,
				       r->pid, r->cpu, r->leader, r->ring);
	}
	if (at)
		text[at - 2] = 0;
	assert_string_equal(text, wanted);
	assert_int_equal(plan->ring_count, rings);
	plan_free(plan);
}

static void test_tasks(void **state)
{
	static const int32_t three[] = {7, 20, 21};
	struct perfev_target on = perfev_on_self();
	struct plan plan = make(attrs, 2, true, on);

	(void)state;
	assert_false(plan.process);
	assert_false(plan.cgroup);
	expect(&plan, "0 0 -1 -1 0; 1 0 -1 -1 0", 1);
	plan = make(attrs, 1, true, perfev_on_task(812));
	expect(&plan, "0 812 -1 -1 0", 1);
	plan = make(attrs, 1, true, perfev_on_task_cpu(812, 8));
	expect(&plan, "0 812 8 -1 0", 1);
	on.ids = three;
	on.id_count = 3;
	plan = make(attrs, 2, true, on); /* a ring for each thread: they are not on one CPU */
	expect(&plan,
	       "0 7 -1 -1 0; 1 7 -1 -1 0; 0 20 -1 -1 1; 1 20 -1 -1 1; 0 21 -1 -1 2; 1 21 -1 -1 2",
	       3);
}

static void test_process(void **state)
{
	static const int32_t both[] = {20, 7};
	struct perfev_target on = perfev_on_process(7);
	struct plan plan = make(attrs, 1, false, on);

	(void)state;
	assert_true(plan.process);
	assert_int_equal(plan.task_count, 3);
	expect(&plan, "0 7 -1 -1 0; 0 8 -1 -1 1; 0 9 -1 -1 2", 3);
	/* what is mapped is bound to CPUs, because threads to come inherit it */
	plan = make(attrs, 1, true, on);
	expect(&plan,
	       "0 7 0 -1 0; 0 7 2 -1 1; 0 7 3 -1 2; 0 7 8 -1 3; "
	       "0 8 0 -1 0; 0 8 2 -1 1; 0 8 3 -1 2; 0 8 8 -1 3; "
	       "0 9 0 -1 0; 0 9 2 -1 1; 0 9 3 -1 2; 0 9 8 -1 3", 4);
	on.ids = both;
	on.id_count = 2;
	plan = make(attrs, 1, false, on);
	expect(&plan, "0 20 -1 -1 0; 0 21 -1 -1 1; 0 7 -1 -1 2; 0 8 -1 -1 3; 0 9 -1 -1 4", 5);
	on.cpu = 2;
	plan = make(attrs, 1, true, on);
	expect(&plan, "0 20 2 -1 0; 0 21 2 -1 0; 0 7 2 -1 0; 0 8 2 -1 0; 0 9 2 -1 0", 1);
}

static void test_cpus(void **state)
{
	static const int32_t some[] = {8, 3};
	struct perfev_target on = perfev_on_all_cpus();
	struct plan plan = make(attrs, 2, true, on);

	(void)state;
	expect(&plan,
	       "0 -1 0 -1 0; 1 -1 0 -1 0; 0 -1 2 -1 1; 1 -1 2 -1 1; "
	       "0 -1 3 -1 2; 1 -1 3 -1 2; 0 -1 8 -1 3; 1 -1 8 -1 3", 4);
	plan = make(attrs, 1, true, perfev_on_cpu(3));
	expect(&plan, "0 -1 3 -1 0", 1);
	on.cpus = some;
	on.cpu_count = 2;
	plan = make(attrs, 1, true, on);
	expect(&plan, "0 -1 8 -1 0; 0 -1 3 -1 1", 2);
	plan = make(attrs, 1, true, perfev_on_cgroup(55, 2));
	assert_true(plan.cgroup);
	expect(&plan, "0 55 2 -1 0", 1);
	plan = make(attrs, 1, false, perfev_on_cgroup(55, -1));
	expect(&plan, "0 55 0 -1 0; 0 55 2 -1 1; 0 55 3 -1 2; 0 55 8 -1 3", 4);
}

static void test_inherit(void **state)
{
	struct plan plan = make(inheriting, 2, false, perfev_on_task(812));

	(void)state;
	expect(&plan, "0 812 -1 -1 0; 1 812 -1 -1 0", 1);
	plan = make(inheriting, 2, true, perfev_on_task(812)); /* one that inherits binds all to CPUs */
	expect(&plan,
	       "0 812 0 -1 0; 1 812 0 -1 0; 0 812 2 -1 1; 1 812 2 -1 1; "
	       "0 812 3 -1 2; 1 812 3 -1 2; 0 812 8 -1 3; 1 812 8 -1 3", 4);
	plan = make(inheriting, 2, true, perfev_on_task_cpu(812, 3));
	expect(&plan, "0 812 3 -1 0; 1 812 3 -1 0", 1);
}

static void test_groups(void **state)
{
	static const struct plan_event grouped[] = {
		{&plain, 0, false}, {&plain, 0, false}, {&plain, 2, false}, {&plain, 2, false}};
	static const int32_t two[] = {0, 2};
	struct plan_events events = {.items = grouped, .count = 4, .rings = false};
	struct perfev_target on = perfev_on_all_cpus();
	struct plan plan;

	(void)state;
	on.cpus = two;
	on.cpu_count = 2;
	assert_works(plan_make(&plan, &events, on, &err));
	expect(&plan,
	       "0 -1 0 -1 0; 1 -1 0 0 0; 2 -1 0 -1 0; 3 -1 0 2 0; "
	       "0 -1 2 -1 1; 1 -1 2 4 1; 2 -1 2 -1 1; 3 -1 2 6 1", 2);
}

/* PMUs that some CPUs have: their events are opened there alone. */
static void test_cpus_of_an_event(void **state)
{
	int32_t big[] = {2, 3}, small[] = {0, 8}, none[] = {5};
	struct perfev_event on_big = {.cpus = big, .cpu_count = 2}, on_small = {.cpus = small, .cpu_count = 2};
	struct perfev_event nowhere = {.cpus = none, .cpu_count = 1};
	const struct plan_event list[] = {
		{&on_big, 0, false}, {&on_big, 0, false}, {&on_small, 2, false}, {&plain, 2, false}};
	const struct plan_event lost = {&nowhere, 0, false};
	struct plan plan = make(list, 4, true, perfev_on_all_cpus());

	(void)state;
	expect(&plan,
	       "2 -1 0 -1 0; 3 -1 0 0 0; 0 -1 2 -1 1; 1 -1 2 2 1; 3 -1 2 -1 1; "
	       "0 -1 3 -1 2; 1 -1 3 5 2; 3 -1 3 -1 2; 2 -1 8 -1 3; 3 -1 8 8 3", 4);
	plan = make(list, 4, false, perfev_on_task(812)); /* the kernel counts where it can */
	expect(&plan, "0 812 -1 -1 0; 1 812 -1 0 0; 2 812 -1 -1 0; 3 812 -1 2 0", 1);
	plan = make(&lost, 1, false, perfev_on_all_cpus());
	expect(&plan, "", 4);
}

/* One CPU of each package, of those that are wanted. */
static void test_once_a_package(void **state)
{
	static const int32_t some[] = {8, 3, 2};
	struct perfev_event shared = {.flags = PERFEV_EVENT_PER_PACKAGE};
	const struct plan_event list[] = {{&shared, 0, false}, {&plain, 1, false}};
	struct perfev_target on = perfev_on_all_cpus();
	struct plan plan;

	(void)state;
	fake_file("/sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
	fake_file("/sys/devices/system/cpu/cpu2/topology/physical_package_id", "0\n");
	fake_file("/sys/devices/system/cpu/cpu3/topology/physical_package_id", "1\n");
	fake_file("/sys/devices/system/cpu/cpu8/topology/physical_package_id", "1\n");
	plan = make(list, 2, false, on);
	expect(&plan, "0 -1 0 -1 0; 1 -1 0 -1 0; 1 -1 2 -1 1; 0 -1 3 -1 2; 1 -1 3 -1 2; 1 -1 8 -1 3", 4);
	on.cpus = some;
	on.cpu_count = 3;
	plan = make(list, 1, false, on);
	expect(&plan, "0 -1 8 -1 0; 0 -1 2 -1 2", 3);
	plan = make(list, 1, false, perfev_on_task(812)); /* where it runs, the kernel counts */
	expect(&plan, "0 812 -1 -1 0", 1);
	fake_remove("/sys/devices/system/cpu/cpu2/topology/physical_package_id");
	plan = make(list, 1, false, perfev_on_all_cpus()); /* not known: it is counted */
	expect(&plan, "0 -1 0 -1 0; 0 -1 2 -1 1; 0 -1 3 -1 2", 4);
}

/* Each event in rings of its own: one a place. */
static void test_rings_apart(void **state)
{
	struct plan_events events = {.items = attrs, .count = 2, .rings = true, .apart = true};
	struct plan plan;

	(void)state;
	assert_works(plan_make(&plan, &events, perfev_on_all_cpus(), &err));
	expect(&plan,
	       "0 -1 0 -1 0; 1 -1 0 -1 1; 0 -1 2 -1 2; 1 -1 2 -1 3; "
	       "0 -1 3 -1 4; 1 -1 3 -1 5; 0 -1 8 -1 6; 1 -1 8 -1 7", 8);
	assert_works(plan_make(&plan, &events, perfev_on_self(), &err));
	expect(&plan, "0 0 -1 -1 0; 1 0 -1 -1 1", 2);
}

/* cpu= of an event's text binds it on a task too; what a PMU has, has no say there. */
static void test_cpus_named_by_the_event(void **state)
{
	int32_t two[] = {1, 3}, one[] = {5};
	struct perfev_event named = {.cpus = two, .cpu_count = 2, .flags = PERFEV_EVENT_CPUS};
	struct perfev_event of_pmu = {.cpus = one, .cpu_count = 1};
	const struct plan_event list[] = {{&named, 0, false}, {&named, 0, false}, {&of_pmu, 2, false}};
	struct plan plan = make(list, 3, false, perfev_on_task(812));

	(void)state;
	expect(&plan, "0 812 1 -1 0; 0 812 3 -1 0; 1 812 1 0 0; 1 812 3 1 0; 2 812 -1 -1 0", 1);
}

static const char *threads_of_8(const char *path)
{
	return strcmp(path, "/proc/8/task") ? NULL : "7 8 9"; /* the list of a thread is its process's */
}

/* What is named twice is opened once, or it would count double. */
static void test_named_twice(void **state)
{
	static const int32_t tasks[] = {812, 7, 812, 7, 7}, cpus[] = {8, 3, 8, 3}, both[] = {7, 8, 7};
	struct perfev_target on = perfev_on_self();
	struct plan plan;

	(void)state;
	on.ids = tasks;
	on.id_count = 5;
	plan = make(attrs, 1, true, on);
	expect(&plan, "0 812 -1 -1 0; 0 7 -1 -1 1", 2);
	on = perfev_on_all_cpus();
	on.cpus = cpus;
	on.cpu_count = 4;
	plan = make(attrs, 1, true, on);
	expect(&plan, "0 -1 8 -1 0; 0 -1 3 -1 1", 2);
	fake.on_list = threads_of_8;
	on = perfev_on_process(7);
	on.ids = both;
	on.id_count = 3;
	plan = make(attrs, 1, false, on);
	expect(&plan, "0 7 -1 -1 0; 0 8 -1 -1 1; 0 9 -1 -1 2", 3);
	fake.on_list = NULL;
}

/* ---- what changes meanwhile --------------------------------------------------------------------------- */

static int looks;

static const char *grow(const char *path)
{
	static const char *const lists[] = {"7", "7 8", "7 8 9", "7 8 9"};

	if (strcmp(path, "/proc/7/task"))
		return NULL;
	looks++;
	return lists[looks < 4 ? looks - 1 : 3];
}

/* Threads start while they are listed: it is looked again until nothing is new. */
static void test_growing_process(void **state)
{
	struct plan plan;

	(void)state;
	looks = 0;
	fake.on_list = grow;
	plan = make(attrs, 1, false, perfev_on_process(7));
	fake.on_list = NULL;
	assert_int_equal(looks, 4);
	expect(&plan, "0 7 -1 -1 0; 0 8 -1 -1 1; 0 9 -1 -1 2", 3);
}

static const char *never_the_same(const char *path)
{
	static char list[32];

	if (strcmp(path, "/proc/7/task"))
		return NULL;
	snprintf(list, sizeof(list), "7 %d", 100 + looks++);
	return list;
}

static void test_restless_process(void **state)
{
	struct plan plan;

	(void)state;
	looks = 0;
	fake.on_list = never_the_same;
	plan = make(attrs, 1, false, perfev_on_process(7));
	assert_in_range(looks, 2, 20);
	assert_int_equal(plan.count, 2); /* the last look, not all of them together */
	assert_true(plan_is_stale(&plan, perfev_on_process(7)));
	fake.on_list = NULL;
	plan_free(&plan);
}

static void test_stale(void **state)
{
	struct plan plan = make(attrs, 1, false, perfev_on_process(20));

	(void)state;
	assert_false(plan_is_stale(&plan, perfev_on_process(20)));
	fake_process(20, 1, "twenty", "22");
	assert_true(plan_is_stale(&plan, perfev_on_process(20)));
	fake_remove("/proc/20/task/20/comm");
	fake_remove("/proc/20/task/21/comm");
	fake_remove("/proc/20/task/22/comm");
	assert_false(plan_is_stale(&plan, perfev_on_process(20))); /* what has ended adds nothing */
	plan_free(&plan);
	plan = make(attrs, 1, false, perfev_on_task(7));
	assert_false(plan_is_stale(&plan, perfev_on_task(7)));
	plan_free(&plan);
}

static void test_nothing_there(void **state)
{
	struct plan_events events = {.items = attrs, .count = 1, .rings = true};
	struct plan plan;

	(void)state;
	assert_fails(plan_make(&plan, &events, perfev_on_process(99), &err), ENOENT);
	assert_says("there is no /proc; run mount -t proc proc /proc");
	fake_file("/proc/self/stat", "1");
	assert_fails(plan_make(&plan, &events, perfev_on_process(99), &err), ESRCH);
	assert_int_equal(err.why, PERFEV_WHY_NO_TASK);
	assert_says("99");
	assert_null(plan.rows);
	fake_error("/sys/devices/system/cpu/online", -EACCES);
	assert_fails(plan_make(&plan, &events, perfev_on_all_cpus(), &err), EACCES);
	assert_says("cpu/online");
	fake_file("/sys/devices/system/cpu/online", "\n");
	assert_fails(plan_make(&plan, &events, perfev_on_all_cpus(), &err), ENODATA);
	fake_file("/sys/devices/system/cpu/online", "what?");
	assert_fails(plan_make(&plan, &events, perfev_on_process(7), &err), EINVAL);
	assert_null(plan.tasks);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_tasks, setup, teardown),
	cmocka_unit_test_setup_teardown(test_process, setup, teardown),
	cmocka_unit_test_setup_teardown(test_cpus, setup, teardown),
	cmocka_unit_test_setup_teardown(test_named_twice, setup, teardown),
	cmocka_unit_test_setup_teardown(test_inherit, setup, teardown),
	cmocka_unit_test_setup_teardown(test_groups, setup, teardown),
	cmocka_unit_test_setup_teardown(test_cpus_of_an_event, setup, teardown),
	cmocka_unit_test_setup_teardown(test_once_a_package, setup, teardown),
	cmocka_unit_test_setup_teardown(test_cpus_named_by_the_event, setup, teardown),
	cmocka_unit_test_setup_teardown(test_rings_apart, setup, teardown),
	cmocka_unit_test_setup_teardown(test_growing_process, setup, teardown),
	cmocka_unit_test_setup_teardown(test_restless_process, setup, teardown),
	cmocka_unit_test_setup_teardown(test_stale, setup, teardown),
	cmocka_unit_test_setup_teardown(test_nothing_there, setup, teardown),
};

int main(void)
{
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	fake_reset();
	return failed;
}
