/* SPDX-License-Identifier: MIT */
/*
 * Address spaces: which module is mapped where, in which process, now. Replayed from records.
 */
#ifndef SYMBOLS_SPACE_H
#define SYMBOLS_SPACE_H

#include <perfev/common.h>

struct module;

struct mapping {
	uint64_t start, end;
	uint64_t offset; /* in the file, of start */
	struct module *module;
	bool is_data; /* not to be executed */
};

/* A list of mappings, sorted, without overlaps; shared by processes until one changes it. */
struct mappings {
	struct mapping *items;
	size_t count, room;
	uint32_t owners;
};

struct jit;

struct space_thread {
	int32_t tid;
	const char *comm; /* interned */
	struct space_thread *next;
};

/* What is mapped in a process at one time. It can be kept, and looked at by another thread, while the process goes on. */
struct space_view {
	struct mappings *mappings; /* NULL: none */
	struct mappings *before;   /* of the program that ended itself by exec, till the new one runs; or NULL */
	struct module *list;	   /* of functions that were made at run time; NULL: there are none */
	size_t hint;		   /* the mapping that was found last */
	uint32_t generation;	   /* another one after each change of the mappings */
};

struct space_process {
	int32_t pid;
	struct space_view view; /* now */
	struct space_thread *threads;
	struct jit *jit; /* code that it compiled; or NULL */
	struct jit *given; /* the same, as the user says, whatever it maps and runs */
	struct module *program; /* that was mapped first: it stays for as long as the program runs; NULL: none yet */
	struct space_process *next;
};

struct spaces {
	struct space_process **buckets;
	size_t bucket_count, process_count;
	uint32_t generations; /* handed out */
	uint32_t execs;	      /* processes that have mappings from before */
};

/* Stands for the kernel among processes. */
#define SPACE_KERNEL INT32_MIN

/* The process of that number, made when it is new; NULL without memory. */
struct space_process *spaces_get(struct spaces *spaces, int32_t pid);
/* The same, NULL when it is not known. */
struct space_process *spaces_find(const struct spaces *spaces, int32_t pid);
void spaces_free(struct spaces *spaces);

/* A mapping is put in place of what it overlaps. */
int space_map(struct spaces *spaces, struct space_process *process, const struct mapping *mapping);
/* The child has what the parent has now. */
int space_fork(struct spaces *spaces, struct space_process *parent, struct space_process *child);
/* exec: the old mappings are found only where there is no new one, for what is sampled inside of it. */
void space_exec(struct spaces *spaces, struct space_process *process);
/* The new program runs. */
void space_run(struct spaces *spaces, struct space_process *process);
/* What is mapped at @ip; NULL: nothing. search: where it is not the mapping that was found last. */
const struct mapping *space_search(struct space_view *view, uint64_t ip);

static inline const struct mapping *space_find(struct space_view *view, uint64_t ip)
{
	const struct mappings *m = view->mappings;

	if (m && view->hint < m->count &&
	    ip - m->items[view->hint].start < m->items[view->hint].end - m->items[view->hint].start)
		return &m->items[view->hint];
	return space_search(view, ip);
}

/* A view that stays as it is; by the thread that changes spaces, as the next one. */
void space_keep(struct space_view *ret, const struct space_process *process);
void space_drop(struct space_view *view);

int space_set_comm(struct space_process *process, int32_t tid, const char *comm);
const char *space_comm(const struct space_process *process, int32_t tid);

#endif
