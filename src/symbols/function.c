/* SPDX-License-Identifier: MIT */
/*
 * From the name of a function to its place in the file, for probes.
 *
 * A symbol has an address, and the segment that loads it says where that is in the file. A stripped program
 * may have its symbols in a debug file, which is found by build-id and has the same addresses.
 */
#include "elf.h"

#include "base/error.h"
#include "base/plug.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STT_FUNC      2
#define STT_GNU_IFUNC 10
#define NAMES_MAX     20000 /* that are looked through for a similar one */

struct search {
	const char *name;
	bool found, global;
	uint64_t address;
	const char **names; /* NULL: not wanted */
	size_t count;
};

static bool is_function(const struct elf_symbol *symbol)
{
	return symbol->section && symbol->value &&
	       (symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC);
}

/* A global one is taken before a local one, and the first before others. */
static void search_table(struct search *search, const struct elf *elf, uint32_t type)
{
	struct elf_section table, strings;
	struct elf_symbol symbol;
	uint64_t i, count;

	if (!elf_section_of_type(elf, type, &table) || !elf_section(elf, table.link, &strings))
		return;
	count = elf_symbol_count(elf, &table);
	for (i = 0; i < count; i++) {
		const char *name;

		if (!elf_symbol(elf, &table, i, &symbol) || !is_function(&symbol))
			continue;
		name = elf_string(elf, &strings, symbol.name);
		if (!name || !name[0])
			continue;
		if (search->names && search->count < NAMES_MAX)
			search->names[search->count++] = name;
		if (strcmp(name, search->name) || search->global || (search->found && !symbol.binding))
			continue;
		search->found = true;
		search->global = symbol.binding != 0;
		search->address = symbol.value;
	}
}

static bool open_debug_file(struct elf *ret, const struct elf *elf)
{
	static const char digits[] = "0123456789abcdef";
	uint8_t id[20], other[20];
	char path[96];
	int size = elf_build_id(elf, id), n, i;

	if (size < 2)
		return false;
	n = snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%02x/", id[0]);
	for (i = 1; i < size; i++) {
		path[n++] = digits[id[i] >> 4];
		path[n++] = digits[id[i] & 15];
	}
	memcpy(path + n, ".debug", 7);
	if (elf_open(ret, path) < 0)
		return false;
	if (elf_build_id(ret, other) == size && !memcmp(id, other, (size_t)size))
		return true;
	elf_close(ret);
	return false;
}

static bool offset_of(const struct elf *elf, uint64_t address, uint64_t *offset)
{
	struct elf_segment segment;
	uint32_t i;

	for (i = 0; i < elf->segment_count; i++) {
		if (!elf_segment(elf, i, &segment) || segment.type != ELF_LOAD || address < segment.address ||
		    address - segment.address >= segment.file_size)
			continue;
		*offset = segment.offset + (address - segment.address);
		return true;
	}
	return false;
}

static int not_found(const struct search *search, const char *path, bool any, struct perfev_error *err)
{
	const char *nearest = perfev_nearest(search->name, search->names, search->count);

	if (!any)
		return error_set(err, -ENOENT, PERFEV_WHY_NOT_FOUND, ERROR_NOWHERE,
				 "cannot find function %.100s in %.150s: the file has no symbols; give the offset "
				 "as a number, or install its debug file",
				 search->name, path);
	if (nearest)
		return error_set(err, -ENOENT, PERFEV_WHY_NOT_FOUND, ERROR_NOWHERE,
				 "cannot find function %.100s in %.150s: it has none of that name; did you mean "
				 "%.100s?",
				 search->name, path, nearest);
	return error_set(err, -ENOENT, PERFEV_WHY_NOT_FOUND, ERROR_NOWHERE,
			 "cannot find function %.100s in %.150s: it has none of that name (%zu others); look with "
			 "nm, or nm -D",
			 search->name, path, search->count);
}

int plug_function_offset(const char *path, const char *function, uint64_t *offset, struct perfev_error *err)
{
	struct search search = {.name = function};
	struct elf elf, debug;
	bool has_debug;
	int r = elf_open(&elf, path);

	if (r == -ENOEXEC)
		return error_set(err, r, PERFEV_WHY_FORMAT, ERROR_NOWHERE,
				 "cannot find function %.100s in %.150s: it is no ELF file; give a program or a "
				 "library",
				 function, path);
	if (r < 0)
		return error_errno(err, r, "cannot find function %.100s in %.150s", function, path);
	search.names = malloc(NAMES_MAX * sizeof(*search.names));
	has_debug = open_debug_file(&debug, &elf);
	search_table(&search, &elf, ELF_SYMTAB);
	search_table(&search, &elf, ELF_DYNSYM);
	if (has_debug)
		search_table(&search, &debug, ELF_SYMTAB);
	if (!search.found)
		r = not_found(&search, path, search.count > 0, err);
	else if (!offset_of(&elf, search.address, offset))
		r = error_set(err, -ENOENT, PERFEV_WHY_CORRUPT, ERROR_NOWHERE,
			      "cannot find function %.100s in %.150s: no segment loads its address 0x%llx; give the "
			      "offset as a number",
			      function, path, (unsigned long long)search.address);
	if (has_debug)
		elf_close(&debug);
	elf_close(&elf);
	free((void *)search.names);
	return r;
}
