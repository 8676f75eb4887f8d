/* SPDX-License-Identifier: MIT */
/*
 * From addresses to names.
 *
 * An address is looked up once: cache of places -> mapping of the process -> module -> symbol. A change of
 * a process's mappings gives it another generation, and cached places of the old one are never found
 * again. Frames are numbered as they are met, so that a caller can keep what it derives from a frame in an
 * array.
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

#define CACHE_SIZE 32768

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
	s->places.symfs = s->symfs;
	s->cache = calloc(CACHE_SIZE, sizeof(*s->cache));
	s->kernel_generation = ++s->spaces.generations;
	if (!s->cache || (full.symfs && !s->symfs) || (full.kallsyms && !s->kallsyms_path) ||
	    add_fixed_modules(s) < 0) {
		perfev_symbols_free(s);
		return error_memory(err);
	}
	*ret = s;
	return 0;
}

void perfev_symbols_free(struct perfev_symbols *symbols)
{
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
	free(symbols->cache);
	free(symbols->kernel_keys);
	free(symbols->kernel_modules);
	free(symbols->ksymbols);
	free(symbols->symfs);
	free(symbols->kallsyms_path);
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
	uint32_t *slots = calloc(size, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (i = 0; i < s->nameless_size; i++) {
		const struct perfev_frame *frame;

		if (!s->nameless[i])
			continue;
		frame = &s->frames[s->nameless[i] - 1];
		at = (size_t)hash_pair(frame->module_id, frame->address) & (size - 1);
		while (slots[at])
			at = (at + 1) & (size - 1);
		slots[at] = s->nameless[i];
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

	if (s->nameless_count * 2 >= s->nameless_size && grow_nameless(s) < 0)
		return -ENOMEM;
	at = (size_t)hash_pair(module, address) & (s->nameless_size - 1);
	for (; s->nameless[at]; at = (at + 1) & (s->nameless_size - 1)) {
		const struct perfev_frame *old = &s->frames[s->nameless[at] - 1];

		if (old->module_id == module && old->address == address) {
			*key = s->nameless[at] - 1;
			return 0;
		}
	}
	if (add_frame(s, &frame, key) < 0)
		return -ENOMEM;
	s->nameless[at] = *key + 1;
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

/* ---- user code ---------------------------------------------------------------------------------------------- */

static struct space_process *process_of(struct perfev_symbols *s, int32_t pid)
{
	if (!s->last || s->last->pid != pid)
		s->last = spaces_get(&s->spaces, pid);
	return s->last;
}

static int find_user(struct perfev_symbols *s, const struct space_process *process, uint64_t ip,
		     struct place_cache *slot)
{
	const struct mapping *mapping = space_find(process, ip);
	struct module *module;
	uint64_t address, in_file;
	long index;

	slot->offset = 0;
	slot->in_file = ip;
	if (!mapping)
		return nameless_frame(s, MODULE_UNKNOWN, ip, ip, 0, &slot->key);
	module = s->modules[mapping->module];
	if (module_load(module, &s->places) < 0)
		return -ENOMEM;
	in_file = module->no_file ? ip : ip - mapping->start + mapping->offset;
	slot->in_file = in_file;
	address = module_address(module, in_file);
	index = table_find(&module->table, address);
	if (index < 0)
		return nameless_frame(s, mapping->module, address, in_file, 0, &slot->key);
	slot->offset = (uint32_t)(address - module->table.items[index].start);
	return symbol_frame(s, &module->table.items[index], mapping->module, 0, module->keys, index, &slot->key);
}

/* ---- kernel code --------------------------------------------------------------------------------------------- */

static int find_ksymbol(struct perfev_symbols *s, uint64_t ip, uint32_t *key, uint32_t *offset)
{
	size_t i;

	for (i = s->ksymbol_count; i > 0; i--) {
		struct ksymbol *k = &s->ksymbols[i - 1];
		struct perfev_frame frame = {k->name, "[bpf]", k->start, 0, PERFEV_FRAME_KERNEL,
					     MODULE_KERNEL, 0, 0};

		if (ip < k->start || ip >= k->end)
			continue;
		*offset = (uint32_t)(ip - k->start);
		if (!k->key) {
			if (add_frame(s, &frame, key) < 0)
				return -ENOMEM;
			k->key = *key + 1;
		}
		*key = k->key - 1;
		return 1;
	}
	return 0;
}

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

/* A place without a name belongs to what was mapped there, if that was recorded. */
static int nameless_kernel_frame(struct perfev_symbols *s, uint64_t ip, uint32_t *key)
{
	const struct mapping *mapping = s->kernel ? space_find(s->kernel, ip) : NULL;

	return nameless_frame(s, mapping ? mapping->module : MODULE_UNKNOWN, ip, ip, PERFEV_FRAME_KERNEL, key);
}

