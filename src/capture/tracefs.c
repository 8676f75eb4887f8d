/* SPDX-License-Identifier: MIT */
/*
 * tracefs is a file system of its own since 4.1; it may be mounted anywhere, and debugfs shows it under
 * "tracing". Its root is for root alone, unless it was mounted with gid= and mode=.
 */
#include "tracefs.h"
#include "lines.h"

#include "base/buffer.h"
#include "base/error.h"
#include "base/glob.h"
#include "base/number.h"
#include "kernel/sys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_SIZE  1024
#define NAME_SIZE  512
#define NAMES_MAX  100000
#define CHUNK	   8192
#define FORMAT_MAX (2u << 20)

/* /proc/mounts writes a space as \040, and so on. */
static void unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (text[0] == '\\' && strspn(text + 1, "01234567") >= 3) {
			*to++ = (char)((text[1] - '0') << 6 | (text[2] - '0') << 3 | (text[3] - '0'));
			text += 3;
		} else {
			*to++ = *text;
		}
	}
	*to = 0;
}

/* Second and third word of a line. */
static bool split_mount(char *line, char **where, char **type)
{
	char *at = strchr(line, ' ');

	if (!at)
		return false;
	*where = at + 1;
	at = strchr(*where, ' ');
	if (!at)
		return false;
	*at = 0;
	*type = at + 1;
	at = strchr(*type, ' ');
	if (at)
		*at = 0;
	unescape(*where);
	return true;
}

int tracefs_find(char *ret, size_t size)
{
	struct lines lines = {.fd = -1};
	char *line, *where, *type;
	int r = lines_open(&lines, "/proc/self/mounts");

	ret[0] = 0;
	if (r < 0)
		return r;
	while ((line = lines_next(&lines)) != NULL) {
		if (!split_mount(line, &where, &type))
			continue;
		if (!strcmp(type, "tracefs") && strlen(where) < size) {
			strcpy(ret, where);
			break;
		}
		if (!strcmp(type, "debugfs") && strlen(where) + sizeof("/tracing") <= size)
			snprintf(ret, size, "%s/tracing", where);
	}
	lines_close(&lines);
	return ret[0] ? 0 : -ENOENT;
}

int tracefs_id(const char *tracefs, const char *system, const char *name, uint64_t *id)
{
	char path[PATH_SIZE], text[32];
	ssize_t n;

	if ((size_t)snprintf(path, sizeof(path), "%s/events/%s/%s/id", tracefs, system, name) >= sizeof(path))
		return -ENAMETOOLONG;
	n = sys_read_text(path, text, sizeof(text));
	if (n < 0)
		return (int)n;
	return number_parse(text, (size_t)n, id) ? 0 : -EINVAL;
}

/* ---- globs ------------------------------------------------------------------------------------------- */

struct names {
	char **items;
	size_t count, room;
};

static void free_names(struct names *names)
{
	size_t i;

	for (i = 0; i < names->count; i++)
		free(names->items[i]);
	free(names->items);
	memset(names, 0, sizeof(*names));
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int add_name(struct names *names, const char *name)
{
	char **items = array_grow(names->items, &names->room, names->count, sizeof(*items));

	if (!items)
		return -ENOMEM;
	names->items = items;
	items[names->count] = strdup(name);
	return items[names->count] && ++names->count ? 0 : -ENOMEM;
}

/* The folders in @path that @glob takes, sorted. */
static int list(struct names *ret, const char *path, const char *glob)
{
	struct sys_folder *folder;
	const char *name;
	int r;

	memset(ret, 0, sizeof(*ret));
	r = sys_folder_open(&folder, path);
	if (r < 0)
		return r;
	while ((r = sys_folder_next(folder, &name)) > 0 && ret->count < NAMES_MAX) {
		r = glob_match(glob, name) ? add_name(ret, name) : 0;
		if (r < 0)
			break;
	}
	sys_folder_close(folder);
	if (r < 0)
		free_names(ret);
	else if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), compare);
	return r < 0 ? r : 0;
}

static int match_in(const char *tracefs, const char *system, const char *name,
		    int (*each)(void *context, const char *system, const char *name), void *context)
{
	char path[PATH_SIZE];
	struct names names;
	size_t i;
	int r, found = 0;

	snprintf(path, sizeof(path), "%s/events/%s", tracefs, system);
	r = list(&names, path, name);
	if (r == -ENOTDIR)
		return 0;
	for (i = 0; r >= 0 && i < names.count; i++) {
		char id[2 * PATH_SIZE];

		snprintf(id, sizeof(id), "%s/%s/id", path, names.items[i]);
		if (!sys_can_read(id)) /* the files "enable" and "filter" */
			continue;
		r = each(context, system, names.items[i]);
		found++;
	}
	free_names(&names);
	return r < 0 ? r : found;
}

