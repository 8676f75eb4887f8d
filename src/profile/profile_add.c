/* SPDX-License-Identifier: MIT */
/*
 * Samples -> nodes of call trees and sums of functions.
 *
 * A node is found by (parent, frame) in one hash table for all events. Such a table is larger than what is near to a processor,
 * and each step of a stack needs the one before it, so that one stack after the other would wait for memory at each step. So many
 * stacks go together: each a step as far as their nodes are there, while the next steps of all are fetched. What is not there is
 * then made stack by stack: nodes have the same numbers as if the stacks had come one by one.
 */
#include "profile.h"

#include "base/buffer.h"
#include "base/error.h"
#include "base/fetch.h"
#include "base/hash.h"
#include "base/large.h"
#include "base/noinline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GROUP 32 /* stacks that go together */

/* A stack on its way from the root. */
struct walk {
	const struct node_slot *slot; /* where the next step is looked for */
	const uint32_t *frames;
	size_t left; /* steps; the next one is the last of those frames */
	uint32_t node, frame; /* where it is, and the frame of the next step */
	uint32_t index; /* of the stack in its group */
};

/* ---- nodes ------------------------------------------------------------------------------------------------ */

static int grow_nodes(struct perfev_profile *p)
{
	size_t count = p->node_slot_count ? p->node_slot_count * 2 : 1024, i, at;
	struct node_slot *slots = large_zeroed(count, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (i = 0; i < p->node_slot_count; i++) {
		const struct node_slot *slot = &p->node_slots[i];

		if (!slot->node)
			continue;
		at = (size_t)hash_pair(slot->parent, slot->frame) & (count - 1);
		while (slots[at].node)
			at = (at + 1) & (count - 1);
		slots[at] = *slot;
	}
	free(p->node_slots);
	p->node_slots = slots;
	p->node_slot_count = count;
	return 0;
}

int profile_add_node(struct perfev_profile *p, uint32_t parent, uint32_t frame, uint32_t event)
{
	struct node *nodes = array_grow(p->nodes, &p->node_room, p->node_count, sizeof(*nodes));

	if (!nodes || p->node_count >= UINT32_MAX - 1)
		return -ENOMEM;
	p->nodes = nodes;
	memset(&nodes[p->node_count], 0, sizeof(*nodes));
	nodes[p->node_count].parent = parent;
	nodes[p->node_count].frame = frame;
	nodes[p->node_count++].event = event;
	return 0;
}

static inline struct node_slot *find_first(const struct perfev_profile *p, uint32_t parent, uint32_t frame)
{
	return &p->node_slots[(size_t)hash_pair(parent, frame) & (p->node_slot_count - 1)];
}

/* Where it is in the table, from its first slot on, or the free slot where it would be; there always is one. */
static inline const struct node_slot *find_from(const struct perfev_profile *p, const struct node_slot *slot, uint32_t parent,
						uint32_t frame)
{
	const struct node_slot *end = p->node_slots + p->node_slot_count;

	while (slot->node && (slot->parent != parent || slot->frame != frame))
		slot = slot + 1 == end ? p->node_slots : slot + 1;
	return slot;
}

static inline struct node_slot *find_slot(const struct perfev_profile *p, uint32_t parent, uint32_t frame)
{
	return p->node_slots + (find_from(p, find_first(p, parent, frame), parent, frame) - p->node_slots);
}

NOINLINE static int new_child(struct perfev_profile *p, uint32_t parent, uint32_t frame, uint32_t event, uint32_t *ret)
{
	struct node_slot *slot;

	if (p->node_count * 2 >= p->node_slot_count && grow_nodes(p) < 0)
		return -ENOMEM;
	slot = find_slot(p, parent, frame);
	*ret = (uint32_t)p->node_count;
	if (profile_add_node(p, parent, frame, event) < 0)
		return -ENOMEM;
	slot->parent = parent;
	slot->frame = frame;
	slot->node = *ret + 1;
	return 0;
}

/* Mostly there is one. */
static inline int child_of(struct perfev_profile *p, uint32_t parent, uint32_t frame, uint32_t event, uint32_t *ret)
{
	const struct node_slot *slot = p->node_slots ? find_slot(p, parent, frame) : NULL;

	if (!slot || !slot->node)
		return new_child(p, parent, frame, event, ret);
	*ret = slot->node - 1;
	return 0;
}

static int reserve_stats(struct perfev_profile *p, struct event *event)
{
	struct stat *stats;

	if (event->stat_count >= p->frame_count)
		return 0;
	stats = large_zeroed(p->frame_room, sizeof(*stats));
	if (!stats)
		return -ENOMEM;
	if (event->stat_count)
		memcpy(stats, event->stats, event->stat_count * sizeof(*stats));
	free(event->stats);
	event->stats = stats;
	event->stat_count = p->frame_room;
	return 0;
}

static void count_functions(struct perfev_profile *p, struct event *event,
			    const struct perfev_profile_stack *stack)
{
	uint64_t stamp = ++p->sample;
	size_t i;

	for (i = 0; i < stack->count; i++) {
		struct stat *stat = &event->stats[stack->frames[i]];

		if (i == 0) {
			stat->self++;
			stat->self_weight += stack->weight;
		}
		if (stat->stamp == stamp)
			continue; /* recursion */
		stat->stamp = stamp;
		stat->total++;
		stat->total_weight += stack->weight;
	}
}

static bool is_valid(const struct perfev_profile *p, const struct perfev_profile_stack *stack)
{
	size_t i;

	if (stack->event >= p->event_count ||
	    (stack->comm != NO_FRAME && stack->comm >= p->frame_count))
		return false;
	for (i = 0; i < stack->count; i++)
		if (stack->frames[i] >= p->frame_count)
			return false;
	return true;
}

/* ---- stacks together -------------------------------------------------------------------------------------- */

/* The next step is there to be looked for: its slot is fetched. */
static inline void aim(const struct perfev_profile *p, struct walk *walk)
{
	walk->frame = p->trees[walk->frames[walk->left - 1]];
	walk->slot = find_first(p, walk->node, walk->frame);
	fetch(walk->slot);
}

/* A step of each, as far as nodes are there. Return: how many go on, which stand first in @going. */
static size_t walk_on(const struct perfev_profile *p, struct walk *going, size_t count, struct walk *ends)
{
	size_t left = 0, i;

	for (i = 0; i < count; i++) {
		struct walk *walk = &going[i];
		const struct node_slot *slot = find_from(p, walk->slot, walk->node, walk->frame);

		if (slot->node) {
			walk->node = slot->node - 1;
			walk->left--;
			if (walk->left) {
				aim(p, walk);
				going[left++] = *walk;
				continue;
			}
			fetch(&p->nodes[walk->node]);
		}
		ends[walk->index] = *walk;
	}
	return left;
}

/* The root, and the name of the thread, which are near: a few stacks in a row have the same. Return: 0, -ENOMEM. */
static inline int begin_walk(struct perfev_profile *p, const struct perfev_profile_stack *stack, struct walk *walk)
{
	struct event *event = &p->events[stack->event];
	size_t i;

	walk->frames = stack->frames;
	walk->left = stack->count;
	walk->node = event->root;
	if (stack->comm != NO_FRAME) {
		if (event->comm != stack->comm || !event->comm_node) {
			uint32_t node;

			if (child_of(p, event->root, stack->comm, stack->event, &node) < 0)
				return -ENOMEM;
			event->comm = stack->comm;
			event->comm_node = node;
		}
		walk->node = event->comm_node;
	}
	for (i = 0; i < stack->count; i++)
		fetch(&event->stats[stack->frames[i]]);
	return 0;
}

/* The rest of its way; then it counts. */
static inline int finish(struct perfev_profile *p, const struct perfev_profile_stack *stack, const struct walk *walk)
{
	struct event *event = &p->events[stack->event];
	uint32_t node = walk->node;
	size_t left = walk->left;

	for (; left; left--)
		if (child_of(p, node, p->trees[walk->frames[left - 1]], stack->event, &node) < 0)
			return -ENOMEM;
	p->nodes[node].self++;
	p->nodes[node].self_weight += stack->weight;
	event->samples++;
	event->weight += stack->weight;
	count_functions(p, event, stack);
	return 0;
}

/* Whether a stack can go with others: nodes of others are not made before those of its own thread's name. */
static inline bool goes_together(const struct perfev_profile *p, const struct perfev_profile_stack *stack)
{
	const struct event *event = &p->events[stack->event];

	return stack->comm == NO_FRAME || (event->comm == stack->comm && event->comm_node) ||
	       (p->node_slots && find_slot(p, event->root, stack->comm)->node);
}

static int add_group(struct perfev_profile *p, const struct perfev_profile_stack *stacks, size_t count)
{
	struct walk going[GROUP], ends[GROUP];
	size_t left = 0, i;

	for (i = 0; i < count; i++) {
		if (begin_walk(p, &stacks[i], &going[left]) < 0)
			return -ENOMEM;
		going[left].index = (uint32_t)i;
		if (going[left].left && p->node_slots)
			aim(p, &going[left++]);
		else
			ends[i] = going[left];
	}
	while (left)
		left = walk_on(p, going, left, ends);
	for (i = 0; i < count; i++)
		if (finish(p, &stacks[i], &ends[i]) < 0)
			return -ENOMEM;
	return 0;
}

/* The same without trees; what is counted is fetched before. */
static void add_flat(struct perfev_profile *p, const struct perfev_profile_stack *stacks, size_t count)
{
	size_t i, k;

	for (i = 0; i < count; i++)
		for (k = 0; k < stacks[i].count; k++)
			fetch(&p->events[stacks[i].event].stats[stacks[i].frames[k]]);
	for (i = 0; i < count; i++) {
		struct event *event = &p->events[stacks[i].event];

		event->samples++;
		event->weight += stacks[i].weight;
		count_functions(p, event, &stacks[i]);
	}
}

/* Return: how many were added; -ENOMEM. */
static int add_some(struct perfev_profile *p, const struct perfev_profile_stack *stacks, size_t count)
{
	size_t n = 0;

	for (; n < count && n < GROUP && (!n || p->flat || goes_together(p, &stacks[n])); n++)
		if (reserve_stats(p, &p->events[stacks[n].event]) < 0)
			return -ENOMEM;
	if (p->flat) {
		add_flat(p, stacks, n);
		return (int)n;
	}
	return add_group(p, stacks, n) < 0 ? -ENOMEM : (int)n;
}

int perfev_profile_add_all(struct perfev_profile *profile, const struct perfev_profile_stack *stacks, size_t count,
			   struct perfev_error *err)
{
	size_t i;
	int n;

	for (i = 0; i < count; i++)
		if (!is_valid(profile, &stacks[i]))
			return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
					 "cannot add a sample: it names an event or a frame that the profile did "
					 "not give out");
	for (i = 0; i < count; i += (size_t)n) {
		n = add_some(profile, stacks + i, count - i);
		if (n < 0)
			return error_memory(err);
	}
	return 0;
}

int perfev_profile_add(struct perfev_profile *profile, const struct perfev_profile_stack *stack, struct perfev_error *err)
{
	return perfev_profile_add_all(profile, stack, 1, err);
}
