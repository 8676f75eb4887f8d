/* SPDX-License-Identifier: MIT */
/*
 * Executing a plan.
 *
 * A thread may end between the look into /proc and the open: its rows are passed over as long as
 * another thread is left. A thread may also start: when the list has new ones after all rows are open,
 * everything is closed and planned again, because the new thread may have inherited the events from one
 * that had them, or not, and nothing would tell. Events are opened disabled, so a second try counts
 * nothing twice.
 */
#include "members.h"
#include "open.h"

#include "base/error.h"
#include "kernel/sys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TRIES_MAX 5
#define BROKEN	  1 /* a weak group was broken up: everything is to be opened again */

/* A tool is opened nowhere: the first event behind it leads its group, and begins when that would. */
static void pass_tools(struct members *members)
{
	size_t i, k;

	for (i = 0; i < members->count; i++) {
		size_t leader = members->leaders[i];
		const struct member *first = &members->items[leader];

		if (!first->event->tool || members->items[i].event->tool)
			continue;
		members->items[i].attr.disabled = first->attr.disabled;
		members->items[i].attr.enable_on_exec = first->attr.enable_on_exec;
		for (k = i; k < members->count; k++)
			if (members->leaders[k] == leader && !members->items[k].event->tool)
				members->leaders[k] = i;
	}
}

int members_init(struct members *ret, const struct perfev_event *const *events,
		 const size_t *leaders, size_t count, struct perfev_error *err)
{
	size_t i;

	memset(ret, 0, sizeof(*ret));
	if (count == 0)
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot open an empty list of events; name at least one");
	ret->items = calloc(count, sizeof(*ret->items));
	ret->leaders = calloc(count, sizeof(*ret->leaders));
	if (!ret->items || !ret->leaders)
		return error_memory(err);
	ret->count = count;
	for (i = 0; i < count; i++) {
		struct member *member = &ret->items[i];
		int r = perfev_event_copy(&member->event, events[i], err);

		if (r < 0)
			return r;
		member->attr = member->event->attr;
		member->name = member->event->name;
		ret->leaders[i] = leaders ? leaders[i] : i;
		if (ret->leaders[i] > i || ret->leaders[ret->leaders[i]] != ret->leaders[i])
			return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
					 "cannot open %.100s: event %zu cannot lead its group; a leader "
					 "stands before its group, and leads itself",
					 member->name, ret->leaders[i]);
	}
	pass_tools(ret);
	for (i = 0; i < count; i++) /* only leaders are started: what is off by itself would never count */
		if (ret->leaders[i] != i)
			ret->items[i].attr.disabled = 0;
	return 0;
}

static void close_rows(struct members *members)
{
	size_t i;

	for (i = 0; members->fds && i < members->plan.count; i++)
		sys_close(members->fds[i]);
	free(members->fds);
	members->fds = NULL;
	plan_free(&members->plan);
	for (i = 0; i < members->count; i++) {
		members->items[i].opened = 0;
		memset(&members->items[i].error, 0, sizeof(members->items[i].error));
	}
}

void members_close(struct members *members)
{
	size_t i;

	close_rows(members);
	for (i = 0; members->items && i < members->count; i++)
		perfev_event_free(members->items[i].event);
	free(members->items);
	free(members->leaders);
	memset(members, 0, sizeof(*members));
}

static size_t group_size(const struct members *members, size_t leader)
{
	size_t i, size = 0;

	for (i = leader; i < members->count; i++)
		size += members->leaders[i] == leader;
	return size;
}

/* Leaders answer for their groups, where one answer holds them. */
static void choose_formats(struct members *members)
{
	size_t i;

	for (i = 0; i < members->count; i++) {
		uint64_t *format = &members->items[i].attr.read_format;
		size_t size = members->leaders[i] == i ? group_size(members, i) : 0;

		*format &= ~(uint64_t)PERF_FORMAT_GROUP;
		if (size > 1 && size <= PERFEV_GROUP_MAX)
			*format |= PERF_FORMAT_GROUP;
	}
}

