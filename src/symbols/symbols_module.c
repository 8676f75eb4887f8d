/* SPDX-License-Identifier: MIT */
/*
 * The list of modules, and the two that are no files: the kernel, whose symbols are in kallsyms, and the
 * vdso, which every process of this kernel has in its memory.
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

static bool is_module(const struct module *module, const char *name, const uint8_t *id,
		      uint8_t id_size)
{
	uint8_t own = module->recorded_id ? module->build_id_size : 0;

	return own == id_size && !strcmp(module->name, name) &&
	       (!id_size || !memcmp(module->build_id, id, id_size));
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

/* What the BUILD_ID section says of a file, when its mapping does not. */
static const struct recorded_id *find_id(struct perfev_symbols *s, const char *name)
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

static struct module *new_module(uint32_t number, const char *name, const uint8_t *id, uint8_t id_size)
{
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
	if (id_size) {
		memcpy(module->build_id, id, id_size);
		module->build_id_size = id_size;
		module->recorded_id = true;
	}
	return module;
}

/* @inode: not 0: it has no build-id, whatever others of that name have. */
static struct module *find_or_add(struct perfev_symbols *s, const char *name, const uint8_t *id, uint8_t id_size, uint64_t inode)
{
	const struct recorded_id *recorded = id_size || inode ? NULL : find_id(s, name);
	struct module **modules, *module;
	size_t at;

	if (recorded) {
		id = recorded->id;
		id_size = recorded->size;
	}
	if (s->module_count * 2 >= s->module_slot_count && grow_slots(s) < 0)
		return NULL;
	at = module_hash(name, id, id_size) & (s->module_slot_count - 1);
	for (; s->module_slots[at]; at = (at + 1) & (s->module_slot_count - 1))
		if (is_module(s->modules[s->module_slots[at] - 1], name, id, id_size) &&
		    s->modules[s->module_slots[at] - 1]->bare_inode == inode)
			return s->modules[s->module_slots[at] - 1];
	modules = array_grow(s->modules, &s->module_room, s->module_count, sizeof(*modules));
	if (!modules)
		return NULL;
	s->modules = modules;
	module = new_module((uint32_t)s->module_count, name, id, id_size);
	if (!module)
		return NULL;
	module->bare_inode = inode;
	modules[s->module_count++] = module;
	s->module_slots[at] = (uint32_t)s->module_count;
	if (!s->symfs && (!s->opts.foreign || id_size))
		vdso_take(module);
	return module;
}

struct module *symbols_module(struct perfev_symbols *s, const char *name, const uint8_t *id, uint8_t id_size)
{
	struct module *module;

	pthread_mutex_lock(&s->lock);
	module = find_or_add(s, name, id, id_size, 0);
	pthread_mutex_unlock(&s->lock);
	return module;
}

struct module *symbols_bare_module(struct perfev_symbols *s, const char *name, uint64_t inode)
{
	struct module *module;

	pthread_mutex_lock(&s->lock);
	module = find_or_add(s, name, NULL, 0, inode);
	pthread_mutex_unlock(&s->lock);
	return module;
}

