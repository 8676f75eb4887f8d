/* SPDX-License-Identifier: MIT */
/* Opening: one call, what may be dropped dropped, the refusal explained. */
#include "open.h"
#include "explain.h"

#include "kernel/sys.h"

#include <errno.h>

static int try_open(const struct open_request *request, struct perf_event_attr *attr)
{
	unsigned long flags = PERF_FLAG_FD_CLOEXEC;

	if (request->cgroup)
		flags |= PERF_FLAG_PID_CGROUP;
	return sys_perf_event_open(attr, request->pid, request->cpu, request->group_fd, flags);
}

static void drop_kernel(struct perf_event_attr *attr)
{
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	if (attr->sample_type & PERF_SAMPLE_CALLCHAIN)
		attr->exclude_callchain_kernel = 1;
}

int open_event(const struct open_request *request, uint32_t *dropped, struct perfev_error *err)
{
	struct perf_event_attr attr = *request->attr;
	struct explain_open facts = {request->event, &attr,	      request->pid,
				     request->cpu,   request->cgroup, 0,
				     request->need_files, 0};
	int fd = try_open(request, &attr);

	if (fd == -EACCES && (request->may_drop & PERFEV_DROP_KERNEL) && !attr.exclude_kernel &&
	    !attr.exclude_user) { /* of an event for the kernel only nothing would be left */
		struct perf_event_attr user = attr;
		int user_fd;

		drop_kernel(&user);
		user_fd = try_open(request, &user);
		if (user_fd >= 0) {
			*request->attr = user;
			*dropped |= PERFEV_DROP_KERNEL;
			return user_fd;
		}
		if (user_fd != fd) { /* what would be refused next is what has to be said */
			fd = user_fd;
			attr = user;
		}
	}
	if (fd >= 0)
		return fd;
	if (fd == -E2BIG && attr.size != request->attr->size) {
		facts.known_size = attr.size;
		attr.size = request->attr->size;
	}
	return explain_open(fd, &facts, err);
}
