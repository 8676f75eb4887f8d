/* SPDX-License-Identifier: MIT */
/* Event text: any text gives events or an error in it; the names of events are texts that mean them. */
#include "fuzz.h"

#include <perfev/event.h>

#include "decode/event_name.h"

static void check_event(struct perfev_event *event, size_t leads)
{
	struct perfev_event *again;
	struct perf_event_attr *attr = perfev_event_attr(event);
	char name[64];

	/* a member of a group starts with its leader, and its group's modifiers are no part of its name */
	if (perfev_event_parse(&again, perfev_event_name(event), NULL) < 0)
		abort();
	if (perfev_event_attr(again)->type != attr->type ||
	    perfev_event_attr(again)->config != attr->config || attr->disabled != leads)
		abort();
	perfev_event_free(again);
	event_name_format(name, sizeof(name), attr);
	if (attr->type == PERF_TYPE_RAW || attr->type == PERF_TYPE_TRACEPOINT ||
	    (attr->type < 2 && attr->config >> 32))
		return; /* their names are for people */
	if (perfev_event_parse(&again, name, NULL) < 0 ||
	    perfev_event_attr(again)->config != attr->config ||
	    perfev_event_attr(again)->type != attr->type)
		abort();
	perfev_event_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct perfev_events *events;
	struct perfev_error err;
	size_t i;

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = 0;
	if (perfev_events_parse(&events, text, &err) < 0) {
		if (!err.code || !err.text[0] || err.where < 1 || err.where > strlen(text) + 1)
			abort();
	} else {
		for (i = 0; i < perfev_events_count(events); i++)
			check_event(perfev_events_at(events, i), perfev_events_leader(events, i) == i);
		perfev_events_free(events);
	}
	free(text);
	return 0;
}
