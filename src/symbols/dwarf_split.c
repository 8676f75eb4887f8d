/* SPDX-License-Identifier: MIT */
/*
 * Debug information in other files.
 *
 * Split: a unit has only its addresses and lines in the program; its DIEs are in a .dwo file that the compiler left, or
 * in a package of them (.dwp), where a hash table tells by the unit's number which part of each section is its. A file
 * whose unit has another number is of another compilation, and not used. Without it the lines are still known.
 *
 * Shared: what several files have in common is in one file, which is right if it has the build-id that they say.
 */
#include "dwarf_die.h"
#include "dwarf_split.h"
#include "expand.h"
#include "link.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define UNITS_MAX (1u << 20)
#define ROOM_MAX  (1u << 24) /* slots of the table of a package */

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void say(struct dwarf *dwarf, const char *format, ...)
{
	va_list args;

	if (dwarf->why[0])
		return;
	va_start(args, format);
	vsnprintf(dwarf->why, sizeof(dwarf->why), format, args);
	va_end(args);
}

/* ---- what several share ------------------------------------------------------------------------------------- */

/* Its units by offset; their first DIEs say nothing that is needed. */
static int list_units(struct dwarf *dwarf)
{
	struct perfev_bytes info = dwarf_bytes(dwarf, DWARF_INFO);
	struct dwarf_reader r = {info.data, info.data, dwarf->swap, false};
	struct dwarf_unit unit, *units;
	bool usable;

	if (!dwarf_has_units(dwarf))
		return 0;
	r.end = r.at + info.size;
	while (r.at < r.end && dwarf->unit_count < UNITS_MAX && dwarf_header(&unit, &r, dwarf, &usable)) {
		r.at = (const unsigned char *)info.data + unit.end;
		if (!usable)
			continue;
		if (dwarf->unit_count == dwarf->unit_room) {
			size_t room = dwarf->unit_room ? dwarf->unit_room * 2 : 64;

			units = realloc(dwarf->units, room * sizeof(*units));
			if (!units)
				return -ENOMEM;
			dwarf->units = units;
			dwarf->unit_room = room;
		}
		dwarf->units[dwarf->unit_count++] = unit;
	}
	return 0;
}

/* The file becomes that of @elf, which it closes then. */
static struct dwarf *own_file(struct elf *elf, bool split)
{
	struct dwarf *file = dwarf_sections(elf, split);

	/* what several share may be no more than texts */
	if (!file || (!dwarf_has_units(file) && (split || !dwarf_bytes(file, DWARF_STR).data))) {
		dwarf_free(file);
		elf_close(elf);
		return NULL;
	}
	source_keep(&elf->source);
	file->elf = *elf;
	file->has_elf = true;
	return file;
}

/* The build-id of a link has to be there and the same; of DWARF 5 any checksum, which is a build-id where tools agree. */
static bool is_supplement(const struct elf *elf, struct perfev_bytes id)
{
	uint8_t own[20];
	int size = elf_build_id(elf, own);

	return size > 0 && (size_t)size == id.size && !memcmp(own, id.data, id.size);
}

/* A file of DWARF 5 may have no build-id: then it says its checksum itself. */
static bool says_supplement(const struct elf *elf, struct perfev_bytes id)
{
	struct perfev_bytes data = {NULL, 0};
	void *owned;
	bool good;

	if (!elf_expand(elf, ".debug_sup", &data, &owned))
		return false;
	good = id.size && data.size >= id.size + 5 && ((const unsigned char *)data.data)[2] == 1 &&
	       !memcmp((const unsigned char *)data.data + data.size - id.size, id.data, id.size);
	free(owned);
	return good;
}

int dwarf_supplement_open(struct dwarf *dwarf, const struct elf *elf)
{
	struct dwarf_wish wish = {.kind = DWARF_SUPPLEMENT};
	struct elf other;

	if (!link_supplement(elf, &wish.name, &wish.id))
		return 0;
	while (dwarf->others.open(dwarf->others.context, &other, &wish)) {
		if (!is_supplement(&other, wish.id) && !says_supplement(&other, wish.id)) {
			elf_close(&other);
			say(dwarf, "%.300s, which has names of inlined functions, has another build-id", wish.path);
			continue;
		}
		dwarf->supplement = own_file(&other, false);
		if (!dwarf->supplement)
			continue;
		dwarf->why[0] = 0;
		return list_units(dwarf->supplement);
	}
	say(dwarf, "%.300s is missing, which has names of inlined functions", wish.name);
	return 0;
}

/* ---- units of another file ---------------------------------------------------------------------------------- */

