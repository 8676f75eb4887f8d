/* SPDX-License-Identifier: MIT */
/* Files that are written: the one place that opens and writes them. */
#ifndef FILE_OUTPUT_H
#define FILE_OUTPUT_H

#include <perfev/common.h>

struct output {
	int fd;
	bool stream;	 /* nothing can be written twice */
	bool made;	 /* a file, which was not there before */
	uint64_t offset; /* bytes written in order */
};

/* output_keep() - what is at @path stays as PATH.old, if it is a file and not empty ("-" is none). Returns 1 when it does, 0 when
 * there is none, or why not. */
int output_keep(const char *path);
/* output_open() - a new file with mode 0600, or standard output for "-". */
int output_open(struct output *ret, const char *path);
/* output_write() - all pieces, one behind the other. On failure the file is cut back to where it was. */
int output_write(struct output *output, const struct perfev_bytes *pieces, size_t count);
/* output_cut() - the file ends at @offset again; nothing of a stream. */
void output_cut(struct output *output, uint64_t offset);
/* output_sync() - what was written is on the disk. Returns 0, or why not. */
int output_sync(struct output *output);
/* output_rewrite() - bytes at a place that was written before; not of a stream. */
int output_rewrite(struct output *output, uint64_t offset, struct perfev_bytes bytes);
/* output_drop() - take the file away again, if it was made when it was opened, and put the one that was kept back
 * @kept: what output_keep() said. */
void output_drop(struct output *output, const char *path, int kept);
void output_close(struct output *output);

#endif
