/* SPDX-License-Identifier: MIT */
/*
 * The tables of a module: which sections of which files have its call frame information.
 *
 * .eh_frame is in the mapped file, and found by its section, or in a file without sections by the segment of the index
 * that belongs to it. .debug_frame is in that file or in the debug file, mostly compressed: then it is expanded, into no
 * more than EXPANDED_MAX bytes, by a library that is loaded for it.
 */
#include "module.h"
#include "unwind_cfi.h"
#include "unwind_module.h"

#ifdef __linux__
#include "base/library.h"
#endif

#include <errno.h>
#include <stdlib.h>

#define EXPANDED_MAX   (512u << 20)
#define EH_FRAME_INDEX 0x6474e550 /* PT_GNU_EH_FRAME */
#define COMPRESSED     0x800	  /* SHF_COMPRESSED */
#define EXECUTABLE     1	  /* PF_X */
#define BY_ZLIB	       1
#define BY_ZSTD	       2

struct work {
	struct cfi_source source;
	void *expanded[UNWIND_SECTIONS];
};

/* ---- compressed sections --------------------------------------------------------------------------------------- */

#ifdef __linux__
static bool find(void *library, const char *name, void *to)
{
	void *address = library ? dlsym(library, name) : NULL;

	memcpy(to, &address, sizeof(address)); /* a function is no object */
	return address != NULL;
}

static bool expand_zlib(unsigned char *to, uint64_t size, struct perfev_bytes from)
{
	int (*uncompress)(unsigned char *, unsigned long *, const unsigned char *, unsigned long);
	void *library = library_open("libz.so.1");
	unsigned long got = (unsigned long)size;
	bool good = find(library, "uncompress", &uncompress) &&
		    uncompress(to, &got, from.data, (unsigned long)from.size) == 0 && got == size;

	if (library)
		dlclose(library);
	return good;
}

static bool expand_zstd(unsigned char *to, uint64_t size, struct perfev_bytes from)
{
	size_t (*decompress)(void *, size_t, const void *, size_t);
	void *library = library_open("libzstd.so.1");
	bool good = find(library, "ZSTD_decompress", &decompress) &&
		    decompress(to, (size_t)size, from.data, from.size) == size;

	if (library)
		dlclose(library);
	return good;
}
#else
static bool expand_zlib(unsigned char *to, uint64_t size, struct perfev_bytes from)
{
	(void)to, (void)size, (void)from;
	return false;
}

#define expand_zstd expand_zlib
#endif

static const unsigned char *expand(struct work *w, uint32_t kind, uint64_t size, const unsigned char *from, uint64_t from_size)
{
	struct perfev_bytes bytes = {from, (size_t)from_size};
	unsigned char *to;

	/* nothing becomes more than 1032 times as long with zlib; what claims to is not believed */
	if (!size || size > EXPANDED_MAX || size / 2048 > from_size)
		return NULL;
	to = malloc((size_t)size);
	if (!to)
		return NULL;
	if (kind == BY_ZLIB ? expand_zlib(to, size, bytes) : kind == BY_ZSTD && expand_zstd(to, size, bytes)) {
		w->expanded[w->source.section_count] = to;
		return to;
	}
	free(to);
	return NULL;
}

static uint64_t big_endian(const unsigned char *at)
{
	uint64_t value = 0;
	int i;

	for (i = 0; i < 8; i++)
		value = value << 8 | at[i];
	return value;
}

/* The content of a section, compressed in either way or not. */
static const unsigned char *content(struct work *w, const struct elf *elf, const struct elf_section *section, uint64_t *size)
{
	const unsigned char *data = elf_bytes(elf, section);
	uint64_t header = elf->wide ? 24 : 12;

	*size = section->size;
	if (!data)
		return NULL;
	if (section->flags & COMPRESSED) {
		if (section->size < header)
			return NULL;
		*size = elf->wide ? load_u64(data + 8, elf->swap) : load_u32(data + 4, elf->swap);
		return expand(w, load_u32(data, elf->swap), *size, data + header, section->size - header);
	}
	if (!strncmp(section->name, ".zdebug", 7)) {
		if (section->size < 12 || memcmp(data, "ZLIB", 4))
			return NULL;
		*size = big_endian(data + 4);
		return expand(w, BY_ZLIB, *size, data + 12, section->size - 12);
	}
	return data;
}

/* ---- sections -------------------------------------------------------------------------------------------------- */

static void add_section(struct work *w, const struct elf *elf, const char *name, bool eh)
{
	struct cfi_section *to = &w->source.sections[w->source.section_count];
	struct elf_section section;

	if (w->source.section_count == UNWIND_SECTIONS || !elf_section_named(elf, name, &section))
		return;
	to->data = content(w, elf, &section, &to->size);
	to->address = section.address;
	to->eh = eh;
	if (to->data)
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
	struct cfi_cursor c = {index, index + size, source->swap, false};
	uint8_t encoding;

	if (cfi_u8(&c) != 1)
		return false;
	encoding = cfi_u8(&c);
	cfi_take(&c, 2);
	ret->eh = true;
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
		add_section(&w, plain, ".eh_frame", true);
		if (!w.source.section_count)
			add_indexed(&w, plain);
		add_section(&w, plain, ".debug_frame", false);
		add_section(&w, plain, ".zdebug_frame", false);
	}
	if (debug && debug->machine == first->machine && debug->wide == first->wide) {
		add_section(&w, debug, ".debug_frame", false);
		add_section(&w, debug, ".zdebug_frame", false);
	}
	r = cfi_compile(ret, &w.source);
	for (i = 0; i < UNWIND_SECTIONS; i++)
		free(w.expanded[i]);
	return r;
}

int unwind_module_load(struct module *module, const struct module_places *places)
{
	const struct elf *plain, *debug;
	int r;

	if (module->unwind_tried)
		return 0;
	if (!module->loaded && module_load(module, places) < 0)
		return -ENOMEM;
	module->unwind_tried = true;
	plain = module->has_plain ? &module->plain : module->has_elf && !module->debug_only ? &module->elf : NULL;
	debug = module->has_plain || module->debug_only ? &module->elf : NULL;
	if (!plain && !debug)
		return 0;
	module->unwind = malloc(sizeof(*module->unwind));
	r = module->unwind ? unwind_elf_table(module->unwind, plain, debug) : -ENOMEM;
	if (r == 0)
		return 0;
	free(module->unwind);
	module->unwind = NULL;
	return r == -ENOMEM ? r : 0;
}
