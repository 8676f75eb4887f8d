/* SPDX-License-Identifier: MIT */
/*
 * Frames: what was located gets its name, and a number, when it is met for the first time. One thread at a time.
 */
#ifndef SYMBOLS_NAMING_H
#define SYMBOLS_NAMING_H

#include "locate.h"

/* naming_keys() - the numbers of its frames: those that were inlined, innermost first, then the function of the symbol table
 * Return: how many, at least 1 and at most @max; -ENOMEM. */
int naming_keys(struct perfev_symbols *s, const struct located *at, uint32_t *ret, size_t max);

/* naming_fetch() - that will be asked of it soon: what it looks at is fetched */
void naming_fetch(const struct perfev_symbols *s, const struct located *at);

/* naming_frames() - the same, and what else is known of the place */
int naming_frames(struct perfev_symbols *s, const struct located *at, struct perfev_frame *ret, size_t max);

#endif
