/* SPDX-License-Identifier: MIT */
/*
 * Lines of a unit: a small program whose run gives a table of addresses and lines. It has sequences, in each of which
 * addresses only rise; they come in any order, so that they are sorted as wholes.
 */
#include "dwarf_die.h"
#include "dwarf_line.h"

#include "base/buffer.h"
#include "base/sorted.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS_MAX  (1u << 24)
#define FILES_MAX (1u << 20)

struct program {
	struct dwarf *dwarf;
	struct dwarf_unit *unit;
	struct dwarf_reader r;
	uint16_t version;
	uint8_t address_size, offset_size;
	unsigned step, range, opcode_base;
	int base;
	uint8_t lengths[256]; /* of standard opcodes */
	uint64_t address;
	uint32_t file, line;
	size_t begin; /* of the sequence: its first row */
};

/* ---- folders and files -------------------------------------------------------------------------------------- */

static int add_folder(struct dwarf_unit *unit, const char *name)
{
	const char **folders = array_grow(unit->folders, &unit->folder_room, unit->folder_count, sizeof(*folders));

	if (!folders)
		return -ENOMEM;
	unit->folders = folders;
	folders[unit->folder_count++] = name;
	return 0;
}

static int add_file(struct dwarf_unit *unit, const char *name, uint64_t folder)
{
	struct dwarf_file *files = array_grow(unit->files, &unit->file_room, unit->file_count, sizeof(*files));

	if (!files)
		return -ENOMEM;
	unit->files = files;
	files[unit->file_count].name = name;
	files[unit->file_count].full = NULL;
	files[unit->file_count++].folder = (uint32_t)folder;
	return 0;
}

/* DWARF 2 to 4: folder 0 is that of the unit, and files count from 1. */
static int old_files(struct program *p)
{
	const char *name;
	int r = add_folder(p->unit, dwarf_string_text(p->dwarf, p->unit, &p->unit->folder));

	while (r == 0 && (name = dwarf_text(&p->r)) && name[0] && p->unit->folder_count < FILES_MAX)
		r = add_folder(p->unit, name);
	if (r == 0)
		r = add_file(p->unit, dwarf_string_text(p->dwarf, p->unit, &p->unit->name), 0);
	while (r == 0 && (name = dwarf_text(&p->r)) && name[0] && p->unit->file_count < FILES_MAX) {
		uint64_t folder = dwarf_uleb(&p->r);

		dwarf_uleb(&p->r);
		dwarf_uleb(&p->r);
		r = add_file(p->unit, name, folder);
	}
	return r;
}

static const char *text_of(const struct dwarf *dwarf, enum dwarf_section section, uint64_t offset)
{
	struct perfev_bytes bytes = dwarf_bytes(dwarf, section);
	const char *text = bytes.data;

	return text && offset < bytes.size && memchr(text + offset, 0, bytes.size - (size_t)offset) ? text + offset : NULL;
}

/* One member of an entry. False when its form is not known. */
static bool read_member(struct program *p, uint64_t what, uint64_t form, const char **name, uint64_t *folder)
{
	const char *text = NULL;
	uint64_t number = 0;

	switch (form) {
	case 0x08: /* string */
		text = dwarf_text(&p->r);
		break;
	case 0x0e: /* strp */
		text = text_of(p->dwarf, DWARF_STR, dwarf_number(&p->r, p->offset_size));
		break;
	case 0x1d:   /* strp_sup */
	case 0x1f21: /* GNU_strp_alt */
		number = dwarf_number(&p->r, p->offset_size);
		text = p->dwarf->supplement ? text_of(p->dwarf->supplement, DWARF_STR, number) : NULL;
		break;
	case 0x1f: /* line_strp */
		text = text_of(p->dwarf, DWARF_LINE_STR, dwarf_number(&p->r, p->offset_size));
		break;
	case 0x0b: /* data1 */
		number = dwarf_number(&p->r, 1);
		break;
	case 0x05: /* data2 */
		number = dwarf_number(&p->r, 2);
		break;
	case 0x06: /* data4 */
		number = dwarf_number(&p->r, 4);
		break;
	case 0x07: /* data8 */
		number = dwarf_number(&p->r, 8);
		break;
	case 0x0f: /* udata */
		number = dwarf_uleb(&p->r);
		break;
	case 0x1e: /* data16 */
		dwarf_skip(&p->r, 16);
		break;
	case 0x09: /* block */
		dwarf_skip(&p->r, dwarf_uleb(&p->r));
		break;
	default:
		return false;
	}
	if (what == 1)
		*name = text;
	else if (what == 2)
		*folder = number;
	return !p->r.failed;
}

