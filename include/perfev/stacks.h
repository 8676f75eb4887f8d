/* SPDX-License-Identifier: MIT */
/*
 * perfev/stacks.h - the stacks of samples with names, made by as many threads as are wanted
 *
 * Records go in, in the order of time (order.h). Those that tell of address spaces are learnt from; of samples the stacks
 * come out, in the same order, with all that is the same however many threads there are. Between the two, threads unwind, and
 * look for symbols and inlined calls, in what was mapped at the time of each sample.
 */
#ifndef PERFEV_STACKS_H
#define PERFEV_STACKS_H

#include <perfev/symbols.h>
#include <perfev/unwind.h>

PERFEV_BEGIN

/* What became of a sample. It lives as long as the call that is given it. */
struct perfev_stack {
	const struct perfev_sample *sample; /* as it was recorded */
	const struct perfev_layout *layout; /* of its record */
	uint64_t cookie;		    /* that was pushed with it */
	const char *comm;     /* the name of its thread at that time; lives until the symbols are freed */
	const uint32_t *keys; /* of its frames, for perfev_symbols_frame(), innermost first: at each place the functions that
			       * are inlined, then the one around them */
	uint32_t count;
	uint32_t end; /* enum perfev_unwound_end: why it has no more frames; NOTHING when it was not unwound */
};

#define PERFEV_JOBS_ALL UINT32_MAX /* one for each CPU that the caller may use */

struct perfev_stacks_opts {
	size_t size;
	uint32_t jobs;	     /* threads, the caller's included, at most 256, or PERFEV_JOBS_ALL; 0: the caller's alone */
	uint32_t arch;	     /* enum perfev_arch of the recording; 0: the host's */
	uint32_t max_frames; /* that are unwound; 0: 4096 */
	uint32_t reserved;
	void *context;
	/* Whether a sample is wanted; NULL: all are. Called by several threads at once. */
	bool (*wanted)(const void *context, const struct perfev_sample *sample);
	/* Takes the stacks, one after the other: never two at once, but not always in the same thread. The symbols are not to
	 * be asked in it, but for perfev_symbols_frame(). Return: 0; a negative errno, with @err
	 * set, ends it: no more are given, and the next push returns it. */
	int (*take)(void *context, const struct perfev_stack *stack, struct perfev_error *err);
};

struct perfev_stacks;

/*
 * perfev_stacks_new() - makes stacks in the address spaces of @symbols
 * It has to be freed before them. Threads are started when there is work for a second one. From the first push to the next
 * perfev_stacks_wait() the symbols belong to it: they are not to be fed, and not to be asked but in take().
 * Return: 0; -ENOMEM; -EINVAL: no take, more than 256 jobs, more than 65536 frames; -E2BIG (why OPTIONS).
 * Since: 0.1
 */
PERFEV_API int perfev_stacks_new(struct perfev_stacks **ret, struct perfev_symbols *symbols, const struct perfev_stacks_opts *opts,
				 struct perfev_error *err);
/* perfev_stacks_free() - what was not taken is forgotten */
PERFEV_API void perfev_stacks_free(struct perfev_stacks *stacks);

/*
 * perfev_stacks_push() - put a record in
 * Its bytes are copied, unless it is PERFEV_RECORD_STABLE; records that are no samples go to perfev_symbols_feed().
 * @cookie: whatever take() wants to know of a sample.
 * Return: 0; -EINVAL for a damaged record, which may be an earlier one; -ENOMEM; what take() returned.
 * Since: 0.1
 */
PERFEV_API int perfev_stacks_push(struct perfev_stacks *stacks, const struct perfev_record *record,
				  const struct perfev_layout *layout, uint64_t cookie, struct perfev_error *err);

/* perfev_stacks_wait() - until all that was pushed is taken. Return: as of perfev_stacks_push(). */
PERFEV_API int perfev_stacks_wait(struct perfev_stacks *stacks, struct perfev_error *err);

/* perfev_stacks_describe() - what was unwound so far; when nothing waits, of all samples */
PERFEV_API void perfev_stacks_describe(const struct perfev_stacks *stacks, struct perfev_unwinder_info *ret);

PERFEV_END

#endif
