/* SPDX-License-Identifier: MIT */
/* Copying a trace out of an AUX area, piece by piece with the records that announce it, against memcpy of the same. */
#include "capture/tracer.c"

#include "bench.h"

#define RING  (64 * 1024)
#define AREA  (4u << 20)
#define PIECE (64u << 10)
#define COUNT (AREA / PIECE)

static struct perf_event_mmap_page page;
static unsigned char ring_data[RING], *area_data, *to;
static struct perfev_sampler sampler;
static struct perfev_tracer tracer;

/* The ring holds a record for each piece of the area. */
static void fill(void)
{
	uint32_t i;

	for (i = 0; i < COUNT; i++) {
		struct perf_event_header header = {PERF_RECORD_AUX, 0, 32};
		uint64_t words[3] = {(uint64_t)i * PIECE, PIECE, 0};

		memcpy(ring_data + i * 32, &header, 8);
		memcpy(ring_data + i * 32 + 8, words, 24);
	}
	page.data_head = COUNT * 32;
	page.aux_head = AREA;
}

static void rewind_all(void)
{
	struct ring *ring = &sampler.rings[0];
	struct area *area = &tracer.areas[0];

	ring->tail = ring->given = ring->head = 0;
	page.data_tail = page.aux_tail = 0;
	area->tail = area->given = 0;
	area->begun = false;
	sampler.current = 0;
	sampler.in_ring = false;
}

static void copy_trace(void *unused, int count)
{
	struct perfev_chunk chunk;

	(void)unused;
	while (count > 0) {
		rewind_all();
		while (count > 0 && perfev_tracer_next(&tracer, &chunk, NULL) > 0) {
			memcpy(to, chunk.part[0].data, chunk.part[0].size);
			memcpy(to + chunk.part[0].size, chunk.part[1].data, chunk.part[1].size);
			count--;
		}
		perfev_tracer_release(&tracer);
	}
}

static void copy_only(void *unused, int count)
{
	int i;

	(void)unused;
	for (i = 0; i < count; i++)
		memcpy(to, area_data + (uint32_t)i % COUNT * PIECE, PIECE);
}

int main(void)
{
	area_data = malloc(AREA);
	to = malloc(PIECE);
	if (!area_data || !to)
		return 1;
	memset(area_data, 0x55, AREA);
	sampler.ring_count = 1;
	sampler.rings = calloc(1, sizeof(*sampler.rings));
	tracer.areas = calloc(1, sizeof(*tracer.areas));
	fill();
	ring_attach(&sampler.rings[0], &page, ring_data, RING, 0);
	tracer.sampler = &sampler;
	tracer.aux_bytes = AREA;
	tracer.stopped = true;
	tracer.areas[0].page = &page;
	tracer.areas[0].data = area_data;
	bench_pair("copy out a trace, 64 KiB", "memcpy", copy_trace, copy_only, NULL, COUNT * 8);
	return 0;
}
