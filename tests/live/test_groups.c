/* SPDX-License-Identifier: MIT */
/* Groups on this kernel: they count as one, change, and are inherited; nothing here needs a hardware counter. */
#include "counting.h"

#include <pthread.h>

/* ---- groups ----------------------------------------------------------------------------------------------- */

static struct perfev_group *open_group(const char *const *texts, size_t count, bool inherit)
{
	struct perfev_event *events[8];
	struct perfev_group *group = NULL;
	size_t i;
	int r;

	for (i = 0; i < count; i++) {
		assert_works(perfev_event_parse(&events[i], texts[i], &err));
		perfev_event_attr(events[i])->inherit = inherit;
	}
	r = perfev_group_open(&group, (const struct perfev_event *const *)events, count, perfev_on_self(), NULL, &err);
	for (i = 0; i < count; i++)
		perfev_event_free(events[i]);
	if (r < 0 && inherit && r == -EINVAL)
		SKIP("this kernel refuses groups that are inherited: %s", err.text);
	assert_works(r);
	return group;
}

static const char *const faults[] = {"minor-faults:u", "task-clock:u", "page-faults:u", "major-faults:u"};

static void test_a_group_counts_as_one(void **state)
{
	struct perfev_group *group = open_group(faults, 4, false);
	struct perfev_reading r[4], before[4], since;
	double rate;
	size_t i;

	(void)state;
	assert_works(perfev_group_read(group, r, 4, &err));
	assert_int_equal(r[0].status, PERFEV_NOT_COUNTED);
	touch_pages(7);
	assert_works(perfev_group_start(group, &err));
	touch_pages(1000);
	assert_works(perfev_group_read(group, before, 4, &err));
	touch_pages(100);
	assert_works(perfev_group_stop(group, &err));
	touch_pages(7);
	assert_works(perfev_group_read(group, r, 4, &err));
	assert_int_equal(r[0].count, 1100);
	assert_int_equal(r[2].count, 1100);
	assert_int_equal(r[3].count, 0);
	for (i = 0; i < 4; i++) {
		assert_int_equal(r[i].status, PERFEV_COUNTED);
		assert_int_equal(r[i].enabled_ns, r[0].enabled_ns);
		assert_int_equal(perfev_group_find(group, r[i].id), i);
	}
	assert_true(perfev_reading_since(&since, &r[0], &before[0]));
	assert_int_equal(since.count, 100);
	assert_true(since.running_ns > 0 && since.running_ns < r[0].running_ns);
	assert_true(perfev_reading_rate(&since, &rate) && rate > 100);
	assert_works(perfev_group_reset(group, &err));
	assert_works(perfev_group_read(group, r, 4, &err));
	for (i = 0; i < 4; i++)
		assert_int_equal(r[i].count, 0);
	assert_false(perfev_reading_since(&since, &r[0], &before[0]));
	perfev_group_close(group);
}

static void test_a_group_that_changes(void **state)
{
	struct perfev_group *group = open_group(faults, 3, false);
	struct perfev_event *event = NULL;
	struct perfev_reading r[4], before[4], since;

	(void)state;
	assert_works(perfev_group_start(group, &err));
	assert_works(perfev_event_new(&event, "nothing", &(struct perf_event_attr){.type = 0xfffffff0u, .size = 64}, &err));
	assert_true(perfev_group_add(group, event, &err) < 0);
	perfev_event_free(event);
	assert_works(perfev_group_drop(group, 1, &err));
	assert_works(perfev_group_read(group, before, 3, &err)); /* code that runs for the first time faults too */
	touch_pages(20);
	assert_works(perfev_group_read(group, r, 3, &err));
	assert_true(perfev_reading_since(&since, &r[0], &before[0]));
	assert_int_equal(since.count, 20);
	assert_int_equal(r[1].status, PERFEV_GONE);
	assert_int_equal(r[2].count - before[2].count, 20);
	assert_works(perfev_event_parse(&event, "minor-faults:u", &err));
	assert_int_equal(perfev_group_add(group, event, &err), 3); /* while it runs */
	perfev_event_free(event);
	assert_works(perfev_group_read(group, before, 4, &err));
	touch_pages(20);
	assert_works(perfev_group_read(group, r, 4, &err));
	assert_int_equal(r[0].count - before[0].count, 20);
	assert_int_equal(r[3].count - before[3].count, 20);
	assert_works(perfev_group_stop(group, &err));
	assert_works(perfev_group_read(group, r, 4, &err));
	assert_works(perfev_counter_read(perfev_group_at(group, 0), &since, &err)); /* of the leader alone */
	assert_int_equal(since.count, r[0].count);
	assert_works(perfev_counter_read(perfev_group_at(group, 3), &since, &err));
	assert_int_equal(since.count, r[3].count);
	perfev_group_close(group);
}

static void *touch_some(void *unused)
{
	touch_pages(200);
	return unused;
}

static void test_a_group_that_is_inherited(void **state)
{
	struct perfev_group *group = open_group(faults, 3, true);
	struct perfev_reading r[3];
	pthread_t thread;
	int status;
	pid_t child;

	(void)state;
	assert_works(perfev_group_start(group, &err));
	child = fork();
	if (child == 0) {
		touch_pages(300);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	pthread_create(&thread, NULL, touch_some, NULL);
	pthread_join(thread, NULL);
	touch_pages(100);
	assert_works(perfev_group_read(group, r, 3, &err));
	assert_in_range(r[0].count, 600, 1200); /* and what fork and threads touch */
	assert_in_range(r[2].count, r[0].count, r[0].count + 50); /* some may be major */
	perfev_group_close(group);
}

/* A child's group has another form than the parent's: it is said, and members can be read alone. */
static void test_a_child_with_another_group(void **state)
{
	struct perfev_group *group = open_group(faults, 3, true);
	struct perfev_reading r[3];
	int there[2];
	char byte = 0;
	pid_t child;
	int code;

	(void)state;
	assert_int_equal(pipe(there), 0);
	assert_works(perfev_group_start(group, &err));
	child = fork();
	if (child == 0)
		_exit(read(there[0], &byte, 1) != 1);
	assert_works(perfev_group_drop(group, 2, &err));
	code = perfev_group_read(group, r, 3, &err);
	if (code < 0 && code != -ECHILD)
		fail_msg("%s", err.text);
	assert_works(perfev_counter_read(perfev_group_at(group, 1), r, &err));
	assert_int_equal(write(there[1], &byte, 1), 1);
	waitpid(child, NULL, 0);
	close(there[0]);
	close(there[1]);
	perfev_group_close(group);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_a_group_counts_as_one),
	cmocka_unit_test(test_a_group_that_changes),
	cmocka_unit_test(test_a_group_that_is_inherited),
	cmocka_unit_test(test_a_child_with_another_group),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
