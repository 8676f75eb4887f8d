/* SPDX-License-Identifier: MIT */
#ifndef CAPTURE_EVENT_H
#define CAPTURE_EVENT_H

#include <perfev/event.h>

struct perfev_event {
	struct perf_event_attr attr; /* size: always the newest */
	char *name;
};

struct perfev_events {
	struct perfev_event **items;
	size_t *leaders;
	size_t count, room, leaders_room;
};

/* event_text_parse() - put the events that @text means at the end of @events. */
int event_text_parse(struct perfev_events *events, const char *text, struct perfev_error *err);

/* One name of a generic event. */
struct event_name {
	const char *name;
	uint32_t type;
	uint32_t config;
};

/* event_name_find() - a hardware, software or cache event by perf's name for it
 * Return: 0, or -ENOENT; then *@nearest is a name that may be meant, or NULL. */
int event_name_find(const char *name, size_t size, uint32_t *type, uint64_t *config,
		    const char **nearest);

/* The names with a type and config of their own, not cache events: for lists. */
const struct event_name *event_names(size_t *count);

#endif
