/* SPDX-License-Identifier: MIT */
#ifndef FILE_WRITER_BASE_H
#define FILE_WRITER_BASE_H

#include "codec.h"
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

/* Compression: writer_pack.c. */
struct writer_pack {
	struct codec *codec; /* NULL: nothing is compressed */
	uint32_t level;
	unsigned char *record; /* that is being made */
	size_t used;	       /* of its payload */
	size_t given;	       /* what the codec has got for it */
	uint64_t in, out;      /* bytes, of all */
};

struct perfev_writer {
	struct output output;
	char *path;
	int kept; /* what output_keep() said */
	bool started, finished;
	struct writer_event *events;
	size_t event_count, event_room;
	uint32_t attr_size; /* of all events: the smallest that holds each */
	uint64_t attrs_offset, data_offset;
	struct perfev_bytes pieces[PIECES_MAX];
	bool packs[PIECES_MAX]; /* of each piece: it is to be compressed */
	size_t piece_count;
	struct writer_pack pack;
	enum perfev_sync sync;
	unsigned char round[8]; /* a FINISHED_ROUND record */
	struct buffer traces;	/* of each AUXTRACE record: where it is, and its size */
	struct {
		struct buffer bytes;
		uint64_t early; /* where it is in the file already; 0: nowhere */
		bool set;
	} features[PERFEV_FEATURE_COUNT];
};

/* writer_base.c: fills @err for a call that failed with @r, and returns that */
int writer_failed(const struct perfev_writer *writer, int r, struct perfev_error *err);
/* writer_base.c: one attr, in the size of all; the header of a record, zero but for type and size */
int writer_put_attr(const struct perfev_writer *writer, struct buffer *to,
		    const struct writer_event *event);
int writer_put_record(struct buffer *to, uint32_t type, size_t size);

/* writer_pack.c: begin, with the level of the options; what was noted, compressed where it is to be; the section */
int writer_pack_begin(struct perfev_writer *writer, uint32_t level, struct perfev_error *err);
int writer_pack_flush(struct perfev_writer *writer);
int writer_pack_describe(struct perfev_writer *writer);
void writer_pack_end(struct writer_pack *pack);

/* writer_early.c: sections in front of the records, into the head of the file, which gets the place of their table */
#define EARLY_MAGIC UINT64_C(0x3154465645465250) /* "PRFEVFT1" in the order of the file */
#define EARLY_PLACE 56 /* in the header: a section that version 2 does not use */
int writer_put_early(struct perfev_writer *writer, struct buffer *head);

/* writer_feature.c: EVENT_DESC; all sections that there are, into a stream; into the end of a file */
int writer_describe_events(struct perfev_writer *writer);
int writer_stream_features(struct perfev_writer *writer, struct perfev_error *err);
int writer_build_features(struct perfev_writer *writer, struct buffer *tail);

#endif
