/* SPDX-License-Identifier: MIT */
/*
 * Units and their functions.
 *
 * Opening reads the header and the first DIE of each unit, which says where its code is. The rest of a unit is read
 * when an address of it is asked for: its functions and what was inlined into them stand in the order of their nesting,
 * so that painting their ranges one over the other leaves at each address the innermost.
 */
#include "dwarf.h"
#include "dwarf_die.h"
#include "dwarf_ranges.h"
#include "dwarf_split.h"

#include "base/buffer.h"
#include "base/sorted.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define DEPTH_MAX 512
#define UNITS_MAX (1u << 22)
#define HOPS_MAX  16 /* from a function to where its name is */
#define FUNCTIONS_MAX (1u << 24)

/* ---- units ------------------------------------------------------------------------------------------------ */

/* The first DIE is read twice: its texts and addresses may need bases that come behind them. */
static bool read_root(struct dwarf_unit *unit, const struct dwarf *dwarf, struct dwarf_die *die)
{
	if (!dwarf_die_at(die, dwarf, unit, unit->dies))
		return false;
	unit->str_offsets = die->str_offsets;
	unit->addr = die->addr;
	unit->rnglists = die->rnglists;
	if ((die->str_offsets || die->addr) && !dwarf_die_at(die, dwarf, unit, unit->dies))
		return false;
	unit->low = die->has_low ? die->low : 0;
	unit->line = die->has_line ? die->line : UINT64_MAX;
	unit->name = die->name;
	unit->folder = die->folder;
	unit->split_name = dwarf_string_text(dwarf, unit, &die->split_name);
	unit->split_ranges = die->split_ranges;
	if (die->split_id)
		unit->split_id = die->split_id;
	return true;
}

struct places {
	struct range *items;
	size_t count, room;
};

static int compile(struct dwarf *dwarf, struct dwarf_unit *unit);

/* A unit that does not say where its code is has it where its functions are; parts of units, which others import, have
 * none. */
static int add_places(struct places *places, struct dwarf *dwarf, struct dwarf_unit *unit, const struct dwarf_die *die,
		      uint32_t index)
{
	size_t before = places->count, i;
	struct range *items;
	int r = dwarf_die_ranges(&places->items, &places->count, &places->room, index, dwarf, unit, die);

	if (r < 0 || places->count > before || die->tag == DW_TAG_partial_unit)
		return r;
	r = compile(dwarf, unit);
	for (i = 0; r == 0 && i < unit->piece_count; i++) {
		items = array_grow(places->items, &places->room, places->count, sizeof(*items));
		if (!items)
			return -ENOMEM;
		places->items = items;
		items[places->count] = unit->pieces[i];
		items[places->count++].owner = index;
	}
	return r;
}

static int read_units(struct dwarf *dwarf, struct places *places)
{
	struct perfev_bytes info = dwarf_bytes(dwarf, DWARF_INFO);
	struct dwarf_reader r = {info.data, (const unsigned char *)info.data + info.size, dwarf->swap, false};
	struct dwarf_unit unit, *units;
	struct dwarf_die die;
	bool usable;
	int result = 0;

	while (result == 0 && r.at < r.end && dwarf->unit_count < UNITS_MAX && dwarf_header(&unit, &r, dwarf, &usable)) {
		r.at = (const unsigned char *)info.data + unit.end;
		if (!usable || !read_root(&unit, dwarf, &die))
			continue;
		units = array_grow(dwarf->units, &dwarf->unit_room, dwarf->unit_count, sizeof(*units));
		if (!units)
			return -ENOMEM;
		dwarf->units = units;
		units[dwarf->unit_count] = unit;
		result = add_places(places, dwarf, &units[dwarf->unit_count], &die, (uint32_t)dwarf->unit_count);
		dwarf->unit_count++;
	}
	return result;
}

struct dwarf *dwarf_open(const struct elf *elf, const struct dwarf_others *others)
{
	struct dwarf *dwarf = dwarf_sections(elf, false);
	struct places places = {NULL, 0, 0};
	int r = 0;

