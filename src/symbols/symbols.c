/* SPDX-License-Identifier: MIT */
/*
 * From addresses to names.
 *
 * The way is: mapping of the process -> place in a module -> symbols of 16 KiB around it -> symbol. Which symbols those
 * are is remembered: parts that run are few, where addresses are many. Frames are numbered as they are met, so
 * that a caller can keep what it derives from a frame in an array.
 */
#include "symbols_base.h"
#include "demangle.h"

#include "base/buffer.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/opts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define PART_SLOTS 8192
#define PART_SHIFT 14

/* ---- making and freeing ------------------------------------------------------------------------------- */

static char *copy_text(const char *text)
{
	char *copy = text ? malloc(strlen(text) + 1) : NULL;

	if (copy)
		memcpy(copy, text, strlen(text) + 1);
	return copy;
}

static int add_fixed_modules(struct perfev_symbols *s)
{
	static const char *const names[MODULE_FIXED] = {
		[MODULE_UNKNOWN] = "[unknown]",
		[MODULE_KERNEL] = "[kernel.kallsyms]",
		[MODULE_HYPERVISOR] = "[hypervisor]",
		[MODULE_GUEST] = "[guest]",
	};
	static const char *const whys[MODULE_FIXED] = {
		[MODULE_UNKNOWN] = "the recording has no mapping at these addresses",
		[MODULE_KERNEL] = "",
		[MODULE_HYPERVISOR] = "the hypervisor's symbols are not known",
		[MODULE_GUEST] = "the guest's symbols are not known",
	};
	uint32_t i, number;

	for (i = 0; i < MODULE_FIXED; i++) {
		if (symbols_module(s, &number, names[i], NULL, 0) < 0)
			return -ENOMEM;
		s->modules[i]->loaded = true;
		s->modules[i]->kernel = i == MODULE_KERNEL;
		snprintf(s->modules[i]->why, sizeof(s->modules[i]->why), "%s", whys[i]);
	}
	return 0;
}

int perfev_symbols_new(struct perfev_symbols **ret, const struct perfev_symbols_opts *opts,
		       struct perfev_error *err)
{
	struct perfev_symbols_opts full;
	struct perfev_symbols *s;
	int r = opts_copy(&full, sizeof(full), opts, err);

	if (r < 0)
		return r;
	s = calloc(1, sizeof(*s));
	if (!s)
		return error_memory(err);
	s->opts = full;
	s->symfs = copy_text(full.symfs);
	s->kallsyms_path = copy_text(full.kallsyms);
	s->cache = copy_text(full.cache);
	s->proc = copy_text(full.proc);
	s->places.symfs = s->symfs;
	s->places.cache = s->cache;
	s->places.proc = s->proc;
	s->places.debuginfod = full.debuginfod;
	s->now = UINT64_MAX;
	s->parts = calloc(PART_SLOTS, sizeof(*s->parts));
	if (!s->parts || (full.symfs && !s->symfs) || (full.kallsyms && !s->kallsyms_path) ||
	    (full.cache && !s->cache) || (full.proc && !s->proc) ||
	    add_fixed_modules(s) < 0) {
		perfev_symbols_free(s);
		return error_memory(err);
	}
	*ret = s;
	return 0;
}

void perfev_symbols_free(struct perfev_symbols *symbols)
{
	struct jit *jit, *next;
	size_t i;

	if (!symbols)
		return;
	for (i = 0; i < symbols->module_count; i++)
		module_free(symbols->modules[i]);
	spaces_free(&symbols->spaces);
	kallsyms_free(&symbols->kallsyms);
	interner_free(&symbols->names);
	free(symbols->modules);
	free(symbols->module_slots);
	free(symbols->ids);
	map_free(&symbols->id_of_name);
	free(symbols->frames);
	free(symbols->nameless);
	free(symbols->parts);
	free(symbols->kernel_keys);
	free(symbols->kernel_modules);
	functions_free(&symbols->ksymbols);
	for (jit = symbols->jits; jit; jit = next) {
		next = jit->next;
		jit_free(jit);
	}
	free(symbols->symfs);
	free(symbols->kallsyms_path);
	free(symbols->cache);
	free(symbols->proc);
	free(symbols);
}

/* ---- frames ---------------------------------------------------------------------------------------------- */

static int add_frame(struct perfev_symbols *s, const struct perfev_frame *frame, uint32_t *key)
{
	struct perfev_frame *frames =
		array_grow(s->frames, &s->frame_room, s->frame_count, sizeof(*frames));

	if (!frames)
		return -ENOMEM;
	s->frames = frames;
	frames[s->frame_count] = *frame;
	frames[s->frame_count].key = (uint32_t)s->frame_count;
	*key = (uint32_t)s->frame_count++;
	return 0;
}

