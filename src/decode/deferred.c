/* SPDX-License-Identifier: MIT */
/*
 * Deferred call chains: samples wait for the user part that a later record brings.
 *
 * A sample that waits is in three lists: by age, of its thread, and by (thread, cookie), which is how it is found.
 * A thread keeps the user part that came last, because a sample may come behind the record that completes it: one that
 * was taken while the stack was unwound, or from another ring. A user part is shared by all samples that got it, so
 * that a hostile recording cannot multiply it: chains are put together one at a time, in the one buffer of _next().
 *
 * Invariant: bytes is what samples, ready ones too, threads and user parts hold, and is not over max_bytes when a
 * feed has ended: at most one sample and one user part are more than what make_room() left.
 *
 * The kernel promises: the mark and the cookie are the last two words of a chain, a cookie is never 0, and a thread
 * that returns to its code writes one record for each cookie, unless it ends first.
 */
#include <perfev/deferred.h>
#include <perfev/meaning.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/load.h"
#include "base/opts.h"

#include <errno.h>
#include <stdlib.h>

#define DEFAULT_BYTES (UINT64_C(64) << 20)
#define LEAST_BYTES   (UINT64_C(256) << 10) /* a sample and a user part of the largest size, and some */
#define BUCKETS	      4096
#define RECORD_MAX    65528

/* A place in a circular list, or its head. */
struct link {
	struct link *next, *prev;
};

#define OF(type, member, at) ((struct type *)(void *)((char *)(at)-offsetof(struct type, member)))

/* The user part of a chain: words in this host's order. */
struct user {
	uint64_t cookie;
	uint32_t count, holders;
	uint64_t ips[];
};

struct thread {
	struct link bucket;
	struct link age; /* of threads that hold a user part, oldest first */
	struct link samples;
	struct user *user; /* the last, or NULL */
	uint32_t tid;
	bool user_matched;
};

struct waiting {
	struct link age; /* of those that wait, or of those that are ready */
	struct link key;
	struct link of_thread;
	const struct perfev_layout *layout;
	struct user *user; /* of one that is ready; NULL: it goes alone */
	uint64_t cookie, offset;
	uint32_t tid, size, source;
	uint32_t chain_at, chain_count; /* in data: of the word with the number, and what it says */
	uint16_t flags;
	unsigned char data[];
};

struct perfev_deferred {
	struct link keys[BUCKETS], threads[BUCKETS];
	struct link waiting, ready; /* of struct waiting */
	struct link users;	    /* of threads that hold one */
	struct perfev_deferred_info counts;
	uint64_t bytes, max_bytes;
	unsigned char *out; /* RECORD_MAX: the sample that was given out last */
};

/* ---- lists -------------------------------------------------------------------------------------------- */

static void list_init(struct link *head)
{
	head->next = head->prev = head;
}

static bool list_is_empty(const struct link *head)
{
	return head->next == head;
}

static void list_add(struct link *head, struct link *link)
{
	link->prev = head->prev;
	link->next = head;
	head->prev->next = link;
	head->prev = link;
}

static void list_remove(struct link *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
	list_init(link);
}

/* ---- what is held ---------------------------------------------------------------------------------------- */

static size_t user_bytes(const struct user *user)
{
	return sizeof(*user) + 8 * (size_t)user->count;
}

static void user_put(struct perfev_deferred *d, struct user *user)
{
	if (!user || --user->holders)
		return;
	d->bytes -= user_bytes(user);
	free(user);
}

static struct link *thread_bucket(struct perfev_deferred *d, uint32_t tid)
{
	return &d->threads[hash_u64(tid) % BUCKETS];
}

static struct link *key_bucket(struct perfev_deferred *d, uint32_t tid, uint64_t cookie)
{
	return &d->keys[hash_pair(tid, cookie) % BUCKETS];
}

static struct thread *thread_find(struct perfev_deferred *d, uint32_t tid)
{
	struct link *head = thread_bucket(d, tid), *at;

	for (at = head->next; at != head; at = at->next)
		if (OF(thread, bucket, at)->tid == tid)
			return OF(thread, bucket, at);
	return NULL;
}

static struct thread *thread_get(struct perfev_deferred *d, uint32_t tid)
{
	struct thread *thread = thread_find(d, tid);

