/* SPDX-License-Identifier: MIT */
/*
 * Profiles: samples -> call trees and sums of functions.
 *
 * Children always have higher numbers than their parents, so sums over subtrees are one pass backwards. Sums of
 * functions are kept beside the trees as samples come (profile_add.c), because nameless places are one node in a tree but
 * rows of their own in the table, and because recursion must count a sample once.
 */
#include "profile.h"

#include "base/buffer.h"
#include "base/digits.h"
#include "base/error.h"
#include "base/hash.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int perfev_profile_new(struct perfev_profile **ret, struct perfev_error *err)
{
	struct perfev_profile *profile = calloc(1, sizeof(*profile));

	if (!profile)
		return error_memory(err);
	*ret = profile;
	return 0;
}

void perfev_profile_free(struct perfev_profile *profile)
{
	size_t i;

	if (!profile)
		return;
	for (i = 0; i < profile->event_count; i++)
		free(profile->events[i].stats);
	interner_free(&profile->names);
	free(profile->frames);
	free(profile->trees);
	free(profile->frame_slots);
	free(profile->nodes);
	free(profile->node_slots);
	free(profile->events);
	free(profile);
}

void perfev_profile_set_flat(struct perfev_profile *profile)
{
	profile->flat = true;
}

/* ---- hash tables ---------------------------------------------------------------------------------------- */

static size_t frame_hash(const char *symbol, const char *module, uint64_t address, uint32_t kind)
{
	/* interned names: the address of the text stands for it */
	return (size_t)hash_pair(hash_pair((uintptr_t)symbol, (uintptr_t)module), address * 4 + kind);
}

