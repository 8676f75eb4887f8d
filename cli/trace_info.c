/* SPDX-License-Identifier: MIT */
/*
 * What perf's decoders of traces need to know of the PMU that wrote them: AUXTRACE_INFO, in the form of each. Where a
 * machine does not say something it is 0, as perf writes it.
 */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

static const struct {
	const char *start;
	uint32_t type;
} kinds[] = {
	{"intel_pt", PERFEV_AUXTRACE_INTEL_PT}, {"intel_bts", PERFEV_AUXTRACE_INTEL_BTS},
	{"cs_etm", PERFEV_AUXTRACE_CS_ETM},	{"arm_spe", PERFEV_AUXTRACE_ARM_SPE},
	{"hisi_ptt", PERFEV_AUXTRACE_HISI_PTT},
};

static uint32_t type_of(const char *pmu)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strncmp(pmu, kinds[i].start, strlen(kinds[i].start)))
			return kinds[i].type;
	return PERFEV_AUXTRACE_UNKNOWN;
}

bool is_traced(const char *pmu)
{
	struct perfev_pmus *pmus;
	const struct perfev_pmu *found;
	bool traces = type_of(pmu) != PERFEV_AUXTRACE_UNKNOWN;

	if (traces || !*pmu || perfev_pmus_read(&pmus, NULL, NULL) < 0)
		return traces;
	found = perfev_pmus_find(pmus, pmu);
	traces = found && found->addr_filters > 0;
	perfev_pmus_free(pmus);
	return traces;
}

/* The bits of a term: "config:14-17". */
static uint64_t bits_of(const struct perfev_pmu *pmu, const char *term)
{
	size_t i;

	for (i = 0; i < pmu->format_count; i++) {
		const char *bits = strchr(pmu->formats[i].text, ':');
		char *end;
		unsigned long first, last;

		if (strcmp(pmu->formats[i].name, term) || !bits)
			continue;
		first = last = strtoul(bits + 1, &end, 10);
		if (*end == '-')
			last = strtoul(end + 1, NULL, 10);
		if (first <= last && last < 64)
			return (~UINT64_C(0) >> (63 - (last - first))) << first;
	}
	return 0;
}

/* The perf clock, as cycles: {shift, mult, zero, whether there is one}. */
static void put_clock(uint64_t *words)
{
	struct perfev_counter_opts opts = {.size = sizeof(opts), .user_read = 1};
	struct perfev_counter *counter;
	struct perfev_event *event;
	struct perfev_clock clock;

	if (perfev_event_software(&event, PERF_COUNT_SW_DUMMY, NULL) < 0)
		return;
	if (perfev_counter_open(&counter, event, perfev_on_self(), &opts, NULL) == 0) {
		if (perfev_counter_clock(counter, &clock, NULL) == 0) {
			words[0] = clock.shift;
			words[1] = clock.mult;
			words[2] = clock.zero;
			words[3] = 1;
		}
		perfev_counter_close(counter);
	}
	perfev_event_free(event);
}

/* How often the cycle counter ticks while the crystal does once. */
static void put_ratio(uint64_t *words)
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned a, b, c, d;

	if (__get_cpuid_count(0x15, 0, &a, &b, &c, &d)) {
		words[0] = b;
		words[1] = a;
	}
#else
	(void)words;
#endif
}

static size_t put_intel_pt(const struct perfev_pmu *pmu, const struct perf_event_attr *attr, bool per_cpu, bool whole_cpus,
			   uint64_t *words)
{
	const char *ratio = perfev_pmu_cap_value(pmu, "max_nonturbo_ratio");

	put_clock(words + 1);
	words[5] = bits_of(pmu, "tsc");
	words[6] = bits_of(pmu, "noretcomp");
	/* SWITCH_CPU_WIDE records come from events of whole CPUs only */
	words[7] = attr->context_switch ? (whole_cpus ? 3 : 2) : 0;
	words[9] = per_cpu;
	words[10] = bits_of(pmu, "mtc");
	words[11] = bits_of(pmu, "mtc_period");
	put_ratio(words + 12);
	words[14] = bits_of(pmu, "cyc");
	words[15] = ratio ? strtoull(ratio, NULL, 10) : 0;
	return 18; /* no filter, no trace of events */
}

