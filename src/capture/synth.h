/* SPDX-License-Identifier: MIT */
#ifndef CAPTURE_SYNTH_H
#define CAPTURE_SYNTH_H

#include "lines.h"

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
	bool no_memory;
	size_t size; /* of the record */
	unsigned char record[128 + NAME_MAX_BYTES + 16 + 64];
};

#endif
