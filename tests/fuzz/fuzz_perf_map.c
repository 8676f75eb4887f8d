/* SPDX-License-Identifier: MIT */
/* perf-PID.map: any text gives symbols, in order and without overlaps, or none. */
#include "fuzz.h"

#include "symbols/perf_map.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buffer text = {NULL, 0, 0, 0};
	struct table table;
	char path[64];
	size_t i;
	int fd = memfd_create("map", MFD_CLOEXEC);

	memset(&table, 0, sizeof(table));
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (perf_map_read(&table, &text, path) == 0)
		for (i = 0; i < table.count; i++) {
			touch(table.items[i].name, strlen(table.items[i].name) + 1);
			if (table.items[i].start >= table.items[i].end ||
			    (i && table.items[i - 1].end > table.items[i].start) ||
			    table_find(&table, table.items[i].start) != (long)i)
				abort();
		}
	table_free(&table);
	buffer_free(&text);
	close(fd);
	return 0;
}
