/* SPDX-License-Identifier: MIT */
/* What sets and samplers have in common: events that are opened as a plan says. */
#ifndef CAPTURE_MEMBERS_H
#define CAPTURE_MEMBERS_H

#include "plan.h"

#include <perfev/counter.h>
#include <perfev/group.h>

/* One event of a set or sampler. */
struct member {
	struct perfev_event *event;  /* a copy: its attr may point to texts that it owns */
	struct perf_event_attr attr; /* as opened */
	const char *name;
	struct perfev_error error; /* code 0: it was opened somewhere */
	uint32_t dropped;
	uint32_t opened; /* descriptors */
};

struct members {
	struct member *items;
	size_t *leaders; /* index of each one's group leader */
	size_t count;
	struct plan plan;
	int *fds; /* one a row of the plan; -1 */
};

struct members_opts {
	uint32_t may_drop;
	bool partial; /* members that cannot be opened are left out */
	bool rings, apart;
	bool group_reads; /* leaders answer for their groups, where the kernel lets them: PERF_FORMAT_GROUP */
};

/* members_init() - copies of events. @leaders may be NULL: each on its own. */
int members_init(struct members *ret, const struct perfev_event *const *events,
		 const size_t *leaders, size_t count, struct perfev_error *err);
/* members_open() - plan, and open every row; again when a process got new threads meanwhile. */
int members_open(struct members *members, struct perfev_target on, const struct members_opts *opts,
		 struct perfev_error *err);
/* members_open_row(), members_close_row() - one row of the plan, after its leader's; before it.
 * Return: 0; -ECANCELED when the leader is not open; a negative errno. */
int members_open_row(struct members *members, size_t row, const struct members_opts *opts,
		     struct perfev_error *err);
void members_close_row(struct members *members, size_t row);
/* members_control() - one ioctl on every group leader that was opened. */
int members_control(const struct members *members, unsigned request, const char *verb,
		    struct perfev_error *err);
void members_close(struct members *members);

#endif
