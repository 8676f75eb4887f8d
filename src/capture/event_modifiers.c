/* SPDX-License-Identifier: MIT */
/*
 * Modifiers of events. u, k and h say where to count: the first that is named leaves out the others, and
 * each one named is counted. Those of a group are added to those of its members; so are the p.
 */
#include "event_scan.h"

#include <string.h>

#define KNOWN "known: u k h G H I p P S D W e b R X"

static const struct {
	char letter;
	uint32_t flag;
} flags[] = {
	{'P', PERFEV_EVENT_MAX_PRECISE}, {'S', PERFEV_EVENT_READ_GROUP}, {'W', PERFEV_EVENT_WEAK},
	{'b', PERFEV_EVENT_BPF},	 {'R', PERFEV_EVENT_RETIRE_LATENCY}, {'X', PERFEV_EVENT_OWN_GROUP},
};

static bool *mode_of(struct modifiers *m, char letter)
{
	switch (letter) {
	case 'u':
		return &m->user;
	case 'k':
		return &m->kernel;
	case 'h':
		return &m->hv;
	case 'G':
		return &m->guest;
	case 'H':
		return &m->host;
	case 'I':
		return &m->idle;
	case 'D':
		return &m->pinned;
	case 'e':
		return &m->exclusive;
	default:
		return NULL;
	}
}

static uint32_t flag_of(char letter)
{
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (flags[i].letter == letter)
			return flags[i].flag;
	return 0;
}

/* One letter. Returns 0; 1 when it is none. */
static int take(struct scan *s, struct modifiers *m, char letter)
{
	bool *mode = mode_of(m, letter);
	uint32_t flag = flag_of(letter);

	if (letter == 'p')
		return ++m->precise > 3 ? scan_syntax(s, s->at, "more than three p") : 0;
	if (!mode && !flag)
		return 1;
	if ((mode && *mode) || (m->flags & flag))
		return scan_syntax(s, s->at, "the same modifier a second time");
	if (mode)
		*mode = true;
	m->flags |= flag;
	return 0;
}

int scan_modifiers(struct scan *s, struct modifiers *ret)
{
	size_t from = s->at;
	int r;

	memset(ret, 0, sizeof(*ret));
	for (;; s->at++) {
		r = take(s, ret, s->text[s->at]);
		if (r < 0)
			return r;
		if (r > 0)
			break;
	}
	ret->text = s->text + from;
	ret->size = s->at - from;
	if (s->text[s->at] && !strchr(",}" BLANKS, s->text[s->at]))
		return scan_syntax(s, s->at, "unknown modifier (" KNOWN ")");
	if (!ret->size)
		return scan_syntax(s, s->at, "a modifier is missing");
	scan_blanks(s);
	return scan_end(s);
}

void modifiers_apply(struct perfev_event *event, const struct modifiers *m, bool leads)
{
	struct perf_event_attr *attr = &event->attr;
	bool some = attr->exclude_user || attr->exclude_kernel || attr->exclude_hv;

	if (m->user || m->kernel || m->hv) {
		attr->exclude_user = !m->user && (!some || attr->exclude_user);
		attr->exclude_kernel = !m->kernel && (!some || attr->exclude_kernel);
		attr->exclude_hv = !m->hv && (!some || attr->exclude_hv);
	}
	if (m->guest || m->host) {
		some = attr->exclude_guest || attr->exclude_host;
		attr->exclude_guest = !m->guest && (!some || attr->exclude_guest);
		attr->exclude_host = !m->host && (!some || attr->exclude_host);
	}
	if (m->idle)
		attr->exclude_idle = 1;
	attr->precise_ip = (attr->precise_ip + m->precise) & 3;
	if (m->pinned && leads)
		attr->pinned = 1;
	if (m->exclusive && leads)
		attr->exclusive = 1;
	event->flags |= m->flags;
}
