/* SPDX-License-Identifier: MIT */
/*
 * Deferred call chains: whatever comes, each sample that was taken comes out once, and can be decoded; a frame of a
 * user part is of the thread's own cookie.
 *
 * Input: a byte of modes (1: other byte order, 2: no TID, 4: fields behind the chain); then steps, by their first byte:
 * a sample, a user part, an end of a thread, or a record of the bytes that follow.
 */
#include "fuzz.h"

#include <perfev/deferred.h>
#include <perfev/meaning.h>

struct input {
	const uint8_t *at;
	size_t left;
};

static unsigned char record_bytes[65536];
static size_t used;
static bool swap;
static uint64_t in, out;

static unsigned take(struct input *input)
{
	unsigned value = input->left ? *input->at : 0;

	input->at += input->left ? 1 : 0;
	input->left -= input->left ? 1 : 0;
	return value;
}

static void put(uint64_t value, unsigned width)
{
	unsigned char bytes[8];
	unsigned i;
	bool big = PERFEV_BIG_ENDIAN ? !swap : swap;

	for (i = 0; i < width; i++)
		bytes[i] = (unsigned char)(value >> 8 * (big ? width - 1 - i : i));
	if (used + width > sizeof(record_bytes))
		return;
	memcpy(record_bytes + used, bytes, width);
	used += width;
}

static void begin(uint32_t type, unsigned misc)
{
	used = 0;
	put(type, 4);
	put(misc, 2);
	put(0, 2);
}

static void finish(struct perfev_deferred *deferred, const struct perfev_layout *layout)
{
	struct perfev_bytes bytes = {record_bytes, used};
	const struct perfev_layout *of;
	struct perfev_record record;
	struct perfev_sample sample;
	size_t size = used;
	int r;

	used = 6;
	put(size, 2);
	if (perfev_record_from_bytes(&record, bytes, swap ? PERFEV_RECORD_SWAPPED : 0, NULL) < 0)
		return;
	r = perfev_deferred_feed(deferred, &record, layout, NULL);
	if (r == 0 && record.type == PERF_RECORD_SAMPLE)
		in++;
	while (perfev_deferred_next(deferred, &record, &of) > 0) {
		if (of != layout || perfev_sample_decode(&sample, &record, of, NULL) < 0)
			abort();
		touch(record.data, record.size);
		out++;
	}
}

static void put_chain(struct input *input, uint64_t cookie, bool deferred)
{
	unsigned count = take(input), i;

	count *= count & 1 ? 32 : 1; /* some are as large as a record */
	put((deferred ? 0 : 3) + (uint64_t)count, 8);
	for (i = 0; i < count; i++)
		put(0x1000 + i, 8);
	if (deferred)
		return;
	put(PERF_CONTEXT_USER_DEFERRED, 8);
	put(cookie, 8);
	put(7, 8); /* a third word, which makes the mark one that perf left */
}

static void make_sample(struct input *input, const struct perf_event_attr *attr, unsigned whose)
{
	unsigned count = take(input), i;

	begin(PERF_RECORD_SAMPLE, 1);
	if (attr->sample_type & PERF_SAMPLE_TID)
		put(whose & 3, 8);
	put(2 + (uint64_t)count, 8);
	for (i = 0; i < count; i++)
		put(0x2000 + i, 8);
	put(PERF_CONTEXT_USER_DEFERRED, 8);
	put(1 + (whose >> 2 & 3), 8);
	if (attr->sample_type & PERF_SAMPLE_STACK_USER)
		put(0, 8);
	if (attr->sample_type & PERF_SAMPLE_CGROUP)
		put(5, 8);
}

static void step(struct input *input, struct perfev_deferred *deferred, const struct perfev_layout *layout)
{
	const struct perf_event_attr *attr = perfev_layout_attr(layout);
	unsigned what = take(input), whose = what >> 3, i;

	switch (what & 7) {
	case 0:
	case 1:
	case 2:
		make_sample(input, attr, whose);
		break;
	case 3:
	case 4:
		begin(PERF_RECORD_CALLCHAIN_DEFERRED, 2);
		put(1 + (whose >> 2 & 3), 8);
		put_chain(input, 0, true);
		if (attr->sample_type & PERF_SAMPLE_TID)
			put(whose & 3, 8);
		break;
	case 5:
		begin(whose & 1 ? PERF_RECORD_EXIT : PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
		for (i = 0; i < 4; i++)
			put(whose >> 1 & 3, 4);
		put(0, 8);
		put(0, 8);
		break;
	case 6:
		begin(PERF_RECORD_SAMPLE, 1);
		if (attr->sample_type & PERF_SAMPLE_TID)
			put(whose & 3, 8);
		put_chain(input, 1, false);
		break;
	default:
		begin(whose & 1 ? PERF_RECORD_SAMPLE : PERF_RECORD_CALLCHAIN_DEFERRED, 1);
		for (i = 8 * (take(input) & 31); i; i--)
			put(take(input), 1);
		break;
	}
	finish(deferred, layout);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	unsigned modes = take(&input);
	struct perf_event_attr attr;
	struct perfev_deferred_opts opts = {sizeof(opts), 1};
	struct perfev_deferred_info counts;
	struct perfev_deferred *deferred;
	struct perfev_layout *layout;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.sample_type = PERF_SAMPLE_CALLCHAIN | (modes & 2 ? 0 : PERF_SAMPLE_TID) |
			   (modes & 4 ? PERF_SAMPLE_STACK_USER | PERF_SAMPLE_CGROUP : 0);
	attr.sample_id_all = attr.defer_callchain = 1;
	swap = modes & 1;
	in = out = 0;
	if (perfev_layout_new(&layout, &attr, NULL) < 0 || perfev_deferred_new(&deferred, &opts, NULL) < 0)
		abort();
	while (input.left)
		step(&input, deferred, layout);
	perfev_deferred_describe(deferred, &counts);
	if (counts.joined + counts.alone != out || out + counts.waiting != in)
		abort();
	perfev_deferred_end(deferred);
	begin(0, 0);
	used = 8;
	while (out < in) { /* what was left */
		const struct perfev_layout *of;
		struct perfev_record record;

		if (perfev_deferred_next(deferred, &record, &of) != 1)
			abort();
		out++;
	}
	perfev_deferred_free(deferred);
	perfev_layout_free(layout);
	return 0;
}
