/* SPDX-License-Identifier: MIT */
/*
 * Gathering the facts after a refused open: what the table of explain.c asks for. Runs once for each
 * failure that somebody wants explained, so it may read files; it opens nothing that stays open.
 */
#include "explain.h"

#include "kernel/sys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* PMUs of a CPU: "cpu" and its hybrid parts, arm's cores, s390's counters; any with a file "cpus". */
static bool is_core_pmu(const char *name)
{
	char path[320];

	if (!strcmp(name, "cpu") || !strncmp(name, "cpu_", 4) || !strncmp(name, "armv", 4) ||
	    !strcmp(name, "cpum_cf"))
		return true;
	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%.255s/cpus", name);
	return sys_can_read(path);
}

static bool has_hardware_pmu(bool *no_sysfs)
{
	struct sys_folder *folder;
	const char *name;
	bool found = false;
	int r = sys_folder_open(&folder, "/sys/bus/event_source/devices");

	*no_sysfs = r == -ENOENT;
	if (r < 0)
		return false;
	while (!found && sys_folder_next(folder, &name) > 0)
		found = is_core_pmu(name);
	sys_folder_close(folder);
	return found;
}

/* Types from PERF_TYPE_MAX on are numbers of PMUs. Without sysfs nothing is known. */
static bool lacks_type(uint32_t type)
{
	struct sys_folder *folder;
	char path[320], text[24];
	const char *name;
	bool some = false, found = false;

	if (type < PERF_TYPE_MAX || sys_folder_open(&folder, "/sys/bus/event_source/devices") < 0)
		return false;
	while (!found && sys_folder_next(folder, &name) > 0) {
		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%.255s/type", name);
		if (sys_read_text(path, text, sizeof(text)) <= 0)
			continue;
		some = true;
		found = strtoul(text, NULL, 10) == type;
	}
	sys_folder_close(folder);
	return some && !found;
}

static bool is_confidential(void)
{
	char text[80];

	return sys_read_text("/sys/kernel/security/lockdown", text, sizeof(text)) > 0 &&
	       strstr(text, "[confidentiality]");
}

static bool cpu_is_online(int32_t cpu)
{
	char path[80], text[8];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	if (sys_read_text(path, text, sizeof(text)) > 0)
		return text[0] == '1';
	/* CPU 0 often has no such file, because it cannot be taken offline */
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d", cpu);
	return sys_can_read(path);
}

/* Without a filter a NULL attr is a bad address. */
static bool seccomp_refuses(int code)
{
	int r;

	if (code != -EPERM && code != -EACCES && code != -ENOSYS)
		return false;
	r = sys_perf_event_open(NULL, 0, -1, -1, 0);
	if (r >= 0)
		sys_close(r);
	return r == code && code != -EACCES;
}

static void look_at_task(struct facts *facts)
{
	char path[64];
	uint32_t uid;

	facts->owner = INT64_MIN;
	if (facts->pid <= 0 || facts->cgroup)
		return;
	snprintf(path, sizeof(path), "/proc/%d", facts->pid);
	if (sys_owner(path, &uid) == 0)
		facts->owner = uid;
}

/* What the kernel says of a bad request, it says of every bad request; only trying tells which it is. */
static void look_for_fault(struct facts *facts, const struct explain_open *open)
{
	struct trial trial = {facts->code, open->attr,	   open->pid,
			      open->cpu,   open->group_fd, open->cgroup};

	if (!open->ring_bytes && !facts->no_cpu &&
	    (facts->code == -EINVAL || facts->code == -EOPNOTSUPP))
		trial_run(&facts->fault, &trial);
}

static void gather(struct facts *facts, int code, const struct explain_open *open)
{
	memset(facts, 0, sizeof(*facts));
	facts->code = code;
	facts->event = open->event;
	facts->pmu = open->pmu;
	facts->system_wide = open->system_wide;
	facts->attr = open->attr;
	facts->pid = open->pid;
	facts->cpu = open->cpu;
	facts->cgroup = open->cgroup;
	facts->in_group = open->group_fd >= 0;
	facts->known_size = open->known_size;
	facts->need_files = open->need_files;
	facts->ring_bytes = open->ring_bytes;
	perfev_system_read(&facts->system);
	look_at_task(facts);
	facts->no_cpu = open->cpu >= 0 && !cpu_is_online(open->cpu);
	facts->hardware_pmu = has_hardware_pmu(&facts->no_sysfs);
	facts->no_type = code == -ENOENT && lacks_type(open->attr->type);
	facts->confidential = code == -EPERM && is_confidential();
	facts->seccomp_refuses = facts->system.seccomp == 2 && !open->ring_bytes && seccomp_refuses(code);
	look_for_fault(facts, open);
}

int explain_open(int code, const struct explain_open *open, struct perfev_error *err)
{
	struct facts facts;

	if (!err)
		return code;
	gather(&facts, code, open);
	return explain(&facts, err);
}
