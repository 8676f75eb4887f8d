/* SPDX-License-Identifier: MIT */
/*
 * Events -> text: the event, its terms, its modifiers. What was made is parsed again, and has to give the
 * same attr: so a text that is returned always means the event.
 */
#include "event.h"
#include "pmu.h"
#include "tracefs.h"

#include "base/buffer.h"
#include "base/error.h"
#include "decode/event_name.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text {
	char bytes[8192];
	size_t size;
	bool slash;   /* terms are open */
	bool any;     /* a term was put */
	bool full;
};

PERFEV_PRINTF(2, 3)
static void put(struct text *t, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(t->bytes + t->size, sizeof(t->bytes) - t->size, format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= sizeof(t->bytes) - t->size)
		t->full = true;
	else
		t->size += (size_t)n;
}

static void begin_term(struct text *t)
{
	if (!t->slash)
		put(t, "/");
	else if (t->any)
		put(t, ",");
	t->slash = true;
	t->any = true;
}

static void put_term(struct text *t, const char *key, uint64_t value)
{
	begin_term(t);
	put(t, "%s=0x%" PRIx64, key, value);
}

static void put_word(struct text *t, const char *word)
{
	begin_term(t);
	put(t, "%s", word);
}

/* ---- what it is -------------------------------------------------------------------------------------------- */

/* All of config to config4 that is not 0. */
static void put_configs(struct text *t, const struct perf_event_attr *attr, bool with_config)
{
	const struct {
		const char *key;
		uint64_t value;
	} words[] = {{"config", attr->config},
		     {"config1", attr->config1},
		     {"config2", attr->config2},
		     {"config3", attr->config3},
		     {"config4", attr->config4}};
	size_t i;

	for (i = !with_config; i < 5; i++)
		if (words[i].value)
			put_term(t, words[i].key, words[i].value);
}

static const struct perfev_pmu *pmu_of_type(struct perfev_pmus *pmus, uint64_t type)
{
	uint32_t number;
	size_t i;

	for (i = 0; pmus && i < perfev_pmus_count(pmus); i++)
		if (pmus_type(pmus, i, &number) && number == type)
			return pmus_get(pmus, i);
	return NULL;
}

static const struct perfev_pmu *pmu_of_event(const struct perfev_event *event, struct perfev_pmus *pmus)
{
	const struct perfev_pmu *pmu;
	size_t i;

	for (i = 0; event->pmu && pmus && i < perfev_pmus_count(pmus); i++) {
		pmu = strcmp(pmus_name(pmus, i), event->pmu) ? NULL : pmus_get(pmus, i);
		if (pmu)
			return pmu;
	}
	return pmu_of_type(pmus, event->attr.type);
}

/* A hardware or cache event, on a PMU of its own when the upper half of config names one. */
static bool put_generic(struct text *t, const struct perfev_event *event, struct perfev_pmus *pmus)
{
	const struct perf_event_attr *attr = &event->attr;
	uint64_t type = attr->config >> PERF_PMU_TYPE_SHIFT, config;
	const struct perfev_pmu *pmu = NULL;
	const char *nearest;
	uint32_t found;
	char name[64];

	event_name_format(name, sizeof(name), attr);
	if (event_name_find(name, strlen(name), &found, &config, &nearest) < 0 || found != attr->type)
		return false;
	if (attr->type == PERF_TYPE_SOFTWARE)
		type = 0;
	if (type || event->pmu) {
		pmu = type ? pmu_of_type(pmus, type) : pmu_of_event(event, pmus);
		if (!pmu)
			return false;
		put(t, "%s/%s", pmu->name, name);
		t->slash = t->any = true;
	} else {
		put(t, "%s", name);
	}
	put_configs(t, attr, false);
	return true;
}

/* The same by number, where the PMU has an event of its own of that name. */
static bool put_legacy(struct text *t, const struct perfev_event *event, struct perfev_pmus *pmus)
{
	const struct perf_event_attr *attr = &event->attr;
	const struct perfev_pmu *pmu = pmu_of_type(pmus, attr->config >> PERF_PMU_TYPE_SHIFT);

	if (attr->type != PERF_TYPE_HARDWARE && attr->type != PERF_TYPE_HW_CACHE)
		return false;
	if (!(attr->config >> PERF_PMU_TYPE_SHIFT))
		pmu = event->pmu ? pmu_of_event(event, pmus) : NULL;
	if (!pmu)
		return false;
	put(t, "%s", pmu->name);
	put_term(t, attr->type == PERF_TYPE_HARDWARE ? "legacy-hardware-config" : "legacy-cache-config",
		 attr->config & PERF_HW_EVENT_MASK);
	put_configs(t, attr, false);
	return true;
}

