/* SPDX-License-Identifier: MIT */
/* group.h: events that are counted at the same time, so that their ratio is exact. */
#include <perfev/group.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const names[] = {"task-clock:u", "minor-faults:u", "major-faults:u"};

int main(void)
{
	struct perfev_counter_opts opts = {.size = sizeof(opts), .partial = 1};
	const struct perfev_event *events[3];
	struct perfev_event *event;
	struct perfev_group *group;
	struct perfev_reading r[3];
	struct perfev_error err;
	volatile char *memory;

	for (int i = 0; i < 3; i++) {
		if (perfev_event_parse(&event, names[i], &err) < 0)
			return fprintf(stderr, "%s\n", err.text), 1;
		events[i] = event;
	}
	if (perfev_group_open(&group, events, 3, perfev_on_self(), &opts, &err) < 0)
		return fprintf(stderr, "%s\n", err.text), 1;
	memory = calloc(1001, 4096); /* memory costs when it is first touched */
	perfev_group_start(group, NULL);
	for (int i = 1; memory && i <= 1000; i++)
		memory[i * 4096] = 1;
	perfev_group_stop(group, NULL);
	if (perfev_group_read(group, r, 3, &err) < 0) /* all of them by one system call */
		return fprintf(stderr, "%s\n", err.text), 1;
	for (int i = 0; i < 3; i++)
		if (r[i].status != PERFEV_COUNTED)
			printf("%s: not counted\n", names[i]);
	printf("%llu faults, %llu ns for each\n", (unsigned long long)r[1].count,
	       (unsigned long long)(r[1].count ? r[0].count / r[1].count : 0));
	free((void *)memory);
	perfev_group_close(group);
	for (int i = 0; i < 3; i++)
		perfev_event_free((struct perfev_event *)events[i]);
	return 0;
}
