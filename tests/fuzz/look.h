/* SPDX-License-Identifier: MIT */
/* Looks at all that a recording has: each record decoded, as text, its layout; events; sections field by field. */
#ifndef TESTS_LOOK_H
#define TESTS_LOOK_H

#include "fuzz.h"

#include <perfev/reader.h>

static inline void look_at_record(const struct perfev_reader *reader, const struct perfev_record *record)
{
	const struct perfev_layout *layout = perfev_reader_layout(reader, record);
	struct perfev_user user;
	struct perfev_any any;
	uint64_t time;

	touch(record->data, record->flags & PERFEV_RECORD_BROKEN ? 8 : record->size);
	touch(record->tail.data, record->tail.size);
	if (record->flags & PERFEV_RECORD_BROKEN)
		return;
	if (record->type >= PERFEV_RECORD_USER_FIRST) {
		char text[256];

		perfev_user_decode(&user, record, NULL);
		perfev_user_format(text, sizeof(text), record, NULL);
		return;
	}
	perfev_any_decode(&any, record, layout, NULL);
	if (layout)
		perfev_record_time(record, layout, &time);
}

static inline void look_at_section(unsigned feature, struct perfev_bytes section, bool swapped, uint32_t cpus)
{
	struct perfev_feature_walk walk;
	struct perfev_feature_field field;

	perfev_feature_begin(&walk, feature, section, swapped, cpus);
	while (perfev_feature_next(&walk, &field, NULL) > 0) {
		touch(field.text, field.text ? strlen(field.text) + 1 : 0);
		touch(field.bytes.data, field.bytes.size);
	}
}

static inline void look_at_sections(const struct perfev_reader *reader)
{
	struct perfev_reader_event_info event;
	struct perfev_reader_info info;
	struct perfev_bytes section;
	unsigned i;

	perfev_reader_describe(reader, &info);
	for (i = 0; i < PERFEV_FEATURE_COUNT; i++)
		if (perfev_reader_feature(reader, i, &section))
			look_at_section(i, section, info.swapped, 8);
	for (i = 0; perfev_reader_event_at(reader, i, &event); i++) {
		touch(event.attr, event.attr->size);
		touch(event.name, strlen(event.name) + 1);
		touch(event.ids, event.id_count * 8);
	}
}

/* Return: how many records there were. */
static inline uint64_t look_at_all(struct perfev_reader *reader)
{
	struct perfev_record record;
	struct perfev_loss loss;
	uint64_t count = 0;

	while (perfev_reader_next(reader, &record, NULL) > 0) {
		look_at_record(reader, &record);
		perfev_reader_release(reader);
		count++;
	}
	look_at_sections(reader);
	perfev_reader_loss(reader, &loss);
	return count;
}

#endif
