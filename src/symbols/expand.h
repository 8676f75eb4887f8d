/* SPDX-License-Identifier: MIT */
/* Sections that are compressed, as debug information often is. */
#ifndef SYMBOLS_EXPAND_H
#define SYMBOLS_EXPAND_H

#include "elf.h"

#define EXPANDED_MAX (UINT64_C(1) << 31) /* bytes of one section */

/* elf_expand() - the bytes of a section of that name, expanded where they are compressed (zlib, zstd)
 * @owned: to be freed; NULL when the bytes are those of the file.
 * Return: false when there are none, or they cannot be expanded: damaged, or their library is not installed. */
bool elf_expand(const struct elf *elf, const char *name, struct perfev_bytes *ret, void **owned);

#endif
