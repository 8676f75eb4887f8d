/* SPDX-License-Identifier: MIT */
/* DIEs: the entries of .debug_info, as far as functions and units need them. */
#ifndef SYMBOLS_DWARF_DIE_H
#define SYMBOLS_DWARF_DIE_H

#include "dwarf_file.h"
#include "dwarf_read.h"

#define DW_TAG_array_type	  0x01
#define DW_TAG_class_type	  0x02
#define DW_TAG_enumeration_type	  0x04
#define DW_TAG_compile_unit	  0x11
#define DW_TAG_structure_type	  0x13
#define DW_TAG_subroutine_type	  0x15
#define DW_TAG_union_type	  0x17
#define DW_TAG_inlined_subroutine 0x1d
#define DW_TAG_subprogram	  0x2e
#define DW_TAG_partial_unit	  0x3c

/* One kind of DIE. */
struct dwarf_abbrev {
	uint32_t tag, first, count; /* tag 0: there is none of that code */
	bool children;
};

struct dwarf_spec {
	uint32_t name, form;
	int64_t constant;
};

struct dwarf_abbrevs {
	struct dwarf_abbrev *items; /* by code */
	size_t count, room;
	struct dwarf_spec *specs;
	size_t spec_count, spec_room;
};

struct dwarf_die {
	uint64_t offset; /* in .debug_info */
	uint32_t tag;	 /* 0: the end of a list of children */
	bool children;
	bool has_low, has_high, high_is_size, has_ranges, ranges_index, has_line;
	uint64_t low, high, ranges, line;
	uint64_t sibling, origin; /* offsets in .debug_info; 0: none */
	bool origin_shared; /* it is in the supplement's */
	uint64_t str_offsets, addr, rnglists; /* bases; 0: not said */
	uint64_t split_ranges, split_id;
	uint32_t call_file, call_line;
	struct dwarf_string name, linkage_name, folder, split_name;
};

/* All of a unit's kinds of DIEs. Return: 0; -EINVAL when they are damaged; -ENOMEM. */
int dwarf_abbrevs_read(struct dwarf_abbrevs *ret, const struct dwarf *dwarf, const struct dwarf_unit *unit);
void dwarf_abbrevs_free(struct dwarf_abbrevs *abbrevs);
/* The next DIE; the reader is then behind it. False when it cannot be read. */
bool dwarf_die_read(struct dwarf_die *ret, struct dwarf_reader *r, const struct dwarf *dwarf,
		    const struct dwarf_unit *unit, const struct dwarf_abbrevs *abbrevs);
/* One DIE of a unit, by its offset, when its kinds are not read. */
bool dwarf_die_at(struct dwarf_die *ret, const struct dwarf *dwarf, const struct dwarf_unit *unit, uint64_t offset);
/* Of .debug_info, from @offset to the end of the unit. */
struct dwarf_reader dwarf_info_reader(const struct dwarf *dwarf, const struct dwarf_unit *unit, uint64_t offset);
/* A section from @offset to its end; empty behind it. */
struct dwarf_reader dwarf_section_reader(const struct dwarf *dwarf, enum dwarf_section section, uint64_t offset);
/* The text itself, of a DIE of that unit; NULL: none. */
const char *dwarf_string_text(const struct dwarf *dwarf, const struct dwarf_unit *unit, const struct dwarf_string *string);
/* A number, or an address, of a table in a section. */
uint64_t dwarf_indexed(const struct dwarf *dwarf, enum dwarf_section section, uint64_t base, uint64_t index, unsigned size);
uint64_t dwarf_address(const struct dwarf *dwarf, const struct dwarf_unit *unit, uint64_t index);

#endif