int symbols_kernel_path(struct perfev_symbols *s, struct module *module, const char *path)
{
	const struct recorded_id *id = find_id(s, path);

	module->loaded = true;
	module->kernel = true;
	module->path = intern(&s->names, path);
	if (id) {
		memcpy(module->build_id, id->id, id->size);
		module->build_id_size = id->size;
	}
	return module->path ? 0 : -ENOMEM;
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

static const char kernel_name[] = "[kernel.kallsyms]";

/* Some recorders name the file that they have the kernel's symbols from, which no mapping is called. */
static bool is_kernel_file(const struct perfev_build_id *entry)
{
	return (entry->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL && entry->filename[0] == '/' &&
	       !strstr(entry->filename, ".ko");
}

int perfev_symbols_build_id(struct perfev_symbols *symbols, const struct perfev_build_id *entry,
			    struct perfev_error *err)
{
	struct recorded_id *ids =
		array_grow(symbols->ids, &symbols->id_room, symbols->id_count, sizeof(*ids));
	const char *name = intern(&symbols->names, is_kernel_file(entry) ? kernel_name : entry->filename);
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

int perfev_symbols_recorded(struct perfev_symbols *symbols, const struct perfev_recorded_file *file, struct perfev_error *err)
{
	int r = symbols->symfs ? 0 : recorded_add(&symbols->recorded, file);

	return r == -ENOMEM ? error_memory(err) : 0;
}

/* ---- the kernel ------------------------------------------------------------------------------------------ */

static void kernel_why(struct perfev_symbols *s, const char *why)
{
	snprintf(s->fixed[MODULE_KERNEL]->why, sizeof(s->fixed[MODULE_KERNEL]->why), "%s", why);
}

/* Whether this machine runs the kernel that was recorded, as far as build-ids tell: 1, 0, or -1 when
 * they do not. */
static int same_kernel(struct perfev_symbols *s)
{
	const struct recorded_id *recorded;
	uint8_t id[20];
	int size;

	pthread_mutex_lock(&s->lock);
	recorded = find_id(s, kernel_name);
	pthread_mutex_unlock(&s->lock);
	if (!recorded)
		return -1;
	size = perfev_build_id_read(id, "/sys/kernel/notes", NULL);
	if (size <= 0)
		return -1;
	return size == recorded->size && !memcmp(id, recorded->id, (size_t)size);
}

static bool may_use_own(struct perfev_symbols *s, int same)
{
	if (same == 0)
		kernel_why(s, "this machine runs another kernel than the recorded one; give its symbols with "
			      "--kallsyms FILE");
	else if (same < 0 && s->opts.foreign)
		kernel_why(s, "recorded on another machine or kernel; give its symbols with --kallsyms FILE");
	else
		return true;
	return false;
}

/* The kernel is put at another address at each boot: recorded minus ours, as one of its symbols tells. */
static bool place_kernel(struct perfev_symbols *s, bool own, int same)
{
	uint64_t ours = s->kernel_ref_stext ? s->kallsyms.ref_stext : s->kallsyms.ref_text;

	if (!s->kernel_ref || !ours)
		return true;
	s->kernel_delta = s->kernel_ref - ours;
	if (!s->kernel_delta || !own || same > 0)
		return true;
	kernel_why(s, "the kernel is at another address than when this was recorded, and no build-id tells "
		      "that it is the same; give its symbols with --kallsyms FILE");
	return false;
}

static int make_kernel_keys(struct perfev_symbols *s)
{
	s->kernel_keys = calloc(s->kallsyms.table.count + 1, sizeof(*s->kernel_keys));
	s->kernel_modules = calloc(s->kallsyms.module_count + 1, sizeof(*s->kernel_modules));
	if (s->kernel_keys && s->kernel_modules)
		return 0;
	kallsyms_free(&s->kallsyms); /* what has no keys is not asked */
	return -ENOMEM;
}

/* By what the recording says: all symbols, or those of the places that were sampled. Return: 1, 0 it says nothing, -ENOMEM. */
static int load_recorded_kernel(struct perfev_symbols *s)
{
	const struct perfev_recorded_file *file = recorded_find(&s->recorded, NULL);
	int r = -ENOENT;

	if (s->kernel_text.size) {
		r = kallsyms_take(&s->kallsyms, s->kernel_text.data, s->kernel_text.size);
	} else if (file) {
		r = kallsyms_recorded(&s->kallsyms, file);
		if (file->min_address && s->kernel_start) /* its symbols are where it was linked for */
			s->kernel_delta = s->kernel_start - file->min_address;
	}
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	kernel_why(s, "the recording has no symbol that covers the address");
	r = make_kernel_keys(s);
	return r < 0 ? r : 1;
}

static int load_kernel(struct perfev_symbols *s)
{
	const char *path = s->kallsyms_path ? s->kallsyms_path : "/proc/kallsyms";
	bool own = !s->kallsyms_path;
	int same, r;

	same = same_kernel(s);
	if (own && same <= 0) {
		r = load_recorded_kernel(s);
		if (r)
			return r < 0 ? r : 0;
	}
	kernel_why(s, "no symbol covers the address");
	if (own && !may_use_own(s, same))
		return 0;
	r = kallsyms_load(&s->kallsyms, path);
	if (r == -ENOMEM)
		return r;
	if (r == -ENODATA)
		kernel_why(s, "kernel addresses are hidden from this user (kernel.kptr_restrict, "
			      "perf_event_paranoid); run as root");
	else if (r < 0)
		snprintf(s->fixed[MODULE_KERNEL]->why, sizeof(s->fixed[MODULE_KERNEL]->why),
			 "%.100s cannot be read: %s", path, strerror(-r));
	if (r < 0)
		return 0;
	if (!place_kernel(s, own, same)) {
		kallsyms_free(&s->kallsyms);
		return 0;
	}
	return make_kernel_keys(s);
}

int symbols_kernel(struct perfev_symbols *s, bool wait)
{
	int r = 0;

	if (s->kernel_loaded)
		return 0;
	if (!wait && pthread_mutex_trylock(&s->kernel_lock))
		return -EAGAIN;
	if (wait)
		pthread_mutex_lock(&s->kernel_lock);
	s->kernel_loading = true;
	if (!s->kernel_loaded)
		r = load_kernel(s);
	s->kernel_loaded = true;
	s->kernel_loading = false;
	pthread_mutex_unlock(&s->kernel_lock);
	return r;
}
