/* SPDX-License-Identifier: MIT */
/*
 * Numbers of a copy: in the byte order of the original, so that all that is copied as it is, and what is made anew, are of one.
 */
#include "copy_base.h"
#include "reader_base.h"

#include "base/load.h"

void copy_put(const struct copy *c, unsigned char *to, uint64_t value, unsigned width)
{
	bool swapped = c->reader->info.swapped;

	if (width == 8)
		store_u64(to, swapped ? swap_u64(value) : value);
	else
		store_u32(to, swapped ? swap_u32((uint32_t)value) : (uint32_t)value);
}

int copy_append(const struct copy *c, struct buffer *to, uint64_t value, unsigned width)
{
	unsigned char bytes[8];

	copy_put(c, bytes, value, width);
	return buffer_append(to, bytes, width);
}
