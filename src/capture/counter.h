/* SPDX-License-Identifier: MIT */
/* A counter as it is inside: groups open them too, and reads without the kernel look into them. */
#ifndef CAPTURE_COUNTER_H
#define CAPTURE_COUNTER_H

#include "event.h"

#include <perfev/counter.h>

#include <stddef.h>

struct perfev_counter {
	const void *thread;		     /* whose counter it is: counter_thread(); NULL: read by the kernel */
	const void *bound_thread;	     /* the same of a bound one, whose times are no two */
	struct perf_event_mmap_page *page; /* NULL: not mapped; else that of struct counter_paged */
	struct perfev_event *event;	     /* a copy: its attr may point to texts that it owns */
	struct perf_event_attr attr;	     /* as opened, with what was changed since */
	int fd;
	int page_code; /* why it was not mapped: a negative errno, or 0 */
	void *pages;   /* where it is a struct counter_paged, which ends with them */
	int pid;       /* that has mapped: a child made by fork(2) has the first of the two only */
	uint32_t dropped;
	struct perfev_target on;
	bool bound;	/* of a task, on one CPU */
	bool user_read; /* was asked for */
	bool pages_gone; /* the second of its pages: the event refused to be there */
	bool started;	/* by perfev_counter_start() or _refresh(), and not stopped */
	bool refreshed; /* may have run out, and then may need to be woken */
	bool member;	/* of a group, which closes it */
};

/* A counter that was opened with opts.user_read: its page is behind it, so that reads need not look where. */
struct counter_paged {
	struct perfev_counter counter;
	struct perf_event_mmap_page page;
};
_Static_assert(offsetof(struct counter_paged, page) == sizeof(struct perfev_counter), "nothing between");

/* counter_open() - @attr_format: PERF_FORMAT_* to add; @leader_fd: -1 none. Checks nothing. */
int counter_open(struct perfev_counter **ret, const struct perfev_event *event, uint64_t format,
		 int leader_fd, const struct perfev_target *on, const struct perfev_counter_opts *opts,
		 struct perfev_error *err);
/* counter_close() - also of a member */
void counter_close(struct perfev_counter *counter);
/* counter_check() - whether a target is one descriptor, and the event one to open */
int counter_check(const struct perfev_event *event, const struct perfev_target *on,
		  struct perfev_error *err);

/* Where each thread has its own; of use where a compiler cannot tell the thread's pointer. */
extern _Thread_local char counter_here;

/* counter_thread() - something that differs between the threads that run now, without asking the kernel.
 * The next thread may have what an ended one had: but the events of that one have no counter any more. */
static inline const void *counter_thread(void)
{
#if defined(__has_builtin) && (defined(__x86_64__) || defined(__aarch64__) || defined(__riscv))
#if __has_builtin(__builtin_thread_pointer)
#define COUNTER_HAS_THREAD 1
#endif
#endif
#ifdef COUNTER_HAS_THREAD
	return __builtin_thread_pointer();
#else
	return &counter_here;
#endif
}

#endif
