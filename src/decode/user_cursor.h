/* SPDX-License-Identifier: MIT */
/* A walk over the bytes of a record of a tool. What is not there is 0, and @bad is true from then on. */
#ifndef DECODE_USER_CURSOR_H
#define DECODE_USER_CURSOR_H

#include "base/load.h"

#include <perfev/user_record.h>

struct cursor {
	const unsigned char *at;
	size_t left;
	bool swap, bad;
};

static inline void cursor_skip(struct cursor *c, size_t size)
{
	if (size > c->left) {
		c->bad = true;
		size = c->left;
	}
	c->at += size;
	c->left -= size;
}

static inline uint64_t cursor_number(struct cursor *c, size_t width)
{
	const unsigned char *at = c->at;

	if (c->left < width) {
		c->bad = true;
		return 0;
	}
	c->at += width;
	c->left -= width;
	return width == 8 ? load_u64(at, c->swap) : width == 4 ? load_u32(at, c->swap) : width == 2 ? load_u16(at, c->swap) : *at;
}

static inline uint64_t cursor_u64(struct cursor *c)
{
	return cursor_number(c, 8);
}

static inline uint32_t cursor_u32(struct cursor *c)
{
	return (uint32_t)cursor_number(c, 4);
}

static inline uint16_t cursor_u16(struct cursor *c)
{
	return (uint16_t)cursor_number(c, 2);
}

static inline uint8_t cursor_u8(struct cursor *c)
{
	return (uint8_t)cursor_number(c, 1);
}

/* The terminated text that begins here; the rest of the record is padding. */
static inline const char *cursor_text(struct cursor *c)
{
	const char *text = (const char *)c->at;

	if (!c->left || !memchr(text, 0, c->left)) {
		c->bad = true;
		return "";
	}
	return text;
}

static inline struct perfev_bytes cursor_rest(struct cursor *c)
{
	struct perfev_bytes rest = {c->at, c->left};

	c->at += c->left;
	c->left = 0;
	return rest;
}

/* @count words, which the caller compared with what is left. */
static inline struct perfev_u64s cursor_words(struct cursor *c, uint64_t count)
{
	struct perfev_u64s words = {c->at, 0, c->swap};

	if (count > c->left / 8) {
		c->bad = true;
		return words;
	}
	words.count = (uint32_t)count;
	cursor_skip(c, (size_t)count * 8);
	return words;
}

/* user_simpleperf.c. Return: false for a type that is none of simpleperf's. */
bool user_take_simpleperf(struct cursor *c, struct perfev_user *ret, uint32_t type);

#endif
