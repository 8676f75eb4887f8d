/* SPDX-License-Identifier: MIT */
/*
 * The raw layer on this kernel: every request with what it does and what it is refused, each on the
 * kind of event that it needs. Whatever this user or machine lacks is a skip that names it.
 *
 * Requests that count overflows are not tried on clocks: Linux 6.16 and 6.17 can hang there.
 */
#include "live.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

/* At most so many samples of 10 or 15 pages: code that runs for the first time makes faults too. */
#define SOME 19

static struct perf_event_attr faults(uint64_t period)
{
	struct perf_event_attr attr =
		perfev_raw_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);

	attr.disabled = 1;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.sample_period = period;
	attr.sample_type = period ? PERF_SAMPLE_ADDR : 0;
	attr.wakeup_events = 1;
	return attr;
}

static int open_on_self(struct perf_event_attr attr, int group_fd)
{
	int fd = perfev_raw_open(&attr, 0, -1, group_fd, PERF_FLAG_FD_CLOEXEC);

	if (fd == -EACCES || fd == -EPERM || fd == -ENOSYS)
		SKIP("perf_event_open of a software event is refused here (errno %d)", -fd);
	if (fd < 0)
		fail_msg("errno %d", -fd);
	return fd;
}

static uint64_t count_of(int fd)
{
	uint64_t count = UINT64_MAX;

	assert_int_equal(perfev_raw_read(fd, &count, sizeof(count)), sizeof(count));
	return count;
}

/* What a call returns to a user without rights; skips when this user cannot become one. */
static int as_nobody(int (*call)(int fd), int fd)
{
	pid_t child = fork();
	int status = 0;

	assert_true(child >= 0);
	if (!child) {
		if (setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0)
			_exit(255);
		_exit(-call(fd) & 0xff);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 255)
		SKIP("this user cannot become another one");
	return -WEXITSTATUS(status);
}

/* ---- records of a ring, without the library's help ------------------------------------------- */

struct tally {
	unsigned samples, lost, others;
};

static struct tally drain(struct perf_event_mmap_page *page)
{
	const unsigned char *data = (const unsigned char *)page + page->data_offset;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), at = page->data_tail;
	struct tally tally = {0, 0, 0};

	while (at < head) {
		struct perf_event_header header;

		memcpy(&header, data + at % page->data_size, sizeof(header));
		assert_true(header.size >= sizeof(header));
		if (header.type == PERF_RECORD_SAMPLE)
			tally.samples++;
		else if (header.type == PERF_RECORD_LOST)
			tally.lost++;
		else
			tally.others++;
		at += header.size;
	}
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
	return tally;
}

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

/* ---- SET_OUTPUT, PAUSE_OUTPUT ---------------------------------------------------------------- */

/* 32 bits on a kernel of 64. */
static bool narrow_program(void)
{
	struct utsname names;
	unsigned abi;

	assert_int_equal(uname(&names), 0);
	perfev_arch_of(names.machine, &abi);
	return sizeof(long) == 4 && abi == PERF_SAMPLE_REGS_ABI_64;
}

static void test_one_ring_for_two(void **state)
{
	struct perf_event_mmap_page *page;
	int ring = open_on_self(faults(1), -1), other = open_on_self(faults(1), -1);

	(void)state;
	assert_fails(perfev_raw_set_output(other, ring), EINVAL); /* it has no ring yet */
	assert_int_equal(perfev_raw_mmap(&page, ring, 8 * PAGE, true), 0);
	assert_int_equal(perfev_raw_set_output(other, ring), 0);
	perfev_raw_enable(other, 0);
	touch_pages(10);
	assert_in_range(drain(page).samples, 10, SOME);
	if (narrow_program()) {
		assert_fails(perfev_raw_set_output(other, -1), EBADF);
	} else {
		assert_int_equal(perfev_raw_set_output(other, -1), 0);
		drain(page);
		touch_pages(10);
		assert_int_equal(drain(page).samples, 0);
	}
	perfev_raw_disable(other, 0);
	assert_fails(perfev_raw_set_output(ring, ring), EINVAL);
	assert_fails(perfev_raw_set_output(other, STDIN_FILENO), EBADF);
	assert_fails(perfev_raw_set_output(other, 1000000), EBADF);
	assert_int_equal(perfev_raw_set_output(other, ring), 0);
	assert_fails(perfev_raw_set_output(ring, other), EINVAL); /* it has a ring of its own */
	perfev_raw_munmap(page, 8 * PAGE);
	perfev_raw_close(other);
	perfev_raw_close(ring);
}

