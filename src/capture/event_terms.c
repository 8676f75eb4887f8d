/* SPDX-License-Identifier: MIT */
/*
 * Terms between slashes.
 *
 *	terms := term { ',' term }
 *	term  := key [ '=' value ]		value: a number, a word, or 'anything between quotes'
 *
 * A key is one of the table below, which every event has; or an event that the PMU names, whose terms it
 * stands for; or a format of the PMU, which says where in the attr the value goes; or, on a PMU of a CPU, a
 * generic event. Events come first wherever they stand, so that other terms change what they said.
 */
#include "event_term.h"

#include "base/error.h"
#include "base/number.h"
#include "decode/event_name.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- terms of a PMU ----------------------------------------------------------------------------------------- */

static void put_bits(struct perf_event_attr *attr, unsigned word, uint64_t mask, uint64_t bits)
{
	switch (word) {
	case 0:
		attr->config = (attr->config & ~mask) | bits;
		break;
	case 1:
		attr->config1 = (attr->config1 & ~mask) | bits;
		break;
	case 2:
		attr->config2 = (attr->config2 & ~mask) | bits;
		break;
	case 3:
		attr->config3 = (attr->config3 & ~mask) | bits;
		break;
	default:
		attr->config4 = (attr->config4 & ~mask) | bits;
	}
}

static int take_format(struct term_work *w, const struct term *t, const struct perfev_pmu_format *format)
{
	struct pmu_bits bits;
	uint64_t value = 1, word;

	if (!pmu_bits(&bits, format->text))
		return scan_error(w->s, t->at, PERFEV_WHY_CORRUPT,
				  "sysfs describes term '%.60s' as '%.60s', which cannot be read", format->name,
				  format->text);
	if (!t->has_value && (bits.mask & (bits.mask - 1)))
		return term_error(w, t, "needs a value");
	if (t->has_value && !number_parse(t->value, t->value_size, &value))
		return term_error(w, t, "needs a number");
	if (!pmu_scatter(&word, bits.mask, value))
		return scan_error(w->s, t->value_at, PERFEV_WHY_SYNTAX,
				  "term '%.60s' takes at most 0x%llx (column %zu)", format->name,
				  (unsigned long long)pmu_gather(bits.mask, bits.mask), t->value_at + 1);
	put_bits(&w->event->attr, bits.word, bits.mask, word);
	return 0;
}

static void become_generic(struct term_work *w, uint32_t type, uint64_t config)
{
	w->event->attr.type = type;
	w->event->attr.config = config;
	if (w->pmu->flags & PERFEV_PMU_PARTIAL)
		w->event->attr.config |= (uint64_t)w->pmu->type << PERF_PMU_TYPE_SHIFT;
}

/* "cpu_core/cycles/": a generic event of one kind of CPU. */
static int take_generic(struct term_work *w, const struct term *t)
{
	const char *nearest;
	uint64_t config;
	uint32_t type;

	if (t->has_value || !(w->pmu->flags & PERFEV_PMU_CORE) ||
	    event_name_find(t->key, t->key_size, &type, &config, &nearest) < 0 || type == PERF_TYPE_SOFTWARE)
		return SCAN_NONE;
	become_generic(w, type, config);
	return 0;
}

/* The same by number: needed where the PMU itself has an event of that name. */
static int take_legacy(struct term_work *w, const struct term *t)
{
	static const char hardware[] = "legacy-hardware-config", cache[] = "legacy-cache-config";
	bool is_cache = t->key_size == strlen(cache) && !memcmp(t->key, cache, t->key_size);
	uint64_t config;

	if (!(w->pmu->flags & PERFEV_PMU_CORE) ||
	    (!is_cache && (t->key_size != strlen(hardware) || memcmp(t->key, hardware, t->key_size))))
		return SCAN_NONE;
	if (!t->has_value || !number_parse(t->value, t->value_size, &config) || config > UINT32_MAX)
		return term_error(w, t, "needs a number of 32 bits");
	become_generic(w, is_cache ? PERF_TYPE_HW_CACHE : PERF_TYPE_HARDWARE, config);
	return 0;
}

