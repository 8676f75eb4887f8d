/* SPDX-License-Identifier: MIT */
/* An attr as a part of other JSON. */
#ifndef DECODE_ATTR_JSON_H
#define DECODE_ATTR_JSON_H

#include "json.h"

#define ATTR_BYTES_MAX 4096 /* the kernel takes none that is larger */

/* attr_json_write() - an object; the attr is read by its size, which is 64 at least */
void attr_json_write(struct out *o, const struct perf_event_attr *attr);
/* attr_json_read() - from an object; @room: bytes at @ret, 64 at least. What is not in it becomes 0. */
void attr_json_read(struct input *in, struct perf_event_attr *ret, size_t room);

#endif
