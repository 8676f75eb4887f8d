/* SPDX-License-Identifier: MIT */
/*
 * Finding and reading the symbols of a file.
 *
 * Symbols come from the file that was mapped, if it has a table of them; else from its debug file; else from its dynamic
 * symbols, and those that it may have packed in it. A file whose build-id is another than the recorded one is never
 * used: its names would be wrong ones.
 */
#include "elf_symbols.h"
#include "link.h"
#include "mini.h"
#include "module.h"
#include "perf_map.h"
#include "recorded.h"
#include "relocate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_SHIFT 12 /* of the smallest pages that there are */

static void say(struct module *module, const char *format, const char *detail)
{
	snprintf(module->why, sizeof(module->why), format, detail);
}

static void hex_id(const struct module *module, char *to)
{
	int i;

	for (i = 0; i < module->build_id_size; i++)
		sprintf(to + i * 2, "%02x", module->build_id[i]);
	to[i * 2] = 0;
}

/* ---- which file --------------------------------------------------------------------------------------- */

static bool has_symtab(const struct elf *elf)
{
	struct elf_section section;

	return elf_section_of_type(elf, ELF_SYMTAB, &section) && elf_symbol_count(elf, &section) > 1;
}

static bool has_debug_info(const struct elf *elf)
{
	struct elf_section section;

	return (elf_section_named(elf, ".debug_info", &section) || elf_section_named(elf, ".zdebug_info", &section)) &&
	       elf_bytes(elf, &section);
}

static char *copy_text(const char *text)
{
	char *copy = malloc(strlen(text) + 1);

	if (copy)
		memcpy(copy, text, strlen(text) + 1);
	return copy;
}

static void start_search(struct module *module, const struct module_places *places)
{
	struct search *s = &module->search;

	s->places = places;
	s->name = module->name;
	s->pid = module->pid;
	s->recorded_id = module->recorded_id;
	s->bare_inode = places->symfs ? 0 : module->bare_inode;
	s->id_size = module->build_id_size;
	memcpy(s->id, module->build_id, sizeof(s->id));
}

void module_set_file(struct module *module, const char *path)
{
	free(module->file);
	module->file = copy_text(path);
}

void module_set_image(struct module *module, const struct module_places *places)
{
	start_search(module, places);
	module->search.recorded_id = module->build_id_size > 0;
	module->is_image = true;
}

int module_open_image(struct module *module)
{
	char path[SEARCH_PATH];

	if (module->has_elf) /* by an earlier call */
		return 1;
	module->has_elf = search_kernel(&module->search, &module->elf, path, has_symtab);
	if (!module->has_elf)
		return 0;
	module->file = copy_text(path);
	module->search.mapped_path = copy_text(path);
	return 1;
}

/* A debug file with symbols takes the place of the mapped one, which stays open beside it. */
static bool find_debug_symbols(struct module *module)
{
	char path[SEARCH_PATH];
	struct elf elf;

	if (!search_debug(&module->search, &elf, path, has_symtab))
		return false;
	module->plain = module->elf;
	module->has_plain = module->has_elf;
	module->debug_only = !module->has_elf;
	module->elf = elf;
	module->has_elf = true;
	module->search.mapped = module->has_plain ? &module->plain : NULL;
	module->file = copy_text(path);
	module->search.debug_path = module->file;
	return true;
}

static void say_debug_file(struct module *module, const char *path)
{
	free(module->debug_file);
	module->debug_file = path ? copy_text(path) : NULL;
	if (path && path != module->search.mapped_path)
		module->search.debug_path = module->debug_file;
}

/* What unwinding needs of a debug file. */
static bool has_frames(const struct elf *elf)
{
	struct elf_section section;

	return (elf_section_named(elf, ".debug_frame", &section) || elf_section_named(elf, ".zdebug_frame", &section)) &&
	       elf_bytes(elf, &section);
}

const struct elf *module_debug_file(struct module *module, const struct module_places *places)
{
	char path[SEARCH_PATH];

	if (!module->debug_tried) {
		module->debug_tried = true;
		if (!module->search.places) /* the vdso, which was not looked for */
			start_search(module, places);
		if (module->is_image)
			module->has_debug = search_kernel(&module->search, &module->debug, path, has_debug_info);
		else if (module->is_object)
			module->has_debug = search_object(&module->search, &module->debug, path, has_debug_info);
		else
			module->has_debug = search_debug(&module->search, &module->debug, path, has_debug_info) ||
					    search_debug(&module->search, &module->debug, path, has_frames);
		if (module->has_debug && has_debug_info(&module->debug))
			say_debug_file(module, path);
	}
	return module->has_debug ? &module->debug : NULL;
}

