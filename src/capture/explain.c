/* SPDX-License-Identifier: MIT */
/*
 * The table of refusals: {errno, predicate(facts), why, cause, remedy}; the first row that applies is
 * taken. Causes state what was measured, in braces: {paranoid} and so on are replaced by the facts.
 *
 * Order matters: what would still be refused after another remedy comes first, so that a user who
 * follows the advice is not refused a second time.
 */
#include "explain.h"

#include "base/error.h"
#include "decode/attr.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct row {
	int code; /* 0: any */
	bool (*applies)(const struct facts *f);
	enum perfev_why why;
	const char *cause;
	const char *remedy;
};

static bool can(const struct facts *f, uint64_t capability)
{
	return f->system.capabilities & (capability | PERFEV_CAP_SYS_ADMIN);
}

static bool seccomp(const struct facts *f)
{
	return f->seccomp_refuses;
}

static bool locked_down(const struct facts *f)
{
	return f->system.paranoid >= 3 && !can(f, PERFEV_CAP_SYS_ADMIN);
}

static bool any_task_on_cpu(const struct facts *f)
{
	return (f->pid == -1 || f->cgroup) && f->system.paranoid >= 1 && !can(f, PERFEV_CAP_PERFMON);
}

static bool other_user(const struct facts *f)
{
	return f->pid > 0 && !f->cgroup && f->owner != INT64_MIN && f->owner != f->system.uid &&
	       !can(f, PERFEV_CAP_PERFMON | PERFEV_CAP_SYS_PTRACE);
}

static bool kernel_mode(const struct facts *f)
{
	return !f->attr->exclude_kernel && f->system.paranoid >= 2 && !can(f, PERFEV_CAP_PERFMON);
}

static bool namespaces_bit(const struct facts *f)
{
	return f->attr->namespaces && !can(f, PERFEV_CAP_PERFMON);
}

static bool unprivileged(const struct facts *f)
{
	return !can(f, PERFEV_CAP_PERFMON);
}

static bool ring(const struct facts *f)
{
	return f->ring_bytes > 0;
}

static bool hardware(const struct facts *f)
{
	return f->attr->type == PERF_TYPE_HARDWARE || f->attr->type == PERF_TYPE_HW_CACHE ||
	       f->attr->type == PERF_TYPE_RAW;
}

/* Permission is looked at first, so that a missing PMU may hide behind EACCES. */
static bool missing_hardware(const struct facts *f)
{
	return hardware(f) && !f->hardware_pmu &&
	       (f->code == -ENOENT || f->code == -ENODEV || f->code == -EOPNOTSUPP ||
		f->code == -EACCES);
}

static bool no_cpu(const struct facts *f)
{
	return f->no_cpu;
}

static bool rate(const struct facts *f)
{
	return f->attr->freq && f->system.max_sample_rate != INT64_MIN &&
	       f->attr->sample_freq > (uint64_t)f->system.max_sample_rate;
}

static bool precise(const struct facts *f)
{
	return f->attr->precise_ip > 0;
}

static bool branches(const struct facts *f)
{
	return f->attr->sample_type & PERF_SAMPLE_BRANCH_STACK;
}

static bool sampling(const struct facts *f)
{
	return f->attr->sample_period > 0;
}

static bool breakpoint(const struct facts *f)
{
	return f->attr->type == PERF_TYPE_BREAKPOINT;
}

static bool unknown_tail(const struct facts *f)
{
	return f->known_size > 0;
}

static bool idle(const struct facts *f)
{
	return f->attr->exclude_idle && f->attr->type != PERF_TYPE_SOFTWARE && can(f, PERFEV_CAP_PERFMON);
}

static bool tracepoint(const struct facts *f)
{
	return f->attr->type == PERF_TYPE_TRACEPOINT && !can(f, PERFEV_CAP_PERFMON);
}

static bool always(const struct facts *f)
{
	(void)f;
	return true;
}

