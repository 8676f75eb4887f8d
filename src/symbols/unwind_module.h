/* SPDX-License-Identifier: MIT */
/* The unwind tables of files. */
#ifndef SYMBOLS_UNWIND_MODULE_H
#define SYMBOLS_UNWIND_MODULE_H

#include "module.h"
#include "unwind_cfi.h"

/* unwind_elf_table() - of a file and its debug file; either may be NULL, not both. Return: 0; -ENODATA when they have no
 * call frame information that is of use; -ENOMEM. */
int unwind_elf_table(struct unwind_table *ret, const struct elf *plain, const struct elf *debug);

/* unwind_module_load() - sets module->unwind, which stays NULL when nothing is known. Return: 0, -ENOMEM. */
int unwind_module_load(struct module *module, const struct module_places *places);

/* unwind_module_code() - bytes of the mapped file, at most @size; how many there are. */
size_t unwind_module_code(const struct module *module, uint64_t offset, unsigned char *to, size_t size);

/* unwind_index_frames() - sets ret->address to where .eh_frame is, out of .eh_frame_hdr, which is at @address. */
bool unwind_index_frames(struct cfi_section *ret, const unsigned char *index, uint64_t size, uint64_t address,
			 const struct cfi_source *source);

#endif