/* DWARF 5: a list that says itself what its entries have. */
static int new_list(struct program *p, bool folders)
{
	uint64_t what[16], form[16], count, i, folder;
	unsigned members = (unsigned)dwarf_number(&p->r, 1), k;
	const char *name;
	int r = 0;

	if (members > 16)
		return -EINVAL;
	for (k = 0; k < members; k++) {
		what[k] = dwarf_uleb(&p->r);
		form[k] = dwarf_uleb(&p->r);
	}
	count = dwarf_uleb(&p->r);
	if (p->r.failed || count > FILES_MAX || (count && !members))
		return -EINVAL;
	for (i = 0; r == 0 && i < count; i++) {
		name = NULL;
		folder = 0;
		for (k = 0; k < members; k++)
			if (!read_member(p, what[k], form[k], &name, &folder))
				return -EINVAL;
		r = folders ? add_folder(p->unit, name) : add_file(p->unit, name, folder);
	}
	return r;
}

/* ---- the program ------------------------------------------------------------------------------------------------ */

static int read_header(struct program *p)
{
	struct perfev_bytes bytes = dwarf_bytes(p->dwarf, DWARF_LINE);
	const unsigned char *data = bytes.data, *start;
	uint64_t length, header;
	unsigned i;
	int r;

	if (!data || p->unit->line >= bytes.size)
		return -EINVAL;
	p->r = (struct dwarf_reader){data + p->unit->line, data + bytes.size, p->dwarf->swap, false};
	p->offset_size = 4;
	length = dwarf_number(&p->r, 4);
	if (length == UINT32_MAX) {
		p->offset_size = 8;
		length = dwarf_number(&p->r, 8);
	}
	if (p->r.failed || length > (uint64_t)(p->r.end - p->r.at))
		return -EINVAL;
	p->r.end = p->r.at + length;
	p->version = (uint16_t)dwarf_number(&p->r, 2);
	p->address_size = p->unit->address_size;
	if (p->version >= 5) {
		p->address_size = (uint8_t)dwarf_number(&p->r, 1);
		dwarf_number(&p->r, 1);
	}
	header = dwarf_number(&p->r, p->offset_size);
	start = p->r.at;
	p->step = (unsigned)dwarf_number(&p->r, 1);
	if (p->version >= 4)
		dwarf_number(&p->r, 1);
	dwarf_number(&p->r, 1);
	p->base = (int8_t)dwarf_number(&p->r, 1);
	p->range = (unsigned)dwarf_number(&p->r, 1);
	p->opcode_base = (unsigned)dwarf_number(&p->r, 1);
	for (i = 1; i < p->opcode_base; i++)
		p->lengths[i] = (uint8_t)dwarf_number(&p->r, 1);
	if (p->r.failed || p->version < 2 || p->version > 5 || !p->range || !p->opcode_base ||
	    (p->address_size != 4 && p->address_size != 8) || header > (uint64_t)(p->r.end - start))
		return -EINVAL;
	r = p->version < 5 ? old_files(p) : new_list(p, true);
	if (r == 0 && p->version >= 5)
		r = new_list(p, false);
	p->r.at = start + header;
	p->r.failed = false;
	return r;
}

