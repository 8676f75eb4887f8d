/* SPDX-License-Identifier: MIT */
/* DIEs: the entries of .debug_info, as far as functions and units need them. */
#ifndef SYMBOLS_DWARF_DIE_H
#define SYMBOLS_DWARF_DIE_H

#include "dwarf_file.h"
#include "dwarf_read.h"
#include "dwarf_skip.h"

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

/* Whether nothing in such a DIE is code. */
static inline bool dwarf_is_type(uint32_t tag)
{
	switch (tag) {
	case DW_TAG_array_type:
	case DW_TAG_class_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_structure_type:
	case DW_TAG_subroutine_type:
	case DW_TAG_union_type:
		return true;
	default:
		return false;
	}
}

/* One kind of DIE. */
struct dwarf_abbrev {
	uint32_t tag, first, count; /* tag 0: there is none of that code; first, count: of the specs, or of the steps */
	bool children;
	bool plain; /* nothing of it is wanted: it is passed over by steps */
};

struct dwarf_abbrevs {
	struct dwarf_abbrev *items; /* by code */
	size_t count, room;
	struct dwarf_spec *specs;
	size_t spec_count, spec_room;
	uint8_t *steps;
	size_t step_count, step_room;
};

struct dwarf_die {
	uint64_t offset; /* in .debug_info */
	uint32_t tag;
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
/* The kind of the next DIE, whose values the reader is then at; NULL: it cannot be read. Tag 0: the end of a list of children. */
const struct dwarf_abbrev *dwarf_die_kind(struct dwarf_reader *r, const struct dwarf_abbrevs *abbrevs);
/* The values of the DIE at @offset, of a kind that is not plain; the reader is then behind it. False when it cannot be read. */
bool dwarf_die_read(struct dwarf_die *ret, struct dwarf_reader *r, const struct dwarf *dwarf, const struct dwarf_unit *unit,
		    const struct dwarf_abbrevs *abbrevs, const struct dwarf_abbrev *kind, uint64_t offset);
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
