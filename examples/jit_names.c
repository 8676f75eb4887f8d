/* SPDX-License-Identifier: MIT */
/* jitdump.h: which functions a JIT compiler made, and where they are. */
#include <perfev/jitdump.h>
#include <stdio.h>
#include <string.h>

static void put(unsigned char *to, unsigned long long value, size_t size)
{
	memcpy(to, &value, size); /* a little-endian host's, or a big one's: both are read */
}

/* What a compiler writes: a header, and a function of two bytes. */
static size_t make(unsigned char *to)
{
	memset(to, 0, 128);
	put(to, 0x4a695444, 4);
	put(to + 4, 1, 4);
	put(to + 8, 40, 4);
	put(to + 44, 16 + 40 + 5 + 2, 4);
	put(to + 56 + 16, 0x401000, 8);
	put(to + 56 + 24, 2, 8);
	memcpy(to + 56 + 40, "main", 5);
	return 40 + 63;
}

int main(void)
{
	unsigned char bytes[128];
	struct perfev_bytes view = {bytes, make(bytes)};
	struct perfev_jitdump *dump;
	struct perfev_jit_record record;
	struct perfev_error err;
	int r;

	if (perfev_jitdump_open_memory(&dump, view, "example", NULL, &err) < 0)
		return 1;
	while ((r = perfev_jitdump_next(dump, &record, &err)) > 0)
		if (record.type == PERFEV_JIT_LOAD)
			printf("%s at 0x%llx, %zu bytes\n", record.as.code.name, (unsigned long long)record.as.code.code_addr,
			       record.as.code.code.size);
	perfev_jitdump_close(dump);
	return r < 0 ? 1 : 0;
}