/* An event that its PMU names. */
static bool put_alias(struct text *t, const struct perfev_event *event)
{
	if (!event->pmu || !event->alias)
		return false;
	put(t, "%s", event->pmu);
	put_word(t, event->alias);
	return true;
}

static void put_breakpoint(struct text *t, const struct perf_event_attr *attr)
{
	put(t, "mem:0x%" PRIx64 "/%" PRIu64 ":%s%s%s", (uint64_t)attr->bp_addr, (uint64_t)attr->bp_len,
	    attr->bp_type & HW_BREAKPOINT_R ? "r" : "", attr->bp_type & HW_BREAKPOINT_W ? "w" : "",
	    attr->bp_type & HW_BREAKPOINT_X ? "x" : "");
}

/* What a term of the PMU is in this attr's config. */
static uint64_t term_value(const struct perfev_pmu *pmu, const char *name, const struct perf_event_attr *attr)
{
	const struct perfev_pmu_format *format = pmu ? pmu_format(pmu, name, strlen(name)) : NULL;
	struct pmu_bits bits;

	return format && pmu_bits(&bits, format->text) && !bits.word ? pmu_gather(bits.mask, attr->config) : 0;
}

/* A probe by its PMU. */
static void put_probe(struct text *t, const struct perfev_event *event, struct perfev_pmus *pmus)
{
	const struct perf_event_attr *attr = &event->attr;
	const struct perfev_pmu *pmu = pmu_of_event(event, pmus);
	bool user = !strcmp(event->pmu, "uprobe");
	uint64_t counter = user ? term_value(pmu, "ref_ctr_offset", attr) : 0;

	put(t, "%s%sprobe:", user ? "u" : "k", term_value(pmu, "retprobe", attr) ? "ret" : "");
	if (event->probe)
		put(t, "%s", event->probe);
	if (user)
		put(t, ":0x%" PRIx64, (uint64_t)attr->config2);
	else if (!event->probe)
		put(t, "0x%" PRIx64, (uint64_t)attr->config2);
	else if (attr->config2)
		put(t, "+%" PRIu64, (uint64_t)attr->config2);
	if (counter)
		put(t, "(0x%" PRIx64 ")", counter);
}

struct wanted {
	uint64_t id;
	char tracefs[512];
	char name[400];
};

static int is_wanted(void *context, const char *system, const char *name)
{
	struct wanted *w = context;
	uint64_t id;

	if (tracefs_id(w->tracefs, system, name, &id) < 0 || id != w->id)
		return 0;
	snprintf(w->name, sizeof(w->name), "%.128s:%.256s", system, name);
	return -ECANCELED; /* found */
}

static bool put_tracepoint(struct text *t, const struct perf_event_attr *attr, const char *tracefs)
{
	struct wanted w = {.id = attr->config};

	if (tracefs)
		snprintf(w.tracefs, sizeof(w.tracefs), "%s", tracefs);
	else if (tracefs_find(w.tracefs, sizeof(w.tracefs)) < 0)
		return false;
	if (tracefs_match(w.tracefs, "*", "*", is_wanted, &w) != -ECANCELED)
		return false;
	put(t, "%s", w.name);
	put_configs(t, attr, false);
	return true;
}

/* @named: by its PMU's name and not its number. */
static bool put_by_number(struct text *t, const struct perfev_event *event, struct perfev_pmus *pmus,
			  bool named)
{
	const struct perf_event_attr *attr = &event->attr;
	const struct perfev_pmu *pmu = named ? pmu_of_event(event, pmus) : NULL;

	if (named && (!pmu || pmu->type != attr->type))
		return false;
	if (pmu) {
		put(t, "%s/", pmu->name);
		t->slash = true;
		put_configs(t, attr, true);
		return true;
	}
	put(t, "%u:0x%" PRIx64, attr->type, (uint64_t)attr->config);
	put_configs(t, attr, false);
	return true;
}

/* What a reader knows best. */
static bool put_named(struct text *t, const struct perfev_event *event, struct perfev_pmus *pmus,
		      const char *tracefs)
{
	static const char *const tools[] = {"", "duration_time", "user_time", "system_time"};
	const struct perf_event_attr *attr = &event->attr;

	if (event->tool) {
		put(t, "%s", event->tool < sizeof(tools) / sizeof(tools[0]) ? tools[event->tool] : "?");
		return true;
	}
	if (event->pmu && (!strcmp(event->pmu, "kprobe") || !strcmp(event->pmu, "uprobe"))) {
		put_probe(t, event, pmus);
		return true;
	}
	switch (attr->type) {
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_SOFTWARE:
	case PERF_TYPE_HW_CACHE:
		return put_generic(t, event, pmus);
	case PERF_TYPE_RAW:
		if (event->pmu)
			return false;
		put(t, "r%" PRIx64, (uint64_t)attr->config);
		put_configs(t, attr, false);
		return true;
	case PERF_TYPE_BREAKPOINT:
		put_breakpoint(t, attr);
		return true;
	case PERF_TYPE_TRACEPOINT:
		return put_tracepoint(t, attr, tracefs);
	default:
		return false;
	}
}

