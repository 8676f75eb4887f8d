/* SPDX-License-Identifier: MIT */
/*
 * The reader: bytes -> records, in the order of the file.
 *
 * A mapped file is walked in place. A stream goes through one buffer; a record is whole in it, and stays
 * until the next one is asked for. Every size is checked against the end before it is used; damage is an
 * error with its offset, or, for a partial reader, the end.
 */
#include "reader_base.h"

#include "base/fetch.h"
#include "base/error.h"
#include "base/load.h"
#include "base/opts.h"
#include "decode/layout.h"
#include "decode/pen.h"

#include <errno.h>
#include <stdlib.h>

#define DROP_EVERY (UINT64_C(4) << 20)
#define AHEAD	   2048 /* bytes */

/* Bytes between the position and the end of the records; of a stream, of what was read of it. */
static uint64_t bytes_left(const struct perfev_reader *reader)
{
	if (!reader->input->data)
		return reader->stream.size - reader->stream_at;
	return reader->end - reader->info.position;
}

/* ---- opening --------------------------------------------------------------------------------------------- */

static int open_reader(struct perfev_reader **ret, struct perfev_reader *reader,
		       const struct perfev_reader_opts *opts, struct perfev_error *err)
{
	int r;

	reader->partial = opts->partial;
	reader->tracing_inside = opts->tracing_inside;
	r = reader_open_header(reader, err);
	if (r < 0) {
		perfev_reader_close(reader);
		return r;
	}
	*ret = reader;
	return 0;
}

static struct perfev_reader *new_reader(const char *name)
{
	struct perfev_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->source.fd = -1;
	reader->input = &reader->source;
	reader->name = malloc(strlen(name) + 1);
	if (!reader->name) {
		free(reader);
		return NULL;
	}
	memcpy(reader->name, name, strlen(name) + 1);
	return reader;
}

int perfev_reader_open(struct perfev_reader **ret, const char *path,
		       const struct perfev_reader_opts *opts, struct perfev_error *err)
{
	struct perfev_reader_opts full;
	struct perfev_reader *reader;
	int r = opts_copy(&full, sizeof(full), opts, err);

	if (r < 0)
		return r;
	reader = new_reader(strcmp(path, "-") ? path : "standard input");
	if (!reader)
		return error_memory(err);
	r = source_open(&reader->source, path, full.copy ? SOURCE_COPY : SOURCE_MAP);
	if (r == -EISDIR)
		r = reader_open_folder(reader, path, full.copy);
	if (r == -ENOENT)
		error_set(err, r, PERFEV_WHY_NOT_FOUND, ERROR_NOWHERE,
			  "cannot read %s: there is no such file; record one with perfev record", path);
	else if (r < 0)
		error_errno(err, r, "cannot read %s", path);
	if (r < 0) {
		perfev_reader_close(reader);
		return r;
	}
	return open_reader(ret, reader, &full, err);
}

int perfev_reader_open_memory(struct perfev_reader **ret, struct perfev_bytes bytes,
			      const char *name, const struct perfev_reader_opts *opts,
			      struct perfev_error *err)
{
	struct perfev_reader_opts full;
	struct perfev_reader *reader;
	int r = opts_copy(&full, sizeof(full), opts, err);

	if (r < 0)
		return r;
	reader = new_reader(name);
	if (!reader)
		return error_memory(err);
	source_open_memory(&reader->source, bytes);
	return open_reader(ret, reader, &full, err);
}

void perfev_reader_close(struct perfev_reader *reader)
{
	size_t i;

	if (!reader)
		return;
	for (i = 0; i < reader->event_count; i++) {
		perfev_layout_free(reader->events[i]->layout);
		free(reader->events[i]->ids);
		free(reader->events[i]->name);
		free(reader->events[i]);
	}
	for (i = 0; i < PERFEV_FEATURE_COUNT; i++)
		free(reader->features[i].owned);
	source_close(&reader->source);
	reader_close_folder(reader);
	reader_inner_free(&reader->inner);
	buffer_free(&reader->split.buffer);
	buffer_free(&reader->stream);
	free(reader->events);
	free(reader->id_slots);
	free(reader->id_keys);
	free(reader->loss.rings);
	map_free(&reader->loss.numbers);
	map_free(&reader->loss.ids);
	reader_free_tracing(reader);
	free(reader->traces.pieces);
	free(reader->name);
	free(reader);
}

