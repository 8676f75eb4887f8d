/* SPDX-License-Identifier: MIT */
/*
 * perf-PID.map: a line for each function that was made, and none when it goes. So a line counts for those of its
 * addresses that no later line has: lines are looked at from the last to the first, and each takes what is free yet of
 * the cells between all addresses at which any begins or ends. A cell that is taken points behind itself, and these
 * pointers are shortened, so that each is passed a few times only.
 */
#include "perf_map.h"

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

static int compare(const void *a_, const void *b_)
{
	const uint64_t *a = a_, *b = b_;

	return *a < *b ? -1 : *a > *b;
}

static char *take_hex(char *at, uint64_t *ret)
{
	char *from = at;
	uint64_t value = 0;

	for (; at - from < 17; at++) {
		unsigned digit = (unsigned char)*at;

		if (digit - '0' <= 9)
			digit -= '0';
		else if ((digit | 32) - 'a' <= 5)
			digit = (digit | 32) - 'a' + 10;
		else
			break;
		value = value << 4 | digit;
	}
	*ret = value;
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

static size_t find_cell(const uint64_t *edges, size_t count, uint64_t address)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (edges[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The first free cell from @cell on. */
static uint32_t free_cell(uint32_t *next, uint32_t cell)
{
	uint32_t end = cell, after;

	while (next[end] != end)
		end = next[end];
	for (; next[cell] != end; cell = after) {
		after = next[cell];
		next[cell] = end;
	}
	return end;
}

struct cells {
	uint64_t *edges;
	uint32_t *next;	 /* itself: free */
	uint32_t *owner; /* line + 1 */
	size_t count;	 /* of edges */
};

static int make_cells(struct cells *cells, const struct lines *lines)
{
	size_t i, n = 0;

	cells->edges = malloc((lines->count * 2 + 1) * sizeof(*cells->edges));
	cells->next = malloc((lines->count * 2 + 1) * sizeof(*cells->next));
	cells->owner = calloc(lines->count * 2 + 1, sizeof(*cells->owner));
	if (!cells->edges || !cells->next || !cells->owner)
		return -ENOMEM;
	for (i = 0; i < lines->count; i++) {
		cells->edges[2 * i] = lines->items[i].start;
		cells->edges[2 * i + 1] = lines->items[i].end;
	}
	qsort(cells->edges, lines->count * 2, sizeof(*cells->edges), compare);
	for (i = 0; i < lines->count * 2; i++)
		if (!n || cells->edges[n - 1] != cells->edges[i])
			cells->edges[n++] = cells->edges[i];
	cells->count = n;
	for (i = 0; i <= n && i < lines->count * 2 + 1; i++)
		cells->next[i] = (uint32_t)i;
	return 0;
}

static void paint(struct cells *cells, const struct lines *lines)
{
	size_t i;

	for (i = lines->count; i-- > 0;) {
		uint32_t end = (uint32_t)find_cell(cells->edges, cells->count, lines->items[i].end);
		uint32_t at = free_cell(cells->next, (uint32_t)find_cell(cells->edges, cells->count, lines->items[i].start));

		for (; at < end; at = free_cell(cells->next, at)) {
			cells->owner[at] = (uint32_t)i + 1;
			cells->next[at] = at + 1;
		}
	}
}

/* Neighbouring cells of one line are one symbol. */
static int add_symbols(struct table *table, const struct cells *cells, const struct lines *lines)
{
	size_t i, k;

	for (i = 0; i + 1 < cells->count; i = k) {
		struct symbol s = {cells->edges[i], 0, NULL, 1, false, 0};

		for (k = i + 1; k + 1 < cells->count && cells->owner[k] == cells->owner[i]; k++)
			;
		if (!cells->owner[i])
			continue;
		s.end = cells->edges[k];
		s.name = lines->items[cells->owner[i] - 1].name;
		if (table_add(table, &s) < 0)
			return -ENOMEM;
	}
	return table_finish(table);
}

int perf_map_read(struct table *table, struct buffer *text, const char *path)
{
	struct lines lines = {NULL, 0, 0};
	struct cells cells = {NULL, NULL, NULL, 0};
	int r = read_text(text, path);

	if (r == 0)
		r = parse(&lines, (char *)text->data);
	if (r == 0 && lines.count)
		r = make_cells(&cells, &lines);
	if (r == 0 && lines.count) {
		paint(&cells, &lines);
		r = add_symbols(table, &cells, &lines);
	}
	free(cells.edges);
	free(cells.next);
	free(cells.owner);
	free(lines.items);
	return r;
}
