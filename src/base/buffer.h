/* SPDX-License-Identifier: MIT */
/* A buffer that grows, up to a maximum that its owner names. */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

struct buffer {
	unsigned char *data;
	size_t size; /* bytes in use */
	size_t room; /* bytes that there are */
	size_t max;  /* 0: only memory is the limit */
};

/* Room for @more bytes behind those in use. Return: 0; -ENOMEM; -EFBIG beyond the maximum. */
int buffer_reserve(struct buffer *buffer, size_t more);
int buffer_append(struct buffer *buffer, const void *data, size_t size);
/* @size zero bytes at the end; returns where they are, or NULL. */
void *buffer_extend(struct buffer *buffer, size_t size);
void buffer_free(struct buffer *buffer);

/* An array that grows by doubling: makes room for one more item of @item bytes.
 * Return: the array, maybe moved, or NULL (then the old one is still there). */
void *array_grow(void *array, size_t *room, size_t count, size_t item);

#endif
