/* SPDX-License-Identifier: MIT */
/* What a locator remembers: see locate.c. */
#ifndef SYMBOLS_LOCATE_BASE_H
#define SYMBOLS_LOCATE_BASE_H

#include "locate.h"

#include "base/hash.h"

#define PIECE_SLOTS   16384
#define PIECE_SHIFT   8
#define PIECE_LAST    ((1u << PIECE_SHIFT) - 1)
#define PIECE_SYMBOLS (1u << 24)
#define PART_SLOTS    8192
#define PART_SHIFT    14
#define INLINED_SLOTS 4096

/* Addresses of one piece that have one symbol: @first, and those behind it up to one that ends with @last. */
struct piece_slot {
	uint64_t first;
	uint32_t space;		/* the module + 1; 0: empty */
	uint32_t symbol : 24;	/* + 1; 0: none */
	uint32_t last : PIECE_SHIFT;
};

/* Which symbols of a module begin in a part of it. */
struct part_slot {
	uint64_t part;
	uint32_t space;
	uint32_t low, high; /* as table_before() counts; high 0: there is no symbol in it */
};

struct inlined_slot {
	uint64_t address;
	const struct module *module;
	struct dwarf_unit *unit;
	struct dwarf_function *function;
};

struct locator {
	struct perfev_symbols *symbols;
	struct piece_slot pieces[PIECE_SLOTS];
	struct part_slot parts[PART_SLOTS];
	struct inlined_slot inlined[INLINED_SLOTS];
};

/* The piece that an address belongs to: of that one, or of another that was asked for later. */
static inline struct piece_slot *piece_of(struct locator *l, uint32_t space, uint64_t address)
{
	return &l->pieces[hash_pair(space, address >> PIECE_SHIFT) & (PIECE_SLOTS - 1)];
}

static inline bool piece_has(const struct piece_slot *piece, uint32_t space, uint64_t address)
{
	return piece->space == space && (piece->first ^ address) <= PIECE_LAST && address >= piece->first &&
	       (address & PIECE_LAST) <= piece->last;
}

#endif
