/* SPDX-License-Identifier: MIT */
/*
 * Synthesis: /proc -> the records that the kernel would have written.
 *
 * Order: the kernel and its modules, then for each process FORK and COMM of its threads (the leader
 * first) and MMAP2 of its executable mappings. Trailers are there when the layout has one, all zero, as
 * readers expect of such records: time 0 puts them before everything. A task that ends while it is read
 * is left out from there on.
 */
#include "synth.h"
#include "tasks.h"

#include "base/buffer.h"
#include "base/error.h"
#include "base/load.h"
#include "base/opts.h"
#include "decode/layout.h"
#include "kernel/sys.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void *begin_record(struct perfev_synth *s, uint32_t type, uint16_t misc, size_t size)
{
	memset(s->record, 0, size);
	store_u32(s->record, type);
	store_u16(s->record + 4, misc);
	s->size = size;
	return s->record;
}

/* A text at the end of the record, padded to 8, then the trailer. */
static void end_record(struct perfev_synth *s, const char *text)
{
	size_t size = text ? strlen(text) + 1 : 0;

	if (size > NAME_MAX_BYTES)
		size = NAME_MAX_BYTES;
	if (text) {
		memset(s->record + s->size, 0, size + 8);
		memcpy(s->record + s->size, text, size - 1);
		s->size += (size + 7) & ~(size_t)7;
	}
	memset(s->record + s->size, 0, s->trailer_size);
	s->size += s->trailer_size;
	store_u16(s->record + 6, (uint16_t)s->size);
}

static int give(struct perfev_synth *s, struct perfev_record *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->data = s->record;
	ret->type = load_u32(s->record, false);
	ret->misc = load_u16(s->record + 4, false);
	ret->size = (uint32_t)s->size;
	return 1;
}

/* ---- the kernel --------------------------------------------------------------------------------------- */

static void kernel_mmap(struct perfev_synth *s, uint64_t start, uint64_t end, uint64_t pgoff,
			const char *name)
{
	unsigned char *r = begin_record(s, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL, 40);

	store_u32(r + 8, UINT32_MAX);
	store_u64(r + 16, start);
	store_u64(r + 24, end - start);
	store_u64(r + 32, pgoff);
	end_record(s, name);
}

/* A file that is not there has no lines; one for which there is no memory is another matter. */
static int open_lines(struct perfev_synth *s, struct lines *lines, const char *path)
{
	int r = lines_open(lines, path);

	s->no_memory |= r == -ENOMEM;
	return r;
}

struct kernel_text {
	uint64_t text, stext, etext;
};

static void note_symbol(struct kernel_text *kernel, const char *line)
{
	char symbol[32], type;
	uint64_t at;

	if (sscanf(line, "%" SCNx64 " %c %31s", &at, &type, symbol) != 3)
		return;
	if (!strcmp(symbol, "_text"))
		kernel->text = at;
	else if (!strcmp(symbol, "_stext"))
		kernel->stext = at;
	else if (!strcmp(symbol, "_etext"))
		kernel->etext = at;
}

/* Where the kernel's text is: from _text (or _stext) to _etext. All zero for a user who may not see
 * addresses. */
static bool find_kernel(struct perfev_synth *s, uint64_t *start, uint64_t *end, const char **name)
{
	struct kernel_text kernel = {0, 0, 0};
	struct lines lines = LINES_NONE;
	char *line;

	if (open_lines(s, &lines, "/proc/kallsyms") < 0)
		return false;
	while (!kernel.etext && (line = lines_next(&lines)))
		note_symbol(&kernel, line);
	lines_close(&lines);
	*start = kernel.text ? kernel.text : kernel.stext;
	*end = kernel.etext;
	*name = kernel.text ? "[kernel.kallsyms]_text" : "[kernel.kallsyms]_stext";
	return *start && *end > *start;
}

static bool kernel_record(struct perfev_synth *s)
{
	const char *name;
	uint64_t start, end;

	if (!find_kernel(s, &start, &end, &name))
		return false;
	kernel_mmap(s, start, end, start, name);
	return true;
}

/* One line of /proc/modules: name size users dependencies state address. */
static bool module_record(struct perfev_synth *s)
{
	char name[64], full[NAME_MAX_BYTES];
	uint64_t size, start;
	char *line;

	while ((line = lines_next(&s->modules))) {
		if (sscanf(line, "%63s %" SCNu64 " %*s %*s %*s %" SCNx64, name, &size, &start) != 3 ||
		    !start)
			continue;
		if (!module_paths_find(&s->paths, name, full, sizeof(full)))
			snprintf(full, sizeof(full), "[%s]", name);
		kernel_mmap(s, start, start + size, 0, full);
		return true;
	}
	return false;
}

/* ---- tasks ---------------------------------------------------------------------------------------------- */

