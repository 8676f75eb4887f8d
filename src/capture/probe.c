/* SPDX-License-Identifier: MIT */
/*
 * Probing: each ability is tried by the smallest request that needs it. An answer that comes from a
 * version number would be wrong on kernels with backports, in containers, and under security modules.
 */
#include "explain.h"
#include "tracefs.h"

#include "base/error.h"
#include "kernel/sys.h"

#include <perfev/probe.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A request: what is opened, on whom, and what to say when it is refused. */
struct probe {
	const char *name;
	const char *title;
	int (*attempt)(struct perfev_error *err);
	const char *since; /* the kernel that brought it: its absence is EINVAL */
};

static struct perf_event_attr harmless(void)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.disabled = 1;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	return attr;
}

/* Opens and closes; explains a refusal. */
static int try_attr(const char *name, struct perf_event_attr *attr, int pid, int cpu,
		    struct perfev_error *err)
{
	struct explain_open facts = {
		.event = name, .attr = attr, .pid = pid, .cpu = cpu, .group_fd = -1, .need_files = 1};
	uint32_t size = attr->size;
	int fd = sys_perf_event_open(attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0) {
		sys_close(fd);
		return 0;
	}
	if (fd == -E2BIG && attr->size != size) {
		facts.known_size = attr->size;
		attr->size = size;
	}
	return explain_open(fd, &facts, err);
}

static int first_cpu(void)
{
	int32_t *cpus;
	size_t count;
	int cpu = 0;

	if (perfev_cpus_online(&cpus, &count, NULL) == 0) {
		if (count)
			cpu = cpus[0];
		free(cpus);
	}
	return cpu;
}

static int try_open(struct perfev_error *err)
{
	struct perf_event_attr attr = harmless();

	return try_attr("a software event", &attr, 0, -1, err);
}

static int try_kernel(struct perfev_error *err)
{
	struct perf_event_attr attr = harmless();

	attr.exclude_kernel = 0;
	attr.exclude_hv = 0;
	return try_attr("kernel code", &attr, 0, -1, err);
}

static int try_cpu(struct perfev_error *err)
{
	struct perf_event_attr attr = harmless();

	return try_attr("a software event", &attr, -1, first_cpu(), err);
}

static int try_hardware(struct perfev_error *err)
{
	struct perf_event_attr attr = harmless();

	attr.type = PERF_TYPE_HARDWARE;
	attr.config = PERF_COUNT_HW_CPU_CYCLES;
	return try_attr("cycles", &attr, 0, -1, err);
}

static int try_sample(struct perfev_error *err)
{
	struct perf_event_attr attr = harmless();
	struct explain_open facts = {.event = "cpu-clock",
				     .attr = &attr,
				     .cpu = -1,
				     .group_fd = -1,
				     .ring_bytes = 512 * 1024};
	size_t size = sys_page_size() + (size_t)facts.ring_bytes;
	void *at;
	int fd, r;

	attr.config = PERF_COUNT_SW_CPU_CLOCK;
	attr.sample_period = 1000000;
	attr.sample_type = PERF_SAMPLE_IP;
	r = try_attr("cpu-clock", &attr, 0, -1, err);
	if (r < 0)
		return r;
	fd = sys_perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return error_errno(err, fd, "cannot open cpu-clock");
	r = sys_mmap(&at, size, true, fd, 0);
	if (r == 0)
		sys_munmap(at, size);
	sys_close(fd);
	return r < 0 ? explain_open(r, &facts, err) : 0;
}

static int try_read_lost(struct perfev_error *err)
{
	struct perf_event_attr attr = harmless();

	attr.read_format = PERF_FORMAT_LOST;
	return try_attr("an event with PERF_FORMAT_LOST", &attr, 0, -1, err);
}

static int absent(struct perfev_error *err, enum perfev_why why, const char *text)
{
	return error_set(err, -ENODEV, why, ERROR_NOWHERE, "%s", text);
}

