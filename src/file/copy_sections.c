/* SPDX-License-Identifier: MIT */
/*
 * The sections of a copy. Those of the original are copied as they are, but for the offsets in the index of traces. When
 * the recorder was killed there may be none: then those are made that events and records tell, if that is wanted.
 */
#include "copy_sections.h"
#include "reader_base.h"

#include "base/load.h"

#include <errno.h>

#define STRING_STEP 64
#define PAGE	    4096

/* ---- what records tell ------------------------------------------------------------------------------------------------ */

void copy_note_payload(struct copy *c)
{
	if (c->payload > c->payload_max)
		c->payload_max = c->payload;
	c->payload = 0;
}

static void note_time(struct copy *c, const struct perfev_record *record)
{
	const struct perfev_layout *layout = perfev_reader_layout(c->reader, record);
	uint64_t time;

	if (!layout || !perfev_record_time(record, layout, &time))
		return;
	if (!c->first_time || time < c->first_time)
		c->first_time = time;
	if (time > c->last_time)
		c->last_time = time;
}

int copy_learn(struct copy *c, const struct perfev_record *record)
{
	if (!c->opts.rebuild)
		return 0;
	if (record->flags & PERFEV_RECORD_INNER)
		c->payload += record->size;
	if (record->type == PERF_RECORD_SAMPLE)
		note_time(c, record);
	if (record->type == PERFEV_RECORD_COMPRESSED || record->type == PERFEV_RECORD_COMPRESSED2)
		c->compressed = true;
	if (record->type != PERFEV_RECORD_AUXTRACE)
		return 0;
	return copy_append(c, &c->traces, c->data_offset + c->written, 8) < 0 ? -ENOMEM
									       : copy_append(c, &c->traces, record->size, 8);
}

/* ---- sections that are made --------------------------------------------------------------------------------------------- */

static int put_string(const struct copy *c, struct buffer *to, const char *text)
{
	size_t size = strlen(text) + 1, padded = (size + STRING_STEP - 1) / STRING_STEP * STRING_STEP;
	unsigned char *at;

	if (copy_append(c, to, padded, 4) < 0)
		return -ENOMEM;
	at = buffer_extend(to, padded);
	if (!at)
		return -ENOMEM;
	memcpy(at, text, size);
	return 0;
}

static int make_event_desc(const struct copy *c, struct buffer *to)
{
	const struct perfev_reader *reader = c->reader;
	uint64_t attr_size = reader->entry_size - 16;
	size_t count = (size_t)(c->attrs_size / reader->entry_size), i, k;
	int r;

	if (copy_append(c, to, count, 4) < 0 || copy_append(c, to, attr_size, 4) < 0)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		const struct reader_event *event = reader->events[i];
		const unsigned char *attr = source_at(&reader->source, reader->attrs_offset + i * reader->entry_size, attr_size);

		if (!attr || buffer_append(to, attr, (size_t)attr_size) < 0 ||
		    copy_append(c, to, event->id_count, 4) < 0 || put_string(c, to, event->name) < 0)
			return -ENOMEM;
		for (k = 0; k < event->id_count; k++) {
			r = copy_append(c, to, event->ids[k], 8);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

static int make_compressed(const struct copy *c, struct buffer *to)
{
	uint64_t room = (c->payload_max + 65536 + PAGE) / PAGE * PAGE; /* with a rest of the one before */
	const uint64_t words[] = {0, CODEC_ZSTD, 1, 1, room < 528384 ? 528384 : room};
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < sizeof(words) / sizeof(words[0]); i++)
		r = copy_append(c, to, words[i], 4);
	return r;
}

static int make_auxtrace(const struct copy *c, struct buffer *to)
{
	int r = copy_append(c, to, c->traces.size / 16, 8);

	return r < 0 ? r : buffer_append(to, c->traces.data, c->traces.size);
}

static int make_sample_time(const struct copy *c, struct buffer *to)
{
	int r = copy_append(c, to, c->first_time, 8);

	return r < 0 ? r : copy_append(c, to, c->last_time, 8);
}

/* Return: 1 it was made; 0 there is nothing to make it of. */
static int make(const struct copy *c, unsigned feature, struct buffer *to)
{
	int r;

	if (!c->opts.rebuild)
		return 0;
	if (feature == PERFEV_FEATURE_EVENT_DESC && c->attrs_size)
		r = make_event_desc(c, to);
	else if (feature == PERFEV_FEATURE_SAMPLE_TIME && c->last_time)
		r = make_sample_time(c, to);
	else if (feature == PERFEV_FEATURE_COMPRESSED && c->compressed && !c->expands)
		r = make_compressed(c, to);
	else if (feature == PERFEV_FEATURE_AUXTRACE && c->traces.size)
		r = make_auxtrace(c, to);
	else
		return 0;
	return r < 0 ? r : 1;
}

/* ---- sections that are there ---------------------------------------------------------------------------------------------- */

/* {offset, size} each, behind their number or, of simpleperf, behind nothing: the records have moved. */
static int move_auxtrace(const struct copy *c, const struct reader_section *section, struct buffer *to)
{
	size_t from = to->size, at;
	bool swapped = c->reader->info.swapped;
	int r = buffer_append(to, section->bytes.data, section->bytes.size);

	if (r < 0)
		return r;
	for (at = from + (section->bytes.size % 16 ? 8 : 0); at + 16 <= to->size; at += 16) {
		uint64_t offset = load_u64(to->data + at, swapped);

		if (offset >= c->reader->info.data_offset && offset < c->reader->end)
			copy_put(c, to->data + at, offset - c->reader->info.data_offset + c->data_offset, 8);
	}
	return 0;
}

/* Return: 1 there is such a section now; 0; -ENOMEM */
static int put_section(struct copy *c, unsigned feature, struct buffer *to)
{
	const struct reader_section *section = &c->reader->features[feature];
	int r;

	if (c->expands && (feature == PERFEV_FEATURE_COMPRESSED || feature == PERFEV_FEATURE_DIR_FORMAT))
		return 0;
	if (!section->there) {
		r = make(c, feature, to);
		c->info.rebuilt += r > 0;
		return r;
	}
	if (feature == PERFEV_FEATURE_AUXTRACE)
		r = move_auxtrace(c, section, to);
	else
		r = buffer_append(to, section->bytes.data, section->bytes.size);
	return r < 0 ? r : 1;
}

int copy_sections(struct copy *c, struct buffer *tail)
{
	uint64_t sizes[PERFEV_FEATURE_COUNT] = {0}, at = c->output.offset;
	struct buffer bytes = {NULL, 0, 0, 0};
	unsigned i;
	int r = 0;

	for (i = 0; r >= 0 && i < PERFEV_FEATURE_COUNT; i++) {
		size_t before = bytes.size;

		r = put_section(c, i, &bytes);
		if (r <= 0)
			continue;
		c->bitmap[i / 64] |= UINT64_C(1) << i % 64;
		sizes[i] = bytes.size - before;
		at += 16;
	}
	for (i = 0; r >= 0 && i < PERFEV_FEATURE_COUNT; i++) {
		if (!(c->bitmap[i / 64] >> i % 64 & 1))
			continue;
		r = copy_append(c, tail, at, 8);
		if (r >= 0)
			r = copy_append(c, tail, sizes[i], 8);
		at += sizes[i];
	}
	if (r >= 0)
		r = buffer_append(tail, bytes.data, bytes.size);
	buffer_free(&bytes);
	return r < 0 ? r : 0;
}
