/* SPDX-License-Identifier: MIT */
/*
 * Functions by their samples. Half of all are ones with a single sample, at addresses without a name: they are told apart by
 * numbers first, in an array of their own, as names are all over the memory.
 */
#include "profile.h"

#include "base/digits.h"
#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Names of nameless places stand behind the functions. */
#define ADDRESS_TEXT 19

static const char *address_text(char *to, uint64_t address)
{
	memcpy(to, "0x", 2);
	digits_hex8(to + 2, (uint32_t)(address >> 32));
	digits_hex8(to + 10, (uint32_t)address);
	to[18] = 0;
	return to;
}

/* What functions are sorted by. */
struct order_key {
	uint64_t self, total;
	const struct frame *frame;
};

static int compare_names(const struct frame *a, const struct frame *b)
{
	char a_text[ADDRESS_TEXT], b_text[ADDRESS_TEXT];

	if (!a->name && !b->name) /* their texts have the same length */
		return (a->address > b->address) - (a->address < b->address);
	return strcmp(a->name ? a->name : address_text(a_text, a->address),
		      b->name ? b->name : address_text(b_text, b->address));
}

static inline bool is_before(const struct order_key *a, const struct order_key *b)
{
	int r;

	if (a->self != b->self)
		return a->self > b->self;
	if (a->total != b->total)
		return a->total > b->total;
	r = compare_names(a->frame, b->frame);
	if (r == 0)
		r = strcmp(a->frame->module, b->frame->module);
	return r ? r < 0 : a->frame < b->frame;
}

static void merge_keys(struct order_key *to, const struct order_key *a, const struct order_key *b, const struct order_key *end)
{
	const struct order_key *middle = b;

	while (a < middle && b < end)
		*to++ = is_before(b, a) ? *b++ : *a++;
	while (a < middle)
		*to++ = *a++;
	while (b < end)
		*to++ = *b++;
}

/* Half of the time with qsort() is its calls. @spare: as many; either has the result, which is returned. */
static struct order_key *sort_keys(struct order_key *keys, struct order_key *spare, size_t count)
{
	size_t width, at;

	for (width = 1; width < count; width *= 2) {
		struct order_key *from = keys;

		for (at = 0; at < count; at += 2 * width) {
			size_t middle = count - at < width ? count : at + width;
			size_t end = count - at < 2 * width ? count : at + 2 * width;

			merge_keys(spare + at, from + at, from + middle, from + end);
		}
		keys = spare;
		spare = from;
	}
	return keys;
}

/* The sums of a frame over the events that were asked for; false when it has none. */
static bool sum_function(const struct perfev_profile *p, int event, uint32_t frame,
			 struct perfev_function *ret)
{
	size_t i;

	memset(ret, 0, sizeof(*ret));
	for (i = 0; i < p->event_count; i++) {
		const struct stat *stat;

		if ((event >= 0 && (size_t)event != i) || frame >= p->events[i].stat_count)
			continue;
		stat = &p->events[i].stats[frame];
		ret->self += stat->self;
		ret->total += stat->total;
		ret->self_weight += stat->self_weight;
		ret->total_weight += stat->total_weight;
	}
	return ret->total > 0;
}

/* All that have samples; how many. */
static size_t list_functions(const struct perfev_profile *p, int event, struct order_key *keys)
{
	struct perfev_function sums;
	size_t n = 0;
	uint32_t i;

	for (i = 0; i < p->frame_count; i++) {
		if (p->frames[i].kind == PERFEV_KIND_COMM || !sum_function(p, event, i, &sums))
			continue;
		keys[n].self = sums.self;
		keys[n].total = sums.total;
		keys[n++].frame = &p->frames[i];
	}
	return n;
}

/*
 * The @limit first ones, in order, in front of @keys. Most are behind the last of them by their numbers alone; names are looked at
 * where those are equal.
 */
static void first_keys(struct order_key *keys, size_t count, size_t limit)
{
	size_t have = 0, i, at;

	for (i = 0; limit && i < count; i++) {
		struct order_key key = keys[i];

		if (have == limit && !is_before(&key, &keys[have - 1]))
			continue;
		have += have < limit;
		for (at = have - 1; at && is_before(&key, &keys[at - 1]); at--)
			keys[at] = keys[at - 1];
		keys[at] = key;
	}
}

static void put_function(const struct perfev_profile *p, int event, const struct frame *frame, struct perfev_function *ret, char **texts)
{
	sum_function(p, event, (uint32_t)(frame - p->frames), ret);
	ret->symbol = frame->name ? frame->name : address_text(*texts, frame->address);
	*texts += frame->name ? 0 : ADDRESS_TEXT;
	ret->module = frame->module;
	ret->frame = (uint32_t)(frame - p->frames);
	ret->kind = frame->kind;
}

/* Of more than that many, all are sorted. */
#define FIRST_MAX 256

int perfev_profile_top(const struct perfev_profile *profile, int event, size_t limit, struct perfev_function **ret, size_t *count,
		       size_t *all, struct perfev_error *err)
{
	const struct perfev_profile *p = profile;
	struct perfev_function *functions;
	struct order_key *keys, *sorted;
	char *texts;
	size_t i, n;

	if (event >= (int)p->event_count)
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot list the functions of event %d: there are %zu", event,
				 p->event_count);
	keys = malloc((p->frame_count + 1) * 2 * sizeof(*keys));
	if (!keys)
		return error_memory(err);
	*all = list_functions(p, event, keys);
	n = limit < *all ? limit : *all;
	if (n < *all && n <= FIRST_MAX)
		first_keys(keys, *all, n);
	sorted = n < *all && n <= FIRST_MAX ? keys : sort_keys(keys, keys + *all, *all);
	functions = malloc((n + 1) * (sizeof(*functions) + ADDRESS_TEXT));
	if (!functions) {
		free(keys);
		return error_memory(err);
	}
	texts = (char *)(functions + n + 1);
	for (i = 0; i < n; i++)
		put_function(p, event, sorted[i].frame, &functions[i], &texts);
	free(keys);
	*ret = functions;
	*count = n;
	return 0;
}

int perfev_profile_functions(const struct perfev_profile *profile, int event, struct perfev_function **ret, size_t *count,
			     struct perfev_error *err)
{
	size_t all;

	return perfev_profile_top(profile, event, SIZE_MAX, ret, count, &all, err);
}