/* A counter whose mapped page says that the CPU's instruction may read it. */
static int try_user_read(struct perfev_error *err)
{
	struct perf_event_attr attr = harmless();
	struct perf_event_mmap_page *page;
	size_t size = sys_page_size();
	void *at;
	bool able = false;
	int fd, r;

	r = try_hardware(err);
	if (r < 0)
		return r;
	attr.type = PERF_TYPE_HARDWARE;
	attr.config = PERF_COUNT_HW_CPU_CYCLES;
	fd = sys_perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return error_errno(err, fd, "cannot open cycles");
	if (sys_mmap(&at, size, false, fd, 0) == 0) {
		page = at;
		able = page->cap_user_rdpmc;
		sys_munmap(at, size);
	}
	sys_close(fd);
	if (able)
		return 0;
	return absent(err, PERFEV_WHY_UNSUPPORTED,
		      "cannot read counters without a system call: the kernel does not allow it "
		      "(cap_user_rdpmc is 0); on x86 write 1 or 2 to the PMU's rdpmc file, on arm64 set "
		      "kernel.perf_user_access=1");
}

static int try_tracepoints(struct perfev_error *err)
{
	char root[512], path[640];
	int r = try_open(err);

	if (r < 0)
		return r;
	r = tracefs_find(root, sizeof(root));
	if (r == 0) {
		snprintf(path, sizeof(path), "%s/events/syscalls", root);
		if (sys_can_read(path))
			return 0;
		snprintf(path, sizeof(path), "%s/events/header_page", root);
		r = sys_can_read(path) ? 0 : -EACCES;
	}
	return r < 0 ? tracefs_refused(r, root, "sched:sched_switch", err) : 0;
}

static uint32_t pmu_type(const char *name)
{
	char path[96], text[24];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", name);
	return sys_read_text(path, text, sizeof(text)) > 0 ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

/* Rights are looked at before the place of the probe, of which there is none: nothing is put anywhere. */
static int try_probe(uint32_t type, const char *pmu, const char *what, struct perfev_error *err)
{
	struct perf_event_attr attr = harmless();
	struct explain_open facts = {.event = what, .pmu = pmu, .attr = &attr, .cpu = -1, .group_fd = -1};
	int fd;

	attr.type = type;
	attr.config = 0;
	fd = sys_perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0)
		sys_close(fd);
	return fd == -EACCES || fd == -EPERM || fd == -ENOSYS ? explain_open(fd, &facts, err) : 0;
}

/* Without the PMU a file of tracefs takes probes. */
static int try_probes(const char *pmu, const char *file, const char *what, const char *option,
		      struct perfev_error *err)
{
	uint32_t type = pmu_type(pmu);
	char root[512], path[640];
	int r;

	if (type)
		return try_probe(type, pmu, what, err);
	r = try_open(err);
	if (r < 0)
		return r;
	if (tracefs_find(root, sizeof(root)) == 0) {
		snprintf(path, sizeof(path), "%s/%s", root, file);
		if (sys_can_read(path))
			return 0;
	}
	return error_set(err, -ENODEV, PERFEV_WHY_NO_PMU, ERROR_NOWHERE,
			 "cannot open %s: the kernel has no %s PMU (%s), and no %s in tracefs that this user may "
			 "read; use another kernel, or run as root",
			 what, pmu, option, file);
}

static int try_kprobes(struct perfev_error *err)
{
	return try_probes("kprobe", "kprobe_events", "probes in the kernel", "CONFIG_KPROBE_EVENTS", err);
}

static int try_uprobes(struct perfev_error *err)
{
	return try_probes("uprobe", "uprobe_events", "probes in programs", "CONFIG_UPROBE_EVENTS", err);
}

static int try_breakpoints(struct perfev_error *err)
{
	static int watched;
	struct perf_event_attr attr = harmless();

	attr.type = PERF_TYPE_BREAKPOINT;
	attr.config = 0;
	attr.bp_type = HW_BREAKPOINT_W;
	attr.bp_addr = (uint64_t)(uintptr_t)&watched;
	attr.bp_len = sizeof(watched);
	return try_attr("a watch on a variable", &attr, 0, -1, err);
}

/* The first symbols may truly be at 0: those of the memory of each CPU, on x86 up to 6.14. */
static bool any_address(const char *text)
{
	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (strtoull(text, NULL, 16) != 0 || (*text && strspn(text, "0") < 8))
			return true;
	}
	return false;
}

