/* SPDX-License-Identifier: MIT */
/* Opening one row of a plan. */
#ifndef CAPTURE_OPEN_H
#define CAPTURE_OPEN_H

#include "plan.h"

#include <perfev/counter.h>

struct open_request {
	const struct perfev_event *event;
	struct perf_event_attr *attr; /* changed when something is dropped */
	int32_t pid, cpu;
	int group_fd; /* -1: none */
	int output_fd; /* -1: none; whose ring it writes to, in no group */
	bool cgroup;
	uint32_t may_drop;   /* enum perfev_drop */
	uint32_t need_files; /* for the error */
};

/* open_event() - a descriptor, close-on-exec and with the event's filter, or a negative errno that is
 * explained. What was dropped from the attr is added to *@dropped. */
int open_event(const struct open_request *request, uint32_t *dropped, struct perfev_error *err);

/* open_refusal() - what perfev itself does not do: 0, or -EOPNOTSUPP */
int open_refusal(const struct perfev_event *event, struct perfev_error *err);

#endif
