/* SPDX-License-Identifier: MIT */
/* perfev dump without --stats: each record, decoded and raw. */
#include "pen.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MORE 16 /* bytes that put_hex_zeros() writes behind its digits */
#define TEXT_ROOM (1 << 20) /* a record has 64 KiB, and of nothing in it has a byte more than 12 characters */

/* ---- records ------------------------------------------------------------------------------------------------ */

static void put_raw(struct pen *pen, const struct perfev_record *record)
{
	const unsigned char *at = record->data;
	uint32_t i;

	for (i = 0; i < record->size; i += 32) {
		char *to = pen_room(pen, 256);

		memset(to, ' ', 8);
		to = put_hex_zeros(to + 8, i, 4);
		*to++ = ':';
		to = put_bytes(to, at + i, record->size - i < 32 ? record->size - i : 32);
		*to++ = '\n';
		pen_end(pen, to);
	}
	if (!record->size)
		pen_char(pen, '\n');
}

static void decode(const struct perfev_record *record, const struct perfev_layout *layout, char *text,
		   struct perfev_error *err)
{
	const char *name = perfev_record_name(record->type);
	int r = -ENOTSUP;

	if (record->flags & PERFEV_RECORD_BROKEN) {
		snprintf(err->text, sizeof(err->text), "a size that cannot be");
		r = -EINVAL;
	} else if (record->type >= PERFEV_RECORD_USER_FIRST) {
		r = perfev_user_format(text, TEXT_ROOM, record, err);
	}
	if (r == -ENOTSUP)
		r = perfev_record_format(text, TEXT_ROOM, record, layout, err);
	if (r < 0)
		snprintf(text, TEXT_ROOM, "%s misc=0x%x: %s", name ? name : "record", record->misc, err->text);
}

/* Controls that are letters of UTF-8 would steer a terminal too. */
static void put_line(struct pen *pen, const char *text)
{
	if (!strstr(text, "\xc2")) {
		pen_text(pen, text);
	} else {
		pen_flush(pen);
		text_name(pen->out, text);
	}
	pen_char(pen, '\n');
}

static void put_text(struct pen *pen, const struct perfev_record *record, const char *text)
{
	char *to = pen_room(pen, 256);

	memcpy(to, record->flags & PERFEV_RECORD_JOINED ? "+ " : "0x", 2); /* of one whose pieces are above */
	to = record->offset >> 32 ? put_hex(to + 2, record->offset, 0) : put_hex_zeros(to + 2, record->offset, 8);
	*to++ = ' ';
	to = put_number(to, record->size, 5);
	*to++ = ' ';
	*to++ = ' ';
	pen_end(pen, to);
	put_line(pen, text);
	put_raw(pen, record);
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
	if (record->flags & PERFEV_RECORD_JOINED)
		fputs(",\"joined\":true", stdout);
	printf(",\"misc\":%u,\"size\":%" PRIu32 ",\"text\":", record->misc, record->size);
	json_string(stdout, text);
	fputs(",\"record\":", stdout);
	put_object(record, layout, text);
	fputs(",\"raw\":\"", stdout);
	for (i = 0; i < record->size; i += 32) {
		char raw[64 + DIGITS_MORE];
		uint32_t n = record->size - i < 32 ? record->size - i : 32, k;

		for (k = 0; k < n; k++)
			put_hex_zeros(raw + 2 * k, at[i + k], 2);
		fwrite(raw, 1, 2 * (size_t)n, stdout);
	}
	fputc('"', stdout);
	trace_json(trace, record, layout);
	fputc('}', stdout);
}

/* Whether trace_text() may print something below the record. */
static bool has_trace(const struct perfev_record *record, const struct perfev_layout *layout)
{
	return record->type == PERFEV_RECORD_AUXTRACE || record->type == PERFEV_RECORD_AUXTRACE_INFO ||
	       (record->type == PERF_RECORD_SAMPLE && layout &&
		(perfev_layout_attr(layout)->sample_type & PERF_SAMPLE_AUX));
}

static int dump_all(struct perfev_reader *reader, bool json, struct pen *pen, char *text, struct trace *trace,
		    struct perfev_error *err)
{
	struct perfev_record record;
	struct perfev_error why;
	uint64_t n = 0;
	int r = 0;

	while (!pen->failed && !ferror(stdout) && (r = perfev_reader_next(reader, &record, err)) > 0) {
		const struct perfev_layout *layout = perfev_reader_layout(reader, &record);

		decode(&record, layout, text, &why);
		if (json) {
			put_json(&record, layout, text, n == 0, trace);
		} else {
			put_text(pen, &record, text);
			if (has_trace(&record, layout))
				pen_flush(pen);
			trace_text(trace, &record, layout);
		}
		n++;
		perfev_reader_release(reader);
	}
	pen_flush(pen);
	return r;
}

int dump_records(struct perfev_reader *reader, bool json, uint64_t packets, struct perfev_error *err)
{
	char *text = malloc(TEXT_ROOM);
	struct pen *pen = malloc(sizeof(*pen));
	struct trace *trace = trace_new(packets);
	int r = -1;

	if (text && trace && pen) {
		pen->out = stdout;
		pen->used = 0;
		pen->failed = false;
		if (json)
			fputs("{\"records\":[", stdout);
		r = dump_all(reader, json, pen, text, trace, err);
		if (json)
			fputs("\n]}\n", stdout);
	}
	trace_free(trace);
	free(pen);
	free(text);
	return r;
}
