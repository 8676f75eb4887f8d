/* SPDX-License-Identifier: MIT */
/* Names of generic events, both ways. */
#ifndef DECODE_EVENT_NAME_H
#define DECODE_EVENT_NAME_H

#include <perfev/abi.h>

#include <stddef.h>

/* One name of a generic event. */
struct event_name {
	const char *name;
	uint32_t type;
	uint32_t config;
};

/* event_name_find() - a hardware, software or cache event by perf's name for it
 * Return: 0, or -ENOENT; then *@nearest is a name that may be meant, or NULL. */
int event_name_find(const char *name, size_t size, uint32_t *type, uint64_t *config,
		    const char **nearest);

/* The names with a type and config of their own, not cache events: for lists. */
const struct event_name *event_names(size_t *count);

/* event_name_format() - the name of an event of these numbers; "raw 0x1c2" and the like for others.
 * Fills @ret, of @size bytes. */
void event_name_format(char *ret, size_t size, const struct perf_event_attr *attr);

/* event_name_modifiers() - ":u", ":HG", ..., or "": what perf puts behind the name of an attr */
void event_name_modifiers(char *ret, size_t size, const struct perf_event_attr *attr);

#endif
