/* SPDX-License-Identifier: MIT */
/* Option structs: the caller's is copied into a full one of ours, once, on entry. */
#ifndef BASE_OPTS_H
#define BASE_OPTS_H

#include <perfev/common.h>

/* opts_copy() - @to (of @to_size bytes) gets the caller's @from (NULL: all zero), whose first member
 * is its size. A shorter one is extended with zeros; a longer one must end in zeros.
 * Return: 0, -E2BIG, -EINVAL. */
int opts_copy(void *to, size_t to_size, const void *from, struct perfev_error *err);

#endif
