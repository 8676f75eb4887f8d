/* SPDX-License-Identifier: MIT */
/*
 * Files that are packed as a whole. What a file becomes is said in it, and bounds the memory; it is then an ELF file in memory,
 * which is freed with it.
 */
#include "packed.h"
#include "mini.h"

#include "base/load.h"
#ifdef __linux__
#include "base/library.h"
#endif

#include <perfev/abi.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool begins(const struct source *source, const char *magic, size_t size)
{
	return source->size > size && !memcmp(source->data, magic, size);
}

#ifdef __linux__
static bool find(void *library, const char *name, void *to)
{
	void *address = library ? dlsym(library, name) : NULL;

	memcpy(to, &address, sizeof(address)); /* a function is no object */
	return address != NULL;
}

/* ---- zstd --------------------------------------------------------------------------------------------------------- */

/* Two numbers beyond all sizes mean that it is not said, or that it is no such file. */
static uint64_t zstd_size(const struct source *from)
{
	unsigned long long (*size_of)(const void *, size_t);

	return find(library_open("libzstd.so.1"), "ZSTD_getFrameContentSize", &size_of) ? size_of(from->data, (size_t)from->size) : 0;
}

static int unpack_zstd(void *to, size_t size, const struct source *from)
{
	size_t (*decompress)(void *, size_t, const void *, size_t);

	if (!find(library_open("libzstd.so.1"), "ZSTD_decompress", &decompress))
		return -ENOSYS;
	return decompress(to, size, from->data, (size_t)from->size) == size ? 0 : -EBADMSG;
}

/* ---- gzip --------------------------------------------------------------------------------------------------------- */

#define GZIP_LEAST 18	  /* bytes of an empty one */
#define GZIP_WINDOW (15 + 16) /* the largest; and no other form than gzip's */
#define GZIP_FINISH 4
#define GZIP_ENDED  1

/* Its last four bytes, of the size before it was packed. */
static uint64_t gzip_size(const struct source *from)
{
	return from->size < GZIP_LEAST ? 0 : load_u32((const unsigned char *)from->data + from->size - 4, PERFEV_BIG_ENDIAN);
}

/* What libz works on: its interface since 1.0, which is told to it by the size of this. */
struct gzip {
	const unsigned char *from;
	unsigned from_size;
	unsigned long taken;
	unsigned char *to;
	unsigned room;
	unsigned long put;
	const char *message;
	void *state, *alloc, *free, *opaque;
	int kind;
	unsigned long check, reserved;
};

static int unpack_by_libz(void *to, size_t size, const struct source *from)
{
	struct gzip gzip = {.from = from->data, .from_size = (unsigned)from->size, .to = to, .room = (unsigned)size};
	int (*begin)(struct gzip *, int, const char *, int), (*work)(struct gzip *, int), (*end)(struct gzip *), r;
	const char *(*version)(void);
	void *library = library_open("libz.so.1");

	if (!find(library, "inflateInit2_", &begin) || !find(library, "inflate", &work) || !find(library, "inflateEnd", &end) ||
	    !find(library, "zlibVersion", &version))
		return -ENOSYS;
	if (from->size > UINT32_MAX || begin(&gzip, GZIP_WINDOW, version(), (int)sizeof(gzip)) != 0)
		return -EBADMSG;
	r = work(&gzip, GZIP_FINISH) == GZIP_ENDED && gzip.put == size ? 0 : -EBADMSG;
	end(&gzip);
	return r;
}

/* libdeflate is twice as fast, where it is installed. */
static int unpack_gzip(void *to, size_t size, const struct source *from)
{
	void *(*make)(void), *state;
	void (*drop)(void *);
	int (*decompress)(void *, const void *, size_t, void *, size_t, size_t *), r;
	void *library = library_open("libdeflate.so.0");

	if (!find(library, "libdeflate_alloc_decompressor", &make) || !find(library, "libdeflate_free_decompressor", &drop) ||
	    !find(library, "libdeflate_gzip_decompress", &decompress))
		return unpack_by_libz(to, size, from);
	state = make();
	if (!state)
		return -ENOMEM;
	r = decompress(state, from->data, (size_t)from->size, to, size, NULL) == 0 ? 0 : -EBADMSG; /* exactly so many bytes */
	drop(state);
	return r;
}

/* ---- both --------------------------------------------------------------------------------------------------------- */

static int unpack(struct elf *ret, const struct source *from, uint64_t size, int (*unpack_into)(void *, size_t, const struct source *))
{
	struct perfev_bytes bytes;
	void *to;
	int r;

	if (!size || size > MINI_MAX)
		return -EBADMSG;
	to = malloc((size_t)size);
	if (!to)
		return -ENOMEM;
	bytes.data = to;
	bytes.size = (size_t)size;
	r = unpack_into(to, bytes.size, from);
	if (r == 0 && elf_open_memory(ret, bytes) < 0)
		r = -EBADMSG;
	if (r < 0)
		free(to);
	else
		ret->source.owned = to;
	return r;
}

static int unpack_others(struct elf *ret, const struct source *from)
{
	if (begins(from, "\x28\xb5\x2f\xfd", 4))
		return library_open("libzstd.so.1") ? unpack(ret, from, zstd_size(from), unpack_zstd) : -ENOSYS;
	return begins(from, "\x1f\x8b\x08", 3) ? unpack(ret, from, gzip_size(from), unpack_gzip) : -ENOEXEC;
}
#else
static int unpack_others(struct elf *ret, const struct source *from)
{
	(void)ret;
	return begins(from, "\x28\xb5\x2f\xfd", 4) || begins(from, "\x1f\x8b\x08", 3) ? -ENOSYS : -ENOEXEC;
}
#endif

int packed_open(struct elf *ret, const char *path)
{
	struct source source;
	int r = elf_open(ret, path);

	if (r != -ENOEXEC)
		return r;
	r = source_open(&source, path, SOURCE_MAP);
	if (r < 0)
		return r;
	r = -ENOEXEC;
	if (source.data && begins(&source, "\xfd\067zXZ", 6))
		r = mini_unpack(ret, source.data, source.size);
	else if (source.data)
		r = unpack_others(ret, &source);
	source_close(&source);
	return r;
}
