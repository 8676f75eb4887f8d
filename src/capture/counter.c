/* SPDX-License-Identifier: MIT */
/*
 * Counters: one event, one descriptor, and perhaps its page.
 *
 * The page is of use to the thread that is counted, and to nobody else: the kernel writes it on the CPU where
 * that thread runs, and the number in it is of that CPU's counters. A copy of the event that a child inherits
 * has no page, so that an inherited event is read by the kernel, which adds them.
 */
#include "counter.h"
#include "open.h"
#include "reading.h"

#include "base/error.h"
#include "base/opts.h"
#include "kernel/sys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Thread_local char counter_here;

int counter_check(const struct perfev_event *event, const struct perfev_target *on,
		  struct perfev_error *err)
{
	bool one = on->id_count == 0 && on->cpu_count == 0 && on->kind != PERFEV_TARGET_PROCESS;
	int r = plan_check_target(event->name, on, err);

	if (r < 0)
		return r;
	if (event->tool)
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot open %s: it is a time that perfev stat takes, and no event; use "
				 "clock_gettime() or getrusage()",
				 event->name);
	if (one && on->kind == PERFEV_TARGET_TASK)
		return plan_check_task(event->name, on->id, err);
	if (one && on->cpu >= 0)
		return 0;
	return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
			 "cannot open %s as one counter: the target needs several descriptors; use "
			 "perfev_set_open()",
			 event->name);
}

/* arm64 gives a program only the counters of events that ask for it. */
static void ask_for_user_reads(struct perf_event_attr *attr)
{
#ifdef __aarch64__
	if (attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE || attr->type == PERF_TYPE_RAW)
		attr->config1 |= 2; /* "rdpmc" in the format of every armv8 PMU */
#else
	(void)attr;
#endif
}

/* Two pages: the counter ends the first, and the second is for the event's. */
static struct perfev_counter *new_paged(void)
{
	size_t page = sys_page_size();
	struct perfev_counter *counter;
	void *pages;

	if (sys_pages(&pages, 2 * page) < 0)
		return NULL;
	counter = (void *)((char *)pages + page - sizeof(*counter));
	counter->pages = pages;
	counter->pid = sys_pid();
	return counter;
}

/* What fails here is told when somebody asks: the counter itself is well. */
static void map_page(struct perfev_counter *counter)
{
	const struct perfev_target *on = &counter->on;
	void *page = &((struct counter_paged *)(void *)counter)->page;

	counter->page_code = sys_mmap_over(page, sys_page_size(), counter->fd);
	if (counter->page_code < 0) {
		counter->pages_gone = true;
		return;
	}
	counter->page = page;
	if (on->kind == PERFEV_TARGET_TASK && (on->id == 0 || on->id == sys_tid()))
		*(counter->bound ? &counter->bound_thread : &counter->thread) = counter_thread();
}

/* With an output at once, where it can be: else what does not fit is found by telling it afterwards. */
static int open_descriptor(struct perfev_counter *counter, int leader_fd, const struct perfev_counter_opts *opts,
			   struct perfev_error *err)
{
	const struct perfev_target *on = &counter->on;
	struct open_request request = {counter->event,
				       &counter->attr,
				       on->kind == PERFEV_TARGET_CPU ? -1 : on->id,
				       on->cpu,
				       leader_fd,
				       opts->output && leader_fd < 0 ? opts->output->fd : -1,
				       on->kind == PERFEV_TARGET_CGROUP,
				       opts->may_drop,
				       1};
	bool after = opts->output && leader_fd >= 0;

	counter->fd = open_event(&request, &counter->dropped, err);
	if (counter->fd < 0 && request.output_fd >= 0) {
		request.output_fd = -1;
		counter->fd = open_event(&request, &counter->dropped, err);
		after = true;
	}
	if (counter->fd < 0)
		return counter->fd;
	return after ? perfev_counter_set_output(counter, opts->output, err) : 0;
}

