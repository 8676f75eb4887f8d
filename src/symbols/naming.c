/* SPDX-License-Identifier: MIT */
/*
 * A symbol has one frame, and so has a function that was inlined, wherever that was, and a place without a name, unless its
 * module's are one. Frames are numbered as they are met, so that a caller can keep what it derives from a frame in an array.
 */
#include "naming.h"
#include "demangle.h"
#include "kernel_object.h"
#include "symbols_base.h"

#include "base/buffer.h"
#include "base/fetch.h"
#include "base/hash.h"
#include "base/large.h"
#include "base/noinline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

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

/* ---- places without a name ------------------------------------------------------------------------------------ */

static int grow_nameless(struct perfev_symbols *s)
{
	size_t size = s->nameless_size ? s->nameless_size * 2 : 1024, i, at;
	struct nameless_slot *slots = large_zeroed(size, sizeof(*slots));

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

static struct perfev_frame nameless_frame(const struct module *module, const struct located *at)
{
	struct perfev_frame frame = {NULL, module->name, at->address, at->in_file, at->flags | PERFEV_FRAME_UNRESOLVED,
				     module->number, 0, 0};

	return frame;
}

NOINLINE static int new_one(struct perfev_symbols *s, struct module *module, const struct located *at)
{
	struct perfev_frame frame = nameless_frame(module, at);
	uint32_t key;

	frame.address = 0;
	if (add_frame(s, &frame, &key) < 0)
		return -ENOMEM;
	module->nameless_key[at->kernel] = key + 1;
	return 0;
}

/* All places of the module are one. */
static inline int one_key(struct perfev_symbols *s, struct module *module, const struct located *at, uint32_t *key)
{
	if (!module->nameless_key[at->kernel] && new_one(s, module, at) < 0)
		return -ENOMEM;
	*key = module->nameless_key[at->kernel] - 1;
	return 0;
}

static inline struct nameless_slot *first_nameless(const struct perfev_symbols *s, uint32_t module, uint64_t address)
{
	return &s->nameless[(size_t)hash_pair(module, address) & (s->nameless_size - 1)];
}

/* Its slot, or the free one where it would be; there always is one. */
static inline struct nameless_slot *find_nameless(const struct perfev_symbols *s, uint32_t module, uint64_t address)
{
	struct nameless_slot *slot = first_nameless(s, module, address), *end = s->nameless + s->nameless_size;

	while (slot->key && (slot->module != module || slot->address != address))
		slot = slot + 1 == end ? s->nameless : slot + 1;
	return slot;
}

NOINLINE static int new_place(struct perfev_symbols *s, const struct module *module, const struct located *at, uint32_t *key)
{
	struct perfev_frame frame = nameless_frame(module, at);
	struct nameless_slot *slot;

	if (s->nameless_count * 2 >= s->nameless_size && grow_nameless(s) < 0)
		return -ENOMEM;
	if (add_frame(s, &frame, key) < 0)
		return -ENOMEM;
	slot = find_nameless(s, module->number, at->address);
	slot->address = at->address;
	slot->module = module->number;
	slot->key = *key + 1;
	s->nameless_count++;
	return 0;
}

static inline int place_key(struct perfev_symbols *s, const struct module *module, const struct located *at, uint32_t *key)
{
	const struct nameless_slot *slot = s->nameless ? find_nameless(s, module->number, at->address) : NULL;

	if (!slot || !slot->key)
		return new_place(s, module, at, key);
	*key = slot->key - 1;
	return 0;
}

/* A place of the kernel belongs to what was mapped there; where no mapping of the kernel was recorded, to the kernel, which
 * says why. */
NOINLINE static struct module *kernel_part(struct perfev_symbols *s, uint64_t ip)
{
	const struct mapping *mapping = s->kernel ? space_find(&s->kernel->view, ip) : NULL;

	return mapping ? mapping->module : s->fixed[s->kernel ? MODULE_UNKNOWN : MODULE_KERNEL];
}

/* What the file of a module of the kernel tells of a place in it, which is at @address there. */
static int look_into_object(struct perfev_symbols *s, struct located *own, struct module *module, uint64_t address, bool named,
			    bool inlined)
{
	long found;

	if (kernel_object_load(module, &s->places) < 0)
		return -ENOMEM;
	found = named ? -1 : table_find(&module->table, address);
	if (!named)
		own->symbol = 0;
	if (found >= 0) {
		own->kernel = false;
		own->address = address;
		own->symbol = (uint32_t)found + 1;
	}
	if (named || found >= 0)
		own->module = module;
	if (inlined && own->module == module && module_may_inline(module))
		module_inlined(module, &s->places, address, true, &own->inlined, &own->unit);
	return 0;
}

/*
 * kallsyms are those of one moment: a module that was gone by then is not in them, and another one may be where it was. What
 * was mapped is known: such a place is looked up in the module's file. What was inlined is only there.
 * @own: room for what is found there. Return: it, or @at; NULL without memory.
 */
NOINLINE static const struct located *in_object(struct perfev_symbols *s, const struct located *at, struct located *own, bool inlined)
{
	const struct symbol *symbol = at->symbol ? &s->kallsyms.table.items[at->symbol - 1] : NULL;
	const struct mapping *mapping = space_find(&s->kernel->view, at->in_file);
	bool named;

	if (!mapping || !mapping->module->path)
		return at;
	named = symbol && !strcmp(s->kallsyms.modules[symbol->module - 1], mapping->module->name);
	if (named && !inlined)
		return at;
	*own = *at;
	return look_into_object(s, own, mapping->module, at->in_file - mapping->start, named, inlined) < 0 ? NULL : own;
}

static inline bool may_be_in_object(const struct perfev_symbols *s, const struct located *at)
{
	return at->kernel && !at->function && s->kernel && (!at->symbol || s->kallsyms.table.items[at->symbol - 1].module);
}

static inline int nameless_key(struct perfev_symbols *s, const struct located *at, uint32_t *key)
{
	struct module *module = at->kernel ? kernel_part(s, at->in_file) : at->module;

	/* what is in no file has no places to tell apart */
	if (s->opts.coarse || module->number == MODULE_UNKNOWN)
		return one_key(s, module, at, key);
	return place_key(s, module, at, key);
}

/* ---- symbols -------------------------------------------------------------------------------------------------- */

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
	return intern(&s->shown, text);
}

