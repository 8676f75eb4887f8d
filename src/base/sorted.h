/* SPDX-License-Identifier: MIT */
/* Searches in arrays that are sorted by a number of 64 bits, which is a member of each item. */
#ifndef BASE_SORTED_H
#define BASE_SORTED_H

#include <stddef.h>
#include <stdint.h>

static inline size_t sorted_count(const void *first, size_t count, size_t size, uint64_t value)
{
	const unsigned char *at = (const unsigned char *)first;
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (*(const uint64_t *)(const void *)(at + middle * size) <= value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* sorted_before() - how many of @items have a @member that is @value or less */
#define sorted_before(items, count, member, value) \
	sorted_count((count) ? &(items)[0].member : NULL, count, sizeof((items)[0]), value)

#endif
