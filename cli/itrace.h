/* SPDX-License-Identifier: MIT */
/* The ways that the traces of a recording tell: of all CPUs and threads, in the order of time. */
#ifndef CLI_ITRACE_H
#define CLI_ITRACE_H

#include "cli.h"

/* A branch, and what its places were called then. Names live as long as the symbols. */
struct itrace_branch {
	struct perfev_flow_branch branch;
	struct perfev_frame from, to; /* of addresses that are 0: unresolved */
	const char *comm;
};

struct itrace;

/* Reads all of the recording. @symbols: learns from its records as the branches are handed out. -EOPNOTSUPP where no way can
 * be made of its traces, -ENOENT where it has none. */
int itrace_open(struct itrace **ret, struct perfev_reader *reader, struct perfev_symbols *symbols, struct perfev_error *err);
void itrace_close(struct itrace *itrace);
/* The event that traced; whether its traces are of CPUs. */
const struct perfev_reader_event_info *itrace_event(const struct itrace *itrace, bool *per_cpu);
/* 1 a branch, 0 the end, < 0. */
int itrace_next(struct itrace *itrace, struct itrace_branch *ret, struct perfev_error *err);

#endif
