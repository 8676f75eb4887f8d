/* SPDX-License-Identifier: MIT */
/*
 * A recording asks for the same places again and again: most of what perfev_symbols_find() says was said before. Here is the short
 * way to it, through what locating and naming remember, and nothing that has to be read, searched or made on it.
 *
 * Invariant: what is found here is what locate() and naming_frames() would find; where one of them would change anything, or has
 * another place to look first, nothing is found.
 */
#include "known.h"
#include "locate_base.h"
#include "symbols_base.h"

/* The frame of that key + 1, with what belongs to the place. */
static inline bool put_frame(const struct perfev_symbols *s, struct perfev_frame *ret, uint32_t key, uint64_t in_file)
{
	if (!key)
		return false;
	*ret = s->frames[key - 1];
	ret->file_offset = in_file;
	return true;
}

static inline bool put_symbol(const struct perfev_symbols *s, struct perfev_frame *ret, uint32_t key, uint64_t in_file,
			      uint64_t address)
{
	if (!put_frame(s, ret, key, in_file))
		return false;
	ret->offset = (uint32_t)(address - ret->address);
	return true;
}

static bool known_kernel(struct perfev_symbols *s, uint64_t ip, struct perfev_frame *ret)
{
	const struct piece_slot *piece;
	uint64_t address;

	if (!s->kernel_loaded || (s->ksymbols.count && functions_find(&s->ksymbols, ip)))
		return false;
	address = ip - s->kernel_delta;
	piece = piece_of(s->locator, MODULE_KERNEL + 1, address);
	if (!piece_has(piece, MODULE_KERNEL + 1, address) || !piece->symbol)
		return false;
	return put_symbol(s, ret, s->kernel_keys[piece->symbol - 1], ip, address);
}

static bool known_nowhere(const struct perfev_symbols *s, uint64_t ip, struct perfev_frame *ret)
{
	if (!put_frame(s, ret, s->fixed[MODULE_UNKNOWN]->nameless_key[0], ip))
		return false;
	ret->address = ip;
	return true;
}

static inline bool known_mapped(struct perfev_symbols *s, const struct mapping *mapping, uint64_t ip, struct perfev_frame *ret)
{
	const struct module *module = mapping->module;
	const struct piece_slot *piece;
	uint64_t in_file, address;

	if (!module->loaded)
		return false;
	in_file = locate_in_file(module, mapping, ip);
	if (module->table.count) {
		address = module_address(module, in_file);
		piece = piece_of(s->locator, module->number + 1, address);
		if (!piece_has(piece, module->number + 1, address))
			return false;
		if (piece->symbol)
			return put_symbol(s, ret, module->keys[piece->symbol - 1], in_file, address);
	}
	return put_frame(s, ret, module->nameless_key[0], in_file); /* there is none where they are told apart */
}

bool known_frame(struct perfev_symbols *s, const struct perfev_place *place, struct perfev_frame *ret)
{
	struct space_process *process;
	const struct mapping *mapping;

	if (place->cpumode == PERF_RECORD_MISC_KERNEL)
		return known_kernel(s, place->ip, ret);
	process = place->cpumode == PERF_RECORD_MISC_USER ? symbols_process(s, place->pid) : NULL;
	if (!process || process->jit)
		return false;
	mapping = space_find(&process->view, place->ip);
	if (!mapping)
		return known_nowhere(s, place->ip, ret);
	return !process->view.list && known_mapped(s, mapping, place->ip, ret);
}
