/* SPDX-License-Identifier: MIT */
/*
 * The planner. Hybrid PMUs x CPUs x threads x groups fan one event out into many descriptors; this is
 * the one place where that is worked out.
 *
 * Rules of the kernel that shape the table:
 *  - pid -1 needs a CPU; a cgroup too; pid and CPU of a group's members are the leader's.
 *  - an event with inherit can be mapped only when it is bound to a CPU.
 *  - events share a ring only when they are on the same CPU, or on the same thread with CPU -1.
 */
#include "plan.h"
#include "tasks.h"

#include "base/buffer.h"
#include "base/error.h"
#include "base/map.h"
#include "kernel/sys.h"

#include <perfev/probe.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The two lists whose product the table is. */
struct axes {
	const int32_t *ids;
	size_t id_count;
	const int32_t *cpus;
	size_t cpu_count;
	int32_t *online; /* owned; cpus may point to it */
	bool *first;	 /* owned; of each of cpus, that it is the first of its package; NULL: not asked for */
	int32_t *once[2]; /* owned: the lists without what they name twice */
};

static int no_process(int code, int32_t pid, struct perfev_error *err)
{
	if (code == -ENOMEM)
		return error_memory(err);
	if (code == -ESRCH && !sys_can_read("/proc/self"))
		return error_set(err, -ENOENT, PERFEV_WHY_NOT_FOUND, ERROR_NOWHERE,
				 "cannot list the threads of process %d: there is no /proc; run mount -t proc proc "
				 "/proc, or name a thread alone (-t)",
				 pid);
	if (code == -ESRCH)
		return error_set(err, code, PERFEV_WHY_NO_TASK, ERROR_NOWHERE,
				 "cannot list the threads of process %d: there is no such process; look "
				 "at the number again",
				 pid);
	return error_errno(err, code, "cannot list the threads of process %d", pid);
}

static int list_processes(struct plan *plan, const struct perfev_target *on,
			  struct perfev_error *err)
{
	const int32_t *pids = on->id_count ? on->ids : &on->id;
	size_t n = on->id_count ? on->id_count : 1, i;

	for (i = 0; i < n; i++) {
		int r = tasks_settle(pids[i], &plan->tasks, &plan->task_room, &plan->task_count);

		if (r < 0)
			return no_process(r, pids[i], err);
	}
	return 0;
}

static bool any_inherits(const struct plan_events *events)
{
	size_t i;

	for (i = 0; i < events->count; i++)
		if (events->items[i].inherit)
			return true;
	return false;
}

static int choose_cpus(const struct plan *plan, const struct plan_events *events,
		       const struct perfev_target *on, struct axes *axes, struct perfev_error *err)
{
	bool each = on->kind == PERFEV_TARGET_CPU || on->kind == PERFEV_TARGET_CGROUP ||
		    (events->rings && (plan->process || any_inherits(events)));
	int r;

	if (on->cpu_count) {
		axes->cpus = on->cpus;
		axes->cpu_count = on->cpu_count;
	} else if (on->cpu >= 0 || !each) {
		axes->cpus = &on->cpu;
		axes->cpu_count = 1;
	} else {
		r = perfev_cpus_online(&axes->online, &axes->cpu_count, err);
		if (r < 0)
			return r;
		axes->cpus = axes->online;
	}
	return 0;
}

int plan_check_task(const char *what, int32_t tid, struct perfev_error *err)
{
	if (tid >= 0)
		return 0;
	return error_set(err, -ESRCH, PERFEV_WHY_NO_TASK, ERROR_NOWHERE,
			 "cannot open %.100s on thread %d: there is no such thread; look at its number, or use "
			 "perfev_on_all_cpus()",
			 what, tid);
}

/* Of which the kernel would say nothing but EINVAL. */
static int check_cgroups(const char *what, const struct perfev_target *on, struct perfev_error *err)
{
	int32_t none = on->id_count ? 0 : on->id;
	size_t i;

	for (i = 0; i < on->id_count; i++)
		if (on->ids[i] < 0)
			none = on->ids[i];
	if (on->kind != PERFEV_TARGET_CGROUP || none >= 0)
		return 0;
	return error_set(err, -EBADF, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
			 "cannot open %.100s on a cgroup: %d is no descriptor; open a folder under /sys/fs/cgroup", what,
			 none);
}

