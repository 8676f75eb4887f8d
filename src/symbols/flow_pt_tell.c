/* SPDX-License-Identifier: MIT */
/*
 * What the decoder of Intel PT tells that is no branch, most of it with a FUP that says where it was: transactions, PTWRITE,
 * C-states; and how states become what perfev_flow_next() gives.
 */
#include "flow_pt_base.h"

/* ---- what is told ---------------------------------------------------------------------------------------------------------- */

void pt_tell(struct pt *pt, unsigned tells, uint64_t from, uint64_t to)
{
	pt->told.tells = tells;
	pt->told.from = from;
	pt->told.to = to;
}

/* The place of a FUP is reached: what waited for it is told; with the branch that follows, but where the FUP is @alone. */
bool pt_take_fup_events(struct pt *pt, bool alone)
{
	unsigned tells = (pt->fup_tx ? PT_TELLS_TX : 0) | (pt->fup_ptwrite ? PT_TELLS_PTWRITE : 0) |
			 (pt->fup_mwait ? PT_TELLS_MWAIT : 0) | (pt->fup_pwre ? PT_TELLS_PWRE : 0) |
			 (pt->fup_exstop ? PT_TELLS_EXSTOP : 0);

	if (!tells)
		return false;
	pt_tell(pt, tells | (alone ? 0 : PT_TELLS_BRANCH), pt->ip, 0);
	if (pt->fup_tx) {
		pt->in_tx = pt->told.in_tx = pt->fup_tx_in;
		pt->tx_abort = pt->told.tx_aborted = pt->fup_tx_abort;
	}
	pt->told.at_from = tells & (PT_TELLS_PTWRITE | PT_TELLS_EXSTOP);
	pt->told.ptwrite = pt->ptwrite;
	pt->told.mwait = pt->mwait;
	pt->told.pwre = pt->pwre;
	pt->fup_tx = pt->fup_ptwrite = pt->fup_mwait = pt->fup_pwre = pt->fup_exstop = false;
	return true;
}

static uint64_t pwre_of(const struct perfev_pt_packet *packet)
{
	return packet->as.pwre.state | (uint64_t)packet->as.pwre.sub_state << 8 | (uint64_t)(packet->as.pwre.hw != 0) << 16;
}

static uint64_t pwrx_of(const struct perfev_pt_packet *packet)
{
	uint64_t why = (packet->as.pwrx.interrupt ? 1 : 0) | (packet->as.pwrx.deadline ? 2 : 0) |
		       (packet->as.pwrx.store ? 4 : 0) | (packet->as.pwrx.hw ? 8 : 0);

	return packet->as.pwrx.last | (uint64_t)packet->as.pwrx.deepest << 8 | why << 16;
}

/* A packet that a FUP belongs to: it is next, or the packet is damaged. */
static enum pt_result expect_fup(struct pt *pt, bool *waits)
{
	enum pt_result r = pt_next(pt);

	if (r != PT_AGAIN)
		return r;
	*waits = pt->packet.type == PERFEV_PT_FUP;
	pt->kept = true;
	return PT_AGAIN;
}

enum pt_result pt_take_tsx(struct pt *pt, bool *alone)
{
	bool in = pt->packet.as.tsx.in_tx, abort = pt->packet.as.tsx.abort, waits;
	enum pt_result r;

	if (!pt->on) {
		pt->in_tx = in;
		return PT_AGAIN;
	}
	r = expect_fup(pt, &waits);
	if (r != PT_AGAIN)
		return r;
	if (waits) {
		pt->fup_tx = true;
		pt->fup_tx_in = in;
		pt->fup_tx_abort = abort;
		*alone |= !abort;
	} else {
		pt->in_tx = in;
	}
	return PT_AGAIN;
}

static enum pt_result take_ptwrite(struct pt *pt, bool *alone)
{
	enum pt_result r;

	pt->ptwrite = pt->packet.as.ptw.payload;
	if (!pt->packet.as.ptw.ip) {
		pt_tell(pt, PT_TELLS_PTWRITE, pt->ip, 0);
		pt->told.ptwrite = pt->ptwrite;
		return PT_STATE;
	}
	r = expect_fup(pt, &pt->fup_ptwrite);
	*alone |= pt->fup_ptwrite;
	return r;
}

static enum pt_result take_exstop(struct pt *pt, bool *alone)
{
	enum pt_result r;

	if (!pt->packet.as.exstop.ip) {
		pt_tell(pt, PT_TELLS_EXSTOP, pt->ip, 0);
		return PT_STATE;
	}
	r = expect_fup(pt, &pt->fup_exstop);
	*alone |= pt->fup_exstop;
	return r;
}

static enum pt_result take_pwre(struct pt *pt)
{
	pt->pwre = pwre_of(&pt->packet);
	if (pt->fup_mwait) {
		pt->fup_pwre = true;
		return PT_AGAIN;
	}
	pt_tell(pt, PT_TELLS_PWRE, pt->ip, 0);
	pt->told.pwre = pt->pwre;
	return PT_STATE;
}

/* A block of a sample of PEBS ends: its FUP is no interrupt. */
static enum pt_result take_bep(struct pt *pt, bool *alone)
{
	bool waits = false;
	enum pt_result r = PT_AGAIN;

