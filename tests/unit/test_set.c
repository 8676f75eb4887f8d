/* SPDX-License-Identifier: MIT */
/* Sets and counters: what is opened, and what happens when tasks end or appear meanwhile. */
#include "sets.h"

#include <perfev/sampler.h>

#include <errno.h>

/* ---- opened ---------------------------------------------------------------------------------------- */

static void test_fan_out(void **state)
{
	struct perfev_set *set;
	int i;

	(void)state;
	assert_works(open_set(&set, "cycles,{instructions:u,cs}", perfev_on_process(7), 0, false));
	assert_int_equal(fake.event_count, 9);
	for (i = 0; i < 9; i++) {
		const struct fake_event *e = &fake.events[i];

		assert_int_equal(e->pid, 7 + i / 3);
		assert_int_equal(e->cpu, -1);
		assert_true(e->flags & PERF_FLAG_FD_CLOEXEC);
		assert_true(e->attr.inherit);
		assert_int_equal(e->attr.size, sizeof(e->attr));
		assert_int_equal(e->group_fd, i % 3 == 2 ? fake.events[i - 1].fd : -1);
		assert_int_equal(e->attr.disabled, i % 3 != 2);
		assert_int_equal(!!(e->attr.read_format & PERF_FORMAT_GROUP), i % 3 == 1);
		assert_int_equal(e->attr.read_format & 3, 3);
	}
	assert_works(perfev_set_start(set, &err));
	for (i = 0; i < 9; i++)
		assert_true(fake.events[i].enabled);
	assert_works(perfev_set_stop(set, &err));
	for (i = 0; i < 9; i++)
		assert_int_equal(fake.events[i].enabled, i % 3 == 2); /* off with its leader */
	assert_int_equal(open_rows(set), 9);
	perfev_set_close(set);
}

/* A number that is none does not become all threads. */
static void test_no_threads(void **state)
{
	static const int32_t ids[] = {7, -1};
	struct perfev_target on = perfev_on_task_cpu(-1, 0);
	struct perfev_set *set;

	(void)state;
	assert_fails(open_set(&set, "cycles", on, 0, false), ESRCH);
	on.ids = ids;
	on.id_count = 2;
	assert_fails(open_set(&set, "cycles", on, 0, true), ESRCH);
	assert_says("thread -1");
	assert_int_equal(fake.event_count, 0);
}

/* Nothing that is asked for is not everything. */
static void test_no_events(void **state)
{
	struct perfev_sampler *sampler;
	struct perfev_events *events;
	struct perfev_set *set;

	(void)state;
	assert_works(perfev_events_new(&events, &err));
	assert_fails(perfev_set_open(&set, events, perfev_on_all_cpus(), NULL, &err), EINVAL);
	assert_says("cannot open an empty list of events");
	assert_fails(perfev_sampler_open(&sampler, NULL, 0, perfev_on_all_cpus(), NULL, &err), EINVAL);
	perfev_events_free(events);
	assert_int_equal(fake.event_count, 0);
}

/* Nor do such CPUs become all of them. */
static void test_no_cpus(void **state)
{
	static const int32_t cpus[] = {0, -1}, groups[] = {5, -3};
	struct perfev_target on = perfev_on_all_cpus(), group = perfev_on_cgroup(-1, 0);
	struct perfev_counter *counter;
	struct perfev_event *event;
	struct perfev_set *set;

	(void)state;
	assert_fails(open_set(&set, "cycles", perfev_on_cpu(-1), 0, false), ENODEV);
	assert_int_equal(err.why, PERFEV_WHY_NO_CPU);
	assert_says("cannot open cycles on a CPU of a negative number: there is none");
	assert_fails(open_set(&set, "cycles", perfev_on_cgroup(-1, 0), 0, false), EBADF);
	assert_says("cannot open cycles on a cgroup: -1 is no descriptor");
	assert_fails(open_set(&set, "cycles", perfev_on_cpu(INT32_MIN), 0, true), ENODEV);
	assert_fails(open_set(&set, "cycles", perfev_on_task_cpu(7, -2), 0, false), ENODEV);
	on.cpus = cpus;
	on.cpu_count = 2;
	assert_fails(open_set(&set, "cycles", on, 0, false), ENODEV);
	assert_works(perfev_event_parse(&event, "cs", &err));
	assert_fails(perfev_counter_open(&counter, event, perfev_on_cpu(-1), NULL, &err), ENODEV);
	assert_fails(perfev_counter_open(&counter, event, perfev_on_cpu(-7), NULL, &err), ENODEV);
	perfev_event_free(event);
	assert_int_equal(fake.event_count, 0);
	group.ids = groups; /* of several, in the place of the one */
	group.id_count = 2;
	assert_fails(open_set(&set, "cycles", group, 0, false), EBADF);
	assert_says("cannot open cycles on a cgroup: -3 is no descriptor");
	group.id_count = 1;
	assert_works(open_set(&set, "cycles", group, 0, false));
	perfev_set_close(set);
}

