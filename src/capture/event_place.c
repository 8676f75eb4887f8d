/* SPDX-License-Identifier: MIT */
/*
 * Events at a place: breakpoints, tracepoints, probes.
 *
 *	mem:ADDRESS[/LENGTH][:rwx][/terms/]
 *	SYSTEM:NAME[/terms/]			both may be globs
 *	kprobe:FUNCTION[+OFFSET], kprobe:ADDRESS
 *	uprobe:PATH:FUNCTION[+OFFSET], uprobe:PATH:OFFSET[(COUNTER)]
 */
#include "event_scan.h"
#include "event_make.h"
#include "tracefs.h"

#include "base/error.h"
#include "base/glob.h"
#include "base/number.h"
#include "base/plug.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Terms that may follow, then the event is put down under its text from @from on. */
static int finish(struct scan *s, struct perfev_event *event, size_t from)
{
	int r = 0;

	if (s->text[s->at] == '/') {
		s->at++;
		r = scan_terms(s, event, NULL);
	}
	if (r == 0)
		return scan_put(s, event, "%.*s", (int)(s->at - from), s->text + from);
	perfev_event_free(event);
	return r;
}

/* ---- breakpoints ------------------------------------------------------------------------------------------- */

/* ":rw", but not ":u": letters of access up to the end of the event. Returns their number. */
static size_t access_letters(const char *text, uint32_t *type)
{
	size_t n;

	*type = 0;
	for (n = 0; text[n] && !strchr(",:}/" BLANKS, text[n]); n++) {
		uint32_t bit = text[n] == 'r'   ? HW_BREAKPOINT_R
			       : text[n] == 'w' ? HW_BREAKPOINT_W
			       : text[n] == 'x' ? HW_BREAKPOINT_X
						: 0;

		if (!bit || (*type & bit))
			return 0;
		*type |= bit;
	}
	return n;
}

int scan_breakpoint(struct scan *s)
{
	const char *text = s->text;
	size_t from = s->at, at = s->at + 4, n = strcspn(text + at, ",:{}/" BLANKS);
	uint64_t address, size = 0;
	struct perfev_event *event;
	uint32_t type = HW_BREAKPOINT_RW, letters;

	if (!number_parse(text + at, n, &address))
		return scan_syntax(s, at, "an address is expected");
	at += n;
	if (text[at] == '/') {
		n = strcspn(text + at + 1, ",:{}/" BLANKS);
		if (number_parse(text + at + 1, n, &size) && size)
			at += n + 1;
		else if (text[at + 1] >= '0' && text[at + 1] <= '9')
			return scan_syntax(s, at + 1, "a length in bytes is expected");
	}
	if (text[at] == ':') {
		n = access_letters(text + at + 1, &letters);
		if (n) {
			type = letters;
			at += n + 1;
		}
	}
	event = event_make_breakpoint(address, size, type);
	if (!event)
		return error_memory(s->err);
	s->at = at;
	return finish(s, event, from);
}

/* ---- tracepoints ------------------------------------------------------------------------------------------- */

struct match {
	struct scan *s;
	const char *tracefs;
	size_t terms;	/* where they begin; 0: none */
	size_t end;
	bool said; /* the error is filled in */
};

static int put_tracepoint(struct match *m, struct perfev_event *event, const char *system, const char *name)
{
	struct scan *s = m->s;
	int r;

	m->said = true;
	s->at = m->end;
	if (!m->terms)
		return scan_put(s, event, "%s:%s", system, name);
	s->at = m->terms;
	r = scan_terms(s, event, NULL);
	if (r == 0)
		return scan_put(s, event, "%s:%s%.*s", system, name, (int)(s->at - m->terms + 1),
				s->text + m->terms - 1);
	perfev_event_free(event);
	return r;
}

static int add_tracepoint(void *context, const char *system, const char *name)
{
	struct match *m = context;
	struct perfev_event *event = event_blank();
	int r;

	if (!event)
		return -ENOMEM;
	event->attr.type = PERF_TYPE_TRACEPOINT;
	r = tracefs_id(m->tracefs, system, name, &event->attr.config);
	if (r == 0) {
		r = put_tracepoint(m, event, system, name);
		m->said = r < 0;
		return r;
	}
	perfev_event_free(event);
	return r == -ENOENT ? 0 : r; /* it went away, with its module */
}

/* No tracepoint of that name: the nearest is named. */
static int no_tracepoint(struct scan *s, size_t at, const char *tracefs, const char *system, const char *name)
{
	char nearest[512];

	if (tracefs_nearest(tracefs, system, name, nearest, sizeof(nearest)))
		return scan_error(s, at, PERFEV_WHY_UNKNOWN_EVENT,
				  "no tracepoint is called '%.60s:%.60s' (column %zu); did you mean %.120s?", system,
				  name, at + 1, nearest);
	return scan_error(s, at, PERFEV_WHY_UNKNOWN_EVENT,
			  "no tracepoint is called '%.60s:%.60s' (column %zu); perfev list shows what there is",
			  system, name, at + 1);
}

