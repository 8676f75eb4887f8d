/* SPDX-License-Identifier: MIT */
/* Operations and exact counts on this kernel; nothing here needs a hardware counter. */
#include "counting.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>

/* ---- exact counts ---------------------------------------------------------------------------------------- */

PLAIN static void ping_pong(int times)
{
	int there[2], back[2], i;
	char byte = 0;
	pid_t child;

	assert_int_equal(pipe(there), 0);
	assert_int_equal(pipe(back), 0);
	child = fork();
	assert_true(child >= 0);
	for (i = 0; i < times; i++) {
		if (child == 0 ? read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1
			       : write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			break;
	}
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	assert_int_equal(i, times);
	for (i = 0; i < 2; i++) {
		close(there[i]);
		close(back[i]);
	}
}

static uint64_t switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (uint64_t)(usage.ru_nvcsw + usage.ru_nivcsw);
}

/* Each answer is waited for: a switch each, when both are on one CPU, and at least one of them otherwise. */
static void test_switches(void **state)
{
	struct perfev_counter *counter;
	cpu_set_t before, one;
	uint64_t count, outside, inside;

	(void)state;
	need(PERFEV_CAN_COUNT_KERNEL);
	counter = open_counter("context-switches", 0);
	sched_getaffinity(0, sizeof(before), &before);
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	outside = switches();
	assert_works(perfev_counter_start(counter, &err));
	inside = switches();
	ping_pong(1000);
	inside = switches() - inside;
	assert_works(perfev_counter_stop(counter, &err));
	outside = switches() - outside;
	sched_setaffinity(0, sizeof(before), &before);
	count = count_of(counter);
	/* the kernel's other count of the same; and each of the thousand rounds is in it */
	assert_in_range(count, inside, outside);
	assert_true(count >= 1000);
	perfev_counter_close(counter);
}

static volatile uint64_t watched[4];

PLAIN static void write_watched(int which, int times)
{
	while (times--)
		watched[which] = (uint64_t)times;
}

static struct perfev_counter *open_watch(int which, uint64_t period, struct perfev_event **event)
{
	struct perfev_counter *counter = NULL;

	assert_works(perfev_event_breakpoint(event, (uint64_t)(uintptr_t)&watched[which], 4, HW_BREAKPOINT_W, &err));
	perfev_event_attr(*event)->exclude_kernel = 1;
	perfev_event_attr(*event)->exclude_hv = 1;
	perfev_event_attr(*event)->sample_period = period;
	if (perfev_counter_open(&counter, *event, perfev_on_self(), NULL, &err) < 0) {
		perfev_event_free(*event);
		SKIP("%s", err.text);
	}
	return counter;
}

static void test_breakpoints_count_and_move(void **state)
{
	struct perfev_event *event;
	struct perfev_counter *counter = open_watch(0, 0, &event);
	uint64_t count;

	(void)state;
	assert_works(perfev_counter_start(counter, &err));
	write_watched(0, 500);
	write_watched(1, 70);
	assert_int_equal(count_of(counter), 500);
	perfev_event_attr(event)->bp_addr = (uint64_t)(uintptr_t)&watched[1];
	if (perfev_counter_modify(counter, event, &err) == -ENOTTY) { /* before 4.17 */
		perfev_counter_close(counter);
		perfev_event_free(event);
		SKIP("%s", err.text);
	}
	write_watched(0, 500);
	write_watched(1, 70);
	assert_int_equal(count_of(counter), 570);

	perfev_event_attr(event)->bp_len = 64; /* refused: where it was, and running */
	perfev_event_attr(event)->bp_addr = (uint64_t)(uintptr_t)&watched[2];
	assert_true(perfev_counter_modify(counter, event, &err) < 0);
	assert_says("kind, length or alignment");
	count = count_of(counter);
	write_watched(1, 5);
	write_watched(2, 5);
	assert_int_equal(count_of(counter), count + 5);

	assert_works(perfev_counter_stop(counter, &err)); /* and stopped it stays so */
	perfev_event_attr(event)->bp_len = 4;
	assert_works(perfev_counter_modify(counter, event, &err));
	count = count_of(counter);
	write_watched(2, 5);
	assert_int_equal(count_of(counter), count);
	assert_works(perfev_counter_start(counter, &err));
	write_watched(2, 5);
	assert_int_equal(count_of(counter), count + 5);
	perfev_counter_close(counter);
	perfev_event_free(event);
}

/* ---- refresh, signals, periods --------------------------------------------------------------------------- */

static volatile sig_atomic_t overflows, last_ones;
static volatile int signal_fd;

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	signal_fd = info->si_fd;
	overflows++;
	if (info->si_code == POLL_HUP)
		last_ones++;
}

static void catch_signals(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = on_signal;
	action.sa_flags = SA_SIGINFO | SA_RESTART;
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	overflows = last_ones = 0;
	signal_fd = -1;
}

