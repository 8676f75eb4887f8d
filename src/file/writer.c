/* SPDX-License-Identifier: MIT */
/*
 * The writer: records -> a recording that perf reads.
 *
 * A file is: header, ids, table of events, records, table of features, features. The header is written
 * first with a data size of 0, which readers know as "not finished": they read records to the end of the
 * file. So whatever ends the recorder, all that was flushed stays readable. The streamed form has events
 * and features as records of their own.
 *
 * Records are noted, not copied; neighbours in memory become one piece, so that a whole pass over the
 * rings is a few pieces and one system call.
 */
#include "output.h"

#include "base/buffer.h"
#include "base/error.h"
#include "base/load.h"
#include "base/opts.h"
#include "decode/layout.h"

#include <perfev/reader.h>
#include <perfev/writer.h>

#include <errno.h>
#include <stdlib.h>

#define HEADER_SIZE	104
#define PIECES_MAX	256
#define STRING_STEP	64
#define FEATURE_REC_MAX (65535 - 16)

struct writer_event {
	char *name;
	struct perf_event_attr attr;
	uint64_t *ids;
	size_t id_count;
};

struct perfev_writer {
	struct output output;
	char *path;
	bool started, finished;
	struct writer_event *events;
	size_t event_count, event_room;
	uint32_t attr_size; /* of all events: the smallest that holds each */
	uint64_t attrs_offset, data_offset;
	struct perfev_bytes pieces[PIECES_MAX];
	size_t piece_count;
	unsigned char round[8]; /* a FINISHED_ROUND record */
	struct {
		struct buffer bytes;
		bool set;
	} features[PERFEV_FEATURE_COUNT];
};

/* ---- attrs --------------------------------------------------------------------------------------- */

/* The smallest size of the interface that holds all bytes that are set. */
static uint32_t smallest_size(const struct perf_event_attr *attr)
{
	static const uint32_t sizes[] = {
		PERF_ATTR_SIZE_VER0, PERF_ATTR_SIZE_VER1, PERF_ATTR_SIZE_VER2, PERF_ATTR_SIZE_VER3,
		PERF_ATTR_SIZE_VER4, PERF_ATTR_SIZE_VER5, PERF_ATTR_SIZE_VER6, PERF_ATTR_SIZE_VER7,
		PERF_ATTR_SIZE_VER8, PERF_ATTR_SIZE_VER9,
	};
	const unsigned char *bytes = (const unsigned char *)attr;
	uint32_t used = sizeof(*attr);
	size_t i;

	while (used > PERF_ATTR_SIZE_VER0 && !bytes[used - 1])
		used--;
	for (i = 0; sizes[i] < used; i++)
		;
	return sizes[i];
}

int perfev_writer_add_event(struct perfev_writer *writer, const char *name,
			    const struct perf_event_attr *attr, const uint64_t *ids,
			    size_t id_count, struct perfev_error *err)
{
	struct writer_event *events, *event;
	uint32_t size;

	events = array_grow(writer->events, &writer->event_room, writer->event_count,
			    sizeof(*events));
	if (!events)
		return error_memory(err);
	writer->events = events;
	event = &events[writer->event_count];
	memset(event, 0, sizeof(*event));
	event->name = malloc(strlen(name) + 1);
	event->ids = malloc((id_count + 1) * sizeof(*ids));
	if (!event->name || !event->ids) {
		free(event->name);
		free(event->ids);
		return error_memory(err);
	}
	writer->event_count++;
	memcpy(event->name, name, strlen(name) + 1);
	if (id_count)
		memcpy(event->ids, ids, id_count * sizeof(*ids));
	event->id_count = id_count;
	layout_attr_copy(&event->attr, attr);
	size = smallest_size(&event->attr);
	if (size > writer->attr_size)
		writer->attr_size = size;
	return 0;
}

/* ---- opening ---------------------------------------------------------------------------------------- */

