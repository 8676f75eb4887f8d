/* SPDX-License-Identifier: MIT */
/* ELF files: any bytes give sections, symbols and a build-id, or none. */
#include "fuzz.h"

#include "symbols/elf.h"
#include "symbols/elf_symbols.h"
#include "symbols/object_layout.h"
#include "symbols/link.h"
#include "symbols/mini.h"
#include "symbols/module.h"

static void use_symbols(const struct elf *elf)
{
	struct module_places places = {.symfs = NULL};
	struct module *module = calloc(1, sizeof(*module));
	size_t i;

	if (!module)
		abort();
	module->name = strdup("module");
	module->elf = *elf;
	module->has_elf = true;
	if (module_load(module, &places, true) < 0)
		abort();
	for (i = 0; i < module->table.count; i++) {
		touch(module->table.items[i].name, strlen(module->table.items[i].name) + 1);
		table_find(&module->table, module->table.items[i].start);
		module_address(module, module->table.items[i].start);
	}
	module_free(module);
}

/* As if it were a module of the kernel. */
static void use_object(const struct elf *elf)
{
	uint64_t *bases = object_layout(elf);
	struct table table = {NULL, 0, 0, NULL, NULL};
	struct elf_section symbols;
	size_t i;

	if (!bases)
		abort();
	if (elf_section_of_type(elf, ELF_SYMTAB, &symbols) &&
	    (elf_symbols_read(&table, elf, &symbols, bases) < 0 || table_finish(&table) < 0))
		abort();
	for (i = 0; i < table.count; i++)
		touch(table.items[i].name, strlen(table.items[i].name) + 1);
	table_free(&table);
	free(bases);
}

/* Names of other files, and the one that is packed in it. */
static void use_links(const struct elf *elf)
{
	struct perfev_bytes id;
	const char *name;
	struct elf mini;
	uint32_t crc;

	if (link_debug(elf, &name, &crc))
		touch(name, strlen(name) + 1);
	if (link_supplement(elf, &name, &id)) {
		touch(name, strlen(name) + 1);
		touch(id.data, id.size);
	}
	if (mini_open(&mini, elf) < 0)
		return;
	use_symbols(&mini);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfev_bytes bytes = {data, size};
	struct elf_section section;
	struct elf_segment segment;
	uint8_t id[20];
	struct elf elf;
	uint32_t i;

	if (elf_open_memory(&elf, bytes) < 0)
		return 0;
	for (i = 0; i < 100; i++) {
		if (elf_section(&elf, i, &section)) {
			const unsigned char *inside = elf_bytes(&elf, &section);

			touch(section.name, strlen(section.name) + 1);
			if (inside)
				touch(inside, section.size);
		}
		elf_segment(&elf, i, &segment);
	}
	elf_section_named(&elf, ".text", &section);
	if (elf_build_id(&elf, id) > 20)
		abort();
	use_links(&elf);
	use_object(&elf);
	use_symbols(&elf);
	return 0;
}
