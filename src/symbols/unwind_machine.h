/* SPDX-License-Identifier: MIT */
/* What unwinding knows of machines, and what it works on: registers, and the bytes of a stack. */
#ifndef SYMBOLS_UNWIND_MACHINE_H
#define SYMBOLS_UNWIND_MACHINE_H

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
