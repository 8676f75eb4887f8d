/* SPDX-License-Identifier: MIT */
/* How sets are read: groups in one system call, and events that are opened anew on CPUs that were offline. */
#include "sets.h"

#include <perfev/group.h>

#include <errno.h>

/* ---- groups ------------------------------------------------------------------------------------------ */

static int reads;

static void count_read(void)
{
	reads++;
}

/* Row i counts 10 i; the times of a group are its leader's. */
static void let_count(void)
{
	int i;

	for (i = 0; i < fake.event_count; i++) {
		fake.events[i].count = (uint64_t)i * 10;
		fake.events[i].enabled_ns = 100 + (uint64_t)i;
		fake.events[i].running_ns = 100;
	}
	fake.on_read = count_read;
	reads = 0;
}

/* One system call each; also members that are elsewhere in the list than their leader. */
static void test_group_reads(void **state)
{
	struct perfev_reading r[5], rows[20];
	struct perfev_set *set;
	int i;

	(void)state;
	assert_works(open_set(&set, "{cycles,faults,cs:u},{instructions,minor-faults}", perfev_on_all_cpus(), 0, false));
	let_count();
	assert_works(perfev_set_read(set, r, 5, &err));
	assert_int_equal(reads, 8);
	for (i = 0; i < 5; i++) {
		assert_int_equal(r[i].count, 10 * (i + (i + 5) + (i + 10) + (i + 15)));
		assert_int_equal(r[i].enabled_ns, 400 + (i < 3 ? 0 + 5 + 10 + 15 : 3 + 8 + 13 + 18));
		assert_int_equal(r[i].status, i == 2 ? PERFEV_NOT_COUNTED : PERFEV_COUNTED);
	}
	assert_int_equal(r[2].why, PERFEV_WHY_PARANOID);
	reads = 0;
	assert_works(perfev_set_read_rows(set, rows, 20, &err));
	assert_int_equal(reads, 8);
	for (i = 0; i < 20; i++) {
		assert_int_equal(rows[i].count, 10 * i);
		assert_int_equal(rows[i].id, fake.events[i].id);
		assert_works(perfev_set_row_read(set, (size_t)i, r, &err));
		assert_int_equal(r->count, 10 * i);
	}
	fake.events[6].group_fd = -1; /* has left its group, as on a CPU that is offline */
	assert_works(perfev_set_read_rows(set, rows, 20, &err));
	for (i = 0; i < 20; i++)
		assert_int_equal(rows[i].count, 10 * i);
	fake.events[5].read_result = FAKE_EMPTY; /* pinned: in error state, and its group with it */
	assert_works(perfev_set_read_rows(set, rows, 20, &err));
	assert_int_equal(rows[5].status, PERFEV_ERROR_STATE);
	assert_int_equal(rows[7].status, PERFEV_ERROR_STATE);
	assert_int_equal(rows[8].status, PERFEV_COUNTED);
	fake.events[5].read_result = -ENODEV;
	assert_works(perfev_set_read_rows(set, rows, 20, &err));
	assert_int_equal(rows[7].status, PERFEV_GONE);
	fake.events[5].read_result = -ECHILD;
	assert_fails(perfev_set_read_rows(set, rows, 20, &err), ECHILD);
	assert_says("cannot read the group of cycles");
	perfev_set_close(set);
}

/* Groups that one answer cannot hold are read one by one. */
static void test_group_of_many(void **state)
{
	struct perfev_reading r[PERFEV_GROUP_MAX + 1];
	char text[16 * PERFEV_GROUP_MAX] = "{cs";
	struct perfev_set *set;
	int i, more;

	(void)state;
	for (i = 1; i < PERFEV_GROUP_MAX; i++)
		strcat(text, ",faults");
	for (more = 0; more < 2; more++) {
		strcat(text, more ? ",cs}" : "}");
		assert_works(open_set(&set, text, perfev_on_self(), 0, false));
		for (i = 0; i < fake.event_count; i++)
			fake.events[i].count = fake.events[i].enabled_ns = fake.events[i].running_ns = 7;
		fake.on_read = count_read;
		reads = 0;
		assert_works(perfev_set_read(set, r, (size_t)(PERFEV_GROUP_MAX + more), &err));
		assert_int_equal(reads, more ? PERFEV_GROUP_MAX + 1 : 1);
		for (i = 0; i < PERFEV_GROUP_MAX + more; i++)
			assert_int_equal(r[i].count, 7);
		perfev_set_close(set);
		text[strlen(text) - 1] = 0;
	}
}

