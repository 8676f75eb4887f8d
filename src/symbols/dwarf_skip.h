/* SPDX-License-Identifier: MIT */
/* Attributes that nobody asks for are passed over by steps: see dwarf_skip.c. */
#ifndef SYMBOLS_DWARF_SKIP_H
#define SYMBOLS_DWARF_SKIP_H

#include "dwarf_read.h"

#include <stddef.h>

struct dwarf_spec {
	uint32_t name, form;
	int64_t constant;
};

/* A step: so many bytes, or one of these. */
enum dwarf_step {
	STEP_BYTES_MAX = 0xef,
	STEP_LEB = 0xf0, /* a number of any length */
	STEP_BLOCK,	 /* the same, and so many bytes */
	STEP_BLOCK1,	 /* a number of so many bytes, and what it says */
	STEP_BLOCK2,
	STEP_BLOCK4,
	STEP_TEXT /* up to a zero */
};

/* How values of one unit are written. */
struct dwarf_sizes {
	uint8_t address, offset;
	uint16_t version;
};

/* dwarf_steps() - the steps over values of those forms
 * @to: room for @count.
 * Return: how many; -1: one of the forms is not known, or says what it is in each value. */
int dwarf_steps(uint8_t *to, const struct dwarf_spec *specs, size_t count, struct dwarf_sizes sizes);
/* dwarf_step_other() - a step that is no number of bytes */
void dwarf_step_other(struct dwarf_reader *r, uint8_t step);

/* dwarf_step_over() - Return: false: there are not so many bytes. */
static inline bool dwarf_step_over(struct dwarf_reader *r, const uint8_t *steps, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (steps[i] <= STEP_BYTES_MAX)
			dwarf_skip(r, steps[i]);
		else
			dwarf_step_other(r, steps[i]);
	}
	return !r->failed;
}

#endif
