/* SPDX-License-Identifier: MIT */
/* Counters and sets on this kernel's software events: exact where the event is. */
#include "live.h"

#include <perfev/raw.h>

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

static struct perfev_error err;

static struct perfev_counter *open_counter(const char *text)
{
	struct perfev_event *event = NULL;
	struct perfev_counter *counter = NULL;

	assert_works(perfev_event_parse(&event, text, &err));
	assert_works(perfev_counter_open(&counter, event, perfev_on_self(), NULL, &err));
	perfev_event_free(event);
	return counter;
}

static void test_page_faults_are_exact(void **state)
{
	struct perfev_counter *counter = open_counter("minor-faults:u");
	struct perfev_reading reading;

	(void)state;
	assert_works(perfev_counter_start(counter, &err)); /* code faults the first time */
	touch_pages(1);
	assert_works(perfev_counter_stop(counter, &err));
	assert_works(perfev_counter_reset(counter, &err));
	assert_works(perfev_counter_start(counter, &err));
	touch_pages(1000);
	assert_works(perfev_counter_stop(counter, &err));
	assert_works(perfev_counter_read(counter, &reading, &err));
	assert_int_equal(reading.status, PERFEV_COUNTED);
	assert_int_equal(reading.count, 1000);
	touch_pages(10); /* while it is stopped */
	assert_works(perfev_counter_read(counter, &reading, &err));
	assert_int_equal(reading.count, 1000);
	assert_works(perfev_counter_reset(counter, &err));
	assert_works(perfev_counter_read(counter, &reading, &err));
	assert_int_equal(reading.count, 0);
	perfev_counter_close(counter);
}

static void test_never_started_is_not_counted(void **state)
{
	struct perfev_counter *counter = open_counter("task-clock:u");
	struct perfev_reading reading;
	uint64_t scaled;

	(void)state;
	assert_works(perfev_counter_read(counter, &reading, &err));
	assert_int_equal(reading.status, PERFEV_NOT_COUNTED);
	assert_int_equal(reading.why, PERFEV_WHY_COUNTERS);
	assert_false(perfev_reading_scaled(&reading, &scaled));
	perfev_counter_close(counter);
}

static void test_switches_without_the_kernel_are_not_zero(void **state)
{
	struct perfev_counter *counter = open_counter("context-switches:u");
	struct perfev_reading reading;

	(void)state;
	assert_works(perfev_counter_start(counter, &err));
	usleep(1000);
	assert_works(perfev_counter_read(counter, &reading, &err));
	assert_int_equal(reading.status, PERFEV_NOT_COUNTED);
	assert_int_equal(reading.why, PERFEV_WHY_PARANOID);
	perfev_counter_close(counter);
}

