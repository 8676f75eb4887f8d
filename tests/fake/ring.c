/* SPDX-License-Identifier: MIT */
/* The writer's side of a ring. */
#include "ring.h"

#include <string.h>

#define TRAILER_MAX 6

void fake_ring_init(struct fake_ring *ring, struct perf_event_mmap_page *page, unsigned char *data, uint64_t bytes)
{
	memset(ring, 0, sizeof(*ring));
	ring->page = page;
	ring->data = data;
	ring->bytes = bytes;
	ring->mark = bytes / 2;
}

void fake_ring_start_at(struct fake_ring *ring, uint64_t position)
{
	ring->head = ring->marked = position;
	ring->page->data_head = ring->page->data_tail = position;
}

static void put(unsigned char *to, uint64_t room, uint64_t at, const void *bytes, size_t size)
{
	const unsigned char *from = bytes;
	size_t i;

	for (i = 0; i < size; i++)
		to[(at + i) & (room - 1)] = from[i];
}

/* The bytes between a head and a tail, one less than there are: so that a full ring is not an empty one. The
 * difference is reduced, because the tail is the reader's and may be anything. */
static uint64_t space(uint64_t head, uint64_t tail, uint64_t bytes)
{
	return (tail - head - 1) & (bytes - 1);
}

static uint64_t load_tail(const uint64_t *at)
{
	return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

static void publish(uint64_t *at, uint64_t value)
{
	__atomic_store_n(at, value, __ATOMIC_RELEASE);
}

static size_t make_lost(unsigned char *to, const struct fake_writer *by, uint64_t dropped)
{
	struct perf_event_header header = {PERF_RECORD_LOST, 0, (uint16_t)(24 + 8 * by->trailer_count)};
	uint64_t body[2] = {by->id, dropped};

	memcpy(to, &header, 8);
	memcpy(to + 8, body, 16);
	if (by->trailer_count)
		memcpy(to + 24, by->trailer, 8 * by->trailer_count);
	return header.size;
}

/* Wake-ups: by bytes when a multiple of the mark was passed, by samples when there were enough. */
static void wake(struct fake_ring *ring, const void *record)
{
	uint64_t written = ring->backward ? 0 - ring->head : ring->head;
	struct perf_event_header header;

	if (ring->mark && written - ring->marked > ring->mark) {
		ring->marked += ring->mark;
		ring->woken = true;
	}
	memcpy(&header, record, sizeof(header));
	if (header.type != PERF_RECORD_SAMPLE || !ring->wakeup_events || ++ring->samples < ring->wakeup_events)
		return;
	ring->samples = 0;
	ring->woken = true;
}

bool fake_ring_write(struct fake_ring *ring, const struct fake_writer *by, const void *record, size_t size)
{
	unsigned char lost[24 + 8 * TRAILER_MAX];
	size_t lost_size = ring->dropped ? make_lost(lost, by, ring->dropped) : 0, whole = size + lost_size;
	uint64_t at;

	if (ring->paused ||
	    (!ring->backward && space(ring->head, load_tail(&ring->page->data_tail), ring->bytes) < whole)) {
		ring->dropped++;
		return false;
	}
	at = ring->backward ? ring->head - whole : ring->head;
	put(ring->data, ring->bytes, at, lost, lost_size);
	put(ring->data, ring->bytes, at + lost_size, record, size);
	ring->head = ring->backward ? at : at + whole;
	ring->dropped = 0;
	wake(ring, record);
	publish(&ring->page->data_head, ring->head);
	return true;
}

void fake_ring_force(struct fake_ring *ring, const void *bytes, size_t size)
{
	put(ring->data, ring->bytes, ring->head, bytes, size);
	ring->head += size;
	publish(&ring->page->data_head, ring->head);
}

/* ---- AUX ------------------------------------------------------------------------------------------------- */

void fake_ring_init_aux(struct fake_ring *ring, unsigned char *aux, uint64_t bytes, uint64_t watermark)
{
	ring->aux = aux;
	ring->aux_bytes = bytes;
	ring->aux_mark = watermark ? watermark : bytes / 2;
	ring->aux_head = ring->aux_marked = 0;
}

/* How much the hardware may write: nothing when the reader's tail is a whole area behind, or further. */
static uint64_t aux_space(const struct fake_ring *ring)
{
	uint64_t tail;

	if (ring->aux_overwrite)
		return UINT64_MAX;
	tail = load_tail(&ring->page->aux_tail);
	return ring->aux_head - tail < ring->aux_bytes ? space(ring->aux_head, tail, ring->aux_bytes) : 0;
}

static void announce(struct fake_ring *ring, const struct fake_writer *by, uint64_t at, uint64_t size, uint64_t flags)
{
	unsigned char record[32 + 8 * TRAILER_MAX];
	struct perf_event_header header = {PERF_RECORD_AUX, 0, (uint16_t)(32 + 8 * by->trailer_count)};
	uint64_t body[3] = {at, size, flags};

	memcpy(record, &header, 8);
	memcpy(record + 8, body, 24);
	if (by->trailer_count)
		memcpy(record + 32, by->trailer, 8 * by->trailer_count);
	fake_ring_write(ring, by, record, header.size);
}

size_t fake_ring_aux(struct fake_ring *ring, const struct fake_writer *by, const void *bytes, size_t size, uint64_t flags)
{
	uint64_t room = aux_space(ring), at = ring->aux_head;
	size_t fits = size > room ? (size_t)room : size;

	if (!room) { /* the hardware does not even start, and there is nothing to say */
		ring->woken = true;
		return 0;
	}
	put(ring->aux, ring->aux_bytes, at, bytes, fits);
	ring->aux_head += fits;
	flags |= fits < size ? PERF_AUX_FLAG_TRUNCATED : 0;
	flags |= ring->aux_overwrite ? PERF_AUX_FLAG_OVERWRITE : 0;
	if (fits || (flags & ~(uint64_t)PERF_AUX_FLAG_OVERWRITE))
		announce(ring, by, at, fits, flags);
	publish(&ring->page->aux_head, ring->aux_head);
	if (!ring->aux_overwrite && ring->aux_head - ring->aux_marked >= ring->aux_mark) {
		ring->aux_marked = ring->aux_head / ring->aux_mark * ring->aux_mark;
		ring->woken = true;
	}
	ring->woken |= !!(flags & PERF_AUX_FLAG_TRUNCATED);
	return fits;
}