/* ---- CoreSight ------------------------------------------------------------------------------------------------------ */

#define ETM4_WORDS 10 /* of a CPU, with its head */
#define ETM4_MAGIC UINT64_C(0x4040404040404040)

/* The register that makes the ETM trace what the event asks for: bits of the event's config, which are the same on all
 * kernels, and of the register. */
static uint64_t etm4_config(const struct perf_event_attr *attr)
{
	static const struct {
		unsigned bit;
		uint64_t bits;
	} rows[] = {{8, 1 << 3} /* branch_broadcast */, {12, 1 << 4} /* cycacc */, {14, 1 << 6} /* contextid1 */,
		    {15, 1 << 7 | 1 << 15} /* contextid2 */, {28, 1 << 11} /* timestamp */, {29, 1 << 12} /* retstack */};
	uint64_t config = 0;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (attr->config >> rows[i].bit & 1)
			config |= rows[i].bits;
	return config;
}

/* What the ETM of a CPU is; false when it has none, or one of another kind. */
static bool put_etm4(const struct perfev_pmus *pmus, const struct perfev_pmu *pmu, const struct perf_event_attr *attr,
		     unsigned cpu, uint64_t *words)
{
	static const char *const files[] = {"trcidr/trcidr0", "trcidr/trcidr1", "trcidr/trcidr2", "trcidr/trcidr8",
					    "mgmt/trcauthstatus"};
	char path[64];
	size_t i;

	for (i = 0; i < 5; i++) {
		snprintf(path, sizeof(path), "cpu%u/%s", cpu, files[i]);
		if (!perfev_pmus_number(pmus, pmu->name, path, &words[5 + i]))
			return false;
	}
	words[0] = ETM4_MAGIC;
	words[1] = cpu;
	words[2] = ETM4_WORDS - 3;
	words[3] = etm4_config(attr);
	words[4] = 0x10 + 2 * cpu; /* the id that the kernel gives it */
	return true;
}

static size_t put_cs_etm(const struct perfev_pmus *pmus, const struct perfev_pmu *pmu, const struct perf_event_attr *attr,
			 uint64_t *words)
{
	size_t count = 3, units = 0, cpu_count = 0, i;
	int32_t *cpus = NULL;

	if (perfev_cpus_online(&cpus, &cpu_count, NULL) < 0)
		return 0;
	for (i = 0; i < cpu_count && count + ETM4_WORDS <= TRACE_INFO_WORDS; i++)
		if (cpus[i] >= 0 && put_etm4(pmus, pmu, attr, (unsigned)cpus[i], words + count)) {
			count += ETM4_WORDS;
			units++;
		}
	free(cpus);
	words[0] = 1; /* version: each CPU says how many words it has */
	words[1] = (uint64_t)attr->type << 32 | units;
	return units ? count : 0;
}

size_t trace_info(const char *name, const struct perf_event_attr *attr, const struct perfev_sampler_id *id, uint64_t *words,
		  uint32_t *type)
{
	struct perfev_pmus *pmus;
	const struct perfev_pmu *pmu;
	bool per_cpu = id->cpu >= 0;
	size_t count = 0;

	*type = type_of(name);
	memset(words, 0, TRACE_INFO_WORDS * sizeof(*words));
	words[0] = attr->type;
	if (perfev_pmus_read(&pmus, NULL, NULL) < 0)
		return 0;
	pmu = perfev_pmus_find(pmus, name);
	switch (pmu ? *type : PERFEV_AUXTRACE_UNKNOWN) {
	case PERFEV_AUXTRACE_INTEL_PT:
		count = put_intel_pt(pmu, attr, per_cpu, id->tid < 0, words);
		break;
	case PERFEV_AUXTRACE_INTEL_BTS:
		put_clock(words + 1);
		count = 6;
		break;
	case PERFEV_AUXTRACE_ARM_SPE:
		words[1] = per_cpu;
		count = 2;
		break;
	case PERFEV_AUXTRACE_CS_ETM:
		count = put_cs_etm(pmus, pmu, attr, words);
		break;
	case PERFEV_AUXTRACE_HISI_PTT:
		count = 1;
		break;
	default: /* no decoder of perf's knows it */
		break;
	}
	perfev_pmus_free(pmus);
	return count;
}
