/* SPDX-License-Identifier: MIT */
/* The bytes of programs, out of the files that are mapped: those whose build-ids are the recorded ones, as for symbols. A
 * debug file has symbols, and no code. */
#include "symbols_base.h"

#include "base/error.h"

#include <errno.h>

/* The mapped file itself; NULL when it is not there. */
static const struct elf *file_of(const struct module *module)
{
	if (module->has_plain)
		return &module->plain;
	return module->has_elf && !module->debug_only ? &module->elf : NULL;
}

static int refuse(const struct perfev_place *place, const char *why, struct perfev_error *err)
{
	return error_set(err, -ENOENT, PERFEV_WHY_NOT_FOUND, place->ip, "cannot read the code at 0x%llx: %s",
			 (unsigned long long)place->ip, why);
}

int perfev_symbols_code(struct perfev_symbols *symbols, const struct perfev_place *place, void *to, size_t size,
			struct perfev_error *err)
{
	struct space_process *process = NULL;
	const struct mapping *mapping = NULL;
	struct module *module;
	const struct elf *elf;
	uint64_t offset, rest;

	if (place->cpumode != PERF_RECORD_MISC_USER)
		return refuse(place, "it is none of a program", err);
	process = spaces_find(&symbols->spaces, place->pid);
	if (process)
		mapping = space_find(&process->view, place->ip);
	if (!mapping)
		return refuse(place, "the recording has no mapping there", err);
	module = mapping->module;
	if (module_load(module, &symbols->places, true) < 0)
		return error_memory(err);
	elf = file_of(module);
	if (!elf)
		return refuse(place, module->why, err);
	offset = place->ip - mapping->start + mapping->offset;
	if (offset >= elf->source.size)
		return refuse(place, "the file ends before it", err);
	rest = elf->source.size - offset;
	if (rest > mapping->end - place->ip)
		rest = mapping->end - place->ip;
	if (rest > size)
		rest = size;
	if (rest > INT32_MAX)
		rest = INT32_MAX;
	memcpy(to, elf->source.data + offset, (size_t)rest);
	return (int)rest;
}
