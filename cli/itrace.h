/* SPDX-License-Identifier: MIT */
/* The ways that the traces of a recording tell, among its records, in the order of time. */
#ifndef CLI_ITRACE_H
#define CLI_ITRACE_H

#include "cli.h"

/* Who is told what the traces tell, in the order of time: gaps too. < 0 ends it. */
struct itrace_sink {
	int (*put)(void *context, const struct perfev_flow_branch *branch, struct perfev_error *err);
	void *context;
};

struct itrace;

/* Reads the traces out of the recording, which is opened a second time. @replay, @sink: have to stay. @pt_only: others than those
 * of Intel PT are not followed.
 * -EOPNOTSUPP where no way can be made of its traces, -ENOENT where it has none. */
int itrace_open(struct itrace **ret, struct replay *replay, const struct itrace_sink *sink, bool pt_only,
		struct perfev_error *err);
void itrace_close(struct itrace *itrace);
/* The event that traced; attr NULL: it is not known. */
const struct perfev_reader_event_info *itrace_event(const struct itrace *itrace);
/* How the traces are decoded; whether they are of CPUs, and have times. */
const struct perfev_flow_opts *itrace_how(const struct itrace *itrace, bool *per_cpu, bool *timed);
/* A record of the kernel comes next: tells what was before it. */
int itrace_record(struct itrace *itrace, const struct perfev_record *record, const struct perfev_layout *layout,
		  struct perfev_error *err);
/* A sample was printed: see there why that matters. */
void itrace_printed(struct itrace *itrace, uint64_t ip, int32_t pid);
/* What is left. */
int itrace_end(struct itrace *itrace, struct perfev_error *err);

#endif