static void test_sums(void **state)
{
	struct perfev_reading r[3];
	struct perfev_set *set;
	int i;

	(void)state;
	assert_works(open_set(&set, "cycles,faults,cs:u", perfev_on_all_cpus(), 0, false));
	assert_int_equal(fake.event_count, 12);
	for (i = 0; i < 12; i++) {
		fake.events[i].count = (uint64_t)i + 1;
		fake.events[i].enabled_ns = 100;
		fake.events[i].running_ns = i == 0 ? 0 : 50; /* that one was never scheduled */
	}
	assert_fails(perfev_set_read(set, r, 2, &err), EINVAL);
	assert_works(perfev_set_read(set, r, 3, &err));
	assert_int_equal(r[0].count, 1 + 4 + 7 + 10);
	assert_int_equal(r[0].enabled_ns, 400);
	assert_int_equal(r[0].running_ns, 150);
	assert_int_equal(r[0].status, PERFEV_COUNTED);
	assert_int_equal(r[1].count, 2 + 5 + 8 + 11);
	assert_int_equal(r[2].status, PERFEV_NOT_COUNTED); /* happens in the kernel */
	assert_int_equal(r[2].why, PERFEV_WHY_PARANOID);
	fake.events[4].read_result = FAKE_EMPTY;
	assert_works(perfev_set_read(set, r, 3, &err));
	assert_int_equal(r[1].status, PERFEV_ERROR_STATE);
	assert_works(perfev_set_row_read(set, 1, r, &err));
	assert_int_equal(r[0].count, 2);
	assert_fails(perfev_set_row_read(set, 12, r, &err), EINVAL);
	fake.events[4].read_result = -EIO;
	assert_fails(perfev_set_read(set, r, 3, &err), EIO);
	assert_says("faults");
	perfev_set_close(set);
}

/* A cgroup that ran already when its events were opened: times since boot, of which too much is taken off. */
static void test_times_of_a_cgroup(void **state)
{
	struct perfev_target on = perfev_on_cgroup(55, -1);
	struct perfev_reading r;
	struct perfev_set *set;
	int i;

	(void)state;
	fake.now_ms = 5000000;
	assert_works(open_set(&set, "cpu-clock", on, 0, false));
	fake.now_ms += 300;
	for (i = 0; i < 4; i++) {
		fake.events[i].count = i == 2 ? 77 : 0;
		fake.events[i].enabled_ns = i == 2 ? 5000300000000 : 0;
		fake.events[i].running_ns = i == 2 ? 5000200000000 : 0;
	}
	assert_works(perfev_set_read(set, &r, 1, &err));
	assert_int_equal(r.count, 77);
	assert_int_equal(r.enabled_ns, 300000000);
	assert_int_equal(r.running_ns, 200000000);
	assert_int_equal(r.status, PERFEV_COUNTED);
	assert_works(perfev_set_row_read(set, 0, &r, &err));
	assert_int_equal(r.status, PERFEV_NOT_COUNTED);
	perfev_set_close(set);
}

