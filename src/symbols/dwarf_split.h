/* SPDX-License-Identifier: MIT */
/* Debug information that is in other files. */
#ifndef SYMBOLS_DWARF_SPLIT_H
#define SYMBOLS_DWARF_SPLIT_H

#include "dwarf_file.h"

/* dwarf_split_open() - finds the DIEs of a unit that says they are elsewhere; without them unit->split stays NULL, and
 * dwarf->why tells. Return: 0, -ENOMEM. */
int dwarf_split_open(struct dwarf *dwarf, struct dwarf_unit *unit);
/* dwarf_supplement_open() - the file that @elf shares DIEs and texts with, if it has one. Return: 0, -ENOMEM. */
int dwarf_supplement_open(struct dwarf *dwarf, const struct elf *elf);

#endif
