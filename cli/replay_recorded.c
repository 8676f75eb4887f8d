/* SPDX-License-Identifier: MIT */
/*
 * What simpleperf wrote down on the machine itself, in sections of their own: files with their symbols, and what was mapped
 * when it began.
 */
#include "cli.h"

static void feed_files(const struct replay *replay, unsigned feature, bool swapped)
{
	struct perfev_recorded_file file;
	struct perfev_bytes bytes;
	size_t position = 0;

	if (!perfev_reader_feature(replay->reader, feature, &bytes))
		return;
	while (perfev_feature_file(&file, bytes, feature, swapped, &position, NULL) > 0)
		perfev_symbols_recorded(replay->symbols, &file, NULL);
}

/* Records, one behind the other, of the first event. */
static void feed_maps(const struct replay *replay, bool swapped)
{
	struct perfev_reader_event_info event;
	struct perfev_record record;
	struct perfev_bytes rest;

	if (!perfev_reader_feature(replay->reader, PERFEV_FEATURE_SIMPLEPERF_INIT_MAP, &rest) ||
	    !perfev_reader_event_at(replay->reader, 0, &event))
		return;
	while (perfev_record_from_bytes(&record, rest, swapped ? PERFEV_RECORD_SWAPPED : 0, NULL) == 0) {
		perfev_symbols_feed(replay->symbols, &record, event.layout, NULL);
		rest.data = (const unsigned char *)rest.data + record.size;
		rest.size -= record.size;
	}
}

void replay_feed_recorded(const struct replay *replay)
{
	struct perfev_reader_info info;

	perfev_reader_describe(replay->reader, &info);
	feed_files(replay, PERFEV_FEATURE_SIMPLEPERF_FILE, info.swapped);
	feed_files(replay, PERFEV_FEATURE_SIMPLEPERF_FILE2, info.swapped);
	feed_maps(replay, info.swapped);
}