static int make_plan(struct members *members, struct perfev_target on, const struct members_opts *opts,
		     struct perfev_error *err)
{
	struct plan_event *all = calloc(members->count, sizeof(*all));
	struct plan_events events = {all, members->count, opts->rings, opts->apart};
	size_t i;
	int r;

	if (!all)
		return error_memory(err);
	for (i = 0; i < members->count; i++) {
		all[i].event = members->items[i].event;
		all[i].inherit = members->items[i].attr.inherit;
		all[i].leader = members->leaders[i];
	}
	r = plan_make(&members->plan, &events, on, err);
	free(all);
	if (r < 0)
		return r;
	if (opts->group_reads)
		choose_formats(members);
	members->fds = malloc((members->plan.count + 1) * sizeof(*members->fds));
	if (!members->fds)
		return error_memory(err);
	for (i = 0; i < members->plan.count; i++)
		members->fds[i] = -1;
	if (members->plan.process)
		for (i = 0; i < members->count; i++)
			members->items[i].attr.inherit = 1;
	return 0;
}

/* Kernels before 4.13 do not inherit a leader that answers for its group. */
static bool read_apart(struct member *member, const struct members_opts *opts, int code)
{
	if (!opts->group_reads || code != -EINVAL || !member->attr.inherit ||
	    !(member->attr.read_format & PERF_FORMAT_GROUP))
		return false;
	member->attr.read_format &= ~(uint64_t)PERF_FORMAT_GROUP;
	return true;
}

int members_open_row(struct members *members, size_t row, const struct members_opts *opts,
		     struct perfev_error *err)
{
	const struct plan_row *plan = &members->plan.rows[row];
	struct member *member = &members->items[plan->event];
	struct open_request request = {member->event,
				       &member->attr,
				       plan->pid,
				       plan->cpu,
				       -1,
				       -1,
				       members->plan.cgroup,
				       opts->may_drop,
				       (uint32_t)members->plan.count};
	int fd;

	if (plan->leader >= 0) {
		request.group_fd = members->fds[plan->leader];
		if (request.group_fd < 0)
			return -ECANCELED; /* its leader has failed, and said why */
	}
	fd = open_event(&request, &member->dropped, err);
	if (read_apart(member, opts, fd))
		fd = open_event(&request, &member->dropped, err);
	if (fd < 0)
		return fd;
	members->fds[row] = fd;
	member->opened++;
	return 0;
}

void members_close_row(struct members *members, size_t row)
{
	sys_close(members->fds[row]);
	members->fds[row] = -1;
	members->items[members->plan.rows[row].event].opened--;
}

/* W: a group that cannot be scheduled as one becomes events of their own. */
static bool break_group(struct members *members, size_t index, int code)
{
	size_t leader = members->leaders[index], i;
	const struct member *first = &members->items[leader];

	if (leader == index || !(first->event->flags & PERFEV_EVENT_WEAK) ||
	    (code != -EINVAL && code != -ENOSPC && code != -EBADF))
		return false;
	for (i = 0; i < members->count; i++) {
		if (members->leaders[i] != leader)
			continue;
		members->leaders[i] = i;
		members->items[i].dropped |= PERFEV_DROP_GROUP;
		members->items[i].attr.disabled = first->attr.disabled;
		members->items[i].attr.enable_on_exec = first->attr.enable_on_exec;
	}
	return true;
}

/* A row that fails takes its event out (partial), or everything; a task that has ended does neither. */
static int open_rows(struct members *members, const struct members_opts *opts,
		     struct perfev_error *err)
{
	size_t row;

