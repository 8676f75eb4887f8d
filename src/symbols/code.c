/* SPDX-License-Identifier: MIT */
/*
 * The bytes of programs, out of the files that are mapped: those whose build-ids are the recorded ones, as for symbols. A
 * debug file has symbols, and no code. Those of the kernel are in its memory, with all that it changes in its code; else its
 * image has them as they were linked.
 */
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

static int open_kcore(struct perfev_symbols *symbols)
{
	int r = 0;

	pthread_mutex_lock(&symbols->kernel_lock);
	if (!symbols->kcore_tried && symbols->kcore_path)
		r = kcore_open(&symbols->kcore, symbols->kcore_path);
	if (r < 0)
		kcore_close(&symbols->kcore);
	symbols->kcore_tried = true;
	pthread_mutex_unlock(&symbols->kernel_lock);
	return r == -ENOMEM ? r : 0;
}

/* Out of the image, which is somewhere else at each boot. */
static int image_code(struct perfev_symbols *symbols, uint64_t ip, void *to, size_t size)
{
	struct module *module = symbols->fixed[MODULE_KERNEL];
	struct elf_segment segment;
	uint64_t at, rest;
	uint32_t i;

	if (!symbols->vmlinux || symbols_kernel(symbols, true) < 0 || module_open_image(module) <= 0 || module->debug_only)
		return -ENOENT;
	for (i = 0; elf_segment(&module->elf, i, &segment); i++) {
		at = ip - symbols->kernel_delta - segment.address;
		if (segment.type != ELF_LOAD || at >= segment.file_size || segment.offset > module->elf.source.size ||
		    at >= module->elf.source.size - segment.offset)
			continue;
		rest = segment.file_size - at;
		if (rest > module->elf.source.size - segment.offset - at)
			rest = module->elf.source.size - segment.offset - at;
		size = size < rest ? size : (size_t)rest;
		memcpy(to, module->elf.source.data + segment.offset + at, size);
		return (int)size;
	}
	return -ENOENT;
}

static int kernel_code(struct perfev_symbols *symbols, const struct perfev_place *place, void *to, size_t size,
		       struct perfev_error *err)
{
	int r = open_kcore(symbols);

	if (size > INT32_MAX)
		size = INT32_MAX;
	if (r == 0)
		r = kcore_read(&symbols->kcore, place->ip, to, size);
	if (r <= 0 && r != -ENOMEM)
		r = image_code(symbols, place->ip, to, size);
	if (r == -ENOMEM)
		return error_memory(err);
	return r > 0 ? r : refuse(place, "the kernel's memory (kcore) and image (vmlinux) are not known, or do not have it", err);
}

int perfev_symbols_code(struct perfev_symbols *symbols, const struct perfev_place *place, void *to, size_t size,
			struct perfev_error *err)
{
	struct space_process *process = NULL;
	const struct mapping *mapping = NULL;
	struct module *module;
	const struct elf *elf;
	uint64_t offset, rest;

	if (place->cpumode == PERF_RECORD_MISC_KERNEL)
		return kernel_code(symbols, place, to, size, err);
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
