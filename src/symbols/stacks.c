/* SPDX-License-Identifier: MIT */
/*
 * Samples are gathered to batches, which go through three stages: filled by the caller, located by any thread, taken in order
 * by one thread at a time. They have numbers: those from taken on to located are worked on or wait to be taken, those from there
 * to filled wait to be located. Whoever has nothing to do takes what is next; also the caller, when enough batches are full.
 *
 * What the caller does meanwhile changes nothing that the other stages look at: a batch keeps the mappings of its samples, and
 * records that change more than those of one process wait until all batches are taken.
 */
#include "stacks_base.h"

#include "base/error.h"
#include "base/opts.h"

#include <perfev/reader.h>

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#define JOBS_MAX      256
#define BATCHES_AHEAD 12 /* beside one that each thread works on, and one more: while a file is read there is other work */
#define BATCHES_MORE  64 /* and while the kernel's symbols are read, which takes longer: 32,768 samples, 32 MiB of records */

#define NAMES_AHEAD   8	 /* samples whose names are fetched before they are needed: long enough, and not too long */

struct perfev_stacks {
	struct perfev_stacks_opts opts;
	struct perfev_symbols *symbols;
	struct worker *workers; /* the first one is the caller */
	uint32_t jobs, started;
	struct batch **batches, *filling;
	struct batch **ring; /* those that were filled, by number */
	size_t batch_count, batch_max, ahead; /* there are, there may be, and how many are used mostly */
	/* with the lock: */
	struct batch **unused; /* the one used last is the last: it still is near to the processor */
	size_t unused_count;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t filled, located, taken; /* batches that each stage has begun to hand on, or taken for itself */
	bool taking, ending;
	int code; /* why no more are taken */
	struct perfev_error err;
};

static struct batch *batch_at(const struct perfev_stacks *s, uint64_t number)
{
	return s->ring[number % s->batch_max];
}

/* ---- making and freeing ------------------------------------------------------------------------------------------ */