/* Ways to say it, the best first. */
enum way { BY_ALIAS, BY_NAME, BY_LEGACY, BY_PMU, BY_NUMBER, WAYS };

static bool put_event(struct text *t, const struct perfev_event *event, struct perfev_pmus *pmus,
		      const char *tracefs, enum way way)
{
	switch (way) {
	case BY_ALIAS:
		return put_alias(t, event);
	case BY_NAME:
		return put_named(t, event, pmus, tracefs);
	case BY_LEGACY:
		return put_legacy(t, event, pmus);
	default:
		return put_by_number(t, event, pmus, way == BY_PMU);
	}
}

/* ---- terms and modifiers --------------------------------------------------------------------------------------- */

static void put_terms(struct text *t, const struct perfev_event *event, enum way way)
{
	static const char *const graphs[] = {"", "no", "fp", "dwarf", "lbr"};
	const struct perf_event_attr *attr = &event->attr;
	size_t i;

	/* an event that its PMU names may have a period of its own, which is not the user's */
	if ((attr->sample_period && way != BY_ALIAS) || (event->flags & PERFEV_EVENT_PERIOD)) {
		begin_term(t);
		put(t, "%s=%" PRIu64, attr->freq ? "freq" : "period", (uint64_t)attr->sample_period);
	}
	if (event->flags & (PERFEV_EVENT_TIME | PERFEV_EVENT_NO_TIME))
		put_term(t, "time", !(event->flags & PERFEV_EVENT_NO_TIME));
	if (event->call_graph) {
		begin_term(t);
		put(t, "call-graph=%s", graphs[event->call_graph]);
	}
	if (attr->sample_stack_user)
		put_term(t, "stack-size", attr->sample_stack_user);
	if (attr->sample_max_stack)
		put_term(t, "max-stack", attr->sample_max_stack);
	if (event->max_events)
		put_term(t, "nr", event->max_events);
	if (attr->inherit || (event->flags & PERFEV_EVENT_INHERIT))
		put_word(t, attr->inherit ? "inherit" : "no-inherit");
	if (attr->write_backward)
		put_word(t, "overwrite");
	if (event->flags & PERFEV_EVENT_PER_CORE)
		put_word(t, "percore");
	if (attr->aux_output)
		put_word(t, "aux-output");
	if (attr->aux_pause)
		put_word(t, "aux-action=pause");
	if (attr->aux_resume)
		put_word(t, "aux-action=resume");
	if (attr->aux_start_paused)
		put_word(t, "aux-action=start-paused");
	if (attr->aux_sample_size)
		put_term(t, "aux-sample-size", attr->aux_sample_size);
	for (i = 0; (event->flags & PERFEV_EVENT_CPUS) && i < event->cpu_count; i++) {
		begin_term(t);
		put(t, "cpu=%d", event->cpus[i]);
	}
	if (attr->branch_sample_type) {
		begin_term(t);
		put(t, "branch_type='");
		for (i = 0; i < 64; i++) {
			const char *name = event_branch_name(UINT64_C(1) << i);

			if (!(attr->branch_sample_type >> i & 1) || !name)
				continue;
			put(t, "%s%s", t->bytes[t->size - 1] == '\'' ? "" : ",", name);
		}
		put(t, "'");
	}
	if (event->named) {
		begin_term(t);
		put(t, "name='%s'", event->name);
	}
}

