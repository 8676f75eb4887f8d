/* SPDX-License-Identifier: MIT */
/*
 * Build-ids of the files that were mapped, for the section of them at the end of a recording.
 *
 * The section holds what the records say. A mapping without a build-id (of a kernel before 5.12, or of a file whose notes
 * were not in memory) says at least which inode it was: the file that has its name now, here, need not be the one that a
 * process in another mount namespace mapped, and would be used for it ever after.
 */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_kernel(const struct perfev_record *record)
{
	return (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
}

static bool is_known(const struct mapped_files *files, const struct perfev_mmap *mmap)
{
	size_t i;

	for (i = files->count; i--;) {
		const struct mapped_file *file = &files->items[i];

		if (file->id_size == mmap->build_id_size && file->ino == mmap->ino &&
		    !memcmp(file->id, mmap->build_id, file->id_size) && !strcmp(file->name, mmap->filename))
			return true;
	}
	return false;
}

/* The kernel keeps the notes of its modules; one may be gone when the recording ends. */
static void read_module_id(struct mapped_file *file)
{
	char name[64], path[128];
	size_t n = 0;
	const char *at;
	int size;

	for (at = strrchr(file->name, '/') + 1; *at && *at != '.' && n < sizeof(name) - 1; at++)
		name[n++] = *at == '-' ? '_' : *at;
	name[n] = 0;
	snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", name);
	size = perfev_build_id_read(file->id, path, NULL);
	file->id_size = size > 0 ? (uint8_t)size : 0;
}

int ids_note(struct mapped_files *files, const struct perfev_record *record, const struct perfev_layout *layout)
{
	struct mapped_file *file;
	struct perfev_mmap mmap;

	if (perfev_mmap_decode(&mmap, record, layout, NULL) < 0 || mmap.filename[0] != '/' || mmap.filename[1] == '/' ||
	    is_known(files, &mmap))
		return 0;
	if (files->count == files->room) {
		size_t room = files->room ? files->room * 2 : 64;
		struct mapped_file *items = realloc(files->items, room * sizeof(*items));

		if (!items)
			return -ENOMEM;
		files->items = items;
		files->room = room;
	}
	file = &files->items[files->count];
	*file = (struct mapped_file){.name = strdup(mmap.filename), .ino = mmap.ino, .id_size = mmap.build_id_size,
				     .kernel = is_kernel(record)};
	if (!file->name)
		return -ENOMEM;
	memcpy(file->id, mmap.build_id, file->id_size);
	files->by_kernel |= file->id_size != 0;
	if (file->kernel)
		read_module_id(file);
	files->count++;
	return 0;
}

/* By its name, here and now. */
static uint8_t read_id(const struct mapped_files *files, const struct mapped_file *file, uint8_t ret[20])
{
	struct stat st;
	int size;

	if (files->by_kernel && (stat(file->name, &st) < 0 || st.st_ino != file->ino))
		return 0;
	size = perfev_build_id_read(ret, file->name, NULL);
	return size > 0 ? (uint8_t)size : 0;
}

int ids_write(const struct mapped_files *files, struct perfev_writer *writer, struct perfev_error *err)
{
	struct perfev_build_id *all = calloc(files->count + 1, sizeof(*all));
	size_t n = 0, i;
	int size, ret;

	if (!all)
		return -ENOMEM;
	size = perfev_build_id_read(all[0].id, "/sys/kernel/notes", NULL);
	if (size > 0) {
		all[n].misc = PERF_RECORD_MISC_KERNEL;
		all[n].pid = -1;
		all[n].size = (uint8_t)size;
		all[n++].filename = "[kernel.kallsyms]";
	}
	for (i = 0; i < files->count; i++) {
		const struct mapped_file *file = &files->items[i];

		all[n].size = file->id_size;
		memcpy(all[n].id, file->id, file->id_size);
		if (!all[n].size && !file->kernel)
			all[n].size = read_id(files, file, all[n].id);
		if (!all[n].size)
			continue;
		all[n].misc = file->kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
		all[n].pid = -1;
		all[n++].filename = file->name;
	}
	ret = n ? perfev_writer_put_build_ids(writer, all, n, err) : 0;
	free(all);
	return ret;
}

void ids_free(struct mapped_files *files)
{
	size_t i;

	for (i = 0; i < files->count; i++)
		free(files->items[i].name);
	free(files->items);
}
