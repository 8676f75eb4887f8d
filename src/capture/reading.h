/* SPDX-License-Identifier: MIT */
/* From the bytes of read(2) to a reading. */
#ifndef CAPTURE_READING_H
#define CAPTURE_READING_H

#include <perfev/counter.h>

/* What a counter's own reading needs in its read_format. */
#define READING_FORMAT (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

/* reading_take() - read one descriptor whose attr is @attr (not a group's)
 * Return: 0, also when its event is in error state; a negative errno without explanation. */
int reading_take(struct perfev_reading *ret, int fd, const struct perf_event_attr *attr);

#endif
