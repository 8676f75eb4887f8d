/* SPDX-License-Identifier: MIT */
/*
 * The positions in a ring's control page. They run freely, 64 bits wide on every machine; the kernel's are read before
 * what they say is there, ours are written after it was used.
 */
#ifndef CAPTURE_POSITION_H
#define CAPTURE_POSITION_H

#include <perfev/abi.h>

#include <stdint.h>

/* 64-bit loads are not single ones everywhere: where they are not, the halves are read until they
 * agree. The kernel moves the head one way only. */
static inline uint64_t load_position(const uint64_t *at)
{
#if UINTPTR_MAX == UINT64_MAX
	return __atomic_load_n(at, __ATOMIC_ACQUIRE);
#else
	const volatile uint32_t *half = (const volatile uint32_t *)(const volatile void *)at;
	uint32_t high, low;

	do {
		high = half[!PERFEV_BIG_ENDIAN];
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		low = half[PERFEV_BIG_ENDIAN];
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (half[!PERFEV_BIG_ENDIAN] != high);
	return (uint64_t)high << 32 | low;
#endif
}

static inline void store_position(uint64_t *at, uint64_t value)
{
#if UINTPTR_MAX == UINT64_MAX
	__atomic_store_n(at, value, __ATOMIC_RELEASE);
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	*(volatile uint64_t *)at = value;
#endif
}

#endif