static int try_kernel_symbols(struct perfev_error *err)
{
	char text[4096];

	if (sys_read_text("/proc/kallsyms", text, sizeof(text)) <= 0)
		return absent(err, PERFEV_WHY_NOT_FOUND,
			      "cannot name kernel functions: /proc/kallsyms cannot be read; use a kernel "
			      "with CONFIG_KALLSYMS");
	if (any_address(text))
		return 0;
	return absent(err, PERFEV_WHY_CAPABILITY,
		      "cannot name kernel functions: /proc/kallsyms shows zeros to this user; run as "
		      "root, or run sysctl kernel.kptr_restrict=0 and kernel.perf_event_paranoid=1");
}

static int try_build_id(struct perfev_error *err)
{
	struct perf_event_attr attr = harmless();

	attr.mmap = 1;
	attr.mmap2 = 1;
	attr.build_id = 1;
	return try_attr("an event with build-ids", &attr, 0, -1, err);
}

static int try_inherit_read(struct perfev_error *err)
{
	struct perf_event_attr attr = harmless();

	attr.inherit = 1;
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID;
	return try_attr("an inherited event with counts in its samples", &attr, 0, -1,
			err);
}

static int try_defer(struct perfev_error *err)
{
	struct perf_event_attr attr = harmless();

	attr.defer_output = 1;
	return try_attr("an event with deferred call chains", &attr, 0, -1, err);
}

static const struct probe probes[PERFEV_ABILITY_COUNT] = {
	[PERFEV_CAN_OPEN] = {"open", "use perf events", try_open, NULL},
	[PERFEV_CAN_COUNT_KERNEL] = {"count-kernel", "count kernel code of own tasks", try_kernel, NULL},
	[PERFEV_CAN_COUNT_CPU] = {"count-cpu", "count everything on a CPU", try_cpu, NULL},
	[PERFEV_CAN_HARDWARE] = {"hardware", "count with hardware (cycles)", try_hardware, NULL},
	[PERFEV_CAN_SAMPLE] = {"sample", "sample into a ring of 512 KiB", try_sample, NULL},
	[PERFEV_CAN_READ_LOST] = {"read-lost", "know exactly how much was lost", try_read_lost, "6.0"},
	[PERFEV_CAN_USER_READ] = {"user-read", "read counters without a system call", try_user_read, NULL},
	[PERFEV_CAN_TRACEPOINTS] = {"tracepoints", "use tracepoints", try_tracepoints, NULL},
	[PERFEV_CAN_KPROBES] = {"kprobes", "put probes into the kernel", try_kprobes, NULL},
	[PERFEV_CAN_UPROBES] = {"uprobes", "put probes into programs", try_uprobes, NULL},
	[PERFEV_CAN_BREAKPOINTS] = {"breakpoints", "watch a variable", try_breakpoints, NULL},
	[PERFEV_CAN_KERNEL_SYMBOLS] = {"kernel-symbols", "name kernel functions", try_kernel_symbols, NULL},
	[PERFEV_CAN_BUILD_ID] = {"build-id", "get build-ids from the kernel", try_build_id, "5.12"},
	[PERFEV_CAN_INHERIT_READ] = {"inherit-read", "inherit events that sample counts",
				     try_inherit_read, "6.12"},
	[PERFEV_CAN_DEFER] = {"defer", "defer user call chains", try_defer, "6.19"},
};

const char *perfev_ability_name(enum perfev_ability ability)
{
	return (unsigned)ability < PERFEV_ABILITY_COUNT ? probes[ability].name : NULL;
}

const char *perfev_ability_title(enum perfev_ability ability)
{
	return (unsigned)ability < PERFEV_ABILITY_COUNT ? probes[ability].title : NULL;
}

int perfev_probe(enum perfev_ability ability, struct perfev_error *err)
{
	int r;

	if ((unsigned)ability >= PERFEV_ABILITY_COUNT) {
		error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
			  "cannot probe ability %d: there is none of that number", (int)ability);
		return 0;
	}
	r = probes[ability].attempt(err);
	if (r == -EINVAL && probes[ability].since)
		error_set(err, r, PERFEV_WHY_OLD_KERNEL, ERROR_NOWHERE,
			  "cannot %s: this kernel does not know it; Linux %s does",
			  probes[ability].title, probes[ability].since);
	return r == 0;
}
