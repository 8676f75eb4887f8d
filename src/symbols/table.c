/* SPDX-License-Identifier: MIT */
/*
 * Symbol tables.
 *
 * Choice among symbols of one address, from strongest to weakest reason: it has a size; it is not weak;
 * it is global; its name begins with fewer underscores; its name is longer. That is what the perf tool
 * does, so that both tools name the same function the same.
 *
 * Labels without a size inside of a sized function do not hide it (perf takes either, as its search tree happens to be).
 * Symbols may overlap (a label inside a function). The one that begins last before the address is looked
 * at first, then those around it, so that a large one is found behind a small one; but only a few back.
 */
#include "table.h"
#include "demangle.h"

#include "base/buffer.h"
#include "base/large.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BACK_MAX 64

int table_reserve(struct table *table, size_t count)
{
	if (!count)
		return 0;
	table->items = large_alloc(count * sizeof(*table->items));
	table->room = table->items ? count : 0;
	return table->items ? 0 : -ENOMEM;
}

int table_add(struct table *table, const struct symbol *symbol)
{
	struct symbol *items = array_grow(table->items, &table->room, table->count, sizeof(*items));

	if (!items)
		return -ENOMEM;
	table->items = items;
	items[table->count++] = *symbol;
	return 0;
}

void table_free(struct table *table)
{
	free(table->items);
	free(table->starts);
	free(table->around);
	memset(table, 0, sizeof(*table));
}

/* A stable merge sort: equal addresses keep the order of the file. */
static void merge_runs(const struct symbol *from, struct symbol *to, size_t a, size_t b, size_t end)
{
	size_t left = a, right = b, at = a;

	while (left < b && right < end)
		to[at++] = from[right].start < from[left].start ? from[right++] : from[left++];
	while (left < b)
		to[at++] = from[left++];
	while (right < end)
		to[at++] = from[right++];
}

static bool is_sorted(const struct table *table)
{
	size_t i;

	for (i = 1; i < table->count; i++)
		if (table->items[i].start < table->items[i - 1].start)
			return false;
	return true;
}

static int sort(struct table *table)
{
	struct symbol *from = table->items, *to, *spare;
	size_t width, at;

	if (is_sorted(table))
		return 0;
	spare = malloc(table->count * sizeof(*spare));
	if (!spare)
		return -ENOMEM;
	to = spare;
	for (width = 1; width < table->count; width *= 2) {
		struct symbol *swap = from;

		for (at = 0; at < table->count; at += 2 * width) {
			size_t middle = at + width < table->count ? at + width : table->count;
			size_t end = at + 2 * width < table->count ? at + 2 * width : table->count;

			merge_runs(from, to, at, middle, end);
		}
		from = to;
		to = swap;
	}
	if (from == spare)
		memcpy(table->items, spare, table->count * sizeof(*spare));
	free(spare);
	return 0;
}

static uint64_t page_after(uint64_t address)
{
	return ((address + 4095) & ~UINT64_C(4095)) + 4096;
}

static bool has_sizes(const struct table *table)
{
	size_t i = 0;

	while (i < table->count && table->items[i].end == table->items[i].start)
		i++;
	return i < table->count;
}

/* A label inside of a function that has a size is none of its own, as what is behind it is still the function; nor is one where
 * such a function begins, which is code that has no instructions. */
static void drop_labels(struct table *table)
{
	uint64_t end = 0;
	size_t from, to = 0;

	if (!has_sizes(table))
		return;
	for (from = 0; from < table->count; from++) {
		const struct symbol *s = &table->items[from];

		if (s->end == s->start && s->start < end)
			continue;
		if (s->end > end)
			end = s->end;
		table->items[to++] = *s;
	}
	table->count = to;
}

