/* SPDX-License-Identifier: MIT */
/*
 * Tasks that are bound to a CPU.
 *
 * The kernel lets an event's time go on while its task is on another CPU, so that its two times do not tell whether it
 * had to wait for a counter. An event of software never has to: how long one has run is how long the task was
 * there. It is started last, stopped first, and read first, so that it never has run longer than an event that
 * always had a counter.
 */
#include "reading.h"
#include "set.h"

#include "base/buffer.h"
#include "kernel/sys.h"

#include <errno.h>
#include <stdlib.h>

/* Of those that wait for counters; others are right as they are. */
static bool waits(const struct perf_event_attr *attr)
{
	return attr->type != PERF_TYPE_SOFTWARE && attr->type != PERF_TYPE_TRACEPOINT &&
	       attr->type != PERF_TYPE_BREAKPOINT;
}

static int open_dummy(const struct plan_row *row, const struct perf_event_attr *like)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_DUMMY,
				       .size = PERF_ATTR_SIZE_VER0,
				       .read_format = READING_FORMAT,
				       .exclude_kernel = like->exclude_kernel,
				       .exclude_hv = like->exclude_hv,
				       .inherit = like->inherit,
				       .disabled = like->disabled,
				       .enable_on_exec = like->enable_on_exec};

	return sys_perf_event_open(&attr, row->pid, row->cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Rows of one place stand together. */
static int32_t find(const struct perfev_set *set, const struct plan_row *row)
{
	size_t i;

	for (i = set->place_count; i-- > 0;)
		if (set->places[i].pid == row->pid && set->places[i].cpu == row->cpu)
			return (int32_t)i;
	return -1;
}

static int add(struct perfev_set *set, size_t index)
{
	const struct members *members = &set->members;
	const struct plan_row *row = &members->plan.rows[index];
	const struct perf_event_attr *attr = &members->items[members->leaders[row->event]].attr;
	struct set_place *places;

	places = array_grow(set->places, &set->place_room, set->place_count, sizeof(*places));
	if (!places)
		return -ENOMEM;
	set->places = places;
	places[set->place_count].pid = row->pid;
	places[set->place_count].cpu = row->cpu;
	places[set->place_count].fd = open_dummy(row, attr);
	set->rows[index].place = (int32_t)set->place_count++;
	return 0;
}

int set_places_open(struct perfev_set *set)
{
	const struct members *members = &set->members;
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < members->plan.count; i++) {
		const struct plan_row *row = &members->plan.rows[i];

		set->rows[i].place = -1;
		if (members->plan.cgroup || row->pid < 0 || row->cpu < 0 || members->fds[i] < 0 ||
		    !waits(&members->items[row->event].attr))
			continue;
		set->rows[i].place = find(set, row);
		if (set->rows[i].place < 0)
			r = add(set, i);
		if (row->leader >= 0) /* which answers for it */
			set->rows[row->leader].place = set->rows[i].place;
	}
	return r;
}

void set_places_close(struct perfev_set *set)
{
	size_t i;

	for (i = 0; i < set->place_count; i++)
		if (set->places[i].fd >= 0)
			sys_close(set->places[i].fd);
	free(set->places);
}

void set_places_control(const struct perfev_set *set, unsigned request)
{
	size_t i;

	for (i = 0; i < set->place_count; i++)
		if (set->places[i].fd >= 0)
			sys_ioctl(set->places[i].fd, request, 0);
}

uint64_t set_ran_ns(const struct perfev_set *set, size_t row)
{
	static const struct perf_event_attr attr = {.read_format = READING_FORMAT};
	int32_t place = set->rows[row].place;
	struct perfev_reading reading;

	if (place < 0 || set->places[place].fd < 0 || reading_take(&reading, set->places[place].fd, &attr) < 0)
		return 0;
	return reading.running_ns;
}