/* ---- records ------------------------------------------------------------------------------------------------ */

/* Damage ends a partial reader in order; what failed here does not. */
static int end_damaged(struct perfev_reader *reader, int r)
{
	reader->ended = true;
	return reader->partial && r != -ENOMEM ? 0 : r;
}

/* A read of the stream failed: what was read is not all there is. */
static int failed_read(struct perfev_reader *reader, struct perfev_error *err)
{
	int r = reader->stream_error;

	return end_damaged(reader, reader_damage(reader, r, PERFEV_WHY_OTHER, reader->info.position, err,
						 "reading failed at offset 0x%llx: %s",
						 (unsigned long long)reader->info.position, strerror(-r)));
}

static int cut_record(struct perfev_reader *reader, uint64_t need, const char *what,
		      struct perfev_error *err)
{
	uint64_t left = bytes_left(reader);

	if (reader->stream_error)
		return failed_read(reader, err);
	if (source_shrank(reader->input))
		return end_damaged(reader, reader_damage(reader, -EINVAL, PERFEV_WHY_TRUNCATED,
							 reader->info.position, err,
							 "the file became shorter while it was read"));
	return end_damaged(reader,
			   reader_damage(reader, -EINVAL, PERFEV_WHY_TRUNCATED, reader->info.position,
					 err,
					 "%s at offset %llu (0x%llx) needs %llu bytes and %llu remain; the "
					 "recording was cut short",
					 what, (unsigned long long)reader->info.position,
					 (unsigned long long)reader->info.position,
					 (unsigned long long)need, (unsigned long long)left));
}

/* Bytes behind the record, which its size does not count. */
static uint64_t tail_size(const struct perfev_reader *reader, const struct perfev_record *record)
{
	const unsigned char *body = (const unsigned char *)record->data + 8;
	bool swap = record->flags & PERFEV_RECORD_SWAPPED;

	if (record->type == PERFEV_RECORD_AUXTRACE && record->size >= 16)
		return load_u64(body, swap);
	if (record->type == PERFEV_RECORD_HEADER_TRACING_DATA && record->size >= 12 && !reader_tracing_inside(reader, record))
		return (load_u32(body, swap) + UINT64_C(7)) & ~UINT64_C(7); /* perf reads whole words */
	return 0;
}

static bool fits(const struct perfev_reader *reader, uint64_t size)
{
	return !reader->input->data || size <= reader->end - reader->info.position;
}

/* A size that cannot be. Who reads on as far as possible gets the header, as the last record. */
static int impossible_size(struct perfev_reader *reader, struct perfev_record *ret, struct perfev_error *err)
{
	int r = reader_damage(reader, -EINVAL, PERFEV_WHY_CORRUPT, reader->info.position, err,
			      "the record at offset %llu (0x%llx) says a size of %u, less than its header",
			      (unsigned long long)reader->info.position, (unsigned long long)reader->info.position,
			      ret->size);

	ret->data = reader->partial ? reader_need(reader, 8) : NULL; /* a stream's bytes may have moved since */
	if (!ret->data)
		return end_damaged(reader, r);
	reader->ended = true;
	ret->size = 8;
	ret->offset = reader->info.position;
	ret->flags |= PERFEV_RECORD_BROKEN;
	return 1;
}

/* A COMPRESSED2 record knows its size better than its header does: in its first 16 bytes, which it always has. */
static void correct_size(struct perfev_reader *reader, struct perfev_record *ret)
{
	const unsigned char *data = fits(reader, 16) ? reader_need(reader, 16) : NULL;
	uint64_t size;

	if (!data) {
		if (ret->size >= 8 && ret->size < 16)
			ret->size = 16;
		return;
	}
	size = reader_compressed2_size(data, ret->size, reader->info.swapped);
	ret->size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
}

/* Where the next record is says this one, so that a walk waits for memory at each; what lies some records ahead is
 * asked for now. */
static inline void fetch_ahead(const unsigned char *data)
{
	uintptr_t at = (uintptr_t)data + AHEAD; /* maybe behind the end, which does not matter */

	fetch((const void *)at);
	fetch((const void *)(at + 64));
	fetch((const void *)(at + 128));
}

