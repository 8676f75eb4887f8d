/* SPDX-License-Identifier: MIT */
/* The text of records: what is taken has one text and one form of bytes; the rest is refused with a column. The
 * first 8 bytes choose the layout. */
#include "fuzz.h"

#include <perfev/record.h>

#include <errno.h>

static unsigned char first[70000], second[70000];
static char text[300000];

static struct perfev_layout *choose(const uint8_t *data, size_t size)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .sample_id_all = 1};
	struct perfev_layout *layout;
	uint64_t bits = 0;

	memcpy(&bits, data, size < 8 ? size : 8);
	attr.sample_type = bits & (PERF_SAMPLE_MAX - 1);
	if ((attr.sample_type & PERF_SAMPLE_WEIGHT_TYPE) == PERF_SAMPLE_WEIGHT_TYPE)
		attr.sample_type &= ~(uint64_t)PERF_SAMPLE_WEIGHT;
	attr.read_format = bits >> 32 & (PERF_FORMAT_MAX - 1);
	attr.branch_sample_type = (bits >> 40 & 1 ? PERF_SAMPLE_BRANCH_HW_INDEX : 0) |
				  (bits >> 41 & 1 ? PERF_SAMPLE_BRANCH_COUNTERS : 0);
	attr.sample_regs_user = bits >> 48 & 0xff;
	attr.sample_regs_intr = bits >> 56;
	return perfev_layout_new(&layout, &attr, NULL) < 0 ? NULL : layout;
}

/* Text that means a record means the same one through its own text. Where the layout allows two readings of the
 * bytes (of no branches, with or without an index), the other one may be taken, and may fail. */
static void check(int size, const struct perfev_layout *layout)
{
	struct perfev_bytes bytes = {first, (size_t)size};
	struct perfev_record record;
	int n, r;

	if (size < 8 || (size_t)size > sizeof(first) || perfev_record_from_bytes(&record, bytes, 0, NULL) < 0)
		abort();
	n = perfev_record_format(text, sizeof(text), &record, layout, NULL);
	if (n < 0 || (size_t)n >= sizeof(text))
		return;
	r = perfev_record_parse(second, sizeof(second), text, layout, 0, NULL);
	if (r < 8)
		abort();
	if (r == size && !memcmp(first, second, (size_t)r))
		return;
	bytes.data = second; /* a canonical form: from here on it stays */
	bytes.size = (size_t)r;
	if (perfev_record_from_bytes(&record, bytes, 0, NULL) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfev_layout *layout = choose(data, size);
	struct perfev_error err;
	char *line;
	int r;

	if (size < 8 || !layout) {
		perfev_layout_free(layout);
		return 0;
	}
	line = malloc(size - 7);
	if (!line)
		abort();
	memcpy(line, data + 8, size - 8);
	line[size - 8] = 0;
	r = perfev_record_parse(first, sizeof(first), line, layout, 0, &err);
	if (r < 0 && (r != -EINVAL || err.where < 1 || err.where > strlen(line) + 1))
		abort();
	if (r >= 0)
		check(r, layout);
	perfev_record_parse(first, 16, line, NULL, PERFEV_RECORD_SWAPPED, NULL);
	free(line);
	perfev_layout_free(layout);
	return 0;
}
