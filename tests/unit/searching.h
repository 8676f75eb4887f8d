/* SPDX-License-Identifier: MIT */
/* A program made by the compiler below a folder that stands for the root, and what is known of it when it was looked for. */
#ifndef TESTS_UNIT_SEARCHING_H
#define TESTS_UNIT_SEARCHING_H

#include "left.h"
#include "shell.h"
#include "test.h"

#include "symbols/dwarf_line.h"
#include "symbols/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char root[64], old[4096];
static struct module_places places;
static struct module *module;

static const char source[] =
	"volatile int n;\n"
	"static inline __attribute__((always_inline)) int inner(int x) { int i, s = 0; for (i = 0; i < n; i++) s += x * n; return s; }\n"
	"static __attribute__((noinline)) int hidden(int x) { return inner(x) + 1; }\n"
	"int exported(int x) { return hidden(x) - n; }\n"
	"int main(int c, char **v) { (void)v; return exported(c); }\n";

/* bin/p, with options; full.p is the same file as the compiler made it. */
static inline void compile(const char *options)
{
	FILE *file = fopen("p.c", "w");

	assert_non_null(file);
	fputs(source, file);
	fclose(file);
	make(shell("mkdir -p bin usr/lib/debug && cd bin && gcc -O1 -rdynamic -Wl,--build-id %s ../p.c -o p && cp p ../full.p && "
		   "objcopy --only-keep-debug p ../p.debug",
		   options));
}

static inline void id_of(const char *path, char *to)
{
	struct elf elf;
	uint8_t id[20];
	int i, n;

	assert_int_equal(elf_open(&elf, path), 0);
	n = elf_build_id(&elf, id);
	elf_close(&elf);
	assert_int_equal(n, 20);
	for (i = 0; i < n; i++)
		sprintf(to + 2 * i, "%02x", id[i]);
}

static inline void unload(void)
{
	module_free(module);
	module = NULL;
}

static inline struct module *load_as(const char *name, const char *id_from)
{
	struct elf elf;

	unload();
	module = calloc(1, sizeof(*module));
	assert_non_null(module);
	module->name = strdup(name);
	assert_non_null(module->name);
	module->pid = 7;
	if (id_from) {
		assert_int_equal(elf_open(&elf, id_from), 0);
		module->build_id_size = (uint8_t)elf_build_id(&elf, module->build_id);
		module->recorded_id = true;
		elf_close(&elf);
	}
	assert_int_equal(module_load(module, &places, true), 0);
	return module;
}

static inline struct module *load(void)
{
	return load_as("/bin/p", NULL);
}

/* Where a function of the unstripped file is. */
static inline uint64_t address_of(const char *name, uint64_t *end)
{
	struct elf_section table, strings;
	struct elf_symbol symbol;
	struct elf elf;
	uint64_t i, at = 0;

	*end = 0;
	assert_int_equal(elf_open(&elf, "full.p"), 0);
	assert_true(elf_section_of_type(&elf, ELF_SYMTAB, &table) && elf_section(&elf, table.link, &strings));
	for (i = 0; i < elf_symbol_count(&elf, &table); i++)
		if (elf_symbol(&elf, &table, i, &symbol) && !strcmp(elf_string(&elf, &strings, symbol.name), name)) {
			at = symbol.value;
			*end = at + symbol.size;
		}
	elf_close(&elf);
	assert_int_not_equal(at, 0);
	return at;
}

static inline const char *name_of(const char *function)
{
	uint64_t end;
	long index = table_find(&module->table, address_of(function, &end));

	return index < 0 ? "" : module->table.items[index].name;
}

static inline void expect_why(const char *part)
{
	if (!strstr(module->why, part))
		fail_msg("'%s' does not say '%s'", module->why, part);
}

/* What is inlined somewhere in hidden(); "": nothing is known, or nothing has a name. */
static inline const char *inlined(void)
{
	uint64_t end, at = address_of("hidden", &end), there = at;
	struct dwarf *dwarf = module_dwarf(module, &places, &there);

	for (; dwarf && at < end; at++) {
		struct dwarf_unit *unit = dwarf_unit_at(dwarf, at);
		const struct dwarf_function *function = unit ? dwarf_function_at(unit, at) : NULL;

		if (function && function->parent) {
			const char *name = dwarf_name(dwarf, unit, function);

			return name ? name : "nameless";
		}
	}
	return "";
}

static inline uint32_t line_of(const char *function)
{
	uint64_t end, at = address_of(function, &end);
	struct dwarf *dwarf = module_dwarf(module, &places, &at);
	struct dwarf_unit *unit = dwarf ? dwarf_unit_at(dwarf, at) : NULL;
	const struct dwarf_row *row = unit ? dwarf_row_at(dwarf, unit, at) : NULL;

	return row ? row->line : 0;
}

static inline void expect_all(const char *file)
{
	assert_string_equal(name_of("hidden"), "hidden");
	assert_string_equal(name_of("exported"), "exported");
	assert_string_equal(inlined(), "inner");
	assert_in_range(line_of("hidden"), 2, 3); /* its own, or of what is inlined at its start */
	assert_non_null(module->debug_file);
	if (!strstr(module->debug_file, file))
		fail_msg("%s is not %s", module->debug_file, file);
}

static inline int setup(void **state)
{
	(void)state;
	left_begin();
	strcpy(root, "/tmp/perfev-test-XXXXXX");
	memset(&places, 0, sizeof(places));
	places.symfs = root;
	return getcwd(old, sizeof(old)) && mkdtemp(root) && chdir(root) == 0 ? 0 : -1;
}

static inline int teardown(void **state)
{
	(void)state;
	unload();
	assert_int_equal(chdir(old), 0);
	assert_true(shell("rm -r '%s'", root));
	left_check();
	return 0;
}

#endif
