/* SPDX-License-Identifier: MIT */
/*
 * What perf stat record wrote, as perf script prints it: after each round a line for each event, thread and CPU, with the counts
 * that were recorded last.
 */
#include "script.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define COUNTS_MAX (4u << 20)

struct count {
	uint64_t value, enabled, running;
};

/* Whose an id is. */
struct owner {
	uint64_t id;
	size_t event;
};

struct cpus {
	int32_t *items;
	uint32_t count;
};

struct script_stat {
	struct count *counts; /* by event, thread, CPU */
	size_t event_count;
	struct cpus cpus, *own; /* of all events; those of one, when it says so */
	int64_t *pids;
	uint32_t pid_count;
	uint32_t width; /* CPUs of an event, at most */
	size_t own_count;
	struct owner *owners; /* by id */
	size_t owner_count, owner_events; /* of so many events: a stream may tell more */
	bool titled;
};

/* ---- maps ------------------------------------------------------------------------------------------------------------- */

static bool take_cpus(struct cpus *to, const struct perfev_cpu_map *map)
{
	uint32_t position = 0, n = 0;
	int32_t cpu;

	while (perfev_cpu_map_next(map, &position, &cpu))
		n++;
	free(to->items);
	to->items = calloc((size_t)n + 1, sizeof(*to->items));
	to->count = 0;
	for (position = 0; to->items && perfev_cpu_map_next(map, &position, &cpu);)
		to->items[to->count++] = cpu;
	return to->items != NULL;
}

static bool take_threads(struct script_stat *s, const struct perfev_thread_map *map)
{
	struct perfev_thread_map_entry entry;
	uint32_t i;

	free(s->pids);
	s->pids = calloc((size_t)map->count + 1, sizeof(*s->pids));
	for (i = 0; s->pids && perfev_thread_map_at(map, i, &entry); i++)
		s->pids[i] = entry.pid;
	s->pid_count = i;
	return s->pids != NULL;
}

static int compare_owners(const void *a, const void *b)
{
	uint64_t x = ((const struct owner *)a)->id, y = ((const struct owner *)b)->id;

	return (x > y) - (x < y);
}

/* There is a record for each id after each interval: they are sorted, once. */
static bool take_owners(struct script_stat *s, const struct perfev_reader *reader)
{
	struct perfev_reader_event_info info;
	size_t n = 0, i, k;

	for (i = 0; perfev_reader_event_at(reader, i, &info); i++)
		n += info.id_count;
	free(s->owners);
	s->owner_count = 0;
	s->owner_events = perfev_reader_event_count(reader);
	s->owners = malloc((n + 1) * sizeof(*s->owners));
	for (i = 0; s->owners && perfev_reader_event_at(reader, i, &info); i++)
		for (k = 0; k < info.id_count; k++)
			s->owners[s->owner_count++] = (struct owner){info.ids[k], i};
	if (s->owner_count)
		qsort(s->owners, s->owner_count, sizeof(*s->owners), compare_owners);
	return s->owners != NULL;
}

/* The event of an id; -1: of none, or without memory. */
static long event_of(struct script_stat *s, const struct perfev_reader *reader, uint64_t id)
{
	struct owner wanted = {id, 0}, *found;

	if ((!s->owners || s->owner_events != perfev_reader_event_count(reader)) && !take_owners(s, reader))
		return -1;
	found = s->owner_count ? bsearch(&wanted, s->owners, s->owner_count, sizeof(wanted), compare_owners) : NULL;
	return found ? (long)found->event : -1;
}

/* ---- counts ----------------------------------------------------------------------------------------------------------- */

static const struct cpus *cpus_of(const struct script_stat *s, size_t event)
{
	return s->own && event < s->own_count && s->own[event].items ? &s->own[event] : &s->cpus;
}

/* Return: 0; -ENOMEM; -ECANCELED, and it is said why. */
static int begin(struct script_stat *s, size_t events)
{
	size_t i, room;

	s->width = s->cpus.count;
	for (i = 0; s->own && i < s->own_count; i++)
		s->width = s->own[i].count > s->width ? s->own[i].count : s->width;
	room = events * s->pid_count;
	if (s->width && room > COUNTS_MAX / s->width) {
		note("cannot print what was counted: %zu events of %" PRIu32 " threads on %" PRIu32 " CPUs are more than the %u counts "
		     "that are kept at once; perfev dump has each of them",
		     events, s->pid_count, s->width, COUNTS_MAX);
		return -ECANCELED;
	}
	s->counts = calloc(room * s->width + 1, sizeof(*s->counts));
	s->event_count = events;
	return s->counts ? 0 : -ENOMEM;
}

