/* SPDX-License-Identifier: MIT */
/* A ring of the fake kernel, with who writes it and who reads it. */
#ifndef TESTS_UNIT_RING_WRITER_H
#define TESTS_UNIT_RING_WRITER_H

#include "bytes.h"
#include "test.h"

#include "capture/ring.h"
#include "fake/ring.h"

/* A ring, who writes it, and who reads it. */
struct writer {
	struct perf_event_mmap_page *page;
	unsigned char *data, *memory;
	uint64_t size;
	struct fake_ring kernel;
	uint64_t records;
	uint64_t lost_said; /* in LOST records */
	uint64_t seed;
	struct ring ring;
};

static const struct fake_writer event = {77, NULL, 0};
static uint64_t number_of_record;

/* @shift: data may begin at any address. */
static inline void writer_open_at(struct writer *w, uint64_t size, uint64_t start, size_t shift)
{
	memset(w, 0, sizeof(*w));
	w->page = calloc(1, sizeof(*w->page));
	w->memory = malloc(size + shift); /* exact: a sanitizer sees what is behind it */
	assert_non_null(w->page);
	assert_non_null(w->memory);
	w->data = w->memory + shift;
	memset(w->data, 0xee, size);
	w->size = size;
	w->seed = 88172645463325252u;
	fake_ring_init(&w->kernel, w->page, w->data, size);
	fake_ring_start_at(&w->kernel, start);
	assert_int_equal(ring_attach(&w->ring, w->page, w->data, size, 5), 0);
}

static inline void writer_open(struct writer *w, uint64_t size, uint64_t start)
{
	writer_open_at(w, size, start, 0);
}

static inline void writer_close(struct writer *w)
{
	ring_unmap(&w->ring);
	free(w->page);
	free(w->memory);
}

/* Bytes at any place, as no kernel writes them. */
static inline void put(struct writer *w, uint64_t at, const void *bytes, size_t size)
{
	const unsigned char *from = bytes;
	size_t i;

	for (i = 0; i < size; i++)
		w->data[(at + i) & (w->size - 1)] = from[i];
}

/* One record: its body counts up from its number. */
static inline const unsigned char *make_record(uint16_t size, uint64_t number)
{
	static unsigned char bytes[65536];
	struct perf_event_header header = {PERF_RECORD_SAMPLE, 2, size};
	uint16_t i;

	memcpy(bytes, &header, sizeof(header));
	for (i = 8; i < size; i = (uint16_t)(i + 8)) {
		uint64_t word = number + i;

		memcpy(bytes + i, &word, 8);
	}
	return bytes;
}

static inline bool write_record(struct writer *w, uint16_t size)
{
	uint64_t dropped = w->kernel.dropped;

	if (!fake_ring_write(&w->kernel, &event, make_record(size, (number_of_record + 1) * 1000000), size))
		return false;
	number_of_record++;
	w->lost_said += dropped;
	w->records++;
	return true;
}

/* A record of write_record(): its number, or 0 for a LOST record. */
static inline uint64_t check_record(const struct perfev_record *record)
{
	const unsigned char *data = record->data;
	uint64_t word, number = 0;
	uint32_t i;

	assert_int_equal(record->source, 5);
	assert_int_equal(record->flags, 0);
	assert_null(record->tail.data);
	if (record->type == PERF_RECORD_LOST)
		return 0;
	assert_int_equal(record->type, PERF_RECORD_SAMPLE);
	assert_int_equal(record->misc, 2);
	for (i = 8; i < record->size; i += 8) {
		memcpy(&word, data + i, 8);
		assert_int_equal(word % 1000000, i);
		assert_true(!number || number == word / 1000000);
		number = word / 1000000;
	}
	return number;
}

#endif
