/* SPDX-License-Identifier: MIT */
/*
 * perf-PID.map: a line for each function that was made, and none when it goes. So a line counts for those of its
 * addresses that no later line has.
 */
#include "perf_map.h"
#include "cells.h"

#include "base/digits.h"
#include "file/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX  (256u << 20)
#define LINES_MAX (1u << 22)

struct line {
	uint64_t start, end;
	const char *name;
};

struct lines {
	struct line *items;
	size_t count, room;
};

static int read_text(struct buffer *text, const char *path)
{
	struct source source;
	int r = source_open(&source, path, SOURCE_FILE);

	if (r < 0)
		return r;
	text->max = TEXT_MAX;
	r = buffer_append(text, source.data, (size_t)source.size);
	if (r == 0)
		r = buffer_append(text, "", 1);
	source_close(&source);
	return r;
}

static char *take_hex(char *at, uint64_t *ret)
{
	char *from = at;

	at = digits_read_hex(at, at, ret);
	return at == from || at - from > 16 || *at != ' ' ? NULL : at + 1;
}

/* A start may have 0x before it, as some programs write. */
static int take_line(struct lines *lines, char *at)
{
	struct line line, *items;
	uint64_t size;

	at += at[0] == '0' && (at[1] | 32) == 'x' ? 2 : 0;
	at = take_hex(at, &line.start);
	if (!at)
		return 0;
	at += at[0] == '0' && (at[1] | 32) == 'x' ? 2 : 0;
	at = take_hex(at, &size);
	if (!at || !size || size > UINT64_MAX - line.start || !at[0] || lines->count >= LINES_MAX)
		return 0;
	items = array_grow(lines->items, &lines->room, lines->count, sizeof(*items));
	if (!items)
		return -ENOMEM;
	line.end = line.start + size;
	line.name = at;
	lines->items = items;
	items[lines->count++] = line;
	return 0;
}

static int parse(struct lines *lines, char *text)
{
	char *next;
	int r = 0;

	for (; r == 0 && text; text = next) {
		next = strchr(text, '\n');
		if (next)
			*next++ = 0;
		r = take_line(lines, text);
	}
	return r;
}

static int add_symbols(struct table *table, const struct lines *lines)
{
	struct range *ranges = malloc((lines->count + 1) * sizeof(*ranges)), *pieces = NULL;
	size_t count = 0, i;
	int r = ranges ? 0 : -ENOMEM;

	for (i = 0; ranges && i < lines->count; i++) {
		ranges[i].start = lines->items[i].start;
		ranges[i].end = lines->items[i].end;
		ranges[i].owner = (uint32_t)i;
	}
	if (r == 0)
		r = cells_paint(&pieces, &count, ranges, lines->count);
	for (i = 0; r == 0 && i < count; i++) {
		struct symbol s = {pieces[i].start, pieces[i].end, lines->items[pieces[i].owner].name, 1, false, 0};

		r = table_add(table, &s);
	}
	free(ranges);
	free(pieces);
	return r < 0 ? r : table_finish(table);
}

int perf_map_read(struct table *table, struct buffer *text, const char *path)
{
	struct lines lines = {NULL, 0, 0};
	int r = read_text(text, path);

	if (r == 0)
		r = parse(&lines, (char *)text->data);
	if (r == 0 && lines.count)
		r = add_symbols(table, &lines);
	free(lines.items);
	return r;
}