/* The header at the position. Return: 1; 0 the end, or damage. */
static int take_header(struct perfev_reader *reader, struct perfev_record *ret, struct perfev_error *err)
{
	const unsigned char *data = fits(reader, 8) ? reader_need(reader, 8) : NULL;
	struct perfev_bytes header = {data, UINT32_MAX}; /* whether all of it is there is looked at later */

	if (!data) {
		if (bytes_left(reader) == 0 && !reader->stream_error && !source_shrank(reader->input))
			return 0;
		return cut_record(reader, 8, "the header of the record", err);
	}
	fetch_ahead(data);
	perfev_record_from_bytes(ret, header, reader->info.swapped ? PERFEV_RECORD_SWAPPED : 0, NULL);
	if (ret->type == PERFEV_RECORD_COMPRESSED2)
		correct_size(reader, ret);
	if (ret->size < 8 && source_shrank(reader->input)) /* zeros, where its end was */
		return cut_record(reader, 8, "the record", err);
	if (ret->size < 8)
		return impossible_size(reader, ret, err);
	return 1;
}

static int take_record(struct perfev_reader *reader, struct perfev_record *ret, struct perfev_error *err)
{
	const unsigned char *data;
	uint64_t tail;
	int r = take_header(reader, ret, err);

	if (r <= 0 || ret->flags & PERFEV_RECORD_BROKEN)
		return r;
	data = fits(reader, ret->size) ? reader_need(reader, ret->size) : NULL;
	if (!data)
		return cut_record(reader, ret->size, "the record", err);
	ret->data = data;
	tail = tail_size(reader, ret);
	if (tail) {
		bool possible = tail <= UINT64_MAX - ret->size && fits(reader, ret->size + tail);

		data = possible ? reader_need(reader, ret->size + tail) : NULL;
		if (!data)
			return cut_record(reader, tail, "what follows the record", err);
		ret->data = data;
		ret->tail.data = data + ret->size;
		ret->tail.size = (size_t)tail;
	}
	ret->offset = reader->info.position;
	ret->source = reader->number;
	if (reader->input->data)
		ret->flags |= PERFEV_RECORD_STABLE;
	reader->info.position += ret->size + tail;
	reader->stream_at += ret->size + (size_t)tail;
	return 1;
}

/* ---- records that the reader itself learns from ------------------------------------------------------ */

static int take_attr(struct perfev_reader *reader, const struct perfev_record *record,
		     struct perfev_error *err)
{
	const unsigned char *body = (const unsigned char *)record->data + 8;
	size_t size = record->size - 8, attr_size;
	bool goes_on;

	if (size < PERF_ATTR_SIZE_VER0)
		return 0;
	attr_size = load_u32(body + 4, reader->info.swapped);
	if (attr_size == 0)
		attr_size = PERF_ATTR_SIZE_VER0;
	if (attr_size < PERF_ATTR_SIZE_VER0 || attr_size > size)
		return reader_damage(reader, -EINVAL, PERFEV_WHY_CORRUPT, record->offset, err,
				     "the event at offset 0x%llx does not fit its record",
				     (unsigned long long)record->offset);
	goes_on = reader_goes_on(reader, body, attr_size);
	reader->attr_full = record->size > RECORD_MAX - 8;
	if (goes_on)
		return reader_add_ids(reader, body + attr_size, (size - attr_size) / 8, err);
	return reader_add_event(reader, body, attr_size, body + attr_size, (size - attr_size) / 8, err);
}

static int take_feature(struct perfev_reader *reader, const struct perfev_record *record,
			struct perfev_error *err)
{
	const unsigned char *body = (const unsigned char *)record->data + 8;
	struct reader_section *section;
	uint64_t feature;
	size_t size;

	if (record->size < 16)
		return 0;
	feature = load_u64(body, reader->info.swapped);
	size = record->size - 16;
	if (feature >= PERFEV_FEATURE_COUNT)
		return 0;
	section = &reader->features[feature];
	if (size == 0) { /* the end of the features, by the number of the last one that the recorder knew */
		section->there = true;
		if (!section->bytes.data)
			section->bytes.data = "";
		return 0;
	}
	free(section->owned);
	section->owned = malloc(size);
	if (!section->owned)
		return error_memory(err);
	memcpy(section->owned, body + 8, size);
	section->bytes.data = section->owned;
	section->bytes.size = size;
	section->offset = record->offset + 16;
	section->there = true;
	return feature == PERFEV_FEATURE_EVENT_DESC ? reader_take_event_desc(reader, err) : 0;
}

