/* SPDX-License-Identifier: MIT */
/*
 * Regions. Events are in as few groups as the PMUs allow, and count all the time; a region is the difference
 * of a reading at its begin and one at its end.
 *
 * The price: between the two readings of an empty region something is counted already (inner), and a region
 * around another counts all of that one's two readings (outer). Both are measured when the object is opened,
 * as the least of many tries, and taken off: inner once an entry, outer once an entry of a region within.
 */
#include "region.h"

#include "base/buffer.h"
#include "base/error.h"
#include "base/opts.h"

#include <perfev/probe.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define VARIABLE     "PERFEV_EVENTS"
#define TRIES	     200
#define DEPTH_MAX    1000

/* ---- opening --------------------------------------------------------------------------------------------- */

static const char *default_events(void)
{
	if (perfev_probe(PERFEV_CAN_HARDWARE, NULL) > 0)
		return "task-clock,page-faults,context-switches,cycles,instructions,branches,branch-misses";
	return "task-clock,page-faults,context-switches";
}

static int parse(struct perfev_regions *regions, const struct perfev_regions_opts *opts,
		 struct perfev_error *err)
{
	const char *text = opts->events;

	if (!text)
		text = getenv(opts->variable ? opts->variable : VARIABLE);
	return perfev_events_parse(&regions->events, text && *text ? text : default_events(), err);
}

static int open_group(struct perfev_regions *regions, const struct perfev_event *event,
		      struct perfev_error *err)
{
	struct perfev_counter_opts opts = {.size = sizeof(opts), .may_drop = PERFEV_DROP_KERNEL};
	struct perfev_group **groups =
		realloc(regions->groups, (regions->group_count + 1) * sizeof(*groups));
	int r;

	if (!groups)
		return error_memory(err);
	regions->groups = groups;
	r = perfev_group_open(&groups[regions->group_count], &event, 1, perfev_on_self(), &opts, err);
	if (r == 0)
		regions->group_count++;
	return r;
}

static bool is_software(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE || attr->type == PERF_TYPE_TRACEPOINT;
}

/* An event joins the last group; what cannot begins another one. */
static int place_event(struct perfev_regions *regions, size_t index, bool joins, struct perfev_error *err)
{
	struct region_event *event = &regions->all[index];
	struct perfev_event *source = perfev_events_at(regions->events, index);
	struct perf_event_attr *attr = perfev_event_attr(source);
	int r = -EINVAL;

	event->name = perfev_event_name(source);
	attr->inherit = 0;
	attr->disabled = 0;
	attr->sample_period = 0;
	attr->freq = 0;
	if (joins && regions->group_count && !attr->pinned && !attr->exclusive)
		r = perfev_group_add(regions->groups[regions->group_count - 1], source, NULL);
	if (r == -ENOMEM)
		return error_memory(err);
	if (r < 0) {
		attr->disabled = 1;
		r = open_group(regions, source, &event->error) < 0 ? event->error.code : 0;
		if (r < 0) {
			event->group = -1;
			if (r == -ENOMEM && err)
				*err = event->error;
			return r == -ENOMEM ? r : 0;
		}
	}
	event->group = (int)regions->group_count - 1;
	event->member = (size_t)r;
	return 0;
}

static void close_groups(struct perfev_regions *regions, size_t first)
{
	while (regions->group_count > first)
		perfev_group_close(regions->groups[--regions->group_count]);
}

/* Which events are placed in a pass. */
enum kind { HARDWARE, SOFTWARE, ANY };

static bool is_of_kind(const struct perfev_regions *regions, size_t index, enum kind kind)
{
	return kind == ANY || is_software(perfev_event_attr(perfev_events_at(regions->events, index))) ==
				      (kind == SOFTWARE);
}

/* Events from @first on, of which the first that was placed is in a group with others: out of it again. */
static void take_back(struct perfev_regions *regions, size_t first, size_t end, enum kind kind, int group)
{
	size_t i;

	close_groups(regions, (size_t)group + 1);
	for (i = first; i < end; i++)
		if (is_of_kind(regions, i, kind) && regions->all[i].group == group)
			perfev_group_drop(regions->groups[group], regions->all[i].member, NULL);
}

/* What the text has in braces stays together, if need be in a group of its own, unless no PMU can hold it. */
static int place_braced(struct perfev_regions *regions, size_t first, size_t end, enum kind kind, bool joins,
			struct perfev_error *err)
{
	const struct region_event *all = regions->all;
	size_t i, head;
	bool split;
	int r;

