/* SPDX-License-Identifier: MIT */
/*
 * A ring that anything may stand in: memory and heads that a kernel would never leave. Whatever it is, a pass ends,
 * each record lies in the ring or in the bounce buffer, what was handed out stays until it is given back, and the tail
 * never passes the head.
 *
 * Input: a byte of modes (1: backward), 8 of the first position; then steps, by their first byte: bytes at a place; a
 * head further on; a head that is any; a pass; a release; a record as it should be.
 */
#include "fuzz.h"

#include "capture/ring.h"

#define RING_BYTES  4096
#define HANDED_MAX  1024

struct input {
	const uint8_t *at;
	size_t left;
};

static uint64_t take(struct input *in, size_t size)
{
	uint64_t value = 0;

	size = size < in->left ? size : in->left;
	memcpy(&value, in->at, size);
	in->at += size;
	in->left -= size;
	return value;
}

static unsigned char *data;
static struct perf_event_mmap_page *page;

static bool lies_in(const void *at, size_t size, const void *from, size_t room)
{
	const unsigned char *a = at, *b = from;

	return a >= b && size <= room && a + size <= b + room;
}

/* A pass; what it gave is looked at again at its end. */
static void pass(struct ring *ring)
{
	static struct perfev_record handed[HANDED_MAX];
	size_t n = 0, i;
	int r;

	if (!ring_begin(ring))
		return;
	while ((r = ring_next(ring, &handed[n])) > 0) {
		const struct perfev_record *record = &handed[n];

		if (record->size < 8 || record->size % 8 || ++n == HANDED_MAX)
			abort();
		if (!lies_in(record->data, record->size, data, RING_BYTES) &&
		    !lies_in(record->data, record->size, ring->bounce, 65536))
			abort();
	}
	if (ring->tail != ring->head || ring_next(ring, &handed[n]) != 0)
		abort();
	for (i = 0; i < n; i++)
		touch(handed[i].data, handed[i].size);
}

static void write_bytes(struct input *in)
{
	uint64_t at = take(in, 2), size = take(in, 1), i;

	for (i = 0; i < size; i++)
		data[(at + i) & (RING_BYTES - 1)] = (unsigned char)take(in, 1);
}

static void write_record(struct input *in)
{
	struct perf_event_header header = {(uint32_t)take(in, 1), 0, (uint16_t)(8 + 8 * (take(in, 1) & 127))};
	uint64_t at = page->data_head & ~UINT64_C(7);
	unsigned i;

	for (i = 0; i < sizeof(header); i++)
		data[(at + i) & (RING_BYTES - 1)] = ((const unsigned char *)&header)[i];
	page->data_head = at + header.size;
}

static void step(struct ring *ring, struct input *in)
{
	switch (take(in, 1) % 6) {
	case 0:
		write_bytes(in);
		break;
	case 1:
		page->data_head += 8 * take(in, 2);
		break;
	case 2:
		page->data_head = take(in, 8);
		break;
	case 3:
		pass(ring);
		break;
	case 4:
		ring_release(ring);
		if (!ring->backward && page->data_tail != ring->tail)
			abort();
		break;
	default:
		write_record(in);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	struct input in = {input, size};
	struct ring ring;
	uint64_t modes = take(&in, 1);

	page = calloc(1, sizeof(*page));
	data = calloc(1, RING_BYTES);
	if (!page || !data)
		abort();
	page->data_head = page->data_tail = take(&in, 8);
	if (ring_attach(&ring, page, data, RING_BYTES, 1) < 0)
		abort();
	ring.backward = modes & 1;
	while (in.left)
		step(&ring, &in);
	pass(&ring);
	ring_unmap(&ring);
	free(page);
	free(data);
	return 0;
}
