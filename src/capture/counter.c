/* SPDX-License-Identifier: MIT */
/* Counters: one event, one descriptor. */
#include "open.h"
#include "reading.h"

#include "base/error.h"
#include "base/opts.h"
#include "kernel/sys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct perfev_counter {
	struct perfev_event *event;  /* a copy: its attr may point to texts that it owns */
	struct perf_event_attr attr; /* as opened */
	int fd;
	uint32_t dropped;
};

static int check_target(const struct perfev_event *event, const struct perfev_target *on,
			struct perfev_error *err)
{
	bool one = on->id_count == 0 && on->cpu_count == 0 && on->kind != PERFEV_TARGET_PROCESS;

	if (event->tool)
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot open %s: it is a time that perfev stat takes, and no event; use "
				 "clock_gettime() or getrusage()",
				 event->name);
	if (one && (on->kind == PERFEV_TARGET_TASK || on->cpu >= 0))
		return 0;
	return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
			 "cannot open %s as one counter: the target needs several descriptors; use "
			 "perfev_set_open()",
			 event->name);
}

static int open_counter(struct perfev_counter *counter, const struct perfev_target *on,
			uint32_t may_drop, struct perfev_error *err)
{
	struct open_request request = {counter->event,
				       &counter->attr,
				       on->kind == PERFEV_TARGET_CPU ? -1 : on->id,
				       on->cpu,
				       -1,
				       on->kind == PERFEV_TARGET_CGROUP,
				       may_drop,
				       1};

	counter->attr.read_format |= READING_FORMAT;
	counter->attr.read_format &= ~(uint64_t)PERF_FORMAT_GROUP;
	counter->fd = open_event(&request, &counter->dropped, err);
	return counter->fd < 0 ? counter->fd : 0;
}

int perfev_counter_open(struct perfev_counter **ret, const struct perfev_event *event,
			struct perfev_target on, const struct perfev_counter_opts *opts,
			struct perfev_error *err)
{
	struct perfev_counter_opts full;
	struct perfev_counter *counter;
	int r = opts_copy(&full, sizeof(full), opts, err);

	if (r == 0)
		r = check_target(event, &on, err);
	if (r < 0)
		return r;
	counter = calloc(1, sizeof(*counter));
	if (!counter)
		return error_memory(err);
	counter->fd = -1;
	r = perfev_event_copy(&counter->event, event, err);
	if (r == 0) {
		counter->attr = counter->event->attr;
		r = open_counter(counter, &on, full.may_drop, err);
	}
	if (r < 0) {
		perfev_counter_close(counter);
		return r;
	}
	*ret = counter;
	return 0;
}

void perfev_counter_close(struct perfev_counter *counter)
{
	if (!counter)
		return;
	sys_close(counter->fd);
	perfev_event_free(counter->event);
	free(counter);
}

static int control(struct perfev_counter *counter, unsigned request, const char *verb,
		   struct perfev_error *err)
{
	int r = sys_ioctl(counter->fd, request, 0);

	return r < 0 ? error_errno(err, r, "cannot %s %s", verb, counter->event->name) : 0;
}

int perfev_counter_start(struct perfev_counter *counter, struct perfev_error *err)
{
	return control(counter, PERF_EVENT_IOC_ENABLE, "start", err);
}

int perfev_counter_stop(struct perfev_counter *counter, struct perfev_error *err)
{
	return control(counter, PERF_EVENT_IOC_DISABLE, "stop", err);
}

int perfev_counter_reset(struct perfev_counter *counter, struct perfev_error *err)
{
	return control(counter, PERF_EVENT_IOC_RESET, "reset", err);
}

int perfev_counter_read(const struct perfev_counter *counter, struct perfev_reading *ret,
			struct perfev_error *err)
{
	int r = reading_take(ret, counter->fd, &counter->attr);

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
