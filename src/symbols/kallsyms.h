/* SPDX-License-Identifier: MIT */
/* Symbols of the kernel and its modules, from kallsyms. */
#ifndef SYMBOLS_KALLSYMS_H
#define SYMBOLS_KALLSYMS_H

#include "elf.h"
#include "table.h"

#include "base/buffer.h"

#include <perfev/feature.h>

struct kallsyms {
	char *text; /* the file; names point into it */
	size_t size;
	struct buffer names; /* of symbols that are from elsewhere */
	struct table table;
	char **modules; /* "[name]", by symbol.module - 1 */
	size_t module_count, module_room;
	uint64_t ref_text, ref_stext; /* addresses of _text and _stext; 0: hidden */
	bool hidden; /* some addresses are zero */
};

/* kallsyms_load() - read and index a file of that format (lines of: address type name [module])
 * Return: 0; -ENODATA when its addresses are all zero: hidden from this user; -EINVAL when it has no symbol;
 * another negative errno. */
int kallsyms_load(struct kallsyms *ret, const char *path);
/* The same of a text that is in memory, and of symbols of a recording, which have sizes. */
int kallsyms_take(struct kallsyms *ret, const void *text, size_t size);
int kallsyms_recorded(struct kallsyms *ret, const struct perfev_recorded_file *file);
/* The same of the kernel's image, which has to stay open. */
int kallsyms_image(struct kallsyms *ret, const struct elf *elf);
void kallsyms_free(struct kallsyms *kallsyms);

#endif
