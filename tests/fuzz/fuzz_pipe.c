/* SPDX-License-Identifier: MIT */
/* Streams, through a pipe and in memory: both give the same records, and the same sections. The input is a stream
 * without its magic: the first byte chooses the byte order, and whether damage is forgiven. */
#include "look.h"

#include <stdio.h>
#include <unistd.h>

#define PIPE_MAX 60000 /* what a pipe takes without a reader */

static int open_pipe(struct perfev_reader **ret, const uint8_t *data, size_t size,
		     const struct perfev_reader_opts *opts)
{
	char path[64];
	int ends[2], r;

	if (pipe(ends) < 0 || write(ends[1], data, size) != (ssize_t)size)
		abort();
	close(ends[1]);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[0]);
	r = perfev_reader_open(ret, path, opts, NULL);
	close(ends[0]);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t stream[PIPE_MAX];
	struct perfev_reader_opts opts = {.size = sizeof(opts)};
	struct perfev_bytes bytes = {stream, size + 15};
	struct perfev_reader *reader;
	uint64_t one, other;

	if (!size || size > PIPE_MAX - 16)
		return 0;
	opts.partial = data[0] & 2;
	memcpy(stream, data[0] & 1 ? "2ELIFREP\0\0\0\0\0\0\0\x10" : "PERFILE2\x10\0\0\0\0\0\0\0", 16);
	memcpy(stream + 16, data + 1, size - 1);
	if (perfev_reader_open_memory(&reader, bytes, "fuzz", &opts, NULL) < 0)
		abort();
	one = look_at_all(reader);
	perfev_reader_close(reader);
	if (open_pipe(&reader, stream, bytes.size, &opts) < 0)
		abort();
	other = look_at_all(reader);
	perfev_reader_close(reader);
	if (one != other)
		abort();
	return 0;
}
