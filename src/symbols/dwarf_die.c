/* SPDX-License-Identifier: MIT */
/*
 * Reading DIEs. Each has a code, which says what kind it is: a tag, whether it has children, and which attributes of
 * which forms follow. Forms that are not known end the reading of a unit, as where the next attribute begins is not
 * known then. Attributes that name other sections are looked up there, within their bounds.
 */
#include "dwarf_die.h"

#include "base/buffer.h"

#include <errno.h>
#include <stdlib.h>

#define CODES_MAX (1u << 20)
#define SPECS_MAX (1u << 22)

enum { /* attributes */
	DW_AT_sibling = 0x01,
	DW_AT_name = 0x03,
	DW_AT_stmt_list = 0x10,
	DW_AT_low_pc = 0x11,
	DW_AT_high_pc = 0x12,
	DW_AT_comp_dir = 0x1b,
	DW_AT_abstract_origin = 0x31,
	DW_AT_specification = 0x47,
	DW_AT_ranges = 0x55,
	DW_AT_call_file = 0x58,
	DW_AT_call_line = 0x59,
	DW_AT_linkage_name = 0x6e,
	DW_AT_str_offsets_base = 0x72,
	DW_AT_addr_base = 0x73,
	DW_AT_rnglists_base = 0x74,
	DW_AT_dwo_name = 0x76,
	DW_AT_MIPS_linkage_name = 0x2007,
	DW_AT_GNU_dwo_name = 0x2130,
	DW_AT_GNU_dwo_id = 0x2131,
	DW_AT_GNU_ranges_base = 0x2132,
	DW_AT_GNU_addr_base = 0x2133
};

enum kind { VALUE_OTHER, VALUE_NUMBER, VALUE_ADDRESS, VALUE_TEXT, VALUE_REFERENCE, VALUE_SHARED, VALUE_INDEX };

struct value {
	enum kind kind;
	uint64_t number;
	struct dwarf_string text;
};

/* ---- other sections --------------------------------------------------------------------------------------- */

struct dwarf_reader dwarf_section_reader(const struct dwarf *dwarf, enum dwarf_section section, uint64_t offset)
{
	struct perfev_bytes bytes = dwarf_bytes(dwarf, section);
	const unsigned char *data = bytes.data;
	struct dwarf_reader r = {data, data, dwarf->swap, false};

	if (!data)
		return r;
	r.end = data + bytes.size;
	r.at = offset <= bytes.size ? data + offset : r.end;
	return r;
}

static const char *text_at(const struct dwarf *dwarf, enum dwarf_section section, uint64_t offset)
{
	struct dwarf_reader r = dwarf_section_reader(dwarf, section, offset);

	return r.at < r.end ? dwarf_text(&r) : NULL;
}

uint64_t dwarf_indexed(const struct dwarf *dwarf, enum dwarf_section section, uint64_t base, uint64_t index,
			unsigned size)
{
	struct dwarf_reader r;

	if (index > UINT32_MAX)
		return 0;
	r = dwarf_section_reader(dwarf, section, base + index * size);
	return dwarf_number(&r, size);
}

uint64_t dwarf_address(const struct dwarf *dwarf, const struct dwarf_unit *unit, uint64_t index)
{
	return dwarf_indexed(dwarf, DWARF_ADDR, unit->addr, index, unit->address_size);
}

static const char *indexed_text(const struct dwarf *dwarf, const struct dwarf_unit *unit, uint64_t index)
{
	return text_at(dwarf, DWARF_STR, dwarf_indexed(dwarf, DWARF_STR_OFFSETS, unit->str_offsets, index, unit->offset_size));
}

const char *dwarf_string_text(const struct dwarf *dwarf, const struct dwarf_unit *unit, const struct dwarf_string *string)
{
	switch (string->kind) {
	case STRING_HERE:
		return string->at.text;
	case STRING_STR:
		return text_at(dwarf, DWARF_STR, string->at.number);
	case STRING_LINE_STR:
		return text_at(dwarf, DWARF_LINE_STR, string->at.number);
	case STRING_SHARED:
		return dwarf->supplement ? text_at(dwarf->supplement, DWARF_STR, string->at.number) : NULL;
	case STRING_INDEXED:
		return indexed_text(dwarf, unit, string->at.number);
	case STRING_NONE:
		break;
	}
	return NULL;
}

