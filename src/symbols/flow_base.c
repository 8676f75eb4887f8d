/* SPDX-License-Identifier: MIT */
/*
 * The queue that decoders of ways put branches into. Where a branch instruction went is known only when the next place is:
 * until then it waits.
 */
#include "flow_base.h"

#include <string.h>

uint64_t perfev_flow_time(const struct perfev_flow *flow)
{
	return flow->opts.clock.mult && flow->time ? perfev_clock_time(&flow->opts.clock, flow->time) : flow->time;
}

struct perfev_flow_branch *flow_put(struct perfev_flow *flow, uint32_t type, uint64_t from, uint64_t to)
{
	struct perfev_flow_branch *branch = &flow->queue[flow->tail++ % FLOW_QUEUE];

	memset(branch, 0, sizeof(*branch));
	branch->type = type;
	branch->from = from;
	branch->to = to;
	branch->offset = flow->place;
	branch->flags = flow->in_tx ? PERFEV_FLOW_IN_TX : 0;
	branch->time = perfev_flow_time(flow);
	branch->tsc = flow->opts.type == PERFEV_AUXTRACE_CS_ETM ? 0 : flow->time;
	branch->instructions = flow->instructions;
	branch->pid = flow->pid;
	branch->tid = flow->tid;
	branch->cpu = flow->cpu;
	flow->instructions = 0;
	return branch;
}

void flow_settle(struct perfev_flow *flow, uint64_t to, uint32_t flags)
{
	const struct flow_pending *pending = &flow->pending;

	/* of a conditional one that leads nowhere it is not known whether it was taken */
	if (pending->is && (pending->type != PERFEV_FLOW_CONDITIONAL || (to && to != pending->after)))
		flow_put(flow, pending->type, pending->from, to)->flags |= flags;
	flow->pending.is = false;
}

void flow_put_gap(struct perfev_flow *flow, uint64_t from, uint64_t to, enum perfev_flow_gap gap, const char *why)
{
	struct perfev_flow_branch *branch = flow_put(flow, PERFEV_FLOW_NONE, from, to);

	branch->flags |= PERFEV_FLOW_GAP;
	branch->gap = gap;
	branch->why = why;
}
