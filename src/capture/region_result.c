/* SPDX-License-Identifier: MIT */
/* Results of regions: values without their overhead, formulas, a table, JSON. */
#include "region.h"

#include "base/error.h"
#include "base/formula.h"
#include "base/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t region_overhead(const struct perfev_regions *regions, const struct region_node *node, size_t event)
{
	const struct region_sum *sum = &node->sums[event];

	return regions->inner[event] * (node->entries - sum->taken_entries) +
	       regions->outer[event] * (node->within - sum->taken_within);
}

size_t perfev_regions_count(const struct perfev_regions *regions)
{
	return regions->node_count;
}

size_t perfev_regions_events(const struct perfev_regions *regions)
{
	return regions->count;
}

bool perfev_region_at(const struct perfev_regions *regions, size_t index, struct perfev_region_info *ret)
{
	const struct region_node *node;

	if (index >= regions->node_count)
		return false;
	node = regions->nodes[index];
	ret->name = node->name;
	ret->parent = node->parent;
	ret->depth = node->depth;
	ret->entries = node->entries;
	ret->iterations = node->iterations;
	return true;
}

int perfev_region_find(const struct perfev_regions *regions, const char *name)
{
	size_t i;

	for (i = 0; i < regions->node_count; i++)
		if (!strcmp(regions->nodes[i]->name, name))
			return (int)i;
	return -1;
}

/* The count of all the time, when there was a part of it without a counter. */
static bool estimate(const struct region_sum *sum, uint64_t count, uint64_t *ret)
{
	struct perfev_reading reading = {
		.count = count, .enabled_ns = sum->enabled_ns, .running_ns = sum->running_ns};

	return perfev_reading_scaled(&reading, ret);
}

static void count_of(const struct perfev_regions *regions, const struct region_node *node, size_t event,
		     struct perfev_region_value *ret)
{
	const struct region_sum *sum = &node->sums[event];
	uint64_t count;

	if (sum->running_ns == 0 && sum->enabled_ns != 0) {
		ret->status = PERFEV_NOT_COUNTED;
		return;
	}
	ret->share = sum->enabled_ns ? (double)sum->running_ns / (double)sum->enabled_ns : 1;
	if (!estimate(sum, sum->count, &count))
		count = sum->count;
	ret->overhead = sum->taken + region_overhead(regions, node, event);
	if (ret->overhead > count)
		ret->overhead = count;
	ret->count = count - ret->overhead;
	if (node->iterations)
		ret->per_iteration = (double)ret->count / (double)node->iterations;
}

bool perfev_region_value_at(const struct perfev_regions *regions, size_t region, size_t event,
			    struct perfev_region_value *ret)
{
	const struct region_node *node;

	if (region >= regions->node_count || event >= regions->count)
		return false;
	node = regions->nodes[region];
	memset(ret, 0, sizeof(*ret));
	ret->event = regions->all[event].name;
	ret->status = node->sums[event].status;
	if (regions->all[event].group < 0) {
		ret->status = PERFEV_NOT_SUPPORTED;
		ret->error = &regions->all[event].error;
	} else if (!node->entries) {
		ret->status = PERFEV_NOT_COUNTED;
	} else if (ret->status == PERFEV_COUNTED) {
		count_of(regions, node, event, ret);
	}
	return true;
}

/* ---- formulas ------------------------------------------------------------------------------------------------ */

struct lookup {
	const struct perfev_regions *regions;
	size_t region;
};

static int value_of(void *context, size_t index, double *ret)
{
	const struct lookup *at = context;
	struct perfev_region_value value;

	if (!perfev_region_value_at(at->regions, at->region, index, &value) || value.status != PERFEV_COUNTED)
		return -ENODATA;
	*ret = (double)value.count;
	return 0;
}

int perfev_region_metric(double *ret, const struct perfev_regions *regions, size_t region,
			 const char *formula, struct perfev_error *err)
{
	struct lookup at = {regions, region};
	struct formula f = {.text = formula, .count = regions->count, .value = value_of, .context = &at};
	const char **names = calloc(regions->count + 1, sizeof(*names));
	size_t i;
	int r;

	for (i = 0; names && i < regions->count; i++)
		names[i] = regions->all[i].name;
	f.names = names;
	r = names ? formula_eval(ret, &f, err) : error_memory(err);
	free(names);
	return r;
}

/* ---- output --------------------------------------------------------------------------------------------------- */

/* Text on its way to a sink; the first failure stays. */
struct printer {
	struct perfev_sink sink;
	int failed;
};

static void put_bytes(struct printer *p, const char *text, size_t size)
{
	if (!p->failed && size)
		p->failed = p->sink.write(p->sink.context, text, size);
}

static void put(struct printer *p, const char *format, ...) PERFEV_PRINTF(2, 3);

