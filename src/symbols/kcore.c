/* SPDX-License-Identifier: MIT */
/*
 * The kernel's memory as a file: an ELF file whose segments are what it has mapped. That of the running kernel is as large as
 * the address space, and cannot be mapped: so bytes are read when they are asked for, and of the tables at the beginning a
 * part that has room for all segments that are known of.
 */
#include "kcore.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HEAD	     (UINT32_C(1) << 16)
#define SEGMENTS_MAX 1024 /* what HEAD has room for */

static int read_segments(struct kcore *ret, const struct elf *elf)
{
	uint32_t i;

	ret->segments = calloc(SEGMENTS_MAX, sizeof(*ret->segments));
	if (!ret->segments)
		return -ENOMEM;
	for (i = 0; i < SEGMENTS_MAX && elf_segment(elf, i, &ret->segments[ret->count]); i++)
		if (ret->segments[ret->count].type == ELF_LOAD && ret->segments[ret->count].file_size)
			ret->count++;
	return ret->count ? 0 : -ENOEXEC;
}

static int read_head(struct kcore *ret, unsigned char *head)
{
	int64_t n = source_part(&ret->source, 0, head, HEAD);
	struct elf elf;
	int r;

	if (n <= 0)
		return n < 0 ? (int)n : -ENOEXEC;
	r = elf_open_memory(&elf, (struct perfev_bytes){head, (size_t)n});
	if (r < 0)
		return r;
	r = read_segments(ret, &elf);
	elf_close(&elf);
	return r;
}

int kcore_open(struct kcore *ret, const char *path)
{
	unsigned char *head;
	int r;

	memset(ret, 0, sizeof(*ret));
	r = source_open(&ret->source, path, SOURCE_STREAM);
	if (r < 0) {
		ret->source.fd = -1;
		return r;
	}
	head = malloc(HEAD);
	r = head ? read_head(ret, head) : -ENOMEM;
	free(head);
	return r;
}

void kcore_close(struct kcore *kcore)
{
	free(kcore->segments);
	kcore->segments = NULL;
	kcore->count = 0;
	if (kcore->source.fd >= 0)
		source_close(&kcore->source);
	kcore->source.fd = -1;
}

int kcore_read(const struct kcore *kcore, uint64_t address, void *to, size_t size)
{
	uint64_t at, rest;
	uint32_t i;

	for (i = 0; i < kcore->count; i++) {
		at = address - kcore->segments[i].address;
		if (at >= kcore->segments[i].file_size || at > UINT64_MAX - kcore->segments[i].offset)
			continue;
		rest = kcore->segments[i].file_size - at;
		if (size > rest)
			size = (size_t)rest;
		if (size > INT32_MAX)
			size = INT32_MAX;
		return (int)source_part(&kcore->source, kcore->segments[i].offset + at, to, size);
	}
	return -ENOENT;
}
