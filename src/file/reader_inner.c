/* SPDX-License-Identifier: MIT */
/*
 * Compressed records. Their payloads are the next pieces of one zstd stream; what comes out is records, which may
 * begin in one payload and end in another.
 *
 * A payload stays where it is, and is expanded as records are asked for, through one buffer of a fixed size: so
 * what a payload becomes takes no memory, however much it is, and is bounded only to end in time.
 */
#include "reader_base.h"

#include "base/error.h"
#include "base/load.h"

#include <errno.h>
#include <stdlib.h>

#define ROOM	   (256 * 1024)		 /* more than any record has */
#define EXPAND_MAX (UINT64_C(64) << 20) /* what one payload may become; perf's do not exceed a ring */
#define HEADER2	   16			 /* of COMPRESSED2 */
#define PIECE_MAX  65519		 /* see reader_compressed2_size() */

/*
 * perf 6.16 to 7.2 kept the size of COMPRESSED2 in 16 bits also where it did not fit, and then left the padding
 * out. So where the size does not hold the data it announces, the data are right: the record has
 * 16 + data_size bytes. With more than 65519 of them they are a first piece of that many, and further ones, each
 * behind a header of its own whose size is right and whose data_size is not.
 */
uint64_t reader_compressed2_size(const unsigned char *data, uint32_t size, bool swapped)
{
	uint64_t data_size = load_u64(data + 8, swapped);

	if (size >= HEADER2 && data_size <= size - HEADER2)
		return size;
	return data_size > UINT32_MAX - HEADER2 ? UINT64_MAX : HEADER2 + data_size;
}

static int broken(struct perfev_reader *reader, const char *what, const char *why, struct perfev_error *err)
{
	reader->inner.active = false;
	return reader_damage(reader, -EINVAL, PERFEV_WHY_CORRUPT, reader->inner.offset, err,
			     "the compressed record at offset 0x%llx %s%s", (unsigned long long)reader->inner.offset,
			     what, why);
}

int reader_inner_begin(struct perfev_reader *reader, const struct perfev_record *record, struct perfev_error *err)
{
	struct reader_inner *inner = &reader->inner;
	const unsigned char *data = record->data;
	struct perfev_error why;
	int r = 0;

	if (!inner->buffer)
		inner->buffer = malloc(ROOM);
	if (!inner->buffer)
		return error_memory(err);
	inner->offset = record->offset;
	if (!inner->codec)
		r = codec_open(&inner->codec, 0, &why);
	if (r == -ENOMEM)
		return error_memory(err);
	if (r < 0)
		return reader_damage(reader, r, why.why, record->offset, err, "%.200s", why.text);
	memset(&inner->rest, 0, sizeof(inner->rest));
	if (record->type == PERFEV_RECORD_COMPRESSED) {
		inner->in.data = data + 8;
		inner->in.size = record->size - 8;
	} else {
		uint64_t size = load_u64(data + 8, reader->info.swapped);

		inner->in.data = data + HEADER2;
		inner->in.size = size < record->size - HEADER2 ? (size_t)size : record->size - HEADER2;
		if (inner->in.size > PIECE_MAX) {
			inner->rest.data = data + HEADER2 + PIECE_MAX;
			inner->rest.size = inner->in.size - PIECE_MAX;
			inner->in.size = PIECE_MAX;
		}
	}
	inner->expanded = 0;
	inner->active = true;
	return 0;
}

/* The next piece of a record that was too large for its size. */
static int next_piece(struct perfev_reader *reader, struct perfev_error *err)
{
	struct reader_inner *inner = &reader->inner;
	const unsigned char *at = inner->rest.data;
	bool swapped = reader->info.swapped;
	uint16_t size;

	if (inner->rest.size < HEADER2 || load_u32(at, swapped) != PERFEV_RECORD_COMPRESSED2)
		return broken(reader, "has more data than it can have, in no pieces", "", err);
	size = load_u16(at + 6, swapped);
	if (size < HEADER2 || size > inner->rest.size)
		return broken(reader, "has a piece that is larger than the rest of it", "", err);
	inner->in.data = at + HEADER2;
	inner->in.size = size - HEADER2;
	inner->rest.data = at + size;
	inner->rest.size -= size;
	return 0;
}

/* More bytes behind those that wait. Return: 1; 0 the payload is used up. */
static int expand(struct perfev_reader *reader, struct perfev_error *err)
{
	struct reader_inner *inner = &reader->inner;
	size_t left = inner->end - inner->at, got, before = inner->in.size;
	const char *cause;

	if (left && inner->at)
		memmove(inner->buffer, inner->buffer + inner->at, left);
	inner->at = 0;
	inner->end = left;
	if (codec_expand(inner->codec, &inner->in, inner->buffer + left, ROOM - left, &got, &cause) < 0)
		return broken(reader, "cannot be expanded: ", cause, err);
	inner->end += got;
	inner->expanded += got;
	if (inner->expanded > EXPAND_MAX)
		return broken(reader, "becomes more than 64 MiB", "", err);
	if (got || inner->in.size < before)
		return 1;
	if (inner->in.size)
		return broken(reader, "has data behind the end of its stream", "", err);
	if (!inner->rest.size)
		return 0;
	return next_piece(reader, err) < 0 ? -EINVAL : 1;
}

/* The record at the front of what was expanded. Return: 1; 0 it is not whole yet. */
static int front(struct perfev_reader *reader, struct perfev_record *ret, struct perfev_error *err)
{
	struct reader_inner *inner = &reader->inner;
	size_t left = inner->end - inner->at;
	struct perfev_bytes header = {inner->buffer + inner->at, 8};

	if (left < 8)
		return 0;
	perfev_record_from_bytes(ret, header, reader->info.swapped ? PERFEV_RECORD_SWAPPED : 0, NULL);
	if (ret->size < 8 || ret->size > ROOM)
		return broken(reader, "has a record of an impossible size in it", "", err);
	if (ret->type == PERFEV_RECORD_COMPRESSED || ret->type == PERFEV_RECORD_COMPRESSED2 ||
	    ret->type == PERFEV_RECORD_AUXTRACE || ret->type == PERFEV_RECORD_HEADER_TRACING_DATA)
		return broken(reader, "has a record in it that cannot be there: ", perfev_record_name(ret->type), err);
	if (ret->size > left)
		return 0;
	ret->data = header.data;
	ret->offset = inner->offset;
	ret->flags |= PERFEV_RECORD_INNER;
	inner->at += ret->size;
	return 1;
}

int reader_inner_next(struct perfev_reader *reader, struct perfev_record *ret, struct perfev_error *err)
{
	int r;

	while ((r = front(reader, ret, err)) == 0) {
		r = expand(reader, err);
		if (r <= 0)
			break;
	}
	if (r == 0)
		reader->inner.active = false;
	return r;
}

int reader_inner_end(struct perfev_reader *reader, struct perfev_error *err)
{
	struct reader_inner *inner = &reader->inner;

	if (inner->at == inner->end)
		return 0;
	inner->at = inner->end;
	return reader_damage(reader, -EINVAL, PERFEV_WHY_TRUNCATED, inner->offset, err,
			     "the last compressed record, at offset 0x%llx, ends in the middle of a record; the "
			     "recording was cut short",
			     (unsigned long long)inner->offset);
}

void reader_inner_free(struct reader_inner *inner)
{
	codec_close(inner->codec);
	free(inner->buffer);
	memset(inner, 0, sizeof(*inner));
}
