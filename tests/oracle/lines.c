/* SPDX-License-Identifier: MIT */
/*
 * oracle_lines FILE [SYMFS] - for each hexadecimal address on the standard input what addr2line -afi prints: the address, and a
 * function and a line for each level, innermost first. Files that belong to it are looked for as in a
 * recording, below SYMFS.
 */
#include "symbols/dwarf_line.h"
#include "symbols/module.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print(struct dwarf *dwarf, uint64_t address)
{
	struct dwarf_unit *unit = dwarf_unit_at(dwarf, address);
	struct dwarf_function *function = unit ? dwarf_function_at(unit, address) : NULL;
	const struct dwarf_row *row = unit ? dwarf_row_at(dwarf, unit, address) : NULL;
	uint32_t file = row ? row->file : DWARF_NO_FILE, line = row ? row->line : 0;
	char name[4096];

	printf("0x%016" PRIx64 "\n", address);
	do {
		const char *function_name = function ? dwarf_name(dwarf, unit, function) : NULL;

		if (unit)
			dwarf_file_name(dwarf, unit, file, name, sizeof(name));
		printf("%s\n%s:%" PRIu32 "\n", function_name ? function_name : "??", unit && file != DWARF_NO_FILE ? name : "??", line);
		if (!function || !function->parent)
			break;
		file = function->call_file;
		line = function->call_line;
		function = &unit->functions[function->parent - 1];
	} while (1);
}

int main(int argc, char **argv)
{
	struct module_places places = {.symfs = argc > 2 ? argv[2] : NULL};
	struct module *module = calloc(1, sizeof(*module));
	struct dwarf *dwarf;
	uint64_t address = 0;

	if (!module || argc < 2)
		return 2;
	module->name = strdup(argv[1]);
	if (module_load(module, &places, true) < 0)
		return 2;
	dwarf = module_dwarf(module, &places, &address);
	if (!dwarf) {
		fprintf(stderr, "no debug information: %s\n", module->why);
		return 1;
	}
	while (scanf("%" SCNx64, &address) == 1)
		print(dwarf, address);
	if (dwarf->why[0])
		fprintf(stderr, "%s\n", dwarf->why);
	module_free(module);
	return 0;
}