static void test_pause(void **state)
{
	struct perf_event_mmap_page *page;
	struct perf_event_attr attr = faults(1);
	struct tally tally;
	int fd = open_on_self(attr, -1), bare = open_on_self(attr, -1);

	(void)state;
	assert_fails(perfev_raw_pause_output(bare, 1), EINVAL); /* no ring */
	assert_int_equal(perfev_raw_mmap(&page, fd, 8 * PAGE, true), 0);
	perfev_raw_enable(fd, 0);
	touch_pages(10);
	assert_int_equal(perfev_raw_pause_output(fd, 1), 0);
	touch_pages(20);
	assert_int_equal(perfev_raw_pause_output(fd, 0), 0);
	touch_pages(5);
	perfev_raw_disable(fd, 0);
	tally = drain(page);
	assert_in_range(tally.samples, 15, SOME);
	assert_int_equal(tally.lost, 1);
	assert_true(count_of(fd) >= tally.samples + 20);
	perfev_raw_munmap(page, 8 * PAGE);
	perfev_raw_close(fd);
	perfev_raw_close(bare);
}

/* ---- mappings -------------------------------------------------------------------------------- */

static void test_mappings(void **state)
{
	struct perf_event_attr attr = faults(1);
	struct perf_event_mmap_page *page, *same;
	size_t before = count_mappings("perf_event");
	void *aux;
	int fd = open_on_self(attr, -1);

	(void)state;
	assert_fails(perfev_raw_mmap(&page, fd, 3 * PAGE, true), EINVAL);
	assert_fails(perfev_raw_mmap(&page, fd, SIZE_MAX, true), EINVAL);
	assert_int_equal(perfev_raw_mmap(&page, fd, 4 * PAGE, true), 0);
	assert_int_equal(page->data_offset, PAGE);
	assert_int_equal(page->data_size, 4 * PAGE);
	assert_int_equal(page->version, 0);
	assert_fails(perfev_raw_mmap(&same, fd, 8 * PAGE, true), EINVAL); /* of another size */
	assert_int_equal(perfev_raw_mmap(&same, fd, 4 * PAGE, true), 0);
	assert_int_equal(perfev_raw_munmap(same, 4 * PAGE), 0);
	assert_int_equal(perfev_raw_mmap_aux(&aux, fd, page, PAGE, true), -EOPNOTSUPP);
	assert_int_equal(page->aux_offset, 5 * PAGE);
	assert_int_equal(perfev_raw_munmap(page, 4 * PAGE), 0);
	perfev_raw_close(fd);
	fd = open_on_self(attr, -1);
	assert_int_equal(perfev_raw_mmap(&page, fd, 0, true), 0); /* the page alone */
	assert_fails(perfev_raw_mmap_aux(&aux, fd, page, PAGE, true), EINVAL);
	assert_int_equal(perfev_raw_munmap(page, 0), 0);
	perfev_raw_close(fd);
	attr.inherit = 1;
	fd = open_on_self(attr, -1);
	assert_fails(perfev_raw_mmap(&page, fd, PAGE, true), EINVAL);
	perfev_raw_close(fd);
	assert_int_equal(count_mappings("perf_event"), before);
}

static int map_much(int fd)
{
	struct perf_event_mmap_page *page;

	return perfev_raw_mmap(&page, fd, (size_t)64 << 20, true);
}

