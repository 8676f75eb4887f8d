/* SPDX-License-Identifier: MIT */
/* Ranges of addresses that overlap, of which one counts at each address. */
#ifndef SYMBOLS_CELLS_H
#define SYMBOLS_CELLS_H

#include <stddef.h>
#include <stdint.h>

struct range {
	uint64_t start, end;
	uint32_t owner;
	uint32_t reserved;
};

/* cells_paint() - which range has each address: of several the one that stands last in @ranges
 * @ret: pieces without overlaps, in order, neighbours of one owner joined; to be freed.
 * Return: 0, -ENOMEM. */
int cells_paint(struct range **ret, size_t *ret_count, const struct range *ranges, size_t count);

#endif
