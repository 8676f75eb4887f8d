/* SPDX-License-Identifier: MIT */
/* Events by the raw layer: of the calling thread, their counts and rings; and calls by a user without rights. */
#ifndef TESTS_LIVE_RAW_H
#define TESTS_LIVE_RAW_H

#include "live.h"

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

/* At most so many samples of 10 or 15 pages: code that runs for the first time makes faults too. */
#define SOME 19

static inline struct perf_event_attr faults(uint64_t period)
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

static inline int open_on_self(struct perf_event_attr attr, int group_fd)
{
	int fd = perfev_raw_open(&attr, 0, -1, group_fd, PERF_FLAG_FD_CLOEXEC);

	if (fd == -EACCES || fd == -EPERM || fd == -ENOSYS)
		SKIP("perf_event_open of a software event is refused here (errno %d)", -fd);
	if (fd < 0)
		fail_msg("errno %d", -fd);
	return fd;
}

static inline uint64_t count_of(int fd)
{
	uint64_t count = UINT64_MAX;

	assert_int_equal(perfev_raw_read(fd, &count, sizeof(count)), sizeof(count));
	return count;
}

/* What a call returns to a user without rights; skips when this user cannot become one. */
static inline int as_nobody(int (*call)(int fd), int fd)
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

static inline struct tally drain(struct perf_event_mmap_page *page)
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

#endif
