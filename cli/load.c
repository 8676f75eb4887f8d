/* SPDX-License-Identifier: MIT */
/*
 * A recording -> a profile: replay, decode, profile.
 *
 * In a call chain the first address of each level is where it was; the others are return addresses, which
 * belong to the call before them, so they are looked up one byte earlier.
 */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 65536
#define PENDING	  64
#define COMMS	  64

/* What a frame of the symbols is in the profile. */
struct known {
	uint32_t number; /* of the profile + 1; 0: not met yet */
	uint32_t module; /* + 1, of a place without a name; 0: it has one */
};

/* A thread's name as a frame of the profile. */
struct comm {
	const char *name;
	uint32_t frame;
};

/* Two threads may be in it: one that reads, and one that takes stacks. */
struct load {
	struct loaded *out;
	const struct load_opts *opts;
	int *events; /* by event of the file: of the profile, or -1: filtered out */
	size_t event_count;
	uint64_t all_samples;
	/* of whoever takes stacks */
	_Alignas(64) struct perfev_profile *profile;
	const struct filter *filter;
	struct known *known; /* by frame key */
	size_t known_count;
	uint64_t *missing; /* by module: samples without a name */
	size_t missing_count;
	struct perfev_profile_stack pending[PENDING]; /* for the profile, which takes many faster than one by one */
	size_t pending_count;
	uint32_t *keys; /* their frames */
	size_t key_count, key_room;
	struct comm comms[COMMS]; /* met last */
	uint64_t samples, first_time, last_time;
};

/* ---- frames -------------------------------------------------------------------------------------------- */

static int new_frame(struct load *l, uint32_t key, struct known *known, struct perfev_error *err)
{
	struct perfev_profile_frame p = {NULL, NULL, 0, PERFEV_KIND_USER, 0};
	struct perfev_frame frame;
	uint32_t number;
	int r;

	perfev_symbols_frame(l->out->replay.symbols, key, &frame);
	/* nameless places are called by their place in the file, as perf calls them; where no file is, they are one */
	p.symbol = frame.symbol;
	p.module = frame.module;
	p.address = frame.address;
	if (frame.flags & PERFEV_FRAME_UNRESOLVED) {
		p.address = frame.file_offset;
		known->module = frame.module_id + 1;
	}
	if ((frame.flags & PERFEV_FRAME_UNRESOLVED) && !strcmp(frame.module, "[unknown]")) {
		p.symbol = "[unknown]";
		p.address = 0;
	}
	if (frame.flags & PERFEV_FRAME_KERNEL)
		p.kind = PERFEV_KIND_KERNEL;
	else if (frame.flags & PERFEV_FRAME_INLINED)
		p.kind = PERFEV_KIND_INLINED;
	r = perfev_profile_intern(l->profile, &number, &p, err);
	known->number = number + 1;
	return r;
}

static int grow_known(struct load *l, uint32_t key)
{
	size_t count = key + 1024 + l->known_count / 2;
	struct known *known = realloc(l->known, count * sizeof(*known));

	if (!known)
		return -ENOMEM;
	memset(known + l->known_count, 0, (count - l->known_count) * sizeof(*known));
	l->known = known;
	l->known_count = count;
	return 0;
}

static int meet_frame(struct load *l, uint32_t key, struct perfev_error *err)
{
	if (key >= l->known_count && grow_known(l, key) < 0)
		return -ENOMEM;
	return l->known[key].number ? 0 : new_frame(l, key, &l->known[key], err);
}

static int note_missing(struct load *l, uint32_t module)
{
	if (module >= l->missing_count) {
		size_t count = module + 64;
		uint64_t *missing = realloc(l->missing, count * sizeof(*missing));

		if (!missing)
			return -ENOMEM;
		memset(missing + l->missing_count, 0, (count - l->missing_count) * sizeof(*missing));
		l->missing = missing;
		l->missing_count = count;
	}
	l->missing[module]++;
	return 0;
}

/* The frames of a stack get the profile's numbers. */
static int number_frames(struct load *l, uint32_t *keys, size_t count, struct perfev_error *err)
{
	uint32_t first = count ? keys[0] : 0, key;
	size_t i;

	for (i = 0; i < count; i++) {
		key = keys[i];
		if ((key >= l->known_count || !l->known[key].number) && meet_frame(l, key, err) < 0)
			return -ENOMEM;
		keys[i] = l->known[key].number - 1;
	}
	return count && l->known[first].module ? note_missing(l, l->known[first].module - 1) : 0;
}

