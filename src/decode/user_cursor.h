/* SPDX-License-Identifier: MIT */
/* What records of tools are made of, taken by a cursor, which is bad once something was not there. */
#ifndef DECODE_USER_CURSOR_H
#define DECODE_USER_CURSOR_H

#include "base/byte_cursor.h"

#include <perfev/user_record.h>

/* The terminated text that begins here; the rest of the record is padding. */
static inline const char *cursor_text(struct byte_cursor *c)
{
	const char *text = (const char *)c->at;

	if (!cursor_left(c) || !memchr(text, 0, cursor_left(c))) {
		c->bad = true;
		return "";
	}
	return text;
}

static inline struct perfev_bytes cursor_rest(struct byte_cursor *c)
{
	struct perfev_bytes rest = {c->at, cursor_left(c)};

	c->at = c->end;
	return rest;
}

/* @count words, none where they do not fit. */
static inline struct perfev_u64s cursor_words(struct byte_cursor *c, uint64_t count)
{
	struct perfev_u64s words = {c->at, 0, c->swap};

	if (count > cursor_left(c) / 8) {
		c->bad = true;
		return words;
	}
	words.count = (uint32_t)count;
	cursor_take(c, count * 8);
	return words;
}

/* user_simpleperf.c. Return: false for a type that is none of simpleperf's. */
bool user_take_simpleperf(struct byte_cursor *c, struct perfev_user *ret, uint32_t type);

#endif
