/* SPDX-License-Identifier: MIT */
/*
 * Events of a recording: attrs of any size and byte order, their ids, their names.
 *
 * An attr entry's own size member says how many of its bytes mean something; larger ones than this
 * library knows are cut, smaller ones extended with zeros.
 */
#include "reader_base.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/load.h"
#include "decode/attr_bytes.h"
#include "decode/event_name.h"
#include "decode/layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define EVENTS_MAX 65536
#define IDS_MAX	   (1u << 24)

/* ---- ids ------------------------------------------------------------------------------------------- */

static void put_slot(struct perfev_reader *reader, uint64_t id, uint32_t slot)
{
	size_t mask = reader->id_size - 1, at = (size_t)hash_u64(id) & mask;

	while (reader->id_slots[at] && reader->id_keys[at] != id)
		at = (at + 1) & mask;
	if (!reader->id_slots[at])
		reader->id_count++;
	reader->id_slots[at] = slot;
	reader->id_keys[at] = id;
}

static int grow_ids(struct perfev_reader *reader)
{
	size_t old_size = reader->id_size, size = old_size ? old_size * 2 : 64, i;
	uint32_t *slots = reader->id_slots;
	uint64_t *keys = reader->id_keys;

	reader->id_slots = calloc(size, sizeof(*slots));
	reader->id_keys = calloc(size, sizeof(*keys));
	if (!reader->id_slots || !reader->id_keys) {
		free(reader->id_slots);
		free(reader->id_keys);
		reader->id_slots = slots;
		reader->id_keys = keys;
		return -ENOMEM;
	}
	reader->id_size = size;
	reader->id_count = 0;
	for (i = 0; i < old_size; i++)
		if (slots[i])
			put_slot(reader, keys[i], slots[i]);
	free(slots);
	free(keys);
	return 0;
}

int reader_find_id(const struct perfev_reader *reader, uint64_t id)
{
	size_t mask = reader->id_size - 1, at;

	if (!reader->id_size)
		return -1;
	for (at = (size_t)hash_u64(id) & mask; reader->id_slots[at]; at = (at + 1) & mask)
		if (reader->id_keys[at] == id)
			return (int)reader->id_slots[at] - 1;
	return -1;
}

/* In a file ids have their own bytes each, so that more of them than these are no ids. */
static size_t most_ids(const struct perfev_reader *reader)
{
	return reader->source.data && reader->source.size / 8 < IDS_MAX ? (size_t)(reader->source.size / 8)
									  : IDS_MAX;
}

int reader_add_id(struct perfev_reader *reader, size_t event, uint64_t id, struct perfev_error *err)
{
	struct reader_event *e = reader->events[event];
	uint64_t *ids;

	if (reader->id_total >= most_ids(reader))
		return reader_damage(reader, -EINVAL, PERFEV_WHY_CORRUPT, reader->info.position, err,
				     "its events have more than %zu ids", reader->id_total);
	if (reader->id_count * 2 >= reader->id_size && grow_ids(reader) < 0)
		return error_memory(err);
	ids = array_grow(e->ids, &e->id_room, e->id_count, sizeof(*ids));
	if (!ids)
		return error_memory(err);
	e->ids = ids;
	ids[e->id_count++] = id;
	reader->id_total++;
	put_slot(reader, id, (uint32_t)event + 1);
	return 0;
}

/* ---- events ------------------------------------------------------------------------------------------- */

int reader_rename(struct reader_event *event, const char *name, size_t size)
{
	char *copy = malloc(size + 1);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, name, size);
	copy[size] = 0;
	free(event->name);
	event->name = copy;
	return 0;
}

int reader_add_ids(struct perfev_reader *reader, const unsigned char *ids, size_t count, struct perfev_error *err)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < count; i++)
		r = reader_add_id(reader, reader->event_count - 1, load_u64(ids + i * 8, reader->info.swapped), err);
	return r;
}

bool reader_goes_on(const struct perfev_reader *reader, const unsigned char *attr, size_t attr_size)
{
	struct perf_event_attr next;

	if (!reader->attr_full || !reader->event_count)
		return false;
	memset(&next, 0, sizeof(next));
	attr_from_bytes(&next, attr, attr_size, reader->info.swapped);
	return !memcmp(&next, &reader->events[reader->event_count - 1]->attr, sizeof(next));
}

/* Where ids are must be the same for all events, or records could not be told apart. */
static void note_positions(struct perfev_reader *reader, const struct perfev_layout *layout)
{
	if (!layout)
		return;
	if (!reader->sample_id)
		reader->sample_id = layout->sample_id;
	if (!reader->trailer_id)
		reader->trailer_id = layout->trailer_id;
}

static int make_event(struct reader_event **ret, const unsigned char *attr, size_t attr_size,
		      bool swapped)
{
	struct reader_event *event = calloc(1, sizeof(*event));
	char name[96];
	size_t used;

	if (!event)
		return -ENOMEM;
	attr_from_bytes(&event->attr, attr, attr_size, swapped);
	if (event->attr.type > PERF_TYPE_BREAKPOINT) /* of a PMU of that machine: as perf has it */
		snprintf(name, sizeof(name), "unknown attr type: %u", event->attr.type);
	else
		event_name_format(name, sizeof(name), &event->attr);
	used = strlen(name);
	if (event->attr.type != PERF_TYPE_TRACEPOINT && event->attr.type <= PERF_TYPE_BREAKPOINT)
		event_name_modifiers(name + used, sizeof(name) - used, &event->attr);
	if (reader_rename(event, name, strlen(name)) < 0) {
		free(event);
		return -ENOMEM;
	}
	*ret = event;
	return 0;
}