/* ---- forms -------------------------------------------------------------------------------------------------- */

static void set_number(struct value *v, enum kind kind, uint64_t number)
{
	v->kind = kind;
	v->number = number;
}

static void set_text(struct value *v, enum dwarf_string_kind kind, uint64_t number)
{
	v->kind = VALUE_TEXT;
	v->text.kind = kind;
	v->text.at.number = number;
}

static void set_text_here(struct value *v, const char *text)
{
	v->kind = VALUE_TEXT;
	v->text.kind = text ? STRING_HERE : STRING_NONE;
	v->text.at.text = text;
}

/* Numbers, and what refers to places of the unit. */
static bool read_plain(struct value *v, struct dwarf_reader *r, const struct dwarf_unit *unit, uint32_t form)
{
	static const uint8_t sizes[] = {[0x05] = 2, [0x06] = 4, [0x07] = 8, [0x0b] = 1, [0x0c] = 1,
					[0x11] = 1, [0x12] = 2, [0x13] = 4, [0x14] = 8};

	if (form < sizeof(sizes) && sizes[form]) {
		set_number(v, form < 0x11 ? VALUE_NUMBER : VALUE_REFERENCE, dwarf_number(r, sizes[form]));
		v->number += form < 0x11 ? 0 : unit->offset;
		return true;
	}
	switch (form) {
	case 0x01: /* addr */
		set_number(v, VALUE_ADDRESS, dwarf_number(r, unit->address_size));
		return true;
	case 0x0d: /* sdata */
		set_number(v, VALUE_NUMBER, (uint64_t)dwarf_sleb(r));
		return true;
	case 0x0f: /* udata */
		set_number(v, VALUE_NUMBER, dwarf_uleb(r));
		return true;
	case 0x10: /* ref_addr */
		set_number(v, VALUE_REFERENCE, dwarf_number(r, unit->version < 3 ? unit->address_size : unit->offset_size));
		return true;
	case 0x15: /* ref_udata */
		set_number(v, VALUE_REFERENCE, unit->offset + dwarf_uleb(r));
		return true;
	case 0x17: /* sec_offset */
		set_number(v, VALUE_NUMBER, dwarf_number(r, unit->offset_size));
		return true;
	case 0x19: /* flag_present */
		set_number(v, VALUE_NUMBER, 1);
		return true;
	case 0x22: /* loclistx */
	case 0x23: /* rnglistx */
		set_number(v, VALUE_INDEX, dwarf_uleb(r));
		return true;
	default:
		return false;
	}
}

static bool read_indexed(struct value *v, struct dwarf_reader *r, const struct dwarf *dwarf, const struct dwarf_unit *unit,
			 uint32_t form)
{
	bool text = form == 0x1a || form == 0x1f02 || (form >= 0x25 && form <= 0x28);
	uint64_t index;

	if (form == 0x1a || form == 0x1b || form == 0x1f01 || form == 0x1f02) /* strx, addrx, and GNU's */
		index = dwarf_uleb(r);
	else if (form >= 0x25 && form <= 0x28) /* strx1 to strx4 */
		index = dwarf_number(r, form - 0x24);
	else if (form >= 0x29 && form <= 0x2c) /* addrx1 to addrx4 */
		index = dwarf_number(r, form - 0x28);
	else
		return false;
	if (text)
		set_text(v, STRING_INDEXED, index);
	else
		set_number(v, VALUE_ADDRESS, dwarf_address(dwarf, unit, index));
	return true;
}

/* What is in the file that several share. */
static bool read_shared(struct value *v, struct dwarf_reader *r, const struct dwarf_unit *unit, uint32_t form)
{
	switch (form) {
	case 0x1c: /* ref_sup4 */
		set_number(v, VALUE_SHARED, dwarf_number(r, 4));
		return true;
	case 0x24: /* ref_sup8 */
		set_number(v, VALUE_SHARED, dwarf_number(r, 8));
		return true;
	case 0x1f20: /* GNU_ref_alt */
		set_number(v, VALUE_SHARED, dwarf_number(r, unit->offset_size));
		return true;
	case 0x1d:   /* strp_sup */
	case 0x1f21: /* GNU_strp_alt */
		set_text(v, STRING_SHARED, dwarf_number(r, unit->offset_size));
		return true;
	default:
		return false;
	}
}