int plan_check_target(const char *what, const struct perfev_target *on, struct perfev_error *err)
{
	bool none = !on->cpu_count && on->cpu < -1;
	size_t i;

	for (i = 0; i < on->cpu_count; i++)
		none |= on->cpus[i] < 0;
	if (!none)
		return check_cgroups(what, on, err);
	return error_set(err, -ENODEV, PERFEV_WHY_NO_CPU, ERROR_NOWHERE,
			 "cannot open %.100s on a CPU of a negative number: there is none; look at the number, or use "
			 "perfev_on_all_cpus()",
			 what);
}

static int check_tasks(const struct plan_events *events, const struct axes *axes, struct perfev_error *err)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < axes->id_count; i++)
		r = plan_check_task(events->items[0].event->name, axes->ids[i], err);
	return r;
}

static int choose_ids(struct plan *plan, const struct plan_events *events, const struct perfev_target *on,
		      struct axes *axes, struct perfev_error *err)
{
	static const int32_t any = -1;
	int r;

	switch (on->kind) {
	case PERFEV_TARGET_PROCESS:
		plan->process = true;
		r = list_processes(plan, on, err);
		axes->ids = plan->tasks;
		axes->id_count = plan->task_count;
		return r;
	case PERFEV_TARGET_CPU:
		axes->ids = &any;
		axes->id_count = 1;
		return 0;
	default:
		plan->cgroup = on->kind == PERFEV_TARGET_CGROUP;
		axes->ids = on->id_count ? on->ids : &on->id;
		axes->id_count = on->id_count ? on->id_count : 1;
		return plan->cgroup ? 0 : check_tasks(events, axes, err);
	}
}

/* A list without what it has again: that would be opened twice, and count double. */
static int name_once(const int32_t **list, size_t *count, int32_t **owned)
{
	int32_t *once = malloc((*count + 1) * sizeof(*once));
	struct map seen = {NULL, 0, 0};
	size_t i;
	int r = once ? 0 : -ENOMEM;

	for (i = 0; r == 0 && i < *count; i++) {
		size_t before = seen.count;

		if (!map_put(&seen, (uint32_t)(*list)[i], 0))
			r = -ENOMEM;
		else if (seen.count > before)
			once[before] = (*list)[i];
	}
	*count = seen.count;
	*list = *owned = once;
	map_free(&seen);
	return r;
}

