/* SPDX-License-Identifier: MIT */
/*
 * Reading files. A regular file is mapped: nothing is copied, and pages that were walked are given back,
 * so that memory stays flat however long the file is. A pipe is read. Where there is no mmap (Windows) a
 * file is read into memory whole.
 */
#include "source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32

#include <fcntl.h>
#include <io.h>
#include <stdio.h>

static int load_whole(struct source *ret, FILE *file)
{
	size_t room = 1 << 16, size = 0, n;
	unsigned char *data = malloc(room), *more;

	while (data && (n = fread(data + size, 1, room - size, file)) > 0) {
		size += n;
		if (size < room)
			continue;
		more = realloc(data, room * 2);
		if (!more)
			free(data);
		data = more;
		room *= 2;
	}
	if (!data)
		return -ENOMEM;
	ret->data = data;
	ret->size = size;
	ret->mapped = true;
	return 0;
}

int source_open(struct source *ret, const char *path, enum source_mode mode)
{
	FILE *file;
	int r;

	(void)mode;
	memset(ret, 0, sizeof(*ret));
	ret->fd = -1;
	if (!strcmp(path, "-")) {
		_setmode(_fileno(stdin), _O_BINARY);
		return load_whole(ret, stdin);
	}
	file = fopen(path, "rb");
	if (!file)
		return -errno;
	r = load_whole(ret, file);
	fclose(file);
	return r;
}

void source_close(struct source *source)
{
	if (source->mapped)
		free((void *)(uintptr_t)source->data);
	memset(source, 0, sizeof(*source));
	source->fd = -1;
}

int64_t source_part(const struct source *source, uint64_t offset, void *to, size_t size)
{
	(void)source;
	(void)offset;
	(void)to;
	(void)size;
	return 0;
}

int64_t source_read(struct source *source, void *to, size_t size)
{
	(void)source;
	(void)to;
	(void)size;
	return 0;
}

bool source_shrank(const struct source *source)
{
	(void)source;
	return false;
}

void source_take(struct source *ret, int fd)
{
	memset(ret, 0, sizeof(*ret));
	ret->fd = fd;
}

void source_keep(struct source *source)
{
	(void)source;
}

bool source_real_path(const char *path, char *to, size_t size)
{
	(void)path, (void)to, (void)size;
	return false;
}

void source_drop(struct source *source, uint64_t offset)
{
	(void)source;
	(void)offset;
}

#else

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int map(struct source *ret, uint64_t size)
{
	void *at;

	if (size > SIZE_MAX)
		return -EFBIG;
	at = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, ret->fd, 0);
	if (at == MAP_FAILED)
		return errno == ENODEV ? 0 : -errno; /* files of sysfs: they are read */
	madvise(at, (size_t)size, MADV_SEQUENTIAL);
	ret->data = at;
	ret->size = size;
	ret->mapped = true;
	return 0;
}

static int read_all(struct source *ret, uint64_t size)
{
	int64_t n = 1;

	if (size > SIZE_MAX)
		return -EFBIG;
	ret->owned = malloc((size_t)size);
	if (!ret->owned)
		return -ENOMEM;
	while (ret->size < size && n > 0) {
		n = source_read(ret, (unsigned char *)ret->owned + ret->size, (size_t)(size - ret->size));
		if (n > 0)
			ret->size += (uint64_t)n;
	}
	ret->data = ret->owned;
	return n < 0 ? (int)n : 0;
}

int source_open(struct source *ret, const char *path, enum source_mode mode)
{
	int flags = O_RDONLY | O_CLOEXEC | (mode == SOURCE_FILE ? O_NONBLOCK : 0), r = 0;
	struct stat st;

	memset(ret, 0, sizeof(*ret));
	ret->fd = strcmp(path, "-") ? open(path, flags) : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	if (ret->fd < 0)
		return -errno;
	if (fstat(ret->fd, &st) < 0)
		r = -errno;
	else if (S_ISDIR(st.st_mode))
		r = -EISDIR;
	else if (!S_ISREG(st.st_mode))
		r = mode == SOURCE_FILE ? -EINVAL : 0;
	else if (mode != SOURCE_STREAM && st.st_size > 0)
		r = mode == SOURCE_COPY ? read_all(ret, (uint64_t)st.st_size) : map(ret, (uint64_t)st.st_size);
	if (r < 0)
		source_close(ret);
	else
		ret->inode = st.st_ino;
	return r;
}

void source_close(struct source *source)
{
	if (source->mapped)
		munmap((void *)(uintptr_t)source->data, (size_t)source->size);
	if (source->fd >= 0)
		close(source->fd);
	free(source->owned);
	memset(source, 0, sizeof(*source));
	source->fd = -1;
}

int64_t source_part(const struct source *source, uint64_t offset, void *to, size_t size)
{
	ssize_t n;

	if (offset > INT64_MAX)
		return -EINVAL;
	do
		n = pread(source->fd, to, size, (off_t)offset);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

int64_t source_read(struct source *source, void *to, size_t size)
{
	ssize_t n;

	if (source->fd < 0)
		return 0;
	do
		n = read(source->fd, to, size);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

bool source_shrank(const struct source *source)
{
	struct stat st;

	return source->mapped && fstat(source->fd, &st) == 0 && (uint64_t)st.st_size < source->size;
}

void source_take(struct source *ret, int fd)
{
	memset(ret, 0, sizeof(*ret));
	ret->fd = fd;
}

void source_keep(struct source *source)
{
	if (!source->mapped || source->fd < 0)
		return;
	close(source->fd);
	source->fd = -1;
}

bool source_real_path(const char *path, char *to, size_t size)
{
	char *real = realpath(path, NULL);
	bool fits = real && strlen(real) < size;

	if (fits)
		memcpy(to, real, strlen(real) + 1);
	free(real);
	return fits;
}

void source_drop(struct source *source, uint64_t offset)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end = offset & ~(page - 1);

	if (!source->mapped || end <= source->dropped)
		return;
	madvise((void *)(uintptr_t)(source->data + source->dropped), (size_t)(end - source->dropped),
		MADV_DONTNEED);
	source->dropped = end;
}

#endif

void source_open_memory(struct source *ret, struct perfev_bytes bytes)
{
	memset(ret, 0, sizeof(*ret));
	ret->fd = -1;
	ret->data = bytes.data;
	ret->size = bytes.size;
}

const unsigned char *source_at(const struct source *source, uint64_t offset, uint64_t size)
{
	if (!source->data || offset > source->size || size > source->size - offset)
		return NULL;
	return source->data + offset;
}
