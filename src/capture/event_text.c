/* SPDX-License-Identifier: MIT */
/*
 * Event text -> events.
 *
 *	list  := item { ',' item }
 *	item  := event | [name] '{' event { ',' event } '}' [ ':' modifiers ]
 *	event := word [ '/' terms '/' ] [ ':' modifiers ]
 *
 * Blanks may stand between all of these. What a word may be: event_find.c (names, PMUs), event_place.c (breakpoints, tracepoints, probes). A
 * failure names the column and the word. The events of an item are put into a list of their own first: in a
 * group, those that one word means on several PMUs have to be sorted into a group for each PMU.
 */
#include "event_scan.h"

#include "base/error.h"
#include "base/number.h"
#include "base/opts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one event ------------------------------------------------------------------------------------------ */

static int unknown_event(struct scan *s, size_t size)
{
	const char *word = s->text + s->at, *nearest;
	int shown = size < 100 ? (int)size : 100;

	nearest = scan_nearest(s, size);
	if (word[size] == '/' && s->no_pmus && !s->no_memory)
		return scan_error(s, s->at, PERFEV_WHY_UNKNOWN_EVENT,
				  "whether there is a PMU '%.*s' (column %zu) cannot be seen: there is no "
				  "/sys/bus/event_source/devices; run mount -t sysfs sysfs /sys",
				  shown, word, s->at + 1);
	if (word[size] == '/')
		return scan_error(s, s->at, PERFEV_WHY_UNKNOWN_EVENT,
				  "this machine has no PMU '%.*s' (column %zu)%s%s%s", shown, word, s->at + 1,
				  nearest ? "; did you mean " : "; perfev list shows those it has",
				  nearest ? nearest : "", nearest ? "?" : "");
	if (nearest)
		return scan_error(s, s->at, PERFEV_WHY_UNKNOWN_EVENT,
				  "no event is called '%.*s' (column %zu); did you mean %s?", shown, word,
				  s->at + 1, nearest);
	return scan_error(s, s->at, PERFEV_WHY_UNKNOWN_EVENT,
			  "no event is called '%.*s' (column %zu); perfev list shows what there is", shown,
			  word, s->at + 1);
}

/* "4:0x1c2": type and config as numbers. */
static int numeric_event(struct scan *s, size_t size)
{
	const char *text = s->text + s->at, *second = text + size + 1;
	struct perfev_event *event;
	uint64_t type, config;
	size_t second_size;
	int r = 0;

	if (text[size] != ':' || !number_parse(text, size, &type) || type > UINT32_MAX)
		return SCAN_NONE;
	second_size = scan_word(second);
	if (!number_parse(second, second_size, &config))
		return *second >= '0' && *second <= '9'
			       ? scan_syntax(s, s->at + size + 1, "a number of at most 64 bits is expected")
			       : SCAN_NONE;
	event = event_blank();
	if (!event)
		return error_memory(s->err);
	event->attr.type = (uint32_t)type;
	event->attr.config = config;
	s->at += size + 1 + second_size;
	if (s->text[s->at] == '/') {
		s->at++;
		r = scan_terms(s, event, NULL);
	}
	if (r == 0)
		return scan_put(s, event, "%.*s", (int)(s->text + s->at - text), text);
	perfev_event_free(event);
	return r;
}

/* The prefixes that say what follows. */
static int prefixed_event(struct scan *s)
{
	static const struct {
		const char *prefix;
		bool user, at_return;
	} probes[] = {{"kprobe:", false, false},
		      {"kretprobe:", false, true},
		      {"uprobe:", true, false},
		      {"uretprobe:", true, true}};
	const char *text = s->text + s->at;
	size_t i;

	if (!strncmp(text, "mem:", 4))
		return scan_breakpoint(s);
	if (!strncmp(text, "pfm:", 4))
		return scan_pfm(s, 4);
	for (i = 0; i < sizeof(probes) / sizeof(probes[0]); i++)
		if (!strncmp(text, probes[i].prefix, strlen(probes[i].prefix)))
			return scan_probe(s, strlen(probes[i].prefix), probes[i].user, probes[i].at_return);
	return SCAN_NONE;
}

/* Is what follows the colon more than modifiers? Then it is the name of a tracepoint. */
static bool has_name(const char *rest)
{
	return strspn(rest, MODIFIERS) != scan_word(rest);
}

