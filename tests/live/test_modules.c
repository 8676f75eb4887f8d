/* SPDX-License-Identifier: MIT */
/* Where the kernel puts the code of its modules, against where their files say that it does. */
#include "live.h"

#include "capture/module_paths.h"
#include "symbols/elf_symbols.h"
#include "symbols/object_layout.h"
#include "symbols/packed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct loaded {
	char name[64];
	unsigned long long start;
	struct elf elf;
	uint64_t *bases;
};

static struct module_paths paths;

/* Its file: as depmod says, or where guests have the one of ours. */
static bool open_file(struct loaded *m)
{
	char path[4096];

	if (!module_paths_find(&paths, m->name, path, sizeof(path)))
		snprintf(path, sizeof(path), "/t/%s.ko", m->name);
	if (packed_open(&m->elf, path) < 0)
		return false;
	m->bases = object_layout(&m->elf);
	assert_non_null(m->bases);
	return true;
}

/* 1: one of the symbols of that name is there; 0: all are elsewhere; -1: of none it is known where it is. */
static int is_there(const struct loaded *m, const char *name, uint64_t at)
{
	struct elf_section table, strings;
	struct elf_symbol symbol;
	uint64_t count, i;
	int found = -1;

	assert_true(elf_section_of_type(&m->elf, ELF_SYMTAB, &table) && elf_section(&m->elf, table.link, &strings));
	count = elf_symbol_count(&m->elf, &table);
	for (i = 1; i < count && found != 1; i++) {
		const char *text = elf_symbol(&m->elf, &table, i, &symbol) ? elf_string(&m->elf, &strings, symbol.name) : NULL;

		if (!text || strcmp(text, name) || symbol.section >= m->elf.section_count || m->bases[symbol.section] == ELF_NOWHERE)
			continue;
		found = m->bases[symbol.section] + symbol.value == at;
	}
	return found;
}

/* How many functions of the module were compared. */
static unsigned compare(const struct loaded *m)
{
	char line[1024], name[512], module[72], wanted[72];
	unsigned long long address;
	unsigned n = 0, unknown = 0;
	FILE *file = fopen("/proc/kallsyms", "re");
	char type;

	assert_non_null(file);
	snprintf(wanted, sizeof(wanted), "[%s]", m->name);
	while (fgets(line, sizeof(line), file)) {
		int r;

		if (sscanf(line, "%llx %c %511s %71s", &address, &type, name, module) != 4 || strcmp(module, wanted) ||
		    (type != 't' && type != 'T'))
			continue;
		r = is_there(m, name, address - m->start);
		if (r == 0)
			fail_msg("%s of %s is at 0x%llx of it, and not where its file says", name, m->name, address - m->start);
		n += r > 0;
		unknown += r < 0;
	}
	fclose(file);
	print_message("%s: %u functions are where its file says, of %u it does not say it\n", m->name, n, unknown);
	return n;
}

static void test_layout(void **state)
{
	char line[1024];
	unsigned checked = 0, modules = 0;
	struct loaded m;
	FILE *file = fopen("/proc/modules", "re");

	(void)state;
	if (!file)
		SKIP("this kernel has no modules%s", "");
	module_paths_read(&paths, NULL);
	while (fgets(line, sizeof(line), file) && modules < 50) {
		memset(&m, 0, sizeof(m));
		if (sscanf(line, "%63s %*s %*s %*s %*s %llx", m.name, &m.start) != 2 || !m.start || !open_file(&m))
			continue;
		modules++;
		checked += compare(&m);
		free(m.bases);
		elf_close(&m.elf);
	}
	fclose(file);
	module_paths_free(&paths);
	if (!checked)
		SKIP("no module is loaded whose file is here, and whose layout is known, or its addresses are hidden%s", "");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(test_layout)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
