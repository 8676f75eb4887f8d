/* SPDX-License-Identifier: MIT */
/* Bytes of a record, written in either order: what has no room is counted, and not written. */
#ifndef DECODE_PEN_H
#define DECODE_PEN_H

#include "base/load.h"

#include <stddef.h>

#define RECORD_MAX 65528 /* bytes of a record: a multiple of 8 that 16 bits hold */

struct pen {
	unsigned char *to;
	size_t size, at;
	bool swap;
};

static inline void pen_put(struct pen *p, const void *bytes, size_t size)
{
	if (size && p->at <= p->size && size <= p->size - p->at)
		memcpy(p->to + p->at, bytes, size);
	p->at += size;
}

static inline void pen_zeros(struct pen *p, size_t size)
{
	if (size && p->at <= p->size && size <= p->size - p->at)
		memset(p->to + p->at, 0, size);
	p->at += size;
}

/* pen_word() - a number of 2, 4 or 8 bytes */
static inline void pen_word(struct pen *p, uint64_t value, unsigned width)
{
	uint64_t wide = p->swap ? swap_u64(value) : value;
	uint32_t half = p->swap ? swap_u32((uint32_t)value) : (uint32_t)value;
	uint16_t quarter = p->swap ? swap_u16((uint16_t)value) : (uint16_t)value;

	if (width == 8)
		pen_put(p, &wide, 8);
	else if (width == 4)
		pen_put(p, &half, 4);
	else
		pen_put(p, &quarter, 2);
}

/* pen_set() - a number at a place that was written before */
static inline void pen_set(struct pen *p, size_t at, uint64_t value, unsigned width)
{
	size_t end = p->at;

	p->at = at;
	pen_word(p, value, width);
	p->at = end;
}

/* pen_pad() - zeros up to a multiple of 8 */
static inline void pen_pad(struct pen *p)
{
	pen_zeros(p, (8 - p->at % 8) % 8);
}

#endif
