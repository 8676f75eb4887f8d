/* SPDX-License-Identifier: MIT */
/* Text, much of it: hundreds of megabytes, which printf() is too slow for. */
#ifndef CLI_PEN_H
#define CLI_PEN_H

#include "cli.h"

#define PEN_BYTES 65536

struct pen {
	FILE *out;
	size_t used;
	bool failed; /* output_error() says why */
	char text[PEN_BYTES];
};

void pen_flush(struct pen *pen);
void pen_bytes(struct pen *pen, const char *text, size_t size);
void pen_text(struct pen *pen, const char *text);
void pen_print(struct pen *pen, const char *format, ...) PERFEV_PRINTF(2, 3);
void pen_spaces(struct pen *pen, int count);

/* Room for @n bytes, at most PEN_BYTES: where they go. Then pen_end() says where they end. */
static inline char *pen_room(struct pen *pen, size_t n)
{
	if (sizeof(pen->text) - pen->used < n)
		pen_flush(pen);
	return pen->text + pen->used;
}

static inline void pen_end(struct pen *pen, const char *end)
{
	pen->used = (size_t)(end - pen->text);
}

static inline void pen_char(struct pen *pen, char c)
{
	*pen_room(pen, 1) = c;
	pen->used++;
}

/* Numbers at @to, where there is room for 96 bytes, with spaces before them to @width, at most 48. Return their end. */
char *put_hex(char *to, uint64_t number, int width);
char *put_hex_column(char *to, uint64_t number); /* with a width of 16 */
char *put_number(char *to, uint64_t number, int width);
/* At least @digits of a number, with zeros before it. */
char *put_zeros(char *to, uint64_t number, int digits);
char *put_six_digits(char *to, uint32_t number); /* of a number that has no more */
/* @digits hexadecimal digits of a number, up to 16, with zeros before them. */
char *put_hex_zeros(char *to, uint64_t number, int digits);
/* Bytes as pairs of digits, with a space before each, and two before each eighth. */
char *put_bytes(char *to, const unsigned char *bytes, size_t size);

static inline void pen_hex(struct pen *pen, uint64_t number, int width)
{
	pen_end(pen, put_hex(pen_room(pen, 96), number, width));
}

static inline void pen_number(struct pen *pen, uint64_t number, int width)
{
	pen_end(pen, put_number(pen_room(pen, 96), number, width));
}

static inline void pen_zeros(struct pen *pen, uint64_t number, int digits)
{
	pen_end(pen, put_zeros(pen_room(pen, 96), number, digits));
}

#endif
