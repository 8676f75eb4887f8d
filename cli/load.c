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

struct load {
	struct loaded *out;
	const struct load_opts *opts;
	uint32_t *numbers; /* by frame key: profile frame + 1 */
	size_t number_count;
	uint64_t *missing; /* by module: samples without a name */
	size_t missing_count;
	uint32_t *stack;
	size_t depth, room;
	int *events; /* by event of the file: of the profile, or -1: filtered out */
	size_t event_count;
	const char *comm; /* the last one, and its frame */
	uint32_t comm_frame;
};

/* ---- frames -------------------------------------------------------------------------------------------- */

static int push(struct load *l, uint32_t frame)
{
	uint32_t *stack;

	if (l->depth == DEPTH_MAX)
		return 0;
	if (l->depth == l->room) {
		size_t room = l->room ? l->room * 2 : 256;

		stack = realloc(l->stack, room * sizeof(*stack));
		if (!stack)
			return -ENOMEM;
		l->stack = stack;
		l->room = room;
	}
	l->stack[l->depth++] = frame;
	return 0;
}

static int number_of(struct load *l, const struct perfev_frame *frame, uint32_t *ret,
		     struct perfev_error *err)
{
	/* nameless places are called by their place in the file, as perf calls them; where no file is, they are one */
	bool nameless = frame->flags & PERFEV_FRAME_UNRESOLVED;
	bool nowhere = nameless && !strcmp(frame->module, "[unknown]");
	struct perfev_profile_frame p = {nowhere ? "[unknown]" : frame->symbol, frame->module,
					 nowhere ? 0 : nameless ? frame->file_offset : frame->address,
					 frame->flags & PERFEV_FRAME_KERNEL ? PERFEV_KIND_KERNEL
					 : frame->flags & PERFEV_FRAME_INLINED ? PERFEV_KIND_INLINED
									       : PERFEV_KIND_USER,
					 0};
	int r;

	if (frame->key >= l->number_count) {
		size_t count = frame->key + 1024;
		uint32_t *numbers = realloc(l->numbers, count * sizeof(*numbers));

		if (!numbers)
			return -ENOMEM;
		memset(numbers + l->number_count, 0, (count - l->number_count) * sizeof(*numbers));
		l->numbers = numbers;
		l->number_count = count;
	}
	if (!l->numbers[frame->key]) {
		r = perfev_profile_intern(l->out->profile, ret, &p, err);
		if (r < 0)
			return r;
		l->numbers[frame->key] = *ret + 1;
	}
	*ret = l->numbers[frame->key] - 1;
	return 0;
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

static int push_place(struct load *l, const struct perfev_place *place, struct perfev_error *err)
{
	struct perfev_frame frames[64];
	int n = perfev_symbols_find(l->out->replay.symbols, place, frames, 64, err), i;

	if (n < 0)
		return n;
	if (l->depth == 0 && (frames[0].flags & PERFEV_FRAME_UNRESOLVED) &&
	    note_missing(l, frames[0].module_id) < 0)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		uint32_t number;
		int r = number_of(l, &frames[i], &number, err);

		if (r == 0)
			r = push(l, number);
		if (r < 0)
			return r;
	}
	return 0;
}

static int push_chain(struct load *l, const struct perfev_sample *sample, struct perfev_place *place,
		      struct perfev_error *err)
{
	struct perfev_callchain_entry entry;
	struct perfev_callchain chain;
	bool leaf = true;

