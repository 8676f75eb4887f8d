/* SPDX-License-Identifier: MIT */
/*
 * Feature sections of recordings that are written. In a file they stand behind the records, and the last one
 * given counts; in a stream each is a record, written when it is given.
 */
#include "writer_base.h"

#include "base/error.h"
#include "base/load.h"

#include <errno.h>
#include <string.h>

#define STRING_STEP	64
#define FEATURE_REC_MAX (65535 - 16)

/* u32 length, text, zeros up to a multiple of 64. */
static int put_string(struct buffer *to, const char *text)
{
	size_t size = strlen(text) + 1, padded = (size + STRING_STEP - 1) / STRING_STEP * STRING_STEP;
	uint32_t length = (uint32_t)padded;
	unsigned char *at;

	if (buffer_append(to, &length, 4) < 0)
		return -ENOMEM;
	at = buffer_extend(to, padded);
	if (!at)
		return -ENOMEM;
	memcpy(at, text, size);
	return 0;
}

/* EVENT_DESC: the events again, with their names. */
int writer_describe_events(struct perfev_writer *writer)
{
	struct buffer *to = &writer->features[PERFEV_FEATURE_EVENT_DESC].bytes;
	uint32_t head[2] = {(uint32_t)writer->event_count, writer->attr_size};
	size_t i;

	to->size = 0;
	if (buffer_append(to, head, sizeof(head)) < 0)
		return -ENOMEM;
	for (i = 0; i < writer->event_count; i++) {
		const struct writer_event *event = &writer->events[i];
		uint32_t count = (uint32_t)event->id_count;

		if (writer_put_attr(writer, to, event) < 0 || buffer_append(to, &count, 4) < 0 ||
		    put_string(to, event->name) < 0 ||
		    buffer_append(to, event->ids, event->id_count * 8) < 0)
			return -ENOMEM;
	}
	writer->features[PERFEV_FEATURE_EVENT_DESC].set = true;
	return 0;
}

/* A record that is a stream's own, or several. */
static int stream_record(struct perfev_writer *writer, const struct buffer *record, struct perfev_error *err)
{
	struct perfev_bytes piece = {record->data, record->size};
	int r = perfev_writer_flush(writer, err);

	if (r < 0 || !piece.size)
		return r;
	r = output_write(&writer->output, &piece, 1);
	return r < 0 ? writer_failed(writer, r, err) : 0;
}

/* The record of formats is followed by them, outside of it. */
static int stream_tracing(struct perfev_writer *writer, struct perfev_error *err)
{
	const struct buffer *bytes = &writer->features[PERFEV_FEATURE_TRACING_DATA].bytes;
	struct buffer record = {NULL, 0, 0, 0};
	uint32_t size = (uint32_t)(bytes->size + 7) / 8 * 8;
	int r;

	if (writer_put_record(&record, PERFEV_RECORD_HEADER_TRACING_DATA, 12) < 0 ||
	    buffer_append(&record, &size, 4) < 0 || buffer_append(&record, bytes->data, bytes->size) < 0 ||
	    !buffer_extend(&record, size - bytes->size))
		r = error_memory(err);
	else
		r = stream_record(writer, &record, err);
	buffer_free(&record);
	return r;
}

/* In a stream a feature is a record; one that is too large for a record is left out, as perf does. */
static int stream_feature(struct perfev_writer *writer, unsigned feature, struct perfev_error *err)
{
	const struct buffer *bytes = &writer->features[feature].bytes;
	struct buffer record = {NULL, 0, 0, 0};
	uint64_t number = feature;
	int r;

	if (feature == PERFEV_FEATURE_TRACING_DATA)
		return stream_tracing(writer, err);
	if (bytes->size > FEATURE_REC_MAX)
		return 0;
	if (writer_put_record(&record, PERFEV_RECORD_HEADER_FEATURE, 16 + bytes->size) < 0 ||
	    buffer_append(&record, &number, 8) < 0 || buffer_append(&record, bytes->data, bytes->size) < 0)
		r = error_memory(err);
	else
		r = stream_record(writer, &record, err);
	buffer_free(&record);
	return r;
}

/* Those that were given before the start. */
int writer_stream_features(struct perfev_writer *writer, struct perfev_error *err)
{
	unsigned i;
	int r = 0;

	for (i = 0; r == 0 && i < PERFEV_FEATURE_COUNT; i++)
		if (writer->features[i].set && i == PERFEV_FEATURE_BUILD_ID)
			r = stream_record(writer, &writer->features[i].bytes, err);
		else if (writer->features[i].set)
			r = stream_feature(writer, i, err);
	return r;
}

