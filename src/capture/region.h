/* SPDX-License-Identifier: MIT */
#ifndef CAPTURE_REGION_H
#define CAPTURE_REGION_H

#include <perfev/group.h>
#include <perfev/region.h>

/* One event, as it was opened. */
struct region_event {
	const char *name;
	int group; /* -1: it could not be opened */
	size_t member;
	struct perfev_error error;
};

/* What one event counted in one region. */
struct region_sum {
	uint64_t count, enabled_ns, running_ns;
	enum perfev_status status;   /* the worst that was read */
	uint64_t taken;		     /* of objects that were added: their own overhead, */
	uint64_t taken_entries;	     /* and the entries */
	uint64_t taken_within;	     /* that it is for */
};

struct region_node {
	char *name;
	int parent;
	uint32_t depth;
	uint64_t entries, iterations;
	uint64_t within; /* entries of regions directly within it */
	struct region_sum sums[];
};

/* A region that has begun. */
struct region_frame {
	int node;
	struct perfev_reading *before;
};

struct perfev_regions {
	struct perfev_events *events;
	struct region_event *all;
	size_t count;
	struct perfev_group **groups;
	size_t group_count;
	uint64_t *inner, *outer; /* the overhead of an entry, and of an entry within */
	struct perfev_reading *now;
	struct region_node **nodes;
	size_t node_count, node_room, last;
	struct region_frame *frames;
	size_t depth, frame_room, frames_made;
};

/* region_overhead() - what has to be taken off a sum, that it does not know itself yet */
uint64_t region_overhead(const struct perfev_regions *regions, const struct region_node *node, size_t event);

#endif
