/* SPDX-License-Identifier: MIT */
/* Globs: * any characters, ? one, [abc] [a-z] [!a] one of them. All of the text has to match. */
#ifndef BASE_GLOB_H
#define BASE_GLOB_H

#include <stdbool.h>

bool glob_match(const char *glob, const char *text);
/* Has it any of those characters? */
bool glob_is(const char *text);

#endif
