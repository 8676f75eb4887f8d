/* SPDX-License-Identifier: MIT */
/* Programs of call frame information, and the rows they make. */
#ifndef SYMBOLS_UNWIND_PROGRAM_H
#define SYMBOLS_UNWIND_PROGRAM_H

#include "unwind_pointer.h"
#include "unwind_table.h"

/* What is known of the registers at a place. */
struct cfi_state {
	uint8_t cfa_how, cfa_reg;
	int32_t cfa_value;
	uint64_t told; /* the registers that are not UNWIND_SAME */
	uint8_t how[UNWIND_REGISTERS];
	int32_t value[UNWIND_REGISTERS];
};

/* What functions have in common. */
struct cfi_cie {
	uint64_t code_align;
	int64_t data_align;
	struct byte_cursor program;
	struct cfi_state state; /* after its program */
	uint8_t ra, encoding, address_size;
	bool augmented, signal, usable;
};

/* A function's program. */
struct cfi_run {
	struct unwind_table *table;
	const struct cfi_cie *cie;
	const struct cfi_bases *bases;
	uint64_t origin;     /* where the program begins */
	uint64_t start, end; /* rows between these */
};

/* cfi_initial() - runs the program of a CIE, into its state. Return: 0, -EINVAL, -ENOMEM, -EFBIG. */
int cfi_initial(struct cfi_cie *cie, struct unwind_table *table);
/* cfi_run() - adds the rows of a function. Return: as above. */
int cfi_run(const struct cfi_run *run, struct byte_cursor program);

#endif
