/* SPDX-License-Identifier: MIT */
/*
 * Counters of the CPU: events that take turns, pinned ones that do not fit, reads without the kernel, and exact
 * counts where the machine is exact. What a machine lacks is a skip: most virtual machines have no counter at all.
 * With --change-machine (root) programs are allowed to read counters, where a sysctl forbids it.
 */
#include "live.h"

#include <perfev/set.h>

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>

static struct perfev_error err;

#ifdef __aarch64__
#define MANY 40 /* on 7 counters */
#else
#define MANY 12
#endif
#define BOUND 12

static struct perfev_event *parse(const char *text)
{
	struct perfev_event *event = NULL;

	assert_works(perfev_event_parse(&event, text, &err));
	return event;
}

static struct perfev_counter *open_with(const char *text, const struct perfev_counter_opts *opts)
{
	struct perfev_event *event = parse(text);
	struct perfev_counter *counter = NULL;
	int r = perfev_counter_open(&counter, event, perfev_on_self(), opts, &err);

	perfev_event_free(event);
	if (r < 0)
		SKIP("%s", err.text);
	return counter;
}

static struct perfev_reading read_now(const struct perfev_counter *counter)
{
	struct perfev_reading reading;

	assert_works(perfev_counter_read(counter, &reading, &err));
	return reading;
}

/* The PMU that counts time, and is exact: 4 instructions to 3 cycles. */
static bool is_test_pmu(void)
{
	char name[16] = "";
	int fd = open("/sys/bus/event_source/devices/cpu/caps/pmu_name", O_RDONLY | O_CLOEXEC);
	bool is = fd >= 0 && read(fd, name, sizeof(name) - 1) > 0 && !strncmp(name, "fake", 4);

	if (fd >= 0)
		close(fd);
	return is;
}

/* ---- more events than counters --------------------------------------------------------------------------- */

/* An emulated PMU may count an event on one counter only. */
static bool counts_twice(void)
{
	struct perfev_counter *a = open_with("cycles:u", NULL), *b = open_with("cycles:u", NULL);
	bool twice;

	assert_works(perfev_start_all(&err));
	burn_ms(2);
	assert_works(perfev_stop_all(&err));
	twice = read_now(a).count && read_now(b).count;
	perfev_counter_close(a);
	perfev_counter_close(b);
	return twice;
}

/* Many that take turns, beside one that never has to: each is estimated within 5 %, and so is their sum. */
static void test_events_that_take_turns(void **state)
{
	struct perfev_counter *all, *many[MANY];
	struct perfev_reading whole, one;
	uint64_t scaled, sum = 0;
	int i, shared = 0;

	(void)state;
	need(PERFEV_CAN_HARDWARE);
	if (!counts_twice())
		SKIP("this PMU counts an event on one counter only");
	all = open_with("cycles:uD", NULL);
	for (i = 0; i < MANY; i++)
		many[i] = open_with("cycles:u", NULL);
	assert_works(perfev_start_all(&err));
	burn_ms(800);
	assert_works(perfev_stop_all(&err));
	whole = read_now(all);
	assert_int_equal(whole.status, PERFEV_COUNTED);
	assert_int_equal(whole.running_ns, whole.enabled_ns);
	for (i = 0; i < MANY; i++) {
		one = read_now(many[i]);
		assert_int_equal(one.status, PERFEV_COUNTED);
		assert_true(perfev_reading_scaled(&one, &scaled));
		shared += one.running_ns < one.enabled_ns;
		if (scaled < whole.count - whole.count / 20 || scaled > whole.count + whole.count / 20)
			fail_msg("event %d: %llu in %llu of %llu ns, scaled %llu, and really %llu", i,
				 (unsigned long long)one.count, (unsigned long long)one.running_ns,
				 (unsigned long long)one.enabled_ns, (unsigned long long)scaled,
				 (unsigned long long)whole.count);
		sum += scaled;
		perfev_counter_close(many[i]);
	}
	perfev_counter_close(all);
	print_message("%d of %d took turns; their sum is %llu for %llu\n", shared, MANY, (unsigned long long)sum,
		      (unsigned long long)whole.count * MANY);
	assert_in_range(sum, whole.count * MANY / 100 * 95, whole.count * MANY / 100 * 105);
	if (!shared)
		SKIP("this CPU has counters for all of them");
}

/* A thread's events that are bound to a CPU: the kernel's times do not tell their turns, a set does; on the other CPU,
 * where it is for half of the time, nothing is counted. */
