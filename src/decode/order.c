/* SPDX-License-Identifier: MIT */
/*
 * Order: records of many rings, sorted by time with bounded memory.
 *
 * entries = [ gone | sorted, waiting | as they came ]
 *             0     head            sorted          count
 *
 * Invariant: what is sorted and not newer than the limit may go. At the end of a round the last part is
 * sorted into the middle one, the limit becomes the newest time of the round before, and the newest time
 * seen becomes the limit of the round after: a record can be overtaken only by records of its own round
 * and of the next, because every ring is read once in each.
 *
 * The part that came is a few ascending runs, one a ring, so a merge sort of natural runs does little
 * work; it is stable, so equal times keep their order. Bytes of records that do not stay are copied into
 * chunks, and a chunk is reused when the last record in it has gone.
 */
#include <perfev/order.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/load.h"
#include "base/opts.h"

#include <errno.h>
#include <stdlib.h>

#define CHUNK_BYTES   (256 * 1024)
#define DEFAULT_BYTES (256u << 20)
#define NO_CHUNK      UINT32_MAX

struct entry {
	uint64_t time;
	const unsigned char *data;
	uint64_t offset;
	uint32_t source;
	uint32_t chunk; /* index << 1 | swapped */
};

struct chunk {
	unsigned char *data;
	size_t used, room;
	uint32_t live; /* records in it that have not gone */
};

struct perfev_order {
	struct entry *entries, *spare;
	size_t room, spare_room;
	size_t head, sorted, count;
	uint64_t limit, newest, next_limit;
	uint64_t last_gone, late;
	struct perfev_record *now; /* records without a time, first in first out */
	size_t now_room, now_head, now_count;
	uint32_t *now_chunks;
	size_t now_chunks_room;
	struct chunk *chunks;
	size_t chunk_count, chunk_room;
	uint32_t chunk;	  /* the one being filled, or NO_CHUNK */
	uint32_t release; /* of the record handed out last, or NO_CHUNK */
	uint64_t copied;  /* bytes in chunks */
	uint64_t max_bytes;
};

int perfev_order_new(struct perfev_order **ret, const struct perfev_order_opts *opts,
		     struct perfev_error *err)
{
	struct perfev_order_opts full;
	struct perfev_order *order;
	int r = opts_copy(&full, sizeof(full), opts, err);

	if (r < 0)
		return r;
	order = calloc(1, sizeof(*order));
	if (!order)
		return error_memory(err);
	order->chunk = NO_CHUNK;
	order->release = NO_CHUNK;
	order->max_bytes = full.max_bytes ? full.max_bytes : DEFAULT_BYTES;
	*ret = order;
	return 0;
}

void perfev_order_free(struct perfev_order *order)
{
	size_t i;

	if (!order)
		return;
	for (i = 0; i < order->chunk_count; i++)
		free(order->chunks[i].data);
	free(order->chunks);
	free(order->entries);
	free(order->spare);
	free(order->now);
	free(order->now_chunks);
	free(order);
}

/* ---- copies of bytes ------------------------------------------------------------------------------ */

static void chunk_put(struct perfev_order *order, uint32_t index)
{
	struct chunk *chunk;

	if (index == NO_CHUNK)
		return;
	chunk = &order->chunks[index];
	if (--chunk->live == 0) {
		order->copied -= chunk->used;
		chunk->used = 0;
	}
}

/* A chunk with room, an empty one before a new one. */
static int chunk_get(struct perfev_order *order, size_t size)
{
	struct chunk *chunks;
	size_t i, room = size > CHUNK_BYTES ? size : CHUNK_BYTES;

	for (i = 0; i < order->chunk_count; i++)
		if (!order->chunks[i].live && order->chunks[i].room >= size)
			break;
	if (i == order->chunk_count) {
		chunks = array_grow(order->chunks, &order->chunk_room, i, sizeof(*chunks));
		if (!chunks)
			return -ENOMEM;
		order->chunks = chunks;
		memset(&chunks[i], 0, sizeof(chunks[i]));
		chunks[i].data = malloc(room);
		if (!chunks[i].data)
			return -ENOMEM;
		chunks[i].room = room;
		order->chunk_count++;
	}
	order->chunk = (uint32_t)i;
	return 0;
}