static struct buffer *begin_feature(struct perfev_writer *writer, unsigned feature)
{
	if (feature >= PERFEV_FEATURE_COUNT)
		return NULL;
	writer->features[feature].bytes.size = 0;
	writer->features[feature].set = true;
	writer->features[feature].early = 0;
	return &writer->features[feature].bytes;
}

static int end_feature(struct perfev_writer *writer, unsigned feature, int r, struct perfev_error *err)
{
	if (r < 0)
		return error_memory(err);
	return writer->output.stream && writer->started ? stream_feature(writer, feature, err) : 0;
}

static int no_feature(unsigned feature, struct perfev_error *err)
{
	return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
			 "cannot write feature %u: numbers go up to %d", feature,
			 PERFEV_FEATURE_COUNT - 1);
}

int perfev_writer_put_feature(struct perfev_writer *writer, unsigned feature,
			      struct perfev_bytes section, struct perfev_error *err)
{
	struct buffer *to = begin_feature(writer, feature);

	if (!to)
		return no_feature(feature, err);
	return end_feature(writer, feature, buffer_append(to, section.data, section.size), err);
}

int perfev_writer_put_string(struct perfev_writer *writer, unsigned feature, const char *text,
			     struct perfev_error *err)
{
	struct buffer *to = begin_feature(writer, feature);

	if (!to)
		return no_feature(feature, err);
	return end_feature(writer, feature, put_string(to, text), err);
}

int perfev_writer_put_strings(struct perfev_writer *writer, unsigned feature,
			      const char *const *texts, size_t count, struct perfev_error *err)
{
	struct buffer *to = begin_feature(writer, feature);
	uint32_t n = (uint32_t)count;
	size_t i;
	int r;

	if (!to)
		return no_feature(feature, err);
	r = buffer_append(to, &n, 4);
	for (i = 0; r == 0 && i < count; i++)
		r = put_string(to, texts[i]);
	return end_feature(writer, feature, r, err);
}

/* header, s32 pid, 20 bytes, u8 size, 3 reserved, filename padded to 64: 36 + n * 64 bytes, and as a record
 * of a stream 4 more, because records of streams are multiples of 8 */
static int put_build_id(struct buffer *to, const struct perfev_build_id *entry, uint32_t type)
{
	size_t name = strlen(entry->filename) + 1;
	size_t padded = (name + STRING_STEP - 1) / STRING_STEP * STRING_STEP + (type ? 4 : 0);
	unsigned char *at;

	if (name > 4096)
		return 0;
	at = buffer_extend(to, 36 + padded);
	if (!at)
		return -ENOMEM;
	store_u32(at, type);
	store_u16(at + 4, (uint16_t)(entry->misc | PERF_RECORD_MISC_EXT_RESERVED));
	store_u16(at + 6, (uint16_t)(36 + padded));
	store_u32(at + 8, (uint32_t)entry->pid);
	memcpy(at + 12, entry->id, entry->size <= 20 ? entry->size : 20);
	at[32] = entry->size <= 20 ? entry->size : 20;
	memcpy(at + 36, entry->filename, name);
	return 0;
}

int perfev_writer_put_build_ids(struct perfev_writer *writer, const struct perfev_build_id *entries,
				size_t count, struct perfev_error *err)
{
	bool records = writer->output.stream;
	struct buffer *to = begin_feature(writer, PERFEV_FEATURE_BUILD_ID);
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < count; i++)
		r = put_build_id(to, &entries[i], records ? PERFEV_RECORD_HEADER_BUILD_ID : 0);
	if (r < 0)
		return error_memory(err);
	return records && writer->started ? stream_record(writer, to, err) : 0;
}

/* The table of features and their bytes, behind the records; those that are in front of them stay there. */
int writer_build_features(struct perfev_writer *writer, struct buffer *tail)
{
	uint64_t at = writer->output.offset;
	unsigned i;

	for (i = 0; i < PERFEV_FEATURE_COUNT; i++)
		at += writer->features[i].set ? 16 : 0;
	for (i = 0; i < PERFEV_FEATURE_COUNT; i++) {
		uint64_t early = writer->features[i].early;
		uint64_t section[2] = {early ? early : at, writer->features[i].bytes.size};

		if (!writer->features[i].set)
			continue;
		if (buffer_append(tail, section, sizeof(section)) < 0)
			return -ENOMEM;
		at += early ? 0 : section[1];
	}
	for (i = 0; i < PERFEV_FEATURE_COUNT; i++)
		if (writer->features[i].set && !writer->features[i].early && buffer_append(tail, writer->features[i].bytes.data,
							     writer->features[i].bytes.size) < 0)
			return -ENOMEM;
	return 0;
}
