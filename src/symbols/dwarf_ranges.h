/* SPDX-License-Identifier: MIT */
/* Where the code of a DIE is. */
#ifndef SYMBOLS_DWARF_RANGES_H
#define SYMBOLS_DWARF_RANGES_H

#include "dwarf_die.h"

/* The ranges of a DIE, put behind @list. Return: 0, -ENOMEM. */
int dwarf_die_ranges(struct range **list, size_t *count, size_t *room, uint32_t owner, const struct dwarf *dwarf,
		     const struct dwarf_unit *unit, const struct dwarf_die *die);

#endif