	if (thread)
		return thread;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->tid = tid;
	list_init(&thread->age);
	list_init(&thread->samples);
	list_add(thread_bucket(d, tid), &thread->bucket);
	d->bytes += sizeof(*thread);
	return thread;
}

/* A thread lives as long as it holds something. */
static void thread_check(struct perfev_deferred *d, struct thread *thread)
{
	if (thread->user || !list_is_empty(&thread->samples))
		return;
	list_remove(&thread->bucket);
	d->bytes -= sizeof(*thread);
	free(thread);
}

/* The user part that the thread kept goes; one that nobody wanted is told. */
static void drop_user(struct perfev_deferred *d, struct thread *thread)
{
	if (!thread->user)
		return;
	d->counts.unmatched += !thread->user_matched;
	list_remove(&thread->age);
	user_put(d, thread->user);
	thread->user = NULL;
}

/* A sample no longer waits: with @user, or alone. */
static void make_ready(struct perfev_deferred *d, struct waiting *sample, struct user *user)
{
	list_remove(&sample->age);
	list_remove(&sample->key);
	list_remove(&sample->of_thread);
	list_add(&d->ready, &sample->age);
	sample->user = user;
	if (user)
		user->holders++;
	d->counts.waiting--;
}

/* ---- the object ---------------------------------------------------------------------------------------------- */

int perfev_deferred_new(struct perfev_deferred **ret, const struct perfev_deferred_opts *opts, struct perfev_error *err)
{
	struct perfev_deferred_opts full;
	struct perfev_deferred *d;
	int r = opts_copy(&full, sizeof(full), opts, err);
	size_t i;

	if (r < 0)
		return r;
	d = calloc(1, sizeof(*d));
	if (d)
		d->out = malloc(RECORD_MAX);
	if (!d || !d->out) {
		free(d);
		return error_memory(err);
	}
	for (i = 0; i < BUCKETS; i++) {
		list_init(&d->keys[i]);
		list_init(&d->threads[i]);
	}
	list_init(&d->waiting);
	list_init(&d->ready);
	list_init(&d->users);
	d->max_bytes = full.max_bytes ? full.max_bytes : DEFAULT_BYTES;
	if (d->max_bytes < LEAST_BYTES)
		d->max_bytes = LEAST_BYTES;
	*ret = d;
	return 0;
}

static void free_ready(struct perfev_deferred *d)
{
	while (!list_is_empty(&d->ready)) {
		struct waiting *sample = OF(waiting, age, d->ready.next);

		list_remove(&sample->age);
		user_put(d, sample->user);
		free(sample);
	}
}

void perfev_deferred_free(struct perfev_deferred *deferred)
{
	if (!deferred)
		return;
	perfev_deferred_end(deferred);
	free_ready(deferred);
	free(deferred->out);
	free(deferred);
}

void perfev_deferred_describe(const struct perfev_deferred *deferred, struct perfev_deferred_info *ret)
{
	*ret = deferred->counts;
}

/* ---- bounds ----------------------------------------------------------------------------------------------------- */

static void release_oldest(struct perfev_deferred *d)
{
	struct waiting *sample = OF(waiting, age, d->waiting.next);
	struct thread *thread = thread_find(d, sample->tid);

	make_ready(d, sample, NULL);
	thread_check(d, thread);
}

/* Room for @size bytes: user parts that wait for nobody go before samples do. What is ready stays, but since it has to
 * be taken out before the next feed it is gone by then. */
static void make_room(struct perfev_deferred *d, uint64_t size)
{
	uint64_t freed = 0;

	while (d->bytes + size > d->max_bytes && !list_is_empty(&d->users)) {
		struct thread *thread = OF(thread, age, d->users.next);

		drop_user(d, thread);
		thread_check(d, thread);
	}
	while (!list_is_empty(&d->waiting) &&
	       (d->bytes + size > d->max_bytes + freed || d->counts.waiting >= PERFEV_DEFERRED_SAMPLES_MAX)) {
		freed += sizeof(struct waiting) + OF(waiting, age, d->waiting.next)->size;
		release_oldest(d);
	}
}

/* ---- feeding -------------------------------------------------------------------------------------------------------- */

