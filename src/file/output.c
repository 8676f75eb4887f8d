/* SPDX-License-Identifier: MIT */
/*
 * Writing files. Many pieces go to the kernel in one call; a short write goes on where it stopped. When
 * the disk is full the file is cut back to the last place that was complete, so that it stays readable.
 */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32

#include <io.h>
#include <sys/stat.h>

int output_keep(const char *path)
{
	(void)path;
	return 0;
}

int output_open(struct output *ret, const char *path)
{
	memset(ret, 0, sizeof(*ret));
	if (!strcmp(path, "-")) {
		ret->stream = true;
		ret->fd = _dup(1);
		if (ret->fd >= 0)
			_setmode(ret->fd, _O_BINARY);
	} else {
		ret->fd = _open(path, _O_WRONLY | _O_CREAT | _O_TRUNC | _O_BINARY, _S_IREAD | _S_IWRITE);
	}
	return ret->fd < 0 ? -errno : 0;
}

int output_write(struct output *output, const struct perfev_bytes *pieces, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		const char *at = pieces[i].data;
		size_t left = pieces[i].size;

		while (left) {
			int n = _write(output->fd, at, left > 1u << 20 ? 1u << 20 : (unsigned)left);

			if (n <= 0)
				return -errno;
			at += n;
			left -= (size_t)n;
		}
		output->offset += pieces[i].size;
	}
	return 0;
}

void output_cut(struct output *output, uint64_t offset)
{
	if (!output->stream && _chsize_s(output->fd, (long long)offset) == 0 &&
	    _lseeki64(output->fd, (long long)offset, SEEK_SET) >= 0)
		output->offset = offset;
}

int output_sync(struct output *output)
{
	return _commit(output->fd) < 0 ? -errno : 0;
}

int output_rewrite(struct output *output, uint64_t offset, struct perfev_bytes bytes)
{
	if (_lseeki64(output->fd, (long long)offset, SEEK_SET) < 0 ||
	    _write(output->fd, bytes.data, (unsigned)bytes.size) != (int)bytes.size ||
	    _lseeki64(output->fd, (long long)output->offset, SEEK_SET) < 0)
		return -errno;
	return 0;
}

void output_drop(struct output *output, const char *path, int kept)
{
	(void)output, (void)path, (void)kept; /* a file that is open cannot be taken away there */
}

void output_close(struct output *output)
{
	if (output->fd >= 0)
		_close(output->fd);
	output->fd = -1;
}

#else

#include <limits.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define PIECES_MAX 256

/* Nothing but a file with something in it: a device or a folder under another name would be missed by
 * everyone else. Of a link, what it leads to; the link stays. */
int output_keep(const char *path)
{
	char real[PATH_MAX], old[PATH_MAX + 4];
	struct stat is;

	if (!strcmp(path, "-") || stat(path, &is) < 0 || !S_ISREG(is.st_mode) || !is.st_size || !realpath(path, real))
		return 0;
	snprintf(old, sizeof(old), "%s.old", real);
	return rename(real, old) < 0 ? -errno : 1;
}

/* What is no file (a pipe with a name, a device) takes bytes in order only. It is opened for nothing but
 * writing: a pipe that we could read ourselves would never say that its reader has left. */
int output_open(struct output *ret, const char *path)
{
	struct stat is;

	memset(ret, 0, sizeof(*ret));
	if (!strcmp(path, "-")) {
		ret->stream = true;
		ret->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	} else {
		ret->made = stat(path, &is) < 0 && errno == ENOENT;
		ret->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		ret->stream = ret->fd >= 0 && fstat(ret->fd, &is) == 0 && !S_ISREG(is.st_mode) &&
			      !S_ISBLK(is.st_mode);
	}
	return ret->fd < 0 ? -errno : 0;
}

/* Writes all of the vector, which is changed on the way. */
static int write_all(int fd, struct iovec *vector, int count)
{
	while (count) {
		ssize_t n = writev(fd, vector, count);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		while (count && (size_t)n >= vector->iov_len) {
			n -= (ssize_t)vector->iov_len;
			vector++;
			count--;
		}
		if (count) {
			vector->iov_base = (char *)vector->iov_base + n;
			vector->iov_len -= (size_t)n;
		}
	}
	return 0;
}

void output_cut(struct output *output, uint64_t offset)
{
	if (!output->stream && ftruncate(output->fd, (off_t)offset) == 0 &&
	    lseek(output->fd, (off_t)offset, SEEK_SET) >= 0)
		output->offset = offset;
}

/* What cannot be synced (a device) needs it not. */
int output_sync(struct output *output)
{
	int r;

	do
		r = fdatasync(output->fd);
	while (r < 0 && errno == EINTR);
	return r < 0 && errno != EINVAL && errno != EROFS ? -errno : 0;
}

int output_write(struct output *output, const struct perfev_bytes *pieces, size_t count)
{
	struct iovec vector[PIECES_MAX];
	uint64_t start = output->offset;

	while (count) {
		size_t n = count < PIECES_MAX ? count : PIECES_MAX, i;
		uint64_t bytes = 0;
		int r;

		for (i = 0; i < n; i++) {
			vector[i].iov_base = (void *)(uintptr_t)pieces[i].data;
			vector[i].iov_len = pieces[i].size;
			bytes += pieces[i].size;
		}
		r = write_all(output->fd, vector, (int)n);
		if (r < 0) {
			output_cut(output, start);
			return r;
		}
		output->offset += bytes;
		pieces += n;
		count -= n;
	}
	return 0;
}

int output_rewrite(struct output *output, uint64_t offset, struct perfev_bytes bytes)
{
	const char *at = bytes.data;

	while (bytes.size) {
		ssize_t n = pwrite(output->fd, at, bytes.size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		at += n;
		offset += (uint64_t)n;
		bytes.size -= (size_t)n;
	}
	return 0;
}

void output_drop(struct output *output, const char *path, int kept)
{
	char real[PATH_MAX], old[PATH_MAX + 4];

	if (!output->made || output->stream || !realpath(path, real))
		return;
	output->made = false;
	snprintf(old, sizeof(old), "%s.old", real);
	if (unlink(real) == 0 && kept > 0)
		rename(old, real); /* else it stays where it is, which was said when it was kept */
}

void output_close(struct output *output)
{
	if (output->fd >= 0)
		close(output->fd);
	output->fd = -1;
}

#endif