static const struct row rows[] = {
	{0, seccomp, PERFEV_WHY_SECCOMP,
	 "a seccomp filter refuses perf_event_open to this process, as containers do by default",
	 "allow the system call in the container's profile, or run outside of it"},
	{EPERM, ring, PERFEV_WHY_LOCKED_MEMORY,
	 "a ring of {ring} KiB does not fit: perf_event_mlock_kb is {mlock} KiB for each CPU and user, "
	 "and RLIMIT_MEMLOCK {memlock} KiB",
	 "ask for smaller rings, raise ulimit -l, or run sysctl kernel.perf_event_mlock_kb"},
	{ENOMEM, ring, PERFEV_WHY_MEMORY, "the kernel has no memory for a ring of {ring} KiB",
	 "ask for smaller rings"},
	{EINVAL, ring, PERFEV_WHY_COMBINATION,
	 "the kernel refuses to map its ring: an inherited event must be bound to a CPU",
	 "open it for each CPU"},
	{EACCES, locked_down, PERFEV_WHY_PARANOID,
	 "perf_event_paranoid is {paranoid}, which forbids perf events to everybody but root "
	 "(CAP_PERFMON does not lift this level)",
	 "run as root, or run sysctl kernel.perf_event_paranoid=2 for user code"},
	{EACCES, other_user, PERFEV_WHY_OTHER_USER,
	 "it belongs to uid {owner}, and this process is uid {uid} without CAP_PERFMON",
	 "run as that user or as root, or grant CAP_PERFMON"},
	{EACCES, any_task_on_cpu, PERFEV_WHY_PARANOID,
	 "counting every task on a CPU needs perf_event_paranoid <= 0 and it is {paranoid}",
	 "run as root, grant CAP_PERFMON, or run sysctl kernel.perf_event_paranoid=0"},
	{0, missing_hardware, PERFEV_WHY_NO_PMU,
	 "this machine has no hardware counters (no CPU PMU in sysfs), common in virtual machines",
	 "use cpu-clock, or give the guest a virtual PMU"},
	{EACCES, kernel_mode, PERFEV_WHY_PARANOID,
	 "kernel counting needs perf_event_paranoid <= 1 and it is {paranoid}",
	 "add ':u', or run sysctl kernel.perf_event_paranoid=1"},
	{EACCES, namespaces_bit, PERFEV_WHY_CAPABILITY, "namespaces records need CAP_PERFMON",
	 "run as root, or leave them out"},
	{EPERM, tracepoint, PERFEV_WHY_PARANOID,
	 "raw tracepoint data need perf_event_paranoid <= -1 or CAP_PERFMON, and the level is {paranoid}",
	 "run as root, or grant CAP_PERFMON"},
	{EACCES, unprivileged, PERFEV_WHY_CAPABILITY,
	 "uid {uid} has no CAP_PERFMON, and perf_event_paranoid is {paranoid}",
	 "run as root, or grant CAP_PERFMON"},
	{EPERM, unprivileged, PERFEV_WHY_CAPABILITY,
	 "uid {uid} has no CAP_PERFMON, and perf_event_paranoid is {paranoid}",
	 "run as root, or grant CAP_PERFMON"},
	{EPERM, idle, PERFEV_WHY_UNSUPPORTED,
	 "this user may open it, but its PMU cannot leave out idle time (some on arm64 say so)",
	 "leave exclude_idle out"},
	{EACCES, always, PERFEV_WHY_CAPABILITY,
	 "a security module forbids it: this process has the capability",
	 "look at the audit log (SELinux class perf_event)"},
	{ENOENT, always, PERFEV_WHY_NO_EVENT, "this machine does not have the event",
	 "perfev list shows those it has"},
	{ESRCH, always, PERFEV_WHY_NO_TASK, "there is no such process or thread, or it is ending",
	 "look at the number again"},
	{EINVAL, rate, PERFEV_WHY_RATE,
	 "its frequency is {freq} Hz and perf_event_max_sample_rate is {rate}",
	 "ask for less, or run sysctl kernel.perf_event_max_sample_rate"},
	{EINVAL, no_cpu, PERFEV_WHY_NO_CPU, "CPU {cpu} is not there, or offline ({online} are online)",
	 "take one that /sys/devices/system/cpu/online lists"},
	{ENODEV, no_cpu, PERFEV_WHY_NO_CPU, "CPU {cpu} is not there, or offline ({online} are online)",
	 "take one that /sys/devices/system/cpu/online lists"},
	{ENODEV, always, PERFEV_WHY_NO_CPU, "its PMU does not serve this CPU, or its group has ended",
	 "take a CPU that the PMU's cpumask lists"},
	{EOPNOTSUPP, precise, PERFEV_WHY_NOT_SAMPLING,
	 "its PMU cannot sample as precisely as the {precise} p ask", "use fewer p"},
	{EOPNOTSUPP, branches, PERFEV_WHY_NOT_SAMPLING, "its PMU has no branch stacks",
	 "leave the branch stack out"},
	{EOPNOTSUPP, sampling, PERFEV_WHY_NOT_SAMPLING, "its PMU can count it, but not sample it",
	 "use perfev stat, or sample cpu-clock"},
	{EOPNOTSUPP, always, PERFEV_WHY_UNSUPPORTED, "its PMU does not support what was asked",
	 "leave out options until it opens"},
	{EMFILE, always, PERFEV_WHY_FILES,
	 "this process may have {files} open files{need}", "raise ulimit -n (up to {files_hard})"},
	{ENFILE, always, PERFEV_WHY_FILES, "the system's table of open files is full",
	 "raise sysctl fs.file-max"},
	{E2BIG, unknown_tail, PERFEV_WHY_OLD_KERNEL,
	 "this kernel knows {known} bytes of the attr, and {member} beyond them is set",
	 "leave the newer option out"},
	{E2BIG, always, PERFEV_WHY_COMBINATION, "the group is too large: reading it needs over 16 KiB",
	 "split the group"},
	{ENOSYS, always, PERFEV_WHY_NO_KERNEL,
	 "this kernel has no perf_event_open (CONFIG_PERF_EVENTS), or a sandbox hides it",
	 "use another kernel, or leave the sandbox"},
	{EBUSY, always, PERFEV_WHY_BUSY, "somebody else uses the PMU, which has one user at a time",
	 "end the other measurement first"},
	{ENOSPC, breakpoint, PERFEV_WHY_COUNTERS,
	 "all breakpoint registers are taken (x86 has 4 for each CPU)", "watch fewer places"},
	{EINVAL, always, PERFEV_WHY_COMBINATION,
	 "the kernel does not take this combination of options for this event",
	 "leave options out until it opens"},
};

