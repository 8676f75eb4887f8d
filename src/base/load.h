/* SPDX-License-Identifier: MIT */
/* Loads and stores of foreign bytes: unaligned, and of either byte order. @swap says that the bytes'
 * order is not this host's. */
#ifndef BASE_LOAD_H
#define BASE_LOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t swap_u16(uint16_t v)
{
	return (uint16_t)((v << 8) | (v >> 8));
}

static inline uint32_t swap_u32(uint32_t v)
{
	v = ((v & 0x00ff00ffU) << 8) | ((v >> 8) & 0x00ff00ffU);
	return (v << 16) | (v >> 16);
}

static inline uint64_t swap_u64(uint64_t v)
{
	return ((uint64_t)swap_u32((uint32_t)v) << 32) | swap_u32((uint32_t)(v >> 32));
}

static inline uint16_t load_u16(const void *at, bool swap)
{
	uint16_t v;

	memcpy(&v, at, sizeof(v));
	return swap ? swap_u16(v) : v;
}

static inline uint32_t load_u32(const void *at, bool swap)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return swap ? swap_u32(v) : v;
}

static inline uint64_t load_u64(const void *at, bool swap)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return swap ? swap_u64(v) : v;
}

static inline void store_u16(void *at, uint16_t v)
{
	memcpy(at, &v, sizeof(v));
}

static inline void store_u32(void *at, uint32_t v)
{
	memcpy(at, &v, sizeof(v));
}

static inline void store_u64(void *at, uint64_t v)
{
	memcpy(at, &v, sizeof(v));
}

#endif
