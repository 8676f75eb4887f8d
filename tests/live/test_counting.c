/* SPDX-License-Identifier: MIT */
/* Operations, groups and exact counts on this kernel; nothing here needs a hardware counter. */
#include "live.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>

static struct perfev_error err;

/* A counter of the calling thread; @period: 0 for counting only. */
static struct perfev_counter *open_counter(const char *text, uint64_t period)
{
	struct perfev_event *event = NULL;
	struct perfev_counter *counter = NULL;

	assert_works(perfev_event_parse(&event, text, &err));
	perfev_event_attr(event)->sample_period = period;
	if (perfev_counter_open(&counter, event, perfev_on_self(), NULL, &err) < 0) {
		perfev_event_free(event);
		SKIP("%s", err.text);
	}
	perfev_event_free(event);
	return counter;
}

static uint64_t count_of(const struct perfev_counter *counter)
{
	struct perfev_reading reading;

	assert_works(perfev_counter_read(counter, &reading, &err));
	return reading.count;
}

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

/* ---- readings ---------------------------------------------------------------------------------------------- */

/* The two times are taken at different moments: running is never above enabled. */
static void test_running_is_never_above(void **state)
{
	struct perfev_counter *counter = open_counter("task-clock:u", 0);
	struct perfev_reading reading, before = {0}, since;
	int i;

	(void)state;
	assert_works(perfev_counter_start(counter, &err));
	for (i = 0; i < 100000; i++) {
		assert_works(perfev_counter_read(counter, &reading, NULL));
		if (reading.running_ns > reading.enabled_ns || !perfev_reading_since(&since, &reading, &before))
			fail_msg("read %d", i);
		before = reading;
	}
	perfev_counter_close(counter);
}

static struct perfev_counter *in_handler;
static volatile uint64_t seen_by_handler;

static void read_in_handler(int number)
{
	struct perfev_reading reading;

	(void)number;
	if (perfev_counter_read(in_handler, &reading, NULL) == 0)
		seen_by_handler = reading.count;
}

static void test_a_signal_handler_reads(void **state)
{
	(void)state;
	in_handler = open_counter("minor-faults:u", 0);
	signal(SIGUSR2, read_in_handler);
	assert_works(perfev_counter_start(in_handler, &err));
	touch_pages(30);
	errno = 12345;
	raise(SIGUSR2);
	assert_int_equal(errno, 12345);
	assert_true(seen_by_handler >= 30);
	perfev_counter_close(in_handler);
}

/* Rows of a set, and sums of them by thread and by CPU. */
static void test_sums(void **state)
{
	struct perfev_events *events = NULL;
	struct perfev_set *set = NULL;
	struct perfev_reading rows[8], sums[2], all[2];
	struct perfev_set_row row;
	int32_t ids[1];
	size_t n;

	(void)state;
	ids[0] = (int32_t)getpid();
	assert_works(perfev_events_parse(&events, "minor-faults:u,page-faults:u", &err));
	assert_works(perfev_set_open(&set, events, perfev_on_task(ids[0]), NULL, &err));
	n = perfev_set_row_count(set);
	assert_int_equal(n, 2);
	assert_works(perfev_set_start(set, &err)); /* code faults the first time */
	touch_pages(1);
	assert_works(perfev_set_stop(set, &err));
	assert_works(perfev_set_reset(set, &err));
	assert_works(perfev_set_start(set, &err));
	touch_pages(60);
	assert_works(perfev_set_stop(set, &err));
	assert_works(perfev_set_read_rows(set, rows, n, &err));
	assert_works(perfev_set_read(set, all, 2, &err));
	assert_true(perfev_set_row_at(set, 0, &row));
	perfev_set_sum(set, rows, row.tid, -1, sums);
	assert_int_equal(sums[0].count, 60);
	assert_int_equal(sums[1].count, all[1].count);
	perfev_set_sum(set, rows, -1, -1, sums);
	assert_int_equal(sums[0].count, 60);
	perfev_set_sum(set, rows, row.tid + 1, -1, sums);
	assert_int_equal(sums[0].status, PERFEV_NOT_COUNTED);
	assert_fails(perfev_set_read_rows(set, rows, 1, &err), EINVAL);
	assert_works(perfev_set_reset(set, &err));
	assert_works(perfev_set_read(set, all, 2, &err));
	assert_int_equal(all[0].count, 0);
	perfev_set_close(set);
	perfev_events_free(events);
}

