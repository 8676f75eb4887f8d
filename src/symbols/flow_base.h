/* SPDX-License-Identifier: MIT */
/* What the decoders of ways share: the branches that were found and not handed out yet, and who runs. */
#ifndef SYMBOLS_FLOW_BASE_H
#define SYMBOLS_FLOW_BASE_H

#include <perfev/flow.h>

#include <stdbool.h>

#define FLOW_QUEUE 16 /* more than one step of a decoder gives */

/* A branch instruction that was walked over, while it is not known where it went. */
struct flow_pending {
	uint64_t from, after; /* behind it */
	uint32_t type;
	bool is;
};

/* What a kind of trace has, as the functions of flow.h. */
struct flow_kind {
	int (*make)(struct perfev_flow *flow, struct perfev_error *err);
	void (*free)(struct perfev_flow *flow);
	int (*begin)(struct perfev_flow *flow, struct perfev_error *err);
	void (*step)(struct perfev_flow *flow); /* puts branches, or ends */
	void (*forget)(struct perfev_flow *flow); /* of code; NULL: nothing is kept */
};

struct perfev_flow {
	const struct flow_kind *kind;
	void *state; /* of the kind */
	struct perfev_flow_opts opts;
	int32_t pid, tid, cpu;
	struct perfev_bytes trace;
	unsigned char *copy; /* of a trace of several pieces */
	struct perfev_flow_branch queue[FLOW_QUEUE];
	unsigned head, tail;
	uint64_t time;	       /* cycles */
	uint64_t instructions; /* since the last branch */
	uint64_t place;	       /* in the trace */
	bool ended, in_tx;
	struct flow_pending pending;
};

/* A branch at the end of the queue. */
struct perfev_flow_branch *flow_put(struct perfev_flow *flow, uint32_t type, uint64_t from, uint64_t to);
/* The branch that waits: it went to @to. */
void flow_settle(struct perfev_flow *flow, uint64_t to, uint32_t flags);
/* A part of the way is missing. */
void flow_put_gap(struct perfev_flow *flow, uint64_t from, uint64_t to, enum perfev_flow_gap gap, const char *why);

#endif
