/* SPDX-License-Identifier: MIT */
/* Reading and switching counters and groups, against the bare system calls on the same descriptors. */
#define BENCH_PAIRS 501
#include "bench.h"

#include <perfev/group.h>

#include <sys/ioctl.h>
#include <unistd.h>

#define MEMBERS 8

static void read_perfev(void *counter, int count)
{
	struct perfev_reading reading;

	while (count--)
		if (perfev_counter_read(counter, &reading, NULL) < 0)
			abort();
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

static void switch_fd(int fd, int count)
{
	while (count--) {
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	}
}

static void switch_bare(void *counter, int count)
{
	switch_fd(perfev_counter_fd(counter), count);
}

static void read_group(void *group, int count)
{
	struct perfev_reading readings[MEMBERS];

	while (count--)
		if (perfev_group_read(group, readings, MEMBERS, NULL) < 0)
			abort();
}

static void read_group_bare(void *group, int count)
{
	uint64_t words[3 + 2 * MEMBERS];
	int fd = perfev_counter_fd(perfev_group_at(group, 0));

	while (count--)
		if (read(fd, words, sizeof(words)) < 0)
			abort();
}

static void switch_group(void *group, int count)
{
	while (count--) {
		perfev_group_start(group, NULL);
		perfev_group_stop(group, NULL);
	}
}

static void switch_group_bare(void *group, int count)
{
	switch_fd(perfev_counter_fd(perfev_group_at(group, 0)), count);
}

int main(void)
{
	const struct perfev_event *members[MEMBERS];
	struct perfev_event *event;
	struct perfev_counter *counter;
	struct perfev_group *group;
	struct perfev_error err;
	int i;

	if (perfev_event_parse(&event, "page-faults:u", &err) < 0)
		goto failed;
	for (i = 0; i < MEMBERS; i++)
		members[i] = event;
	if (perfev_counter_open(&counter, event, perfev_on_self(), NULL, &err) < 0 ||
	    perfev_group_open(&group, members, MEMBERS, perfev_on_self(), NULL, &err) < 0)
		goto failed;
	bench_pair("perfev_counter_read", "read(2)", read_perfev, read_bare, counter, 200);
	bench_pair("perfev_group_read, 8 members", "read(2)", read_group, read_group_bare, group, 200);
	bench_pair("counter: start + stop", "two ioctls", switch_perfev, switch_bare, counter, 50);
	bench_pair("group of 8: start + stop", "two ioctls", switch_group, switch_group_bare, group, 30);
	perfev_group_close(group);
	perfev_counter_close(counter);
	perfev_event_free(event);
	return 0;
failed:
	fprintf(stderr, "%s\n", err.text);
	return 1;
}
