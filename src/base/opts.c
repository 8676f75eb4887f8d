/* SPDX-License-Identifier: MIT */
/* Option structs: the rule of perf_event_attr.size, for ours. */
#include "opts.h"
#include "error.h"

#include <errno.h>
#include <string.h>

int opts_copy(void *to, size_t to_size, const void *from, struct perfev_error *err)
{
	const unsigned char *bytes = from;
	size_t size, i;

	memset(to, 0, to_size);
	if (from) {
		memcpy(&size, from, sizeof(size));
		if (size < sizeof(size))
			return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
					 "cannot use the options: their size member is %zu; set it to "
					 "the sizeof of the struct",
					 size);
		for (i = to_size; i < size; i++)
			if (bytes[i])
				return error_set(err, -E2BIG, PERFEV_WHY_OPTIONS, i,
						 "cannot use the options: byte %zu of %zu is set, and this "
						 "library knows %zu; update the library, or leave it 0",
						 i, size, to_size);
		memcpy(to, from, size < to_size ? size : to_size);
	}
	memcpy(to, &to_size, sizeof(to_size));
	return 0;
}
