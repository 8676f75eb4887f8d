/* SPDX-License-Identifier: MIT */
/* A hash table that is at most half full, so that a look into it ends soon at an empty slot. */
#include "map.h"
#include "hash.h"

#include <stdbool.h>
#include <stdlib.h>

struct map_slot {
	uint64_t key, value;
	bool used;
};

static struct map_slot *place(const struct map *map, uint64_t key)
{
	size_t mask = map->room - 1, at = (size_t)hash_u64(key) & mask;

	while (map->slots[at].used && map->slots[at].key != key)
		at = (at + 1) & mask;
	return &map->slots[at];
}

static int grow(struct map *map)
{
	struct map bigger = {NULL, map->count, map->room ? map->room * 2 : 64};
	size_t i;

	bigger.slots = calloc(bigger.room, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -1;
	for (i = 0; i < map->room; i++)
		if (map->slots[i].used)
			*place(&bigger, map->slots[i].key) = map->slots[i];
	free(map->slots);
	*map = bigger;
	return 0;
}

uint64_t *map_find(const struct map *map, uint64_t key)
{
	struct map_slot *slot = map->room ? place(map, key) : NULL;

	return slot && slot->used ? &slot->value : NULL;
}

uint64_t *map_put(struct map *map, uint64_t key, uint64_t value)
{
	struct map_slot *slot;

	if (map->count * 2 >= map->room && grow(map) < 0)
		return NULL;
	slot = place(map, key);
	if (!slot->used) {
		slot->used = true;
		slot->key = key;
		slot->value = value;
		map->count++;
	}
	return &slot->value;
}

void map_free(struct map *map)
{
	free(map->slots);
	map->slots = NULL;
	map->count = map->room = 0;
}
