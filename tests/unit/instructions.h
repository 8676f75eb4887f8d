/* SPDX-License-Identifier: MIT */
/* Counter instructions of a CPU that a test makes up, in place of src/kernel/arch/counters.h: include this, and then
 * capture/user_read.c, which so becomes the test's own. */
#ifndef TESTS_INSTRUCTIONS_H
#define TESTS_INSTRUCTIONS_H

#define KERNEL_ARCH_COUNTERS_H
#define COUNTERS_READABLE 1

#include <stdbool.h>
#include <stdint.h>

static uint64_t counters_read(uint32_t number);
static uint64_t counters_cycles(void);

/* value x mult / 2^shift, the long way */
static inline uint64_t counters_scale(uint64_t value, uint32_t mult, uint16_t shift)
{
	uint64_t low = (value & UINT32_MAX) * mult, high = (value >> 32) * mult + (low >> 32);

	low &= UINT32_MAX;
	return shift <= 32 ? (high << (32 - shift)) + (low >> shift) : high >> (shift - 32);
}

#endif
