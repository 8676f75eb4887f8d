/* SPDX-License-Identifier: MIT */
/* perfev dump: what a recording holds. */
#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Counts by type; types above are few, and kept in a list. */
#define KNOWN_TYPES 128

struct count {
	uint32_t type;
	uint64_t count;
	char name[40];
};

struct counts {
	struct count *items;
	size_t count, room;
	uint32_t index[KNOWN_TYPES]; /* place in items + 1 */
};

static struct count *count_of(struct counts *counts, uint32_t type)
{
	struct count *items, *item;
	const char *name;
	size_t i;

	if (type < KNOWN_TYPES && counts->index[type])
		return &counts->items[counts->index[type] - 1];
	for (i = 0; type >= KNOWN_TYPES && i < counts->count; i++)
		if (counts->items[i].type == type)
			return &counts->items[i];
	if (counts->count == counts->room) {
		counts->room = counts->room ? counts->room * 2 : 32;
		items = realloc(counts->items, counts->room * sizeof(*items));
		if (!items)
			return NULL;
		counts->items = items;
	}
	item = &counts->items[counts->count++];
	memset(item, 0, sizeof(*item));
	item->type = type;
	name = perfev_record_name(type);
	if (name)
		snprintf(item->name, sizeof(item->name), "%s", name);
	else
		snprintf(item->name, sizeof(item->name), "%" PRIu32, type);
	if (type < KNOWN_TYPES)
		counts->index[type] = (uint32_t)counts->count;
	return item;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct count *)a)->name, ((const struct count *)b)->name);
}

static void print_counts(struct counts *counts)
{
	uint64_t total = 0;
	size_t i;

	if (counts->count)
		qsort(counts->items, counts->count, sizeof(*counts->items), by_name);
	for (i = 0; i < counts->count; i++) {
		printf("%s %" PRIu64 "\n", counts->items[i].name, counts->items[i].count);
		total += counts->items[i].count;
	}
	printf("TOTAL %" PRIu64 "\n", total);
}

static int count_records(struct perfev_reader *reader, struct counts *counts, struct perfev_error *err)
{
	struct perfev_reader_info info;
	struct perfev_record record;
	struct progress progress;
	uint64_t n = 0;
	int r;

	progress_begin(&progress, "reading");
	while ((r = perfev_reader_next(reader, &record, err)) > 0) {
		struct count *count;

		if (record.flags & PERFEV_RECORD_JOINED) /* its pieces were counted */
			continue;
		count = count_of(counts, record.type);
		if (!count)
			break;
		count->count++;
		if ((++n & 0x3f) == 0) /* with records of 64 KiB, that is 4 MiB */
			perfev_reader_release(reader);
		if ((n & 0xffff) == 0) {
			perfev_reader_describe(reader, &info);
			progress_at(&progress, info.position, info.size);
		}
	}
	progress_end(&progress);
	return r;
}

struct dump_options {
	const char *path;
	bool stats, header, json, partial;
	uint64_t packets;
};

static int print(struct perfev_reader *reader, const struct dump_options *o, struct perfev_error *err)
{
	struct counts counts = {NULL, 0, 0, {0}};
	int r;

	if (o->header)
		return dump_header(reader, err);
	if (!o->stats)
		return dump_records(reader, o->json, o->packets, err);
	r = count_records(reader, &counts, err);
	if (r >= 0)
		print_counts(&counts);
	free(counts.items);
	return r;
}

static int dump(const struct dump_options *o)
{
	struct perfev_reader_opts opts = {.size = sizeof(opts), .partial = o->partial};
	const struct perfev_error *damage;
	struct perfev_reader *reader;
	struct perfev_error err;
	int r;

	r = perfev_reader_open(&reader, o->path, &opts, &err);
	if (r < 0 && err.why == PERFEV_WHY_FORMAT && is_jitdump(o->path))
		return dump_jit(o->path, o->stats, o->header, o->json, o->partial);
	if (r < 0)
		return report_error(&err);
	r = print(reader, o, &err);
	damage = perfev_reader_damage(reader);
	if (r < 0)
		r = report_error(&err);
	else
		r = damage ? report_error(damage) : EXIT_DONE;
	perfev_reader_close(reader);
	return r;
}

int cmd_dump(int argc, char **argv)
{
	struct dump_options o = {.path = "perf.data", .packets = UINT64_MAX};
	const struct option_row rows[] = {
		{'i', "input", "FILE", "the recording (default perf.data; - is standard input)", OPTION_TEXT,
		 &o.path},
		{0, "stats", NULL, "how many records there are of each type", OPTION_FLAG, &o.stats},
		{0, "partial", NULL, "read a damaged file as far as it goes", OPTION_FLAG, &o.partial},
		{0, "header", NULL, "events with their attrs and ids, and what is said of the machine", OPTION_FLAG,
		 &o.header},
		{0, "json", NULL, "one JSON document on standard output", OPTION_FLAG, &o.json},
		{0, "packets", "N", "of a trace show at most N packets of each record", OPTION_COUNT, &o.packets},
	};
	struct command_line line = {
		.command = "dump",
		.synopsis = "[--stats | --header | --json] [-i FILE] [--partial] [--packets N]",
		.description = "Shows what a recording holds, record by record. A damaged file is refused, with "
			       "the place\nand the reason; --partial reads it up to there.",
		.options = rows,
		.option_count = sizeof(rows) / sizeof(rows[0]),
	};
	int r = parse_options(&line, argc, argv);

	if (r >= 0)
		return r;
	if (line.argc)
		return usage_error("dump", "it takes no argument, and '%s' was given; -i FILE names the recording",
				   line.argv[0]);
	if (o.stats + o.header + o.json > 1)
		return usage_error("dump", "--stats, --header and --json exclude each other");
	return dump(&o);
}