static int find_kernel(struct perfev_symbols *s, uint64_t ip, struct place_cache *slot)
{
	uint32_t *key = &slot->key, *offset = &slot->offset;
	const struct symbol *symbol;
	uint32_t module;
	long index;
	int r;

	*offset = 0;
	slot->in_file = ip;
	r = find_ksymbol(s, ip, key, offset);
	if (r != 0)
		return r < 0 ? r : 0;
	if (symbols_kernel(s) < 0)
		return -ENOMEM;
	index = table_find(&s->kallsyms.table, ip - s->kernel_delta);
	if (index < 0)
		return nameless_kernel_frame(s, ip, key);
	symbol = &s->kallsyms.table.items[index];
	if (kernel_module(s, symbol, &module) < 0)
		return -ENOMEM;
	*offset = (uint32_t)(ip - s->kernel_delta - symbol->start);
	return symbol_frame(s, symbol, module, PERFEV_FRAME_KERNEL, s->kernel_keys, index, key);
}

/* ---- finding --------------------------------------------------------------------------------------------------- */

static int find_uncached(struct perfev_symbols *s, const struct space_process *process, bool kernel,
			 struct place_cache *slot)
{
	return kernel ? find_kernel(s, slot->ip, slot) : find_user(s, process, slot->ip, slot);
}

static int find_elsewhere(struct perfev_symbols *s, const struct perfev_place *place,
			  struct perfev_frame *ret, struct perfev_error *err)
{
	uint32_t module = MODULE_UNKNOWN, key;

	if (place->cpumode == PERF_RECORD_MISC_HYPERVISOR)
		module = MODULE_HYPERVISOR;
	else if (place->cpumode == PERF_RECORD_MISC_GUEST_KERNEL ||
		 place->cpumode == PERF_RECORD_MISC_GUEST_USER)
		module = MODULE_GUEST;
	if (nameless_frame(s, module, place->ip, place->ip, 0, &key) < 0)
		return error_memory(err);
	*ret = s->frames[key];
	return 1;
}

int perfev_symbols_find(struct perfev_symbols *symbols, const struct perfev_place *place,
			struct perfev_frame *ret, size_t max, struct perfev_error *err)
{
	bool kernel = place->cpumode == PERF_RECORD_MISC_KERNEL;
	const struct space_process *process = NULL;
	struct place_cache *slot;
	uint32_t generation = symbols->kernel_generation;

	if (max == 0)
		return 0;
	if (!kernel && place->cpumode != PERF_RECORD_MISC_USER)
		return find_elsewhere(symbols, place, ret, err);
	if (!kernel) {
		process = process_of(symbols, place->pid);
		if (!process)
			return error_memory(err);
		generation = process->generation;
	}
	slot = &symbols->cache[hash_pair(generation, place->ip) & (CACHE_SIZE - 1)];
	if (slot->generation != generation || slot->ip != place->ip) {
		slot->generation = 0;
		slot->ip = place->ip;
		if (find_uncached(symbols, process, kernel, slot) < 0)
			return error_memory(err);
		slot->generation = generation;
	}
	*ret = symbols->frames[slot->key];
	ret->offset = slot->offset;
	ret->file_offset = slot->in_file;
	return 1;
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

bool perfev_symbols_module(const struct perfev_symbols *symbols, uint32_t module_id,
			   struct perfev_module_info *ret)
{
	const struct module *module;

	if (module_id >= symbols->module_count)
		return false;
	module = symbols->modules[module_id];
	ret->name = module->name;
	ret->path = module->path ? module->path : module->name;
	ret->file = module->file;
	ret->why = module->why[0] ? module->why : NULL;
	ret->build_id.data = module->build_id;
	ret->build_id.size = module->build_id_size;
	ret->symbol_count = (uint32_t)module->table.count;
	if (module_id == MODULE_KERNEL)
		ret->symbol_count = (uint32_t)symbols->kallsyms.table.count;
	return true;
}

int perfev_symbols_build_id(struct perfev_symbols *symbols, const struct perfev_build_id *entry,
			    struct perfev_error *err)
{
	struct recorded_id *ids =
		array_grow(symbols->ids, &symbols->id_room, symbols->id_count, sizeof(*ids));
	const char *name = intern(&symbols->names, entry->filename);
	uint64_t *index;

	if (ids)
		symbols->ids = ids;
	if (!ids || !name)
		return error_memory(err);
	index = map_put(&symbols->id_of_name, (uintptr_t)name, symbols->id_count);
	if (!index)
		return error_memory(err);
	*index = symbols->id_count; /* the last one counts */
	ids[symbols->id_count].size = entry->size <= 20 ? entry->size : 20;
	memcpy(ids[symbols->id_count++].id, entry->id, sizeof(entry->id));
	return 0;
}
