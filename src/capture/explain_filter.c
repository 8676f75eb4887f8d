/* SPDX-License-Identifier: MIT */
/*
 * Why a filter was refused. The kernel says EINVAL to all that it does not understand; most often a field
 * is mistyped, which the tracepoint's own format tells.
 */
#include "explain.h"

#include "base/error.h"
#include "kernel/sys.h"

#include <perfev/tracepoint.h>

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS_MAX 128

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The next field that is compared: the first word of each comparison. Returns what is behind it, or NULL. */
static const char *next_field(const char *at, char *word, size_t size)
{
	bool expected = true; /* at the beginning, and behind ( ! && || */

	for (; *at; at++) {
		if (*at == '"' || *at == '\'') {
			const char *end = strchr(at + 1, *at);

			if (!end)
				return NULL;
			at = end;
			expected = false;
		} else if (is_word(*at)) {
			size_t n = 1;

			while (is_word(at[n]))
				n++;
			if (expected && !isdigit((unsigned char)*at) && n < size) {
				memcpy(word, at, n);
				word[n] = 0;
				return at + n;
			}
			at += n - 1;
			expected = false;
		} else if (*at == '(' || *at == '!' || (at[0] == '&' && at[1] == '&') ||
			   (at[0] == '|' && at[1] == '|')) {
			expected = at[0] != '!' || at[1] != '=';
		} else if (!isspace((unsigned char)*at) && *at != '&' && *at != '|') {
			expected = false;
		}
	}
	return NULL;
}

/* What the kernel knows of every event. */
static bool is_generic(const char *word)
{
	static const char *const words[] = {"CPU", "cpu", "COMM", "comm", "stacktrace", "common_cpu"};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(word, words[i]))
			return true;
	return false;
}

/* "'cont' is no field of it; did you mean count?"; false when all are fields. */
static bool name_unknown_field(const struct perfev_tracepoint *tracepoint, const char *filter, char *to,
			       size_t size)
{
	const char *names[FIELDS_MAX], *near;
	const struct perfev_field *field;
	char word[64];
	size_t n = 0;

	while (n < FIELDS_MAX && (field = perfev_tracepoint_field_at(tracepoint, n)) != NULL)
		names[n++] = field->name;
	while ((filter = next_field(filter, word, sizeof(word))) != NULL) {
		if (is_generic(word) || perfev_tracepoint_field(tracepoint, word))
			continue;
		near = perfev_nearest(word, names, n);
		snprintf(to, size, near ? "'%s' is no field of it; did you mean %s?"
					: "'%s' is no field of it%s; look at its format in tracefs",
			 word, near ? near : "");
		return true;
	}
	return false;
}

static void say_why(const struct explain_open *open, const char *filter, char *to, size_t size)
{
	struct perfev_tracepoint *tracepoint = NULL;

	if (open->attr->type != PERF_TYPE_TRACEPOINT ||
	    perfev_tracepoint_find_id(&tracepoint, open->attr->config, NULL, NULL) < 0 ||
	    !name_unknown_field(tracepoint, filter, to, size))
		snprintf(to, size,
			 "the kernel does not understand it; compare fields with == != < <= > >= & or ~, "
			 "joined by && and ||");
	perfev_tracepoint_free(tracepoint);
}

/* How many address filters a PMU takes; 0: none, or that is not known. */
static long address_filters(const char *pmu)
{
	char path[128], text[24];

	if (!pmu || snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/nr_addr_filters", pmu) >= (int)sizeof(path) ||
	    sys_read_text(path, text, sizeof(text)) <= 0)
		return 0;
	return strtol(text, NULL, 10);
}

/* ACTION START[/SIZE][@FILE], separated by commas, blanks or lines: the first word that is no action, or NULL. */
static const char *count_actions(const char *filter, char *word, size_t size, long *count)
{
	static const char *const actions[] = {"filter", "start", "stop"};
	size_t i, n;

	for (*count = 0; *filter; (*count)++) {
		filter += strspn(filter, " ,\n");
		n = strcspn(filter, " ,\n");
		snprintf(word, size, "%.*s", (int)(n < 60 ? n : 60), filter);
		for (i = 0; i < 3 && strcmp(word, actions[i]); i++)
			;
		if (i == 3)
			return perfev_nearest(word, actions, 3) ? perfev_nearest(word, actions, 3) : "filter";
		filter += n;
		filter += strspn(filter, " ");
		filter += strcspn(filter, " ,\n"); /* the range */
		filter += strspn(filter, " ,\n");
	}
	return NULL;
}

static void say_addresses(const char *filter, long most, char *to, size_t size)
{
	char word[64];
	long count;
	const char *near = count_actions(filter, word, sizeof(word), &count);

	if (near)
		snprintf(to, size, "'%s' is no action; did you mean %s? There are filter, start and stop", word, near);
	else if (count > most)
		snprintf(to, size, "it has %ld ranges, and its PMU takes %ld; leave some out", count, most);
	else
		snprintf(to, size,
			 "it is not as its PMU takes them; write ACTION ADDRESS/SIZE@FILE, where some PMUs have no start and "
			 "stop");
}

int explain_filter(int code, const struct explain_open *open, const char *filter,
		   struct perfev_error *err)
{
	bool fields = open->attr->type == PERF_TYPE_TRACEPOINT ||
		      (open->pmu && (!strcmp(open->pmu, "kprobe") || !strcmp(open->pmu, "uprobe")));
	char cause[200];

	if (fields && code != -ENOMEM && code != -EBADF && code != -EFAULT)
		code = -EINVAL; /* the kernel returns numbers of its parser's errors: ENOENT is too many ( */
	if (!err)
		return code;
	if (code == -ENOMEM)
		return error_memory(err);
	if (code == -EINVAL && fields) {
		say_why(open, filter, cause, sizeof(cause));
		return error_set(err, code, PERFEV_WHY_SYNTAX, ERROR_NOWHERE,
				 "cannot filter %.64s by '%.120s': %s", open->event, filter, cause);
	}
	if ((code == -EINVAL || code == -EOPNOTSUPP) && address_filters(open->pmu) > 0) {
		say_addresses(filter, address_filters(open->pmu), cause, sizeof(cause));
		return error_set(err, code, PERFEV_WHY_SYNTAX, ERROR_NOWHERE, "cannot filter %.64s by '%.120s': %s",
				 open->event, filter, cause);
	}
	if (code == -EINVAL || code == -EOPNOTSUPP)
		return error_set(err, code, PERFEV_WHY_UNSUPPORTED, ERROR_NOWHERE,
				 "cannot filter %.64s by '%.120s': its PMU does not take that; leave the "
				 "filter out, or put it on a tracepoint",
				 open->event, filter);
	return error_errno(err, code, "cannot filter %.64s by '%.120s'", open->event, filter);
}
