/* SPDX-License-Identifier: MIT */
/*
 * kallsyms: one line a symbol, "ADDRESS TYPE NAME" and a module in brackets behind a tab. The file has
 * five megabytes and more, so it is read in one go and parsed in place: names stay where they are.
 *
 * No line has a size: a symbol goes on to the next one. Code and data count, so that an address in data
 * is not taken for the function before it.
 */
#include "elf_symbols.h"
#include "kallsyms.h"
#include "recorded.h"

#include "base/buffer.h"
#include "base/digits.h"
#include "base/large.h"
#include "file/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX   (256u << 20)
#define TEXT_ROOM  (8u << 20) /* mostly enough */
#define LINE_BYTES 40 /* fewer than a line has, mostly */
#define MODULE_MAX 65534

static int read_text(struct kallsyms *k, const char *path)
{
	struct buffer text = {NULL, 0, 0, TEXT_MAX};
	struct source source;
	int64_t n = 0;
	int r = source_open(&source, path, SOURCE_STREAM);

	if (r < 0)
		return r;
	text.data = large_alloc(TEXT_ROOM);
	text.room = text.data ? TEXT_ROOM : 0;
	do {
		r = buffer_reserve(&text, 1 << 20);
		if (r < 0)
			break;
		n = source_read(&source, text.data + text.size, text.room - text.size - 1);
		if (n > 0)
			text.size += (size_t)n;
	} while (n > 0);
	source_close(&source);
	if (r < 0 || n < 0) {
		buffer_free(&text);
		return r < 0 ? r : (int)n;
	}
	text.data[text.size] = 0;
	k->text = (char *)text.data;
	k->size = text.size;
	return 0;
}

static bool is_wanted(char type, const char *name)
{
	char kind = (char)(type & ~32);

	if (kind != 'T' && kind != 'W' && kind != 'D' && kind != 'B')
		return false;
	return name[0] != '$' && strncmp(name, ".L", 2) && strncmp(name, "L0", 2);
}

/* The number of a module. Lines of one module stand together. */
static int find_module(struct kallsyms *k, char *name, uint16_t *ret)
{
	char **modules;

	if (k->module_count && !strcmp(k->modules[k->module_count - 1], name)) {
		*ret = (uint16_t)k->module_count;
		return 0;
	}
	if (k->module_count >= MODULE_MAX) {
		*ret = 0;
		return 0;
	}
	modules = array_grow(k->modules, &k->module_room, k->module_count, sizeof(*modules));
	if (!modules)
		return -ENOMEM;
	k->modules = modules;
	modules[k->module_count++] = name;
	*ret = (uint16_t)k->module_count;
	return 0;
}

/* The upper half of an address is mostly that of the line before. */
struct upper {
	char digits[8]; /* "": of none yet */
	uint64_t half;
};

static inline char *read_address(char *line, const char *end, struct upper *upper, uint64_t *ret)
{
	uint64_t lower;
	char *at;

	if (end - line > 16 && !memcmp(line, upper->digits, 8) && line[16] == ' ' && digits_read_hex8(line + 8, &lower)) {
		*ret = upper->half | lower;
		return line + 16;
	}
	at = digits_read_hex(line, end, ret);
	if (at == line + 16) {
		memcpy(upper->digits, line, 8);
		upper->half = *ret >> 32 << 32;
	}
	return at;
}

/* Where the module begins, behind a name: "\t[ext4]"; NULL: the symbol is the kernel's own. */
static inline char *find_tab(char *name, const char *end)
{
	return end[-1] == ']' ? memchr(name, '\t', (size_t)(end - name)) : NULL;
}

static int take_line(struct kallsyms *k, char *line, const char *end, struct upper *upper)
{
	struct symbol s = {0, 0, NULL, 0, false, 0};
	char *at = read_address(line, end, upper, &s.start), *name, *tab, type;

	if (at == line || at[0] != ' ' || !at[1] || at[2] != ' ')
		return 0;
	type = at[1];
	name = at + 3;
	tab = find_tab(name, end);
	if (tab) {
		*tab = 0;
		if (find_module(k, tab + 1, &s.module) < 0)
			return -ENOMEM;
	} else if (!k->ref_text && !strcmp(name, "_text")) {
		k->ref_text = s.start;
	} else if (!k->ref_stext && !strcmp(name, "_stext")) {
		k->ref_stext = s.start;
	}
	k->hidden |= !s.start;
	if (!s.start || !is_wanted(type, name))
		return 0;
	s.end = s.start;
	s.name = name;
	s.binding = type == 'W' ? 2 : type & 32 ? 0 : 1;
	return table_add(&k->table, &s);
}

static int parse(struct kallsyms *k)
{
	char *line = k->text, *end = k->text + k->size, *newline;
	struct upper upper = {"", 0};

	if (table_reserve(&k->table, k->size / LINE_BYTES) < 0)
		return -ENOMEM;
	for (; line < end; line = newline + 1) {
		newline = memchr(line, '\n', (size_t)(end - line));
		if (!newline)
			newline = end; /* the last line of a file that somebody edited */
		*newline = 0;
		if (take_line(k, line, newline, &upper) < 0)
			return -ENOMEM;
	}
	if (!k->table.count)
		return k->hidden ? -ENODATA : -EINVAL;
	return table_finish(&k->table);
}

int kallsyms_load(struct kallsyms *ret, const char *path)
{
	int r;

	memset(ret, 0, sizeof(*ret));
	r = read_text(ret, path);
	if (r == 0)
		r = parse(ret);
	if (r < 0)
		kallsyms_free(ret);
	return r;
}

int kallsyms_take(struct kallsyms *ret, const void *text, size_t size)
{
	int r;

	memset(ret, 0, sizeof(*ret));
	ret->text = malloc(size + 1);
	if (!ret->text)
		return -ENOMEM;
	memcpy(ret->text, text, size);
	ret->text[size] = 0;
	ret->size = size;
	r = parse(ret);
	if (r < 0)
		kallsyms_free(ret);
	return r;
}

int kallsyms_recorded(struct kallsyms *ret, const struct perfev_recorded_file *file)
{
	int r;

	memset(ret, 0, sizeof(*ret));
	r = recorded_read(file, &ret->table, &ret->names);
	if (r == 0 && !ret->table.count)
		r = -EINVAL;
	if (r < 0)
		kallsyms_free(ret);
	return r;
}

/* Without their sizes, so that places have the same names by all that tell of a kernel. */
int kallsyms_image(struct kallsyms *ret, const struct elf *elf)
{
	struct elf_section table;
	size_t i;
	int r;

	memset(ret, 0, sizeof(*ret));
	if (!elf_section_of_type(elf, ELF_SYMTAB, &table))
		return -EINVAL;
	elf_symbol_named(elf, "_text", &ret->ref_text);
	elf_symbol_named(elf, "_stext", &ret->ref_stext);
	r = elf_symbols_read(&ret->table, elf, &table, NULL);
	for (i = 0; i < ret->table.count; i++)
		ret->table.items[i].end = ret->table.items[i].start;
	if (r == 0)
		r = ret->table.count ? table_finish(&ret->table) : -EINVAL;
	if (r < 0)
		kallsyms_free(ret);
	return r;
}

void kallsyms_free(struct kallsyms *kallsyms)
{
	free(kallsyms->text);
	buffer_free(&kallsyms->names);
	free(kallsyms->modules);
	table_free(&kallsyms->table);
	memset(kallsyms, 0, sizeof(*kallsyms));
}
