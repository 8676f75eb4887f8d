/* SPDX-License-Identifier: MIT */
/*
 * Errors: one caller-owned struct, filled at the place that knows the cause.
 *
 * Invariants: the text is always terminated, one line, and free of control characters, whatever names
 * from files or users went into it; a NULL error costs nothing but the test.
 */
#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *perfev_version(void)
{
	return "0.1.0";
}

static const char *const why_names[PERFEV_WHY_COUNT_] = {
	[PERFEV_WHY_NONE] = "none",
	[PERFEV_WHY_OTHER] = "other",
	[PERFEV_WHY_MEMORY] = "memory",
	[PERFEV_WHY_ARGUMENT] = "argument",
	[PERFEV_WHY_OPTIONS] = "options",
	[PERFEV_WHY_SYNTAX] = "syntax",
	[PERFEV_WHY_UNKNOWN_EVENT] = "unknown-event",
	[PERFEV_WHY_PARANOID] = "paranoid",
	[PERFEV_WHY_CAPABILITY] = "capability",
	[PERFEV_WHY_OTHER_USER] = "other-user",
	[PERFEV_WHY_SECCOMP] = "seccomp",
	[PERFEV_WHY_NO_TASK] = "no-task",
	[PERFEV_WHY_NO_CPU] = "no-cpu",
	[PERFEV_WHY_NO_PMU] = "no-pmu",
	[PERFEV_WHY_NO_EVENT] = "no-event",
	[PERFEV_WHY_NO_KERNEL] = "no-kernel",
	[PERFEV_WHY_OLD_KERNEL] = "old-kernel",
	[PERFEV_WHY_NOT_SAMPLING] = "not-sampling",
	[PERFEV_WHY_COMBINATION] = "combination",
	[PERFEV_WHY_RATE] = "rate",
	[PERFEV_WHY_FILES] = "files",
	[PERFEV_WHY_LOCKED_MEMORY] = "locked-memory",
	[PERFEV_WHY_BUSY] = "busy",
	[PERFEV_WHY_COUNTERS] = "counters",
	[PERFEV_WHY_NOT_FOUND] = "not-found",
	[PERFEV_WHY_FORMAT] = "format",
	[PERFEV_WHY_TRUNCATED] = "truncated",
	[PERFEV_WHY_CORRUPT] = "corrupt",
	[PERFEV_WHY_UNSUPPORTED] = "unsupported",
	[PERFEV_WHY_DISK] = "disk",
};

const char *perfev_why_name(enum perfev_why why)
{
	if ((unsigned)why >= PERFEV_WHY_COUNT_)
		return "other";
	return why_names[why];
}

/* Names come from anywhere: nothing in them may start a new line or steer a terminal. The controls
 * U+0080 to U+009F count, one of which begins what escape and a bracket begin. */
static void make_printable(char *text)
{
	for (; *text; text++) {
		unsigned char next = (unsigned char)text[1];

		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = '?';
		else if ((unsigned char)*text == 0xc2 && next >= 0x80 && next <= 0x9f)
			text[0] = text[1] = '?';
	}
}

PERFEV_PRINTF(3, 0)
static void put_text(struct perfev_error *err, size_t at, const char *format, va_list args)
{
	vsnprintf(err->text + at, sizeof(err->text) - at, format, args);
	make_printable(err->text);
}

static void begin(struct perfev_error *err, int code, enum perfev_why why, uint64_t where)
{
	memset(err, 0, sizeof(*err));
	err->code = code;
	err->why = why;
	err->where = where;
}

int error_set(struct perfev_error *err, int code, enum perfev_why why, uint64_t where,
	      const char *format, ...)
{
	va_list args;

	if (!err)
		return code;
	begin(err, code, why, where);
	va_start(args, format);
	put_text(err, 0, format, args);
	va_end(args);
	return code;
}

static const struct {
	int code;
	const char *text;
} remedies[] = {
	{ENOENT, "look at the name again"},
	{ENOTDIR, "look at the name again"},
	{ELOOP, "look at the name again"},
	{ENAMETOOLONG, "take a shorter name"},
	{EACCES, "run as its owner or as root, or give this user the rights"},
	{EPERM, "run as its owner or as root, or give this user the rights"},
	{EISDIR, "name a file, this is a folder"},
	{EROFS, "take a place that can be written"},
	{ENOSPC, "make room, or take another place"},
	{EMFILE, "raise ulimit -n"},
	{ENFILE, "raise sysctl fs.file-max"},
	{EPIPE, "let what reads it run until the end"},
	{ESRCH, "look at the number again"},
};

/* What helps, when nothing is known but the errno. */
static const char *remedy_of(int code)
{
	size_t i;

	for (i = 0; i < sizeof(remedies) / sizeof(remedies[0]); i++)
		if (remedies[i].code == code)
			return remedies[i].text;
	return "the log of the kernel (dmesg) may say more";
}

int error_errno(struct perfev_error *err, int code, const char *format, ...)
{
	va_list args;

	if (!err)
		return code;
	begin(err, code, PERFEV_WHY_OTHER, ERROR_NOWHERE);
	va_start(args, format);
	put_text(err, 0, format, args);
	va_end(args);
	error_append(err, ": %s; %s", strerror(-code), remedy_of(-code));
	return code;
}

int error_memory(struct perfev_error *err)
{
	return error_set(err, -ENOMEM, PERFEV_WHY_MEMORY, ERROR_NOWHERE,
			 "cannot go on: out of memory; end other programs, or ask for less");
}

void error_append(struct perfev_error *err, const char *format, ...)
{
	va_list args;

	if (!err)
		return;
	va_start(args, format);
	put_text(err, strlen(err->text), format, args);
	va_end(args);
}
