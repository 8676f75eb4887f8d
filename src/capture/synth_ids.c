/* SPDX-License-Identifier: MIT */
/*
 * Build-ids of files that are mapped already, as the kernel would have reported them.
 *
 * The name in /proc/PID/maps is one of the process's own mount namespace, and the file there may have been replaced. The
 * kernel keeps a link to the very file; who may not follow it looks where the process sees its root, at files that were
 * not deleted. A file is known by its device and inode, and read once.
 */
#include "synth.h"

#include "base/buffer.h"
#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES_MAX 65536

static const char deleted[] = " (deleted)";

static bool is_deleted(const char *name)
{
	size_t size = strlen(name);

	return size >= sizeof(deleted) && !strcmp(name + size - (sizeof(deleted) - 1), deleted);
}

static void read_id(const struct synth_ids *ids, const struct synth_mapping *mapping, struct synth_file *file)
{
	char path[NAME_MAX_BYTES + 32];
	int size;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, mapping->pid, mapping->start, mapping->end);
	size = ids->read(file->id, path, NULL);
	if (size <= 0 && mapping->name[0] == '/' && !is_deleted(mapping->name)) {
		snprintf(path, sizeof(path), "/proc/%d/root%s", mapping->pid, mapping->name);
		size = ids->read(file->id, path, NULL);
	}
	file->size = size > 0 && size <= (int)sizeof(file->id) ? (uint8_t)size : 0;
	memset(file->id + file->size, 0, sizeof(file->id) - file->size);
}

static struct synth_file *add_file(struct synth_ids *ids, uint64_t hash)
{
	struct synth_file *files;
	uint64_t *index;

	if (ids->count == FILES_MAX) /* what comes now is kept in the last place */
		return &ids->files[FILES_MAX - 1];
	files = array_grow(ids->files, &ids->room, ids->count, sizeof(*files));
	if (!files)
		return NULL;
	ids->files = files;
	index = map_put(&ids->of_hash, hash, ids->count);
	if (!index)
		return NULL;
	*index = ids->count;
	return &files[ids->count++];
}

const struct synth_file *synth_build_id(struct synth_ids *ids, const struct synth_mapping *mapping, bool *no_memory)
{
	uint64_t hash = hash_pair(mapping->device, mapping->ino), *index;
	struct synth_file *file;

	if (!ids->read || !mapping->ino)
		return NULL;
	index = map_find(&ids->of_hash, hash);
	file = index ? &ids->files[*index] : NULL;
	if (!file || file->device != mapping->device || file->ino != mapping->ino) {
		file = add_file(ids, hash);
		if (!file) {
			*no_memory = true;
			return NULL;
		}
		memset(file, 0, sizeof(*file));
		file->device = mapping->device;
		file->ino = mapping->ino;
		read_id(ids, mapping, file);
	}
	return file->size ? file : NULL;
}

void synth_ids_free(struct synth_ids *ids)
{
	free(ids->files);
	map_free(&ids->of_hash);
}
