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
#include "writer_base.h"

#include "base/error.h"
#include "base/load.h"
#include "base/opts.h"
#include "decode/layout.h"

#include <errno.h>
#include <stdlib.h>

#define HEADER_SIZE 104

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

	if (writer->started)
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot add event %.100s to %.200s: its table of events is written; add it "
				 "before perfev_writer_start()",
				 name, writer->path);
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
	writer->sync = (enum perfev_sync)full.sync;
	r = writer_pack_begin(writer, full.compress, err);
	if (r < 0) {
		perfev_writer_close(writer);
		return r;
	}
	r = writer->kept = full.keep ? output_keep(path) : 0;
	if (r < 0)
		error_errno(err, r, "cannot keep %.150s as %.150s.old", path, path);
	else if ((r = output_open(&writer->output, path)) < 0)
		error_errno(err, r, "cannot write %.200s", path);
	if (r < 0) {
		perfev_writer_close(writer);
		return r;
	}
	*ret = writer;
	return 0;
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

/* Header, ids, table of events, and the sections that are known, as one piece. */
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

		if (writer_put_attr(writer, head, &writer->events[i]) < 0 ||
		    buffer_append(head, section, sizeof(section)) < 0)
			return -ENOMEM;
		ids_at += section[1];
	}
	fill_header(writer, head->data, 0);
	if (writer_put_early(writer, head) < 0)
		return -ENOMEM;
	writer->data_offset = head->size;
	store_u64(head->data + 40, writer->data_offset);
	return 0;
}

/* The streamed form: a HEADER_ATTR record for each event. Ids that do not fit one record, as an event may
 * have more than 8,000, go on in another, which other readers take for an event of the same kind: the names of
 * events, which are told by their order, are left out then by their size. */
static int build_stream_head(struct perfev_writer *writer, struct buffer *head)
{
	const size_t most = (65528 - 8 - writer->attr_size) / 8;
	uint64_t start[2];
	size_t i;

	memcpy(start, PERFEV_BIG_ENDIAN ? "2ELIFREP" : "PERFILE2", 8);
	start[1] = 16;
	if (buffer_append(head, start, sizeof(start)) < 0)
		return -ENOMEM;
	for (i = 0; i < writer->event_count; i++) {
		const struct writer_event *event = &writer->events[i];
		size_t at = 0;

		do {
			size_t n = event->id_count - at < most ? event->id_count - at : most;

			if (writer_put_record(head, PERFEV_RECORD_HEADER_ATTR, 8 + writer->attr_size + n * 8) < 0 ||
			    writer_put_attr(writer, head, event) < 0 ||
			    buffer_append(head, event->ids + at, n * 8) < 0)
				return -ENOMEM;
			at += n;
		} while (at < event->id_count);
	}
	return 0;
}

int perfev_writer_start(struct perfev_writer *writer, struct perfev_error *err)
{
	struct buffer head = {NULL, 0, 0, 0};
	struct perfev_bytes piece;
	int r;

	if (writer->started || !writer->event_count)
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot start writing %.200s: %s", writer->path,
				 writer->started ? "it was started already" : "it has no event");
	r = writer_describe_events(writer);
	if (r == 0)
		r = writer->output.stream ? build_stream_head(writer, &head) : build_head(writer, &head);
	piece.data = head.data;
	piece.size = head.size;
	if (r == 0)
		r = output_write(&writer->output, &piece, 1);
	buffer_free(&head);
	if (r < 0) {
		r = writer_failed(writer, r, err);
		if (!writer->output.offset)
			output_drop(&writer->output, writer->path, writer->kept); /* a recording of nothing is none */
		return r;
	}
	writer->started = true;
	return writer->output.stream ? writer_stream_features(writer, err) : 0;
}

/* ---- records ------------------------------------------------------------------------------------------- */

static int note(struct perfev_writer *writer, const void *data, size_t size, bool pack, struct perfev_error *err)
{
	struct perfev_bytes *last;
	int r;

	if (size == 0)
		return 0;
	if (writer->piece_count) {
		last = &writer->pieces[writer->piece_count - 1];
		if ((const char *)last->data + last->size == data && writer->packs[writer->piece_count - 1] == pack) {
			last->size += size;
			return 0;
		}
	}
	if (writer->piece_count == PIECES_MAX) {
		r = perfev_writer_flush(writer, err);
		if (r < 0)
			return r;
	}
	writer->packs[writer->piece_count] = pack;
	writer->pieces[writer->piece_count].data = data;
	writer->pieces[writer->piece_count++].size = size;
	return 0;
}

/* Records have their place between the header and the sections. */
static int check_state(const struct perfev_writer *writer, struct perfev_error *err)
{
	if (writer->started && !writer->finished)
		return 0;
	return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
			 "cannot write a record to %.200s: records go between perfev_writer_start() and "
			 "perfev_writer_finish()",
			 writer->path);
}

