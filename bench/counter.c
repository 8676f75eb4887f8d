/* SPDX-License-Identifier: MIT */
/* Reading and switching counters, against the bare system calls. */
#include "bench.h"

#include <perfev/counter.h>

#include <sys/ioctl.h>
#include <unistd.h>

static void read_perfev(void *counter, int count)
{
	struct perfev_reading reading;

	while (count--)
		perfev_counter_read(counter, &reading, NULL);
}

static void read_bare(void *counter, int count)
{
	uint64_t words[5];
	int fd = perfev_counter_fd(counter);

	while (count--)
		if (read(fd, words, sizeof(words)) < 0)
			abort();
}

static void switch_perfev(void *counter, int count)
{
	while (count--) {
		perfev_counter_start(counter, NULL);
		perfev_counter_stop(counter, NULL);
	}
}

static void switch_bare(void *counter, int count)
{
	int fd = perfev_counter_fd(counter);

	while (count--) {
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	}
}

int main(void)
{
	struct perfev_event *event;
	struct perfev_counter *counter;
	struct perfev_error err;

	if (perfev_event_parse(&event, "page-faults:u", &err) < 0 ||
	    perfev_counter_open(&counter, event, perfev_on_self(), NULL, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	bench_pair("perfev_counter_read", "read(2)", read_perfev, read_bare, counter, 5000);
	bench_pair("start + stop", "two ioctls", switch_perfev, switch_bare, counter, 2000);
	perfev_counter_close(counter);
	perfev_event_free(event);
	return 0;
}
