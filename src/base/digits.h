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

/* digits_read_hex8() - eight hexadecimal digits at once; false when one of them is none */
static inline int digits_read_hex8(const char *at, uint64_t *ret)
{
	const uint64_t high = UINT64_C(0x8080808080808080), low = ~high;
	uint64_t x, digit, letter, other, is_letter;

	memcpy(&x, at, 8);
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
	x = __builtin_bswap64(x);
#endif
	digit = x ^ UINT64_C(0x3030303030303030);				/* 0 to 9, */
	other = ((digit & low) + UINT64_C(0x7676767676767676)) | digit;		/* else the highest bit is set */
	letter = (x | UINT64_C(0x2020202020202020)) ^ UINT64_C(0x6060606060606060); /* 1 to 6 */
	is_letter = ((letter & low) + low) & ~((letter & low) + UINT64_C(0x7979797979797979)) & ~letter & high;
	if (other & ~is_letter & high)
		return 0;
	x = (x & UINT64_C(0x0f0f0f0f0f0f0f0f)) + (is_letter >> 7) * 9; /* the first one lowest */
	x = (x << 4 | x >> 8) & UINT64_C(0x00ff00ff00ff00ff);
	x = (x << 8 | x >> 16) & UINT64_C(0x0000ffff0000ffff);
	*ret = (x << 16 | x >> 32) & UINT32_MAX;
	return 1;
}

/* digits_read_hex() - the number that begins at @at; behind its digits. More than 16 are too many: of them the last count.
 * @end: of what may be read, where something stands that is no digit */
static inline char *digits_read_hex(char *at, const char *end, uint64_t *ret)
{
	uint64_t value = 0, eight;

	for (; end - at >= 8 && *at != ' ' && digits_read_hex8(at, &eight); at += 8)
		value = value << 32 | eight;
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
