/* SPDX-License-Identifier: MIT */
/* Text in large pieces: perfev script prints hundreds of megabytes, which printf() is too slow for. */
#include "script.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

void pen_flush(struct pen *pen)
{
	if (pen->used && !pen->failed && fwrite(pen->text, 1, pen->used, pen->out) != pen->used)
		pen->failed = true;
	pen->used = 0;
}

char *pen_room(struct pen *pen, size_t n)
{
	if (sizeof(pen->text) - pen->used < n)
		pen_flush(pen);
	return pen->text + pen->used;
}

void pen_bytes(struct pen *pen, const char *text, size_t size)
{
	while (size > 0) {
		size_t n = size < 4096 ? size : 4096;

		memcpy(pen_room(pen, n), text, n);
		pen->used += n;
		text += n;
		size -= n;
	}
}

void pen_text(struct pen *pen, const char *text)
{
	pen_bytes(pen, text, strlen(text));
}

void pen_char(struct pen *pen, char c)
{
	*pen_room(pen, 1) = c;
	pen->used++;
}

void pen_print(struct pen *pen, const char *format, ...)
{
	char *to = pen_room(pen, 4096);
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(to, 4096, format, args);
	va_end(args);
	if (n > 0)
		pen->used += n < 4096 ? (size_t)n : 4095;
}

void pen_spaces(struct pen *pen, int count)
{
	while (count > 0) {
		int n = count < 64 ? count : 64;

		memset(pen_room(pen, 64), ' ', (size_t)n);
		pen->used += (size_t)n;
		count -= n;
	}
}

/* @digits are at the end of a place of 32. */
static void put_number(struct pen *pen, const char *end, int digits, int width)
{
	char *to = pen_room(pen, 96);
	int spaces = width > digits ? width - digits : 0;

	if (spaces > 48)
		spaces = 48;
	memset(to, ' ', (size_t)spaces);
	memcpy(to + spaces, end - digits, (size_t)digits);
	pen->used += (size_t)(spaces + digits);
}

void pen_hex(struct pen *pen, uint64_t number, int width)
{
	static const char all[] = "0123456789abcdef";
	char text[32], *at = text + sizeof(text);
	int digits = 0;

	do {
		*--at = all[number & 15];
		number >>= 4;
		digits++;
	} while (number);
	put_number(pen, text + sizeof(text), digits, width);
}

static int decimal(char *end, uint64_t number)
{
	char *at = end;

	do {
		*--at = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	return (int)(end - at);
}

void pen_number(struct pen *pen, uint64_t number, int width)
{
	char text[32], *end = text + sizeof(text);

	put_number(pen, end, decimal(end, number), width);
}

void pen_zeros(struct pen *pen, uint64_t number, int digits)
{
	char text[32], *end = text + sizeof(text);
	int n;

	memset(text, '0', sizeof(text));
	n = decimal(end, number);
	put_number(pen, end, n > digits ? n : digits, 0);
}
