/* SPDX-License-Identifier: MIT */
/*
 * perfev/sampler.h - samplers: events that write records into rings, and the way to read them
 *
 * Events on one CPU share one ring. The loop of every consumer:
 *
 *	while (perfev_sampler_wait(sampler, timeout_ms, &err) > 0) {
 *		while (perfev_sampler_next(sampler, &record, &err) > 0)
 *			... use the record ...
 *		perfev_sampler_release(sampler);
 *	}
 *
 * perfev_reader (reader.h) has the same verbs, so that the same loop reads a file.
 *
 * Nothing is lost silently: when a ring is full the kernel drops records, says how many in a LOST
 * record, and perfev_sampler_loss() sums what is known.
 */
#ifndef PERFEV_SAMPLER_H
#define PERFEV_SAMPLER_H

#include <perfev/counter.h>
#include <perfev/record.h>

PERFEV_BEGIN

struct perfev_sampler_opts {
	size_t size;
	uint64_t ring_bytes; /* data bytes of a ring, rounded up to a power of two; 0: 512 KiB */
	uint32_t may_drop;   /* enum perfev_drop */
	uint32_t partial;    /* not 0: events that cannot be opened are left out */
	const size_t *leaders; /* for each event the index of its group's leader, its own when it is alone
				* (perfev_events_leader()); NULL: each is alone */
	uint32_t overwrite; /* not 0: rings are never full, the newest records take the place of the oldest
			     * [4.7]: perfev_sampler_pause() */
	uint32_t apart;	    /* not 0: each event has rings of its own, as many as it has places */
};

struct perfev_sampler;

/*
 * perfev_sampler_open() - open events and map their rings
 * @events: what to sample is in their attrs: period or frequency, sample_type, side-band switches.
 * @on: any target.
 *
 * Added to the attrs, in the sampler's own copies: sample_id_all, and IDENTIFIER when there is more
 * than one event, so that records can be told apart; a watermark of a quarter ring when neither
 * wakeup_events nor wakeup_watermark is set; in a group with S (PERFEV_EVENT_READ_GROUP) only the leader
 * samples, and its samples have the counts of all (PERF_SAMPLE_READ); read_format gets ID and, where the kernel has it, LOST,
 * unless the caller's PERF_SAMPLE_READ has it in samples. The copies are what perfev_sampler_layout() shows.
 *
 * With attr.inherit the rings are per CPU, because the kernel cannot map an inherited event that is
 * bound to no CPU.
 *
 * Return: 0; -EINVAL also for an event that would never write a record, as it has neither a period nor a
 * frequency (of a group one member must, with S the leader), whose samples are larger than a ring, or whose ring would be
 * full before anybody is woken; a negative errno.
 * Since: 0.1
 */
PERFEV_API int perfev_sampler_open(struct perfev_sampler **ret,
				   const struct perfev_event *const *events, size_t count,
				   struct perfev_target on, const struct perfev_sampler_opts *opts,
				   struct perfev_error *err);
/* perfev_sampler_close() - also in a child made by fork(2), which has no rings and may do nothing else with it */
PERFEV_API void perfev_sampler_close(struct perfev_sampler *sampler);

/* perfev_sampler_start(), perfev_sampler_stop() - all events on; all off. Return: 0, a negative errno. */
PERFEV_API int perfev_sampler_start(struct perfev_sampler *sampler, struct perfev_error *err);
PERFEV_API int perfev_sampler_stop(struct perfev_sampler *sampler, struct perfev_error *err);

/*
 * perfev_sampler_pause(), perfev_sampler_resume() - records that would be written meanwhile are dropped [4.7]
 * The kernel counts them as lost where it has PERF_FORMAT_LOST [6.0]: they are in perfev_sampler_loss().
 * With opts.overwrite the rings are read while they are paused, as a snapshot of the last of what happened:
 * perfev_sampler_next() gives the newest record of each ring first (perfev_order_... puts them in order), and
 * each pass gives all that is there.
 * Return: 0; a negative errno.
 * Since: 0.1
 */
PERFEV_API int perfev_sampler_pause(struct perfev_sampler *sampler, struct perfev_error *err);
PERFEV_API int perfev_sampler_resume(struct perfev_sampler *sampler, struct perfev_error *err);

/*
 * perfev_sampler_wait() - sleep until there are records
 * Looks at the rings before it sleeps, and again when the time is over, so that records below the mark are not
 * left behind: with timeout 0 it is what others call flush. @timeout_ms: -1 is no limit, 0 does not sleep.
 * Return: 1 there are records; 0 the time is over, or every target has ended and all has been read
 * (perfev_sampler_ended() tells); -EINTR a signal came; another negative errno.
 */
PERFEV_API int perfev_sampler_wait(struct perfev_sampler *sampler, int timeout_ms,
				   struct perfev_error *err);

/* perfev_sampler_ended() - all targets have ended, and their records were handed out */
PERFEV_API bool perfev_sampler_ended(const struct perfev_sampler *sampler);

