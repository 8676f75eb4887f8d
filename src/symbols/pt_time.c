/* SPDX-License-Identifier: MIT */
/*
 * The time in a trace of Intel PT. A TSC packet has the time stamp counter, without its highest byte. Between, there are three
 * kinds of clocks: MTC packets are ticks of the crystal, of which 8 bits are told, and a TMA packet tells what those and the
 * TSC have in common; CYC packets count cycles, whose length follows from the next MTC that stands behind a CYC, or else from
 * the frequency of the last CBR.
 *
 * Invariant: now never goes back. A TSC packet that is earlier is behind cycles that were taken for too long, or other packets: then
 * it stays until the TSC is there; one that is earlier by more than half of what fits in a packet went round.
 */
#include "pt_time.h"

#include <string.h>

#define TOP	 (UINT64_C(0xff) << 56)
#define ROUND	 (UINT64_C(1) << 56)
#define TOO_LONG 1.25	 /* times the length by CBR: no cycle is as long */

void pt_time_begin(struct pt_time *time, const struct perfev_flow_opts *opts)
{
	memset(time, 0, sizeof(*time));
	time->ctc_n = opts->tsc_ctc_n;
	time->ctc_d = opts->tsc_ctc_n ? opts->tsc_ctc_d : 0;
	time->mtc_period = opts->mtc_period < 16 ? opts->mtc_period : 15;
	time->nonturbo_ratio = opts->nonturbo_ratio;
	time->reference = opts->reference;
}

static void set_now(struct pt_time *time, uint64_t now)
{
	if (now >= time->now)
		time->now = now;
	time->instructions = 0;
}

/* With the byte that is not in the packet: the time that is nearest to the reference. */
static uint64_t whole(uint64_t tsc, uint64_t reference)
{
	tsc |= reference & TOP;
	if (tsc < reference && reference - tsc > ROUND / 2)
		return tsc + ROUND;
	if (tsc > reference && tsc - reference > ROUND / 2 && tsc >= ROUND)
		return tsc - ROUND;
	return tsc;
}

static void take_tsc(struct pt_time *time, uint64_t tsc)
{
	time->has_tma = false;
	if (time->reference || !time->now) {
		time->now = time->tsc = whole(tsc, time->reference);
		time->reference = time->instructions = 0;
		return;
	}
	tsc |= time->now & TOP;
	time->tsc = tsc;
	if (tsc < time->now && time->now - tsc > ROUND / 2)
		time->tsc = tsc += ROUND;
	set_now(time, tsc);
}

/* Cycles of the TSC in @ticks of the crystal. */
static uint64_t ticks_tsc(const struct pt_time *time, uint64_t ticks)
{
	uint64_t n = time->ctc_n, d = time->ctc_d;

	return n % d == 0 ? ticks * (n / d) : ticks / d * n + ticks % d * n / d;
}

static void take_tma(struct pt_time *time, uint64_t ctc, uint64_t fast_counter)
{
	if (!time->ctc_d)
		return;
	time->last_mtc = (uint32_t)(ctc >> time->mtc_period) & 0xff;
	time->ctc_tsc = time->tsc - fast_counter - ticks_tsc(time, ctc & ((UINT64_C(1) << time->mtc_period) - 1));
	time->ctc_ticks = 0;
	time->has_tma = time->is_new_tma = true;
}

/* A TMA has the low 16 bits of the crystal's clock: with a long period some bits of MTC are not among them. */
static uint32_t with_missing_bits(uint32_t last, uint32_t mtc, uint32_t period)
{
	uint32_t first = UINT32_C(1) << (16 - period);

	last |= mtc & ~(first - 1);
	return last >= mtc ? (last - first) & 0xff : last;
}

/* The time of an MTC, of which 8 bits of the clock are known. */
static uint64_t mtc_time(struct pt_time *time, uint32_t mtc)
{
	uint32_t ticks;

	if (time->mtc_period > 8 && time->is_new_tma)
		time->last_mtc = with_missing_bits(time->last_mtc, mtc, time->mtc_period);
	time->is_new_tma = false;
	ticks = mtc > time->last_mtc ? mtc - time->last_mtc : mtc + 256 - time->last_mtc;
	time->last_mtc = mtc;
	time->ctc_ticks += (uint64_t)ticks << time->mtc_period;
	return time->ctc_tsc + ticks_tsc(time, time->ctc_ticks);
}

static void take_cbr(struct pt_time *time, uint64_t ratio)
{
	time->ratio = (uint32_t)ratio;
	time->ratio_tsc = ratio ? (double)time->nonturbo_ratio / (double)ratio : 0;
}