static void test_locked_memory(void **state)
{
	int fd = open_on_self(faults(1), -1);
	struct perfev_system system;

	(void)state;
	perfev_system_read(&system);
	if (system.paranoid == -1)
		SKIP("perf_event_paranoid is -1: rings have no limit");
	assert_int_equal(as_nobody(map_much, fd), -EPERM);
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

/* ---- MODIFY_ATTRIBUTES ----------------------------------------------------------------------- */

static volatile int watched[2];

static struct perf_event_attr watch(volatile int *at)
{
	struct perf_event_attr attr = perfev_raw_attr(PERF_TYPE_BREAKPOINT, 0);

	attr.bp_type = HW_BREAKPOINT_W;
	attr.bp_len = HW_BREAKPOINT_LEN_4;
	attr.bp_addr = (uint64_t)(uintptr_t)at;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	return attr;
}

static int open_breakpoint(struct perf_event_attr attr)
{
	int fd = perfev_raw_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd == -ENOENT || fd == -ENODEV || fd == -EOPNOTSUPP || fd == -ENOSPC || fd == -EACCES ||
	    (fd == -EINVAL && attr.bp_type == HW_BREAKPOINT_W)) /* older ARMs do not tell writes from reads */
		SKIP("no breakpoint can be set here (errno %d)", -fd);
	assert_true(fd >= 0);
	return fd;
}

PLAIN static void write_to(volatile int *at, int times)
{
	int i;

	for (i = 0; i < times; i++)
		*at = i;
}

static void test_moving_a_breakpoint(void **state)
{
	struct perf_event_attr attr = watch(&watched[0]);
	int fd = open_breakpoint(attr), other;

	(void)state;
	write_to(&watched[0], 100);
	write_to(&watched[1], 7);
	assert_int_equal(count_of(fd), 100);
	attr.bp_addr = (uint64_t)(uintptr_t)&watched[1];
	assert_int_equal(perfev_raw_modify_attributes(fd, &attr), 0);
	write_to(&watched[0], 100);
	write_to(&watched[1], 7);
	assert_int_equal(count_of(fd), 107);
	attr.type = PERF_TYPE_SOFTWARE;
	assert_fails(perfev_raw_modify_attributes(fd, &attr), EINVAL);
	attr = watch(&watched[1]);
	attr.exclude_user = 1; /* not one of those that may change */
	assert_fails(perfev_raw_modify_attributes(fd, &attr), EINVAL);
	assert_fails(perfev_raw_modify_attributes(fd, NULL), EFAULT);
	perfev_raw_close(fd);
	attr = faults(0);
	other = open_on_self(attr, -1);
	assert_fails(perfev_raw_modify_attributes(other, &attr), EOPNOTSUPP);
	perfev_raw_close(other);
}

PLAIN static void run_into_it(void)
{
	__asm__ volatile("" ::: "memory");
}

/* On x86 the length is that of a long of the kernel, whatever the program's is. */
static void test_the_length_of_a_breakpoint_on_code(void **state)
{
	struct perf_event_attr attr = perfev_raw_attr(PERF_TYPE_BREAKPOINT, 0);
	struct utsname names;
	unsigned abi;
	int fd, i;

	(void)state;
	assert_int_equal(uname(&names), 0);
	if (perfev_arch_of(names.machine, &abi) != PERFEV_ARCH_X86)
		SKIP("its length is another one on each architecture; this one is not x86");
	attr.bp_type = HW_BREAKPOINT_X;
	attr.bp_addr = (uint64_t)(uintptr_t)&run_into_it;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.bp_len = abi == PERF_SAMPLE_REGS_ABI_64 ? HW_BREAKPOINT_LEN_4 : HW_BREAKPOINT_LEN_8;
	assert_fails(perfev_raw_open(&attr, 0, -1, -1, 0), EINVAL);
	attr.bp_len = abi == PERF_SAMPLE_REGS_ABI_64 ? HW_BREAKPOINT_LEN_8 : HW_BREAKPOINT_LEN_4;
	fd = open_breakpoint(attr);
	for (i = 0; i < 5; i++)
		run_into_it();
	assert_int_equal(count_of(fd), 5);
	perfev_raw_close(fd);
}

