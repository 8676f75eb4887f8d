/* SPDX-License-Identifier: MIT */
/* Foreign bytes that are read one after the other. */
#ifndef BASE_BYTE_CURSOR_H
#define BASE_BYTE_CURSOR_H

#include "load.h"

#include <stddef.h>

/* Bytes that are read one after the other; reading beyond them gives zeros, and sets bad. */
struct byte_cursor {
	const unsigned char *at, *end;
	bool swap, bad;
};

static inline size_t cursor_left(const struct byte_cursor *c)
{
	return (size_t)(c->end - c->at);
}

static inline const unsigned char *cursor_take(struct byte_cursor *c, uint64_t size)
{
	const unsigned char *at = c->at;

	if (size > cursor_left(c)) {
		c->bad = true;
		c->at = c->end;
		return NULL;
	}
	c->at += size;
	return at;
}

static inline uint8_t cursor_u8(struct byte_cursor *c)
{
	const unsigned char *at = cursor_take(c, 1);

	return at ? *at : 0;
}

static inline uint16_t cursor_u16(struct byte_cursor *c)
{
	const unsigned char *at = cursor_take(c, 2);

	return at ? load_u16(at, c->swap) : 0;
}

static inline uint32_t cursor_u32(struct byte_cursor *c)
{
	const unsigned char *at = cursor_take(c, 4);

	return at ? load_u32(at, c->swap) : 0;
}

static inline uint64_t cursor_u64(struct byte_cursor *c)
{
	const unsigned char *at = cursor_take(c, 8);

	return at ? load_u64(at, c->swap) : 0;
}

/* A number of groups of seven bits; those above 64 bits are lost. */
static inline uint64_t cursor_leb(struct byte_cursor *c, bool with_sign)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = cursor_u8(c);
		if (shift < 64) {
			value |= (uint64_t)(byte & 0x7f) << shift;
			shift += 7;
		}
	} while (byte & 0x80);
	if (with_sign && shift < 64 && (byte & 0x40))
		value |= ~UINT64_C(0) << shift;
	return value;
}

static inline uint64_t cursor_uleb(struct byte_cursor *c)
{
	return cursor_leb(c, false);
}

static inline int64_t cursor_sleb(struct byte_cursor *c)
{
	return (int64_t)cursor_leb(c, true);
}

#endif
