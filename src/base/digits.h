/* SPDX-License-Identifier: MIT */
/*
 * Digits of numbers, written where they belong. What is stored in small pieces and loaded again in larger ones would
 * wait for the processor to put it together, so nothing is written somewhere else first.
 */
#ifndef BASE_DIGITS_H
#define BASE_DIGITS_H

#include <stdint.h>
#include <string.h>

#define DIGITS_ROOM 24 /* bytes that a number may need, or write behind its end */

/* digits_hex8() - the eight hexadecimal digits of a number, the first one at @to */
static inline void digits_hex8(char *to, uint32_t number)
{
	uint64_t x = number, letters;

	x = (x << 16 | x) & UINT64_C(0x0000ffff0000ffff);
	x = (x << 8 | x) & UINT64_C(0x00ff00ff00ff00ff);
	x = (x << 4 | x) & UINT64_C(0x0f0f0f0f0f0f0f0f); /* a digit in each byte, the last one lowest */
	letters = (x + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
	x += UINT64_C(0x3030303030303030) + letters * ('a' - '0' - 10);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	x = __builtin_bswap64(x);
#endif
	memcpy(to, &x, 8);
}

/* digits_hex() - a number without zeros before it; its end */
static inline char *digits_hex(char *to, uint64_t number)
{
	int digits = number ? (67 - __builtin_clzll(number)) / 4 : 1;

	number <<= 64 - 4 * digits;
	digits_hex8(to, (uint32_t)(number >> 32));
	digits_hex8(to + 8, (uint32_t)number);
	return to + digits;
}

/* digits_read_hex() - the number that begins at @at; behind its digits. More than 16 are too many: of them the last count. */
static inline char *digits_read_hex(char *at, uint64_t *ret)
{
	uint64_t value = 0;

	for (;; at++) {
		unsigned digit = (unsigned char)*at;

		if (digit - '0' <= 9)
			digit -= '0';
		else if ((digit | 32) - 'a' <= 5)
			digit = (digit | 32) - 'a' + 10;
		else
			break;
		value = value << 4 | digit;
	}
	*ret = value;
	return at;
}

/* digits_byte() - two hexadecimal digits */
static inline void digits_byte(char *to, unsigned byte)
{
	static const char digits[] = "0123456789abcdef";

	to[0] = digits[byte >> 4 & 15];
	to[1] = digits[byte & 15];
}

/* digits_decimal() - the same, decimal */
static inline char *digits_decimal(char *to, uint64_t number)
{
	uint64_t left = number;
	char *end;
	int n = 1;

	for (; left >= 10000; left /= 10000)
		n += 4;
	n += (left >= 10) + (left >= 100) + (left >= 1000);
	end = to + n;
	for (to = end; number >= 10; number /= 10)
		*--to = (char)('0' + number % 10);
	*--to = (char)('0' + number);
	return end;
}

#endif
