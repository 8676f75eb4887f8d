/* SPDX-License-Identifier: MIT */
/* Counters of the calling thread, which may not be there for this user or on this machine. */
#ifndef TESTS_LIVE_COUNTING_H
#define TESTS_LIVE_COUNTING_H

#include "live.h"

static struct perfev_error err;

/* A counter of the calling thread; @period: 0 for counting only. */
static inline struct perfev_counter *open_counter(const char *text, uint64_t period)
{
	struct perfev_event *event = NULL;
	struct perfev_counter *counter = NULL;

	assert_works(perfev_event_parse(&event, text, &err));
	perfev_event_attr(event)->sample_period = period;
	if (perfev_counter_open(&counter, event, perfev_on_self(), NULL, &err) < 0) {
		perfev_event_free(event);
		SKIP("%s", err.text);
	}
	perfev_event_free(event);
	return counter;
}

static inline uint64_t count_of(const struct perfev_counter *counter)
{
	struct perfev_reading reading;

	assert_works(perfev_counter_read(counter, &reading, &err));
	return reading.count;
}

#endif
