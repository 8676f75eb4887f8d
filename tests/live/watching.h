/* SPDX-License-Identifier: MIT */
/* What tests of live records share: an event that is watched, and what it wrote. */
#ifndef TESTS_LIVE_WATCHING_H
#define TESTS_LIVE_WATCHING_H

#include "live.h"

#include <fcntl.h>
#include <sys/stat.h>

static struct perfev_error err;
static struct perfev_sampler *sampler;

#define ID_FIELDS (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

/* An event whose attr a test changes before it is watched. */
static inline struct perfev_event *event_of(const char *text)
{
	struct perfev_event *event = NULL;

	assert_works(perfev_event_parse(&event, text, &err));
	perfev_event_attr(event)->sample_type = ID_FIELDS;
	return event;
}

/* Opens and starts. Only what this user may not, or this kernel does not know, is a reason to skip. */
static inline void watch(struct perfev_event *event, struct perfev_target on)
{
	int r = perfev_sampler_open(&sampler, (const struct perfev_event *const *)&event, 1, on, NULL, &err);

	perfev_event_free(event);
	if (r == -EACCES || r == -EPERM || (r < 0 && err.why == PERFEV_WHY_OLD_KERNEL))
		SKIP("%s", err.text);
	assert_works(r);
	assert_works(perfev_sampler_start(sampler, &err));
}

/* Stops, and shows @look each record of @type; the number of these. What there is beside is decoded. */
static inline int look_at(uint32_t type, void (*look)(const struct perfev_any *any, uint16_t misc))
{
	struct perfev_record record;
	struct perfev_any any;
	int n = 0;

	assert_works(perfev_sampler_stop(sampler, &err));
	while (perfev_sampler_wait(sampler, 0, &err) > 0) {
		while (perfev_sampler_next(sampler, &record, &err) > 0) {
			assert_works(perfev_any_decode(&any, &record, perfev_sampler_layout(sampler, &record), &err));
			if (record.type != type)
				continue;
			n++;
			if (look)
				look(&any, record.misc);
		}
		perfev_sampler_release(sampler);
	}
	return n;
}

static inline int teardown(void **state)
{
	(void)state;
	perfev_sampler_close(sampler);
	sampler = NULL;
	return 0;
}

static inline bool is_root(void)
{
	return geteuid() == 0;
}

static inline void sleep_ten_times(void)
{
	const struct timespec short_time = {0, 2000000}; /* long enough for a slow machine to fall asleep */
	int i;

	for (i = 0; i < 10; i++)
		nanosleep(&short_time, NULL);
}

/* The file handle of the folder is its number. */
static inline uint64_t number_of_folder(const char *path)
{
	uint64_t room[8] = {0}, number;
	struct file_handle *handle = (struct file_handle *)(void *)room;
	int mount;

	handle->handle_bytes = 8;
	if (name_to_handle_at(AT_FDCWD, path, handle, &mount, 0) < 0 || handle->handle_bytes != 8)
		return 0;
	memcpy(&number, (unsigned char *)room + sizeof(*handle), 8);
	return number;
}

static inline const char *cgroup_root(void)
{
	static const char *const roots[] = {"/sys/fs/cgroup/perf_event", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"};
	char file[80];
	size_t i;

	for (i = 0; i < 3; i++) {
		snprintf(file, sizeof(file), "%s/cgroup.procs", roots[i]);
		if (access(file, W_OK) == 0)
			return roots[i];
	}
	return NULL;
}

#endif
