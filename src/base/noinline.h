/* SPDX-License-Identifier: MIT */
/* What seldom happens, in a function of its own: the one that it would stand in then saves and needs fewer registers. */
#ifndef BASE_NOINLINE_H
#define BASE_NOINLINE_H

#if defined(__GNUC__)
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE
#endif

#endif
