/* SPDX-License-Identifier: MIT */
/* What counts mean beside each other: rates, ratios, GHz. Nothing is computed from a part that is missing. */
#include "cli.h"

#include <string.h>

static bool is_event(const struct stat_row *row, uint32_t type, uint64_t config)
{
	return !row->info.tool && row->attr->type == type &&
	       (row->attr->config & PERF_HW_EVENT_MASK) == config;
}

/* The count of another event at the same place, when it was counted. */
static bool count_of(const struct stat_result *result, const struct stat_row *beside, uint32_t type,
		     uint64_t config, double *ret)
{
	size_t i;

	for (i = 0; i < result->count; i++) {
		const struct stat_row *row = &result->rows[i];
		uint64_t count;

		if (is_event(row, type, config) && row->cpu == beside->cpu && row->tid == beside->tid &&
		    row->attr->config >> PERF_PMU_TYPE_SHIFT == beside->attr->config >> PERF_PMU_TYPE_SHIFT &&
		    row->total.status == PERFEV_COUNTED && perfev_reading_scaled(&row->total, &count)) {
			*ret = (double)count;
			return true;
		}
	}
	return false;
}

static bool hardware(const struct stat_result *result, const struct stat_row *beside, uint64_t config,
		     double *ret)
{
	return count_of(result, beside, PERF_TYPE_HARDWARE, config, ret) && *ret > 0;
}

/* Clocks count on all PMUs: of a hybrid machine too. */
static bool task_clock(const struct stat_result *result, const struct stat_row *beside, double *ret)
{
	size_t i;

	for (i = 0; i < result->count; i++) {
		const struct stat_row *row = &result->rows[i];
		uint64_t count;

		if (is_event(row, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK) && row->cpu == beside->cpu &&
		    row->tid == beside->tid && row->total.status == PERFEV_COUNTED &&
		    perfev_reading_scaled(&row->total, &count) && count) {
			*ret = (double)count;
			return true;
		}
	}
	return false;
}

static void per_second(char number[32], char unit[48], double rate)
{
	static const char *const units[] = {"/sec", "K/sec", "M/sec", "G/sec"};
	int i = 0;

	for (; rate >= 1e3 && i < 3; i++)
		rate /= 1e3;
	snprintf(number, 32, "%.3f", rate);
	snprintf(unit, 48, "%s", units[i]);
}

/* Of a hardware event. False: it has no meaning of its own. */
static bool hardware_meaning(char number[32], char unit[48], const struct stat_result *result,
			     const struct stat_row *row, double count)
{
	double other, clock;

	if (is_event(row, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES) && task_clock(result, row, &clock)) {
		snprintf(number, 32, "%.3f", count / clock);
		snprintf(unit, 48, "GHz");
	} else if (is_event(row, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS) &&
		   hardware(result, row, PERF_COUNT_HW_CPU_CYCLES, &other)) {
		snprintf(number, 32, "%.2f", count / other);
		snprintf(unit, 48, "instructions per cycle");
	} else if (is_event(row, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES) &&
		   hardware(result, row, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, &other)) {
		snprintf(number, 32, "%.2f", count / other * 100);
		snprintf(unit, 48, "%% of all branches");
	} else if (is_event(row, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES) &&
		   hardware(result, row, PERF_COUNT_HW_CACHE_REFERENCES, &other)) {
		snprintf(number, 32, "%.2f", count / other * 100);
		snprintf(unit, 48, "%% of all cache references");
	} else {
		return false;
	}
	return true;
}

/* A miss of a cache beside the accesses of the same kind. */
static bool cache_meaning(char number[32], char unit[48], const struct stat_result *result,
			  const struct stat_row *row, double count)
{
	uint64_t config = row->attr->config & PERF_HW_EVENT_MASK;
	double other;

	if (row->attr->type != PERF_TYPE_HW_CACHE || config >> 16 != PERF_COUNT_HW_CACHE_RESULT_MISS ||
	    !count_of(result, row, PERF_TYPE_HW_CACHE, config & 0xffff, &other) || other <= 0)
		return false;
	snprintf(number, 32, "%.2f", count / other * 100);
	snprintf(unit, 48, "%% of all accesses");
	return true;
}

void stat_meaning(char number[32], char unit[48], const struct stat_result *result, const struct stat_row *row)
{
	uint64_t scaled;
	double clock, count;

	number[0] = unit[0] = 0;
	if (row->total.status != PERFEV_COUNTED || !perfev_reading_scaled(&row->total, &scaled) || row->info.tool)
		return;
	count = (double)scaled;
	if (is_event(row, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK)) {
		if (!result->elapsed_ns)
			return;
		snprintf(number, 32, "%.3f", count / (double)result->runs / (double)result->elapsed_ns);
		snprintf(unit, 48, "CPUs utilized");
	} else if (!hardware_meaning(number, unit, result, row, count) &&
		   !cache_meaning(number, unit, result, row, count) && !row->info.unit[0] &&
		   !is_event(row, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK) &&
		   task_clock(result, row, &clock)) {
		per_second(number, unit, count / (clock / 1e9));
	}
}
