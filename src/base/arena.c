/* SPDX-License-Identifier: MIT */
/* Arenas and interned texts. */
#include "arena.h"
#include "hash.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES (64 * 1024)

struct arena_block {
	struct arena_block *next;
	size_t used, room;
	size_t align_; /* the data begin at a multiple of 8 on 32-bit machines too */
};

void *arena_take(struct arena *arena, size_t size)
{
	struct arena_block *block = arena->blocks;
	size_t need = (size + 7) & ~(size_t)7;
	unsigned char *at;

	if (need < size)
		return NULL;
	if (!block || block->room - block->used < need) {
		size_t room = need > BLOCK_BYTES ? need : BLOCK_BYTES;

		if (room > SIZE_MAX - sizeof(*block))
			return NULL;
		block = malloc(sizeof(*block) + room);
		if (!block)
			return NULL;
		block->next = arena->blocks;
		block->used = 0;
		block->room = room;
		arena->blocks = block;
	}
	at = (unsigned char *)(block + 1) + block->used;
	block->used += need;
	return at;
}

char *arena_text(struct arena *arena, const char *text, size_t size)
{
	char *copy = arena_take(arena, size + 1);

	if (!copy)
		return NULL;
	memcpy(copy, text, size);
	copy[size] = 0;
	return copy;
}

void arena_free(struct arena *arena)
{
	struct arena_block *block, *next;

	for (block = arena->blocks; block; block = next) {
		next = block->next;
		free(block);
	}
	arena->blocks = NULL;
}

static size_t place(const struct interner *interner, const char *text)
{
	size_t mask = interner->room - 1, at = (size_t)hash_bytes(text, strlen(text)) & mask;

	while (interner->slots[at] && strcmp(interner->slots[at], text))
		at = (at + 1) & mask;
	return at;
}

static int grow(struct interner *interner)
{
	const char **old = interner->slots;
	size_t old_room = interner->room, i;

	interner->room = old_room ? old_room * 2 : 256;
	interner->slots = calloc(interner->room, sizeof(*old));
	if (!interner->slots) {
		interner->slots = old;
		interner->room = old_room;
		return -1;
	}
	for (i = 0; i < old_room; i++)
		if (old[i])
			interner->slots[place(interner, old[i])] = old[i];
	free(old);
	return 0;
}

const char *intern(struct interner *interner, const char *text)
{
	size_t at;

	if (interner->count * 2 >= interner->room && grow(interner) < 0)
		return NULL;
	at = place(interner, text);
	if (!interner->slots[at]) {
		interner->slots[at] = arena_text(&interner->arena, text, strlen(text));
		if (interner->slots[at])
			interner->count++;
	}
	return interner->slots[at];
}

void interner_free(struct interner *interner)
{
	arena_free(&interner->arena);
	free(interner->slots);
	interner->slots = NULL;
	interner->count = interner->room = 0;
}