/* Columns of the table of a package. */
enum { PART_INFO = 1, PART_ABBREV = 3, PART_STR_OFFSETS = 6, PART_RNGLISTS = 8, PARTS = 9 };

struct part {
	uint64_t offset, size;
};

/* What the DIEs of a unit need to know, of the unit in the program and of the part of each section. */
static void set_bases(struct dwarf_unit *unit, const struct dwarf_unit *skeleton, const struct part *parts)
{
	bool wide = unit->offset_size == 8, new = unit->version >= 5;

	unit->abbrev += parts[PART_ABBREV].offset;
	unit->str_offsets = parts[PART_STR_OFFSETS].offset + (!new ? 0 : wide ? 16 : 8);
	unit->rnglists = parts[PART_RNGLISTS].offset + (wide ? 20 : 12);
	unit->ranges = new ? parts[PART_RNGLISTS].offset : skeleton->split_ranges;
	unit->addr = skeleton->addr;
	unit->low = skeleton->low;
}

/* Its number is in its header, or, before DWARF 5, in its first DIE. */
static bool is_unit(struct dwarf_unit *unit, const struct dwarf *file, const struct dwarf_unit *skeleton, const struct part *parts)
{
	struct dwarf_die die;

	if (unit->version != skeleton->version || unit->address_size != skeleton->address_size)
		return false;
	set_bases(unit, skeleton, parts);
	if (!dwarf_die_at(&die, file, unit, unit->dies))
		return false;
	unit->name = die.name;
	unit->folder = die.folder;
	return (unit->version >= 5 ? unit->split_id : die.split_id) == skeleton->split_id;
}

static bool find_unit(struct dwarf_unit *ret, const struct dwarf *file, const struct dwarf_unit *skeleton,
		      const struct part *parts)
{
	struct perfev_bytes info = dwarf_bytes(file, DWARF_INFO);
	const unsigned char *data = info.data;
	struct dwarf_reader r = {data + parts[PART_INFO].offset, data + parts[PART_INFO].offset + parts[PART_INFO].size,
				 file->swap, false};
	unsigned count = 0;
	bool usable;

	while (r.at < r.end && count++ < UNITS_MAX && dwarf_header(ret, &r, file, &usable)) {
		r.at = data + ret->end;
		if (usable && is_unit(ret, file, skeleton, parts))
			return true;
	}
	return false;
}

/* Addresses, and the ranges before DWARF 5, are in the program. */
static void borrow(struct dwarf *file, const struct dwarf *dwarf)
{
	file->sections[DWARF_ADDR] = dwarf->sections[DWARF_ADDR];
	file->sections[DWARF_RANGES] = dwarf->sections[DWARF_RANGES];
}

/* What the unit in the program does not say is as in the other file. */
static void borrow_string(const struct dwarf *dwarf, const struct dwarf_unit *unit, struct dwarf_string *to, const struct dwarf *file,
			  const struct dwarf_unit *found, const struct dwarf_string *from)
{
	if (dwarf_string_text(dwarf, unit, to))
		return;
	to->at.text = dwarf_string_text(file, found, from);
	to->kind = to->at.text ? STRING_HERE : STRING_NONE;
}

static int set_split(const struct dwarf *dwarf, struct dwarf_unit *unit, struct dwarf *file, const struct dwarf_unit *found)
{
	unit->split = calloc(1, sizeof(*unit->split));
	if (!unit->split)
		return -ENOMEM;
	unit->split->file = file;
	unit->split->unit = *found;
	borrow_string(dwarf, unit, &unit->name, file, &unit->split->unit, &found->name);
	borrow_string(dwarf, unit, &unit->folder, file, &unit->split->unit, &found->folder);
	return 0;
}

/* ---- packages ----------------------------------------------------------------------------------------------- */

static void open_package(struct dwarf *dwarf)
{
	struct dwarf_wish wish = {.kind = DWARF_PACKAGE};
	struct elf elf;

	dwarf->package_tried = true;
	while (!dwarf->package && dwarf->others.open(dwarf->others.context, &elf, &wish)) {
		struct dwarf *file = own_file(&elf, true);

		if (file && elf_expand(&file->elf, ".debug_cu_index", &file->index, &file->owned_index)) {
			borrow(file, dwarf);
			dwarf->package = file;
		} else {
			dwarf_free(file);
			say(dwarf, "%.300s is no package of debug information", wish.path);
		}
	}
}

