/* SPDX-License-Identifier: MIT */
/* A copy of a recording that is being made, and numbers in its byte order. */
#ifndef FILE_COPY_BASE_H
#define FILE_COPY_BASE_H

#include "output.h"

#include "base/buffer.h"

#include <perfev/reader.h>
#include <perfev/writer.h>

struct copy {
	struct perfev_reader *reader;
	const char *path;
	struct output output;
	struct perfev_copy_opts opts;
	struct perfev_copy_info info;
	bool expands;
	struct perfev_bytes piece; /* to be written next: of the mapped file, or the stage */
	struct buffer stage;
	bool wrote; /* the last record made it be written */
	struct perfev_record pending; /* a compressed record whose inside is looked at */
	bool has_pending;
	uint64_t attrs_offset, attrs_size, data_offset;
	uint64_t written;   /* bytes of records, those that wait included */
	uint64_t bitmap[4]; /* sections of the copy */
	/* what records tell */
	uint64_t first_time, last_time;
	uint64_t payload, payload_max; /* what compressed records become */
	bool compressed;
	struct buffer traces; /* of each AUXTRACE record: where it is in the copy, and its size */
};

/* A number in the byte order of the copy. Return: 0, -ENOMEM. */
void copy_put(const struct copy *c, unsigned char *to, uint64_t value, unsigned width);
int copy_append(const struct copy *c, struct buffer *to, uint64_t value, unsigned width);

#endif
