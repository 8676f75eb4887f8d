/* SPDX-License-Identifier: MIT */
/*
 * Where the file of a module of the kernel is, and what it says: object_layout.c tells where its code is. The rest is as for any
 * other file, but that no kallsyms of today may know of it.
 */
#include "kernel_object.h"
#include "elf_symbols.h"
#include "object_layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

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
	bases = object_layout(&module->elf);
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
