/* SPDX-License-Identifier: MIT */
/* Facts in sentences: {paranoid} and so on are replaced by what was measured. */
#include "explain_text.h"

#include "decode/attr.h"

#include <stdio.h>
#include <string.h>

/* What the kernel does not know of the attr. */
static void put_member(const struct facts *f, char *to, size_t size)
{
	const char *member = attr_set_beyond(f->attr, f->known_size, f->attr->size);

	snprintf(to, size, "%s", member ? member : "a field");
}

/* "inherit together with PERF_SAMPLE_READ" */
static void put_fault(const struct facts *f, char *to, size_t size)
{
	size_t used = 0;
	unsigned i;

	for (i = 0; i < f->fault.count && used < size; i++) {
		int n = snprintf(to + used, size - used, "%s%s",
				 i == 0 ? "" : i == 1 ? " together with " : " and ", f->fault.names[i]);

		used += n > 0 ? (size_t)n : 0;
	}
}

/* The value of a name in braces. */
static void put_fact(const struct facts *f, const char *name, char *to, size_t size)
{
	const struct perfev_system *s = &f->system;
	struct {
		const char *name;
		int64_t value;
	} const numbers[] = {
		{"paranoid", s->paranoid},
		{"uid", s->uid},
		{"owner", f->owner},
		{"cpu", f->cpu},
		{"online", s->cpus_online},
		{"rate", s->max_sample_rate},
		{"precise", f->attr->precise_ip},
		{"files", s->files_soft},
		{"files_hard", s->files_hard},
		{"known", f->known_size},
		{"ring", (int64_t)(f->ring_bytes / 1024)},
		{"mlock", s->mlock_kb},
		{"type", f->attr->type},
		{"length", (int64_t)f->attr->bp_len},
		{"depth", f->attr->sample_max_stack},
		{"max_stack", s->max_stack},
		{"memlock", s->memlock_soft == INT64_MIN ? INT64_MIN : s->memlock_soft / 1024},
	};
	size_t i;

	to[0] = 0;
	if (!strcmp(name, "need") && f->need_files)
		snprintf(to, size, ", and %u more are needed", f->need_files);
	if (!strcmp(name, "member"))
		put_member(f, to, size);
	if (!strcmp(name, "fault"))
		put_fault(f, to, size);
	if (!strcmp(name, "needs"))
		snprintf(to, size, "%s", f->fault.needs);
	if (!strcmp(name, "unknown"))
		snprintf(to, size, "%s", f->fault.unknown);
	if (!strcmp(name, "since"))
		snprintf(to, size, "%s", f->fault.since);
	if (!strcmp(name, "pmu"))
		snprintf(to, size, "%s", f->pmu ? f->pmu : "");
	if (!strcmp(name, "freq"))
		snprintf(to, size, "%llu", (unsigned long long)f->attr->sample_freq);
	if (!strcmp(name, "address"))
		snprintf(to, size, "%llx", (unsigned long long)f->attr->bp_addr);
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!strcmp(numbers[i].name, name)) {
			if (numbers[i].value == INT64_MIN)
				snprintf(to, size, "unknown");
			else
				snprintf(to, size, "%lld", (long long)numbers[i].value);
		}
}

void explain_expand(const struct facts *f, const char *from, char *to, size_t size)
{
	size_t used = 0;

	while (*from && used + 1 < size) {
		const char *close = *from == '{' ? strchr(from, '}') : NULL;
		char name[32], value[192];
		size_t n;

		if (!close || close - from - 1 >= (long)sizeof(name)) {
			to[used++] = *from++;
			continue;
		}
		n = (size_t)(close - from - 1);
		memcpy(name, from + 1, n);
		name[n] = 0;
		put_fact(f, name, value, sizeof(value));
		n = strlen(value) < size - 1 - used ? strlen(value) : size - 1 - used;
		memcpy(to + used, value, n);
		used += n;
		from = close + 1;
	}
	to[used] = 0;
}

void explain_target(const struct facts *f, char *to, size_t size)
{
	if (f->cgroup)
		snprintf(to, size, "a cgroup on CPU %d", f->cpu);
	else if (f->pid == -1 && f->cpu < 0)
		snprintf(to, size, "nothing");
	else if (f->pid == -1)
		snprintf(to, size, "CPU %d", f->cpu);
	else if (f->pid == 0 && f->cpu < 0)
		snprintf(to, size, "this thread");
	else if (f->pid == 0)
		snprintf(to, size, "this thread on CPU %d", f->cpu);
	else if (f->cpu < 0)
		snprintf(to, size, "task %d", f->pid);
	else
		snprintf(to, size, "task %d on CPU %d", f->pid, f->cpu);
}