static void test_refresh_of_faults(void **state)
{
	struct perfev_counter *counter = open_counter("minor-faults:u", 1);

	(void)state;
	catch_signals();
	assert_works(perfev_counter_signal(counter, SIGUSR1, 0, &err));
	assert_works(perfev_counter_refresh(counter, 3, &err));
	touch_pages(100);
	assert_int_equal(count_of(counter), 3); /* and then it stood still */
	assert_true(overflows >= 1 && overflows <= 3);
	assert_int_equal(last_ones, 1);
	assert_int_equal(signal_fd, perfev_counter_fd(counter));
	assert_works(perfev_counter_refresh(counter, 2, &err));
	touch_pages(100);
	assert_int_equal(count_of(counter), 5);
	assert_works(perfev_counter_signal(counter, 0, 0, &err));
	overflows = 0;
	assert_works(perfev_counter_refresh(counter, 2, &err));
	touch_pages(100);
	assert_int_equal(overflows, 0);
	assert_fails(perfev_counter_signal(counter, 1000, 0, &err), EINVAL);
	assert_fails(perfev_counter_signal(counter, SIGUSR1, 4194303, &err), ESRCH);
	perfev_counter_close(counter);
}

/* On some kernels these stay dead after the limit, whatever starts them. */
static void test_refresh_of_breakpoints(void **state)
{
	struct perfev_event *event;
	struct perfev_counter *counter = open_watch(3, 1, &event);
	int i;

	(void)state;
	for (i = 1; i <= 3; i++) {
		assert_works(perfev_counter_refresh(counter, 2, &err));
		write_watched(3, 10);
		assert_int_equal(count_of(counter), 2 * i);
	}
	assert_works(perfev_counter_stop(counter, &err));
	assert_works(perfev_counter_start(counter, &err)); /* without a limit: but 0 was left of one */
	write_watched(3, 10);
	assert_true(count_of(counter) > 6);
	perfev_counter_close(counter);
	perfev_event_free(event);
}

/* The descriptor tells of overflows when it has a ring. */
static void test_a_descriptor_tells(void **state)
{
	struct perfev_event *event = NULL;
	struct perfev_counter *counter = NULL;
	struct perf_event_mmap_page *page;
	struct pollfd poll_fd = {.events = POLLIN};
	size_t size = (size_t)sysconf(_SC_PAGESIZE);

	(void)state;
	assert_works(perfev_event_parse(&event, "minor-faults:u", &err));
	perfev_event_attr(event)->sample_period = 10;
	perfev_event_attr(event)->wakeup_events = 1;
	assert_works(perfev_counter_open(&counter, event, perfev_on_self(), NULL, &err));
	if (perfev_raw_mmap(&page, perfev_counter_fd(counter), size, true) < 0)
		SKIP("no ring can be mapped");
	poll_fd.fd = perfev_counter_fd(counter);
	assert_int_equal(poll(&poll_fd, 1, 0), 0);
	assert_works(perfev_counter_refresh(counter, 5, &err));
	touch_pages(10);
	assert_int_equal(poll(&poll_fd, 1, 1000), 1);
	assert_true(poll_fd.revents & POLLIN);
	assert_works(perfev_counter_pause_output(counter, &err));
	touch_pages(10);
	assert_int_equal(poll(&poll_fd, 1, 0), 0);
	assert_works(perfev_counter_resume_output(counter, &err));
	touch_pages(10);
	assert_int_equal(poll(&poll_fd, 1, 1000), 1);
	perfev_raw_munmap(page, size);
	perfev_counter_close(counter);
	perfev_event_free(event);
}

static void test_periods(void **state)
{
	struct perfev_counter *counter = open_counter("minor-faults:u", 1);
	struct perfev_counter *counting = open_counter("minor-faults:u", 0);

	(void)state;
	catch_signals();
	assert_works(perfev_counter_signal(counter, SIGUSR1, 0, &err));
	assert_works(perfev_counter_start(counter, &err));
	touch_pages(10);
	assert_int_equal(overflows, 10);
	assert_works(perfev_counter_set_period(counter, 1000000, &err)); /* whose code may fault too */
	overflows = 0;
	touch_pages(1000);
	assert_in_range(overflows, 0, 3); /* the first comes at once */
	assert_fails(perfev_counter_set_period(counter, 0, &err), EINVAL);
	assert_fails(perfev_counter_set_period(counter, UINT64_MAX, &err), EINVAL);
	assert_fails(perfev_counter_set_period(counting, 5, &err), EINVAL);
	assert_int_equal(err.why, PERFEV_WHY_NOT_SAMPLING);
	assert_fails(perfev_counter_refresh(counting, 5, &err), EINVAL);
	assert_int_equal(err.why, PERFEV_WHY_NOT_SAMPLING);
	perfev_counter_close(counting);
	perfev_counter_close(counter);
}

