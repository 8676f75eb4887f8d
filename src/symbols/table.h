/* SPDX-License-Identifier: MIT */
/* A table of symbols, sorted by address: where each begins and ends, and what it is called. */
#ifndef SYMBOLS_TABLE_H
#define SYMBOLS_TABLE_H

#include <perfev/common.h>

struct symbol {
	uint64_t start, end;
	const char *name;   /* as in the file; lives as long as what it was read from */
	uint8_t binding;    /* of ELF: 0 local, 1 global, 2 weak */
	bool plt;	    /* a stub: "@plt" is put behind the name */
	uint16_t module;    /* of kallsyms: 0 the kernel, else 1 + an index of modules */
};

struct table {
	struct symbol *items;
	size_t count, room;
	/* when it is finished: */
	uint64_t *starts; /* of the items, close together */
	uint32_t *around; /* the last one before the item that ends behind it, + 1; 0: none does */
};

/* table_reserve() - room for so many in an empty table; there may come more. Return: 0, -ENOMEM. */
int table_reserve(struct table *table, size_t count);
int table_add(struct table *table, const struct symbol *symbol);
/* table_finish() - sort, give ends to symbols without a size, keep the best of those that begin at the
 * same address. */
int table_finish(struct table *table);
/* table_find() - the symbol that an address is in; its index, or -1. */
long table_find(const struct table *table, uint64_t address);
/* table_before() - how many begin at @address or before, of those from @low on, as far as @high; both are counts as it
 * returns them, of addresses around. */
size_t table_before(const struct table *table, uint64_t address, size_t low, size_t high);
/* table_at() - the same as table_find(), with that number known. */
long table_at(const struct table *table, uint64_t address, size_t before);
/* Addresses that are together. */
struct table_span {
	uint64_t first, last;
};

/* table_around() - makes @span, which has @address, so small that table_at() says the same of each address in it. */
void table_around(const struct table *table, struct table_span *span, uint64_t address, size_t before);
void table_free(struct table *table);

#endif
