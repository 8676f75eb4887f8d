/* SPDX-License-Identifier: MIT */
/* What samples share with READ records and read(2). */
#ifndef DECODE_SAMPLE_H
#define DECODE_SAMPLE_H

#include <perfev/record.h>

/* values_decode() - counts in the layout of @format (PERF_FORMAT_*)
 * Return: the bytes used; 0 when they do not fit. */
size_t values_decode(struct perfev_values *ret, struct perfev_bytes bytes, bool swap,
		     uint64_t format);

#endif
