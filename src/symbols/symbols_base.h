/* SPDX-License-Identifier: MIT */
#ifndef SYMBOLS_SYMBOLS_BASE_H
#define SYMBOLS_SYMBOLS_BASE_H

#include "functions.h"
#include "jit.h"
#include "kallsyms.h"
#include "kcore.h"
#include "module.h"
#include "recorded.h"
#include "space.h"

#include "base/arena.h"
#include "base/map.h"

#include <perfev/symbols.h>

/* Modules that are always there, by number. */
enum {
	MODULE_UNKNOWN,
	MODULE_KERNEL,
	MODULE_HYPERVISOR,
	MODULE_GUEST,
	MODULE_FIXED
};

#define SYMBOLS_KERNEL "[kernel.kallsyms]" /* as recordings call it */

struct recorded_id {
	uint8_t size, id[20];
};

/* A place without a name; key 0: empty. */
struct nameless_slot {
	uint64_t address;
	uint32_t module, key; /* the frame's key + 1 */
};

#define APART _Alignas(64) /* threads write what follows, and others what is before it */

struct perfev_symbols {
	/* what all threads look at */
	struct perfev_symbols_opts opts;
	struct module_places places;
	char *symfs, *kallsyms_path, *vmlinux, *release, *cache, *proc, *kcore_path;
	struct kcore kcore;
	bool kcore_tried;
	struct module *fixed[MODULE_FIXED]; /* the first of the modules, which stay where they are */
	struct locator *locator;	    /* of the caller's thread */
	struct kallsyms kallsyms;
	_Atomic bool kernel_loaded;  /* afterwards kallsyms stays as it is */
	_Atomic bool kernel_loading; /* a thread is at it, which takes a while */
	pthread_mutex_t kernel_lock; /* of whoever loads it */
	struct space_process *kernel;	/* where the kernel and its modules were mapped; NULL: not recorded */
	uint32_t *kernel_keys;		/* for each symbol of kallsyms, key + 1 */
	struct module **kernel_modules; /* for each of its modules, from 1; NULL: not met yet */
	uint64_t kernel_ref;		/* recorded address of _text or _stext; 0: not recorded */
	bool kernel_ref_stext;
	uint64_t kernel_delta; /* recorded minus ours */
	struct functions ksymbols;
	/* what records change */
	APART pthread_mutex_t lock; /* of the modules, names, and what is recorded of files */
	struct interner names;
	struct module **modules;
	size_t module_count, module_room;
	uint32_t *module_slots; /* hash of name and build-id: index + 1 */
	size_t module_slot_count;
	struct recorded_files recorded;
	struct buffer kernel_text; /* kallsyms of the recording */
	uint64_t kernel_start;	   /* where the kernel was mapped; 0: not said */
	struct recorded_id *ids;
	size_t id_count, id_room;
	struct map id_of_name; /* the address of an interned name: the index of its last id */
	struct spaces spaces;
	struct space_process *last; /* looked up last */
	struct jit *jits; /* all of them */
	uint64_t now;	  /* CLOCK_MONOTONIC of the record that was fed last; UINT64_MAX: not known */
	/* what naming changes */
	APART pthread_mutex_t naming_lock; /* while threads make stacks */
	struct interner shown;		   /* names of frames and lines */
	struct perfev_frame *frames;	   /* by key */
	size_t frame_count, frame_room;
	struct nameless_slot *nameless; /* hash of module and address */
	size_t nameless_count, nameless_size;
};

/* The process of that number; NULL without memory. */
static inline struct space_process *symbols_process(struct perfev_symbols *s, int32_t pid)
{
	if (!s->last || s->last->pid != pid)
		s->last = spaces_get(&s->spaces, pid);
	return s->last;
}

/* A process's bytes in their file. */
static inline uint64_t locate_in_file(const struct module *module, const struct mapping *mapping, uint64_t ip)
{
	return module->no_file ? ip : ip - mapping->start + mapping->offset;
}

/* symbols.c: a place, now. Return: 0, -ENOMEM. */
struct located;
int symbols_locate(struct perfev_symbols *s, const struct perfev_place *place, bool inlined, struct located *ret);
/* A name that a record has, once; NULL without memory. */
const char *symbols_name(struct perfev_symbols *s, const char *text);

/* symbols_module.c */
/* The module of that name and build-id, made when it is new; NULL without memory. */
struct module *symbols_module(struct perfev_symbols *s, const char *name, const uint8_t *id, uint8_t id_size);
/* The same of a file in which the kernel found no build-id. */
struct module *symbols_bare_module(struct perfev_symbols *s, const char *name, uint64_t inode);
/* One of the kernel. */
struct module *symbols_kernel_module(struct perfev_symbols *s, const char *name);
/* The build-id of a file, as the recording says it. Return: 0, -ENOMEM. */
int symbols_add_id(struct perfev_symbols *s, const char *name, const uint8_t *id, uint8_t id_size);
/* What it says of a file whose mapping does not; NULL: nothing. With the lock. */
const struct recorded_id *symbols_recorded_id(struct perfev_symbols *s, const char *name);

/* symbols_kernel.c */
/* Says where a module of the kernel came from. */
int symbols_kernel_path(struct perfev_symbols *s, struct module *module, const char *path);
/* The kernel's names, read when they are first asked. Return: 0; -ENOMEM; -EAGAIN: another thread is at it, and not to be waited for. */
int symbols_kernel(struct perfev_symbols *s, bool wait);

#endif
