/* SPDX-License-Identifier: MIT */
/*
 * The ring protocol.
 *
 * The kernel writes records and then moves data_head; the reader reads up to it and moves data_tail.
 * Both run freely, without regard to the size, and are compared as they are; a place in the ring is the
 * position modulo the size. Records are a multiple of 8 bytes, so their 8-byte header never straddles
 * the end, but the rest may. Between two releases less than a ring's size is handed out, so at most one
 * record straddles, and one bounce buffer is enough for all views to stay valid.
 *
 * Backward rings are never full: the head goes down, each record lies in front of the one before, and the
 * oldest are written over from their end on. They are read while the kernel's output is paused, from the head
 * upwards through as many bytes as the ring has, or as were ever written.
 *
 * Order: head is loaded with acquire before records are read, tail is stored with release after.
 */
#include "position.h"
#include "ring.h"

#include "base/load.h"
#include "kernel/sys.h"

#include <errno.h>
#include <stdlib.h>

#define RECORD_MAX 65536

int ring_attach(struct ring *ring, struct perf_event_mmap_page *page, const void *data,
		uint64_t bytes, uint32_t number)
{
	memset(ring, 0, sizeof(*ring));
	ring->bounce = malloc(RECORD_MAX);
	if (!ring->bounce)
		return -ENOMEM;
	ring->page = page;
	ring->data = data;
	ring->size = bytes;
	ring->number = number;
	ring->tail = ring->given = ring->head = page->data_tail;
	return 0;
}

int ring_map(struct ring *ring, int fd, uint64_t bytes, uint32_t number, bool backward)
{
	size_t page_size = sys_page_size();
	struct perf_event_mmap_page *page;
	void *at;
	int r;

	if (bytes > SIZE_MAX - page_size)
		return -ENOMEM;
	/* of what nobody may write the kernel knows that there is no tail to wait for */
	r = sys_mmap(&at, page_size + (size_t)bytes, !backward, fd, 0);
	if (r < 0)
		return r;
	page = at;
	/* kernels before 4.1 leave data_offset 0: the data follow the first page */
	r = ring_attach(ring, page,
			(unsigned char *)at + (page->data_offset ? page->data_offset : page_size), bytes,
			number);
	if (r < 0) {
		sys_munmap(at, page_size + (size_t)bytes);
		return r;
	}
	ring->mapped = page_size + (size_t)bytes;
	ring->pid = sys_pid();
	ring->backward = backward;
	return 0;
}

bool ring_is_here(const struct ring *ring)
{
	return ring->mapped && ring->pid == sys_pid();
}

void ring_unmap(struct ring *ring)
{
	if (ring_is_here(ring))
		sys_munmap(ring->page, ring->mapped);
	free(ring->bounce);
	memset(ring, 0, sizeof(*ring));
}

bool ring_has_data(const struct ring *ring)
{
	uint64_t head = ring->page ? load_position(&ring->page->data_head) : 0;

	return ring->page && head != (ring->backward ? ring->given : ring->tail);
}

/* All that is there, from the newest on. It began at 0, which is above every head. */
static bool begin_backward(struct ring *ring)
{
	uint64_t newest = load_position(&ring->page->data_head), written = 0 - newest;

	ring->tail = ring->given = newest;
	ring->head = newest + (written < ring->size ? written : ring->size);
	return ring->head != ring->tail;
}

uint64_t ring_filled(const struct ring *ring)
{
	uint64_t head = load_position(&ring->page->data_head);
	uint64_t filled = ring->backward ? 0 - head : head - ring->given;

	return filled < ring->size ? filled : ring->size;
}

bool ring_begin(struct ring *ring)
{
	if (!ring->page)
		return false;
	if (ring->backward)
		return begin_backward(ring);
	ring->head = load_position(&ring->page->data_head);
	return ring->head != ring->tail;
}

static const unsigned char *bounce(struct ring *ring, uint64_t at, uint32_t size)
{
	uint64_t first = ring->size - at;

	memcpy(ring->bounce, ring->data + at, (size_t)first);
	memcpy(ring->bounce + first, ring->data, size - (size_t)first);
	return ring->bounce;
}

/* Sums that must not be missed, whatever the caller does with the records. Not of a backward ring: each pass gives
 * the same records again. */
static void note_loss(struct ring *ring, const struct perfev_record *record)
{
	const unsigned char *body = (const unsigned char *)record->data + 8;

	if (ring->backward)
		return;
	if (record->type == PERF_RECORD_LOST && record->size >= 24)
		ring->lost_said += load_u64(body + 8, false);
	else if (record->type == PERF_RECORD_LOST_SAMPLES && record->size >= 16)
		ring->lost_samples += load_u64(body, false);
}

/* The size of the record at the tail; 0 for what no kernel writes: positions that are no multiples of 8
 * or further apart than the ring is large, counted from what the kernel has back; a head that went back, behind what was
 * handed out; and a size that does not fit. */
static uint32_t record_size(const struct ring *ring, uint64_t at)
{
	uint64_t left = ring->head - ring->tail;
	uint32_t size;

	if (ring->head - ring->given > ring->size || left > ring->size || left < 8 || (at & 7))
		return 0;
	size = load_u16(ring->data + at + 6, false);
	return size < 8 || (size & 7) || size > left ? 0 : size;
}

int ring_next(struct ring *ring, struct perfev_record *ret)
{
	uint64_t at = ring->tail & (ring->size - 1);
	const unsigned char *header = ring->data + at;
	uint32_t size;

	if (ring->head == ring->tail)
		return 0;
	size = record_size(ring, at);
	if (!size && ring->backward) { /* the oldest, of which a part is left */
		ring->tail = ring->head;
		return 0;
	}
	if (!size) {
		ring->tail = ring->head;
		return -EBADMSG;
	}
	ret->data = at + size > ring->size ? bounce(ring, at, size) : header;
	ret->offset = ring->tail;
	ret->tail.data = NULL;
	ret->tail.size = 0;
	ret->type = load_u32(header, false);
	ret->size = size;
	ret->source = ring->number;
	ret->misc = load_u16(header + 4, false);
	ret->flags = 0;
	ring->tail += size;
	if (ret->type == PERF_RECORD_LOST || ret->type == PERF_RECORD_LOST_SAMPLES)
		note_loss(ring, ret);
	return 1;
}

void ring_release(struct ring *ring)
{
	if (ring->backward || ring->given == ring->tail)
		return;
	ring->given = ring->tail;
	store_position(&ring->page->data_tail, ring->tail);
}
