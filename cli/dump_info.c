/* SPDX-License-Identifier: MIT */
/* The words of AUXTRACE_INFO records by their names: what perf writes down of each PMU that traces, in its order. */
#include "cli.h"

#include <inttypes.h>

#define NAMES_MAX 20
#define ETM4	  UINT64_C(0x4040404040404040)

static const struct {
	uint32_t type;
	const char *names[NAMES_MAX];
} kinds[] = {
	{PERFEV_AUXTRACE_INTEL_PT,
	 {"pmu_type", "time_shift", "time_mult", "time_zero", "has_time", "tsc_bits", "noretcomp_bits", "switches", "snapshot",
	  "per_cpu", "mtc_bits", "mtc_period_bits", "tsc_ctc_n", "tsc_ctc_d", "cyc_bits", "max_nonturbo_ratio",
	  "filter_length"}},
	{PERFEV_AUXTRACE_INTEL_BTS, {"pmu_type", "time_shift", "time_mult", "time_zero", "has_time", "snapshot"}},
	{PERFEV_AUXTRACE_HISI_PTT, {"pmu_type"}},
};

static const char *const etm4_names[] = {"configr", "traceidr", "idr0", "idr1", "idr2", "idr8", "authstatus", "ts_source"};

struct words {
	const struct perfev_auxtrace_info *info;
	bool json, first;
};

static void put(struct words *w, const char *name, uint64_t value)
{
	if (w->json)
		printf("%s\"%s\":\"0x%" PRIx64 "\"", w->first ? "" : ",", name, value);
	else
		printf(" %s=0x%" PRIx64, name, value);
	w->first = false;
}

static void put_at(struct words *w, const char *name, uint32_t index)
{
	put(w, name, perfev_u64s_at(w->info->numbers, index));
}

/* Words from @at on that have no names. */
static void put_rest(struct words *w, uint32_t at)
{
	char name[24];

	for (; at < w->info->numbers.count; at++) {
		snprintf(name, sizeof(name), "word%" PRIu32, at);
		put_at(w, name, at);
	}
}

/* A CPU of CoreSight: a magic number, which it is, how many words follow from version 1 on. Returns where the next one is; 0:
 * it is not complete, or of a kind without names. */
static uint32_t put_unit(struct words *w, uint32_t at)
{
	const struct perfev_u64s *all = &w->info->numbers;
	bool counted = perfev_u64s_at(*all, 0) & UINT32_MAX;
	uint32_t head = counted ? 3 : 2, i;
	uint64_t count = 7;

	if (all->count - at < head || perfev_u64s_at(*all, at) != ETM4)
		return 0;
	if (counted)
		count = perfev_u64s_at(*all, at + 2);
	if (count > all->count - at - head || count > 8)
		return 0;
	if (w->json)
		printf("%s\"cpu%" PRIu64 "\":{", w->first ? "" : ",", perfev_u64s_at(*all, at + 1));
	else
		printf("\n          cpu %" PRIu64 ": etmv4", perfev_u64s_at(*all, at + 1));
	w->first = true;
	for (i = 0; i < count; i++)
		put_at(w, etm4_names[i], at + head + i);
	if (w->json)
		fputc('}', stdout);
	w->first = false;
	return at + head + (uint32_t)count;
}

static void put_cs_etm(struct words *w)
{
	uint32_t at = 3, next;

	if (w->info->numbers.count < 3) {
		put_rest(w, 0);
		return;
	}
	put_at(w, "version", 0);
	put(w, "pmu_type", perfev_u64s_at(w->info->numbers, 1) >> 32);
	put(w, "cpus", perfev_u64s_at(w->info->numbers, 1) & UINT32_MAX);
	put_at(w, "snapshot", 2);
	while (at < w->info->numbers.count && (next = put_unit(w, at)))
		at = next;
	put_rest(w, at);
}

/* Arm SPE's first version is told by its size. */
static void put_arm_spe(struct words *w)
{
	static const char *const first[] = {"pmu_type", "per_cpu"};
	static const char *const second[] = {"version", "header_words", "pmu_type", "cpus"};
	bool old = w->info->numbers.count == 2;
	uint32_t i;

	for (i = 0; i < (old ? 2u : 4u) && i < w->info->numbers.count; i++)
		put_at(w, old ? first[i] : second[i], i);
	put_rest(w, i);
}

static void put_named(struct words *w)
{
	size_t kind;
	uint32_t i = 0;

	for (kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++)
		if (kinds[kind].type == w->info->type)
			for (; i < NAMES_MAX && kinds[kind].names[i] && i < w->info->numbers.count; i++)
				put_at(w, kinds[kind].names[i], i);
	put_rest(w, i);
}

static void put_words(struct words *w)
{
	if (w->info->type == PERFEV_AUXTRACE_CS_ETM)
		put_cs_etm(w);
	else if (w->info->type == PERFEV_AUXTRACE_ARM_SPE)
		put_arm_spe(w);
	else
		put_named(w);
}

void dump_info(const struct perfev_auxtrace_info *info, bool json)
{
	const char *name = perfev_auxtrace_type_name(info->type);
	struct words w = {info, json, true};

	if (json) {
		printf(",\"auxtrace_info\":{\"type\":\"%s\",\"words\":{", name ? name : "unknown");
		put_words(&w);
		fputs("}}", stdout);
	} else {
		printf("          %s:", name ? name : "unknown");
		put_words(&w);
		fputc('\n', stdout);
	}
}
