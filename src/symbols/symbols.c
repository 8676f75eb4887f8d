/* SPDX-License-Identifier: MIT */
/*
 * From addresses to names: a place is located (locate.c), and what is there gets its frame (naming.c).
 */
#include "dwarf_line.h"
#include "kernel_object.h"
#include "known.h"
#include "naming.h"
#include "symbols_base.h"

#include "base/noinline.h"
#include "base/error.h"
#include "base/opts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

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
		[MODULE_KERNEL] = SYMBOLS_KERNEL,
		[MODULE_HYPERVISOR] = "[hypervisor]",
		[MODULE_GUEST] = "[guest]",
	};
	static const char *const whys[MODULE_FIXED] = {
		[MODULE_UNKNOWN] = "the recording has no mapping at these addresses",
		[MODULE_KERNEL] = "",
		[MODULE_HYPERVISOR] = "the hypervisor's symbols are not known",
		[MODULE_GUEST] = "the guest's symbols are not known",
	};
	uint32_t i;

	for (i = 0; i < MODULE_FIXED; i++) {
		s->fixed[i] = symbols_module(s, names[i], NULL, 0);
		if (!s->fixed[i])
			return -ENOMEM;
		s->fixed[i]->loaded = true;
		s->fixed[i]->kernel = i == MODULE_KERNEL;
		snprintf(s->fixed[i]->why, sizeof(s->fixed[i]->why), "%s", whys[i]);
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
	s = aligned_alloc(_Alignof(struct perfev_symbols), sizeof(*s));
	if (!s)
		return error_memory(err);
	memset(s, 0, sizeof(*s));
	s->opts = full;
	s->symfs = copy_text(full.symfs);
	s->kallsyms_path = copy_text(full.kallsyms);
	s->vmlinux = copy_text(full.vmlinux);
	s->release = copy_text(full.release);
	s->cache = copy_text(full.cache);
	s->proc = copy_text(full.proc);
	s->places.symfs = s->symfs;
	s->places.cache = s->cache;
	s->places.proc = s->proc;
	s->places.vmlinux = s->vmlinux;
	s->places.release = s->release;
	s->places.debuginfod = full.debuginfod;
	s->places.recorded = &s->recorded;
	s->now = UINT64_MAX;
	pthread_mutex_init(&s->kernel_lock, NULL);
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->naming_lock, NULL);
	s->locator = locator_new(s);
	if (!s->locator || (full.symfs && !s->symfs) || (full.kallsyms && !s->kallsyms_path) ||
	    (full.vmlinux && !s->vmlinux) || (full.release && !s->release) || (full.cache && !s->cache) || (full.proc && !s->proc) ||
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
	interner_free(&symbols->shown);
	free(symbols->modules);
	free(symbols->module_slots);
	free(symbols->ids);
	recorded_free(&symbols->recorded);
	buffer_free(&symbols->kernel_text);
	map_free(&symbols->id_of_name);
	free(symbols->frames);
	free(symbols->nameless);
	locator_free(symbols->locator);
	pthread_mutex_destroy(&symbols->kernel_lock);
	pthread_mutex_destroy(&symbols->lock);
	pthread_mutex_destroy(&symbols->naming_lock);
	free(symbols->kernel_keys);
	free(symbols->kernel_modules);
	functions_free(&symbols->ksymbols);
	for (jit = symbols->jits; jit; jit = next) {
		next = jit->next;
		jit_free(jit);
	}
	free(symbols->symfs);
	free(symbols->kallsyms_path);
	free(symbols->vmlinux);
	free(symbols->release);
	free(symbols->cache);
	free(symbols->proc);
	free(symbols);
}

/* ---- finding --------------------------------------------------------------------------------------------------- */

/* Code that was compiled by the process. Return: 1, 0 it is none, -ENOMEM. */
static int locate_jit(struct perfev_symbols *s, struct jit *jit, uint64_t ip, struct located *ret)
{
	int r;

	located_begin(ret);
	pthread_mutex_lock(&s->lock);
	r = jit_advance(jit, s->now, &s->names);
	pthread_mutex_unlock(&s->lock);
	if (r < 0)
		return -ENOMEM;
	ret->function = functions_find(&jit->functions, ip);
	ret->module = jit->module;
	ret->in_file = ret->address = ip;
	return ret->function != NULL;
}

int symbols_locate(struct perfev_symbols *s, const struct perfev_place *place, bool inlined, struct located *ret)
{
	struct space_process *process;
	int r;

	if (place->cpumode != PERF_RECORD_MISC_USER)
		return locate(s->locator, ret, NULL, place->ip, place->cpumode, inlined ? LOCATE_INLINED : LOCATE_PLAIN);
	process = symbols_process(s, place->pid);
	if (!process)
		return -ENOMEM;
	r = process->jit ? locate_jit(s, process->jit, place->ip, ret) : 0;
	return r ? r : locate(s->locator, ret, &process->view, place->ip, place->cpumode, inlined ? LOCATE_INLINED : LOCATE_PLAIN);
}

static int find(struct perfev_symbols *s, const struct perfev_place *place, struct perfev_frame *ret, size_t max)
{
	struct located at;

	if (symbols_locate(s, place, max > 1 && !s->opts.no_inline, &at) < 0)
		return -ENOMEM;
	return naming_frames(s, &at, ret, max);
}

