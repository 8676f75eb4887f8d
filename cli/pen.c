/* SPDX-License-Identifier: MIT */
/* Text in large pieces, and the numbers in it. */
#include "pen.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

void pen_flush(struct pen *pen)
{
	if (pen->used && !pen->failed && fwrite(pen->text, 1, pen->used, pen->out) != pen->used)
		pen->failed = true;
	pen->used = 0;
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

/*
 * Numbers are written where they belong, from their first digit or from their last: what is stored in small pieces
 * and loaded again in large ones would wait for the processor to put it together.
 */
#define SPACES "                                                "

static char *put_spaces(char *to, int width, int digits)
{
	memcpy(to, SPACES, 48);
	return width > digits ? to + (width - digits < 48 ? width - digits : 48) : to;
}

/* The eight hexadecimal digits of a number, the first one at @to. */
static void put_hex8(char *to, uint32_t number)
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

char *put_hex(char *to, uint64_t number, int width)
{
	int digits = number ? (67 - __builtin_clzll(number)) / 4 : 1;

	to = put_spaces(to, width, digits);
	number <<= 64 - 4 * digits;
	put_hex8(to, (uint32_t)(number >> 32));
	put_hex8(to + 8, (uint32_t)number);
	return to + digits;
}

char *put_hex_zeros(char *to, uint64_t number, int digits)
{
	number <<= 64 - 4 * digits;
	put_hex8(to, (uint32_t)(number >> 32));
	put_hex8(to + 8, (uint32_t)number);
	return to + digits;
}

char *put_bytes(char *to, const unsigned char *bytes, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < size; i++) {
		if (i % 8 == 0)
			*to++ = ' ';
		to[0] = ' ';
		to[1] = digits[bytes[i] >> 4];
		to[2] = digits[bytes[i] & 15];
		to += 3;
	}
	return to;
}

#define TEN_ROW(a) #a "0" #a "1" #a "2" #a "3" #a "4" #a "5" #a "6" #a "7" #a "8" #a "9"

static const char ten_pairs[] = TEN_ROW(0) TEN_ROW(1) TEN_ROW(2) TEN_ROW(3) TEN_ROW(4) TEN_ROW(5) TEN_ROW(6) TEN_ROW(7)
	TEN_ROW(8) TEN_ROW(9);

static int decimal_digits(uint64_t number)
{
	int digits = 1;

	for (; number >= 10000; number /= 10000)
		digits += 4;
	return digits + (number >= 10) + (number >= 100) + (number >= 1000);
}

/* The digits of a number, the last one before @end. */
static void put_decimal(char *end, uint64_t number)
{
	for (; number >= 100; number /= 100) {
		end -= 2;
		memcpy(end, ten_pairs + 2 * (number % 100), 2);
	}
	if (number >= 10)
		memcpy(end - 2, ten_pairs + 2 * number, 2);
	else
		end[-1] = (char)('0' + number);
}

char *put_number(char *to, uint64_t number, int width)
{
	int digits = decimal_digits(number);

	to = put_spaces(to, width, digits) + digits;
	put_decimal(to, number);
	return to;
}

char *put_zeros(char *to, uint64_t number, int digits)
{
	int n = decimal_digits(number);

	n = n > digits ? n : digits;
	memset(to, '0', 24);
	put_decimal(to + n, number);
	return to + n;
}
