/* SPDX-License-Identifier: MIT */
/*
 * A stream that comes in pieces, in front of a packet decoder.
 *
 * Invariant: what is next are the carried bytes, and then those from at to end. A decoder looks at them through
 * input_look(), which gives PERFEV_TRACE_CARRY_BYTES that may be read, with zeros behind the last byte that there is: so
 * one that reads a packet of at most 24 bytes has to compare its size with what there is afterwards only.
 */
#ifndef DECODE_TRACE_INPUT_H
#define DECODE_TRACE_INPUT_H

#include <perfev/auxtrace.h>

#include "base/load.h"

#define INPUT_LOOK PERFEV_TRACE_CARRY_BYTES

/* The formats are little-endian, whatever reads them. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define INPUT_SWAP true
#else
#define INPUT_SWAP false
#endif

static inline uint64_t input_u64(const unsigned char *at)
{
	return load_u64(at, INPUT_SWAP);
}

/* input_safe() - whether packets may be read without looking, up to what is too near to the end */
static inline void input_safe(struct perfev_trace_input *in, bool allowed)
{
	in->safe = allowed && !in->carried && in->end - in->at > INPUT_LOOK ? in->end - INPUT_LOOK : in->start;
}

static inline void input_begin(struct perfev_trace_input *in, uint64_t offset)
{
	static const unsigned char none[1];

	memset(in, 0, sizeof(*in));
	in->start = in->at = in->end = in->safe = none;
	in->offset = offset;
}

static inline void input_feed(struct perfev_trace_input *in, struct perfev_bytes bytes)
{
	size_t passed;

	in->offset += (uint64_t)(in->end - in->start);
	if (bytes.size) {
		in->start = (const unsigned char *)bytes.data;
		in->end = in->start + bytes.size;
	} else {
		in->end = in->start;
	}
	passed = in->skip < bytes.size ? in->skip : bytes.size;
	in->at = in->start + passed;
	in->skip -= (uint32_t)passed;
	in->safe = in->start;
}

/* input_look() - what is next: at least INPUT_LOOK bytes that may be read, of which the returned number is there */
static inline size_t input_look(const struct perfev_trace_input *in, unsigned char room[INPUT_LOOK],
				const unsigned char **at)
{
	size_t rest = (size_t)(in->end - in->at), n = INPUT_LOOK - in->carried;

	if (!in->carried && rest >= INPUT_LOOK) {
		*at = in->at;
		return rest;
	}
	n = n < rest ? n : rest;
	memset(room, 0, INPUT_LOOK);
	memcpy(room, in->carry, in->carried);
	memcpy(room + in->carried, in->at, n);
	*at = room;
	return in->carried + n;
}

/* input_advance() - pass over @size bytes, which may be more than there are */
static inline void input_advance(struct perfev_trace_input *in, size_t size)
{
	size_t rest = (size_t)(in->end - in->at);

	if (size < in->carried) {
		memmove(in->carry, in->carry + size, in->carried - size);
		in->carried -= (uint32_t)size;
		return;
	}
	size -= in->carried;
	in->carried = 0;
	if (size > rest) {
		in->skip = (uint32_t)(size - rest);
		size = rest;
	}
	in->at += size;
}

/* input_keep() - all that is next is the beginning of a packet: it is kept for when the rest comes */
static inline void input_keep(struct perfev_trace_input *in)
{
	size_t rest = (size_t)(in->end - in->at);

	memcpy(in->carry + in->carried, in->at, rest);
	in->carried += (uint32_t)rest;
	in->at = in->end;
	in->safe = in->start;
}

#endif
