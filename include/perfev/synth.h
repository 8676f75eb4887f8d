/* SPDX-License-Identifier: MIT */
/*
 * perfev/synth.h - records for what already runs: the kernel reports only what changes
 *
 * A recording that begins in the middle needs the kernel's map, and for each process its name,
 * threads and mappings. They are read from /proc and given as the records that the kernel would have
 * written: MMAP for the kernel and its modules, then FORK, COMM and MMAP2 of tasks. Open the events
 * first, then synthesize: what changes meanwhile comes twice, which readers allow, not never.
 */
#ifndef PERFEV_SYNTH_H
#define PERFEV_SYNTH_H

#include <perfev/record.h>
#include <perfev/target.h>

PERFEV_BEGIN

struct perfev_synth_opts {
	size_t size;
	uint32_t no_kernel; /* not 0: leave out the map of the kernel and its modules */
	uint32_t reserved;
	/* how build-ids are read: perfev_build_id_read(), or one of yours; NULL: mappings have their inodes. Where the layout's
	 * attr.build_id is set, mappings of files have build-ids then, as those that the kernel reports: of the file that
	 * is mapped, in whatever mount namespace, also if it was deleted where this user may see it. Each file is read
	 * once. Since: 0.1 */
	int (*build_id)(uint8_t ret[20], const char *path, struct perfev_error *err);
};

struct perfev_synth;

/*
 * perfev_synth_open() - begin with the tasks of a target
 * @on: tasks, processes, or all CPUs: then every process.
 * @layout: of the event that the records will stand beside: their trailers are its, all zero. Its attr.mmap_data asks
 *	for mappings of data too.
 * Return: 0, or a negative errno.
 * Since: 0.1
 */
PERFEV_API int perfev_synth_open(struct perfev_synth **ret, struct perfev_target on,
				 const struct perfev_layout *layout,
				 const struct perfev_synth_opts *opts, struct perfev_error *err);
PERFEV_API void perfev_synth_close(struct perfev_synth *synth);

/*
 * perfev_synth_next() - the next record; its bytes live until the next call
 * Tasks that end meanwhile are passed over.
 * Return: 1 a record; 0 the end; a negative errno.
 */
PERFEV_API int perfev_synth_next(struct perfev_synth *synth, struct perfev_record *ret,
				 struct perfev_error *err);

PERFEV_END

#endif
