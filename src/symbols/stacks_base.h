/* SPDX-License-Identifier: MIT */
#ifndef SYMBOLS_STACKS_BASE_H
#define SYMBOLS_STACKS_BASE_H

#include "locate.h"
#include "symbols_base.h"
#include "unwind_base.h"

#include "base/buffer.h"

#include <perfev/stacks.h>

#include <pthread.h>

#define BATCH_ITEMS 512
#define BATCH_BYTES (512 * 1024) /* of records; one more may begin */

/* A sample. */
struct item {
	struct perfev_record record;
	struct perfev_sample sample; /* of it, when it was located */
	const struct perfev_layout *layout;
	uint64_t cookie;
	const char *comm;
	uint32_t view;	       /* index */
	uint32_t first, count; /* of what was located; of one that has names already, keys */
	uint32_t end;
	bool named, unwanted;
};

enum batch_state {
	BATCH_EMPTY,
	BATCH_FULL,
	BATCH_LOCATED
};

/* Samples that one thread works on. */
struct batch {
	enum batch_state state;
	struct item items[BATCH_ITEMS];
	size_t count, bytes;
	struct space_view views[BATCH_ITEMS]; /* of one process at one time */
	int32_t pid;			      /* of the last one */
	size_t view_count;
	struct arena copies; /* of records whose bytes do not stay */
	struct located *located;
	size_t located_count, located_room;
	uint32_t *keys;
	size_t key_count, key_room;
	int code; /* why there are no more items than count; 0: it was full */
	struct perfev_error err;
};

/* What a thread needs for itself. */
struct worker {
	struct perfev_stacks *stacks;
	struct perfev_symbols *symbols;
	const struct perfev_stacks_opts *opts;
	struct locator *locator;
	struct perfev_unwinder *unwinder;
	pthread_t thread;
};

/*
 * stacks_locate.c: the places of an item's stack. @view: what was mapped in its process; NULL: it is now, and the places get
 * their names at once. Then a process may also have code that it compiles.
 * Return: 0; -EINVAL: its record is damaged; -ENOMEM.
 */
int stacks_locate(struct worker *worker, struct batch *batch, struct item *item, struct space_view *view,
		  struct perfev_error *err);
/* An item whose keys are asked for soon. */
void stacks_name_soon(const struct worker *worker, const struct batch *batch, const struct item *item);
/* The keys of an item's frames; they live until the next call for the batch. Return: 0, -ENOMEM. */
int stacks_name(struct worker *worker, struct batch *batch, const struct item *item, const uint32_t **keys, uint32_t *count);

#endif
