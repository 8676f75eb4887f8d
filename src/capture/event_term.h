/* SPDX-License-Identifier: MIT */
/* One term of an event's text, and the terms that every event has. */
#ifndef CAPTURE_EVENT_TERM_H
#define CAPTURE_EVENT_TERM_H

#include "event_scan.h"

struct term {
	const char *key, *value;
	size_t key_size, value_size;
	size_t at, value_at; /* in the text */
	bool has_value;
};

struct term_work {
	struct scan *s;
	struct perfev_event *event;
	const struct perfev_pmu *pmu; /* NULL: an event without one */
	bool from_alias;	      /* terms are not of the text, but of the kernel */
};

/* "term 'KEY' WHAT (column N)" */
int term_error(const struct term_work *w, const struct term *t, const char *what);
/* term_setting() - takes a term that every event has. SCAN_NONE: it is none. */
int term_setting(struct term_work *w, const struct term *t);
/* The names of those terms, by number; NULL ends them. */
const char *term_setting_name(size_t index);

#endif
