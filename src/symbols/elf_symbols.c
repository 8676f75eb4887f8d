/* SPDX-License-Identifier: MIT */
/*
 * From symbol tables of ELF files to tables of names.
 *
 * Symbols are taken as the perf tool takes them: functions, objects with a name, and labels in code or data sections; and
 * the stubs of the procedure linkage table, which have no symbols, from its relocations.
 */
#include "elf_symbols.h"

#include "base/load.h"

#include <errno.h>

#define STT_NOTYPE    0
#define STT_OBJECT    1
#define STT_FUNC      2
#define STT_GNU_IFUNC 10
#define SHN_ABS	      0xfff1
#define MACHINE_ARM   40
#define MACHINE_A64   183
#define MACHINE_RISCV 243
#define MACHINE_CSKY  252

/* ---- which symbols ---------------------------------------------------------------------------------- */

/* Marks that assemblers leave for disassemblers: $a, $d, $t, $x on some machines. */
static bool is_mapping_symbol(const struct elf *elf, const char *name)
{
	if (elf->machine != MACHINE_ARM && elf->machine != MACHINE_A64 &&
	    elf->machine != MACHINE_RISCV && elf->machine != MACHINE_CSKY)
		return false;
	return name[0] == '$' && name[1] && strchr("adtx", name[1]) && (!name[2] || name[2] == '.');
}

static bool in_code_or_data(const struct elf *elf, uint16_t index)
{
	struct elf_section section;

	return elf_section(elf, index, &section) &&
	       (strstr(section.name, ".text") || strstr(section.name, ".data"));
}

static bool is_wanted(const struct elf *elf, const struct elf_symbol *symbol)
{
	if (!symbol->name || !symbol->section || symbol->section == SHN_ABS)
		return false;
	switch (symbol->type) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return true;
	case STT_OBJECT:
		return symbol->size > 0;
	case STT_NOTYPE: /* visibility 1 and 2: internal, hidden */
		return symbol->visibility != 1 && symbol->visibility != 2 &&
		       in_code_or_data(elf, symbol->section);
	default:
		return false;
	}
}

/* In a file that is not linked, symbols count from the start of their section. */
static bool place_symbol(struct elf_symbol *symbol, const struct elf *elf, const uint64_t *bases)
{
	if (symbol->section >= elf->section_count || bases[symbol->section] == ELF_NOWHERE)
		return false;
	symbol->value += bases[symbol->section];
	return true;
}

int elf_symbols_read(struct table *to, const struct elf *elf, const struct elf_section *table, const uint64_t *bases)
{
	uint64_t count = elf_symbol_count(elf, table), i;
	struct elf_section strings;
	struct elf_symbol symbol;

	if (!elf_section(elf, table->link, &strings))
		return 0;
	for (i = 1; i < count; i++) {
		struct symbol s;
		const char *name;

		if (!elf_symbol(elf, table, i, &symbol) || !is_wanted(elf, &symbol) ||
		    (bases && !place_symbol(&symbol, elf, bases)))
			continue;
		name = elf_string(elf, &strings, symbol.name);
		if (!name || !name[0] || is_mapping_symbol(elf, name))
			continue;
		if (elf->machine == MACHINE_ARM && symbol.type == STT_FUNC)
			symbol.value &= ~UINT64_C(1); /* Thumb */
		s.start = symbol.value;
		s.end = symbol.size > UINT64_MAX - s.start ? UINT64_MAX : s.start + symbol.size;
		s.name = name;
		s.binding = symbol.binding;
		s.plt = false;
		s.module = 0;
		if (table_add(to, &s) < 0)
			return -ENOMEM;
	}
	return 0;
}

bool elf_symbol_named(const struct elf *elf, const char *name, uint64_t *ret)
{
	struct elf_section table, strings;
	struct elf_symbol symbol;
	uint64_t count, i;
	const char *found;

	if (!elf_section_of_type(elf, ELF_SYMTAB, &table) || !elf_section(elf, table.link, &strings))
		return false;
	count = elf_symbol_count(elf, &table);
	for (i = 1; i < count; i++) {
		found = elf_symbol(elf, &table, i, &symbol) && symbol.section ? elf_string(elf, &strings, symbol.name) : NULL;
		if (found && !strcmp(found, name)) {
			*ret = symbol.value;
			return true;
		}
	}
	return false;
}

/* ---- stubs -------------------------------------------------------------------------------------------- */

static void plt_sizes(const struct elf *elf, const struct elf_section *plt, uint64_t *header,
		      uint64_t *entry)
{
	switch (elf->machine) {
	case MACHINE_ARM:
		*header = 20;
		*entry = 12;
		break;
	case MACHINE_A64:
	case MACHINE_RISCV:
		*header = 32;
		*entry = 16;
		break;
	default:
		*header = plt->entry_size;
		*entry = plt->entry_size;
	}
}

int elf_stubs_read(struct table *to, const struct elf *elf)
{
	struct elf_section plt, relocations, symbols, strings;
	uint64_t header, entry, i, count, at;
	const unsigned char *data;

	if (!elf_section_named(elf, ".plt", &plt) ||
	    (!elf_section_named(elf, ".rela.plt", &relocations) &&
	     !elf_section_named(elf, ".rel.plt", &relocations)) ||
	    !elf_section(elf, relocations.link, &symbols) ||
	    !elf_section(elf, symbols.link, &strings))
		return 0;
	plt_sizes(elf, &plt, &header, &entry);
	data = elf_bytes(elf, &relocations);
	if (!data || entry == 0 || relocations.entry_size < (elf->wide ? 16u : 8u))
		return 0;
	count = relocations.size / relocations.entry_size;
	at = plt.address + header;
	for (i = 0; i < count && at - plt.address + entry <= plt.size; i++, at += entry) {
		const unsigned char *r = data + i * relocations.entry_size;
		struct symbol s = {at, at + entry, NULL, 1, true, 0};
		struct elf_symbol symbol;
		uint64_t index;

		index = elf->wide ? load_u64(r + 8, elf->swap) >> 32 : load_u32(r + 4, elf->swap) >> 8;
		/* the stub of a function that is chosen at run time has no name but that it is one */
		if (!index)
			s.name = "";
		else if (elf_symbol(elf, &symbols, index, &symbol))
			s.name = elf_string(elf, &strings, symbol.name);
		if (s.name && table_add(to, &s) < 0)
			return -ENOMEM;
	}
	return 0;
}
