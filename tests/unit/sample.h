/* SPDX-License-Identifier: MIT */
/* Samples as a kernel would write them: an attr, what is in each field, and the bytes. Written from the
 * description of the interface, not from the library's tables. */
#ifndef TESTS_SAMPLE_H
#define TESTS_SAMPLE_H

#include "bytes.h"

#include <perfev/record.h>

#define CHAIN_MAX   40
#define MEMBERS_MAX 5
#define BRANCH_MAX  9

/* What the fields of variable size have in them. */
struct made_sample {
	struct perf_event_attr attr;
	uint64_t words[64]; /* of the bit of that number; TID and CPU: two halves, low first */
	uint64_t enabled, running, members;
	uint64_t value[MEMBERS_MAX + 1], id[MEMBERS_MAX + 1], lost[MEMBERS_MAX + 1];
	uint64_t chain[CHAIN_MAX], chain_size;
	unsigned char raw[64], stack[64], aux[64];
	uint32_t raw_size;
	uint64_t stack_size, dyn_size, aux_size;
	uint64_t branch_count, hw_idx;
	struct perfev_branch branch[BRANCH_MAX];
	bool no_hw_idx;	  /* the kernel had no stack: its index is left out too */
	bool no_counters; /* the PMU has none */
	uint64_t user_abi, intr_abi, user_regs[64], intr_regs[64];
	uint16_t misc;
	struct bytes bytes;
};

/* The bits in the order of the record, those of ids and of fixed size first. */
extern const uint64_t sample_order[25];

/* made_fill() - random contents for attr.sample_type and the rest of attr, which are set already */
void made_fill(struct made_sample *made, uint64_t *seed);
/* made_encode() - the record, in either order of bytes */
void made_encode(struct made_sample *made, bool big);
/* made_attr() - a random attr */
void made_attr(struct made_sample *made, uint64_t *seed);
/* made_record() - the record of these bytes, which may be cut */
struct perfev_record made_record(const struct made_sample *made, const unsigned char *data,
				 size_t size);
/* made_check() - compare the fields whose bits are in @bits */
void made_check(const struct made_sample *made, const struct perfev_sample *sample, uint64_t bits);
unsigned count_bits(uint64_t mask);

#endif
