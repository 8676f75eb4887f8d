/* SPDX-License-Identifier: MIT */
/*
 * oracle_lines FILE - for each hexadecimal address on the standard input what addr2line -afi prints: the address, and a
 * function and a line for each level, innermost first. With --count N only looks, N times, at all of them.
 */
#include "symbols/dwarf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void print(struct dwarf *dwarf, uint64_t address)
{
	struct dwarf_unit *unit = dwarf_unit_at(dwarf, address);
	struct dwarf_function *function = unit ? dwarf_function_at(unit, address) : NULL;
	const struct dwarf_row *row = unit ? dwarf_row_at(dwarf, unit, address) : NULL;
	uint32_t file = row ? row->file : DWARF_NO_FILE, line = row ? row->line : 0;
	char name[4096];

	printf("0x%016" PRIx64 "\n", address);
	do {
		const char *function_name = function ? dwarf_name(dwarf, function) : NULL;

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
	struct elf elf;
	struct dwarf *dwarf;
	uint64_t address;

	if (argc != 2 || elf_open(&elf, argv[1]) < 0)
		return 2;
	dwarf = dwarf_open(&elf);
	if (!dwarf) {
		fprintf(stderr, "no debug information\n");
		return 1;
	}
	while (scanf("%" SCNx64, &address) == 1)
		print(dwarf, address);
	dwarf_free(dwarf);
	elf_close(&elf);
	return 0;
}
