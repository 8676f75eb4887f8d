/* SPDX-License-Identifier: MIT */
/*
 * From cycles to ns, and back. The product of 64 and 32 bits is made in two halves, so that nothing is lost on
 * any host; the way back is the one that perf has, which is at most one cycle early.
 */
#include <perfev/clock.h>

/* A shift that is too large for the type would be anything. */
static unsigned shift_of(const struct perfev_clock *clock)
{
	return clock->shift < 64 ? clock->shift : 63;
}

uint64_t perfev_clock_time(const struct perfev_clock *clock, uint64_t cycles)
{
	unsigned shift = shift_of(clock);
	uint64_t low, high;

	cycles = clock->cycles + ((cycles - clock->cycles) & clock->mask);
	low = (cycles & UINT32_MAX) * clock->mult;
	high = (cycles >> 32) * clock->mult + (low >> 32);
	low &= UINT32_MAX;
	if (shift <= 32)
		return clock->zero + (high << (32 - shift)) + (low >> shift);
	return clock->zero + (high >> (shift - 32));
}

/* (time << shift) / mult, a bit at a time where the product has more than 64 */
static uint64_t divide(uint64_t time, unsigned shift, uint32_t mult)
{
	uint64_t whole = time / mult, rest = time % mult;

	while (shift--) {
		rest <<= 1;
		whole = whole << 1 | (rest >= mult);
		if (rest >= mult)
			rest -= mult;
	}
	return whole;
}

uint64_t perfev_clock_cycles(const struct perfev_clock *clock, uint64_t time_ns)
{
	return clock->mult ? divide(time_ns - clock->zero, shift_of(clock), clock->mult) : 0;
}
