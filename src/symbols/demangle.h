/* SPDX-License-Identifier: MIT */
/* Names as the source has them. */
#ifndef SYMBOLS_DEMANGLE_H
#define SYMBOLS_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/* demangle() - the readable form of a C++, Rust or D name, without parameters
 * Return: false when it is none, or too long, or this build cannot: the name stays as it is. */
bool demangle(const char *name, char *ret, size_t size);

#endif
