/* SPDX-License-Identifier: MIT */
/* What is in an attr, by place. */
#ifndef DECODE_ATTR_H
#define DECODE_ATTR_H

#include <perfev/abi.h>

/* The name of the first member of an attr of @size bytes that is not 0 and lies, wholly or in part,
 * at @known or beyond; NULL when all is 0 there. A string that lives for ever. */
const char *attr_set_beyond(const struct perf_event_attr *attr, uint32_t known, uint32_t size);

#endif
