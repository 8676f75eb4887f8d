/* SPDX-License-Identifier: MIT */
/*
 * The tables of a module: which sections of which files have its call frame information.
 *
 * .eh_frame is in the mapped file, and found by its section, or in a file without sections by the segment of the index
 * that belongs to it; .sframe too, and has a segment of its own. .debug_frame is in that file or in the debug file, mostly
 * compressed.
 */
#include "expand.h"
#include "unwind_module.h"
#include "unwind_pointer.h"

#include <errno.h>
#include <stdlib.h>

#define EH_FRAME_INDEX 0x6474e550 /* PT_GNU_EH_FRAME */
#define SFRAME	       0x6474e554 /* PT_GNU_SFRAME */
#define EXECUTABLE     1	  /* PF_X */

struct work {
	struct cfi_source source;
	void *expanded[UNWIND_SECTIONS];
};

/* ---- sections -------------------------------------------------------------------------------------------------- */

static void add_section(struct work *w, const struct elf *elf, const char *name, enum cfi_kind kind)
{
	struct cfi_section *to = &w->source.sections[w->source.section_count];
	struct elf_section section = {.address = 0};
	struct perfev_bytes bytes;

	if (w->source.section_count == UNWIND_SECTIONS ||
	    !elf_expand(elf, name, &bytes, &w->expanded[w->source.section_count]))
		return;
	if (kind != CFI_DEBUG_FRAME) /* else no address is relative to where it stands */
		elf_section_named(elf, name, &section);
	to->data = bytes.data;
	to->size = bytes.size;
	to->address = section.address;
	to->kind = kind;
	w->source.section_count++;
}

/* Bytes from an address on, to the end of what is loaded there. */
static const unsigned char *at_address(const struct elf *elf, uint64_t address, uint64_t *size)
{
	struct elf_segment segment;
	uint32_t i;

	for (i = 0; i < elf->segment_count; i++)
		if (elf_segment(elf, i, &segment) && segment.type == ELF_LOAD && address >= segment.address &&
		    address - segment.address < segment.file_size) {
			*size = segment.file_size - (address - segment.address);
			return source_at(&elf->source, segment.offset + (address - segment.address), *size);
		}
	return NULL;
}

bool unwind_index_frames(struct cfi_section *ret, const unsigned char *index, uint64_t size, uint64_t address,
			 const struct cfi_source *source)
{
	struct cfi_bases bases = {index, address, address, 0, source->wide};
	struct byte_cursor c = {index, index + size, source->swap, false};
	uint8_t encoding;

	if (cursor_u8(&c) != 1)
		return false;
	encoding = cursor_u8(&c);
	cursor_take(&c, 2);
	ret->kind = CFI_EH_FRAME;
	return !c.bad && cfi_pointer(&c, encoding, &bases, &ret->address);
}

static void add_indexed(struct work *w, const struct elf *elf)
{
	struct cfi_section *to = &w->source.sections[w->source.section_count];
	struct elf_segment segment;
	const unsigned char *index;
	uint32_t i;

	for (i = 0; i < elf->segment_count; i++) {
		if (!elf_segment(elf, i, &segment) || segment.type != EH_FRAME_INDEX)
			continue;
		index = source_at(&elf->source, segment.offset, segment.file_size);
		if (!index || !unwind_index_frames(to, index, segment.file_size, segment.address, &w->source))
			return;
		to->data = at_address(elf, to->address, &to->size);
		if (to->data)
			w->source.section_count++;
		return;
	}
}

static void add_sframe(struct work *w, const struct elf *elf)
{
	uint32_t i, before = w->source.section_count;
	struct elf_segment segment;
	struct cfi_section *to;

	add_section(w, elf, ".sframe", CFI_SFRAME);
	for (i = 0; i < elf->segment_count && w->source.section_count == before && before < UNWIND_SECTIONS; i++) {
		if (!elf_segment(elf, i, &segment) || segment.type != SFRAME)
			continue;
		to = &w->source.sections[before];
		*to = (struct cfi_section){NULL, segment.file_size, segment.address, CFI_SFRAME};
		to->data = source_at(&elf->source, segment.offset, segment.file_size);
		if (to->data)
			w->source.section_count++;
	}
}

static void add_ranges(struct work *w, const struct elf *elf)
{
	struct cfi_source *s = &w->source;
	struct elf_segment segment;
	uint32_t i;

	for (i = 0; i < elf->segment_count && s->range_count < UNWIND_RANGES; i++) {
		if (!elf_segment(elf, i, &segment))
			continue;
		if (segment.type == EH_FRAME_INDEX)
			s->data_base = segment.address;
		if (segment.type != ELF_LOAD || !(segment.flags & EXECUTABLE) ||
		    segment.memory_size > UINT64_MAX - segment.address)
			continue;
		s->ranges[s->range_count].start = segment.address;
		s->ranges[s->range_count++].end = segment.address + segment.memory_size;
	}
}

int unwind_elf_table(struct unwind_table *ret, const struct elf *plain, const struct elf *debug)
{
	const struct elf *first = plain ? plain : debug;
	struct work w = {.source = {.machine = first->machine, .wide = first->wide, .swap = first->swap}};
	uint32_t i;
	int r;

	add_ranges(&w, first);
	if (plain) {
		add_section(&w, plain, ".eh_frame", CFI_EH_FRAME);
		if (!w.source.section_count)
			add_indexed(&w, plain);
		add_section(&w, plain, ".debug_frame", CFI_DEBUG_FRAME);
	}
	if (debug && debug->machine == first->machine && debug->wide == first->wide)
		add_section(&w, debug, ".debug_frame", CFI_DEBUG_FRAME);
	if (plain)
		add_sframe(&w, plain);
	r = cfi_compile(ret, &w.source);
	for (i = 0; i < UNWIND_SECTIONS; i++)
		free(w.expanded[i]);
	return r;
}

/* The mapped file itself; NULL when it is not there. */
static const struct elf *mapped_file(const struct module *module)
{
	if (module->has_plain)
		return &module->plain;
	return module->has_elf && !module->debug_only ? &module->elf : NULL;
}

size_t unwind_module_code(const struct module *module, uint64_t offset, unsigned char *to, size_t size)
{
	const struct elf *elf = mapped_file(module);
	uint64_t rest = elf && offset < elf->source.size ? elf->source.size - offset : 0;

	if (rest < size)
		size = (size_t)rest;
	if (size)
		memcpy(to, elf->source.data + offset, size);
	return size;
}

static int make_table(struct module *module, const struct module_places *places)
{
	const struct elf *plain = mapped_file(module), *debug;
	int r;

	if (!plain && !module->debug_only)
		return 0;
	debug = module->has_plain || module->debug_only ? &module->elf : module_debug_file(module, places);
	module->unwind = malloc(sizeof(*module->unwind));
	r = module->unwind ? unwind_elf_table(module->unwind, plain, debug) : -ENOMEM;
	if (r == 0)
		return 0;
	free(module->unwind);
	module->unwind = NULL;
	return r == -ENOMEM ? r : 0;
}

int unwind_module_load(struct module *module, const struct module_places *places)
{
	int r = 0;

	if (module->unwind_tried)
		return 0;
	if (module_load(module, places, true) < 0)
		return -ENOMEM;
	pthread_mutex_lock(&module->lock);
	if (!module->unwind_tried)
		r = make_table(module, places);
	module->unwind_tried = true;
	pthread_mutex_unlock(&module->lock);
	return r;
}
