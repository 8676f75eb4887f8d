/* SPDX-License-Identifier: MIT */
/* Where tracefs is, and the ids of tracepoints in it. */
#ifndef CAPTURE_TRACEFS_H
#define CAPTURE_TRACEFS_H

#include <perfev/common.h>

/* tracefs_find() - its mount point, wherever that is; -ENOENT: it is not mounted. */
int tracefs_find(char *ret, size_t size);

/* tracefs_id() - the number of a tracepoint, for attr.config */
int tracefs_id(const char *tracefs, const char *system, const char *name, uint64_t *id);

/* tracefs_match() - all tracepoints that two globs take, sorted
 * @each: is called with each; a negative errno from it ends the work.
 * Return: how many there were; a negative errno (-ENOENT, -EACCES: its events cannot be listed). */
int tracefs_match(const char *tracefs, const char *system, const char *name,
		  int (*each)(void *context, const char *system, const char *name), void *context);

/* tracefs_nearest() - "SYSTEM:NAME" of the tracepoint that a mistyped one most likely means
 * Looked for in the system; where there is no such system, in all. False: none is near enough. */
bool tracefs_nearest(const char *tracefs, const char *system, const char *name, char *ret, size_t size);

/* tracefs_text() - a whole file of it, up to 1 MiB; free() the data */
int tracefs_text(const char *tracefs, const char *file, struct perfev_bytes *ret);

/* tracefs_format() - the format of a tracepoint, to be freed. Return: 0, a negative errno. */
int tracefs_format(const char *tracefs, const char *system, const char *name, struct perfev_bytes *ret);

/* There is no tracepoint of that name: -ENOENT, and the nearest in the sentence. */
int tracefs_unknown(const char *tracefs, const char *system, const char *name, struct perfev_error *err);
/* Sentences for -ENOENT (there is no tracefs) and -EACCES. */
int tracefs_refused(int code, const char *tracefs, const char *what, struct perfev_error *err);

#endif
