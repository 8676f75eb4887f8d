/* SPDX-License-Identifier: MIT */
/*
 * The packets of Intel PT for the decoder of ways: addresses in them, the packets of a PSB, which tell the state, and how a
 * way is found when nothing of it is known: at a PSB, or at an address.
 */
#include "flow_pt_base.h"

#include <string.h>

/* ---- packets ------------------------------------------------------------------------------------------------------ */

/* The next packet but PAD. */
enum pt_result pt_next(struct pt *pt)
{
	int r;

	if (pt->kept) {
		pt->kept = false;
		return PT_AGAIN;
	}
	pt->before = pt->packet.type;
	pt->idle = 0;
	pt->window_size = 0; /* what is mapped may be another now */
	do {
		r = perfev_pt_next(&pt->packets, &pt->packet, NULL);
	} while (r > 0 && pt->packet.type == PERFEV_PT_PAD);
	pt->work_left += (uint64_t)pt->packet.size * PT_WORK_BYTE;
	if (pt->work_left > PT_WORK_MAX)
		pt->work_left = PT_WORK_MAX;
	if (r > 0)
		return PT_AGAIN;
	if (r == 0)
		return PT_END;
	perfev_pt_skip(&pt->packets);
	pt->in_tx = false;
	pt->time.has_tma = false;
	return PT_BAD_PACKET;
}

bool pt_has_bytes(const struct pt *pt)
{
	return pt->packet.as.ip.ip_bytes != 0;
}

/* An address has 16, 32 or 48 bits of its own; the others are those of the last one. */
void pt_set_last_ip(struct pt *pt)
{
	static const uint64_t kept[] = {UINT64_MAX, ~UINT64_C(0xffff), ~UINT64_C(0xffffffff), 0, ~UINT64_C(0xffffffffffff)};
	unsigned bytes = pt->packet.as.ip.ip_bytes;
	uint64_t payload = pt->packet.as.ip.payload;

	if (bytes == 3)
		payload = (uint64_t)((int64_t)(payload << 16) >> 16);
	pt->last_ip = bytes < 5 ? (pt->last_ip & kept[bytes]) | payload : payload;
	pt->has_last_ip = true;
}

void pt_set_ip(struct pt *pt)
{
	pt_set_last_ip(pt);
	pt->ip = pt->last_ip;
}

static bool has_whole_ip(const struct pt *pt)
{
	return pt_has_bytes(pt) && (pt->has_last_ip || pt->packet.as.ip.ip_bytes == 3 || pt->packet.as.ip.ip_bytes == 6);
}

static void set_mode(struct pt *pt)
{
	pt->is_64 = pt->packet.as.exec.cs_l;
}

enum pt_result pt_overflow(struct pt *pt)
{
	pt->in_tx = pt->tx_abort = false;
	pt->time.instructions = 0;
	pt->where = PT_RESYNC;
	return PT_OVERFLOW;
}

/* What may come anywhere, and tells nothing of the way. */
bool pt_take_common(struct pt *pt)
{
	switch (pt->packet.type) {
	case PERFEV_PT_TSC:
	case PERFEV_PT_TMA:
	case PERFEV_PT_MTC:
	case PERFEV_PT_CYC:
	case PERFEV_PT_CBR:
		pt_time_take(&pt->time, &pt->packet, pt->before, &pt->packets);
		return true;
	case PERFEV_PT_MODE_EXEC:
		set_mode(pt);
		return true;
	case PERFEV_PT_PIP:
	case PERFEV_PT_VMCS:
	case PERFEV_PT_MNT:
	case PERFEV_PT_CFE:
	case PERFEV_PT_EVD:
	case PERFEV_PT_TRIG:
	case PERFEV_PT_BBP:
	case PERFEV_PT_BIP:
		return true;
	default:
		return false;
	}
}

void pt_stop(struct pt *pt)
{
	pt->on = false;
	pt->in_tx = pt->tx_abort = false;
}

