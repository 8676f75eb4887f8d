/* SPDX-License-Identifier: MIT */
/* A file with debug information: its sections, and the units in them. */
#ifndef SYMBOLS_DWARF_FILE_H
#define SYMBOLS_DWARF_FILE_H

#include "cells.h"
#include "dwarf_read.h"
#include "expand.h"

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

/* A text of a DIE, which most never ask for: it is looked up then, and its section is expanded. */
enum dwarf_string_kind { STRING_NONE, STRING_HERE, STRING_STR, STRING_LINE_STR, STRING_SHARED, STRING_INDEXED };

struct dwarf_string {
	enum dwarf_string_kind kind;
	union {
		const char *text; /* HERE */
		uint64_t number;  /* an offset in the section; INDEXED: which one of the unit's */
	} at;
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
	uint64_t ranges;	/* what is added to offsets of lists of ranges */
	uint64_t split_ranges;	/* the same, for the unit in another file */
	uint64_t split_id;
	const char *split_name; /* where the DIEs are; NULL: here */
	struct dwarf_split *split; /* when that is open */
	struct dwarf_string folder, name;
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

/* A unit whose DIEs are in another file. */
struct dwarf_split {
	struct dwarf *file; /* a file of its own, or the package of all */
	struct dwarf_unit unit;
};

enum dwarf_other {
	DWARF_SPLIT,	  /* a .dwo file; of @folder and @name */
	DWARF_PACKAGE,	  /* a .dwp file, which belongs to the program */
	DWARF_SUPPLEMENT  /* what several files share; of @name and @id */
};

struct dwarf_wish {
	enum dwarf_other kind;
	const char *folder, *name;
	struct perfev_bytes id;
	unsigned number; /* of the place where it may be, from 0; behind the one that was opened, afterwards */
	char path[8192]; /* of the file that was opened, or tried last */
};

/* What finds other files; @open is true with the next one that is there. */
struct dwarf_others {
	void *context;
	bool (*open)(void *context, struct elf *ret, struct dwarf_wish *wish);
};

struct dwarf {
	struct expandable *sections[DWARF_SECTIONS]; /* its own, or those of the program; only with the lock of the module */
	struct expandable own[DWARF_SECTIONS];
	bool swap;
	struct dwarf_unit *units; /* by offset */
	size_t unit_count, unit_room;
	struct range *where; /* owner: the unit */
	size_t where_count;
	struct dwarf_others others;
	struct elf elf;	     /* of another file: its own */
	bool has_elf;
	struct dwarf *supplement; /* the shared file; NULL: none */
	struct dwarf *package;
	struct perfev_bytes index; /* of a package */
	void *owned_index;
	bool package_tried;
	uint32_t missing; /* units whose DIEs were not found */
	char why[512];	  /* what is missing: the first file; "": nothing */
};

/* The sections of a file, and no more; those of split files have a name that ends in .dwo. NULL: no memory. */
struct dwarf *dwarf_sections(const struct elf *elf, bool split);
bool dwarf_has_units(const struct dwarf *dwarf);
/* The bytes of a section; none: there are none, or they are damaged. */
static inline struct perfev_bytes dwarf_bytes(const struct dwarf *dwarf, enum dwarf_section section)
{
	return expandable_bytes(dwarf->sections[section]);
}

/* The header of a unit. Returns false at the end, or where it is damaged; @usable: its DIEs may be read. */
bool dwarf_header(struct dwarf_unit *unit, struct dwarf_reader *r, const struct dwarf *dwarf, bool *usable);
/* Of the units that were read, the one that an offset of .debug_info is in; NULL: none. */
const struct dwarf_unit *dwarf_unit_of(const struct dwarf *dwarf, uint64_t offset);
void dwarf_free(struct dwarf *dwarf);

#endif
