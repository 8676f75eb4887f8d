/* SPDX-License-Identifier: MIT */
/*
 * perfev/writer.h - write recordings that perf reads
 *
 *	open; add each event; start; { append ...; flush }; features; finish; close
 *
 * Records are not copied: perfev_writer_append() notes where they are, and perfev_writer_flush()
 * hands them to the kernel in one call. So their bytes must stay until the flush, which comes before
 * perfev_sampler_release() in a recorder's loop.
 *
 * Whatever ends the recorder, what was flushed can be read: until perfev_writer_finish() the header says that the
 * recording has not ended, which readers know, and sections that were given before the start are in the file already.
 */
#ifndef PERFEV_WRITER_H
#define PERFEV_WRITER_H

#include <perfev/auxtrace.h>
#include <perfev/feature.h>
#include <perfev/record.h>

PERFEV_BEGIN

/* When what was written has to be on the disk, not only with the kernel: a killed recorder loses nothing, but a
 * machine that loses its power does. */
enum perfev_sync {
	PERFEV_SYNC_NEVER,  /* when the kernel likes to */
	PERFEV_SYNC_FINISH, /* at the end */
	PERFEV_SYNC_ROUND   /* at the end of each round too */
};

struct perfev_writer_opts {
	size_t size;
	uint32_t keep;	   /* not 0: an existing file that is not empty is kept as PATH.old */
	uint32_t compress; /* not 0: the kernel's records are compressed (COMPRESSED), with this level of zstd, 1 to 22 */
	uint32_t sync;	   /* enum perfev_sync; of a file */
	uint32_t reserved;
};

struct perfev_writer;
struct perfev_reader;

/*
 * perfev_writer_open() - begin a recording
 * @path: a file (made with mode 0600), or "-": the streamed form, to standard output. What is no file (a
 *	pipe with a name, a device) gets the streamed form too.
 * Return: 0; a negative errno of open(2), or of rename(2) when an old file could not be kept; -EOPNOTSUPP where
 * there is no libzstd to compress with.
 * Since: 0.1
 */
PERFEV_API int perfev_writer_open(struct perfev_writer **ret, const char *path,
				  const struct perfev_writer_opts *opts, struct perfev_error *err);

/*
 * perfev_writer_add_event() - an event of the recording; before perfev_writer_start()
 * @attr: read by its size; written in the smallest size that holds it, because a reader refuses one
 *	that is larger than it knows.
 * @ids: the ids that its records carry; copied.
 * Return: 0, or a negative errno.
 */
PERFEV_API int perfev_writer_add_event(struct perfev_writer *writer, const char *name,
				       const struct perf_event_attr *attr, const uint64_t *ids,
				       size_t id_count, struct perfev_error *err);

/* perfev_writer_start() - write the header; records may follow
 * Where nothing of it can be written, a file that was not there before is taken away, and what opts.keep moved is put back.
 * Return: 0, or a negative errno. */
PERFEV_API int perfev_writer_start(struct perfev_writer *writer, struct perfev_error *err);

/* perfev_writer_append() - note a record (and its tail); see above
 * Return: 0; -EINVAL before the start and behind the end; what perfev_writer_flush() returns, when it
 * had to make room. */
PERFEV_API int perfev_writer_append(struct perfev_writer *writer,
				    const struct perfev_record *record, struct perfev_error *err);

/*
 * perfev_writer_flush() - write what was noted
 * Return: 0; -ENOSPC, -EDQUOT, -EIO, ... (why DISK): the file stays as it was after the last flush
 * that worked, and can be finished.
 */
PERFEV_API int perfev_writer_flush(struct perfev_writer *writer, struct perfev_error *err);

/* perfev_writer_round() - flush, and mark the end of a pass over all rings (FINISHED_ROUND)
 * Return: 0, or a negative errno. */
PERFEV_API int perfev_writer_round(struct perfev_writer *writer, struct perfev_error *err);

/*
 * perfev_writer_put_trace() - bytes of a trace, as an AUXTRACE record
 * @trace: where they are from; its size and bytes are not looked at. @part: of a chunk (tracer.h).
 * They are written at once, and perfev_writer_finish() makes the index of all of them (AUXTRACE).
 * Return: as perfev_writer_flush().
 * Since: 0.1
 */
PERFEV_API int perfev_writer_put_trace(struct perfev_writer *writer, const struct perfev_auxtrace *trace,
				       const struct perfev_bytes part[2], struct perfev_error *err);

/* Feature sections: the last one given for a feature is written, by perfev_writer_finish(), or at
 * once (but not before the start) in the streamed form, where build-ids are HEADER_BUILD_ID records.
 * Those that are given before the start are in the file from then on. EVENT_DESC, AUXTRACE and COMPRESSED
 * are written by themselves.
 * Return: 0, or a negative errno. */
PERFEV_API int perfev_writer_put_feature(struct perfev_writer *writer, unsigned feature,
					 struct perfev_bytes section, struct perfev_error *err);
PERFEV_API int perfev_writer_put_string(struct perfev_writer *writer, unsigned feature,
					const char *text, struct perfev_error *err);
PERFEV_API int perfev_writer_put_strings(struct perfev_writer *writer, unsigned feature,
					 const char *const *texts, size_t count,
					 struct perfev_error *err);
PERFEV_API int perfev_writer_put_build_ids(struct perfev_writer *writer,
					   const struct perfev_build_id *entries, size_t count,
					   struct perfev_error *err);

/* perfev_writer_bytes() - what was written so far */
PERFEV_API uint64_t perfev_writer_bytes(const struct perfev_writer *writer);

/*
 * perfev_writer_finish() - flush, write the feature sections, complete the header
 * Until then a reader sees a recording that was cut short, and can read all flushed rounds.
 * Return: 0, or a negative errno.
 */
PERFEV_API int perfev_writer_finish(struct perfev_writer *writer, struct perfev_error *err);
PERFEV_API void perfev_writer_close(struct perfev_writer *writer);

/* ---- copies ------------------------------------------------------------------------------------------------ */

struct perfev_copy_opts {
	size_t size;
	uint32_t rebuild; /* not 0: sections that the recorder did not come to write are made, as far as events and
			   * records tell: EVENT_DESC, SAMPLE_TIME, COMPRESSED, AUXTRACE */
	uint32_t keep;	  /* as of struct perfev_writer_opts */
	uint32_t expand;  /* not 0: instead of compressed records, what is in them */
	uint32_t reserved;
};

/* What was copied. */
struct perfev_copy_info {
	uint64_t records;    /* those in compressed ones not counted */
	uint64_t compressed; /* of them */
	uint64_t bytes;	     /* of the copy */
	uint32_t rebuilt;    /* sections that were made */
	uint32_t reserved;
};

/*
 * perfev_copy() - write all that a reader gives: the same records, events and sections, byte for byte, also those
 * that this library does not know, in the same byte order and form
 * Of a folder the copy is one file, whose records are not compressed. A damaged recording is copied up to the damage
 * when the reader is a partial one; what the copy then has is a whole recording, but that its last compressed record may
 * end in the middle of what is in it: then opts.expand helps.
 * @path: as for perfev_writer_open(). @reader: nothing was read of it yet; it is at its end afterwards.
 * A copy that fails is taken away, when no file was there before, and what opts.keep moved is put back.
 * @ret: may be NULL.
 * Return: 0; what perfev_reader_next() and perfev_writer_flush() return.
 * Since: 0.1
 */
PERFEV_API int perfev_copy(const char *path, struct perfev_reader *reader, const struct perfev_copy_opts *opts,
			   struct perfev_copy_info *ret, struct perfev_error *err);

PERFEV_END

#endif