static bool read_long(struct value *v, struct dwarf_reader *r, const struct dwarf_unit *unit, uint32_t form)
{
	switch (form) {
	case 0x03: /* block2 */
		dwarf_skip(r, dwarf_number(r, 2));
		return true;
	case 0x04: /* block4 */
		dwarf_skip(r, dwarf_number(r, 4));
		return true;
	case 0x0a: /* block1 */
		dwarf_skip(r, dwarf_number(r, 1));
		return true;
	case 0x09: /* block */
	case 0x18: /* exprloc */
		dwarf_skip(r, dwarf_uleb(r));
		return true;
	case 0x08: /* string */
		set_text_here(v, dwarf_text(r));
		return true;
	case 0x0e: /* strp */
		set_text(v, STRING_STR, dwarf_number(r, unit->offset_size));
		return true;
	case 0x1f: /* line_strp */
		set_text(v, STRING_LINE_STR, dwarf_number(r, unit->offset_size));
		return true;
	case 0x1e: /* data16 */
		dwarf_skip(r, 16);
		return true;
	case 0x20: /* ref_sig8 */
		dwarf_skip(r, 8);
		return true;
	default:
		return false;
	}
}

static bool read_value(struct value *v, struct dwarf_reader *r, const struct dwarf *dwarf, const struct dwarf_unit *unit,
		       const struct dwarf_spec *spec)
{
	uint32_t form = spec->form;

	v->kind = VALUE_OTHER;
	v->number = 0;
	v->text.kind = STRING_NONE;
	if (form == 0x21) { /* implicit_const */
		set_number(v, VALUE_NUMBER, (uint64_t)spec->constant);
		return true;
	}
	if (form == 0x16) /* indirect: once */
		form = (uint32_t)dwarf_uleb(r);
	return (read_plain(v, r, unit, form) || read_indexed(v, r, dwarf, unit, form) ||
		read_long(v, r, unit, form) || read_shared(v, r, unit, form)) &&
	       !r->failed;
}

/* ---- kinds of DIEs -------------------------------------------------------------------------------------------- */

void dwarf_abbrevs_free(struct dwarf_abbrevs *abbrevs)
{
	free(abbrevs->items);
	free(abbrevs->specs);
	free(abbrevs->steps);
	memset(abbrevs, 0, sizeof(*abbrevs));
}

static int add_spec(struct dwarf_abbrevs *a, const struct dwarf_spec *spec)
{
	struct dwarf_spec *specs = array_grow(a->specs, &a->spec_room, a->spec_count, sizeof(*specs));

	if (!specs)
		return -ENOMEM;
	a->specs = specs;
	specs[a->spec_count++] = *spec;
	return 0;
}

static struct dwarf_abbrev *item_of(struct dwarf_abbrevs *a, uint64_t code)
{
	struct dwarf_abbrev *items;
	size_t room = a->room ? a->room : 64;

	while (room <= code)
		room *= 2;
	if (room > a->room) {
		items = realloc(a->items, room * sizeof(*items));
		if (!items)
			return NULL;
		memset(items + a->room, 0, (room - a->room) * sizeof(*items));
		a->items = items;
		a->room = room;
	}
	if (a->count <= code)
		a->count = (size_t)code + 1;
	return &a->items[code];
}

/* The attributes of one kind; @a NULL: passed over. */
static int read_specs(struct dwarf_abbrevs *a, struct dwarf_reader *r)
{
	struct dwarf_spec spec;

	for (;;) {
		spec.name = (uint32_t)dwarf_uleb(r);
		spec.form = (uint32_t)dwarf_uleb(r);
		spec.constant = spec.form == 0x21 ? dwarf_sleb(r) : 0;
		if (r->failed)
			return -EINVAL;
		if (!spec.name && !spec.form)
			return 0;
		if (a->spec_count >= SPECS_MAX || add_spec(a, &spec) < 0)
			return -ENOMEM;
	}
}

/* Types may say where the next one is that is not in them; functions are read. */
static bool is_wanted(const struct dwarf_abbrev *item)
{
	return item->tag == DW_TAG_subprogram || item->tag == DW_TAG_inlined_subroutine || (item->children && dwarf_is_type(item->tag));
}

