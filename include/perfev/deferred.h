/* SPDX-License-Identifier: MIT */
/*
 * perfev/deferred.h - samples whose user stack comes later, joined with it
 *
 * With attr.defer_callchain [6.19] a sample that is taken in the kernel has only the kernel's part of its call
 * chain, and a cookie. The user part is unwound once, on the way back to the user's code, and comes as a
 * CALLCHAIN_DEFERRED record with the same cookie, for all samples of that stay in the kernel. This object keeps such
 * samples until their user part comes, and gives them out as if the kernel had written all at once:
 *
 *	r = perfev_deferred_feed(deferred, &record, layout, &err);
 *	while (perfev_deferred_next(deferred, &sample, &sample_layout) > 0)
 *		... use the sample ...
 *	if (r > 0)
 *		... use the record, as it is ...
 *
 * Records are best fed in the order of time (order.h). Samples that wait come out later than what was recorded after
 * them. They come without a user part, and are counted, when their thread ends or executes another program, when
 * memory is needed, and at the end. Samples of events without attr.defer_callchain are not looked at.
 */
#ifndef PERFEV_DEFERRED_H
#define PERFEV_DEFERRED_H

#include <perfev/record.h>

PERFEV_BEGIN

/* Samples that wait at most, however small they are. */
#define PERFEV_DEFERRED_SAMPLES_MAX 65536

struct perfev_deferred_opts {
	size_t size;
	uint64_t max_bytes; /* memory for samples that wait and user parts that are kept; 0: 64 MiB; at least 256 KiB.
			     * When it is full, the oldest sample goes without its user part. */
};

struct perfev_deferred;

PERFEV_API int perfev_deferred_new(struct perfev_deferred **ret, const struct perfev_deferred_opts *opts,
				   struct perfev_error *err);
PERFEV_API void perfev_deferred_free(struct perfev_deferred *deferred);

/*
 * perfev_deferred_feed() - put a record in
 * What is kept is copied. A thread is told by its number: samples and the records of user parts both need
 * PERF_SAMPLE_TID; without it the cookie alone has to be enough.
 * @layout: of the record, and of the sample that is made of it: it must live until that came out. NULL: the record
 * is not looked at.
 * Return: 1 use the record as it is; 0 it was taken: a sample that waits, or a user part; -EBUSY samples are ready
 * and were not taken out; -EINVAL a sample or a user part that is damaged; -ENOMEM.
 * Since: 0.1
 */
PERFEV_API int perfev_deferred_feed(struct perfev_deferred *deferred, const struct perfev_record *record,
				    const struct perfev_layout *layout, struct perfev_error *err);

/* perfev_deferred_end() - nothing more will come: all that waits is ready, without a user part. */
PERFEV_API void perfev_deferred_end(struct perfev_deferred *deferred);

/*
 * perfev_deferred_next() - the next sample that is ready, oldest first
 * A record as the kernel writes them: in place of the mark and the cookie its call chain has PERF_CONTEXT_USER and the
 * user part; without one they are left out. Its bytes live until the next call with this object. Frames that do not
 * fit the 64 KiB of a record are left out, outermost first.
 * @layout: of the sample, as it was fed.
 * Return: 1 a sample; 0 none is ready.
 * Since: 0.1
 */
PERFEV_API int perfev_deferred_next(struct perfev_deferred *deferred, struct perfev_record *ret,
				    const struct perfev_layout **layout);

/* What became of samples and user parts so far. */
struct perfev_deferred_info {
	uint64_t joined;    /* samples that got their user part */
	uint64_t alone;	    /* samples that came out without one */
	uint64_t unmatched; /* user parts for which there was no sample; those that may still get one are not in it */
	uint64_t cut;	    /* of joined: frames did not fit */
	uint64_t waiting;   /* samples that are kept for their user part */
};

/* perfev_deferred_describe() - Since: 0.1 */
PERFEV_API void perfev_deferred_describe(const struct perfev_deferred *deferred, struct perfev_deferred_info *ret);

PERFEV_END

#endif
