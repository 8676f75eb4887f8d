/* SPDX-License-Identifier: MIT */
/* perfev dump without --stats: each record, decoded and raw. */
#include "cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_ROOM (1 << 20) /* a record has 64 KiB, and of nothing in it has a byte more than 12 characters */

/* ---- records ------------------------------------------------------------------------------------------------ */

static void put_raw(FILE *out, const struct perfev_record *record)
{
	const unsigned char *at = record->data;
	uint32_t i;

	for (i = 0; i < record->size; i++) {
		if (i % 32 == 0)
			fprintf(out, "%s        %04x:", i ? "\n" : "", i);
		fprintf(out, i % 8 == 0 ? "  %02x" : " %02x", at[i]);
	}
	fputc('\n', out);
}

static void decode(const struct perfev_record *record, const struct perfev_layout *layout, char *text,
		   struct perfev_error *err)
{
	const char *name = perfev_record_name(record->type);
	int r = record->flags & PERFEV_RECORD_BROKEN ? -1 : perfev_user_format(text, TEXT_ROOM, record, err);

	if (record->flags & PERFEV_RECORD_BROKEN)
		snprintf(err->text, sizeof(err->text), "a size that cannot be");
	else if (r == -ENOTSUP)
		r = perfev_record_format(text, TEXT_ROOM, record, layout, err);
	if (r < 0)
		snprintf(text, TEXT_ROOM, "%s misc=0x%x: %s", name ? name : "record", record->misc, err->text);
}

static void put_text(const struct perfev_record *record, const char *text)
{
	printf("0x%08" PRIx64 " %5" PRIu32 "  ", record->offset, record->size);
	text_name(stdout, text);
	fputc('\n', stdout);
	put_raw(stdout, record);
}

/* Its fields; null of what is damaged, and of types that are not known. */
static void put_object(const struct perfev_record *record, const struct perfev_layout *layout, char *text)
{
	int n = record->flags & PERFEV_RECORD_BROKEN ? -1 : perfev_user_to_json(text, TEXT_ROOM, record, NULL);

	if (n == -ENOTSUP && record->type && record->type < PERF_RECORD_MAX)
		n = perfev_record_to_json(text, TEXT_ROOM, record, layout, NULL);
	fputs(n >= 0 && n < TEXT_ROOM ? text : "null", stdout);
}

/* @text is the line of the record, and afterwards room. */
static void put_json(const struct perfev_record *record, const struct perfev_layout *layout, char *text, bool first,
		     struct trace *trace)
{
	const unsigned char *at = record->data;
	const char *name = perfev_record_name(record->type);
	uint32_t i;

	printf("%s\n{\"offset\":%" PRIu64 ",\"type\":%" PRIu32 ",\"name\":", first ? "" : ",", record->offset, record->type);
	if (name)
		json_string(stdout, name);
	else
		fputs("null", stdout);
	printf(",\"misc\":%u,\"size\":%" PRIu32 ",\"text\":", record->misc, record->size);
	json_string(stdout, text);
	fputs(",\"record\":", stdout);
	put_object(record, layout, text);
	fputs(",\"raw\":\"", stdout);
	for (i = 0; i < record->size; i++)
		printf("%02x", at[i]);
	fputc('"', stdout);
	trace_json(trace, record, layout);
	fputc('}', stdout);
}

int dump_records(struct perfev_reader *reader, bool json, uint64_t packets, struct perfev_error *err)
{
	char *text = malloc(TEXT_ROOM);
	struct trace *trace = trace_new(packets);
	struct perfev_record record;
	uint64_t n = 0;
	int r = 0;

	if (!text || !trace) {
		free(text);
		trace_free(trace);
		return -1;
	}
	if (json)
		fputs("{\"records\":[", stdout);
	while (!ferror(stdout) && (r = perfev_reader_next(reader, &record, err)) > 0) {
		struct perfev_error why;
		const struct perfev_layout *layout = perfev_reader_layout(reader, &record);

		decode(&record, layout, text, &why);
		if (json) {
			put_json(&record, layout, text, n == 0, trace);
		} else {
			put_text(&record, text);
			trace_text(trace, &record, layout);
		}
		if ((++n & 0xfff) == 0)
			perfev_reader_release(reader);
	}
	if (json)
		fputs("\n]}\n", stdout);
	trace_free(trace);
	free(text);
	return r;
}
