/* SPDX-License-Identifier: MIT */
/* JSON of what is not measured: the environment, events, PMUs. */
#include "cli.h"

#include <inttypes.h>

static void put_fact(FILE *out, const char *name, int64_t value)
{
	if (value == INT64_MIN)
		fprintf(out, "\"%s\":null,", name);
	else
		fprintf(out, "\"%s\":%" PRId64 ",", name, value);
}

static void put_kernel(FILE *out)
{
	struct perfev_kernel_item item;
	struct perfev_kernel kernel;
	size_t i;

	perfev_kernel_read(&kernel);
	for (i = 0; perfev_kernel_item_at(i, &item); i++)
		fprintf(out, "%s{\"name\":\"%s\",\"title\":\"%s\",\"since\":\"%s\",\"known\":%s}",
			i ? "," : "", item.name, item.title, item.since,
			kernel.unknown >> i & 1 ? "null"
			: kernel.has >> i & 1	? "true"
						: "false");
}

void json_doctor(FILE *out)
{
	struct perfev_system s;
	struct perfev_error err;
	int i;

	perfev_system_read(&s);
	fputs("{\"system\":{\"kernel\":", out);
	json_string(out, s.release);
	fputs(",\"arch\":", out);
	json_string(out, s.arch);
	fputs(",\"cpu\":", out);
	json_string(out, s.cpu_desc);
	fputc(',', out);
	put_fact(out, "cpus_online", s.cpus_online);
	put_fact(out, "cpus_available", s.cpus_available);
	put_fact(out, "memory_kb", s.memory_kb);
	put_fact(out, "uid", s.uid);
	put_fact(out, "perf_event_paranoid", s.paranoid);
	put_fact(out, "kptr_restrict", s.kptr_restrict);
	put_fact(out, "perf_event_max_sample_rate", s.max_sample_rate);
	put_fact(out, "perf_event_mlock_kb", s.mlock_kb);
	put_fact(out, "perf_event_max_stack", s.max_stack);
	put_fact(out, "files_soft", s.files_soft);
	put_fact(out, "files_hard", s.files_hard);
	put_fact(out, "memlock_bytes", s.memlock_soft);
	put_fact(out, "seccomp", s.seccomp);
	fprintf(out, "\"capabilities\":\"%016" PRIx64 "\"},\"abilities\":[", s.capabilities);
	for (i = 0; i < PERFEV_ABILITY_COUNT; i++) {
		int able = perfev_probe((enum perfev_ability)i, &err);

		fprintf(out, "%s{\"ability\":\"%s\",\"title\":\"%s\",\"able\":%s,\"why\":", i ? "," : "",
			perfev_ability_name((enum perfev_ability)i),
			perfev_ability_title((enum perfev_ability)i), able ? "true" : "false");
		if (able)
			fputs("null", out);
		else
			json_string(out, err.text);
		fputc('}', out);
	}
	fputs("],\"kernel\":[", out);
	put_kernel(out);
	fputs("],\"pmus\":[", out);
	json_pmus(out);
	fputs("]}\n", out);
}

void json_listed_event(FILE *out, const struct perfev_listed_event *event)
{
	fputs("{\"event\":", out);
	json_string(out, event->name);
	fprintf(out, ",\"kind\":\"%s\",\"alias\":", event->kind);
	if (event->alias)
		json_string(out, event->alias);
	else
		fputs("null", out);
	fputs(",\"pmu\":", out);
	if (event->pmu[0])
		json_string(out, event->pmu);
	else
		fputs("null", out);
	fputs(",\"terms\":", out);
	json_string(out, event->terms);
	fputs(",\"unit\":", out);
	json_string(out, event->unit);
	fprintf(out, ",\"scale\":%.15g}", event->scale);
}

static void put_pairs(FILE *out, const struct perfev_pmu *pmu)
{
	size_t i;

	fputs(",\"formats\":{", out);
	for (i = 0; i < pmu->format_count; i++) {
		fputs(i ? "," : "", out);
		json_string(out, pmu->formats[i].name);
		fputc(':', out);
		json_string(out, pmu->formats[i].text);
	}
	fputs("},\"caps\":{", out);
	for (i = 0; i < pmu->cap_count; i++) {
		fputs(i ? "," : "", out);
		json_string(out, pmu->caps[i].name);
		fputc(':', out);
		json_string(out, pmu->caps[i].value);
	}
	fputc('}', out);
}

static void put_pmu(FILE *out, const struct perfev_pmu *pmu)
{
	size_t i;

	fputs("{\"name\":", out);
	json_string(out, pmu->name);
	fprintf(out, ",\"type\":%" PRIu32 ",\"core\":%s,\"system_wide\":%s,\"events\":%zu,\"cpus\":[",
		pmu->type, pmu->flags & PERFEV_PMU_CORE ? "true" : "false",
		pmu->flags & PERFEV_PMU_SYSTEM_WIDE ? "true" : "false", pmu->event_count);
	for (i = 0; i < pmu->cpu_count; i++)
		fprintf(out, "%s%" PRId32, i ? "," : "", pmu->cpus[i]);
	fputc(']', out);
	put_pairs(out, pmu);
	fputc('}', out);
}

void json_pmus(FILE *out)
{
	struct perfev_pmus *pmus;
	size_t i;

	if (perfev_pmus_read(&pmus, NULL, NULL) < 0)
		return;
	for (i = 0; i < perfev_pmus_count(pmus); i++) {
		fputs(i ? ",\n" : "\n", out);
		put_pmu(out, perfev_pmus_at(pmus, i));
	}
	perfev_pmus_free(pmus);
}