void pt_keep_time(struct pt *pt)
{
	pt->sample_time = pt->time.now;
	pt->sample_instructions = pt->time.instructions;
}

enum pt_result pt_mismatch(struct pt *pt)
{
	pt->where = PT_RESYNC;
	return PT_MISMATCH;
}

void pt_tell(struct pt *pt, unsigned tells, uint64_t from, uint64_t to)
{
	pt->told.tells = tells;
	pt->told.from = from;
	pt->told.to = to;
}

/* ---- PSB ---------------------------------------------------------------------------------------------------------- */

static void begin_psb(struct pt *pt)
{
	pt->psb_offset = pt->packet.offset;
	pt->psb_ip = pt->last_ip = 0;
	pt->has_last_ip = true;
	pt->stack_count = 0;
}

/* The packets up to PSBEND, on a way that is known: where they say it is, it is. PT_AGAIN: to the end; PT_STATE: another packet
 * stands among them, which is to be taken. */
static enum pt_result read_psb(struct pt *pt)
{
	enum pt_result r;

	while ((r = pt_next(pt)) == PT_AGAIN) {
		switch (pt->packet.type) {
		case PERFEV_PT_PSBEND:
			return PT_AGAIN;
		case PERFEV_PT_OVF:
			return pt_overflow(pt);
		case PERFEV_PT_FUP:
			pt->on = true;
			if (pt_has_bytes(pt)) {
				pt_set_last_ip(pt);
				pt->psb_ip = pt->last_ip;
			}
			break;
		case PERFEV_PT_MODE_TSX:
			pt->in_tx = pt->packet.as.tsx.in_tx;
			break;
		default:
			if (pt_take_common(pt))
				break;
			pt->time.has_tma = false;
			pt->kept = true;
			return PT_STATE;
		}
	}
	return r;
}

/* PT_AGAIN: another packet stands in it. */
enum pt_result pt_take_psb(struct pt *pt)
{
	enum pt_result r;

	begin_psb(pt);
	r = read_psb(pt);
	if (r == PT_STATE)
		return PT_AGAIN;
	if (r != PT_AGAIN)
		return r;
	pt_tell(pt, PT_TELLS_PSB, pt->psb_ip, 0);
	return PT_STATE;
}

#define BEHIND_PSB 6 /* packets in which TIP.PGE may follow */

/* The FUP of a PSB, looking ahead. One that is followed by TIP.PGE tells where tracing will begin. */
bool pt_find_fup(const struct pt *pt, struct perfev_pt_packet *fup)
{
	struct perfev_pt_decoder at = pt->packets;
	struct perfev_pt_packet packet;
	unsigned behind = 0;
	bool found = false;

	while (perfev_pt_next(&at, &packet, NULL) > 0) {
		switch (packet.type) {
		case PERFEV_PT_PAD:
			continue;
		case PERFEV_PT_FUP:
			if (behind || found || !packet.as.ip.ip_bytes)
				return found;
			*fup = packet;
			found = true;
			continue;
		case PERFEV_PT_PSBEND:
			if (!found)
				return false;
			behind = BEHIND_PSB;
			continue;
		case PERFEV_PT_TIP_PGE:
			return found && !behind;
		case PERFEV_PT_OVF:
		case PERFEV_PT_TNT_8:
		case PERFEV_PT_TNT_64:
		case PERFEV_PT_TIP_PGD:
		case PERFEV_PT_TIP:
		case PERFEV_PT_PSB:
		case PERFEV_PT_TRACESTOP:
			return found;
		default:
			break;
		}
		if (behind && --behind == 0)
			return found;
	}
	return found;
}

/* ---- to get in sync ----------------------------------------------------------------------------------------------- */

/* The packets up to PSBEND, on a way that is not known. PT_AGAIN: to the end. */
static enum pt_result enter_psb(struct pt *pt)
{
	enum pt_result r;