/* A record and what follows it; @tail becomes that of the copy. */
static const unsigned char *copy_bytes(struct perfev_order *order, const void *data, size_t size,
				       struct perfev_bytes *tail, uint32_t *index)
{
	size_t need = (size + tail->size + 7) & ~(size_t)7;
	struct chunk *chunk;
	unsigned char *at;

	if (need < tail->size)
		return NULL;
	if (order->chunk == NO_CHUNK ||
	    order->chunks[order->chunk].room - order->chunks[order->chunk].used < need)
		if (chunk_get(order, need) < 0)
			return NULL;
	chunk = &order->chunks[order->chunk];
	at = chunk->data + chunk->used;
	memcpy(at, data, size);
	if (tail->size) {
		memcpy(at + size, tail->data, tail->size);
		tail->data = at + size;
	}
	chunk->used += need;
	chunk->live++;
	order->copied += need;
	*index = order->chunk;
	return at;
}

/* ---- sorting ----------------------------------------------------------------------------------------- */

static void merge(const struct entry *a, size_t a_count, const struct entry *b, size_t b_count,
		  struct entry *to)
{
	const struct entry *a_end = a + a_count, *b_end = b + b_count;

	while (a < a_end && b < b_end)
		*to++ = b->time < a->time ? *b++ : *a++;
	memcpy(to, a, (size_t)(a_end - a) * sizeof(*to));
	to += a_end - a;
	memcpy(to, b, (size_t)(b_end - b) * sizeof(*to));
}

static size_t run_length(const struct entry *from, size_t count)
{
	size_t n = 1;

	while (n < count && from[n].time >= from[n - 1].time)
		n++;
	return n < count ? n : count;
}

/* One pass: neighbouring runs of @from are joined in @to. Returns whether one run is left. */
static bool join_runs(const struct entry *from, struct entry *to, size_t count)
{
	size_t at = 0, a, b;

	while (at < count) {
		a = run_length(from + at, count - at);
		b = at + a < count ? run_length(from + at + a, count - at - a) : 0;
		merge(from + at, a, from + at + a, b, to + at);
		if (at == 0 && a + b == count)
			return true;
		at += a + b;
	}
	return count == 0;
}

static int spare_reserve(struct perfev_order *order, size_t count)
{
	struct entry *spare;

	if (count <= order->spare_room)
		return 0;
	spare = realloc(order->spare, order->room * sizeof(*spare));
	if (!spare)
		return -ENOMEM;
	order->spare = spare;
	order->spare_room = order->room;
	return 0;
}

static int sort_in(struct perfev_order *order)
{
	size_t count = order->count - order->head;
	struct entry *from, *to;
	bool done;

	if (!count) {
		order->sorted = order->count;
		return 0;
	}
	from = order->entries + order->head;
	if (run_length(from, count) < count) {
		if (spare_reserve(order, count) < 0)
			return -ENOMEM;
		to = order->spare;
		do {
			struct entry *swap = from;

			done = join_runs(from, to, count);
			from = to;
			to = swap;
		} while (!done);
		if (from == order->spare)
			memcpy(order->entries + order->head, from, count * sizeof(*from));
	}
	order->sorted = order->count;
	return 0;
}

/* ---- in and out ------------------------------------------------------------------------------------------ */

static int push_now(struct perfev_order *order, const struct perfev_record *record,
		    struct perfev_error *err)
{
	struct perfev_record *now;
	uint32_t *chunks, chunk = NO_CHUNK;
	struct perfev_bytes tail = record->tail;
	const unsigned char *data = record->data;

	if (order->now_head == order->now_count)
		order->now_head = order->now_count = 0;
	now = array_grow(order->now, &order->now_room, order->now_count, sizeof(*now));
	if (!now)
		return error_memory(err);
	order->now = now;
	chunks = array_grow(order->now_chunks, &order->now_chunks_room, order->now_count,
			    sizeof(*chunks));
	if (!chunks)
		return error_memory(err);
	order->now_chunks = chunks;
	if (!(record->flags & PERFEV_RECORD_STABLE)) {
		data = copy_bytes(order, record->data, record->size, &tail, &chunk);
		if (!data)
			return error_memory(err);
	}
	now[order->now_count] = *record;
	now[order->now_count].data = data;
	now[order->now_count].tail = tail;
	chunks[order->now_count++] = chunk;
	return 0;
}

