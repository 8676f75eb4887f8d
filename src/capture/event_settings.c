/* SPDX-License-Identifier: MIT */
/* Terms that every event has: they set fields of the attr, or say how the event is to be used. */
#include "event_term.h"

#include "base/error.h"
#include "base/number.h"

#include <perfev/probe.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int term_error(const struct term_work *w, const struct term *t, const char *what)
{
	return scan_error(w->s, t->at, PERFEV_WHY_SYNTAX, "term '%.*s' %s (column %zu)",
			  (int)(t->key_size < 80 ? t->key_size : 80), t->key, what, t->at + 1);
}

static bool is(const struct term *t, const char *key)
{
	return strlen(key) == t->key_size && !memcmp(key, t->key, t->key_size);
}

static bool value_is(const struct term *t, const char *value)
{
	return strlen(value) == t->value_size && !memcmp(value, t->value, t->value_size);
}

static int take_number(const struct term_work *w, const struct term *t, uint64_t max, uint64_t *ret)
{
	if (!t->has_value || !number_parse(t->value, t->value_size, ret))
		return term_error(w, t, "needs a number");
	if (*ret > max)
		return scan_error(w->s, t->value_at, PERFEV_WHY_SYNTAX,
				  "term '%.*s' takes at most %llu (column %zu)", (int)t->key_size, t->key,
				  (unsigned long long)max, t->value_at + 1);
	return 0;
}

/* A switch: alone it is on, and =0 turns it off. */
static int take_switch(const struct term_work *w, const struct term *t, bool *ret)
{
	uint64_t value = 1;
	int r = t->has_value ? take_number(w, t, 1, &value) : 0;

	*ret = value;
	return r;
}

static int take_config(struct term_work *w, const struct term *t)
{
	struct perf_event_attr *attr = &w->event->attr;
	uint64_t value;
	int r = take_number(w, t, UINT64_MAX, &value);

	if (r < 0)
		return r;
	switch (t->key_size == 6 ? 0 : t->key[6]) {
	case 0:
		attr->config = value;
		break;
	case '1':
		attr->config1 = value;
		break;
	case '2':
		attr->config2 = value;
		break;
	case '3':
		attr->config3 = value;
		break;
	default:
		attr->config4 = value;
	}
	return 0;
}

static int take_name(struct term_work *w, const struct term *t)
{
	if (!t->has_value || !t->value_size)
		return term_error(w, t, "needs a name");
	w->event->named = true;
	return event_set_text(&w->event->name, t->value, t->value_size) ? 0 : error_memory(w->s->err);
}

static int take_period(struct term_work *w, const struct term *t)
{
	struct perf_event_attr *attr = &w->event->attr;
	bool freq = is(t, "freq");
	uint64_t value;
	int r = take_number(w, t, INT64_MAX, &value);

	if (r < 0)
		return r;
	if (!w->from_alias && (w->event->flags & PERFEV_EVENT_PERIOD) && attr->freq != freq)
		return term_error(w, t, "contradicts the other one: an event has a period or a frequency");
	attr->sample_period = value;
	attr->freq = freq;
	if (!w->from_alias)
		w->event->flags |= PERFEV_EVENT_PERIOD;
	return 0;
}

static int take_time(struct term_work *w, const struct term *t)
{
	bool on;
	int r = take_switch(w, t, &on);

	if (r < 0)
		return r;
	w->event->flags &= ~(uint32_t)(PERFEV_EVENT_TIME | PERFEV_EVENT_NO_TIME);
	w->event->flags |= on ? PERFEV_EVENT_TIME : PERFEV_EVENT_NO_TIME;
	if (on)
		w->event->attr.sample_type |= PERF_SAMPLE_TIME;
	return 0;
}

static int take_graph(struct term_work *w, const struct term *t)
{
	static const struct {
		const char *name;
		uint32_t graph;
	} graphs[] = {{"no", PERFEV_GRAPH_NO},
		      {"fp", PERFEV_GRAPH_FP},
		      {"dwarf", PERFEV_GRAPH_DWARF},
		      {"lbr", PERFEV_GRAPH_LBR}};
	size_t i;

	for (i = 0; t->has_value && i < sizeof(graphs) / sizeof(graphs[0]); i++)
		if (value_is(t, graphs[i].name)) {
			w->event->call_graph = graphs[i].graph;
			return 0;
		}
	return term_error(w, t, "takes no, fp, dwarf or lbr");
}

static int take_stack_size(struct term_work *w, const struct term *t)
{
	uint64_t value;
	int r = take_number(w, t, 65528, &value);

	if (r == 0 && value % 8)
		return term_error(w, t, "needs a multiple of 8");
	if (r == 0)
		w->event->attr.sample_stack_user = (uint32_t)value;
	return r;
}