	while ((r = pt_next(pt)) == PT_AGAIN) {
		switch (pt->packet.type) {
		case PERFEV_PT_PSBEND:
			return PT_AGAIN;
		case PERFEV_PT_OVF:
			return pt_overflow(pt);
		case PERFEV_PT_FUP:
			pt->on = true;
			if (has_whole_ip(pt)) {
				pt_set_ip(pt);
				pt->psb_ip = pt->ip;
			}
			break;
		case PERFEV_PT_MODE_TSX:
			pt->in_tx = pt->packet.as.tsx.in_tx;
			break;
		case PERFEV_PT_TRACESTOP:
			pt_stop(pt);
			pt->time.has_tma = false;
			pt->where = pt->ip ? PT_IN_SYNC : PT_RESYNC;
			return PT_MISMATCH;
		case PERFEV_PT_TNT_8:
		case PERFEV_PT_TNT_64:
			pt->time.has_tma = false;
			pt->where = pt->ip ? PT_IN_SYNC : PT_RESYNC;
			return PT_MISMATCH;
		case PERFEV_PT_PSB:
			break;
		default:
			if (!pt_take_common(pt))
				return PT_MISMATCH;
			break;
		}
	}
	return r;
}

static enum pt_result take_address(struct pt *pt, unsigned tells)
{
	if (has_whole_ip(pt))
		pt_set_ip(pt);
	if (!pt->ip)
		return PT_AGAIN;
	pt->told.tells |= tells;
	return PT_STATE;
}

/* PT_AGAIN: no address yet. */
static enum pt_result look_for_address(struct pt *pt)
{
	enum pt_result r;

	switch (pt->packet.type) {
	case PERFEV_PT_TIP_PGD:
		pt->on = false;
		return take_address(pt, PT_TELLS_END);
	case PERFEV_PT_TIP_PGE:
		pt->on = true;
		return take_address(pt, PT_TELLS_BEGIN);
	case PERFEV_PT_TIP:
		pt->on = true;
		return take_address(pt, 0);
	case PERFEV_PT_FUP:
		return take_address(pt, 0);
	case PERFEV_PT_OVF:
		return pt_overflow(pt);
	case PERFEV_PT_TRACESTOP:
		pt_stop(pt);
		pt->time.has_tma = false;
		return PT_AGAIN;
	case PERFEV_PT_MODE_TSX:
		pt->in_tx = pt->packet.as.tsx.in_tx;
		return PT_AGAIN;
	case PERFEV_PT_PSB:
		begin_psb(pt);
		r = enter_psb(pt);
		if (r != PT_AGAIN)
			return r;
		pt_tell(pt, PT_TELLS_PSB, pt->psb_ip, 0);
		return PT_STATE;
	default:
		pt_take_common(pt);
		return PT_AGAIN;
	}
}

enum pt_result pt_sync_at_address(struct pt *pt)
{
	enum pt_result r;

	pt->fup_tx = pt->fup_ptwrite = pt->fup_mwait = pt->fup_pwre = pt->fup_exstop = false;
	do {
		r = pt_next(pt);
		if (r == PT_AGAIN)
			r = look_for_address(pt);
	} while (r == PT_AGAIN);
	if (r != PT_STATE)
		return r;
	pt->where = PT_IN_SYNC;
	pt->told.from = 0;
	pt->told.to = pt->ip;
	return PT_STATE;
}

enum pt_result pt_sync_at_psb(struct pt *pt)
{
	enum pt_result r;

	pt->on = pt->has_last_ip = pt->kept = false;
	pt->ip = 0;
	if (!perfev_pt_sync(&pt->packets))
		return PT_END;
	r = pt_next(pt);
	if (r != PT_AGAIN)
		return r;
	begin_psb(pt);
	pt->where = PT_IN_SYNC; /* where tracing is off, its address comes with TIP.PGE */
	r = enter_psb(pt);
	if (r != PT_AGAIN)
		return r;
	pt_tell(pt, PT_TELLS_PSB, pt->psb_ip, 0);
	return PT_STATE;
}
