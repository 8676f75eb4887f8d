/* SPDX-License-Identifier: MIT */
/*
 * Packets of Arm SPE, out of a stream of bytes, and records out of packets.
 *
 * A header of one byte says the kind, and in bits 5:4 the size of the payload; a header of two has a byte in front that
 * extends the index. So what follows a header that can be is never in doubt.
 *
 * The Alignment packet says that the next one is at a multiple of up to 64 KiB: its size follows from where it is, and may be
 * more than the piece has. What is left is passed over when the next pieces come.
 */
#include <perfev/arm_spe.h>

#include "base/error.h"
#include "decode/trace/input.h"

#include <errno.h>
#include <inttypes.h>

/* ---- headers -------------------------------------------------------------------------------------------------------- */

/* Kinds by a header's bits; those of a kind are below @indexes. */
static const struct header {
	uint8_t mask, value;
	uint8_t type;
	uint8_t payload_bytes; /* 0: none; 255: any, as bits 5:4 say */
	bool extends;	       /* may have a byte in front */
} headers[] = {
	{0xff, 0x00, PERFEV_SPE_PADDING, 0, false},   {0xff, 0x01, PERFEV_SPE_END, 0, false},
	{0xff, 0x71, PERFEV_SPE_TIMESTAMP, 8, false}, {0xcf, 0x42, PERFEV_SPE_EVENTS, 255, false},
	{0xcf, 0x43, PERFEV_SPE_DATA_SOURCE, 255, false}, {0xfc, 0x64, PERFEV_SPE_CONTEXT, 4, false},
	{0xfc, 0x48, PERFEV_SPE_OPERATION, 1, false}, {0xf8, 0xb0, PERFEV_SPE_ADDRESS, 8, true},
	{0xf8, 0x98, PERFEV_SPE_COUNTER, 2, true},
};