static const struct elf *find_debug_info(struct module *module, const struct module_places *places)
{
	if (module->has_elf && has_debug_info(&module->elf)) {
		say_debug_file(module, module->file);
		return &module->elf;
	}
	if (module->has_plain && has_debug_info(&module->plain)) {
		say_debug_file(module, module->search.mapped_path);
		return &module->plain;
	}
	return module_debug_file(module, places);
}

/* Where the kernel was, against where its image was linked for. */
static void place_image(struct module *module, const struct elf *elf)
{
	uint64_t linked;

	if (module->image_ref && elf_symbol_named(elf, module->image_ref_stext ? "_stext" : "_text", &linked))
		module->shift = module->image_ref - linked;
}

static void open_dwarf(struct module *module, const struct module_places *places)
{
	struct dwarf_others others = {&module->search, search_other};
	const struct elf *elf;

	if (!module->has_elf && !module->is_image)
		return;
	if (!module->search.places)
		start_search(module, places);
	elf = find_debug_info(module, places);
	if (elf && has_debug_info(elf))
		module->dwarf = dwarf_open(elf, &others);
	if (module->dwarf && module->is_image)
		place_image(module, elf);
	else if (module->dwarf && elf->type == ELF_RELOCATABLE)
		module->shift = 0 - (uint64_t)RELOCATED_FIRST;
}

/* Return: 0; -EAGAIN: another thread has it, and is not to be waited for. */
static int take_lock(struct module *module, bool wait)
{
	if (wait)
		return pthread_mutex_lock(&module->lock) ? -EAGAIN : 0;
	return pthread_mutex_trylock(&module->lock) ? -EAGAIN : 0;
}

/* With the lock. */
static struct dwarf *locked_dwarf(struct module *module, const struct module_places *places)
{
	if (!module->dwarf_tried)
		open_dwarf(module, places);
	module->dwarf_tried = true;
	return module->dwarf;
}

struct dwarf *module_dwarf(struct module *module, const struct module_places *places, uint64_t *address)
{
	struct dwarf *dwarf;

	pthread_mutex_lock(&module->lock);
	dwarf = locked_dwarf(module, places);
	*address -= module->shift;
	pthread_mutex_unlock(&module->lock);
	return dwarf;
}

int module_inlined(struct module *module, const struct module_places *places, uint64_t address, bool wait,
		   struct dwarf_function **function, struct dwarf_unit **unit)
{
	struct dwarf *dwarf;

	if (take_lock(module, wait) < 0)
		return -EAGAIN;
	dwarf = locked_dwarf(module, places);
	address -= module->shift;
	*unit = dwarf ? dwarf_unit_at(dwarf, address) : NULL;
	*function = *unit ? dwarf_function_at(*unit, address) : NULL;
	if (*function && !(*function)->parent)
		*function = NULL;
	pthread_mutex_unlock(&module->lock);
	return 0;
}

const char *module_inlined_name(struct module *module, const struct dwarf_unit *unit, const struct dwarf_function *function)
{
	const char *name;

	pthread_mutex_lock(&module->lock);
	name = dwarf_name(module->dwarf, unit, function);
	pthread_mutex_unlock(&module->lock);
	return name;
}

static void note_id(struct module *module)
{
	if (!module->recorded_id)
		module->build_id_size = (uint8_t)elf_build_id(&module->elf, module->build_id);
	module->search.id_size = module->build_id_size;
	memcpy(module->search.id, module->build_id, sizeof(module->search.id));
}

static void explain(struct module *module, enum search_fit fit, int error)
{
	if (fit == FIT_OTHER_ID && !module->recorded_id)
		say(module, "%s", "the file is not the one that was mapped");
	else if (fit == FIT_OTHER_ID)
		say(module, "%s", "the file has another build-id than the recorded one: it was changed since");
	else if (fit == FIT_NO_ELF)
		say(module, "%s", "the file is no ELF file");
	else if (!strncmp(module->name, "/memfd:", 7))
		say(module, "%s", "it is a file in memory (memfd), which has no path");
	else if (strstr(module->name, " (deleted)"))
		say(module, "%s", "the file was deleted");
	else
		say(module, "the file cannot be read: %s", strerror(-error));
}

