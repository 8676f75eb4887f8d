/* SPDX-License-Identifier: MIT */
/*
 * Copies of recordings, byte for byte: what is not understood is kept, because it is not looked at. Only what depends
 * on places is made anew: header, tables, and the offsets in the index of traces. Records that lie behind each other in
 * a mapped file are one piece, and go to the kernel from where they are.
 *
 * The copy is in the byte order of the original, numbers of its header too.
 */
#include "copy_sections.h"
#include "reader_base.h"

#include "base/error.h"
#include "base/opts.h"
#include "decode/layout.h"

#include <errno.h>

#define HEADER_SIZE 104
#define PIECE_MAX   (4u << 20)
#define STAGE_MAX   (256u << 10)

static int failed(const struct copy *c, int r, struct perfev_error *err)
{
	if (r == -ENOMEM)
		return error_memory(err);
	error_errno(err, r, "cannot write %.200s", strcmp(c->path, "-") ? c->path : "standard output");
	if (err)
		err->why = PERFEV_WHY_DISK;
	return r;
}

/* ---- bytes --------------------------------------------------------------------------------------------------------- */

static int write_piece(struct copy *c)
{
	int r = c->piece.size ? output_write(&c->output, &c->piece, 1) : 0;

	c->piece.size = 0;
	c->stage.size = 0;
	c->wrote = true;
	return r;
}

/* Bytes that stay are noted; others are put together first. */
static int put_bytes(struct copy *c, const void *data, size_t size, bool stays)
{
	int r = 0;

	if (!size)
		return 0;
	if (stays && c->piece.size && !c->stage.size && (const char *)c->piece.data + c->piece.size == data &&
	    c->piece.size < PIECE_MAX) {
		c->piece.size += size;
		return 0;
	}
	if (stays || !c->stage.size || c->stage.size + size > STAGE_MAX)
		r = write_piece(c);
	if (r == 0 && !stays)
		r = buffer_append(&c->stage, data, size);
	c->piece.data = stays ? data : c->stage.data;
	c->piece.size = stays ? size : c->stage.size;
	return r;
}

/* ---- the head of a file ----------------------------------------------------------------------------------------------- */

static const unsigned char *entry_at(const struct perfev_reader *reader, size_t index)
{
	return source_at(&reader->source, reader->attrs_offset + index * reader->entry_size, reader->entry_size);
}

static int put_ids(const struct copy *c, struct buffer *head, size_t index)
{
	const struct reader_event *event = c->reader->events[index];
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < event->id_count; i++)
		r = copy_append(c, head, event->ids[i], 8);
	return r;
}

/* Ids, and the table of events: their attrs as they are. */
static int put_events(struct copy *c, struct buffer *head)
{
	const struct perfev_reader *reader = c->reader;
	size_t count = reader->attrs_count < reader->event_count ? (size_t)reader->attrs_count : reader->event_count, i;
	uint64_t at = HEADER_SIZE;
	int r = 0;

	for (i = 0; r == 0 && i < count; i++)
		r = put_ids(c, head, i);
	c->attrs_offset = head->size;
	for (i = 0; r == 0 && i < count; i++) {
		const unsigned char *entry = entry_at(reader, i);
		uint64_t size = reader->events[i]->id_count * 8;

		if (!entry)
			break;
		r = buffer_append(head, entry, (size_t)reader->entry_size - 16);
		if (r == 0)
			r = copy_append(c, head, at, 8);
		if (r == 0)
			r = copy_append(c, head, size, 8);
		at += size;
	}
	c->attrs_size = head->size - c->attrs_offset;
	return r;
}

static void fill_header(const struct copy *c, unsigned char *h, uint64_t data_size)
{
	unsigned i;

	memset(h, 0, HEADER_SIZE);
	memcpy(h, c->reader->info.swapped != PERFEV_BIG_ENDIAN ? "2ELIFREP" : "PERFILE2", 8);
	copy_put(c, h + 8, HEADER_SIZE, 8);
	copy_put(c, h + 16, c->reader->entry_size, 8);
	copy_put(c, h + 24, c->attrs_offset, 8);
	copy_put(c, h + 32, c->attrs_size, 8);
	copy_put(c, h + 40, c->data_offset, 8);
	copy_put(c, h + 48, data_size, 8);
	for (i = 0; data_size && i < 4; i++)
		copy_put(c, h + 72 + i * 8, c->bitmap[i], 8);
}

static int begin_file(struct copy *c)
{
	struct buffer head = {NULL, 0, 0, 0};
	struct perfev_bytes piece;
	int r = buffer_extend(&head, HEADER_SIZE) ? put_events(c, &head) : -ENOMEM;

	c->data_offset = head.size;
	if (r == 0)
		fill_header(c, head.data, 0);
	piece.data = head.data;
	piece.size = head.size;
	if (r == 0)
		r = output_write(&c->output, &piece, 1);
	buffer_free(&head);
	return r;
}

static int begin_stream(struct copy *c)
{
	unsigned char start[16];
	struct perfev_bytes piece = {start, sizeof(start)};

	memcpy(start, c->reader->info.swapped != PERFEV_BIG_ENDIAN ? "2ELIFREP" : "PERFILE2", 8);
	copy_put(c, start + 8, sizeof(start), 8);
	return output_write(&c->output, &piece, 1);
}

/* ---- records --------------------------------------------------------------------------------------------------------- */