static void put(struct printer *p, const char *format, ...)
{
	char text[512];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	put_bytes(p, text, n < 0 ? 0 : (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

/* Whatever the locale of the program has for a point is a point here. */
static void put_real(struct printer *p, const char *format, double value)
{
	char text[64], plain[64];
	const char *from = text;
	size_t n = 0;

	snprintf(text, sizeof(text), format, value);
	while (*from) {
		size_t other = strcspn(from, "0123456789+-e");

		plain[n++] = other ? '.' : *from;
		from += other ? other : 1;
	}
	put_bytes(p, plain, n);
}

/* The bytes of a control, of which U+0080 to U+009F have two; 0 for what is none. */
static size_t control_length(const char *text)
{
	unsigned char c = (unsigned char)text[0];

	if (c == 0xc2 && (unsigned char)text[1] >= 0x80 && (unsigned char)text[1] < 0xa0)
		return 2;
	return (c && c < 0x20) || c == 0x7f;
}

/* Of one line, and nothing in it steers a terminal. */
static void put_name(struct printer *p, const char *name)
{
	size_t n, control;

	for (; *name; name += n + control) {
		for (n = 0; name[n] && !control_length(name + n);)
			n++;
		put_bytes(p, name, n);
		control = control_length(name + n);
		put_bytes(p, "?", control ? 1 : 0);
	}
}

static const char *const status_names[] = {
	[PERFEV_COUNTED] = "counted",	[PERFEV_NOT_COUNTED] = "not-counted",
	[PERFEV_ERROR_STATE] = "error", [PERFEV_GONE] = "gone",
	[PERFEV_NOT_SUPPORTED] = "not-supported",
};

static void text_value(struct printer *p, const struct perfev_region_value *value)
{
	char count[64];

	if (value->status != PERFEV_COUNTED) {
		put(p, "%22s %16s  ", status_names[value->status], "");
		put_name(p, value->event);
		put(p, "\n");
		return;
	}
	snprintf(count, sizeof(count), "%.2f", value->per_iteration);
	put(p, "%22" PRIu64 " %*s", value->count, strlen(count) < 16 ? 16 - (int)strlen(count) : 0, "");
	put_real(p, "%.2f", value->per_iteration);
	put(p, "  ");
	put_name(p, value->event);
	if (value->share < 1) {
		put(p, "  (");
		put_real(p, "%.1f", value->share * 100);
		put(p, " %% of the time)");
	}
	if (value->overhead)
		put(p, "  (%" PRIu64 " taken off)", value->overhead);
	put(p, "\n");
}

int perfev_regions_text(const struct perfev_regions *regions, struct perfev_sink sink)
{
	struct printer p = {sink, 0};
	struct perfev_region_value value;
	struct perfev_region_info info;
	size_t i, k;

	for (i = 0; perfev_region_at(regions, i, &info); i++) {
		put(&p, "%s%*s", i ? "\n" : "", (int)(2 * (info.depth < 32 ? info.depth : 32)), "");
		put_name(&p, info.name);
		put(&p, ": %" PRIu64 " %s", info.entries, info.entries == 1 ? "time" : "times");
		if (info.iterations != info.entries)
			put(&p, ", %" PRIu64 " iterations", info.iterations);
		put(&p, "\n%22s %16s\n", "count", info.iterations == info.entries ? "each time" : "an iteration");
		for (k = 0; perfev_region_value_at(regions, i, k, &value); k++)
			text_value(&p, &value);
	}
	for (k = 0; k < regions->count; k++)
		if (regions->all[k].group < 0) {
			put_name(&p, regions->all[k].name);
			put(&p, ": %s\n", regions->all[k].error.text);
		}
	return p.failed;
}

/* What is no UTF-8 is told by U+FFFD, one a byte. */
static void json_string(struct printer *p, const char *text)
{
	size_t n;

	put_bytes(p, "\"", 1);
	for (; *text; text += n ? n : 1) {
		unsigned char c = (unsigned char)*text;

		n = utf8_length(text);
		if (!n)
			put(p, "\\ufffd");
		else if (c == '"' || c == '\\')
			put(p, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			put(p, "\\u%04x", c);
		else
			put_bytes(p, text, n);
	}
	put_bytes(p, "\"", 1);
}

static void json_value(struct printer *p, const struct perfev_region_value *value)
{
	put(p, "{\"event\":");
	json_string(p, value->event);
	if (value->status == PERFEV_COUNTED) {
		put(p, ",\"count\":%" PRIu64 ",\"overhead\":%" PRIu64 ",\"per_iteration\":", value->count,
		    value->overhead);
		put_real(p, "%.15g", value->per_iteration);
		put(p, ",\"share\":");
		put_real(p, "%.6g", value->share);
	} else {
		put(p, ",\"count\":null,\"overhead\":null,\"per_iteration\":null,\"share\":null");
	}
	put(p, ",\"status\":\"%s\",\"why\":", status_names[value->status]);
	if (value->error)
		json_string(p, value->error->text);
	else
		put(p, "null");
	put(p, "}");
}

int perfev_regions_json(const struct perfev_regions *regions, struct perfev_sink sink)
{
	struct printer p = {sink, 0};
	struct perfev_region_value value;
	struct perfev_region_info info;
	size_t i, k;

	put(&p, "{\"regions\":[");
	for (i = 0; perfev_region_at(regions, i, &info); i++) {
		put(&p, "%s\n{\"name\":", i ? "," : "");
		json_string(&p, info.name);
		if (info.parent < 0)
			put(&p, ",\"parent\":null");
		else
			put(&p, ",\"parent\":%d", info.parent);
		put(&p, ",\"entries\":%" PRIu64 ",\"iterations\":%" PRIu64 ",\"events\":[", info.entries,
		    info.iterations);
		for (k = 0; perfev_region_value_at(regions, i, k, &value); k++) {
			put(&p, "%s", k ? ",\n " : "\n ");
			json_value(&p, &value);
		}
		put(&p, "]}");
	}
	put(&p, "]}\n");
	return p.failed;
}
