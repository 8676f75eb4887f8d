/* SPDX-License-Identifier: MIT */
/*
 * names FILE - what perfev calls the code of a file
 *
 * The standard input has a line for each part of the file that is loaded, "map START SIZE OFFSET", then addresses; all are
 * hexadecimal, and addresses those of the process. For each address a line is printed: the symbol, as it is in the file, and the
 * bytes from its start. All goes through the public library, as it does for a recording.
 */
#include <perfev/perfev.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PID 7

static struct perfev_symbols *symbols;
static struct perfev_error err;

static void map(const char *path, uint64_t start, uint64_t size, uint64_t offset)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t start, size, offset;
		char name[4096];
	} mmap = {{PERF_RECORD_MMAP, PERF_RECORD_MISC_USER, sizeof(mmap)}, PID, PID, start, size, offset, ""};
	struct perfev_record record;

	snprintf(mmap.name, sizeof(mmap.name), "%s", path);
	if (perfev_record_from_bytes(&record, (struct perfev_bytes){&mmap, sizeof(mmap)}, 0, &err) < 0 ||
	    perfev_symbols_feed(symbols, &record, NULL, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		exit(2);
	}
}

static void print_name(const struct perfev_place *place)
{
	struct perfev_frame frame;

	if (perfev_symbols_find(symbols, place, &frame, 1, &err) != 1)
		exit(2);
	printf("%s %" PRIu32 "\n", frame.symbol ? frame.symbol : "??", frame.symbol ? frame.offset : 0);
}

int main(int argc, char **argv)
{
	struct perfev_symbols_opts opts = {.size = sizeof(opts), .raw_names = 1};
	char line[256];

	if (argc < 2 || perfev_symbols_new(&symbols, &opts, &err) < 0)
		return 2;
	while (fgets(line, sizeof(line), stdin)) {
		struct perfev_place place = {.pid = PID, .cpumode = PERF_RECORD_MISC_USER};
		uint64_t size, offset;

		if (sscanf(line, "map %" SCNx64 " %" SCNx64 " %" SCNx64, &place.ip, &size, &offset) == 3)
			map(argv[1], place.ip, size, offset);
		else if (sscanf(line, "%" SCNx64, &place.ip) == 1)
			print_name(&place);
	}
	perfev_symbols_free(symbols);
	return 0;
}
