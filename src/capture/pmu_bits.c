/* SPDX-License-Identifier: MIT */
/*
 * Where in an attr the value of a term goes: "config1:0-7,32-35". The lowest bit of the value goes to the lowest
 * bit that is named, wherever it stands in the list; the bits need not be neighbours.
 */
#include "pmu.h"

#include <string.h>

/* "config", "config1" ... up to the colon. */
static const char *take_word(const char *text, unsigned *word)
{
	if (strncmp(text, "config", 6))
		return NULL;
	text += 6;
	*word = 0;
	if (*text >= '1' && *text <= '4')
		*word = (unsigned)(*text++ - '0');
	return *text == ':' ? text + 1 : NULL;
}

static const char *take_bit(const char *text, unsigned *bit)
{
	*bit = 0;
	if (*text < '0' || *text > '9')
		return NULL;
	for (; *text >= '0' && *text <= '9'; text++) {
		*bit = *bit * 10 + (unsigned)(*text - '0');
		if (*bit > 63)
			return NULL;
	}
	return text;
}

bool pmu_bits(struct pmu_bits *ret, const char *text)
{
	unsigned first, last;

	ret->mask = 0;
	text = take_word(text, &ret->word);
	while (text) {
		text = take_bit(text, &first);
		if (!text)
			return false;
		last = first;
		if (*text == '-')
			text = take_bit(text + 1, &last);
		if (!text || last < first)
			return false;
		ret->mask |= UINT64_MAX >> (63 - (last - first)) << first;
		if (!*text)
			return true;
		text = *text == ',' ? text + 1 : NULL;
	}
	return false;
}

bool pmu_scatter(uint64_t *ret, uint64_t mask, uint64_t value)
{
	uint64_t word = 0;

	for (; mask; mask &= mask - 1, value >>= 1)
		if (value & 1)
			word |= mask & (~mask + 1);
	*ret = word;
	return value == 0;
}

uint64_t pmu_gather(uint64_t mask, uint64_t word)
{
	uint64_t value = 0;
	unsigned at;

	for (at = 0; mask; mask &= mask - 1, at++)
		if (word & mask & (~mask + 1))
			value |= UINT64_C(1) << at;
	return value;
}
