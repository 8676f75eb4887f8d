/* SPDX-License-Identifier: MIT */
/*
 * Debug information of a file: which functions were inlined where, and which line each address comes from.
 *
 * DWARF 2 to 5, in any byte order, also compressed. Units are read when an address of theirs is asked for, and then
 * compiled into sorted tables. What a file has put into others is found there: the DIEs of a unit in a .dwo file or a
 * package of them, names in a file that several share.
 */
#ifndef SYMBOLS_DWARF_H
#define SYMBOLS_DWARF_H

#include "dwarf_file.h"

/* dwarf_open() - NULL when the file has no debug information that can be read, or without memory. @elf stays open.
 * @others: NULL: there are no other files. */
struct dwarf *dwarf_open(const struct elf *elf, const struct dwarf_others *others);

/* dwarf_unit_at() - the unit that has the address, compiled; NULL: none. */
struct dwarf_unit *dwarf_unit_at(struct dwarf *dwarf, uint64_t address);
/* dwarf_function_at() - the innermost function there; then follow parent. NULL: none. */
struct dwarf_function *dwarf_function_at(const struct dwarf_unit *unit, uint64_t address);
/* dwarf_name() - what the function is called, as linkers know it if they do; or NULL. */
const char *dwarf_name(const struct dwarf *dwarf, const struct dwarf_unit *unit, const struct dwarf_function *function);

#endif
