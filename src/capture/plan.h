/* SPDX-License-Identifier: MIT */
/*
 * The planner: (events, target) -> a table with one row for each descriptor. Sets and samplers only
 * execute it, so that all of them mean the same by a target.
 */
#ifndef CAPTURE_PLAN_H
#define CAPTURE_PLAN_H

#include "event.h"

#include <perfev/target.h>

struct plan_row {
	uint32_t event; /* index */
	int32_t pid;	/* as perf_event_open(2) takes it; a descriptor for a cgroup */
	int32_t cpu;
	int32_t leader; /* the row of the group's leader, or -1 */
	uint32_t ring;	/* which ring it writes to; rings are numbered from 0 */
};

struct plan {
	struct plan_row *rows;
	size_t count, room;
	uint32_t ring_count;
	bool cgroup;  /* pids are descriptors */
	bool process; /* threads that start later are wanted: attr.inherit */
	int32_t *tasks; /* what the target's processes had when it was made */
	size_t task_count, task_room;
};

struct plan_event {
	const struct perfev_event *event; /* where it is to be opened */
	size_t leader;			  /* of its group; its own index when it is alone */
	bool inherit;
};

/* @rings: events with attr.inherit must be bound to CPUs, because they are to be mapped.
 * @apart: each event has rings of its own. */
struct plan_events {
	const struct plan_event *items;
	size_t count;
	bool rings;
	bool apart;
};

int plan_make(struct plan *ret, const struct plan_events *events, struct perfev_target on,
	      struct perfev_error *err);
void plan_free(struct plan *plan);

/* plan_check_task() - a negative number is no thread; -1 would mean every one to the kernel */
int plan_check_task(const char *what, int32_t tid, struct perfev_error *err);
/* plan_check_target() - the same of its CPUs, but for the -1 that stands alone, and of its cgroup */
int plan_check_target(const char *what, const struct perfev_target *on, struct perfev_error *err);

/* plan_is_stale() - the target's processes have threads that the plan does not know. */
bool plan_is_stale(const struct plan *plan, struct perfev_target on);

#endif