int perfev_symbols_find(struct perfev_symbols *symbols, const struct perfev_place *place,
			struct perfev_frame *ret, size_t max, struct perfev_error *err)
{
	int r;

	if (max == 1 && known_frame(symbols, place, ret))
		return 1;
	r = max ? find(symbols, place, ret, max) : 0;
	return r < 0 ? error_memory(err) : r;
}

bool perfev_symbols_frame(const struct perfev_symbols *symbols, uint32_t key, struct perfev_frame *ret)
{
	if (key >= symbols->frame_count)
		return false;
	*ret = symbols->frames[key];
	return true;
}

bool perfev_symbols_mapped(struct perfev_symbols *symbols, const struct perfev_place *place, uint64_t *ret)
{
	bool kernel = place->cpumode == PERF_RECORD_MISC_KERNEL;
	struct space_process *process = kernel					    ? symbols->kernel
					: place->cpumode == PERF_RECORD_MISC_USER ? symbols_process(symbols, place->pid)
										    : NULL;
	const struct mapping *mapping = process ? space_find(&process->view, place->ip) : NULL;

	*ret = place->ip;
	if (!mapping)
		return false;
	*ret -= mapping->start;
	if (!kernel) /* whose mappings keep their addresses as offsets */
		*ret += mapping->offset;
	return true;
}

/* ---- lines --------------------------------------------------------------------------------------------------- */

static int put_source(struct perfev_symbols *s, struct dwarf *dwarf, struct dwarf_unit *unit, uint32_t file, uint32_t line,
		      struct perfev_source *ret)
{
	const char *full = file < unit->file_count ? unit->files[file].full : NULL;
	char text[4096];

	if (!full) {
		dwarf_file_name(dwarf, unit, file, text, sizeof(text));
		full = intern(&s->shown, text);
		if (file < unit->file_count)
			unit->files[file].full = full;
	}
	ret->file = full;
	ret->line = line;
	ret->reserved = 0;
	return ret->file ? 0 : -ENOMEM;
}

static int find_source(struct perfev_symbols *s, struct module *module, uint64_t address, struct perfev_source *ret, size_t max)
{
	struct dwarf *dwarf = module->dwarf;
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

/* The same of the kernel and its modules. */
static int kernel_module_of(struct perfev_symbols *s, uint64_t ip, struct module **module, uint64_t *address)
{
	const struct mapping *mapping = s->kernel ? space_find(&s->kernel->view, ip) : NULL;
	int r;

	*address = ip;
	*module = s->fixed[MODULE_KERNEL];
	if (!mapping || !mapping->module->path) {
		r = symbols_kernel(s, true);
	} else {
		*module = mapping->module;
		*address = ip - mapping->start;
		r = kernel_object_load(*module, &s->places);
	}
	return r < 0 ? r : 1;
}

/* Where debug information may tell of a place, and its address there. Return: 1, 0 nowhere, -ENOMEM. */
static int module_of(struct perfev_symbols *s, const struct perfev_place *place, struct module **module, uint64_t *address)
{
	struct space_process *process;
	const struct mapping *mapping;
	int r;

	if (place->cpumode == PERF_RECORD_MISC_KERNEL)
		return kernel_module_of(s, place->ip, module, address);
	process = place->cpumode == PERF_RECORD_MISC_USER ? symbols_process(s, place->pid) : NULL;
	mapping = process ? space_find(&process->view, place->ip) : NULL;
	if (!mapping)
		return 0;
	*module = mapping->module;
	r = module_load(*module, &s->places, true);
	*address = module_address(*module, locate_in_file(*module, mapping, place->ip));
	return r < 0 ? r : 1;
}

int perfev_symbols_source(struct perfev_symbols *symbols, const struct perfev_place *place, struct perfev_source *ret,
			  size_t max, struct perfev_error *err)
{
	struct module *module;
	uint64_t address;
	int r = max ? module_of(symbols, place, &module, &address) : 0;

	if (r <= 0)
		return r < 0 ? error_memory(err) : 0;
	module_dwarf(module, &symbols->places, &address);
	pthread_mutex_lock(&module->lock);
	r = find_source(symbols, module, address, ret, max);
	pthread_mutex_unlock(&module->lock);
	return r < 0 ? error_memory(err) : r;
}

NOINLINE static const char *number_as_name(struct perfev_symbols *symbols, int32_t tid)
{
	const char *name;
	char text[16];

	snprintf(text, sizeof(text), ":%d", tid);
	name = symbols_name(symbols, text);
	return name ? name : "";
}

const char *perfev_symbols_comm(struct perfev_symbols *symbols, int32_t pid, int32_t tid)
{
	const struct space_process *process = symbols_process(symbols, pid);
	const char *comm = process ? space_comm(process, tid) : NULL;

	if (!comm && process && tid != pid)
		comm = space_comm(process, pid);
	return comm ? comm : perfev_symbols_thread_comm(symbols, pid, tid);
}

const char *perfev_symbols_thread_comm(struct perfev_symbols *symbols, int32_t pid, int32_t tid)
{
	const struct space_process *process = symbols_process(symbols, pid);
	const char *comm = process ? space_comm(process, tid) : NULL;

	if (comm)
		return comm;
	return tid == 0 ? "swapper" /* each CPU's idle task, which no record names */ : number_as_name(symbols, tid);
}
