/* SPDX-License-Identifier: MIT */
/* Recordings in memory, made without the library: of both byte orders, both versions, any attr size, as a
 * file or as a stream. Written from the description of the format. */
#ifndef TESTS_RECORDING_H
#define TESTS_RECORDING_H

#include "bytes.h"

#include <perfev/reader.h>

#define MADE_EVENTS  5
#define MADE_IDS     3
#define MADE_RECORDS 64

/* An event of a recording: the attr as this host has it, its name and ids. */
struct made_event {
	struct perf_event_attr attr;
	const char *name;
	uint64_t ids[MADE_IDS];
	size_t id_count;
};

struct recording {
	struct bytes bytes;
	struct made_event events[MADE_EVENTS];
	size_t event_count;
	uint32_t attr_size; /* bytes of an attr in the table */
	bool version1, stream;
	bool cut;	   /* the recorder was killed: a data size of 0, no features */
	bool no_names;	   /* no EVENT_DESC */
	uint64_t features; /* bits of others: of each a string "feature N" */
	size_t attrs_at, data_at, table_at, data_end;
	size_t record_at[MADE_RECORDS];
	size_t record_count;
};

/* recording_init() - @count events with different attrs, all of whose fields are set */
void recording_init(struct recording *r, size_t count);
/* recording_make() - the bytes */
void recording_make(struct recording *r, bool big);
/* recording_expect() - read it, and compare all that was put in */
void recording_expect(const struct recording *r, struct perfev_reader *reader);
/* put_attr() - an attr of @size bytes */
void put_attr(struct bytes *to, const struct perf_event_attr *attr, uint32_t size);

#endif
