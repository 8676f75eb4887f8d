/* SPDX-License-Identifier: MIT */
/*
 * Ranges of addresses: one, as the first and the last or a size, or a list in another section, whose form changed with
 * DWARF 5. Lists of units in other files begin where the unit in the program says, or their part of a package.
 */
#include "dwarf_ranges.h"

#include "base/buffer.h"

#include <errno.h>

#define RANGES_MAX (1u << 22)

struct sink {
	struct range **list;
	size_t *count, *room;
	uint32_t owner;
	size_t taken;
};

/* What linkers leave out keeps its entries, at address 0 or close to the end. */
static int add_range(struct sink *sink, uint64_t start, uint64_t end)
{
	struct range *list;

	if (!start || start >= end || end > UINT64_MAX - 0x10000 || *sink->count >= RANGES_MAX)
		return 0;
	list = array_grow(*sink->list, sink->room, *sink->count, sizeof(*list));
	if (!list)
		return -ENOMEM;
	*sink->list = list;
	list[*sink->count].start = start;
	list[*sink->count].end = end;
	list[*sink->count].reserved = 0;
	list[(*sink->count)++].owner = sink->owner;
	return 0;
}

/* DWARF 2 to 4: pairs of addresses; the largest one as the first of them gives a new base. */
static int old_ranges(struct sink *sink, const struct dwarf *dwarf, const struct dwarf_unit *unit, uint64_t offset)
{
	struct dwarf_reader r = dwarf_section_reader(dwarf, DWARF_RANGES, offset);
	uint64_t base = unit->low, last = unit->address_size == 4 ? UINT32_MAX : UINT64_MAX;
	int result = 0;

	while (result == 0 && r.at < r.end && sink->taken++ < RANGES_MAX) {
		uint64_t start = dwarf_number(&r, unit->address_size), end = dwarf_number(&r, unit->address_size);

		if (r.failed || (!start && !end))
			break;
		if (start == last)
			base = end;
		else
			result = add_range(sink, base + start, base + end);
	}
	return result;
}

/* One entry of a list of DWARF 5. Returns 1 to go on, 0 at the end, -ENOMEM. */
static int new_range(struct sink *sink, struct dwarf_reader *r, const struct dwarf *dwarf, const struct dwarf_unit *unit,
		     uint64_t *base)
{
	uint64_t a, b;

	switch (dwarf_number(r, 1)) {
	case 1: /* base_addressx */
		*base = dwarf_address(dwarf, unit, dwarf_uleb(r));
		return 1;
	case 2: /* startx_endx */
		a = dwarf_address(dwarf, unit, dwarf_uleb(r));
		b = dwarf_address(dwarf, unit, dwarf_uleb(r));
		break;
	case 3: /* startx_length */
		a = dwarf_address(dwarf, unit, dwarf_uleb(r));
		b = a + dwarf_uleb(r);
		break;
	case 4: /* offset_pair */
		a = *base + dwarf_uleb(r);
		b = *base + dwarf_uleb(r);
		break;
	case 5: /* base_address */
		*base = dwarf_number(r, unit->address_size);
		return 1;
	case 6: /* start_end */
		a = dwarf_number(r, unit->address_size);
		b = dwarf_number(r, unit->address_size);
		break;
	case 7: /* start_length */
		a = dwarf_number(r, unit->address_size);
		b = a + dwarf_uleb(r);
		break;
	default: /* end_of_list, and what is not known */
		return 0;
	}
	return r->failed ? 0 : add_range(sink, a, b) < 0 ? -ENOMEM : 1;
}

int dwarf_die_ranges(struct range **list, size_t *count, size_t *room, uint32_t owner, const struct dwarf *dwarf,
		     const struct dwarf_unit *unit, const struct dwarf_die *die)
{
	struct sink sink = {list, count, room, owner, 0};
	uint64_t base = unit->low, offset = die->ranges;
	struct dwarf_reader r;
	int result = 1;

	if (!die->has_ranges && die->has_low && die->has_high)
		return add_range(&sink, die->low, die->high_is_size ? die->low + die->high : die->high);
	if (!die->has_ranges)
		return 0;
	if (unit->version < 5)
		return old_ranges(&sink, dwarf, unit, unit->ranges + offset);
	if (!die->ranges_index)
		offset += unit->ranges;
	else
		offset = unit->rnglists + dwarf_indexed(dwarf, DWARF_RNGLISTS, unit->rnglists, offset, unit->offset_size);
	r = dwarf_section_reader(dwarf, DWARF_RNGLISTS, offset);
	while (result > 0 && r.at < r.end && sink.taken++ < RANGES_MAX)
		result = new_range(&sink, &r, dwarf, unit, &base);
	return result < 0 ? result : 0;
}
