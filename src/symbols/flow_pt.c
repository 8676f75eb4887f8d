/* SPDX-License-Identifier: MIT */
/*
 * The way out of an Intel PT trace. Packets tell only what the code does not: whether conditional branches were taken (TNT),
 * where indirect ones went (TIP), where something happened (FUP, with what the packet in front of it tells, or the TIP behind
 * it). So each packet means a walk over code (flow_pt_walk.c) up to the branch, or the place, that it belongs to.
 *
 * A step is one state of that, of which one branch or several other things are told. When something is wrong the way goes on
 * with the next packet that has an address: a whole one, when it is the code that is not known. What is told, and with which
 * time, is what perf script tells, so that the two can be compared; times are those of the last state that was complete.
 */
#include "flow_pt.h"

#include "flow_pt_base.h"

#include "base/error.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- walks -------------------------------------------------------------------------------------------------------- */

static void go(struct pt *pt, uint64_t from, uint64_t to)
{
	pt->told.from = from;
	pt->told.to = to;
	if (to)
		pt->ip = to;
}

/* Tracing stops; where to, is not always told. */
static enum pt_result end_at_branch(struct pt *pt, uint64_t to)
{
	pt->on = false;
	pt->where = PT_IN_SYNC;
	go(pt, pt->ip, to);
	pt->told.tells |= PT_TELLS_END;
	return PT_STATE;
}

/* Some CPUs give the address behind an indirect branch whose target cannot be reached. */
static bool is_behind_branch(const struct pt *pt, uint64_t ip)
{
	const struct perfev_flow_opts *opts = &pt->flow->opts;

	return opts->family == 6 && opts->model == 92 && pt_is_at(pt, X86_INDIRECT) && ip == pt->ip + pt->instruction.size;
}

/* PT_STATE: a branch or what was told with the FUP; PT_AGAIN: it is there. */
static enum pt_result walk_fup(struct pt *pt)
{
	bool alone = pt->where != PT_FUP;
	uint64_t to = pt->last_ip;
	enum pt_result r = pt_walk(pt, to);

	if (r == PT_STATE)
		return r;
	if (r == PT_AGAIN && (pt_is_at(pt, X86_NONE) || is_behind_branch(pt, to))) {
		pt->where = PT_IN_SYNC;
		return pt_take_fup_events(pt, alone) && alone ? PT_STATE : PT_AGAIN;
	}
	pt->fup_tx = false;
	return r == PT_AGAIN ? pt_mismatch(pt) : r;
}

static uint64_t target(const struct pt *pt)
{
	return pt->ip + (uint64_t)(int64_t)(pt->instruction.size + pt->instruction.displacement);
}

static enum pt_result walk_tip(struct pt *pt)
{
	bool ends = pt->where == PT_TIP_PGD, has = pt_has_bytes(pt);
	enum pt_result r = pt_walk(pt, 0);

	if (r == PT_STATE && ends && has && pt->told.to == pt->last_ip) { /* it left what is traced */
		pt->on = false;
		pt->where = PT_IN_SYNC;
		pt->told.tells |= PT_TELLS_END;
	}
	if (r != PT_AGAIN)
		return r;
	if (pt_is_at(pt, X86_CONDITIONAL)) {
		if (ends && has && target(pt) == pt->last_ip)
			return end_at_branch(pt, pt->last_ip);
		return pt_mismatch(pt);
	}
	if (ends)
		return end_at_branch(pt, has ? pt->last_ip : 0);
	pt->where = PT_IN_SYNC;
	go(pt, pt->ip, has ? pt->last_ip : 0);
	return PT_STATE;
}

static bool use_tnt(struct pt *pt)
{
	bool taken = pt->tnt >> (pt->tnt_count - 1) & 1;

	pt->tnt_count--;
	pt->idle = 0;
	pt->where = pt->tnt_count ? PT_TNT_MORE : PT_IN_SYNC;
	return taken;
}

/* A return whose address is known has a bit instead of a TIP. */
static enum pt_result return_by_tnt(struct pt *pt)
{
	if (pt->flow->opts.no_compression || !pt->return_to || !(pt->tnt >> (pt->tnt_count - 1) & 1))
		return pt_mismatch(pt);
	use_tnt(pt);
	go(pt, pt->ip, pt->return_to);
	return PT_STATE;
}

