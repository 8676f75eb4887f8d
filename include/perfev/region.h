/* SPDX-License-Identifier: MIT */
/*
 * perfev/region.h - regions: what a piece of code costs, measured from inside
 *
 *	perfev_region_begin(regions, "sort");
 *	... the code ...
 *	perfev_region_end(regions);
 *
 * Regions nest, and repeat as often as one likes; what they cost is summed by name, within the region
 * around them. Nothing is started or stopped: a region is the difference of two readings, which is less
 * work for the kernel and lets regions overlap. The price of the readings themselves is measured when
 * the object is opened, taken off, and shown.
 *
 * One object measures the thread that opened it. Each thread has its own; perfev_regions_add() sums.
 */
#ifndef PERFEV_REGION_H
#define PERFEV_REGION_H

#include <perfev/counter.h>

PERFEV_BEGIN

struct perfev_regions;

struct perfev_regions_opts {
	size_t size;
	const char *events;   /* as for perfev_events_parse(); NULL: what the variable says */
	const char *variable; /* of the environment; NULL: PERFEV_EVENTS */
};

/*
 * perfev_regions_open() - open events on the calling thread, for regions of it
 * Without @opts, and when the variable is not set: task-clock, page-faults, context-switches and, where the
 * machine has them, cycles, instructions, branches and branch-misses. Events that no PMU can hold at once
 * take turns (perfev_region_value.share); those that cannot be opened are values with a status and a
 * reason; kernel code is left out when this user may not count it.
 * Return: 0; -EINVAL when the text of events is wrong; a negative errno when none can be opened.
 * Since: 0.1
 */
PERFEV_API int perfev_regions_open(struct perfev_regions **ret, const struct perfev_regions_opts *opts,
				   struct perfev_error *err);
PERFEV_API void perfev_regions_close(struct perfev_regions *regions);

/*
 * perfev_region_begin() - a region begins here, within the one that has begun last and not ended
 * @name: copied the first time. Allocates when a name or a depth is new.
 * Return: 0; -ENOMEM; a negative errno of the reading. After a failure no region has begun.
 * Since: 0.1
 */
PERFEV_API int perfev_region_begin(struct perfev_regions *regions, const char *name);

/*
 * perfev_region_end() - the region that has begun last ends here
 * perfev_region_end_n() - the same, after @iterations of what is measured: values are also per iteration
 * Return: 0; -EINVAL when none has begun; a negative errno of the reading.
 * Since: 0.1
 */
PERFEV_API int perfev_region_end(struct perfev_regions *regions);
PERFEV_API int perfev_region_end_n(struct perfev_regions *regions, uint64_t iterations);

/* ---- results: at any time, of what has ended ------------------------------------------------------- */

struct perfev_region_info {
	const char *name;    /* lives as long as the object */
	int parent;	     /* the index of the region around it; -1: none */
	uint32_t depth;	     /* 0: none is around it */
	uint64_t entries;    /* how often it has ended */
	uint64_t iterations; /* the sum of what perfev_region_end_n() said; 1 for each perfev_region_end() */
};

/* What one event counted in one region. */
struct perfev_region_value {
	const char *event;
	uint64_t count;	      /* of all entries, without the overhead; estimated when share is below 1 */
	uint64_t overhead;    /* what was taken off */
	double per_iteration; /* count / iterations; 0 when there were none */
	double share;	      /* of the time of the region, that the event had a counter */
	enum perfev_status status;
	const struct perfev_error *error; /* why it could not be opened, or NULL */
};

/* perfev_regions_count(), perfev_region_at() - regions in the order of their first begin; false when there
 * is none of that number */
PERFEV_API size_t perfev_regions_count(const struct perfev_regions *regions);
PERFEV_API bool perfev_region_at(const struct perfev_regions *regions, size_t index,
				 struct perfev_region_info *ret);
/* perfev_region_find() - the first region of that name, or -1 */
PERFEV_API int perfev_region_find(const struct perfev_regions *regions, const char *name);

/* perfev_regions_events() - how many events there are; perfev_region_value_at() - what @event counted in
 * @region; false when there is none of that number */
PERFEV_API size_t perfev_regions_events(const struct perfev_regions *regions);
PERFEV_API bool perfev_region_value_at(const struct perfev_regions *regions, size_t region, size_t event,
				       struct perfev_region_value *ret);

/*
 * perfev_region_metric() - a number computed from the counts of a region
 * @formula: names of events, numbers, + - * / and parentheses: "instructions / cycles"
 * Return: 0; -EINVAL (why SYNTAX or UNKNOWN_EVENT, with the column) for a formula that is none; -ENODATA when
 * a part was not counted, or what it is divided by is 0: never a number from a part that is missing; -ERANGE
 * when the result is too large.
 * Since: 0.1
 */
PERFEV_API int perfev_region_metric(double *ret, const struct perfev_regions *regions, size_t region,
				    const char *formula, struct perfev_error *err);

/*
 * perfev_regions_add() - add what another thread's object has to @to
 * Both must have the same events, and no region of @from may be open.
 * Return: 0; -EINVAL; -ENOMEM.
 */
PERFEV_API int perfev_regions_add(struct perfev_regions *to, const struct perfev_regions *from,
				  struct perfev_error *err);

/* perfev_regions_clear() - forget what was measured; regions that have begun go on */
PERFEV_API void perfev_regions_clear(struct perfev_regions *regions);

/*
 * perfev_regions_text(), perfev_regions_json() - all results, as a table for people, as one JSON document
 * Names are shown on one line, with ? for controls; in the JSON with U+FFFD for each byte that is no UTF-8.
 * Return: 0; what the sink returned.
 */
PERFEV_API int perfev_regions_text(const struct perfev_regions *regions, struct perfev_sink sink);
PERFEV_API int perfev_regions_json(const struct perfev_regions *regions, struct perfev_sink sink);

PERFEV_END

#endif
