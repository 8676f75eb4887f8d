/* SPDX-License-Identifier: MIT */
/*
 * Sections of call frame information -> one table.
 *
 * All entries (FDEs) are found by one walk over each section, never by the index beside it, which may be missing or old;
 * then they are sorted, and their programs run in that order. Where two say something of the same place, the section that
 * is believed first wins, and in one section the entry that begins later. Entries of code that the linker left out stay
 * behind with an address that is nowhere: they are dropped.
 */
#include "unwind_cfi.h"
#include "unwind_program.h"
#include "unwind_sframe.h"

#include <errno.h>
#include <stdlib.h>

#define FDES_MAX (16u << 20)
#define CIES_MAX 65536

struct fde {
	uint64_t origin, start, end;
	struct byte_cursor program;
	uint32_t cie; /* index; in .sframe: of the function */
	uint32_t section;
	uint64_t order;
};

struct work {
	const struct cfi_source *source;
	struct unwind_table *table;
	struct fde *fdes;
	size_t fde_count, fde_room;
	struct cfi_cie *cies;
	size_t cie_count, cie_room;
	struct map cie_of_offset; /* section and offset: index */
	struct sframe sframes[UNWIND_SECTIONS];
};

/* ---- entries --------------------------------------------------------------------------------------------------- */

/* A pointer of which only the size is of interest. */
static bool skip_pointer(struct byte_cursor *c, uint8_t encoding, const struct cfi_bases *bases)
{
	uint64_t ignored;

	return encoding == CFI_OMIT || cfi_pointer(c, encoding & 0x7f, bases, &ignored);
}

/* One entry of a section: its content, its id, and where that is. */
struct entry {
	struct byte_cursor c;
	uint64_t id, id_offset;
	bool wide; /* 64-bit DWARF */
};

/* Return: 1, 0 at the end or where it is damaged. */
static int next_entry(const struct cfi_section *section, bool swap, uint64_t *offset, struct entry *ret)
{
	struct byte_cursor c = {section->data + *offset, section->data + section->size, swap, false};
	uint64_t size = cursor_u32(&c);

	ret->wide = size == 0xffffffff;
	if (ret->wide)
		size = cursor_u64(&c);
	/* a zero ends it; but what the linker joined may have one in the middle */
	while (!ret->wide && size == 0 && !c.bad && c.at < c.end)
		size = cursor_u32(&c);
	if (c.bad || size < 4 || size > (uint64_t)(c.end - c.at))
		return 0;
	c.end = c.at + size;
	ret->id_offset = (uint64_t)(c.at - section->data);
	/* the ids of .eh_frame have 4 bytes, whatever the length has */
	ret->id = ret->wide && section->kind != CFI_EH_FRAME ? cursor_u64(&c) : cursor_u32(&c);
	ret->c = c;
	*offset = (uint64_t)(c.end - section->data);
	return !c.bad;
}

static bool is_cie(const struct cfi_section *section, const struct entry *entry)
{
	if (section->kind == CFI_EH_FRAME)
		return entry->id == 0;
	return entry->id == (entry->wide ? UINT64_MAX : UINT32_MAX);
}

static struct cfi_bases bases_of(const struct work *w, const struct cfi_section *section)
{
	struct cfi_bases bases = {section->data, section->address, w->source->data_base, 0, w->source->wide};

	return bases;
}

/* The letters behind 'z' say which bytes follow; from one that is not known on, they are passed over. */
static bool read_augmentation(struct cfi_cie *cie, struct byte_cursor *c, const char *letters,
			      const struct cfi_bases *bases)
{
	uint64_t size = cursor_uleb(c);
	struct byte_cursor data = *c;
	uint8_t encoding;

	if (!cursor_take(c, size))
		return false;
	data.end = c->at;
	for (letters++; *letters; letters++) {
		switch (*letters) {
		case 'L':
			cursor_u8(&data);
			break;
		case 'P':
			encoding = cursor_u8(&data);
			if (!skip_pointer(&data, encoding, bases))
				return true;
			break;
		case 'R':
			cie->encoding = cursor_u8(&data);
			break;
		case 'S':
			cie->signal = true;
			break;
		case 'B': /* signed with the second key */
		case 'G': /* tagged memory */
			break;
		default:
			return true;
		}
	}
	return !data.bad;
}

static bool read_cie(struct cfi_cie *cie, struct byte_cursor c, const struct cfi_bases *bases)
{
	uint8_t version = cursor_u8(&c);
	const char *letters = (const char *)c.at;
	uint64_t ra;

	if (version != 1 && version != 3 && version != 4)
		return false;
	while (cursor_u8(&c))
		;
	if (c.bad)
		return false;
	cie->address_size = bases->wide ? 8 : 4;
	if (!strcmp(letters, "eh")) {
		cursor_take(&c, cie->address_size);
		letters += 2;
	}
	if (version == 4) {
		cie->address_size = cursor_u8(&c);
		if (cursor_u8(&c) != 0 || (cie->address_size != 4 && cie->address_size != 8))
			return false;
	}
	cie->code_align = cursor_uleb(&c);
	cie->data_align = cursor_sleb(&c);
	ra = version == 1 ? cursor_u8(&c) : cursor_uleb(&c);
	if (c.bad || ra >= UNWIND_REGISTERS)
		return false;
	cie->ra = (uint8_t)ra;
	cie->augmented = letters[0] == 'z';
	if (letters[0] && !cie->augmented)
		return false;
	if (cie->augmented && !read_augmentation(cie, &c, letters, bases))
		return false;
	cie->program = c;
	return true;
}

