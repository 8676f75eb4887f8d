/* SPDX-License-Identifier: MIT */
/*
 * Attrs of recordings. Their own size member says how many of the bytes mean something; 0 stands for the 64 that the
 * first kernels had. Larger ones than this library knows are cut, smaller ones extended with zeros.
 */
#include "attr_bytes.h"

#include "base/load.h"

#include <string.h>

/* The flag word: bit-fields fill from the other end on the other byte order, so bit n of one is bit
 * 63 - n of the other; precise_ip has two bits (15 and 16, from the end where this host begins), which
 * come out exchanged. */
static uint64_t mirror_flags(uint64_t word)
{
	const int at = PERFEV_BIG_ENDIAN ? 47 : 15;
	uint64_t out = 0, precise;
	int i;

	for (i = 0; i < 64; i++)
		out |= (word >> i & 1) << (63 - i);
	precise = out >> at & 3;
	out &= ~(UINT64_C(3) << at);
	return out | (precise >> 1 | (precise & 1) << 1) << at;
}

static uint32_t mirror_u32(uint32_t word)
{
	uint32_t out = 0;
	int i;

	for (i = 0; i < 32; i++)
		out |= (word >> i & 1) << (31 - i);
	return out;
}

void attr_swap(struct perf_event_attr *attr)
{
	unsigned char *at = (unsigned char *)attr;
	static const uint8_t words[] = {8, 16, 24, 32, 40, 56, 64, 72, 80, 96, 120, 128, 136};
	static const uint8_t halves[] = {0, 4, 48, 52, 88, 92, 104, 112, 116};
	uint64_t flags;
	size_t i;

	for (i = 0; i < sizeof(words); i++)
		store_u64(at + words[i], load_u64(at + words[i], true));
	for (i = 0; i < sizeof(halves); i++)
		store_u32(at + halves[i], load_u32(at + halves[i], true));
	store_u16(at + 108, load_u16(at + 108, true));
	store_u16(at + 110, load_u16(at + 110, true));
	flags = mirror_flags(load_u64(at + 40, false));
	store_u64(at + 40, flags);
	attr->aux_action = mirror_u32(attr->aux_action);
}

void attr_from_bytes(struct perf_event_attr *ret, const unsigned char *bytes, size_t size, bool swapped)
{
	uint32_t own = load_u32(bytes + 4, swapped);

	memset(ret, 0, sizeof(*ret));
	memcpy(ret, bytes, size < sizeof(*ret) ? size : sizeof(*ret));
	if (own < PERF_ATTR_SIZE_VER0)
		own = PERF_ATTR_SIZE_VER0; /* 0, as the first kernels had it, and what cannot be */
	if (own > sizeof(*ret))
		own = sizeof(*ret); /* what the struct has: its size member must be true of it */
	memset((unsigned char *)ret + own, 0, sizeof(*ret) - own);
	if (swapped)
		attr_swap(ret);
	ret->size = own;
}