bool module_is_jit_map(const char *name)
{
	size_t n = strlen(name);

	return !strncmp(name, "/tmp/perf-", 10) && n > 14 && !strcmp(name + n - 4, ".map");
}

bool module_is_file(const char *name)
{
	return !module_is_jit_map(name) && name[0] == '/' && name[1] != '/' && strncmp(name, "/dev/zero", 9) &&
	       strncmp(name, "/SYSV", 5) && strncmp(name, "/anon_hugepage", 14);
}

/* The list of functions that the process wrote. */
static void read_map(struct module *module, const struct module_places *places)
{
	char path[SEARCH_PATH];
	unsigned i;
	int r = -ENOENT;

	for (i = 0; r == -ENOENT && search_list(places, module->name, i, path); i++)
		r = perf_map_read(&module->table, &module->text, path);
	if (r < 0 || !module->table.count) {
		table_free(&module->table);
		snprintf(module->why, sizeof(module->why), "code that was made at run time, and its list of functions %s",
			 r == -ENOENT ? "is not there" : r < 0 ? strerror(-r) : "is empty");
		return;
	}
	say(module, "%s", "no function of the list covers the address");
	module->file = copy_text(path);
}

/* Symbols that are packed in the file are joined with its dynamic ones. */
static void find_packed_symbols(struct module *module)
{
	int r = mini_open(&module->mini, &module->elf);

	module->has_mini = r == 0;
	module->mini_error = r == -ENOENT ? 0 : r;
}

static void find_file(struct module *module, const struct module_places *places)
{
	char path[SEARCH_PATH];
	enum search_fit fit;
	int error;

	if (module_is_jit_map(module->name)) {
		read_map(module, places);
		return;
	}
	if (module->no_file) {
		say(module, "%s", "it is no file: code that was made at run time");
		return;
	}
	start_search(module, places);
	fit = search_mapped(&module->search, &module->elf, path, &error);
	if (fit != FIT_YES) {
		if (module->name[0] != '/') /* the vdso: a file of that name here is another thing */
			say(module, "%s", "it is the recorded kernel's, and this kernel has another or none");
		else
			explain(module, fit, error);
		if (module->recorded_id)
			find_debug_symbols(module);
		return;
	}
	module->has_elf = true;
	module->search.mapped = &module->elf;
	module->search.mapped_path = copy_text(path);
	note_id(module);
	if (!has_symtab(&module->elf)) {
		if (find_debug_symbols(module))
			return;
		find_packed_symbols(module);
	}
	module->file = copy_text(path);
}

/* Of one file: what it has of its own, or what others may link to. */
static int read_file_symbols(struct module *module, const struct elf *elf)
{
	struct elf_section table;

	if ((has_symtab(elf) && elf_section_of_type(elf, ELF_SYMTAB, &table)) || elf_section_of_type(elf, ELF_DYNSYM, &table))
		return elf_symbols_read(&module->table, elf, &table, NULL);
	return 0;
}

static int read_symbols(struct module *module)
{
	const struct elf *plain = module->has_plain ? &module->plain : &module->elf;
	int r = read_file_symbols(module, &module->elf);

	if (r == 0 && module->has_mini)
		r = read_file_symbols(module, &module->mini);
	if (r == 0)
		r = elf_stubs_read(&module->table, plain);
	return r < 0 ? r : table_finish(&module->table);
}

/* What was tried, behind what is missing. */
static void add_tried(struct module *module, bool debug_file)
{
	const struct search *s = &module->search;
	const char *const parts[] = {
		debug_file && s->linked ? ", nor one of the name that the file's .gnu_debuglink has" : "",
		module->mini_error == -ENOSYS ? "; it has symbols packed in it, and liblzma.so.5 is not installed to unpack them"
		: module->mini_error	      ? "; the symbols that are packed in it cannot be unpacked"
					      : "",
		s->refused[0] ? "; not used: " : "", s->refused};
	size_t i, used = strlen(module->why);

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		used += (size_t)snprintf(module->why + used, sizeof(module->why) - used, "%s", parts[i]);
}

static void explain_gaps(struct module *module)
{
	char id[41];

	hex_id(module, id);
	if (has_symtab(&module->elf)) {
		say(module, "%s", "no symbol covers the address");
		return;
	}
	if (module->has_mini)
		say(module, "%s", "the file is stripped (exported symbols, and those that are packed in it), and no debug file for it");
	else if (module->build_id_size)
		say(module,
		    module->table.count ? "the file is stripped (exported symbols only), and no debug file "
					  "for build-id %s"
					: "no symbol table and no debug file for build-id %s",
		    id);
	else
		say(module, "%s", module->search.linked ? "no symbol table, and no debug file" : "no symbol table, and no build-id to find a debug file by");
	add_tried(module, true);
}

