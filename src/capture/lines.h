/* SPDX-License-Identifier: MIT */
/* A file of /proc, line by line: the lines of one read(2) are consistent, those of two need not be. */
#ifndef CAPTURE_LINES_H
#define CAPTURE_LINES_H

#include <stddef.h>

struct lines {
	int fd;
	char *buffer;
	size_t at, used;
};

#define LINES_NONE {-1, NULL, 0, 0}

int lines_open(struct lines *lines, const char *path);
/* The next line, without its end; NULL when there is no more. It lives until the next call. */
char *lines_next(struct lines *lines);
void lines_close(struct lines *lines);

#endif