/* Software events have no counter of the CPU: they are read by the kernel, and it is said. */
static void test_without_a_counter(void **state)
{
	struct perfev_counter_opts opts = {.size = sizeof(opts), .user_read = 1};
	struct perfev_event *event = NULL;
	struct perfev_counter *counter = NULL;
	struct perfev_reading reading;

	(void)state;
	assert_works(perfev_event_parse(&event, "minor-faults:u", &err));
	assert_works(perfev_counter_open(&counter, event, perfev_on_self(), &opts, &err));
	assert_int_equal(perfev_counter_read_fast(counter, &reading, &err), 0); /* code faults the first time */
	assert_works(perfev_counter_start(counter, &err));
	touch_pages(40);
	assert_int_equal(perfev_counter_read_fast(counter, &reading, &err), 0);
	assert_int_equal(reading.count, 40);
	assert_false(perfev_counter_can_read_fast(counter, &err));
	assert_says("it is counted by the kernel itself");
	perfev_counter_close(counter);
	perfev_event_free(event);
	assert_int_equal(count_mappings("perf_event"), 0);
}

/* The kernel stamps a fault between two looks at the cycle counter, where that is its clock. */
static void test_the_clock(void **state)
{
	struct perfev_counter_opts opts = {.size = sizeof(opts), .user_read = 1};
	struct perfev_event *event = NULL;
	struct perfev_counter *stamped = NULL;
	struct perf_event_mmap_page *ring;
	struct perfev_clock clock;
	uint64_t before, after, time, at;
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	int i;

	(void)state;
	if (!perfev_cycles(&before))
		SKIP("this program cannot read the cycle counter");
	assert_works(perfev_event_parse(&event, "page-faults:u", &err));
	assert_works(perfev_counter_open(&stamped, event, perfev_on_self(), &opts, &err));
	i = perfev_counter_clock(stamped, &clock, &err);
	perfev_counter_close(stamped);
	if (i == 0) {
		perfev_event_attr(event)->sample_period = 1;
		perfev_event_attr(event)->sample_type = PERF_SAMPLE_TIME;
		assert_works(perfev_counter_open(&stamped, event, perfev_on_self(), NULL, &err));
		assert_works(perfev_raw_mmap(&ring, perfev_counter_fd(stamped), size, true));
		assert_works(perfev_counter_start(stamped, &err));
	}
	perfev_event_free(event);
	if (i < 0)
		SKIP("%s", err.text);
	assert_true(perfev_cycles(&before)); /* whose code faults the first time */
	touch_pages(1);
	for (i = 0; i < 20; i++) {
		ring->data_tail = at = ring->data_head;
		assert_true(perfev_cycles(&before));
		touch_pages(1);
		assert_true(perfev_cycles(&after));
		assert_true(ring->data_head > at);
		at = ring->data_head - 8; /* of the last one: this loop's code may fault too */
		memcpy(&time, (char *)ring + ring->data_offset + at % ring->data_size, 8);
		if (time < perfev_clock_time(&clock, before) || time > perfev_clock_time(&clock, after))
			fail_msg("%llu is not in %llu to %llu", (unsigned long long)time,
				 (unsigned long long)perfev_clock_time(&clock, before),
				 (unsigned long long)perfev_clock_time(&clock, after));
		assert_true(perfev_clock_cycles(&clock, perfev_clock_time(&clock, before)) <= before);
	}
	perfev_raw_munmap(ring, size);
	perfev_counter_close(stamped);
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
	cmocka_unit_test(test_a_group_counts_as_one),
	cmocka_unit_test(test_a_group_that_changes),
	cmocka_unit_test(test_a_group_that_is_inherited),
	cmocka_unit_test(test_a_child_with_another_group),
	cmocka_unit_test(test_running_is_never_above),
	cmocka_unit_test(test_a_signal_handler_reads),
	cmocka_unit_test(test_sums),
	cmocka_unit_test(test_without_a_counter),
	cmocka_unit_test(test_the_clock),
	cmocka_unit_test(test_nothing_is_left),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