	do {
		head = end;
		split = false;
		for (r = 0, i = first; r == 0 && i < end; i++) {
			if (!is_of_kind(regions, i, kind))
				continue;
			r = place_event(regions, i, joins || head < end, err);
			if (r < 0 || all[i].group < 0)
				continue;
			split |= head < end && all[i].group != all[head].group;
			head = head < end ? head : i;
		}
		if (r < 0 || !split || all[head].member == 0)
			return r;
		take_back(regions, first, end, kind, all[head].group);
		joins = false;
	} while (true);
}

static int place_all(struct perfev_regions *regions, enum kind kind, bool joins, struct perfev_error *err)
{
	size_t first, end, before = joins ? 0 : regions->group_count;
	int r = 0;

	for (first = 0; r == 0 && first < regions->count; first = end) {
		for (end = first + 1; end < regions->count && perfev_events_leader(regions->events, end) == first;)
			end++;
		r = place_braced(regions, first, end, kind, joins, err);
		joins = regions->group_count > before;
	}
	return r;
}

/* All in one group is one system call. When groups have to take turns, those of the software need not: they
 * get a group of their own, which never waits. */
static int place_events(struct perfev_regions *regions, struct perfev_error *err)
{
	size_t i, software = 0;
	int r = place_all(regions, ANY, true, err);

	for (i = 0; i < regions->count; i++)
		software += is_of_kind(regions, i, SOFTWARE);
	if (r < 0 || regions->group_count < 2 || !software || software == regions->count)
		return r;
	close_groups(regions, 0);
	r = place_all(regions, SOFTWARE, true, err);
	return r < 0 ? r : place_all(regions, HARDWARE, false, err);
}

static int open_events(struct perfev_regions *regions, struct perfev_error *err)
{
	int r;

	regions->count = perfev_events_count(regions->events);
	regions->all = calloc(regions->count, sizeof(*regions->all));
	regions->inner = calloc(regions->count, sizeof(*regions->inner));
	regions->outer = calloc(regions->count, sizeof(*regions->outer));
	regions->now = calloc(regions->count, sizeof(*regions->now));
	if (!regions->all || !regions->inner || !regions->outer || !regions->now)
		return error_memory(err);
	r = place_events(regions, err);
	if (r < 0 || regions->group_count)
		return r;
	if (err)
		*err = regions->all[0].error;
	return regions->all[0].error.code;
}

static int start(struct perfev_regions *regions, struct perfev_error *err)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < regions->group_count; i++)
		r = perfev_group_start(regions->groups[i], err);
	return r;
}

/* ---- readings ---------------------------------------------------------------------------------------------- */

/* All events, in the order of the text, to @ret. One system call a group. */
static int read_all(const struct perfev_regions *regions, struct perfev_reading *ret)
{
	struct perfev_reading group[PERFEV_GROUP_MAX];
	size_t i, k;

	for (i = 0; i < regions->group_count; i++) {
		size_t n = perfev_group_count(regions->groups[i]);
		int r = perfev_group_read(regions->groups[i], group, n, NULL);

		if (r < 0)
			return r;
		for (k = 0; k < regions->count; k++)
			if (regions->all[k].group == (int)i)
				ret[k] = group[regions->all[k].member];
	}
	return 0;
}

static void add_difference(struct region_sum *sum, const struct perfev_reading *before,
			   const struct perfev_reading *after)
{
	if (after->status != PERFEV_COUNTED && after->status != PERFEV_NOT_COUNTED) {
		sum->status = after->status;
		return;
	}
	sum->count += after->count - before->count;
	sum->enabled_ns += after->enabled_ns - before->enabled_ns;
	sum->running_ns += after->running_ns - before->running_ns;
}

/* ---- the tree ------------------------------------------------------------------------------------------------- */

static struct region_node *node_at(const struct perfev_regions *regions, int index)
{
	return regions->nodes[index];
}

static int find(const struct perfev_regions *regions, int parent, const char *name)
{
	size_t i;

	for (i = 0; i < regions->node_count; i++)
		if (regions->nodes[i]->parent == parent && !strcmp(regions->nodes[i]->name, name))
			return (int)i;
	return -1;
}