static int before_4_13(struct fake_event *event, struct perf_event_attr *attr)
{
	(void)event;
	return attr->inherit && attr->read_format & PERF_FORMAT_GROUP ? -EINVAL : 0;
}

static int torn_fd;

static int tear(struct fake_event *event, struct perf_event_attr *attr)
{
	if (attr->read_format & PERF_FORMAT_GROUP) {
		event->read_result = -ECHILD;
		torn_fd++;
	}
	return 0;
}

static int no_ids(struct fake_event *event, unsigned request, unsigned long argument)
{
	(void)event;
	(void)argument;
	return request == PERF_EVENT_IOC_ID ? -ENOTTY : 0;
}

/* Kernels that do not inherit such leaders; a child that was born between two opens; kernels without ids. */
static void test_groups_read_one_by_one(void **state)
{
	struct perfev_reading r[2];
	struct perfev_set *set;
	int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		fake.on_open = i == 0 ? before_4_13 : i == 1 ? tear : NULL;
		fake.on_ioctl = i == 2 ? no_ids : NULL;
		assert_works(open_set(&set, "{cycles,faults}", perfev_on_process(7), 0, false));
		let_count();
		assert_works(perfev_set_read(set, r, 2, &err));
		assert_int_equal(reads, 6);
		assert_int_equal(r[1].count - r[0].count, 30);
		perfev_set_close(set);
	}
	assert_true(torn_fd > 0);
}

/* ---- tasks that are bound to a CPU ------------------------------------------------------------------------ */

/* Beside events that wait for counters stands one that does not: its time is how long the task was there. */
static void test_waiting_where_a_task_is_bound(void **state)
{
	struct fake_event *dummy;
	struct perfev_reading r[3];
	struct perfev_set *set;
	uint64_t scaled;

	(void)state;
	assert_works(open_set(&set, "{faults,cycles},instructions", perfev_on_task_cpu(812, 2), 0, false));
	assert_int_equal(fake.event_count, 4);
	dummy = &fake.events[3];
	assert_int_equal(dummy->attr.config, PERF_COUNT_SW_DUMMY);
	assert_true(dummy->pid == 812 && dummy->cpu == 2 && dummy->attr.disabled);
	assert_works(perfev_set_start(set, &err));
	assert_true(dummy->enabled);
	let_count();
	fake.events[0].enabled_ns = fake.events[2].enabled_ns = dummy->enabled_ns = 900; /* elsewhere most of it */
	fake.events[0].running_ns = 100;
	fake.events[2].running_ns = 50;
	dummy->running_ns = 100;
	assert_works(perfev_set_read(set, r, 3, &err));
	assert_int_equal(reads, 4);
	assert_true(perfev_reading_scaled(&r[1], &scaled));
	assert_int_equal(scaled, r[1].count);
	assert_int_equal(r[1].enabled_ns, 100);
	assert_true(perfev_reading_scaled(&r[2], &scaled));
	assert_int_equal(scaled, 2 * r[2].count);
	fake.events[2].running_ns = 0; /* it was there, and waited all the time */
	assert_works(perfev_set_read(set, r, 3, &err));
	assert_int_equal(r[2].status, PERFEV_NOT_COUNTED);
	assert_int_equal(r[2].enabled_ns, 100);
	dummy->read_result = -EIO; /* nobody knows */
	fake.events[2].running_ns = 50;
	assert_works(perfev_set_read(set, r, 3, &err));
	assert_int_equal(r[2].enabled_ns, 50);
	assert_works(perfev_set_stop(set, &err));
	assert_false(dummy->enabled);
	perfev_set_close(set);
	assert_works(open_set(&set, "faults,page-faults", perfev_on_task_cpu(812, 2), 0, false)); /* never wait */
	assert_int_equal(fake_left(), 2);
	perfev_set_close(set);
	assert_works(open_set(&set, "cycles", perfev_on_task(812), 0, false)); /* not bound */
	assert_int_equal(fake_left(), 1);
	perfev_set_close(set);
}