/* The TIP of an indirect branch stands behind the TNT of the branches around it. */
static enum pt_result tip_behind_tnt(struct pt *pt)
{
	enum pt_result r = pt_next(pt);

	if (r != PT_AGAIN)
		return r;
	if (pt->packet.type != PERFEV_PT_TIP || !pt_has_bytes(pt)) {
		pt->kept = true;
		return pt_mismatch(pt);
	}
	pt_set_last_ip(pt);
	go(pt, pt->ip, pt->last_ip);
	return PT_STATE;
}

/* PT_AGAIN: all of it is used. */
static enum pt_result walk_tnt(struct pt *pt)
{
	enum pt_result r;

	do {
		r = pt_walk(pt, 0);
		if (r != PT_AGAIN)
			return r;
		if (pt->instruction.type == PERFEV_FLOW_RETURN)
			return return_by_tnt(pt);
		if (pt_is_at(pt, X86_INDIRECT))
			return tip_behind_tnt(pt);
		if (use_tnt(pt)) {
			go(pt, pt->ip, target(pt));
			return PT_STATE;
		}
		pt->ip += pt->instruction.size;
	} while (pt->tnt_count);
	pt_keep_time(pt);
	return PT_AGAIN;
}

/* Its FUP is where it was when the PSB was made: branches before it come before the PSB. */
static enum pt_result walk_to_psb(struct pt *pt)
{
	enum pt_result r;

	if (pt->ip != pt->last_ip) {
		r = walk_fup(pt);
		if (r != PT_AGAIN)
			return r;
	}
	pt->where = PT_IN_SYNC;
	return pt_take_psb(pt) == PT_STATE ? PT_STATE : pt_mismatch(pt);
}

static enum pt_result meet_psb(struct pt *pt)
{
	struct perfev_pt_packet fup;

	pt->psb_offset = pt->packet.offset;
	pt->psb_ip = 0;
	if (pt->on && pt_find_fup(pt, &fup)) {
		struct perfev_pt_packet psb = pt->packet;

		pt->packet = fup;
		pt_set_last_ip(pt);
		pt->packet = psb;
		pt->where = PT_FUP_IN_PSB;
		return walk_to_psb(pt);
	}
	return pt_take_psb(pt);
}

/* ---- in sync ------------------------------------------------------------------------------------------------------ */

static enum pt_result end_of_fup(struct pt *pt, unsigned tells, uint64_t from)
{
	pt->told.from = from;
	pt->told.to = 0;
	if (pt_has_bytes(pt)) {
		pt_set_ip(pt);
		pt->told.to = pt->ip;
	}
	pt->told.tells |= tells;
	return PT_STATE;
}

/* What was interrupted at a FUP goes on at the TIP. */
static enum pt_result walk_fup_tip(struct pt *pt)
{
	enum pt_result r;

	if (pt->tx_abort) {
		pt->tx_abort = pt->in_tx = false;
		pt->told.in_tx = false;
		pt->told.abort = true;
	} else {
		pt->told.async = true;
	}
	while ((r = pt_next(pt)) == PT_AGAIN) {
		switch (pt->packet.type) {
		case PERFEV_PT_TIP:
			return end_of_fup(pt, 0, pt->ip);
		case PERFEV_PT_TIP_PGD:
			pt->on = false;
			return end_of_fup(pt, PT_TELLS_END, pt->ip);
		case PERFEV_PT_TIP_PGE:
			pt->on = true;
			return end_of_fup(pt, PT_TELLS_BEGIN, 0);
		case PERFEV_PT_OVF:
			return pt_overflow(pt);
		case PERFEV_PT_TSC:
		case PERFEV_PT_TMA:
		case PERFEV_PT_BBP:
		case PERFEV_PT_BIP:
			break;
		default:
			if (pt_take_common(pt))
				continue;
			break;
		}
		pt->kept = true;
		return pt_mismatch(pt);
	}
	return r;
}

