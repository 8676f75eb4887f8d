/* SPDX-License-Identifier: MIT */
/*
 * Names -> events, in this order: tools, generic names, raw codes, PMUs (with terms), events that PMUs name. A generic or raw
 * event on a machine with several kinds of CPUs is one event on the PMU of each kind: its type in the upper
 * half of config (raw: as the type).
 */
#include "event_scan.h"

#include "base/error.h"
#include "base/glob.h"
#include "base/number.h"
#include "decode/event_name.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	uint32_t tool;
} tools[] = {
	{"duration_time", PERFEV_TOOL_DURATION_TIME},
	{"user_time", PERFEV_TOOL_USER_TIME},
	{"system_time", PERFEV_TOOL_SYSTEM_TIME},
};
#define TOOL_COUNT (sizeof(tools) / sizeof(tools[0]))

/* ---- on PMUs ------------------------------------------------------------------------------------------- */

/* Takes what a PMU says about where its events are. */
static bool place_on(struct perfev_event *event, const struct perfev_pmu *pmu)
{
	if (pmu->flags & PERFEV_PMU_SYSTEM_WIDE)
		event->flags |= PERFEV_EVENT_SYSTEM_WIDE;
	return event_set_text(&event->pmu, pmu->name, strlen(pmu->name)) &&
	       event_set_cpus(event, pmu->cpus, pmu->cpu_count);
}

static struct perfev_event *new_on(const struct perfev_pmu *pmu, uint32_t fan)
{
	struct perfev_event *event = event_blank();

	if (!event)
		return NULL;
	event->fan = fan;
	event->attr.type = pmu->type;
	if (place_on(event, pmu))
		return event;
	perfev_event_free(event);
	return NULL;
}

/* Indices of the PMUs of a CPU with several kinds of cores; 0 when it has one kind. */
static size_t kinds_of_cores(struct scan *s, size_t ret[8])
{
	struct perfev_pmus *pmus = scan_pmus(s);
	size_t count = 0, i;

	for (i = 0; pmus && i < perfev_pmus_count(pmus) && count < 8; i++) {
		const char *name = pmus_name(pmus, i);
		const struct perfev_pmu *pmu;

		if (strncmp(name, "cpu_", 4) && strncmp(name, "armv", 4) && strncmp(name, "apple_", 6))
			continue;
		pmu = pmus_get(pmus, i);
		if (pmu && (pmu->flags & PERFEV_PMU_PARTIAL))
			ret[count++] = i;
	}
	return count > 1 ? count : 0;
}

/* The terms at the place, if there are some; @from is where the event's text begins. */
static int put_with_terms(struct scan *s, struct perfev_event *event, const struct perfev_pmu *pmu,
			  const char *stem, size_t stem_size)
{
	size_t from = s->at;
	int r = 0;

	if (s->text[s->at] == '/') {
		s->at++;
		r = scan_terms(s, event, pmu);
		if (r < 0) {
			perfev_event_free(event);
			return r;
		}
	}
	if (!event->fan)
		return scan_put(s, event, "%.*s%.*s", (int)stem_size, stem, (int)(s->at - from), s->text + from);
	/* the name becomes a term of its PMU */
	if (s->at > from && from + 1 + strspn(s->text + from + 1, BLANKS) < s->at - 1)
		return scan_put(s, event, "%s/%.*s,%.*s", event->pmu, (int)stem_size, stem,
				(int)(s->at - from - 1), s->text + from + 1);
	return scan_put(s, event, "%s/%.*s/", event->pmu, (int)stem_size, stem);
}

static int generic_on(struct scan *s, size_t index, const char *stem, size_t stem_size, uint32_t type,
		      uint64_t config)
{
	const struct perfev_pmu *pmu = pmus_get(s->pmus, index);
	struct perfev_event *event = pmu ? new_on(pmu, (uint32_t)index + 1) : NULL;

	if (!event)
		return error_memory(s->err);
	if (type == PERF_TYPE_RAW) {
		event->attr.config = config;
	} else {
		event->attr.type = type;
		event->attr.config = (uint64_t)pmu->type << PERF_PMU_TYPE_SHIFT | config;
	}
	return put_with_terms(s, event, pmu, stem, stem_size);
}

