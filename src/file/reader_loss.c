/* SPDX-License-Identifier: MIT */
/*
 * What a recording says was lost.
 *
 * Two sources count the same drops of a ring: LOST records, which the kernel puts into it, and the counts
 * of PERF_FORMAT_LOST, which recorders put at the end as LOST_SAMPLES records without a time, one an id.
 * So for each ring the larger is the loss. LOST_SAMPLES with a time are the kernel's own: lost before they
 * came to the ring. Which ring an id belongs to is in the ID_INDEX records; without an id, the CPU tells; and
 * where neither is there (a recording of one event), only the sums over all rings can be compared.
 */
#include "reader_base.h"

#include "base/error.h"
#include "base/load.h"

#include <errno.h>
#include <stdlib.h>

#define RINGS_MAX 65536
#define IDS_MAX	  (1u << 24)

/* The ring of a number, made when it is new; NULL without memory. */
static struct reader_ring *get_ring(struct perfev_reader *reader, uint64_t number)
{
	struct reader_loss *loss = &reader->loss;
	const uint64_t *index = map_find(&loss->numbers, number);
	struct reader_ring *rings;

	if (index)
		return &loss->rings[*index];
	if (loss->count >= RINGS_MAX)
		return &loss->rings[0]; /* no machine has so many: the sums stay right */
	rings = array_grow(loss->rings, &loss->room, loss->count, sizeof(*rings));
	if (!rings)
		return NULL;
	loss->rings = rings;
	if (!map_put(&loss->numbers, number, loss->count))
		return NULL;
	memset(&rings[loss->count], 0, sizeof(*rings));
	return &rings[loss->count++];
}

/* ID_INDEX: u64 number, then {id, ring, cpu, tid} each. */
int reader_take_id_index(struct perfev_reader *reader, const struct perfev_record *record,
			 struct perfev_error *err)
{
	const unsigned char *at = (const unsigned char *)record->data + 16;
	bool swapped = reader->info.swapped;
	uint64_t count, i;

	if (record->size < 16)
		return 0;
	count = load_u64(at - 8, swapped);
	if (count > (record->size - 16) / 32)
		count = (record->size - 16) / 32;
	for (i = 0; i < count && reader->loss.ids.count < IDS_MAX; i++, at += 32)
		if (!map_put(&reader->loss.ids, load_u64(at, swapped), load_u64(at + 8, swapped)))
			return error_memory(err);
	return 0;
}

static uint64_t ring_of(const struct perfev_reader *reader, uint64_t id, const struct perfev_id *trailer)
{
	const uint64_t *ring = map_find(&reader->loss.ids, id);

	if (ring)
		return *ring;
	return trailer->present & PERF_SAMPLE_CPU ? trailer->cpu : 0;
}

int reader_note_loss(struct perfev_reader *reader, const struct perfev_record *record,
		     struct perfev_error *err)
{
	const struct perfev_layout *layout = perfev_reader_layout(reader, record);
	struct reader_ring *ring;
	struct perfev_any any;

	if (perfev_any_decode(&any, record, layout, NULL) < 0)
		return 0;
	if (record->type == PERF_RECORD_LOST) {
		ring = get_ring(reader, ring_of(reader, any.as.lost.id, &any.as.trailer));
		if (!ring)
			return error_memory(err);
		ring->said += any.as.lost.lost;
		return 0;
	}
	if (record->misc & PERFEV_MISC_LOST_BY_BPF) {
		reader->loss.filtered += any.as.lost_samples.lost;
		return 0;
	}
	if (!(any.as.trailer.present & PERF_SAMPLE_TIME) || any.as.trailer.time) {
		reader->loss.samples += any.as.lost_samples.lost;
		return 0;
	}
	reader->loss.exact = true;
	if (!(any.as.trailer.present & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_CPU))) {
		reader->loss.somewhere += any.as.lost_samples.lost;
		return 0;
	}
	ring = get_ring(reader, ring_of(reader, any.as.trailer.id, &any.as.trailer));
	if (!ring)
		return error_memory(err);
	ring->counted += any.as.lost_samples.lost;
	return 0;
}

void perfev_reader_loss(const struct perfev_reader *reader, struct perfev_loss *ret)
{
	size_t i;

	memset(ret, 0, sizeof(*ret));
	ret->exact = reader->loss.exact;
	ret->samples = reader->loss.samples;
	ret->filtered = reader->loss.filtered;
	for (i = 0; i < reader->loss.count; i++) {
		const struct reader_ring *ring = &reader->loss.rings[i];

		ret->said += ring->said;
		ret->counted += ring->counted;
		ret->records += ring->said > ring->counted ? ring->said : ring->counted;
	}
	if (reader->loss.somewhere) {
		ret->counted += reader->loss.somewhere;
		ret->records = ret->said > ret->counted ? ret->said : ret->counted;
	}
}
