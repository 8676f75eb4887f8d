/* SPDX-License-Identifier: MIT */
/*
 * Mapping of the process -> place in a module -> symbol. A recording has millions of addresses and thousands of functions,
 * so answers are remembered for pieces of code: in a piece of 256 bytes, the part of it that has the same answer.
 * Where the piece is not known, the symbols that begin in 16 KiB around it are, so that few of a table are looked at.
 */
#include "locate_base.h"
#include "symbols_base.h"

#include "base/hash.h"
#include "base/noinline.h"

#include <errno.h>
#include <stdlib.h>

struct locator *locator_new(struct perfev_symbols *symbols)
{
	struct locator *locator = calloc(1, sizeof(*locator));

	if (locator)
		locator->symbols = symbols;
	return locator;
}

void locator_free(struct locator *locator)
{
	free(locator);
}

/* ---- symbols -------------------------------------------------------------------------------------------------- */

static void fill_part(struct part_slot *slot, const struct table *table, uint32_t space, uint64_t part)
{
	uint64_t first = part << PART_SHIFT;
	size_t low = first ? table_before(table, first - 1, 0, table->count) : 0;
	size_t high = table_before(table, first + ((1 << PART_SHIFT) - 1), low, table->count);

	slot->space = space;
	slot->part = part;
	slot->low = (uint32_t)low;
	slot->high = low == high && table_at(table, first, low) < 0 ? 0 : (uint32_t)high;
}

/* What is around @address with the same answer; as far as its piece goes. */
static void fill_piece(struct piece_slot *slot, const struct table *table, uint32_t space, uint64_t address, size_t before,
		       uint32_t symbol)
{
	struct table_span span = {address & ~(uint64_t)PIECE_LAST, address | PIECE_LAST};

	if (symbol >= PIECE_SYMBOLS)
		return;
	table_around(table, &span, address, before);
	slot->space = space;
	slot->symbol = symbol & (PIECE_SYMBOLS - 1);
	slot->first = span.first;
	slot->last = span.last & PIECE_LAST;
}

NOINLINE static uint32_t search_symbol(struct locator *l, struct piece_slot *piece, const struct table *table, uint32_t space,
			      uint64_t address)
{
	uint64_t number = address >> PART_SHIFT;
	struct part_slot *part = &l->parts[hash_pair(space, number) & (PART_SLOTS - 1)];
	size_t before;
	uint32_t symbol;

	if (part->space != space || part->part != number)
		fill_part(part, table, space, number);
	if (!part->high)
		return 0;
	before = table_before(table, address, part->low, part->high);
	symbol = (uint32_t)(table_at(table, address, before) + 1);
	fill_piece(piece, table, space, address, before, symbol);
	return symbol;
}

static inline uint32_t find_symbol(struct locator *l, const struct table *table, uint32_t space, uint64_t address)
{
	struct piece_slot *piece = piece_of(l, space, address);

	return piece_has(piece, space, address) ? piece->symbol : search_symbol(l, piece, table, space, address);
}

/* ---- calls that were inlined ---------------------------------------------------------------------------------- */

/* Return: 0, -EAGAIN. */
NOINLINE static int search_inlined(struct locator *l, struct inlined_slot *slot, const struct located *at, bool wait)
{
	slot->module = NULL;
	if (module_inlined(at->module, &l->symbols->places, at->address, wait, &slot->function, &slot->unit) < 0)
		return -EAGAIN;
	slot->module = at->module;
	slot->address = at->address;
	return 0;
}

static inline int find_inlined(struct locator *l, struct located *ret, bool wait)
{
	struct inlined_slot *slot =
		&l->inlined[hash_pair((uintptr_t)ret->module, ret->address) & (INLINED_SLOTS - 1)];

	if ((slot->module != ret->module || slot->address != ret->address) && search_inlined(l, slot, ret, wait) < 0)
		return -EAGAIN;
	ret->inlined = slot->function;
	ret->unit = slot->unit;
	return 0;
}

/* ---- places --------------------------------------------------------------------------------------------------- */

