/* SPDX-License-Identifier: MIT */
/*
 * A module of the kernel is a file that is not linked: the kernel puts its sections one behind the other when it loads it
 * (layout_sections() of kernel/module/main.c, Linux 5.10 to 7.3): first all that are code, in the order of their headers, each
 * at its alignment, but what is for the start only. So on x86 where they are follows from the file (live/test_modules.c). Most
 * other machines add jumps that go far, or a table of addresses, to a section or in front of all, and how many those are does not.
 */
#include "object_layout.h"

#include <stdlib.h>
#include <string.h>

#define FLAG_ALLOC 2
#define FLAG_EXEC  4
#define MACHINE_I386   3
#define MACHINE_X86_64 62

static bool is_code(const struct elf_section *section)
{
	return (section->flags & FLAG_ALLOC) && (section->flags & FLAG_EXEC) && strncmp(section->name, ".init", 5);
}

static bool is_known(const struct elf *elf)
{
	return elf->machine == MACHINE_X86_64 || elf->machine == MACHINE_I386;
}

uint64_t *object_layout(const struct elf *elf)
{
	uint64_t *bases = malloc(((size_t)elf->section_count + 1) * sizeof(*bases)), at = 0;
	struct elf_section section;
	bool known = is_known(elf);
	uint32_t i;

	for (i = 0; bases && i < elf->section_count; i++) {
		uint64_t align;

		bases[i] = ELF_NOWHERE;
		if (!known || !elf_section(elf, i, &section) || !is_code(&section))
			continue;
		align = section.alignment ? section.alignment : 1;
		if (align & (align - 1) || align > 1 << 20 || section.size > 1u << 30)
			known = false;
		if (!known)
			continue;
		at = (at + align - 1) & ~(align - 1);
		bases[i] = at;
		at += section.size;
	}
	return bases;
}
