/* SPDX-License-Identifier: MIT */
/* What tests of samplers share: one on a scripted kernel, and records in its rings. */
#ifndef TESTS_SAMPLING_H
#define TESTS_SAMPLING_H

#include "bytes.h"
#include "test.h"

#include "fake/kernel.h"

#include <perfev/sampler.h>

#include <errno.h>

static struct perfev_error err;
static struct perfev_sampler *sampler;

static inline int setup(void **state)
{
	(void)state;
	fake_reset();
	fake_file("/sys/devices/system/cpu/online", "0,2-3,8\n");
	fake_file("/proc/sys/kernel/perf_event_mlock_kb", "516\n");
	fake_process(7, 1, "seven", "7 8 9");
	sampler = NULL;
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	perfev_sampler_close(sampler);
	return fake_left();
}

static inline int open_with(const char *text, struct perfev_target on, uint64_t sample_type,
		     const struct perfev_sampler_opts *opts)
{
	struct perfev_events *events;
	const struct perfev_event *list[8];
	size_t i, count;
	int r;

	assert_works(perfev_events_parse(&events, text, &err));
	count = perfev_events_count(events);
	for (i = 0; i < count; i++) {
		perfev_event_attr(perfev_events_at(events, i))->sample_type = sample_type;
		perfev_event_attr(perfev_events_at(events, i))->sample_period = 1000;
		list[i] = perfev_events_at(events, i);
	}
	memset(&err, 0xff, sizeof(err));
	r = perfev_sampler_open(&sampler, list, count, on, opts, &err);
	perfev_events_free(events);
	if (r < 0)
		assert_null(sampler);
	return r;
}

/* The n-th event that is open now: 0 is the first. */
static inline struct fake_event *nth(int n)
{
	int i;

	for (i = 0; i < fake.event_count; i++)
		if (fake.events[i].open && n-- == 0)
			return &fake.events[i];
	fail_msg("there is no such event");
	return NULL;
}

/* A sample of IDENTIFIER and IP, or a LOST record with its trailer. */
static inline bool write_sample(struct fake_event *event, uint64_t ip)
{
	struct bytes bytes;

	bytes.size = 0;
	bytes.big = host_is_big();
	begin_record(&bytes, PERF_RECORD_SAMPLE, 2);
	put_u64(&bytes, event->id);
	put_u64(&bytes, ip);
	end_record(&bytes, 0);
	return fake_write(event, bytes.data, bytes.size);
}

static inline void write_lost(struct fake_event *event, uint64_t lost)
{
	struct bytes bytes;

	bytes.size = 0;
	bytes.big = host_is_big();
	begin_record(&bytes, PERF_RECORD_LOST, 0);
	put_u64(&bytes, event->id);
	put_u64(&bytes, lost);
	put_u64(&bytes, event->id);
	end_record(&bytes, 0);
	assert_true(fake_write(event, bytes.data, bytes.size));
}

static inline void expect_sample(uint64_t ip, uint32_t ring, int event)
{
	struct perfev_record record;
	struct perfev_sample sample;

	assert_int_equal(perfev_sampler_next(sampler, &record, &err), 1);
	assert_int_equal(record.source, ring);
	assert_int_equal(perfev_sampler_event(sampler, &record), event);
	assert_works(perfev_sample_decode(&sample, &record, perfev_sampler_layout(sampler, &record),
					  &err));
	assert_true(sample.ip == ip);
}

static inline void expect_lost(uint64_t lost, uint32_t ring)
{
	struct perfev_record record;
	struct perfev_any any;

	assert_int_equal(perfev_sampler_next(sampler, &record, &err), 1);
	assert_int_equal(record.source, ring);
	assert_int_equal(record.type, PERF_RECORD_LOST);
	assert_works(perfev_any_decode(&any, &record, perfev_sampler_layout(sampler, &record), &err));
	assert_true(any.as.lost.lost == lost);
}

static inline void expect_end(void)
{
	struct perfev_record record;

	assert_int_equal(perfev_sampler_next(sampler, &record, &err), 0);
}

#endif
