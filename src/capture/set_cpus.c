/* SPDX-License-Identifier: MIT */
/*
 * CPUs that go offline, and come back.
 *
 * With its CPU an event loses its context, and never gets another; nothing tells so. But the time of an event
 * that is on goes on as long as it has one. (Not so that of a cgroup's event, which stands while the cgroup does
 * not run there: those are dead when their CPU was seen offline.) New descriptors are opened before the old ones
 * are closed, so that a CPU that is gone once more leaves everything as it was.
 */
#include "set.h"

#include "base/error.h"
#include "kernel/sys.h"

#include <perfev/probe.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool has_cpu(const int32_t *cpus, size_t count, int32_t cpu)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (cpus[i] == cpu)
			return true;
	return false;
}

/* Whether a leader's events are dead, on a CPU that is there. */
static bool is_dead(struct perfev_set *set, size_t row, bool online)
{
	struct set_row *own = &set->rows[row];
	struct perfev_reading reading;
	bool away = own->away, stood;

	own->away = !online;
	if (!online || perfev_set_row_read(set, row, &reading, NULL) < 0 || reading.status == PERFEV_ERROR_STATE)
		return false;
	stood = set->started && !set->members.plan.cgroup && own->seen_ns && own->seen_ns == reading.enabled_ns;
	own->seen_ns = reading.enabled_ns;
	return away || stood;
}

/* A row as it was. */
struct kept {
	int fd;
	struct perfev_reading reading;
};

/* The first row of a leader's group from @row on; the leader is the first of all. */
static size_t group_row(const struct members *members, size_t row, size_t leader)
{
	while (row < members->plan.count && row != leader && members->plan.rows[row].leader != (int32_t)leader)
		row++;
	return row;
}

#define for_each_of_group(row, members, first) \
	for (row = (first); row < (members)->plan.count; row = group_row(members, row + 1, first))

/* The counts until now, and the descriptors out of the way. */
static int keep(struct perfev_set *set, size_t leader, struct kept *kept, struct perfev_error *err)
{
	struct members *members = &set->members;
	size_t row;

	for_each_of_group(row, members, leader) {
		int r = perfev_set_row_read(set, row, &kept[row].reading, err);

		if (r < 0)
			return r;
	}
	for_each_of_group(row, members, leader) {
		kept[row].fd = members->fds[row];
		members->fds[row] = -1;
	}
	return 0;
}

static int open_anew(struct perfev_set *set, size_t leader, const struct kept *kept, struct perfev_error *err)
{
	struct members *members = &set->members;
	int r = 0, count = 0;
	size_t row;

	for_each_of_group(row, members, leader)
		if (r == 0 && kept[row].fd >= 0) {
			r = members_open_row(members, row, &set->how, err);
			count += r == 0;
		}
	if (r == 0 && set->started)
		r = sys_ioctl(members->fds[leader], PERF_EVENT_IOC_ENABLE, 0);
	return r < 0 ? r : count;
}

/* The new ones are there, and the old are closed; or it is the other way round. */
static void settle_on(struct perfev_set *set, size_t leader, const struct kept *kept, bool anew)
{
	struct members *members = &set->members;
	size_t row;

	for_each_of_group(row, members, leader) {
		int fd = members->fds[row];

		if (kept[row].fd < 0)
			continue;
		if (anew)
			set->rows[row].earlier = kept[row].reading;
		else
			members->fds[row] = kept[row].fd;
		if (fd >= 0) { /* there were two */
			members->items[members->plan.rows[row].event].opened--;
			sys_close(anew ? kept[row].fd : fd);
		}
	}
	if (!anew)
		return;
	set->rows[leader].seen_ns = 0;
	for_each_of_group(row, members, leader)
		set_link_row(set, row);
}

static int revive(struct perfev_set *set, size_t leader, struct kept *kept, struct perfev_error *err)
{
	int r = keep(set, leader, kept, err);

	if (r < 0)
		return r;
	r = open_anew(set, leader, kept, err);
	settle_on(set, leader, kept, r >= 0);
	return r;
}

static int revive_all(struct perfev_set *set, const int32_t *cpus, size_t count, struct kept *kept,
		      struct perfev_error *err)
{
	const struct members *members = &set->members;
	int r = 0, opened = 0;
	size_t row;

	for (row = 0; r >= 0 && row < members->plan.count; row++) {
		const struct plan_row *plan = &members->plan.rows[row];

		if (plan->leader >= 0 || plan->cpu < 0 || members->fds[row] < 0 ||
		    (plan->pid >= 0 && !members->plan.cgroup) || /* a task's, which goes where that does */
		    !is_dead(set, row, has_cpu(cpus, count, plan->cpu)))
			continue;
		r = revive(set, row, kept, err);
		opened += r > 0 ? r : 0;
		if (r == -ENODEV) /* offline once more */
			r = 0;
	}
	return r < 0 ? r : opened;
}

int perfev_set_revive(struct perfev_set *set, struct perfev_error *err)
{
	struct kept *kept;
	int32_t *cpus;
	size_t count;
	int r;

	if (sys_now_ms() <= set->looked_ms + 1)
		return 0;
	r = perfev_cpus_online(&cpus, &count, err);
	if (r < 0)
		return r;
	kept = malloc((set->members.plan.count + 1) * sizeof(*kept));
	r = kept ? revive_all(set, cpus, count, kept, err) : error_memory(err);
	set->looked_ms = sys_now_ms();
	free(kept);
	free(cpus);
	return r;
}
