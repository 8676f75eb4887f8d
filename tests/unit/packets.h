/* SPDX-License-Identifier: MIT */
/* What the tests of packet decoders share: bytes written as hexadecimal text. */
#ifndef TESTS_PACKETS_H
#define TESTS_PACKETS_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "02 82" and so on; "*8" behind a part in brackets repeats it: "(02 82)*8". Returns the number of bytes. */
static inline size_t from_hex(unsigned char *to, const char *text)
{
	size_t size = 0, open = 0, length;
	long times;

	while (*text) {
		if (*text == ' ') {
			text++;
		} else if (*text == '(') {
			open = size;
			text++;
		} else if (*text == ')') {
			times = strtol(text + 2, (char **)(uintptr_t)&text, 10);
			length = size - open;
			for (; times > 1; times--, size += length)
				memcpy(to + size, to + open, length);
		} else {
			char two[3] = {text[0], text[1], 0};

			to[size++] = (unsigned char)strtoul(two, NULL, 16);
			text += 2;
		}
	}
	return size;
}

#endif
