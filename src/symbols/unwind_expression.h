/* SPDX-License-Identifier: MIT */
/* Expressions of call frame information. */
#ifndef SYMBOLS_UNWIND_EXPRESSION_H
#define SYMBOLS_UNWIND_EXPRESSION_H

#include "unwind_machine.h"

/* The value of an expression; @cfa, if not NULL, is on its stack when it begins. Return: CALLER: there is one; NO_STACK, BAD. */
enum unwind_result unwind_evaluate(const struct unwind_table *table, uint32_t number, const struct unwind_state *state,
				   const struct unwind_machine *machine, struct unwind_memory *memory, const uint64_t *cfa,
				   uint64_t *ret);

#endif