int reader_add_event(struct perfev_reader *reader, const unsigned char *attr, size_t attr_size,
		     const unsigned char *ids, size_t id_count, struct perfev_error *err)
{
	struct reader_event **events;
	size_t index = reader->event_count;
	int r;

	if (index >= EVENTS_MAX)
		return reader_damage(reader, -EINVAL, PERFEV_WHY_CORRUPT, reader->info.position, err,
				     "it has more than %u events", EVENTS_MAX);
	events = array_grow(reader->events, &reader->event_room, index, sizeof(*events));
	if (!events)
		return error_memory(err);
	reader->events = events;
	if (make_event(&events[index], attr, attr_size, reader->info.swapped) < 0)
		return error_memory(err);
	reader->event_count++;
	r = perfev_layout_new(&events[index]->layout, &events[index]->attr, err);
	if (r == -ENOMEM)
		return r;
	note_positions(reader, events[index]->layout);
	return reader_add_ids(reader, ids, id_count, err);
}

/* The attr table: entries of @entry_size bytes, an attr and {offset, size} of its ids. */
int reader_read_attrs(struct perfev_reader *reader, uint64_t offset, uint64_t size,
		      uint64_t entry_size, struct perfev_error *err)
{
	bool swapped = reader->info.swapped;
	uint64_t at;

	for (at = offset; at < offset + size && entry_size <= offset + size - at; at += entry_size) {
		const unsigned char *entry = source_at(&reader->source, at, entry_size), *ids;
		uint64_t ids_offset, ids_size;
		int r;

		if (!entry)
			return reader_damage(reader, -EINVAL, PERFEV_WHY_TRUNCATED, at, err,
					     "its table of events ends at 0x%llx, behind the end of the file",
					     (unsigned long long)(offset + size));
		ids_offset = load_u64(entry + entry_size - 16, swapped);
		ids_size = load_u64(entry + entry_size - 8, swapped) & ~UINT64_C(7);
		ids = source_at(&reader->source, ids_offset, ids_size);
		if (!ids)
			return reader_damage(reader, -EINVAL, PERFEV_WHY_CORRUPT, at, err,
					     "the ids of its event %zu are outside of the file",
					     reader->event_count);
		r = reader_add_event(reader, entry, (size_t)entry_size - 16, ids, (size_t)ids_size / 8,
				     err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* EVENT_DESC: u32 number, u32 attr size, then {attr, u32 ids, name, ids} each. Its names are taken for
 * the events of the same place in the table, and its ids, where the table had none. */
int reader_take_event_desc(struct perfev_reader *reader, struct perfev_error *err)
{
	const struct reader_section *section = &reader->features[PERFEV_FEATURE_EVENT_DESC];
	struct perfev_bytes all = section->bytes;
	bool swapped = reader->info.swapped;
	const unsigned char *data = all.data;
	uint32_t count, attr_size, i, k;
	size_t at = 8;

	if (!section->there || all.size < 8)
		return 0;
	count = load_u32(data, swapped);
	attr_size = load_u32(data + 4, swapped);
	for (i = 0; i < count; i++) {
		struct perfev_bytes rest;
		const char *name;
		bool had_ids;
		uint32_t ids;
		int r;

		if (attr_size > all.size - at || all.size - at - attr_size < 4)
			return 0;
		if (i >= reader->event_count) {
			if (attr_size < PERF_ATTR_SIZE_VER0)
				return 0;
			r = reader_add_event(reader, data + at, attr_size, NULL, 0, err);
			if (r < 0)
				return r;
		}
		at += attr_size;
		ids = load_u32(data + at, swapped);
		at += 4;
		rest.data = data + at;
		rest.size = all.size - at;
		name = perfev_feature_string(rest, swapped);
		if (!name)
			return 0;
		if (reader_rename(reader->events[i], name, strlen(name)) < 0)
			return error_memory(err);
		reader->events[i]->named = true;
		at += 4 + load_u32(data + at, swapped);
		if (ids > (all.size - at) / 8)
			return 0;
		had_ids = reader->events[i]->id_count > 0;
		for (k = 0; k < ids && !had_ids; k++) {
			r = reader_add_id(reader, i, load_u64(data + at + k * 8, swapped), err);
			if (r < 0)
				return r;
		}
		at += (size_t)ids * 8;
	}
	return 0;
}

/* ---- whose record it is --------------------------------------------------------------------------------- */

int perfev_reader_event(const struct perfev_reader *reader, const struct perfev_record *record)
{
	const unsigned char *data = record->data;
	size_t at;

	if (record->type >= PERFEV_RECORD_USER_FIRST || reader->event_count == 0)
		return -1;
	if (reader->event_count == 1)
		return 0;
	if (record->type == PERF_RECORD_SAMPLE) {
		at = reader->sample_id;
	} else {
		at = reader->trailer_id;
		if (at)
			at = record->size >= 8 + at ? record->size - at : SIZE_MAX - 8;
	}
	if (!at)
		return 0; /* no ids: all belongs to the first */
	if (at + 8 > record->size)
		return -1;
	return reader_find_id(reader, load_u64(data + at, reader->info.swapped));
}

/* Records that tools put in have id 0; they have the layout of the first event. */
const struct perfev_layout *perfev_reader_layout(const struct perfev_reader *reader,
						 const struct perfev_record *record)
{
	int event = perfev_reader_event(reader, record);

	if (event >= 0)
		return reader->events[event]->layout;
	if (reader->event_count == 0 || record->type >= PERFEV_RECORD_USER_FIRST ||
	    record->type == PERF_RECORD_SAMPLE)
		return NULL;
	return reader->events[0]->layout;
}