	for (row = 0; row < members->plan.count; row++) {
		struct member *member = &members->items[members->plan.rows[row].event];
		struct perfev_error why;
		int r;

		if (member->error.code && member->error.code != -ESRCH)
			continue;
		r = members_open_row(members, row, opts, &why);
		if (r == 0 || r == -ECANCELED)
			continue;
		if (break_group(members, members->plan.rows[row].event, r))
			return BROKEN;
		if (r == -ESRCH && members->plan.process) {
			member->error = why;
			continue;
		}
		if (!opts->partial) {
			if (err)
				*err = why;
			return r;
		}
		member->error = why;
	}
	return 0;
}

/* An event that was refused somewhere would count too little elsewhere, so that it is closed everywhere,
 * and with it the group that it leads. */
static void take_out(struct members *members)
{
	size_t row;

	for (row = 0; row < members->plan.count; row++) {
		const struct plan_row *plan = &members->plan.rows[row];
		const struct member *member = &members->items[plan->event];
		bool refused = member->error.code && member->error.code != -ESRCH;
		bool alone = plan->leader >= 0 && members->fds[plan->leader] < 0;

		if (members->fds[row] < 0 || (!refused && !alone))
			continue;
		members_close_row(members, row);
	}
}

/* No CPU of the target is one of the event's PMU. */
static void say_no_cpu(const struct member *member, struct perfev_error *err)
{
	const struct perfev_event *event = member->event;

	error_set(err, -ENODEV, PERFEV_WHY_NO_CPU, ERROR_NOWHERE,
		  "cannot open %.100s: %s%.40s counts on CPU %d%s, and none of these is wanted; name one of "
		  "them",
		  event->name, event->pmu ? "its PMU " : "it", event->pmu ? event->pmu : "", event->cpus[0],
		  event->cpu_count > 1 ? " and others" : " only");
}

/* Errors of events that were opened somewhere are forgotten. Fails when none was. */
static int judge(struct members *members, struct perfev_error *err)
{
	size_t i, opened = 0, tools = 0;
	const struct perfev_error *first = NULL;

	for (i = 0; i < members->count; i++) {
		struct member *member = &members->items[i];

		if (member->event->tool) {
			tools++;
			continue;
		}
		if (member->opened && member->error.code == -ESRCH)
			memset(&member->error, 0, sizeof(member->error));
		if (!member->opened && !member->error.code) /* its leader failed */
			member->error = members->items[members->leaders[i]].error;
		if (!member->opened && !member->error.code && member->event->cpu_count &&
		    !members->plan.process)
			say_no_cpu(member, &member->error);
		if (member->error.code && !first)
			first = &member->error;
		opened += member->opened;
	}
	if (opened || (tools && !first))
		return 0;
	if (!first)
		return error_set(err, -ESRCH, PERFEV_WHY_NO_TASK, ERROR_NOWHERE,
				 "cannot open %.100s: the target has no thread left; look at its number again",
				 members->items[0].name);
	if (err)
		*err = *first;
	return first->code;
}

int members_open(struct members *members, struct perfev_target on, const struct members_opts *opts,
		 struct perfev_error *err)
{
	int tries, r = 0; /* of the last try */

	for (tries = 0; tries < TRIES_MAX; tries++) {
		close_rows(members);
		r = make_plan(members, on, opts, err);
		if (r == 0)
			r = open_rows(members, opts, err);
		if (r == BROKEN) {
			tries--; /* each group once */
			continue;
		}
		if (r < 0 || !plan_is_stale(&members->plan, on))
			break;
	}
	if (r < 0)
		return r;
	take_out(members);
	return judge(members, err);
}

int members_control(const struct members *members, unsigned request, const char *verb,
		    struct perfev_error *err)
{
	size_t row;

	for (row = 0; row < members->plan.count; row++) {
		int r;

		if (members->fds[row] < 0 || members->plan.rows[row].leader >= 0)
			continue;
		r = sys_ioctl(members->fds[row], request, 0);
		if (r < 0)
			return error_errno(err, r, "cannot %s %s", verb,
					   members->items[members->plan.rows[row].event].name);
	}
	return 0;
}