static struct waiting *copy_sample(const struct perfev_record *record, const struct perfev_layout *layout,
				   const struct perfev_sample *decoded, uint32_t tid, uint64_t cookie)
{
	struct waiting *sample = malloc(sizeof(*sample) + record->size);
	const unsigned char *chain = decoded->callchain.data;

	if (!sample)
		return NULL;
	sample->layout = layout;
	sample->user = NULL;
	sample->cookie = cookie;
	sample->offset = record->offset;
	sample->tid = tid;
	sample->size = record->size;
	sample->source = record->source;
	sample->chain_at = (uint32_t)(chain - (const unsigned char *)record->data) - 8;
	sample->chain_count = decoded->callchain.count;
	sample->flags = record->flags & PERFEV_RECORD_SWAPPED;
	memcpy(sample->data, record->data, record->size);
	return sample;
}

static int take_sample(struct perfev_deferred *d, const struct perfev_record *record, const struct perfev_layout *layout,
		       struct perfev_error *err)
{
	struct perfev_sample decoded;
	struct perfev_callchain chain;
	struct waiting *sample;
	struct thread *thread;
	uint32_t tid;
	int r = perfev_sample_decode(&decoded, record, layout, err);

	if (r < 0)
		return r;
	perfev_callchain_begin(&chain, decoded.callchain, decoded.misc);
	if (!chain.cookie)
		return 1;
	tid = decoded.present & PERF_SAMPLE_TID ? decoded.tid : 0;
	make_room(d, sizeof(*sample) + sizeof(*thread) + record->size);
	sample = copy_sample(record, layout, &decoded, tid, chain.cookie);
	thread = sample ? thread_get(d, tid) : NULL;
	if (!thread) {
		free(sample);
		return error_memory(err);
	}
	d->bytes += sizeof(*sample) + sample->size;
	d->counts.waiting++;
	list_add(&d->waiting, &sample->age);
	list_add(key_bucket(d, tid, chain.cookie), &sample->key);
	list_add(&thread->samples, &sample->of_thread);
	if (thread->user && thread->user->cookie == chain.cookie) {
		make_ready(d, sample, thread->user);
		thread->user_matched = true;
	}
	return 0;
}

/* The samples that this user part completes. */
static bool match(struct perfev_deferred *d, uint32_t tid, struct user *user)
{
	struct link *head = key_bucket(d, tid, user->cookie), *at, *next;
	bool any = false;

	for (at = head->next; at != head; at = next) {
		struct waiting *sample = OF(waiting, key, at);

		next = at->next;
		if (sample->tid != tid || sample->cookie != user->cookie)
			continue;
		make_ready(d, sample, user);
		any = true;
	}
	return any;
}

static int take_user(struct perfev_deferred *d, const struct perfev_record *record, const struct perfev_layout *layout,
		     struct perfev_error *err)
{
	struct perfev_any any;
	const struct perfev_callchain_deferred *part = &any.as.callchain_deferred;
	struct thread *thread;
	struct user *user;
	uint32_t tid, i;
	int r = perfev_any_decode(&any, record, layout, err);

	if (r < 0)
		return r;
	tid = part->trailer.present & PERF_SAMPLE_TID ? part->trailer.tid : 0;
	make_room(d, sizeof(*user) + sizeof(*thread) + 8 * (uint64_t)part->ips.count);
	user = malloc(sizeof(*user) + 8 * (size_t)part->ips.count);
	thread = user ? thread_get(d, tid) : NULL;
	if (!thread) {
		free(user);
		return error_memory(err);
	}
	user->cookie = part->cookie;
	user->count = part->ips.count;
	user->holders = 1;
	for (i = 0; i < user->count; i++)
		user->ips[i] = perfev_u64s_at(part->ips, i);
	d->bytes += user_bytes(user);
	drop_user(d, thread);
	thread->user = user;
	thread->user_matched = match(d, tid, user);
	list_add(&d->users, &thread->age);
	return 0;
}

/* The thread's stack is no more. */
static void forget_thread(struct perfev_deferred *d, uint32_t tid)
{
	struct thread *thread = thread_find(d, tid);

	if (!thread)
		return;
	while (!list_is_empty(&thread->samples))
		make_ready(d, OF(waiting, of_thread, thread->samples.next), NULL);
	drop_user(d, thread);
	thread_check(d, thread);
}