int scan_generic(struct scan *s, const char *stem, size_t stem_size, uint32_t type, uint64_t config)
{
	size_t cores[8], count = type == PERF_TYPE_SOFTWARE ? 0 : kinds_of_cores(s, cores), from = s->at, i;
	struct perfev_event *event;
	int r = 0;

	for (i = 0; r == 0 && i < count; i++) {
		s->at = from;
		r = generic_on(s, cores[i], stem, stem_size, type, config);
	}
	if (count)
		return r;
	event = event_blank();
	if (!event)
		return error_memory(s->err);
	event->attr.type = type;
	event->attr.config = config;
	return put_with_terms(s, event, NULL, stem, stem_size);
}

/* ---- names --------------------------------------------------------------------------------------------- */

static int tool_event(struct scan *s, size_t size)
{
	struct perfev_event *event;
	size_t i;

	for (i = 0; i < TOOL_COUNT; i++)
		if (strlen(tools[i].name) == size && !memcmp(s->text + s->at, tools[i].name, size))
			break;
	if (i == TOOL_COUNT)
		return SCAN_NONE;
	event = event_blank();
	if (!event || !event_set_unit(event, 1, "ns")) {
		perfev_event_free(event);
		return error_memory(s->err);
	}
	event->attr.type = PERF_TYPE_SOFTWARE;
	event->attr.config = PERF_COUNT_SW_DUMMY;
	event->tool = tools[i].tool;
	s->at += size;
	return scan_put(s, event, "%s", tools[i].name);
}

int scan_alone(struct scan *s, size_t size)
{
	struct perfev_pmus *pmus = scan_pmus(s);
	const char *word = s->text + s->at;
	size_t i, found = 0, from = s->at;
	int r = 0;

	for (i = 0; pmus && r == 0 && i < perfev_pmus_count(pmus); i++) {
		const struct perfev_pmu *pmu = pmus_get(pmus, i);
		const struct perfev_pmu_event *alias = pmu ? pmu_event(pmu, word, size) : NULL;
		struct perfev_event *event;

		if (!alias)
			continue;
		event = new_on(pmu, (uint32_t)i + 1);
		if (!event)
			return error_memory(s->err);
		found++;
		s->at = from;
		r = scan_alias(s, event, pmu, alias, word[size] == '/' ? word + size + 1 : "");
		s->at = from + size;
		if (r < 0)
			perfev_event_free(event);
		else
			r = put_with_terms(s, event, pmu, word, size);
	}
	return found || r ? r : SCAN_NONE;
}

int scan_name(struct scan *s, size_t size)
{
	const char *word = s->text + s->at, *nearest;
	uint64_t config;
	uint32_t type;
	int r = tool_event(s, size);

	if (r != SCAN_NONE)
		return r;
	if (event_name_find(word, size, &type, &config, &nearest) == 0) {
		s->at += size;
		return scan_generic(s, word, size, type, config);
	}
	if (word[0] == 'r' && number_hex(word + 1, size - 1, &config)) {
		s->at += size;
		return scan_generic(s, word, size, PERF_TYPE_RAW, config);
	}
	return SCAN_NONE;
}

/* ---- a PMU and terms -------------------------------------------------------------------------------------- */

/* The number of an instance: decimal, or an address in hexadecimal, which has more than two digits. */
static bool is_number(const char *text)
{
	size_t n = strspn(text, "0123456789abcdef");

	return *text && !text[n] && (n > 2 || strspn(text, "0123456789") == n);
}

/* "uncore_cha" means uncore_cha_0, uncore_cha_1 ...; "cha" too. A CPU's own are no instances of each other,
 * though "armv8_cortex_a53" looks like one. */
static bool is_instance(const char *name, const char *base)
{
	size_t n = strlen(base);

	if (!strncmp(name, base, n) && name[n] == '_' && is_number(name + n + 1))
		return true;
	return !strncmp(name, "uncore_", 7) && (!strcmp(name + 7, base) || is_instance(name + 7, base));
}

/* Does @pattern mean the PMU? In this order of preference: 3 its name, 2 its kind, 1 all CPUs. Those that cannot
 * be meant are not read: a server has hundreds. */
