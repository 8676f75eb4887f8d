/* SPDX-License-Identifier: MIT */
/*
 * The raw layer on this kernel: opening, and the requests that count and tell, each on the kind of event that it needs; rings are
 * in test_raw_rings.c, what changes an open event in test_raw_changes.c. Whatever this user or machine lacks is a skip that names it.
 *
 * Requests that count overflows are not tried on clocks: Linux 6.16 and 6.17 can hang there.
 */
#include "raw.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/utsname.h>

/* ---- opening --------------------------------------------------------------------------------- */

/* Three mistakes, three errnos; none of them is EPERM, which is also -1. */
static void test_errnos_of_open(void **state)
{
	struct perf_event_attr attr = faults(0);

	(void)state;
	perfev_raw_close(open_on_self(attr, -1));
	assert_fails(perfev_raw_open(&attr, 0, INT32_MAX, -1, 0), EINVAL);
	assert_fails(perfev_raw_open(&attr, 4194304, -1, -1, 0), ESRCH);
	attr.type = 0xfffffff0;
	assert_fails(perfev_raw_open(&attr, 0, -1, -1, 0), ENOENT);
	attr = faults(0);
	assert_fails(perfev_raw_open(&attr, -1, -1, -1, 0), EINVAL);
	assert_fails(perfev_raw_open(&attr, 0, -1, -1, 1UL << 9), EINVAL);
	assert_fails(perfev_raw_open(&attr, 0, -1, 0, 0), EBADF);
	assert_fails(perfev_raw_open(NULL, 0, -1, -1, 0), EFAULT);
}

