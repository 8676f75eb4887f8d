/* SPDX-License-Identifier: MIT */
/*
 * MiniDebugInfo. A file of xz ends in an index, which says how long its blocks become, and a footer, which says how long
 * the index is: so the room is known before anything is unpacked, and what claims too much is left. The library that
 * unpacks, liblzma, is loaded when a file wants it; what it may use of memory is bounded too.
 */
#include "mini.h"

#include "dwarf_read.h"

#ifdef __linux__
#include "base/library.h"
#endif

#include <errno.h>
#include <stdlib.h>

#define FOOTER	   12
#define BLOCKS_MAX 65536
#define MEMORY_MAX (128u << 20) /* of the library; xz -9 needs 65 MiB */

/* Behind the file there may be zeros, four at a time. */
static uint64_t without_padding(const unsigned char *data, uint64_t size)
{
	while (size >= 4 && !(size & 3) && !memcmp(data + size - 4, "\0\0\0\0", 4))
		size -= 4;
	return size;
}

uint64_t mini_size(const unsigned char *data, uint64_t size)
{
	bool big = __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__;
	uint64_t length, count, total = 0, i;
	struct dwarf_reader r = {NULL, NULL, big, false};

	size = without_padding(data, size);
	if (size < 2 * FOOTER || memcmp(data, "\xfd" "7zXZ", 6) || memcmp(data + size - 2, "YZ", 2))
		return 0;
	length = ((uint64_t)load_u32(data + size - 8, big) + 1) * 4;
	if (length > size - 2 * FOOTER)
		return 0;
	r.end = data + size - FOOTER;
	r.at = r.end - length;
	if (dwarf_number(&r, 1))
		return 0;
	count = dwarf_uleb(&r);
	for (i = 0; i < count && i < BLOCKS_MAX && total <= MINI_MAX && !r.failed; i++) {
		uint64_t block;

		dwarf_uleb(&r); /* its packed size */
		block = dwarf_uleb(&r);
		total = block > MINI_MAX ? block : total + block;
	}
	return r.failed || i < count || total > MINI_MAX ? 0 : total;
}

#ifdef __linux__
typedef int (*decode_fn)(uint64_t *memory, uint32_t flags, const void *allocator, const uint8_t *in, size_t *in_at, size_t in_size,
			 uint8_t *out, size_t *out_at, size_t out_size);

static int unpack(unsigned char *to, size_t size, const unsigned char *from, size_t from_size)
{
	void *library = library_open("liblzma.so.5");
	void *address = library ? dlsym(library, "lzma_stream_buffer_decode") : NULL;
	uint64_t memory = MEMORY_MAX;
	size_t in = 0, out = 0;
	decode_fn decode;
	int r = -ENOSYS;

	memcpy(&decode, &address, sizeof(decode)); /* a function is no object */
	if (address)
		r = decode(&memory, 0, NULL, from, &in, from_size, to, &out, size) == 0 && out == size ? 0 : -EBADMSG;
	if (library)
		dlclose(library);
	return r;
}
#else
static int unpack(unsigned char *to, size_t size, const unsigned char *from, size_t from_size)
{
	(void)to, (void)size, (void)from, (void)from_size;
	return -ENOSYS;
}
#endif

int mini_unpack(struct elf *ret, const unsigned char *data, uint64_t size)
{
	struct perfev_bytes bytes = {NULL, (size_t)mini_size(data, size)};
	unsigned char *to;
	int r;

	if (!bytes.size)
		return -EBADMSG;
	to = malloc(bytes.size);
	if (!to)
		return -ENOMEM;
	bytes.data = to;
	r = unpack(to, bytes.size, data, (size_t)without_padding(data, size));
	if (r == 0)
		r = elf_open_memory(ret, bytes) < 0 ? -EBADMSG : 0;
	if (r < 0)
		free(to);
	else
		ret->source.owned = to;
	return r;
}

int mini_open(struct elf *ret, const struct elf *elf)
{
	struct elf_section section;
	const unsigned char *data;

	if (!elf_section_named(elf, ".gnu_debugdata", &section))
		return -ENOENT;
	data = elf_bytes(elf, &section);
	return data ? mini_unpack(ret, data, section.size) : -EBADMSG;
}