int tracefs_match(const char *tracefs, const char *system, const char *name,
		  int (*each)(void *context, const char *system, const char *name), void *context)
{
	char path[PATH_SIZE];
	struct names systems;
	int r, found = 0;
	size_t i;

	snprintf(path, sizeof(path), "%s/events", tracefs);
	r = list(&systems, path, system);
	for (i = 0; r >= 0 && i < systems.count; i++) {
		r = match_in(tracefs, systems.items[i], name, each, context);
		if (r > 0)
			found += r;
	}
	free_names(&systems);
	return r < 0 ? r : found;
}

/* ---- the nearest name ----------------------------------------------------------------------------------- */

static int note_name(void *context, const char *system, const char *name)
{
	struct names *names = context;
	char text[NAME_SIZE];

	if (names->count == NAMES_MAX || (size_t)snprintf(text, sizeof(text), "%s:%s", system, name) >= sizeof(text))
		return 0;
	return add_name(names, text);
}

bool tracefs_nearest(const char *tracefs, const char *system, const char *name, char *ret, size_t size)
{
	struct names names = {NULL, 0, 0};
	size_t skipped = strlen(system) + 1, i;
	char text[NAME_SIZE];
	const char *found;

	snprintf(text, sizeof(text), "%s:%s", system, name);
	if (tracefs_match(tracefs, system, "*", note_name, &names) <= 0) {
		skipped = 0;
		tracefs_match(tracefs, "*", "*", note_name, &names);
	}
	/* in one system only the names differ, and what is alike must not hide that they do */
	for (i = 0; i < names.count; i++)
		names.items[i] += skipped;
	found = perfev_nearest(text + skipped, (const char *const *)names.items, names.count);
	if (found)
		snprintf(ret, size, "%s", found - skipped);
	for (i = 0; i < names.count; i++)
		names.items[i] -= skipped;
	free_names(&names);
	return found != NULL;
}

/* ---- formats --------------------------------------------------------------------------------------------- */

int tracefs_text(const char *tracefs, const char *file, struct perfev_bytes *ret)
{
	struct buffer text = {.max = FORMAT_MAX};
	char path[PATH_SIZE];
	ssize_t n;
	int fd, r;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", tracefs, file) >= sizeof(path))
		return -ENAMETOOLONG;
	fd = sys_open(path);
	if (fd < 0)
		return fd;
	do {
		r = buffer_reserve(&text, CHUNK);
		n = r < 0 ? r : sys_read(fd, text.data + text.size, CHUNK);
		if (n > 0)
			text.size += (size_t)n;
	} while (n > 0);
	sys_close(fd);
	if (n < 0) {
		buffer_free(&text);
		return (int)n;
	}
	ret->data = text.data;
	ret->size = text.size;
	return 0;
}

int tracefs_format(const char *tracefs, const char *system, const char *name, struct perfev_bytes *ret)
{
	char file[PATH_SIZE];

	if ((size_t)snprintf(file, sizeof(file), "events/%s/%s/format", system, name) >= sizeof(file))
		return -ENAMETOOLONG;
	return tracefs_text(tracefs, file, ret);
}

int tracefs_refused(int code, const char *tracefs, const char *what, struct perfev_error *err)
{
	if (code == -EACCES || code == -EPERM)
		return error_set(err, -EACCES, PERFEV_WHY_CAPABILITY, ERROR_NOWHERE,
				 "cannot look up %.100s: this user may not read %.100s; run as root, or "
				 "mount it with gid= and mode=",
				 what, tracefs);
	if (code == -ENOENT)
		return error_set(err, -ENOENT, PERFEV_WHY_NOT_FOUND, ERROR_NOWHERE,
				 "cannot look up %.100s: tracefs is not mounted; run mount -t tracefs "
				 "tracefs /sys/kernel/tracing",
				 what);
	if (code == -ENOMEM)
		return error_memory(err);
	return error_errno(err, code, "cannot look up %.100s: %.100s", what, tracefs);
}

int tracefs_unknown(const char *tracefs, const char *system, const char *name, struct perfev_error *err)
{
	char nearest[NAME_SIZE];

	if (err && tracefs_nearest(tracefs, system, name, nearest, sizeof(nearest)))
		return error_set(err, -ENOENT, PERFEV_WHY_UNKNOWN_EVENT, ERROR_NOWHERE,
				 "cannot find tracepoint %.60s:%.60s: there is none of that name; did you mean %.120s?",
				 system, name, nearest);
	return error_set(err, -ENOENT, PERFEV_WHY_UNKNOWN_EVENT, ERROR_NOWHERE,
			 "cannot find tracepoint %.60s:%.60s: there is none of that name; perfev list shows what "
			 "there is",
			 system, name);
}