/* ---- CPUs that go offline and come back ------------------------------------------------------------------- */

static int refused_from, refused_with;

/* The kernel's side of it: from now on these events have no CPU. */
static void kill_events(int cpu)
{
	int i;

	for (i = 0; i < fake.event_count; i++)
		if (fake.events[i].cpu == cpu)
			fake.events[i].hung_up = true;
}

static void live(uint64_t ns)
{
	int i;

	fake.now_ms += 100;
	for (i = 0; i < fake.event_count; i++)
		if (fake.events[i].open && !fake.events[i].hung_up) {
			fake.events[i].enabled_ns += ns;
			fake.events[i].running_ns += ns;
			fake.events[i].count++;
		}
}

static void test_cpu_comes_back(void **state)
{
	struct perfev_reading r[3], rows[12];
	struct perfev_set *set;
	int i, before;

	(void)state;
	assert_works(open_set(&set, "{cycles,instructions},faults", perfev_on_all_cpus(), 0, false));
	assert_works(perfev_set_start(set, &err));
	live(50);
	assert_int_equal(perfev_set_revive(set, &err), 0); /* looks, and knows nothing yet */
	live(50);
	assert_int_equal(perfev_set_revive(set, &err), 0);
	assert_int_equal(perfev_set_revive(set, &err), 0); /* at once, when no time can have passed */
	kill_events(2);
	fake_file("/sys/devices/system/cpu/online", "0,3,8\n");
	live(50);
	assert_int_equal(perfev_set_revive(set, &err), 0); /* it is not there */
	before = fake.event_count;
	fake_file("/sys/devices/system/cpu/online", "0,2-3,8\n");
	live(50);
	assert_int_equal(perfev_set_revive(set, &err), 3);
	assert_int_equal(fake.event_count, before + 3);
	assert_int_equal(fake_left(), 12);
	assert_int_equal(fake.events[before].cpu, 2);
	assert_true(fake.events[before].enabled && fake.events[before + 2].enabled);
	assert_int_equal(fake.events[before + 1].group_fd, fake.events[before].fd);
	live(50);
	assert_int_equal(perfev_set_revive(set, &err), 0);
	assert_works(perfev_set_read_rows(set, rows, 12, &err));
	for (i = 0; i < 12; i++) {
		assert_int_equal(rows[i].count, i / 3 == 1 ? 3 : 5);
		assert_int_equal(rows[i].enabled_ns, rows[i].count * 50);
		assert_int_equal(rows[i].status, PERFEV_COUNTED);
	}
	assert_works(perfev_set_read(set, r, 3, &err));
	assert_int_equal(r[0].count, 18);
	assert_works(perfev_set_reset(set, &err));
	assert_works(perfev_set_read(set, r, 3, &err));
	assert_int_equal(r[1].count, 0);
	assert_int_equal(r[1].enabled_ns, 18 * 50); /* the times go on, also those of before */
	assert_int_equal(r[1].running_ns, 18 * 50);

	/* offline and back between two looks: by the time that stood still */
	kill_events(3);
	live(50);
	assert_int_equal(perfev_set_revive(set, &err), 3);
	live(50);
	assert_works(perfev_set_read(set, r, 3, &err));
	assert_int_equal(r[2].count, 7);
	/* a set that is stopped has no time that goes on */
	assert_works(perfev_set_stop(set, &err));
	fake.now_ms += 100;
	assert_int_equal(perfev_set_revive(set, &err), 0);
	fake.now_ms += 100;
	assert_int_equal(perfev_set_revive(set, &err), 0);
	perfev_set_close(set);
}

