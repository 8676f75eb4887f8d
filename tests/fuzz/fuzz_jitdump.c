/* SPDX-License-Identifier: MIT */
/* What JIT compilers write: the input is the file; read whole, and partly. */
#include "fuzz.h"

#include <perfev/jitdump.h>

static void look(struct perfev_jitdump *dump)
{
	struct perfev_jit_record record;

	while (perfev_jitdump_next(dump, &record, NULL) > 0) {
		struct perfev_jit_line_position position = {0, 0, NULL};
		struct perfev_jit_line line;

		touch(record.body.data, record.body.size);
		if (record.type == PERFEV_JIT_LOAD) {
			touch(record.as.code.name, strlen(record.as.code.name) + 1);
			touch(record.as.code.code.data, record.as.code.code.size);
		}
		while (record.type == PERFEV_JIT_DEBUG && perfev_jit_line_next(&record.as.lines, &position, &line))
			touch(line.file, strlen(line.file) + 1);
		if (record.type == PERFEV_JIT_UNWINDING)
			touch(record.as.unwinding.data.data, record.as.unwinding.data.size);
	}
	perfev_jitdump_damage(dump);
	perfev_jitdump_close(dump);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfev_jitdump_opts opts = {.size = sizeof(opts)};
	struct perfev_bytes bytes = {data, size};
	struct perfev_jitdump *dump;

	if (perfev_jitdump_open_memory(&dump, bytes, "fuzz", &opts, NULL) == 0)
		look(dump);
	opts.partial = 1;
	if (perfev_jitdump_open_memory(&dump, bytes, "fuzz", &opts, NULL) == 0)
		look(dump);
	return 0;
}
