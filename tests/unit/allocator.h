/* SPDX-License-Identifier: MIT */
/* Memory that runs out, one allocation later each time. */
#ifndef TESTS_UNIT_ALLOCATOR_H
#define TESTS_UNIT_ALLOCATOR_H

#include <stdbool.h>

extern long fail_in; /* allocations until one fails; -1: none does */
extern bool has_failed;
extern long live; /* not freed */

#endif
