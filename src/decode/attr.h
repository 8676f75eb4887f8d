/* SPDX-License-Identifier: MIT */
/* What is in an attr, by place: one table names, writes, reads and saves it. */
#ifndef DECODE_ATTR_H
#define DECODE_ATTR_H

#include <perfev/abi.h>

#include <stdbool.h>
#include <stddef.h>

enum attr_kind {
	ATTR_NUMBER,
	ATTR_HEX,    /* an address, or bits without names */
	ATTR_SIGNED,
	ATTR_SAMPLE, /* PERF_SAMPLE_* */
	ATTR_READ,   /* PERF_FORMAT_* */
	ATTR_BRANCH, /* PERF_SAMPLE_BRANCH_* */
	ATTR_BITS    /* in attr_bits, by the same offset */
};

/* A member; the rows are in its order, and leave out nothing. */
struct attr_field {
	const char *name;
	const char *other; /* the other name of a union's member, or NULL: attr_name() says when */
	uint16_t offset;
	uint8_t width; /* bytes */
	uint8_t kind;
};

/* Bits of a member that the kernel names one by one. */
struct attr_bit {
	const char *name;
	uint16_t offset; /* of the member */
	uint8_t shift, count; /* where bits are counted from the lowest one on */
};

/* One bit of a mask. */
struct attr_flag {
	const char *name;
	uint64_t bit;
};

extern const struct attr_field attr_fields[];
extern const size_t attr_field_count;
extern const struct attr_bit attr_bits[];
extern const size_t attr_bit_count;

/* attr_flags() - the names of bits of members of this kind */
const struct attr_flag *attr_flags(unsigned kind, size_t *count);
/* attr_name() - the name that a member has in this attr */
const char *attr_name(const struct perf_event_attr *attr, const struct attr_field *field);
/* The value of a member; of bits, the first one is the lowest on every machine. */
uint64_t attr_get(const struct perf_event_attr *attr, const struct attr_field *field);
void attr_set(struct perf_event_attr *attr, const struct attr_field *field, uint64_t value);

/* The name of the first member of an attr of @size bytes that is not 0 and lies, wholly or in part,
 * at @known or beyond; NULL when all is 0 there. A string that lives for ever. */
const char *attr_set_beyond(const struct perf_event_attr *attr, uint32_t known, uint32_t size);

#endif
