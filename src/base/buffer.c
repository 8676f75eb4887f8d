/* SPDX-License-Identifier: MIT */
/* Growing buffers and arrays. Sizes are checked before they are multiplied or added. */
#include "buffer.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int buffer_reserve(struct buffer *buffer, size_t more)
{
	size_t need, room;
	unsigned char *data;

	if (more > SIZE_MAX / 2 - buffer->size)
		return -ENOMEM;
	need = buffer->size + more;
	if (buffer->max && need > buffer->max)
		return -EFBIG;
	if (need <= buffer->room)
		return 0;
	room = buffer->room ? buffer->room : 256;
	while (room < need)
		room *= 2;
	data = realloc(buffer->data, room);
	if (!data)
		return -ENOMEM;
	buffer->data = data;
	buffer->room = room;
	return 0;
}

int buffer_append(struct buffer *buffer, const void *data, size_t size)
{
	int r = buffer_reserve(buffer, size);

	if (r < 0)
		return r;
	if (size)
		memcpy(buffer->data + buffer->size, data, size);
	buffer->size += size;
	return 0;
}

void *buffer_extend(struct buffer *buffer, size_t size)
{
	void *at;

	if (buffer_reserve(buffer, size) < 0)
		return NULL;
	at = buffer->data + buffer->size;
	memset(at, 0, size);
	buffer->size += size;
	return at;
}

void buffer_free(struct buffer *buffer)
{
	free(buffer->data);
	buffer->data = NULL;
	buffer->size = 0;
	buffer->room = 0;
}

void *array_grow(void *array, size_t *room, size_t count, size_t item)
{
	size_t more;
	void *moved;

	if (count < *room)
		return array;
	more = *room ? *room * 2 : 16;
	if (more > SIZE_MAX / 2 / item)
		return NULL;
	moved = realloc(array, more * item);
	if (moved)
		*room = more;
	return moved;
}