static enum pt_result take_fup(struct pt *pt, bool *alone)
{
	bool no_tip = *alone || pt->fup_mwait;
	enum pt_result r;

	*alone = false;
	if (!pt_has_bytes(pt))
		return PT_AGAIN;
	pt_set_last_ip(pt);
	pt->where = no_tip ? PT_FUP_ALONE : PT_FUP;
	r = walk_fup(pt);
	if (r != PT_AGAIN || no_tip)
		return r;
	return walk_fup_tip(pt);
}

static enum pt_result take_pge(struct pt *pt)
{
	pt->on = true;
	if (!pt_has_bytes(pt))
		return PT_AGAIN;
	pt_set_ip(pt);
	pt->told.from = 0;
	pt->told.to = pt->ip;
	pt->told.tells |= PT_TELLS_BEGIN;
	return PT_STATE;
}

static enum pt_result take_tnt(struct pt *pt)
{
	pt->tnt = pt->packet.as.tnt.bits;
	pt->tnt_count = pt->packet.as.tnt.count;
	if (!pt->tnt_count)
		return PT_AGAIN;
	pt->where = PT_TNT;
	return walk_tnt(pt);
}

static enum pt_result take_tip(struct pt *pt, enum pt_where where)
{
	if (pt_has_bytes(pt))
		pt_set_last_ip(pt);
	pt->where = where;
	return walk_tip(pt);
}

static enum pt_result take(struct pt *pt, bool *alone)
{
	switch (pt->packet.type) {
	case PERFEV_PT_TNT_8:
	case PERFEV_PT_TNT_64:
		return take_tnt(pt);
	case PERFEV_PT_TIP:
		return take_tip(pt, PT_TIP);
	case PERFEV_PT_TIP_PGD:
		return take_tip(pt, PT_TIP_PGD);
	case PERFEV_PT_TIP_PGE:
		return take_pge(pt);
	case PERFEV_PT_FUP:
		return take_fup(pt, alone);
	case PERFEV_PT_OVF:
		return pt_overflow(pt);
	case PERFEV_PT_PSB:
		return meet_psb(pt);
	case PERFEV_PT_TRACESTOP:
		pt_stop(pt);
		pt->time.has_tma = false;
		return PT_AGAIN;
	case PERFEV_PT_MODE_TSX:
		return pt_take_tsx(pt, alone);
	default:
		return pt_take_common(pt) ? PT_AGAIN : pt_take_event(pt, alone);
	}
}

static enum pt_result read_on(struct pt *pt)
{
	bool alone = false;
	enum pt_result r;

	do {
		r = pt_next(pt);
		if (r != PT_AGAIN)
			return r;
		r = take(pt, &alone);
		if (r == PT_AGAIN && pt->packet.type == PERFEV_PT_CBR && pt->time.ratio != pt->told_ratio) {
			pt_tell(pt, 0, 0, 0);
			return PT_STATE;
		}
	} while (r == PT_AGAIN);
	return r;
}

static enum pt_result advance(struct pt *pt)
{
	enum pt_result r;

	switch (pt->where) {
	case PT_NO_PSB:
		return pt_sync_at_psb(pt);
	case PT_NO_IP:
		pt->has_last_ip = false;
		pt->last_ip = pt->ip = 0;
		return pt_sync_at_address(pt);
	case PT_RESYNC:
		return pt_sync_at_address(pt);
	case PT_TNT:
	case PT_TNT_MORE:
		r = walk_tnt(pt);
		return r == PT_AGAIN ? read_on(pt) : r;
	case PT_TIP:
	case PT_TIP_PGD:
		return walk_tip(pt);
	case PT_FUP:
		r = walk_fup(pt);
		return r == PT_AGAIN ? walk_fup_tip(pt) : r;
	case PT_FUP_ALONE:
		r = walk_fup(pt);
		return r == PT_AGAIN ? read_on(pt) : r;
	case PT_FUP_IN_PSB:
		return walk_to_psb(pt);
	default:
		return read_on(pt);
	}
}

