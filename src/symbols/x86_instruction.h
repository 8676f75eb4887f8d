/* SPDX-License-Identifier: MIT */
/* How long an x86 instruction is, and whether and where it branches. */
#ifndef SYMBOLS_X86_INSTRUCTION_H
#define SYMBOLS_X86_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define X86_INSTRUCTION_MAX 15 /* bytes */

enum x86_branch {
	X86_NONE,	 /* goes on behind itself */
	X86_DIRECT,	 /* goes to behind itself + displacement */
	X86_CONDITIONAL, /* there, or on */
	X86_INDIRECT	 /* elsewhere */
};

struct x86_instruction {
	int32_t displacement; /* of DIRECT and CONDITIONAL */
	uint8_t size;
	uint8_t branch; /* enum x86_branch */
	uint8_t type;	/* enum perfev_flow_type; of NONE: none */
};

/* x86_decode() - the instruction at @at, of which @size bytes are there
 * @is_64: of 64-bit code; else of 32-bit code.
 * Return: true; false when there is no such instruction, or bytes of it are missing. */
bool x86_decode(struct x86_instruction *ret, const unsigned char *at, size_t size, bool is_64);

#endif
