/* SPDX-License-Identifier: MIT */
#include "glob.h"

#include <stddef.h>
#include <string.h>

/* One set in brackets; *@end is behind it, or NULL when it has no end: then it is a plain bracket. */
static bool in_set(const char *set, char c, const char **end)
{
	const char *at = set + 1;
	bool not = *at == '!' || *at == '^', found = false;

	at += not;
	do {
		char first = *at, last;

		if (!first) {
			*end = NULL;
			return false;
		}
		at++;
		last = first;
		if (at[0] == '-' && at[1] && at[1] != ']') {
			last = at[1];
			at += 2;
		}
		found |= c >= first && c <= last;
	} while (*at != ']');
	*end = at + 1;
	return found != not;
}

/* Does one element match @c? *@next is the one behind it. */
static bool matches(const char *glob, char c, const char **next)
{
	bool found;

	*next = glob + 1;
	if (*glob == '?')
		return true;
	if (*glob == '[') {
		const char *end;

		found = in_set(glob, c, &end);
		if (end) {
			*next = end;
			return found;
		}
	}
	return *glob == c;
}

bool glob_match(const char *glob, const char *text)
{
	const char *star = NULL, *from = NULL, *next; /* the last * and where its text was taken to begin */

	while (*text) {
		if (*glob == '*') {
			star = ++glob;
			from = text;
		} else if (*glob && matches(glob, *text, &next)) {
			glob = next;
			text++;
		} else if (star) { /* the * takes one character more */
			glob = star;
			text = ++from;
		} else {
			return false;
		}
	}
	while (*glob == '*')
		glob++;
	return !*glob;
}

bool glob_is(const char *text)
{
	return strpbrk(text, "*?[") != NULL;
}