static int take_max_stack(struct term_work *w, const struct term *t)
{
	uint64_t value;
	int r = take_number(w, t, UINT16_MAX, &value);

	if (r == 0)
		w->event->attr.sample_max_stack = (uint16_t)value;
	return r;
}

static int take_nr(struct term_work *w, const struct term *t)
{
	return take_number(w, t, UINT64_MAX, &w->event->max_events);
}

static int take_inherit(struct term_work *w, const struct term *t)
{
	bool on;
	int r = take_switch(w, t, &on);

	if (r < 0)
		return r;
	w->event->attr.inherit = on != (t->key[0] == 'n');
	w->event->flags |= PERFEV_EVENT_INHERIT;
	return 0;
}

static int take_overwrite(struct term_work *w, const struct term *t)
{
	bool on;
	int r = take_switch(w, t, &on);

	if (r == 0)
		w->event->attr.write_backward = on != (t->key[0] == 'n');
	return r;
}

static int take_percore(struct term_work *w, const struct term *t)
{
	bool on;
	int r = take_switch(w, t, &on);

	if (r == 0 && on)
		w->event->flags |= PERFEV_EVENT_PER_CORE;
	return r;
}

static int take_aux_output(struct term_work *w, const struct term *t)
{
	bool on;
	int r = take_switch(w, t, &on);

	if (r == 0)
		w->event->attr.aux_output = on;
	return r;
}

static int take_aux_action(struct term_work *w, const struct term *t)
{
	struct perf_event_attr *attr = &w->event->attr;

	if (t->has_value && value_is(t, "pause"))
		attr->aux_pause = 1;
	else if (t->has_value && value_is(t, "resume"))
		attr->aux_resume = 1;
	else if (t->has_value && value_is(t, "start-paused"))
		attr->aux_start_paused = 1;
	else
		return term_error(w, t, "takes pause, resume or start-paused");
	return 0;
}

static int take_aux_sample_size(struct term_work *w, const struct term *t)
{
	uint64_t value;
	int r = take_number(w, t, UINT16_MAX, &value);

	if (r < 0)
		return r;
	w->event->attr.aux_sample_size = (uint32_t)value;
	w->event->attr.sample_type |= PERF_SAMPLE_AUX;
	return 0;
}