/* "@tmc_etr0": where a tracer puts its data. The PMU has a number for each of these, for config2. */
static int take_sink(struct term_work *w, const struct term *t)
{
	uint64_t number;
	char name[64];

	if (t->key[0] != '@' || t->has_value)
		return SCAN_NONE;
	snprintf(name, sizeof(name), "%.*s", (int)(t->key_size < 64 ? t->key_size - 1 : 0), t->key + 1);
	if (!pmu_sink(w->s->sysfs, w->pmu, name, &number))
		return scan_error(w->s, t->at, PERFEV_WHY_UNKNOWN_EVENT, "%.60s has no sink '%.60s' (column %zu)",
				  w->pmu->name, name, t->at + 1);
	w->event->attr.config2 |= number & UINT32_MAX;
	return 0;
}

static int unknown_term(struct term_work *w, const struct term *t)
{
	const char *names[2048], *nearest;
	size_t count = 0, i;
	char word[64];

	for (i = 0; term_setting_name(i); i++)
		names[count++] = term_setting_name(i);
	for (i = 0; w->pmu && i < w->pmu->format_count && count < 2048; i++)
		names[count++] = w->pmu->formats[i].name;
	for (i = 0; w->pmu && i < w->pmu->event_count && count < 2048; i++)
		names[count++] = w->pmu->events[i].name;
	word[0] = 0;
	if (t->key_size < sizeof(word)) {
		memcpy(word, t->key, t->key_size);
		word[t->key_size] = 0;
	}
	nearest = word[0] ? perfev_nearest(word, names, count) : NULL;
	return scan_error(w->s, t->at, PERFEV_WHY_UNKNOWN_EVENT, "%s has no term '%.*s' (column %zu)%s%s%s",
			  w->pmu ? w->pmu->name : "it", (int)(t->key_size < 64 ? t->key_size : 64), t->key,
			  t->at + 1, nearest ? "; did you mean " : "; perfev list shows what there is",
			  nearest ? nearest : "", nearest ? "?" : "");
}

static const struct perfev_pmu_event *alias_of(const struct term_work *w, const struct term *t)
{
	if (!w->pmu || t->has_value || w->from_alias)
		return NULL;
	return pmu_event(w->pmu, t->key, t->key_size);
}

static int take_term(struct term_work *w, const struct term *t)
{
	const struct perfev_pmu_format *format = w->pmu ? pmu_format(w->pmu, t->key, t->key_size) : NULL;
	uint64_t raw;
	int r = term_setting(w, t);

	if (r != SCAN_NONE)
		return r;
	if (alias_of(w, t))
		return 0; /* it was taken first */
	if (format)
		return take_format(w, t, format);
	if (w->pmu) {
		r = take_generic(w, t);
		if (r == SCAN_NONE)
			r = take_legacy(w, t);
		if (r == SCAN_NONE)
			r = take_sink(w, t);
	}
	if (r != SCAN_NONE)
		return r;
	if (!t->has_value && t->key[0] == 'r' && number_hex(t->key + 1, t->key_size - 1, &raw)) {
		w->event->attr.config = raw;
		return 0;
	}
	return unknown_term(w, t);
}

/* ---- reading them ---------------------------------------------------------------------------------------- */

/* What follows the equals sign, from @i on; *@end is behind it. False: a quote is not closed. */
static bool take_value(const char *text, size_t i, struct term *t, size_t *end)
{
	bool quoted;

	i += strspn(text + i, BLANKS);
	quoted = text[i] == '\'';
	t->has_value = true;
	t->value_at = i + quoted;
	t->value = text + t->value_at;
	t->value_size = strcspn(t->value, quoted ? "'" : ",/" BLANKS);
	i = t->value_at + t->value_size;
	if (quoted && text[i] != '\'')
		return false;
	*end = i + quoted;
	return true;
}

