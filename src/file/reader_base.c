/* SPDX-License-Identifier: MIT */
/* What all parts of the reader stand on: its bytes, its damage, and what it found. */
#include "reader_base.h"

#include "base/error.h"
#include "base/load.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#define STREAM_CHUNK (256 * 1024)
#define STREAM_MAX   (UINT64_C(1) << 30) /* one record with what follows it */
#define CHECK_EVERY  (UINT64_C(1) << 20)

/* ---- errors ------------------------------------------------------------------------------------------ */

/* The sentence is kept too, for perfev_reader_damage(). */
int reader_damage(struct perfev_reader *reader, int code, enum perfev_why why, uint64_t where,
		  struct perfev_error *err, const char *format, ...)
{
	char cause[256];
	va_list args;

	va_start(args, format);
	vsnprintf(cause, sizeof(cause), format, args);
	va_end(args);
	if (!reader->damage.code)
		error_set(&reader->damage, code, why, where,
			  "cannot read %.150s: %s; perfev dump --partial shows what is readable",
			  reader->name, cause);
	if (err)
		*err = reader->damage;
	return code;
}

/* ---- bytes --------------------------------------------------------------------------------------------- */

/* The next bytes of a stream, behind those in the buffer. Large pieces are read in steps that double: a
 * size that lies takes no more memory than there are bytes. */
static bool stream_read(struct perfev_reader *reader, uint64_t size)
{
	struct buffer *b = &reader->stream;
	uint64_t step = b->size > STREAM_CHUNK ? b->size : STREAM_CHUNK;
	int64_t n;

	if (size > STREAM_CHUNK && size - b->size < step)
		step = size - b->size;
	if (buffer_reserve(b, (size_t)step) < 0) {
		reader->stream_error = -ENOMEM;
		return false;
	}
	n = source_read(reader->input, b->data + b->size, (size_t)step);
	if (n < 0)
		reader->stream_error = (int)n;
	if (n <= 0)
		return false;
	b->size += (size_t)n;
	return true;
}

/* Moves what is left of a stream's buffer to its start, and reads until @size bytes are there. */
static const unsigned char *stream_need(struct perfev_reader *reader, uint64_t size)
{
	struct buffer *b = &reader->stream;
	size_t left = b->size - reader->stream_at;

	if (left >= size)
		return b->data + reader->stream_at;
	if (size > STREAM_MAX)
		return NULL;
	if (left && reader->stream_at)
		memmove(b->data, b->data + reader->stream_at, left);
	b->size = left;
	reader->stream_at = 0;
	while (b->size < size)
		if (!stream_read(reader, size))
			return NULL;
	return b->data;
}

const unsigned char *reader_need_more(struct perfev_reader *reader, uint64_t size)
{
	uint64_t at = reader->info.position;
	const unsigned char *data;

	if (!reader->input->data)
		return stream_need(reader, size);
	data = source_shrank(reader->input) ? NULL : source_at(reader->input, at, size);
	if (data)
		reader->checked = reader->input->size - at - size > CHECK_EVERY ? at + size + CHECK_EVERY : reader->input->size;
	return data;
}

/* ---- what is there ------------------------------------------------------------------------------------- */

size_t perfev_reader_event_count(const struct perfev_reader *reader)
{
	return reader->event_count;
}

bool perfev_reader_event_at(const struct perfev_reader *reader, size_t index,
			    struct perfev_reader_event_info *ret)
{
	const struct reader_event *event;

	if (index >= reader->event_count)
		return false;
	event = reader->events[index];
	ret->name = event->name;
	ret->attr = &event->attr;
	ret->layout = event->layout;
	ret->ids = event->ids;
	ret->id_count = event->id_count;
	return true;
}

void perfev_reader_describe(const struct perfev_reader *reader, struct perfev_reader_info *ret)
{
	*ret = reader->info;
	ret->position += reader->passed;
}

bool perfev_reader_feature(const struct perfev_reader *reader, unsigned feature,
			   struct perfev_bytes *ret)
{
	if (feature >= PERFEV_FEATURE_COUNT || !reader->features[feature].there)
		return false;
	*ret = reader->features[feature].bytes;
	return true;
}

const struct perfev_error *perfev_reader_damage(const struct perfev_reader *reader)
{
	return reader->damage.code ? &reader->damage : NULL;
}
