/* SPDX-License-Identifier: MIT */
/* What records tell about address spaces. */
#include "symbols_base.h"
#include "vdso.h"

#include "base/noinline.h"
#include "base/buffer.h"
#include "base/error.h"

#include <perfev/reader.h>
#include <perfev/user_record.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define KALLSYMS_MAX (256u << 20)
#define MONOTONIC 1 /* CLOCK_MONOTONIC of Linux */

/* "/lib/modules/6.1/kernel/fs/ext-4.ko.xz" is called "[ext_4]", as kallsyms calls it. */
static void module_name(char *to, size_t size, const char *path)
{
	const char *base = strrchr(path, '/');
	size_t n, i;

	base = path[0] == '[' || !base ? path : base + 1;
	n = path[0] == '[' ? strlen(base) : strcspn(base, ".");
	if (path[0] == '[') {
		snprintf(to, size, "%.*s", (int)(n < size ? n : size - 1), base);
		return;
	}
	snprintf(to, size, "[%.*s]", (int)(n < size - 3 ? n : size - 3), base);
	for (i = 0; to[i]; i++)
		if (to[i] == '-')
			to[i] = '_';
}

/* "[kernel.kallsyms]_text": the mapping's offset is where that symbol was. */
static void feed_kernel_ref(struct perfev_symbols *s, const struct perfev_mmap *mmap)
{
	if (!s->kernel_start)
		s->kernel_start = mmap->addr;
	if (s->kernel_ref)
		return;
	s->kernel_ref = mmap->pgoff;
	s->kernel_ref_stext = !strcmp(mmap->filename + sizeof(SYMBOLS_KERNEL) - 1, "_stext");
}

/* The kernel or one of its modules; where it is. A kernel that hides its addresses is said to be at 0. */
static int feed_kernel_map(struct perfev_symbols *s, const struct perfev_mmap *mmap, struct perfev_error *err)
{
	struct mapping mapping = {.start = mmap->addr, .end = mmap->addr + mmap->len, .offset = mmap->addr,
				  .module = s->fixed[MODULE_KERNEL]};
	bool whole = !strncmp(mmap->filename, SYMBOLS_KERNEL, sizeof(SYMBOLS_KERNEL) - 1);
	char name[256];

	if (mmap->build_id_size && /* where mappings have them, no section does */
	    symbols_add_id(s, whole ? SYMBOLS_KERNEL : mmap->filename, mmap->build_id, mmap->build_id_size) < 0)
		return error_memory(err);
	if (whole) {
		feed_kernel_ref(s, mmap);
	} else {
		module_name(name, sizeof(name), mmap->filename);
		mapping.module = symbols_kernel_module(s, name);
		if (!mapping.module || symbols_kernel_path(s, mapping.module, mmap->filename) < 0)
			return error_memory(err);
	}
	if (mapping.end < mapping.start || mapping.end == 0)
		mapping.end = UINT64_MAX;
	if (!s->kernel)
		s->kernel = spaces_get(&s->spaces, SPACE_KERNEL);
	if (!s->kernel || space_map(&s->spaces, s->kernel, &mapping) < 0)
		return error_memory(err);
	return 0;
}

/* Memory that code was put into at run time belongs to the list of functions that its process may write. */
static const char *mapped_name(const struct perfev_mmap *mmap, const struct perfev_record *record, char *to, size_t size)
{
	static const char *const anonymous[] = {"//anon", "/dev/zero", "/anon_hugepage", "[stack", "/SYSV", "[heap]"};
	bool exec = record->type == PERF_RECORD_MMAP2 ? mmap->prot & 4 : !(record->misc & PERF_RECORD_MISC_MMAP_DATA);
	size_t i;

	for (i = 0; exec && i < sizeof(anonymous) / sizeof(anonymous[0]); i++)
		if (!strncmp(mmap->filename, anonymous[i], strlen(anonymous[i]))) {
			snprintf(to, size, "/tmp/perf-%d.map", (int)mmap->pid);
			return to;
		}
	return mmap->filename;
}