/* A kind of which nothing is wanted has steps in place of what was read last. */
static int make_plain(struct dwarf_abbrevs *a, struct dwarf_abbrev *item, const struct dwarf_unit *unit)
{
	const struct dwarf_sizes sizes = {unit->address_size, unit->offset_size, unit->version};
	size_t room = a->step_room ? a->step_room : 256;
	uint8_t *steps;
	int n;

	while (room - a->step_count < item->count)
		room *= 2;
	if (room > a->step_room) {
		steps = realloc(a->steps, room);
		if (!steps)
			return -ENOMEM;
		a->steps = steps;
		a->step_room = room;
	}
	n = dwarf_steps(a->steps + a->step_count, a->specs + item->first, item->count, sizes);
	if (n < 0)
		return 0;
	item->plain = true;
	a->spec_count = item->first;
	item->first = (uint32_t)a->step_count;
	item->count = (uint32_t)n;
	a->step_count += (size_t)n;
	return 0;
}

int dwarf_abbrevs_read(struct dwarf_abbrevs *ret, const struct dwarf *dwarf, const struct dwarf_unit *unit)
{
	struct dwarf_reader r = dwarf_section_reader(dwarf, DWARF_ABBREV, unit->abbrev);
	int result = 0;

	memset(ret, 0, sizeof(*ret));
	while (result == 0 && r.at < r.end) {
		struct dwarf_abbrev *item;
		uint64_t code = dwarf_uleb(&r);

		if (!code)
			break;
		item = code < CODES_MAX ? item_of(ret, code) : NULL;
		if (!item)
			return -ENOMEM;
		item->tag = (uint32_t)dwarf_uleb(&r);
		item->children = dwarf_number(&r, 1);
		item->first = (uint32_t)ret->spec_count;
		result = read_specs(ret, &r);
		item->count = (uint32_t)(ret->spec_count - item->first);
		item->plain = false;
		if (result == 0 && item->tag && !is_wanted(item))
			result = make_plain(ret, item, unit);
	}
	return result;
}

/* ---- DIEs -------------------------------------------------------------------------------------------------------- */

struct dwarf_reader dwarf_info_reader(const struct dwarf *dwarf, const struct dwarf_unit *unit, uint64_t offset)
{
	struct dwarf_reader r = dwarf_section_reader(dwarf, DWARF_INFO, offset);
	const unsigned char *data = dwarf_bytes(dwarf, DWARF_INFO).data;

	r.end = data + unit->end;
	if (r.at > r.end)
		r.at = r.end;
	return r;
}

static void take_unit_value(struct dwarf_die *die, uint32_t name, const struct value *v)
{
	switch (name) {
	case DW_AT_stmt_list:
		die->has_line = v->kind == VALUE_NUMBER;
		die->line = v->number;
		break;
	case DW_AT_comp_dir:
		die->folder = v->text;
		break;
	case DW_AT_str_offsets_base:
		die->str_offsets = v->number;
		break;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		die->addr = v->number;
		break;
	case DW_AT_rnglists_base:
		die->rnglists = v->number;
		break;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		die->split_name = v->text;
		break;
	case DW_AT_GNU_dwo_id:
		die->split_id = v->number;
		break;
	case DW_AT_GNU_ranges_base:
		die->split_ranges = v->number;
		break;
	default:
		break;
	}
}

static void take_value(struct dwarf_die *die, uint32_t name, const struct value *v)
{
	switch (name) {
	case DW_AT_name:
		die->name = v->text;
		break;
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		die->linkage_name = v->text;
		break;
	case DW_AT_low_pc:
		die->has_low = v->kind == VALUE_ADDRESS;
		die->low = v->number;
		break;
	case DW_AT_high_pc:
		die->has_high = v->kind == VALUE_ADDRESS || v->kind == VALUE_NUMBER;
		die->high_is_size = v->kind == VALUE_NUMBER;
		die->high = v->number;
		break;
	case DW_AT_ranges:
		die->has_ranges = v->kind == VALUE_NUMBER || v->kind == VALUE_INDEX;
		die->ranges_index = v->kind == VALUE_INDEX;
		die->ranges = v->number;
		break;
	case DW_AT_abstract_origin:
	case DW_AT_specification:
		die->origin = v->kind == VALUE_REFERENCE || v->kind == VALUE_SHARED ? v->number : 0;
		die->origin_shared = v->kind == VALUE_SHARED;
		break;
	case DW_AT_sibling:
		die->sibling = v->kind == VALUE_REFERENCE ? v->number : 0;
		break;
	case DW_AT_call_file:
		die->call_file = (uint32_t)v->number;
		break;
	case DW_AT_call_line:
		die->call_line = (uint32_t)v->number;
		break;
	default:
		take_unit_value(die, name, v);
	}
}

