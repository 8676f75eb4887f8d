/* SPDX-License-Identifier: MIT */
/* The files of the kernel for tests: /proc, /sys, and what else a test says is there. */
#include "files.h"
#include "kernel.h"

#include "base/hash.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_FD	  100000
#define FILES_MAX 2048

static struct file {
	char path[200];
	char *text; /* NULL: error */
	int error;
	uint32_t uid;
	bool used;
} files[FILES_MAX];
static uint64_t hashes[FILES_MAX]; /* of their paths: whole machines are looked up here */

static struct {
	const struct file *file;
	size_t at;
	bool open;
} open_files[64];

/* ---- the script -------------------------------------------------------------------------------------- */

void files_forget(void)
{
	int i;

	for (i = 0; i < FILES_MAX; i++)
		free(files[i].text);
	memset(files, 0, sizeof(files));
	memset(open_files, 0, sizeof(open_files));
}

static struct file *find_file(const char *path)
{
	uint64_t hash = hash_bytes(path, strlen(path));
	int i;

	for (i = 0; i < FILES_MAX; i++)
		if (hashes[i] == hash && files[i].used && !strcmp(files[i].path, path))
			return &files[i];
	return NULL;
}

static struct file *make_file(const char *path)
{
	struct file *file = find_file(path);
	int i;

	for (i = 0; !file && i < FILES_MAX; i++)
		if (!files[i].used)
			file = &files[i];
	if (!file || strlen(path) >= sizeof(file->path))
		abort();
	free(file->text);
	memset(file, 0, sizeof(*file));
	file->used = true;
	strcpy(file->path, path);
	hashes[file - files] = hash_bytes(path, strlen(path));
	return file;
}

void fake_file(const char *path, const char *text)
{
	make_file(path)->text = strdup(text);
}

void fake_error(const char *path, int error)
{
	make_file(path)->error = error;
}

void fake_remove(const char *path)
{
	struct file *file = find_file(path);

	if (!file)
		return;
	free(file->text);
	memset(file, 0, sizeof(*file));
}

void fake_owner(const char *path, uint32_t uid)
{
	struct file *file = find_file(path);

	if (!file)
		file = make_file(path);
	file->uid = uid;
}

void fake_process(int pid, int parent, const char *name, const char *threads)
{
	char path[64], text[256];
	const char *at = threads;
	int tid, n;

	while (sscanf(at, "%d%n", &tid, &n) == 1) {
		at += n;
		snprintf(path, sizeof(path), "/proc/%d/comm", tid);
		snprintf(text, sizeof(text), "%s\n", name);
		fake_file(path, text);
		snprintf(path, sizeof(path), "/proc/%d/status", tid);
		snprintf(text, sizeof(text), "Name:\t%s\nTgid:\t%d\nPid:\t%d\nPPid:\t%d\n", name,
			 pid, tid, parent);
		fake_file(path, text);
		snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
		fake_file(path, name);
	}
}

/* ---- descriptors ------------------------------------------------------------------------------------------ */

ssize_t files_read(int fd, void *buffer, size_t size)
{
	size_t i = (size_t)(fd - FILE_FD), left;

	if (i >= sizeof(open_files) / sizeof(open_files[0]) || !open_files[i].open)
		return -EBADF;
	left = strlen(open_files[i].file->text) - open_files[i].at;
	if (size > left)
		size = left;
	if (fake.read_most && size > fake.read_most)
		size = fake.read_most;
	memcpy(buffer, open_files[i].file->text + open_files[i].at, size);
	open_files[i].at += size;
	return (ssize_t)size;
}

bool files_close(int fd)
{
	size_t i = (size_t)(fd - FILE_FD);

	if (i >= sizeof(open_files) / sizeof(open_files[0]) || !open_files[i].open)
		return false;
	open_files[i].open = false;
	return true;
}

/* ---- system calls ----------------------------------------------------------------------------------------- */

int sys_open(const char *path)
{
	const struct file *file = find_file(path);
	size_t i;

	if (!file)
		return -ENOENT;
	if (!file->text)
		return file->error ? file->error : -EISDIR;
	for (i = 0; i < sizeof(open_files) / sizeof(open_files[0]); i++)
		if (!open_files[i].open) {
			open_files[i].open = true;
			open_files[i].file = file;
			open_files[i].at = 0;
			fake.opened++;
			return FILE_FD + (int)i;
		}
	return -EMFILE;
}

ssize_t sys_read_text(const char *path, char *buffer, size_t size)
{
	int fd = sys_open(path);
	size_t used = 0;
	ssize_t n;

	buffer[0] = 0;
	if (fd < 0)
		return fd;
	while (used + 1 < size && (n = sys_read(fd, buffer + used, size - 1 - used)) > 0)
		used += (size_t)n;
	sys_close(fd);
	while (used && buffer[used - 1] == '\n')
		used--;
	buffer[used] = 0;
	return (ssize_t)used;
}

int sys_append_text(const char *path, const char *text)
{
	return fake.on_append ? fake.on_append(path, text) : -ENOENT;
}

static bool is_below(const char *path, const char *folder, const char **rest)
{
	size_t size = strlen(folder);

	if (strncmp(path, folder, size) || path[size] != '/')
		return false;
	*rest = path + size + 1;
	return true;
}

bool sys_can_read(const char *path)
{
	const struct file *file = find_file(path);
	const char *rest;
	int i;

	if (file)
		return !file->error;
	for (i = 0; i < FILES_MAX; i++)
		if (files[i].used && is_below(files[i].path, path, &rest))
			return true;
	return false;
}

struct sys_folder {
	char names[8192];
	char *at;
};

static void list_table(const char *path, char *to, size_t size)
{
	size_t used = 1;
	int i;

	strcpy(to, " ");
	for (i = 0; i < FILES_MAX; i++) {
		const char *rest;
		char name[220];

		if (!files[i].used || !is_below(files[i].path, path, &rest))
			continue;
		snprintf(name, sizeof(name), " %.*s ", (int)strcspn(rest, "/"), rest);
		if (strstr(to, name) || used + strlen(name) >= size)
			continue;
		strcpy(to + used, name + 1);
		used += strlen(name) - 1;
	}
}

int sys_folder_open(struct sys_folder **ret, const char *path)
{
	const char *names = fake.on_list ? fake.on_list(path) : NULL;
	struct sys_folder *folder;

	if (!names && !sys_can_read(path))
		return -ENOENT;
	folder = calloc(1, sizeof(*folder));
	if (!folder)
		return -ENOMEM;
	if (names)
		snprintf(folder->names, sizeof(folder->names), "%s", names);
	else
		list_table(path, folder->names, sizeof(folder->names));
	folder->at = folder->names;
	fake.opened++;
	*ret = folder;
	return 0;
}

int sys_folder_next(struct sys_folder *folder, const char **ret)
{
	folder->at += strspn(folder->at, " ");
	if (!*folder->at)
		return 0;
	*ret = folder->at;
	folder->at += strcspn(folder->at, " ");
	if (*folder->at)
		*folder->at++ = 0;
	return 1;
}

void sys_folder_close(struct sys_folder *folder)
{
	if (!folder)
		return;
	free(folder);
	fake.closed++;
}

int sys_owner(const char *path, uint32_t *uid)
{
	const struct file *file = find_file(path);

	if (!file)
		return -ENOENT;
	*uid = file->uid;
	return 0;
}
