/* SPDX-License-Identifier: MIT */
/* Numbers and texts of DWARF, read with suspicion: what goes beyond the end is 0, and the reader has failed. */
#ifndef SYMBOLS_DWARF_READ_H
#define SYMBOLS_DWARF_READ_H

#include "base/load.h"

#include <stdbool.h>

struct dwarf_reader {
	const unsigned char *at, *end;
	bool swap, failed;
};

static inline bool dwarf_has(struct dwarf_reader *r, uint64_t size)
{
	if ((uint64_t)(r->end - r->at) >= size)
		return true;
	r->failed = true;
	r->at = r->end;
	return false;
}

static inline uint64_t dwarf_number(struct dwarf_reader *r, unsigned size)
{
	const unsigned char *at = r->at;

	if (!dwarf_has(r, size))
		return 0;
	r->at += size;
	switch (size) {
	case 1:
		return at[0];
	case 2:
		return load_u16(at, r->swap);
	case 3:
		return r->swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
			       ? (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2]
			       : (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
	case 4:
		return load_u32(at, r->swap);
	default:
		return load_u64(at, r->swap);
	}
}

static inline void dwarf_skip(struct dwarf_reader *r, uint64_t size)
{
	if (dwarf_has(r, size))
		r->at += size;
}

static inline uint64_t dwarf_uleb(struct dwarf_reader *r)
{
	uint64_t value = 0;
	unsigned shift = 0;

	for (; r->at < r->end; shift += 7) {
		unsigned char byte = *r->at++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	r->failed = true;
	return 0;
}

static inline int64_t dwarf_sleb(struct dwarf_reader *r)
{
	uint64_t value = 0;
	unsigned shift = 0;

	while (r->at < r->end) {
		unsigned char byte = *r->at++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (!(byte & 0x80))
			return (int64_t)(byte & 0x40 && shift < 64 ? value | UINT64_MAX << shift : value);
	}
	r->failed = true;
	return 0;
}

static inline const char *dwarf_text(struct dwarf_reader *r)
{
	const unsigned char *from = r->at, *zero = memchr(from, 0, (size_t)(r->end - from));

	if (!zero) {
		r->failed = true;
		r->at = r->end;
		return NULL;
	}
	r->at = zero + 1;
	return (const char *)from;
}

#endif
