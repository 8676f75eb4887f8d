/* SPDX-License-Identifier: MIT */
/*
 * Recordings that are a folder (perf record --threads, --kcore): "data" is a file with everything but some of the
 * records, and data.0, data.1, ... have those: a stream each, without a header, and compressed by itself. They are
 * read one after the other; each is sorted in itself, and their records are told apart by their source.
 */
#include "reader_base.h"

#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define PARTS_MAX 65536
#define GAP_MAX	  64 /* numbers that are missing before the search ends */

static int open_part(struct source *ret, const char *folder, const char *name, enum source_mode mode)
{
	size_t size = strlen(folder) + strlen(name) + 2;
	char *path = malloc(size);
	int r;

	if (!path)
		return -ENOMEM;
	snprintf(path, size, "%s/%s", folder, name);
	r = source_open(ret, path, mode);
	free(path);
	return r;
}

int reader_open_folder(struct perfev_reader *reader, const char *path, bool copy)
{
	enum source_mode mode = copy ? SOURCE_COPY : SOURCE_FILE;
	unsigned number, gap = 0;
	char name[24];
	int r = open_part(&reader->source, path, "data", mode);

	if (r < 0)
		return r == -ENOENT ? -EISDIR : r;
	for (number = 0; number < PARTS_MAX && gap < GAP_MAX; number++) {
		struct reader_part *parts = array_grow(reader->parts, &reader->part_room, reader->part_count,
						       sizeof(*parts));

		if (!parts)
			return -ENOMEM;
		reader->parts = parts;
		snprintf(name, sizeof(name), "data.%u", number);
		r = open_part(&parts[reader->part_count].source, path, name, mode);
		if (r == -ENOENT) {
			gap++;
			continue;
		}
		if (r < 0)
			return r;
		gap = 0;
		parts[reader->part_count].number = number;
		reader->info.size += parts[reader->part_count].source.size;
		reader->part_count++;
	}
	reader->info.folder = true;
	return 0;
}

/* The next part with anything in it. */
bool reader_next_part(struct perfev_reader *reader)
{
	struct reader_part *part;

	while (reader->part_at < reader->part_count) {
		part = &reader->parts[reader->part_at++];
		reader->passed += reader->input->size;
		if (!part->source.data || !part->source.size)
			continue;
		source_drop(reader->input, reader->input->size);
		reader_inner_free(&reader->inner);
		reader->input = &part->source;
		reader->number = part->number + 1;
		reader->info.position = 0;
		reader->end = part->source.size;
		reader->checked = 0;
		return true;
	}
	return false;
}

void reader_close_folder(struct perfev_reader *reader)
{
	size_t i;

	for (i = 0; i < reader->part_count; i++)
		source_close(&reader->parts[i].source);
	free(reader->parts);
}
