/* SPDX-License-Identifier: MIT */
/*
 * The list of modules. One is no file: the vdso, which every process of this kernel has in its memory. (The kernel is in
 * symbols_kernel.c.)
 */
#include "symbols_base.h"
#include "vdso.h"

#include "base/buffer.h"
#include "base/error.h"
#include "base/hash.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static size_t module_hash(const char *name, const uint8_t *id, uint8_t id_size)
{
	return (size_t)hash_pair(hash_bytes(name, strlen(name)), id_size ? hash_bytes(id, id_size) : 0);
}

/* What tells modules apart. */
struct key {
	const char *name;
	const uint8_t *id;
	uint8_t id_size;
	bool kernel;	/* a process may map what is called like a module of the kernel */
	uint64_t inode; /* not 0: it has no build-id, whatever others of that name have */
};

static bool is_module(const struct module *module, const struct key *key)
{
	uint8_t own = module->recorded_id ? module->build_id_size : 0;

	return own == key->id_size && module->kernel == key->kernel && module->bare_inode == key->inode &&
	       !strcmp(module->name, key->name) && (!own || !memcmp(module->build_id, key->id, own));
}

static int grow_slots(struct perfev_symbols *s)
{
	size_t count = s->module_slot_count ? s->module_slot_count * 2 : 256, i, at;
	uint32_t *slots = calloc(count, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (i = 0; i < s->module_count; i++) {
		const struct module *m = s->modules[i];

		at = module_hash(m->name, m->build_id, m->recorded_id ? m->build_id_size : 0) &
		     (count - 1);
		while (slots[at])
			at = (at + 1) & (count - 1);
		slots[at] = (uint32_t)i + 1;
	}
	free(s->module_slots);
	s->module_slots = slots;
	s->module_slot_count = count;
	return 0;
}

const struct recorded_id *symbols_recorded_id(struct perfev_symbols *s, const char *name)
{
	const char *key = s->id_count ? intern(&s->names, name) : NULL;
	const uint64_t *index = key ? map_find(&s->id_of_name, (uintptr_t)key) : NULL;

	return index ? &s->ids[*index] : NULL;
}

const char *symbols_name(struct perfev_symbols *s, const char *text)
{
	const char *name;

	pthread_mutex_lock(&s->lock);
	name = intern(&s->names, text);
	pthread_mutex_unlock(&s->lock);
	return name;
}

static struct module *new_module(uint32_t number, const struct key *key)
{
	const char *name = key->name;
	struct module *module = calloc(1, sizeof(*module));

	if (!module)
		return NULL;
	module->name = malloc(strlen(name) + 1);
	if (!module->name) {
		free(module);
		return NULL;
	}
	memcpy(module->name, name, strlen(name) + 1);
	module->number = number;
	pthread_mutex_init(&module->lock, NULL);
	module->no_file = !module_is_file(name) && !vdso_is(name);
	module->elf.source.fd = -1;
	module->plain.source.fd = -1;
	module->debug.source.fd = -1;
	module->kernel = key->kernel;
	module->bare_inode = key->inode;
	if (key->id_size) {
		memcpy(module->build_id, key->id, key->id_size);
		module->build_id_size = key->id_size;
		module->recorded_id = true;
	}
	return module;
}

static struct module *find_or_add(struct perfev_symbols *s, struct key key)
{
	const struct recorded_id *recorded = key.id_size || key.inode ? NULL : symbols_recorded_id(s, key.name);
	struct module **modules, *module;
	size_t at;

	if (recorded) {
		key.id = recorded->id;
		key.id_size = recorded->size;
	}
	if (s->module_count * 2 >= s->module_slot_count && grow_slots(s) < 0)
		return NULL;
	at = module_hash(key.name, key.id, key.id_size) & (s->module_slot_count - 1);
	for (; s->module_slots[at]; at = (at + 1) & (s->module_slot_count - 1))
		if (is_module(s->modules[s->module_slots[at] - 1], &key))
			return s->modules[s->module_slots[at] - 1];
	modules = array_grow(s->modules, &s->module_room, s->module_count, sizeof(*modules));
	if (!modules)
		return NULL;
	s->modules = modules;
	module = new_module((uint32_t)s->module_count, &key);
	if (!module)
		return NULL;
	modules[s->module_count++] = module;
	s->module_slots[at] = (uint32_t)s->module_count;
	if (!key.kernel && !s->symfs && (!s->opts.foreign || key.id_size))
		vdso_take(module);
	return module;
}

static struct module *locked_find_or_add(struct perfev_symbols *s, const struct key *key)
{
	struct module *module;

	pthread_mutex_lock(&s->lock);
	module = find_or_add(s, *key);
	pthread_mutex_unlock(&s->lock);
	return module;
}

struct module *symbols_module(struct perfev_symbols *s, const char *name, const uint8_t *id, uint8_t id_size)
{
	const struct key key = {.name = name, .id = id, .id_size = id_size};

	return locked_find_or_add(s, &key);
}

struct module *symbols_bare_module(struct perfev_symbols *s, const char *name, uint64_t inode)
{
	const struct key key = {.name = name, .inode = inode};

	return locked_find_or_add(s, &key);
}

struct module *symbols_kernel_module(struct perfev_symbols *s, const char *name)
{
	const struct key key = {.name = name, .kernel = true};

	return locked_find_or_add(s, &key);
}

/* ---- what is known of them -------------------------------------------------------------------------------- */

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
	ret->debug_file = module->debug_file;
	ret->debug_why = module->dwarf && module->dwarf->why[0] ? module->dwarf->why : NULL;
	ret->build_id.data = module->build_id;
	ret->build_id.size = module->build_id_size;
	ret->symbol_count = (uint32_t)module->table.count;
	if (module_id == MODULE_KERNEL)
		ret->symbol_count = (uint32_t)symbols->kallsyms.table.count;
	return true;
}

