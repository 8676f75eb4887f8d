/* SPDX-License-Identifier: MIT */
/*
 * The kernel knows the names of its modules, and not where they came from; modules.dep has all files that there are, which
 * are called as their modules but for '-', that is '_' in names, and for how they are packed.
 */
#include "module_paths.h"
#include "lines.h"

#include "kernel/sys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX (16u << 20)

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int letter(char c)
{
	return c == '-' ? '_' : c == '.' ? 0 : (unsigned char)c;
}

/* Names, up to their first dot. */
static int compare_names(const char *a, const char *b)
{
	while (letter(*a) && letter(*a) == letter(*b)) {
		a++;
		b++;
	}
	return letter(*a) - letter(*b);
}

static int compare_items(const void *a, const void *b)
{
	return compare_names(base_of(((const struct module_path *)a)->path), base_of(((const struct module_path *)b)->path));
}

/* "kernel/fs/ext4/ext4.ko: kernel/fs/jbd2/jbd2.ko ..." */
static int add_line(struct module_paths *p, char *line)
{
	struct module_path *items = array_grow(p->items, &p->room, p->count, sizeof(*items));
	char *colon = strchr(line, ':');

	if (!items)
		return -ENOMEM;
	p->items = items;
	if (!colon)
		return 0;
	*colon = 0;
	items[p->count++].at = p->text.size;
	return buffer_append(&p->text, line, (size_t)(colon - line) + 1);
}

static int read_lines(struct module_paths *p)
{
	struct lines lines = {.fd = -1};
	char path[sizeof(p->folder) + 16], *line;
	int r;

	snprintf(path, sizeof(path), "%s/modules.dep", p->folder);
	r = lines_open(&lines, path);
	while (r == 0 && (line = lines_next(&lines)))
		r = add_line(p, line);
	lines_close(&lines);
	return r;
}

static int own_folder(char *to, size_t size)
{
	char release[72];

	if (sys_read_text("/proc/sys/kernel/osrelease", release, sizeof(release)) <= 0)
		return -ENOENT;
	release[strcspn(release, "\n")] = 0;
	snprintf(to, size, "/lib/modules/%s", release);
	return 0;
}

int module_paths_read(struct module_paths *ret, const char *folder)
{
	size_t i;
	int r = 0;

	memset(ret, 0, sizeof(*ret));
	ret->text.max = TEXT_MAX;
	if (folder)
		snprintf(ret->folder, sizeof(ret->folder), "%s", folder);
	else
		r = own_folder(ret->folder, sizeof(ret->folder));
	if (r == 0)
		r = read_lines(ret);
	if (r < 0) {
		module_paths_free(ret);
		return r == -E2BIG ? -ENOMEM : r;
	}
	for (i = 0; i < ret->count; i++)
		ret->items[i].path = (const char *)ret->text.data + ret->items[i].at;
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), compare_items);
	return 0;
}

bool module_paths_find(const struct module_paths *paths, const char *name, char *to, size_t size)
{
	struct module_path wanted = {name, 0};
	const struct module_path *found =
		paths->count ? bsearch(&wanted, paths->items, paths->count, sizeof(wanted), compare_items) : NULL;
	int n = found ? snprintf(to, size, "%s/%s", paths->folder, found->path) : 0;

	return n > 0 && (size_t)n < size;
}

void module_paths_free(struct module_paths *paths)
{
	buffer_free(&paths->text);
	free(paths->items);
	memset(paths, 0, sizeof(*paths));
}
