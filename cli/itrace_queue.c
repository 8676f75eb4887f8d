/* SPDX-License-Identifier: MIT */
/*
 * Which stream tells the next: a binary heap by time. Of equal times the order is that of perf's heap, which fills the place of the
 * first from the children, the right one where they are equal, and puts the last one where that ends.
 */
#include "itrace_base.h"

#include <stdlib.h>

static void put_up(struct queued *heap, size_t at, struct queued item)
{
	for (; at && heap[(at - 1) / 2].tsc > item.tsc; at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = item;
}

void itrace_queue(struct itrace *it, struct stream *stream)
{
	put_up(it->heap, it->heap_count++, (struct queued){stream->next.tsc, stream});
}

struct stream *itrace_unqueue(struct itrace *it)
{
	struct queued *heap = it->heap;
	struct stream *first = heap[0].stream;
	size_t at = 0, count = --it->heap_count, left;

	while ((left = 2 * at + 1) < count) {
		if (left + 1 < count && heap[left].tsc >= heap[left + 1].tsc)
			left++;
		heap[at] = heap[left];
		at = left;
	}
	put_up(heap, at, heap[count]);
	return first;
}
