/* SPDX-License-Identifier: MIT */
/* The table of perfev stat, and what its counts mean beside each other. */
#include "cli.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static bool is_event(const struct stat_row *row, uint32_t type, uint64_t config)
{
	return !row->info.tool && row->attr->type == type && (row->attr->config & PERF_HW_EVENT_MASK) == config;
}

/* The count of another event of the same run, when it was counted. */
static bool count_of(const struct stat_result *result, uint32_t type, uint64_t config, double *ret)
{
	size_t i;

	for (i = 0; i < result->count; i++) {
		uint64_t count;

		if (is_event(&result->rows[i], type, config) &&
		    result->rows[i].total.status == PERFEV_COUNTED &&
		    perfev_reading_scaled(&result->rows[i].total, &count)) {
			*ret = (double)count;
			return true;
		}
	}
	return false;
}

static const char *per_second(char to[48], double rate)
{
	if (rate >= 1e9)
		snprintf(to, 48, "%.3f G/sec", rate / 1e9);
	else if (rate >= 1e6)
		snprintf(to, 48, "%.3f M/sec", rate / 1e6);
	else if (rate >= 1e3)
		snprintf(to, 48, "%.3f K/sec", rate / 1e3);
	else
		snprintf(to, 48, "%.3f /sec", rate);
	return to;
}

/* What a count means beside the others; "" when a part is missing. */
static const char *meaning(char to[48], const struct stat_result *result, const struct stat_row *row,
			   double count)
{
	double other, clock = 0;
	bool has_clock = count_of(result, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, &clock) &&
			 clock > 0;

	to[0] = 0;
	if (is_event(row, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK)) {
		if (result->elapsed_ns)
			snprintf(to, 48, "%.3f CPUs utilized",
				 count / (double)result->runs / (double)result->elapsed_ns);
	} else if (is_event(row, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES) && has_clock) {
		snprintf(to, 48, "%.3f GHz", count / clock);
	} else if (is_event(row, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS) &&
		   count_of(result, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, &other) && other > 0) {
		snprintf(to, 48, "%.2f instructions per cycle", count / other);
	} else if (is_event(row, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES) &&
		   count_of(result, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, &other) &&
		   other > 0) {
		snprintf(to, 48, "%.2f %% of all branches", count / other * 100);
	} else if (is_event(row, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES) &&
		   count_of(result, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, &other) &&
		   other > 0) {
		snprintf(to, 48, "%.2f %% of all cache references", count / other * 100);
	} else if (has_clock && !row->info.tool && !is_event(row, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK)) {
		per_second(to, count / (clock / 1e9));
	}
	return to;
}

static void put_stat_row(FILE *out, const struct stat_result *result, const struct stat_row *row)
{
	const struct perfev_reading *r = &row->total;
	char number[32], extra[48];
	uint64_t count;
	bool clock = !row->info.tool && row->attr->type == PERF_TYPE_SOFTWARE &&
		     row->attr->config <= PERF_COUNT_SW_TASK_CLOCK;

	if (r->status != PERFEV_COUNTED || !perfev_reading_scaled(r, &count)) {
		fprintf(out, "%20s      ",
			r->status == PERFEV_NOT_SUPPORTED ? "not supported"
			: r->status == PERFEV_ERROR_STATE ? "error"
			: r->status == PERFEV_GONE	  ? "gone"
							  : "not counted");
		text_name(out, row->event);
		fputc('\n', out);
		return;
	}
	meaning(extra, result, row, (double)count);
	if (!(row->info.flags & PERFEV_EVENT_SNAPSHOT))
		count /= result->runs;
	if (clock)
		fprintf(out, "%20.2f msec ", (double)count / 1e6);
	else if (row->info.unit[0] && row->info.scale >= 1 && row->info.scale <= 1)
		fprintf(out, "%20s %-4s ", text_number(number, count), row->info.unit);
	else if (row->info.unit[0] || row->info.scale < 1 || row->info.scale > 1)
		fprintf(out, "%20.2f %-4s ", (double)count * row->info.scale, row->info.unit);
	else
		fprintf(out, "%20s      ", text_number(number, count));
	fprintf(out, "%-26s", row->event);
	fprintf(out, extra[0] ? " # %12s" : "%s", extra);
	if (result->runs > 1 && row->mean > 0)
		fprintf(out, "  ( +- %.2f %% )",
			row->stddev / sqrt((double)result->runs) / row->mean * 100);
	if (r->running_ns < r->enabled_ns)
		fprintf(out, "  (%.1f %% of the time)",
			(double)r->running_ns / (double)r->enabled_ns * 100);
	fputc('\n', out);
}

/* Why a row has no count, without the event's name; NULL: it has one. */
static const char *reason(const struct stat_result *result, size_t index)
{
	const struct stat_row *row = &result->rows[index];

	return row->why[0] && row->total.status != PERFEV_COUNTED ? text_cause(row->why) : NULL;
}

static bool told_before(const struct stat_result *result, size_t index, bool with_name)
{
	size_t i;

	for (i = 0; i < index; i++) {
		const char *why = reason(result, i);

		if (why && !strcmp(why, reason(result, index)) &&
		    (!with_name || !strcmp(result->rows[i].event, result->rows[index].event)))
			return true;
	}
	return false;
}

/* Each reason once, behind the names of all events that it is for. */
static void put_reasons(FILE *out, const struct stat_result *result)
{
	bool user_only = false;
	size_t i, k;

	for (i = 0; i < result->count; i++) {
		const char *why = reason(result, i), *other;

		user_only |= result->rows[i].user_only;
		if (!why || told_before(result, i, false))
			continue;
		for (k = i; k < result->count; k++) {
			other = reason(result, k);
			if (!other || strcmp(why, other) || told_before(result, k, true))
				continue;
			fputs(k == i ? " " : ", ", out);
			text_name(out, result->rows[k].event);
		}
		fprintf(out, ": %s\n", why);
	}
	if (user_only)
		fputs(" User code only: perf_event_paranoid does not let this user count the kernel.\n", out);
}

void text_stat(FILE *out, const struct stat_result *result, const char *what)
{
	size_t i;

	fputs("\n Counts of '", out);
	text_name(out, what);
	if (result->runs > 1)
		fprintf(out, "', mean of %" PRIu64 " runs:\n\n", result->runs);
	else
		fputs("':\n\n", out);
	for (i = 0; i < result->count; i++)
		put_stat_row(out, result, &result->rows[i]);
	fprintf(out, "\n%20.6f seconds elapsed", (double)result->elapsed_ns / 1e9);
	if (result->runs > 1 && result->elapsed_ns)
		fprintf(out, "  ( +- %.2f %% )",
			result->elapsed_stddev_ns / sqrt((double)result->runs) /
				(double)result->elapsed_ns * 100);
	fputs("\n\n", out);
	put_reasons(out, result);
}
