/* SPDX-License-Identifier: MIT */
/* UTF-8, strictly: no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* utf8_length() - the bytes of the character at @text, which is terminated; 0 for what is none */
static inline size_t utf8_length(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t n = at[0] < 0x80			  ? 1
		   : at[0] >= 0xc2 && at[0] < 0xe0 ? 2
		   : at[0] >= 0xe0 && at[0] < 0xf0 ? 3
		   : at[0] >= 0xf0 && at[0] < 0xf5 ? 4
						   : 0;
	size_t i;

	for (i = 1; i < n; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] >= 0xa0) || (at[0] == 0xf0 && at[1] < 0x90) ||
	    (at[0] == 0xf4 && at[1] >= 0x90))
		return 0;
	return n;
}

static inline bool utf8_valid(const char *text)
{
	size_t n;

	for (; *text; text += n) {
		n = utf8_length(text);
		if (!n)
			return false;
	}
	return true;
}

/* utf8_put() - a character below 0x110000 as bytes
 * Return: how many. */
static inline size_t utf8_put(unsigned char to[4], unsigned c)
{
	static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4, i;

	for (i = n; i-- > 1; c >>= 6)
		to[i] = (unsigned char)(0x80 | (c & 0x3f));
	to[0] = (unsigned char)(n == 1 ? c : marks[n] | c);
	return n;
}

#endif