static int add_node(struct perfev_regions *regions, int parent, const char *name)
{
	struct region_node **nodes =
		array_grow(regions->nodes, &regions->node_room, regions->node_count, sizeof(*nodes));
	struct region_node *node;

	if (!nodes)
		return -ENOMEM;
	regions->nodes = nodes;
	node = calloc(1, sizeof(*node) + regions->count * sizeof(node->sums[0]));
	if (!node)
		return -ENOMEM;
	node->name = strdup(name);
	if (!node->name) {
		free(node);
		return -ENOMEM;
	}
	node->parent = parent;
	node->depth = parent < 0 ? 0 : node_at(regions, parent)->depth + 1;
	nodes[regions->node_count] = node;
	return (int)regions->node_count++;
}

/* The region of that name here. The last one that was asked for is most often the next. */
static int enter(struct perfev_regions *regions, const char *name)
{
	int parent = regions->depth ? regions->frames[regions->depth - 1].node : -1, index;
	const struct region_node *last = regions->node_count ? regions->nodes[regions->last] : NULL;

	if (last && last->parent == parent && !strcmp(last->name, name))
		return (int)regions->last;
	index = find(regions, parent, name);
	if (index < 0)
		index = add_node(regions, parent, name);
	if (index >= 0)
		regions->last = (size_t)index;
	return index;
}

static struct region_frame *push(struct perfev_regions *regions)
{
	struct region_frame *frames;

	if (regions->depth == DEPTH_MAX)
		return NULL;
	frames = array_grow(regions->frames, &regions->frame_room, regions->depth, sizeof(*frames));
	if (!frames)
		return NULL;
	regions->frames = frames;
	while (regions->frames_made <= regions->depth) {
		frames[regions->frames_made].before = calloc(regions->count, sizeof(struct perfev_reading));
		if (!frames[regions->frames_made].before)
			return NULL;
		regions->frames_made++;
	}
	return &frames[regions->depth];
}

/* The reading is the last thing that is done: what comes before it belongs to nobody. */
int perfev_region_begin(struct perfev_regions *regions, const char *name)
{
	struct region_frame *frame = push(regions);
	int index = frame ? enter(regions, name) : -ENOMEM, r;

	if (index < 0)
		return index;
	frame->node = index;
	regions->depth++;
	r = read_all(regions, frame->before);
	if (r < 0)
		regions->depth--;
	return r;
}

int perfev_region_end_n(struct perfev_regions *regions, uint64_t iterations)
{
	int r = read_all(regions, regions->now);
	const struct region_frame *frame;
	struct region_node *node;
	size_t i;

	if (!regions->depth)
		return -EINVAL;
	if (r < 0)
		return r;
	frame = &regions->frames[--regions->depth];
	node = node_at(regions, frame->node);
	for (i = 0; i < regions->count; i++)
		if (regions->all[i].group >= 0)
			add_difference(&node->sums[i], &frame->before[i], &regions->now[i]);
	node->entries++;
	node->iterations += iterations;
	if (node->parent >= 0)
		node_at(regions, node->parent)->within++;
	return 0;
}

int perfev_region_end(struct perfev_regions *regions)
{
	return perfev_region_end_n(regions, 1);
}

/* ---- the overhead --------------------------------------------------------------------------------------------- */

static void clear_node(struct region_node *node, size_t count)
{
	node->entries = node->iterations = node->within = 0;
	memset(node->sums, 0, count * sizeof(node->sums[0]));
}

void perfev_regions_clear(struct perfev_regions *regions)
{
	size_t i;

	for (i = 0; i < regions->node_count; i++)
		clear_node(regions->nodes[i], regions->count);
}

/* An empty region, and with @nested one within it. The least counts so far, to @least. */
static int try_once(struct perfev_regions *regions, bool nested, uint64_t *least, bool first)
{
	int r = perfev_region_begin(regions, ""), i = 0;
	size_t k;

	if (r == 0 && nested) {
		r = perfev_region_begin(regions, "");
		if (r == 0)
			i = perfev_region_end(regions);
	}
	if (r == 0)
		r = perfev_region_end(regions);
	if (r < 0 || i < 0)
		return r < 0 ? r : i;
	for (k = 0; k < regions->count; k++)
		if (first || regions->nodes[0]->sums[k].count < least[k])
			least[k] = regions->nodes[0]->sums[k].count;
	perfev_regions_clear(regions);
	return 0;
}

