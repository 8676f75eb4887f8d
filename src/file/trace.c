/* SPDX-License-Identifier: MIT */
/*
 * Traces in files. The reader finds the bytes of an AUX record by an index of all AUXTRACE records, sorted by ring and
 * place; the file's own index says where these are, and is believed only as far as there are such records. Without one all
 * records are looked at, once.
 */
#include "reader_base.h"
#include "writer_base.h"

#include "base/error.h"
#include "base/load.h"

#include <perfev/auxtrace.h>
#include <perfev/user_record.h>

#include <errno.h>
#include <stdlib.h>

#define RECORD_SIZE 48
#define PIECES_MAX_OF_FILE (1u << 24)

static int refuse(const struct perfev_record *record, const char *what, struct perfev_error *err)
{
	return error_set(err, -EINVAL, PERFEV_WHY_TRUNCATED, record->offset,
			 "cannot read the record at 0x%llx as %s: it is of type %u and has %u bytes",
			 (unsigned long long)record->offset, what, record->type, record->size);
}

/* ---- writing ----------------------------------------------------------------------------------------------- */

int perfev_writer_put_trace(struct perfev_writer *writer, const struct perfev_auxtrace *trace,
			    const struct perfev_bytes part[2], struct perfev_error *err)
{
	static const unsigned char zeros[8];
	unsigned char head[RECORD_SIZE] = {0};
	struct perfev_record record = {.data = head, .type = PERFEV_RECORD_AUXTRACE, .size = sizeof(head)};
	struct perfev_record rest = {.tail = part[1]};
	size_t size = part[0].size + part[1].size, padding = (0 - size) & 7;
	int r;

	store_u32(head, PERFEV_RECORD_AUXTRACE);
	store_u16(head + 6, sizeof(head));
	store_u64(head + 8, size + padding);
	store_u64(head + 16, trace->offset);
	store_u64(head + 24, trace->reference);
	store_u32(head + 32, trace->idx);
	store_u32(head + 36, trace->tid);
	store_u32(head + 40, trace->cpu);
	record.tail = part[0];
	r = perfev_writer_append(writer, &record, err);
	if (r == 0 && part[1].size)
		r = perfev_writer_append(writer, &rest, err);
	rest.tail.data = zeros;
	rest.tail.size = padding;
	if (r == 0 && padding)
		r = perfev_writer_append(writer, &rest, err);
	return r < 0 ? r : perfev_writer_flush(writer, err);
}

/* ---- reading -------------------------------------------------------------------------------------------------- */

/* A piece of the trace of one ring. */
struct reader_piece {
	uint64_t offset, size, at; /* in the trace; in the file */
	uint32_t ring;
};

static int compare(const void *left, const void *right)
{
	const struct reader_piece *a = left, *b = right;

	if (a->ring != b->ring)
		return a->ring < b->ring ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

/* The AUXTRACE record that the index says is at @at, if it is one. */
static bool read_piece(const struct perfev_reader *reader, uint64_t at, struct reader_piece *ret)
{
	const unsigned char *head = source_at(&reader->source, at, RECORD_SIZE);
	bool swap = reader->info.swapped;

	if (!head || load_u32(head, swap) != PERFEV_RECORD_AUXTRACE || load_u16(head + 6, swap) < RECORD_SIZE)
		return false;
	ret->size = load_u64(head + 8, swap);
	ret->offset = load_u64(head + 16, swap);
	ret->ring = load_u32(head + 32, swap);
	ret->at = at + load_u16(head + 6, swap);
	return ret->size && ret->size <= reader->source.size && ret->at <= reader->source.size - ret->size;
}

/* Behind the record at @at; 0: that is none. */
static uint64_t next_record(const struct perfev_reader *reader, uint64_t at)
{
	const unsigned char *head = at <= reader->end && reader->end - at >= 8 ? source_at(&reader->source, at, 8) : NULL;
	struct perfev_bytes bytes = {head, 8};
	struct perfev_record record;
	bool swap = reader->info.swapped;
	uint64_t left = head ? reader->end - at : 0, size;

	if (!head)
		return 0;
	perfev_record_from_bytes(&record, bytes, swap ? PERFEV_RECORD_SWAPPED : 0, NULL);
	size = record.size;
	if (record.type == PERFEV_RECORD_COMPRESSED2 && left >= 16)
		size = reader_compressed2_size(head, record.size, swap);
	if (record.type == PERFEV_RECORD_AUXTRACE && size >= 16 && left >= 16)
		size += load_u64(head + 8, swap) < left ? load_u64(head + 8, swap) : left;
	if (record.type == PERFEV_RECORD_HEADER_TRACING_DATA && size >= 12 && left >= 12)
		size += (load_u32(head + 8, swap) + UINT64_C(7)) & ~UINT64_C(7);
	return size < 8 || size > left ? 0 : at + size;
}

/* Streams, and files whose recorder was killed, have no index: their records are looked at. */
static int find_pieces(struct perfev_reader *reader, struct perfev_error *err)
{
	struct reader_traces *traces = &reader->traces;
	uint64_t at = reader->info.data_offset, next;
	struct reader_piece piece, *pieces;
	size_t room = 0;

	for (; (next = next_record(reader, at)) != 0 && traces->count < PIECES_MAX_OF_FILE; at = next) {
		if (!read_piece(reader, at, &piece))
			continue;
		pieces = array_grow(traces->pieces, &room, traces->count, sizeof(*pieces));
		if (!pieces)
			return error_memory(err);
		traces->pieces = pieces;
		pieces[traces->count++] = piece;
	}
	if (traces->count)
		qsort(traces->pieces, traces->count, sizeof(*traces->pieces), compare);
	return 0;
}

static int index_pieces(struct perfev_reader *reader, struct perfev_error *err)
{
	struct reader_traces *traces = &reader->traces;
	struct perfev_bytes section;
	const unsigned char *entries;
	uint64_t count, i;

	traces->read = true;
	if (!perfev_reader_feature(reader, PERFEV_FEATURE_AUXTRACE, &section) || section.size < 8)
		return find_pieces(reader, err);
	entries = (const unsigned char *)section.data + (section.size % 16 ? 8 : 0); /* simpleperf has no count there */
	count = section.size % 16 ? load_u64(section.data, reader->info.swapped) : UINT64_MAX;
	if (count > section.size / 16)
		count = section.size / 16;
	if (count > PIECES_MAX_OF_FILE)
		count = PIECES_MAX_OF_FILE;
	traces->pieces = calloc((size_t)count + 1, sizeof(*traces->pieces));
	if (!traces->pieces)
		return error_memory(err);
	for (i = 0; i < count; i++) {
		const unsigned char *entry = entries + i * 16;

		if (read_piece(reader, load_u64(entry, reader->info.swapped), &traces->pieces[traces->count]))
			traces->count++;
	}
	qsort(traces->pieces, traces->count, sizeof(*traces->pieces), compare);
	return 0;
}

/* The last piece of the ring that begins at @offset or before; NULL when there is none. */
static const struct reader_piece *find_piece(const struct reader_traces *traces, uint32_t ring, uint64_t offset)
{
	size_t from = 0, to = traces->count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		const struct reader_piece *piece = &traces->pieces[middle];

		if (piece->ring < ring || (piece->ring == ring && piece->offset <= offset))
			from = middle + 1;
		else
			to = middle;
	}
	return from && traces->pieces[from - 1].ring == ring ? &traces->pieces[from - 1] : NULL;
}