/* The rows by themselves, and sums of some of them. */
static void test_rows(void **state)
{
	struct perfev_reading rows[12], r[3];
	struct perfev_set_row row;
	struct perfev_set *set;
	int i;

	(void)state;
	assert_works(open_set(&set, "cycles,faults,cs:u", perfev_on_all_cpus(), 0, false));
	for (i = 0; i < 12; i++) {
		fake.events[i].count = (uint64_t)i + 1;
		fake.events[i].enabled_ns = fake.events[i].running_ns = 50;
	}
	assert_fails(perfev_set_read_rows(set, rows, 3, &err), EINVAL);
	assert_says("cannot read 3 rows: the set has 12");
	assert_works(perfev_set_read_rows(set, rows, 12, &err));
	for (i = 0; i < 12; i++)
		assert_int_equal(rows[i].count, i + 1);
	perfev_set_sum(set, rows, -1, -1, r);
	assert_int_equal(r[0].count, 1 + 4 + 7 + 10);
	assert_int_equal(r[2].why, PERFEV_WHY_PARANOID);
	assert_true(perfev_set_row_at(set, 6, &row));
	perfev_set_sum(set, rows, -1, row.cpu, r);
	assert_int_equal(r[0].count, 7);
	assert_int_equal(r[1].count, 8);
	assert_int_equal(r[1].enabled_ns, 50);
	perfev_set_sum(set, rows, -1, 99, r);
	assert_int_equal(r[0].status, PERFEV_NOT_COUNTED);
	assert_works(perfev_set_reset(set, &err));
	for (i = 0; i < 12; i++)
		assert_int_equal(fake.events[i].count, 0);
	fake.events[3].read_result = -EIO;
	assert_fails(perfev_set_read_rows(set, rows, 12, &err), EIO);
	perfev_set_close(set);
	assert_works(open_set(&set, "cycles", perfev_on_process(7), 0, false));
	for (i = 0; i < 3; i++) {
		fake.events[12 + i].count = (uint64_t)i + 1;
		fake.events[12 + i].enabled_ns = fake.events[12 + i].running_ns = 50;
	}
	assert_works(perfev_set_read_rows(set, rows, 3, &err));
	perfev_set_sum(set, rows, 8, -1, r); /* of one thread */
	assert_int_equal(r[0].count, 2);
	perfev_set_close(set);
}

/* A task on one CPU: the time that the kernel lets go on elsewhere is none without a counter. */
static void test_times_of_a_bound_task(void **state)
{
	struct perfev_target on = perfev_on_task_cpu(812, 2);
	struct perfev_counter *counter;
	struct perfev_event *event;
	struct perfev_reading r;
	struct perfev_set *set;
	uint64_t scaled;

	(void)state;
	assert_works(open_set(&set, "cpu-clock", on, 0, false));
	fake.events[0].count = 300;
	fake.events[0].enabled_ns = 400;
	assert_works(perfev_set_read(set, &r, 1, &err));
	assert_int_equal(r.status, PERFEV_NOT_COUNTED); /* it never was there */
	assert_int_equal(r.enabled_ns, 400);
	fake.events[0].running_ns = 300;
	assert_works(perfev_set_read(set, &r, 1, &err));
	assert_true(perfev_reading_scaled(&r, &scaled));
	assert_int_equal(scaled, 300);
	assert_int_equal(r.enabled_ns, 300);
	perfev_set_close(set);
	assert_works(perfev_event_parse(&event, "cpu-clock", &err));
	assert_works(perfev_counter_open(&counter, event, on, NULL, &err));
	fake.events[fake.event_count - 1].count = fake.events[fake.event_count - 1].running_ns = 7;
	fake.events[fake.event_count - 1].enabled_ns = 700;
	assert_works(perfev_counter_read(counter, &r, &err));
	assert_int_equal(r.enabled_ns, 7);
	perfev_counter_close(counter);
	perfev_event_free(event);
}

/* ---- tasks that end and appear -------------------------------------------------------------------------- */

static int gone_tid;

static int ended(struct fake_event *event, struct perf_event_attr *attr)
{
	(void)attr;
	return gone_tid == 0 || event->pid == gone_tid ? -ESRCH : 0;
}

