/* SPDX-License-Identifier: MIT */
/*
 * Functions that came while their program or kernel ran. What is in the way of one that comes has gone without saying
 * so. They come with rising addresses most often, so that a sorted array costs little.
 */
#include "functions.h"

#include "base/buffer.h"
#include "base/sorted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How many begin at @ip or before. */
static size_t before(const struct functions *f, uint64_t ip)
{
	return sorted_before(f->items, f->count, start, ip);
}

void functions_remove(struct functions *functions, uint64_t start, uint64_t end)
{
	size_t from = before(functions, start), to;

	if (from && functions->items[from - 1].end > start)
		from--;
	for (to = from; to < functions->count && functions->items[to].start < end; to++)
		;
	if (to == from)
		return;
	memmove(&functions->items[from], &functions->items[to], (functions->count - to) * sizeof(*functions->items));
	functions->count -= to - from;
}

int functions_add(struct functions *functions, uint64_t start, uint64_t size, const char *name)
{
	struct function new = {start, start + size, name, 0}, *items;
	size_t at;

	if (!name)
		return -ENOMEM;
	if (new.end <= new.start)
		return 0;
	functions_remove(functions, new.start, new.end);
	if (functions->count >= FUNCTIONS_MAX)
		return 0;
	items = array_grow(functions->items, &functions->room, functions->count, sizeof(*items));
	if (!items)
		return -ENOMEM;
	functions->items = items;
	at = before(functions, new.start);
	memmove(&items[at + 1], &items[at], (functions->count - at) * sizeof(*items));
	items[at] = new;
	functions->count++;
	return 0;
}

struct function *functions_find(const struct functions *functions, uint64_t ip)
{
	size_t at = before(functions, ip);

	return at && ip < functions->items[at - 1].end ? &functions->items[at - 1] : NULL;
}

void functions_free(struct functions *functions)
{
	free(functions->items);
	memset(functions, 0, sizeof(*functions));
}
