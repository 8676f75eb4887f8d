/* SPDX-License-Identifier: MIT */
/*
 * The places of a sample's stack: its own address, and those of its call chain, which is completed if it has to be. In a
 * call chain the first address of each level is where it was; the others are return addresses, which belong to the call
 * before them, so they are looked up one byte earlier.
 *
 * Code that a process compiles is another one at each time, so samples of such a process cannot wait: they are named at once.
 */
#include "naming.h"
#include "stacks_base.h"

#include "base/error.h"
#include "base/noinline.h"
#include "decode/callchain.h"

#include <errno.h>
#include <stdlib.h>

#define FRAMES_OF_PLACE 64

NOINLINE static int grow_keys(struct batch *batch)
{
	size_t room = batch->key_room ? batch->key_room * 2 : 1024;
	uint32_t *keys = realloc(batch->keys, room * sizeof(*keys));

	if (!keys)
		return -ENOMEM;
	batch->keys = keys;
	batch->key_room = room;
	return 0;
}

static inline int add_keys(struct perfev_symbols *s, struct batch *batch, const struct located *at)
{
	int n;

	if (batch->key_count + FRAMES_OF_PLACE > batch->key_room && grow_keys(batch) < 0)
		return -ENOMEM;
	n = naming_keys(s, at, batch->keys + batch->key_count, FRAMES_OF_PLACE);
	if (n < 0)
		return -ENOMEM;
	batch->key_count += (size_t)n;
	return 0;
}

/* A place of a process as it is now. */
NOINLINE static int name_now(struct worker *w, struct batch *batch, const struct perfev_place *place)
{
	struct perfev_symbols *s = w->symbols;
	struct located at;
	int r;

	if (symbols_locate(s, place, !s->opts.no_inline, &at) < 0)
		return -ENOMEM;
	pthread_mutex_lock(&s->naming_lock);
	r = add_keys(s, batch, &at);
	pthread_mutex_unlock(&s->naming_lock);
	return r;
}

static int reserve_places(struct batch *batch, size_t more)
{
	size_t room = batch->located_room ? batch->located_room : 1024;
	struct located *located;

	while (room - batch->located_count < more)
		room *= 2;
	if (room == batch->located_room)
		return 0;
	located = realloc(batch->located, room * sizeof(*located));
	if (!located)
		return -ENOMEM;
	batch->located = located;
	batch->located_room = room;
	return 0;
}

/* There is room for it. */
static inline int add_place(struct worker *w, struct batch *batch, struct space_view *view, const struct perfev_place *place)
{
	if (!view)
		return name_now(w, batch, place);
	return locate(w->locator, &batch->located[batch->located_count++], view, place->ip, place->cpumode,
		      LOCATE_NO_WAIT | (w->symbols->opts.no_inline ? LOCATE_PLAIN : LOCATE_INLINED));
}

static inline int add_chain(struct worker *w, struct batch *batch, const struct perfev_sample *sample, struct perfev_u64s ips,
		     struct space_view *view, struct perfev_place *place)
{
	bool own = sample->present & PERF_SAMPLE_IP; /* the first address is the sample's, and there already */
	struct perfev_callchain_entry entry;
	struct perfev_callchain chain;