static const struct header *header_of(uint8_t byte)
{
	size_t i;

	for (i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		if ((byte & headers[i].mask) == headers[i].value)
			return &headers[i];
	return NULL;
}

static uint64_t number(const unsigned char *at, unsigned bytes)
{
	return bytes == 0 ? 0 : input_u64(at) << (64 - 8 * bytes) >> (64 - 8 * bytes);
}

/* Up to the next multiple of the boundary, but never less than its own header. */
static uint32_t alignment_size(uint64_t offset, unsigned index)
{
	uint64_t boundary = UINT64_C(2) << index;

	return (uint32_t)(boundary - ((offset + 2 - 1) & (boundary - 1)) + 1);
}

/* Returns 1; 0 there is too little; -1 no packet is like that. */
static int one(struct perfev_spe_packet *ret, const unsigned char *at, size_t there)
{
	const struct header *header;
	unsigned extended = (at[0] & 0xfc) == 0x20;

	if (there == 0)
		return 0;
	memset(&ret->payload, 0, sizeof(*ret) - offsetof(struct perfev_spe_packet, payload));
	if ((at[0] & 0xf0) == 0x20 && there < 2)
		return 0;
	if ((at[0] & 0xf0) == 0x20 && at[1] == 0) {
		ret->type = PERFEV_SPE_ALIGNMENT;
		ret->index = at[0] & 15;
		ret->header_bytes = 2;
		ret->size = alignment_size(ret->offset, ret->index);
		return 1;
	}
	header = header_of(at[extended]);
	if (!header || (extended && !header->extends))
		return -1;
	ret->type = header->type;
	ret->index = at[extended] & (uint8_t)~header->mask & 0x0f;
	ret->index |= (uint8_t)(extended ? (at[0] & 3) << 3 : 0);
	ret->payload_bytes = header->payload_bytes;
	if (header->payload_bytes == 255)
		ret->payload_bytes = (uint8_t)(1u << (at[0] >> 4 & 3));
	ret->header_bytes = (uint8_t)(1 + extended);
	ret->size = ret->header_bytes + ret->payload_bytes;
	if (ret->size > there)
		return 0;
	ret->payload = number(at + ret->header_bytes, ret->payload_bytes);
	return 1;
}

/* ---- streams ---------------------------------------------------------------------------------------------------------- */

void perfev_spe_begin(struct perfev_spe_decoder *decoder, uint64_t offset)
{
	memset(decoder, 0, sizeof(*decoder));
	input_begin(&decoder->input, offset);
}

void perfev_spe_feed(struct perfev_spe_decoder *decoder, struct perfev_bytes bytes)
{
	input_feed(&decoder->input, bytes);
}

int perfev_spe_next(struct perfev_spe_decoder *decoder, struct perfev_spe_packet *ret, struct perfev_error *err)
{
	unsigned char room[INPUT_LOOK];
	const unsigned char *at;
	size_t there = input_look(&decoder->input, room, &at);
	int r;

	ret->offset = perfev_trace_offset(&decoder->input);
	r = one(ret, at, there);
	if (r > 0)
		input_advance(&decoder->input, ret->size);
	else if (r == 0)
		input_keep(&decoder->input);
	else
		return error_set(err, -EINVAL, PERFEV_WHY_CORRUPT, ret->offset,
				 "cannot decode Arm SPE at 0x%" PRIx64 ": no packet begins with %02x %02x; go on behind it",
				 ret->offset, at[0], there > 1 ? at[1] : 0);
	return r;
}

void perfev_spe_skip(struct perfev_spe_decoder *decoder)
{
	if (decoder->input.carried || decoder->input.at < decoder->input.end)
		input_advance(&decoder->input, 1);
}

int perfev_spe_end(const struct perfev_spe_decoder *decoder, struct perfev_error *err)
{
	uint64_t offset = perfev_trace_offset(&decoder->input);

	if (!decoder->input.carried && !decoder->input.skip && !decoder->has_begun)
		return 0;
	return error_set(err, -EINVAL, PERFEV_WHY_TRUNCATED, offset,
			 "cannot decode Arm SPE at 0x%" PRIx64 ": the trace ends inside of a %s", offset,
			 decoder->input.carried || decoder->input.skip ? "packet" : "record");
}

/* ---- bytes -------------------------------------------------------------------------------------------------------------- */

static const struct header *header_for(unsigned type)
{
	size_t i;

	for (i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		if (headers[i].type == type)
			return &headers[i];
	return NULL;
}

static int refuse(const struct perfev_spe_packet *packet, struct perfev_error *err)
{
	return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
			 "cannot encode a packet: none of type %u has index %u and a payload of %u bytes that is 0x%" PRIx64,
			 packet->type, packet->index, packet->payload_bytes, packet->payload);
}

static int encode_alignment(unsigned char *to, size_t room, const struct perfev_spe_packet *packet, struct perfev_error *err)
{
	uint32_t size;

	if (packet->index > 15)
		return refuse(packet, err);
	size = alignment_size(packet->offset, packet->index);
	if (room >= size) {
		memset(to, 0, size);
		to[0] = (unsigned char)(0x20 | packet->index);
	}
	return (int)size;
}

/* Bits 5:4 of a header for a payload of @bytes; 255 when there is none. */
static unsigned size_bits(unsigned bytes)
{
	return bytes == 1 ? 0x00 : bytes == 2 ? 0x10 : bytes == 4 ? 0x20 : bytes == 8 ? 0x30 : 255;
}

int perfev_spe_encode(void *to, size_t room, const struct perfev_spe_packet *packet, struct perfev_error *err)
{
	const struct header *header = header_for(packet->type);
	unsigned char bytes[16] = {0}, free_bits;
	unsigned extended, i;
	size_t size;

	if (packet->type == PERFEV_SPE_ALIGNMENT)
		return encode_alignment(to, room, packet, err);
	if (!header)
		return refuse(packet, err);
	free_bits = (unsigned char)~header->mask & 0x0f;
	extended = packet->header_bytes == 2 || packet->index > free_bits;
	if ((extended && !header->extends) || packet->index > (extended ? 31 : free_bits) ||
	    (header->payload_bytes == 255 ? size_bits(packet->payload_bytes) == 255
					  : header->payload_bytes != packet->payload_bytes) ||
	    (packet->payload_bytes < 8 && packet->payload >> 8 * packet->payload_bytes))
		return refuse(packet, err);
	if (extended)
		bytes[0] = (unsigned char)(0x20 | packet->index >> 3);
	bytes[extended] = (unsigned char)(header->value | (packet->index & free_bits));
	if (header->payload_bytes == 255)
		bytes[extended] |= (unsigned char)size_bits(packet->payload_bytes);
	for (i = 0; i < packet->payload_bytes; i++)
		bytes[1 + extended + i] = (unsigned char)(packet->payload >> 8 * i);
	size = 1 + extended + packet->payload_bytes;
	if (room >= size)
		memcpy(to, bytes, size);
	return (int)size;
}

/* ---- records -------------------------------------------------------------------------------------------------------------- */

static void put_address(struct perfev_spe_record *record, const struct perfev_spe_packet *packet)
{
	struct perfev_spe_place *const places[] = {&record->pc, &record->branch_target, &record->data_virtual,
						   &record->data_physical, &record->previous_branch_target};

	if (packet->index >= sizeof(places) / sizeof(places[0])) {
		record->present |= PERFEV_SPE_HAS_OTHER;
		return;
	}
	perfev_spe_place_of(places[packet->index], packet);
	record->present |= (uint64_t)PERFEV_SPE_HAS_PC << packet->index;
}

static void put_counter(struct perfev_spe_record *record, const struct perfev_spe_packet *packet)
{
	uint16_t *const counters[] = {&record->total_latency, &record->issue_latency, &record->translation_latency};

	if (packet->index >= sizeof(counters) / sizeof(counters[0])) {
		record->present |= PERFEV_SPE_HAS_OTHER;
		return;
	}
	*counters[packet->index] = (uint16_t)packet->payload;
	record->present |= (uint64_t)PERFEV_SPE_HAS_TOTAL_LATENCY << packet->index;
}

static void put_context(struct perfev_spe_record *record, const struct perfev_spe_packet *packet)
{
	uint32_t *const contexts[] = {&record->context_el1, &record->context_el2};

	if (packet->index >= sizeof(contexts) / sizeof(contexts[0])) {
		record->present |= PERFEV_SPE_HAS_OTHER;
		return;
	}
	*contexts[packet->index] = (uint32_t)packet->payload;
	record->present |= (uint64_t)PERFEV_SPE_HAS_CONTEXT_EL1 << packet->index;
}

static void put(struct perfev_spe_record *record, const struct perfev_spe_packet *packet)
{
	switch (packet->type) {
	case PERFEV_SPE_ADDRESS:
		put_address(record, packet);
		break;
	case PERFEV_SPE_COUNTER:
		put_counter(record, packet);
		break;
	case PERFEV_SPE_CONTEXT:
		put_context(record, packet);
		break;
	case PERFEV_SPE_OPERATION:
		record->op_class = packet->index;
		record->op = (uint8_t)packet->payload;
		record->present |= PERFEV_SPE_HAS_OPERATION;
		break;
	case PERFEV_SPE_EVENTS:
		record->events = packet->payload;
		record->present |= PERFEV_SPE_HAS_EVENTS;
		break;
	case PERFEV_SPE_DATA_SOURCE:
		record->source = packet->payload;
		record->present |= PERFEV_SPE_HAS_DATA_SOURCE;
		break;
	case PERFEV_SPE_TIMESTAMP:
		record->timestamp = packet->payload;
		record->present |= PERFEV_SPE_HAS_TIMESTAMP;
		break;
	default:
		break;
	}
}

int perfev_spe_next_record(struct perfev_spe_decoder *decoder, struct perfev_spe_record *ret, struct perfev_error *err)
{
	struct perfev_spe_record *record = &decoder->building;
	struct perfev_spe_packet packet;
	int r;

	while ((r = perfev_spe_next(decoder, &packet, err)) > 0) {
		if (packet.type == PERFEV_SPE_PADDING || packet.type == PERFEV_SPE_ALIGNMENT)
			continue;
		if (!decoder->has_begun) {
			memset(record, 0, sizeof(*record));
			record->offset = packet.offset;
			decoder->has_begun = 1;
		}
		put(record, &packet);
		if (packet.type != PERFEV_SPE_END && packet.type != PERFEV_SPE_TIMESTAMP)
			continue;
		record->size = packet.offset + packet.size - record->offset;
		*ret = *record;
		decoder->has_begun = 0;
		return 1;
	}
	if (r < 0)
		decoder->has_begun = 0;
	return r;
}
