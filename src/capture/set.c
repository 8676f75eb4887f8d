/* SPDX-License-Identifier: MIT */
/* Sets: many events on many threads and CPUs; what they counted is in set_read.c. */
#include "reading.h"
#include "set.h"

#include "base/error.h"
#include "base/opts.h"
#include "kernel/sys.h"

#include <errno.h>
#include <stdlib.h>

/* Each leader's answer gives its members in the order of opening. Before Linux 3.12 ids cannot be had so, and
 * every row is read by itself. */
void set_link_row(struct perfev_set *set, size_t row)
{
	const struct members *m = &set->members;
	const struct plan_row *plan = m->plan.rows;
	size_t leader = plan[row].leader < 0 ? row : (size_t)plan[row].leader, last = leader;
	struct set_row *own = &set->rows[row];

	own->next = -1;
	own->told = false;
	if (m->fds[row] < 0 || !(m->items[plan[leader].event].attr.read_format & PERF_FORMAT_GROUP) ||
	    sys_ioctl(m->fds[row], PERF_EVENT_IOC_ID, (unsigned long)(uintptr_t)&own->id) < 0 || leader == row)
		return;
	while (set->rows[last].next >= 0)
		last = (size_t)set->rows[last].next;
	set->rows[last].next = (int32_t)row;
	own->told = true;
}

static int make_rows(struct perfev_set *set, struct perfev_error *err)
{
	size_t i, count = set->members.plan.count;

	set->rows = calloc(count + 1, sizeof(*set->rows));
	if (!set->rows)
		return error_memory(err);
	for (i = 0; i < count; i++)
		set_link_row(set, i);
	return set_places_open(set) < 0 ? error_memory(err) : 0;
}

/* A child that was born between the opens of a group has a part of it, and then no answer is given for all. */
static bool is_torn(const struct members *members)
{
	uint64_t words[READING_GROUP_WORDS];
	size_t i;

	for (i = 0; i < members->plan.count; i++) {
		const struct perf_event_attr *attr = &members->items[members->plan.rows[i].event].attr;

		if (members->fds[i] >= 0 && attr->inherit && attr->read_format & PERF_FORMAT_GROUP &&
		    sys_read(members->fds[i], words, sizeof(words)) == -ECHILD)
			return true;
	}
	return false;
}

static void set_formats(struct members *members)
{
	size_t i;

	for (i = 0; i < members->count; i++) {
		members->items[i].attr.read_format |= READING_FORMAT;
		members->items[i].attr.read_format &= ~(uint64_t)PERF_FORMAT_GROUP;
	}
}

static int open_members(struct perfev_set *set, struct perfev_target on, struct perfev_error *err)
{
	int r;

	set_formats(&set->members);
	set->how.group_reads = true;
	r = members_open(&set->members, on, &set->how, err);
	if (r < 0 || !is_torn(&set->members))
		return r;
	set_formats(&set->members);
	set->how.group_reads = false;
	return members_open(&set->members, on, &set->how, err);
}

int perfev_set_open(struct perfev_set **ret, const struct perfev_events *events,
		    struct perfev_target on, const struct perfev_set_opts *opts,
		    struct perfev_error *err)
{
	struct perfev_set_opts full;
	struct perfev_set *set;
	int r = opts_copy(&full, sizeof(full), opts, err);

	if (r < 0)
		return r;
	set = calloc(1, sizeof(*set));
	if (!set)
		return error_memory(err);
	set->how.may_drop = full.may_drop;
	set->how.partial = full.partial;
	r = members_init(&set->members, (const struct perfev_event *const *)events->items,
			 events->leaders, events->count, err);
	set->opened_ms = sys_now_ms();
	if (r == 0)
		r = open_members(set, on, err);
	if (r == 0)
		r = make_rows(set, err);
	if (r < 0) {
		perfev_set_close(set);
		return r;
	}
	*ret = set;
	return 0;
}

void perfev_set_close(struct perfev_set *set)
{
	if (!set)
		return;
	members_close(&set->members);
	set_places_close(set);
	free(set->rows);
	free(set);
}

int perfev_set_start(struct perfev_set *set, struct perfev_error *err)
{
	int r = members_control(&set->members, PERF_EVENT_IOC_ENABLE, "start", err);

	set->started = r == 0;
	set_places_control(set, PERF_EVENT_IOC_ENABLE);
	return r;
}

int perfev_set_stop(struct perfev_set *set, struct perfev_error *err)
{
	set->started = false;
	set_places_control(set, PERF_EVENT_IOC_DISABLE);
	return members_control(&set->members, PERF_EVENT_IOC_DISABLE, "stop", err);
}

int perfev_set_reset(struct perfev_set *set, struct perfev_error *err)
{
	const struct members *members = &set->members;
	size_t i;

	for (i = 0; i < members->plan.count; i++) {
		int r;

		set->rows[i].earlier.count = 0; /* the times go on, as in the kernel */
		r = members->fds[i] < 0 ? 0 : sys_ioctl(members->fds[i], PERF_EVENT_IOC_RESET, 0);
		if (r < 0)
			return error_errno(err, r, "cannot reset %s",
					   members->items[members->plan.rows[i].event].name);
	}
	return 0;
}

size_t perfev_set_row_count(const struct perfev_set *set)
{
	return set->members.plan.count;
}

bool perfev_set_row_at(const struct perfev_set *set, size_t index, struct perfev_set_row *ret)
{
	const struct plan_row *row;

	if (index >= set->members.plan.count)
		return false;
	row = &set->members.plan.rows[index];
	ret->event = row->event;
	ret->tid = row->pid;
	ret->cpu = row->cpu;
	ret->fd = set->members.fds[index];
	return true;
}

const struct perfev_error *perfev_set_error(const struct perfev_set *set, size_t index)
{
	if (index >= set->members.count || !set->members.items[index].error.code)
		return NULL;
	return &set->members.items[index].error;
}

uint32_t perfev_set_dropped(const struct perfev_set *set, size_t index)
{
	return index < set->members.count ? set->members.items[index].dropped : 0;
}
