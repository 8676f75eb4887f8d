/* SPDX-License-Identifier: MIT */
/*
 * perfev/intel_bts.h - the records of Intel's Branch Trace Store
 *
 * One record for each branch that was taken: where from, where to. The kernel of a 64-bit machine writes words of 8 bytes,
 * that of a 32-bit one of 4. auxtrace.h says how decoders are used.
 */
#ifndef PERFEV_INTEL_BTS_H
#define PERFEV_INTEL_BTS_H

#include <perfev/auxtrace.h>

PERFEV_BEGIN

/* A branch. */
struct perfev_bts_branch {
	uint64_t offset; /* in the stream */
	uint64_t from, to;
	uint64_t misc;	   /* the third word; only bit 4 has a meaning */
	uint8_t predicted; /* that bit: the branch was predicted */
};

/* Decodes one trace. Its members are the library's. */
struct perfev_bts_decoder {
	struct perfev_trace_input input;
	uint32_t word_bytes;
};

/*
 * perfev_bts_begin() - a decoder in front of a trace
 * @offset: of the first byte that will be fed, which has to be that of a record.
 * @word_bytes: 8, or 4 for what a 32-bit kernel wrote.
 * Since: 0.1
 */
PERFEV_API void perfev_bts_begin(struct perfev_bts_decoder *decoder, uint64_t offset, unsigned word_bytes);

/* perfev_bts_feed() - the next piece of the trace, which has to stay until perfev_bts_next() returns 0. Since: 0.1 */
PERFEV_API void perfev_bts_feed(struct perfev_bts_decoder *decoder, struct perfev_bytes bytes);

/*
 * perfev_bts_next() - the next branch
 * There is nothing in a record that could be wrong.
 * Return: 1 a branch; 0 the piece is used up.
 * Since: 0.1
 */
PERFEV_API int perfev_bts_next(struct perfev_bts_decoder *decoder, struct perfev_bts_branch *ret);

/* perfev_bts_end() - nothing more will come. Return: 0; -EINVAL (why TRUNCATED) the last record is not complete. Since: 0.1 */
PERFEV_API int perfev_bts_end(const struct perfev_bts_decoder *decoder, struct perfev_error *err);

/*
 * perfev_bts_format() - a branch as a line of text: from=0x401136 to=0x4010f0 predicted=1
 * @ret: gets at most @size bytes, terminated; may be NULL when @size is 0.
 * Return: the length of the whole text.
 * Since: 0.1
 */
PERFEV_API int perfev_bts_format(char *ret, size_t size, const struct perfev_bts_branch *branch);

PERFEV_END

#endif
