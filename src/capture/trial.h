/* SPDX-License-Identifier: MIT */
/*
 * EINVAL says that something in the attr is wrong, and not what. Opening it again with less in it
 * tells: what cannot be left out while the kernel still refuses is at fault.
 */
#ifndef CAPTURE_TRIAL_H
#define CAPTURE_TRIAL_H

#include <perfev/abi.h>

#include <stdbool.h>

#define TRIAL_NAMES 4

struct trial {
	int code; /* the refusal to be explained */
	const struct perf_event_attr *attr;
	int32_t pid, cpu;
	int group_fd;
	bool cgroup;
};

/* What is at fault: fields, or what they lack. */
struct trial_result {
	char names[TRIAL_NAMES][48]; /* of fields, with values where they have some */
	unsigned count;		     /* 0: nothing was found */
	const char *needs;	     /* NULL, or what has to be set beside them */
	char unknown[48];	     /* one that this kernel does not know at all; "": none */
	const char *since;	     /* the kernel that brought it */
};

/* trial_run() - opens disabled events, and closes them; at most a hundred or so */
void trial_run(struct trial_result *ret, const struct trial *trial);

#endif