/* It is modified with a size of its own, which the kernel corrects like that of an open. */
static void test_modifying_with_a_new_member(void **state)
{
	struct perf_event_attr attr = watch(&watched[0]);
	int fd = open_breakpoint(attr), knows = perfev_raw_attr_size();

	(void)state;
	if (knows < 0 || knows >= PERF_ATTR_SIZE_VER9)
		SKIP("this kernel knows the whole attr: no member is refused");
	attr.config4 = 1;
	assert_fails(perfev_raw_modify_attributes(fd, &attr), E2BIG);
	assert_int_equal(attr.size, knows);
	assert_string_equal(perfev_raw_unknown(&attr, sizeof(attr)), "config4");
	perfev_raw_close(fd);
}

/* ---- SET_FILTER, SET_BPF, QUERY_BPF ---------------------------------------------------------- */

/* The id of a tracepoint, from tracefs; where that is not mounted, from a mount of this process. */
static uint64_t tracepoint(const char *name)
{
	static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	char path[256], text[32] = "";
	int fd = -1, mounted;
	size_t i;

	for (mounted = 0; mounted < 2 && fd < 0; mounted++) {
		if (mounted && (unshare(CLONE_NEWNS) < 0 ||
				mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
				mount("tracefs", places[0], "tracefs", 0, NULL) < 0))
			SKIP("tracefs is not mounted, and this user cannot mount it");
		for (i = 0; i < 2 && fd < 0; i++) {
			snprintf(path, sizeof(path), "%s/events/%s/id", places[i], name);
			fd = open(path, O_RDONLY | O_CLOEXEC);
		}
	}
	if (fd < 0)
		SKIP("tracepoint %s is not to be read here", name);
	assert_true(read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	return strtoull(text, NULL, 10);
}

/* Nothing happens at it while a test runs, but when the test lets it happen. */
static int open_tracepoint(void)
{
	struct perf_event_attr attr =
		perfev_raw_attr(PERF_TYPE_TRACEPOINT, tracepoint("sched/sched_process_exit"));
	int fd = perfev_raw_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd == -EACCES || fd == -EPERM)
		SKIP("this user may not open a tracepoint");
	assert_true(fd >= 0);
	return fd;
}

static void test_filters(void **state)
{
	int fd = open_tracepoint(), other;

	(void)state;
	assert_fails(perfev_raw_set_filter(fd, "no_such_field == 1"), EINVAL);
	assert_fails(perfev_raw_set_filter(fd, "prio <"), EINVAL);
	assert_fails(perfev_raw_set_filter(fd, NULL), EFAULT);
	assert_int_equal(perfev_raw_set_filter(fd, "prio < 5"), 0);
	assert_fails(perfev_raw_set_filter(fd, "prio < 6"), EEXIST);
	perfev_raw_close(fd);
	other = open_on_self(faults(0), -1);
	assert_fails(perfev_raw_set_filter(other, "prio < 5"), EINVAL);
	perfev_raw_close(other);
}

/* A BPF program that returns a number, and does nothing else. */
static int bpf_program(enum bpf_prog_type type, int32_t result)
{
	struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = result},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = type;
	attr.insn_cnt = 2;
	attr.insns = (uint64_t)(uintptr_t)code;
	attr.license = (uint64_t)(uintptr_t) "GPL";
	fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (fd < 0)
		SKIP("no BPF program can be loaded here (errno %d)", errno);
	return fd;
}