static int grow_nameless(struct perfev_symbols *s)
{
	size_t size = s->nameless_size ? s->nameless_size * 2 : 1024, i, at;
	struct nameless_slot *slots = calloc(size, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (i = 0; i < s->nameless_size; i++) {
		const struct nameless_slot *slot = &s->nameless[i];

		if (!slot->key)
			continue;
		at = (size_t)hash_pair(slot->module, slot->address) & (size - 1);
		while (slots[at].key)
			at = (at + 1) & (size - 1);
		slots[at] = *slot;
	}
	free(s->nameless);
	s->nameless = slots;
	s->nameless_size = size;
	return 0;
}

static int nameless_frame(struct perfev_symbols *s, uint32_t module, uint64_t address,
			  uint64_t file_offset, uint32_t flags, uint32_t *key)
{
	struct perfev_frame frame = {NULL,   s->modules[module]->name, address,
				     file_offset, flags | PERFEV_FRAME_UNRESOLVED, module, 0, 0};
	size_t at;

	/* what is in no file has no places to tell apart */
	bool one = s->opts.coarse || module == MODULE_UNKNOWN;
	uint32_t *one_key = &s->modules[module]->nameless_key[flags & PERFEV_FRAME_KERNEL ? 1 : 0];

	if (one && *one_key) {
		*key = *one_key - 1;
		return 0;
	}
	if (one) {
		frame.address = 0;
		if (add_frame(s, &frame, key) < 0)
			return -ENOMEM;
		*one_key = *key + 1;
		return 0;
	}
	if (s->nameless_count * 2 >= s->nameless_size && grow_nameless(s) < 0)
		return -ENOMEM;
	at = (size_t)hash_pair(module, address) & (s->nameless_size - 1);
	for (; s->nameless[at].key; at = (at + 1) & (s->nameless_size - 1))
		if (s->nameless[at].module == module && s->nameless[at].address == address) {
			*key = s->nameless[at].key - 1;
			return 0;
		}
	if (add_frame(s, &frame, key) < 0)
		return -ENOMEM;
	s->nameless[at].address = address;
	s->nameless[at].module = module;
	s->nameless[at].key = *key + 1;
	s->nameless_count++;
	return 0;
}

static const char *shown_name(struct perfev_symbols *s, const struct symbol *symbol)
{
	char text[4096];
	const char *name = symbol->name;

	if (!s->opts.raw_names && demangle(name, text, sizeof(text) - 8))
		name = text;
	else if (!symbol->plt)
		return name; /* in the file, which stays */
	if (symbol->plt) {
		if (name != text)
			snprintf(text, sizeof(text), "%.4000s", name);
		strcat(text, "@plt");
	}
	return intern(&s->names, text);
}

/* The frame of a symbol; @keys remembers it. */
static int symbol_frame(struct perfev_symbols *s, const struct symbol *symbol, uint32_t module,
			uint32_t flags, uint32_t *keys, long index, uint32_t *key)
{
	struct perfev_frame frame = {NULL, s->modules[module]->name, symbol->start, 0, flags,
				     module, 0, 0};

	if (keys[index]) {
		*key = keys[index] - 1;
		return 0;
	}
	frame.symbol = shown_name(s, symbol);
	if (!frame.symbol || add_frame(s, &frame, key) < 0)
		return -ENOMEM;
	keys[index] = *key + 1;
	return 0;
}

/* ---- code that came at run time -------------------------------------------------------------------------------- */

static int function_frame(struct perfev_symbols *s, struct function *function, const struct perfev_frame *like,
			  uint64_t ip, struct perfev_frame *ret)
{
	struct perfev_frame frame = *like;
	uint32_t key;

	if (!function->key) {
		frame.symbol = function->name;
		frame.address = function->start;
		if (add_frame(s, &frame, &key) < 0)
			return -ENOMEM;
		function->key = key + 1;
	}
	*ret = s->frames[function->key - 1];
	ret->offset = (uint32_t)(ip - function->start);
	ret->file_offset = ip;
	return 1;
}

static int find_jit(struct perfev_symbols *s, struct jit *jit, uint64_t ip, struct perfev_frame *ret)
{
	struct perfev_frame like = {NULL, jit->path, 0, 0, 0, jit->module, 0, 0};
	struct function *function;

	if (jit_advance(jit, s->now, &s->names) < 0)
		return -ENOMEM;
	function = functions_find(&jit->functions, ip);
	return function ? function_frame(s, function, &like, ip, ret) : 0;
}

/* ---- user code ---------------------------------------------------------------------------------------------- */

static struct space_process *process_of(struct perfev_symbols *s, int32_t pid)
{
	if (!s->last || s->last->pid != pid)
		s->last = spaces_get(&s->spaces, pid);
	return s->last;
}

static void fill_part(struct part_slot *slot, const struct table *table, uint32_t space, uint64_t part)
{
	uint64_t first = part << PART_SHIFT;
	size_t low = first ? table_before(table, first - 1, 0, table->count) : 0;
	size_t high = table_before(table, first + ((1 << PART_SHIFT) - 1), low, table->count);

	slot->space = space;
	slot->part = part;
	slot->low = (uint32_t)low;
	slot->high = low == high && table_at(table, first, low) < 0 ? 0 : (uint32_t)high;
}

static long find_symbol(struct perfev_symbols *s, const struct table *table, uint32_t space, uint64_t address)
{
	uint64_t part = address >> PART_SHIFT;
	struct part_slot *slot = &s->parts[hash_pair(space, part) & (PART_SLOTS - 1)];

	if (slot->space != space || slot->part != part)
		fill_part(slot, table, space, part);
	return slot->high ? table_at(table, address, table_before(table, address, slot->low, slot->high)) : -1;
}

static uint64_t offset_in_file(const struct module *module, const struct mapping *mapping, uint64_t ip)
{
	return module->no_file ? ip : ip - mapping->start + mapping->offset;
}

/* The frame of a call that was inlined; NULL-named when its name is not known. */
static int inlined_frame(struct perfev_symbols *s, uint32_t number, const struct dwarf_unit *unit,
			 struct dwarf_function *function, uint64_t in_file,
			 struct perfev_frame *ret)
{
	struct perfev_frame frame = {NULL, s->modules[number]->name, 0, 0, PERFEV_FRAME_INLINED, number, 0, 0};
	const char *name;
	char text[4096];
	uint32_t key;

	if (!function->key) {
		name = dwarf_name(s->modules[number]->dwarf, unit, function);
		if (name && !s->opts.raw_names && demangle(name, text, sizeof(text)))
			name = text;
		frame.symbol = intern(&s->names, name && name[0] ? name : "[inlined]");
		if (!frame.symbol || add_frame(s, &frame, &key) < 0)
			return -ENOMEM;
		function->key = key + 1;
	}
	*ret = s->frames[function->key - 1];
	ret->file_offset = in_file;
	return 0;
}

/* What was inlined at an address, innermost first, but not as many as @max. Return: how many; -ENOMEM. */
static int find_inlined(struct perfev_symbols *s, uint32_t number, uint64_t address, uint64_t in_file,
			struct perfev_frame *ret, size_t max)
{
	struct dwarf *dwarf = module_dwarf(s->modules[number], &s->places);
	struct dwarf_unit *unit = dwarf ? dwarf_unit_at(dwarf, address) : NULL;
	struct dwarf_function *function = unit ? dwarf_function_at(unit, address) : NULL;
	size_t n = 0;

	for (; function && function->parent && n + 1 < max; function = &unit->functions[function->parent - 1]) {
		if (inlined_frame(s, number, unit, function, in_file, &ret[n]) < 0)
			return -ENOMEM;
		n++;
	}
	return (int)n;
}

static int find_user(struct perfev_symbols *s, const struct mapping *mapping, uint64_t ip, struct perfev_frame *ret,
		     size_t max)
{
	struct module *module = s->modules[mapping->module];
	uint64_t in_file = offset_in_file(module, mapping, ip), address;
	uint32_t key;
	int inlined = 0;
	long index;

	if (!module->loaded && module_load(module, &s->places) < 0)
		return -ENOMEM;
	address = module_address(module, in_file);
	if (max > 1 && !s->opts.no_inline)
		inlined = find_inlined(s, mapping->module, address, in_file, ret, max);
	if (inlined < 0)
		return -ENOMEM;
	index = find_symbol(s, &module->table, mapping->module + 1, address);
	if ((index < 0 ? nameless_frame(s, mapping->module, address, in_file, 0, &key)
		       : symbol_frame(s, &module->table.items[index], mapping->module, 0, module->keys, index, &key)) < 0)
		return -ENOMEM;
	ret += inlined;
	*ret = s->frames[key];
	ret->offset = index < 0 ? 0 : (uint32_t)(address - module->table.items[index].start);
	ret->file_offset = in_file;
	return inlined + 1;
}

static int has_symbol(struct perfev_symbols *s, const struct mapping *mapping, uint64_t ip)
{
	struct module *module = s->modules[mapping->module];

	if (!module->loaded && module_load(module, &s->places) < 0)
		return -ENOMEM;
	return find_symbol(s, &module->table, mapping->module + 1,
			   module_address(module, offset_in_file(module, mapping, ip))) >= 0;
}

/* A process's list of functions may name code that lies in a file without symbols. Then it is as if the list were mapped there. */
static int find_in_list(struct perfev_symbols *s, const struct space_process *process, const struct mapping **mapping, uint64_t ip,
			struct mapping *list)
{
	int r;

	memset(list, 0, sizeof(*list));
	list->end = UINT64_MAX;
	list->module = process->list - 1;
	if ((*mapping)->module == list->module)
		return 0;
	r = has_symbol(s, *mapping, ip);
	if (r)
		return r < 0 ? r : 0;
	r = has_symbol(s, list, ip);
	if (r > 0)
		*mapping = list;
	return r < 0 ? r : 0;
}

/* ---- kernel code --------------------------------------------------------------------------------------------- */

static int kernel_module(struct perfev_symbols *s, const struct symbol *symbol, uint32_t *ret)
{
	uint32_t *known = &s->kernel_modules[symbol->module];

	if (!symbol->module) {
		*ret = MODULE_KERNEL;
		return 0;
	}
	if (!*known) {
		if (symbols_module(s, ret, s->kallsyms.modules[symbol->module - 1], NULL, 0) < 0)
			return -ENOMEM;
		s->modules[*ret]->loaded = true;
		s->modules[*ret]->kernel = true;
		*known = *ret + 1;
	}
	*ret = *known - 1;
	return 0;
}

/* A place without a name belongs to what was mapped there; where no mapping of the kernel was recorded, to the kernel,
 * which says why. */
static int nameless_kernel_frame(struct perfev_symbols *s, uint64_t ip, uint32_t *key)
{
	const struct mapping *mapping = s->kernel ? space_find(s->kernel, ip) : NULL;
	uint32_t module = mapping ? mapping->module : s->kernel ? MODULE_UNKNOWN : MODULE_KERNEL;

	return nameless_frame(s, module, ip, ip, PERFEV_FRAME_KERNEL, key);
}

static int find_kallsyms(struct perfev_symbols *s, uint64_t ip, uint32_t *key, uint32_t *offset)
{
	const struct symbol *symbol;
	uint64_t address;
	uint32_t module;
	long index;

	*offset = 0;
	if (!s->kernel_loaded && symbols_kernel(s) < 0)
		return -ENOMEM;
	address = ip - s->kernel_delta;
	index = find_symbol(s, &s->kallsyms.table, MODULE_KERNEL + 1, address);
	if (index < 0)
		return nameless_kernel_frame(s, ip, key);
	symbol = &s->kallsyms.table.items[index];
	*offset = (uint32_t)(address - symbol->start);
	if (s->kernel_keys[index]) {
		*key = s->kernel_keys[index] - 1;
		return 0;
	}
	if (kernel_module(s, symbol, &module) < 0)
		return -ENOMEM;
	return symbol_frame(s, symbol, module, PERFEV_FRAME_KERNEL, s->kernel_keys, index, key);
}

static int find_kernel(struct perfev_symbols *s, uint64_t ip, struct perfev_frame *ret)
{
	static const struct perfev_frame bpf = {NULL, "[bpf]", 0, 0, PERFEV_FRAME_KERNEL, MODULE_KERNEL, 0, 0};
	struct function *function = s->ksymbols.count ? functions_find(&s->ksymbols, ip) : NULL;
	uint32_t key = 0, offset = 0;

	if (function)
		return function_frame(s, function, &bpf, ip, ret);
	if (find_kallsyms(s, ip, &key, &offset) < 0)
		return -ENOMEM;
	*ret = s->frames[key];
	ret->offset = offset;
	ret->file_offset = ip;
	return 1;
}

/* ---- finding --------------------------------------------------------------------------------------------------- */

static int find_elsewhere(struct perfev_symbols *s, const struct perfev_place *place, struct perfev_frame *ret)
{
	uint32_t module = MODULE_UNKNOWN, key;

	if (place->cpumode == PERF_RECORD_MISC_HYPERVISOR)
		module = MODULE_HYPERVISOR;
	else if (place->cpumode == PERF_RECORD_MISC_GUEST_KERNEL ||
		 place->cpumode == PERF_RECORD_MISC_GUEST_USER)
		module = MODULE_GUEST;
	if (nameless_frame(s, module, place->ip, place->ip, 0, &key) < 0)
		return -ENOMEM;
	*ret = s->frames[key];
	ret->address = ret->file_offset = place->ip;
	return 1;
}

static int find(struct perfev_symbols *s, const struct perfev_place *place, struct perfev_frame *ret, size_t max)
{
	const struct mapping *mapping;
	struct space_process *process;
	struct mapping list;

	if (place->cpumode == PERF_RECORD_MISC_KERNEL)
		return find_kernel(s, place->ip, ret);
	if (place->cpumode != PERF_RECORD_MISC_USER)
		return find_elsewhere(s, place, ret);
	process = process_of(s, place->pid);
	if (!process)
		return -ENOMEM;
	if (process->jit) {
		int r = find_jit(s, process->jit, place->ip, ret);

		if (r)
			return r;
	}
	mapping = space_find(process, place->ip);
	if (mapping && process->list && find_in_list(s, process, &mapping, place->ip, &list) < 0)
		return -ENOMEM;
	return mapping ? find_user(s, mapping, place->ip, ret, max) : find_elsewhere(s, place, ret);
}

int perfev_symbols_find(struct perfev_symbols *symbols, const struct perfev_place *place,
			struct perfev_frame *ret, size_t max, struct perfev_error *err)
{
	int r = max ? find(symbols, place, ret, max) : 0;

	return r < 0 ? error_memory(err) : r;
}

/* ---- lines --------------------------------------------------------------------------------------------------- */

static int put_source(struct perfev_symbols *s, struct dwarf *dwarf, struct dwarf_unit *unit, uint32_t file, uint32_t line,
		      struct perfev_source *ret)
{
	const char *full = file < unit->file_count ? unit->files[file].full : NULL;
	char text[4096];

	if (!full) {
		dwarf_file_name(dwarf, unit, file, text, sizeof(text));
		full = intern(&s->names, text);
		if (file < unit->file_count)
			unit->files[file].full = full;
	}
	ret->file = full;
	ret->line = line;
	ret->reserved = 0;
	return ret->file ? 0 : -ENOMEM;
}

static int find_source(struct perfev_symbols *s, uint32_t number, uint64_t address, struct perfev_source *ret, size_t max)
{
	struct dwarf *dwarf = module_dwarf(s->modules[number], &s->places);
	struct dwarf_unit *unit = dwarf ? dwarf_unit_at(dwarf, address) : NULL;
	const struct dwarf_row *row = unit ? dwarf_row_at(dwarf, unit, address) : NULL;
	const struct dwarf_function *function = unit ? dwarf_function_at(unit, address) : NULL;
	size_t n = 0;

	if (!row)
		return 0;
	if (put_source(s, dwarf, unit, row->file, row->line, &ret[n++]) < 0)
		return -ENOMEM;
	for (; function && function->parent && n < max; function = &unit->functions[function->parent - 1])
		if (put_source(s, dwarf, unit, function->call_file, function->call_line, &ret[n++]) < 0)
			return -ENOMEM;
	return (int)n;
}

int perfev_symbols_source(struct perfev_symbols *symbols, const struct perfev_place *place, struct perfev_source *ret,
			  size_t max, struct perfev_error *err)
{
	struct space_process *process = place->cpumode == PERF_RECORD_MISC_USER ? process_of(symbols, place->pid) : NULL;
	const struct mapping *mapping = process && max ? space_find(process, place->ip) : NULL;
	struct module *module;
	int r;

	if (!mapping)
		return 0;
	module = symbols->modules[mapping->module];
	r = module_load(module, &symbols->places);
	if (r == 0)
		r = find_source(symbols, mapping->module, module_address(module, offset_in_file(module, mapping, place->ip)),
				ret, max);
	return r < 0 ? error_memory(err) : r;
}

const char *perfev_symbols_comm(struct perfev_symbols *symbols, int32_t pid, int32_t tid)
{
	const struct space_process *process = process_of(symbols, pid);
	const char *comm = process ? space_comm(process, tid) : NULL;
	char text[16];

	if (!comm && process && tid != pid)
		comm = space_comm(process, pid);
	if (comm)
		return comm;
	if (tid == 0)
		return "swapper"; /* each CPU's idle task, which no record names */
	snprintf(text, sizeof(text), ":%d", tid);
	comm = intern(&symbols->names, text);
	return comm ? comm : "";
}