	perfev_callchain_begin(&chain, sample->callchain, sample->misc);
	while (perfev_callchain_next(&chain, &entry) > 0) {
		int r;

		place->cpumode = replay_cpumode(entry.context);
		if (!place->cpumode || !entry.ip)
			continue;
		if (leaf) { /* the sample's own address, which was pushed already */
			leaf = false;
			continue;
		}
		place->ip = entry.first ? entry.ip : entry.ip - 1;
		r = push_place(l, place, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- samples ------------------------------------------------------------------------------------------------ */

static int comm_frame(struct load *l, const struct perfev_sample *sample, uint32_t *ret,
		      const char **name, struct perfev_error *err)
{
	struct perfev_profile_frame frame = {NULL, "", 0, PERFEV_KIND_COMM, 0};
	int r;

	*name = perfev_symbols_comm(l->out->replay.symbols, (int32_t)sample->pid, (int32_t)sample->tid);
	if (*name == l->comm) {
		*ret = l->comm_frame;
		return 0;
	}
	frame.symbol = *name;
	r = perfev_profile_intern(l->out->profile, ret, &frame, err);
	l->comm = *name;
	l->comm_frame = *ret;
	return r;
}

static void note_time(struct loaded *out, const struct perfev_sample *sample)
{
	if (!(sample->present & PERF_SAMPLE_TIME))
		return;
	if (!out->first_time || sample->time < out->first_time)
		out->first_time = sample->time;
	if (sample->time > out->last_time)
		out->last_time = sample->time;
}

static int add_sample(struct load *l, const struct perfev_sample *sample, int event,
		      const struct perf_event_attr *attr, struct perfev_error *err)
{
	struct perfev_profile_stack stack = {NULL, 0, 1, (uint32_t)event, UINT32_MAX};
	struct perfev_place place = {sample->ip, (int32_t)sample->pid,
				     sample->misc & PERF_RECORD_MISC_CPUMODE_MASK};
	const char *comm = "";
	int r = 0;

	if (sample->present & PERF_SAMPLE_TID)
		r = comm_frame(l, sample, &stack.comm, &comm, err);
	if (r < 0 || !passes_text(&l->opts->filter->comms, comm))
		return r;
	l->depth = 0;
	if (sample->present & PERF_SAMPLE_IP)
		r = push_place(l, &place, err);
	if (r == 0 && (sample->present & PERF_SAMPLE_CALLCHAIN))
		r = push_chain(l, sample, &place, err);
	if (r < 0)
		return r;
	stack.frames = l->stack;
	stack.count = l->depth;
	if (sample->present & PERF_SAMPLE_PERIOD)
		stack.weight = sample->period;
	else if (!attr->freq && attr->sample_period)
		stack.weight = attr->sample_period;
	note_time(l->out, sample);
	l->out->samples++;
	return perfev_profile_add(l->out->profile, &stack, err);
}

/* Called when the first sample comes: in a stream events, and what they are called, come with the first
 * records. */
static int add_events(struct load *l, struct perfev_error *err)
{
	size_t count = perfev_reader_event_count(l->out->replay.reader);
	int *events;

	if (count == l->event_count)
		return 0;
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
		events[l->event_count] = perfev_profile_event(l->out->profile, info.name, err);
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
	struct perfev_sample sample;

	l->out->all_samples++;
	r = add_events(l, err);
	if (r < 0)
		return r;
	if (event < 0 || (size_t)event >= l->event_count || !layout || l->events[event] < 0)
		return 0;
	sample.pid = sample.tid = 0;
	sample.ip = 0;
	r = perfev_sample_decode(&sample, record, layout, err);
	if (r < 0)
		return r;
	if (!filter_passes(l->opts->filter, &sample))
		return 0;
	r = replay_unwind(&l->out->replay, &sample, layout, err);
	if (r < 0)
		return r;
	return add_sample(l, &sample, l->events[event], perfev_layout_attr(layout), err);
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
				   .no_inline = l->opts->no_inline, .debuginfod = l->opts->debuginfod};
	int r = replay_open(replay, &opts, err);

	replay->sample = take_sample;
	replay->context = l;
	if (r == 0)
		r = perfev_profile_new(&l->out->profile, err);
	if (r == 0)
		r = replay_run(replay, err);
	if (r == 0)
		r = add_events(l, err);
	if (r == 0)
		r = list_missing(l);
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
		filter_look(opts->filter, ret->replay.reader);
	} else if (!err.code) {
		out_of_memory();
	} else {
		report_error(&err);
	}
	free(l.numbers);
	free(l.missing);
	free(l.stack);
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
