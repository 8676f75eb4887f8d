/* SPDX-License-Identifier: MIT */
#include "number.h"

#include <stdio.h>
#include <stdlib.h>

#define DIGITS_MAX   200 /* of a fraction */
#define EXPONENT_MAX 400

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static bool has_prefix(const char *text, size_t size)
{
	return size > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
}

bool number_hex(const char *text, size_t size, uint64_t *ret)
{
	uint64_t value = 0;
	size_t i;

	if (has_prefix(text, size)) {
		text += 2;
		size -= 2;
	}
	if (size == 0 || size > 16)
		return false;
	for (i = 0; i < size; i++) {
		int digit = hex_digit(text[i]);

		if (digit < 0)
			return false;
		value = value << 4 | (unsigned)digit;
	}
	*ret = value;
	return true;
}

bool number_parse(const char *text, size_t size, uint64_t *ret)
{
	uint64_t value = 0;
	size_t i;

	if (has_prefix(text, size))
		return number_hex(text, size, ret);
	if (size == 0)
		return false;
	for (i = 0; i < size; i++) {
		unsigned digit = (unsigned)(text[i] - '0');

		if (digit > 9 || value > (UINT64_MAX - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*ret = value;
	return true;
}

/* The C library rounds exactly, but takes its locale's decimal point; so it is given none: the digits, and an
 * exponent that says where the point was. */
bool number_real(const char *text, size_t size, double *ret)
{
	char digits[DIGITS_MAX + 16];
	size_t from = size && (text[0] == '-' || text[0] == '+'), used = 0, i;
	bool point = false;
	int places = 0;
	uint64_t exponent = 0;
	long sum;

	if (from && text[0] == '-')
		digits[used++] = '-';
	for (i = from; i < size && (text[i] == '.' ? !point : text[i] >= '0' && text[i] <= '9'); i++) {
		if (used == DIGITS_MAX)
			return false;
		if (text[i] == '.')
			point = true;
		else
			digits[used++] = text[i];
		places += point && text[i] != '.';
	}
	if (i - from == point) /* no digit */
		return false;
	sum = -places;
	if (i < size) {
		bool less = i + 1 < size && text[i + 1] == '-', sign = less || (i + 1 < size && text[i + 1] == '+');
		size_t first = i + 1 + sign;

		if ((text[i] != 'e' && text[i] != 'E') || first > size ||
		    !number_parse(text + first, size - first, &exponent) || exponent > EXPONENT_MAX)
			return false;
		sum += less ? -(long)exponent : (long)exponent;
	}
	snprintf(digits + used, sizeof(digits) - used, "e%ld", sum);
	*ret = strtod(digits, NULL);
	return true;
}
