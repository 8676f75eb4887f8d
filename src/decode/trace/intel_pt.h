/* SPDX-License-Identifier: MIT */
/* What the decoder and the writer of Intel PT packets share: the table of packets and their fields. */
#ifndef DECODE_TRACE_INTEL_PT_H
#define DECODE_TRACE_INTEL_PT_H

#include <perfev/intel_pt.h>

/* A field: where in the packet, counted in bits from its first byte, and where in struct perfev_pt_packet. */
struct pt_field {
	const char *name;
	uint8_t bit, width;
	uint8_t shift;	   /* the number is given shifted left by it */
	uint8_t at, bytes; /* in the struct */
	bool hex;
};

/* A packet that consists of an opcode and fields. What has another form has a size of 0. */
struct pt_kind {
	const char *name;
	uint8_t size;
	uint8_t opcode_bytes;
	uint8_t opcode[3];
	uint8_t field_count;
	const struct pt_field *fields;
};

extern const struct pt_kind pt_kinds[PERFEV_PT_COUNT_];

#endif