static int parse_word(struct scan *s)
{
	const char *text = s->text + s->at;
	size_t size = scan_word(text);
	int r;

	if (size == 0)
		return scan_syntax(s, s->at, text[0] ? "an event is missing before this" : "an event is missing");
	r = prefixed_event(s);
	if (r == SCAN_NONE)
		r = numeric_event(s, size);
	if (r == SCAN_NONE)
		r = scan_name(s, size);
	if (r == SCAN_NONE && text[size] == '/')
		r = scan_pmu(s, size);
	if (r == SCAN_NONE && text[size] == ':' && has_name(text + size + 1))
		r = scan_tracepoint(s, size);
	else if (r == SCAN_NONE)
		r = scan_alone(s, size);
	/* "instrctions:u" is no tracepoint, but a name that was meant, with modifiers */
	if (r == SCAN_NONE && text[size] == ':' && !scan_nearest(s, size))
		r = scan_tracepoint(s, size);
	return r == SCAN_NONE ? unknown_event(s, size) : r;
}

/* The name: what the text says for this event alone, with its modifiers. */
static int name_event(struct scan *s, struct perfev_event *event, const struct modifiers *m)
{
	size_t stem = strlen(event->name);
	bool slash = stem && event->name[stem - 1] == '/';
	char *name = malloc(stem + m->size + 2);

	if (!name)
		return error_memory(s->err);
	snprintf(name, stem + m->size + 2, "%s%s%.*s", event->name, slash ? "" : ":", (int)m->size, m->text);
	free(event->name);
	event->name = name;
	return 0;
}

static int parse_event(struct scan *s, bool leads)
{
	size_t first = s->events->count, from, i;
	struct modifiers modifiers;
	bool slash;
	int r;

	scan_blanks(s);
	from = s->at;
	r = parse_word(s);
	if (r < 0 && s->err && s->err->where == ERROR_NOWHERE && r != -ENOMEM)
		s->err->where = from + 1;
	if (r < 0)
		return r;
	slash = s->at > 0 && s->text[s->at - 1] == '/' && s->text[s->at] && !strchr(",}:" BLANKS, s->text[s->at]);
	scan_blanks(s);
	if (s->text[s->at] != ':' && !slash)
		return scan_end(s);
	s->at += !slash;
	scan_blanks(s);
	r = scan_modifiers(s, &modifiers);
	for (i = first; r == 0 && i < s->events->count; i++) {
		struct perfev_event *event = s->events->items[i];

		modifiers_apply(event, &modifiers, leads);
		r = event->named ? 0 : name_event(s, event, &modifiers);
	}
	return r;
}

/* ---- groups ------------------------------------------------------------------------------------------- */

static int group_modifiers(struct scan *s)
{
	struct modifiers modifiers;
	size_t i;
	int r;

	scan_blanks(s);
	if (s->text[s->at] != ':')
		return 0;
	s->at++;
	scan_blanks(s);
	r = scan_modifiers(s, &modifiers);
	for (i = 0; r == 0 && i < s->events->count; i++) {
		if (modifiers.precise + s->events->items[i]->attr.precise_ip > 3)
			return scan_syntax(s, (size_t)(modifiers.text - s->text), "with those of a member, more than three p");
		modifiers_apply(s->events->items[i], &modifiers, true); /* move_group() knows who leads */
	}
	return r;
}

/* The place of the next '{', when all before it is a group's name: which perf takes, and nobody needs. */
static const char *group_name(const char *text)
{
	size_t n = strcspn(text, ",:{}/'[" BLANKS);

	return text[n] == '{' ? text + n : NULL;
}

static int parse_members(struct scan *s)
{
	size_t open = s->at++;
	int r;

	for (;;) {
		r = parse_event(s, s->events->count == 0);
		if (r < 0)
			return r;
		if (s->text[s->at] != ',')
			break;
		s->at++;
	}
	if (s->text[s->at] != '}')
		return scan_syntax(s, open, "the group that opens here is not closed");
	s->at++;
	return group_modifiers(s);
}

/* Moves the members that belong to @fan into a group at the end of @to; with @all also those that belong to
 * no PMU of their own. */
static int move_group(struct perfev_events *to, struct perfev_events *from, uint32_t fan, bool all,
		      struct perfev_error *err)
{
	int leader = -1, r;
	size_t i;