/* Of a symbol of the kernel: the kernel, or one of its modules. */
static struct module *kernel_module(struct perfev_symbols *s, const struct symbol *symbol)
{
	struct module **known = &s->kernel_modules[symbol->module];

	if (!symbol->module)
		return s->fixed[MODULE_KERNEL];
	if (!*known) {
		*known = symbols_kernel_module(s, s->kallsyms.modules[symbol->module - 1]);
		if (*known)
			(*known)->loaded = true;
	}
	return *known;
}

static const struct symbol *symbol_of(const struct perfev_symbols *s, const struct located *at)
{
	const struct table *table = at->kernel ? &s->kallsyms.table : &at->module->table;

	return &table->items[at->symbol - 1];
}

NOINLINE static int new_symbol(struct perfev_symbols *s, const struct located *at, uint32_t *key)
{
	const struct symbol *symbol = symbol_of(s, at);
	const struct module *module =
		at->kernel ? kernel_module(s, symbol) : at->module;
	struct perfev_frame frame = {shown_name(s, symbol), NULL, symbol->start, 0, at->flags, 0, 0, 0};

	if (!module || !frame.symbol)
		return -ENOMEM;
	frame.module = module->name;
	frame.module_id = module->number;
	return add_frame(s, &frame, key);
}

static inline int symbol_key(struct perfev_symbols *s, const struct located *at, uint32_t *key)
{
	uint32_t *known = (at->kernel ? s->kernel_keys : at->module->keys) + (at->symbol - 1);

	if (*known) {
		*key = *known - 1;
		return 0;
	}
	if (new_symbol(s, at, key) < 0)
		return -ENOMEM;
	*known = *key + 1;
	return 0;
}

/* ---- code that came at run time, and what was inlined --------------------------------------------------------- */

