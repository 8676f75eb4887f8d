/* SPDX-License-Identifier: MIT */
#ifndef SYMBOLS_UNWIND_BASE_H
#define SYMBOLS_UNWIND_BASE_H

#include "symbols_base.h"
#include "unwind_step.h"

#include <perfev/unwind.h>

#define UNWIND_PLACES	 4096
#define UNWIND_CHAIN_MAX 65536 /* words of the kernel's part: more than a record has */

/* What is known of an address: one line of the cache. */
struct place {
	_Alignas(64) uint64_t ip;
	uint32_t generation;
	uint8_t kind; /* enum place_kind */
	uint8_t reserved[3];
	union {
		struct unwind_quick quick;
		struct {
			const struct unwind_table *table;
			const struct unwind_rule *rule;
		} slow;
	} as;
};

enum place_kind { PLACE_EMPTY, PLACE_QUICK, PLACE_RULE, PLACE_SIGNAL, PLACE_NO_RULE };

struct perfev_unwinder {
	struct perfev_symbols *symbols;
	enum perfev_arch arch;
	uint32_t max_frames;
	struct space_view *view; /* of the process whose stack it is */
	bool kept;		 /* the view is the caller's, not that of now */
	struct perfev_unwound_frame *frames;
	uint64_t *chain; /* room for all frames, their marks, and the kernel's part */
	const struct unwind_machine *machine;
	uint8_t of_perf[64]; /* the machine's registers by the numbers of perf; UNWIND_REGISTERS: none */
	struct perfev_unwinder_info info;
	struct place *places; /* UNWIND_PLACES of them */
};

#endif