static uint32_t usable_cpus(void)
{
#ifdef __linux__
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		return (uint32_t)CPU_COUNT(&set);
#endif
	return (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
}

static int make_worker(struct perfev_stacks *s, struct worker *worker, struct perfev_error *err)
{
	struct perfev_unwinder_opts opts = {sizeof(opts), s->opts.arch, s->opts.max_frames};
	int r = perfev_unwinder_new(&worker->unwinder, s->symbols, &opts, err);

	if (r < 0)
		return r;
	worker->stacks = s;
	worker->symbols = s->symbols;
	worker->opts = &s->opts;
	worker->locator = locator_new(s->symbols);
	return worker->locator ? 0 : error_memory(err);
}

/* One that is not used, made when there is none and may be one more; NULL: there is none. */
static struct batch *take_unused(struct perfev_stacks *s)
{
	struct batch *batch;

	if (s->unused_count)
		return s->unused[--s->unused_count];
	batch = s->batch_count < s->batch_max ? calloc(1, sizeof(*batch)) : NULL;
	if (batch)
		s->batches[s->batch_count++] = batch;
	return batch;
}

static int make_all(struct perfev_stacks *s, struct perfev_error *err)
{
	s->ahead = s->jobs > 1 ? 2 * (size_t)s->jobs + BATCHES_AHEAD : 1;
	s->batch_max = s->jobs > 1 ? s->ahead + BATCHES_MORE : 1;
	s->batches = calloc(s->batch_max, sizeof(struct batch *));
	s->ring = calloc(s->batch_max, sizeof(*s->ring));
	s->unused = calloc(s->batch_max, sizeof(*s->unused));
	s->workers = calloc(s->jobs, sizeof(*s->workers));
	s->filling = s->batches && s->unused ? take_unused(s) : NULL;
	if (!s->filling || !s->ring || !s->workers)
		return error_memory(err);
	return make_worker(s, &s->workers[0], err);
}

int perfev_stacks_new(struct perfev_stacks **ret, struct perfev_symbols *symbols, const struct perfev_stacks_opts *opts,
		      struct perfev_error *err)
{
	struct perfev_stacks_opts full;
	struct perfev_stacks *s;
	int r = opts_copy(&full, sizeof(full), opts, err);

	if (r < 0)
		return r;
	if (!full.take || (full.jobs > JOBS_MAX && full.jobs != PERFEV_JOBS_ALL))
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE, "cannot make stacks: %s",
				 full.take ? "there can be 256 jobs at most" : "nothing takes them");
	s = calloc(1, sizeof(*s));
	if (!s)
		return error_memory(err);
	s->opts = full;
	s->symbols = symbols;
	s->jobs = full.jobs == PERFEV_JOBS_ALL ? usable_cpus() : full.jobs;
	if (s->jobs < 1)
		s->jobs = 1;
	if (s->jobs > JOBS_MAX)
		s->jobs = JOBS_MAX;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	r = make_all(s, err);
	if (r < 0) {
		perfev_stacks_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

static void empty(struct batch *batch)
{
	while (batch->view_count)
		space_drop(&batch->views[--batch->view_count]);
	arena_free(&batch->copies);
	batch->count = batch->bytes = 0;
	batch->located_count = batch->key_count = 0;
	batch->code = 0;
}

static void end_threads(struct perfev_stacks *s)
{
	uint32_t i;

	pthread_mutex_lock(&s->lock);
	s->ending = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	for (i = 1; i <= s->started; i++)
		pthread_join(s->workers[i].thread, NULL);
}

void perfev_stacks_free(struct perfev_stacks *stacks)
{
	size_t i;

	if (!stacks)
		return;
	end_threads(stacks);
	for (i = 0; i < stacks->batch_count; i++) {
		empty(stacks->batches[i]);
		free(stacks->batches[i]->located);
		free(stacks->batches[i]->keys);
		free(stacks->batches[i]);
	}
	for (i = 0; stacks->workers && i < stacks->jobs; i++) {
		locator_free(stacks->workers[i].locator);
		perfev_unwinder_free(stacks->workers[i].unwinder);
	}
	free(stacks->batches);
	free(stacks->ring);
	free(stacks->unused);
	free(stacks->workers);
	pthread_cond_destroy(&stacks->changed);
	pthread_mutex_destroy(&stacks->lock);
	free(stacks);
}

/* ---- stages ------------------------------------------------------------------------------------------------------ */

static void locate_batch(struct worker *worker, struct batch *batch)
{
	size_t i;

	for (i = 0; i < batch->count; i++) {
		struct item *item = &batch->items[i];

		if (item->named)
			continue;
		batch->code = stacks_locate(worker, batch, item, &batch->views[item->view], &batch->err);
		if (batch->code < 0)
			batch->count = i; /* those before it are whole */
	}
}

static int take_item(struct worker *worker, struct batch *batch, const struct item *item, struct perfev_error *err)
{
	const struct perfev_stacks_opts *opts = worker->opts;
	struct perfev_stack stack = {&item->sample, item->layout, item->cookie, item->comm, NULL, 0, item->end};

	if (item->unwanted)
		return 0;
	if (stacks_name(worker, batch, item, &stack.keys, &stack.count) < 0)
		return error_memory(err);
	return opts->take(opts->context, &stack, err);
}

static int take_batch(struct worker *worker, struct batch *batch, struct perfev_error *err)
{
	struct perfev_symbols *symbols = worker->symbols;
	size_t i;
	int r = 0;

	pthread_mutex_lock(&symbols->naming_lock);
	for (i = 0; r == 0 && i < batch->count; i++) {
		if (i + NAMES_AHEAD < batch->count)
			stacks_name_soon(worker, batch, &batch->items[i + NAMES_AHEAD]);
		r = take_item(worker, batch, &batch->items[i], err);
	}
	pthread_mutex_unlock(&symbols->naming_lock);
	if (r == 0 && batch->code < 0) {
		*err = batch->err;
		r = batch->code;
	}
	return r;
}

/* With the lock, which is given up meanwhile. */
static void take_next(struct perfev_stacks *s, struct worker *worker)
{
	struct batch *batch = batch_at(s, s->taken);
	struct perfev_error err;
	int r = 0;

	s->taking = true;
	if (!s->code) {
		pthread_mutex_unlock(&s->lock);
		r = take_batch(worker, batch, &err);
		pthread_mutex_lock(&s->lock);
	}
	if (r < 0) {
		s->code = r;
		s->err = err;
	}
	batch->state = BATCH_EMPTY;
	s->unused[s->unused_count++] = batch;
	s->taking = false;
	s->taken++;
	pthread_cond_broadcast(&s->changed);
}

static void locate_next(struct perfev_stacks *s, struct worker *worker)
{
	struct batch *batch = batch_at(s, s->located++);

	if (!s->code) {
		pthread_mutex_unlock(&s->lock);
		locate_batch(worker, batch);
		pthread_mutex_lock(&s->lock);
	}
	batch->state = BATCH_LOCATED;
	pthread_cond_broadcast(&s->changed);
}

/* With the lock. Return: whether there was something to do. */
static bool work(struct perfev_stacks *s, struct worker *worker)
{
	if (!s->taking && s->taken < s->located && batch_at(s, s->taken)->state == BATCH_LOCATED) {
		take_next(s, worker);
		return true;
	}
	if (s->located < s->filled) {
		locate_next(s, worker);
		return true;
	}
	return false;
}

static void *run(void *worker_)
{
	struct worker *worker = worker_;
	struct perfev_stacks *s = worker->stacks;

	pthread_mutex_lock(&s->lock);
	while (!s->ending)
		if (!work(s, worker))
			pthread_cond_wait(&s->changed, &s->lock);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* A thread that cannot be started is done without. */
static void start_threads(struct perfev_stacks *s)
{
	struct worker *worker;

	while (s->started + 1 < s->jobs) {
		worker = &s->workers[s->started + 1];
		if (make_worker(s, worker, NULL) < 0 || pthread_create(&worker->thread, NULL, run, worker) != 0) {
			s->jobs = s->started + 1;
			locator_free(worker->locator);
			perfev_unwinder_free(worker->unwinder);
			return;
		}
		s->started++;
	}
}

/* Whether more batches may wait than mostly: others would have nothing to do until the kernel's symbols are there. */
static bool may_wait(const struct perfev_stacks *s)
{
	return s->symbols->kernel_loading && (s->unused_count || s->batch_count < s->batch_max);
}

/* With the lock: until no more than @waiting batches are not taken yet. */
static void work_off(struct perfev_stacks *s, uint64_t waiting)
{
	while (s->filled - s->taken > waiting && !(waiting && may_wait(s)))
		if (!work(s, &s->workers[0]))
			pthread_cond_wait(&s->changed, &s->lock);
}

static int result(struct perfev_stacks *s, struct perfev_error *err)
{
	if (s->code && err)
		*err = s->err;
	return s->code;
}

/* The batch that is being filled goes on its way; there will be another one to fill. */
static int submit(struct perfev_stacks *s, uint64_t waiting, struct perfev_error *err)
{
	struct batch *batch = s->filling;
	int r;

	if (batch->count && s->filled && s->jobs > 1 && !s->started)
		start_threads(s);
	pthread_mutex_lock(&s->lock);
	if (batch->count) {
		batch->state = BATCH_FULL;
		s->ring[s->filled++ % s->batch_max] = batch;
		s->filling = NULL;
		pthread_cond_broadcast(&s->changed);
	}
	work_off(s, waiting);
	if (!s->filling)
		s->filling = take_unused(s);
	if (!s->filling) { /* there is no memory for one more */
		work_off(s, 0);
		s->filling = take_unused(s);
	}
	r = result(s, err);
	pthread_mutex_unlock(&s->lock);
	empty(s->filling);
	return r;
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

static int keep_bytes(struct batch *batch, struct perfev_record *record)
{
	void *copy;

	if (record->flags & PERFEV_RECORD_STABLE)
		return 0;
	copy = arena_take(&batch->copies, record->size);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, record->data, record->size);
	record->data = copy;
	return 0;
}

/* What is mapped in the process now, once for all samples that see the same. */
static uint32_t keep_view(struct batch *batch, const struct space_process *process)
{
	size_t n = batch->view_count;

	if (!n || batch->pid != process->pid || batch->views[n - 1].generation != process->view.generation) {
		space_keep(&batch->views[batch->view_count++], process);
		batch->pid = process->pid;
	}
	return (uint32_t)batch->view_count - 1;
}

static int add_item(struct perfev_stacks *s, const struct perfev_record *record, const struct perfev_layout *layout,
		    uint64_t cookie, struct perfev_error *err)
{
	struct batch *batch = s->filling;
	struct item *item = &batch->items[batch->count];
	struct space_process *process;
	struct perfev_id id;

	id.present = 0;
	if (perfev_id_decode(&id, record, layout, NULL) < 0 || !(id.present & PERF_SAMPLE_TID))
		id.pid = id.tid = 0;
	process = symbols_process(s->symbols, (int32_t)id.pid);
	if (!process)
		return error_memory(err);
	item->named = item->unwanted = false;
	item->record = *record;
	item->layout = layout;
	item->cookie = cookie;
	item->comm = id.present & PERF_SAMPLE_TID
			     ? perfev_symbols_comm(s->symbols, (int32_t)id.pid, (int32_t)id.tid) : "";
	if (keep_bytes(batch, &item->record) < 0)
		return error_memory(err);
	if (process->jit) {
		int r = stacks_locate(&s->workers[0], batch, item, NULL, err);

		if (r < 0)
			return r;
	} else {
		item->view = keep_view(batch, process);
	}
	batch->bytes += record->size;
	batch->count++;
	return 0;
}

/* Whether a record changes what all processes share. */
static bool changes_all(const struct perfev_record *record)
{
	switch (record->type) {
	case PERF_RECORD_KSYMBOL:
	case PERFEV_RECORD_HEADER_BUILD_ID:
		return true;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_USER;
	default:
		return false;
	}
}

static int push_sample(struct perfev_stacks *s, const struct perfev_record *record, const struct perfev_layout *layout,
		       uint64_t cookie, struct perfev_error *err)
{
	struct batch *batch = s->filling;
	struct perfev_error other;
	int r;

	if (!layout)
		return 0;
	r = perfev_symbols_feed(s->symbols, record, layout, err);
	if (r == 0)
		r = add_item(s, record, layout, cookie, err);
	if (r < 0) { /* what was before it comes first */
		int before = perfev_stacks_wait(s, &other);

		if (before < 0 && err)
			*err = other;
		return before < 0 ? before : r;
	}
	if (batch->count < BATCH_ITEMS && batch->bytes < BATCH_BYTES)
		return 0;
	return submit(s, s->ahead - 1, err);
}

int perfev_stacks_push(struct perfev_stacks *stacks, const struct perfev_record *record, const struct perfev_layout *layout,
		       uint64_t cookie, struct perfev_error *err)
{
	int r = 0;

	if (record->type == PERF_RECORD_SAMPLE)
		return push_sample(stacks, record, layout, cookie, err);
	if (changes_all(record))
		r = perfev_stacks_wait(stacks, err);
	return r < 0 ? r : perfev_symbols_feed(stacks->symbols, record, layout, err);
}

int perfev_stacks_wait(struct perfev_stacks *stacks, struct perfev_error *err)
{
	return submit(stacks, 0, err);
}

void perfev_stacks_describe(const struct perfev_stacks *stacks, struct perfev_unwinder_info *ret)
{
	struct perfev_unwinder_info one;
	uint32_t i, k;

	memset(ret, 0, sizeof(*ret));
	for (i = 0; i <= stacks->started; i++) {
		perfev_unwinder_describe(stacks->workers[i].unwinder, &one);
		ret->stacks += one.stacks;
		ret->frames += one.frames;
		ret->guessed += one.guessed;
		for (k = 0; k < PERFEV_UNWOUND_COUNT_; k++)
			ret->ends[k] += one.ends[k];
		ret->rows = one.rows;
		ret->rules = one.rules;
		ret->bytes = one.bytes;
	}
}
