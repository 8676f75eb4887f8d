/* SPDX-License-Identifier: MIT */
/* record.h: decode a record from bytes, on any host: no kernel, no file. */
#include <perfev/record.h>
#include <stdio.h>

int main(void)
{
	/* a COMM record as a little-endian kernel writes it: header, pid, tid, name */
	static const unsigned char bytes[] = {3,   0,	0,   0,	  0,   0x20, 24,  0, 44, 1, 0, 0,
					      44,  1,	0,   0,	  'b', 'a',  's', 'h', 0, 0, 0, 0};
	struct perfev_bytes all = {bytes, sizeof(bytes)};
	struct perfev_record record;
	struct perfev_comm comm;
	struct perfev_error err;
	unsigned flags = PERFEV_BIG_ENDIAN ? PERFEV_RECORD_SWAPPED : 0;

	if (perfev_record_from_bytes(&record, all, flags, &err) < 0 ||
	    perfev_comm_decode(&comm, &record, NULL, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	printf("%s: process %u is now called %s%s\n", perfev_record_name(record.type), comm.pid, comm.comm,
	       record.misc & PERF_RECORD_MISC_COMM_EXEC ? ", by exec" : "");
	return 0;
}
