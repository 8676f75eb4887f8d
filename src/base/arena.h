/* SPDX-License-Identifier: MIT */
/* Memory that is freed all at once: names and other small things that live as long as their owner. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena {
	struct arena_block *blocks; /* newest first */
};

/* @size bytes, aligned to 8, not set; NULL without memory. */
void *arena_take(struct arena *arena, size_t size);
/* A terminated copy of @size characters. */
char *arena_text(struct arena *arena, const char *text, size_t size);
void arena_free(struct arena *arena);

/* A set of texts: each is kept once, and the same text has the same address. */
struct interner {
	struct arena arena;
	const char **slots; /* open addressing */
	size_t count, room;
};

const char *intern(struct interner *interner, const char *text);
void interner_free(struct interner *interner);

#endif