static void compact(struct perfev_order *order)
{
	size_t left = order->count - order->head;

	if (!order->head || order->head < order->room / 2)
		return;
	memmove(order->entries, order->entries + order->head, left * sizeof(*order->entries));
	order->sorted -= order->head;
	order->count = left;
	order->head = 0;
}

static int push_timed(struct perfev_order *order, const struct perfev_record *record, uint64_t time,
		      struct perfev_error *err)
{
	struct entry *entries, *entry;
	uint32_t chunk = NO_CHUNK >> 1;
	struct perfev_bytes none = {NULL, 0}; /* what has a time has no tail */
	const unsigned char *data = record->data;

	if (order->count == order->room)
		compact(order);
	entries = array_grow(order->entries, &order->room, order->count, sizeof(*entries));
	if (!entries)
		return error_memory(err);
	order->entries = entries;
	if (!(record->flags & PERFEV_RECORD_STABLE)) {
		data = copy_bytes(order, record->data, record->size, &none, &chunk);
		if (!data)
			return error_memory(err);
	}
	entry = &entries[order->count++];
	entry->time = time;
	entry->data = data;
	entry->offset = record->offset;
	entry->source = record->source;
	entry->chunk = chunk << 1 | (record->flags & PERFEV_RECORD_SWAPPED);
	if (time > order->newest)
		order->newest = time;
	return 0;
}

/* Too much waits: what is older than the middle goes. */
static int make_room(struct perfev_order *order, struct perfev_error *err)
{
	size_t count = order->count - order->head;

	if (count * sizeof(struct entry) + order->copied <= order->max_bytes || count < 2)
		return 0;
	if (sort_in(order) < 0)
		return error_memory(err);
	order->limit = order->entries[order->head + count / 2].time;
	return 0;
}

int perfev_order_push(struct perfev_order *order, const struct perfev_record *record,
		      const struct perfev_layout *layout, struct perfev_error *err)
{
	uint64_t time;
	int r;

	chunk_put(order, order->release);
	order->release = NO_CHUNK;
	if (!perfev_record_time(record, layout, &time) || time == 0 || time == UINT64_MAX) {
		r = push_now(order, record, err);
		if (r == 0 && record->type == 68) /* FINISHED_ROUND */
			r = perfev_order_round(order, err);
		return r;
	}
	if (time < order->last_gone) {
		order->late++;
		return push_now(order, record, err);
	}
	r = push_timed(order, record, time, err);
	return r < 0 ? r : make_room(order, err);
}

int perfev_order_round(struct perfev_order *order, struct perfev_error *err)
{
	if (sort_in(order) < 0)
		return error_memory(err);
	if (order->next_limit > order->limit)
		order->limit = order->next_limit;
	order->next_limit = order->newest;
	return 0;
}

int perfev_order_end(struct perfev_order *order, struct perfev_error *err)
{
	if (sort_in(order) < 0)
		return error_memory(err);
	order->limit = UINT64_MAX;
	return 0;
}

static void entry_record(const struct entry *entry, struct perfev_record *ret)
{
	bool swap = entry->chunk & PERFEV_RECORD_SWAPPED;

	memset(ret, 0, sizeof(*ret));
	ret->data = entry->data;
	ret->offset = entry->offset;
	ret->source = entry->source;
	ret->type = load_u32(entry->data, swap);
	ret->misc = load_u16(entry->data + 4, swap);
	ret->size = load_u16(entry->data + 6, swap);
	ret->flags = (uint16_t)(swap ? PERFEV_RECORD_SWAPPED : 0);
	if (entry->chunk >> 1 == NO_CHUNK >> 1)
		ret->flags |= PERFEV_RECORD_STABLE;
}

int perfev_order_next(struct perfev_order *order, struct perfev_record *ret)
{
	const struct entry *entry;

	chunk_put(order, order->release);
	order->release = NO_CHUNK;
	if (order->now_head < order->now_count) {
		*ret = order->now[order->now_head];
		order->release = order->now_chunks[order->now_head++];
		return 1;
	}
	if (order->head == order->sorted || order->entries[order->head].time > order->limit)
		return 0;
	entry = &order->entries[order->head];
	entry_record(entry, ret);
	if (entry->chunk >> 1 != NO_CHUNK >> 1)
		order->release = entry->chunk >> 1;
	order->last_gone = entry->time;
	order->head++;
	return 1;
}

uint64_t perfev_order_late(const struct perfev_order *order)
{
	return order->late;
}
