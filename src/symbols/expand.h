/* SPDX-License-Identifier: MIT */
/* Sections that are compressed, as debug information often is. */
#ifndef SYMBOLS_EXPAND_H
#define SYMBOLS_EXPAND_H

#include "elf.h"

#define EXPANDED_MAX (UINT64_C(1) << 31) /* bytes of one section */

/* A section that is expanded (zlib, zstd) when its bytes are asked for: many are not, and large. */
struct expandable {
	struct perfev_bytes bytes; /* those of the file, until they were expanded; NULL: none */
	void *owned;		   /* what was expanded; NULL: the bytes are those of the file, which stays open */
	uint64_t size;		   /* expanded */
	uint32_t kind;		   /* how it is packed; 0: it is not, or not any more */
};

/* expandable_find() - the section of that name. Return: false when there is none, or it cannot be one that is packed. */
bool expandable_find(struct expandable *ret, const struct elf *elf, const char *name);
/* expandable_open() - expands it; no bytes when that cannot be done: damaged, or the library is not installed. */
void expandable_open(struct expandable *section);
void expandable_free(struct expandable *section);

/* elf_expand() - the same at once: the bytes of a section
 * @owned: to be freed; NULL when the bytes are those of the file.
 * Return: false when there are none. */
bool elf_expand(const struct elf *elf, const char *name, struct perfev_bytes *ret, void **owned);

static inline struct perfev_bytes expandable_bytes(struct expandable *section)
{
	if (section->kind)
		expandable_open(section);
	return section->bytes;
}

#endif
