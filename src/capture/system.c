/* SPDX-License-Identifier: MIT */
/*
 * Facts about the machine and the user, from /proc, /sys and the limits of this process. What cannot
 * be read is marked as not known, and never guessed.
 */
#include <perfev/probe.h>

#include "kernel/sys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN INT64_MIN

static int64_t number_of(const char *text)
{
	char *end;
	long long value = strtoll(text, &end, 10);

	return end == text ? UNKNOWN : value;
}

static int64_t read_number(const char *path)
{
	char text[64];

	return sys_read_text(path, text, sizeof(text)) > 0 ? number_of(text) : UNKNOWN;
}

static int64_t limit_number(uint64_t limit)
{
	return limit > INT64_MAX ? INT64_MAX : (int64_t)limit;
}

/* The value of a "name<separator>value" line; text is cut at the end of the line. */
static bool line_value(const char *text, const char *name, char *ret, size_t size)
{
	size_t name_size = strlen(name), n;
	const char *at;

	for (at = text; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
		if (strncmp(at, name, name_size))
			continue;
		at += name_size;
		at += strspn(at, " \t:");
		n = strcspn(at, "\n");
		if (n >= size)
			n = size - 1;
		memcpy(ret, at, n);
		ret[n] = 0;
		return true;
	}
	return false;
}

static void read_cpu(struct perfev_system *ret)
{
	char text[4096], vendor[32], family[16], model[16], stepping[16];

	if (sys_read_text("/proc/cpuinfo", text, sizeof(text)) <= 0)
		return;
	if (!line_value(text, "model name", ret->cpu_desc, sizeof(ret->cpu_desc)) &&
	    !line_value(text, "Processor", ret->cpu_desc, sizeof(ret->cpu_desc)) &&
	    !line_value(text, "cpu\t", ret->cpu_desc, sizeof(ret->cpu_desc)))
		line_value(text, "uarch", ret->cpu_desc, sizeof(ret->cpu_desc));
	if (line_value(text, "vendor_id", vendor, sizeof(vendor)) &&
	    line_value(text, "cpu family", family, sizeof(family)) &&
	    line_value(text, "model\t", model, sizeof(model)) &&
	    line_value(text, "stepping", stepping, sizeof(stepping)))
		snprintf(ret->cpu_id, sizeof(ret->cpu_id), "%s,%s,%s,%s", vendor, family, model,
			 stepping);
	else
		sys_read_text("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1",
			      ret->cpu_id, sizeof(ret->cpu_id));
}

static void read_memory(struct perfev_system *ret)
{
	char text[512], value[64];

	if (sys_read_text("/proc/meminfo", text, sizeof(text)) > 0 &&
	    line_value(text, "MemTotal", value, sizeof(value)))
		ret->memory_kb = number_of(value);
}

static void read_status(struct perfev_system *ret)
{
	char text[4096], value[64];

	if (sys_read_text("/proc/self/status", text, sizeof(text)) <= 0)
		return;
	if (line_value(text, "CapEff", value, sizeof(value)))
		ret->capabilities = strtoull(value, NULL, 16);
	if (line_value(text, "Seccomp:", value, sizeof(value)))
		ret->seccomp = number_of(value);
}

static int64_t count_cpus(const char *path, bool highest)
{
	char text[4096];
	int32_t *cpus;
	size_t count;
	int64_t n;

	if (sys_read_text(path, text, sizeof(text)) <= 0 ||
	    perfev_cpus_parse(&cpus, &count, text, NULL) < 0)
		return UNKNOWN;
	n = highest && count ? cpus[count - 1] + 1 : (int64_t)count;
	free(cpus);
	return n;
}

static void read_limits(struct perfev_system *ret)
{
	uint64_t soft, hard;

	if (sys_limit(SYS_LIMIT_FILES, &soft, &hard) == 0) {
		ret->files_soft = limit_number(soft);
		ret->files_hard = limit_number(hard);
	}
	if (sys_limit(SYS_LIMIT_LOCKED_MEMORY, &soft, &hard) == 0) {
		ret->memlock_soft = limit_number(soft);
		ret->memlock_hard = limit_number(hard);
	}
}

void perfev_system_read(struct perfev_system *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->memory_kb = UNKNOWN;
	ret->files_soft = ret->files_hard = UNKNOWN;
	ret->memlock_soft = ret->memlock_hard = UNKNOWN;
	ret->seccomp = UNKNOWN;
	ret->uid = sys_uid();
	sys_names(ret->hostname, ret->release, ret->arch, sizeof(ret->hostname));
	read_cpu(ret);
	read_memory(ret);
	read_status(ret);
	read_limits(ret);
	ret->cpus_available = count_cpus("/sys/devices/system/cpu/possible", true);
	ret->cpus_online = count_cpus("/sys/devices/system/cpu/online", false);
	ret->paranoid = read_number("/proc/sys/kernel/perf_event_paranoid");
	ret->kptr_restrict = read_number("/proc/sys/kernel/kptr_restrict");
	ret->max_sample_rate = read_number("/proc/sys/kernel/perf_event_max_sample_rate");
	ret->mlock_kb = read_number("/proc/sys/kernel/perf_event_mlock_kb");
	ret->max_stack = read_number("/proc/sys/kernel/perf_event_max_stack");
}