static const struct {
	enum perfev_flow_gap gap;
	const char *why;
} reasons[] = {
	[PT_NO_CODE] = {PERFEV_FLOW_GAP_NO_CODE, "the code is not known"},
	[PT_BAD_INSTRUCTION] = {PERFEV_FLOW_GAP_NO_CODE, "there is no such instruction: it is other code"},
	[PT_BAD_PACKET] = {PERFEV_FLOW_GAP_PACKETS, "no packet is like that: the trace is damaged"},
	[PT_BAD_ORDER] = {PERFEV_FLOW_GAP_PACKETS, "packets are in an order that is not possible: the trace is damaged"},
	[PT_MISMATCH] = {PERFEV_FLOW_GAP_MISMATCH, "the packets do not fit the code"},
	[PT_OVERFLOW] = {PERFEV_FLOW_GAP_OVERFLOW, "packets were lost: the CPU made more than it could store"},
	[PT_LOOP] = {PERFEV_FLOW_GAP_LOOP, "the code goes round without end: it is other code"},
	[PT_TOO_MUCH] = {PERFEV_FLOW_GAP_LOOP, "a few packets lead over more code than there can be: it is other code"},
};

/* It has the time of the packets that were read; what is told next may be earlier. */
static void put_gap(struct pt *pt, enum pt_result r)
{
	uint64_t time = pt->flow->time;

	pt_keep_time(pt);
	pt->flow->time = pt->sample_time;
	flow_put_gap(pt->flow, pt->ip, 0, reasons[r].gap, reasons[r].why);
	pt->flow->time = time;
}

static void pt_step(struct perfev_flow *flow)
{
	struct pt *pt = flow->state;
	enum pt_result r;

	do {
		memset(&pt->told, 0, sizeof(pt->told));
		pt->told.tells = PT_TELLS_BRANCH;
		r = advance(pt);
	} while (r == PT_SILENT);
	flow->place = perfev_trace_offset(&pt->packets.input);
	if (r == PT_END) {
		flow->ended = true;
	} else if (r == PT_STATE) {
		pt_set_time(pt);
		pt_put_told(pt);
	} else {
		put_gap(pt, r);
	}
}

/* ---- as a kind of flow -------------------------------------------------------------------------------------------- */

static int pt_make(struct perfev_flow *flow, struct perfev_error *err)
{
	flow->state = calloc(1, sizeof(struct pt));
	return flow->state ? 0 : error_memory(err);
}

static void pt_free(struct perfev_flow *flow)
{
	struct pt *pt = flow->state;

	if (pt)
		free(pt->blocks);
	free(pt);
}

static void pt_forget(struct perfev_flow *flow)
{
	struct pt *pt = flow->state;

	pt->window_size = 0;
	if (++pt->age == 0 && pt->blocks) /* went round */
		memset(pt->blocks, 0, pt->block_count * sizeof(*pt->blocks));
}

static int make_room(struct pt *pt, size_t trace_size)
{
	uint32_t count = PT_BLOCKS_LEAST;
	struct pt_block *blocks;

	while (count < trace_size && count < PT_BLOCKS)
		count *= 2;
	if (count <= pt->block_count)
		return 0;
	blocks = calloc(count, sizeof(*blocks));
	if (!blocks)
		return -1;
	free(pt->blocks);
	pt->blocks = blocks;
	pt->block_count = count;
	return 0;
}

/* Blocks are forgotten by their age: traces may be many and small, and then clearing them would be most of the work. */
static int pt_begin(struct perfev_flow *flow, struct perfev_error *err)
{
	struct pt *pt = flow->state;

	memset(pt, 0, offsetof(struct pt, age));
	pt_forget(flow);
	if (make_room(pt, flow->trace.size) < 0)
		return error_memory(err);
	pt->flow = flow;
	pt->is_64 = true; /* until a packet says otherwise */
	pt->work_left = PT_WORK_MAX;
	perfev_pt_begin(&pt->packets, 0);
	perfev_pt_feed(&pt->packets, flow->trace);
	pt_time_begin(&pt->time, &flow->opts);
	flow->ended = flow->in_tx = false;
	return 0;
}

const struct flow_kind flow_pt = {pt_make, pt_free, pt_begin, pt_step, pt_forget};
