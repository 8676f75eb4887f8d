/* SPDX-License-Identifier: MIT */
/* All JSON of the command: one document a call, exact integers, times in ns. */
#include "cli.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Bytes that are no UTF-8 become U+FFFD, so that the document is always valid. */
static size_t utf8_length(const unsigned char *at)
{
	size_t n = at[0] < 0x80 ? 1 : at[0] >= 0xc2 && at[0] < 0xe0 ? 2 : at[0] >= 0xe0 && at[0] < 0xf0 ? 3
		   : at[0] >= 0xf0 && at[0] < 0xf5 ? 4 : 0;
	size_t i;

	for (i = 1; i < n; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] >= 0xa0) ||
	    (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] >= 0x90))
		return 0;
	return n;
}

void json_string(FILE *out, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	fputc('"', out);
	while (*at) {
		size_t n = utf8_length(at);

		if (n == 0) {
			fputs("\\ufffd", out);
			at++;
			continue;
		}
		if (*at == '"' || *at == '\\')
			fprintf(out, "\\%c", *at);
		else if (*at < 0x20 || *at == 0x7f)
			fprintf(out, "\\u%04x", *at);
		else
			fwrite(at, 1, n, out);
		at += n;
	}
	fputc('"', out);
}

static void put_string_or_null(FILE *out, const char *text)
{
	if (text)
		json_string(out, text);
	else
		fputs("null", out);
}

static const char *status_name(enum perfev_status status)
{
	static const char *const names[] = {
		[PERFEV_COUNTED] = "counted",	      [PERFEV_NOT_COUNTED] = "not-counted",
		[PERFEV_ERROR_STATE] = "error",	      [PERFEV_GONE] = "gone",
		[PERFEV_NOT_SUPPORTED] = "not-supported",
	};

	return names[status];
}

static bool is_clock(const struct stat_row *row)
{
	const struct perf_event_attr *attr = row->attr;

	return !row->info.tool && attr->type == PERF_TYPE_SOFTWARE && attr->config <= PERF_COUNT_SW_TASK_CLOCK;
}

static void put_number_or_null(FILE *out, const char *name, int32_t number)
{
	if (number < 0)
		fprintf(out, ",\"%s\":null", name);
	else
		fprintf(out, ",\"%s\":%" PRId32, name, number);
}

static void put_stat_row(FILE *out, const struct stat_row *row, uint64_t runs)
{
	const struct perfev_reading *r = &row->total;
	uint64_t count = 0;
	bool counted = r->status == PERFEV_COUNTED && perfev_reading_scaled(r, &count);

	fputs("{\"event\":", out);
	json_string(out, row->event);
	if (counted && (row->info.scale < 1 || row->info.scale > 1))
		fprintf(out, ",\"count\":%" PRIu64 ",\"value\":%.15g", count, (double)count * row->info.scale);
	else if (counted)
		fprintf(out, ",\"count\":%" PRIu64 ",\"value\":%" PRIu64 ".0", count, count);
	else
		fputs(",\"count\":null,\"value\":null", out);
	fputs(",\"unit\":", out);
	json_string(out, is_clock(row) ? "ns" : row->info.unit);
	fprintf(out, ",\"enabled_ns\":%" PRIu64 ",\"running_ns\":%" PRIu64, r->enabled_ns, r->running_ns);
	fprintf(out, ",\"status\":\"%s\",\"why\":", status_name(r->status));
	put_string_or_null(out, row->why[0] ? row->why : NULL);
	fprintf(out, ",\"scaled\":%s",
		counted && r->running_ns < r->enabled_ns ? "true" : "false");
	put_number_or_null(out, "cpu", row->cpu);
	put_number_or_null(out, "tid", row->tid);
	if (counted && runs > 1)
		fprintf(out, ",\"mean\":%.15g,\"stddev\":%.15g}", row->mean, row->stddev);
	else
		fputs(",\"mean\":null,\"stddev\":null}", out);
}

void json_stat(FILE *out, const struct stat_result *result)
{
	size_t i;

	fputc('{', out);
	if (result->interval)
		fprintf(out, "\"time_ns\":%" PRIu64 ",", result->time_ns);
	fputs("\"events\":[", out);
	for (i = 0; i < result->count; i++) {
		if (i)
			fputc(',', out);
		put_stat_row(out, &result->rows[i], result->runs);
	}
	fprintf(out, "],\"elapsed_ns\":%" PRIu64 ",\"runs\":%" PRIu64 ",\"command_status\":",
		result->elapsed_ns, result->runs);
	if (result->has_command)
		fprintf(out, "%d}\n", result->command_status);
	else
		fputs("null}\n", out);
}

static void put_events(FILE *out, const struct perfev_profile *profile)
{
	struct perfev_profile_event_info info;
	size_t i;

	fputs("{\"events\":[", out);
	for (i = 0; perfev_profile_event_at(profile, i, &info); i++) {
		fprintf(out, "%s{\"event\":", i ? "," : "");
		json_string(out, info.name);
		fprintf(out, ",\"samples\":%" PRIu64 ",\"weight\":%" PRIu64 "}", info.samples,
			info.weight);
	}
	fputc(']', out);
}

/* Of recordings with registers and stacks: how many there are, by why they end. */
static void put_stacks(FILE *out, const struct perfev_unwinder_info *info)
{
	unsigned i;

	if (!info->stacks)
		return;
	fprintf(out, ",\"stacks\":{\"count\":%" PRIu64 ",\"frames\":%" PRIu64 ",\"guessed\":%" PRIu64, info->stacks,
		info->frames, info->guessed);
	for (i = 0; i < PERFEV_UNWOUND_COUNT_; i++)
		if (info->ends[i])
			fprintf(out, ",\"%s\":%" PRIu64, perfev_unwound_end_name((enum perfev_unwound_end)i), info->ends[i]);
	fputc('}', out);
}

void json_report(FILE *out, const struct loaded *loaded, const struct perfev_function *functions,
		 size_t count, size_t limit)
{
	size_t i;

	put_events(out, loaded->profile);
	fprintf(out, ",\"lost\":%" PRIu64 ",\"duration_ns\":%" PRIu64 ",\"functions\":[",
		loaded->loss.records, loaded->last_time - loaded->first_time);
	for (i = 0; i < count && i < limit; i++) {
		fprintf(out, "%s{\"symbol\":", i ? "," : "");
		json_string(out, functions[i].symbol);
		fputs(",\"module\":", out);
		json_string(out, functions[i].module);
		fprintf(out, ",\"self\":%" PRIu64 ",\"total\":%" PRIu64 "}", functions[i].self,
			functions[i].total);
	}
	fputc(']', out);
	put_stacks(out, &loaded->replay.unwinding);
	fputs(",\"unresolved\":[", out);
	for (i = 0; i < loaded->missing_count; i++) {
		fprintf(out, "%s{\"module\":", i ? "," : "");
		json_string(out, loaded->missing[i].module);
		fprintf(out, ",\"samples\":%" PRIu64 ",\"why\":", loaded->missing[i].samples);
		json_string(out, loaded->missing[i].why);
		fputc('}', out);
	}
	fputs("]}\n", out);
}
