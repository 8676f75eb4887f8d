/* SPDX-License-Identifier: MIT */
/*
 * All that reads JSON, and saved layouts. The first byte chooses: a record (the next 8 bytes choose its layout), an
 * attr, a layout as JSON or bytes, a reading. What is taken has one JSON, which means the same again; the rest is
 * refused with a place in the input.
 */
#include "fuzz.h"

#include <perfev/perfev.h>

#include <errno.h>

static unsigned char first[70000], second[70000];
static char text[1500000], again[1500000];

static void check(bool holds)
{
	if (!holds)
		abort();
}

static struct perfev_layout *choose(const uint8_t *data)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .sample_id_all = 1};
	struct perfev_layout *layout;
	uint64_t bits;

	memcpy(&bits, data, 8);
	attr.sample_type = bits & (PERF_SAMPLE_MAX - 1);
	attr.read_format = bits >> 32 & (PERF_FORMAT_MAX - 1);
	attr.branch_sample_type = (bits >> 40 & 1 ? PERF_SAMPLE_BRANCH_HW_INDEX : 0) |
				  (bits >> 41 & 1 ? PERF_SAMPLE_BRANCH_COUNTERS : 0);
	attr.sample_regs_user = bits >> 48 & 0xff;
	attr.sample_regs_intr = bits >> 56;
	check(perfev_layout_new(&layout, &attr, NULL) == 0);
	return layout;
}

/* The bytes as JSON; < 0 when they are no record of the layout. */
static int write_record(char *to, const unsigned char *bytes, int size, const struct perfev_layout *layout, unsigned flags)
{
	struct perfev_bytes view = {bytes, (size_t)size};
	struct perfev_record record;
	int n;

	check(size >= 8 && (size_t)size <= sizeof(first) && perfev_record_from_bytes(&record, view, flags, NULL) == 0);
	n = perfev_record_to_json(to, sizeof(text), &record, layout, NULL);
	check(n < (int)sizeof(text));
	return n;
}

/* Where the layout allows two readings of the bytes the other one may be taken; that one is JSON, and stays. */
static void record_json(const char *json, const struct perfev_layout *layout, unsigned flags)
{
	struct perfev_error err;
	int r = perfev_record_from_json(first, sizeof(first), json, layout, flags, &err);

	if (r < 0) {
		check(r == -EINVAL && err.where <= strlen(json));
		return;
	}
	if (write_record(text, first, r, layout, flags) < 0)
		return;
	r = perfev_record_from_json(second, sizeof(second), text, layout, flags, NULL);
	check(r >= 8);
	if (write_record(again, second, r, layout, flags) >= 0 && strcmp(text, again) != 0) {
		r = perfev_record_from_json(first, sizeof(first), again, layout, flags, NULL);
		check(r >= 8);
	}
}

static void attr_json(const char *json)
{
	union {
		struct perf_event_attr attr;
		unsigned char bytes[512];
	} one, two;
	struct perfev_error err;
	int r = perfev_attr_from_json(&one.attr, sizeof(one), json, &err);

	if (r < 0) {
		check(r == -EINVAL && err.where <= strlen(json));
		return;
	}
	check(one.attr.size <= sizeof(one) && perfev_attr_to_json(text, sizeof(text), &one.attr, NULL) > 0);
	check(perfev_attr_from_json(&two.attr, sizeof(two), text, NULL) == 0 && !memcmp(&one, &two, sizeof(one)));
}

static void check_layout(struct perfev_layout *layout, unsigned flags)
{
	struct perfev_bytes bytes = {first, 0};
	struct perfev_layout *loaded;
	unsigned got;

	bytes.size = (size_t)perfev_layout_save(first, sizeof(first), layout, flags, NULL);
	check(perfev_layout_load(&loaded, &got, bytes, NULL) == 0 && got == flags);
	check(!memcmp(perfev_layout_attr(loaded), perfev_layout_attr(layout), sizeof(struct perf_event_attr)));
	perfev_layout_free(loaded);
	check(perfev_layout_to_json(text, sizeof(text), layout, flags, NULL) > 0);
	check(perfev_layout_from_json(&loaded, &got, text, NULL) == 0 && got == flags);
	check(!memcmp(perfev_layout_attr(loaded), perfev_layout_attr(layout), sizeof(struct perf_event_attr)));
	perfev_layout_free(loaded);
	perfev_layout_free(layout);
}

static void layouts(const char *json, struct perfev_bytes bytes)
{
	struct perfev_layout *layout;
	struct perfev_error err;
	unsigned flags;

	if (perfev_layout_from_json(&layout, &flags, json, &err) == 0)
		check_layout(layout, flags);
	if (perfev_layout_load(&layout, &flags, bytes, &err) == 0)
		check_layout(layout, flags);
}

static void reading_json(const char *json)
{
	struct perfev_reading one, two;
	struct perfev_error err;

	if (perfev_reading_from_json(&one, json, &err) < 0) {
		check(err.where <= strlen(json));
		return;
	}
	check(perfev_reading_to_json(text, sizeof(text), &one, NULL) > 0);
	check(perfev_reading_from_json(&two, text, NULL) == 0 && one.count == two.count && one.status == two.status &&
	      one.why == two.why);
}

static void record(const uint8_t *data, const char *json)
{
	struct perfev_layout *layout = choose(data);

	record_json(json, layout, 0);
	record_json(json, layout, PERFEV_RECORD_SWAPPED);
	perfev_record_from_json(first, 16, json, NULL, 0, NULL);
	perfev_layout_free(layout);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfev_bytes bytes;
	size_t head;
	unsigned kind;
	char *json;

	if (size < 9)
		return 0;
	kind = data[0] % 4;
	head = kind == 0 ? 9 : 1;
	bytes.data = data + 1;
	bytes.size = size - 1;
	json = malloc(size - head + 1);
	if (!json)
		abort();
	memcpy(json, data + head, size - head);
	json[size - head] = 0;
	if (kind == 0)
		record(data + 1, json);
	else if (kind == 1)
		attr_json(json);
	else if (kind == 2)
		layouts(json, bytes);
	else
		reading_json(json);
	free(json);
	return 0;
}