	perfev_callchain_begin(&chain, ips, sample->misc);
	while (callchain_next(&chain, &entry) > 0) {
		place->cpumode = perfev_context_cpumode(entry.context);
		if (!place->cpumode || !entry.ip)
			continue;
		if (own) {
			own = false;
			continue;
		}
		place->ip = entry.first ? entry.ip : entry.ip - 1;
		if (add_place(w, batch, view, place) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Completes the call chain. */
static int unwind(struct worker *w, struct item *item, struct perfev_u64s *chain, struct space_view *view)
{
	struct perfev_u64s recorded = item->sample.callchain;
	uint64_t present = item->sample.present;
	struct perfev_unwound unwound;
	int r;

	w->unwinder->kept = view != NULL;
	w->unwinder->view = view;
	r = perfev_unwind_sample(w->unwinder, &item->sample, item->layout, &unwound, NULL);
	*chain = item->sample.callchain;
	item->end = unwound.end;
	if (r > 0) {
		item->sample.callchain = recorded;
		item->sample.present = present;
	}
	return r;
}

/* The kernel's symbols take long to read: a thread begins with them before it may have to wait for another one, which makes
 * the unwind table that both want. */
static void begin_kernel(struct perfev_symbols *s, const struct perfev_sample *sample, const struct space_view *view)
{
	if (view && !s->kernel_loaded && (sample->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL)
		symbols_kernel(s, false);
}

/* All places: its own, and those of its chain. */
static int add_places(struct worker *w, struct batch *batch, struct item *item, struct space_view *view)
{
	const uint64_t parts = PERF_SAMPLE_STACK_USER | PERF_SAMPLE_BRANCH_STACK;
	const struct perfev_sample *sample = &item->sample;
	struct perfev_place place = {sample->ip, (int32_t)sample->pid, sample->misc & PERF_RECORD_MISC_CPUMODE_MASK};
	struct perfev_u64s chain = sample->callchain;
	bool has_chain = sample->present & PERF_SAMPLE_CALLCHAIN;
	int r = sample->present & parts ? unwind(w, item, &chain, view) : 0;

	has_chain |= r > 0;
	if (r >= 0 && view)
		r = reserve_places(batch, (has_chain ? (size_t)chain.count : 0) + 1);
	if (r >= 0 && (sample->present & PERF_SAMPLE_IP))
		r = add_place(w, batch, view, &place);
	if (r >= 0 && has_chain)
		r = add_chain(w, batch, sample, chain, view, &place);
	return r < 0 ? r : 0;
}

int stacks_locate(struct worker *worker, struct batch *batch, struct item *item, struct space_view *view,
		  struct perfev_error *err)
{
	struct perfev_sample *sample = &item->sample;
	int r;

	sample->pid = sample->tid = 0;
	sample->ip = 0;
	item->end = PERFEV_UNWOUND_NOTHING;
	item->named = !view;
	r = perfev_sample_decode(sample, &item->record, item->layout, err);
	if (r < 0)
		return r;
	item->unwanted = worker->opts->wanted && !worker->opts->wanted(worker->opts->context, sample);
	if (item->unwanted)
		return 0;
	begin_kernel(worker->symbols, sample, view);
	item->first = (uint32_t)(view ? batch->located_count : batch->key_count);
	r = add_places(worker, batch, item, view);
	item->count = (uint32_t)(view ? batch->located_count : batch->key_count) - item->first;
	return r < 0 ? error_memory(err) : 0;
}

/* What another thread was reading when it was asked for. */
static int locate_again(struct worker *w, struct batch *batch, const struct item *item, struct located *at)
{
	return locate(w->locator, at, &batch->views[item->view], at->address, at->cpumode,
		      w->symbols->opts.no_inline ? LOCATE_PLAIN : LOCATE_INLINED);
}

void stacks_name_soon(const struct worker *worker, const struct batch *batch, const struct item *item)
{
	uint32_t i;

	for (i = 0; i < item->count && !item->named && !item->unwanted; i++)
		naming_fetch(worker->symbols, &batch->located[item->first + i]);
}

int stacks_name(struct worker *worker, struct batch *batch, const struct item *item, const uint32_t **keys, uint32_t *count)
{
	size_t first = item->named ? item->first : batch->key_count, i;

	*count = item->count;
	if (!item->named) {
		for (i = 0; i < item->count; i++) {
			struct located *at = &batch->located[item->first + i];

			if ((at->later && locate_again(worker, batch, item, at) < 0) || add_keys(worker->symbols, batch, at) < 0)
				return -ENOMEM;
		}
		*count = (uint32_t)(batch->key_count - first);
		batch->key_count = first;
	}
	*keys = batch->keys + first;
	return 0;
}