	for (i = 0; i < from->count; i++) {
		struct perfev_event *event = from->items[i];

		if (!event || (event->fan != fan && !(all && !event->fan)))
			continue;
		from->items[i] = NULL;
		event->attr.disabled = leader < 0;
		if (leader >= 0) {
			event->attr.pinned = 0;
			event->attr.exclusive = 0;
		}
		r = events_take(to, event, leader, err);
		if (r < 0)
			return r;
		if (leader < 0)
			leader = r;
	}
	return 0;
}

/* A group for each PMU that words of the group were spread over, in the order in which they come. */
static int move_groups(struct perfev_events *to, struct perfev_events *from, struct perfev_error *err)
{
	bool first = true;
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < from->count; i++) {
		if (!from->items[i] || !from->items[i]->fan)
			continue;
		r = move_group(to, from, from->items[i]->fan, first, err);
		first = false;
	}
	return r == 0 && first ? move_group(to, from, 0, true, err) : r;
}

static int move_each(struct perfev_events *to, struct perfev_events *from, struct perfev_error *err)
{
	size_t i;
	int r = 0;

	for (i = 0; r >= 0 && i < from->count; i++) {
		struct perfev_event *event = from->items[i];

		from->items[i] = NULL;
		event->attr.disabled = 1;
		r = events_take(to, event, -1, err);
	}
	return r < 0 ? r : 0;
}

/* ---- a list ------------------------------------------------------------------------------------------- */

static int parse_item(struct scan *s, struct perfev_events *to)
{
	struct perfev_events *mine = NULL;
	const char *open;
	int r = perfev_events_new(&mine, s->err);

	if (r < 0)
		return r;
	scan_blanks(s);
	open = group_name(s->text + s->at);
	s->events = mine;
	if (open) {
		s->at = (size_t)(open - s->text);
		r = parse_members(s);
		if (r == 0)
			r = move_groups(to, mine, s->err);
	} else {
		r = parse_event(s, true);
		if (r == 0)
			r = move_each(to, mine, s->err);
	}
	perfev_events_free(mine);
	return r;
}

static int parse_list(struct scan *s, struct perfev_events *to)
{
	int r;

	for (;;) {
		r = parse_item(s, to);
		if (r < 0)
			return r;
		if (!s->text[s->at])
			return 0;
		if (s->text[s->at] != ',')
			return scan_syntax(s, s->at, "a comma, or the end, is expected");
		s->at++;
	}
}

int perfev_events_parse_at(struct perfev_events **ret, const char *text,
			   const struct perfev_parse_opts *opts, struct perfev_error *err)
{
	struct perfev_parse_opts full;
	struct perfev_events *events = NULL;
	struct scan s = {.text = text, .err = err};
	int r = opts_copy(&full, sizeof(full), opts, err);

	if (r == 0)
		r = perfev_events_new(&events, err);
	if (r < 0)
		return r;
	s.sysfs = full.sysfs;
	s.tracefs = full.tracefs;
	r = parse_list(&s, events);
	if (s.no_memory || (s.pmus && pmus_no_memory(s.pmus)))
		r = error_memory(err);
	perfev_pmus_free(s.pmus);
	if (r < 0) {
		perfev_events_free(events);
		return r;
	}
	*ret = events;
	return 0;
}

int perfev_events_parse(struct perfev_events **ret, const char *text, struct perfev_error *err)
{
	return perfev_events_parse_at(ret, text, NULL, err);
}

int perfev_event_parse(struct perfev_event **ret, const char *text, struct perfev_error *err)
{
	struct perfev_events *events = NULL;
	int r = perfev_events_parse(&events, text, err);

	if (r < 0)
		return r;
	if (events->count != 1) {
		r = error_set(err, -EINVAL, PERFEV_WHY_SYNTAX, 1,
			      "cannot take '%.150s' as one event: it means %zu; use perfev_events_parse()",
			      text, events->count);
	} else {
		*ret = events->items[0];
		events->items[0] = NULL;
	}
	perfev_events_free(events);
	return r;
}

int perfev_event_pmu(struct perfev_event **ret, const char *pmu, const char *terms, struct perfev_error *err)
{
	size_t size = strlen(pmu) + strlen(terms) + 3;
	char *text = malloc(size);
	int r;

	if (!text)
		return error_memory(err);
	snprintf(text, size, "%s/%s/", pmu, terms);
	r = perfev_event_parse(ret, text, err);
	free(text);
	return r;
}
