/* SPDX-License-Identifier: MIT */
/* Records other than samples, as a kernel would write them: what is in one, and its bytes. Written from
 * the description of the interface, not from the library's tables. */
#ifndef TESTS_RECORD_H
#define TESTS_RECORD_H

#include "bytes.h"

#include <perfev/record.h>

#define ID_BITS 6

/* The fields of a trailer, in its order. */
extern const uint64_t id_bits[ID_BITS];

/* A record, and all that may be in one. */
struct made_record {
	uint32_t type;
	uint16_t misc;
	struct perf_event_attr attr;
	uint64_t trailer[ID_BITS]; /* TID and CPU: two halves, low first */
	uint64_t words[8];
	uint32_t halves[8];
	char name[24];
	uint8_t build_id[24]; /* size, three zeros, twenty of which size mean something */
	uint64_t links[14], link_count;
	uint64_t ips[9], ip_count;
	uint8_t poke[40];
	uint16_t old_size, new_size;
	struct bytes bytes;
};

/* made_fill() - random contents for a record of this type */
void made_fill(struct made_record *made, uint32_t type, size_t name_size, uint64_t *seed);
/* made_encode() - the bytes, in either order */
void made_encode(struct made_record *made, bool big);
/* made_has_build_id() - a mapping with a build-id in place of the inode */
bool made_has_build_id(const struct made_record *made);
/* made_record() - the record of these bytes, which may be cut */
struct perfev_record made_record(const struct made_record *made, const void *data, size_t size);

#endif
