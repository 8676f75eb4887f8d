/* SPDX-License-Identifier: MIT */
/* Attrs of recordings, of any size and byte order. */
#ifndef DECODE_ATTR_BYTES_H
#define DECODE_ATTR_BYTES_H

#include <perfev/abi.h>

#include <stdbool.h>
#include <stddef.h>

/* attr_swap() - an attr of the other byte order, in this host's. */
void attr_swap(struct perf_event_attr *attr);

/* attr_from_bytes() - @size bytes, at least 64; what is not there becomes 0, what this library does not know is left
 * out, and attr.size is true of what is left. */
void attr_from_bytes(struct perf_event_attr *ret, const unsigned char *bytes, size_t size, bool swapped);

#endif