/* A tool is opened nowhere, so that it leads nobody: those behind it are still one group. */
static void test_a_tool_leads(void **state)
{
	struct perfev_reading r[4];
	struct perfev_set *set;
	int i;

	(void)state;
	assert_works(open_set(&set, "{duration_time,user_time,cycles,system_time,instructions}", perfev_on_task(9), 0,
			      false));
	assert_int_equal(fake.event_count, 2);
	assert_int_equal(fake.events[0].group_fd, -1);
	assert_true(fake.events[0].attr.read_format & PERF_FORMAT_GROUP);
	assert_true(fake.events[0].attr.disabled); /* nothing counts before the start */
	assert_int_equal(fake.events[1].group_fd, fake.events[0].fd);
	assert_false(fake.events[1].attr.disabled);
	assert_works(perfev_set_start(set, &err));
	live(50);
	assert_fails(perfev_set_read(set, r, 4, &err), EINVAL);
	perfev_set_close(set);
	assert_works(open_set(&set, "{duration_time,cycles,system_time,instructions}", perfev_on_task(9), 0, false));
	assert_works(perfev_set_start(set, &err));
	live(50);
	assert_works(perfev_set_read(set, r, 4, &err));
	for (i = 0; i < 4; i++) {
		assert_int_equal(r[i].status, i % 2 ? PERFEV_COUNTED : PERFEV_NOT_COUNTED);
		assert_int_equal(r[i].count, i % 2);
	}
	perfev_set_close(set);
}

static int refuse_from(struct fake_event *event, struct perf_event_attr *attr)
{
	(void)attr;
	return event->cpu == 2 && event - fake.events >= refused_from ? refused_with : 0;
}

/* Every open may fail, and then all is as it was. */
static void test_cpu_comes_back_in_vain(void **state)
{
	struct perfev_reading r[3];
	struct perfev_set *set;
	int i;

	(void)state;
	fake.on_open = refuse_from;
	refused_from = FAKE_EVENTS;
	assert_works(open_set(&set, "{cycles,instructions,faults}", perfev_on_all_cpus(), 0, false));
	assert_works(perfev_set_start(set, &err));
	live(50);
	assert_int_equal(perfev_set_revive(set, &err), 0);
	kill_events(2);
	for (i = 0; i < 3; i++) {
		refused_from = fake.event_count + i;
		refused_with = i == 1 ? -ENODEV : -EMFILE;
		live(50);
		if (i == 1)
			assert_int_equal(perfev_set_revive(set, &err), 0); /* gone again */
		else
			assert_fails(perfev_set_revive(set, &err), EMFILE);
		assert_int_equal(fake_left(), 12);
		assert_works(perfev_set_read(set, r, 3, &err));
		assert_int_equal(r[0].count, 1 + 3 * (2 + i));
	}
	refused_from = FAKE_EVENTS;
	live(50);
	assert_int_equal(perfev_set_revive(set, &err), 3);
	live(50);
	assert_works(perfev_set_read(set, r, 3, &err));
	assert_int_equal(r[2].count, 1 + 1 + 3 * 6);
	perfev_set_close(set);
}

/* A cgroup's time stands still while it does not run, which says nothing. */
static void test_cgroup_on_a_cpu(void **state)
{
	struct perfev_set *set;

	(void)state;
	assert_works(open_set(&set, "cycles", perfev_on_cgroup(55, -1), 0, false));
	assert_works(perfev_set_start(set, &err));
	live(50);
	assert_int_equal(perfev_set_revive(set, &err), 0);
	fake.now_ms += 100;
	assert_int_equal(perfev_set_revive(set, &err), 0);
	fake_file("/sys/devices/system/cpu/online", "0,3,8\n");
	fake.now_ms += 100;
	assert_int_equal(perfev_set_revive(set, &err), 0);
	fake_file("/sys/devices/system/cpu/online", "0,2-3,8\n");
	fake.now_ms += 100;
	assert_int_equal(perfev_set_revive(set, &err), 1);
	perfev_set_close(set);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_group_reads, setup, teardown),
	cmocka_unit_test_setup_teardown(test_group_of_many, setup, teardown),
	cmocka_unit_test_setup_teardown(test_groups_read_one_by_one, setup, teardown),
	cmocka_unit_test_setup_teardown(test_waiting_where_a_task_is_bound, setup, teardown),
	cmocka_unit_test_setup_teardown(test_cpu_comes_back, setup, teardown),
	cmocka_unit_test_setup_teardown(test_a_tool_leads, setup, teardown),
	cmocka_unit_test_setup_teardown(test_cpu_comes_back_in_vain, setup, teardown),
	cmocka_unit_test_setup_teardown(test_cgroup_on_a_cpu, setup, teardown),
};

int main(void)
{
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	fake_reset();
	return failed;
}