static void test_all_of_the_thread(void **state)
{
	struct perfev_counter *a = open_counter("minor-faults:u", 0), *b = open_counter("page-faults:u", 0);

	(void)state;
	assert_works(perfev_start_all(&err));
	touch_pages(50);
	assert_works(perfev_stop_all(&err));
	touch_pages(50);
	assert_int_equal(count_of(a), 50);
	assert_int_equal(count_of(b), 50);
	perfev_counter_close(a);
	perfev_counter_close(b);
}

/* ---- tracepoints ------------------------------------------------------------------------------------------ */

static void test_filters_and_programs(void **state)
{
	struct perfev_counter *counter;
	uint32_t ids[4];
	char text[64];
	int i, n;

	(void)state;
	need(PERFEV_CAN_TRACEPOINTS);
	counter = open_counter("task:task_rename", 0);
	snprintf(text, sizeof(text), "pid == %d", getpid());
	if (perfev_counter_set_filter(counter, "oom_score_adj == 12345", &err) < 0)
		fail_msg("%s", err.text);
	assert_fails(perfev_counter_set_filter(counter, text, &err), EEXIST);
	assert_works(perfev_counter_start(counter, &err));
	for (i = 0; i < 3; i++)
		pthread_setname_np(pthread_self(), "counting");
	assert_int_equal(count_of(counter), 0);
	perfev_counter_close(counter);

	counter = open_counter("task:task_rename", 0);
	assert_fails(perfev_counter_set_filter(counter, "no_such_field == 1", &err), EINVAL);
	assert_int_equal(err.why, PERFEV_WHY_SYNTAX);
	n = perfev_counter_bpf_ids(counter, ids, 4, &err);
	if (n < 0 && n != -EPERM)
		fail_msg("%s", err.text);
	assert_fails(perfev_counter_attach_bpf(counter, -1, &err), EBADF);
	assert_int_equal(perfev_counter_attach_bpf(counter, 0, NULL) < 0, 1);
	perfev_counter_close(counter);
	counter = open_counter("page-faults:u", 0);
	assert_true(perfev_counter_bpf_ids(counter, ids, 4, &err) < 0);
	perfev_counter_close(counter);
}

/* After the limit of a refresh too. */
static void test_refresh_of_tracepoints(void **state)
{
	struct perfev_counter *counter;
	int i, k;

	(void)state;
	need(PERFEV_CAN_TRACEPOINTS);
	counter = open_counter("task:task_rename", 1);
	for (k = 1; k <= 3; k++) {
		assert_works(perfev_counter_refresh(counter, 2, &err));
		for (i = 0; i < 10; i++)
			pthread_setname_np(pthread_self(), "counting");
		assert_int_equal(count_of(counter), 2 * k);
	}
	perfev_counter_close(counter);
}

/* ---- nothing is left behind -------------------------------------------------------------------------------- */

static size_t memory_kb(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[128];
	size_t kb = 0;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "VmData: %zu", &kb) == 1)
			break;
	fclose(file);
	return kb;
}

/* All ways to be opened; PERFEV_LEAK_TIMES for more than a short look. */
static void test_nothing_is_left(void **state)
{
	struct perfev_counter_opts opts = {.size = sizeof(opts), .user_read = 1};
	const char *text = getenv("PERFEV_LEAK_TIMES");
	size_t times = text ? strtoul(text, NULL, 10) : 2000, i, before = 0, kb = 0;
	struct perfev_event *event = NULL;

	(void)state;
	assert_works(perfev_event_parse(&event, "dummy:u", &err));
	for (i = 0; i < times + 10; i++) {
		const struct perfev_event *two[] = {event, event};
		struct perfev_counter *counter;
		struct perfev_group *group;

		if (i == 10) {
			before = count_descriptors();
			kb = memory_kb();
		}
		/* unmapping takes long on some kernels: now and then */
		assert_works(perfev_counter_open(&counter, event, perfev_on_self(), i % 100 ? NULL : &opts, &err));
		if (i % 3)
			perfev_counter_close(counter);
		else
			close(perfev_counter_release(counter));
		if (i % 10 == 0) {
			assert_works(perfev_group_open(&group, two, 2, perfev_on_self(), NULL, &err));
			perfev_group_close(group);
		}
	}
	assert_int_equal(count_descriptors(), before);
	assert_int_equal(count_mappings("perf_event"), 0);
#ifndef __SANITIZE_ADDRESS__ /* which keeps what was freed for a while */
	assert_int_equal(memory_kb(), kb);
#else
	(void)kb;
#endif
	perfev_event_free(event);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_switches),
	cmocka_unit_test(test_breakpoints_count_and_move),
	cmocka_unit_test(test_refresh_of_faults),
	cmocka_unit_test(test_refresh_of_breakpoints),
	cmocka_unit_test(test_a_descriptor_tells),
	cmocka_unit_test(test_periods),
	cmocka_unit_test(test_all_of_the_thread),
	cmocka_unit_test(test_filters_and_programs),
	cmocka_unit_test(test_refresh_of_tracepoints),
	cmocka_unit_test(test_nothing_is_left),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