/* The CIE at an offset of a section; its index. -ENOMEM, -EINVAL. */
static int64_t find_cie(struct work *w, uint32_t number, uint64_t offset)
{
	const struct cfi_section *section = &w->source->sections[number];
	uint64_t key = offset * UNWIND_SECTIONS + number, *known = map_find(&w->cie_of_offset, key);
	struct cfi_bases bases = bases_of(w, section);
	struct cfi_cie *cies, *cie;
	struct entry entry;
	int r;

	if (known)
		return w->cies[*known].usable ? (int64_t)*known : -EINVAL;
	if (w->cie_count >= CIES_MAX)
		return -EINVAL;
	cies = array_grow(w->cies, &w->cie_room, w->cie_count, sizeof(*cies));
	if (!cies)
		return -ENOMEM;
	w->cies = cies;
	if (!map_put(&w->cie_of_offset, key, w->cie_count))
		return -ENOMEM;
	cie = &cies[w->cie_count++];
	memset(cie, 0, sizeof(*cie));
	if (offset >= section->size || next_entry(section, w->source->swap, &offset, &entry) <= 0 ||
	    !is_cie(section, &entry) || !read_cie(cie, entry.c, &bases))
		return -EINVAL;
	r = cfi_initial(cie, w->table);
	if (r < 0)
		return r == -ENOMEM ? r : -EINVAL;
	cie->usable = true;
	return (int64_t)w->cie_count - 1;
}

static bool is_code(const struct work *w, uint64_t start, uint64_t end)
{
	uint32_t i;

	for (i = 0; i < w->source->range_count; i++)
		if (start >= w->source->ranges[i].start && end <= w->source->ranges[i].end)
			return true;
	return false;
}

static int keep_fde(struct work *w, const struct fde *fde)
{
	struct fde *fdes;

	if (!is_code(w, fde->start, fde->end) || w->fde_count >= FDES_MAX)
		return 0;
	fdes = array_grow(w->fdes, &w->fde_room, w->fde_count, sizeof(*fdes));
	if (!fdes)
		return -ENOMEM;
	w->fdes = fdes;
	fdes[w->fde_count++] = *fde;
	return 0;
}

static int add_fde(struct work *w, uint32_t number, struct entry *entry)
{
	const struct cfi_section *section = &w->source->sections[number];
	struct cfi_bases bases = bases_of(w, section);
	uint64_t offset = section->kind == CFI_EH_FRAME ? entry->id_offset - entry->id : entry->id;
	int64_t cie = section->kind == CFI_EH_FRAME && entry->id > entry->id_offset ? -EINVAL : find_cie(w, number, offset);
	struct fde fde = {.section = number, .order = w->fde_count};
	uint8_t encoding;
	uint64_t size;

	if (cie < 0)
		return cie == -ENOMEM ? -ENOMEM : 0;
	fde.cie = (uint32_t)cie;
	encoding = section->kind == CFI_EH_FRAME ? w->cies[cie].encoding : w->cies[cie].address_size == 8 ? 0x04 : 0x03;
	if (!cfi_pointer(&entry->c, encoding, &bases, &fde.start) ||
	    !cfi_value(&entry->c, encoding & 15, w->source->wide, &size) || !size || size > UINT64_MAX - fde.start)
		return 0;
	fde.origin = fde.start;
	fde.end = fde.start + size;
	if (w->cies[cie].augmented && !cursor_take(&entry->c, cursor_uleb(&entry->c)))
		return 0;
	fde.program = entry->c;
	return keep_fde(w, &fde);
}

static int read_sframe(struct work *w, uint32_t number)
{
	const struct cfi_section *section = &w->source->sections[number];
	struct sframe *sframe = &w->sframes[number];
	struct sframe_function function;
	struct fde fde = {.section = number};
	int r = 0;

	if (!sframe_open(sframe, section->data, section->size, section->address, w->source->machine, w->source->wide,
			 w->source->swap))
		return 0;
	for (; r == 0 && fde.cie < sframe->count; fde.cie++) {
		sframe_function(sframe, fde.cie, &function);
		fde.origin = fde.start = function.start;
		fde.end = function.start + function.size;
		fde.order = w->fde_count;
		if (function.described && fde.end > fde.start)
			r = keep_fde(w, &fde);
	}
	return r;
}