/* The process maps the file that it writes down its compiled code in. */
static int open_jit(struct perfev_symbols *s, struct space_process *process, const char *path)
{
	char file[SEARCH_PATH], why[200], other[200];
	struct jit *jit, *inside;
	struct module *module;

	if (process->jit && !strcmp(process->jit->path, path))
		return 0;
	module = symbols_module(s, path, NULL, 0);
	if (!module)
		return -ENOMEM;
	snprintf(file, sizeof(file), "%s%s", s->symfs ? s->symfs : "", path);
	jit = jit_new(module->name, file, module, why);
	if (!jit)
		return -ENOMEM;
	if (!jit->dump && search_in_process(&s->places, process->pid, path, file)) { /* of a container */
		inside = jit_new(module->name, file, module, other);
		if (inside && inside->dump) {
			why[0] = 0;
			jit_free(jit);
			jit = inside;
		} else {
			jit_free(inside);
		}
	}
	module->loaded = true;
	snprintf(module->why, sizeof(module->why), "%s", why);
	jit->next = s->jits;
	s->jits = jit;
	if (jit->dump || jit->has_record || !process->given)
		process->jit = jit;
	return 0;
}

/* The program may run already by what was read, or come yet. */
static int add_given(struct perfev_symbols *s, const char *path, int32_t pid)
{
	struct space_process *process = symbols_process(s, pid);
	struct module *module = symbols_module(s, path, NULL, 0);
	char why[200];

	if (!process || !module)
		return -ENOMEM;
	process->given = process->jit = jit_new(module->name, path, module, why);
	if (!process->given)
		return -ENOMEM;
	module->loaded = true;
	snprintf(module->why, sizeof(module->why), "%s", why);
	process->given->next = s->jits;
	s->jits = process->given;
	return 0;
}

int perfev_symbols_jitdump(struct perfev_symbols *symbols, const char *path, int32_t pid, struct perfev_error *err)
{
	struct perfev_jitdump_opts opts = {.size = sizeof(opts), .partial = 1, .copy = 1};
	struct perfev_jitdump_info info;
	struct perfev_jitdump *dump;
	int r = perfev_jitdump_open(&dump, path, &opts, err);

	if (r < 0)
		return r;
	perfev_jitdump_describe(dump, &info);
	perfev_jitdump_close(dump);
	return add_given(symbols, path, pid >= 0 ? pid : (int32_t)info.pid) < 0 ? error_memory(err) : 0;
}

/* A file that is mapped where compiled code was. Memory without a file may be that code's own, mapped again. */
static int forget_jit(struct space_process *process, const struct perfev_mmap *mmap)
{
	if (process->jit && module_is_file(mmap->filename))
		functions_remove(&process->jit->functions, mmap->addr, mmap->addr + mmap->len);
	return 0;
}

/* Compiled code is known by its time. */
static void note_time(struct perfev_symbols *s, const struct perfev_record *record, const struct perfev_layout *layout)
{
	const struct perf_event_attr *attr = layout ? perfev_layout_attr(layout) : NULL;
	uint64_t time;

	if (!attr || !perfev_record_time(record, layout, &time))
		return;
	s->now = attr->use_clockid && attr->clockid == MONOTONIC ? time : UINT64_MAX;
}

static bool has_list(const struct perfev_symbols *s, int32_t pid)
{
	char name[64], path[SEARCH_PATH];
	struct source source;
	unsigned i;
	int r = -ENOENT;

	snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)pid);
	for (i = 0; r == -ENOENT && search_list(&s->places, name, i, path); i++)
		r = source_open(&source, path, SOURCE_FILE);
	if (r == 0)
		source_close(&source);
	return r == 0;
}

/* Some programs copy their own code into memory with larger pages, and put that in its place. It is still the program's, which is
 * never unmapped, as libraries may be; unless the process says what it put there. */
static bool is_moved_program(struct perfev_symbols *s, struct space_process *process, const struct perfev_mmap *mmap,
			     const char *name)
{
	bool anonymous = !module_is_file(name) && name[0] != '['; /* the vdso is no such memory */
	const struct mapping *old = anonymous && process->program ? space_find(&process->view, mmap->addr) : NULL;

	return old && old->module == process->program && mmap->addr + mmap->len <= old->end && !has_list(s, process->pid);
}