static int function_key(struct perfev_symbols *s, const struct located *at, uint32_t *key)
{
	struct perfev_frame frame = {at->function->name, at->kernel ? "[bpf]" : at->module->name, at->function->start, 0, at->flags,
				     at->module->number, 0, 0};

	if (!at->function->key) {
		if (add_frame(s, &frame, key) < 0)
			return -ENOMEM;
		at->function->key = *key + 1;
	}
	*key = at->function->key - 1;
	return 0;
}

/* Of a call that was inlined; it may have no name. */
static int inlined_key(struct perfev_symbols *s, const struct located *at, struct dwarf_function *function, uint32_t *key)
{
	struct module *module = at->module;
	struct perfev_frame frame = {NULL, module->name, 0, 0, at->flags | PERFEV_FRAME_INLINED, module->number, 0, 0};
	const char *name;
	char text[4096];

	if (!function->key) {
		name = module_inlined_name(module, at->unit, function);
		if (name && !s->opts.raw_names && demangle(name, text, sizeof(text)))
			name = text;
		frame.symbol = intern(&s->shown, name && name[0] ? name : "[inlined]");
		if (!frame.symbol || add_frame(s, &frame, key) < 0)
			return -ENOMEM;
		function->key = *key + 1;
	}
	*key = function->key - 1;
	return 0;
}

/* ---- all of a place ------------------------------------------------------------------------------------------- */

static inline int outer_key(struct perfev_symbols *s, const struct located *at, uint32_t *key)
{
	if (at->symbol)
		return symbol_key(s, at, key);
	return at->function ? function_key(s, at, key) : nameless_key(s, at, key);
}

void naming_fetch(const struct perfev_symbols *s, const struct located *at)
{
	if (at->later)
		return;
	if (at->symbol)
		fetch((at->kernel ? s->kernel_keys : at->module->keys) + (at->symbol - 1));
	else if (!at->function && !at->kernel && s->nameless && at->module->number != MODULE_UNKNOWN)
		fetch(first_nameless(s, at->module->number, at->address));
}

int naming_keys(struct perfev_symbols *s, const struct located *at, uint32_t *ret, size_t max)
{
	struct dwarf_function *inlined;
	struct located own;
	int n = 0;

	if (may_be_in_object(s, at))
		at = in_object(s, at, &own, max > 1 && !s->opts.no_inline);
	if (!at)
		return -ENOMEM;
	for (inlined = at->inlined; inlined && inlined->parent && (size_t)n + 1 < max; inlined = &at->unit->functions[inlined->parent - 1])
		if (inlined_key(s, at, inlined, &ret[n++]) < 0)
			return -ENOMEM;
	return outer_key(s, at, &ret[n]) < 0 ? -ENOMEM : n + 1;
}

static int outer_frame(struct perfev_symbols *s, const struct located *at, struct perfev_frame *ret)
{
	uint32_t key;

	if (outer_key(s, at, &key) < 0)
		return -ENOMEM;
	*ret = s->frames[key];
	ret->file_offset = at->in_file;
	if (at->symbol || at->function)
		ret->offset = (uint32_t)(at->address - ret->address);
	if (at->nowhere)
		ret->address = at->address;
	return 1;
}

int naming_frames(struct perfev_symbols *s, const struct located *at, struct perfev_frame *ret, size_t max)
{
	struct dwarf_function *inlined;
	struct located own;
	uint32_t key;
	int n = 0;

	if (may_be_in_object(s, at))
		at = in_object(s, at, &own, max > 1 && !s->opts.no_inline);
	if (!at)
		return -ENOMEM;
	for (inlined = at->inlined; inlined && inlined->parent && (size_t)n + 1 < max; inlined = &at->unit->functions[inlined->parent - 1]) {
		if (inlined_key(s, at, inlined, &key) < 0)
			return -ENOMEM;
		ret[n] = s->frames[key];
		ret[n++].file_offset = at->in_file;
	}
	return outer_frame(s, at, &ret[n]) < 0 ? -ENOMEM : n + 1;
}
