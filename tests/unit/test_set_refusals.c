/* SPDX-License-Identifier: MIT */
/* Sets of which something is refused: by the kernel, for one CPU or for all, for want of descriptors, by a filter of system
 * calls; what is said then, what may be left out instead, and that nothing stays open. */
#include "sets.h"

#include <errno.h>

/* ---- refusals ----------------------------------------------------------------------------------------------- */

static uint64_t refused_config;
static int refused_cpu, refusal;

static int refuse(struct fake_event *event, struct perf_event_attr *attr)
{
	bool here = refused_cpu < 0 || event->cpu == refused_cpu;

	return attr->type == PERF_TYPE_HARDWARE && attr->config == refused_config && here ? refusal : 0;
}

static void test_refusal_closes_all(void **state)
{
	struct perfev_set *set = NULL;

	(void)state;
	fake.on_open = refuse;
	refused_config = PERF_COUNT_HW_INSTRUCTIONS;
	refused_cpu = 3;
	refusal = -ENOENT;
	assert_fails(open_set(&set, "cycles,instructions,cs", perfev_on_all_cpus(), 0, false), ENOENT);
	assert_null(set);
	assert_int_equal(fake.event_count, 7); /* up to the third CPU */
	assert_int_equal(err.why, PERFEV_WHY_NO_EVENT);
	assert_says("instructions on CPU 3");
	assert_int_equal(fake_left(), 0);
}

static void test_partial(void **state)
{
	struct perfev_reading r[3];
	struct perfev_set *set = NULL;

	(void)state;
	fake.on_open = refuse;
	refused_config = PERF_COUNT_HW_INSTRUCTIONS;
	refused_cpu = -1;
	refusal = -ENOENT;
	assert_works(open_set(&set, "cycles,instructions,cs", perfev_on_all_cpus(), 0, true));
	assert_null(perfev_set_error(set, 0));
	assert_int_equal(perfev_set_error(set, 1)->why, PERFEV_WHY_NO_EVENT);
	assert_null(perfev_set_error(set, 2));
	assert_null(perfev_set_error(set, 9));
	assert_works(perfev_set_start(set, &err));
	assert_works(perfev_set_read(set, r, 3, &err));
	assert_int_equal(r[1].status, PERFEV_NOT_SUPPORTED);
	assert_int_equal(r[1].why, PERFEV_WHY_NO_EVENT);
	assert_int_equal(open_rows(set), 8);
	perfev_set_close(set);
	refusal = -EIO; /* nothing at all: the first error is the set's */
	assert_fails(open_set(&set, "instructions", perfev_on_all_cpus(), 0, true), EIO);
	assert_says("instructions");
}

/* An event that opens on some CPUs only would count too little: it is left out everywhere, and with it
 * the group that it leads. */
static void test_partial_somewhere(void **state)
{
	struct perfev_reading r[4];
	struct perfev_set *set = NULL;
	struct perfev_set_row row;
	size_t i;

	(void)state;
	fake.on_open = refuse;
	refused_config = PERF_COUNT_HW_INSTRUCTIONS;
	refused_cpu = 3;
	refusal = -ENODEV;
	assert_works(open_set(&set, "cycles,{instructions,cs},faults", perfev_on_all_cpus(), 0, true));
	assert_null(perfev_set_error(set, 0));
	assert_non_null(perfev_set_error(set, 1));
	assert_non_null(perfev_set_error(set, 2));
	assert_null(perfev_set_error(set, 3));
	for (i = 0; perfev_set_row_at(set, i, &row); i++)
		assert_int_equal(row.fd >= 0, row.event == 0 || row.event == 3);
	for (i = 0; i < (size_t)fake.event_count; i++)
		fake.events[i].count = fake.events[i].enabled_ns = fake.events[i].running_ns = 5;
	assert_works(perfev_set_read(set, r, 4, &err));
	assert_int_equal(r[0].count, 20);
	assert_int_equal(r[1].status, PERFEV_NOT_SUPPORTED);
	assert_int_equal(r[1].count, 0);
	assert_int_equal(r[2].status, PERFEV_NOT_SUPPORTED);
	assert_int_equal(r[3].count, 20);
	assert_int_equal(fake_left(), 8);
	perfev_set_close(set);
}

static void test_too_many_files(void **state)
{
	struct perfev_set *set = NULL;
	int most;

	(void)state;
	for (most = 0; most < 12; most++) {
		fake.open_files_max = fake.opened - fake.closed + most + (most == 0);
		assert_fails(open_set(&set, "cycles,cs,faults", perfev_on_all_cpus(), 0, false),
			     EMFILE);
		assert_int_equal(err.why, PERFEV_WHY_FILES);
		assert_says("1024 open files, and 12 more are needed");
		assert_says("4096");
		assert_int_equal(fake_left(), 0);
	}
}

