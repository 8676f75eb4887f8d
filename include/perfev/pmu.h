/* SPDX-License-Identifier: MIT */
/*
 * perfev/pmu.h - PMUs: what can count here, and what its terms and events mean
 *
 * A PMU (performance monitoring unit) is a source of events: the CPU's counters, a memory controller,
 * the kernel's own counts. The kernel lists them in sysfs under bus/event_source/devices; this header
 * is a snapshot of that list, of this machine or of a copy of another one's tree.
 */
#ifndef PERFEV_PMU_H
#define PERFEV_PMU_H

#include <perfev/common.h>

PERFEV_BEGIN

struct perfev_pmus;

/* A term: where in the attr its value goes. "config1:0-7,32-35": bits of config1, lowest first. */
struct perfev_pmu_format {
	const char *name;
	const char *text; /* "config:0-7" */
};

/* An event that the kernel names. Its terms are what "pmu/NAME/" stands for. */
struct perfev_pmu_event {
	const char *name;
	const char *terms; /* "event=0x3c,umask=0x1"; "=?" is a value that the user must give */
	const char *unit;  /* of count x scale; "" when there is none */
	double scale;	   /* 1 when there is none */
	bool snapshot;	   /* a gauge: two readings are not to be subtracted */
	bool per_package;  /* the same on all CPUs of a package */
};

struct perfev_pmu_cap {
	const char *name, *value;
};

enum {
	PERFEV_PMU_CORE = 1 << 0,	 /* counters of CPUs: generic events are opened here */
	PERFEV_PMU_SYSTEM_WIDE = 1 << 1, /* counts the whole system (it has a cpumask): cannot follow a task */
	PERFEV_PMU_PARTIAL = 1 << 2	 /* a core PMU that some CPUs have and others have not */
};

struct perfev_pmu {
	const char *name;
	uint32_t type; /* for attr.type; differs from boot to boot */
	uint32_t flags;
	const int32_t *cpus; /* where its events are to be opened; cpu_count 0: anywhere */
	size_t cpu_count;
	uint64_t addr_filters; /* nr_addr_filters: how many address filters it takes */
	const char *identifier; /* "" when there is none */
	const struct perfev_pmu_format *formats;
	size_t format_count;
	const struct perfev_pmu_event *events;
	size_t event_count;
	const struct perfev_pmu_cap *caps;
	size_t cap_count;
};

/*
 * perfev_pmus_read() - the PMUs as they are now
 * @sysfs: where sysfs is: NULL for /sys, or the root of a copy (which has bus/event_source/devices)
 * Sorted by name, numbers in names by value. What cannot be read of a PMU is left out.
 * Return: 0; -ENOENT when there is no such folder; -ENOMEM.
 * Since: 0.1
 */
PERFEV_API int perfev_pmus_read(struct perfev_pmus **ret, const char *sysfs, struct perfev_error *err);
PERFEV_API void perfev_pmus_free(struct perfev_pmus *pmus);
PERFEV_API size_t perfev_pmus_count(const struct perfev_pmus *pmus);

/* perfev_pmus_at() - one of them; NULL when there is none of that number. Lives as long as @pmus. */
PERFEV_API const struct perfev_pmu *perfev_pmus_at(const struct perfev_pmus *pmus, size_t index);
/* perfev_pmus_find() - the one of that name, or NULL */
PERFEV_API const struct perfev_pmu *perfev_pmus_find(const struct perfev_pmus *pmus, const char *name);

/* perfev_pmu_cap_value() - a file of its folder caps, as text; NULL when it has none of that name */
PERFEV_API const char *perfev_pmu_cap_value(const struct perfev_pmu *pmu, const char *name);

/*
 * perfev_pmus_number() - a number that a file of a PMU's folder has, now
 * @file: its path there, as in "cpu0/trcidr/trcidr1"; decimal, or hexadecimal with 0x.
 * Return: true; false when there is no such file, or something else is in it.
 * Since: 0.1
 */
PERFEV_API bool perfev_pmus_number(const struct perfev_pmus *pmus, const char *pmu, const char *file, uint64_t *ret);

PERFEV_END

#endif
