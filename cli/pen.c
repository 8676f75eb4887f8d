/* SPDX-License-Identifier: MIT */
/* Text in large pieces, and the numbers in it. */
#include "pen.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

void pen_flush(struct pen *pen)
{
	if (pen->used && !pen->failed && fwrite(pen->text, 1, pen->used, pen->out) != pen->used)
		pen->failed = !flush_output(pen->out); /* which keeps the reason */
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

typedef unsigned char sixteen __attribute__((vector_size(16)));
typedef uint64_t two __attribute__((vector_size(16)));

/* First and second digits of eight bytes, as numbers, in turn. */
static inline sixteen in_turn(uint64_t first, uint64_t second)
{
	sixteen a = (sixteen)(two){first, 0}, b = (sixteen)(two){second, 0};

#if defined(__clang__) || __GNUC__ >= 12
	return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
#else
	return __builtin_shuffle(a, b, (sixteen){0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23});
#endif
}

static inline void put_sixteen(char *to, sixteen text)
{
	memcpy(to, &text, 16);
}

/* All sixteen hexadecimal digits of a number. */
static inline sixteen hex_sixteen(uint64_t number)
{
	uint64_t bytes = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap64(number) : number;
	uint64_t halves = UINT64_C(0x0f0f0f0f0f0f0f0f);
	sixteen digits = in_turn(bytes >> 4 & halves, bytes & halves);

	return digits + '0' + ((sixteen)(digits > 9) & ('a' - '0' - 10));
}

static inline int hex_digits(uint64_t number)
{
	return (67 - __builtin_clzll(number | 1)) / 4;
}

char *put_hex(char *to, uint64_t number, int width)
{
	int digits = hex_digits(number);

	if (width)
		to = put_spaces(to, width, digits);
	put_sixteen(to, hex_sixteen(number << (64 - 4 * digits)));
	return to + digits;
}

char *put_hex_column(char *to, uint64_t number)
{
	static const unsigned char zeros[32] = {16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16};
	sixteen leading; /* zeros, that become spaces */

	memcpy(&leading, zeros + hex_digits(number), 16);
	put_sixteen(to, hex_sixteen(number) - leading);
	return to + 16;
}

char *put_hex_zeros(char *to, uint64_t number, int digits)
{
	put_sixteen(to, hex_sixteen(number << (64 - 4 * digits)));
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

#define EIGHT_DIGITS UINT32_C(100000000)

/* The digits of a number below EIGHT_DIGITS, as bytes 0 to 9: the first of the eight in the lowest byte. */
static inline uint64_t eight_digits(uint32_t number)
{
	uint64_t x = number / 10000 | (uint64_t)(number % 10000) << 32, high;

	high = x * 10486 >> 20 & UINT64_C(0x0000007f0000007f); /* hundreds of each four */
	x = high | (x - 100 * high) << 16;
	high = x * 103 >> 10 & UINT64_C(0x000f000f000f000f); /* tens of each two */
	return high | (x - 10 * high) << 8;
}

/* Writes eight bytes. */
static inline void put_eight(char *to, uint64_t digits)
{
	digits += UINT64_C(0x3030303030303030);
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
	digits = __builtin_bswap64(digits);
#endif
	memcpy(to, &digits, 8);
}

/* How many digits a number has that is written with zeros before them: at least one. */
static inline int used_digits(uint64_t digits)
{
	return 8 - __builtin_ctzll(digits | UINT64_C(1) << 56) / 8;
}

/* All digits of a number, from the first one on; how many. */
static int put_digits(char *to, uint64_t number)
{
	uint64_t digits;
	int n;

	if (number < EIGHT_DIGITS) {
		digits = eight_digits((uint32_t)number);
		n = used_digits(digits);
		put_eight(to, digits >> (64 - 8 * n));
		return n;
	}
	n = put_digits(to, number / EIGHT_DIGITS);
	put_eight(to + n, eight_digits((uint32_t)(number % EIGHT_DIGITS)));
	return n + 8;
}

char *put_number(char *to, uint64_t number, int width)
{
	char text[32];
	int n;

	if (number < EIGHT_DIGITS) {
		uint64_t digits = eight_digits((uint32_t)number);

		n = used_digits(digits);
		to = put_spaces(to, width, n);
		put_eight(to, digits >> (64 - 8 * n));
		return to + n;
	}
	n = put_digits(text, number);
	to = put_spaces(to, width, n);
	memcpy(to, text, sizeof(text) - 8);
	return to + n;
}

char *put_zeros(char *to, uint64_t number, int digits)
{
	char text[32];
	int n;

	if (number < EIGHT_DIGITS && digits <= 8) {
		uint64_t all = eight_digits((uint32_t)number);

		n = used_digits(all);
		n = n > digits ? n : digits;
		put_eight(to, all >> (64 - 8 * n));
		return to + n;
	}
	n = put_digits(text, number);
	memset(to, '0', 24);
	to += n < digits ? digits - n : 0;
	memcpy(to, text, sizeof(text) - 8);
	return to + n;
}

char *put_six_digits(char *to, uint32_t number)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
				    "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
				    "8081828384858687888990919293949596979899";
	uint32_t first = number / 10000 % 100, rest = number % 10000;

	memcpy(to, pairs + 2 * first, 2);
	memcpy(to + 2, pairs + 2 * (rest / 100), 2);
	memcpy(to + 4, pairs + 2 * (rest % 100), 2);
	return to + 6;
}
