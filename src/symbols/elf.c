/* SPDX-License-Identifier: MIT */
/*
 * The ELF reader. It is ours, and not libelf, for three reasons: the core builds without any library,
 * files are read by several threads at once, and files come from anywhere, so that each access has to be
 * bounded here anyway. Machine differences are data: any host reads any target.
 */
#include "elf.h"

#include "base/load.h"

#include <perfev/abi.h>

#include <errno.h>

#define SECTIONS_MAX 1000000

static uint64_t word(const struct elf *elf, const unsigned char *at)
{
	return elf->wide ? load_u64(at, elf->swap) : load_u32(at, elf->swap);
}

/* The first section has the numbers that do not fit the header. */
static void extend_counts(struct elf *elf)
{
	struct elf_section zero;

	if (!elf->section_table || (elf->section_count && elf->names != 0xffff))
		return;
	if (!elf->section_count)
		elf->section_count = 1;
	if (!elf_section(elf, 0, &zero)) {
		elf->section_count = 0;
		return;
	}
	if (elf->section_count == 1 && zero.size && zero.size < SECTIONS_MAX)
		elf->section_count = (uint32_t)zero.size;
	if (elf->names == 0xffff)
		elf->names = zero.link;
}

static int read_header(struct elf *elf)
{
	const unsigned char *h = source_at(&elf->source, 0, 52);

	if (!h || memcmp(h, "\177ELF", 4) || h[4] < 1 || h[4] > 2 || h[5] < 1 || h[5] > 2)
		return -ENOEXEC;
	elf->wide = h[4] == 2;
	elf->swap = (h[5] == 2) != PERFEV_BIG_ENDIAN;
	if (elf->wide && !source_at(&elf->source, 0, 64))
		return -ENOEXEC;
	elf->type = load_u16(h + 16, elf->swap);
	elf->machine = load_u16(h + 18, elf->swap);
	elf->segment_table = word(elf, h + (elf->wide ? 32 : 28));
	elf->section_table = word(elf, h + (elf->wide ? 40 : 32));
	h += elf->wide ? 54 : 42;
	elf->segment_size = load_u16(h, elf->swap);
	elf->segment_count = load_u16(h + 2, elf->swap);
	elf->section_size = load_u16(h + 4, elf->swap);
	elf->section_count = load_u16(h + 6, elf->swap);
	elf->names = load_u16(h + 8, elf->swap);
	if (elf->section_size < (elf->wide ? 64 : 40))
		elf->section_table = elf->section_count = 0;
	if (elf->segment_size < (elf->wide ? 56 : 32))
		elf->segment_count = 0;
	extend_counts(elf);
	return 0;
}

int elf_open(struct elf *ret, const char *path)
{
	int r;

	memset(ret, 0, sizeof(*ret));
	r = source_open(&ret->source, path, SOURCE_FILE);
	if (r < 0)
		return r;
	r = ret->source.data ? read_header(ret) : -ENOEXEC;
	if (r < 0)
		source_close(&ret->source);
	return r;
}

int elf_open_memory(struct elf *ret, struct perfev_bytes bytes)
{
	memset(ret, 0, sizeof(*ret));
	source_open_memory(&ret->source, bytes);
	ret->foreign = true;
	return read_header(ret);
}

void elf_close(struct elf *elf)
{
	source_close(&elf->source);
}

const char *elf_string(const struct elf *elf, const struct elf_section *strings, uint64_t offset)
{
	const unsigned char *data = elf_bytes(elf, strings);

	/* a table of strings ends in a zero: so each of them ends, and none has to be searched for its end */
	if (!data || offset >= strings->size || data[strings->size - 1])
		return NULL;
	return (const char *)data + offset;
}

/* Without the name, which needs another section. */
static bool section_numbers(const struct elf *elf, uint32_t index, struct elf_section *ret,
			    uint32_t *name)
{
	uint64_t at = elf->section_table + (uint64_t)index * elf->section_size;
	const unsigned char *s;

	if (index >= elf->section_count || !elf->section_table)
		return false;
	s = source_at(&elf->source, at, elf->section_size);
	if (!s)
		return false;
	*name = load_u32(s, elf->swap);
	ret->name = "";
	ret->type = load_u32(s + 4, elf->swap);
	s += 8;
	ret->flags = word(elf, s);
	s += elf->wide ? 8 : 4;
	ret->address = word(elf, s);
	s += elf->wide ? 8 : 4;
	ret->offset = word(elf, s);
	s += elf->wide ? 8 : 4;
	ret->size = word(elf, s);
	s += elf->wide ? 8 : 4;
	ret->link = load_u32(s, elf->swap);
	ret->info = load_u32(s + 4, elf->swap);
	ret->alignment = word(elf, s + 8);
	ret->entry_size = word(elf, s + (elf->wide ? 16 : 12));
	return true;
}

bool elf_section(const struct elf *elf, uint32_t index, struct elf_section *ret)
{
	struct elf_section names;
	uint32_t name, ignored;
	const char *text;

	if (!section_numbers(elf, index, ret, &name))
		return false;
	if (!section_numbers(elf, elf->names, &names, &ignored))
		return true;
	text = elf_string(elf, &names, name);
	if (text)
		ret->name = text;
	return true;
}

bool elf_section_named(const struct elf *elf, const char *name, struct elf_section *ret)
{
	uint32_t i;

	for (i = 1; i < elf->section_count; i++)
		if (elf_section(elf, i, ret) && !strcmp(ret->name, name))
			return true;
	return false;
}

