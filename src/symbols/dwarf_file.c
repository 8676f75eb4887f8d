/* SPDX-License-Identifier: MIT */
/*
 * Files with debug information: the file itself, and those that it is spread over. Each owns what was read of it, also its
 * units and the files that only it refers to; a package belongs to the file that found it, whatever units came out of it.
 */
#include "dwarf_file.h"
#include "object_layout.h"
#include "relocate.h"

#include "base/sorted.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const names[DWARF_SECTIONS] = {
	".debug_info",	   ".debug_abbrev",   ".debug_str",  ".debug_line",	   ".debug_line_str",
	".debug_ranges",   ".debug_rnglists", ".debug_addr", ".debug_str_offsets"};

/* Of a file that is not linked, which is a module of the kernel. Such files are small: all at once. */
static int link_sections(struct dwarf *dwarf, const struct elf *elf)
{
	uint64_t *bases = object_layout(elf);
	int r = bases ? 0 : -ENOMEM, i;

	for (i = 0; r == 0 && i < DWARF_SECTIONS; i++)
		r = relocate(&dwarf->own[i], elf, names[i], bases);
	free(bases);
	return r;
}

struct dwarf *dwarf_sections(const struct elf *elf, bool split)
{
	struct dwarf *dwarf = calloc(1, sizeof(*dwarf));
	char name[32];
	int i;

	if (!dwarf)
		return NULL;
	dwarf->swap = elf->swap;
	for (i = 0; i < DWARF_SECTIONS; i++) {
		snprintf(name, sizeof(name), "%s%s", names[i], split ? ".dwo" : "");
		expandable_find(&dwarf->own[i], elf, name);
		dwarf->sections[i] = &dwarf->own[i];
	}
	if (elf->type == ELF_RELOCATABLE && !split && link_sections(dwarf, elf) < 0) {
		dwarf_free(dwarf);
		return NULL;
	}
	return dwarf;
}

bool dwarf_has_units(const struct dwarf *dwarf)
{
	return dwarf_bytes(dwarf, DWARF_INFO).data && dwarf_bytes(dwarf, DWARF_ABBREV).data;
}

/* Units of types have none. */
static bool has_functions(uint64_t kind)
{
	return kind == 1 || kind == 3 || kind == 4 || kind == 5; /* compile, partial, skeleton, split */
}

bool dwarf_header(struct dwarf_unit *unit, struct dwarf_reader *r, const struct dwarf *dwarf, bool *usable)
{
	const unsigned char *data = dwarf_bytes(dwarf, DWARF_INFO).data;
	uint64_t length, kind = 1;

	memset(unit, 0, sizeof(*unit));
	unit->offset = (uint64_t)(r->at - data);
	unit->offset_size = 4;
	length = dwarf_number(r, 4);
	if (length == UINT32_MAX) {
		unit->offset_size = 8;
		length = dwarf_number(r, 8);
	}
	if (r->failed || length > (uint64_t)(r->end - r->at) || length < 7)
		return false;
	unit->end = (uint64_t)(r->at - data) + length;
	unit->version = (uint16_t)dwarf_number(r, 2);
	if (unit->version >= 5) {
		kind = dwarf_number(r, 1);
		unit->address_size = (uint8_t)dwarf_number(r, 1);
	}
	unit->abbrev = dwarf_number(r, unit->offset_size);
	if (unit->version < 5)
		unit->address_size = (uint8_t)dwarf_number(r, 1);
	if (unit->version >= 5 && (kind == 4 || kind == 5))
		unit->split_id = dwarf_number(r, 8);
	unit->dies = (uint64_t)(r->at - data);
	*usable = !r->failed && unit->version >= 2 && unit->version <= 5 && has_functions(kind) &&
		  (unit->address_size == 4 || unit->address_size == 8);
	return true;
}

const struct dwarf_unit *dwarf_unit_of(const struct dwarf *dwarf, uint64_t offset)
{
	size_t low = sorted_before(dwarf->units, dwarf->unit_count, offset, offset);

	return low && offset < dwarf->units[low - 1].end ? &dwarf->units[low - 1] : NULL;
}

void dwarf_free(struct dwarf *dwarf)
{
	size_t i;

	if (!dwarf)
		return;
	for (i = 0; i < dwarf->unit_count; i++) {
		free(dwarf->units[i].functions);
		free(dwarf->units[i].pieces);
		free(dwarf->units[i].rows);
		free(dwarf->units[i].folders);
		free(dwarf->units[i].files);
		if (dwarf->units[i].split && dwarf->units[i].split->file != dwarf->package)
			dwarf_free(dwarf->units[i].split->file);
		free(dwarf->units[i].split);
	}
	for (i = 0; i < DWARF_SECTIONS; i++)
		expandable_free(&dwarf->own[i]);
	free(dwarf->units);
	free(dwarf->where);
	free(dwarf->owned_index);
	dwarf_free(dwarf->package);
	dwarf_free(dwarf->supplement);
	if (dwarf->has_elf)
		elf_close(&dwarf->elf);
	free(dwarf);
}
