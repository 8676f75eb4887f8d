/* SPDX-License-Identifier: MIT */
/*
 * perfev/reader.h - recordings: the records of a perf.data file, pipe or buffer, in file order
 *
 * The verbs are those of a sampler (sampler.h): wait, next, release, layout, event. Files of any
 * machine are read on any host. A regular file is mapped, and its records stay valid until the
 * reader is closed (PERFEV_RECORD_STABLE); of a pipe, until the next call of perfev_reader_next().
 *
 * A compressed record is handed out as it is, and then those that are in it (PERFEV_RECORD_INNER), which stay until
 * the next call too. They are expanded a little at a time, so that memory stays flat. A record in pieces, as simpleperf writes
 * large ones, is handed out behind its pieces (PERFEV_RECORD_JOINED), until the next call as well. Of a folder (perf record
 * --threads) all files are read, one after the other: a record's source tells which, 0 is "data".
 *
 * A file that gets shorter while it is read is noticed, and is an error; but bytes of a mapped file
 * that are used after it was cut raise SIGBUS, as those of every mapping do. Where a file may be cut
 * by others, set opts.copy.
 */
#ifndef PERFEV_READER_H
#define PERFEV_READER_H

#include <perfev/feature.h>
#include <perfev/record.h>
#include <perfev/tracepoint.h>
#include <perfev/user_record.h>

PERFEV_BEGIN

struct perfev_reader_opts {
	size_t size;
	uint32_t partial; /* not 0: damage ends the records; perfev_reader_damage() says what it was */
	uint32_t copy;	  /* not 0: a file is read into memory when it is opened, not mapped */
	uint32_t tracing_inside; /* not 0: HEADER_TRACING_DATA records that have their formats inside, not behind them, are known by
				  * what is in them: simpleperf before 2018 wrote them so, where perf would find no record behind */
};

struct perfev_reader;

/*
 * perfev_reader_open() - open a recording
 * @path: a file, a folder, or "-" for standard input.
 * Return: 0; -ENOENT, -EACCES, ...; -EINVAL (why FORMAT) when it is no recording, (why TRUNCATED,
 * CORRUPT) when its header is damaged.
 * Since: 0.1
 */
PERFEV_API int perfev_reader_open(struct perfev_reader **ret, const char *path,
				  const struct perfev_reader_opts *opts, struct perfev_error *err);

/* perfev_reader_open_memory() - the same of a buffer, which must live until the reader is closed
 * @name: what to call it in errors. */
PERFEV_API int perfev_reader_open_memory(struct perfev_reader **ret, struct perfev_bytes bytes,
					 const char *name, const struct perfev_reader_opts *opts,
					 struct perfev_error *err);
PERFEV_API void perfev_reader_close(struct perfev_reader *reader);

/* perfev_reader_wait() - until there are records; a file always has them until its end
 * Return: 1, or 0 at the end. */
PERFEV_API int perfev_reader_wait(struct perfev_reader *reader, int timeout_ms,
				  struct perfev_error *err);

/*
 * perfev_reader_next() - the next record, in the order of the file
 * Return: 1 a record; 0 the end; -EINVAL (why TRUNCATED or CORRUPT) with err->where = the offset; -EOPNOTSUPP for
 * a compressed record where there is no libzstd. A partial reader ends there; what a record with an impossible size
 * has is 8 bytes then, and it is PERFEV_RECORD_BROKEN.
 */
PERFEV_API int perfev_reader_next(struct perfev_reader *reader, struct perfev_record *ret,
				  struct perfev_error *err);

/* perfev_reader_release() - give back what was handed out; of a mapped file, pages that were walked
 * leave memory (and come back when they are looked at again) */
PERFEV_API void perfev_reader_release(struct perfev_reader *reader);

/* The layout of a record: of the event that wrote it, found by its id. Lives until the reader is
 * closed. NULL for records of tools, and for ids that no event has. */
PERFEV_API const struct perfev_layout *perfev_reader_layout(const struct perfev_reader *reader,
							    const struct perfev_record *record);
/* The index of the event that wrote the record, or -1. */
PERFEV_API int perfev_reader_event(const struct perfev_reader *reader,
				   const struct perfev_record *record);

/* An event of the recording. In a pipe events come with the first records. */
struct perfev_reader_event_info {
	const char *name;
	const struct perf_event_attr *attr;
	const struct perfev_layout *layout;
	const uint64_t *ids; /* host byte order */
	size_t id_count;
};

/* perfev_reader_event_at() - the event at @index; false when there is none. What it points to lives until
 * the reader is closed, but the list of ids until the next record. */
PERFEV_API size_t perfev_reader_event_count(const struct perfev_reader *reader);
PERFEV_API bool perfev_reader_event_at(const struct perfev_reader *reader, size_t index,
				       struct perfev_reader_event_info *ret);

/* What the file says of itself. */
struct perfev_reader_info {
	uint64_t size;	      /* bytes of the file; 0 for a pipe */
	uint64_t data_offset; /* where the records begin */
	uint64_t data_size;   /* their bytes; 0 when the recorder did not end in order */
	uint64_t position;    /* offset of the next record */
	uint32_t version;     /* 1 or 2 */
	bool pipe;	      /* the streamed form */
	bool swapped;	      /* the other byte order */
	bool cut;	      /* data_size is 0: the recorder was killed, and features are missing */
	bool folder;	      /* several files; size and position are of all of them */
};

/* perfev_reader_describe() - what is known of the recording, now */
PERFEV_API void perfev_reader_describe(const struct perfev_reader *reader,
				   struct perfev_reader_info *ret);

/* perfev_reader_feature() - the raw bytes of a feature section (feature.h has their decoders)
 * Return: true, or false when the recording does not have it. */
PERFEV_API bool perfev_reader_feature(const struct perfev_reader *reader, unsigned feature,
				      struct perfev_bytes *ret);

/*
 * perfev_reader_tracepoint() - the tracepoint with that number, as it was on the machine of the recording
 * @id: attr.config of an event of PERF_TYPE_TRACEPOINT. @ret: lives until the reader is closed.
 * The formats are parsed by the first call, not before. In a pipe they come with the first records.
 * Return: 0; -ENOENT when the recording has no format of that number, or none at all; -EINVAL when its
 * formats are damaged, and that one is not among those that can be read; -ENOMEM.
 * Since: 0.1
 */
PERFEV_API int perfev_reader_tracepoint(struct perfev_reader *reader, uint64_t id,
					const struct perfev_tracepoint **ret, struct perfev_error *err);

/*
 * perfev_reader_trace() - the bytes that a PERF_RECORD_AUX announces
 * @skip: how many of them were looked at already: a call gives those that one AUXTRACE record has, as far as they
 * are the record's, so that it is to be repeated until it returns 0.
 * Only of a file, whose index of traces it uses, or makes by looking at all records; the first call does that. The bytes live until the reader is closed.
 * Return: 1; 0 there are no more; -ENOENT they are not in the file; -EOPNOTSUPP of a pipe; -EINVAL.
 * Since: 0.1
 */
PERFEV_API int perfev_reader_trace(struct perfev_reader *reader, const struct perfev_record *aux, uint64_t skip,
				   struct perfev_bytes *ret, struct perfev_error *err);

/* perfev_reader_loss() - what the records so far say was lost */
PERFEV_API void perfev_reader_loss(const struct perfev_reader *reader, struct perfev_loss *ret);

/* With opts.partial: what ended the records before their time, or NULL. */
PERFEV_API const struct perfev_error *perfev_reader_damage(const struct perfev_reader *reader);

PERFEV_END

#endif
