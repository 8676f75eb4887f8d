/* SPDX-License-Identifier: MIT */
/* Events from the command line. */
#include "cli.h"

#include <sys/resource.h>

static int filter_events(struct perfev_events *events, const char *filter, struct perfev_error *err)
{
	size_t i;

	for (i = 0; i < perfev_events_count(events); i++)
		if (perfev_event_set_filter(perfev_events_at(events, i), filter, err) < 0)
			return -1;
	return 0;
}

int parse_events(struct perfev_events **ret, const char *command, const struct texts *texts,
		 const char *defaults)
{
	struct perfev_events *all = NULL, *more;
	struct perfev_error err;
	size_t i;

	if (!texts->count) {
		if (perfev_events_parse(ret, defaults, &err) < 0)
			return report_error(&err);
		return 0;
	}
	if (perfev_events_new(&all, &err) < 0)
		return report_error(&err);
	for (i = 0; i < texts->count; i++) {
		int r = perfev_events_parse(&more, texts->items[i], &err);

		if (r == 0 && i < texts->filter_count && texts->filters[i])
			r = filter_events(more, texts->filters[i], &err);
		if (r == 0) {
			r = perfev_events_append(all, more, &err);
			perfev_events_free(more);
		}
		if (r < 0) {
			perfev_events_free(all);
			return err.why == PERFEV_WHY_SYNTAX || err.why == PERFEV_WHY_UNKNOWN_EVENT
				       ? usage_error(command, "%s", err.text)
				       : report_error(&err);
		}
	}
	*ret = all;
	return 0;
}

static struct rlimit limit_before;

void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit_before = limit;
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

void restore_file_limit(void)
{
	if (limit_before.rlim_max)
		setrlimit(RLIMIT_NOFILE, &limit_before);
}