/* What a piece has: it is padded to whole words, and the next begins where its trace ends. */
static uint64_t piece_size(const struct reader_traces *traces, const struct reader_piece *piece)
{
	const struct reader_piece *next = piece + 1;

	if (next == traces->pieces + traces->count || next->ring != piece->ring || next->offset - piece->offset > piece->size)
		return piece->size;
	return next->offset - piece->offset;
}

/* Which ring a record is of: its id tells, or else its CPU. */
static uint32_t ring_of(const struct perfev_reader *reader, const struct perfev_record *record)
{
	const struct perfev_layout *layout = perfev_reader_layout(reader, record);
	struct perfev_id id;
	const uint64_t *ring;

	if (!layout || perfev_id_decode(&id, record, layout, NULL) < 0)
		return 0;
	ring = id.present & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER) ? map_find(&reader->loss.ids, id.id) : NULL;
	if (ring)
		return (uint32_t)*ring;
	return id.present & PERF_SAMPLE_CPU ? id.cpu : 0;
}

int perfev_reader_trace(struct perfev_reader *reader, const struct perfev_record *aux, uint64_t skip,
			struct perfev_bytes *ret, struct perfev_error *err)
{
	const struct reader_piece *piece;
	uint64_t offset, size, into, has;
	bool swap = aux->flags & PERFEV_RECORD_SWAPPED;
	int r;

	if (aux->type != PERF_RECORD_AUX || aux->size < 32)
		return refuse(aux, "AUX", err);
	if (!reader->source.data)
		return error_set(err, -EOPNOTSUPP, PERFEV_WHY_UNSUPPORTED, aux->offset,
				 "cannot look up a trace in %.200s: it is read once, from its beginning; write it to a file",
				 reader->name);
	r = reader->traces.read ? 0 : index_pieces(reader, err);
	if (r < 0)
		return r;
	offset = load_u64((const unsigned char *)aux->data + 8, swap);
	size = load_u64((const unsigned char *)aux->data + 16, swap);
	if (skip >= size)
		return 0;
	piece = find_piece(&reader->traces, ring_of(reader, aux), offset + skip);
	into = piece ? offset + skip - piece->offset : 0;
	has = piece ? piece_size(&reader->traces, piece) : 0;
	if (into >= has)
		return error_set(err, -ENOENT, PERFEV_WHY_NOT_FOUND, aux->offset,
				 "cannot find the trace at 0x%llx of the record at 0x%llx: the file does not have it",
				 (unsigned long long)(offset + skip), (unsigned long long)aux->offset);
	ret->data = reader->source.data + piece->at + into;
	ret->size = (size_t)(has - into < size - skip ? has - into : size - skip);
	return 1;
}
