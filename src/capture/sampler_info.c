/* SPDX-License-Identifier: MIT */
/* What a sampler can tell of itself: its events and ids, for files, and what was lost. */
#include "sampler.h"

#include "base/error.h"
#include "decode/sample.h"
#include "kernel/sys.h"

#include <errno.h>

size_t perfev_sampler_event_count(const struct perfev_sampler *sampler)
{
	return sampler->members.count;
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
	return true;
}

/* The row of the @index-th open descriptor of an event, or -1. */
static long find_row(const struct perfev_sampler *sampler, size_t event, size_t index)
{
	const struct members *m = &sampler->members;
	size_t row;

	for (row = 0; row < m->plan.count; row++)
		if (m->plan.rows[row].event == event && m->fds[row] >= 0 && index-- == 0)
			return (long)row;
	return -1;
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

/* PERF_FORMAT_LOST of one descriptor. Children that inherited the event count in its parent. */
static uint64_t row_lost(const struct perfev_sampler *sampler, size_t row)
{
	const struct members *m = &sampler->members;
	const struct perf_event_attr *attr = &m->items[m->plan.rows[row].event].attr;
	uint64_t words[64];
	struct perfev_values values;
	struct perfev_bytes bytes = {words, 0};
	ssize_t n;

	if (!(attr->read_format & PERF_FORMAT_LOST) || m->fds[row] < 0)
		return 0;
	n = sys_read(m->fds[row], words, sizeof(words));
	if (n <= 0)
		return 0;
	bytes.size = (size_t)n;
	values.lost = 0;
	return values_decode(&values, bytes, false, attr->read_format) ? values.lost : 0;
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

int perfev_sampler_loss(const struct perfev_sampler *sampler, struct perfev_loss *ret,
			struct perfev_error *err)
{
	const struct members *m = &sampler->members;
	uint32_t ring;
	size_t row;

	(void)err;
	memset(ret, 0, sizeof(*ret));
	ret->exact = counts_all(m);
	for (ring = 0; ring < sampler->ring_count; ring++) {
		uint64_t said = sampler->rings[ring].lost_said, counted = 0;

		for (row = 0; row < m->plan.count; row++)
			if (m->plan.rows[row].ring == ring)
				counted += row_lost(sampler, row);
		ret->said += said;
		ret->counted += counted;
		ret->records += said > counted ? said : counted;
		ret->samples += sampler->rings[ring].lost_samples;
	}
	return 0;
}