	if (!dwarf)
		return NULL;
	if (!dwarf_has_units(dwarf)) {
		dwarf_free(dwarf);
		return NULL;
	}
	if (others) {
		dwarf->others = *others;
		r = dwarf_supplement_open(dwarf, elf);
	}
	if (r == 0)
		r = read_units(dwarf, &places);
	if (r == 0 && places.count)
		r = cells_paint(&dwarf->where, &dwarf->where_count, places.items, places.count);
	free(places.items);
	if (r == 0 && dwarf->where_count)
		return dwarf;
	dwarf_free(dwarf);
	return NULL;
}

/* ---- functions ---------------------------------------------------------------------------------------------- */

struct walk {
	const struct dwarf *dwarf;	/* where the DIEs are, */
	const struct dwarf_unit *dies;	/* and their unit there */
	struct dwarf_unit *unit;	/* that gets the functions */
	const unsigned char *info;	/* the section that they are in */
	struct places places;
	uint32_t inside[DEPTH_MAX]; /* by depth: the function whose children they are, + 1; 0: none */
	unsigned depth;
};

static int add_function(struct walk *w, const struct dwarf_die *die, uint32_t *number)
{
	struct dwarf_unit *unit = w->unit;
	size_t before = w->places.count;
	struct dwarf_function *functions;

	if (unit->function_count >= FUNCTIONS_MAX)
		return 0;
	if (dwarf_die_ranges(&w->places.items, &w->places.count, &w->places.room, (uint32_t)unit->function_count, w->dwarf,
			     w->dies, die) < 0)
		return -ENOMEM;
	if (w->places.count == before)
		return 0;
	functions = array_grow(unit->functions, &unit->function_room, unit->function_count, sizeof(*functions));
	if (!functions)
		return -ENOMEM;
	unit->functions = functions;
	memset(&functions[unit->function_count], 0, sizeof(*functions));
	functions[unit->function_count].die = die->offset;
	functions[unit->function_count].call_file = die->call_file;
	functions[unit->function_count].call_line = die->call_line;
	if (die->tag == DW_TAG_inlined_subroutine)
		functions[unit->function_count].parent = w->inside[w->depth];
	*number = (uint32_t)++unit->function_count;
	return 0;
}

/* Types, and functions without code, have no code in their children: the reader goes behind those, where that is said. */
static bool pass_over(const struct walk *w, struct dwarf_reader *r, const struct dwarf_die *die, bool has_code)
{
	const unsigned char *next;

	if (!(dwarf_is_type(die->tag) || (die->tag == DW_TAG_subprogram && !has_code)) || die->sibling <= die->offset ||
	    die->sibling >= w->dies->end)
		return false;
	next = (const unsigned char *)dwarf_bytes(w->dwarf, DWARF_INFO).data + die->sibling;
	if (next <= r->at)
		return false;
	r->at = next;
	return true;
}

/* Its children follow. Return: 1 to go on, 0 at the end. */
static int go_inside(struct walk *w, uint32_t function)
{
	if (w->depth + 1 >= DEPTH_MAX)
		return 0;
	w->inside[++w->depth] = function;
	return 1;
}

/* A DIE of which something is wanted. Returns 1 to go on, 0 at the end, -ENOMEM. */
static int take_die(struct walk *w, struct dwarf_reader *r, const struct dwarf_abbrevs *abbrevs, const struct dwarf_abbrev *kind,
		    uint64_t offset)
{
	struct dwarf_die die;
	uint32_t number = 0;

	if (!dwarf_die_read(&die, r, w->dwarf, w->dies, abbrevs, kind, offset))
		return 0;
	if ((die.tag == DW_TAG_subprogram || die.tag == DW_TAG_inlined_subroutine) && add_function(w, &die, &number) < 0)
		return -ENOMEM;
	if (!die.children)
		return w->depth > 0;
	if (pass_over(w, r, &die, number))
		return 1;
	return go_inside(w, number ? number : die.tag == DW_TAG_subprogram ? 0 : w->inside[w->depth]);
}