int counter_open(struct perfev_counter **ret, const struct perfev_event *event, uint64_t format,
		 int leader_fd, const struct perfev_target *on, const struct perfev_counter_opts *opts,
		 struct perfev_error *err)
{
	bool paged = opts->user_read && !event->attr.inherit;
	struct perfev_counter *counter = paged ? new_paged() : calloc(1, sizeof(*counter));
	int r;

	if (!counter)
		return error_memory(err);
	counter->fd = -1;
	counter->on = *on;
	counter->bound = on->kind == PERFEV_TARGET_TASK && on->cpu >= 0;
	counter->user_read = opts->user_read;
	r = perfev_event_copy(&counter->event, event, err);
	if (r == 0) {
		counter->attr = counter->event->attr;
		counter->attr.read_format &= ~(uint64_t)PERF_FORMAT_GROUP;
		counter->attr.read_format |= READING_FORMAT | format;
		if (leader_fd >= 0)
			counter->attr.disabled = 0;
		counter->started = !counter->attr.disabled;
		if (counter->user_read)
			ask_for_user_reads(&counter->attr);
		r = open_descriptor(counter, leader_fd, opts, err);
	}
	if (r < 0) {
		counter_close(counter);
		return r;
	}
	if (paged)
		map_page(counter);
	*ret = counter;
	return 0;
}

int perfev_counter_open(struct perfev_counter **ret, const struct perfev_event *event,
			struct perfev_target on, const struct perfev_counter_opts *opts,
			struct perfev_error *err)
{
	struct perfev_counter_opts full;
	int r = opts_copy(&full, sizeof(full), opts, err);

	if (r == 0)
		r = counter_check(event, &on, err);
	return r < 0 ? r : counter_open(ret, event, 0, -1, &on, &full, err);
}

/* All but the descriptor. In a child there may be something else in the place of the page that it has not. */
static void forget(struct perfev_counter *counter)
{
	bool both = counter->pid == sys_pid() && !counter->pages_gone;

	perfev_event_free(counter->event);
	if (counter->pages)
		sys_munmap(counter->pages, (both ? 2 : 1) * sys_page_size());
	else
		free(counter);
}

void counter_close(struct perfev_counter *counter)
{
	if (!counter)
		return;
	sys_close(counter->fd);
	forget(counter);
}

void perfev_counter_close(struct perfev_counter *counter)
{
	if (counter && !counter->member)
		counter_close(counter);
}

int perfev_counter_release(struct perfev_counter *counter)
{
	int fd = counter->fd;

	if (counter->member)
		return -EBUSY;
	forget(counter);
	return fd;
}

int perfev_counter_read(const struct perfev_counter *counter, struct perfev_reading *ret,
			struct perfev_error *err)
{
	int r = counter->attr.read_format & PERF_FORMAT_GROUP
			? reading_take_leader(ret, counter->fd, &counter->attr)
			: reading_take(ret, counter->fd, &counter->attr);

	if (counter->bound && r == 0)
		reading_bind(ret);
	return r < 0 ? error_errno(err, r, "cannot read %s", counter->event->name) : 0;
}

int perfev_counter_fd(const struct perfev_counter *counter)
{
	return counter->fd;
}

uint32_t perfev_counter_dropped(const struct perfev_counter *counter)
{
	return counter->dropped;
}

const struct perf_event_attr *perfev_counter_attr(const struct perfev_counter *counter)
{
	return &counter->attr;
}

int perfev_counter_id(const struct perfev_counter *counter, uint64_t *ret, struct perfev_error *err)
{
	struct perfev_reading reading;
	int r = sys_ioctl(counter->fd, PERF_EVENT_IOC_ID, (unsigned long)(uintptr_t)ret);

	if (r != -ENOTTY)
		return r < 0 ? error_errno(err, r, "cannot tell the id of %s", counter->event->name) : 0;
	r = perfev_counter_read(counter, &reading, err); /* older than 3.12 */
	if (r == 0)
		*ret = reading.id;
	return r;
}