static int read_section(struct work *w, uint32_t number)
{
	const struct cfi_section *section = &w->source->sections[number];
	struct entry entry;
	uint64_t offset = 0;
	int r = 0;

	while (r == 0 && section->size - offset >= 8 && next_entry(section, w->source->swap, &offset, &entry) > 0)
		if (!is_cie(section, &entry))
			r = add_fde(w, number, &entry);
	return r;
}

/* ---- all together ------------------------------------------------------------------------------------------------- */

static int by_start(const void *a_, const void *b_)
{
	const struct fde *a = a_, *b = b_;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* Of entries of one section, ends each where the next begins; of two that begin together the first one stays. */
static void separate(struct fde *fdes, size_t count)
{
	struct fde *last = NULL;
	size_t i;

	for (i = 0; i < count; i++) {
		struct fde *f = &fdes[i];

		if (last && f->start == last->start) {
			f->end = f->start;
			continue;
		}
		if (last && f->start < last->end)
			last->end = f->start;
		last = f;
	}
}

static int add_piece(struct work *w, const struct fde *f, uint64_t start, uint64_t end)
{
	struct fde *fdes, piece = *f;

	if (start >= end)
		return 0;
	fdes = array_grow(w->fdes, &w->fde_room, w->fde_count, sizeof(*fdes));
	if (!fdes)
		return -ENOMEM;
	w->fdes = fdes;
	piece.start = start;
	piece.end = end;
	fdes[w->fde_count++] = piece;
	return 0;
}

/* Entries of a section behind it, where those of the first @good ones leave gaps; all are sorted and separate. */
static int fill_gaps(struct work *w, size_t good, const struct fde *more, size_t count)
{
	size_t i, at = 0;
	int r = 0;

	for (i = 0; r == 0 && i < count; i++) {
		uint64_t from = more[i].start;

		while (at < good && w->fdes[at].end <= from)
			at++;
		while (r == 0 && at < good && w->fdes[at].start < more[i].end) {
			r = add_piece(w, &more[i], from, w->fdes[at].start);
			from = w->fdes[at].end;
			if (from >= more[i].end)
				break;
			at++;
		}
		if (r == 0)
			r = add_piece(w, &more[i], from, more[i].end);
	}
	return r;
}

/* Sorts the entries behind the first @good ones, which are those of one section, and puts them among these. */
static int arrange(struct work *w, size_t good)
{
	size_t count = w->fde_count - good;
	struct fde *more;
	int r;

	if (!count)
		return 0;
	qsort(w->fdes + good, count, sizeof(*w->fdes), by_start);
	separate(w->fdes + good, count);
	if (!good)
		return 0;
	more = malloc(count * sizeof(*more));
	if (!more)
		return -ENOMEM;
	memcpy(more, w->fdes + good, count * sizeof(*more));
	w->fde_count = good;
	r = fill_gaps(w, good, more, count);
	free(more);
	qsort(w->fdes, w->fde_count, sizeof(*w->fdes), by_start);
	return r;
}

static int run(struct work *w, const struct fde *f)
{
	struct cfi_bases bases = bases_of(w, &w->source->sections[f->section]);
	struct cfi_run run = {w->table, NULL, &bases, f->origin, f->start, f->end};
	struct sframe_function function;

	if (w->source->sections[f->section].kind == CFI_SFRAME) {
		sframe_function(&w->sframes[f->section], f->cie, &function);
		return sframe_run(&w->sframes[f->section], &function, f->start, f->end, w->table);
	}
	run.cie = &w->cies[f->cie];
	bases.function = f->origin;
	return cfi_run(&run, f->program);
}

static int run_all(struct work *w)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < w->fde_count; i++) {
		const struct fde *f = &w->fdes[i];

		if (f->start < f->end && run(w, f) == -ENOMEM)
			r = -ENOMEM;
	}
	return r;
}

static uint64_t lowest(const struct cfi_source *source)
{
	uint64_t low = source->range_count ? source->ranges[0].start : 0;
	uint32_t i;

	for (i = 1; i < source->range_count; i++)
		if (source->ranges[i].start < low)
			low = source->ranges[i].start;
	return low;
}

int cfi_compile(struct unwind_table *ret, const struct cfi_source *source)
{
	struct work w = {.source = source, .table = ret};
	int r = unwind_table_begin(ret, lowest(source));
	uint32_t i;

	ret->machine = source->machine;
	ret->wide = source->wide;
	ret->swap = source->swap;
	for (i = 0; r == 0 && i < source->section_count; i++) {
		size_t good = w.fde_count;

		r = source->sections[i].kind == CFI_SFRAME ? read_sframe(&w, i) : read_section(&w, i);
		if (r == 0)
			r = arrange(&w, good);
	}
	if (r == 0)
		r = run_all(&w);
	if (r == 0)
		r = ret->row_count ? unwind_table_finish(ret) : -ENODATA;
	if (r < 0)
		unwind_table_free(ret);
	free(w.fdes);
	free(w.cies);
	map_free(&w.cie_of_offset);
	return r;
}
