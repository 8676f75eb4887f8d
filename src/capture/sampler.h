/* SPDX-License-Identifier: MIT */
#ifndef CAPTURE_SAMPLER_H
#define CAPTURE_SAMPLER_H

#include "members.h"
#include "ring.h"

#include <perfev/sampler.h>

struct perfev_sampler {
	struct members members;
	struct perfev_layout **layouts; /* one a member */
	struct ring *rings;
	uint32_t ring_count;
	uint64_t ring_bytes;
	int *polled; /* for each ring, the row that is in the epoll set; -1 */
	int epoll_fd;
	uint32_t live;	  /* rings that may still get records */
	bool backward;	  /* rings that are written over */
	bool apart;	  /* each event has its own */
	bool paused;
	uint32_t current; /* ring of the pass */
	bool in_ring;	  /* the pass has begun this ring */
	struct {
		uint64_t id;
		uint32_t row;
	} *ids; /* open addressing; id 0 is empty */
	size_t id_mask;
	uint64_t *row_ids;
	uint32_t *open_rows; /* of the first event, of the second, ... */
	size_t *first_rows;  /* in open_rows: where each event's begin; and the end */
};

/* sampler_attrs_prepare() - complete the members' attrs; refuses those that would never write a record */
int sampler_attrs_prepare(struct perfev_sampler *sampler, struct perfev_error *err);
/* sampler_attrs_mark() - say where each event wakes the reader of a ring of this size; refuses those whose ring
 * would be full before */
int sampler_attrs_mark(struct perfev_sampler *sampler, const struct perfev_event *const *events,
		       uint64_t ring_bytes, struct perfev_error *err);

#endif