static inline int locate_user(struct locator *l, struct located *ret, const struct mapping *mapping, uint64_t ip, unsigned how)
{
	struct module *module = mapping->module;
	bool wait = !(how & LOCATE_NO_WAIT);
	int r = module->loaded ? 0 : module_load(module, &l->symbols->places, wait);

	if (r < 0)
		return r;
	ret->module = module;
	ret->in_file = locate_in_file(module, mapping, ip);
	ret->address = module_address(module, ret->in_file);
	if ((how & LOCATE_INLINED) && module_may_inline(module) && find_inlined(l, ret, wait) < 0)
		return -EAGAIN;
	if (module->table.count)
		ret->symbol = find_symbol(l, &module->table, module->number + 1, ret->address);
	return 0;
}

/* The process's list of functions may name code that lies in a file without symbols. */
NOINLINE static int locate_listed(struct locator *l, struct located *ret, struct module *list, uint64_t ip, bool wait)
{
	uint32_t symbol = 0;
	int r = module_load(list, &l->symbols->places, wait);

	if (r < 0)
		return r;
	if (list->table.count)
		symbol = find_symbol(l, &list->table, list->number + 1, ip);
	if (!symbol)
		return 0;
	located_begin(ret);
	ret->module = list;
	ret->address = ret->in_file = ip;
	ret->symbol = symbol;
	return 0;
}

static inline int locate_kernel(struct locator *l, struct located *ret, uint64_t ip, unsigned how)
{
	struct perfev_symbols *s = l->symbols;
	bool wait = !(how & LOCATE_NO_WAIT);
	int r;

	ret->in_file = ret->address = ip;
	ret->flags = PERFEV_FRAME_KERNEL;
	ret->kernel = true;
	ret->module = s->fixed[MODULE_KERNEL];
	if (s->ksymbols.count)
		ret->function = functions_find(&s->ksymbols, ip);
	if (ret->function)
		return 0;
	r = s->kernel_loaded ? 0 : symbols_kernel(s, wait);
	if (r < 0)
		return r;
	if ((how & LOCATE_INLINED) && module_may_inline(ret->module) && find_inlined(l, ret, wait) < 0)
		return -EAGAIN;
	ret->address -= s->kernel_delta;
	if (s->kallsyms.table.count)
		ret->symbol = find_symbol(l, &s->kallsyms.table, MODULE_KERNEL + 1, ret->address);
	return 0;
}

static void locate_nowhere(const struct perfev_symbols *s, struct located *ret, uint64_t ip, uint32_t cpumode)
{
	uint32_t module = MODULE_UNKNOWN;

	if (cpumode == PERF_RECORD_MISC_HYPERVISOR)
		module = MODULE_HYPERVISOR;
	else if (cpumode == PERF_RECORD_MISC_GUEST_KERNEL || cpumode == PERF_RECORD_MISC_GUEST_USER)
		module = MODULE_GUEST;
	ret->module = s->fixed[module];
	ret->in_file = ret->address = ip;
	ret->nowhere = true;
}

static inline int locate_any(struct locator *l, struct located *ret, struct space_view *view, uint64_t ip, uint32_t cpumode,
			     unsigned how)
{
	bool wait = !(how & LOCATE_NO_WAIT);
	const struct mapping *mapping;
	int r;

	if (cpumode == PERF_RECORD_MISC_KERNEL)
		return locate_kernel(l, ret, ip, how);
	mapping = cpumode == PERF_RECORD_MISC_USER ? space_find(view, ip) : NULL;
	if (!mapping) {
		locate_nowhere(l->symbols, ret, ip, cpumode);
		return 0;
	}
	r = locate_user(l, ret, mapping, ip, how);
	if (r == 0 && view->list && !ret->symbol && mapping->module != view->list)
		r = locate_listed(l, ret, view->list, ip, wait);
	return r;
}

int locate(struct locator *locator, struct located *ret, struct space_view *view, uint64_t ip, uint32_t cpumode, unsigned how)
{
	int r;

	located_begin(ret);
	r = locate_any(locator, ret, view, ip, cpumode, how);
	if (r != -EAGAIN)
		return r;
	ret->later = true;
	ret->address = ip;
	ret->cpumode = (uint8_t)cpumode;
	return 0;
}
