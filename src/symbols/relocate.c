/* SPDX-License-Identifier: MIT */
/*
 * In a file that is not linked, debug information has zeros where it names code or another of its sections; the numbers are in
 * tables of relocations. Only those that say "this address" are in debug information of the machines here. Each place that a
 * table names is looked at: it has to be in the section.
 */
#include "relocate.h"
#include "elf_symbols.h"

#include "base/load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FLAG_ALLOC 2

/* The kinds of each machine that put an address of 4 or of 8 bytes. */
static const struct machine {
	uint16_t machine;
	uint32_t four[2], eight;
} machines[] = {
	{62, {10, 11}, 1},	 /* x86-64: R_X86_64_32, _32S, _64 */
	{3, {1, 1}, UINT32_MAX}, /* i386: R_386_32 */
	{183, {258, 258}, 257},	 /* arm64: R_AARCH64_ABS32, _ABS64 */
	{40, {2, 2}, UINT32_MAX}, /* arm: R_ARM_ABS32 */
	{22, {4, 4}, 22},	 /* s390x: R_390_32, _64 */
	{21, {1, 1}, 38},	 /* ppc64: R_PPC64_ADDR32, _ADDR64 */
};

struct work {
	const struct elf *elf;
	const struct machine *machine;
	const uint64_t *bases;
	struct elf_section symbols;
	unsigned char *to;
	size_t size;
};

/* Where a symbol is; of sections that are not loaded, in its section. */
static uint64_t value_of(const struct work *w, uint64_t index)
{
	struct elf_section section;
	struct elf_symbol symbol;
	uint64_t base;

	if (!elf_symbol(w->elf, &w->symbols, index, &symbol) || !elf_section(w->elf, symbol.section, &section))
		return 0;
	base = w->bases[symbol.section];
	if (base == ELF_NOWHERE)
		base = section.flags & FLAG_ALLOC ? (UINT64_C(1) << 62) + ((uint64_t)symbol.section << 40) : 0;
	else
		base += RELOCATED_FIRST;
	return base + symbol.value;
}

static void apply(const struct work *w, uint32_t kind, uint64_t at, uint64_t symbol, uint64_t addend, bool in_place)
{
	const struct machine *m = w->machine;
	size_t width = kind == m->eight ? 8 : kind == m->four[0] || kind == m->four[1] ? 4 : 0;
	unsigned char *to;
	uint64_t value;

	if (!width || at > w->size || width > w->size - at)
		return;
	to = w->to + at;
	if (in_place)
		addend = width == 8 ? load_u64(to, w->elf->swap) : load_u32(to, w->elf->swap);
	value = value_of(w, symbol) + addend;
	if (width == 8) {
		value = w->elf->swap ? swap_u64(value) : value;
		memcpy(to, &value, 8);
	} else {
		uint32_t half = w->elf->swap ? swap_u32((uint32_t)value) : (uint32_t)value;

		memcpy(to, &half, 4);
	}
}

static void apply_table(const struct work *w, const struct elf_section *table)
{
	const unsigned char *at = elf_bytes(w->elf, table), *end;
	bool swap = w->elf->swap, rela = table->type == ELF_RELA;
	size_t width = (w->elf->wide ? 8u : 4u) * (rela ? 3u : 2u);

	if (!at)
		return;
	for (end = at + table->size; (size_t)(end - at) >= width; at += width) {
		if (w->elf->wide)
			apply(w, (uint32_t)load_u64(at + 8, swap), load_u64(at, swap), load_u64(at + 8, swap) >> 32,
			      rela ? load_u64(at + 16, swap) : 0, !rela);
		else
			apply(w, load_u32(at + 4, swap) & 0xff, load_u32(at, swap), load_u32(at + 4, swap) >> 8,
			      rela ? load_u32(at + 8, swap) : 0, !rela);
	}
}

static bool begin(struct work *w, const struct elf *elf, const uint64_t *bases)
{
	size_t i;

	memset(w, 0, sizeof(*w));
	w->elf = elf;
	w->bases = bases;
	for (i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].machine == elf->machine)
			w->machine = &machines[i];
	return w->machine != NULL;
}

/* The section's bytes are the file's, or shared with nobody: they are copied before they are changed. */
static int own_bytes(struct expandable *section)
{
	struct perfev_bytes bytes = expandable_bytes(section);
	void *copy;

	if (section->owned || !bytes.size)
		return 0;
	copy = malloc(bytes.size);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, bytes.data, bytes.size);
	section->bytes.data = section->owned = copy;
	return 0;
}

int relocate(struct expandable *section, const struct elf *elf, const char *name, const uint64_t *bases)
{
	struct elf_section table, target;
	uint64_t left = elf->source.size; /* tables do not overlap, unless to take time */
	struct work w;
	uint32_t i;

	if (!begin(&w, elf, bases))
		return 0;
	for (i = 1; i < elf->section_count; i++) {
		if (!elf_section(elf, i, &table) || (table.type != ELF_RELA && table.type != ELF_REL) ||
		    !elf_section(elf, table.info, &target) || strcmp(target.name, name) ||
		    !elf_section(elf, table.link, &w.symbols))
			continue;
		if (table.size > left)
			break;
		left -= table.size;
		if (own_bytes(section) < 0)
			return -ENOMEM;
		w.to = section->owned;
		w.size = section->bytes.size;
		if (w.to)
			apply_table(&w, &table);
	}
	return 0;
}
