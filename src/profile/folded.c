/* SPDX-License-Identifier: MIT */
/*
 * Folded stacks: one line a stack, for flame graph tools. Nodes of different functions with one name give
 * the same line, so lines are made first, then sorted, then equal ones are added up.
 */
#include "profile.h"

#include "base/buffer.h"
#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct line {
	const char *text;
	uint64_t count;
};

/* Names are put into lines whose parts are separated by semicolons and end at the last space. */
static void put_name(char *to, const char *name, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++) {
		unsigned char c = (unsigned char)name[i];

		if (c == ';')
			c = ':';
		else if (c < 0x20 || c == 0x7f)
			c = '?';
		else if (c == ' ' && (i == 0 || i + 1 == size))
			c = '_';
		to[i] = (char)c;
	}
}

static const char *label_of(const struct perfev_profile *p, uint32_t node)
{
	return p->frames[p->nodes[node].frame].label;
}

/* The path of a node, written from its end to its start. */
static const char *path_of(const struct perfev_profile *p, uint32_t node, struct arena *arena)
{
	size_t size = 0, n;
	uint32_t at;
	char *text;

	for (at = node; p->nodes[at].parent != at; at = p->nodes[at].parent)
		size += strlen(label_of(p, at)) + 1;
	if (size == 0)
		return "[no stack]";
	text = arena_take(arena, size);
	if (!text)
		return NULL;
	text[--size] = 0;
	for (at = node; p->nodes[at].parent != at; at = p->nodes[at].parent) {
		n = strlen(label_of(p, at));
		size -= n;
		put_name(text + size, label_of(p, at), n);
		if (size)
			text[--size] = ';';
	}
	return text;
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->text, ((const struct line *)b)->text);
}

static int write_lines(struct line *lines, size_t count, const struct perfev_sink *sink)
{
	char number[32];
	size_t i = 0;

	while (i < count) {
		const char *text = lines[i].text;
		uint64_t sum = 0;
		int n, r;

		for (; i < count && !strcmp(lines[i].text, text); i++)
			sum += lines[i].count;
		n = snprintf(number, sizeof(number), " %llu\n", (unsigned long long)sum);
		r = sink->write(sink->context, text, strlen(text));
		if (r == 0)
			r = sink->write(sink->context, number, (size_t)n);
		if (r < 0)
			return r;
	}
	return 0;
}

int perfev_profile_write_folded(const struct perfev_profile *profile, int event,
				const struct perfev_sink *sink, struct perfev_error *err)
{
	struct arena arena = {NULL};
	struct line *lines;
	size_t count = 0;
	uint32_t i;
	int r;

	if (event >= (int)profile->event_count)
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot write the stacks of event %d: there are %zu", event,
				 profile->event_count);
	lines = malloc((profile->node_count + 1) * sizeof(*lines));
	r = lines ? 0 : -ENOMEM;
	for (i = 0; r == 0 && i < profile->node_count; i++) {
		const struct node *node = &profile->nodes[i];

		if (!node->self || (event >= 0 && node->event != (uint32_t)event))
			continue;
		lines[count].text = path_of(profile, i, &arena);
		lines[count].count = node->self;
		if (!lines[count++].text)
			r = -ENOMEM;
	}
	if (r == 0) {
		qsort(lines, count, sizeof(*lines), compare_lines);
		r = write_lines(lines, count, sink);
	}
	arena_free(&arena);
	free(lines);
	if (r == -ENOMEM)
		return error_memory(err);
	return r < 0 ? error_errno(err, r, "cannot write the folded stacks") : 0;
}
