/* SPDX-License-Identifier: MIT */
/* What a sampler can tell of itself: its events and ids, for files, and what was lost. */
#include "reading.h"
#include "sampler.h"

#include "base/error.h"
#include "decode/sample.h"
#include "kernel/sys.h"

#include <errno.h>

size_t perfev_sampler_event_count(const struct perfev_sampler *sampler)
{
	return sampler->members.count;
}

/* A fixed period is not kept then; clocks do, as they count by a timer. */
static bool samples_every_hit(const struct perf_event_attr *attr)
{
	bool counted = attr->type == PERF_TYPE_TRACEPOINT ||
		       (attr->type == PERF_TYPE_SOFTWARE && attr->config != PERF_COUNT_SW_CPU_CLOCK &&
			attr->config != PERF_COUNT_SW_TASK_CLOCK);

	return counted && !attr->freq && attr->sample_period > 1 && attr->sample_type & PERF_SAMPLE_PERIOD;
}

bool perfev_sampler_event_at(const struct perfev_sampler *sampler, size_t index,
			     struct perfev_sampler_event_info *ret)
{
	const struct member *member;

	if (index >= sampler->members.count)
		return false;
	member = &sampler->members.items[index];
	ret->name = member->name;
	ret->attr = &member->attr;
	ret->error = member->error.code ? &member->error : NULL;
	ret->dropped = member->dropped;
	ret->id_count = member->opened;
	ret->every_hit = samples_every_hit(&member->attr);
	return true;
}

/* The row of the @index-th open descriptor of an event, or -1. */
static long find_row(const struct perfev_sampler *sampler, size_t event, size_t index)
{
	const size_t *first = sampler->first_rows;

	if (event >= sampler->members.count || index >= first[event + 1] - first[event])
		return -1;
	return (long)sampler->open_rows[first[event] + index];
}

bool perfev_sampler_id_at(const struct perfev_sampler *sampler, size_t event, size_t index,
			  struct perfev_sampler_id *ret)
{
	long row = find_row(sampler, event, index);

	if (row < 0)
		return false;
	ret->id = sampler->row_ids[row];
	ret->ring = sampler->members.plan.rows[row].ring;
	ret->cpu = sampler->members.plan.rows[row].cpu;
	ret->tid = sampler->members.plan.rows[row].pid;
	return true;
}

/* Every member of a group answers for all of it. */
static uint64_t lost_of(const struct perfev_values *values, uint64_t id)
{
	struct perfev_value value;
	uint32_t i;

	for (i = 0; perfev_values_at(values, i, &value); i++)
		if (value.id == id)
			return value.lost;
	return 0;
}

/* PERF_FORMAT_LOST of one descriptor. Children that inherited the event count in its parent. */
static uint64_t row_lost(const struct perfev_sampler *sampler, size_t row)
{
	const struct members *m = &sampler->members;
	const struct perf_event_attr *attr = &m->items[m->plan.rows[row].event].attr;
	uint64_t words[READING_GROUP_WORDS];
	struct perfev_values values;
	struct perfev_bytes bytes = {words, 0};
	ssize_t n;

	if (!(attr->read_format & PERF_FORMAT_LOST) || m->fds[row] < 0)
		return 0;
	n = sys_read(m->fds[row], words, sizeof(words));
	if (n <= 0)
		return 0;
	bytes.size = (size_t)n;
	if (!values_decode(&values, bytes, false, attr->read_format))
		return 0;
	return attr->read_format & PERF_FORMAT_GROUP ? lost_of(&values, sampler->row_ids[row]) : values.lost;
}

uint64_t perfev_sampler_id_lost(const struct perfev_sampler *sampler, size_t event, size_t index)
{
	long row = find_row(sampler, event, index);

	return row < 0 ? 0 : row_lost(sampler, (size_t)row);
}

/* Losses are exact when each event that was opened counts its own. */
static bool counts_all(const struct members *members)
{
	size_t i;

	for (i = 0; i < members->count; i++)
		if (members->items[i].opened && !(members->items[i].attr.read_format & PERF_FORMAT_LOST))
			return false;
	return true;
}

