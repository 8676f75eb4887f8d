/* SPDX-License-Identifier: MIT */
/* What the two halves of the decoder of Intel PT share: that of packets, and that which walks over code. */
#ifndef SYMBOLS_FLOW_PT_BASE_H
#define SYMBOLS_FLOW_PT_BASE_H

#include "flow_base.h"
#include "pt_time.h"
#include "x86_instruction.h"

#define PT_STACK  64  /* return addresses, as many as the CPU compresses */
#define PT_WINDOW 128 /* bytes of code that are asked for at once */
#define PT_BLOCKS 2048 /* that are remembered, */
#define PT_BLOCKS_LEAST 64 /* and of a small trace; powers of two */

/* Work that a trace may make: instructions that are walked for the first time are one each. All together it is bounded by the
 * size of the trace, of which real ones have not a tenth: so none takes more than a few seconds per MB. */
#define PT_WORK_MAX    (UINT64_C(1) << 22) /* so much at once, and at the beginning */
#define PT_WORK_BYTE   512 /* more for each byte that is read */
#define PT_WORK_FETCH  8   /* code is asked for */
#define PT_WORK_BRANCH 2   /* a branch that needs no packet is told */

/* Code without a branch, up to one: walked once, and then known. */
struct pt_block {
	uint64_t ip, branch_ip;
	int32_t pid;
	uint32_t count; /* of instructions, the branch is one; 0: none */
	uint32_t age;	/* pt->age when it was walked: else it is forgotten */
	struct x86_instruction branch;
	bool is_64;
};

/* What comes of a step. */
enum pt_result {
	PT_STATE,   /* there is something to tell, or nothing: pt->told */
	PT_AGAIN,   /* nothing yet: it is where it should be */
	PT_END,	    /* no more packets */
	PT_SILENT,  /* code is not known, which was told before */
	PT_NO_CODE, /* from here on, gaps */
	PT_BAD_INSTRUCTION,
	PT_BAD_PACKET,
	PT_BAD_ORDER,
	PT_MISMATCH,
	PT_OVERFLOW,
	PT_LOOP,
	PT_TOO_MUCH
};

/* Where it is in the trace, and what it waits for. */
enum pt_where {
	PT_NO_PSB,
	PT_NO_IP,  /* what was before is not known */
	PT_RESYNC, /* an address has to come */
	PT_IN_SYNC,
	PT_TNT,	      /* a TNT is walked, of which nothing was used yet */
	PT_TNT_MORE,
	PT_TIP,
	PT_TIP_PGD,
	PT_FUP,
	PT_FUP_ALONE, /* no TIP belongs to it */
	PT_FUP_IN_PSB
};

/* What a state tells: a set. */
enum pt_tells {
	PT_TELLS_BRANCH = 1 << 0,
	PT_TELLS_BEGIN = 1 << 1,
	PT_TELLS_END = 1 << 2,
	PT_TELLS_PSB = 1 << 3,
	PT_TELLS_TX = 1 << 4,
	PT_TELLS_PTWRITE = 1 << 5,
	PT_TELLS_MWAIT = 1 << 6,
	PT_TELLS_PWRE = 1 << 7,
	PT_TELLS_EXSTOP = 1 << 8,
	PT_TELLS_PWRX = 1 << 9
};

struct pt_told {
	unsigned tells;
	uint64_t from, to;
	bool async, abort, in_tx, tx_aborted, at_from;
	uint64_t ptwrite, mwait, pwre, pwrx;
};

struct pt {
	struct perfev_flow *flow;
	struct perfev_pt_decoder packets;
	struct perfev_pt_packet packet;
	uint32_t before; /* the type of the packet in front of it */
	bool kept;	 /* the packet is to be taken once more */
	enum pt_where where;
	uint64_t ip, last_ip, psb_ip, psb_offset;
	bool has_last_ip;
	bool on; /* tracing is */
	bool is_64;
	bool in_tx; /* and what waits for a FUP: */
	bool fup_tx, fup_tx_in, fup_tx_abort, tx_abort, fup_ptwrite, fup_mwait, fup_pwre, fup_exstop;
	uint64_t ptwrite, mwait, pwre;
	uint64_t tnt; /* bits that are left, the next one is bit tnt_count - 1 */
	unsigned tnt_count;
	uint64_t stack[PT_STACK], return_to;
	unsigned stack_at, stack_count;
	struct x86_instruction instruction; /* the last one that was walked over */
	uint64_t idle;			    /* instructions since a packet, or a bit of one, was used */
	uint64_t work_left;
	uint32_t stuck, stuck_period, stuck_left; /* direct branches since something else; a place that should not come again */
	uint64_t stuck_ip;
	unsigned char window[PT_WINDOW]; /* code */
	uint64_t window_ip;
	size_t window_size;
	struct pt_time time;
	uint64_t sample_time, sample_instructions; /* of the state that is told */
	uint32_t told_ratio;
	struct pt_told told;
	/* from here on it stays when another trace begins */
	uint32_t age, block_count; /* of small traces fewer, as a recording may have thousands */
	struct pt_block *blocks;   /* by a hash of ip */
};

/* pt_walk() - to the next branch, or to @to, if that is not 0
 * PT_STATE: a direct branch was told; PT_AGAIN: it is at @to, or at a branch that needs a packet: pt->instruction; else a gap. */
enum pt_result pt_walk(struct pt *pt, uint64_t to);
/* Whether it stopped at a branch of that kind. */
static inline bool pt_is_at(const struct pt *pt, enum x86_branch branch)
{
	return pt->instruction.branch == branch;
}

/* flow_pt_packets.c */

/* The next packet but PAD. PT_AGAIN: there is one. */
enum pt_result pt_next(struct pt *pt);
bool pt_has_bytes(const struct pt *pt); /* of an address */
void pt_set_last_ip(struct pt *pt);
void pt_set_ip(struct pt *pt);
/* What may come anywhere, and tells nothing of the way. */
bool pt_take_common(struct pt *pt);
/* What these find is a gap. */
enum pt_result pt_overflow(struct pt *pt);
enum pt_result pt_mismatch(struct pt *pt);
void pt_stop(struct pt *pt);
void pt_tell(struct pt *pt, unsigned tells, uint64_t from, uint64_t to);
/* What is told next has the time of now. */
void pt_keep_time(struct pt *pt);
/* The packets of a PSB on a known way. PT_AGAIN: another packet stands among them, which is to be taken. */
enum pt_result pt_take_psb(struct pt *pt);
/* The FUP of the PSB that is the packet, looking ahead. */
bool pt_find_fup(const struct pt *pt, struct perfev_pt_packet *fup);
enum pt_result pt_sync_at_psb(struct pt *pt);
enum pt_result pt_sync_at_address(struct pt *pt);

/* flow_pt_tell.c */
/* Packets that are no branches. @alone: set when a FUP follows that no TIP belongs to. */
enum pt_result pt_take_tsx(struct pt *pt, bool *alone);
enum pt_result pt_take_event(struct pt *pt, bool *alone);
/* The place of a FUP is reached. */
bool pt_take_fup_events(struct pt *pt, bool alone);
void pt_set_time(struct pt *pt);
void pt_put_told(struct pt *pt);

#endif