/* A clock of another CPU than the thread is kept on: enabled, but never running. */
static void test_never_scheduled(void **state)
{
	struct perfev_event *event = NULL;
	struct perfev_counter *counter = NULL;
	struct perfev_reading reading;
	cpu_set_t before, one;
	int32_t *cpus;
	size_t count;
	uint64_t scaled;

	(void)state;
	assert_works(perfev_cpus_online(&cpus, &count, &err));
	if (count < 2)
		SKIP("this machine has one CPU");
	sched_getaffinity(0, sizeof(before), &before);
	CPU_ZERO(&one);
	CPU_SET((size_t)cpus[0], &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_works(perfev_event_parse(&event, "task-clock:u", &err));
	assert_works(perfev_counter_open(&counter, event, perfev_on_task_cpu(0, cpus[1]), NULL, &err));
	assert_works(perfev_counter_start(counter, &err));
	burn_ms(30);
	assert_works(perfev_counter_read(counter, &reading, &err));
	assert_true(reading.enabled_ns > 10000000);
	assert_int_equal(reading.running_ns, 0);
	assert_int_equal(reading.status, PERFEV_NOT_COUNTED);
	assert_false(perfev_reading_scaled(&reading, &scaled));
	sched_setaffinity(0, sizeof(before), &before);
	perfev_counter_close(counter);
	perfev_event_free(event);
	free(cpus);
}

static void test_targets_that_need_a_set(void **state)
{
	struct perfev_event *event = NULL;
	struct perfev_counter *counter;

	(void)state;
	assert_works(perfev_event_parse(&event, "page-faults:u", &err));
	assert_fails(perfev_counter_open(&counter, event, perfev_on_process(getpid()), NULL, &err), EINVAL);
	assert_says("perfev_set_open");
	assert_fails(perfev_counter_open(&counter, event, perfev_on_all_cpus(), NULL, &err), EINVAL);
	assert_fails(perfev_counter_open(&counter, event, perfev_on_task(-5), NULL, &err), ESRCH);
	assert_fails(perfev_counter_open(&counter, event, perfev_on_task(4194303), NULL, &err), ESRCH);
	assert_int_equal(err.why, PERFEV_WHY_NO_TASK);
	perfev_event_free(event);
}

static void *touching_thread(void *start)
{
	pthread_barrier_wait(start);
	touch_pages(500);
	pthread_barrier_wait(start);
	return NULL;
}

/* All threads that a process has, and one that it starts later. */
static void test_a_process_with_threads(void **state)
{
	struct perfev_events *events = NULL;
	struct perfev_set *set = NULL;
	struct perfev_reading reading;
	pthread_barrier_t start;
	pthread_t threads[3], later;
	pthread_barrier_t later_start;
	size_t i;

	(void)state;
	pthread_barrier_init(&start, NULL, 4);
	pthread_barrier_init(&later_start, NULL, 2);
	for (i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, touching_thread, &start);
	assert_works(perfev_events_parse(&events, "minor-faults:u", &err));
	assert_works(perfev_set_open(&set, events, perfev_on_process(getpid()), NULL, &err));
	assert_int_equal(perfev_set_row_count(set), 4);
	assert_works(perfev_set_start(set, &err));
	pthread_barrier_wait(&start);
	pthread_barrier_wait(&start);
	pthread_create(&later, NULL, touching_thread, &later_start);
	pthread_barrier_wait(&later_start);
	pthread_barrier_wait(&later_start);
	assert_works(perfev_set_stop(set, &err));
	assert_works(perfev_set_read(set, &reading, 1, &err));
	assert_in_range(reading.count, 2000, 2400); /* and stacks of threads, and what a sanitizer has for each */
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	pthread_join(later, NULL);
	perfev_set_close(set);
	perfev_events_free(events);
}

static void test_partial_set(void **state)
{
	struct perfev_set_opts opts = {.size = sizeof(opts), .partial = 1};
	struct perfev_events *events = NULL;
	struct perfev_set *set = NULL;
	struct perfev_reading readings[2];

	(void)state;
	assert_works(perfev_events_parse(&events, "page-faults:u,1234567:1:u", &err));
	assert_int_equal(perfev_set_open(&set, events, perfev_on_self(), NULL, &err), -ENOENT);
	assert_works(perfev_set_open(&set, events, perfev_on_self(), &opts, &err));
	assert_works(perfev_set_start(set, &err));
	touch_pages(5);
	assert_works(perfev_set_read(set, readings, 2, &err));
	assert_int_equal(readings[0].status, PERFEV_COUNTED);
	assert_int_equal(readings[1].status, PERFEV_NOT_SUPPORTED);
	assert_null(perfev_set_error(set, 0));
	assert_non_null(perfev_set_error(set, 1));
	perfev_set_close(set);
	perfev_events_free(events);
}

/* Two events and one ring: the second writes there from the first sample on, in no group. */
static void test_output_of_another(void **state)
{
	struct perfev_counter_opts opts = {.size = sizeof(opts)};
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = 8 * page, records = 0;
	struct perf_event_mmap_page *ring;
	struct perfev_counter *first, *second;
	const unsigned char *data;
	struct perfev_event *event;
	uint64_t at = 0;

	(void)state;
	assert_works(perfev_event_parse(&event, "minor-faults/period=1/u", &err));
	perfev_event_attr(event)->sample_type = PERF_SAMPLE_ID;
	assert_works(perfev_counter_open(&first, event, perfev_on_self(), NULL, &err));
	opts.output = first;
	assert_fails(perfev_counter_open(&second, event, perfev_on_self(), &opts, &err), EINVAL);
	assert_says("the other has no ring");
	assert_works(perfev_raw_mmap(&ring, perfev_counter_fd(first), size, true));
	assert_works(perfev_counter_open(&second, event, perfev_on_self(), &opts, &err));
	assert_works(perfev_counter_start(second, &err));
	touch_pages(20);
	assert_works(perfev_counter_stop(second, &err));
	data = (const unsigned char *)ring + page;
	for (; at < ring->data_head; records++) {
		struct perf_event_header header;

		memcpy(&header, data + at, sizeof(header));
		assert_int_equal(header.type, PERF_RECORD_SAMPLE);
		at += header.size;
	}
	assert_int_equal(records, 20);
	assert_works(perfev_raw_munmap(ring, size));
	perfev_counter_close(second);
	perfev_counter_close(first);
	perfev_event_free(event);
}

/* ---- pages that are not there ----------------------------------------------------------------------------- */

#define PAGED 500

static bool is_mapped(void *at)
{
	unsigned char in_core;

	return mincore(at, (size_t)sysconf(_SC_PAGESIZE), &in_core) == 0;
}

/* Maps what others might have mapped meanwhile, and closes the counters: how many of these mappings went too. In a
 * child this is, so that there is no assertion. */
static int taken_away(struct perfev_counter **counters, size_t count)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i;
	void *others[2 * PAGED];
	int taken = 0;

	for (i = 0; i < 2 * PAGED; i++)
		others[i] = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < count; i++)
		perfev_counter_close(counters[i]);
	for (i = 0; i < 2 * PAGED; i++)
		taken += !is_mapped(others[i]);
	return taken < 100 ? taken : 100;
}

