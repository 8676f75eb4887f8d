/* SPDX-License-Identifier: MIT */
/*
 * perfev/event.h - events: what is counted or sampled, and how
 *
 * An event owns a whole perf_event_attr, which is also its options: everything that the kernel lets
 * one say about an event is said there, by text, by a constructor, or by writing its fields through
 * perfev_event_attr() until the event is opened. An opened counter or sampler keeps its own copy.
 */
#ifndef PERFEV_EVENT_H
#define PERFEV_EVENT_H

#include <perfev/abi.h>
#include <perfev/common.h>

PERFEV_BEGIN

struct perfev_event;
struct perfev_events;

/*
 * perfev_event_parse() - the event that a text means
 * @text: perf's grammar: a name ("cycles", "page-faults", "L1-dcache-load-misses"), "rHEX" for a raw
 *	event, "TYPE:CONFIG" as two numbers, each with modifiers after a colon: u k h (count there
 *	only), G H (guest, host), I (not when idle), p pp ppp (precise), D (pinned), e (exclusive).
 * Counting starts disabled (attr.disabled). Without u, k or h all modes are counted.
 * Return: 0; -EINVAL with err->where = the column, why SYNTAX or UNKNOWN_EVENT, and the nearest name
 * in the text; -ENOMEM.
 * Since: 0.1
 */
PERFEV_API int perfev_event_parse(struct perfev_event **ret, const char *text,
				  struct perfev_error *err);

/*
 * perfev_event_new() - an event from an attr
 * @name: what to call it; copied. @attr: read by its size; copied.
 * Return: 0; -E2BIG when a byte is set that this library's attr does not have; -ENOMEM.
 */
PERFEV_API int perfev_event_new(struct perfev_event **ret, const char *name,
				const struct perf_event_attr *attr, struct perfev_error *err);

/* perfev_event_copy() - a second event, the same as @event */
PERFEV_API int perfev_event_copy(struct perfev_event **ret, const struct perfev_event *event,
				 struct perfev_error *err);
PERFEV_API void perfev_event_free(struct perfev_event *event);

/* The attr, to be read or written until the event is opened. Its size member is kept at the newest
 * size; the bytes live as long as the event. */
PERFEV_API struct perf_event_attr *perfev_event_attr(struct perfev_event *event);

/* The name: the text that was parsed, modifiers included. Lives as long as the event. */
PERFEV_API const char *perfev_event_name(const struct perfev_event *event);

/*
 * perfev_events_parse() - all events that a text means
 * @text: events separated by commas; {a,b} is a group, whose first member leads.
 * Return: as perfev_event_parse().
 * Since: 0.1
 */
PERFEV_API int perfev_events_parse(struct perfev_events **ret, const char *text,
				   struct perfev_error *err);
PERFEV_API int perfev_events_new(struct perfev_events **ret, struct perfev_error *err);
PERFEV_API void perfev_events_free(struct perfev_events *events);

/*
 * perfev_events_add() - put a copy of @event at the end
 * @leader: the index of the group's leader, or -1 for an event of its own.
 * Return: the new event's index; -EINVAL when @leader is not the leader of the last group; -ENOMEM.
 */
PERFEV_API int perfev_events_add(struct perfev_events *events, const struct perfev_event *event,
				 int leader, struct perfev_error *err);

/* perfev_events_append() - put copies of all of @more at the end, groups kept */
PERFEV_API int perfev_events_append(struct perfev_events *events, const struct perfev_events *more,
				    struct perfev_error *err);

/* perfev_events_count() - how many events there are */
PERFEV_API size_t perfev_events_count(const struct perfev_events *events);

/* The event at @index (below the count); owned by @events. */
PERFEV_API struct perfev_event *perfev_events_at(const struct perfev_events *events, size_t index);

/* The index of the leader of the group that the event at @index is in; its own when it is alone. */
PERFEV_API size_t perfev_events_leader(const struct perfev_events *events, size_t index);

PERFEV_END

#endif
