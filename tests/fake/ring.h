/* SPDX-License-Identifier: MIT */
/*
 * The writer's side of a ring, as the kernel has it: every test that reads a ring has this one write it.
 *
 * Positions run freely from 0 and are never reduced. The kernel goes by its own copies of the heads: what a reader
 * writes there does nothing, and of the reader it sees the tails only. A record that has no room is dropped and
 * counted; the next one that has room for both comes behind a LOST record. The AUX area is a second ring of bare
 * bytes, announced by PERF_RECORD_AUX in the first.
 */
#ifndef TESTS_FAKE_RING_H
#define TESTS_FAKE_RING_H

#include <perfev/abi.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fake_ring {
	struct perf_event_mmap_page *page; /* NULL: not mapped */
	unsigned char *data;
	uint64_t bytes; /* of data, a power of two */
	uint64_t head;
	uint64_t dropped; /* since the last LOST record */
	uint64_t mark;	  /* a wake-up each so many bytes; 0: never */
	uint64_t marked;  /* up to here such wake-ups came */
	uint32_t wakeup_events, samples; /* a wake-up each so many samples; 0: never; those since the last */
	bool backward, paused;
	bool woken; /* a reader that polls would wake: cleared by who polls */

	unsigned char *aux; /* NULL: not mapped */
	uint64_t aux_bytes;
	uint64_t aux_head;
	uint64_t aux_mark, aux_marked;
	bool aux_overwrite; /* nobody waits for aux_tail */
};

/* Who writes: what is in records that the kernel writes by itself. */
struct fake_writer {
	uint64_t id;
	const uint64_t *trailer; /* words, or NULL */
	size_t trailer_count;
};

void fake_ring_init(struct fake_ring *ring, struct perf_event_mmap_page *page, unsigned char *data, uint64_t bytes);
/* fake_ring_start_at() - as if so much had been written and read already */
void fake_ring_start_at(struct fake_ring *ring, uint64_t position);
/* fake_ring_write() - a record, with what a full ring lost before it; false when it is dropped */
bool fake_ring_write(struct fake_ring *ring, const struct fake_writer *by, const void *record, size_t size);
/* fake_ring_force() - bytes, whether there is room or not: what no kernel does */
void fake_ring_force(struct fake_ring *ring, const void *bytes, size_t size);

void fake_ring_init_aux(struct fake_ring *ring, unsigned char *aux, uint64_t bytes, uint64_t watermark);
/* fake_ring_aux() - trace data and the record that announces it; what has no room is cut, and said to be
 * (PERF_AUX_FLAG_TRUNCATED). Return: the bytes written. The caller disables the event when that is less than @size. */
size_t fake_ring_aux(struct fake_ring *ring, const struct fake_writer *by, const void *bytes, size_t size, uint64_t flags);

#endif