static void add_loss(const struct perfev_sampler *sampler, uint32_t ring, struct perfev_loss *ret)
{
	const struct members *m = &sampler->members;
	uint64_t said = sampler->rings[ring].lost_said, counted = 0;
	size_t row;

	for (row = 0; row < m->plan.count; row++)
		if (m->plan.rows[row].ring == ring)
			counted += row_lost(sampler, row);
	ret->said += said;
	ret->counted += counted;
	ret->records += said > counted ? said : counted;
	ret->samples += sampler->rings[ring].lost_samples;
}

int perfev_sampler_loss(const struct perfev_sampler *sampler, struct perfev_loss *ret,
			struct perfev_error *err)
{
	uint32_t ring;

	(void)err;
	memset(ret, 0, sizeof(*ret));
	ret->exact = counts_all(&sampler->members);
	for (ring = 0; ring < sampler->ring_count; ring++)
		add_loss(sampler, ring, ret);
	return 0;
}

bool perfev_sampler_ring_at(const struct perfev_sampler *sampler, uint32_t index, struct perfev_ring_info *ret)
{
	const struct members *m = &sampler->members;
	size_t row = 0;

	if (index >= sampler->ring_count || !sampler->rings[index].page)
		return false;
	while (row < m->plan.count && (m->plan.rows[row].ring != index || m->fds[row] < 0))
		row++;
	if (row == m->plan.count)
		return false;
	memset(ret, 0, sizeof(*ret));
	ret->cpu = m->plan.rows[row].cpu;
	ret->tid = m->plan.cgroup ? -1 : m->plan.rows[row].pid;
	ret->owner = m->plan.rows[row].event;
	ret->bytes = sampler->rings[index].size;
	ret->filled = ring_filled(&sampler->rings[index]);
	ret->loss.exact = counts_all(m);
	add_loss(sampler, index, &ret->loss);
	return true;
}

int perfev_sampler_set_period(struct perfev_sampler *sampler, size_t event, uint64_t period, struct perfev_error *err)
{
	struct members *m = &sampler->members;
	struct perf_event_attr *attr;
	size_t row;

	if (event >= m->count || !m->items[event].attr.sample_period)
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, event,
				 "cannot set the period of event %zu: %s", event,
				 event < m->count ? "it does not sample" : "there is none of that number");
	attr = &m->items[event].attr;
	for (row = 0; row < m->plan.count; row++) {
		int r = 0;

		if (m->plan.rows[row].event == event && m->fds[row] >= 0)
			r = sys_ioctl(m->fds[row], PERF_EVENT_IOC_PERIOD, (unsigned long)(uintptr_t)&period);
		if (r == -EINVAL)
			return error_set(err, r, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
					 attr->freq ? "cannot sample %.100s %llu times a second: that is 0, or over "
						      "perf_event_max_sample_rate; take less"
						    : "cannot set the period of %.100s to %llu: it must be above 0 and below 2^63",
					 m->items[event].name, (unsigned long long)period);
		if (r < 0)
			return error_errno(err, r, "cannot set the period of %.100s", m->items[event].name);
	}
	attr->sample_period = period;
	return 0;
}

int perfev_sampler_signal(struct perfev_sampler *sampler, int number, int32_t tid, struct perfev_error *err)
{
	const struct members *m = &sampler->members;
	size_t row;

	for (row = 0; row < m->plan.count; row++) {
		int r = m->fds[row] < 0 ? 0 : sys_signal_on(m->fds[row], number, tid ? tid : sys_tid());

		if (r == -EINVAL)
			return error_set(err, r, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
					 "cannot signal what is sampled: %d is no signal", number);
		if (r == -ESRCH)
			return error_set(err, r, PERFEV_WHY_NO_TASK, ERROR_NOWHERE,
					 "cannot signal what is sampled: there is no thread %d; look at its number "
					 "again",
					 tid);
		if (r < 0)
			return error_errno(err, r, "cannot signal what is sampled");
	}
	return 0;
}