/* Some recorders name the file that they have the kernel's symbols from, which no mapping is called. */
static bool is_kernel_file(const struct perfev_build_id *entry)
{
	return (entry->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL && entry->filename[0] == '/' &&
	       !strstr(entry->filename, ".ko");
}

/* With the lock: other threads may look for one. Return: 0, -ENOMEM. */
static int add_id(struct perfev_symbols *s, const char *name, const uint8_t *id, uint8_t id_size)
{
	struct recorded_id *ids = array_grow(s->ids, &s->id_room, s->id_count, sizeof(*ids));
	const char *kept = intern(&s->names, name);
	uint64_t *index;

	if (ids)
		s->ids = ids;
	index = ids && kept ? map_put(&s->id_of_name, (uintptr_t)kept, s->id_count) : NULL;
	if (!index)
		return -ENOMEM;
	*index = s->id_count; /* the last one counts */
	ids[s->id_count].size = id_size <= sizeof(ids->id) ? id_size : sizeof(ids->id);
	memcpy(ids[s->id_count].id, id, ids[s->id_count].size);
	s->id_count++;
	return 0;
}

int symbols_add_id(struct perfev_symbols *s, const char *name, const uint8_t *id, uint8_t id_size)
{
	int r;

	pthread_mutex_lock(&s->lock);
	r = add_id(s, name, id, id_size);
	pthread_mutex_unlock(&s->lock);
	return r;
}

int perfev_symbols_build_id(struct perfev_symbols *symbols, const struct perfev_build_id *entry,
			    struct perfev_error *err)
{
	const char *name = is_kernel_file(entry) ? SYMBOLS_KERNEL : entry->filename;

	return symbols_add_id(symbols, name, entry->id, entry->size) < 0 ? error_memory(err) : 0;
}

int perfev_symbols_recorded(struct perfev_symbols *symbols, const struct perfev_recorded_file *file, struct perfev_error *err)
{
	int r = symbols->symfs ? 0 : recorded_add(&symbols->recorded, file);

	return r == -ENOMEM ? error_memory(err) : 0;
}