static int add_row(struct plan *plan, const struct plan_row *row)
{
	struct plan_row *rows = array_grow(plan->rows, &plan->room, plan->count, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	plan->rows = rows;
	rows[plan->count++] = *row;
	return 0;
}

/* Is an event to be opened on @cpu? A PMU may have some CPUs only; and what is the same on all CPUs of a
 * package is counted on one of them. */
static bool belongs_on(const struct perfev_event *event, int32_t cpu, bool first)
{
	size_t i;

	if (event->tool || (!first && (event->flags & PERFEV_EVENT_PER_PACKAGE)))
		return false;
	if (cpu < 0 || !event->cpu_count)
		return true;
	for (i = 0; i < event->cpu_count; i++)
		if (event->cpus[i] == cpu)
			return true;
	return false;
}

/* The row of an event's leader on this CPU: it was put there before; -1 when it is not here. */
static int32_t leader_row(const struct plan *plan, size_t base, uint32_t leader, int32_t cpu)
{
	size_t i;

	for (i = base; i < plan->count; i++)
		if (plan->rows[i].event == leader && plan->rows[i].cpu == cpu)
			return (int32_t)i;
	return -1;
}

/* One event at one place. On a task it goes where the task does, unless its text names CPUs (cpu=). */
static int add_event(struct plan *plan, const struct plan_event *event, size_t base, struct plan_row row)
{
	const struct perfev_event *e = event->event;
	bool bound = row.cpu < 0 && (e->flags & PERFEV_EVENT_CPUS);
	size_t i;

	for (i = 0; i < (bound ? e->cpu_count : 1); i++) {
		if (bound)
			row.cpu = e->cpus[i];
		row.leader = event->leader == row.event
				     ? -1
				     : leader_row(plan, base, (uint32_t)event->leader, row.cpu);
		if (add_row(plan, &row) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* All events on one thread and CPU. */
static int add_place(struct plan *plan, const struct plan_events *events, int32_t pid, int32_t cpu,
		     bool first, uint32_t ring)
{
	size_t base = plan->count, i;

	for (i = 0; i < events->count; i++) {
		struct plan_row row = {(uint32_t)i, pid, cpu, -1, events->apart ? ring + (uint32_t)i : ring};
		if (!belongs_on(events->items[i].event, cpu, first))
			continue;
		if (add_event(plan, &events->items[i], base, row) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int cross(struct plan *plan, const struct plan_events *events, const struct axes *axes)
{
	size_t id, cpu, each = events->apart ? events->count : 1;

	for (id = 0; id < axes->id_count; id++)
		for (cpu = 0; cpu < axes->cpu_count; cpu++) {
			/* one ring a CPU, or one a thread when there is no CPU */
			size_t ring = (axes->cpus[cpu] >= 0 ? cpu : id) * each;

			if (add_place(plan, events, axes->ids[id], axes->cpus[cpu],
				      !axes->first || axes->first[cpu], (uint32_t)ring) < 0)
				return -ENOMEM;
			if (ring + each > plan->ring_count)
				plan->ring_count = (uint32_t)(ring + each);
		}
	return 0;
}

static int64_t package_of(int32_t cpu)
{
	char path[96], text[24];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
	return sys_read_text(path, text, sizeof(text)) > 0 ? strtol(text, NULL, 10) : -1;
}

/* Which CPUs stand for their packages. One whose package is not known stands for itself. */
static int choose_packages(const struct plan_events *events, struct axes *axes)
{
	struct map seen = {NULL, 0, 0};
	bool wanted = false;
	size_t i;
	int r = 0;

	for (i = 0; i < events->count; i++)
		wanted |= events->items[i].event->flags & PERFEV_EVENT_PER_PACKAGE;
	if (!wanted)
		return 0;
	axes->first = calloc(axes->cpu_count + 1, sizeof(*axes->first));
	for (i = 0; axes->first && r == 0 && i < axes->cpu_count; i++) {
		int64_t package = axes->cpus[i] < 0 ? -1 : package_of(axes->cpus[i]);
		size_t before = seen.count;

		if (package >= 0 && !map_put(&seen, (uint64_t)package, 0))
			r = -ENOMEM;
		axes->first[i] = package < 0 || seen.count > before;
	}
	map_free(&seen);
	return axes->first ? r : -ENOMEM;
}

int plan_make(struct plan *ret, const struct plan_events *events, struct perfev_target on,
	      struct perfev_error *err)
{
	struct axes axes = {0};
	int r;

	memset(ret, 0, sizeof(*ret));
	r = plan_check_target(events->items[0].event->name, &on, err);
	if (r == 0)
		r = choose_ids(ret, events, &on, &axes, err);
	if (r == 0)
		r = choose_cpus(ret, events, &on, &axes, err);
	if (r == 0 && (name_once(&axes.ids, &axes.id_count, &axes.once[0]) < 0 ||
		       name_once(&axes.cpus, &axes.cpu_count, &axes.once[1]) < 0 ||
		       choose_packages(events, &axes) < 0 ||
		       cross(ret, events, &axes) < 0))
		r = error_memory(err);
	free(axes.online);
	free(axes.first);
	free(axes.once[0]);
	free(axes.once[1]);
	if (r < 0)
		plan_free(ret);
	return r;
}

void plan_free(struct plan *plan)
{
	free(plan->rows);
	free(plan->tasks);
	memset(plan, 0, sizeof(*plan));
}

static bool has_task(const struct plan *plan, int32_t tid)
{
	size_t i;

	for (i = 0; i < plan->task_count; i++)
		if (plan->tasks[i] == tid)
			return true;
	return false;
}

bool plan_is_stale(const struct plan *plan, struct perfev_target on)
{
	const int32_t *pids = on.id_count ? on.ids : &on.id;
	size_t n = on.id_count ? on.id_count : 1, room = 0, count = 0, i;
	int32_t *tasks = NULL;
	bool stale = false;

	if (!plan->process)
		return false;
	for (i = 0; i < n; i++)
		tasks_list(pids[i], &tasks, &room, &count);
	for (i = 0; i < count && !stale; i++)
		stale = !has_task(plan, tasks[i]);
	free(tasks);
	return stale;
}
