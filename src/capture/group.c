/* SPDX-License-Identifier: MIT */
/*
 * Groups.
 *
 * The leader is opened alone, the others into its group; only the leader's descriptor is read, with
 * PERF_FORMAT_GROUP, and only the leader is started and stopped: the kernel then puts all of them on the PMU at
 * one moment, where the group flag of the ioctls would do it one after the other. Members are found in the answer
 * by their ids, because the kernel leaves out those that were closed.
 */
#include "counter.h"
#include "reading.h"

#include "base/error.h"
#include "base/opts.h"
#include "kernel/sys.h"

#include <perfev/group.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Ids that the kernel gives no event: of members without a counter, and behind the last entry of an answer. */
#define ID_NONE	   UINT64_MAX
#define ID_AT_LAST (ID_NONE - 1)

struct group_member {
	struct perfev_counter *counter; /* NULL: not opened, or dropped */
	uint64_t id;			/* ID_NONE without */
	bool hidden; /* what it counts happens in the kernel, which was excluded */
	enum perfev_why why; /* it was not opened */
};

struct perfev_group {
	struct perfev_counter_opts opts;
	struct perfev_target on;
	bool hides; /* some member is hidden */
	size_t count;
	struct group_member items[PERFEV_GROUP_MAX];
	struct perfev_error errors[PERFEV_GROUP_MAX]; /* apart, as reads do not look at them */
};

/* What the kernel would refuse without a word, or take and count wrongly. */
static int check_member(const struct perfev_group *group, const struct perfev_event *event,
			struct perfev_error *err)
{
	const struct perf_event_attr *leader = &group->items[0].counter->attr, *attr = &event->attr;
	const char *cause = NULL;

	if (attr->inherit != leader->inherit)
		cause = "attr.inherit must be the leader's";
	else if (attr->use_clockid != leader->use_clockid || attr->clockid != leader->clockid)
		cause = "its clock must be the leader's";
	else if (attr->pinned || attr->exclusive)
		cause = "only the leader may be pinned or exclusive";
	if (!cause)
		return 0;
	return error_set(err, -EINVAL, PERFEV_WHY_COMBINATION, ERROR_NOWHERE,
			 "cannot open %.100s in the group of %.100s: %s; set both alike", event->name,
			 group->items[0].counter->event->name, cause);
}

static int open_member(struct perfev_group *group, struct group_member *member,
		       const struct perfev_event *event, struct perfev_error *err)
{
	bool leads = member == group->items;
	uint64_t format = leads ? PERF_FORMAT_GROUP : 0;
	int r = counter_check(event, &group->on, err);

	if (r == 0 && !leads)
		r = check_member(group, event, err);
	if (r == 0)
		r = counter_open(&member->counter, event, format, leads ? -1 : group->items[0].counter->fd,
				 &group->on, &group->opts, err);
	if (r < 0)
		return r;
	r = perfev_counter_id(member->counter, &member->id, err);
	if (r < 0) {
		counter_close(member->counter);
		member->counter = NULL;
		return r;
	}
	member->counter->member = true;
	/* others follow the leader: whose ring it is may be closed by then */
	if (leads && group->opts.output)
		group->opts.output = member->counter;
	member->hidden = reading_is_hidden(&member->counter->attr);
	group->hides |= member->hidden;
	return 0;
}

int perfev_group_add(struct perfev_group *group, const struct perfev_event *event,
		     struct perfev_error *err)
{
	struct group_member *member = &group->items[group->count];
	int r;

	if (group->count == PERFEV_GROUP_MAX)
		return error_set(err, -E2BIG, PERFEV_WHY_COUNTERS, ERROR_NOWHERE,
				 "cannot open %.100s in a group: it has %d members, which is the most; make "
				 "another group",
				 event->name, PERFEV_GROUP_MAX);
	memset(member, 0, sizeof(*member));
	r = open_member(group, member, event, err);
	return r < 0 ? r : (int)group->count++;
}

static int add_all(struct perfev_group *group, const struct perfev_event *const *events, size_t count,
		   struct perfev_error *err)
{
	size_t i;

	for (i = 0; i < count; i++) {
		struct perfev_error why;
		int r = perfev_group_add(group, events[i], &why);

		if (r >= 0)
			continue;
		if (i == 0 || !group->opts.partial || r == -ENOMEM || group->count == PERFEV_GROUP_MAX) {
			if (err)
				*err = why;
			return r;
		}
		group->items[group->count].id = ID_NONE;
		group->items[group->count].why = why.why;
		group->errors[group->count++] = why;
	}
	return 0;
}

int perfev_group_open(struct perfev_group **ret, const struct perfev_event *const *events,
		      size_t count, struct perfev_target on, const struct perfev_counter_opts *opts,
		      struct perfev_error *err)
{
	struct perfev_counter_opts full;
	struct perfev_group *group;
	int r = opts_copy(&full, sizeof(full), opts, err);

	if (r < 0)
		return r;
	if (count == 0)
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot open an empty group; name at least one event");
	group = calloc(1, sizeof(*group));
	if (!group)
		return error_memory(err);
	group->opts = full;
	group->on = on;
	/* members may be added when the caller has closed it */
	if (on.kind == PERFEV_TARGET_CGROUP) {
		group->on.id = sys_dup(on.id);
		r = group->on.id < 0 ? error_errno(err, group->on.id, "cannot open a group on cgroup %d", on.id) : 0;
	}
	if (r == 0)
		r = add_all(group, events, count, err);
	if (r < 0) {
		perfev_group_close(group);
		return r;
	}
	*ret = group;
	return 0;
}

