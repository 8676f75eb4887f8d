/* SPDX-License-Identifier: MIT */
/*
 * Compressed sections: those with a header that says how (SHF_COMPRESSED), and the older ones whose name begins with
 * .z and whose bytes begin with ZLIB and the size. The libraries are loaded when a section wants them. Expanding is most of what
 * a small report with debug information takes, so that a section stays packed until somebody asks for its bytes.
 */
#include "expand.h"

#include "base/large.h"
#include "base/load.h"
#ifdef __linux__
#include "base/library.h"
#endif

#include <stdlib.h>

#define COMPRESSED_FLAG 0x800
#define KIND_ZLIB	1
#define KIND_ZSTD	2

#ifdef __linux__
static bool find(void *library, const char *name, void *to)
{
	void *address = library ? dlsym(library, name) : NULL;

	memcpy(to, &address, sizeof(address)); /* a function is no object */
	return address != NULL;
}

/* Twice as fast as libz, where it is installed. */
static bool expand_by_libdeflate(void *to, size_t size, struct perfev_bytes from)
{
	void *(*make)(void), (*drop)(void *), *state;
	int (*decompress)(void *, const void *, size_t, void *, size_t, size_t *);
	void *library = library_open("libdeflate.so.0");
	bool done;

	if (!find(library, "libdeflate_alloc_decompressor", &make) || !find(library, "libdeflate_free_decompressor", &drop) ||
	    !find(library, "libdeflate_zlib_decompress", &decompress))
		return false;
	state = make();
	done = state && decompress(state, from.data, from.size, to, size, NULL) == 0; /* exactly so many bytes */
	if (state)
		drop(state);
	return done;
}

static bool expand_zlib(void *to, size_t size, struct perfev_bytes from)
{
	int (*uncompress)(unsigned char *, unsigned long *, const unsigned char *, unsigned long);
	void *library = library_open("libz.so.1");
	unsigned long got = (unsigned long)size;

	if (expand_by_libdeflate(to, size, from))
		return true;
	return find(library, "uncompress", &uncompress) &&
	       uncompress(to, &got, from.data, (unsigned long)from.size) == 0 && got == size;
}

static bool expand_zstd(void *to, size_t size, struct perfev_bytes from)
{
	size_t (*decompress)(void *, size_t, const void *, size_t);
	void *library = library_open("libzstd.so.1");

	return find(library, "ZSTD_decompress", &decompress) && decompress(to, size, from.data, from.size) == size;
}
#else
static bool expand_zlib(void *to, size_t size, struct perfev_bytes from)
{
	(void)to, (void)size, (void)from;
	return false;
}

#define expand_zstd expand_zlib
#endif

/* How, how large, and where the packed bytes begin. */
static bool read_header(const struct elf *elf, const unsigned char *at, uint64_t size, bool old, uint32_t *kind,
			uint64_t *expanded, uint64_t *skip)
{
	uint64_t i;

	*skip = old ? 12 : elf->wide ? 24 : 12;
	if (size < *skip)
		return false;
	if (!old) {
		*kind = load_u32(at, elf->swap);
		*expanded = elf->wide ? load_u64(at + 8, elf->swap) : load_u32(at + 4, elf->swap);
		return true;
	}
	*kind = KIND_ZLIB;
	*expanded = 0;
	for (i = 4; i < 12; i++) /* its highest byte first, whatever the file's order is */
		*expanded = *expanded << 8 | at[i];
	return !memcmp(at, "ZLIB", 4);
}

/* The header is behind us then. */
static bool set_packed(struct expandable *ret, const struct elf *elf, const unsigned char *at, uint64_t size, bool old)
{
	uint64_t skip;

	if (!read_header(elf, at, size, old, &ret->kind, &ret->size, &skip) || !ret->size || ret->size > EXPANDED_MAX ||
	    ret->size / 1032 > size || (ret->kind != KIND_ZLIB && ret->kind != KIND_ZSTD)) { /* 1032: zlib packs no more */
		ret->kind = 0;
		return false;
	}
	ret->bytes.data = at + skip;
	ret->bytes.size = (size_t)(size - skip);
	return true;
}

bool expandable_find(struct expandable *ret, const struct elf *elf, const char *name)
{
	struct elf_section section;
	const unsigned char *data;
	char old[64] = ".z";

	memset(ret, 0, sizeof(*ret));
	if (elf_section_named(elf, name, &section)) {
		data = elf_bytes(elf, &section);
		if (data && (section.flags & COMPRESSED_FLAG))
			return set_packed(ret, elf, data, section.size, false);
		ret->bytes.data = data;
		ret->bytes.size = data ? (size_t)section.size : 0;
		return data != NULL;
	}
	if (name[0] != '.' || strlen(name) > 60)
		return false;
	strcat(old, name + 1);
	data = elf_section_named(elf, old, &section) ? elf_bytes(elf, &section) : NULL;
	return data && set_packed(ret, elf, data, section.size, true);
}

void expandable_open(struct expandable *section)
{
	struct perfev_bytes packed = section->bytes;
	size_t size = (size_t)section->size;
	void *to = large_alloc(size);
	bool done = to && (section->kind == KIND_ZLIB ? expand_zlib(to, size, packed) : expand_zstd(to, size, packed));

	section->kind = 0;
	section->bytes.data = done ? to : NULL;
	section->bytes.size = done ? size : 0;
	section->owned = done ? to : NULL;
	if (!done)
		free(to);
}

void expandable_free(struct expandable *section)
{
	free(section->owned);
	memset(section, 0, sizeof(*section));
}

bool elf_expand(const struct elf *elf, const char *name, struct perfev_bytes *ret, void **owned)
{
	struct expandable section;

	*owned = NULL;
	if (!expandable_find(&section, elf, name))
		return false;
	*ret = expandable_bytes(&section);
	*owned = section.owned;
	return ret->data != NULL;
}