/* The parts that are loaded are asked for at each address: kept without their headers. */
static int read_parts(struct module *module)
{
	const struct elf *plain = module->has_plain ? &module->plain : &module->elf;
	struct elf_segment segment;
	uint32_t i;

	module->parts = calloc((size_t)plain->segment_count + 1, sizeof(*module->parts));
	if (!module->parts)
		return -ENOMEM;
	for (i = 0; i < plain->segment_count; i++)
		if (elf_segment(plain, i, &segment) && segment.type == ELF_LOAD) {
			module->parts[module->part_count].offset = segment.offset;
			module->parts[module->part_count].size = segment.file_size;
			module->parts[module->part_count++].address = segment.address;
		}
	return 0;
}

/* By what the recording says; where that is in the file, older ones do not say. */
static int read_recorded(struct module *module, const struct perfev_recorded_file *file)
{
	int r = recorded_read(file, &module->table, &module->text);

	if (r < 0 || !module->table.count)
		return r;
	module->parts = calloc(1, sizeof(*module->parts));
	if (!module->parts)
		return -ENOMEM;
	*module->parts = (struct module_part){file->offset == UINT64_MAX ? 0 : file->offset, UINT64_MAX, file->min_address};
	module->part_count = file->kind == PERFEV_RECORDED_ELF;
	module->no_file |= file->kind == PERFEV_RECORDED_MAP;
	say(module, "%s", "the recording has no symbol that covers the address");
	return 0;
}

/* A file of this machine is another machine's only if its build-id says so; symbols of the recording are right. */
static int find_symbols(struct module *module, const struct module_places *places)
{
	const struct perfev_recorded_file *recorded =
		places->recorded ? recorded_find(places->recorded, module->name) : NULL;

	if (module->has_elf) /* the vdso has its own */
		return 0;
	if (!recorded || module->recorded_id)
		find_file(module, places);
	return recorded && !module->has_elf && !module->table.count ? read_recorded(module, recorded) : 0;
}

static int load(struct module *module, const struct module_places *places)
{
	int r = find_symbols(module, places);

	if (r < 0)
		return r;
	if (!module->has_elf && !module->table.count) {
		add_tried(module, false);
		return 0;
	}
	r = module->has_elf ? read_symbols(module) : 0;
	if (r == 0 && module->has_elf)
		r = read_parts(module);
	if (module->has_elf)
		explain_gaps(module);
	if (r == 0)
		module->keys = calloc(module->table.count + 1, sizeof(*module->keys));
	if (module->keys)
		return 0;
	table_free(&module->table); /* what is half read is not asked */
	return -ENOMEM;
}

int module_load(struct module *module, const struct module_places *places, bool wait)
{
	int r = 0;

	if (module->loaded)
		return 0;
	if (take_lock(module, wait) < 0)
		return -EAGAIN;
	if (!module->loaded)
		r = load(module, places);
	module->loaded = true;
	pthread_mutex_unlock(&module->lock);
	return r;
}

uint64_t module_address_near(const struct module *module, uint64_t offset)
{
	uint32_t i;

	for (i = 0; i < module->part_count; i++) /* mapped are whole pages */
		if (offset >> PAGE_SHIFT >= module->parts[i].offset >> PAGE_SHIFT && module->parts[i].size &&
		    offset >> PAGE_SHIFT <= (module->parts[i].offset + module->parts[i].size - 1) >> PAGE_SHIFT)
			return offset - module->parts[i].offset + module->parts[i].address;
	return offset;
}

void module_free(struct module *module)
{
	if (!module)
		return;
	if (module->has_elf)
		elf_close(&module->elf);
	if (module->has_plain)
		elf_close(&module->plain);
	dwarf_free(module->dwarf);
	if (module->has_debug)
		elf_close(&module->debug);
	if (module->has_mini)
		elf_close(&module->mini);
	free(module->search.mapped_path);
	free(module->debug_file);
	table_free(&module->table);
	if (module->unwind)
		unwind_table_free(module->unwind);
	free(module->unwind);
	free(module->keys);
	free(module->parts);
	buffer_free(&module->text);
	pthread_mutex_destroy(&module->lock);
	free(module->name);
	free(module->file);
	free(module);
}
