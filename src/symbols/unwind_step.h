/* SPDX-License-Identifier: MIT */
/* One step up a stack: from the registers in a function to those in its caller. */
#ifndef SYMBOLS_UNWIND_STEP_H
#define SYMBOLS_UNWIND_STEP_H

#include "unwind_machine.h"
#include "unwind_table.h"

/* unwind_step() - by a rule of a table. @first: nothing was called from here. */
enum unwind_result unwind_step(struct unwind_state *state, const struct unwind_machine *machine,
			       struct unwind_memory *memory, const struct unwind_table *table,
			       const struct unwind_rule *rule, bool first);
/* unwind_step_frame() - by the frame pointer, which code without call frame information may keep. */
enum unwind_result unwind_step_frame(struct unwind_state *state, const struct unwind_machine *machine,
				     struct unwind_memory *memory);

/* unwind_is_signal() - whether code is what a signal handler returns to; of UNWIND_SIGNAL_CODE bytes. */
#define UNWIND_SIGNAL_CODE 9
bool unwind_is_signal(const struct unwind_machine *machine, const unsigned char *code, size_t size);
/* unwind_step_signal() - from there to what was interrupted. */
enum unwind_result unwind_step_signal(struct unwind_state *state, const struct unwind_machine *machine,
				      struct unwind_memory *memory);

/* A plain rule of few registers, for a machine of 8 bytes a word: all that is read lies in one piece below the CFA. */
#define UNWIND_QUICK_SAVES 7

struct unwind_quick {
	int32_t cfa_value;
	uint32_t saved;	      /* bits of registers: of the saved ones, and the stack pointer */
	uint16_t size;	      /* of the piece; its end is the CFA */
	uint16_t ra;	      /* the return address, in it */
	uint8_t cfa_reg, count;
	uint8_t regs[UNWIND_QUICK_SAVES];
	uint16_t at[UNWIND_QUICK_SAVES];
};

/* unwind_quick() - false when the rule is no such one. */
bool unwind_quick(struct unwind_quick *ret, const struct unwind_machine *machine, const struct unwind_table *table,
		  const struct unwind_rule *rule);

/* unwind_step_quick() - false when unwind_step() has to do it: the bytes are not all there, it would be wrong, ... */
static inline bool unwind_step_quick(struct unwind_state *s, const struct unwind_machine *machine,
				     const struct unwind_memory *memory, const struct unwind_quick *q, bool first)
{
	uint64_t cfa = s->regs[q->cfa_reg] + (uint64_t)(int64_t)q->cfa_value, sp = s->regs[machine->sp];
	uint64_t at = cfa - q->size - memory->start;
	const unsigned char *piece;
	unsigned i;

	if (!(s->known >> q->cfa_reg & 1) || cfa < sp || (cfa == sp && !first) || memory->size < q->size ||
	    at > memory->size - q->size)
		return false;
	piece = memory->data + at;
	for (i = 0; i < q->count; i++)
		s->regs[q->regs[i]] = load_u64(piece + q->at[i], memory->swap);
	s->pc = load_u64(piece + q->ra, memory->swap);
	s->regs[machine->sp] = cfa;
	s->known = (s->known & machine->kept) | q->saved | machine->zero;
	return true;
}

#endif
