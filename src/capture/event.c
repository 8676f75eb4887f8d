/* SPDX-License-Identifier: MIT */
/* Events: an attr with a name; and lists of them, with the borders of groups. */
#include "event.h"
#include "dynamic_probe.h"

#include "base/buffer.h"
#include "base/error.h"
#include "decode/attr_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What a newer header has in an attr cannot be passed on, so that it must not be set. */
static int check_attr(const char *name, const struct perf_event_attr *attr, struct perfev_error *err)
{
	const unsigned char *bytes = (const unsigned char *)attr;
	uint32_t i;

	if (attr->size > ATTR_BYTES_MAX || (attr->size && attr->size < PERF_ATTR_SIZE_VER0))
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot make event %.100s: the size of its attr is %u, and has to be 0 or from %d to %d",
				 name, attr->size, PERF_ATTR_SIZE_VER0, ATTR_BYTES_MAX);
	for (i = sizeof(*attr); i < attr->size; i++)
		if (bytes[i])
			return error_set(err, -E2BIG, PERFEV_WHY_OPTIONS, i,
					 "cannot make event %.100s: byte %u of its attr is set, and this "
					 "library knows %zu; update the library, or leave it 0",
					 name, i, sizeof(*attr));
	return 0;
}

struct perfev_event *event_blank(void)
{
	struct perfev_event *event = calloc(1, sizeof(*event));

	if (!event)
		return NULL;
	event->attr.size = sizeof(event->attr);
	event->scale = 1;
	return event;
}

bool event_set_text(char **text, const char *value, size_t size)
{
	char *copy = malloc(size + 1);

	if (!copy)
		return false;
	memcpy(copy, value, size);
	copy[size] = 0;
	free(*text);
	*text = copy;
	return true;
}

bool event_set_cpus(struct perfev_event *event, const int32_t *cpus, size_t count)
{
	int32_t *copy = count ? malloc(count * sizeof(*copy)) : NULL;

	if (count && !copy)
		return false;
	if (count)
		memcpy(copy, cpus, count * sizeof(*copy));
	free(event->cpus);
	event->cpus = copy;
	event->cpu_count = count;
	return true;
}

bool event_set_probe(struct perfev_event *event, const char *text, size_t size)
{
	if (!event_set_text(&event->probe, text, size))
		return false;
	event->attr.config1 = (uintptr_t)event->probe;
	return true;
}

bool event_set_unit(struct perfev_event *event, double scale, const char *unit)
{
	event->scale = scale;
	return event_set_text(&event->unit, unit, strlen(unit));
}

int perfev_event_new(struct perfev_event **ret, const char *name,
		     const struct perf_event_attr *attr, struct perfev_error *err)
{
	uint32_t size = attr->size ? attr->size : PERF_ATTR_SIZE_VER0;
	struct perfev_event *event;
	int r = check_attr(name, attr, err);

	if (r < 0)
		return r;
	event = event_blank();
	if (!event)
		return error_memory(err);
	memcpy(&event->attr, attr, size < sizeof(event->attr) ? size : sizeof(event->attr));
	event->attr.size = sizeof(event->attr);
	if (!event_set_text(&event->name, name, strlen(name))) {
		perfev_event_free(event);
		return error_memory(err);
	}
	*ret = event;
	return 0;
}

static bool copy_text(char **to, const char *from)
{
	return !from || event_set_text(to, from, strlen(from));
}

int perfev_event_copy(struct perfev_event **ret, const struct perfev_event *event,
		      struct perfev_error *err)
{
	struct perfev_event *copy = event_blank();

	if (!copy)
		return error_memory(err);
	copy->attr = event->attr;
	copy->attr.size = sizeof(copy->attr); /* a caller may have written another one */
	copy->scale = event->scale;
	copy->flags = event->flags;
	copy->tool = event->tool;
	copy->call_graph = event->call_graph;
	copy->max_events = event->max_events;
	copy->dynamic = dynamic_probe_share(event->dynamic);
	if (!copy_text(&copy->name, event->name) || !copy_text(&copy->filter, event->filter) ||
	    !copy_text(&copy->pmu, event->pmu) || !copy_text(&copy->unit, event->unit) ||
	    !copy_text(&copy->alias, event->alias) ||
	    (event->probe && !event_set_probe(copy, event->probe, strlen(event->probe))) ||
	    !event_set_cpus(copy, event->cpus, event->cpu_count)) {
		perfev_event_free(copy);
		return error_memory(err);
	}
	*ret = copy;
	return 0;
}

void perfev_event_free(struct perfev_event *event)
{
	if (!event)
		return;
	dynamic_probe_release(event->dynamic);
	free(event->name);
	free(event->probe);
	free(event->filter);
	free(event->pmu);
	free(event->unit);
	free(event->alias);
	free(event->cpus);
	free(event);
}

int perfev_event_set_filter(struct perfev_event *event, const char *filter, struct perfev_error *err)
{
	if (!filter) {
		free(event->filter);
		event->filter = NULL;
		return 0;
	}
	return event_set_text(&event->filter, filter, strlen(filter)) ? 0 : error_memory(err);
}

void perfev_event_describe(const struct perfev_event *event, struct perfev_event_info *ret)
{
	ret->pmu = event->pmu ? event->pmu : "";
	ret->unit = event->unit ? event->unit : "";
	ret->filter = event->filter ? event->filter : "";
	ret->scale = event->scale;
	ret->flags = event->flags;
	ret->tool = event->tool;
	ret->call_graph = event->call_graph;
	ret->max_events = event->max_events;
	ret->cpus = event->cpus;
	ret->cpu_count = event->cpu_count;
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

int events_take(struct perfev_events *events, struct perfev_event *event, int leader,
		struct perfev_error *err)
{
	size_t last = events->count - 1;
	int r = 0;

	if (leader >= 0 && (events->count == 0 || events->leaders[last] != (size_t)leader))
		r = error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
			      "cannot add %s to the group of event %d: that is not the last group",
			      event->name, leader);
	if (r == 0)
		r = make_room(events, err);
	if (r < 0) {
		perfev_event_free(event);
		return r;
	}
	events->items[events->count] = event;
	events->leaders[events->count] = leader < 0 ? events->count : (size_t)leader;
	return (int)events->count++;
}

int perfev_events_add(struct perfev_events *events, const struct perfev_event *event, int leader,
		      struct perfev_error *err)
{
	struct perfev_event *copy;
	int r = perfev_event_copy(&copy, event, err);

	return r < 0 ? r : events_take(events, copy, leader, err);
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
	return index < events->count ? events->items[index] : NULL;
}

size_t perfev_events_leader(const struct perfev_events *events, size_t index)
{
	return index < events->count ? events->leaders[index] : index;
}
