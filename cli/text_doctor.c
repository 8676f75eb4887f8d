/* SPDX-License-Identifier: MIT */
/* The report of perfev doctor: what works, and what does not, grouped by the reason. */
#include "cli.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* A number of the system; where /proc or /sys are hidden, there is none. */
static const char *fact(char to[32], int64_t value)
{
	if (value == INT64_MIN)
		return "unknown";
	snprintf(to, 32, "%" PRId64, value);
	return to;
}

static void put_settings(FILE *out, const struct perfev_system *s)
{
	char one[32], two[32], three[32];

	if (s->paranoid == INT64_MIN)
		fprintf(out, "Settings  perf_event_paranoid is not there: %s\n",
			access("/proc/self", F_OK) < 0 ? "there is no /proc; run mount -t proc proc /proc"
						       : "this kernel has no perf events");
	else
		fprintf(out, "Settings  perf_event_paranoid %s, kptr_restrict %s\n", fact(one, s->paranoid),
			fact(two, s->kptr_restrict));
	fprintf(out, "Limits    %s samples a second, %s KiB of ring memory a CPU, %s open files\n\n",
		fact(one, s->max_sample_rate), fact(two, s->mlock_kb), fact(three, s->files_soft));
}

static void put_system(FILE *out, const struct perfev_system *s)
{
	char mask[64], one[32], two[32], three[32];

	fprintf(out, "Machine   %s, %s, kernel %s\n", s->cpu_desc[0] ? s->cpu_desc : "unknown CPU", s->arch,
		s->release);
	fprintf(out, "          %s CPUs online of %s, %s MB\n", fact(one, s->cpus_online),
		fact(two, s->cpus_available),
		fact(three, s->memory_kb == INT64_MIN ? INT64_MIN : s->memory_kb / 1024));
	snprintf(mask, sizeof(mask), "%s%s%s", s->capabilities & PERFEV_CAP_SYS_ADMIN ? " SYS_ADMIN" : "",
		 s->capabilities & PERFEV_CAP_PERFMON ? " PERFMON" : "",
		 s->capabilities & PERFEV_CAP_SYSLOG ? " SYSLOG" : "");
	fprintf(out, "User      uid %" PRId64 ", capabilities that matter:%s%s\n", s->uid,
		mask[0] ? mask : " none", s->seccomp == 2 ? "; under a seccomp filter" : "");
	put_settings(out, s);
}

/* ---- PMUs and the kernel -------------------------------------------------------------------------------- */

static void put_pmus(FILE *out)
{
	struct perfev_pmus *pmus;
	size_t i, count;
	int used = 0;

	if (perfev_pmus_read(&pmus, NULL, NULL) < 0)
		return;
	count = perfev_pmus_count(pmus);
	fputs("PMUs      ", out);
	for (i = 0; i < count; i++) {
		const char *name = perfev_pmus_at(pmus, i)->name;

		if (used + (int)strlen(name) > 80) {
			fputs("\n          ", out);
			used = 0;
		}
		used += fprintf(out, "%s%s", name, i + 1 < count ? ", " : "");
	}
	fputc('\n', out);
	perfev_pmus_free(pmus);
}

static void put_kernel(FILE *out)
{
	struct perfev_kernel kernel;
	struct perfev_kernel_item item;
	size_t i, missing = 0;

	perfev_kernel_read(&kernel);
	if (kernel.unknown) {
		fputs("Kernel    what it knows cannot be told, as it refuses to answer\n", out);
		return;
	}
	for (i = 0; perfev_kernel_item_at(i, &item); i++) {
		if (kernel.has >> i & 1)
			continue;
		fprintf(out, "%s%s (Linux %s)\n", missing ? "          " : "Kernel    does not know: ", item.title,
			item.since);
		missing++;
	}
	if (!missing)
		fprintf(out, "Kernel    knows all that perfev uses, up to Linux %s\n", item.since);
}

/* ---- abilities --------------------------------------------------------------------------------------------- */

struct refusal {
	bool able, told;
	char text[sizeof(((struct perfev_error *)0)->text)];
};

/* Each reason once, under all that it forbids. */
static void put_refusals(FILE *out, struct refusal *all)
{
	int i, k;

	for (i = 0; i < PERFEV_ABILITY_COUNT; i++) {
		if (all[i].able || all[i].told)
			continue;
		for (k = i; k < PERFEV_ABILITY_COUNT; k++)
			if (!all[k].able && !all[k].told && 
			    !strcmp(text_cause(all[i].text), text_cause(all[k].text))) {
				fprintf(out, "  no   %s\n", perfev_ability_title((enum perfev_ability)k));
				all[k].told = true;
			}
		fputs("         ", out);
		text_name(out, text_cause(all[i].text));
		fputc('\n', out);
	}
}

void text_doctor(FILE *out)
{
	struct refusal all[PERFEV_ABILITY_COUNT];
	struct perfev_system s;
	struct perfev_error err;
	int i, able = 0;

	perfev_system_read(&s);
	put_system(out, &s);
	put_pmus(out);
	put_kernel(out);
	fputc('\n', out);
	for (i = 0; i < PERFEV_ABILITY_COUNT; i++) {
		all[i].able = perfev_probe((enum perfev_ability)i, &err);
		all[i].told = false;
		all[i].text[0] = 0;
		if (!all[i].able)
			memcpy(all[i].text, err.text, sizeof(err.text));
		else
			fprintf(out, "  yes  %s\n", perfev_ability_title((enum perfev_ability)i));
		able += all[i].able;
	}
	if (able < PERFEV_ABILITY_COUNT)
		fputs(able ? "\n" : "", out);
	put_refusals(out, all);
}
