/* SPDX-License-Identifier: MIT */
/*
 * perfev/tracer.h - tracers: PMUs that write a trace into an area of their own (AUX) [4.1]
 *
 * Intel PT and BTS, Arm SPE and CoreSight, HiSilicon PTT: the hardware writes bytes in a form of its own into an area
 * beside the ring, and the kernel says in PERF_RECORD_AUX records which. A tracer is a sampler with such areas: it
 * gives each record together with its bytes, in order with all other records of its ring:
 *
 *	while (perfev_tracer_wait(tracer, timeout_ms, &err) > 0) {
 *		while (perfev_tracer_next(tracer, &chunk, &err) > 0)
 *			... use chunk.record; chunk.part[0] and [1] when it is PERF_RECORD_AUX ...
 *		perfev_tracer_release(tracer);
 *	}
 */
#ifndef PERFEV_TRACER_H
#define PERFEV_TRACER_H

#include <perfev/record.h>
#include <perfev/sampler.h>

PERFEV_BEGIN

struct perfev_tracer_opts {
	size_t size;
	uint64_t ring_bytes; /* as of a sampler */
	uint64_t aux_bytes;  /* of an area, rounded up to a power of two; 0: 4 MiB */
	uint64_t chunk_bytes; /* the most that one chunk has: longer ones come in several, each with the record;
			       * 0: no limit */
	uint32_t may_drop; /* enum perfev_drop; PERFEV_DROP_RING: areas too are halved until they fit */
	uint32_t snapshot; /* not 0: areas are never full, the newest bytes take the place of the oldest:
			    * perfev_tracer_snapshot(). PERF_SAMPLE_AUX needs it. */
	const size_t *leaders; /* as of a sampler */
};

struct perfev_tracer;

/*
 * perfev_tracer_open() - open events, map their rings, and an area beside each
 * @events: the first one traces; others write into its rings: side-band, samples, and what pauses and resumes
 *	it (attr.aux_pause, attr.aux_resume) [6.13].
 * @on: any target. What the PMU allows is its own: some trace one task or one CPU only.
 * attr.aux_watermark, when it is 0, becomes a quarter of the area. Events start disabled, as an area has to be there
 * before its event starts.
 * Return: 0; -EOPNOTSUPP when the PMU of the first event has no areas; -EBUSY when its PMU has one user only, and
 * that is another; as perfev_sampler_open().
 * Since: 0.1
 */
PERFEV_API int perfev_tracer_open(struct perfev_tracer **ret, const struct perfev_event *const *events,
				  size_t count, struct perfev_target on, const struct perfev_tracer_opts *opts,
				  struct perfev_error *err);
PERFEV_API void perfev_tracer_close(struct perfev_tracer *tracer);

/* perfev_tracer_start(), perfev_tracer_stop() - all events on; all off. Return: 0, a negative errno. */
PERFEV_API int perfev_tracer_start(struct perfev_tracer *tracer, struct perfev_error *err);
PERFEV_API int perfev_tracer_stop(struct perfev_tracer *tracer, struct perfev_error *err);

/* perfev_tracer_wait(), perfev_tracer_fd(), perfev_tracer_ended(), perfev_tracer_layout() - as of a sampler */
PERFEV_API int perfev_tracer_wait(struct perfev_tracer *tracer, int timeout_ms, struct perfev_error *err);
PERFEV_API int perfev_tracer_fd(const struct perfev_tracer *tracer);
PERFEV_API bool perfev_tracer_ended(const struct perfev_tracer *tracer);
PERFEV_API const struct perfev_layout *perfev_tracer_layout(const struct perfev_tracer *tracer,
							     const struct perfev_record *record);

/*
 * perfev_tracer_next() - the next record, and the bytes that it announces
 * Both live until perfev_tracer_release(). An AUX record without parts announces nothing (it has flags only), or the
 * areas are snapshots.
 * Return: 1; 0 the end of the pass; -EBADMSG (why CORRUPT) when a ring holds what cannot be, or a record announces
 * what is not there.
 * Since: 0.1
 */
PERFEV_API int perfev_tracer_next(struct perfev_tracer *tracer, struct perfev_chunk *ret,
				  struct perfev_error *err);

/*
 * perfev_tracer_release() - give everything that was handed out back to the kernel
 * A PMU whose area was full has stopped (PERF_AUX_FLAG_TRUNCATED): it is started again, as it does not by itself.
 * Since: 0.1
 */
PERFEV_API void perfev_tracer_release(struct perfev_tracer *tracer);

/*
 * perfev_tracer_snapshot() - the newest bytes of an area, oldest first
 * While the tracer is stopped, of one that was opened with opts.snapshot. @ring: below perfev_sampler_ring_count().
 * ret->record is an AUX record that says so much, with PERF_AUX_FLAG_OVERWRITE; its bytes live until the next call.
 * Return: 1; 0 when nothing was written yet; -EINVAL.
 * Since: 0.1
 */
PERFEV_API int perfev_tracer_snapshot(struct perfev_tracer *tracer, uint32_t ring, struct perfev_chunk *ret,
				      struct perfev_error *err);

/* What is known of a trace: over all areas, of what was handed out. */
struct perfev_trace_info {
	uint64_t bytes;
	uint64_t records;    /* PERF_RECORD_AUX */
	uint64_t truncated;  /* of these: the area was full, and the PMU had stopped */
	uint64_t partial;    /* had gaps that the PMU knew of [4.12] */
	uint64_t collisions; /* a sample fell on another (Arm SPE) [4.15] */
	uint64_t gaps;	     /* between the bytes of two records there were others, that nobody wrote */
	uint64_t gap_bytes;
};

/* perfev_tracer_describe() - what came so far; perfev_tracer_aux_bytes() - the size of an area, which may be less than
 * was asked for; perfev_tracer_sampler() - the sampler within, for its ids, events and losses */
PERFEV_API void perfev_tracer_describe(const struct perfev_tracer *tracer, struct perfev_trace_info *ret);
PERFEV_API uint64_t perfev_tracer_aux_bytes(const struct perfev_tracer *tracer);
PERFEV_API struct perfev_sampler *perfev_tracer_sampler(struct perfev_tracer *tracer);

PERFEV_END

#endif
