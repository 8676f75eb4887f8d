/* SPDX-License-Identifier: MIT */
/* A map from numbers to numbers. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct map_slot;

struct map {
	struct map_slot *slots; /* open addressing */
	size_t count, room;
};

/* The value of a key, or NULL. It stays where it is until the next map_put(). */
uint64_t *map_find(const struct map *map, uint64_t key);
/* The same; a key that is new gets @value. NULL without memory. */
uint64_t *map_put(struct map *map, uint64_t key, uint64_t value);
void map_free(struct map *map);

#endif
