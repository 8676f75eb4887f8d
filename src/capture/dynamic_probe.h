/* SPDX-License-Identifier: MIT */
/* Probes of tracefs, for kernels without the PMUs of probes: made, counted, and taken away again. */
#ifndef CAPTURE_DYNAMIC_PROBE_H
#define CAPTURE_DYNAMIC_PROBE_H

#include <perfev/common.h>

struct dynamic_probe;

/* dynamic_probe_make() - @tracefs: its root; @file: "kprobe_events" or "uprobe_events"; @kind: 'p' or
 * 'r'; @place: what follows the name, as in "vfs_read+4" or "/bin/x:0x4010"
 * *id is the tracepoint's. Return: 0, a negative errno. */
int dynamic_probe_make(struct dynamic_probe **ret, uint64_t *id, const char *tracefs, const char *file,
		       char kind, const char *place);
/* One user more; NULL stays NULL. */
struct dynamic_probe *dynamic_probe_share(struct dynamic_probe *probe);
/* One user less; the last one takes it away. All its descriptors must be closed. */
void dynamic_probe_release(struct dynamic_probe *probe);

#endif
