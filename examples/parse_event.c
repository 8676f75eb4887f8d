/* SPDX-License-Identifier: MIT */
/* event.h: from text to what the kernel takes. */
#include <perfev/event.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	const char *text = argc > 1 ? argv[1] : "{cycles,instructions}:u,L1-dcache-load-misses,r1a8:k,cycels";
	struct perfev_events *events;
	struct perfev_error err;

	while (perfev_events_parse(&events, text, &err) < 0) {
		printf("%s\n", err.text); /* it has the column, the word, and the nearest name */
		if (err.where == 0 || argc > 1)
			return 1;
		text = "{cycles,instructions}:u,L1-dcache-load-misses,r1a8:k";
	}
	for (size_t i = 0; i < perfev_events_count(events); i++) {
		struct perfev_event *event = perfev_events_at(events, i);
		const struct perf_event_attr *attr = perfev_event_attr(event);

		printf("%-24s type %u, config 0x%llx%s, group of %zu\n", perfev_event_name(event), attr->type,
		       (unsigned long long)attr->config, attr->exclude_kernel ? ", user only" : "",
		       perfev_events_leader(events, i));
	}
	perfev_events_free(events);
	return 0;
}
