/* SPDX-License-Identifier: MIT */
/* Events: an attr with a name; and lists of them, with the borders of groups. */
#include "event.h"

#include "base/buffer.h"
#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What a newer header has in an attr cannot be passed on, so that it must not be set. */
static int check_attr(const char *name, const struct perf_event_attr *attr, struct perfev_error *err)
{
	const unsigned char *bytes = (const unsigned char *)attr;
	uint32_t i;

	for (i = sizeof(*attr); i < attr->size; i++)
		if (bytes[i])
			return error_set(err, -E2BIG, PERFEV_WHY_OPTIONS, i,
					 "cannot make event %.100s: byte %u of its attr is set, and this "
					 "library knows %zu; update the library, or leave it 0",
					 name, i, sizeof(*attr));
	return 0;
}

int perfev_event_new(struct perfev_event **ret, const char *name,
		     const struct perf_event_attr *attr, struct perfev_error *err)
{
	uint32_t size = attr->size ? attr->size : PERF_ATTR_SIZE_VER0;
	struct perfev_event *event;

	if (check_attr(name, attr, err) < 0)
		return -E2BIG;
	event = calloc(1, sizeof(*event));
	if (!event)
		return error_memory(err);
	memcpy(&event->attr, attr, size < sizeof(event->attr) ? size : sizeof(event->attr));
	event->attr.size = sizeof(event->attr);
	event->name = strdup(name);
	if (!event->name) {
		free(event);
		return error_memory(err);
	}
	*ret = event;
	return 0;
}

int perfev_event_copy(struct perfev_event **ret, const struct perfev_event *event,
		      struct perfev_error *err)
{
	struct perf_event_attr attr = event->attr;

	attr.size = sizeof(attr); /* a caller may have written another one */
	return perfev_event_new(ret, event->name, &attr, err);
}

void perfev_event_free(struct perfev_event *event)
{
	if (!event)
		return;
	free(event->name);
	free(event);
}

struct perf_event_attr *perfev_event_attr(struct perfev_event *event)
{
	event->attr.size = sizeof(event->attr);
	return &event->attr;
}

const char *perfev_event_name(const struct perfev_event *event)
{
	return event->name;
}

int perfev_events_new(struct perfev_events **ret, struct perfev_error *err)
{
	struct perfev_events *events = calloc(1, sizeof(*events));

	if (!events)
		return error_memory(err);
	*ret = events;
	return 0;
}

void perfev_events_free(struct perfev_events *events)
{
	size_t i;

	if (!events)
		return;
	for (i = 0; i < events->count; i++)
		perfev_event_free(events->items[i]);
	free(events->items);
	free(events->leaders);
	free(events);
}

static int make_room(struct perfev_events *events, struct perfev_error *err)
{
	struct perfev_event **items =
		array_grow(events->items, &events->room, events->count, sizeof(*items));
	size_t *leaders;

	if (!items)
		return error_memory(err);
	events->items = items;
	leaders = array_grow(events->leaders, &events->leaders_room, events->count,
			     sizeof(*leaders));
	if (!leaders)
		return error_memory(err);
	events->leaders = leaders;
	return 0;
}

int perfev_events_add(struct perfev_events *events, const struct perfev_event *event, int leader,
		      struct perfev_error *err)
{
	size_t last = events->count - 1;
	int r;

	if (leader >= 0 && (events->count == 0 || events->leaders[last] != (size_t)leader))
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot add %s to the group of event %d: that is not the last group",
				 event->name, leader);
	r = make_room(events, err);
	if (r < 0)
		return r;
	r = perfev_event_copy(&events->items[events->count], event, err);
	if (r < 0)
		return r;
	events->leaders[events->count] = leader < 0 ? events->count : (size_t)leader;
	return (int)events->count++;
}

int perfev_events_append(struct perfev_events *events, const struct perfev_events *more,
			 struct perfev_error *err)
{
	size_t base = events->count, count = more->count, i; /* they may be the same list */

	for (i = 0; i < count; i++) {
		bool leads = more->leaders[i] == i;
		int r = perfev_events_add(events, more->items[i],
					  leads ? -1 : (int)(base + more->leaders[i]), err);

		if (r < 0)
			return r;
	}
	return 0;
}

size_t perfev_events_count(const struct perfev_events *events)
{
	return events->count;
}

struct perfev_event *perfev_events_at(const struct perfev_events *events, size_t index)
{
	return events->items[index];
}

size_t perfev_events_leader(const struct perfev_events *events, size_t index)
{
	return events->leaders[index];
}
