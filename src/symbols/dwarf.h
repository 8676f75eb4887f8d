/* SPDX-License-Identifier: MIT */
/*
 * Debug information of a file: which functions were inlined where, and which line each address comes from.
 *
 * DWARF 2 to 5, in any byte order, also compressed. Units are read when an address of theirs is asked for, and then
 * compiled into sorted tables.
 */
#ifndef SYMBOLS_DWARF_H
#define SYMBOLS_DWARF_H

#include "cells.h"
#include "elf.h"

enum dwarf_section {
	DWARF_INFO,
	DWARF_ABBREV,
	DWARF_STR,
	DWARF_LINE,
	DWARF_LINE_STR,
	DWARF_RANGES,
	DWARF_RNGLISTS,
	DWARF_ADDR,
	DWARF_STR_OFFSETS,
	DWARF_SECTIONS
};

/* A function, or a call that was inlined into one. */
struct dwarf_function {
	uint32_t parent; /* the function that it is inlined into, + 1; 0: it is none */
	uint32_t call_file, call_line;
	uint32_t key;	 /* for the user; 0 at first */
	uint64_t die;	 /* where its name is, in .debug_info */
};

#define DWARF_NO_FILE UINT32_MAX

/* From @address to that of the next row; line 0: the compiler's own code; file DWARF_NO_FILE: no code of this unit. */
struct dwarf_row {
	uint64_t address;
	uint32_t file, line;
};

struct dwarf_file {
	const char *name;
	const char *full; /* for the user; NULL at first */
	uint32_t folder;
};

struct dwarf_unit {
	uint64_t offset, end, dies; /* in .debug_info: the header, what is behind, the first DIE */
	uint64_t abbrev, line;	    /* offsets; line UINT64_MAX: none */
	uint64_t low, str_offsets, addr, rnglists;
	const char *folder, *name;
	uint16_t version;
	uint8_t address_size, offset_size;
	bool compiled, has_lines;
	struct dwarf_function *functions;
	size_t function_count, function_room;
	struct range *pieces; /* owner: of the functions */
	size_t piece_count;
	struct dwarf_row *rows;
	size_t row_count, row_room;
	const char **folders;
	size_t folder_count, folder_room;
	struct dwarf_file *files;
	size_t file_count, file_room;
};

struct dwarf {
	struct perfev_bytes sections[DWARF_SECTIONS];
	void *owned[DWARF_SECTIONS];
	bool swap;
	struct dwarf_unit *units; /* by offset */
	size_t unit_count, unit_room;
	struct range *where; /* owner: the unit */
	size_t where_count;
};

/* dwarf_open() - NULL when the file has no debug information that can be read, or without memory. @elf stays open. */
struct dwarf *dwarf_open(const struct elf *elf);
void dwarf_free(struct dwarf *dwarf);

/* dwarf_unit_at() - the unit that has the address, compiled; NULL: none. */
struct dwarf_unit *dwarf_unit_at(struct dwarf *dwarf, uint64_t address);
/* dwarf_function_at() - the innermost function there; then follow parent. NULL: none. */
struct dwarf_function *dwarf_function_at(const struct dwarf_unit *unit, uint64_t address);
/* dwarf_name() - what the function is called, as linkers know it if they do; or NULL. */
const char *dwarf_name(const struct dwarf *dwarf, const struct dwarf_function *function);
/* dwarf_row_at() - the line that the address comes from; NULL: not known. Reads the unit's lines when first asked. */
const struct dwarf_row *dwarf_row_at(struct dwarf *dwarf, struct dwarf_unit *unit, uint64_t address);
/* dwarf_file_name() - file @index of a row or call: folders and name, as far as there is room. */
void dwarf_file_name(struct dwarf *dwarf, struct dwarf_unit *unit, uint32_t index, char *to, size_t size);

#endif
