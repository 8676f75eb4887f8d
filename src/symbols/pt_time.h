/* SPDX-License-Identifier: MIT */
/* The time in a trace of Intel PT, out of its packets. */
#ifndef SYMBOLS_PT_TIME_H
#define SYMBOLS_PT_TIME_H

#include <perfev/flow.h>
#include <perfev/intel_pt.h>

#include <stdbool.h>

struct pt_time {
	uint32_t ctc_n, ctc_d; /* cycles of the TSC for each tick of the crystal: n / d; d 0: not known */
	uint32_t mtc_period, nonturbo_ratio;
	uint64_t reference;    /* a whole TSC near the first one; packets have 56 bits. 0: used, or not known */
	uint64_t now;	       /* TSC; 0: not known yet */
	uint64_t tsc;	       /* of the last TSC packet */
	bool has_tma, is_new_tma; /* of now and the crystal it is known what they have in common; no MTC came since */
	uint64_t ctc_tsc, ctc_ticks; /* TSC at a tick of the crystal, and ticks since then */
	uint32_t last_mtc;
	uint64_t cycle_from, cycles; /* the time of the last packet that cycles are counted from, and those since */
	double cycle_tsc;	     /* length of a cycle, calculated; 0: not known */
	double ratio_tsc;	     /* the same, by the frequency that a CBR told */
	uint32_t ratio;		     /* of the last CBR */
	uint64_t instructions; /* walked since now was set */
};

void pt_time_begin(struct pt_time *time, const struct perfev_flow_opts *opts);
/* pt_time_take() - a packet, if it tells of the time: TSC, TMA, MTC, CYC, CBR
 * @before: the type of the packet in front of it.
 * @ahead: the decoder behind it. */
void pt_time_take(struct pt_time *time, const struct perfev_pt_packet *packet, uint32_t before,
		  const struct perfev_pt_decoder *ahead);

#endif