/* One term of @text from *@at on; *@at is left behind it, and the blanks that follow. */
static bool next_term(const char *text, size_t *at, struct term *t)
{
	size_t i = *at + strspn(text + *at, BLANKS);

	memset(t, 0, sizeof(*t));
	t->at = i;
	t->key = text + i;
	t->key_size = strcspn(t->key, "=,/" BLANKS);
	i += t->key_size;
	i += strspn(text + i, BLANKS);
	if (text[i] == '=' && !take_value(text, i + 1, t, &i))
		return false;
	*at = i + strspn(text + i, BLANKS);
	return t->key_size > 0;
}

/* Has @given (terms up to a slash) one of that key? */
static bool is_given(const char *given, const struct term *wanted)
{
	struct term t;
	size_t at = 0;

	while (next_term(given, &at, &t)) {
		if (t.key_size == wanted->key_size && !memcmp(t.key, wanted->key, t.key_size) && t.has_value)
			return true;
		if (given[at] != ',')
			break;
		at++;
	}
	return false;
}

int scan_alias(struct scan *s, struct perfev_event *event, const struct perfev_pmu *pmu,
	       const struct perfev_pmu_event *alias, const char *given)
{
	struct term_work w = {s, event, pmu, true};
	struct term t;
	size_t at = 0;
	int r = 0;

	for (;;) {
		bool whole = next_term(alias->terms, &at, &t);
		bool asks = t.has_value && t.value_size == 1 && t.value[0] == '?';

		if (!whole || (alias->terms[at] && alias->terms[at] != ','))
			return scan_error(s, s->at, PERFEV_WHY_CORRUPT,
					  "sysfs describes event %.60s as '%.60s', which cannot be read",
					  alias->name, alias->terms);
		t.at = t.value_at = s->at; /* errors point to the name in the text */
		if (asks && !is_given(given, &t))
			return scan_error(s, s->at, PERFEV_WHY_SYNTAX, "event %.60s needs a term %.*s=VALUE",
					  alias->name, (int)t.key_size, t.key);
		r = asks ? 0 : take_term(&w, &t);
		if (r < 0 || !alias->terms[at])
			break;
		at++;
	}
	if (alias->snapshot)
		event->flags |= PERFEV_EVENT_SNAPSHOT;
	if (alias->per_package)
		event->flags |= PERFEV_EVENT_PER_PACKAGE;
	if (r == 0 && (!event_set_unit(event, alias->scale, alias->unit) ||
		       !event_set_text(&event->alias, alias->name, strlen(alias->name))))
		return error_memory(s->err);
	return r;
}

/* One pass over the terms: first the events, then the others. */
static int pass(struct term_work *w, bool aliases, size_t *end)
{
	const char *text = w->s->text;
	size_t at = w->s->at, from = w->s->at;
	struct term t;
	int r = 0;

	at += strspn(text + at, BLANKS);
	*end = at;
	if (text[at] == '/') /* none */
		return 0;
	for (;;) {
		const struct perfev_pmu_event *alias;

		if (!next_term(text, &at, &t))
			return scan_syntax(w->s, t.at, t.key_size ? "a quote that is not closed" : "a term is missing");
		alias = alias_of(w, &t);
		w->s->at = t.at;
		if (aliases && alias)
			r = scan_alias(w->s, w->event, w->pmu, alias, text + from);
		else if (!aliases)
			r = take_term(w, &t);
		w->s->at = from;
		if (r < 0)
			return r;
		*end = at;
		if (text[at] != ',')
			return 0;
		at++;
	}
}

int scan_terms(struct scan *s, struct perfev_event *event, const struct perfev_pmu *pmu)
{
	struct term_work w = {s, event, pmu, false};
	size_t end;
	int r = pass(&w, true, &end);

	if (r == 0)
		r = pass(&w, false, &end);
	if (r < 0)
		return r;
	if (s->text[end] != '/')
		return scan_syntax(s, end, "a comma, or the slash that ends the terms, is expected");
	s->at = end + 1;
	return 0;
}