/* EXIT, and COMM of an exec: both begin with pid and tid, EXIT has the parent's between. */
static void look_for_end(struct perfev_deferred *d, const struct perfev_record *record)
{
	bool is_exec = record->type == PERF_RECORD_COMM && (record->misc & PERF_RECORD_MISC_COMM_EXEC);
	uint32_t at = record->type == PERF_RECORD_EXIT ? 16 : 12;

	if ((record->type != PERF_RECORD_EXIT && !is_exec) || record->size < at + 4)
		return;
	forget_thread(d, load_u32((const unsigned char *)record->data + at, record->flags & PERFEV_RECORD_SWAPPED));
}

int perfev_deferred_feed(struct perfev_deferred *deferred, const struct perfev_record *record,
			 const struct perfev_layout *layout, struct perfev_error *err)
{
	if (!layout)
		return 1;
	if (!list_is_empty(&deferred->ready))
		return error_set(err, -EBUSY, PERFEV_WHY_ARGUMENT, record->offset,
				 "cannot take a record: samples are ready; take them out with perfev_deferred_next() "
				 "first");
	if (record->type == PERF_RECORD_SAMPLE) {
		const struct perf_event_attr *attr = perfev_layout_attr(layout);
		bool may_wait = attr->defer_callchain && (attr->sample_type & PERF_SAMPLE_CALLCHAIN);

		return may_wait ? take_sample(deferred, record, layout, err) : 1;
	}
	if (record->type == PERF_RECORD_CALLCHAIN_DEFERRED)
		return take_user(deferred, record, layout, err);
	look_for_end(deferred, record);
	return 1;
}

void perfev_deferred_end(struct perfev_deferred *deferred)
{
	while (!list_is_empty(&deferred->waiting))
		release_oldest(deferred);
	while (!list_is_empty(&deferred->users)) {
		struct thread *thread = OF(thread, age, deferred->users.next);

		drop_user(deferred, thread);
		thread_check(deferred, thread);
	}
}

/* ---- joining ------------------------------------------------------------------------------------------------------ */

static void put_word(unsigned char *to, uint64_t value, bool swap)
{
	store_u64(to, swap ? swap_u64(value) : value);
}

/* The record with another chain: what is before the mark, PERF_CONTEXT_USER and the user part, and what follows. */
static uint32_t join(struct perfev_deferred *d, const struct waiting *sample)
{
	const bool swap = sample->flags & PERFEV_RECORD_SWAPPED;
	const uint32_t kept = sample->chain_count - 2, rest_at = sample->chain_at + 8 + 8 * sample->chain_count;
	const uint32_t rest = sample->size - rest_at, used = sample->chain_at + 8 + 8 * kept;
	uint32_t room = (RECORD_MAX - used - rest) / 8, count = sample->user ? sample->user->count : 0, i, size;
	unsigned char *out = d->out;

	if (count > room - 1) {
		count = room - 1;
		d->counts.cut++;
	}
	memcpy(out, sample->data, used);
	put_word(out + sample->chain_at, kept + (count ? count + 1 : 0), swap);
	if (count)
		put_word(out + used, PERF_CONTEXT_USER, swap);
	for (i = 0; i < count; i++)
		put_word(out + used + 8 + 8 * i, sample->user->ips[i], swap);
	size = used + (count ? 8 + 8 * count : 0);
	memcpy(out + size, sample->data + rest_at, rest);
	size += rest;
	store_u16(out + 6, swap ? swap_u16((uint16_t)size) : (uint16_t)size);
	return size;
}

int perfev_deferred_next(struct perfev_deferred *deferred, struct perfev_record *ret, const struct perfev_layout **layout)
{
	struct waiting *sample;

	if (list_is_empty(&deferred->ready))
		return 0;
	sample = OF(waiting, age, deferred->ready.next);
	memset(ret, 0, sizeof(*ret));
	ret->size = join(deferred, sample);
	ret->data = deferred->out;
	ret->offset = sample->offset;
	ret->source = sample->source;
	ret->flags = sample->flags;
	ret->type = PERF_RECORD_SAMPLE;
	ret->misc = load_u16(deferred->out + 4, sample->flags & PERFEV_RECORD_SWAPPED);
	*layout = sample->layout;
	if (sample->user)
		deferred->counts.joined++;
	else
		deferred->counts.alone++;
	list_remove(&sample->age);
	user_put(deferred, sample->user);
	deferred->bytes -= sizeof(*sample) + sample->size;
	free(sample);
	return 1;
}