static bool read_values(struct dwarf_die *die, struct dwarf_reader *r, const struct dwarf *dwarf,
			const struct dwarf_unit *unit, const struct dwarf_spec *specs, size_t count)
{
	struct value value;
	size_t i;

	for (i = 0; i < count; i++) {
		if (!read_value(&value, r, dwarf, unit, &specs[i]))
			return false;
		take_value(die, specs[i].name, &value);
	}
	return true;
}

const struct dwarf_abbrev *dwarf_die_kind(struct dwarf_reader *r, const struct dwarf_abbrevs *abbrevs)
{
	static const struct dwarf_abbrev end;
	uint64_t code = dwarf_uleb(r);

	if (r->failed)
		return NULL;
	if (!code)
		return &end;
	return code < abbrevs->count && abbrevs->items[code].tag ? &abbrevs->items[code] : NULL;
}

bool dwarf_die_read(struct dwarf_die *ret, struct dwarf_reader *r, const struct dwarf *dwarf, const struct dwarf_unit *unit,
		    const struct dwarf_abbrevs *abbrevs, const struct dwarf_abbrev *kind, uint64_t offset)
{
	memset(ret, 0, sizeof(*ret));
	ret->offset = offset;
	ret->tag = kind->tag;
	ret->children = kind->children;
	return !kind->count || read_values(ret, r, dwarf, unit, abbrevs->specs + kind->first, kind->count);
}

/* Passes over the attributes of one kind; nearly all names and forms have one byte. */
static int skip_specs(struct dwarf_reader *r)
{
	uint64_t name, form;

	do {
		while (r->end - r->at >= 2 && r->at[0] < 0x80 && r->at[1] < 0x80 && r->at[0] && r->at[1] != 0x21)
			r->at += 2;
		name = dwarf_uleb(r);
		form = dwarf_uleb(r);
		if (form == 0x21)
			dwarf_sleb(r);
	} while ((name || form) && !r->failed);
	return r->failed ? -EINVAL : 0;
}

/* Looks for one kind only; its attributes are read into @only. */
static int find_kind(struct dwarf_abbrevs *only, const struct dwarf *dwarf, const struct dwarf_unit *unit, uint64_t wanted,
		     struct dwarf_abbrev *ret)
{
	struct dwarf_reader r = dwarf_section_reader(dwarf, DWARF_ABBREV, unit->abbrev);

	while (r.at < r.end) {
		uint64_t code = dwarf_uleb(&r);

		if (!code)
			break;
		ret->tag = (uint32_t)dwarf_uleb(&r);
		ret->children = dwarf_number(&r, 1);
		if (code == wanted)
			return read_specs(only, &r);
		if (skip_specs(&r) < 0)
			break;
	}
	return -EINVAL;
}

bool dwarf_die_at(struct dwarf_die *ret, const struct dwarf *dwarf, const struct dwarf_unit *unit, uint64_t offset)
{
	struct dwarf_reader r = dwarf_info_reader(dwarf, unit, offset);
	struct dwarf_abbrevs only;
	struct dwarf_abbrev kind;
	bool good;
	uint64_t code;

	memset(ret, 0, sizeof(*ret));
	memset(&only, 0, sizeof(only));
	code = dwarf_uleb(&r);
	good = !r.failed && code && find_kind(&only, dwarf, unit, code, &kind) == 0;
	if (good) {
		ret->offset = offset;
		ret->tag = kind.tag;
		ret->children = kind.children;
		good = read_values(ret, &r, dwarf, unit, only.specs, only.spec_count);
	}
	dwarf_abbrevs_free(&only);
	return good;
}
