/* SPDX-License-Identifier: MIT */
/*
 * Event text -> events.
 *
 *	list  := item { ',' item }
 *	item  := event | '{' event { ',' event } '}' [ ':' modifiers ]
 *	event := word [ ':' modifiers ]
 *	word  := name | 'r' hex | type ':' config
 *
 * A failure names the column and the word. Modifiers of a group are put on each of its members.
 */
#include "event.h"

#include "base/error.h"
#include "decode/event_name.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct scan {
	const char *text;
	size_t at;
	struct perfev_error *err;
	struct perfev_events *events;
};

/* Of a long text the beginning is shown: what is wrong with it must fit behind. */
#define SHOWN "%.150s"

static int syntax(const struct scan *s, size_t at, const char *what)
{
	return error_set(s->err, -EINVAL, PERFEV_WHY_SYNTAX, at + 1,
			 "cannot parse event '" SHOWN "': %s at column %zu", s->text, what, at + 1);
}

static size_t word_length(const char *text)
{
	return strcspn(text, ",:{}/ \t");
}

static bool parse_hex(const char *text, size_t size, uint64_t *ret)
{
	uint64_t value = 0;
	size_t i;

	if (size > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		text += 2;
		size -= 2;
	}
	if (size == 0 || size > 16)
		return false;
	for (i = 0; i < size; i++) {
		char c = text[i];
		unsigned digit;

		if (c >= '0' && c <= '9')
			digit = (unsigned)(c - '0');
		else if (c >= 'a' && c <= 'f')
			digit = (unsigned)(c - 'a') + 10;
		else if (c >= 'A' && c <= 'F')
			digit = (unsigned)(c - 'A') + 10;
		else
			return false;
		value = value << 4 | digit;
	}
	*ret = value;
	return true;
}

