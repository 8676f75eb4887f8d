/* SPDX-License-Identifier: MIT */
/* What the targets share. Each is built in two ways: with a fuzzer, and with replay.c, which gives it the
 * inputs in corpus/ and changes of them, as an ordinary test. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads a byte of what a view points to, so that a sanitizer looks at it. */
static inline void touch(const void *data, size_t size)
{
	const volatile uint8_t *at = data;

	if (size) {
		(void)at[0];
		(void)at[size - 1];
	}
}

#endif