static void test_turns_where_a_thread_is_bound(void **state)
{
	struct perfev_events *events;
	struct perfev_reading r[BOUND + 1];
	struct perfev_set *set;
	char text[BOUND * 16] = "cycles:uD";
	uint64_t scaled;
	unsigned cpu;
	int i;

	(void)state;
	need(PERFEV_CAN_HARDWARE);
	if (!counts_twice())
		SKIP("this PMU counts an event on one counter only");
	for (i = 0; i < BOUND; i++)
		strcat(text, ",cycles:u");
	assert_works(perfev_events_parse(&events, text, &err));
	assert_works(perfev_set_open(&set, events, perfev_on_task_cpu(0, 0), NULL, &err));
	perfev_events_free(events);
	assert_works(perfev_set_start(set, &err));
	for (cpu = 0; cpu < 2; cpu++) { /* half of the time elsewhere */
		cpu_set_t cpus;

		CPU_ZERO(&cpus);
		CPU_SET(cpu, &cpus);
		if (sched_setaffinity(0, sizeof(cpus), &cpus) == 0)
			burn_ms(400);
	}
	assert_works(perfev_set_stop(set, &err));
	assert_works(perfev_set_read(set, r, BOUND + 1, &err));
	assert_int_equal(r[0].status, PERFEV_COUNTED);
	assert_int_equal(r[0].enabled_ns, r[0].running_ns); /* always had a counter */
	print_message("%llu of %llu ns, by the bound one\n", (unsigned long long)r[1].running_ns,
		      (unsigned long long)r[1].enabled_ns);
	if (r[1].running_ns == r[1].enabled_ns)
		SKIP("this CPU has counters for all of them");
	for (i = 1; i <= BOUND; i++) {
		assert_in_range(r[i].enabled_ns, r[0].enabled_ns - 20000000, r[0].enabled_ns + 20000000);
		assert_true(perfev_reading_scaled(&r[i], &scaled));
		assert_in_range(scaled, r[0].count / 20 * 19, r[0].count / 20 * 21);
	}
	perfev_set_close(set);
}

/* The first that does not fit says so; when another goes away, starting it is enough. */
static void test_pinned_that_do_not_fit(void **state)
{
	struct perfev_counter *pinned[64];
	struct perfev_reading reading;
	int n, i;

	(void)state;
	need(PERFEV_CAN_HARDWARE);
	for (n = 0; n < 64; n++) {
		pinned[n] = open_with("cycles:uD", NULL);
		assert_works(perfev_counter_start(pinned[n], &err));
		burn_ms(2);
		reading = read_now(pinned[n]);
		if (reading.status != PERFEV_COUNTED)
			break;
	}
	if (n == 64)
		SKIP("this CPU has counters for 64");
	assert_true(n > 0);
	assert_int_equal(reading.status, PERFEV_ERROR_STATE);
	assert_int_equal(reading.count, 0);
	print_message("%d pinned events fit\n", n);
	perfev_counter_close(pinned[0]);
	assert_works(perfev_counter_start(pinned[n], &err));
	burn_ms(2);
	assert_int_equal(read_now(pinned[n]).status, PERFEV_COUNTED);
	for (i = 1; i <= n; i++)
		perfev_counter_close(pinned[i]);
}

static struct perfev_group *open_group(const char *const *texts, size_t count, int *code)
{
	const struct perfev_event *events[16];
	struct perfev_group *group = NULL;
	size_t i;

	for (i = 0; i < count; i++)
		events[i] = parse(texts[i]);
	*code = perfev_group_open(&group, events, count, perfev_on_self(), NULL, &err);
	for (i = 0; i < count; i++)
		perfev_event_free((struct perfev_event *)(uintptr_t)events[i]);
	return group;
}

static void test_a_pinned_group_that_does_not_fit(void **state)
{
	static const char *const texts[] = {"cycles:uD", "cycles:u", "cycles:u"};
	struct perfev_group *groups[32];
	struct perfev_reading r[3];
	int n, code, i;

	(void)state;
	need(PERFEV_CAN_HARDWARE);
	for (n = 0; n < 32; n++) {
		groups[n] = open_group(texts, 3, &code);
		if (code < 0)
			SKIP("%s", err.text);
		assert_works(perfev_group_start(groups[n], &err));
		burn_ms(2);
		assert_works(perfev_group_read(groups[n], r, 3, &err));
		if (r[0].status != PERFEV_COUNTED)
			break;
	}
	if (n == 32)
		SKIP("this CPU has counters for 32 groups");
	for (i = 0; i < 3; i++)
		assert_int_equal(r[i].status, PERFEV_ERROR_STATE);
	for (i = 0; i <= n; i++)
		perfev_group_close(groups[i]);
}

