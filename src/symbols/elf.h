/* SPDX-License-Identifier: MIT */
/*
 * ELF files of any class, byte order and machine, read with suspicion: every offset and count in them is
 * checked before it is used.
 */
#ifndef SYMBOLS_ELF_H
#define SYMBOLS_ELF_H

#include "file/source.h"

struct elf {
	struct source source;
	bool wide;    /* 64-bit class */
	bool swap;    /* other byte order than this host's */
	bool foreign; /* memory that somebody else owns: not closed */
	uint16_t machine, type;
	uint64_t section_table, segment_table;
	uint32_t section_count, section_size;
	uint32_t segment_count, segment_size;
	uint32_t names; /* index of the section with the sections' names */
};

struct elf_section {
	const char *name; /* terminated, or "" */
	uint32_t type, link, info;
	uint64_t flags, address, offset, size, alignment, entry_size;
};

struct elf_segment {
	uint32_t type, flags;
	uint64_t offset, address, file_size, memory_size;
};

struct elf_symbol {
	uint32_t name; /* offset in the string table */
	uint8_t type, binding, visibility;
	uint16_t section;
	uint64_t value, size;
};

#define ELF_RELOCATABLE 1 /* a type of file: not linked */

#define ELF_SYMTAB  2
#define ELF_RELA    4
#define ELF_NOTE    7
#define ELF_NOBITS  8
#define ELF_REL	    9
#define ELF_DYNSYM  11
#define ELF_LOAD    1
#define ELF_SEG_NOTE 4

/* elf_open() - Return: 0; a negative errno of open(2); -ENOEXEC when it is no ELF file. */
int elf_open(struct elf *ret, const char *path);
int elf_open_memory(struct elf *ret, struct perfev_bytes bytes);
void elf_close(struct elf *elf);

bool elf_section(const struct elf *elf, uint32_t index, struct elf_section *ret);
/* The first section of that name or type; false when there is none. */
bool elf_section_named(const struct elf *elf, const char *name, struct elf_section *ret);
bool elf_section_of_type(const struct elf *elf, uint32_t type, struct elf_section *ret);
bool elf_segment(const struct elf *elf, uint32_t index, struct elf_segment *ret);
/* The bytes of a section, or NULL (none in the file, outside of it, ...). */
const unsigned char *elf_bytes(const struct elf *elf, const struct elf_section *section);

/* Symbols of a symbol table section. */
uint64_t elf_symbol_count(const struct elf *elf, const struct elf_section *table);
bool elf_symbol(const struct elf *elf, const struct elf_section *table, uint64_t index,
		struct elf_symbol *ret);
/* The strings that a section's link names: terminated text at an offset, or NULL. */
const char *elf_string(const struct elf *elf, const struct elf_section *strings, uint64_t offset);

/* Where a byte of the file is in memory: by the segment that loads it. False when none does. */
bool elf_offset_to_address(const struct elf *elf, uint64_t offset, uint64_t *ret);

/* The build-id: its size, 0 when there is none. */
int elf_build_id(const struct elf *elf, uint8_t ret[20]);
/* The same in bytes that are notes only. */
int elf_notes_build_id(const unsigned char *notes, uint64_t size, bool swap, uint8_t ret[20]);

#endif
