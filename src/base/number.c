/* SPDX-License-Identifier: MIT */
#include "number.h"

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

/* The digits from @i on, into @value; @places counts those behind the point. Returns where they end. */
static size_t digits(const char *text, size_t size, size_t i, double *value, int *places)
{
	bool point = false;

	for (; i < size; i++) {
		if (text[i] == '.' && !point) {
			point = true;
			continue;
		}
		if (text[i] < '0' || text[i] > '9')
			break;
		*value = *value * 10 + (text[i] - '0');
		*places += point;
	}
	return i;
}

bool number_real(const char *text, size_t size, double *ret)
{
	double value = 0, power = 10;
	int places = 0, exponent = 0;
	size_t from = size && (text[0] == '-' || text[0] == '+'), i;
	bool less;

	i = digits(text, size, from, &value, &places);
	if (i == from || (i == from + 1 && text[from] == '.'))
		return false;
	if (i < size && (text[i] == 'e' || text[i] == 'E')) {
		size_t first = i + 1 + (i + 1 < size && (text[i + 1] == '-' || text[i + 1] == '+'));
		uint64_t number;

		if (!number_parse(text + first, size - first, &number) || number > 400)
			return false;
		exponent = text[i + 1] == '-' ? -(int)number : (int)number;
		i = size;
	}
	exponent -= places;
	less = exponent < 0;
	for (exponent = less ? -exponent : exponent; exponent; exponent >>= 1, power *= power)
		if (exponent & 1)
			value = less ? value / power : value * power;
	*ret = text[0] == '-' ? -value : value;
	return i == size;
}