/* What the kernel does not know of the attr. */
static void put_member(const struct facts *f, char *to, size_t size)
{
	const char *member = attr_set_beyond(f->attr, f->known_size, f->attr->size);

	snprintf(to, size, "%s", member ? member : "a field");
}

/* The value of a name in braces. */
static void put_fact(const struct facts *f, const char *name, char *to, size_t size)
{
	const struct perfev_system *s = &f->system;
	struct {
		const char *name;
		int64_t value;
	} const numbers[] = {
		{"paranoid", s->paranoid},
		{"uid", s->uid},
		{"owner", f->owner},
		{"cpu", f->cpu},
		{"online", s->cpus_online},
		{"rate", s->max_sample_rate},
		{"freq", (int64_t)f->attr->sample_freq},
		{"precise", f->attr->precise_ip},
		{"files", s->files_soft},
		{"files_hard", s->files_hard},
		{"known", f->known_size},
		{"ring", (int64_t)(f->ring_bytes / 1024)},
		{"mlock", s->mlock_kb},
		{"memlock", s->memlock_soft == INT64_MIN ? INT64_MIN : s->memlock_soft / 1024},
	};
	size_t i;

	to[0] = 0;
	if (!strcmp(name, "need") && f->need_files)
		snprintf(to, size, ", and %u more are needed", f->need_files);
	if (!strcmp(name, "member"))
		put_member(f, to, size);
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!strcmp(numbers[i].name, name)) {
			if (numbers[i].value == INT64_MIN)
				snprintf(to, size, "unknown");
			else
				snprintf(to, size, "%lld", (long long)numbers[i].value);
		}
}

static void expand(const struct facts *f, const char *from, char *to, size_t size)
{
	size_t used = 0;

	while (*from && used + 1 < size) {
		const char *close = *from == '{' ? strchr(from, '}') : NULL;
		char name[32], value[64];
		size_t n;

		if (!close || close - from - 1 >= (long)sizeof(name)) {
			to[used++] = *from++;
			continue;
		}
		n = (size_t)(close - from - 1);
		memcpy(name, from + 1, n);
		name[n] = 0;
		put_fact(f, name, value, sizeof(value));
		n = strlen(value) < size - 1 - used ? strlen(value) : size - 1 - used;
		memcpy(to + used, value, n);
		used += n;
		from = close + 1;
	}
	to[used] = 0;
}

static void put_target(const struct facts *f, char *to, size_t size)
{
	if (f->cgroup)
		snprintf(to, size, "a cgroup on CPU %d", f->cpu);
	else if (f->pid == -1)
		snprintf(to, size, "CPU %d", f->cpu);
	else if (f->pid == 0 && f->cpu < 0)
		snprintf(to, size, "this thread");
	else if (f->pid == 0)
		snprintf(to, size, "this thread on CPU %d", f->cpu);
	else if (f->cpu < 0)
		snprintf(to, size, "task %d", f->pid);
	else
		snprintf(to, size, "task %d on CPU %d", f->pid, f->cpu);
}

int explain(const struct facts *facts, struct perfev_error *err)
{
	char target[48], cause[256], remedy[160];
	size_t i;

	put_target(facts, target, sizeof(target));
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].code && rows[i].code != -facts->code)
			continue;
		if (!rows[i].applies(facts))
			continue;
		expand(facts, rows[i].cause, cause, sizeof(cause));
		expand(facts, rows[i].remedy, remedy, sizeof(remedy));
		return error_set(err, facts->code, rows[i].why, ERROR_NOWHERE,
				 "cannot open %.64s on %s: %s; %s", facts->event, target, cause, remedy);
	}
	return error_errno(err, facts->code, "cannot open %.64s on %s", facts->event, target);
}