static void test_a_size_that_this_kernel_does_not_know(void **state)
{
	union {
		struct perf_event_attr attr;
		unsigned char bytes[512];
	} future;
	int knows = perfev_raw_attr_size(), fd;

	(void)state;
	if (knows < 0)
		SKIP("this kernel does not tell the size of its attr (errno %d)", -knows);
	assert_true(knows >= PERF_ATTR_SIZE_VER0 && knows < 512);
	memset(&future, 0, sizeof(future));
	future.attr = faults(0);
	future.attr.size = sizeof(future);
	fd = perfev_raw_open(&future.attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	assert_true(fd >= 0); /* larger, and 0 */
	perfev_raw_close(fd);
	future.bytes[511] = 1;
	assert_fails(perfev_raw_open(&future.attr, 0, -1, -1, 0), E2BIG);
	assert_int_equal(future.attr.size, knows);
	assert_string_equal(perfev_raw_unknown(&future.attr, sizeof(future)),
			    "a member newer than this library");
	future.attr.size = 63;
	assert_fails(perfev_raw_open(&future.attr, 0, -1, -1, 0), E2BIG);
	assert_string_equal(perfev_raw_unknown(&future.attr, 63), "size");
	if (knows >= PERF_ATTR_SIZE_VER9)
		SKIP("this kernel knows the whole attr: no member is refused");
	future.attr = faults(0);
	future.attr.config4 = 1;
	assert_fails(perfev_raw_open(&future.attr, 0, -1, -1, 0), E2BIG);
	assert_string_equal(perfev_raw_unknown(&future.attr, sizeof(future.attr)),
			    "config4");
}

/* The same through an event: the sentence names the member. */
static void test_the_member_is_named(void **state)
{
	struct perfev_counter *counter;
	struct perfev_event *event;
	struct perfev_error err;

	(void)state;
	if (perfev_raw_attr_size() >= PERF_ATTR_SIZE_VER9)
		SKIP("this kernel knows the whole attr: no member is refused");
	assert_works(perfev_event_parse(&event, "dummy:u", &err));
	assert_int_equal(perfev_event_attr(event)->size, sizeof(struct perf_event_attr));
	perfev_event_attr(event)->config4 = 1;
	assert_fails(perfev_counter_open(&counter, event, perfev_on_self(), NULL, &err), E2BIG);
	assert_int_equal(err.why, PERFEV_WHY_OLD_KERNEL);
	assert_says("bytes of the attr, and config4 beyond them is set");
	perfev_event_free(event);
}

static void test_flags_of_open(void **state)
{
	struct perf_event_attr attr = faults(0);
	int closed = open_on_self(attr, -1), kept = perfev_raw_open(&attr, 0, -1, -1, 0);

	(void)state;
	assert_true(kept >= 0);
	assert_int_equal(fcntl(closed, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fcntl(kept, F_GETFD), 0);
	perfev_raw_close(closed);
	perfev_raw_close(kept);
	perfev_raw_close(-1);
}

/* ---- ENABLE, DISABLE, RESET ------------------------------------------------------------------ */

static void test_start_stop_reset(void **state)
{
	int fd = open_on_self(faults(0), -1);

	(void)state;
	touch_pages(10);
	assert_int_equal(count_of(fd), 0); /* opened disabled */
	assert_int_equal(perfev_raw_enable(fd, 0), 0);
	touch_pages(100);
	assert_int_equal(perfev_raw_disable(fd, 0), 0);
	assert_int_equal(count_of(fd), 100);
	touch_pages(10);
	assert_int_equal(count_of(fd), 100);
	assert_int_equal(perfev_raw_reset(fd, 0), 0);
	assert_int_equal(count_of(fd), 0);
	perfev_raw_close(fd);
}

static void test_a_whole_group(void **state)
{
	struct perf_event_attr attr = faults(0);
	int leader, member;
	uint64_t words[3];

	(void)state;
	attr.read_format = PERF_FORMAT_GROUP;
	leader = open_on_self(attr, -1);
	member = open_on_self(attr, leader);
	assert_int_equal(perfev_raw_enable(leader, 0), 0);
	touch_pages(10);
	assert_int_equal(perfev_raw_read(leader, words, sizeof(words)), sizeof(words));
	assert_int_equal(words[0], 2);
	assert_int_equal(words[1], 10);
	assert_int_equal(words[2], 0); /* only the leader was started */
	assert_int_equal(perfev_raw_enable(member, PERF_IOC_FLAG_GROUP), 0); /* by any member */
	touch_pages(10);
	assert_int_equal(perfev_raw_disable(leader, PERF_IOC_FLAG_GROUP), 0);
	touch_pages(10);
	assert_int_equal(perfev_raw_read(leader, words, sizeof(words)), sizeof(words));
	assert_int_equal(words[1], 20);
	assert_int_equal(words[2], 10);
	assert_int_equal(perfev_raw_reset(member, PERF_IOC_FLAG_GROUP), 0);
	assert_int_equal(perfev_raw_read(leader, words, sizeof(words)), sizeof(words));
	assert_int_equal(words[1] + words[2], 0);
	assert_fails(perfev_raw_read(leader, words, 8), ENOSPC);
	perfev_raw_close(member);
	perfev_raw_close(leader);
}

/* A member that is refused, or closed, is not read; the others are. */
static void test_a_group_that_changes(void **state)
{
	struct perf_event_attr attr = faults(0), impossible = faults(0);
	int leader, member;
	uint64_t words[3] = {0, 0, 0};

	(void)state;
	attr.read_format = PERF_FORMAT_GROUP;
	impossible.type = 0xfffffff0;
	leader = open_on_self(attr, -1);
	assert_fails(perfev_raw_open(&impossible, 0, -1, leader, 0), ENOENT);
	assert_int_equal(perfev_raw_read(leader, words, sizeof(words)), 16);
	assert_int_equal(words[0], 1);
	member = open_on_self(attr, leader);
	assert_int_equal(perfev_raw_read(leader, words, sizeof(words)), 24);
	perfev_raw_close(member);
	assert_int_equal(perfev_raw_read(leader, words, sizeof(words)), 16);
	perfev_raw_close(leader);
}

static size_t one_if(uint64_t bits)
{
	return bits ? 1 : 0;
}

/* Every combination of what a read can carry, alone and as a group of two. */
static void test_every_read_format(void **state)
{
	uint64_t format;

	(void)state;
	for (format = 0; format < PERF_FORMAT_MAX; format++) {
		struct perf_event_attr attr = faults(0);
		size_t each =
			1 + one_if(format & PERF_FORMAT_ID) + one_if(format & PERF_FORMAT_LOST);
		size_t times = one_if(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			       one_if(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
		size_t words = format & PERF_FORMAT_GROUP ? 1 + times + 2 * each : times + each;
		uint64_t room[16];
		int leader, member;

		attr.read_format = format;
		leader = perfev_raw_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
		if (leader == -EINVAL && format & PERF_FORMAT_LOST)
			continue; /* older than 6.0 */
		assert_true(leader >= 0);
		member = open_on_self(attr, leader);
		assert_int_equal(perfev_raw_read(leader, room, sizeof(room)), words * 8);
		assert_int_equal(perfev_raw_read(leader, room, words * 8), words * 8);
		assert_fails(perfev_raw_read(leader, room, words * 8 - 8), ENOSPC);
		perfev_raw_close(member);
		perfev_raw_close(leader);
	}
}

/* What each request says about a descriptor that is none, or of something else. */
static void test_descriptors_of_something_else(void **state)
{
	struct perf_event_attr attr = perfev_raw_attr(PERF_TYPE_BREAKPOINT, 0);
	struct perf_event_query_bpf query;
	uint64_t word = 1;
	int pipes[2], i;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	for (i = 0; i < 2; i++) {
		int fd = i ? pipes[0] : -1, wrong = i ? ENOTTY : EBADF;

		assert_fails(perfev_raw_enable(fd, 0), wrong);
		assert_fails(perfev_raw_disable(fd, 0), wrong);
		assert_fails(perfev_raw_refresh(fd, 1), wrong);
		assert_fails(perfev_raw_reset(fd, 0), wrong);
		assert_fails(perfev_raw_period(fd, &word), wrong);
		assert_fails(perfev_raw_set_output(fd, -1), wrong);
		assert_fails(perfev_raw_set_filter(fd, "1"), wrong);
		assert_fails(perfev_raw_id(fd, &word), wrong);
		assert_fails(perfev_raw_set_bpf(fd, 0), wrong);
		assert_fails(perfev_raw_pause_output(fd, 1), wrong);
		memset(&query, 0, sizeof(query));
		assert_fails(perfev_raw_query_bpf(fd, &query), wrong);
		assert_fails(perfev_raw_modify_attributes(fd, &attr), wrong);
	}
	close(pipes[0]);
	close(pipes[1]);
}

/* ---- ID -------------------------------------------------------------------------------------- */

static void test_ids(void **state)
{
	struct perf_event_attr attr = faults(0);
	uint64_t words[2], first = 0, second = 0;
	int a, b;

	(void)state;
	attr.read_format = PERF_FORMAT_ID;
	a = open_on_self(attr, -1);
	b = open_on_self(attr, -1);
	assert_int_equal(perfev_raw_id(a, &first), 0);
	assert_int_equal(perfev_raw_id(b, &second), 0);
	assert_true(first != 0 && second != 0 && first != second);
	assert_int_equal(perfev_raw_read(a, words, sizeof(words)), sizeof(words));
	assert_true(words[1] == first);
	assert_fails(perfev_raw_id(a, NULL), EFAULT);
	perfev_raw_close(a);
	perfev_raw_close(b);
}

/* ---- PERIOD ---------------------------------------------------------------------------------- */

/* The kernel reads 64 bits at an address: the spacing of samples changes. */
static void test_periods(void **state)
{
	struct perf_event_attr attr = faults(100);
	struct perf_event_mmap_page *page;
	uint64_t period = 10;
	int fd = open_on_self(attr, -1);

	(void)state;
	assert_int_equal(perfev_raw_mmap(&page, fd, PAGE, true), 0);
	perfev_raw_enable(fd, 0);
	touch_pages(1000);
	assert_in_range(drain(page).samples, 10, 11);
	assert_int_equal(perfev_raw_period(fd, &period), 0);
	touch_pages(1000); /* the first may still come after the old period */
	assert_in_range(drain(page).samples, 91, 102);
	perfev_raw_disable(fd, 0);
	period = 0;
	assert_fails(perfev_raw_period(fd, &period), EINVAL);
	period = UINT64_C(1) << 63;
	assert_fails(perfev_raw_period(fd, &period), EINVAL);
	assert_fails(perfev_raw_period(fd, NULL), EFAULT);
	assert_int_equal(perfev_raw_munmap(page, PAGE), 0);
	perfev_raw_close(fd);
	fd = open_on_self(faults(0), -1); /* which does not sample */
	period = 10;
	assert_fails(perfev_raw_period(fd, &period), EINVAL);
	perfev_raw_close(fd);
}

static void test_frequencies(void **state)
{
	struct perf_event_attr attr = faults(0);
	struct perfev_system system;
	uint64_t hz = 100;
	int fd;

	(void)state;
	attr.freq = 1;
	attr.sample_freq = 50;
	fd = open_on_self(attr, -1);
	assert_int_equal(perfev_raw_period(fd, &hz), 0);
	perfev_system_read(&system);
	if (system.max_sample_rate < 1)
		SKIP("perf_event_max_sample_rate is not to be read");
	hz = (uint64_t)system.max_sample_rate + 1;
	assert_fails(perfev_raw_period(fd, &hz), EINVAL);
	perfev_raw_close(fd);
}

/* ---- REFRESH --------------------------------------------------------------------------------- */

static void test_refresh(void **state)
{
	struct perf_event_mmap_page *page;
	struct perf_event_attr attr = faults(1);
	struct pollfd waits;
	int fd = open_on_self(attr, -1);

	(void)state;
	assert_int_equal(perfev_raw_mmap(&page, fd, PAGE, true), 0);
	assert_int_equal(perfev_raw_refresh(fd, 3), 0);
	touch_pages(50);
	assert_in_range(drain(page).samples, 3, 4); /* then it stopped, by an interrupt */
	waits.fd = fd;
	waits.events = POLLIN;
	assert_int_equal(poll(&waits, 1, 0), 1);
	assert_true(waits.revents & POLLIN);
	touch_pages(50);
	assert_int_equal(drain(page).samples, 0);
	assert_int_equal(perfev_raw_refresh(fd, 2), 0);
	touch_pages(50);
	assert_in_range(drain(page).samples, 2, 3);
	perfev_raw_disable(fd, 0);
	perfev_raw_munmap(page, PAGE);
	perfev_raw_close(fd);
	fd = open_on_self(faults(0), -1);
	assert_fails(perfev_raw_refresh(fd, 1), EINVAL); /* does not sample */
	perfev_raw_close(fd);
	attr.inherit = 1;
	fd = open_on_self(attr, -1);
	assert_fails(perfev_raw_refresh(fd, 1), EINVAL);
	perfev_raw_close(fd);
}

/* ---- prctl ----------------------------------------------------------------------------------- */

static void test_all_of_this_thread(void **state)
{
	int a = open_on_self(faults(0), -1), b = open_on_self(faults(0), -1);

	(void)state;
	assert_int_equal(perfev_raw_task_enable(), 0);
	touch_pages(10);
	assert_int_equal(perfev_raw_task_disable(), 0);
	touch_pages(10);
	assert_int_equal(count_of(a), 10);
	assert_int_equal(count_of(b), 10);
	perfev_raw_close(a);
	perfev_raw_close(b);
}

/* ---- nothing is left ------------------------------------------------------------------------- */

static void test_nothing_is_left_behind(void **state)
{
	size_t before = count_descriptors(), mappings = count_mappings("perf_event"), i;

	(void)state;
	for (i = 0; i < 50; i++) {
		struct perf_event_attr attr = faults(1);
		struct perf_event_mmap_page *page;
		int fd = open_on_self(attr, -1);

		assert_int_equal(perfev_raw_mmap(&page, fd, PAGE, true), 0);
		assert_int_equal(perfev_raw_munmap(page, PAGE), 0);
		perfev_raw_close(fd);
	}
	assert_int_equal(count_descriptors(), before);
	assert_int_equal(count_mappings("perf_event"), mappings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errnos_of_open),
		cmocka_unit_test(test_a_size_that_this_kernel_does_not_know),
		cmocka_unit_test(test_the_member_is_named),
		cmocka_unit_test(test_flags_of_open),
		cmocka_unit_test(test_start_stop_reset),
		cmocka_unit_test(test_a_whole_group),
		cmocka_unit_test(test_a_group_that_changes),
		cmocka_unit_test(test_every_read_format),
		cmocka_unit_test(test_descriptors_of_something_else),
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_periods),
		cmocka_unit_test(test_frequencies),
		cmocka_unit_test(test_refresh),
		cmocka_unit_test(test_all_of_this_thread),
		cmocka_unit_test(test_nothing_is_left_behind),
	};

	alarm(60); /* a kernel that hangs ends the program, not the run */
	return cmocka_run_group_tests_name("raw", tests, NULL, NULL);
}