/* What a mapping tells of its process. */
static void note_module(struct space_process *process, const struct mapping *mapping, const char *name)
{
	if (module_is_jit_map(name))
		process->view.list = mapping->module;
	else if (!process->program && !mapping->is_data && module_is_file(name))
		process->program = mapping->module;
}

/* Tasks of 64 bits have their vdso near the stack, far above what one of 32 bits can reach. */
static const char *vdso_name(const struct mapping *mapping, const char *name)
{
	return sizeof(void *) == 8 && mapping->end <= UINT64_C(1) << 32 && !strcmp(name, VDSO) ? VDSO32 : name;
}

/* Where build-ids are recorded, a file without one has its inode. */
static bool is_bare(const struct perfev_mmap *mmap, const struct perfev_layout *layout)
{
	return layout && perfev_layout_attr(layout)->build_id && !mmap->build_id_size && mmap->ino && module_is_file(mmap->filename);
}

static int feed_mmap(struct perfev_symbols *s, const struct perfev_record *record,
		     const struct perfev_layout *layout, struct perfev_error *err)
{
	struct perfev_mmap mmap;
	struct space_process *process;
	struct mapping mapping;
	const char *name;
	char list[64];
	int r = perfev_mmap_decode(&mmap, record, layout, err);

	if (r < 0)
		return r;
	if ((record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL)
		return feed_kernel_map(s, &mmap, err);
	if ((record->misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_USER)
		return 0;
	if (mmap.len > UINT64_MAX - mmap.addr)
		mmap.len = UINT64_MAX - mmap.addr;
	mapping.start = mmap.addr;
	mapping.end = mmap.addr + mmap.len;
	mapping.offset = mmap.pgoff;
	mapping.is_data = (record->misc & PERF_RECORD_MISC_MMAP_DATA) != 0;
	name = vdso_name(&mapping, mapped_name(&mmap, record, list, sizeof(list)));
	process = spaces_get(&s->spaces, (int32_t)mmap.pid);
	if (process && (jit_is_dump(mmap.filename) ? open_jit(s, process, mmap.filename)
						    : forget_jit(process, &mmap)) < 0)
		return error_memory(err);
	if (process && is_moved_program(s, process, &mmap, name))
		return 0;
	mapping.module = is_bare(&mmap, layout) ? symbols_bare_module(s, name, mmap.ino)
						 : symbols_module(s, name, mmap.build_id, mmap.build_id_size);
	if (!process || !mapping.module || space_map(&s->spaces, process, &mapping) < 0)
		return error_memory(err);
	note_module(process, &mapping, name);
	mapping.module->pid = (int32_t)mmap.pid; /* the last one is the likeliest to live */
	return 0;
}

static int feed_comm(struct perfev_symbols *s, const struct perfev_record *record,
		     const struct perfev_layout *layout, struct perfev_error *err)
{
	struct perfev_comm comm;
	struct space_process *process;
	const char *name;
	int r = perfev_comm_decode(&comm, record, layout, err);

	if (r < 0)
		return r;
	process = spaces_get(&s->spaces, (int32_t)comm.pid);
	name = symbols_name(s, comm.comm);
	if (!process || !name || space_set_comm(process, (int32_t)comm.tid, name) < 0)
		return error_memory(err);
	if (record->misc & PERF_RECORD_MISC_COMM_EXEC)
		space_exec(&s->spaces, process);
	return 0;
}

/* A program that runs has left its exec behind. */
static void feed_sample(struct perfev_symbols *s, const struct perfev_record *record, const struct perfev_layout *layout)
{
	struct space_process *process;
	struct perfev_id id;

	if (!s->spaces.execs || !layout ||
	    (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_USER)
		return;
	if (perfev_id_decode(&id, record, layout, NULL) < 0 || !(id.present & PERF_SAMPLE_TID))
		return;
	process = spaces_find(&s->spaces, (int32_t)id.pid);
	if (process)
		space_run(&s->spaces, process);
}

static int feed_fork(struct perfev_symbols *s, const struct perfev_record *record,
		     const struct perfev_layout *layout, struct perfev_error *err)
{
	struct perfev_task task;
	struct space_process *parent, *child;
	const char *comm;
	int r = perfev_task_decode(&task, record, layout, err);

	if (r < 0)
		return r;
	child = spaces_get(&s->spaces, (int32_t)task.pid);
	parent = spaces_get(&s->spaces, (int32_t)task.ppid);
	if (!child || !parent)
		return error_memory(err);
	comm = space_comm(parent, (int32_t)task.ptid);
	/* a synthesized one says only that the task is there: its mappings follow */
	if (task.pid != task.ppid && !(record->misc & PERF_RECORD_MISC_FORK_EXEC) &&
	    space_fork(&s->spaces, parent, child) < 0)
		return error_memory(err);
	if (comm && !space_comm(child, (int32_t)task.tid) &&
	    space_set_comm(child, (int32_t)task.tid, comm) < 0)
		return error_memory(err);
	return 0;
}

static int feed_ksymbol(struct perfev_symbols *s, const struct perfev_record *record,
			const struct perfev_layout *layout, struct perfev_error *err)
{
	const struct perfev_ksymbol *k;
	struct perfev_any any;
	int r = perfev_any_decode(&any, record, layout, err);

	if (r < 0)
		return r;
	k = &any.as.ksymbol;
	functions_remove(&s->ksymbols, k->addr, k->addr + k->len);
	if (k->flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER)
		return 0;
	return functions_add(&s->ksymbols, k->addr, k->len, symbols_name(s, k->name)) < 0 ? error_memory(err) : 0;
}

static int feed_build_id(struct perfev_symbols *s, const struct perfev_record *record,
			 struct perfev_error *err)
{
	struct perfev_bytes bytes = {record->data, record->size};
	struct perfev_build_id entry;
	size_t position = 0;
	int r = perfev_feature_build_id(&entry, bytes, record->flags & PERFEV_RECORD_SWAPPED, &position,
					err);

	return r <= 0 ? r : perfev_symbols_build_id(s, &entry, err);
}

/* The symbols of simpleperf's kernel, as /proc/kallsyms has them. */
static int feed_kallsyms(struct perfev_symbols *s, const struct perfev_record *record, struct perfev_error *err)
{
	struct perfev_user user;
	int r = perfev_user_decode(&user, record, err);

	if (r < 0 || s->symfs || s->kernel_text.size || !user.as.bytes.size)
		return r < 0 ? r : 0;
	s->kernel_text.max = KALLSYMS_MAX;
	return buffer_append(&s->kernel_text, user.as.bytes.data, user.as.bytes.size) == -ENOMEM ? error_memory(err) : 0;
}

/* Apart, as it is not for most records. */
NOINLINE static int feed(struct perfev_symbols *symbols, const struct perfev_record *record, const struct perfev_layout *layout,
			 struct perfev_error *err)
{
	if (symbols->jits)
		note_time(symbols, record, layout);
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		feed_sample(symbols, record, layout);
		return 0;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return feed_mmap(symbols, record, layout, err);
	case PERF_RECORD_COMM:
		return feed_comm(symbols, record, layout, err);
	case PERF_RECORD_FORK:
		return feed_fork(symbols, record, layout, err);
	case PERF_RECORD_KSYMBOL:
		return feed_ksymbol(symbols, record, layout, err);
	case PERFEV_RECORD_HEADER_BUILD_ID:
		return feed_build_id(symbols, record, err);
	case PERFEV_RECORD_SIMPLEPERF_KERNEL_SYMBOL:
		return feed_kallsyms(symbols, record, err);
	default:
		return 0;
	}
}

int perfev_symbols_feed(struct perfev_symbols *symbols, const struct perfev_record *record, const struct perfev_layout *layout,
			struct perfev_error *err)
{
	if (record->type == PERF_RECORD_SAMPLE && !symbols->jits && !symbols->spaces.execs)
		return 0;
	return feed(symbols, record, layout, err);
}
