/* SPDX-License-Identifier: MIT */
/* Symbols that are in the recording itself, since its reader is seldom the machine that was recorded (Android). */
#ifndef SYMBOLS_RECORDED_H
#define SYMBOLS_RECORDED_H

#include "table.h"

#include "base/buffer.h"

#include <perfev/feature.h>

struct recorded_symbols {
	char *path;
	struct perfev_recorded_file file; /* what it points to is a copy */
};

struct recorded_files {
	struct recorded_symbols *items;
	size_t count, room;
};

/* recorded_add() - a copy. Return: 0, -ENOMEM, -EFBIG. */
int recorded_add(struct recorded_files *files, const struct perfev_recorded_file *file);
/* recorded_find() - the last one of that path, or NULL; of the kernel, which has several names, with @path NULL. */
const struct perfev_recorded_file *recorded_find(const struct recorded_files *files, const char *path);
/* recorded_read() - its symbols; names are in @text, which is empty. Return: 0, -ENOMEM. */
int recorded_read(const struct perfev_recorded_file *file, struct table *table, struct buffer *text);
void recorded_free(struct recorded_files *files);

#endif