int perfev_writer_open(struct perfev_writer **ret, const char *path,
		       const struct perfev_writer_opts *opts, struct perfev_error *err)
{
	struct perfev_writer_opts full;
	struct perfev_writer *writer;
	int r = opts_copy(&full, sizeof(full), opts, err);

	if (r < 0)
		return r;
	writer = calloc(1, sizeof(*writer));
	if (!writer)
		return error_memory(err);
	writer->output.fd = -1;
	writer->attr_size = PERF_ATTR_SIZE_VER0;
	writer->path = malloc(strlen(path) + 1);
	if (!writer->path) {
		perfev_writer_close(writer);
		return error_memory(err);
	}
	memcpy(writer->path, path, strlen(path) + 1);
	store_u32(writer->round, PERFEV_RECORD_FINISHED_ROUND);
	store_u16(writer->round + 6, 8);
	r = output_open(&writer->output, path, full.keep);
	if (r < 0) {
		perfev_writer_close(writer);
		return error_errno(err, r, "cannot write %s", path);
	}
	*ret = writer;
	return 0;
}

static int failed(const struct perfev_writer *writer, int r, struct perfev_error *err)
{
	const char *name = writer->output.stream ? "standard output" : writer->path;

	if (r == -ENOSPC || r == -EDQUOT)
		return error_set(err, r, PERFEV_WHY_DISK, writer->output.offset,
				 "cannot write %s: %s after %llu bytes, which stay readable; make room, or "
				 "record less",
				 name, r == -ENOSPC ? "the disk is full" : "the quota is used up",
				 (unsigned long long)writer->output.offset);
	if (r == -ENOMEM)
		return error_memory(err);
	error_errno(err, r, "cannot write %s", name);
	if (err)
		err->why = PERFEV_WHY_DISK;
	return r;
}

/* ---- the header --------------------------------------------------------------------------------------- */

static void fill_header(const struct perfev_writer *writer, unsigned char *h, uint64_t data_size)
{
	unsigned i;

	memset(h, 0, HEADER_SIZE);
	memcpy(h, PERFEV_BIG_ENDIAN ? "2ELIFREP" : "PERFILE2", 8);
	store_u64(h + 8, HEADER_SIZE);
	store_u64(h + 16, writer->attr_size + UINT64_C(16));
	store_u64(h + 24, writer->attrs_offset);
	store_u64(h + 32, writer->event_count * (writer->attr_size + UINT64_C(16)));
	store_u64(h + 40, writer->data_offset);
	store_u64(h + 48, data_size);
	for (i = 0; data_size && i < PERFEV_FEATURE_COUNT; i++)
		if (writer->features[i].set) {
			uint64_t word = load_u64(h + 72 + i / 64 * 8, false);

			store_u64(h + 72 + i / 64 * 8, word | UINT64_C(1) << i % 64);
		}
}

static int put_attr(const struct perfev_writer *writer, struct buffer *to,
		    const struct writer_event *event)
{
	struct perf_event_attr attr = event->attr;

	attr.size = writer->attr_size;
	return buffer_append(to, &attr, writer->attr_size);
}

/* Header, ids and table of events, as one piece. */
static int build_head(struct perfev_writer *writer, struct buffer *head)
{
	uint64_t ids_at = HEADER_SIZE;
	size_t i;

	if (!buffer_extend(head, HEADER_SIZE))
		return -ENOMEM;
	for (i = 0; i < writer->event_count; i++)
		if (buffer_append(head, writer->events[i].ids, writer->events[i].id_count * 8) < 0)
			return -ENOMEM;
	writer->attrs_offset = head->size;
	for (i = 0; i < writer->event_count; i++) {
		uint64_t section[2] = {ids_at, writer->events[i].id_count * 8};

		if (put_attr(writer, head, &writer->events[i]) < 0 ||
		    buffer_append(head, section, sizeof(section)) < 0)
			return -ENOMEM;
		ids_at += section[1];
	}
	writer->data_offset = head->size;
	fill_header(writer, head->data, 0);
	return 0;
}

static int put_record(struct buffer *to, uint32_t type, size_t size)
{
	unsigned char *header = buffer_extend(to, 8);

	if (!header)
		return -ENOMEM;
	store_u32(header, type);
	store_u16(header + 6, (uint16_t)size);
	return 0;
}

/* The streamed form: a HEADER_ATTR record for each event. Ids that do not fit one record are put on
 * several, as an event may have more than 8,000. */
