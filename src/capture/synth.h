/* SPDX-License-Identifier: MIT */
#ifndef CAPTURE_SYNTH_H
#define CAPTURE_SYNTH_H

#include "lines.h"
#include "module_paths.h"

#include "base/map.h"

#include <perfev/synth.h>

#define NAME_MAX_BYTES 4096

enum synth_state {
	SYNTH_KERNEL,
	SYNTH_MODULES,
	SYNTH_PROCESS,
	SYNTH_FORK,
	SYNTH_COMM,
	SYNTH_MAPS,
	SYNTH_END
};

/* What /proc/TID/status says. */
struct task_status {
	char comm[32];
	int32_t tgid, ppid;
};

/* A file that was mapped, and its build-id. */
struct synth_file {
	uint64_t device, ino;
	uint8_t id[20], size; /* 0: it has none, or it could not be read */
};

struct synth_ids {
	int (*read)(uint8_t ret[20], const char *path, struct perfev_error *err); /* NULL: build-ids are not wanted */
	struct synth_file *files;
	size_t count, room;
	struct map of_hash; /* the last one of each */
};

/* A mapping as a line of /proc/PID/maps tells it. */
struct synth_mapping {
	int32_t pid;
	uint64_t start, end, device, ino;
	const char *name;
};

/* synth_build_id() - of the file of a mapping. Return: it, which lives until the next call; NULL: not known; @no_memory is set
 * when that is why. */
const struct synth_file *synth_build_id(struct synth_ids *ids, const struct synth_mapping *mapping, bool *no_memory);
void synth_ids_free(struct synth_ids *ids);

struct perfev_synth {
	enum synth_state state;
	size_t trailer_size;
	bool data; /* mappings of data too, as attr.mmap_data asks for */
	int32_t *pids; /* processes to walk */
	size_t pid_at, pid_count, pid_room;
	int32_t pid;
	int32_t *tasks; /* threads of pid */
	size_t task_at, task_count, task_room;
	struct task_status status; /* of the task at task_at */
	struct lines modules, maps;
	struct module_paths paths; /* of the modules */
	struct synth_ids ids;
	bool no_memory;
	size_t size; /* of the record */
	unsigned char record[128 + NAME_MAX_BYTES + 16 + 64];
};

#endif
