/* SPDX-License-Identifier: MIT */
/* Where the kernel puts the sections of its modules. */
#ifndef SYMBOLS_OBJECT_LAYOUT_H
#define SYMBOLS_OBJECT_LAYOUT_H

#include "elf_symbols.h"

/* object_layout() - one number for each section of @elf, from where the module begins; ELF_NOWHERE for those that are no code, and
 * of machines where that is not known. To be freed; NULL without memory. */
uint64_t *object_layout(const struct elf *elf);

#endif
