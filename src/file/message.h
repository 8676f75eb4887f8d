/* SPDX-License-Identifier: MIT */
/* Messages of protocol buffers, field by field. What they hold is looked at, never copied. */
#ifndef FILE_MESSAGE_H
#define FILE_MESSAGE_H

#include <perfev/abi.h>
#include <perfev/common.h>

#include "base/byte_cursor.h"

/* A field of a message: its number, and what it is. */
struct message_field {
	uint64_t number, value;
	struct perfev_bytes bytes; /* of one that has a length */
	bool is_bytes;
};

static inline struct perfev_bytes message_bytes(struct byte_cursor *c, uint64_t size)
{
	struct perfev_bytes bytes = {cursor_take(c, size), (size_t)size};

	if (!bytes.data)
		bytes.size = 0;
	return bytes;
}

/* Its numbers of a fixed size are little-endian. */
static inline struct byte_cursor message_begin(struct perfev_bytes message)
{
	const unsigned char *at = message.size ? message.data : (const unsigned char *)"";

	return (struct byte_cursor){at, at + message.size, PERFEV_BIG_ENDIAN, false};
}

/* Numbers in groups of seven bits. */
static inline uint64_t message_number(struct byte_cursor *c)
{
	uint64_t value = 0;
	unsigned shift;

	for (shift = 0; shift < 70; shift += 7) {
		const unsigned char *at = cursor_take(c, 1);

		if (!at)
			return 0;
		if (shift < 64)
			value |= (uint64_t)(*at & 0x7f) << shift;
		if (!(*at & 0x80))
			return value;
	}
	c->bad = true;
	return 0;
}

/* Return: false at the end, and when it is damaged. */
static inline bool message_next(struct byte_cursor *c, struct message_field *ret)
{
	uint64_t key;

	if (c->at == c->end || c->bad)
		return false;
	key = message_number(c);
	*ret = (struct message_field){.number = key >> 3, .is_bytes = (key & 7) == 2};
	if (!ret->number) /* there is none */
		c->bad = true;
	switch (key & 7) {
	case 0:
		ret->value = message_number(c);
		break;
	case 1:
		ret->value = cursor_u64(c);
		break;
	case 2:
		ret->bytes = message_bytes(c, message_number(c));
		break;
	case 5:
		ret->value = cursor_u32(c);
		break;
	default:
		c->bad = true;
	}
	return !c->bad;
}

#endif
