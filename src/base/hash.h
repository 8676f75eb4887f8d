/* SPDX-License-Identifier: MIT */
/* Hash functions for tables in memory. Not for anything that must hold against an adversary beyond
 * being slow: every table that uses them has a bound. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t hash_u64(uint64_t v)
{
	v ^= v >> 32;
	v *= UINT64_C(0x9e3779b97f4a7c15);
	v ^= v >> 29;
	v *= UINT64_C(0xbf58476d1ce4e5b9);
	return v ^ (v >> 32);
}

static inline uint64_t hash_pair(uint64_t a, uint64_t b)
{
	return hash_u64(a * UINT64_C(0x9e3779b97f4a7c15) + b);
}

static inline uint64_t hash_bytes(const void *data, size_t size)
{
	const unsigned char *at = data;
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	size_t i;

	for (i = 0; i < size; i++)
		h = (h ^ at[i]) * UINT64_C(0x100000001b3);
	return hash_u64(h);
}

#endif
