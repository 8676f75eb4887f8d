/* SPDX-License-Identifier: MIT */
/* The report page in two pieces, made by viewer/build.py: head, base64 of the profile, tail. */
#ifndef PROFILE_PAGE_H
#define PROFILE_PAGE_H
#include <stddef.h>

extern const char viewer_head[], viewer_tail[]; /* not terminated by a NUL */
extern const size_t viewer_head_size, viewer_tail_size;

#endif