/* EVENT_UPDATE of type 2: the name of the event with that id. */
static int take_update(struct perfev_reader *reader, const struct perfev_record *record,
		       struct perfev_error *err)
{
	const unsigned char *body = (const unsigned char *)record->data + 8;
	size_t size = record->size - 8;
	int event;

	if (size < 17 || load_u64(body, reader->info.swapped) != 2 ||
	    !memchr(body + 16, 0, size - 16))
		return 0;
	event = reader_find_id(reader, load_u64(body + 8, reader->info.swapped));
	if (event < 0)
		return 0;
	if (reader_rename(reader->events[event], (const char *)body + 16, strlen((const char *)body + 16)) < 0)
		return error_memory(err);
	reader->events[event]->named = true;
	return 0;
}

static int learn(struct perfev_reader *reader, const struct perfev_record *record,
		 struct perfev_error *err)
{
	int r = 0;

	switch (record->type) {
	case PERFEV_RECORD_HEADER_ATTR:
		r = take_attr(reader, record, err);
		break;
	case PERFEV_RECORD_HEADER_FEATURE:
		r = take_feature(reader, record, err);
		break;
	case PERFEV_RECORD_HEADER_TRACING_DATA:
		r = reader_take_tracing(reader, record, err);
		break;
	case PERFEV_RECORD_EVENT_UPDATE:
		r = take_update(reader, record, err);
		break;
	case PERFEV_RECORD_ID_INDEX:
		r = reader_take_id_index(reader, record, err);
		break;
	case PERFEV_RECORD_COMPRESSED:
	case PERFEV_RECORD_COMPRESSED2:
		r = reader_inner_begin(reader, record, err);
		break;
	case PERFEV_RECORD_SIMPLEPERF_EVENT_ID:
	case PERFEV_RECORD_SIMPLEPERF_TRACING_DATA:
	case PERFEV_RECORD_SIMPLEPERF_SPLIT:
	case PERFEV_RECORD_SIMPLEPERF_SPLIT_END:
		r = reader_take_simpleperf(reader, record, err);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		r = reader_note_loss(reader, record, err);
		break;
	default:
		break;
	}
	return r < 0 ? end_damaged(reader, r) : 1;
}

/* A record of the input, or of the next one of a folder. */
static int take_next(struct perfev_reader *reader, struct perfev_record *ret, struct perfev_error *err)
{
	int r;

	while ((r = take_record(reader, ret, err)) == 0 && !reader->ended) {
		r = reader_inner_end(reader, err);
		if (r < 0)
			return end_damaged(reader, r);
		if (!reader_next_part(reader))
			return 0;
	}
	return r;
}

static int repeat_damage(const struct perfev_reader *reader, struct perfev_error *err)
{
	if (!reader->damage.code || reader->partial)
		return 0;
	if (err)
		*err = reader->damage;
	return reader->damage.code;
}

int perfev_reader_next(struct perfev_reader *reader, struct perfev_record *ret,
		       struct perfev_error *err)
{
	int r = 0;

	if (reader->ended)
		return repeat_damage(reader, err);
	if (reader->split.ready && reader_take_joined(reader, ret))
		return learn(reader, ret, err);
	if (reader->inner.active) {
		r = reader_inner_next(reader, ret, err);
		if (r < 0)
			return end_damaged(reader, r);
	}
	if (r == 0)
		r = take_next(reader, ret, err);
	if (r <= 0) {
		reader->ended = true;
		return r;
	}
	if (ret->type == PERF_RECORD_SAMPLE || ret->flags & PERFEV_RECORD_BROKEN)
		return 1;
	return learn(reader, ret, err);
}

int perfev_reader_wait(struct perfev_reader *reader, int timeout_ms, struct perfev_error *err)
{
	(void)timeout_ms;
	(void)err;
	return !reader->ended;
}

void perfev_reader_release(struct perfev_reader *reader)
{
	if (reader->info.position - reader->input->dropped >= DROP_EVERY)
		source_drop(reader->input, reader->info.position);
}
