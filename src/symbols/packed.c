/* SPDX-License-Identifier: MIT */
/*
 * Files that are packed as a whole. What a file becomes is said in it, and bounds the memory; it is then an ELF file in memory,
 * which is freed with it.
 */
#include "packed.h"
#include "mini.h"

#ifdef __linux__
#include "base/library.h"
#endif

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

static int unpack_zstd(struct elf *ret, const struct source *from)
{
	size_t (*decompress)(void *, size_t, const void *, size_t);
	unsigned long long (*size_of)(const void *, size_t), size;
	void *library = library_open("libzstd.so.1");
	struct perfev_bytes bytes;
	void *to;
	int r;

	if (!find(library, "ZSTD_decompress", &decompress) || !find(library, "ZSTD_getFrameContentSize", &size_of))
		return -ENOSYS;
	size = size_of(from->data, (size_t)from->size);
	if (!size || size > MINI_MAX) /* two numbers beyond all sizes mean that it is not said, or that it is no such file */
		return -EBADMSG;
	to = malloc((size_t)size);
	if (!to)
		return -ENOMEM;
	bytes.data = to;
	bytes.size = (size_t)size;
	r = decompress(to, bytes.size, from->data, (size_t)from->size) == bytes.size && elf_open_memory(ret, bytes) == 0 ? 0 : -EBADMSG;
	if (r < 0)
		free(to);
	else
		ret->source.owned = to;
	return r;
}
#else
static int unpack_zstd(struct elf *ret, const struct source *from)
{
	(void)ret, (void)from;
	return -ENOSYS;
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
	else if (source.data && begins(&source, "\x28\xb5\x2f\xfd", 4))
		r = unpack_zstd(ret, &source);
	source_close(&source);
	return r;
}