/* Up to the next MTC behind a CYC, how long a cycle is; false: not known, or there is none. */
static bool look_at(struct pt_time *ahead, const struct perfev_pt_packet *packet, uint32_t before, bool *told)
{
	uint64_t now;

	switch (packet->type) {
	case PERFEV_PT_MTC:
		now = mtc_time(ahead, (uint32_t)packet->as.mtc.ctc);
		if (now < ahead->now)
			return false;
		ahead->now = now;
		*told = before == PERFEV_PT_CYC;
		return !*told;
	case PERFEV_PT_CYC:
		ahead->cycles += packet->as.cyc.cycles;
		return true;
	case PERFEV_PT_CBR:
		if (ahead->ratio && ahead->ratio != packet->as.cbr.ratio)
			return false;
		take_cbr(ahead, packet->as.cbr.ratio);
		return true;
	case PERFEV_PT_TSC:
	case PERFEV_PT_TMA:
	case PERFEV_PT_TIP_PGD:
	case PERFEV_PT_TRACESTOP:
	case PERFEV_PT_EXSTOP:
	case PERFEV_PT_MWAIT:
	case PERFEV_PT_PWRE:
	case PERFEV_PT_PWRX:
	case PERFEV_PT_OVF:
		return false;
	default:
		return true;
	}
}

/* From the last MTC to the next one there are so many cycles. */
static void calculate_cycle(struct pt_time *time, const struct perfev_pt_decoder *decoder)
{
	struct perfev_pt_decoder at = *decoder;
	struct pt_time ahead = *time;
	struct perfev_pt_packet packet;
	uint32_t before = PERFEV_PT_MTC;
	bool told = false;
	double length;

	time->cycle_tsc = 0;
	ahead.cycles = ahead.ratio = 0;
	do {
		if (perfev_pt_next(&at, &packet, NULL) <= 0)
			return;
		if (packet.type == PERFEV_PT_PAD)
			continue;
		if (!look_at(&ahead, &packet, before, &told))
			break;
		before = packet.type;
	} while (true);
	if (!told || !ahead.cycles)
		return;
	length = (double)(ahead.now - time->now) / (double)ahead.cycles;
	if (!ahead.ratio && time->ratio)
		ahead.ratio_tsc = time->ratio_tsc;
	if ((ahead.ratio || time->ratio) && length > ahead.ratio_tsc && length / ahead.ratio_tsc > TOO_LONG)
		return;
	time->cycle_tsc = length;
}

/* Cycles are counted from a packet that stands behind a CYC on. */
static void count_from_here(struct pt_time *time)
{
	time->cycle_from = time->now;
	time->cycles = 0;
	time->cycle_tsc = 0;
}

static void take_mtc(struct pt_time *time, uint32_t mtc, uint32_t before, const struct perfev_pt_decoder *ahead)
{
	if (!time->has_tma)
		return;
	set_now(time, mtc_time(time, mtc));
	if (before != PERFEV_PT_CYC)
		return;
	count_from_here(time);
	calculate_cycle(time, ahead);
}

static void take_cyc(struct pt_time *time, uint64_t cycles)
{
	double length = time->cycle_tsc > 0 ? time->cycle_tsc : time->ratio ? time->ratio_tsc : 0;

	time->cycles += cycles;
	length *= (double)time->cycles;
	if (time->cycle_from && length > 0 && length < (double)(UINT64_MAX - time->cycle_from) / 2) /* of damaged ones it is more */
		set_now(time, time->cycle_from + (uint64_t)length);
}

void pt_time_take(struct pt_time *time, const struct perfev_pt_packet *packet, uint32_t before,
		  const struct perfev_pt_decoder *ahead)
{
	switch (packet->type) {
	case PERFEV_PT_TSC:
		take_tsc(time, packet->as.tsc.tsc);
		if (before == PERFEV_PT_CYC)
			count_from_here(time);
		break;
	case PERFEV_PT_TMA:
		take_tma(time, packet->as.tma.ctc, packet->as.tma.fast_counter);
		break;
	case PERFEV_PT_MTC:
		take_mtc(time, (uint32_t)packet->as.mtc.ctc, before, ahead);
		break;
	case PERFEV_PT_CYC:
		take_cyc(time, packet->as.cyc.cycles);
		break;
	case PERFEV_PT_CBR:
		take_cbr(time, packet->as.cbr.ratio);
		break;
	default:
		break;
	}
}