static void test_thread_ends_meanwhile(void **state)
{
	struct perfev_reading r[2];
	struct perfev_set *set;

	(void)state;
	fake.on_open = ended;
	gone_tid = 8;
	assert_works(open_set(&set, "{cycles,cs},faults", perfev_on_process(7), 0, false));
	assert_int_equal(open_rows(set), 6);
	assert_null(perfev_set_error(set, 0));
	assert_null(perfev_set_error(set, 1));
	assert_null(perfev_set_error(set, 2));
	assert_null(perfev_set_error(set, 3));
	perfev_set_close(set);
	gone_tid = 0; /* all of them */
	assert_fails(open_set(&set, "cycles,cs", perfev_on_process(7), 0, false), ESRCH);
	assert_int_equal(err.code, -ESRCH);
	assert_int_equal(err.why, PERFEV_WHY_NO_TASK);
	assert_fails(open_set(&set, "cycles,cs", perfev_on_process(7), 0, true), ESRCH);
	assert_int_equal(err.why, PERFEV_WHY_NO_TASK);
	gone_tid = 812;
	assert_fails(open_set(&set, "cycles", perfev_on_task(812), 0, false), ESRCH);
	(void)r;
}

static int appear_at;

static int thread_appears(struct fake_event *event, struct perf_event_attr *attr)
{
	(void)event;
	(void)attr;
	if (fake.event_count == appear_at)
		fake_process(7, 1, "seven", "10");
	return 0;
}

/* Whether a thread that is new has inherited the events cannot be told: all is opened again. */
static void test_thread_appears_meanwhile(void **state)
{
	struct perfev_set *set;
	int i;

	(void)state;
	fake.on_open = thread_appears;
	appear_at = 4;
	assert_works(open_set(&set, "cycles,cs", perfev_on_process(7), 0, false));
	assert_int_equal(fake.event_count, 6 + 8);
	for (i = 0; i < 6; i++)
		assert_false(fake.events[i].open);
	assert_int_equal(open_rows(set), 8);
	perfev_set_close(set);
}

static int always_more(struct fake_event *event, struct perf_event_attr *attr)
{
	char tid[16];

	(void)event;
	(void)attr;
	snprintf(tid, sizeof(tid), "%d", 1000 + fake.event_count);
	if (fake.event_count < 100)
		fake_process(7, 1, "seven", tid);
	return 0;
}

static void test_threads_without_end(void **state)
{
	struct perfev_set *set;

	(void)state;
	fake.on_open = always_more;
	assert_works(open_set(&set, "cycles", perfev_on_process(7), 0, false));
	assert_in_range(fake.event_count, 4, 400);
	perfev_set_close(set);
}

static const char *empty_list(const char *path)
{
	return strcmp(path, "/proc/7/task") ? NULL : "";
}

/* A process whose last thread ended between two looks: there is nothing to open, and it is said why. */
static void test_empty_process(void **state)
{
	struct perfev_set *set;

	(void)state;
	fake.on_list = empty_list;
	assert_fails(open_set(&set, "cycles", perfev_on_process(7), 0, false), ESRCH);
	assert_int_equal(err.code, -ESRCH);
	assert_int_equal(err.why, PERFEV_WHY_NO_TASK);
	assert_says("cycles");
}

/* ---- counters -------------------------------------------------------------------------------------------------------- */

