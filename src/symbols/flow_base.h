/* SPDX-License-Identifier: MIT */
/* What the decoders of ways share: the branches that were found and not handed out yet, and who runs. */
#ifndef SYMBOLS_FLOW_BASE_H
#define SYMBOLS_FLOW_BASE_H

#include "flow_ipt.h"

#include <perfev/flow.h>

#include <stdbool.h>

#define FLOW_QUEUE 8 /* more than one step of a decoder gives */

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
};

struct perfev_flow {
	const struct flow_kind *kind;
	void *state; /* of CoreSight */
	struct perfev_flow_opts opts;
	int32_t pid, tid, cpu;
	struct perfev_bytes trace;
	unsigned char *copy; /* of a trace of several pieces */
	struct perfev_flow_branch queue[FLOW_QUEUE];
	unsigned head, tail;
	uint64_t time;	       /* cycles */
	uint64_t instructions; /* since the last branch */
	bool ended;
	struct flow_pending pending;
	/* of Intel PT */
	struct ipt ipt;
	void *decoder;
	int status;	  /* of the last step */
	bool synced;	  /* the decoder knows where it is */
	bool begun;	  /* and that tracing is on */
	bool in_tx, aborted;
	uint64_t place;	  /* in the trace */
	uint64_t idle;	  /* instructions since a packet was used */
	uint64_t sync_at; /* the last PSB that was gone to + 1; 0: none */
};

/* A branch at the end of the queue. */
struct perfev_flow_branch *flow_put(struct perfev_flow *flow, uint32_t type, uint64_t from, uint64_t to);
/* The branch that waits: it went to @to. */
void flow_settle(struct perfev_flow *flow, uint64_t to, uint32_t flags);

#endif
