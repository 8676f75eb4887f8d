/* SPDX-License-Identifier: MIT */
/* Records of the Branch Trace Store: three words each, and nothing that could be wrong with them. */
#include <perfev/intel_bts.h>

#include "base/error.h"
#include "decode/trace/input.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define PREDICTED 0x10

void perfev_bts_begin(struct perfev_bts_decoder *decoder, uint64_t offset, unsigned word_bytes)
{
	input_begin(&decoder->input, offset);
	decoder->word_bytes = word_bytes == 4 ? 4 : 8;
}

void perfev_bts_feed(struct perfev_bts_decoder *decoder, struct perfev_bytes bytes)
{
	input_feed(&decoder->input, bytes);
}

static uint64_t word(const unsigned char *at, unsigned bytes)
{
	return bytes == 8 ? input_u64(at) : load_u32(at, INPUT_SWAP);
}

int perfev_bts_next(struct perfev_bts_decoder *decoder, struct perfev_bts_branch *ret)
{
	unsigned char room[INPUT_LOOK];
	const unsigned char *at;
	unsigned width = decoder->word_bytes;

	if (input_look(&decoder->input, room, &at) < 3 * width) {
		input_keep(&decoder->input);
		return 0;
	}
	ret->offset = perfev_trace_offset(&decoder->input);
	ret->from = word(at, width);
	ret->to = word(at + width, width);
	ret->misc = word(at + 2 * width, width);
	ret->predicted = (ret->misc & PREDICTED) != 0;
	input_advance(&decoder->input, 3 * width);
	return 1;
}

int perfev_bts_end(const struct perfev_bts_decoder *decoder, struct perfev_error *err)
{
	uint64_t offset = perfev_trace_offset(&decoder->input);

	if (!decoder->input.carried)
		return 0;
	return error_set(err, -EINVAL, PERFEV_WHY_TRUNCATED, offset,
			 "cannot decode Intel BTS at 0x%" PRIx64 ": the trace ends inside of a record, of which %" PRIu32
			 " bytes are there",
			 offset, decoder->input.carried);
}

int perfev_bts_format(char *ret, size_t size, const struct perfev_bts_branch *branch)
{
	return snprintf(ret, size, "from=0x%" PRIx64 " to=0x%" PRIx64 " predicted=%u", branch->from, branch->to,
			branch->predicted);
}