static void test_members_are_of_the_same_time(void **state)
{
	static const char *const texts[] = {"cycles", "instructions", "task-clock"};
	static const char *const five[] = {"cycles", "cycles", "cycles", "cycles", "cycles"};
	struct perfev_group *group;
	struct perfev_reading r[3];
	int code;

	(void)state;
	if (!is_test_pmu())
		SKIP("this is not the lab's test PMU");
	group = open_group(texts, 3, &code);
	assert_works(code);
	assert_works(perfev_group_start(group, &err));
	burn_ms(50);
	assert_works(perfev_group_stop(group, &err)); /* while it runs, each is read a little later */
	assert_works(perfev_group_read(group, r, 3, &err));
	assert_true(r[0].count > 1000000);
	assert_in_range(r[1].count * 3, r[0].count * 4 - 8, r[0].count * 4 + 8);
	perfev_group_close(group);
	open_group(five, 5, &code); /* on 4 counters */
	assert_int_equal(code, -EINVAL);
}

/* ---- without the kernel ---------------------------------------------------------------------------------- */

static void allow_user_reads(void)
{
	int fd;

	if (geteuid() != 0 || !getenv("PERFEV_CHANGE_MACHINE"))
		return;
	fd = open("/proc/sys/kernel/perf_user_access", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, "1", 1) != 1)
		fail_msg("perf_user_access cannot be written");
	close(fd);
}

/* A counter that runs, and that programs may read; or a skip with the reason. */
static struct perfev_counter *open_readable(const char *text)
{
	static const struct perfev_counter_opts opts = {.size = sizeof(opts), .user_read = 1};
	struct perfev_counter *counter;

	need(PERFEV_CAN_HARDWARE);
	allow_user_reads();
	counter = open_with(text, &opts);
	assert_works(perfev_counter_start(counter, &err));
	if (!perfev_counter_can_read_fast(counter, &err)) {
		perfev_counter_close(counter);
#ifdef __riscv /* whose driver closes a counter when any mapping of its event goes: no reason to skip in our guest */
		if (getenv("PERFEV_CHANGE_MACHINE"))
			fail_msg("%s", err.text);
#endif
		SKIP("%s", err.text);
	}
	return counter;
}

static bool is_between(const struct perfev_reading *a, const struct perfev_reading *r, const struct perfev_reading *b)
{
	return a->count <= r->count && r->count <= b->count && a->enabled_ns <= r->enabled_ns &&
	       r->enabled_ns <= b->enabled_ns && a->running_ns <= r->running_ns && r->running_ns <= b->running_ns;
}

/* Each is between a read(2) before and one after it, in count and times. */
static void between(const char *text)
{
	struct perfev_counter *counter = open_readable(text);
	struct perfev_reading before, fast, after;
	int i, ways[2] = {0, 0};

	for (i = 0; i < 2000; i++) {
		int r;

		before = read_now(counter);
		r = perfev_counter_read_fast(counter, &fast, &err);
		after = read_now(counter);
		assert_works(r);
		ways[r]++;
		if (!is_between(&before, &fast, &after))
			fail_msg("%s, read %d: counts %llu %llu %llu, enabled %llu %llu %llu", text, i,
				 (unsigned long long)before.count, (unsigned long long)fast.count,
				 (unsigned long long)after.count, (unsigned long long)before.enabled_ns,
				 (unsigned long long)fast.enabled_ns, (unsigned long long)after.enabled_ns);
	}
	assert_true(ways[1] > 1900);
	assert_works(perfev_counter_stop(counter, &err));
	assert_int_equal(perfev_counter_read_fast(counter, &fast, &err), 0);
	after = read_now(counter);
	assert_int_equal(fast.count, after.count);
	assert_false(perfev_counter_can_read_fast(counter, &err));
	assert_says("it has no counter now");
	perfev_counter_close(counter);
}

static void test_cycles_without_the_kernel(void **state)
{
	(void)state;
	between("cycles");
}

static void test_instructions_without_the_kernel(void **state)
{
	(void)state;
	between("instructions:u");
}

static void *read_elsewhere(void *counter)
{
	struct perfev_reading reading;

	return perfev_counter_read_fast(counter, &reading, NULL) == 0 ? counter : NULL;
}

