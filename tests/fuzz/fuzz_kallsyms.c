/* SPDX-License-Identifier: MIT */
/* kallsyms: any text gives symbols or none. */
#include "fuzz.h"

#include "symbols/kallsyms.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kallsyms kallsyms;
	char path[64];
	size_t i;
	int fd = memfd_create("kallsyms", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (kallsyms_load(&kallsyms, path) == 0) {
		const struct table *table = &kallsyms.table;

		for (i = 0; i < table->count; i++) {
			long found = table_find(table, table->items[i].start);

			touch(table->items[i].name, strlen(table->items[i].name) + 1);
			if (i && table->items[i - 1].start >= table->items[i].start)
				abort(); /* not sorted, or one address twice */
			if (found > (long)i || table->items[i].module > kallsyms.module_count)
				abort();
		}
		kallsyms_free(&kallsyms);
	}
	close(fd);
	return 0;
}