/* The profile gets what waits for it: of many stacks the memory that each needs is looked at together. */
static int add_pending(struct load *l, struct perfev_error *err)
{
	size_t count = l->pending_count, at = 0, i;

	l->pending_count = l->key_count = 0;
	for (i = 0; i < count; i++) {
		l->pending[i].frames = l->keys + at;
		if (number_frames(l, l->keys + at, l->pending[i].count, err) < 0)
			return -ENOMEM;
		at += l->pending[i].count;
	}
	return perfev_profile_add_all(l->profile, l->pending, count, err);
}

static int grow_keys(struct load *l, size_t more)
{
	size_t room = (l->key_count + more) * 2 + 1024;
	uint32_t *keys = realloc(l->keys, room * sizeof(*keys));

	if (!keys)
		return -ENOMEM;
	l->keys = keys;
	l->key_room = room;
	return 0;
}

static int keep_keys(struct load *l, const struct perfev_stack *stack, size_t *count)
{
	size_t n = stack->count < DEPTH_MAX ? stack->count : DEPTH_MAX, i;

	if (l->key_room - l->key_count < n && grow_keys(l, n) < 0)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		l->keys[l->key_count++] = stack->keys[i];
	*count = n;
	return 0;
}

/* ---- samples ------------------------------------------------------------------------------------------------ */

/* Frames have the numbers that they would have if no stack had waited. */
static int new_comm(struct load *l, const char *comm, struct comm *to, struct perfev_error *err)
{
	struct perfev_profile_frame frame = {comm, "", 0, PERFEV_KIND_COMM, 0};
	int r = add_pending(l, err);

	if (r == 0)
		r = perfev_profile_intern(l->profile, &to->frame, &frame, err);
	to->name = r == 0 ? comm : NULL;
	return r;
}

/* The same name has the same address. */
static int comm_frame(struct load *l, const char *comm, uint32_t *ret, struct perfev_error *err)
{
	struct comm *known = &l->comms[(uintptr_t)comm / 8 % COMMS];
	int r = known->name == comm ? 0 : new_comm(l, comm, known, err);

	*ret = known->frame;
	return r;
}

static void note_time(struct load *l, const struct perfev_sample *sample)
{
	if (!(sample->present & PERF_SAMPLE_TIME))
		return;
	if (!l->first_time || sample->time < l->first_time)
		l->first_time = sample->time;
	if (sample->time > l->last_time)
		l->last_time = sample->time;
}

static bool wanted(const void *load, const struct perfev_sample *sample)
{
	const struct load *l = load;

	return filter_passes(l->opts->filter, sample);
}

static int take_stack(void *load, const struct perfev_stack *from, struct perfev_error *err)
{
	struct load *l = load;
	const struct perfev_sample *sample = from->sample;
	const struct perf_event_attr *attr = perfev_layout_attr(from->layout);
	struct perfev_profile_stack *stack;
	uint32_t comm = UINT32_MAX;
	int r = 0;

	if (!passes_text(&l->filter->comms, from->comm))
		return 0;
	if (sample->present & PERF_SAMPLE_TID)
		r = comm_frame(l, from->comm, &comm, err);
	stack = &l->pending[l->pending_count];
	*stack = (struct perfev_profile_stack){NULL, 0, 1, (uint32_t)from->cookie, comm};
	if (r == 0)
		r = keep_keys(l, from, &stack->count);
	if (r < 0)
		return r;
	if (sample->present & PERF_SAMPLE_PERIOD)
		stack->weight = sample->period;
	else if (!attr->freq && attr->sample_period)
		stack->weight = attr->sample_period;
	note_time(l, sample);
	l->samples++;
	return ++l->pending_count == PENDING ? add_pending(l, err) : 0;
}

/* Called when the first sample comes: in a stream events, and what they are called, come with the first
 * records. */
static int add_events(struct load *l, size_t count, struct perfev_error *err)
{
	int *events, r;

	if (l->out->replay.stacks && (r = perfev_stacks_wait(l->out->replay.stacks, err)) < 0)
		return r; /* the profile is used by whoever takes stacks */
	r = add_pending(l, err);
	if (r < 0)
		return r;
	events = realloc(l->events, count * sizeof(*events));
	if (!events)
		return -ENOMEM;
	l->events = events;
	for (; l->event_count < count; l->event_count++) {
		struct perfev_reader_event_info info;

		perfev_reader_event_at(l->out->replay.reader, l->event_count, &info);
		events[l->event_count] = -1;
		if (!passes_text(&l->opts->filter->events, info.name))
			continue;
		events[l->event_count] = perfev_profile_event(l->profile, info.name, err);
		if (events[l->event_count] < 0)
			return -ENOMEM;
	}
	return 0;
}

