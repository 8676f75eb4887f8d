/* SPDX-License-Identifier: MIT */
/* Lines of the source that addresses come from. */
#ifndef SYMBOLS_DWARF_LINE_H
#define SYMBOLS_DWARF_LINE_H

#include "dwarf_file.h"

/* dwarf_row_at() - the line that the address comes from; NULL: not known. Reads the unit's lines when first asked. */
const struct dwarf_row *dwarf_row_at(struct dwarf *dwarf, struct dwarf_unit *unit, uint64_t address);
/* dwarf_file_name() - file @index of a row or call: folders and name, as far as there is room. */
void dwarf_file_name(struct dwarf *dwarf, struct dwarf_unit *unit, uint32_t index, char *to, size_t size);

#endif