static void test_another_thread_asks_the_kernel(void **state)
{
	struct perfev_counter *counter = open_readable("cycles:u");
	pthread_t thread;
	void *as_wanted = NULL;

	(void)state;
	pthread_create(&thread, NULL, read_elsewhere, counter);
	pthread_join(thread, &as_wanted);
	assert_ptr_equal(as_wanted, counter);
	perfev_counter_close(counter);
}

/* Two instructions each time. */
PLAIN static void loop(unsigned long times)
{
#if defined(__aarch64__)
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(times) : : "cc");
#elif defined(__riscv)
	__asm__ volatile("1: addi %0, %0, -1\n\tbnez %0, 1b" : "+r"(times));
#elif defined(__x86_64__) || defined(__i386__)
	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(times) : : "cc");
#else
	SKIP("no loop is written for this architecture: %lu", times);
#endif
}

/* What a loop counts, as read without the kernel. */
static uint64_t count_loop(const struct perfev_counter *counter, unsigned long times)
{
	struct perfev_reading before, after;

	if (perfev_counter_read_fast(counter, &before, NULL) != 1)
		return 0;
	loop(times);
	return perfev_counter_read_fast(counter, &after, NULL) == 1 ? after.count - before.count : 0;
}

/* Each time the same; and a loop that is longer by n counts 2 n more. QEMU's riscv counts an instruction as the 8 ns
 * that it takes, and what the kernel does in between too; its arm64 has another count where a tick of the clock falls into the
 * loop, which is so once or never. */
#ifdef __riscv
#define OTHERS_MAX 20
#elif defined(__aarch64__)
#define OTHERS_MAX 2
#else
#define OTHERS_MAX 0
#endif

/* How many of 100 are not @wanted. */
static int count_others(const struct perfev_counter *counter, unsigned long times, uint64_t wanted)
{
	int i, others = 0;

	for (i = 0; i < 100; i++) {
		uint64_t got = count_loop(counter, times);

		if (got != wanted)
			print_message("%lu times: %llu, not %llu\n", times, (unsigned long long)got, (unsigned long long)wanted);
		others += got != wanted;
	}
	return others;
}

static void test_a_loop_is_exact(void **state)
{
	struct perfev_counter *counter = open_readable("instructions:u");
	uint64_t first, more;
	int others;

	(void)state;
	count_loop(counter, 1000);
	first = count_loop(counter, 1000);
	more = count_loop(counter, 3500) - first;
	others = count_others(counter, 1000, first) + count_others(counter, 3500, first + more);
	perfev_counter_close(counter);
	print_message("a loop of 2000 instructions counts %llu, 5000 more %llu, and something else %d times of 200\n",
		      (unsigned long long)first, (unsigned long long)more, others);
	assert_in_range(others, 0, OTHERS_MAX);
#ifndef __riscv
	assert_int_equal(more, 5000);
#endif
	assert_int_equal(more % 5000, 0);
	assert_in_range(first / (more / 5000), 2000, 2200);
}

/* From one way of reading to the other it is the same number of instructions, every time. */
static void test_both_ways_are_equal(void **state)
{
	struct perfev_counter *counter = open_readable("instructions:u");
	uint64_t there = 0, back = 0;
	int i, others = 0;

	(void)state;
	for (i = 0; i < 200; i++) {
		struct perfev_reading a, b, c;

		if (perfev_counter_read(counter, &a, NULL) < 0 || perfev_counter_read_fast(counter, &b, NULL) != 1 ||
		    perfev_counter_read(counter, &c, NULL) < 0)
			fail_msg("read %d", i);
		if (i <= 100) {
			there = b.count - a.count;
			back = c.count - b.count;
		}
		others += b.count - a.count != there || c.count - b.count != back;
	}
	assert_in_range(others, 0, OTHERS_MAX);
	assert_true(there > 0 && back > 0);
	print_message("%llu instructions to the one, %llu to the other\n", (unsigned long long)there,
		      (unsigned long long)back);
	perfev_counter_close(counter);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_events_that_take_turns),
	cmocka_unit_test(test_turns_where_a_thread_is_bound),
	cmocka_unit_test(test_pinned_that_do_not_fit),
	cmocka_unit_test(test_a_pinned_group_that_does_not_fit),
	cmocka_unit_test(test_members_are_of_the_same_time),
	cmocka_unit_test(test_cycles_without_the_kernel),
	cmocka_unit_test(test_instructions_without_the_kernel),
	cmocka_unit_test(test_another_thread_asks_the_kernel),
	cmocka_unit_test(test_a_loop_is_exact),
	cmocka_unit_test(test_both_ways_are_equal),
};

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--change-machine"))
		setenv("PERFEV_CHANGE_MACHINE", "1", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
