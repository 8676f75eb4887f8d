/* SPDX-License-Identifier: MIT */
/* The viewer's page in two pieces, between which the profile goes; made by viewer/build.py. */
#ifndef PROFILE_PAGE_H
#define PROFILE_PAGE_H

#include <stddef.h>

extern const char viewer_head[];
extern const size_t viewer_head_size;
extern const char viewer_tail[];
extern const size_t viewer_tail_size;

#endif
