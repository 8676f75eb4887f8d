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

#endif
