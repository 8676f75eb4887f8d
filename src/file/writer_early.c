/* SPDX-License-Identifier: MIT */
/*
 * Sections in front of the records. The table of sections stands behind the records, and is written last: without it
 * a recorder that was killed leaves a file that does not say where it is from, and whose tracepoints nobody can read.
 * So what is known at the start is written at the start. Where, says a table of its own, {number, offset, size} each
 * behind a magic number, whose place is in the header until the recording has ended; other readers do not look there.
 * The table behind the records has the same places.
 */
#include "writer_base.h"

#include "base/load.h"

#include <errno.h>

int writer_put_early(struct perfev_writer *writer, struct buffer *head)
{
	struct buffer table = {NULL, 0, 0, 0};
	uint64_t words[3] = {EARLY_MAGIC, 0, 0};
	unsigned i;
	int r = buffer_append(&table, words, 8);

	for (i = 0; r == 0 && i < PERFEV_FEATURE_COUNT; i++) {
		const struct buffer *bytes = &writer->features[i].bytes;

		if (!writer->features[i].set)
			continue;
		words[0] = i;
		words[1] = writer->features[i].early = head->size;
		words[2] = bytes->size;
		r = buffer_append(&table, words, sizeof(words));
		if (r == 0)
			r = buffer_append(head, bytes->data, bytes->size);
		if (r == 0 && !buffer_extend(head, (8 - head->size % 8) % 8))
			r = -ENOMEM;
	}
	if (r == 0 && table.size > 8) {
		store_u64(head->data + EARLY_PLACE, head->size);
		store_u64(head->data + EARLY_PLACE + 8, table.size);
		r = buffer_append(head, table.data, table.size);
	}
	buffer_free(&table);
	return r;
}
