/* SPDX-License-Identifier: MIT */
/* ELF files: any bytes give sections, symbols and a build-id, or none. */
#include "fuzz.h"

#include "symbols/elf.h"
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
	if (module_load(module, &places) < 0)
		abort();
	for (i = 0; i < module->table.count; i++) {
		touch(module->table.items[i].name, strlen(module->table.items[i].name) + 1);
		table_find(&module->table, module->table.items[i].start);
		module_address(module, module->table.items[i].start);
	}
	module_free(module);
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
	use_symbols(&elf);
	return 0;
}