/* One DIE. Returns the same. */
static inline int walk_die(struct walk *w, struct dwarf_reader *r, const struct dwarf_abbrevs *abbrevs)
{
	const unsigned char *at = r->at;
	const struct dwarf_abbrev *kind = dwarf_die_kind(r, abbrevs);

	if (!kind)
		return 0;
	if (!kind->tag) {
		w->depth -= w->depth > 0;
		return w->depth > 0;
	}
	if (!kind->plain)
		return take_die(w, r, abbrevs, kind, (uint64_t)(at - w->info));
	if (!dwarf_step_over(r, abbrevs->steps + kind->first, kind->count))
		return 0;
	return kind->children ? go_inside(w, w->inside[w->depth]) : w->depth > 0;
}

static int compile(struct dwarf *dwarf, struct dwarf_unit *unit)
{
	struct walk *w = calloc(1, sizeof(*w));
	struct dwarf_abbrevs abbrevs;
	struct dwarf_reader r;
	int result;

	unit->compiled = true;
	if (!w || (unit->split_name && dwarf_split_open(dwarf, unit) < 0)) {
		free(w);
		return -ENOMEM;
	}
	w->dwarf = unit->split ? unit->split->file : dwarf;
	w->dies = unit->split ? &unit->split->unit : unit;
	w->unit = unit;
	w->info = dwarf_bytes(w->dwarf, DWARF_INFO).data;
	r = dwarf_info_reader(w->dwarf, w->dies, w->dies->dies);
	result = dwarf_abbrevs_read(&abbrevs, w->dwarf, w->dies);
	if (result == 0)
		do
			result = walk_die(w, &r, &abbrevs);
		while (result > 0 && r.at < r.end);
	if (result >= 0 && w->places.count)
		result = cells_paint(&unit->pieces, &unit->piece_count, w->places.items, w->places.count);
	dwarf_abbrevs_free(&abbrevs);
	free(w->places.items);
	free(w);
	return result == -ENOMEM ? -ENOMEM : 0;
}

/* ---- finding -------------------------------------------------------------------------------------------------- */

static const struct range *find_range(const struct range *ranges, size_t count, uint64_t address)
{
	size_t low = sorted_before(ranges, count, start, address);

	return low && address < ranges[low - 1].end ? &ranges[low - 1] : NULL;
}

struct dwarf_unit *dwarf_unit_at(struct dwarf *dwarf, uint64_t address)
{
	const struct range *range = find_range(dwarf->where, dwarf->where_count, address);
	struct dwarf_unit *unit = range ? &dwarf->units[range->owner] : NULL;

	if (unit && !unit->compiled && compile(dwarf, unit) < 0)
		return NULL;
	return unit;
}

struct dwarf_function *dwarf_function_at(const struct dwarf_unit *unit, uint64_t address)
{
	const struct range *range = find_range(unit->pieces, unit->piece_count, address);

	return range ? &unit->functions[range->owner] : NULL;
}

const char *dwarf_name(const struct dwarf *dwarf, const struct dwarf_unit *unit, const struct dwarf_function *function)
{
	uint64_t offset = function->die;
	const char *name = NULL, *linkage_name;
	struct dwarf_die die;
	int hops;

	if (unit->split) {
		dwarf = unit->split->file;
		unit = &unit->split->unit;
	}
	for (hops = 0; offset && hops < HOPS_MAX; hops++) {
		if (offset < unit->offset || offset >= unit->end)
			unit = dwarf_unit_of(dwarf, offset);
		if (!unit || offset < unit->dies || !dwarf_die_at(&die, dwarf, unit, offset))
			break;
		linkage_name = dwarf_string_text(dwarf, unit, &die.linkage_name);
		if (linkage_name)
			return linkage_name;
		if (!name)
			name = dwarf_string_text(dwarf, unit, &die.name);
		offset = die.origin;
		if (!die.origin_shared)
			continue;
		dwarf = dwarf->supplement;
		unit = dwarf ? dwarf_unit_of(dwarf, offset) : NULL;
		if (!unit)
			break;
	}
	return name;
}
