/* SPDX-License-Identifier: MIT */
/* Iterating a ring and decoding its records, warm and in memory, against a memcpy of the same bytes. */
#include "bench.h"

#include "capture/ring.h"

#include <perfev/record.h>

#include <string.h>

#define RING (512 * 1024)

struct work {
	struct perf_event_mmap_page page;
	unsigned char *data;
	unsigned char *copy;
	struct ring ring;
	struct perfev_layout *layout;
	size_t record_size;
	int records;
	uint64_t sum;
};

/* A ring full of the same sample. */
static void fill(struct work *w, uint64_t sample_type, uint64_t chain, uint64_t stack)
{
	struct perf_event_attr attr;
	struct perf_event_header header = {PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, 0};
	uint64_t words[2048];
	size_t size = 8, n = 0, at;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.sample_type = sample_type;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	perfev_layout_new(&w->layout, &attr, NULL);
	memset(words, 0x11, sizeof(words));
	for (at = 0; at < 10; at++)
		n += sample_type >> at & 1 && at != 4 && at != 5;
	if (sample_type & PERF_SAMPLE_READ)
		n += 3;
	if (sample_type & PERF_SAMPLE_CALLCHAIN) {
		words[n++] = chain;
		n += chain;
	}
	if (sample_type & PERF_SAMPLE_STACK_USER) {
		words[n] = stack;
		words[n + 1 + stack / 8] = stack;
		n += 2 + stack / 8;
	}
	size += n * 8;
	header.size = (uint16_t)size;
	w->record_size = size;
	w->records = (int)(RING / size) - 1;
	for (at = 0; at < (size_t)w->records; at++) {
		memcpy(w->data + at * size, &header, 8);
		memcpy(w->data + at * size + 8, words, size - 8);
	}
	w->page.data_head = size * (size_t)w->records;
	w->page.data_tail = 0;
	ring_attach(&w->ring, &w->page, w->data, RING, 0);
}

static void rewind_ring(struct work *w)
{
	w->ring.tail = w->ring.given = 0;
	ring_begin(&w->ring);
}

static void iterate(void *work, int count)
{
	struct work *w = work;
	struct perfev_record record;

	while (count > 0) {
		rewind_ring(w);
		while (count > 0 && ring_next(&w->ring, &record) > 0) {
			w->sum += record.size;
			count--;
		}
	}
}

static void decode(void *work, int count)
{
	struct work *w = work;
	struct perfev_record record;
	struct perfev_sample sample;

	while (count > 0) {
		rewind_ring(w);
		while (count > 0 && ring_next(&w->ring, &record) > 0) {
			perfev_sample_decode(&sample, &record, w->layout, NULL);
			w->sum += sample.ip;
			count--;
		}
	}
}

static void copy(void *work, int count)
{
	struct work *w = work;
	int i;

	for (i = 0; i < count; i++)
		memcpy(w->copy, w->data + (size_t)(i % w->records) * w->record_size, w->record_size);
}

static void row(struct work *w, const char *name, uint64_t sample_type, uint64_t chain, uint64_t stack)
{
	fill(w, sample_type, chain, stack);
	bench_pair(name, "memcpy of a record", decode, copy, w, w->records * 20);
	perfev_layout_free(w->layout);
	free(w->ring.bounce);
}

int main(void)
{
	static struct work w;
	const uint64_t ids = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;

	w.data = malloc(RING);
	w.copy = malloc(1 << 16);
	if (!w.data || !w.copy)
		return 1;
	fill(&w, ids, 0, 0);
	bench_row("iterate, a record", iterate, &w, w.records * 20);
	perfev_layout_free(w.layout);
	free(w.ring.bounce);
	row(&w, "decode ip, tid, time", ids, 0, 0);
	row(&w, "decode all ids, period, addr, read",
	    ids | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_STREAM_ID |
		    PERF_SAMPLE_READ,
	    0, 0);
	row(&w, "decode with a call chain of 3", ids | PERF_SAMPLE_CALLCHAIN, 3, 0);
	row(&w, "decode with a stack of 8 KiB", ids | PERF_SAMPLE_STACK_USER, 0, 8192);
	free(w.data);
	free(w.copy);
	return w.sum == 0;
}
