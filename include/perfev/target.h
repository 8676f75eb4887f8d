/* SPDX-License-Identifier: MIT */
/*
 * perfev/target.h - targets: whose work is counted, and where
 *
 * A target is a small value. Lists in it are borrowed until the call that it is given to returns; what
 * they name twice counts once.
 */
#ifndef PERFEV_TARGET_H
#define PERFEV_TARGET_H

#include <perfev/common.h>

PERFEV_BEGIN

enum perfev_target_kind {
	PERFEV_TARGET_TASK = 0, /* ids: threads; 0 is the calling thread */
	PERFEV_TARGET_PROCESS,	/* ids: processes, with all threads they have, and new ones */
	PERFEV_TARGET_CPU,	/* everything that runs on the CPUs */
	PERFEV_TARGET_CGROUP	/* ids: one descriptor of a cgroup directory */
};

struct perfev_target {
	uint32_t kind; /* enum perfev_target_kind */
	int32_t id;    /* when id_count is 0 */
	int32_t cpu;   /* when cpu_count is 0; -1: any CPU, or each of them for CPU and CGROUP; other negative numbers
			* and those in cpus are no CPU, and refused */
	uint32_t id_count;
	uint32_t cpu_count;
	const int32_t *ids;
	const int32_t *cpus;
};

static inline struct perfev_target perfev_target_of(uint32_t kind, int32_t id, int32_t cpu)
{
	struct perfev_target on;

	on.kind = kind;
	on.id = id;
	on.cpu = cpu;
	on.id_count = 0;
	on.cpu_count = 0;
	on.ids = NULL;
	on.cpus = NULL;
	return on;
}

/* perfev_on_self() - the calling thread */
static inline struct perfev_target perfev_on_self(void)
{
	return perfev_target_of(PERFEV_TARGET_TASK, 0, -1);
}

/* perfev_on_task() - one thread, wherever it runs */
static inline struct perfev_target perfev_on_task(int32_t tid)
{
	return perfev_target_of(PERFEV_TARGET_TASK, tid, -1);
}

/* perfev_on_task_cpu() - one thread, while it is on one CPU
 * The kernel lets the time of its events go on while the thread is elsewhere. A set finds the time on that CPU by
 * an event of its own, and gives that as enabled_ns. Counters and groups, which open what they are told to and no
 * more, give enabled_ns = running_ns: there, an event that had to take turns is not scaled. When the thread never was
 * on the CPU, running_ns is 0. */
static inline struct perfev_target perfev_on_task_cpu(int32_t tid, int32_t cpu)
{
	return perfev_target_of(PERFEV_TARGET_TASK, tid, cpu);
}

/* perfev_on_process() - all threads of a process, and those it will start; a set or a sampler */
static inline struct perfev_target perfev_on_process(int32_t pid)
{
	return perfev_target_of(PERFEV_TARGET_PROCESS, pid, -1);
}

/* perfev_on_cpu() - everything on one CPU; needs perf_event_paranoid <= 0 or CAP_PERFMON
 * A negative number, as of a CPU that was not found, is refused when something is opened, and not every CPU. */
static inline struct perfev_target perfev_on_cpu(int32_t cpu)
{
	return perfev_target_of(PERFEV_TARGET_CPU, -1, cpu < 0 ? INT32_MIN : cpu);
}

/* perfev_on_all_cpus() - everything on every CPU that is online; a set or a sampler */
static inline struct perfev_target perfev_on_all_cpus(void)
{
	return perfev_target_of(PERFEV_TARGET_CPU, -1, -1);
}

/* perfev_on_cgroup() - the tasks of a cgroup while they are on @cpu, or on each CPU when it is -1
 * @fd: an open cgroup directory (version 2, or of version 1's perf_event hierarchy) */
static inline struct perfev_target perfev_on_cgroup(int32_t fd, int32_t cpu)
{
	return perfev_target_of(PERFEV_TARGET_CGROUP, fd, cpu);
}

PERFEV_END

#endif