static int old_kernel(struct fake_event *event, struct perf_event_attr *attr)
{
	(void)event;
	if (!attr->config3)
		return 0;
	attr->size = 128;
	return -E2BIG;
}

static void test_attr_too_large(void **state)
{
	struct perfev_counter *counter = NULL;
	struct perfev_event *event;

	(void)state;
	fake.on_open = old_kernel;
	assert_works(perfev_event_parse(&event, "cs", &err));
	perfev_event_attr(event)->config3 = 1;
	assert_fails(perfev_counter_open(&counter, event, perfev_on_self(), NULL, &err), E2BIG);
	assert_int_equal(err.why, PERFEV_WHY_OLD_KERNEL);
	assert_says("128 bytes");
	assert_null(counter);
	perfev_event_attr(event)->config3 = 0;
	assert_works(perfev_counter_open(&counter, event, perfev_on_self(), NULL, &err));
	perfev_counter_close(counter);
	perfev_event_free(event);
}

static int forbidden(struct fake_event *event, struct perf_event_attr *attr)
{
	(void)event;
	(void)attr;
	return refusal;
}

static void test_seccomp(void **state)
{
	struct perfev_set *set;

	(void)state;
	fake.on_open = forbidden;
	refusal = -EPERM;
	fake_file("/proc/self/status", "Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n");
	assert_fails(open_set(&set, "cs", perfev_on_self(), 0, false), EPERM);
	assert_int_equal(err.why, PERFEV_WHY_CAPABILITY); /* a NULL attr is a bad address: no filter did it */
	fake.null_attr_result = -EPERM;
	assert_fails(open_set(&set, "cs", perfev_on_self(), 0, false), EPERM);
	assert_int_equal(err.why, PERFEV_WHY_SECCOMP);
	fake_file("/proc/self/status", "Name:\tx\nSeccomp:\t0\n");
	assert_fails(open_set(&set, "cs", perfev_on_self(), 0, false), EPERM);
	assert_int_equal(err.why, PERFEV_WHY_CAPABILITY);
	fake.null_attr_result = refusal = -ENOSYS;
	assert_fails(open_set(&set, "cs", perfev_on_self(), 0, false), ENOSYS);
	assert_int_equal(err.why, PERFEV_WHY_NO_KERNEL);
}

/* ---- what may be left out ---------------------------------------------------------------------------------------- */

static int no_kernel_mode(struct fake_event *event, struct perf_event_attr *attr)
{
	if (attr->exclude_kernel && attr->type == PERF_TYPE_RAW)
		return -ENOENT;
	if (event->pid == -1)
		return -EACCES;
	return attr->exclude_kernel ? 0 : -EACCES;
}

static void test_drop_kernel(void **state)
{
	struct perfev_set *set;
	int i, opened = 0;

	(void)state;
	fake.on_open = no_kernel_mode;
	assert_fails(open_set(&set, "cs,cycles:u", perfev_on_process(7), 0, false), EACCES);
	assert_says("add ':u'");
	assert_works(
		open_set(&set, "faults,cycles:u", perfev_on_process(7), PERFEV_DROP_KERNEL, false));
	assert_int_equal(perfev_set_dropped(set, 0), PERFEV_DROP_KERNEL);
	assert_int_equal(perfev_set_dropped(set, 1), 0);
	assert_int_equal(perfev_set_dropped(set, 2), 0);
	for (i = 0; i < fake.event_count; i++)
		if (fake.events[i].open) {
			assert_true(fake.events[i].attr.exclude_kernel &&
				    fake.events[i].attr.exclude_hv);
			opened++;
		}
	assert_int_equal(opened, 6);
	perfev_set_close(set);
	/* what would be refused all the same is what has to be said */
	assert_fails(open_set(&set, "faults", perfev_on_all_cpus(), PERFEV_DROP_KERNEL, false), EACCES);
	assert_says("every task on a CPU");
	/* of an event that counts the kernel only, nothing would be left */
	assert_fails(open_set(&set, "faults:k", perfev_on_self(), PERFEV_DROP_KERNEL, false), EACCES);
	assert_says("kernel counting needs");
	assert_fails(open_set(&set, "r1", perfev_on_self(), PERFEV_DROP_KERNEL, false), ENOENT);
	assert_int_equal(err.why, PERFEV_WHY_NO_EVENT);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_refusal_closes_all, setup, teardown),
	cmocka_unit_test_setup_teardown(test_partial, setup, teardown),
	cmocka_unit_test_setup_teardown(test_partial_somewhere, setup, teardown),
	cmocka_unit_test_setup_teardown(test_too_many_files, setup, teardown),
	cmocka_unit_test_setup_teardown(test_attr_too_large, setup, teardown),
	cmocka_unit_test_setup_teardown(test_seccomp, setup, teardown),
	cmocka_unit_test_setup_teardown(test_drop_kernel, setup, teardown),
};

int main(void)
{
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	fake_reset();
	return failed;
}