static const struct {
	const char *name;
	uint64_t bit;
} branches[] = {
	{"u", PERF_SAMPLE_BRANCH_USER},		{"k", PERF_SAMPLE_BRANCH_KERNEL},
	{"hv", PERF_SAMPLE_BRANCH_HV},		{"any", PERF_SAMPLE_BRANCH_ANY},
	{"any_call", PERF_SAMPLE_BRANCH_ANY_CALL}, {"any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN},
	{"ind_call", PERF_SAMPLE_BRANCH_IND_CALL}, {"abort_tx", PERF_SAMPLE_BRANCH_ABORT_TX},
	{"in_tx", PERF_SAMPLE_BRANCH_IN_TX},	{"no_tx", PERF_SAMPLE_BRANCH_NO_TX},
	{"cond", PERF_SAMPLE_BRANCH_COND},	{"ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP},
	{"call", PERF_SAMPLE_BRANCH_CALL},	{"no_flags", PERF_SAMPLE_BRANCH_NO_FLAGS},
	{"no_cycles", PERF_SAMPLE_BRANCH_NO_CYCLES}, {"save_type", PERF_SAMPLE_BRANCH_TYPE_SAVE},
	{"stack", PERF_SAMPLE_BRANCH_CALL_STACK}, {"hw_index", PERF_SAMPLE_BRANCH_HW_INDEX},
	{"priv", PERF_SAMPLE_BRANCH_PRIV_SAVE}, {"counter", PERF_SAMPLE_BRANCH_COUNTERS},
};

const char *event_branch_name(uint64_t bit)
{
	size_t i;

	for (i = 0; i < sizeof(branches) / sizeof(branches[0]); i++)
		if (branches[i].bit == bit)
			return branches[i].name;
	return NULL;
}

static int take_branch_type(struct term_work *w, const struct term *t)
{
	const char *at = t->value, *end;
	uint64_t bits = 0;
	size_t i;

	if (!t->has_value || !t->value_size)
		return term_error(w, t, "needs kinds of branches, as in 'any_call,u'");
	end = at + t->value_size;
	while (at < end) {
		size_t n = 0;

		while (at + n < end && at[n] != ',' && at[n] != '+')
			n++;
		for (i = 0; i < sizeof(branches) / sizeof(branches[0]); i++)
			if (strlen(branches[i].name) == n && !memcmp(branches[i].name, at, n))
				break;
		if (i == sizeof(branches) / sizeof(branches[0]))
			return term_error(w, t,
					"takes u k hv any any_call any_ret ind_call abort_tx in_tx no_tx cond "
					"ind_jmp call no_flags no_cycles save_type stack hw_index priv counter");
		bits |= branches[i].bit;
		at += n + 1;
	}
	w->event->attr.branch_sample_type |= bits;
	w->event->attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
	return 0;
}

/* The CPUs that a value means: numbers and ranges, or those of a PMU. SCAN_NONE: it is neither. */
static int cpus_of(const struct term_work *w, const char *text, int32_t **ret, size_t *count)
{
	struct perfev_pmus *pmus;
	int r = perfev_cpus_parse(ret, count, text, NULL);
	size_t i;

	if (r == 0 || r == -ENOMEM)
		return r;
	pmus = scan_pmus(w->s);
	for (i = 0; pmus && i < perfev_pmus_count(pmus); i++) {
		const struct perfev_pmu *pmu = strcmp(pmus_name(pmus, i), text) ? NULL : pmus_get(pmus, i);

		if (!pmu || !pmu->cpu_count)
			continue;
		*ret = malloc(pmu->cpu_count * sizeof(**ret));
		if (!*ret)
			return -ENOMEM;
		memcpy(*ret, pmu->cpus, pmu->cpu_count * sizeof(**ret));
		*count = pmu->cpu_count;
		return 0;
	}
	return SCAN_NONE;
}

/* Puts CPUs to those that are there, in order, and each once: a CPU that came twice would count double. */
static bool merge_cpus(struct perfev_event *event, const int32_t *more, size_t count)
{
	const int32_t *old = event->cpus;
	size_t old_count = event->flags & PERFEV_EVENT_CPUS ? event->cpu_count : 0, i = 0, k = 0, n = 0;
	int32_t *all = malloc((old_count + count + 1) * sizeof(*all));
	bool done;

	if (!all)
		return false;
	while (i < old_count || k < count) {
		int32_t cpu = k == count || (i < old_count && old[i] <= more[k]) ? old[i++] : more[k++];

		if (!n || all[n - 1] != cpu)
			all[n++] = cpu;
	}
	done = event_set_cpus(event, all, n);
	free(all);
	return done;
}

/* More than once they add up. */
static int take_cpu(struct term_work *w, const struct term *t)
{
	char text[256];
	int32_t *cpus = NULL;
	size_t count = 0;
	int r;

	if (!t->has_value || !t->value_size || t->value_size >= sizeof(text))
		return term_error(w, t, "needs a CPU, or a range of CPUs");
	memcpy(text, t->value, t->value_size);
	text[t->value_size] = 0;
	r = cpus_of(w, text, &cpus, &count);
	if (r == SCAN_NONE || (r == 0 && !count))
		return term_error(w, t, "needs a CPU, a range of CPUs, or a PMU that has some CPUs");
	if (r == 0 && !merge_cpus(w->event, cpus, count))
		r = -ENOMEM;
	free(cpus);
	if (r < 0)
		return error_memory(w->s->err);
	w->event->flags |= PERFEV_EVENT_CPUS;
	return 0;
}

static int take_nothing(struct term_work *w, const struct term *t)
{
	(void)w;
	(void)t;
	return 0;
}

static const struct {
	const char *key;
	int (*take)(struct term_work *w, const struct term *t);
} settings[] = {
	{"config", take_config},	 {"config1", take_config},
	{"config2", take_config},	 {"config3", take_config},
	{"config4", take_config},	 {"name", take_name},
	{"period", take_period},	 {"freq", take_period},
	{"time", take_time},		 {"call-graph", take_graph},
	{"stack-size", take_stack_size}, {"max-stack", take_max_stack},
	{"nr", take_nr},		 {"inherit", take_inherit},
	{"no-inherit", take_inherit},	 {"overwrite", take_overwrite},
	{"no-overwrite", take_overwrite}, {"percore", take_percore},
	{"aux-output", take_aux_output}, {"aux-action", take_aux_action},
	{"aux-sample-size", take_aux_sample_size}, {"branch_type", take_branch_type},
	{"cpu", take_cpu},		 {"metric-id", take_nothing},
};
#define SETTING_COUNT (sizeof(settings) / sizeof(settings[0]))

int term_setting(struct term_work *w, const struct term *t)
{
	size_t i;

	for (i = 0; i < SETTING_COUNT; i++)
		if (is(t, settings[i].key))
			return settings[i].take(w, t);
	return SCAN_NONE;
}

const char *term_setting_name(size_t index)
{
	return index < SETTING_COUNT ? settings[index].key : NULL;
}