	if (pt->packet.as.bep.ip)
		r = expect_fup(pt, &waits);
	*alone |= waits;
	return r;
}

enum pt_result pt_take_event(struct pt *pt, bool *alone)
{
	switch (pt->packet.type) {
	case PERFEV_PT_PTW:
		return take_ptwrite(pt, alone);
	case PERFEV_PT_EXSTOP:
		return take_exstop(pt, alone);
	case PERFEV_PT_PWRE:
		return take_pwre(pt);
	case PERFEV_PT_PWRX:
		pt_tell(pt, PT_TELLS_PWRX, pt->ip, 0);
		pt->told.pwrx = pwrx_of(&pt->packet);
		return PT_STATE;
	case PERFEV_PT_MWAIT:
		pt->mwait = pt->packet.as.mwait.hints | (uint64_t)pt->packet.as.mwait.ext << 32;
		pt->fup_mwait = true;
		return PT_AGAIN;
	case PERFEV_PT_BEP:
		return take_bep(pt, alone);
	default:
		return PT_AGAIN;
	}
}

/* ---- handing out --------------------------------------------------------------------------------------------------------------- */

static uint32_t type_of(const struct pt *pt)
{
	const struct pt_told *told = &pt->told;

	if (told->abort)
		return PERFEV_FLOW_ABORT;
	if (told->async)
		return told->to ? PERFEV_FLOW_INTERRUPT : PERFEV_FLOW_NONE;
	return told->from ? pt->instruction.type : PERFEV_FLOW_NONE;
}

static void put_branch(struct pt *pt)
{
	const struct pt_told *told = &pt->told;
	struct perfev_flow_branch *branch = flow_put(pt->flow, type_of(pt), told->from, told->to);

	if (told->in_tx && !told->async && !told->abort)
		branch->flags |= PERFEV_FLOW_IN_TX;
	if (told->tells & PT_TELLS_BEGIN || (!told->from && !told->async))
		branch->flags |= PERFEV_FLOW_BEGINS;
	if (told->tells & PT_TELLS_END || (told->async && !told->to))
		branch->flags |= PERFEV_FLOW_ENDS;
}

static void put_other(struct pt *pt, uint32_t type, uint64_t value, uint32_t flags)
{
	uint64_t instructions = pt->flow->instructions; /* are those between branches */
	struct perfev_flow_branch *other = flow_put(pt->flow, type, pt->told.from, pt->told.to);

	other->value = value;
	other->flags |= flags;
	other->instructions = 0;
	pt->flow->instructions = instructions;
}

void pt_put_told(struct pt *pt)
{
	const struct pt_told *told = &pt->told;
	uint32_t at_from = told->at_from ? PERFEV_FLOW_AT_FROM : 0;

	if (told->tells & PT_TELLS_PSB)
		put_other(pt, PERFEV_FLOW_PSB, pt->psb_offset, 0);
	if (pt->time.ratio != pt->told_ratio) {
		pt->told_ratio = pt->time.ratio;
		if (!told->tells)
			pt->told.from = pt->ip;
		put_other(pt, PERFEV_FLOW_CBR, pt->time.ratio, 0);
	}
	if (told->tells & PT_TELLS_MWAIT)
		put_other(pt, PERFEV_FLOW_MWAIT, told->mwait, 0);
	if (told->tells & PT_TELLS_PWRE)
		put_other(pt, PERFEV_FLOW_PWRE, told->pwre, 0);
	if (told->tells & PT_TELLS_EXSTOP)
		put_other(pt, PERFEV_FLOW_EXSTOP, 0, at_from);
	if (told->tells & PT_TELLS_PWRX)
		put_other(pt, PERFEV_FLOW_PWRX, told->pwrx, 0);
	if (told->tells & PT_TELLS_TX)
		put_other(pt, PERFEV_FLOW_TRANSACTION, 0,
			  (told->in_tx ? PERFEV_FLOW_IN_TX : 0) | (told->tx_aborted ? PERFEV_FLOW_ABORTED : 0));
	if (told->tells & PT_TELLS_PTWRITE)
		put_other(pt, PERFEV_FLOW_PTWRITE, told->ptwrite, at_from);
	if (told->tells & PT_TELLS_BRANCH)
		put_branch(pt);
}

/* A time is that of the last packet that was used up: what is told in the middle of one was before the next clock. */
void pt_set_time(struct pt *pt)
{
	const struct pt_told *told = &pt->told;
	uint64_t time, ahead;

	if (pt->where <= PT_IN_SYNC || pt->where == PT_TNT_MORE)
		pt_keep_time(pt);
	if (told->tells & PT_TELLS_PSB && pt->time.tsc)
		pt->sample_time = pt->time.tsc;
	time = pt->sample_time;
	/* from the kernel to user space: by instructions, two cycles each */
	if ((told->from >> 63 || !told->from) && told->to && !(told->to >> 63)) {
		ahead = pt->sample_instructions * 2;
		if (pt->time.ratio && pt->time.nonturbo_ratio)
			ahead = ahead * pt->time.nonturbo_ratio / pt->time.ratio;
		pt->flow->time = time + ahead;
	} else if (time > pt->flow->time) {
		pt->flow->time = time;
	}
}