int scan_tracepoint(struct scan *s, size_t size)
{
	const char *word = s->text + s->at;
	size_t from = s->at, name_size = scan_word(word + size + 1);
	char system[128], name[256], shown[400];
	struct match m = {.s = s};
	size_t before = s->events->count;
	int r = 0;

	if (size >= sizeof(system) || name_size >= sizeof(name) || !name_size)
		return SCAN_NONE;
	memcpy(system, word, size);
	system[size] = 0;
	memcpy(name, word + size + 1, name_size);
	name[name_size] = 0;
	memcpy(shown, word, size + 1 + name_size);
	shown[size + 1 + name_size] = 0;
	m.tracefs = scan_tracefs(s, shown, &r);
	if (!m.tracefs)
		return r;
	m.end = from + size + 1 + name_size;
	if (s->text[m.end] == '/')
		m.terms = m.end + 1;
	if (glob_is(system) || glob_is(name))
		r = tracefs_match(m.tracefs, system, name, add_tracepoint, &m);
	else
		r = add_tracepoint(&m, system, name);
	if (r < 0)
		return m.said ? r : tracefs_refused(r, m.tracefs, shown, s->err);
	return s->events->count > before ? 0 : no_tracepoint(s, from, m.tracefs, system, name);
}

/* ---- probes ------------------------------------------------------------------------------------------------- */

/* "+OFFSET" at the end of @text; cut off. False: what follows a plus is no number. */
static bool split_offset(char *text, uint64_t *offset)
{
	char *plus = strrchr(text, '+');

	*offset = 0;
	if (!plus)
		return true;
	if (!number_parse(plus + 1, strlen(plus + 1), offset))
		return false;
	*plus = 0;
	return true;
}

static int kernel_probe(struct scan *s, char *place, bool at_return, struct perfev_event **ret)
{
	struct event_roots roots = {s->sysfs, s->tracefs};
	uint64_t offset;

	if (number_parse(place, strlen(place), &offset))
		return event_make_kprobe(ret, NULL, offset, at_return, &roots, s->err);
	if (!split_offset(place, &offset) || !*place)
		return scan_syntax(s, s->at, "a function of the kernel, or an address, is expected");
	return event_make_kprobe(ret, place, offset, at_return, &roots, s->err);
}

/* "(COUNTER)" at the end; cut off. */
static bool split_counter(char *text, uint64_t *counter)
{
	size_t n = strlen(text);
	char *open = strrchr(text, '(');

	*counter = 0;
	if (!open || text[n - 1] != ')')
		return true;
	if (!number_parse(open + 1, (size_t)(text + n - 1 - open - 1), counter))
		return false;
	*open = 0;
	return true;
}

static int user_probe(struct scan *s, char *place, bool at_return, struct perfev_event **ret)
{
	char *colon = strrchr(place, ':'), *function = colon ? colon + 1 : NULL;
	struct event_roots roots = {s->sysfs, s->tracefs};
	uint64_t offset, counter, address;
	int r;

	if (!colon || colon == place || !*function)
		return scan_syntax(s, s->at, "PATH:FUNCTION or PATH:OFFSET is expected");
	*colon = 0;
	if (!split_counter(function, &counter))
		return scan_syntax(s, s->at, "the offset of a reference counter, in parentheses, is expected");
	if (!number_parse(function, strlen(function), &offset)) {
		if (!split_offset(function, &offset) || !*function)
			return scan_syntax(s, s->at, "a function of the program, or an offset, is expected");
		r = plug_function_offset(place, function, &address, s->err);
		if (r < 0)
			return r;
		offset += address;
	}
	return event_make_uprobe(ret, place, offset, counter, at_return, &roots, s->err);
}

/* Do terms begin here? Paths have slashes too, but what follows those has a colon in the end. */
static bool is_term(const char *text)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-_");

	return n && text[n] && strchr("=,/", text[n]);
}

/* Up to what ends the event: a comma, a brace, terms, or a colon with modifiers behind the place. */
static size_t place_size(const char *text, bool user)
{
	size_t n = strcspn(text, user ? ",{}" : ",:{}/" BLANKS), last;

	if (!user)
		return n;
	n = scan_trim(text, n);
	for (last = 0; last < n; last++) {
		size_t part = text[last] == ':' ? strcspn(text + last + 1, ":/,{}") : 0;

		if (part && text[last + 1 + part] == '/' && is_term(text + last + part + 2))
			return last + 1 + part;
	}
	for (last = n; last > 0 && text[last - 1] != ':'; last--)
		;
	/* PATH:FUNCTION has one colon at least; one more, behind which only modifiers stand, ends it */
	if (last > 1 && memchr(text, ':', last - 1) && strspn(text + last, MODIFIERS) == n - last)
		return last - 1;
	return n;
}

int scan_probe(struct scan *s, size_t prefix, bool user, bool at_return)
{
	size_t from = s->at, size = place_size(s->text + s->at + prefix, user);
	struct perfev_event *event = NULL;
	char *place = malloc(size + 1);
	int r;

	if (!place)
		return error_memory(s->err);
	memcpy(place, s->text + s->at + prefix, size);
	place[size] = 0;
	s->at += prefix;
	r = user ? user_probe(s, place, at_return, &event) : kernel_probe(s, place, at_return, &event);
	free(place);
	if (r < 0)
		return r;
	s->at += size;
	return finish(s, event, from);
}
