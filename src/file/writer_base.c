/* SPDX-License-Identifier: MIT */
/* What all parts of the writer stand on: its pieces, its errors, and how attrs and headers are put down. */
#include "writer_base.h"

#include "base/error.h"
#include "base/load.h"

#include <errno.h>
#include <string.h>

#ifndef EDQUOT /* Windows has no quotas */
#define EDQUOT ENOSPC
#endif

int writer_failed(const struct perfev_writer *writer, int r, struct perfev_error *err)
{
	const char *name = strcmp(writer->path, "-") ? writer->path : "standard output";

	if (r == -ENOSPC || r == -EDQUOT) {
		const char *cause = r == -ENOSPC ? "the disk is full" : "the quota is used up";

		if (!writer->output.offset)
			return error_set(err, r, PERFEV_WHY_DISK, 0,
					 "cannot write %.200s: %s, and nothing of it was written; make room, or take another place", name,
					 cause);
		return error_set(err, r, PERFEV_WHY_DISK, writer->output.offset,
				 "cannot write %.200s: %s after %llu bytes, which stay readable; make room, or "
				 "record less",
				 name, cause, (unsigned long long)writer->output.offset);
	}
	if (r == -ENOMEM)
		return error_memory(err);
	error_errno(err, r, "cannot write %.200s", name);
	if (err)
		err->why = PERFEV_WHY_DISK;
	return r;
}

int writer_put_attr(const struct perfev_writer *writer, struct buffer *to,
		    const struct writer_event *event)
{
	struct perf_event_attr attr = event->attr;

	attr.size = writer->attr_size;
	return buffer_append(to, &attr, writer->attr_size);
}

int writer_put_record(struct buffer *to, uint32_t type, size_t size)
{
	unsigned char *header = buffer_extend(to, 8);

	if (!header)
		return -ENOMEM;
	store_u32(header, type);
	store_u16(header + 6, (uint16_t)size);
	return 0;
}

int perfev_writer_flush(struct perfev_writer *writer, struct perfev_error *err)
{
	int r = 0;

	if (writer->piece_count && writer->pack.codec)
		r = writer_pack_flush(writer);
	else if (writer->piece_count)
		r = output_write(&writer->output, writer->pieces, writer->piece_count);
	writer->piece_count = 0;
	return r < 0 ? writer_failed(writer, r, err) : 0;
}
