/* SPDX-License-Identifier: MIT */
/* What the files of traces share. */
#ifndef CLI_ITRACE_BASE_H
#define CLI_ITRACE_BASE_H

#include "itrace.h"

struct piece {
	uint64_t offset, reference;
	struct perfev_bytes bytes;
	struct perfev_record *copy; /* of a recording that is not mapped */
};

struct task {
	int32_t pid, tid; /* -1: not known */
};

struct stream {
	struct itrace *itrace;
	uint32_t idx, tid; /* tid -1: of all that run on the CPU */
	int32_t cpu;	  /* -1: of a thread */
	struct task task; /* who runs, and is traced */
	struct piece *pieces;
	size_t count, room, at; /* at: the first that was not decoded yet */
	size_t piece;		   /* the one that holds what was told last */
	uint64_t before, padding;  /* bytes of its trace in front of it; padding in front of it, and all of earlier traces */
	struct perfev_flow *flow;
	bool begun, has;
	struct perfev_flow_branch next; /* if it has one: what is not handed out yet */
};

/* A file whose code was asked for, and is not there. */
struct unread {
	const char *module; /* as long as the symbols live */
	bool tried, told;
};

struct mapped {
	uint64_t start;
	int32_t pid;
};

struct itrace {
	struct replay *replay;
	struct perfev_reader *reader; /* a second one, of the traces */
	const struct itrace_sink *sink;
	struct perfev_flow_opts how;
	struct perfev_record *info; /* the AUXTRACE_INFO, copied */
	struct perfev_reader_event_info event;
	bool per_cpu, timed, begun, pt_only;
	bool by_cpu; /* who runs is told for CPUs */
	bool wide;   /* by records of all tasks */
	struct stream *streams;
	size_t stream_count, stream_room;
	struct task *tasks; /* by CPU */
	size_t task_count;
	struct unread *unread;
	size_t unread_count, unread_room;
	struct mapped *mapped; /* of processes whose vdso is not mapped yet */
	size_t mapped_count, mapped_room;
};

/* itrace_read.c: the pieces of traces, and what the recording says of them */
int itrace_read(struct itrace *it, struct perfev_error *err);
/* Room for one more item; NULL without memory. */
void *itrace_grow(void *array, size_t *room, size_t count, size_t item);

/* itrace_code.c: the code that ran */
int itrace_code(void *stream, const struct perfev_place *where, void *to, size_t size);
/* A file was mapped: perf may look at it. */
int itrace_mapping(struct itrace *it, uint32_t pid, uint64_t start, const char *name);

#endif
