/* SPDX-License-Identifier: MIT */
/*
 * Tracepoints of this machine: the files "id" and "format" of tracefs. Numbers are given when the kernel
 * boots and when modules come, so that they are looked up each time.
 */
#include "tracefs.h"

#include "base/error.h"

#include <perfev/tracepoint.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOT_SIZE   512
#define SYSTEM_SIZE 128
#define NAME_SIZE   256

/* The root that the caller gives, or the one of this machine. */
static int find_root(char *ret, const char *tracefs, const char *what, struct perfev_error *err)
{
	int r;

	if (tracefs && strlen(tracefs) < ROOT_SIZE) {
		strcpy(ret, tracefs);
		return 0;
	}
	r = tracefs ? -ENAMETOOLONG : tracefs_find(ret, ROOT_SIZE);
	return r < 0 ? tracefs_refused(r, tracefs ? tracefs : "", what, err) : 0;
}

static int make(struct perfev_tracepoint **ret, const char *tracefs, const char *system, const char *name,
		struct perfev_error *err)
{
	struct perfev_tracepoint_opts opts = {sizeof(opts), system, 0, 0};
	char whole[SYSTEM_SIZE + NAME_SIZE];
	struct perfev_bytes text;
	int r = tracefs_format(tracefs, system, name, &text);

	if (r == -ENOENT || r == -ENOTDIR)
		return tracefs_unknown(tracefs, system, name, err);
	snprintf(whole, sizeof(whole), "%s:%s", system, name);
	if (r < 0)
		return tracefs_refused(r, tracefs, whole, err);
	r = perfev_tracepoint_parse(ret, text, &opts, err);
	free((void *)(uintptr_t)text.data);
	return r;
}

/* "SYSTEM:NAME"; no part is a path. */
static bool split(const char *text, char *system, const char **name)
{
	const char *colon = strchr(text, ':');
	size_t size = colon ? (size_t)(colon - text) : 0;

	if (!size || size >= SYSTEM_SIZE || !colon[1] || strlen(colon + 1) >= NAME_SIZE ||
	    strpbrk(text, "/*?[") || text[0] == '.' || colon[1] == '.')
		return false;
	memcpy(system, text, size);
	system[size] = 0;
	*name = colon + 1;
	return true;
}

int perfev_tracepoint_find(struct perfev_tracepoint **ret, const char *name, const char *tracefs,
			   struct perfev_error *err)
{
	char root[ROOT_SIZE], system[SYSTEM_SIZE];
	const char *event;
	int r;

	if (!split(name, system, &event))
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot find tracepoint %.150s: this is no name of one; give SYSTEM:NAME, as "
				 "sched:sched_switch",
				 name);
	r = find_root(root, tracefs, name, err);
	return r < 0 ? r : make(ret, root, system, event, err);
}

/* ---- by number ------------------------------------------------------------------------------------------- */

struct search {
	const char *tracefs;
	uint64_t id;
	char system[SYSTEM_SIZE], name[NAME_SIZE];
};

#define FOUND (-EEXIST) /* ends the walk */

static int compare_id(void *context, const char *system, const char *name)
{
	struct search *search = context;
	uint64_t id;

	if (strlen(system) >= SYSTEM_SIZE || strlen(name) >= NAME_SIZE ||
	    tracefs_id(search->tracefs, system, name, &id) < 0 || id != search->id)
		return 0;
	strcpy(search->system, system);
	strcpy(search->name, name);
	return FOUND;
}

int perfev_tracepoint_find_id(struct perfev_tracepoint **ret, uint64_t id, const char *tracefs,
			      struct perfev_error *err)
{
	struct search search = {.id = id};
	char root[ROOT_SIZE], what[32];
	int r;

	snprintf(what, sizeof(what), "%llu", (unsigned long long)id);
	r = find_root(root, tracefs, what, err);
	if (r < 0)
		return r;
	search.tracefs = root;
	r = tracefs_match(root, "*", "*", compare_id, &search);
	if (r == FOUND)
		return make(ret, root, search.system, search.name, err);
	if (r < 0)
		return tracefs_refused(r, root, what, err);
	return error_set(err, -ENOENT, PERFEV_WHY_UNKNOWN_EVENT, ERROR_NOWHERE,
			 "cannot find tracepoint %s: none of the %d in %.150s has that number; numbers change when a "
			 "machine boots, so look it up by name",
			 what, r, root);
}
