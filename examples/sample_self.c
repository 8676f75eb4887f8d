/* SPDX-License-Identifier: MIT */
/* sampler.h: where does this program spend its time? Samples itself, and counts addresses. */
#include <perfev/sampler.h>
#include <stdio.h>

static volatile unsigned long sink;

int main(void)
{
	struct perfev_event *event = NULL;
	struct perfev_sampler *sampler = NULL;
	struct perfev_record record;
	struct perfev_sample sample;
	struct perfev_error err;
	struct perf_event_attr *attr;
	unsigned long samples = 0, in_main = 0;

	if (perfev_event_parse(&event, "cpu-clock:u", &err) < 0)
		goto failed;
	attr = perfev_event_attr(event); /* the options of an event */
	attr->sample_period = 1000000;	 /* ns: a thousand samples a second */
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	if (perfev_sampler_open(&sampler, (const struct perfev_event *const *)&event, 1, perfev_on_self(), NULL,
				&err) < 0 ||
	    perfev_sampler_start(sampler, &err) < 0)
		goto failed;
	for (unsigned long i = 0; i < 300000000; i++)
		sink += i;
	perfev_sampler_stop(sampler, NULL);
	while (perfev_sampler_wait(sampler, 0, &err) > 0) {
		while (perfev_sampler_next(sampler, &record, &err) > 0) {
			if (record.type != PERF_RECORD_SAMPLE ||
			    perfev_sample_decode(&sample, &record, perfev_sampler_layout(sampler, &record), &err) < 0)
				continue;
			samples++;
			in_main += sample.ip >= (unsigned long)main && sample.ip < (unsigned long)main + 4096;
		}
		perfev_sampler_release(sampler);
	}
	printf("%lu samples, %lu of them in main\n", samples, in_main);
	perfev_sampler_close(sampler);
	perfev_event_free(event);
	return 0;
failed:
	fprintf(stderr, "%s\n", err.text);
	return 1;
}
