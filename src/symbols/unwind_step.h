/* SPDX-License-Identifier: MIT */
/* One step up a stack: from the registers in a function to those in its caller. */
#ifndef SYMBOLS_UNWIND_STEP_H
#define SYMBOLS_UNWIND_STEP_H

#include "unwind_table.h"

#include "base/load.h"

#include <perfev/regs.h>

/* What unwinding has to know of a machine. Registers by the numbers of DWARF. */
struct unwind_machine {
	uint16_t elf;
	uint8_t count;	 /* of registers that perf samples */
	uint8_t sp, fp;
	uint8_t link;	 /* the register with the return address; UNWIND_REGISTERS: it is on the stack */
	uint8_t pc;	 /* the number of perf */
	uint8_t word;	 /* bytes */
	int8_t fp_link, fp_saved, fp_cfa; /* behind the frame pointer: return address, caller's frame pointer, CFA */
	uint64_t kept;	 /* registers that a function gives back as they were */
	uint64_t zero;	 /* registers that are always 0 */
	uint8_t numbers[32]; /* of perf */
	/* what signal handlers return to, where nothing describes it: its code, and where it finds the interrupted registers
	 * above the stack pointer: those of a bit in signal_mask from signal_regs on by their number, or at signal_at */
	uint8_t signal_size;
	unsigned char signal_code[9];
	uint16_t signal_context; /* where ucontext begins in that frame */
	uint16_t signal_pc, signal_regs;
	const uint16_t *signal_at;
	uint32_t signal_mask;
};

/* The machine of a task; NULL when there is none of that kind. @abi: PERF_SAMPLE_REGS_ABI_*. */
const struct unwind_machine *unwind_machine(enum perfev_arch arch, uint64_t abi);

/* The bytes of a stack, and nothing else, can be read. */
struct unwind_memory {
	const unsigned char *data;
	uint64_t start, size;
	bool swap;
	/* more of it is there, when this says so: then it changes size (and data, start); NULL: no more */
	bool (*more)(struct unwind_memory *memory, uint64_t address);
};

struct unwind_state {
	uint64_t pc;
	uint64_t known; /* registers */
	uint64_t regs[UNWIND_REGISTERS];
};

enum unwind_result {
	UNWIND_CALLER,	 /* the state is the caller's now */
	UNWIND_OUTERMOST,
	UNWIND_NO_RULE,
	UNWIND_NO_STACK, /* a word that is needed is not among the bytes */
	UNWIND_BAD	 /* the rule makes no sense here */
};

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

/* The value of an expression; @cfa, if not NULL, is on its stack when it begins. Return: CALLER: there is one; NO_STACK, BAD. */
enum unwind_result unwind_evaluate(const struct unwind_table *table, uint32_t number, const struct unwind_state *state,
		     const struct unwind_machine *machine, struct unwind_memory *memory, const uint64_t *cfa,
		     uint64_t *ret);

static inline bool unwind_load(struct unwind_memory *memory, uint64_t address, uint8_t word, uint64_t *ret)
{
	uint64_t at = address - memory->start;

	if (memory->size < word || at > memory->size - word) {
		if (!memory->more || !memory->more(memory, address))
			return false;
		at = address - memory->start;
		if (memory->size < word || at > memory->size - word)
			return false;
	}
	*ret = word == 8 ? load_u64(memory->data + at, memory->swap) : load_u32(memory->data + at, memory->swap);
	return true;
}

#endif