/* A number as C writes it: decimal, or hexadecimal with 0x. */
static bool parse_number(const char *text, size_t size, uint64_t *ret)
{
	uint64_t value = 0;
	size_t i;

	if (size > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return parse_hex(text, size, ret);
	if (size == 0)
		return false;
	for (i = 0; i < size; i++) {
		unsigned digit = (unsigned)(text[i] - '0');

		if (digit > 9 || value > (UINT64_MAX - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*ret = value;
	return true;
}

struct modifiers {
	bool user, kernel, hv, guest, host, idle, pinned, exclusive;
	unsigned precise;
};

static int parse_modifiers(struct scan *s, struct modifiers *ret)
{
	size_t from = s->at;

	memset(ret, 0, sizeof(*ret));
	for (;; s->at++) {
		switch (s->text[s->at]) {
		case 'u':
			ret->user = true;
			continue;
		case 'k':
			ret->kernel = true;
			continue;
		case 'h':
			ret->hv = true;
			continue;
		case 'G':
			ret->guest = true;
			continue;
		case 'H':
			ret->host = true;
			continue;
		case 'I':
			ret->idle = true;
			continue;
		case 'D':
			ret->pinned = true;
			continue;
		case 'e':
			ret->exclusive = true;
			continue;
		case 'p':
			if (++ret->precise > 3)
				return syntax(s, s->at, "more than three p");
			continue;
		default:
			break;
		}
		break;
	}
	if (s->text[s->at] && !strchr(",}", s->text[s->at]))
		return syntax(s, s->at, "unknown modifier (known: u k h G H I D e p)");
	return s->at == from ? syntax(s, s->at, "a modifier is missing") : 0;
}

static void apply_modifiers(struct perf_event_attr *attr, const struct modifiers *m, bool leads)
{
	if (m->user || m->kernel || m->hv) {
		attr->exclude_user = !m->user;
		attr->exclude_kernel = !m->kernel;
		attr->exclude_hv = !m->hv;
	}
	if (m->guest || m->host) {
		attr->exclude_guest = !m->guest;
		attr->exclude_host = !m->host;
	}
	if (m->idle)
		attr->exclude_idle = 1;
	if (m->precise)
		attr->precise_ip = (unsigned)(m->precise & 3);
	if (m->pinned && leads)
		attr->pinned = 1;
	if (m->exclusive && leads)
		attr->exclusive = 1;
}

/* "4:0x1c2": type and config as numbers. */
static bool numeric_event(struct scan *s, size_t size, struct perf_event_attr *attr)
{
	const char *text = s->text + s->at, *second = text + size + 1;
	uint64_t type, config;
	size_t second_size;

	if (text[size] != ':' || !parse_number(text, size, &type) || type > UINT32_MAX)
		return false;
	second_size = word_length(second);
	if (!parse_number(second, second_size, &config))
		return false;
	attr->type = (uint32_t)type;
	attr->config = config;
	s->at += size + 1 + second_size;
	return true;
}

static int unknown_event(const struct scan *s, size_t size, const char *nearest)
{
	int word = size < 100 ? (int)size : 100;

	if (nearest)
		return error_set(s->err, -EINVAL, PERFEV_WHY_UNKNOWN_EVENT, s->at + 1,
				 "cannot parse event '" SHOWN "': no event is called '%.*s' (column %zu); did "
				 "you mean %s?",
				 s->text, word, s->text + s->at, s->at + 1, nearest);
	return error_set(s->err, -EINVAL, PERFEV_WHY_UNKNOWN_EVENT, s->at + 1,
			 "cannot parse event '" SHOWN "': no event is called '%.*s' (column %zu); perfev list "
			 "shows what there is",
			 s->text, word, s->text + s->at, s->at + 1);
}

static int parse_word(struct scan *s, struct perf_event_attr *attr)
{
	const char *text = s->text + s->at, *nearest;
	size_t size = word_length(text);
	uint64_t config;

	if (size == 0)
		return syntax(s, s->at, text[0] ? "an event is missing before this" : "an event is missing");
	if (numeric_event(s, size, attr))
		return 0;
	if (event_name_find(text, size, &attr->type, &config, &nearest) < 0) {
		if (text[0] != 'r' || !parse_hex(text + 1, size - 1, &config))
			return unknown_event(s, size, nearest);
		attr->type = PERF_TYPE_RAW;
	}
	attr->config = config;
	s->at += size;
	return 0;
}

static int add_event(struct scan *s, size_t from, const struct perf_event_attr *attr, int leader)
{
	char *name = malloc(s->at - from + 1);
	struct perfev_event *event;
	int r;

	if (!name)
		return error_memory(s->err);
	memcpy(name, s->text + from, s->at - from);
	name[s->at - from] = 0;
	r = perfev_event_new(&event, name, attr, s->err);
	free(name);
	if (r < 0)
		return r;
	r = perfev_events_add(s->events, event, leader, s->err);
	perfev_event_free(event);
	return r;
}

static int parse_event(struct scan *s, int leader)
{
	struct perf_event_attr attr;
	struct modifiers modifiers;
	size_t from = s->at;
	int r;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.disabled = leader < 0;
	r = parse_word(s, &attr);
	if (r < 0)
		return r;
	if (s->text[s->at] == ':') {
		s->at++;
		r = parse_modifiers(s, &modifiers);
		if (r < 0)
			return r;
		apply_modifiers(&attr, &modifiers, leader < 0);
	}
	if (s->text[s->at] && !strchr(",}", s->text[s->at]))
		return syntax(s, s->at, "a comma, or the end, is expected");
	return add_event(s, from, &attr, leader);
}

static int group_modifiers(struct scan *s, size_t first)
{
	struct modifiers modifiers;
	size_t i;
	int r;

	if (s->text[s->at] != ':')
		return 0;
	s->at++;
	r = parse_modifiers(s, &modifiers);
	for (i = first; r == 0 && i < s->events->count; i++)
		apply_modifiers(&s->events->items[i]->attr, &modifiers, i == first);
	return r;
}

static int parse_group(struct scan *s)
{
	size_t open = s->at++, first = s->events->count;
	int leader = -1, r;

	for (;;) {
		r = parse_event(s, leader);
		if (r < 0)
			return r;
		leader = (int)first;
		if (s->text[s->at] != ',')
			break;
		s->at++;
	}
	if (s->text[s->at] != '}')
		return syntax(s, open, "the group that opens here is not closed");
	s->at++;
	return group_modifiers(s, first);
}

/* Puts the events that @text means at the end of @events. */
static int parse_text(struct perfev_events *events, const char *text, struct perfev_error *err)
{
	struct scan s = {text, 0, err, events};
	int r;

	for (;;) {
		r = text[s.at] == '{' ? parse_group(&s) : parse_event(&s, -1);
		if (r < 0)
			return r;
		if (!text[s.at])
			return 0;
		if (text[s.at] != ',')
			return syntax(&s, s.at, "a comma, or the end, is expected");
		s.at++;
	}
}

int perfev_events_parse(struct perfev_events **ret, const char *text, struct perfev_error *err)
{
	struct perfev_events *events = NULL;
	int r = perfev_events_new(&events, err);

	if (r < 0)
		return r;
	r = parse_text(events, text, err);
	if (r < 0) {
		perfev_events_free(events);
		return r;
	}
	*ret = events;
	return 0;
}

int perfev_event_parse(struct perfev_event **ret, const char *text, struct perfev_error *err)
{
	struct perfev_events *events = NULL;
	int r = perfev_events_parse(&events, text, err);

	if (r < 0)
		return r;
	if (events->count != 1)
		r = error_set(err, -EINVAL, PERFEV_WHY_SYNTAX, 1,
			      "cannot take '%s' as one event: it means %zu; use perfev_events_parse()",
			      text, events->count);
	else
		r = perfev_event_copy(ret, events->items[0], err);
	perfev_events_free(events);
	return r;
}
