/* SPDX-License-Identifier: MIT */
/*
 * perfev/profile.h - profiles: where the samples are
 *
 * Stacks of frames that the caller has named are merged into a call tree for each event, and a table
 * of functions by self and by total. No files, no kernel: works with frames from anywhere.
 */
#ifndef PERFEV_PROFILE_H
#define PERFEV_PROFILE_H

#include <perfev/common.h>

PERFEV_BEGIN

enum perfev_frame_kind {
	PERFEV_KIND_USER = 0,
	PERFEV_KIND_KERNEL,
	PERFEV_KIND_COMM, /* the name of a thread: the first frame below the root */
	PERFEV_KIND_INLINED
};

/* A frame as the profile knows it: two are the same when all members are. */
struct perfev_profile_frame {
	const char *symbol; /* NULL: no name; then the tree joins all such places of a module */
	const char *module; /* "" for a comm */
	uint64_t address;   /* tells symbols of one name apart; of a nameless place, itself */
	uint32_t kind;	    /* enum perfev_frame_kind */
	uint32_t reserved;
};

struct perfev_profile;

PERFEV_API int perfev_profile_new(struct perfev_profile **ret, struct perfev_error *err);
PERFEV_API void perfev_profile_free(struct perfev_profile *profile);

/*
 * perfev_profile_set_flat() - samples that are added from now on count for their functions, and make no call trees
 * For those who only want perfev_profile_functions() and perfev_profile_top(): it is less work, and memory.
 * Since: 0.1
 */
PERFEV_API void perfev_profile_set_flat(struct perfev_profile *profile);

/* perfev_profile_event() - add an event; returns its index, or a negative errno */
PERFEV_API int perfev_profile_event(struct perfev_profile *profile, const char *name,
				    struct perfev_error *err);

/* perfev_profile_intern() - the number of a frame, which is copied when it is new
 * Return: 0, or -ENOMEM. */
PERFEV_API int perfev_profile_intern(struct perfev_profile *profile, uint32_t *ret,
				    const struct perfev_profile_frame *frame,
				    struct perfev_error *err);

/* One sample. */
struct perfev_profile_stack {
	const uint32_t *frames; /* innermost first; numbers from perfev_profile_intern() */
	size_t count;
	uint64_t weight; /* its period: how many events it stands for */
	uint32_t event;
	uint32_t comm; /* a frame of kind COMM, or UINT32_MAX */
};

/*
 * perfev_profile_add() - add a sample
 * Return: 0; -EINVAL for numbers that were not given out; -ENOMEM.
 * Since: 0.1
 */
PERFEV_API int perfev_profile_add(struct perfev_profile *profile,
				  const struct perfev_profile_stack *stack,
				  struct perfev_error *err);

/*
 * perfev_profile_add_all() - add samples, in this order: the same as one by one, with less waiting for memory
 * Return: 0; -EINVAL as above, and none is added; -ENOMEM.
 * Since: 0.1
 */
PERFEV_API int perfev_profile_add_all(struct perfev_profile *profile, const struct perfev_profile_stack *stacks, size_t count,
				      struct perfev_error *err);

/* Sums of one event. */
struct perfev_profile_event_info {
	const char *name;
	uint64_t samples;
	uint64_t weight;
	uint32_t root; /* node of the tree */
	uint32_t reserved;
};

/* perfev_profile_event_at() - the event at @index; false when there is none */
PERFEV_API size_t perfev_profile_event_count(const struct perfev_profile *profile);
PERFEV_API bool perfev_profile_event_at(const struct perfev_profile *profile, size_t index,
					struct perfev_profile_event_info *ret);

/* A function: self counts samples whose innermost frame it is, total those whose stack has it. */
struct perfev_function {
	const char *symbol; /* of a nameless place: "0x" and its address, 16 digits */
	const char *module;
	uint64_t self, total;		    /* samples */
	uint64_t self_weight, total_weight; /* events */
	uint32_t frame;
	uint32_t kind;
};

/*
 * perfev_profile_functions() - all functions of an event, or of all events together
 * Sorted by self, then total, both falling, then by name.
 * @event: an index, or -1 for all.
 * @ret: an array of *count, to be freed with free(); strings live as long as the profile, those of nameless places
 *	as long as the array.
 * Return: 0; -EINVAL; -ENOMEM.
 */
PERFEV_API int perfev_profile_functions(const struct perfev_profile *profile, int event,
					struct perfev_function **ret, size_t *count,
					struct perfev_error *err);

/*
 * perfev_profile_top() - the same, only the @limit first of them, which is far less work
 * @all: how many there are.
 * Since: 0.1
 */
PERFEV_API int perfev_profile_top(const struct perfev_profile *profile, int event, size_t limit, struct perfev_function **ret,
				  size_t *count, size_t *all, struct perfev_error *err);

/* A node of a call tree. Parents have lower numbers than their children. */
struct perfev_profile_node {
	uint32_t parent; /* its own number in a root */
	uint32_t frame;	 /* UINT32_MAX in a root */
	uint32_t event;
	uint32_t reserved;
	uint64_t self, total; /* samples */
	uint64_t self_weight, total_weight;
};

/* perfev_profile_node_count() - nodes of all trees together, roots included */
PERFEV_API size_t perfev_profile_node_count(const struct perfev_profile *profile);
/* perfev_profile_nodes() - all nodes, totals included; an array to be freed with free()
 * Return: 0, or a negative errno. */
PERFEV_API int perfev_profile_nodes(const struct perfev_profile *profile,
				    struct perfev_profile_node **ret, size_t *count,
				    struct perfev_error *err);

/* What a frame is called in trees: its symbol, "[module]" for a nameless place, a comm's name. Lives
 * as long as the profile. */
PERFEV_API const char *perfev_profile_label(const struct perfev_profile *profile, uint32_t frame);
PERFEV_API bool perfev_profile_frame_at(const struct perfev_profile *profile, uint32_t frame,
					struct perfev_profile_frame *ret);

/*
 * perfev_profile_write_folded() - one stack a line: "comm;outer;...;inner COUNT", sorted
 * Semicolons, spaces at the ends and control characters in names are replaced, so that the last
 * space of a line is always before the count. The counts add up to the number of samples.
 * @event: an index, or -1 for all.
 * Return: 0; -EINVAL; -ENOMEM; what the sink returned.
 */
PERFEV_API int perfev_profile_write_folded(const struct perfev_profile *profile, int event,
					   const struct perfev_sink *sink,
					   struct perfev_error *err);

/* One line of what the page says about the recording. */
struct perfev_profile_fact {
	const char *name;
	const char *value;
};

/* A module with samples that have no name, and the reason. */
struct perfev_profile_unresolved {
	const char *module;
	const char *why;
	uint64_t samples;
};

struct perfev_profile_html_opts {
	size_t size;
	const char *title;
	const struct perfev_profile_fact *facts;
	size_t fact_count;
	const struct perfev_profile_unresolved *unresolved;
	size_t unresolved_count;
};

/* perfev_profile_write_html() - one self-contained page: flame graph and table, opens from disk
 * Return: 0, or a negative errno. */
PERFEV_API int perfev_profile_write_html(const struct perfev_profile *profile,
					 const struct perfev_profile_html_opts *opts,
					 const struct perfev_sink *sink, struct perfev_error *err);

PERFEV_END

#endif