static void put_modifiers(struct text *t, const struct perfev_event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	bool levels = attr->exclude_user || attr->exclude_kernel || attr->exclude_hv;
	bool guests = attr->exclude_guest || attr->exclude_host;
	char all[32];
	size_t n = 0, i;
	const struct {
		char letter;
		bool on;
	} letters[] = {
		{'u', levels && !attr->exclude_user},
		{'k', levels && !attr->exclude_kernel},
		{'h', levels && !attr->exclude_hv},
		{'G', guests && !attr->exclude_guest},
		{'H', guests && !attr->exclude_host},
		{'I', attr->exclude_idle},
		{'p', attr->precise_ip > 0},
		{'p', attr->precise_ip > 1},
		{'p', attr->precise_ip > 2},
		{'P', event->flags & PERFEV_EVENT_MAX_PRECISE},
		{'S', event->flags & PERFEV_EVENT_READ_GROUP},
		{'D', attr->pinned},
		{'W', event->flags & PERFEV_EVENT_WEAK},
		{'e', attr->exclusive},
		{'b', event->flags & PERFEV_EVENT_BPF},
		{'R', event->flags & PERFEV_EVENT_RETIRE_LATENCY},
		{'X', event->flags & PERFEV_EVENT_OWN_GROUP},
	};

	for (i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
		if (letters[i].on)
			all[n++] = letters[i].letter;
	if (n)
		put(t, "%s%.*s", t->slash ? "" : ":", (int)n, all);
}

/* ---- the whole --------------------------------------------------------------------------------------------- */

static bool same_place(const struct perfev_event *a, const struct perfev_event *b)
{
	return b->pmu && !strcmp(a->pmu, b->pmu) && a->cpu_count == b->cpu_count &&
	       (!a->cpu_count || !memcmp(a->cpus, b->cpus, a->cpu_count * sizeof(*a->cpus)));
}

static bool same_unit(const struct perfev_event *a, const struct perfev_event *b)
{
	return !memcmp(&a->scale, &b->scale, sizeof(a->scale)) &&
	       !strcmp(a->unit ? a->unit : "", b->unit ? b->unit : "");
}

/* What a text says about an event, beside what is in the attr: those that are left out say that the attr has a
 * period, or whether it is inherited, and what comes from the PMU. */
#define SAID (~(uint32_t)(PERFEV_EVENT_PERIOD | PERFEV_EVENT_INHERIT | PERFEV_EVENT_SNAPSHOT | \
			  PERFEV_EVENT_PER_PACKAGE | PERFEV_EVENT_SYSTEM_WIDE))

/* Is @again the event? Where config1 is a pointer, what it points to is compared. @strictly: also what it has
 * beside its attr from its PMU, if it is known to have one. */
static bool same_event(const struct perfev_event *event, const struct perfev_event *again, bool strictly)
{
	struct perf_event_attr a = event->attr, b = again->attr;

	a.disabled = b.disabled = 0;
	if (!event->probe != !again->probe || (event->probe && strcmp(event->probe, again->probe)))
		return false;
	if (event->probe && !event->dynamic)
		a.config1 = b.config1 = 0;
	if (memcmp(&a, &b, sizeof(a)) || (event->flags & SAID) != (again->flags & SAID) ||
	    event->call_graph != again->call_graph || event->max_events != again->max_events ||
	    event->tool != again->tool)
		return false;
	return !strictly || !event->pmu || (same_place(event, again) && same_unit(event, again));
}

/* 1: it does; 0; -ENOMEM. */
static int means_it(const char *text, const struct perfev_event *event, const struct perfev_parse_opts *opts,
		    bool strictly)
{
	struct perfev_events *parsed;
	bool same;
	int r = perfev_events_parse_at(&parsed, text, opts, NULL);

	if (r < 0)
		return r == -ENOMEM ? r : 0;
	same = parsed->count == 1 && same_event(event, parsed->items[0], strictly);
	perfev_events_free(parsed);
	return same;
}

/* The best way that means the event: 1; 0: none does, then @t has the last one; -ENOMEM. */
static int find_way(struct text *t, const struct perfev_event *event, struct perfev_pmus *pmus,
		     const struct perfev_parse_opts *opts)
{
	unsigned i;

	for (i = 0; i < 2 * WAYS; i++) {
		enum way way = (enum way)(i % WAYS);
		int r;

		memset(t, 0, sizeof(*t));
		if (!put_event(t, event, pmus, opts ? opts->tracefs : NULL, way))
			continue;
		put_terms(t, event, way);
		if (t->slash)
			put(t, "/");
		put_modifiers(t, event);
		r = t->full ? 0 : means_it(t->bytes, event, opts, i < WAYS);
		if (r)
			return r;
	}
	return 0;
}

int event_format_at(char *ret, size_t size, const struct perfev_event *event,
		    const struct perfev_parse_opts *opts, struct perfev_error *err)
{
	struct perfev_pmus *pmus = NULL;
	struct text *t = calloc(1, sizeof(*t));
	int r = t ? pmus_list(&pmus, opts ? opts->sysfs : NULL, NULL) : -ENOMEM;

	if (r == -ENOMEM) {
		free(t);
		return error_memory(err);
	}
	r = find_way(t, event, pmus, opts); /* without any PMU, types stay numbers */
	if (r == -ENOMEM || (pmus && pmus_no_memory(pmus)))
		r = error_memory(err);
	else if (!r)
		r = error_set(err, -EINVAL, PERFEV_WHY_UNSUPPORTED, ERROR_NOWHERE,
			      "cannot write event %.100s as text: it has settings that no text says; the nearest "
			      "is %.200s",
			      event->name ? event->name : "?", t->bytes);
	else
		r = (int)t->size;
	if (r >= 0 && size)
		snprintf(ret, size, "%s", t->bytes);
	perfev_pmus_free(pmus);
	free(t);
	return r;
}

int perfev_event_format(char *ret, size_t size, const struct perfev_event *event, struct perfev_error *err)
{
	return event_format_at(ret, size, event, NULL, err);
}
