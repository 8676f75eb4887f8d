/* SPDX-License-Identifier: MIT */
/* set.h: many events at once, on this thread and the children it will have. */
#include <perfev/set.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	struct perfev_set_opts opts = {.size = sizeof(opts), .may_drop = PERFEV_DROP_KERNEL, .partial = 1};
	struct perfev_events *events = NULL;
	struct perfev_set *set = NULL;
	struct perfev_reading readings[3];
	struct perfev_error err;

	if (perfev_events_parse(&events, "task-clock,page-faults,cycles", &err) < 0)
		goto failed;
	for (size_t i = 0; i < perfev_events_count(events); i++)
		perfev_event_attr(perfev_events_at(events, i))->inherit = 1;
	if (perfev_set_open(&set, events, perfev_on_self(), &opts, &err) < 0 ||
	    perfev_set_start(set, &err) < 0)
		goto failed;
	if (system("true") != 0)
		fputs("the command failed\n", stderr);
	if (perfev_set_stop(set, &err) < 0 || perfev_set_read(set, readings, 3, &err) < 0)
		goto failed;
	for (size_t i = 0; i < 3; i++) {
		const struct perfev_error *why = perfev_set_error(set, i);

		if (readings[i].status == PERFEV_COUNTED)
			printf("%s: %llu\n", perfev_event_name(perfev_events_at(events, i)),
			       (unsigned long long)readings[i].count);
		else
			printf("%s: none, as we %s\n", perfev_event_name(perfev_events_at(events, i)),
			       why ? why->text : "had no counter for it");
	}
	perfev_set_close(set);
	perfev_events_free(events);
	return 0;
failed:
	fprintf(stderr, "%s\n", err.text);
	return 1;
}