/* One that returns 0 keeps samples from the ring. */
static void test_bpf_on_a_counter(void **state)
{
	struct perf_event_mmap_page *page;
	int drops = bpf_program(BPF_PROG_TYPE_PERF_EVENT, 0);
	int wrong = bpf_program(BPF_PROG_TYPE_TRACEPOINT, 0);
	int fd = open_on_self(faults(1), -1);

	(void)state;
	assert_int_equal(perfev_raw_mmap(&page, fd, 8 * PAGE, true), 0);
	perfev_raw_enable(fd, 0);
	touch_pages(10);
	assert_in_range(drain(page).samples, 10, SOME);
	assert_fails(perfev_raw_set_bpf(fd, -1), EBADF);
	assert_fails(perfev_raw_set_bpf(fd, wrong), EINVAL);
	assert_int_equal(perfev_raw_set_bpf(fd, drops), 0);
	assert_fails(perfev_raw_set_bpf(fd, drops), EEXIST);
	drain(page);
	touch_pages(10);
	assert_int_equal(drain(page).samples, 0);
	perfev_raw_disable(fd, 0);
	assert_true(count_of(fd) >= 20); /* it counts all the same */
	perfev_raw_munmap(page, 8 * PAGE);
	perfev_raw_close(fd);
	close(drops);
	close(wrong);
}

#define PROGRAMS 10

static int query_programs(int fd)
{
	uint32_t *ids;

	return perfev_raw_bpf_ids(&ids, fd);
}

static void test_bpf_on_a_tracepoint(void **state)
{
	struct perf_event_query_bpf *query = calloc(1, sizeof(*query) + 65 * sizeof(uint32_t));
	int fds[PROGRAMS], programs[PROGRAMS], other;
	uint32_t *ids, i;

	(void)state;
	assert_non_null(query);
	for (i = 0; i < PROGRAMS; i++) {
		fds[i] = open_tracepoint();
		programs[i] = bpf_program(BPF_PROG_TYPE_TRACEPOINT, 1);
	}
	if (perfev_raw_bpf_ids(&ids, fds[0]) > 0) {
		free(ids);
		SKIP("others have programs on this tracepoint");
	}
	assert_null(ids);
	for (i = 0; i < PROGRAMS; i++)
		assert_int_equal(perfev_raw_set_bpf(fds[i], programs[i]), 0);
	assert_fails(perfev_raw_set_bpf(fds[0], programs[0]), EEXIST);
	query->ids_len = 4;
	assert_fails(perfev_raw_query_bpf(fds[0], query), ENOSPC);
	assert_int_equal(query->prog_cnt, PROGRAMS);
	query->ids_len = 65;
	assert_fails(perfev_raw_query_bpf(fds[0], query), E2BIG);
	assert_int_equal(perfev_raw_bpf_ids(&ids, fds[3]), PROGRAMS); /* those of the tracepoint */
	for (i = 1; i < PROGRAMS; i++)
		assert_true(ids[i] != 0 && ids[i] != ids[i - 1]);
	free(ids);
	assert_fails(perfev_raw_query_bpf(fds[0], NULL), EFAULT);
	assert_int_equal(as_nobody(query_programs, fds[0]), -EPERM);
	for (i = 0; i < PROGRAMS; i++) {
		perfev_raw_close(fds[i]);
		close(programs[i]);
	}
	other = open_on_self(faults(0), -1);
	query->ids_len = 1;
	assert_fails(perfev_raw_query_bpf(other, query), EINVAL);
	assert_fails(perfev_raw_bpf_ids(&ids, other), EINVAL);
	perfev_raw_close(other);
	free(query);
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
		cmocka_unit_test(test_one_ring_for_two),
		cmocka_unit_test(test_pause),
		cmocka_unit_test(test_mappings),
		cmocka_unit_test(test_locked_memory),
		cmocka_unit_test(test_all_of_this_thread),
		cmocka_unit_test(test_moving_a_breakpoint),
		cmocka_unit_test(test_the_length_of_a_breakpoint_on_code),
		cmocka_unit_test(test_modifying_with_a_new_member),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_bpf_on_a_counter),
		cmocka_unit_test(test_bpf_on_a_tracepoint),
		cmocka_unit_test(test_nothing_is_left_behind),
	};

	alarm(60); /* a kernel that hangs ends the program, not the run */
	return cmocka_run_group_tests_name("raw", tests, NULL, NULL);
}
