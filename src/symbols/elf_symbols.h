/* SPDX-License-Identifier: MIT */
/* What of an ELF file's symbols is a name of a place. */
#ifndef SYMBOLS_ELF_SYMBOLS_H
#define SYMBOLS_ELF_SYMBOLS_H

#include "elf.h"
#include "table.h"

#define ELF_NOWHERE UINT64_MAX

/* elf_symbols_read() - those of the section @table. elf_stubs_read() - stubs of the linkage table. Names live as long as the
 * file is open.
 * @bases: of a file that is not linked: where each of its sections is, ELF_NOWHERE for one that is not to be had. Else NULL.
 * Return: 0, -ENOMEM. */
int elf_symbols_read(struct table *to, const struct elf *elf, const struct elf_section *table, const uint64_t *bases);
int elf_stubs_read(struct table *to, const struct elf *elf);
/* elf_symbol_named() - the address that the symbol table has for a name. */
bool elf_symbol_named(const struct elf *elf, const char *name, uint64_t *ret);

#endif
