/* SPDX-License-Identifier: MIT */
/*
 * Address spaces. There is no record for munmap: a new mapping replaces what it overlaps, cutting old
 * ones into up to two rests. A forked child shares its parent's list until one of them maps something,
 * because most children exec at once.
 */
#include "space.h"

#include "base/buffer.h"
#include "base/hash.h"
#include "base/sorted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAPPINGS_MAX 1000000

static size_t bucket(const struct spaces *spaces, int32_t pid)
{
	return (size_t)hash_u64((uint32_t)pid) & (spaces->bucket_count - 1);
}

struct space_process *spaces_find(const struct spaces *spaces, int32_t pid)
{
	struct space_process *p;

	if (!spaces->bucket_count)
		return NULL;
	for (p = spaces->buckets[bucket(spaces, pid)]; p; p = p->next)
		if (p->pid == pid)
			return p;
	return NULL;
}

static int grow(struct spaces *spaces)
{
	size_t old_count = spaces->bucket_count, i;
	struct space_process **old = spaces->buckets, *p, *next;
	size_t count = old_count ? old_count * 4 : 256;

	spaces->buckets = calloc(count, sizeof(*old));
	if (!spaces->buckets) {
		spaces->buckets = old;
		return -ENOMEM;
	}
	spaces->bucket_count = count;
	for (i = 0; i < old_count; i++)
		for (p = old[i]; p; p = next) {
			size_t at = bucket(spaces, p->pid);

			next = p->next;
			p->next = spaces->buckets[at];
			spaces->buckets[at] = p;
		}
	free(old);
	return 0;
}

struct space_process *spaces_get(struct spaces *spaces, int32_t pid)
{
	struct space_process *p = spaces_find(spaces, pid);
	size_t at;

	if (p)
		return p;
	if (spaces->process_count >= spaces->bucket_count && grow(spaces) < 0)
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->pid = pid;
	p->view.generation = ++spaces->generations;
	at = bucket(spaces, pid);
	p->next = spaces->buckets[at];
	spaces->buckets[at] = p;
	spaces->process_count++;
	return p;
}

static void put_mappings(struct mappings **mappings)
{
	struct mappings *m = *mappings;

	*mappings = NULL;
	if (!m || --m->owners)
		return;
	free(m->items);
	free(m);
}

static void free_threads(struct space_process *process)
{
	struct space_thread *t, *next;

	for (t = process->threads; t; t = next) {
		next = t->next;
		free(t);
	}
	process->threads = NULL;
}

void spaces_free(struct spaces *spaces)
{
	struct space_process *p, *next;
	size_t i;

	for (i = 0; i < spaces->bucket_count; i++)
		for (p = spaces->buckets[i]; p; p = next) {
			next = p->next;
			put_mappings(&p->view.mappings);
			put_mappings(&p->view.before);
			free_threads(p);
			free(p);
		}
	free(spaces->buckets);
	memset(spaces, 0, sizeof(*spaces));
}

/* A list that only this process has. */
static struct mappings *own_mappings(struct space_process *process)
{
	struct mappings *m = process->view.mappings, *copy;

	if (m && m->owners == 1)
		return m;
	copy = calloc(1, sizeof(*copy));
	if (!copy)
		return NULL;
	copy->owners = 1;
	if (m && m->count) {
		copy->room = m->count + 16;
		copy->items = malloc(copy->room * sizeof(*copy->items));
		if (!copy->items) {
			free(copy);
			return NULL;
		}
		memcpy(copy->items, m->items, m->count * sizeof(*copy->items));
		copy->count = m->count;
	}
	put_mappings(&process->view.mappings);
	process->view.mappings = copy;
	return copy;
}

/* The first mapping that ends behind @address. */
static size_t first_behind(const struct mappings *m, uint64_t address)
{
	return sorted_before(m->items, m->count, end, address);
}

