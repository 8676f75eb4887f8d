/* SPDX-License-Identifier: MIT */
#include "event_scan.h"
#include "tracefs.h"

#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS_MAX 100000 /* that one text may mean */

/* Of a long text the beginning is shown: what is wrong with it must fit behind. */
#define SHOWN "%.150s"

size_t scan_word(const char *text)
{
	size_t n = 0, set;

	for (;;) {
		n += strcspn(text + n, ",:{}/[" BLANKS);
		if (text[n] != '[')
			return n;
		set = strcspn(text + n, "]"); /* a set of a glob may have any character */
		if (!text[n + set])
			return n;
		n += set + 1;
	}
}

size_t scan_trim(const char *text, size_t size)
{
	while (size && strchr(BLANKS, text[size - 1]))
		size--;
	return size;
}

int scan_end(const struct scan *s)
{
	if (s->text[s->at] && !strchr(",}", s->text[s->at]))
		return scan_syntax(s, s->at, "a comma, or the end, is expected");
	return 0;
}

void scan_blanks(struct scan *s)
{
	s->at += strspn(s->text + s->at, BLANKS);
}

#define GRAMMAR "EVENTS in perfev(1) says what may stand there"

int scan_syntax(const struct scan *s, size_t at, const char *what)
{
	return error_set(s->err, -EINVAL, PERFEV_WHY_SYNTAX, at + 1,
			 "cannot parse event '" SHOWN "': %s at column %zu; " GRAMMAR, s->text, what, at + 1);
}

int scan_error(const struct scan *s, size_t at, enum perfev_why why, const char *format, ...)
{
	char cause[300];
	va_list args;

	va_start(args, format);
	vsnprintf(cause, sizeof(cause), format, args);
	va_end(args);
	return error_set(s->err, -EINVAL, why, at + 1, "cannot parse event '" SHOWN "': %s%s", s->text, cause,
			 strchr(cause, ';') ? "" : "; " GRAMMAR);
}

struct perfev_pmus *scan_pmus(struct scan *s)
{
	int r;

	if (s->pmus || s->no_pmus)
		return s->pmus;
	r = pmus_list(&s->pmus, s->sysfs, NULL);
	s->no_pmus = r < 0;
	s->no_memory |= r == -ENOMEM;
	return s->pmus;
}

const char *scan_tracefs(struct scan *s, const char *what, int *code)
{
	if (s->tracefs)
		return s->tracefs;
	if (!s->mounted[0]) {
		*code = tracefs_find(s->mounted, sizeof(s->mounted));
		if (*code < 0) {
			tracefs_refused(*code, "", what, s->err);
			return NULL;
		}
	}
	return s->mounted;
}

int scan_put(struct scan *s, struct perfev_event *event, const char *format, ...)
{
	char *stem = NULL;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (s->events->count >= EVENTS_MAX) {
		perfev_event_free(event);
		return scan_error(s, s->at, PERFEV_WHY_SYNTAX, "it means more than %d events", EVENTS_MAX);
	}
	if (!event->named)
		stem = n < 0 ? NULL : malloc((size_t)n + 1);
	if (!event->named && !stem) {
		perfev_event_free(event);
		return error_memory(s->err);
	}
	if (stem) {
		va_start(args, format);
		vsnprintf(stem, (size_t)n + 1, format, args);
		va_end(args);
		free(event->name);
		event->name = stem;
	}
	n = events_take(s->events, event, -1, s->err);
	return n < 0 ? n : 0;
}
