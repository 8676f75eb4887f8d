/* SPDX-License-Identifier: MIT */
/* Files that tests make by commands of the shell. */
#ifndef TESTS_SHELL_H
#define TESTS_SHELL_H

#include "test.h"

#include <stdarg.h>

/* A command in the current folder; false when it fails. */
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
static inline bool shell(const char *format, ...)
{
	char line[4096], full[4200];
	va_list args;

	va_start(args, format);
	assert_in_range(vsnprintf(line, sizeof(line), format, args), 1, sizeof(line) - 1);
	va_end(args);
	snprintf(full, sizeof(full), "exec 2>/dev/null; %s", line);
	return system(full) == 0;
}

/* Where one does not work there is nothing to test. */
static inline void make(bool worked)
{
	if (!worked)
		skip();
}

#endif
