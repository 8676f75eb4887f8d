/* SPDX-License-Identifier: MIT */
#ifndef CAPTURE_EVENT_H
#define CAPTURE_EVENT_H

#include <perfev/event.h>

struct dynamic_probe;

struct perfev_event {
	struct perf_event_attr attr; /* size: always the newest */
	char *name;
	char *probe;  /* what attr.config1 points to, of a probe: a function or a path */
	char *filter; /* to be set when it is opened; NULL none */
	char *pmu;    /* NULL: a kind that has none */
	char *unit;
	char *alias; /* the last of the PMU's own events that its text names; NULL none */
	double scale;
	uint32_t flags; /* PERFEV_EVENT_* */
	uint32_t tool, call_graph;
	uint64_t max_events;
	int32_t *cpus; /* where it is to be opened; cpu_count 0: anywhere */
	size_t cpu_count;
	struct dynamic_probe *dynamic; /* shared by copies; NULL none */
	bool named;   /* by its own term: modifiers are not added */
	uint32_t fan; /* while a text is parsed: which of several PMUs that a word means; 0 none */
};

struct perfev_events {
	struct perfev_event **items;
	size_t *leaders;
	size_t count, room, leaders_room;
};

/* event_blank() - a new event without a name, all zero but for the size of its attr and its scale */
struct perfev_event *event_blank(void);
/* event_set_text() - replaces a text of an event by a copy; false without memory */
bool event_set_text(char **text, const char *value, size_t size);
/* event_set_cpus() - false without memory */
bool event_set_cpus(struct perfev_event *event, const int32_t *cpus, size_t count);
/* event_set_probe() - what attr.config1 is to point to */
bool event_set_probe(struct perfev_event *event, const char *text, size_t size);
/* event_set_unit() - the scale and unit that a PMU gives an event */
bool event_set_unit(struct perfev_event *event, double scale, const char *unit);

/* event_branch_name() - the word for a bit of branch_sample_type in the term branch_type; NULL none */
const char *event_branch_name(uint64_t bit);
/* event_format_at() - perfev_event_format() with names of another machine's tree */
int event_format_at(char *ret, size_t size, const struct perfev_event *event,
		    const struct perfev_parse_opts *opts, struct perfev_error *err);

/* events_take() - puts @event itself at the end; it is freed when that fails */
int events_take(struct perfev_events *events, struct perfev_event *event, int leader,
		struct perfev_error *err);

#endif