static int read_status(int32_t tid, struct task_status *ret)
{
	char path[40], text[1024], *at;

	memset(ret, 0, sizeof(*ret));
	snprintf(path, sizeof(path), "/proc/%d/comm", tid);
	sys_read_text(path, ret->comm, sizeof(ret->comm));
	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	if (sys_read_text(path, text, sizeof(text)) <= 0)
		return -ESRCH;
	at = strstr(text, "\nTgid:");
	if (!at || sscanf(at, "\nTgid: %d", &ret->tgid) != 1)
		return -ESRCH;
	at = strstr(text, "\nPPid:");
	if (!at || sscanf(at, "\nPPid: %d", &ret->ppid) != 1)
		return -ESRCH;
	return 0;
}

static void fork_record(struct perfev_synth *s, const struct task_status *status, int32_t tid)
{
	unsigned char *r = begin_record(s, PERF_RECORD_FORK, PERF_RECORD_MISC_FORK_EXEC, 32);
	int32_t parent = tid == status->tgid ? status->ppid : status->tgid;

	store_u32(r + 8, (uint32_t)status->tgid);
	store_u32(r + 12, (uint32_t)parent);
	store_u32(r + 16, (uint32_t)tid);
	store_u32(r + 20, (uint32_t)parent);
	end_record(s, NULL);
}

static void comm_record(struct perfev_synth *s, const struct task_status *status, int32_t tid)
{
	unsigned char *r = begin_record(s, PERF_RECORD_COMM, 0, 16);

	store_u32(r + 8, (uint32_t)status->tgid);
	store_u32(r + 12, (uint32_t)tid);
	end_record(s, status->comm);
}

static uint32_t protection(const char *perms, uint32_t *flags)
{
	*flags = perms[3] == 's' ? 1 : 2; /* MAP_SHARED, MAP_PRIVATE */
	return (perms[0] == 'r') | (uint32_t)(perms[1] == 'w') << 1 | (uint32_t)(perms[2] == 'x') << 2;
}

/* Which file it is: by its build-id, else by its inode. */
static void put_file(struct perfev_synth *s, unsigned char *r, const struct synth_mapping *mapping)
{
	const struct synth_file *file = synth_build_id(&s->ids, mapping, &s->no_memory);

	if (!file) {
		store_u32(r + 40, (uint32_t)(mapping->device >> 32));
		store_u32(r + 44, (uint32_t)mapping->device);
		store_u64(r + 48, mapping->ino);
		return;
	}
	store_u16(r + 4, load_u16(r + 4, false) | PERF_RECORD_MISC_MMAP_BUILD_ID);
	r[40] = file->size;
	memcpy(r + 44, file->id, sizeof(file->id));
}

/* One line of maps; false when it is not executable, and mappings of data are not wanted. */
static bool mmap_record(struct perfev_synth *s, const char *line, int32_t pid)
{
	uint64_t start, end, pgoff, ino;
	struct synth_mapping mapping;
	unsigned maj, min;
	uint32_t prot, flags;
	unsigned char *r;
	char perms[8];
	int name = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %n", &start, &end,
		   perms, &pgoff, &maj, &min, &ino, &name) < 7 ||
	    strlen(perms) < 4)
		return false;
	prot = protection(perms, &flags);
	if (!(prot & 4) && !s->data)
		return false;
	mapping = (struct synth_mapping){pid, start, end, (uint64_t)maj << 32 | min, ino, line + name};
	r = begin_record(s, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | (prot & 4 ? 0 : PERF_RECORD_MISC_MMAP_DATA), 72);
	store_u32(r + 8, (uint32_t)pid);
	store_u32(r + 12, (uint32_t)pid);
	store_u64(r + 16, start);
	store_u64(r + 24, end - start);
	store_u64(r + 32, pgoff);
	put_file(s, r, &mapping);
	store_u32(r + 64, prot);
	store_u32(r + 68, flags);
	end_record(s, line[name] ? line + name : "//anon");
	return true;
}

/* ---- the walk --------------------------------------------------------------------------------------------- */

/* The threads of the next process. */
static bool begin_process(struct perfev_synth *s)
{
	int r;

	while (s->pid_at < s->pid_count) {
		s->pid = s->pids[s->pid_at++];
		s->task_count = 0;
		s->task_at = 0;
		r = tasks_list(s->pid, &s->tasks, &s->task_room, &s->task_count);
		s->no_memory |= r == -ENOMEM;
		if (r == 0 && s->task_count)
			return true;
	}
	return false;
}

static bool next_task(struct perfev_synth *s)
{
	while (s->task_at < s->task_count) {
		if (read_status(s->tasks[s->task_at], &s->status) == 0)
			return true;
		s->task_at++;
	}
	return false;
}

static bool next_mapping(struct perfev_synth *s)
{
	char *line;

	while ((line = lines_next(&s->maps)))
		if (mmap_record(s, line, s->pid))
			return true;
	return false;
}

