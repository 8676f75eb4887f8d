/* SPDX-License-Identifier: MIT */
/* Numbers, sizes and names as people read them. */
#include "cli.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static int first_error;

bool flush_output(FILE *out)
{
	if (fflush(out) == 0 && !ferror(out))
		return true;
	if (!first_error)
		first_error = errno;
	return false;
}

int output_error(void)
{
	return first_error;
}

int end_output(FILE *out)
{
	bool good = flush_output(out);

	if (fclose(out) != 0 && good) {
		good = false;
		first_error = first_error ? first_error : errno;
	}
	return good ? 0 : first_error ? first_error : EIO;
}

const char *text_number(char to[32], uint64_t number)
{
	char digits[32];
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, number), i, at = 0;

	for (i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			to[at++] = ',';
		to[at++] = digits[i];
	}
	to[at] = 0;
	return to;
}

const char *text_bytes(char to[32], uint64_t bytes)
{
	static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
	double value = (double)bytes;
	int unit = 0;

	while (value >= 1000 && unit < 4) {
		value /= 1000;
		unit++;
	}
	snprintf(to, 32, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
	return to;
}

/* Names come from anywhere: nothing in them may steer a terminal. U+0080 to U+009F are controls too. */
void text_name(FILE *out, const char *name)
{
	for (; *name; name++) {
		unsigned char first = (unsigned char)name[0], second = (unsigned char)name[1];

		if (first == 0xc2 && second >= 0x80 && second <= 0x9f) {
			fputs("??", out);
			name++;
		} else {
			fputc(first < 0x20 || first == 0x7f ? '?' : first, out);
		}
	}
}

const char *text_cause(const char *text)
{
	const char *colon = strncmp(text, "cannot ", 7) ? NULL : strstr(text, ": ");

	return colon ? colon + 2 : text;
}
