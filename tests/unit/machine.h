/* SPDX-License-Identifier: MIT */
/*
 * Other machines: trees of sysfs and tracefs made from the descriptions in tests/machines.
 *
 *	[PMU...] TYPE		the next PMUs; each one more has the next type
 *	FILE TEXT		a file of theirs
 *	tracepoint SYSTEM:NAME ID
 *	? TEXT			what is parsed there
 *	= EVENT			the events that it means, in order, as event_line() writes them
 *	! COLUMN WORDS		or the mistake in it, and what is said about it
 */
#ifndef TESTS_MACHINE_H
#define TESTS_MACHINE_H

#include <perfev/event.h>

#include <stdio.h>

#define MACHINE_LINE 1024

struct machine {
	char root[64]; /* a folder of its own */
	char sysfs[80], tracefs[80];
	struct perfev_parse_opts opts; /* for perfev_events_parse_at() */
};

/* machine_read() - gives each file of a description to @put: "sys/bus/..." or "tracing/events/...".
 * False: @put failed, or there is no such description. */
bool machine_read(const char *name, bool (*put)(void *context, const char *path, const char *text), void *context);

/* machine_new() - "" makes one that has nothing but the folder of PMUs. False: says why, on stderr. */
bool machine_new(struct machine *ret, const char *name);
/* machine_file() - one more file, below the root; in @size bytes anything may be */
bool machine_file(const struct machine *machine, const char *path, const void *data, size_t size);
void machine_free(struct machine *machine);

/* event_line() - all that one event of a list is: "NAME type=4 config=0x3c ...", where what is 0 is left
 * out; "other" stands for what no word of it says */
void event_line(char *ret, size_t size, const struct perfev_events *events, size_t index);

#endif
