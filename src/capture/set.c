/* SPDX-License-Identifier: MIT */
/* Sets: many events on many threads and CPUs. Rows are read one by one and summed for each event. */
#include "members.h"
#include "reading.h"

#include "base/error.h"
#include "base/opts.h"
#include "kernel/sys.h"

#include <perfev/set.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct perfev_set {
	struct members members;
	int64_t opened_ms;
};

int perfev_set_open(struct perfev_set **ret, const struct perfev_events *events,
		    struct perfev_target on, const struct perfev_set_opts *opts,
		    struct perfev_error *err)
{
	struct perfev_set_opts full;
	struct members_opts how = {0};
	struct perfev_set *set;
	size_t i;
	int r = opts_copy(&full, sizeof(full), opts, err);

	if (r < 0)
		return r;
	how.may_drop = full.may_drop;
	how.partial = full.partial;
	set = calloc(1, sizeof(*set));
	if (!set)
		return error_memory(err);
	r = members_init(&set->members, (const struct perfev_event *const *)events->items,
			 events->leaders, events->count, err);
	for (i = 0; r == 0 && i < set->members.count; i++) {
		set->members.items[i].attr.read_format |= READING_FORMAT;
		set->members.items[i].attr.read_format &= ~(uint64_t)PERF_FORMAT_GROUP;
	}
	set->opened_ms = sys_now_ms();
	if (r == 0)
		r = members_open(&set->members, on, &how, err);
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
	free(set);
}

int perfev_set_start(struct perfev_set *set, struct perfev_error *err)
{
	return members_control(&set->members, PERF_EVENT_IOC_ENABLE, "start", err);
}

int perfev_set_stop(struct perfev_set *set, struct perfev_error *err)
{
	return members_control(&set->members, PERF_EVENT_IOC_DISABLE, "stop", err);
}

/* An event of a cgroup that is running when it is opened counts right, but its times begin when the machine
 * did (Linux 6.18): what is more than can be is taken off both. */
static void check_times(const struct perfev_set *set, struct perfev_reading *reading)
{
	uint64_t since = (uint64_t)(sys_now_ms() - set->opened_ms) * 1000000, excess;

	if (reading->enabled_ns < since + 1000000000)
		return;
	excess = reading->enabled_ns - since;
	reading->enabled_ns -= excess;
	reading->running_ns -= excess < reading->running_ns ? excess : reading->running_ns;
}

int perfev_set_reset(struct perfev_set *set, struct perfev_error *err)
{
	const struct members *members = &set->members;
	size_t i;

	for (i = 0; i < members->plan.count; i++) {
		int r = members->fds[i] < 0 ? 0 : sys_ioctl(members->fds[i], PERF_EVENT_IOC_RESET, 0);

		if (r < 0)
			return error_errno(err, r, "cannot reset %s",
					   members->items[members->plan.rows[i].event].name);
	}
	return 0;
}

int perfev_set_row_read(const struct perfev_set *set, size_t index, struct perfev_reading *ret,
			struct perfev_error *err)
{
	const struct members *members = &set->members;
	const struct member *member;
	int r;

	if (index >= members->plan.count)
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, index,
				 "cannot read row %zu: the set has %zu", index, members->plan.count);
	member = &members->items[members->plan.rows[index].event];
	if (members->fds[index] < 0) {
		memset(ret, 0, sizeof(*ret));
		ret->status = PERFEV_NOT_SUPPORTED;
		return 0;
	}
	r = reading_take(ret, members->fds[index], &member->attr);
	if (r < 0)
		return error_errno(err, r, "cannot read %s", member->name);
	if (members->plan.cgroup)
		check_times(set, ret);
	else if (members->plan.rows[index].pid >= 0 && members->plan.rows[index].cpu >= 0)
		reading_bind(ret);
	return 0;
}

/* An event of which nothing was read yet. */
static void begin_sum(const struct member *member, struct perfev_reading *ret)
{
	bool failed = member->error.code != 0;

	memset(ret, 0, sizeof(*ret));
	ret->status = failed ? PERFEV_NOT_SUPPORTED : PERFEV_NOT_COUNTED;
	ret->why = failed	    ? (uint32_t)member->error.why
		   : member->opened ? PERFEV_WHY_COUNTERS
				    : PERFEV_WHY_NONE;
}

static void add_row(struct perfev_reading *sum, const struct perfev_reading *one)
{
	if (sum->status == PERFEV_NOT_COUNTED && one->status == PERFEV_NOT_COUNTED)
		sum->why = one->why;
	perfev_reading_add(sum, one);
}

static int check_count(const char *what, size_t count, size_t wanted, struct perfev_error *err)
{
	if (count == wanted)
		return 0;
	return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
			 "cannot read %zu %s: the set has %zu", count, what, wanted);
}

int perfev_set_read(const struct perfev_set *set, struct perfev_reading *ret, size_t count,
		    struct perfev_error *err)
{
	const struct members *members = &set->members;
	size_t i;
	int r = check_count("events", count, members->count, err);

	for (i = 0; r == 0 && i < count; i++)
		begin_sum(&members->items[i], &ret[i]);
	for (i = 0; r == 0 && i < members->plan.count; i++) {
		struct perfev_reading one;

		if (members->fds[i] < 0)
			continue;
		r = perfev_set_row_read(set, i, &one, err);
		if (r == 0)
			add_row(&ret[members->plan.rows[i].event], &one);
	}
	return r;
}

int perfev_set_read_rows(const struct perfev_set *set, struct perfev_reading *ret, size_t count,
			 struct perfev_error *err)
{
	size_t i;
	int r = check_count("rows", count, set->members.plan.count, err);

	for (i = 0; r == 0 && i < count; i++)
		r = perfev_set_row_read(set, i, &ret[i], err);
	return r;
}

void perfev_set_sum(const struct perfev_set *set, const struct perfev_reading *rows, int32_t tid,
		    int32_t cpu, struct perfev_reading *ret)
{
	const struct members *members = &set->members;
	size_t i;

	for (i = 0; i < members->count; i++)
		begin_sum(&members->items[i], &ret[i]);
	for (i = 0; i < members->plan.count; i++) {
		const struct plan_row *row = &members->plan.rows[i];

		if (members->fds[i] >= 0 && (tid < 0 || row->pid == tid) && (cpu < 0 || row->cpu == cpu))
			add_row(&ret[row->event], &rows[i]);
	}
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
