/* SPDX-License-Identifier: MIT */
/* Code that a process compiled while it ran, as it wrote down in a jitdump file. */
#ifndef SYMBOLS_JIT_H
#define SYMBOLS_JIT_H

#include "functions.h"

#include "base/arena.h"

#include <perfev/jitdump.h>

struct module;

struct jit {
	struct jit *next;
	const char *path; /* interned */
	struct perfev_jitdump *dump; /* NULL: read to its end, or not readable */
	struct perfev_jit_record record; /* the next one, */
	bool has_record;		 /* if there is one */
	bool untimed;			 /* its times are no CLOCK_MONOTONIC */
	struct module *module;
	struct functions functions;
};

/* jit_is_dump() - whether a mapping of that name announces such a file: jit-PID.dump, in any folder. */
bool jit_is_dump(const char *name);
/* jit_new() - NULL without memory. @file: where it is; @why: 200 bytes for why it cannot be read, or "". */
struct jit *jit_new(const char *path, const char *file, struct module *module, char *why);
/* jit_advance() - take what was compiled up to @time. Return: 0, -ENOMEM. */
int jit_advance(struct jit *jit, uint64_t time, struct interner *names);
void jit_free(struct jit *jit);

#endif
