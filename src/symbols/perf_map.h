/* SPDX-License-Identifier: MIT */
/* The list of functions that a program made at run time, which it writes to /tmp/perf-PID.map. */
#ifndef SYMBOLS_PERF_MAP_H
#define SYMBOLS_PERF_MAP_H

#include "table.h"

#include "base/buffer.h"

/* perf_map_read() - lines of "START SIZE NAME", hexadecimal; other lines are passed over
 * @text: holds the names, as long as @table is used.
 * Return: 0; a negative errno of open(2); -ENOMEM. */
int perf_map_read(struct table *table, struct buffer *text, const char *path);

#endif