static int add_row(struct program *p, bool end)
{
	struct dwarf_unit *unit = p->unit;
	struct dwarf_row *rows;

	if (unit->row_count >= ROWS_MAX)
		return -EINVAL;
	rows = array_grow(unit->rows, &unit->row_room, unit->row_count, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	unit->rows = rows;
	rows[unit->row_count].address = p->address;
	rows[unit->row_count].file = end ? DWARF_NO_FILE : p->file;
	rows[unit->row_count++].line = end ? 0 : p->line;
	return 0;
}

static void reset(struct program *p)
{
	p->address = 0;
	p->file = p->line = 1;
	p->begin = p->unit->row_count;
}

/* A sequence that a linker left out begins at 0: it is dropped. */
static int end_sequence(struct program *p)
{
	int r = add_row(p, true);

	if (r == 0 && !p->unit->rows[p->begin].address)
		p->unit->row_count = p->begin;
	reset(p);
	return r;
}

static int run_extended(struct program *p)
{
	uint64_t size = dwarf_uleb(&p->r);
	const unsigned char *next;
	int r = 0;

	if (!dwarf_has(&p->r, size) || !size)
		return 0;
	next = p->r.at + size;
	switch (dwarf_number(&p->r, 1)) {
	case 1: /* end_sequence */
		r = end_sequence(p);
		break;
	case 2: /* set_address */
		p->address = size == 5 || size == 9 ? dwarf_number(&p->r, (unsigned)size - 1) : 0;
		break;
	default: /* discriminators, and others */
		break;
	}
	p->r.at = next;
	return r;
}

static int run_standard(struct program *p, unsigned opcode)
{
	unsigned i;

	switch (opcode) {
	case 1: /* copy */
		return add_row(p, false);
	case 2: /* advance_pc */
		p->address += dwarf_uleb(&p->r) * p->step;
		return 0;
	case 3: /* advance_line */
		p->line += (uint32_t)dwarf_sleb(&p->r);
		return 0;
	case 4: /* set_file */
		p->file = (uint32_t)dwarf_uleb(&p->r);
		return 0;
	case 8: /* const_add_pc */
		p->address += (uint64_t)((255 - p->opcode_base) / p->range) * p->step;
		return 0;
	case 9: /* fixed_advance_pc */
		p->address += dwarf_number(&p->r, 2);
		return 0;
	default:
		for (i = 0; i < p->lengths[opcode]; i++)
			dwarf_uleb(&p->r);
		return 0;
	}
}

static int run(struct program *p)
{
	int r = 0;

	reset(p);
	while (r == 0 && p->r.at < p->r.end && !p->r.failed) {
		unsigned opcode = (unsigned)dwarf_number(&p->r, 1);

		if (opcode >= p->opcode_base) {
			unsigned special = opcode - p->opcode_base;

			p->address += (uint64_t)(special / p->range) * p->step;
			p->line += (uint32_t)(p->base + (int)(special % p->range));
			r = add_row(p, false);
		} else {
			r = opcode ? run_standard(p, opcode) : run_extended(p);
		}
	}
	return r;
}

/* ---- sorting ----------------------------------------------------------------------------------------------------- */

struct sequence {
	uint64_t start;
	size_t from, count;
};

static int compare(const void *a_, const void *b_)
{
	const struct sequence *a = a_, *b = b_;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->from < b->from ? -1 : a->from > b->from;
}

static size_t find_sequences(struct sequence *to, const struct dwarf_unit *unit)
{
	size_t n = 0, from = 0, i;

	for (i = 0; i < unit->row_count; i++) {
		bool last = i + 1 == unit->row_count || unit->rows[i + 1].address < unit->rows[i].address ||
			    (unit->rows[i].file == DWARF_NO_FILE && unit->rows[i + 1].address != unit->rows[i].address);

		if (!last)
			continue;
		to[n].start = unit->rows[from].address;
		to[n].from = from;
		to[n++].count = i + 1 - from;
		from = i + 1;
	}
	return n;
}

static int sort_rows(struct dwarf_unit *unit)
{
	struct sequence *sequences = malloc((unit->row_count + 1) * sizeof(*sequences));
	struct dwarf_row *rows = malloc((unit->row_count + 1) * sizeof(*rows));
	size_t n, i, at = 0;

	if (!sequences || !rows) {
		free(sequences);
		free(rows);
		return -ENOMEM;
	}
	n = find_sequences(sequences, unit);
	qsort(sequences, n, sizeof(*sequences), compare);
	for (i = 0; i < n; i++) {
		memcpy(rows + at, unit->rows + sequences[i].from, sequences[i].count * sizeof(*rows));
		at += sequences[i].count;
	}
	free(sequences);
	free(unit->rows);
	unit->rows = rows;
	unit->row_room = unit->row_count + 1;
	return 0;
}

static int read_lines(struct dwarf *dwarf, struct dwarf_unit *unit)
{
	struct program p = {.dwarf = dwarf, .unit = unit};
	int r = unit->line == UINT64_MAX ? -ENOENT : read_header(&p);

	if (r == 0)
		r = run(&p);
	return r < 0 ? r : sort_rows(unit);
}

const struct dwarf_row *dwarf_row_at(struct dwarf *dwarf, struct dwarf_unit *unit, uint64_t address)
{
	size_t low;

	if (!unit->has_lines) {
		unit->has_lines = true;
		if (read_lines(dwarf, unit) < 0)
			unit->row_count = 0;
	}
	low = sorted_before(unit->rows, unit->row_count, address, address);
	return low && unit->rows[low - 1].file != DWARF_NO_FILE ? &unit->rows[low - 1] : NULL;
}

void dwarf_file_name(struct dwarf *dwarf, struct dwarf_unit *unit, uint32_t index, char *to, size_t size)
{
	const char *folder = NULL, *name, *base;

	dwarf_row_at(dwarf, unit, 0);
	snprintf(to, size, "??");
	if (index >= unit->file_count || !unit->files[index].name)
		return;
	name = unit->files[index].name;
	if (unit->files[index].folder < unit->folder_count)
		folder = unit->folders[unit->files[index].folder];
	base = dwarf_string_text(dwarf, unit, &unit->folder);
	if (name[0] == '/' || !folder || !folder[0])
		snprintf(to, size, "%s", name);
	else if (folder[0] == '/' || !base || unit->files[index].folder == 0) /* which is the base, and may be relative */
		snprintf(to, size, "%s/%s", folder, name);
	else
		snprintf(to, size, "%s/%s/%s", base, folder, name);
}
