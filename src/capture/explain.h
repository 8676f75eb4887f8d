/* SPDX-License-Identifier: MIT */
/*
 * Why the kernel refused: facts, gathered once after a failure, and a table that turns them into one
 * sentence. The table is a pure function of the facts.
 */
#ifndef CAPTURE_EXPLAIN_H
#define CAPTURE_EXPLAIN_H

#include "trial.h"

#include <perfev/probe.h>
#include <perfev/abi.h>

struct facts {
	int code; /* the negative errno */
	const char *event;
	const char *pmu;		    /* NULL: a kind that has none */
	bool system_wide;		    /* its PMU counts the whole system */
	const struct perf_event_attr *attr; /* as it was tried */
	int32_t pid, cpu;		    /* as given to perf_event_open(2) */
	bool cgroup;			    /* pid is a descriptor of a cgroup */
	bool in_group;			    /* it was to join a group */
	uint64_t ring_bytes;		    /* not 0: mmap(2) of a ring was refused */
	struct perfev_system system;
	int64_t owner;	      /* uid of the task; INT64_MIN: not known */
	bool no_cpu;	      /* the CPU is not online */
	bool hardware_pmu;    /* sysfs shows a PMU of the CPU */
	bool no_sysfs;	      /* there is none, or it has no PMUs at all */
	bool no_type;	      /* sysfs shows PMUs, and none of this type */
	bool seccomp_refuses; /* the bare call is refused, whatever its arguments */
	bool confidential;    /* the kernel is locked down for confidentiality */
	uint32_t known_size;  /* E2BIG: the attr size that the kernel said it knows; 0 none */
	uint32_t need_files;  /* descriptors that the whole open needs; 0 not known */
	struct trial_result fault;
};

/* explain() - fill @err from facts; returns facts->code. */
int explain(const struct facts *facts, struct perfev_error *err);

/* What was asked for, of a refused open or mapping. */
struct explain_open {
	const char *event;
	const char *pmu;
	const struct perf_event_attr *attr;
	int32_t pid, cpu;
	int group_fd; /* -1: none */
	bool cgroup;
	bool system_wide;
	uint32_t known_size;
	uint32_t need_files;
	uint64_t ring_bytes;
};

/* explain_open() - gather the facts of a refused open, and explain; for EINVAL by trying again with less.
 * Does nothing when @err is NULL. */
int explain_open(int code, const struct explain_open *open, struct perfev_error *err);

/* explain_filter() - the same for a filter that was not taken */
int explain_filter(int code, const struct explain_open *open, const char *filter,
		   struct perfev_error *err);

#endif
