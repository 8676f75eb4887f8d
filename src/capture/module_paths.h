/* SPDX-License-Identifier: MIT */
/* Which files the modules of the kernel are loaded from, as depmod(8) wrote it down. */
#ifndef CAPTURE_MODULE_PATHS_H
#define CAPTURE_MODULE_PATHS_H

#include "base/buffer.h"

struct module_path {
	const char *path; /* in the text */
	size_t at;
};

struct module_paths {
	struct buffer text; /* paths below the folder, each ended by a zero */
	struct module_path *items; /* by the names of their modules */
	size_t count, room;
	char folder[96]; /* "/lib/modules/6.1.0" */
};

/* module_paths_read() - what is in a folder's modules.dep; NULL: of the kernel that runs. Return: 0, -ENOMEM; a negative errno:
 * nothing is known. */
int module_paths_read(struct module_paths *ret, const char *folder);
/* module_paths_find() - the path of a module that is called @name in /proc/modules; false: it is not known, or has no room. */
bool module_paths_find(const struct module_paths *paths, const char *name, char *to, size_t size);
void module_paths_free(struct module_paths *paths);

#endif
