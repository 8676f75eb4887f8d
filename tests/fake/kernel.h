/* SPDX-License-Identifier: MIT */
/*
 * A kernel for tests: it stands behind src/kernel/sys.h in place of the real one. Files are a table,
 * events are structs that a test looks at and changes, time passes when somebody waits. It has the
 * real one's rules where the library must know them: what can be mapped, what can share a ring.
 */
#ifndef TESTS_FAKE_KERNEL_H
#define TESTS_FAKE_KERNEL_H

#include "kernel/sys.h"

#include "ring.h"

#define FAKE_EVENTS 4096
#define FAKE_PAGE   4096

struct fake_event {
	bool open;
	int fd;
	struct perf_event_attr attr; /* as given */
	pid_t pid;
	int cpu, group_fd;
	unsigned long flags;
	bool enabled;
	uint64_t id;
	uint64_t count, enabled_ns, running_ns, lost; /* what read(2) gives */
	int read_result; /* not 0: what read(2) returns; FAKE_EMPTY: no bytes */
	bool hung_up;	 /* its task has ended */
	struct perf_event_mmap_page *page; /* NULL: not mapped */
	size_t mapped;
	struct fake_ring ring; /* its own */
	size_t aux_mapped;     /* bytes; 0: not */
	int output; /* the descriptor whose ring it writes to; -1: its own */
	bool ready; /* a wake-up that nobody has seen */
	uint32_t interrupts; /* samples since the last tick */
	bool throttled;
	int budget; /* of refreshes */
	int signal; /* of overflows; 0 none */
	pid_t signal_tid;
	int bpf_fd;	   /* 0 none */
	int told, periods; /* ioctls; those of the period */
};

#define FAKE_EMPTY 1

struct fake {
	struct fake_event events[FAKE_EVENTS]; /* in the order of opening; closed ones stay */
	int event_count;
	int opened, closed; /* descriptors of any kind */
	uint32_t aux_type;   /* of the PMU that traces; 0: none does */
	uint32_t samples_per_tick; /* more than that throttle an event; 0: no limit */
	int maps, unmaps;
	int open_files_max;   /* 0: no limit */
	int null_attr_result; /* of a NULL attr; 0: -EFAULT */
	size_t read_most;     /* bytes that one read of a file gives; 0: no limit */
	uint32_t uid;
	int32_t pid, tid; /* tid 0: the same */
	int all;	  /* what prctl(2) said last: 1 enable, -1 disable; 0 nothing */
	int all_result;
	uint32_t bpf_ids[64]; /* on every tracepoint */
	uint32_t bpf_count;
	const char *release; /* NULL: another */
	uint64_t files_soft, files_hard, memlock_soft, memlock_hard;
	int64_t now_ms;
	int waits;	     /* calls of epoll_wait */
	unsigned poll_answer; /* not 0: what every descriptor says, 1 in, 2 hung up, 4 error; together too */
	size_t page_size;     /* 0: FAKE_PAGE */
	bool no_data_offset;  /* pages of rings do not say where the data are, as before 4.1 */
	int wait_result;     /* not 0: what the next one returns, once */
	/* may refuse: a negative errno, and may change attr->size; NULL or 0: opened */
	int (*on_open)(struct fake_event *event, struct perf_event_attr *attr);
	int (*on_map)(struct fake_event *event, size_t size);
	int (*on_ioctl)(struct fake_event *event, unsigned request, unsigned long argument);
	void (*on_wait)(int timeout_ms);
	void (*on_read)(void); /* before an event is read: time goes on */
	int (*on_append)(const char *path, const char *text); /* NULL: there is no such file */
	/* the names in a folder, separated by spaces; NULL: those that the table of files tells */
	const char *(*on_list)(const char *path);
};

extern struct fake fake;

/* fake_reset() - an empty machine: no files, no events, a user without rights */
void fake_reset(void);
/* fake_file() - a file that has this text; a second one of the same path takes its place */
void fake_file(const char *path, const char *text);
/* fake_error() - a file that cannot be read */
void fake_error(const char *path, int error);
void fake_remove(const char *path);
/* fake_owner() - whose a file or folder is */
void fake_owner(const char *path, uint32_t uid);
/* fake_left() - descriptors and mappings that were not given back */
int fake_left(void);
struct fake_event *fake_event_of(int fd);
/* fake_write() - put a record into the ring that the event writes to, as the kernel does; false when it is dropped:
 * then it counts as lost (PERF_FORMAT_LOST), and the next record comes behind a LOST record */
bool fake_write(struct fake_event *event, const void *record, size_t size);
/* fake_sample() - the same of a sample of an event that is on: too many between two ticks throttle it, with a THROTTLE
 * record before the one that was too many; false when there is no record */
bool fake_sample(struct fake_event *event, const void *record, size_t size);
/* fake_tick() - the timer's tick: events that were throttled go on, with an UNTHROTTLE record */
void fake_tick(void);
/* fake_trace() - data of an event that traces into its AUX area; returns the bytes that had room. When it was not all, the
 * event is off until it is enabled again. */
size_t fake_trace(struct fake_event *event, const void *bytes, size_t size, uint64_t flags);
/* fake_process() - the files of /proc for a process; @threads: their numbers, separated by spaces */
void fake_process(int pid, int parent, const char *name, const char *threads);

#endif
