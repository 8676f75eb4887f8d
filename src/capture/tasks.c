/* SPDX-License-Identifier: MIT */
/* Threads come and go while they are listed: a list is taken as complete when a second look shows the
 * same one. */
#include "tasks.h"

#include "base/buffer.h"
#include "kernel/sys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOKS_MAX 10

int tasks_list(int32_t pid, int32_t **tasks, size_t *room, size_t *count)
{
	struct sys_folder *folder;
	const char *name;
	char path[48];
	int r;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	r = sys_folder_open(&folder, path);
	if (r < 0)
		return r == -ENOENT ? -ESRCH : r;
	while ((r = sys_folder_next(folder, &name)) > 0) {
		int32_t *more = array_grow(*tasks, room, *count, sizeof(**tasks));

		if (!more) {
			r = -ENOMEM;
			break;
		}
		*tasks = more;
		more[(*count)++] = (int32_t)strtol(name, NULL, 10);
	}
	sys_folder_close(folder);
	return r == -ENOENT ? -ESRCH : r;
}

int tasks_settle(int32_t pid, int32_t **tasks, size_t *room, size_t *count)
{
	size_t from = *count, before, again;
	int look, r = tasks_list(pid, tasks, room, count);

	for (look = 1; r == 0 && look < LOOKS_MAX; look++) {
		before = *count - from;
		r = tasks_list(pid, tasks, room, count);
		again = *count - from - before;
		if (r < 0 || !*tasks) /* there is none: nothing to compare */
			break;
		if (again == before &&
		    !memcmp(*tasks + from, *tasks + from + before, again * sizeof(**tasks))) {
			*count = from + before;
			break;
		}
		memmove(*tasks + from, *tasks + from + before, again * sizeof(**tasks));
		*count = from + again;
	}
	return r;
}
