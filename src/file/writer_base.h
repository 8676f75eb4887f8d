/* SPDX-License-Identifier: MIT */
#ifndef FILE_WRITER_BASE_H
#define FILE_WRITER_BASE_H

#include "output.h"

#include "base/buffer.h"

#include <perfev/reader.h>
#include <perfev/writer.h>

#define PIECES_MAX 256

struct writer_event {
	char *name;
	struct perf_event_attr attr;
	uint64_t *ids;
	size_t id_count;
};

struct perfev_writer {
	struct output output;
	char *path;
	bool started, finished;
	struct writer_event *events;
	size_t event_count, event_room;
	uint32_t attr_size; /* of all events: the smallest that holds each */
	uint64_t attrs_offset, data_offset;
	struct perfev_bytes pieces[PIECES_MAX];
	size_t piece_count;
	unsigned char round[8]; /* a FINISHED_ROUND record */
	struct buffer traces;	/* of each AUXTRACE record: where it is, and its size */
	struct {
		struct buffer bytes;
		bool set;
	} features[PERFEV_FEATURE_COUNT];
};

/* writer_base.c: fills @err for a call that failed with @r, and returns that */
int writer_failed(const struct perfev_writer *writer, int r, struct perfev_error *err);
/* writer_base.c: one attr, in the size of all; the header of a record, zero but for type and size */
int writer_put_attr(const struct perfev_writer *writer, struct buffer *to,
		    const struct writer_event *event);
int writer_put_record(struct buffer *to, uint32_t type, size_t size);

/* writer_feature.c: EVENT_DESC; all sections that there are, into a stream; into the end of a file */
int writer_describe_events(struct perfev_writer *writer);
int writer_stream_features(struct perfev_writer *writer, struct perfev_error *err);
int writer_build_features(struct perfev_writer *writer, struct buffer *tail);

#endif
