/* SPDX-License-Identifier: MIT */
/*
 * file FILE - every field of every record of a recording decoded through the library, without printing: bytes a second
 *
 * Words of call chains and branches of stacks are taken one by one; names of mappings and threads are read.
 */
#include "bench.h"

#include <perfev/perfev.h>

#include <string.h>

#define RUNS 9

static uint64_t sum; /* so that nothing is left out */

static void look(const struct perfev_any *any)
{
	struct perfev_branch branch;
	uint32_t i;

	if (any->type == PERF_RECORD_SAMPLE) {
		const struct perfev_sample *s = &any->as.sample;

		if (s->present & PERF_SAMPLE_CALLCHAIN)
			for (i = 0; i < s->callchain.count; i++)
				sum += perfev_u64s_at(s->callchain, i);
		if (s->present & PERF_SAMPLE_BRANCH_STACK)
			for (i = 0; perfev_branches_at(&s->branches, i, &branch); i++)
				sum += branch.from;
		sum += s->period;
	} else if (any->type == PERF_RECORD_MMAP || any->type == PERF_RECORD_MMAP2) {
		sum += strlen(any->as.mmap.filename);
	} else if (any->type == PERF_RECORD_COMM) {
		sum += strlen(any->as.comm.comm);
	}
}

static uint64_t walk(const char *path)
{
	struct perfev_reader *reader;
	struct perfev_record record;
	struct perfev_error err;
	struct perfev_any any;
	uint64_t n = 0;

	if (perfev_reader_open(&reader, path, NULL, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	memset(&any, 0, sizeof(any));
	while (perfev_reader_next(reader, &record, &err) > 0) {
		if (perfev_any_decode(&any, &record, perfev_reader_layout(reader, &record), NULL) == 0)
			look(&any);
		if ((++n & 0xffff) == 0)
			perfev_reader_release(reader);
	}
	perfev_reader_close(reader);
	return n;
}

int main(int argc, char **argv)
{
	double rates[RUNS];
	struct perfev_reader_info info;
	struct perfev_reader *reader;
	uint64_t n = 0;
	int i;

	if (argc != 2 || perfev_reader_open(&reader, argv[1], NULL, NULL) < 0) {
		fprintf(stderr, "usage: bench-file FILE\n");
		return 2;
	}
	perfev_reader_describe(reader, &info);
	perfev_reader_close(reader);
	walk(argv[1]);
	for (i = 0; i < RUNS; i++) {
		double start = bench_now();

		n = walk(argv[1]);
		rates[i] = (double)info.data_size / (bench_now() - start);
	}
	printf("%-34s %9.2f GB/s  %llu records, %.1f ns each%s\n", "every field of a recording", bench_median(rates, RUNS),
	       (unsigned long long)n, (double)info.data_size / bench_median(rates, RUNS) / (double)n, sum ? "" : " ");
	return 0;
}
