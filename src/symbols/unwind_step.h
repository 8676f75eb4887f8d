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

/* The value of an expression; @cfa is on its stack when it begins, if @has_cfa. False: it has none. */
bool unwind_evaluate(const struct unwind_table *table, uint32_t number, const struct unwind_state *state,
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