bool elf_section_of_type(const struct elf *elf, uint32_t type, struct elf_section *ret)
{
	uint32_t i, name;

	for (i = 1; i < elf->section_count; i++)
		if (section_numbers(elf, i, ret, &name) && ret->type == type)
			return elf_section(elf, i, ret);
	return false;
}

bool elf_segment(const struct elf *elf, uint32_t index, struct elf_segment *ret)
{
	const unsigned char *p;

	if (index >= elf->segment_count)
		return false;
	p = source_at(&elf->source, elf->segment_table + (uint64_t)index * elf->segment_size,
		      elf->segment_size);
	if (!p)
		return false;
	ret->type = load_u32(p, elf->swap);
	if (elf->wide) {
		ret->flags = load_u32(p + 4, elf->swap);
		ret->offset = load_u64(p + 8, elf->swap);
		ret->address = load_u64(p + 16, elf->swap);
		ret->file_size = load_u64(p + 32, elf->swap);
		ret->memory_size = load_u64(p + 40, elf->swap);
	} else {
		ret->offset = load_u32(p + 4, elf->swap);
		ret->address = load_u32(p + 8, elf->swap);
		ret->file_size = load_u32(p + 16, elf->swap);
		ret->memory_size = load_u32(p + 20, elf->swap);
		ret->flags = load_u32(p + 24, elf->swap);
	}
	return true;
}

const unsigned char *elf_bytes(const struct elf *elf, const struct elf_section *section)
{
	if (section->type == ELF_NOBITS || section->size == 0)
		return NULL;
	return source_at(&elf->source, section->offset, section->size);
}

uint64_t elf_symbol_count(const struct elf *elf, const struct elf_section *table)
{
	uint64_t least = elf->wide ? 24 : 16;

	if (table->entry_size < least || !elf_bytes(elf, table))
		return 0;
	return table->size / table->entry_size;
}

bool elf_symbol(const struct elf *elf, const struct elf_section *table, uint64_t index,
		struct elf_symbol *ret)
{
	const unsigned char *s = elf_bytes(elf, table);

	if (index >= elf_symbol_count(elf, table)) /* also when its entries are too short for one */
		return false;
	s += index * table->entry_size;
	ret->name = load_u32(s, elf->swap);
	if (elf->wide) {
		ret->type = s[4] & 15;
		ret->binding = s[4] >> 4;
		ret->visibility = s[5] & 3;
		ret->section = load_u16(s + 6, elf->swap);
		ret->value = load_u64(s + 8, elf->swap);
		ret->size = load_u64(s + 16, elf->swap);
	} else {
		ret->value = load_u32(s + 4, elf->swap);
		ret->size = load_u32(s + 8, elf->swap);
		ret->type = s[12] & 15;
		ret->binding = s[12] >> 4;
		ret->visibility = s[13] & 3;
		ret->section = load_u16(s + 14, elf->swap);
	}
	return true;
}

bool elf_offset_to_address(const struct elf *elf, uint64_t offset, uint64_t *ret)
{
	struct elf_segment segment;
	uint32_t i;

	for (i = 0; i < elf->segment_count; i++)
		if (elf_segment(elf, i, &segment) && segment.type == ELF_LOAD &&
		    offset >= segment.offset && offset - segment.offset < segment.file_size) {
			*ret = offset - segment.offset + segment.address;
			return true;
		}
	return false;
}

/* A note: u32 name size, u32 size, u32 type, name and bytes, each padded to 4. */
int elf_notes_build_id(const unsigned char *notes, uint64_t size, bool swap, uint8_t ret[20])
{
	uint64_t at = 0;

	while (size - at >= 12) {
		uint64_t name = load_u32(notes + at, swap), bytes = load_u32(notes + at + 4, swap);
		uint32_t type = load_u32(notes + at + 8, swap);
		uint64_t name_end = at + 12 + ((name + 3) & ~UINT64_C(3));
		uint64_t end = name_end + ((bytes + 3) & ~UINT64_C(3));

		if (name_end + bytes > size)
			return 0;
		if (type == 3 && name == 4 && !memcmp(notes + at + 12, "GNU", 4)) {
			int n = bytes < 20 ? (int)bytes : 20;

			memset(ret, 0, 20);
			memcpy(ret, notes + name_end, (size_t)n);
			return n;
		}
		if (end > size)
			return 0;
		at = end;
	}
	return 0;
}

int elf_build_id(const struct elf *elf, uint8_t ret[20])
{
	struct elf_section section;
	struct elf_segment segment;
	const unsigned char *notes;
	uint32_t i;
	int n;

	for (i = 0; i < elf->segment_count; i++) {
		if (!elf_segment(elf, i, &segment) || segment.type != ELF_SEG_NOTE)
			continue;
		notes = source_at(&elf->source, segment.offset, segment.file_size);
		n = notes ? elf_notes_build_id(notes, segment.file_size, elf->swap, ret) : 0;
		if (n > 0)
			return n;
	}
	for (i = 1; i < elf->section_count; i++) {
		if (!elf_section(elf, i, &section) || section.type != ELF_NOTE)
			continue;
		notes = elf_bytes(elf, &section);
		n = notes ? elf_notes_build_id(notes, section.size, elf->swap, ret) : 0;
		if (n > 0)
			return n;
	}
	return 0;
}
