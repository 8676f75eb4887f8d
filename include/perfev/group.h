/* SPDX-License-Identifier: MIT */
/*
 * perfev/group.h - groups: events that the kernel counts at the same time, and reads by one call
 *
 * Members are on the PMU together or not at all, so that their counts are of the same time, and ratios
 * between them are exact even when events take turns. The first one leads: its times are the group's,
 * and it alone may be pinned or exclusive. A group that no PMU can hold at once is refused.
 */
#ifndef PERFEV_GROUP_H
#define PERFEV_GROUP_H

#include <perfev/counter.h>

PERFEV_BEGIN

/* Each member makes opening, reading and switching tasks slower, and no PMU has so many counters. */
#define PERFEV_GROUP_MAX 64

struct perfev_group;

/*
 * perfev_group_open() - open events as one group
 * @events: the leader first; each with options of its own. Members count whenever the leader does, until
 *	perfev_counter_stop() is called for one of them.
 * @on: as for perfev_counter_open().
 * @opts: with partial set, a member that cannot be opened keeps its index: perfev_group_error(). The
 *	leader must open.
 * The modifier W does not break a group up here; sets (set.h) do that.
 * Return: 0; -EINVAL for members that do not fit: another inherit or clock than the leader's, a pinned or
 * exclusive member; -E2BIG for more than PERFEV_GROUP_MAX; as perfev_counter_open().
 * Since: 0.1
 */
PERFEV_API int perfev_group_open(struct perfev_group **ret, const struct perfev_event *const *events,
				 size_t count, struct perfev_target on,
				 const struct perfev_counter_opts *opts, struct perfev_error *err);
PERFEV_API void perfev_group_close(struct perfev_group *group);

/*
 * perfev_group_add() - open one more member
 * Return: its index; a negative errno, and then the group is as it was.
 * Since: 0.1
 */
PERFEV_API int perfev_group_add(struct perfev_group *group, const struct perfev_event *event,
				struct perfev_error *err);

/*
 * perfev_group_drop() - close one member; the others stay, and keep their indexes
 * Return: 0; -EINVAL for the leader, or when there is none at @index.
 * Since: 0.1
 */
PERFEV_API int perfev_group_drop(struct perfev_group *group, size_t index, struct perfev_error *err);

/*
 * perfev_group_start(), perfev_group_stop() - the whole group, at one moment: through its leader
 * perfev_group_reset() - all counts to 0, as perfev_counter_reset()
 * Return: 0, or a negative errno.
 * Since: 0.1
 */
PERFEV_API int perfev_group_start(struct perfev_group *group, struct perfev_error *err);
PERFEV_API int perfev_group_stop(struct perfev_group *group, struct perfev_error *err);
PERFEV_API int perfev_group_reset(struct perfev_group *group, struct perfev_error *err);

/*
 * perfev_group_read() - all members, of the same moment, by one system call
 * Allocates nothing; with err NULL it may be called from a signal handler.
 * @ret: one reading a member, in the order of opening; @count must be that number. A member that was not
 *	opened reads as PERFEV_NOT_SUPPORTED, one that was dropped as PERFEV_GONE. A pinned group that
 *	could not stay on its PMU is PERFEV_ERROR_STATE in all of them; starting it tries again.
 * Return: 0; -ECHILD when the group is inherited, and a child's differs: members were added or dropped
 * after it began; a negative errno.
 * Since: 0.1
 */
PERFEV_API int perfev_group_read(const struct perfev_group *group, struct perfev_reading *ret,
				 size_t count, struct perfev_error *err);

/* perfev_group_count() - members, with those that were not opened or dropped */
PERFEV_API size_t perfev_group_count(const struct perfev_group *group);
/* perfev_group_at() - the counter at @index, which stays the group's; NULL when there is none */
PERFEV_API struct perfev_counter *perfev_group_at(const struct perfev_group *group, size_t index);
/* perfev_group_find() - the index of the member that records name by @id, or -1 */
PERFEV_API int perfev_group_find(const struct perfev_group *group, uint64_t id);
/* Why the member at @index could not be opened, or NULL when it could. Lives as long as the group. */
PERFEV_API const struct perfev_error *perfev_group_error(const struct perfev_group *group, size_t index);

PERFEV_END

#endif
