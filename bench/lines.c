/* SPDX-License-Identifier: MIT */
/*
 * lines FILE - inlined calls and lines of addresses of an ELF file, whose hexadecimal offsets in the file are read from
 * the standard input: how long the first look takes, which reads what it needs, and how long the next. bench/against-addr2line
 * compares with addr2line.
 */
#include "bench.h"

#include <perfev/perfev.h>

#include <inttypes.h>
#include <string.h>

#define MAX (1 << 20)

static uint64_t addresses[MAX];
static size_t count;
static uint64_t frames, lines;

/* The whole file is mapped at 0, so that an address of the process is an offset in the file. */
static struct perfev_symbols *map_file(const char *path)
{
	struct perfev_symbols_opts opts = {.size = sizeof(opts)};
	struct perfev_any any;
	struct perfev_symbols *symbols;
	struct perfev_record record;
	unsigned char bytes[8192];
	int n;

	memset(&any, 0, sizeof(any));
	any.type = PERF_RECORD_MMAP2;
	any.as.mmap.pid = any.as.mmap.tid = 1;
	any.as.mmap.len = UINT64_C(1) << 40;
	any.as.mmap.prot = 5;
	any.as.mmap.filename = path;
	n = perfev_record_encode(bytes, sizeof(bytes), &any, PERF_RECORD_MISC_USER, NULL, 0, NULL);
	if (n < 0 || perfev_symbols_new(&symbols, &opts, NULL) < 0 ||
	    perfev_record_from_bytes(&record, (struct perfev_bytes){bytes, (size_t)n}, 0, NULL) < 0 ||
	    perfev_symbols_feed(symbols, &record, NULL, NULL) < 0)
		exit(1);
	return symbols;
}

static void look(struct perfev_symbols *symbols)
{
	struct perfev_frame found[64];
	struct perfev_source sources[64];
	size_t i;

	for (i = 0; i < count; i++) {
		struct perfev_place place = {addresses[i], 1, PERF_RECORD_MISC_USER};
		int n = perfev_symbols_find(symbols, &place, found, 64, NULL);
		int m = perfev_symbols_source(symbols, &place, sources, 64, NULL);

		frames += n > 0 ? (uint64_t)n : 0;
		lines += m > 0 ? (uint64_t)m : 0;
	}
}

int main(int argc, char **argv)
{
	struct perfev_symbols *symbols;
	double start, first, next;

	if (argc != 2)
		return 2;
	while (count < MAX && scanf("%" SCNx64, &addresses[count]) == 1)
		count++;
	start = bench_now();
	symbols = map_file(argv[1]);
	look(symbols);
	first = bench_now() - start;
	start = bench_now();
	look(symbols);
	next = bench_now() - start;
	printf("%zu addresses, %" PRIu64 " frames, %" PRIu64 " lines: first %.3f s, next %.3f s, %.0f ns each\n", count,
	       frames / 2, lines / 2, first / 1e9, next / 1e9, next / (double)(count ? count : 1));
	perfev_symbols_free(symbols);
	return 0;
}