/* Replaces items [from, to) by @count others. */
static int splice(struct mappings *m, size_t from, size_t to, const struct mapping *items, size_t count)
{
	while (m->room < m->count + count) {
		struct mapping *more = array_grow(m->items, &m->room, m->room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		m->items = more;
	}
	memmove(m->items + from + count, m->items + to, (m->count - to) * sizeof(*items));
	memcpy(m->items + from, items, count * sizeof(*items));
	m->count = m->count - (to - from) + count;
	return 0;
}

int space_map(struct spaces *spaces, struct space_process *process, const struct mapping *mapping)
{
	struct mappings *m = own_mappings(process);
	struct mapping parts[3];
	size_t from, to, count = 0;

	if (!m)
		return -ENOMEM;
	if (mapping->end <= mapping->start || m->count >= MAPPINGS_MAX)
		return 0;
	from = to = first_behind(m, mapping->start);
	if (from < m->count && m->items[from].start < mapping->start) {
		parts[count] = m->items[from];
		parts[count++].end = mapping->start;
	}
	parts[count++] = *mapping;
	while (to < m->count && m->items[to].start < mapping->end)
		to++;
	if (to > from && m->items[to - 1].end > mapping->end) {
		const struct mapping *last = &m->items[to - 1];

		parts[count] = *last;
		parts[count].offset += mapping->end - last->start;
		parts[count++].start = mapping->end;
	}
	process->view.generation = ++spaces->generations;
	return splice(m, from, to, parts, count);
}

int space_fork(struct spaces *spaces, struct space_process *parent, struct space_process *child)
{
	if (parent == child)
		return 0;
	put_mappings(&child->view.mappings);
	space_run(spaces, child);
	free_threads(child);
	child->view.generation = ++spaces->generations;
	child->jit = parent->jit;
	child->program = parent->program;
	child->view.list = parent->view.list;
	if (!parent->view.mappings)
		return 0;
	if (parent->view.mappings->owners == UINT32_MAX)
		return own_mappings(child) ? 0 : -ENOMEM;
	child->view.mappings = parent->view.mappings;
	child->view.mappings->owners++;
	return 0;
}

void space_run(struct spaces *spaces, struct space_process *process)
{
	if (!process->view.before)
		return;
	put_mappings(&process->view.before);
	spaces->execs--;
	process->view.generation = ++spaces->generations;
}

void space_exec(struct spaces *spaces, struct space_process *process)
{
	space_run(spaces, process);
	if (process->view.mappings)
		spaces->execs++;
	process->view.before = process->view.mappings;
	process->jit = process->given;
	process->program = process->view.list = NULL;
	process->view.mappings = NULL;
	process->view.generation = ++spaces->generations;
}

static const struct mapping *find_in(const struct mappings *m, uint64_t ip)
{
	size_t at;

	if (!m || !m->count || ip < m->items[0].start || ip >= m->items[m->count - 1].end)
		return NULL; /* as most of what is no address */
	at = first_behind(m, ip);
	return at < m->count && m->items[at].start <= ip ? &m->items[at] : NULL;
}

const struct mapping *space_search(struct space_view *view, uint64_t ip)
{
	const struct mappings *m = view->mappings;
	const struct mapping *mapping = find_in(m, ip);

	if (mapping)
		view->hint = (size_t)(mapping - m->items);
	return mapping || !view->before ? mapping : find_in(view->before, ip);
}

void space_keep(struct space_view *ret, const struct space_process *process)
{
	*ret = process->view;
	if (ret->mappings)
		ret->mappings->owners++;
	if (ret->before)
		ret->before->owners++;
}

void space_drop(struct space_view *view)
{
	put_mappings(&view->mappings);
	put_mappings(&view->before);
}

int space_set_comm(struct space_process *process, int32_t tid, const char *comm)
{
	struct space_thread *t;

	for (t = process->threads; t; t = t->next)
		if (t->tid == tid) {
			t->comm = comm;
			return 0;
		}
	t = malloc(sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->tid = tid;
	t->comm = comm;
	t->next = process->threads;
	process->threads = t;
	return 0;
}

const char *space_comm(const struct space_process *process, int32_t tid)
{
	const struct space_thread *t;

	for (t = process->threads; t; t = t->next)
		if (t->tid == tid)
			return t->comm;
	return NULL;
}