static int means(struct perfev_pmus *pmus, size_t index, const char *pattern)
{
	const char *name = pmus_name(pmus, index);
	const struct perfev_pmu *pmu;

	if (!strcmp(name, pattern))
		return pmus_get(pmus, index) ? 3 : 0;
	if (glob_is(pattern))
		return (glob_match(pattern, name) || (!strncmp(name, "uncore_", 7) && glob_match(pattern, name + 7))) &&
				       pmus_get(pmus, index)
			       ? 2
			       : 0;
	if (!is_instance(name, pattern) && strcmp(pattern, "cpu"))
		return 0;
	pmu = pmus_get(pmus, index);
	if (!pmu)
		return 0;
	if (pmu->flags & PERFEV_PMU_CORE)
		return !strcmp(pattern, "cpu");
	return is_instance(name, pattern) ? 2 : 0;
}

static int best_meaning(struct perfev_pmus *pmus, const char *pattern)
{
	size_t i;
	int best = 0;

	for (i = 0; i < perfev_pmus_count(pmus); i++) /* most have one of that name */
		if (!strcmp(pmus_name(pmus, i), pattern) && pmus_get(pmus, i))
			return 3;
	for (i = 0; i < perfev_pmus_count(pmus); i++) {
		int now = means(pmus, i, pattern);

		best = now > best ? now : best;
	}
	return best;
}

static int terms_on(struct scan *s, size_t index, uint32_t fan)
{
	const struct perfev_pmu *pmu = pmus_get(s->pmus, index);
	struct perfev_event *event = new_on(pmu, fan);
	size_t from = s->at;
	int r;

	if (!event)
		return error_memory(s->err);
	r = scan_terms(s, event, pmu);
	if (r == 0)
		return scan_put(s, event, "%s/%.*s", pmu->name, (int)(s->at - from), s->text + from);
	perfev_event_free(event);
	return r;
}

int scan_pmu(struct scan *s, size_t size)
{
	struct perfev_pmus *pmus = scan_pmus(s);
	char pattern[256];
	size_t from = s->at + size + 1, i;
	int best, r = 0;
	bool many;

	if (!pmus || size >= sizeof(pattern))
		return SCAN_NONE;
	memcpy(pattern, s->text + s->at, size);
	pattern[size] = 0;
	best = best_meaning(pmus, pattern);
	if (!best)
		return SCAN_NONE;
	many = best < 3;
	for (i = 0; r == 0 && i < perfev_pmus_count(pmus); i++) {
		if (best == 3 ? strcmp(pmus_name(pmus, i), pattern) != 0 : means(pmus, i, pattern) != best)
			continue;
		s->at = from;
		r = terms_on(s, i, many ? (uint32_t)i + 1 : 0);
	}
	return r;
}

/* ---- the nearest ------------------------------------------------------------------------------------------- */

struct candidates {
	const char *names[4096];
	size_t count;
};

static void add_pmu_names(struct scan *s, struct candidates *all, bool slash)
{
	struct perfev_pmus *pmus = scan_pmus(s);
	size_t i, k;

	for (i = 0; pmus && i < perfev_pmus_count(pmus); i++) {
		const struct perfev_pmu *pmu = pmus_get(pmus, i);

		if (!pmu)
			continue;
		if (slash && all->count < 4096)
			all->names[all->count++] = pmu->name;
		for (k = 0; !slash && k < pmu->event_count && all->count < 4096; k++)
			all->names[all->count++] = pmu->events[k].name;
	}
}

const char *scan_nearest(struct scan *s, size_t size)
{
	struct candidates *all = calloc(1, sizeof(*all));
	const char *nearest, *generic;
	uint64_t config;
	uint32_t type;
	char word[64];
	size_t i;

	if (!all || size >= sizeof(word)) {
		free(all);
		return NULL;
	}
	memcpy(word, s->text + s->at, size);
	word[size] = 0;
	event_name_find(word, size, &type, &config, &generic);
	if (generic)
		all->names[all->count++] = generic;
	for (i = 0; i < TOOL_COUNT; i++)
		all->names[all->count++] = tools[i].name;
	add_pmu_names(s, all, s->text[s->at + size] == '/');
	nearest = perfev_nearest(word, all->names, all->count);
	free(all);
	return nearest;
}
