/* SPDX-License-Identifier: MIT */
/*
 * What a sampler makes of the attrs that it was given: what it adds, and what it refuses, because nothing would come
 * of it. A kernel takes an event that never writes a record, or one that nobody is ever woken for, and counts
 * in silence.
 */
#include "sampler.h"

#include "base/error.h"

#include <perfev/probe.h>

#include <errno.h>

#define SAMPLE_MAX 65528 /* bytes of the largest record */

/* What the sampler adds to the attrs; sampler.h says it. */
static void complete_attrs(struct perfev_sampler *sampler)
{
	uint64_t format = PERF_FORMAT_ID;
	size_t i;

	if (perfev_probe(PERFEV_CAN_READ_LOST, NULL) > 0)
		format |= PERF_FORMAT_LOST;
	for (i = 0; i < sampler->members.count; i++) {
		struct perf_event_attr *attr = &sampler->members.items[i].attr;
		const struct member *leader = &sampler->members.items[sampler->members.leaders[i]];
		bool in_samples = attr->sample_type & PERF_SAMPLE_READ &&
				  !(leader->event->flags & PERFEV_EVENT_READ_GROUP); /* the caller's own */

		attr->sample_id_all = 1;
		attr->write_backward = sampler->backward;
		if (sampler->members.count > 1)
			attr->sample_type |= PERF_SAMPLE_IDENTIFIER;
		if (!in_samples)
			attr->read_format |= format;
	}
}

/* Whether an attr makes the kernel write anything. Of PMUs that are not known here it may: they can trace. */
static bool writes(const struct perf_event_attr *attr)
{
	bool on_its_own = attr->type > PERF_TYPE_BREAKPOINT || attr->inherit_stat ||
			  (attr->type == PERF_TYPE_SOFTWARE && attr->config >= PERF_COUNT_SW_DUMMY &&
			   attr->config != PERF_COUNT_SW_CGROUP_SWITCHES);

	return on_its_own || attr->sample_period || attr->mmap || attr->mmap_data || attr->mmap2 || attr->comm ||
	       attr->task || attr->context_switch || attr->namespaces || attr->ksymbol || attr->bpf_event ||
	       attr->cgroup || attr->text_poke;
}

/* A leader may count only, for the samples of another of its group; but with S it is the one that samples. */
static bool group_writes(const struct members *members, size_t leader)
{
	bool alone = members->items[leader].event->flags & PERFEV_EVENT_READ_GROUP;
	size_t i;

	for (i = leader; i < members->count; i++)
		if (members->leaders[i] == leader && writes(&members->items[i].attr) && (i == leader || !alone))
			return true;
	return false;
}

/* No period is how one asks for counting; a sampler of that would wait for ever. */
static int refuse_silence(const struct members *members, struct perfev_error *err)
{
	size_t i;

	for (i = 0; i < members->count; i++)
		if (members->leaders[i] == i && !group_writes(members, i))
			return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
					 "cannot sample %.100s: its attr has neither a period nor a frequency, and "
					 "asks for no other records; set attr.sample_period, or attr.freq and "
					 "attr.sample_freq",
					 members->items[i].name);
	return 0;
}

/* S: the leader's samples have the counts of its group, whose other members do not sample. The kernel
 * inherits such events from 6.12 on. */
static void read_groups(struct members *members)
{
	size_t i;

	for (i = 0; i < members->count; i++) {
		struct perf_event_attr *attr = &members->items[i].attr;
		size_t leader = members->leaders[i];

		if (!(members->items[leader].event->flags & PERFEV_EVENT_READ_GROUP))
			continue;
		attr->read_format |= PERF_FORMAT_GROUP | PERF_FORMAT_ID;
		attr->sample_type |= PERF_SAMPLE_READ | PERF_SAMPLE_TID;
		if (attr->inherit && perfev_probe(PERFEV_CAN_INHERIT_READ, NULL) <= 0) {
			attr->inherit = 0;
			members->items[i].dropped |= PERFEV_DROP_INHERIT;
		}
		if (leader != i)
			attr->sample_period = attr->freq = 0;
	}
}

int sampler_attrs_prepare(struct perfev_sampler *sampler, struct perfev_error *err)
{
	int r = refuse_silence(&sampler->members, err);

	if (r < 0)
		return r;
	read_groups(&sampler->members);
	complete_attrs(sampler);
	return 0;
}

/* The least that a sample of a user's code has: a word for each field, and its stack, of which the kernel takes less
 * when the record would not fit 16 bits. */
static uint64_t smallest_sample(const struct perf_event_attr *attr)
{
	uint64_t size = sizeof(struct perf_event_header), bits;

	for (bits = attr->sample_type; bits; bits &= bits - 1)
		size += 8;
	size += attr->sample_type & PERF_SAMPLE_STACK_USER ? attr->sample_stack_user : 0;
	return size < SAMPLE_MAX ? size : SAMPLE_MAX;
}

/* A sample as large as the ring never has room. A ring that is full before its reader is woken stays full; where
 * wakeup_events says when, the kernel also wakes at half of the ring. A ring has the mark of the event that mapped it:
 * those of others mean nothing. */
static int refuse_deafness(const struct member *member, uint64_t ring_bytes, bool has_ring, struct perfev_error *err)
{
	const struct perf_event_attr *attr = &member->attr;
	uint64_t size = attr->sample_period ? smallest_sample(attr) : sizeof(struct perf_event_header);
	uint64_t full = (ring_bytes - 1) / size * size;

	if (size >= ring_bytes)
		return error_set(err, -EINVAL, PERFEV_WHY_COMBINATION, ERROR_NOWHERE,
				 "cannot sample %.100s: its samples have %llu bytes or more, and never fit into a ring of "
				 "%llu; ask for larger rings, or for less of the stack",
				 member->name, (unsigned long long)size, (unsigned long long)ring_bytes);
	if (has_ring && attr->watermark && attr->wakeup_watermark >= full)
		return error_set(err, -EINVAL, PERFEV_WHY_COMBINATION, ERROR_NOWHERE,
				 "cannot sample %.100s: nobody is woken before its ring has more than %u bytes "
				 "(wakeup_watermark), and it is full with %llu; ask for larger rings, or for a lower mark",
				 member->name, attr->wakeup_watermark, (unsigned long long)full);
	return 0;
}

/* A quarter of the ring, unless the caller has said something. Rings that are written over are not waited for. */
int sampler_attrs_mark(struct perfev_sampler *sampler, const struct perfev_event *const *events,
		       uint64_t ring_bytes, struct perfev_error *err)
{
	uint64_t mark = ring_bytes / 4;
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < sampler->members.count; i++) {
		struct perf_event_attr *attr = &sampler->members.items[i].attr;

		if (!events[i]->attr.watermark && !events[i]->attr.wakeup_events) {
			attr->watermark = 1;
			attr->wakeup_watermark = mark > UINT32_MAX ? UINT32_MAX : (uint32_t)mark;
		}
		if (!sampler->backward)
			r = refuse_deafness(&sampler->members.items[i], ring_bytes, i == 0 || sampler->apart, err);
	}
	return r;
}
