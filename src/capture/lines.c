/* SPDX-License-Identifier: MIT */
/* Lines of a file of /proc. A line longer than the buffer ends the file: there is none such. */
#include "lines.h"

#include "kernel/sys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES 65536

int lines_open(struct lines *lines, const char *path)
{
	lines_close(lines);
	lines->fd = sys_open(path);
	if (lines->fd < 0)
		return lines->fd;
	lines->buffer = malloc(CHUNK_BYTES);
	if (!lines->buffer) {
		lines_close(lines);
		return -ENOMEM;
	}
	return 0;
}

void lines_close(struct lines *lines)
{
	sys_close(lines->fd);
	free(lines->buffer);
	memset(lines, 0, sizeof(*lines));
	lines->fd = -1;
}

char *lines_next(struct lines *lines)
{
	if (lines->fd < 0)
		return NULL;
	for (;;) {
		char *line = lines->buffer + lines->at;
		char *newline = memchr(line, '\n', lines->used - lines->at);
		ssize_t n;

		if (newline) {
			*newline = 0;
			lines->at = (size_t)(newline - lines->buffer) + 1;
			return line;
		}
		memmove(lines->buffer, line, lines->used - lines->at);
		lines->used -= lines->at;
		lines->at = 0;
		if (lines->used == CHUNK_BYTES)
			return NULL;
		n = sys_read(lines->fd, lines->buffer + lines->used, CHUNK_BYTES - lines->used);
		if (n <= 0)
			return NULL;
		lines->used += (size_t)n;
	}
}
