/* SPDX-License-Identifier: MIT */
/* Debug information: any ELF file gives functions, names and lines, or none; parents come before what is inlined. The file is
 * also what it has put into others: split files, their package, what several share. */
#include "fuzz.h"

#include "symbols/dwarf.h"
#include "symbols/dwarf_line.h"

static void look_at(struct dwarf *dwarf, uint64_t address)
{
	struct dwarf_unit *unit = dwarf_unit_at(dwarf, address);
	const struct dwarf_function *function = unit ? dwarf_function_at(unit, address) : NULL;
	const struct dwarf_row *row = unit ? dwarf_row_at(dwarf, unit, address) : NULL;
	char name[512];

	if (row) {
		dwarf_file_name(dwarf, unit, row->file, name, sizeof(name));
		touch(name, strlen(name) + 1);
	}
	while (function) {
		const char *text = dwarf_name(dwarf, unit, function);

		if (text)
			touch(text, strlen(text) + 1);
		if (function->parent > (size_t)(function - unit->functions))
			abort();
		function = function->parent ? &unit->functions[function->parent - 1] : NULL;
	}
}

static bool open_other(void *context, struct elf *ret, struct dwarf_wish *wish)
{
	const struct perfev_bytes *bytes = context;

	return wish->number++ == 0 && elf_open_memory(ret, *bytes) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfev_bytes bytes = {data, size};
	struct dwarf_others others = {&bytes, open_other};
	struct dwarf *dwarf;
	struct elf elf;
	size_t i;

	if (elf_open_memory(&elf, bytes) < 0)
		return 0;
	dwarf = dwarf_open(&elf, &others);
	for (i = 0; dwarf && i < dwarf->where_count && i < 256; i++) {
		const struct range *range = &dwarf->where[i];

		if (range->start >= range->end || (i && range[-1].end > range->start))
			abort();
		look_at(dwarf, range->start);
		look_at(dwarf, range->start + (range->end - range->start) / 2);
		look_at(dwarf, range->end - 1);
		look_at(dwarf, range->end);
	}
	dwarf_free(dwarf);
	elf_close(&elf);
	return 0;
}
