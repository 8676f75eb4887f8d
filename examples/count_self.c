/* SPDX-License-Identifier: MIT */
/* counter.h: count an event of this thread around a piece of code. */
#include <perfev/counter.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	struct perfev_event *event = NULL;
	struct perfev_counter *counter = NULL;
	struct perfev_reading reading;
	struct perfev_error err;
	volatile char *memory; /* what nobody reads would not be written, and cost nothing */

	if (perfev_event_parse(&event, "page-faults:u", &err) < 0 ||
	    perfev_counter_open(&counter, event, perfev_on_self(), NULL, &err) < 0 ||
	    perfev_counter_start(counter, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	memory = calloc(1000, 4096); /* memory costs when it is first touched */
	for (int i = 0; memory && i < 1000; i++)
		memory[i * 4096] = 1;
	perfev_counter_stop(counter, NULL);
	perfev_counter_read(counter, &reading, NULL);
	printf("%llu page faults\n", (unsigned long long)reading.count);
	free((void *)memory);
	perfev_counter_close(counter);
	perfev_event_free(event);
	return 0;
}