/* A symbol without a size goes on to the next one; not across the border between kernel and modules. */
static void give_ends(struct table *table)
{
	size_t i;

	for (i = 0; i < table->count; i++) {
		struct symbol *s = &table->items[i];

		if (s->end != s->start)
			continue;
		if (i + 1 == table->count || s[1].module != s->module)
			s->end = page_after(s->start);
		else
			s->end = s[1].start;
	}
}

static int underscores(const char *name)
{
	int n = 0;

	while (name[n] == '_')
		n++;
	return n;
}

/* Names count as they are shown: two constructors of one class have the same. */
static bool better_name(const char *a, const char *b)
{
	char a_text[512], b_text[512];
	int a_under, b_under;

	a = demangle(a, a_text, sizeof(a_text)) ? a_text : a;
	b = demangle(b, b_text, sizeof(b_text)) ? b_text : b;
	a_under = underscores(a);
	b_under = underscores(b);
	if (a_under != b_under)
		return a_under < b_under;
	if (strlen(a) != strlen(b))
		return strlen(a) > strlen(b);
	return strncmp(a, "SyS", 3) && strncmp(a, "compat_SyS", 10);
}

static bool better(const struct symbol *a, const struct symbol *b)
{
	bool a_empty = a->end == a->start, b_empty = b->end == b->start;

	if (a_empty != b_empty)
		return b_empty;
	if ((a->binding == 2) != (b->binding == 2))
		return b->binding == 2;
	if ((a->binding == 1) != (b->binding == 1))
		return a->binding == 1;
	return better_name(a->name, b->name);
}

static void keep_best(struct table *table)
{
	size_t from, to = 0;

	for (from = 0; from < table->count; from++) {
		struct symbol *s = &table->items[from];

		if (to && table->items[to - 1].start == s->start) {
			if (!better(&table->items[to - 1], s))
				table->items[to - 1] = *s;
			continue;
		}
		table->items[to++] = *s;
	}
	table->count = to;
}

/* What a search looks at, apart from the rest. */
static int index_starts(struct table *table)
{
	size_t i, j;

	table->starts = malloc((table->count + 1) * sizeof(*table->starts));
	table->around = malloc((table->count + 1) * sizeof(*table->around));
	if (!table->starts || !table->around)
		return -ENOMEM;
	for (i = 0; i < table->count; i++) {
		table->starts[i] = table->items[i].start;
		for (j = i; j > 0 && table->items[j - 1].end <= table->items[i].end;)
			j = table->around[j - 1];
		table->around[i] = (uint32_t)j;
	}
	return 0;
}

int table_finish(struct table *table)
{
	struct symbol *fit;

	if (sort(table) < 0)
		return -ENOMEM;
	drop_labels(table);
	give_ends(table);
	keep_best(table);
	fit = realloc(table->items, (table->count + 1) * sizeof(*fit));
	if (fit) {
		table->items = fit;
		table->room = table->count + 1;
	}
	return index_starts(table);
}

size_t table_before(const struct table *table, uint64_t address, size_t low, size_t high)
{
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->starts[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

long table_at(const struct table *table, uint64_t address, size_t before)
{
	size_t at = before;

	while (at > 0 && before - at < BACK_MAX) {
		if (address < table->items[at - 1].end)
			return (long)at - 1;
		at = table->around[at - 1];
	}
	return -1;
}

void table_around(const struct table *table, struct table_span *span, uint64_t address, size_t before)
{
	size_t at = before;

	if (before && table->starts[before - 1] > span->first)
		span->first = table->starts[before - 1];
	if (before < table->count && table->starts[before] - 1 < span->last)
		span->last = table->starts[before] - 1;
	while (at > 0 && before - at < BACK_MAX) {
		uint64_t end = table->items[at - 1].end;

		if (address < end) {
			if (end - 1 < span->last)
				span->last = end - 1;
			return;
		}
		if (end > span->first)
			span->first = end;
		at = table->around[at - 1];
	}
}

long table_find(const struct table *table, uint64_t address)
{
	return table_at(table, address, table_before(table, address, 0, table->count));
}
