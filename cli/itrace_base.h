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
	struct perfev_flow *flow; /* NULL: of Arm SPE */
	struct perfev_spe_decoder spe;
	struct perfev_spe_record record; /* beside next */
	bool begun, has;
	bool has_context; /* its records tell who runs */
	struct perfev_flow_branch next; /* if it has one: what is not handed out yet */
};

/* A file whose code was asked for, and is not there. */
struct unread {
	const char *module; /* as long as the symbols live */
	bool tried, told;
};

/* The process of a thread. */
struct known_task {
	int32_t tid, pid; /* tid 0: nothing */
};

struct mapped {
	uint64_t start;
	int32_t pid;
};

struct queued {
	uint64_t tsc;
	struct stream *stream;
};

struct itrace {
	struct replay *replay;
	struct perfev_reader *reader; /* a second one, of the traces */
	const struct itrace_sink *sink;
	struct perfev_flow_opts how;
	struct perfev_record *info; /* the AUXTRACE_INFO, copied */
	struct perfev_reader_event_info event;
	bool per_cpu, timed, begun, usual;
	bool is_spe;
	uint64_t midr;
	struct perfev_time_conv conv; /* of a record; mult 0: there was none */
	bool by_cpu; /* who runs is told for CPUs */
	bool wide;   /* by records of all tasks */
	struct stream *streams;
	size_t stream_count, stream_room;
	struct queued *heap; /* those that have something to tell */
	size_t heap_count;
	struct task *tasks; /* by CPU */
	size_t task_count;
	struct known_task *known; /* a hash by tid */
	size_t known_count, known_room;
	struct unread *unread;
	size_t unread_count, unread_room;
	struct mapped *mapped; /* of processes whose vdso is not mapped yet */
	size_t mapped_count, mapped_room;
};

/* itrace_read.c: the pieces of traces, and what the recording says of them */
int itrace_read(struct itrace *it, struct perfev_error *err);
/* Room for one more item; NULL without memory. */
void *itrace_grow(void *array, size_t *room, size_t count, size_t item);

/* itrace_queue.c: the stream that tells the next, by next.tsc; there is room for each once */
void itrace_queue(struct itrace *it, struct stream *stream);
struct stream *itrace_unqueue(struct itrace *it); /* of at least one */

/* itrace_code.c: the code that ran */
int itrace_code(void *stream, const struct perfev_place *where, void *to, size_t size);
/* A file was mapped: perf may look at it. */
int itrace_mapping(struct itrace *it, uint32_t pid, uint64_t start, const char *name);

#endif
