/* SPDX-License-Identifier: MIT */
/* Making events of a kind. */
#ifndef CAPTURE_EVENT_MAKE_H
#define CAPTURE_EVENT_MAKE_H

#include "event.h"

/* Where PMUs and tracepoints are looked up; NULL: on this machine. */
struct event_roots {
	const char *sysfs, *tracefs;
};

/* @size 0: the usual length. NULL without memory. The name is left to the caller. */
struct perfev_event *event_make_breakpoint(uint64_t address, uint64_t size, uint32_t type);
int event_make_kprobe(struct perfev_event **ret, const char *function, uint64_t offset, bool at_return,
		      const struct event_roots *roots, struct perfev_error *err);
int event_make_uprobe(struct perfev_event **ret, const char *path, uint64_t offset, uint64_t counter,
		      bool at_return, const struct event_roots *roots, struct perfev_error *err);

#endif
