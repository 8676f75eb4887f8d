/* SPDX-License-Identifier: MIT */
/* counter.h, clock.h: a counter that is read without the kernel, where the machine has one; and its clock. */
#include <perfev/clock.h>
#include <stdio.h>

static const char *const names[] = {"instructions:u", "task-clock:u"}; /* the second is everywhere */

int main(void)
{
	struct perfev_counter_opts opts = {.size = sizeof(opts), .user_read = 1};
	struct perfev_event *event = NULL;
	struct perfev_counter *counter = NULL;
	struct perfev_reading before, after, work;
	struct perfev_clock clock;
	struct perfev_error err;
	uint64_t cycles;
	int way;

	for (int i = 0; i < 2 && !counter; i++) {
		if (perfev_event_parse(&event, names[i], &err) < 0)
			return fprintf(stderr, "%s\n", err.text), 1;
		if (perfev_counter_open(&counter, event, perfev_on_self(), &opts, &err) < 0 && i == 1)
			return fprintf(stderr, "%s\n", err.text), 1;
		printf("%s: %s\n", names[i], counter ? "counted" : err.text);
		perfev_event_free(event);
	}
	perfev_counter_start(counter, NULL);
	if (!perfev_counter_can_read_fast(counter, &err))
		printf("%s\n", err.text);
	perfev_counter_read_fast(counter, &before, NULL);
	for (volatile int i = 0; i < 1000; i++)
		;
	way = perfev_counter_read_fast(counter, &after, NULL);
	perfev_reading_since(&work, &after, &before);
	printf("%llu, read %s\n", (unsigned long long)work.count, way == 1 ? "without the kernel" : "by read(2)");
	if (perfev_counter_clock(counter, &clock, &err) == 0 && perfev_cycles(&cycles))
		printf("the perf clock is at %llu ns\n", (unsigned long long)perfev_clock_time(&clock, cycles));
	else
		printf("%s\n", err.text);
	perfev_counter_close(counter);
	return 0;
}