/* Row @row of the table, whose columns are named by numbers. */
static bool read_row(struct dwarf_reader *r, uint32_t columns, uint32_t units, uint32_t row, uint32_t version, struct part *parts)
{
	struct dwarf_reader names = *r, offsets = *r, sizes = *r;
	uint32_t i;

	dwarf_skip(&offsets, (uint64_t)columns * 4 * row);
	dwarf_skip(&sizes, (uint64_t)columns * 4 * ((uint64_t)units + row));
	for (i = 0; i < columns; i++) {
		uint64_t name = dwarf_number(&names, 4), offset = dwarf_number(&offsets, 4), size = dwarf_number(&sizes, 4);

		if (name < PARTS && (name != PART_RNGLISTS || version >= 5)) {
			parts[name].offset = offset;
			parts[name].size = size;
		}
	}
	return !names.failed && !offsets.failed && !sizes.failed;
}

/* Four bytes in GNU's form, which is 2; two of padding behind those of DWARF 5. */
static uint32_t read_version(struct dwarf_reader *r)
{
	struct dwarf_reader again = *r;
	uint32_t wide = (uint32_t)dwarf_number(r, 4), narrow = (uint32_t)dwarf_number(&again, 2);

	return wide == 2 ? 2 : narrow;
}

/* Where the parts of the unit with a number are. */
static bool look_up(const struct dwarf *package, uint64_t id, struct part *parts)
{
	struct dwarf_reader r = {package->index.data, (const unsigned char *)package->index.data + package->index.size,
				 package->swap, false};
	uint32_t version = read_version(&r), columns = (uint32_t)dwarf_number(&r, 4), units = (uint32_t)dwarf_number(&r, 4);
	uint32_t slots = (uint32_t)dwarf_number(&r, 4), mask = slots - 1, step, at, i;
	struct dwarf_reader numbers = r, rows = r;

	if (r.failed || (version != 2 && version != 5) || !slots || slots > ROOM_MAX || (slots & mask) || columns > 16)
		return false;
	dwarf_skip(&rows, (uint64_t)slots * 8);
	dwarf_skip(&r, (uint64_t)slots * 12);
	at = (uint32_t)id & mask;
	step = ((uint32_t)(id >> 32) & mask) | 1;
	for (i = 0; i < slots && !r.failed; i++, at = (at + step) & mask) {
		struct dwarf_reader number = numbers, row = rows;
		uint32_t index;

		dwarf_skip(&number, (uint64_t)at * 8);
		dwarf_skip(&row, (uint64_t)at * 4);
		index = (uint32_t)dwarf_number(&row, 4);
		if (!index)
			return false;
		if (dwarf_number(&number, 8) == id)
			return index <= units && read_row(&r, columns, units, index, version, parts);
	}
	return false;
}

static bool find_in_package(struct dwarf *dwarf, const struct dwarf_unit *unit, struct dwarf_unit *ret)
{
	struct part parts[PARTS];

	memset(parts, 0, sizeof(parts));
	if (!dwarf->package_tried)
		open_package(dwarf);
	if (!dwarf->package || !look_up(dwarf->package, unit->split_id, parts))
		return false;
	if (parts[PART_INFO].offset > dwarf_bytes(dwarf->package, DWARF_INFO).size ||
	    parts[PART_INFO].size > dwarf_bytes(dwarf->package, DWARF_INFO).size - parts[PART_INFO].offset)
		return false;
	return find_unit(ret, dwarf->package, unit, parts);
}

/* ---- files -------------------------------------------------------------------------------------------------- */

int dwarf_split_open(struct dwarf *dwarf, struct dwarf_unit *unit)
{
	struct dwarf_wish wish = {.kind = DWARF_SPLIT, .name = unit->split_name};
	struct part parts[PARTS];
	struct dwarf_unit found;
	struct dwarf *file;
	struct elf elf;
	bool relative;
	int r;

	if (!dwarf->others.open)
		return 0;
	wish.folder = dwarf_string_text(dwarf, unit, &unit->folder);
	if (find_in_package(dwarf, unit, &found))
		return set_split(dwarf, unit, dwarf->package, &found);
	while (dwarf->others.open(dwarf->others.context, &elf, &wish)) {
		file = own_file(&elf, true);
		if (!file)
			continue;
		borrow(file, dwarf);
		memset(parts, 0, sizeof(parts));
		parts[PART_INFO].size = dwarf_bytes(file, DWARF_INFO).size;
		if (find_unit(&found, file, unit, parts)) {
			r = set_split(dwarf, unit, file, &found);
			if (r < 0)
				dwarf_free(file);
			return r;
		}
		dwarf_free(file);
		say(dwarf, "%.300s, which has inlined functions, is of another compilation", wish.path);
	}
	dwarf->missing++;
	relative = wish.folder && wish.name[0] != '/';
	say(dwarf, "%.200s%s%.200s is missing, which has inlined functions", relative ? wish.folder : "", relative ? "/" : "", wish.name);
	return 0;
}
