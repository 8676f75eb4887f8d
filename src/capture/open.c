/* SPDX-License-Identifier: MIT */
/* Opening: one call, what may be dropped dropped, the filter set, the refusal explained. */
#include "open.h"
#include "explain.h"

#include "base/error.h"
#include "kernel/sys.h"

#include <errno.h>
#include <string.h>

int open_refusal(const struct perfev_event *event, struct perfev_error *err)
{
	if (event->flags & PERFEV_EVENT_BPF)
		return error_set(err, -EOPNOTSUPP, PERFEV_WHY_UNSUPPORTED, ERROR_NOWHERE,
				 "cannot open %.100s: b asks for counting by BPF programs, which this "
				 "library has none of; leave b out",
				 event->name);
	if (event->flags & PERFEV_EVENT_RETIRE_LATENCY)
		return error_set(err, -EOPNOTSUPP, PERFEV_WHY_UNSUPPORTED, ERROR_NOWHERE,
				 "cannot open %.100s: R asks for its retire latency, which is not counted "
				 "but found by sampling; leave R out, or sample it with weights",
				 event->name);
	return 0;
}

static int try_open(const struct open_request *request, struct perf_event_attr *attr)
{
	unsigned long flags = PERF_FLAG_FD_CLOEXEC;

	int other_fd = request->group_fd;

	if (request->cgroup)
		flags |= PERF_FLAG_PID_CGROUP;
	if (request->output_fd >= 0) {
		flags |= PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP;
		other_fd = request->output_fd;
	}
	return sys_perf_event_open(attr, request->pid, request->cpu, other_fd, flags);
}

/* P: from the most precise on, till the PMU takes it. What else is wrong is not for want of precision. */
static int try_precise(const struct open_request *request, struct perf_event_attr *attr)
{
	unsigned precise;
	int fd;

	if (!(request->event->flags & PERFEV_EVENT_MAX_PRECISE) || attr->precise_ip)
		return try_open(request, attr);
	for (precise = 3; precise > 0; precise--) {
		attr->precise_ip = precise & 3;
		fd = try_open(request, attr);
		if (fd >= 0) {
			request->attr->precise_ip = attr->precise_ip;
			return fd;
		}
		if (fd != -EOPNOTSUPP && fd != -EINVAL && fd != -ENOENT)
			return fd;
	}
	attr->precise_ip = 0;
	return try_open(request, attr);
}

static void drop_kernel(struct perf_event_attr *attr)
{
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	if (attr->sample_type & PERF_SAMPLE_CALLCHAIN)
		attr->exclude_callchain_kernel = 1;
}

/* The descriptor; -errno, with @attr as it was last tried. */
static int open_some_way(const struct open_request *request, struct perf_event_attr *attr,
			 uint32_t *dropped)
{
	int fd = try_precise(request, attr), user_fd;
	struct perf_event_attr user = *attr;

	if (fd != -EACCES || !(request->may_drop & PERFEV_DROP_KERNEL) || attr->exclude_kernel ||
	    attr->exclude_user) /* of an event for the kernel only nothing would be left */
		return fd;
	drop_kernel(&user);
	user_fd = try_precise(request, &user);
	if (user_fd >= 0) {
		*request->attr = user;
		*dropped |= PERFEV_DROP_KERNEL;
	} else if (user_fd != fd) { /* what would be refused next is what has to be said */
		*attr = user;
	} else {
		return fd;
	}
	return user_fd;
}

static int set_filter(int fd, const struct open_request *request, const struct explain_open *facts,
		      struct perfev_error *err)
{
	const char *filter = request->event->filter;
	int r = filter ? sys_ioctl(fd, PERF_EVENT_IOC_SET_FILTER, (unsigned long)(uintptr_t)filter) : 0;

	if (r >= 0)
		return fd;
	sys_close(fd);
	return explain_filter(r, facts, filter, err);
}

int open_event(const struct open_request *request, uint32_t *dropped, struct perfev_error *err)
{
	struct perf_event_attr attr = *request->attr;
	struct explain_open facts = {.event = request->event->name,
				     .pmu = request->event->pmu,
				     .system_wide = request->event->flags & PERFEV_EVENT_SYSTEM_WIDE,
				     .attr = &attr,
				     .pid = request->pid,
				     .cpu = request->cpu,
				     .group_fd = request->group_fd,
				     .cgroup = request->cgroup,
				     .need_files = request->need_files};
	int fd = open_refusal(request->event, err);

	if (fd == 0)
		fd = open_some_way(request, &attr, dropped);
	else
		return fd;
	if (fd >= 0)
		return set_filter(fd, request, &facts, err);
	if (fd == -E2BIG && attr.size != request->attr->size) {
		facts.known_size = attr.size;
		attr.size = request->attr->size;
	}
	return explain_open(fd, &facts, err);
}
