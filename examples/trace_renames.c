/* SPDX-License-Identifier: MIT */
/* tracepoint.h: which names does this thread give itself? Samples task:task_rename, and reads its fields. */
#include <perfev/sampler.h>
#include <perfev/tracepoint.h>
#include <stdio.h>
#include <sys/prctl.h>

int main(void)
{
	struct perfev_tracepoint *tracepoint = NULL;
	struct perfev_sampler *sampler = NULL;
	struct perfev_event *event = NULL;
	const struct perfev_field *name;
	struct perfev_record record;
	struct perfev_sample sample;
	struct perfev_bytes text;
	struct perfev_error err;
	char line[256];

	if (perfev_tracepoint_find(&tracepoint, "task:task_rename", NULL, &err) < 0 ||
	    perfev_event_parse(&event, "task:task_rename", &err) < 0)
		goto failed;
	name = perfev_tracepoint_field(tracepoint, "newcomm"); /* once; NULL: there is none */
	perfev_event_attr(event)->sample_period = 1;	       /* every one */
	perfev_event_attr(event)->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_RAW;
	if (perfev_sampler_open(&sampler, (const struct perfev_event *const *)&event, 1, perfev_on_self(), NULL,
				&err) < 0 ||
	    perfev_sampler_start(sampler, &err) < 0)
		goto failed;
	prctl(PR_SET_NAME, "first");
	prctl(PR_SET_NAME, "and second");
	while (perfev_sampler_next(sampler, &record, &err) > 0) {
		if (record.type != PERF_RECORD_SAMPLE ||
		    perfev_sample_decode(&sample, &record, perfev_sampler_layout(sampler, &record), &err) < 0)
			continue;
		if (name && perfev_field_string(name, sample.raw, &text))
			printf("now called %.*s\n", (int)text.size, (const char *)text.data);
		perfev_tracepoint_format(line, sizeof(line), tracepoint, sample.raw);
		printf("%s\n", line);
	}
	perfev_sampler_close(sampler);
	perfev_event_free(event);
	perfev_tracepoint_free(tracepoint);
	return 0;
failed:
	fprintf(stderr, "%s\n", err.text);
	return 1;
}
