/* SPDX-License-Identifier: MIT */
/*
 * The kernel, which is no file that is mapped. Its names are in kallsyms: of the recording, of this machine when it runs that
 * kernel, or of perf's cache; else they are, and its debug information always is, in the image that it was linked as
 * (vmlinux), wherever one has its build-id.
 *
 * It is put at another address at each boot: by how much tells one of its symbols, whose address was recorded.
 */
#include "elf_symbols.h"
#include "symbols_base.h"

#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static void kernel_why(struct perfev_symbols *s, const char *why)
{
	snprintf(s->fixed[MODULE_KERNEL]->why, sizeof(s->fixed[MODULE_KERNEL]->why), "%s", why);
}

int symbols_kernel_path(struct perfev_symbols *s, struct module *module, const char *path)
{
	const struct recorded_id *id;

	pthread_mutex_lock(&s->lock);
	id = symbols_recorded_id(s, path);
	module->loaded = true;
	module->path = intern(&s->names, path);
	if (id) {
		memcpy(module->build_id, id->id, id->size);
		module->build_id_size = id->size;
	}
	pthread_mutex_unlock(&s->lock);
	return module->path ? 0 : -ENOMEM;
}

/* ---- which kernel ------------------------------------------------------------------------------------------------- */

/* Whether this machine runs the kernel that was recorded, as far as build-ids tell: 1, 0, or -1 when they do not. Its
 * build-id is the recorded one; where none was, it is that of this machine's, if that may be it. */
static int identify(struct perfev_symbols *s)
{
	struct module *module = s->fixed[MODULE_KERNEL];
	const struct recorded_id *recorded;
	uint8_t id[20];
	int size = perfev_build_id_read(id, "/sys/kernel/notes", NULL);

	pthread_mutex_lock(&s->lock);
	recorded = symbols_recorded_id(s, SYMBOLS_KERNEL);
	if (recorded) {
		module->build_id_size = recorded->size;
		memcpy(module->build_id, recorded->id, sizeof(recorded->id));
	} else if (!s->opts.foreign && size > 0) {
		module->build_id_size = (uint8_t)size;
		memcpy(module->build_id, id, (size_t)size);
	}
	pthread_mutex_unlock(&s->lock);
	if (!recorded || size <= 0)
		return -1;
	return size == recorded->size && !memcmp(id, recorded->id, (size_t)size);
}

static bool may_use_own(struct perfev_symbols *s, int same)
{
	if (same == 0)
		kernel_why(s, "this machine runs another kernel than the recorded one; give its symbols with "
			      "--kallsyms FILE or --vmlinux FILE");
	else if (same < 0 && s->opts.foreign)
		kernel_why(s, "recorded on another machine or kernel; give its symbols with --kallsyms FILE or --vmlinux FILE");
	else
		return true;
	return false;
}

/* Recorded minus ours, as one of its symbols tells. */
static bool place_kernel(struct perfev_symbols *s, bool own, int same)
{
	uint64_t ours = s->kernel_ref_stext ? s->kallsyms.ref_stext : s->kallsyms.ref_text;

	if (!s->kernel_ref || !ours)
		return true;
	s->kernel_delta = s->kernel_ref - ours;
	if (!s->kernel_delta || !own || same > 0)
		return true;
	kernel_why(s, "the kernel is at another address than when this was recorded, and no build-id tells "
		      "that it is the same; give its symbols with --kallsyms FILE or --vmlinux FILE");
	return false;
}

/* ---- names ---------------------------------------------------------------------------------------------------------- */

static int make_kernel_keys(struct perfev_symbols *s)
{
	s->kernel_keys = calloc(s->kallsyms.table.count + 1, sizeof(*s->kernel_keys));
	s->kernel_modules = calloc(s->kallsyms.module_count + 1, sizeof(*s->kernel_modules));
	if (s->kernel_keys && s->kernel_modules)
		return 0;
	kallsyms_free(&s->kallsyms); /* what has no keys is not asked */
	return -ENOMEM;
}