/* For the index at the end. */
static int note_trace(struct perfev_writer *writer, const struct perfev_record *record, struct perfev_error *err)
{
	uint64_t entry[2] = {writer->output.offset, record->size};
	size_t i;

	for (i = 0; i < writer->piece_count; i++)
		entry[0] += writer->pieces[i].size;
	return buffer_append(&writer->traces, entry, sizeof(entry)) < 0 ? error_memory(err) : 0;
}

int perfev_writer_append(struct perfev_writer *writer, const struct perfev_record *record,
			 struct perfev_error *err)
{
	int r = check_state(writer, err);

	if (r == 0 && record->type == PERFEV_RECORD_AUXTRACE && !writer->output.stream)
		r = note_trace(writer, record, err);
	if (r == 0)
		r = note(writer, record->data, record->size, record->type < PERFEV_RECORD_USER_FIRST, err);
	return r < 0 ? r : note(writer, record->tail.data, record->tail.size, false, err);
}

/* Where the caller wants it by then. */
static int sync_file(struct perfev_writer *writer, enum perfev_sync when, struct perfev_error *err)
{
	int r = writer->sync >= when && !writer->output.stream ? output_sync(&writer->output) : 0;

	return r < 0 ? writer_failed(writer, r, err) : 0;
}

int perfev_writer_round(struct perfev_writer *writer, struct perfev_error *err)
{
	int r = check_state(writer, err);

	if (r == 0)
		r = note(writer, writer->round, sizeof(writer->round), false, err);
	if (r == 0)
		r = perfev_writer_flush(writer, err);
	return r < 0 ? r : sync_file(writer, PERFEV_SYNC_ROUND, err);
}

/* ---- finishing ---------------------------------------------------------------------------------------------- */

/* The index of traces, unless the caller gave one. */
static int put_traces(struct perfev_writer *writer)
{
	struct buffer *to = &writer->features[PERFEV_FEATURE_AUXTRACE].bytes;
	uint64_t count = writer->traces.size / 16, last;

	for (; count; count--) { /* what found no room on the disk is not there */
		memcpy(&last, writer->traces.data + (count - 1) * 16, 8);
		if (last < writer->output.offset)
			break;
	}
	if (!count || writer->features[PERFEV_FEATURE_AUXTRACE].set)
		return 0;
	writer->features[PERFEV_FEATURE_AUXTRACE].set = true;
	return buffer_append(to, &count, sizeof(count)) < 0 ||
			       buffer_append(to, writer->traces.data, (size_t)count * 16) < 0
		       ? -ENOMEM
		       : 0;
}

/* In this order: whatever ends us, what is said is true. Sections count from the moment when the size of the records
 * is not 0, and until then those in front of the records do. */
static int complete_header(struct perfev_writer *writer, uint64_t data_size, bool with_sections)
{
	const struct {
		size_t at, size;
	} parts[] = {{72, 32}, {48, 8}, {EARLY_PLACE, 16}};
	size_t count = with_sections ? 3 : 2, i;
	unsigned char header[HEADER_SIZE];
	int r = 0;

	fill_header(writer, header, data_size);
	for (i = 0; r == 0 && i < count; i++) {
		struct perfev_bytes piece = {header + parts[i].at, parts[i].size};

		r = output_rewrite(&writer->output, parts[i].at, piece);
	}
	return r;
}

static int finish_file(struct perfev_writer *writer)
{
	uint64_t data_size = writer->output.offset - writer->data_offset;
	struct buffer tail = {NULL, 0, 0, 0};
	struct perfev_bytes piece;
	int r = put_traces(writer), rewritten;
	unsigned i;

	if (r == 0 && writer->pack.level)
		r = writer_pack_describe(writer);

	if (r == 0)
		r = writer_build_features(writer, &tail);
	piece.data = tail.data;
	piece.size = tail.size;
	if (r == 0)
		r = output_write(&writer->output, &piece, 1);
	buffer_free(&tail);
	for (i = 0; r < 0 && i < PERFEV_FEATURE_COUNT; i++)
		writer->features[i].set = false; /* no room for them: the records count more */
	rewritten = complete_header(writer, data_size, r == 0); /* else those in front of the records are still there */
	return r < 0 ? r : rewritten;
}

int perfev_writer_finish(struct perfev_writer *writer, struct perfev_error *err)
{
	int r;

	if (!writer->started || writer->finished)
		return 0;
	r = perfev_writer_flush(writer, err);
	/* a data size of 0 would say that the recording was cut short */
	if (r == 0 && !writer->output.stream && writer->output.offset == writer->data_offset)
		r = perfev_writer_round(writer, err);
	if (r < 0)
		return r;
	writer->finished = true;
	r = writer->output.stream ? 0 : finish_file(writer);
	return r < 0 ? writer_failed(writer, r, err) : sync_file(writer, PERFEV_SYNC_FINISH, err);
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
	buffer_free(&writer->traces);
	writer_pack_end(&writer->pack);
	free(writer->events);
	free(writer->path);
	free(writer);
}
