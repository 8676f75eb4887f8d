/* SPDX-License-Identifier: MIT */
#ifndef FILE_READER_BASE_H
#define FILE_READER_BASE_H

#include "codec.h"
#include "source.h"

#include "base/buffer.h"
#include "base/map.h"

#include <perfev/reader.h>

/* One event of the recording. */
struct reader_event {
	char *name;
	bool named; /* by the recording; else by what the attr is */
	struct perf_event_attr attr;
	struct perfev_layout *layout; /* NULL: samples of it cannot be decoded */
	uint64_t *ids;
	size_t id_count, id_room;
};

struct reader_section {
	bool there;
	uint64_t offset; /* in the file */
	struct perfev_bytes bytes;
	void *owned; /* of a stream: what bytes points to */
};

/* What was lost, by ring: reader_loss.c. */
struct reader_ring {
	uint64_t said, counted;
};

struct reader_loss {
	struct reader_ring *rings;
	size_t count, room;
	struct map numbers; /* of a ring: its index */
	struct map ids;	    /* the number of its ring */
	uint64_t samples;
	uint64_t filtered;
	uint64_t somewhere; /* counted, and nothing says in which ring */
	bool exact;
};

/* Tracepoints: reader_tracing.c. */
struct reader_tracing {
	struct perfev_tracepoint **items;
	size_t count, room;
	struct map ids;		    /* of a tracepoint: its index */
	struct perfev_error damage; /* the first; code 0: none */
	bool parsed;
};

/* Traces: auxtrace.c. */
struct reader_traces {
	struct reader_piece *pieces; /* sorted */
	size_t count;
	bool read;
};

/* What is in a compressed record: reader_inner.c. */
struct reader_inner {
	bool active; /* there is more of the payload */
	struct codec *codec;
	unsigned char *buffer; /* what was expanded, and not handed out: from at to end */
	size_t at, end;
	struct perfev_bytes in, rest; /* of the payload, what was not expanded; further pieces of it */
	uint64_t offset;	      /* of the record */
	uint64_t expanded;	      /* bytes, of this payload */
};

/* A record in pieces: reader_simpleperf.c. */
struct reader_split {
	struct buffer buffer;
	uint64_t offset; /* of the first piece */
	bool ready, too_large;
};

/* A further file of a folder: reader_folder.c. */
struct reader_part {
	struct source source;
	unsigned number; /* of data.NUMBER */
};

struct perfev_reader {
	struct source source;
	struct source *input; /* where the records are: source, or that of a part */
	struct reader_part *parts;
	size_t part_count, part_room, part_at;
	uint32_t number; /* of the input: 0, or a part's number + 1 */
	uint64_t passed; /* bytes of the inputs before this one */
	struct reader_inner inner;
	struct reader_split split;
	struct perfev_reader_info info;
	struct perfev_error damage;
	bool partial, tracing_inside;
	bool ended;
	char *name;
	uint64_t attrs_offset, attrs_count, entry_size; /* file mode: the table of events */
	uint64_t end;	 /* file mode: where the records end */
	uint64_t checked; /* file mode: up to here, and not beyond its end, it was made sure that the file is still there */
	struct buffer stream; /* what was read of a stream and not handed out */
	size_t stream_at;
	int stream_error; /* a read that failed; 0: none */
	struct reader_event **events;
	size_t event_count, event_room;
	uint32_t *id_slots; /* open addressing: event + 1, 0 is empty */
	uint64_t *id_keys;
	size_t id_count, id_size;
	size_t id_total; /* those that events have, which may be the same */
	uint16_t sample_id;  /* where ids are, for all events; 0: nowhere */
	uint16_t trailer_id;
	bool attr_full; /* the last HEADER_ATTR had no room for another id */
	struct reader_section features[PERFEV_FEATURE_COUNT];
	struct reader_loss loss;
	struct reader_tracing tracing;
	struct reader_traces traces;
};