/*
 * perfev_sampler_next() - the next record, ring after ring
 * The record's bytes live until perfev_sampler_release(). A pass over the rings shows what was in
 * them when the pass came to each; it ends with 0, and the next call begins a new pass.
 * Return: 1 a record; 0 the end of the pass; -EBUSY rings that are written over are not paused; -EBADMSG (why CORRUPT) when a ring holds what cannot
 * be: that ring is passed over up to its head.
 */
PERFEV_API int perfev_sampler_next(struct perfev_sampler *sampler, struct perfev_record *ret,
				   struct perfev_error *err);

/* perfev_sampler_release() - give back to the kernel everything that was handed out */
PERFEV_API void perfev_sampler_release(struct perfev_sampler *sampler);

/* The layout of a record: of the event that wrote it. Lives until the sampler is closed; NULL for a
 * record that carries the id of no event of this sampler. */
PERFEV_API const struct perfev_layout *perfev_sampler_layout(const struct perfev_sampler *sampler,
							     const struct perfev_record *record);

/* The index of the event that wrote the record, or -1. */
PERFEV_API int perfev_sampler_event(const struct perfev_sampler *sampler,
				    const struct perfev_record *record);

/* A descriptor that polls readable when a ring wants to be read. Polling takes the kernel's mark
 * away: after each wake-up call perfev_sampler_wait() with timeout 0, and read till it returns 0. */
PERFEV_API int perfev_sampler_fd(const struct perfev_sampler *sampler);

/*
 * perfev_sampler_signal() - a signal at each sample: the kernel does not wait for a mark with these
 * Its siginfo has si_fd, the descriptor of the event, and si_code POLL_IN. A handler may call
 * perfev_sampler_next() and perfev_sampler_release() when nobody else does so meanwhile.
 * @number: of the signal; 0: no more. @tid: which thread gets it; 0: the caller.
 * Return: 0; -EINVAL, -ESRCH.
 * Since: 0.1
 */
PERFEV_API int perfev_sampler_signal(struct perfev_sampler *sampler, int number, int32_t tid,
				     struct perfev_error *err);

/* One opened event: what a file has to know about it. */
struct perfev_sampler_event_info {
	const char *name;
	const struct perf_event_attr *attr; /* as opened */
	const struct perfev_error *error;   /* why it could not be opened, or NULL */
	uint32_t dropped;		    /* enum perfev_drop */
	uint32_t id_count;
	uint32_t every_hit; /* not 0: each hit is a sample, whatever the period says: so the kernel does with
			     * software events and tracepoints of a fixed period and PERF_SAMPLE_PERIOD */
};

/* What a descriptor of an event is bound to. */
struct perfev_sampler_id {
	uint64_t id;
	uint32_t ring;
	int32_t cpu, tid; /* -1: any */
};

/* perfev_sampler_event_at() - the event at @index, in the order of the open; false when there is none */
PERFEV_API size_t perfev_sampler_event_count(const struct perfev_sampler *sampler);
PERFEV_API bool perfev_sampler_event_at(const struct perfev_sampler *sampler, size_t index,
					struct perfev_sampler_event_info *ret);
/* The ids of the event at @event: @index below its id_count. */
PERFEV_API bool perfev_sampler_id_at(const struct perfev_sampler *sampler, size_t event,
				     size_t index, struct perfev_sampler_id *ret);

/* The rings: their number, and their size in bytes, which may be less than was asked for. */
PERFEV_API size_t perfev_sampler_ring_count(const struct perfev_sampler *sampler);
PERFEV_API uint64_t perfev_sampler_ring_bytes(const struct perfev_sampler *sampler);

/* One ring, as it is now. */
struct perfev_ring_info {
	int32_t cpu, tid;   /* whose; -1: any */
	uint32_t reserved;
	uint32_t owner;	    /* the event whose descriptor has it mapped */
	uint64_t bytes;	    /* its size */
	uint64_t filled;    /* written, and not given back yet; of a ring that is written over: all of it that holds records */
	struct perfev_loss loss;
};

/* perfev_sampler_ring_at() - the ring at @index; false when there is none of that number, or it was not mapped, as its
 * events could not be opened. Since: 0.1 */
PERFEV_API bool perfev_sampler_ring_at(const struct perfev_sampler *sampler, uint32_t index,
				       struct perfev_ring_info *ret);

/*
 * perfev_sampler_set_period() - another period, or frequency, of the event at @event, while it runs
 * @period: events, or with attr.freq samples a second; below 2^63. Not of events without either.
 * Return: 0; -EINVAL (a frequency above perf_event_max_sample_rate); a negative errno.
 * Since: 0.1
 */
PERFEV_API int perfev_sampler_set_period(struct perfev_sampler *sampler, size_t event, uint64_t period,
					 struct perfev_error *err);

/* perfev_sampler_loss() - what is known to be lost since the start. Return: 0, or a negative errno. */
PERFEV_API int perfev_sampler_loss(const struct perfev_sampler *sampler, struct perfev_loss *ret,
				   struct perfev_error *err);
/* The count of PERF_FORMAT_LOST of one descriptor; 0 where the kernel has none. */
PERFEV_API uint64_t perfev_sampler_id_lost(const struct perfev_sampler *sampler, size_t event,
					   size_t index);

PERFEV_END

#endif
