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
	int32_t place;		       /* where a task is bound to a CPU: which of the set's places; -1 */
	uint64_t seen_ns;	       /* enabled_ns when it was looked at last; 0: it was not */
	bool away;		       /* its CPU was offline then */
};

/* A task on one CPU, and an event that always has a counter there. */
struct set_place {
	int32_t pid, cpu;
	int fd;
};

struct perfev_set {
	struct members members;
	struct members_opts how;
	struct set_row *rows; /* one a row of the plan */
	struct set_place *places;
	size_t place_count, place_room;
	int64_t opened_ms;
	int64_t looked_ms; /* for CPUs that were offline; 0: never */
	bool started;
};

/* set_link_row() - behind the rows of its leader's answer; its leader's first */
void set_link_row(struct perfev_set *set, size_t row);

/* set_places_open() - what is needed to tell how long tasks were on the CPUs they are bound to. Return: 0, -ENOMEM */
int set_places_open(struct perfev_set *set);
void set_places_close(struct perfev_set *set);
/* set_places_control() - started after all else, and stopped before */
void set_places_control(const struct perfev_set *set, unsigned request);
/* set_ran_ns() - how long a row's task has been on its CPU, to be asked before the row is read; 0: unknown */
uint64_t set_ran_ns(const struct perfev_set *set, size_t row);

#endif
