/* SPDX-License-Identifier: MIT */
/*
 * Parsing event text: one place in a text, and what was found so far.
 *
 * A word may mean many events; each is put at the end of @events with a name of its own, its stem, to
 * which the modifiers that follow are added.
 */
#ifndef CAPTURE_EVENT_SCAN_H
#define CAPTURE_EVENT_SCAN_H

#include "event.h"
#include "pmu.h"

struct scan {
	const char *text;
	size_t at;
	struct perfev_error *err;
	struct perfev_events *events;
	const char *sysfs;
	const char *tracefs; /* given; NULL: where it is mounted */
	char mounted[512];   /* "": not looked for yet */
	struct perfev_pmus *pmus; /* NULL: not listed yet */
	bool no_pmus;	     /* there is no sysfs */
	bool no_memory;	     /* for a list: something may have been overlooked */
};

#define SCAN_NONE 1 /* what a scan function returns when the text means something else */
#define MODIFIERS "ukhGHIpPSDWebRX"
#define BLANKS	  " \t\n" /* may stand between words */

size_t scan_word(const char *text);
/* @size without the blanks at its end */
size_t scan_trim(const char *text, size_t size);
void scan_blanks(struct scan *s);
/* Does an event end here? An error when not. */
int scan_end(const struct scan *s);
/* "cannot parse event 'TEXT': WHAT at column N" */
int scan_syntax(const struct scan *s, size_t at, const char *what);
/* "cannot parse event 'TEXT': ..." with a why of its own */
int scan_error(const struct scan *s, size_t at, enum perfev_why why, const char *format, ...) PERFEV_PRINTF(4, 5);
/* The list of PMUs; NULL when there is none, or no memory: then the whole text fails in the end. */
struct perfev_pmus *scan_pmus(struct scan *s);
/* The root of tracefs, or NULL with an error that says why @what cannot be looked up. */
const char *scan_tracefs(struct scan *s, const char *what, int *code);

/* scan_put() - @event at the end, under the stem that @format makes. It is freed when that fails. */
int scan_put(struct scan *s, struct perfev_event *event, const char *format, ...) PERFEV_PRINTF(3, 4);

/* event_find.c: the word at the place, with its terms */
int scan_name(struct scan *s, size_t size);
int scan_pmu(struct scan *s, size_t size);
/* An event that PMUs name, on each of them that has it: all of them are read. */
int scan_alone(struct scan *s, size_t size);
/* The name that is most like the word at the place, or NULL. */
const char *scan_nearest(struct scan *s, size_t size);
/* A generic or raw event on each PMU that has to have its own. Terms may follow. */
int scan_generic(struct scan *s, const char *stem, size_t stem_size, uint32_t type, uint64_t config);

/* event_place.c: what begins with a word and a colon */
int scan_breakpoint(struct scan *s);
int scan_tracepoint(struct scan *s, size_t size);
int scan_probe(struct scan *s, size_t prefix, bool user, bool at_return);
/* event_pfm.c */
int scan_pfm(struct scan *s, size_t prefix);

/* event_terms.c: the terms between the slashes, the first of which is at the place */
int scan_terms(struct scan *s, struct perfev_event *event, const struct perfev_pmu *pmu);
/* The terms of an event that the kernel names. */
int scan_alias(struct scan *s, struct perfev_event *event, const struct perfev_pmu *pmu,
	       const struct perfev_pmu_event *alias, const char *given);

/* event_modifiers.c */
struct modifiers {
	bool user, kernel, hv, guest, host, idle, pinned, exclusive;
	unsigned precise;
	uint32_t flags;
	const char *text;
	size_t size;
};
int scan_modifiers(struct scan *s, struct modifiers *ret);
void modifiers_apply(struct perfev_event *event, const struct modifiers *m, bool leads);

#endif
