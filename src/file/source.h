/* SPDX-License-Identifier: MIT */
/*
 * Files that are read as data: recordings, ELF and debug files, kallsyms, JIT maps. The one place that
 * opens and reads them; a test puts its own behind these functions when it links.
 */
#ifndef FILE_SOURCE_H
#define FILE_SOURCE_H

#include <perfev/common.h>

struct source {
	const unsigned char *data; /* all bytes, when the file is mapped or in memory; else NULL */
	uint64_t size;		   /* of those */
	int fd;			   /* -1: memory */
	bool mapped;
	void *owned;	  /* a copy of the file; data points to it */
	uint64_t dropped; /* pages before this left memory */
	uint64_t inode;	  /* of a file that was opened by its name */
};

enum source_mode {
	SOURCE_MAP,    /* map a regular file; read others as streams */
	SOURCE_COPY,   /* the same, but read a regular file into memory: it may be cut by others */
	SOURCE_STREAM, /* read it as a stream, whatever it is */
	SOURCE_FILE    /* map a regular file, and open nothing else: a name that somebody else chose may be
			* that of a pipe or a device, where opening alone can wait for ever */
};

/* source_open() - @path, or standard input for "-". Return: 0, or a negative errno (also -EISDIR, and
 * -EINVAL for what is no regular file and has to be). */
int source_open(struct source *ret, const char *path, enum source_mode mode);
/* source_take() - a descriptor that somebody else opened, to be read or closed */
void source_take(struct source *ret, int fd);
/* source_keep() - a mapped file goes on without its descriptor: source_shrank() is false from then on. For those that are
 * many, as descriptors are few. */
void source_keep(struct source *source);
/* source_real_path() - @path without symbolic links; false: it is not there, or longer than @size */
bool source_real_path(const char *path, char *to, size_t size);
void source_open_memory(struct source *ret, struct perfev_bytes bytes);
void source_close(struct source *source);

/* source_read() - the next bytes of a stream: their number, 0 at the end, a negative errno. */
int64_t source_read(struct source *source, void *to, size_t size);
/* source_part() - bytes at @offset of a file that is open as a stream, which stays where it is: their number, 0 behind its end, a
 * negative errno */
int64_t source_part(const struct source *source, uint64_t offset, void *to, size_t size);
/* source_shrank() - whether a mapped file has become shorter than it was. */
bool source_shrank(const struct source *source);
/* source_drop() - pages of a mapped file before @offset leave memory. */
void source_drop(struct source *source, uint64_t offset);
/* source_at() - @size bytes at @offset of a mapped file, or NULL when they are not all there. */
const unsigned char *source_at(const struct source *source, uint64_t offset, uint64_t size);

#endif
