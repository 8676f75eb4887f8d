/* SPDX-License-Identifier: MIT */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include "base/arena.h"

#include <perfev/profile.h>

#define NO_FRAME UINT32_MAX

struct frame {
	const char *symbol; /* interned, or NULL */
	const char *module; /* interned */
	const char *label;  /* what trees show; interned */
	const char *name;   /* what tables show: the symbol; NULL: the address */
	uint64_t address;
	uint32_t kind;
};

struct node {
	uint64_t self, self_weight;
	uint32_t parent, frame, event;
};

/* A node, and what it is found by; node 0: empty. */
struct node_slot {
	uint32_t parent, frame, node; /* the node + 1 */
};

struct stat {
	uint64_t self, total, self_weight, total_weight;
	uint64_t stamp; /* number of the last sample that was counted in total */
};

struct event {
	const char *name;
	uint64_t samples, weight;
	uint32_t root;
	uint32_t comm, comm_node; /* the last thread's name, and its node; 0: none */
	struct stat *stats; /* by frame */
	size_t stat_count;
};

struct perfev_profile {
	struct interner names;
	const char *labelled, *label; /* the last module of a nameless place, and what trees show */
	struct frame *frames;
	size_t frame_count, frame_room;
	uint32_t *trees; /* for each frame the one that stands for it in trees: itself, or the module's nameless one */
	size_t tree_room;
	uint32_t *frame_slots; /* hash: frame + 1 */
	size_t frame_slot_count;
	struct node *nodes;
	size_t node_count, node_room;
	struct node_slot *node_slots; /* hash of parent and frame */
	size_t node_slot_count;
	struct event *events;
	size_t event_count, event_room;
	uint64_t sample; /* number of the current one */
	bool flat;	 /* samples make no nodes */
};

/* profile_add.c: a node of a tree, which has the next number. Return: 0, -ENOMEM. */
int profile_add_node(struct perfev_profile *p, uint32_t parent, uint32_t frame, uint32_t event);

#endif