/* reader_attr.c: attrs, ids and names */
int reader_add_event(struct perfev_reader *reader, const unsigned char *attr, size_t attr_size,
		     const unsigned char *ids, size_t id_count, struct perfev_error *err);
/* Whether an attr that follows is that of the last event, which had more ids than fit its record. */
bool reader_goes_on(const struct perfev_reader *reader, const unsigned char *attr, size_t attr_size);
/* reader_add_ids() - of the last event. */
int reader_add_ids(struct perfev_reader *reader, const unsigned char *ids, size_t count, struct perfev_error *err);
int reader_add_id(struct perfev_reader *reader, size_t event, uint64_t id, struct perfev_error *err);
int reader_find_id(const struct perfev_reader *reader, uint64_t id);
int reader_read_attrs(struct perfev_reader *reader, uint64_t offset, uint64_t size,
		      uint64_t entry_size, struct perfev_error *err);
int reader_take_event_desc(struct perfev_reader *reader, struct perfev_error *err);
int reader_rename(struct reader_event *event, const char *name, size_t size);

/* reader_loss.c. Return: 0, -ENOMEM */
int reader_take_id_index(struct perfev_reader *reader, const struct perfev_record *record,
			 struct perfev_error *err);
int reader_note_loss(struct perfev_reader *reader, const struct perfev_record *record,
		     struct perfev_error *err);

/* reader_tracing.c: what follows a HEADER_TRACING_DATA record. Return: 0, -ENOMEM. inside: it has its formats inside. */
bool reader_tracing_inside(const struct perfev_reader *reader, const struct perfev_record *record);
int reader_take_tracing(struct perfev_reader *reader, const struct perfev_record *record,
			struct perfev_error *err);
/* Events that nobody named get the names of their tracepoints. */
int reader_name_tracepoints(struct perfev_reader *reader, struct perfev_error *err);
void reader_free_tracing(struct perfev_reader *reader);

/* reader_inner.c. next: as perfev_reader_next(); 0: all of the payload was handed out. end: at the end of an input,
 * whether nothing is left over. size: of a COMPRESSED2 record that begins with these 16 bytes, UINT64_MAX for one
 * that cannot be. */
int reader_inner_begin(struct perfev_reader *reader, const struct perfev_record *record, struct perfev_error *err);
int reader_inner_next(struct perfev_reader *reader, struct perfev_record *ret, struct perfev_error *err);
int reader_inner_end(struct perfev_reader *reader, struct perfev_error *err);
void reader_inner_free(struct reader_inner *inner);
uint64_t reader_compressed2_size(const unsigned char *data, uint32_t size, bool swapped);

/* reader_simpleperf.c: a record of its own. Return: 0; -ENOMEM, damage. joined: the record whose pieces were seen; false when
 * they are none. */
int reader_take_simpleperf(struct perfev_reader *reader, const struct perfev_record *record, struct perfev_error *err);
bool reader_take_joined(struct perfev_reader *reader, struct perfev_record *ret);

/* reader_folder.c. open: 0, or a negative errno */
int reader_open_folder(struct perfev_reader *reader, const char *path, bool copy);
bool reader_next_part(struct perfev_reader *reader);
void reader_close_folder(struct perfev_reader *reader);

/* reader_header.c */
int reader_open_header(struct perfev_reader *reader, struct perfev_error *err);

/* reader_base.c: @size bytes, not 0, of the stream or file at the current position; NULL: they are not all there. more: where
 * that is not known yet. */
const unsigned char *reader_need_more(struct perfev_reader *reader, uint64_t size);

static inline const unsigned char *reader_need(struct perfev_reader *reader, uint64_t size)
{
	uint64_t at = reader->info.position;

	return at <= reader->checked && size <= reader->checked - at ? reader->input->data + at : reader_need_more(reader, size);
}

int reader_damage(struct perfev_reader *reader, int code, enum perfev_why why, uint64_t where,
		  struct perfev_error *err, const char *format, ...) PERFEV_PRINTF(6, 7);

#endif
