/* SPDX-License-Identifier: MIT */
/*
 * A module of the kernel is a file that is not linked: the kernel puts its sections one behind the other when it loads it
 * (layout_sections() of kernel/module/main.c, Linux 5.10 to 7.3): first all that are code, in the order of their headers, each
 * at its alignment, but what is for the start only. So on x86 where they are follows from the file (live/test_modules.c). Most
 * other machines add jumps that go far, or a table of addresses, to a section or in front of all, and how many those are does not.
 */
#include "kernel_object.h"
#include "elf_symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

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

uint64_t *kernel_object_bases(const struct elf *elf)
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

static bool has_symtab(const struct elf *elf)
{
	struct elf_section section;

	return elf_section_of_type(elf, ELF_SYMTAB, &section) && elf_symbol_count(elf, &section) > 1;
}

static int read_symbols(struct module *module)
{
	struct elf_section table;
	uint64_t *bases;
	int r = -ENOMEM;

	if (module->elf.type != ELF_RELOCATABLE || !elf_section_of_type(&module->elf, ELF_SYMTAB, &table))
		return 0;
	bases = kernel_object_bases(&module->elf);
	if (bases)
		r = elf_symbols_read(&module->table, &module->elf, &table, bases);
	free(bases);
	return r < 0 ? r : table_finish(&module->table);
}

static int load(struct module *module, const struct module_places *places)
{
	char path[SEARCH_PATH];
	size_t used;
	int r;

	module->search.places = places;
	module->search.name = module->path;
	module->search.recorded_id = module->build_id_size > 0;
	module->search.id_size = module->build_id_size;
	memcpy(module->search.id, module->build_id, sizeof(module->search.id));
	module->has_elf = search_object(&module->search, &module->elf, path, has_symtab);
	r = module->has_elf ? read_symbols(module) : 0;
	if (r == 0 && module->table.count) {
		module_set_file(module, path);
		module->keys = calloc(module->table.count, sizeof(*module->keys));
		r = module->keys ? 0 : -ENOMEM;
	}
	if (r < 0)
		table_free(&module->table);
	used = (size_t)snprintf(module->why, sizeof(module->why), "%s",
				module->table.count ? "no symbol covers the address"
						    : "no kallsyms have the module, and its file was not found");
	if (!module->table.count && module->search.refused[0])
		snprintf(module->why + used, sizeof(module->why) - used, "; not used: %s", module->search.refused);
	return r;
}

int kernel_object_load(struct module *module, const struct module_places *places)
{
	if (module->object_tried)
		return 0;
	module->object_tried = module->is_object = true;
	return module->path && module->path[0] == '/' ? load(module, places) : 0;
}
