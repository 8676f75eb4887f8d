/* SPDX-License-Identifier: MIT */
/*
 * Links to other files. A name ends in a zero; what follows depends on the section: the checksum, at the next multiple
 * of 4 and in the file's byte order, or the build-id, which is all the rest. Nothing behind a name is believed to be
 * there: some tools wrote sections that end before it.
 */
#include "link.h"
#include "dwarf_read.h"

static const char *section_text(const struct elf *elf, const char *name, uint64_t from, uint64_t *length, struct elf_section *section)
{
	const unsigned char *data = elf_section_named(elf, name, section) ? elf_bytes(elf, section) : NULL;
	const unsigned char *zero = data && from < section->size ? memchr(data + from, 0, (size_t)(section->size - from)) : NULL;

	if (!zero || zero == data + from)
		return NULL;
	*length = (uint64_t)(zero - data) - from;
	return (const char *)data + from;
}

bool link_debug(const struct elf *elf, const char **name, uint32_t *crc)
{
	struct elf_section section;
	uint64_t length, at;

	*name = section_text(elf, ".gnu_debuglink", 0, &length, &section);
	if (!*name || strchr(*name, '/'))
		return false;
	at = (length + 4) & ~UINT64_C(3);
	if (at > section.size || section.size - at < 4)
		return false;
	*crc = load_u32((const unsigned char *)*name + at, elf->swap);
	return true;
}

/* Version, whether it is the shared file itself, its name, its checksum behind a size. */
static bool new_supplement(const struct elf *elf, const char **name, struct perfev_bytes *id)
{
	struct elf_section section;
	const unsigned char *data;
	struct dwarf_reader r;
	uint64_t length, size;

	*name = section_text(elf, ".debug_sup", 3, &length, &section);
	if (!*name)
		return false;
	data = (const unsigned char *)*name - 3;
	if (load_u16(data, elf->swap) < 5 || data[2])
		return false;
	r.at = data + 3 + length + 1;
	r.end = data + section.size;
	r.swap = elf->swap;
	r.failed = false;
	size = dwarf_uleb(&r);
	if (r.failed || size > (uint64_t)(r.end - r.at))
		return false;
	id->data = r.at;
	id->size = (size_t)size;
	return true;
}

bool link_supplement(const struct elf *elf, const char **name, struct perfev_bytes *id)
{
	struct elf_section section;
	uint64_t length;

	*name = section_text(elf, ".gnu_debugaltlink", 0, &length, &section);
	if (!*name)
		return new_supplement(elf, name, id);
	id->data = *name + length + 1;
	id->size = (size_t)(section.size - length - 1);
	return true;
}

/* Eight bytes a step: table k is what a byte becomes with k zeros behind it. */
uint32_t link_crc(const unsigned char *data, uint64_t size)
{
	uint32_t table[8][256], crc = UINT32_MAX, i, k;

	for (i = 0; i < 256; i++) {
		table[0][i] = i;
		for (k = 0; k < 8; k++)
			table[0][i] = table[0][i] >> 1 ^ (table[0][i] & 1 ? 0xedb88320 : 0);
	}
	for (k = 1; k < 8; k++)
		for (i = 0; i < 256; i++)
			table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 255];
	for (; size >= 8; size -= 8, data += 8) {
		uint32_t low = crc ^ ((uint32_t)data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24);

		crc = table[7][low & 255] ^ table[6][low >> 8 & 255] ^ table[5][low >> 16 & 255] ^ table[4][low >> 24] ^
		      table[3][data[4]] ^ table[2][data[5]] ^ table[1][data[6]] ^ table[0][data[7]];
	}
	for (; size; size--, data++)
		crc = crc >> 8 ^ table[0][(crc ^ *data) & 255];
	return ~crc;
}