static void test_counter_targets(void **state)
{
	static const int32_t one[] = {3};
	struct perfev_target on;
	struct perfev_counter *counter = NULL;
	struct perfev_event *event;

	(void)state;
	assert_works(perfev_event_parse(&event, "cs", &err));
	assert_fails(perfev_counter_open(&counter, event, perfev_on_process(7), NULL, &err), EINVAL);
	assert_says("perfev_set_open");
	assert_fails(perfev_counter_open(&counter, event, perfev_on_all_cpus(), NULL, &err), EINVAL);
	assert_fails(perfev_counter_open(&counter, event, perfev_on_cgroup(5, -1), NULL, &err), EINVAL);
	on = perfev_on_self();
	on.ids = on.cpus = one;
	on.id_count = 1;
	assert_fails(perfev_counter_open(&counter, event, on, NULL, &err), EINVAL);
	on.id_count = 0;
	on.cpu_count = 1;
	assert_fails(perfev_counter_open(&counter, event, on, NULL, &err), EINVAL);
	assert_fails(perfev_counter_open(&counter, event, perfev_on_task_cpu(-1, 0), NULL, &err), ESRCH);
	assert_says("on thread -1: there is no such thread"); /* and not: every thread */
	assert_null(counter);
	assert_works(perfev_counter_open(&counter, event, perfev_on_cgroup(5, 2), NULL, &err));
	assert_int_equal(fake.events[0].pid, 5);
	assert_int_equal(fake.events[0].cpu, 2);
	assert_true(fake.events[0].flags & PERF_FLAG_PID_CGROUP);
	perfev_counter_close(counter);
	assert_works(perfev_counter_open(&counter, event, perfev_on_cpu(3), NULL, &err));
	assert_int_equal(fake.events[1].pid, -1);
	perfev_counter_close(counter);
	perfev_counter_close(NULL);
	perfev_event_free(event);
}

static void test_counter(void **state)
{
	struct perfev_counter *counter;
	struct perfev_event *event;
	struct perfev_reading r;

	(void)state;
	assert_works(perfev_event_parse(&event, "faults", &err));
	perfev_event_attr(event)->read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST;
	perfev_event_attr(event)->size = 64;
	assert_works(perfev_counter_open(&counter, event, perfev_on_self(), NULL, &err));
	perfev_event_free(event);
	assert_int_equal(fake.events[0].attr.size, sizeof(struct perf_event_attr));
	assert_int_equal(fake.events[0].attr.read_format, 1 | 2 | 4 | 16);
	assert_int_equal(perfev_counter_fd(counter), fake.events[0].fd);
	assert_false(fake.events[0].enabled);
	assert_works(perfev_counter_start(counter, &err));
	assert_true(fake.events[0].enabled);
	fake.events[0].count = 42;
	fake.events[0].enabled_ns = fake.events[0].running_ns = 9;
	fake.events[0].lost = 3;
	assert_works(perfev_counter_read(counter, &r, &err));
	assert_int_equal(r.count, 42);
	assert_int_equal(r.lost, 3);
	assert_true(r.id == fake.events[0].id);
	assert_works(perfev_counter_stop(counter, &err));
	assert_false(fake.events[0].enabled);
	assert_works(perfev_counter_reset(counter, &err));
	assert_int_equal(fake.events[0].count, 0);
	assert_int_equal(perfev_counter_dropped(counter), 0);
	perfev_counter_close(counter);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_fan_out, setup, teardown),
	cmocka_unit_test_setup_teardown(test_sums, setup, teardown),
	cmocka_unit_test_setup_teardown(test_times_of_a_cgroup, setup, teardown),
	cmocka_unit_test_setup_teardown(test_times_of_a_bound_task, setup, teardown),
	cmocka_unit_test_setup_teardown(test_rows, setup, teardown),
	cmocka_unit_test_setup_teardown(test_no_threads, setup, teardown),
	cmocka_unit_test_setup_teardown(test_no_cpus, setup, teardown),
	cmocka_unit_test_setup_teardown(test_no_events, setup, teardown),
	cmocka_unit_test_setup_teardown(test_thread_ends_meanwhile, setup, teardown),
	cmocka_unit_test_setup_teardown(test_thread_appears_meanwhile, setup, teardown),
	cmocka_unit_test_setup_teardown(test_threads_without_end, setup, teardown),
	cmocka_unit_test_setup_teardown(test_empty_process, setup, teardown),
	cmocka_unit_test_setup_teardown(test_counter_targets, setup, teardown),
	cmocka_unit_test_setup_teardown(test_counter, setup, teardown),
};

int main(void)
{
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	fake_reset();
	return failed;
}