static struct count *count_at(const struct script_stat *s, size_t event, uint32_t thread, uint32_t cpu)
{
	return &s->counts[(event * s->pid_count + thread) * s->width + cpu];
}

static int take_count(struct script_stat *s, struct perfev_reader *reader, const struct perfev_stat *stat)
{
	long event = event_of(s, reader, stat->id);
	int r = s->counts ? 0 : begin(s, perfev_reader_event_count(reader));
	const struct cpus *cpus;
	uint32_t i;

	if (r < 0 || event < 0 || (size_t)event >= s->event_count || stat->thread >= s->pid_count)
		return r;
	cpus = cpus_of(s, (size_t)event);
	for (i = 0; i < cpus->count && i < s->width; i++)
		if (cpus->items[i] == stat->cpu)
			*count_at(s, (size_t)event, stat->thread, i) = (struct count){stat->value, stat->enabled_ns, stat->running_ns};
	return 0;
}

static void put_round(struct script_stat *s, struct pen *pen, const struct perfev_reader *reader, uint64_t time)
{
	struct perfev_reader_event_info info;
	uint32_t thread, i;
	size_t event;

	if (!s->titled)
		pen_print(pen, "%3s %8s %15s %15s %15s %15s %s\n", "CPU", "THREAD", "VAL", "ENA", "RUN", "TIME", "EVENT");
	s->titled = true;
	for (event = 0; s->counts && event < s->event_count && perfev_reader_event_at(reader, event, &info); event++)
		for (thread = 0; thread < s->pid_count; thread++)
			for (i = 0; i < cpus_of(s, event)->count && i < s->width; i++) {
				const struct count *c = count_at(s, event, thread, i);

				pen_print(pen, "%3d %8" PRId64 " %15" PRIu64 " %15" PRIu64 " %15" PRIu64 " %15" PRIu64 " %s\n",
					cpus_of(s, event)->items[i], s->pids[thread], c->value, c->enabled, c->running, time, info.name);
			}
}

static bool take_update(struct script_stat *s, struct perfev_reader *reader, const struct perfev_event_update *update)
{
	long event = update->type == PERFEV_UPDATE_CPUS ? event_of(s, reader, update->id) : -1;
	size_t events = perfev_reader_event_count(reader);

	if (event < 0 || s->counts)
		return true;
	if (!s->own)
		s->own = calloc(events + 1, sizeof(*s->own));
	s->own_count = s->own_count ? s->own_count : events;
	if ((size_t)event >= s->own_count)
		return true;
	return s->own && take_cpus(&s->own[event], &update->cpus);
}

int script_stat(struct script_stat **state, struct pen *pen, struct perfev_reader *reader, const struct perfev_record *record)
{
	struct perfev_user user;
	struct script_stat *s;
	bool done = true;

	if (!*state)
		*state = calloc(1, sizeof(**state));
	s = *state;
	if (!s)
		return -ENOMEM;
	if (perfev_user_decode(&user, record, NULL) < 0)
		return 0;
	if (record->type == PERFEV_RECORD_THREAD_MAP && !s->counts)
		done = take_threads(s, &user.as.thread_map);
	else if (record->type == PERFEV_RECORD_CPU_MAP && !s->counts)
		done = take_cpus(&s->cpus, &user.as.cpu_map);
	else if (record->type == PERFEV_RECORD_EVENT_UPDATE)
		done = take_update(s, reader, &user.as.event_update);
	else if (record->type == PERFEV_RECORD_STAT)
		return take_count(s, reader, &user.as.stat);
	else if (record->type == PERFEV_RECORD_STAT_ROUND)
		put_round(s, pen, reader, user.as.stat_round.time_ns);
	return done ? 0 : -ENOMEM;
}

bool script_stat_printed(const struct script_stat *state)
{
	return state && state->titled;
}

void script_stat_free(struct script_stat *state)
{
	size_t i;

	if (!state)
		return;
	for (i = 0; state->own && i < state->own_count; i++)
		free(state->own[i].items);
	free(state->own);
	free(state->cpus.items);
	free(state->pids);
	free(state->counts);
	free(state->owners);
	free(state);
}