/* Of folders, whose files are streams of zstd each, what is in the records; else the records themselves. */
static bool is_wanted(const struct copy *c, const struct perfev_record *record)
{
	bool inner = record->flags & PERFEV_RECORD_INNER;

	if (record->flags & PERFEV_RECORD_BROKEN)
		return false;
	if (!c->expands)
		return !inner;
	return record->type != PERFEV_RECORD_COMPRESSED && record->type != PERFEV_RECORD_COMPRESSED2;
}

static int put_record(struct copy *c, const struct perfev_record *record)
{
	bool stays = record->flags & PERFEV_RECORD_STABLE;
	int r = put_bytes(c, record->data, record->size, stays);

	c->info.records++;
	c->info.compressed += record->type == PERFEV_RECORD_COMPRESSED || record->type == PERFEV_RECORD_COMPRESSED2;
	c->written += record->size + record->tail.size;
	return r == 0 ? put_bytes(c, record->tail.data, record->tail.size, stays) : r;
}

static int put_pending(struct copy *c)
{
	int r = c->has_pending ? put_record(c, &c->pending) : 0;

	c->has_pending = false;
	return r;
}

/* A compressed record of a file waits until all that is in it was seen: it may be damaged. */
static int take_record(struct copy *c, const struct perfev_record *record)
{
	int r = 0;

	if (record->flags & PERFEV_RECORD_JOINED) /* its pieces are there */
		return 0;
	if (!(record->flags & PERFEV_RECORD_INNER)) {
		r = put_pending(c);
		copy_note_payload(c);
	}
	if (r == 0)
		r = copy_learn(c, record);
	if (r < 0 || !is_wanted(c, record))
		return r;
	if ((record->type == PERFEV_RECORD_COMPRESSED || record->type == PERFEV_RECORD_COMPRESSED2) &&
	    record->flags & PERFEV_RECORD_STABLE) {
		c->pending = *record;
		c->has_pending = true;
		return 0;
	}
	return put_record(c, record);
}

static int put_records(struct copy *c, struct perfev_error *err)
{
	const struct perfev_error *damage;
	struct perfev_record record;
	int r;

	while ((r = perfev_reader_next(c->reader, &record, err)) > 0) {
		int written = take_record(c, &record);

		if (written < 0)
			return failed(c, written, err);
		if (c->wrote) /* pages that have to be written would only come back */
			perfev_reader_release(c->reader);
		c->wrote = false;
	}
	damage = perfev_reader_damage(c->reader);
	if (damage && c->has_pending && damage->where == c->pending.offset)
		c->has_pending = false;
	if (r < 0)
		return r;
	r = put_pending(c);
	copy_note_payload(c);
	if (r == 0)
		r = write_piece(c);
	return r < 0 ? failed(c, r, err) : 0;
}

/* ---- the end of a file ------------------------------------------------------------------------------------------------ */

/* A recording of nothing would look as if its recorder had been killed. */
static int put_round(struct copy *c)
{
	unsigned char round[8] = {0};
	struct perfev_bytes piece = {round, sizeof(round)};

	copy_put(c, round, PERFEV_RECORD_FINISHED_ROUND, 4);
	round[c->reader->info.swapped != PERFEV_BIG_ENDIAN ? 7 : 6] = 8;
	return output_write(&c->output, &piece, 1);
}

static int finish_file(struct copy *c)
{
	unsigned char header[HEADER_SIZE];
	struct perfev_bytes piece;
	struct buffer tail = {NULL, 0, 0, 0};
	uint64_t data_size;
	int r = c->output.offset == c->data_offset ? put_round(c) : 0;

	data_size = c->output.offset - c->data_offset;
	if (r == 0)
		r = copy_sections(c, &tail);
	piece.data = tail.data;
	piece.size = tail.size;
	if (r == 0 && tail.size)
		r = output_write(&c->output, &piece, 1);
	buffer_free(&tail);
	fill_header(c, header, data_size);
	piece.data = header;
	piece.size = sizeof(header);
	return r == 0 ? output_rewrite(&c->output, 0, piece) : r;
}

static int copy_all(struct copy *c, struct perfev_error *err)
{
	bool stream = c->reader->info.pipe;
	int r;

	if (!stream && c->output.stream)
		return error_set(err, -ESPIPE, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot write %.200s: the recording is a file, whose header is written last; copy it to a file",
				 strcmp(c->path, "-") ? c->path : "standard output");
	r = stream ? begin_stream(c) : begin_file(c);
	if (r < 0)
		return failed(c, r, err);
	r = put_records(c, err);
	if (r < 0 || stream)
		return r;
	r = finish_file(c);
	return r < 0 ? failed(c, r, err) : 0;
}

int perfev_copy(const char *path, struct perfev_reader *reader, const struct perfev_copy_opts *opts,
		struct perfev_copy_info *ret, struct perfev_error *err)
{
	struct copy c = {.reader = reader, .path = path, .output = {.fd = -1}};
	int r = opts_copy(&c.opts, sizeof(c.opts), opts, err), kept;

	if (r < 0)
		return r;
	c.expands = reader->part_count > 0 || c.opts.expand;
	kept = c.opts.keep ? output_keep(path) : 0;
	r = kept < 0 ? kept : output_open(&c.output, path);
	if (r < 0)
		return failed(&c, r, err);
	r = copy_all(&c, err);
	if (r < 0) /* half a copy is none */
		output_drop(&c.output, path, kept);
	c.info.bytes = c.output.offset;
	if (ret)
		*ret = c.info;
	output_close(&c.output);
	buffer_free(&c.stage);
	buffer_free(&c.traces);
	return r;
}
