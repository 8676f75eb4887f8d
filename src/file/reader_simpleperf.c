/* SPDX-License-Identifier: MIT */
/*
 * What a reader learns from records of simpleperf: ids of events, formats of tracepoints, and records that were too large for
 * their size.
 *
 * Such a record is in pieces, SPLIT, one behind the other, and behind the last one is SPLIT_END. The pieces are handed out as
 * they are, and behind them the record that they are. Pieces that end otherwise are no record.
 */
#include "reader_base.h"

#include "base/error.h"
#include "base/load.h"

#include <errno.h>
#include <stdlib.h>

#define SPLIT_MAX (64u << 20) /* bytes of a record in pieces: lists of all the kernel's symbols have ten million */

static int take_ids(struct perfev_reader *reader, const struct perfev_record *record, struct perfev_error *err)
{
	const unsigned char *body = (const unsigned char *)record->data + 8;
	size_t size = record->size - 8, i;
	uint64_t count = size >= 8 ? load_u64(body, reader->info.swapped) : 0;
	int r = 0;

	for (i = 0; r == 0 && i < count && (i + 1) * 16 + 8 <= size; i++) {
		uint64_t event = load_u64(body + 8 + i * 16, reader->info.swapped);
		uint64_t id = load_u64(body + 16 + i * 16, reader->info.swapped);

		if (event < reader->event_count && reader_find_id(reader, id) < 0)
			r = reader_add_id(reader, (size_t)event, id, err);
	}
	return r;
}

static int add_piece(struct perfev_reader *reader, const struct perfev_record *record, struct perfev_error *err)
{
	struct reader_split *split = &reader->split;
	int r;

	if (!split->buffer.size)
		split->offset = record->offset;
	split->buffer.max = SPLIT_MAX;
	r = split->too_large ? 0 : buffer_append(&split->buffer, (const unsigned char *)record->data + 8, record->size - 8);
	split->too_large |= r == -EFBIG;
	return r == -ENOMEM ? error_memory(err) : 0;
}

static void forget(struct reader_split *split)
{
	split->buffer.size = 0;
	split->ready = split->too_large = false;
}

int reader_take_simpleperf(struct perfev_reader *reader, const struct perfev_record *record, struct perfev_error *err)
{
	bool joined = record->flags & PERFEV_RECORD_JOINED;

	switch (record->type) {
	case PERFEV_RECORD_SIMPLEPERF_EVENT_ID:
		return take_ids(reader, record, err);
	case PERFEV_RECORD_SIMPLEPERF_TRACING_DATA:
		return reader_take_tracing(reader, record, err);
	case PERFEV_RECORD_SIMPLEPERF_SPLIT:
		return joined ? 0 : add_piece(reader, record, err);
	case PERFEV_RECORD_SIMPLEPERF_SPLIT_END:
		reader->split.ready = !joined && !reader->split.too_large && reader->split.buffer.size >= 8;
		if (!reader->split.ready)
			forget(&reader->split);
		return 0;
	default:
		return 0;
	}
}

bool reader_take_joined(struct perfev_reader *reader, struct perfev_record *ret)
{
	struct reader_split *split = &reader->split;
	struct perfev_bytes bytes = {split->buffer.data, split->buffer.size};
	struct perfev_error ignored;
	uint16_t flags = PERFEV_RECORD_JOINED | (reader->info.swapped ? PERFEV_RECORD_SWAPPED : 0);
	bool fits = perfev_record_from_bytes(ret, bytes, flags, &ignored) == 0 && ret->size == bytes.size;

	ret->offset = split->offset;
	ret->source = reader->number;
	forget(split);
	return fits;
}
