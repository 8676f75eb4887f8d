/* SPDX-License-Identifier: MIT */
/* Functions that came while their program or kernel ran: by address, without overlaps, the newest where two were. */
#ifndef SYMBOLS_FUNCTIONS_H
#define SYMBOLS_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FUNCTIONS_MAX (1u << 20)

struct function {
	uint64_t start, end;
	const char *name; /* interned */
	uint32_t key;	  /* its frame + 1; 0: none yet */
};

struct functions {
	struct function *items;
	size_t count, room;
};

/* functions_add() - one in place of those that were there; one more than FUNCTIONS_MAX is left out
 * Return: 0, -ENOMEM. */
int functions_add(struct functions *functions, uint64_t start, uint64_t size, const char *name);
void functions_remove(struct functions *functions, uint64_t start, uint64_t end);
struct function *functions_find(const struct functions *functions, uint64_t ip);
void functions_free(struct functions *functions);

#endif
