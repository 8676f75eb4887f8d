/* SPDX-License-Identifier: MIT */
/*
 * Symbols that are in the recording.
 *
 * What an entry is made of is kept as it is, which is small, and becomes a table when a file is first asked for, as with
 * files that are read. Names lie in one buffer, which has room for all of them at once, so that they stay where they are.
 */
#include "recorded.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FILES_MAX 262144

static void *copy_bytes(struct perfev_bytes bytes)
{
	void *copy = malloc(bytes.size + 1);

	if (copy && bytes.size)
		memcpy(copy, bytes.data, bytes.size);
	return copy;
}

int recorded_add(struct recorded_files *files, const struct perfev_recorded_file *file)
{
	struct recorded_symbols *items, *item;

	if (files->count >= FILES_MAX)
		return -EFBIG;
	items = array_grow(files->items, &files->room, files->count, sizeof(*items));
	if (!items)
		return -ENOMEM;
	files->items = items;
	item = &items[files->count];
	item->file = *file;
	item->path = copy_bytes(file->path);
	item->file.symbols.data = copy_bytes(file->symbols);
	if (!item->path || !item->file.symbols.data) {
		free(item->path);
		free((void *)(uintptr_t)item->file.symbols.data);
		return -ENOMEM;
	}
	item->path[file->path.size] = 0;
	item->file.path.data = item->path;
	files->count++;
	return 0;
}

const struct perfev_recorded_file *recorded_find(const struct recorded_files *files, const char *path)
{
	size_t i;

	for (i = files->count; i--;) {
		const struct recorded_symbols *item = &files->items[i];
		bool kernel = item->file.kind == PERFEV_RECORDED_KERNEL;

		if (path ? !kernel && !strcmp(item->path, path) : kernel)
			return &item->file;
	}
	return NULL;
}

int recorded_read(const struct perfev_recorded_file *file, struct table *table, struct buffer *text)
{
	struct perfev_recorded_symbol from;
	size_t position = 0;
	int r = buffer_reserve(text, file->symbols.size + 1); /* each name has more bytes there than it has here */

	while (r == 0 && perfev_recorded_file_next(file, &position, &from)) {
		struct symbol s = {.start = from.address, .name = (const char *)text->data + text->size, .binding = 1};

		s.end = from.size > UINT64_MAX - s.start ? UINT64_MAX : s.start + from.size;
		if (!from.name.size)
			continue;
		buffer_append(text, from.name.data, from.name.size);
		buffer_append(text, "", 1);
		r = table_add(table, &s);
	}
	return r < 0 ? r : table_finish(table);
}

void recorded_free(struct recorded_files *files)
{
	size_t i;

	for (i = 0; i < files->count; i++) {
		free(files->items[i].path);
		free((void *)(uintptr_t)files->items[i].file.symbols.data);
	}
	free(files->items);
}
