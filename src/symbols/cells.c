/* SPDX-License-Identifier: MIT */
/*
 * Painting: ranges are looked at from the last to the first, and each takes what is free yet of the cells between all
 * addresses at which any begins or ends. A cell that is taken points behind itself, and these pointers are shortened,
 * so that each is passed a few times only.
 */
#include "cells.h"

#include <errno.h>
#include <stdlib.h>

struct cells {
	uint64_t *edges;
	uint32_t *next;	 /* itself: free */
	uint32_t *owner; /* range + 1 */
	size_t count;	 /* of edges */
};

static int compare(const void *a_, const void *b_)
{
	const uint64_t *a = a_, *b = b_;

	return *a < *b ? -1 : *a > *b;
}

static size_t find_cell(const struct cells *cells, uint64_t address)
{
	size_t low = 0, high = cells->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (cells->edges[middle] < address)
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

static int make_cells(struct cells *cells, const struct range *ranges, size_t count)
{
	size_t i, n = 0;

	cells->edges = malloc((count * 2 + 1) * sizeof(*cells->edges));
	cells->next = malloc((count * 2 + 1) * sizeof(*cells->next));
	cells->owner = calloc(count * 2 + 1, sizeof(*cells->owner));
	if (!cells->edges || !cells->next || !cells->owner)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		cells->edges[2 * i] = ranges[i].start;
		cells->edges[2 * i + 1] = ranges[i].end;
	}
	qsort(cells->edges, count * 2, sizeof(*cells->edges), compare);
	for (i = 0; i < count * 2; i++)
		if (!n || cells->edges[n - 1] != cells->edges[i])
			cells->edges[n++] = cells->edges[i];
	cells->count = n;
	for (i = 0; i <= count * 2; i++)
		cells->next[i] = (uint32_t)i;
	return 0;
}

static void paint(struct cells *cells, const struct range *ranges, size_t count)
{
	size_t i;

	for (i = count; i-- > 0;) {
		uint32_t end = (uint32_t)find_cell(cells, ranges[i].end);
		uint32_t at = free_cell(cells->next, (uint32_t)find_cell(cells, ranges[i].start));

		for (; at < end; at = free_cell(cells->next, at)) {
			cells->owner[at] = (uint32_t)i + 1;
			cells->next[at] = at + 1;
		}
	}
}

static int gather(struct range **ret, size_t *ret_count, const struct cells *cells, const struct range *ranges)
{
	struct range *all = malloc((cells->count + 1) * sizeof(*all));
	size_t n = 0, i;

	if (!all)
		return -ENOMEM;
	for (i = 0; i + 1 < cells->count; i++) {
		uint32_t owner;

		if (!cells->owner[i])
			continue;
		owner = ranges[cells->owner[i] - 1].owner;
		if (n && all[n - 1].owner == owner && all[n - 1].end == cells->edges[i]) {
			all[n - 1].end = cells->edges[i + 1];
			continue;
		}
		all[n].start = cells->edges[i];
		all[n].end = cells->edges[i + 1];
		all[n].owner = owner;
		all[n++].reserved = 0;
	}
	*ret = all;
	*ret_count = n;
	return 0;
}

int cells_paint(struct range **ret, size_t *ret_count, const struct range *ranges, size_t count)
{
	struct cells cells = {NULL, NULL, NULL, 0};
	int r = make_cells(&cells, ranges, count);

	if (r == 0) {
		paint(&cells, ranges, count);
		r = gather(ret, ret_count, &cells, ranges);
	}
	free(cells.edges);
	free(cells.next);
	free(cells.owner);
	return r;
}
