/* SPDX-License-Identifier: MIT */
/* Debug information of files that are not linked, as modules of the kernel are. */
#ifndef SYMBOLS_RELOCATE_H
#define SYMBOLS_RELOCATE_H

#include "expand.h"

#define RELOCATED_FIRST 0x10000 /* where code begins there: at 0 is what linkers have left out */

/* relocate() - puts the numbers into the section of that name that a linker would
 * @bases: where each section of the file is, against RELOCATED_FIRST; ELF_NOWHERE: far from all others.
 * Return: 0, also where there are none, or none that are known for the machine; -ENOMEM. */
int relocate(struct expandable *section, const struct elf *elf, const char *name, const uint64_t *bases);

#endif
