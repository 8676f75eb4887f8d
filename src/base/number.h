/* SPDX-License-Identifier: MIT */
/* Numbers in text, exactly: all characters are used, nothing overflows, no locale has a say. */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Hexadecimal, with or without 0x. */
bool number_hex(const char *text, size_t size, uint64_t *ret);
/* As C writes it: decimal, or hexadecimal with 0x. */
bool number_parse(const char *text, size_t size, uint64_t *ret);
/* A decimal fraction: 1, -2.5, 6.103515625e-5. */
bool number_real(const char *text, size_t size, double *ret);

#endif