/* One step of the walk; returns whether it made a record. */
static bool step(struct perfev_synth *s)
{
	char path[40];

	switch (s->state) {
	case SYNTH_KERNEL:
		s->state = SYNTH_MODULES;
		if (open_lines(s, &s->modules, "/proc/modules") == 0)
			s->no_memory |= module_paths_read(&s->paths, NULL) == -ENOMEM;
		return kernel_record(s);
	case SYNTH_MODULES:
		if (module_record(s))
			return true;
		s->state = SYNTH_PROCESS;
		return false;
	case SYNTH_PROCESS:
		s->state = begin_process(s) ? SYNTH_FORK : SYNTH_END;
		return false;
	case SYNTH_FORK:
		if (!next_task(s)) {
			s->state = SYNTH_MAPS;
			snprintf(path, sizeof(path), "/proc/%d/maps", s->pid);
			open_lines(s, &s->maps, path);
			return false;
		}
		s->state = SYNTH_COMM;
		fork_record(s, &s->status, s->tasks[s->task_at]);
		return true;
	case SYNTH_COMM:
		comm_record(s, &s->status, s->tasks[s->task_at++]);
		s->state = SYNTH_FORK;
		return true;
	case SYNTH_MAPS:
		if (next_mapping(s))
			return true;
		s->state = SYNTH_PROCESS;
		return false;
	default:
		return false;
	}
}

int perfev_synth_next(struct perfev_synth *synth, struct perfev_record *ret,
		      struct perfev_error *err)
{
	while (synth->state != SYNTH_END) {
		bool made = step(synth);

		if (synth->no_memory)
			return error_memory(err);
		if (made)
			return give(synth, ret);
	}
	return 0;
}

/* ---- beginning ----------------------------------------------------------------------------------------------- */

static int add_pid(struct perfev_synth *s, int32_t pid)
{
	int32_t *pids = array_grow(s->pids, &s->pid_room, s->pid_count, sizeof(*pids));

	if (!pids)
		return -ENOMEM;
	s->pids = pids;
	pids[s->pid_count++] = pid;
	return 0;
}

static int add_all(struct perfev_synth *s)
{
	struct sys_folder *folder;
	const char *name;
	int r = sys_folder_open(&folder, "/proc");

	if (r < 0)
		return r;
	while ((r = sys_folder_next(folder, &name)) > 0) {
		if (name[0] < '1' || name[0] > '9')
			continue;
		r = add_pid(s, (int32_t)strtol(name, NULL, 10));
		if (r < 0)
			break;
	}
	sys_folder_close(folder);
	return r;
}

/* The processes of a target; a thread stands for its process. */
static int add_target(struct perfev_synth *s, const struct perfev_target *on)
{
	const int32_t *ids = on->id_count ? on->ids : &on->id;
	size_t n = on->id_count ? on->id_count : 1, i;
	struct task_status status;
	int r = 0;

	if (on->kind == PERFEV_TARGET_CPU || on->kind == PERFEV_TARGET_CGROUP)
		return add_all(s);
	for (i = 0; r == 0 && i < n; i++) {
		int32_t id = ids[i] ? ids[i] : sys_pid();

		if (on->kind == PERFEV_TARGET_TASK && read_status(id, &status) == 0)
			id = status.tgid;
		r = add_pid(s, id);
	}
	return r;
}

int perfev_synth_open(struct perfev_synth **ret, struct perfev_target on,
		      const struct perfev_layout *layout, const struct perfev_synth_opts *opts,
		      struct perfev_error *err)
{
	struct perfev_synth_opts full;
	struct perfev_synth *s;
	int r = opts_copy(&full, sizeof(full), opts, err);

	if (r < 0)
		return r;
	s = calloc(1, sizeof(*s));
	if (!s)
		return error_memory(err);
	s->modules.fd = -1;
	s->maps.fd = -1;
	s->state = full.no_kernel ? SYNTH_PROCESS : SYNTH_KERNEL;
	s->trailer_size = layout ? layout->trailer_size : 0;
	s->data = layout && perfev_layout_attr(layout)->mmap_data;
	s->ids.read = layout && perfev_layout_attr(layout)->build_id ? full.build_id : NULL;
	r = add_target(s, &on);
	if (r < 0) {
		perfev_synth_close(s);
		if (r == -ENOMEM)
			return error_memory(err);
		return error_errno(err, r, "cannot list the processes in /proc");
	}
	*ret = s;
	return 0;
}

void perfev_synth_close(struct perfev_synth *synth)
{
	if (!synth)
		return;
	lines_close(&synth->modules);
	module_paths_free(&synth->paths);
	lines_close(&synth->maps);
	free(synth->pids);
	free(synth->tasks);
	synth_ids_free(&synth->ids);
	free(synth);
}