static size_t open_paged(struct perfev_counter **counters, size_t count)
{
	struct perfev_counter_opts opts = {.size = sizeof(opts), .user_read = 1};
	struct perfev_event *event;
	size_t n = 0;

	if (perfev_event_parse(&event, "task-clock:u", &err) < 0)
		return 0;
	while (n < count && perfev_counter_open(&counters[n], event, perfev_on_self(), &opts, &err) == 0)
		n++;
	perfev_event_free(event);
	return n;
}

static int status_of(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A child has no page of its parent's counters, and closes them all the same. */
static void test_counters_closed_in_a_child(void **state)
{
	static struct perfev_counter *counters[PAGED];
	size_t count = open_paged(counters, 20);
	pid_t pid;

	(void)state;
	assert_int_equal(count, 20);
	pid = fork();
	if (!pid)
		_exit(taken_away(counters, count));
	assert_int_equal(status_of(pid), 0);
	while (count)
		perfev_counter_close(counters[--count]);
	assert_int_equal(count_mappings("perf_event"), 0);
}

/* More pages than a user may lock: the others are counters without a page. */
static void test_more_pages_than_may_be_locked(void **state)
{
	static struct perfev_counter *counters[PAGED];
	pid_t pid;

	(void)state;
	pid = fork();
	if (!pid) {
		struct rlimit none = {0, 0};
		size_t count;

		if (setrlimit(RLIMIT_MEMLOCK, &none) < 0 || (getuid() == 0 && setuid(65534) < 0))
			_exit(101);
		count = open_paged(counters, PAGED);
		_exit(count ? taken_away(counters, count) : 101);
	}
	switch (status_of(pid)) {
	case 0:
		break;
	case 101:
		SKIP("%s", "a user without rights opens no event here");
		break;
	default:
		fail_msg("mappings of others are gone");
	}
}

static void test_descriptors_are_closed_on_exec(void **state)
{
	struct perfev_counter *counter = open_counter("page-faults:u");
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "test ! -e /proc/self/fd/%d", perfev_counter_fd(counter));
	assert_int_equal(system(command), 0);
	perfev_counter_close(counter);
}

static void test_nothing_is_left_behind(void **state)
{
	size_t before = count_descriptors(), i;

	(void)state;
	for (i = 0; i < 2000; i++)
		perfev_counter_close(open_counter("dummy:u"));
	assert_int_equal(count_descriptors(), before);
	assert_int_equal(count_mappings("perf_event"), 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_page_faults_are_exact),
	cmocka_unit_test(test_never_started_is_not_counted),
	cmocka_unit_test(test_switches_without_the_kernel_are_not_zero),
	cmocka_unit_test(test_never_scheduled),
	cmocka_unit_test(test_targets_that_need_a_set),
	cmocka_unit_test(test_a_process_with_threads),
	cmocka_unit_test(test_partial_set),
	cmocka_unit_test(test_output_of_another),
	cmocka_unit_test(test_counters_closed_in_a_child),
	cmocka_unit_test(test_more_pages_than_may_be_locked),
	cmocka_unit_test(test_descriptors_are_closed_on_exec),
	cmocka_unit_test(test_nothing_is_left_behind),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