static int take_sample(void *load, const struct perfev_record *record,
		       const struct perfev_layout *layout, struct perfev_error *err)
{
	struct load *l = load;
	int event = perfev_reader_event(l->out->replay.reader, record), r;
	size_t count;

	l->all_samples++;
	count = perfev_reader_event_count(l->out->replay.reader);
	if (count != l->event_count && (r = add_events(l, count, err)) < 0)
		return r;
	if (event < 0 || (size_t)event >= l->event_count || !layout || l->events[event] < 0)
		return 0;
	return perfev_stacks_push(l->out->replay.stacks, record, layout, (uint64_t)l->events[event], err);
}

static int more_first(const void *a_, const void *b_)
{
	const struct missing *a = a_, *b = b_;

	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	return strcmp(a->module, b->module);
}

static int list_missing(struct load *l)
{
	struct perfev_module_info info;
	size_t i;

	l->out->missing = calloc(l->missing_count + 1, sizeof(*l->out->missing));
	if (!l->out->missing)
		return -ENOMEM;
	for (i = 0; i < l->missing_count; i++) {
		struct missing *m = &l->out->missing[l->out->missing_count];

		if (!l->missing[i] || !perfev_symbols_module(l->out->replay.symbols, (uint32_t)i, &info))
			continue;
		m->module = info.name;
		m->why = info.why ? info.why : "no symbol covers the address";
		m->samples = l->missing[i];
		l->out->missing_count++;
	}
	qsort(l->out->missing, l->out->missing_count, sizeof(*l->out->missing), more_first);
	return 0;
}

static int load_all(struct load *l, struct perfev_error *err)
{
	struct replay *replay = &l->out->replay;
	struct replay_opts opts = {.path = l->opts->path, .symfs = l->opts->symfs, .kallsyms = l->opts->kallsyms,
				   .vmlinux = l->opts->vmlinux, .jitdumps = l->opts->jitdumps, .no_inline = l->opts->no_inline, .debuginfod = l->opts->debuginfod};
	struct perfev_stacks_opts stacks = {.size = sizeof(stacks),
					    .jobs = l->opts->jobs ? l->opts->jobs : PERFEV_JOBS_ALL, .context = l,
					    .wanted = filter_looks_at_samples(l->opts->filter) ? wanted : NULL,
					    .take = take_stack};
	int r = replay_open(replay, &opts, err);

	replay->sample = take_sample;
	replay->context = l;
	replay->stacks_opts = &stacks;
	if (r == 0)
		r = perfev_profile_new(&l->out->profile, err);
	l->profile = l->out->profile;
	if (r == 0 && l->opts->flat)
		perfev_profile_set_flat(l->profile);
	l->filter = l->opts->filter;
	if (r == 0)
		r = replay_run(replay, err);
	if (r == 0)
		r = add_events(l, perfev_reader_event_count(replay->reader), err);
	if (r == 0)
		r = add_pending(l, err);
	if (r == 0)
		r = list_missing(l);
	l->out->samples = l->samples;
	l->out->all_samples = l->all_samples;
	l->out->first_time = l->first_time;
	l->out->last_time = l->last_time;
	perfev_stacks_free(replay->stacks); /* and its threads, which use the rest */
	replay->stacks = NULL;
	return r;
}

int load_profile(struct loaded *ret, const struct load_opts *opts_)
{
	static const struct filter none;
	struct load_opts with_filter = *opts_, *opts = &with_filter;
	struct load l = {.out = ret, .opts = opts};
	struct perfev_error err;
	int r;

	memset(ret, 0, sizeof(*ret));
	memset(&err, 0, sizeof(err));
	if (!opts->filter)
		opts->filter = &none;
	r = load_all(&l, &err);
	if (r == 0) {
		perfev_reader_loss(ret->replay.reader, &ret->loss);
		ret->late = perfev_order_late(ret->replay.order);
		perfev_deferred_describe(ret->replay.deferred, &ret->deferred);
		filter_look(opts->filter, ret->replay.reader, NULL);
	} else if (!err.code) {
		out_of_memory();
	} else {
		report_error(&err);
	}
	free(l.known);
	free(l.missing);
	free(l.keys);
	free(l.events);
	if (r < 0)
		loaded_free(ret);
	return r ? EXIT_FAILED : 0;
}

void loaded_free(struct loaded *loaded)
{
	perfev_profile_free(loaded->profile);
	replay_close(&loaded->replay);
	free(loaded->missing);
	memset(loaded, 0, sizeof(*loaded));
}