static int build_stream_head(struct perfev_writer *writer, struct buffer *head)
{
	const size_t most = (65528 - 8 - sizeof(struct perf_event_attr)) / 8;
	uint64_t start[2];
	size_t i;

	memcpy(start, PERFEV_BIG_ENDIAN ? "2ELIFREP" : "PERFILE2", 8);
	start[1] = 16;
	if (buffer_append(head, start, sizeof(start)) < 0)
		return -ENOMEM;
	for (i = 0; i < writer->event_count; i++) {
		const struct writer_event *event = &writer->events[i];
		size_t n = event->id_count < most ? event->id_count : most;

		if (put_record(head, PERFEV_RECORD_HEADER_ATTR, 8 + writer->attr_size + n * 8) < 0 ||
		    put_attr(writer, head, event) < 0 || buffer_append(head, event->ids, n * 8) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int put_string(struct buffer *to, const char *text);

/* EVENT_DESC: the events again, with their names. */
static int describe_events(struct perfev_writer *writer)
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

		if (put_attr(writer, to, event) < 0 || buffer_append(to, &count, 4) < 0 ||
		    put_string(to, event->name) < 0 ||
		    buffer_append(to, event->ids, event->id_count * 8) < 0)
			return -ENOMEM;
	}
	writer->features[PERFEV_FEATURE_EVENT_DESC].set = true;
	return 0;
}

static int stream_feature(struct perfev_writer *writer, unsigned feature, struct perfev_error *err);

int perfev_writer_start(struct perfev_writer *writer, struct perfev_error *err)
{
	struct buffer head = {NULL, 0, 0, 0};
	struct perfev_bytes piece;
	int r;

	if (writer->started || !writer->event_count)
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot start writing %s: %s", writer->path,
				 writer->started ? "it was started already" : "it has no event");
	r = writer->output.stream ? build_stream_head(writer, &head) : build_head(writer, &head);
	if (r == 0)
		r = describe_events(writer);
	piece.data = head.data;
	piece.size = head.size;
	if (r == 0)
		r = output_write(&writer->output, &piece, 1);
	buffer_free(&head);
	if (r < 0)
		return failed(writer, r, err);
	writer->started = true;
	return writer->output.stream ? stream_feature(writer, PERFEV_FEATURE_EVENT_DESC, err) : 0;
}

/* ---- records ------------------------------------------------------------------------------------------- */

static int note(struct perfev_writer *writer, const void *data, size_t size, struct perfev_error *err)
{
	struct perfev_bytes *last;
	int r;

	if (size == 0)
		return 0;
	if (writer->piece_count) {
		last = &writer->pieces[writer->piece_count - 1];
		if ((const char *)last->data + last->size == data) {
			last->size += size;
			return 0;
		}
	}
	if (writer->piece_count == PIECES_MAX) {
		r = perfev_writer_flush(writer, err);
		if (r < 0)
			return r;
	}
	writer->pieces[writer->piece_count].data = data;
	writer->pieces[writer->piece_count++].size = size;
	return 0;
}

int perfev_writer_append(struct perfev_writer *writer, const struct perfev_record *record,
			 struct perfev_error *err)
{
	int r = note(writer, record->data, record->size, err);

	return r < 0 ? r : note(writer, record->tail.data, record->tail.size, err);
}

int perfev_writer_flush(struct perfev_writer *writer, struct perfev_error *err)
{
	int r = 0;

	if (writer->piece_count)
		r = output_write(&writer->output, writer->pieces, writer->piece_count);
	writer->piece_count = 0;
	return r < 0 ? failed(writer, r, err) : 0;
}

int perfev_writer_round(struct perfev_writer *writer, struct perfev_error *err)
{
	int r = note(writer, writer->round, sizeof(writer->round), err);

	return r < 0 ? r : perfev_writer_flush(writer, err);
}

/* ---- features -------------------------------------------------------------------------------------------- */

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

/* In a stream a feature is a record; one that is too large for a record is left out, as perf does. */
static int stream_feature(struct perfev_writer *writer, unsigned feature, struct perfev_error *err)
{
	const struct buffer *bytes = &writer->features[feature].bytes;
	struct buffer record = {NULL, 0, 0, 0};
	uint64_t number = feature;
	struct perfev_bytes piece;
	int r;

	if (bytes->size > FEATURE_REC_MAX)
		return 0;
	r = put_record(&record, PERFEV_RECORD_HEADER_FEATURE, 16 + bytes->size);
	if (r == 0)
		r = buffer_append(&record, &number, 8);
	if (r == 0)
		r = buffer_append(&record, bytes->data, bytes->size);
	piece.data = record.data;
	piece.size = record.size;
	if (r == 0)
		r = perfev_writer_flush(writer, err);
	if (r == 0) {
		r = output_write(&writer->output, &piece, 1);
		if (r < 0)
			r = failed(writer, r, err);
	}
	buffer_free(&record);
	return r;
}

