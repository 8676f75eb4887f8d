/* SPDX-License-Identifier: MIT */
/*
 * jitdump files: functions with the time at which they came. Records of a profile come in the order of time too, so the
 * file is read as far as the profile is. Where their clocks are not the same, all of it is read at once.
 */
#include "jit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool jit_is_dump(const char *name)
{
	const char *base = strrchr(name, '/');
	size_t digits;

	base = base ? base + 1 : name;
	if (strncmp(base, "jit-", 4))
		return false;
	digits = strspn(base + 4, "0123456789");
	return digits && !strcmp(base + 4 + digits, ".dump");
}

/* A file of a writer that died ends in the middle of a record: what is before counts. */
static void take_next(struct jit *jit)
{
	jit->has_record = jit->dump && perfev_jitdump_next(jit->dump, &jit->record, NULL) > 0;
	if (jit->has_record || !jit->dump)
		return;
	perfev_jitdump_close(jit->dump);
	jit->dump = NULL;
}

struct jit *jit_new(const char *path, const char *file, struct module *module, char *why)
{
	struct perfev_jitdump_opts opts = {.size = sizeof(opts), .partial = 1, .copy = 1};
	struct jit *jit = calloc(1, sizeof(*jit));
	struct perfev_jitdump_info info;
	struct perfev_error err;

	if (!jit)
		return NULL;
	jit->path = path;
	jit->module = module;
	why[0] = 0;
	if (perfev_jitdump_open(&jit->dump, file, &opts, &err) < 0) {
		snprintf(why, 200, "%.199s", err.text);
		return jit;
	}
	perfev_jitdump_describe(jit->dump, &info);
	jit->untimed = info.flags & PERFEV_JIT_ARCH_TIMESTAMP;
	take_next(jit);
	return jit;
}

static int apply(struct jit *jit, struct interner *names)
{
	const struct perfev_jit_code *code = &jit->record.as.code;
	const struct function *old;
	const char *name;

	if (jit->record.type == PERFEV_JIT_LOAD)
		return functions_add(&jit->functions, code->code_addr, code->code_size, intern(names, code->name));
	old = jit->record.type == PERFEV_JIT_MOVE ? functions_find(&jit->functions, code->old_addr) : NULL;
	if (!old)
		return 0;
	name = old->name;
	functions_remove(&jit->functions, old->start, old->end);
	return functions_add(&jit->functions, code->code_addr, code->code_size, name);
}

int jit_advance(struct jit *jit, uint64_t time, struct interner *names)
{
	while (jit->has_record && (jit->untimed || jit->record.timestamp <= time)) {
		if (apply(jit, names) < 0)
			return -ENOMEM;
		take_next(jit);
	}
	return 0;
}

void jit_free(struct jit *jit)
{
	if (!jit)
		return;
	perfev_jitdump_close(jit->dump);
	functions_free(&jit->functions);
	free(jit);
}