/* The leader last: else the others would become events of their own for a moment. */
void perfev_group_close(struct perfev_group *group)
{
	if (!group)
		return;
	while (group->count)
		counter_close(group->items[--group->count].counter);
	if (group->on.kind == PERFEV_TARGET_CGROUP)
		sys_close(group->on.id);
	free(group);
}

int perfev_group_drop(struct perfev_group *group, size_t index, struct perfev_error *err)
{
	struct perfev_counter *counter = perfev_group_at(group, index);

	if (!counter || index == 0)
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, index,
				 "cannot drop member %zu of a group: %s", index,
				 index ? "there is none" : "it leads; close the group");
	counter_close(counter);
	group->items[index].counter = NULL;
	group->items[index].id = ID_NONE;
	return 0;
}

/* ---- counting -------------------------------------------------------------------------------------------- */

int perfev_group_start(struct perfev_group *group, struct perfev_error *err)
{
	return perfev_counter_start(group->items[0].counter, err);
}

int perfev_group_stop(struct perfev_group *group, struct perfev_error *err)
{
	return perfev_counter_stop(group->items[0].counter, err);
}

int perfev_group_reset(struct perfev_group *group, struct perfev_error *err)
{
	const struct perfev_counter *leader = group->items[0].counter;
	int r = sys_ioctl(leader->fd, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);

	return r < 0 ? error_errno(err, r, "cannot reset the group of %.100s", leader->event->name) : 0;
}

/* A member that is in no answer. */
static void set_absent(const struct group_member *member, enum perfev_status status,
		       struct perfev_reading *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->id = member->id;
	ret->status = status;
	if (!member->counter) {
		ret->id = 0;
		ret->status = member->why ? PERFEV_NOT_SUPPORTED : PERFEV_GONE;
		ret->why = (uint32_t)member->why;
	}
}

/* The kernel's entry of a member, wherever it is; NULL when there is none. */
static const uint64_t *find_entry(const uint64_t *entry, const uint64_t *end, unsigned stride, uint64_t id)
{
	for (; entry < end; entry += stride)
		if (entry[1] == id)
			return entry;
	return NULL;
}

/* Entries are in the order of opening, so that most often the next one is the next member's. */
static inline void spread(const struct perfev_group *group, const uint64_t *words, unsigned stride,
			  struct perfev_reading *ret)
{
	const uint64_t *first = words + READING_GROUP_HEAD, *next = first, *entry;
	const uint64_t *end = first + words[0] * stride;
	const struct group_member *member = group->items, *last = member + group->count;
	struct perfev_reading all = {.enabled_ns = words[1], .running_ns = words[2]};

	reading_judge(&all, false); /* the times are of all */
	for (; member < last; member++, ret++) {
		entry = next;
		if (next[1] != member->id)
			entry = find_entry(first, end, stride, member->id);
		if (!entry) {
			set_absent(member, PERFEV_GONE, ret);
			continue;
		}
		next = entry + stride;
		*ret = all;
		ret->count = entry[0];
		ret->id = entry[1];
		if (stride > 2)
			ret->lost = entry[2];
	}
}

/* What happens in the kernel, which was excluded, reads 0 and was not counted. */
static void hide(const struct perfev_group *group, struct perfev_reading *ret)
{
	size_t i;

	for (i = 0; i < group->count; i++)
		if (group->items[i].hidden && ret[i].status <= PERFEV_NOT_COUNTED)
			reading_judge(&ret[i], true);
}

int perfev_group_read(const struct perfev_group *group, struct perfev_reading *ret, size_t count,
		      struct perfev_error *err)
{
	const struct perfev_counter *leader = group->items[0].counter;
	unsigned stride = reading_stride(&leader->attr);
	uint64_t words[READING_GROUP_WORDS + 2];
	const char *name = leader->event->name;
	ssize_t n;
	size_t i;

	if (count != group->count)
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot read %zu members: the group has %zu", count, group->count);
	n = sys_read_inline(leader->fd, words, READING_GROUP_WORDS * sizeof(*words));
	if (n < 0 && n != -ENODEV)
		return reading_refuse_group(name, (int)n, err);
	if (n > 0) {
		if (!reading_is_group(words, n, stride))
			return reading_refuse_group(name, -EIO, err);
		words[n / 8 + 1] = ID_AT_LAST;
		if (leader->bound && words[2]) /* as reading_bind() */
			words[1] = words[2];
		if (stride == 2)
			spread(group, words, 2, ret);
		else
			spread(group, words, 3, ret);
		if (group->hides)
			hide(group, ret);
		return 0;
	}
	for (i = 0; i < count; i++)
		set_absent(&group->items[i], n ? PERFEV_GONE : PERFEV_ERROR_STATE, &ret[i]);
	return 0;
}

/* ---- members ----------------------------------------------------------------------------------------------- */

size_t perfev_group_count(const struct perfev_group *group)
{
	return group->count;
}

struct perfev_counter *perfev_group_at(const struct perfev_group *group, size_t index)
{
	return index < group->count ? group->items[index].counter : NULL;
}

int perfev_group_find(const struct perfev_group *group, uint64_t id)
{
	size_t i;

	for (i = 0; i < group->count; i++)
		if (group->items[i].counter && group->items[i].id == id)
			return (int)i;
	return -1;
}

const struct perfev_error *perfev_group_error(const struct perfev_group *group, size_t index)
{
	if (index >= group->count || !group->errors[index].code)
		return NULL;
	return &group->errors[index];
}
