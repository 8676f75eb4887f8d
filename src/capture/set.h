/* SPDX-License-Identifier: MIT */
/* A set as it is inside. */
#ifndef CAPTURE_SET_H
#define CAPTURE_SET_H

#include "members.h"

#include <perfev/set.h>

/* What is known of one row of the plan. */
struct set_row {
	uint64_t id;  /* of a group's: how its leader's answer calls it */
	int32_t next; /* the row after it in its leader's answer; -1: the last, or alone */
	bool told;    /* its leader answers for it */
	struct perfev_reading earlier; /* what it counted before its CPU was offline */
	uint64_t seen_ns;	       /* enabled_ns when it was looked at last; 0: it was not */
	bool away;		       /* its CPU was offline then */
};

struct perfev_set {
	struct members members;
	struct members_opts how;
	struct set_row *rows; /* one a row of the plan */
	int64_t opened_ms;
	int64_t looked_ms; /* for CPUs that were offline; 0: never */
	bool started;
};

/* set_link_row() - behind the rows of its leader's answer; its leader's first */
void set_link_row(struct perfev_set *set, size_t row);

#endif