static int calibrate(struct perfev_regions *regions)
{
	size_t i;
	int r = 0, t;

	for (t = 0; r == 0 && t < TRIES; t++)
		r = try_once(regions, false, regions->inner, t == 0);
	for (t = 0; r == 0 && t < TRIES; t++)
		r = try_once(regions, true, regions->outer, t == 0);
	for (i = 0; i < regions->count; i++)
		regions->outer[i] -= regions->outer[i] < regions->inner[i] ? regions->outer[i] : regions->inner[i];
	for (i = 0; i < regions->node_count; i++) {
		free(regions->nodes[i]->name);
		free(regions->nodes[i]);
	}
	regions->node_count = regions->last = 0;
	return r;
}

int perfev_regions_open(struct perfev_regions **ret, const struct perfev_regions_opts *opts,
			struct perfev_error *err)
{
	struct perfev_regions_opts full;
	struct perfev_regions *regions;
	int r = opts_copy(&full, sizeof(full), opts, err);

	if (r < 0)
		return r;
	regions = calloc(1, sizeof(*regions));
	if (!regions)
		return error_memory(err);
	r = parse(regions, &full, err);
	if (r == 0)
		r = open_events(regions, err);
	if (r == 0)
		r = start(regions, err);
	if (r == 0) {
		r = calibrate(regions);
		if (r == -ENOMEM)
			error_memory(err);
		else if (r < 0)
			error_errno(err, r, "cannot read the events of regions");
	}
	if (r < 0) {
		perfev_regions_close(regions);
		return r;
	}
	*ret = regions;
	return 0;
}

void perfev_regions_close(struct perfev_regions *regions)
{
	size_t i;

	if (!regions)
		return;
	close_groups(regions, 0);
	for (i = 0; i < regions->node_count; i++) {
		free(regions->nodes[i]->name);
		free(regions->nodes[i]);
	}
	for (i = 0; i < regions->frames_made; i++)
		free(regions->frames[i].before);
	perfev_events_free(regions->events);
	free(regions->groups);
	free(regions->all);
	free(regions->inner);
	free(regions->outer);
	free(regions->now);
	free(regions->nodes);
	free(regions->frames);
	free(regions);
}

/* ---- sums over threads ------------------------------------------------------------------------------------------ */

static bool same_events(const struct perfev_regions *a, const struct perfev_regions *b)
{
	size_t i;

	if (a->count != b->count)
		return false;
	for (i = 0; i < a->count; i++)
		if (strcmp(a->all[i].name, b->all[i].name))
			return false;
	return true;
}

/* What was taken off belongs to the thread that measured it, so that it is taken off before the sum. */
static void add_sums(struct perfev_regions *to, int index, const struct perfev_regions *from,
		     const struct region_node *more)
{
	struct region_node *node = node_at(to, index);
	size_t i;

	node->entries += more->entries;
	node->iterations += more->iterations;
	node->within += more->within;
	for (i = 0; i < to->count; i++) {
		node->sums[i].count += more->sums[i].count;
		node->sums[i].enabled_ns += more->sums[i].enabled_ns;
		node->sums[i].running_ns += more->sums[i].running_ns;
		if (more->sums[i].status)
			node->sums[i].status = more->sums[i].status;
		node->sums[i].taken += more->sums[i].taken + region_overhead(from, more, i);
		node->sums[i].taken_entries += more->entries;
		node->sums[i].taken_within += more->within;
	}
}

int perfev_regions_add(struct perfev_regions *to, const struct perfev_regions *from, struct perfev_error *err)
{
	int *place = calloc(from->node_count + 1, sizeof(*place));
	size_t i;

	if (!same_events(to, from) || from->depth) {
		free(place);
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot add regions: %s",
				 from->depth ? "one of them has not ended; end it first"
					     : "they measure other events; open both with the same text");
	}
	for (i = 0; place && i < from->node_count; i++) {
		const struct region_node *node = from->nodes[i];
		int parent = node->parent < 0 ? -1 : place[node->parent];

		place[i] = find(to, parent, node->name);
		if (place[i] < 0)
			place[i] = add_node(to, parent, node->name);
		if (place[i] < 0)
			break;
		add_sums(to, place[i], from, node);
	}
	if (!place || i < from->node_count) {
		free(place);
		return error_memory(err);
	}
	free(place);
	return 0;
}
