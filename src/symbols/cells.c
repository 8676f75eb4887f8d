/* SPDX-License-Identifier: MIT */
/*
 * Painting: ranges are looked at from the last to the first, and each takes what is free yet of the cells between all
 * addresses at which any begins or ends. A cell that is taken points behind itself, and these pointers are shortened,
 * so that each is passed a few times only.
 */
#include "cells.h"

#include <errno.h>
#include <stdlib.h>

#define FEW 24 /* are sorted by moving them one by one */

struct cells {
	uint64_t *edges;
	uint32_t *at;	 /* of each range, the cell of its first address, and of its end */
	uint32_t *next;	 /* itself: free */
	uint32_t *owner; /* range + 1 */
	size_t count;	 /* of edges */
};

/* ---- edges in order ----------------------------------------------------------------------------------------- */

/* Addresses, and the numbers that they had. */
struct list {
	uint64_t *keys;
	uint32_t *numbers;
};

static void sort_few(struct list list, size_t count)
{
	size_t i, k;

	for (i = 1; i < count; i++) {
		uint64_t key = list.keys[i];
		uint32_t number = list.numbers[i];

		for (k = i; k > 0 && list.keys[k - 1] > key; k--) {
			list.keys[k] = list.keys[k - 1];
			list.numbers[k] = list.numbers[k - 1];
		}
		list.keys[k] = key;
		list.numbers[k] = number;
	}
}

/* By eight bits from @shift on; those that are equal keep their order. */
static void sort_byte(struct list from, struct list to, size_t count, uint64_t least, unsigned shift)
{
	uint32_t place[256] = {0}, sum = 0, n;
	size_t i;

	for (i = 0; i < count; i++)
		place[(from.keys[i] - least) >> shift & 255]++;
	for (i = 0; i < 256; i++) {
		n = place[i];
		place[i] = sum;
		sum += n;
	}
	for (i = 0; i < count; i++) {
		n = place[(from.keys[i] - least) >> shift & 255]++;
		to.keys[n] = from.keys[i];
		to.numbers[n] = from.numbers[i];
	}
}

static void swap(struct list *a, struct list *b)
{
	struct list was = *a;

	*a = *b;
	*b = was;
}

/* Addresses of one unit are near to each other: two or three bytes tell them apart. */
static void sort(struct list *list, struct list *spare, size_t count)
{
	uint64_t least = UINT64_MAX, most = 0;
	unsigned shift;
	size_t i;

	if (count <= FEW) {
		sort_few(*list, count);
		return;
	}
	for (i = 0; i < count; i++) {
		least = list->keys[i] < least ? list->keys[i] : least;
		most = list->keys[i] > most ? list->keys[i] : most;
	}
	for (shift = 0; shift < 64 && (most - least) >> shift; shift += 8) {
		sort_byte(*list, *spare, count, least, shift);
		swap(list, spare);
	}
}

static int list_make(struct list *list, size_t count)
{
	list->keys = malloc((count + 1) * sizeof(*list->keys));
	list->numbers = malloc((count + 1) * sizeof(*list->numbers));
	return list->keys && list->numbers ? 0 : -ENOMEM;
}

static void list_free(struct list *list)
{
	free(list->keys);
	free(list->numbers);
}

/* Each once; a range knows the cells by their numbers. */
static void number_edges(struct cells *cells, struct list *list, size_t count)
{
	size_t i, n = 0;

	for (i = 0; i < count; i++) {
		if (!n || list->keys[n - 1] != list->keys[i])
			list->keys[n++] = list->keys[i];
		cells->at[list->numbers[i]] = (uint32_t)(n - 1);
	}
	cells->edges = list->keys;
	cells->count = n;
	list->keys = NULL;
}

static int sort_edges(struct cells *cells, const struct range *ranges, size_t count)
{
	struct list list = {NULL, NULL}, spare = {NULL, NULL};
	int r = list_make(&list, count * 2);
	size_t i;

	if (r == 0)
		r = list_make(&spare, count * 2);
	for (i = 0; r == 0 && i < count * 2; i++) {
		list.keys[i] = i % 2 ? ranges[i / 2].end : ranges[i / 2].start;
		list.numbers[i] = (uint32_t)i;
	}
	if (r == 0) {
		sort(&list, &spare, count * 2);
		cells->at = spare.numbers;
		spare.numbers = NULL;
		number_edges(cells, &list, count * 2);
	}
	list_free(&list);
	list_free(&spare);
	return r;
}

/* ---- cells ---------------------------------------------------------------------------------------------------- */

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
	size_t i;
	int r = sort_edges(cells, ranges, count);

	if (r < 0)
		return r;
	cells->next = malloc((cells->count + 1) * sizeof(*cells->next));
	cells->owner = calloc(cells->count + 1, sizeof(*cells->owner));
	if (!cells->next || !cells->owner)
		return -ENOMEM;
	for (i = 0; i <= cells->count; i++)
		cells->next[i] = (uint32_t)i;
	return 0;
}

static void paint(struct cells *cells, size_t count)
{
	size_t i;

	for (i = count; i-- > 0;) {
		uint32_t end = cells->at[2 * i + 1], at = free_cell(cells->next, cells->at[2 * i]);

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
	struct cells cells = {NULL, NULL, NULL, NULL, 0};
	int r = make_cells(&cells, ranges, count);

	if (r == 0) {
		paint(&cells, count);
		r = gather(ret, ret_count, &cells, ranges);
	}
	free(cells.edges);
	free(cells.at);
	free(cells.next);
	free(cells.owner);
	return r;
}
