/* SPDX-License-Identifier: MIT */
/* Bytes of call frame information. */
#ifndef SYMBOLS_UNWIND_READ_H
#define SYMBOLS_UNWIND_READ_H

#include "base/load.h"

/* Bytes that are read one after the other; reading beyond them gives zeros, and sets bad. */
struct cfi_cursor {
	const unsigned char *at, *end;
	bool swap, bad;
};

static inline const unsigned char *cfi_take(struct cfi_cursor *c, uint64_t size)
{
	const unsigned char *at = c->at;

	if (size > (uint64_t)(c->end - c->at)) {
		c->bad = true;
		c->at = c->end;
		return NULL;
	}
	c->at += size;
	return at;
}

static inline uint8_t cfi_u8(struct cfi_cursor *c)
{
	const unsigned char *at = cfi_take(c, 1);

	return at ? *at : 0;
}

static inline uint16_t cfi_u16(struct cfi_cursor *c)
{
	const unsigned char *at = cfi_take(c, 2);

	return at ? load_u16(at, c->swap) : 0;
}

static inline uint32_t cfi_u32(struct cfi_cursor *c)
{
	const unsigned char *at = cfi_take(c, 4);

	return at ? load_u32(at, c->swap) : 0;
}

static inline uint64_t cfi_u64(struct cfi_cursor *c)
{
	const unsigned char *at = cfi_take(c, 8);

	return at ? load_u64(at, c->swap) : 0;
}

/* A number of groups of seven bits; those above 64 bits are lost. */
static inline uint64_t cfi_uleb(struct cfi_cursor *c)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = cfi_u8(c);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += shift < 64 ? 7 : 0;
	} while (byte & 0x80);
	return value;
}

static inline int64_t cfi_sleb(struct cfi_cursor *c)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = cfi_u8(c);
		if (shift < 64) {
			value |= (uint64_t)(byte & 0x7f) << shift;
			shift += 7;
		}
	} while (byte & 0x80);
	if (shift < 64 && (byte & 0x40))
		value |= ~UINT64_C(0) << shift;
	return (int64_t)value;
}

#endif
