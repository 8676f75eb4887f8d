/* SPDX-License-Identifier: MIT */
/*
 * A recording that can be read once only, put into a file that has no name: for what has to read it twice. The file is gone
 * when the program ends.
 */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEP (UINT32_C(1) << 16)

static int new_file(void)
{
	const char *folder = getenv("TMPDIR");
	char path[4096];
	int fd;

	if (!folder || !folder[0])
		folder = "/tmp";
	if (snprintf(path, sizeof(path), "%s/perfev-XXXXXX", folder) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	return fd;
}

static int write_all(int fd, const char *bytes, size_t size)
{
	ssize_t n;

	while (size) {
		n = write(fd, bytes, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		bytes += n;
		size -= (size_t)n;
	}
	return 0;
}

static int copy_all(int to, int from)
{
	char *bytes = malloc(STEP);
	ssize_t n = 1;
	int r = bytes ? 0 : -ENOMEM;

	while (r == 0 && n) {
		n = read(from, bytes, STEP);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n < 0)
			r = -errno;
		else
			r = write_all(to, bytes, (size_t)n);
	}
	free(bytes);
	return r;
}

/* Whether it is gone when it was read. */
static bool is_stream(const char *path)
{
	struct stat st;

	return !strcmp(path, "-") || (stat(path, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode) || S_ISSOCK(st.st_mode)));
}

int spool(const char **path, char room[32])
{
	int from, to, r;

	if (!is_stream(*path))
		return -1;
	from = strcmp(*path, "-") ? open(*path, O_RDONLY | O_CLOEXEC) : dup(STDIN_FILENO);
	if (from < 0)
		return file_failed("read", *path, errno);
	to = new_file();
	r = to < 0 ? to : copy_all(to, from);
	close(from);
	if (r < 0) {
		if (to >= 0)
			close(to);
		return file_failed("keep a copy of", *path, -r);
	}
	snprintf(room, 32, "/proc/self/fd/%d", to);
	*path = room;
	return -1;
}