static int grow_frames(struct perfev_profile *p)
{
	size_t count = p->frame_slot_count ? p->frame_slot_count * 2 : 1024, i, at;
	uint32_t *slots = calloc(count, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (i = 0; i < p->frame_count; i++) {
		const struct frame *f = &p->frames[i];

		at = frame_hash(f->symbol, f->module, f->address, f->kind) & (count - 1);
		while (slots[at])
			at = (at + 1) & (count - 1);
		slots[at] = (uint32_t)i + 1;
	}
	free(p->frame_slots);
	p->frame_slots = slots;
	p->frame_slot_count = count;
	return 0;
}

/* ---- events and frames ------------------------------------------------------------------------------------ */

int perfev_profile_event(struct perfev_profile *profile, const char *name, struct perfev_error *err)
{
	struct event *events =
		array_grow(profile->events, &profile->event_room, profile->event_count, sizeof(*events));
	struct event *event;

	if (!events)
		return error_memory(err);
	profile->events = events;
	event = &events[profile->event_count];
	memset(event, 0, sizeof(*event));
	event->name = intern(&profile->names, name);
	event->root = (uint32_t)profile->node_count;
	if (!event->name ||
	    profile_add_node(profile, event->root, NO_FRAME, (uint32_t)profile->event_count) < 0)
		return error_memory(err);
	return (int)profile->event_count++;
}

/* "[libfoo.so]" for /usr/lib/libfoo.so; a module in brackets is shown as it is. Mostly the last one's is asked for again. */
static const char *nameless_label(struct perfev_profile *p, const char *module)
{
	const char *base = strrchr(module, '/');
	char text[300];

	if (module[0] == '[')
		return module;
	if (module == p->labelled && p->label)
		return p->label;
	base = base ? base + 1 : module;
	snprintf(text, sizeof(text), "[%.290s]", base[0] ? base : "unknown");
	p->labelled = module;
	p->label = intern(&p->names, text);
	return p->label;
}

/* The frame of interned names. */
static int find_frame(struct perfev_profile *p, const struct frame *wanted, uint32_t *ret)
{
	struct frame *frames;
	uint32_t *trees;
	size_t at;

	if (p->frame_count * 2 >= p->frame_slot_count && grow_frames(p) < 0)
		return -ENOMEM;
	at = frame_hash(wanted->symbol, wanted->module, wanted->address, wanted->kind) &
	     (p->frame_slot_count - 1);
	for (; p->frame_slots[at]; at = (at + 1) & (p->frame_slot_count - 1)) {
		const struct frame *f = &p->frames[p->frame_slots[at] - 1];

		if (f->symbol == wanted->symbol && f->module == wanted->module &&
		    f->address == wanted->address && f->kind == wanted->kind) {
			*ret = p->frame_slots[at] - 1;
			return 0;
		}
	}
	frames = array_grow(p->frames, &p->frame_room, p->frame_count, sizeof(*frames));
	if (!frames || p->frame_count >= UINT32_MAX - 2)
		return -ENOMEM;
	p->frames = frames;
	trees = array_grow(p->trees, &p->tree_room, p->frame_count, sizeof(*trees));
	if (!trees)
		return -ENOMEM;
	p->trees = trees;
	*ret = (uint32_t)p->frame_count;
	trees[p->frame_count] = *ret;
	frames[p->frame_count++] = *wanted;
	p->frame_slots[at] = *ret + 1;
	return 0;
}

int perfev_profile_intern(struct perfev_profile *profile, uint32_t *ret,
			  const struct perfev_profile_frame *frame, struct perfev_error *err)
{
	struct frame wanted;
	uint32_t tree;

	memset(&wanted, 0, sizeof(wanted));
	wanted.module = intern(&profile->names, frame->module ? frame->module : "");
	wanted.kind = frame->kind;
	if (!wanted.module)
		return error_memory(err);
	if (frame->symbol) {
		wanted.symbol = intern(&profile->names, frame->symbol);
		wanted.label = wanted.name = wanted.symbol;
		wanted.address = frame->address;
		if (!wanted.symbol || find_frame(profile, &wanted, ret) < 0)
			return error_memory(err);
		return 0;
	}
	wanted.label = nameless_label(profile, wanted.module);
	wanted.name = wanted.label;
	wanted.address = UINT64_MAX; /* the one that stands for all in trees */
	if (!wanted.label || find_frame(profile, &wanted, &tree) < 0)
		return error_memory(err);
	wanted.name = NULL;
	wanted.address = frame->address;
	if (find_frame(profile, &wanted, ret) < 0)
		return error_memory(err);
	profile->trees[*ret] = tree;
	return 0;
}

/* ---- results ------------------------------------------------------------------------------------------------ */

size_t perfev_profile_event_count(const struct perfev_profile *profile)
{
	return profile->event_count;
}

bool perfev_profile_event_at(const struct perfev_profile *profile, size_t index,
			     struct perfev_profile_event_info *ret)
{
	if (index >= profile->event_count)
		return false;
	ret->name = profile->events[index].name;
	ret->samples = profile->events[index].samples;
	ret->weight = profile->events[index].weight;
	ret->root = profile->events[index].root;
	ret->reserved = 0;
	return true;
}

size_t perfev_profile_node_count(const struct perfev_profile *profile)
{
	return profile->node_count;
}

int perfev_profile_nodes(const struct perfev_profile *profile, struct perfev_profile_node **ret,
			 size_t *count, struct perfev_error *err)
{
	struct perfev_profile_node *all = calloc(profile->node_count + 1, sizeof(*all));
	size_t i;

	if (!all)
		return error_memory(err);
	for (i = 0; i < profile->node_count; i++) {
		const struct node *n = &profile->nodes[i];

		all[i].parent = n->parent;
		all[i].frame = n->frame;
		all[i].event = n->event;
		all[i].self = all[i].total = n->self;
		all[i].self_weight = all[i].total_weight = n->self_weight;
	}
	for (i = profile->node_count; i-- > 0;) {
		if (all[i].parent == i)
			continue;
		all[all[i].parent].total += all[i].total;
		all[all[i].parent].total_weight += all[i].total_weight;
	}
	*ret = all;
	*count = profile->node_count;
	return 0;
}

const char *perfev_profile_label(const struct perfev_profile *profile, uint32_t frame)
{
	return frame < profile->frame_count ? profile->frames[frame].label : NULL;
}

bool perfev_profile_frame_at(const struct perfev_profile *profile, uint32_t frame,
			     struct perfev_profile_frame *ret)
{
	const struct frame *f;

	if (frame >= profile->frame_count)
		return false;
	f = &profile->frames[frame];
	ret->symbol = f->symbol;
	ret->module = f->module;
	ret->address = f->address;
	ret->kind = f->kind;
	ret->reserved = 0;
	return true;
}
