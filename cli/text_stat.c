/* SPDX-License-Identifier: MIT */
/* What perfev stat prints: the table, and fields with a separator. */
#include "cli.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static bool is_clock(const struct stat_row *row)
{
	return !row->info.tool && row->attr->type == PERF_TYPE_SOFTWARE &&
	       row->attr->config <= PERF_COUNT_SW_TASK_CLOCK;
}

static bool is_scaled(const struct stat_row *row)
{
	return row->info.scale < 1 || row->info.scale > 1;
}

static const char *status_words(const struct stat_row *row)
{
	switch (row->total.status) {
	case PERFEV_NOT_SUPPORTED:
		return "not supported";
	case PERFEV_ERROR_STATE:
		return "error";
	case PERFEV_GONE:
		return "gone";
	default:
		return "not counted";
	}
}

/* Where it was counted, when places are told apart; and when, of intervals. */
static void put_place(FILE *out, const struct stat_result *result, const struct stat_row *row)
{
	if (result->interval)
		fprintf(out, "%14.6f", (double)result->time_ns / 1e9);
	if (result->per_cpu && row->cpu >= 0)
		fprintf(out, " CPU%-4d", row->cpu);
	else if (result->per_thread && row->tid >= 0)
		fprintf(out, " %7d", row->tid);
	else if (result->per_cpu || result->per_thread) /* a time, which has no place */
		fprintf(out, " %7s", "");
}

static void put_count(FILE *out, const struct stat_row *row, uint64_t count)
{
	char number[32];

	if (is_clock(row))
		fprintf(out, "%20.2f msec ", (double)count / 1e6);
	else if (is_scaled(row))
		fprintf(out, "%20.2f %-4s ", (double)count * row->info.scale, row->info.unit);
	else
		fprintf(out, "%20s %-4s ", text_number(number, count), row->info.unit);
}

static void put_stat_row(FILE *out, const struct stat_result *result, const struct stat_row *row)
{
	const struct perfev_reading *r = &row->total;
	char number[32], unit[48];
	uint64_t count;

	put_place(out, result, row);
	if (r->status != PERFEV_COUNTED || !perfev_reading_scaled(r, &count)) {
		fprintf(out, "%20s      ", status_words(row));
		text_name(out, row->event);
		fputc('\n', out);
		return;
	}
	if (!(row->info.flags & PERFEV_EVENT_SNAPSHOT))
		count /= result->runs;
	put_count(out, row, count);
	text_name(out, row->event);
	if (strlen(row->event) < 26)
		fprintf(out, "%*s", (int)(26 - strlen(row->event)), "");
	stat_meaning(number, unit, result, row);
	if (number[0])
		fprintf(out, " # %12s %s", number, unit);
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

	if (!result->interval) {
		fputs("\n Counts of '", out);
		text_name(out, what);
		if (result->runs > 1)
			fprintf(out, "', mean of %" PRIu64 " runs:\n\n", result->runs);
		else
			fputs("':\n\n", out);
	}
	for (i = 0; i < result->count; i++)
		put_stat_row(out, result, &result->rows[i]);
	if (result->interval) {
		if (result->last)
			put_reasons(out, result);
		return;
	}
	fprintf(out, "\n%20.6f seconds elapsed", (double)result->elapsed_ns / 1e9);
	if (result->runs > 1 && result->elapsed_ns)
		fprintf(out, "  ( +- %.2f %% )",
			result->elapsed_stddev_ns / sqrt((double)result->runs) /
				(double)result->elapsed_ns * 100);
	fputs("\n\n", out);
	put_reasons(out, result);
}

/* ---- fields with a separator ------------------------------------------------------------------------------ */

/* A text that has the separator in it, or quotes, is quoted. */
static void put_field(FILE *out, const char *text, const char *separator)
{
	bool quoted = strstr(text, separator) || strpbrk(text, "\"\n");

	if (quoted)
		fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	if (quoted)
		fputc('"', out);
}

static void put_csv_count(FILE *out, const struct stat_row *row, uint64_t count)
{
	if (is_clock(row))
		fprintf(out, "%.2f", (double)count / 1e6);
	else if (is_scaled(row))
		fprintf(out, "%.15g", (double)count * row->info.scale);
	else
		fprintf(out, "%" PRIu64, count);
}

static void put_csv_row(FILE *out, const struct stat_result *result, const struct stat_row *row,
			const char *sep)
{
	const struct perfev_reading *r = &row->total;
	char number[32], unit[48];
	uint64_t count;
	bool counted = r->status == PERFEV_COUNTED && perfev_reading_scaled(r, &count);

	if (result->interval)
		fprintf(out, "%.9f%s", (double)result->time_ns / 1e9, sep);
	if (result->per_cpu && row->cpu >= 0)
		fprintf(out, "CPU%d", row->cpu);
	if (result->per_thread && row->tid >= 0)
		fprintf(out, "%d", row->tid);
	if (result->per_cpu || result->per_thread)
		fputs(sep, out);
	if (counted)
		put_csv_count(out, row, row->info.flags & PERFEV_EVENT_SNAPSHOT ? count : count / result->runs);
	else
		fprintf(out, "<%s>", status_words(row));
	fprintf(out, "%s%s%s", sep, is_clock(row) ? "msec" : row->info.unit, sep);
	put_field(out, row->event, sep);
	if (result->runs > 1)
		fprintf(out, "%s%.2f%%", sep,
			row->mean > 0 ? row->stddev / sqrt((double)result->runs) / row->mean * 100 : 0.0);
	fprintf(out, "%s%" PRIu64 "%s%.2f", sep, r->running_ns / result->runs, sep,
		r->enabled_ns ? (double)r->running_ns / (double)r->enabled_ns * 100 : 0.0);
	stat_meaning(number, unit, result, row);
	fprintf(out, "%s%s%s%s\n", sep, number, sep, unit);
}

void csv_stat(FILE *out, const struct stat_result *result, const char *separator)
{
	size_t i;

	for (i = 0; i < result->count; i++)
		put_csv_row(out, result, &result->rows[i], separator);
}