/* All that follow: 1 it has names now, 0 not, -ENOMEM. */
static int with_names(struct perfev_symbols *s, const char *why)
{
	int r = make_kernel_keys(s);

	kernel_why(s, why);
	return r < 0 ? r : 1;
}

/* By what the recording says: all symbols, or those of the places that were sampled. */
static int load_recorded(struct perfev_symbols *s)
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
	return with_names(s, "the recording has no symbol that covers the address");
}

static int load_text(struct perfev_symbols *s, const char *path, bool own, int same)
{
	char why[256];
	int r = kallsyms_load(&s->kallsyms, path);

	if (r == -ENOMEM)
		return r;
	if (r == -ENODATA)
		snprintf(why, sizeof(why), "%s", "kernel addresses are hidden from this user (kernel.kptr_restrict, "
						 "perf_event_paranoid); run as root");
	else if (r == -EINVAL)
		snprintf(why, sizeof(why), "%.100s is no list of the kernel's symbols, as /proc/kallsyms is", path);
	else if (r < 0)
		snprintf(why, sizeof(why), "%.100s cannot be read: %s", path, strerror(-r));
	if (r < 0) {
		kernel_why(s, why);
		return 0;
	}
	if (!place_kernel(s, own, same)) {
		kallsyms_free(&s->kallsyms);
		return 0;
	}
	return with_names(s, "no symbol covers the address");
}

/* perf record puts the kernel's symbols into its cache, beside files. */
static int load_cached(struct perfev_symbols *s)
{
	const char *const folders[] = {s->cache, s->symfs};
	struct kallsyms found;
	char path[SEARCH_PATH];
	size_t i;
	int r;

	for (i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		if (!folders[i] || !search_cached(s->fixed[MODULE_KERNEL]->search.id, s->fixed[MODULE_KERNEL]->search.id_size,
						  folders[i], "/kallsyms", path))
			continue;
		r = kallsyms_load(&found, path);
		if (r == -ENOMEM)
			return r;
		if (r < 0)
			continue;
		s->kallsyms = found;
		place_kernel(s, false, 1);
		return with_names(s, "no symbol covers the address");
	}
	return 0;
}

static int load_image(struct perfev_symbols *s)
{
	struct module *module = s->fixed[MODULE_KERNEL];
	int r = module_open_image(module);

	if (r <= 0)
		return r;
	r = kallsyms_image(&s->kallsyms, &module->elf);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	place_kernel(s, false, 1);
	return with_names(s, "no symbol covers the address");
}

/* What was looked at, and not used, behind why there are no names. */
static void add_refused(struct perfev_symbols *s)
{
	struct module *module = s->fixed[MODULE_KERNEL];
	size_t used = strlen(module->why);

	if (module->search.refused[0])
		snprintf(module->why + used, sizeof(module->why) - used, "; not used: %s", module->search.refused);
}

static int find_names(struct perfev_symbols *s, int same)
{
	int r;

	if (s->kallsyms_path)
		return load_text(s, s->kallsyms_path, false, same);
	r = s->places.vmlinux ? load_image(s) : 0;
	if (r == 0 && same <= 0)
		r = load_recorded(s);
	if (r == 0 && may_use_own(s, same))
		r = load_text(s, "/proc/kallsyms", true, same);
	if (r == 0)
		r = load_cached(s);
	if (r == 0 && !s->places.vmlinux)
		r = load_image(s);
	if (r == 0)
		add_refused(s);
	return r;
}

static int load_kernel(struct perfev_symbols *s)
{
	struct module *module = s->fixed[MODULE_KERNEL];
	int r, same = identify(s);

	module_set_image(module, &s->places);
	r = find_names(s, same);
	module->image_ref_stext = s->kernel_ref && s->kernel_ref_stext;
	module->image_ref = s->kernel_ref ? s->kernel_ref : s->kallsyms.ref_text;
	return r < 0 ? r : 0;
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