static struct buffer *begin_feature(struct perfev_writer *writer, unsigned feature)
{
	if (feature >= PERFEV_FEATURE_COUNT)
		return NULL;
	writer->features[feature].bytes.size = 0;
	writer->features[feature].set = true;
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

/* header, s32 pid, 20 bytes, u8 size, 3 reserved, filename padded to 64: 36 + n * 64 bytes */
static int put_build_id(struct buffer *to, const struct perfev_build_id *entry)
{
	size_t name = strlen(entry->filename) + 1;
	size_t padded = (name + STRING_STEP - 1) / STRING_STEP * STRING_STEP;
	unsigned char *at;

	if (padded > 4096)
		return 0;
	at = buffer_extend(to, 36 + padded);
	if (!at)
		return -ENOMEM;
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
	struct buffer *to = begin_feature(writer, PERFEV_FEATURE_BUILD_ID);
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < count; i++)
		r = put_build_id(to, &entries[i]);
	if (r < 0)
		return error_memory(err);
	return 0; /* a stream has them in records of their own, or in MMAP2 */
}

/* ---- finishing ---------------------------------------------------------------------------------------------- */

/* The table of features and their bytes, behind the records. */
static int build_features(struct perfev_writer *writer, struct buffer *tail)
{
	uint64_t at = writer->output.offset;
	unsigned i;

	for (i = 0; i < PERFEV_FEATURE_COUNT; i++)
		at += writer->features[i].set ? 16 : 0;
	for (i = 0; i < PERFEV_FEATURE_COUNT; i++) {
		uint64_t section[2] = {at, writer->features[i].bytes.size};

		if (!writer->features[i].set)
			continue;
		if (buffer_append(tail, section, sizeof(section)) < 0)
			return -ENOMEM;
		at += section[1];
	}
	for (i = 0; i < PERFEV_FEATURE_COUNT; i++)
		if (writer->features[i].set && buffer_append(tail, writer->features[i].bytes.data,
							     writer->features[i].bytes.size) < 0)
			return -ENOMEM;
	return 0;
}

static int finish_file(struct perfev_writer *writer)
{
	uint64_t data_size = writer->output.offset - writer->data_offset;
	unsigned char header[HEADER_SIZE];
	struct buffer tail = {NULL, 0, 0, 0};
	struct perfev_bytes piece;
	int r = build_features(writer, &tail), rewritten;
	unsigned i;

	piece.data = tail.data;
	piece.size = tail.size;
	if (r == 0)
		r = output_write(&writer->output, &piece, 1);
	buffer_free(&tail);
	for (i = 0; r < 0 && i < PERFEV_FEATURE_COUNT; i++)
		writer->features[i].set = false; /* no room for them: the records count more */
	fill_header(writer, header, data_size);
	piece.data = header;
	piece.size = sizeof(header);
	rewritten = output_rewrite(&writer->output, 0, piece);
	return r < 0 ? r : rewritten;
}

int perfev_writer_finish(struct perfev_writer *writer, struct perfev_error *err)
{
	int r;

	if (!writer->started || writer->finished)
		return 0;
	/* a data size of 0 would say that the recording was cut short */
	if (!writer->output.stream && writer->output.offset == writer->data_offset)
		note(writer, writer->round, sizeof(writer->round), NULL);
	r = perfev_writer_flush(writer, err);
	if (r < 0)
		return r;
	writer->finished = true;
	r = writer->output.stream ? 0 : finish_file(writer);
	return r < 0 ? failed(writer, r, err) : 0;
}

uint64_t perfev_writer_bytes(const struct perfev_writer *writer)
{
	return writer->output.offset;
}

void perfev_writer_close(struct perfev_writer *writer)
{
	size_t i;

	if (!writer)
		return;
	output_close(&writer->output);
	for (i = 0; i < writer->event_count; i++) {
		free(writer->events[i].name);
		free(writer->events[i].ids);
	}
	for (i = 0; i < PERFEV_FEATURE_COUNT; i++)
		buffer_free(&writer->features[i].bytes);
	free(writer->events);
	free(writer->path);
	free(writer);
}
