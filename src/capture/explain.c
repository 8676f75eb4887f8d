/* SPDX-License-Identifier: MIT */
/*
 * The table of refusals: {errno, predicate(facts), why, cause, remedy}; the first row that applies is
 * taken. Causes state what was measured, in braces: {paranoid} and so on are replaced by the facts.
 *
 * Order matters: what would still be refused after another remedy comes first, so that a user who
 * follows the advice is not refused a second time.
 */
#include "explain_text.h"

#include "base/error.h"

#include <errno.h>
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

/* Whether the machine has such is not known then. */
static bool hidden_hardware(const struct facts *f)
{
	return hardware(f) && f->no_sysfs && (f->code == -ENOENT || f->code == -ENODEV || f->code == -EOPNOTSUPP);
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

static bool files_at_most(const struct facts *f)
{
	return f->system.files_hard > 0 && f->system.files_soft >= f->system.files_hard;
}

/* No sysctl allows that either: it is an int. */
static bool rate_ever(const struct facts *f)
{
	return rate(f) && f->attr->sample_freq > INT32_MAX;
}

/* A field is at fault, as far as trying has told. */
static bool may_blame(const struct facts *f, const char *field)
{
	unsigned i;

	for (i = 0; i < f->fault.count; i++)
		if (!strncmp(f->fault.names[i], field, strlen(field)))
			return true;
	return f->fault.count == 0;
}

static bool precise(const struct facts *f)
{
	return f->attr->precise_ip > 0 && may_blame(f, "precise_ip");
}

static bool branches(const struct facts *f)
{
	return (f->attr->sample_type & PERF_SAMPLE_BRANCH_STACK) && may_blame(f, "PERF_SAMPLE_BRANCH_STACK");
}

static bool sampling(const struct facts *f)
{
	return f->attr->sample_period > 0 && may_blame(f, "sample_period");
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

/* ---- what the attr says ------------------------------------------------------------------------------- */

static bool x86(const struct facts *f)
{
	return !strcmp(f->system.arch, "x86_64") || (f->system.arch[0] == 'i' && strstr(f->system.arch, "86"));
}

static bool no_target(const struct facts *f)
{
	return f->pid == -1 && f->cpu == -1;
}

static bool breakpoint(const struct facts *f)
{
	return f->attr->type == PERF_TYPE_BREAKPOINT;
}

static bool kernel_breakpoint(const struct facts *f)
{
	return breakpoint(f) && f->attr->bp_addr >> 63 && !can(f, PERFEV_CAP_SYS_ADMIN);
}

static bool read_breakpoint(const struct facts *f)
{
	return breakpoint(f) && x86(f) && f->attr->bp_type == HW_BREAKPOINT_R;
}

static bool long_code_breakpoint(const struct facts *f)
{
	return breakpoint(f) && x86(f) && f->attr->bp_type == HW_BREAKPOINT_X && f->attr->bp_len != 8;
}

static bool odd_breakpoint(const struct facts *f)
{
	uint64_t n = f->attr->bp_len;

	return breakpoint(f) && (n < 1 || n > 8 || (x86(f) && (n & (n - 1))));
}

static bool idle_breakpoint(const struct facts *f)
{
	return breakpoint(f) && !(f->attr->bp_type & (HW_BREAKPOINT_RW | HW_BREAKPOINT_X));
}

static bool crooked_breakpoint(const struct facts *f)
{
	return breakpoint(f) && !odd_breakpoint(f) && f->attr->bp_type != HW_BREAKPOINT_X &&
	       f->attr->bp_addr % f->attr->bp_len;
}

static bool is_probe(const struct facts *f)
{
	return f->pmu && (!strcmp(f->pmu, "kprobe") || !strcmp(f->pmu, "uprobe"));
}

static bool kprobe(const struct facts *f)
{
	return f->pmu && !strcmp(f->pmu, "kprobe");
}

static bool uprobe(const struct facts *f)
{
	return f->pmu && !strcmp(f->pmu, "uprobe");
}

static bool unprivileged_probe(const struct facts *f)
{
	return is_probe(f) && !can(f, PERFEV_CAP_PERFMON);
}

static bool uncore_task(const struct facts *f)
{
	return f->system_wide && (f->pid >= 0 || f->cgroup);
}

static bool uncore_sampling(const struct facts *f)
{
	return f->system_wide && f->attr->sample_period;
}

static bool no_type(const struct facts *f)
{
	return f->no_type;
}

static bool cgroup(const struct facts *f)
{
	return f->cgroup;
}

static bool group(const struct facts *f)
{
	return f->in_group;
}

static bool user_stack(const struct facts *f)
{
	return f->attr->sample_type & PERF_SAMPLE_STACK_USER;
}

static bool kernel_data(const struct facts *f)
{
	return f->attr->exclude_kernel && f->system.paranoid >= 2 && !can(f, PERFEV_CAP_PERFMON) &&
	       ((f->attr->sample_type & PERF_SAMPLE_PHYS_ADDR) || f->attr->text_poke ||
		((f->attr->sample_type & PERF_SAMPLE_CALLCHAIN) && !f->attr->exclude_callchain_kernel) ||
		((f->attr->sample_type & PERF_SAMPLE_BRANCH_STACK) &&
		 (f->attr->branch_sample_type & (PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV))));
}

static bool confidential(const struct facts *f)
{
	return f->confidential && (f->attr->sample_type & PERF_SAMPLE_REGS_INTR);
}

static bool deep_stack(const struct facts *f)
{
	return f->system.max_stack != INT64_MIN &&
	       (int64_t)f->attr->sample_max_stack > f->system.max_stack;
}

/* ---- what was found by trying ------------------------------------------------------------------------- */

static bool modes(const struct facts *f)
{
	return f->fault.count == 1 && !strncmp(f->fault.names[0], "exclude_", 8);
}

static bool found_unknown(const struct facts *f)
{
	return f->fault.since != NULL;
}

static bool found_need(const struct facts *f)
{
	return f->fault.needs != NULL;
}

static bool found_one(const struct facts *f)
{
	return f->fault.count == 1;
}

/* What is to be watched is refused, and not how: all else was taken out. */
static bool found_place(const struct facts *f)
{
	return f->fault.count == 1 && (!strcmp(f->fault.names[0], "the type") || !strncmp(f->fault.names[0], "config", 6));
}

static bool probe_place(const struct facts *f)
{
	return uprobe(f) && found_place(f);
}

static bool kprobe_place(const struct facts *f)
{
	return kprobe(f) && found_place(f);
}

/* ARMs before the virtualization extensions report no direction. */
static bool one_way_breakpoint(const struct facts *f)
{
	return breakpoint(f) && !strncmp(f->system.arch, "arm", 3) && found_place(f) &&
	       (f->attr->bp_type == HW_BREAKPOINT_W || f->attr->bp_type == HW_BREAKPOINT_R);
}

static bool breakpoint_length(const struct facts *f)
{
	return breakpoint(f) && f->fault.count == 1 && !strncmp(f->fault.names[0], "bp_len", 6);
}

static bool breakpoint_place(const struct facts *f)
{
	return breakpoint(f) && f->attr->bp_addr >> 63 && found_place(f);
}

static bool found_some(const struct facts *f)
{
	return f->fault.count > 1;
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
	{EINVAL, no_target, PERFEV_WHY_ARGUMENT, "neither a task nor a CPU is named", "name one of them"},
	{EACCES, locked_down, PERFEV_WHY_PARANOID,
	 "perf_event_paranoid is {paranoid}, which forbids perf events to everybody but root "
	 "(CAP_PERFMON does not lift this level)",
	 "run as root, or run sysctl kernel.perf_event_paranoid=2 for user code"},
	{EACCES, other_user, PERFEV_WHY_OTHER_USER,
	 "it belongs to uid {owner}, and this process is uid {uid} without CAP_PERFMON",
	 "run as that user or as root, or grant CAP_PERFMON"},
	{EACCES, unprivileged_probe, PERFEV_WHY_CAPABILITY,
	 "probes need CAP_PERFMON, whatever perf_event_paranoid is, and uid {uid} has it not",
	 "run as root, or grant CAP_PERFMON"},
	{EACCES, any_task_on_cpu, PERFEV_WHY_PARANOID,
	 "counting every task on a CPU needs perf_event_paranoid <= 0 and it is {paranoid}",
	 "run as root, grant CAP_PERFMON, or run sysctl kernel.perf_event_paranoid=0"},
	{0, hidden_hardware, PERFEV_WHY_NO_PMU,
	 "the kernel has no PMU for it, and which it has cannot be seen: there is no /sys/bus/event_source/devices",
	 "use cpu-clock, or run mount -t sysfs sysfs /sys"},
	{0, missing_hardware, PERFEV_WHY_NO_PMU,
	 "this machine has no hardware counters (no CPU PMU in sysfs), common in virtual machines",
	 "use cpu-clock, or give the guest a virtual PMU"},
	{EACCES, kernel_mode, PERFEV_WHY_PARANOID,
	 "kernel counting needs perf_event_paranoid <= 1 and it is {paranoid}",
	 "add ':u', or run sysctl kernel.perf_event_paranoid=1"},
	{EACCES, kernel_data, PERFEV_WHY_PARANOID,
	 "physical addresses, the kernel's call chains, branches and code need "
	 "perf_event_paranoid <= 1 and it is {paranoid}",
	 "leave them out, or run sysctl kernel.perf_event_paranoid=1"},
	{EACCES, namespaces_bit, PERFEV_WHY_CAPABILITY, "namespaces records need CAP_PERFMON",
	 "run as root, or leave them out"},
	{EPERM, kernel_breakpoint, PERFEV_WHY_CAPABILITY,
	 "0x{address} is an address of the kernel, and to watch it needs CAP_SYS_ADMIN", "run as root"},
	{EPERM, confidential, PERFEV_WHY_CAPABILITY,
	 "the kernel is locked down for confidentiality, and gives out no registers",
	 "leave PERF_SAMPLE_REGS_INTR out"},
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
	{ENOENT, no_type, PERFEV_WHY_NO_PMU, "no PMU has the type {type}", "perfev list shows the PMUs"},
	{ENOENT, kprobe, PERFEV_WHY_NO_EVENT,
	 "the kernel has no function of that name, or none that can be probed",
	 "look for it in /proc/kallsyms, and in blacklist under kprobes in debugfs"},
	{ENOENT, uprobe, PERFEV_WHY_NOT_FOUND, "the file of the program is not there", "give its path"},
	{ENOENT, cgroup, PERFEV_WHY_NOT_FOUND,
	 "the hierarchy of this cgroup has no perf controller",
	 "take the cgroup of version 2, or of the version 1 hierarchy perf_event"},
	{ENOENT, always, PERFEV_WHY_NO_EVENT, "this machine does not have the event",
	 "perfev list shows those it has"},
	{ESRCH, always, PERFEV_WHY_NO_TASK, "there is no such process or thread, or it is ending",
	 "look at the number again"},
	{EINVAL, rate_ever, PERFEV_WHY_RATE,
	 "its frequency is {freq} Hz and perf_event_max_sample_rate is {rate}", "ask for less"},
	{EINVAL, rate, PERFEV_WHY_RATE,
	 "its frequency is {freq} Hz and perf_event_max_sample_rate is {rate}",
	 "ask for less, or run sysctl kernel.perf_event_max_sample_rate={freq}"},
	{EINVAL, no_cpu, PERFEV_WHY_NO_CPU, "CPU {cpu} is not there, or offline ({online} are online)",
	 "take one that /sys/devices/system/cpu/online lists"},
	{ENODEV, no_cpu, PERFEV_WHY_NO_CPU, "CPU {cpu} is not there, or offline ({online} are online)",
	 "take one that /sys/devices/system/cpu/online lists"},
	{ENODEV, group, PERFEV_WHY_NO_TASK, "the leader of its group has ended, or is on another CPU",
	 "open the group again"},
	{ENODEV, breakpoint, PERFEV_WHY_UNSUPPORTED, "this CPU has no debug registers, or does not give them away",
	 "count in another way, as code by a uprobe"},
	{ENODEV, always, PERFEV_WHY_NO_CPU, "its PMU does not serve this CPU, or its group has ended",
	 "take a CPU that the PMU's cpumask lists"},
	{EINVAL, uncore_task, PERFEV_WHY_COMBINATION,
	 "its PMU {pmu} counts the whole system, and cannot follow a task", "count on CPUs (-a, -C)"},
	{EINVAL, uncore_sampling, PERFEV_WHY_NOT_SAMPLING,
	 "its PMU {pmu} counts, and cannot sample", "use perfev stat"},
	{EINVAL, idle_breakpoint, PERFEV_WHY_ARGUMENT,
	 "bp_type says neither reads, writes nor code", "give one of HW_BREAKPOINT_W, _RW and _X"},
	{EINVAL, read_breakpoint, PERFEV_WHY_UNSUPPORTED,
	 "x86 cannot watch for reads alone, only for writes, or for both", "use :rw"},
	{EINVAL, long_code_breakpoint, PERFEV_WHY_ARGUMENT,
	 "a breakpoint on code has length 8 on x86, also in 32-bit programs, and {length} was given",
	 "leave the length out"},
	{EINVAL, odd_breakpoint, PERFEV_WHY_ARGUMENT,
	 "a watch is on 1, 2, 4 or 8 bytes, and {length} were given", "give one of these lengths"},
	{EINVAL, crooked_breakpoint, PERFEV_WHY_ARGUMENT,
	 "its address 0x{address} is no multiple of its length, {length}",
	 "watch fewer bytes, or from another address on"},
	{0, found_unknown, PERFEV_WHY_OLD_KERNEL, "this kernel does not know {unknown}, which Linux {since} brought",
	 "leave it out"},
	{0, found_need, PERFEV_WHY_COMBINATION, "the kernel does not take {fault} without {needs}",
	 "add that, or leave {fault} out"},
	{EINVAL, modes, PERFEV_WHY_UNSUPPORTED,
	 "its PMU cannot leave out modes, and {fault} was asked for",
	 "leave the modifiers u, k, h, G, H and I out"},
	{EINVAL, found_some, PERFEV_WHY_COMBINATION, "the kernel does not take {fault}",
	 "leave one of them out"},
	{EINVAL, probe_place, PERFEV_WHY_ARGUMENT,
	 "the kernel puts no probe there: it is no file, or its offset is not inside it",
	 "give a program or a library, and an offset in it"},
	{EINVAL, kprobe_place, PERFEV_WHY_ARGUMENT,
	 "the kernel puts no probe there: not into this function, or not at this offset",
	 "take another function, which is not in blacklist under kprobes in debugfs"},
	{EINVAL, one_way_breakpoint, PERFEV_WHY_UNSUPPORTED, "this CPU does not tell writes from reads",
	 "watch both: rw"},
	{0, breakpoint_length, PERFEV_WHY_ARGUMENT, "this CPU does not watch {length} bytes at once",
	 "watch fewer: 4, 2 or 1"},
	{EINVAL, breakpoint_place, PERFEV_WHY_ARGUMENT,
	 "the kernel lets nothing watch its address 0x{address}", "take another address"},
	{EINVAL, found_one, PERFEV_WHY_ARGUMENT, "the kernel does not take {fault}",
	 "leave it out, or give another value"},
	{EOPNOTSUPP, precise, PERFEV_WHY_NOT_SAMPLING,
	 "its PMU cannot sample as precisely as the {precise} p ask", "use fewer p"},
	{EOPNOTSUPP, branches, PERFEV_WHY_NOT_SAMPLING, "its PMU has no branch stacks",
	 "leave the branch stack out"},
	{EOPNOTSUPP, sampling, PERFEV_WHY_NOT_SAMPLING, "its PMU can count it, but not sample it",
	 "use perfev stat, or sample cpu-clock"},
	{EOPNOTSUPP, found_some, PERFEV_WHY_UNSUPPORTED, "its PMU does not support {fault}",
	 "leave one of them out"},
	{EOPNOTSUPP, found_one, PERFEV_WHY_UNSUPPORTED, "its PMU does not support {fault}", "leave it out"},
	{EOPNOTSUPP, always, PERFEV_WHY_UNSUPPORTED, "its PMU does not support what was asked",
	 "leave out options until it opens"},
	{EMFILE, files_at_most, PERFEV_WHY_FILES,
	 "this process may have {files} open files{need}, and its hard limit is no more",
	 "raise ulimit -n as root, or take fewer events, threads or CPUs"},
	{EMFILE, always, PERFEV_WHY_FILES,
	 "this process may have {files} open files{need}", "raise ulimit -n (up to {files_hard})"},
	{ENFILE, always, PERFEV_WHY_FILES, "the system's table of open files is full",
	 "raise sysctl fs.file-max"},
	{E2BIG, unknown_tail, PERFEV_WHY_OLD_KERNEL,
	 "this kernel knows {known} bytes of the attr, and {member} beyond them is set",
	 "leave the newer option out"},
	{E2BIG, always, PERFEV_WHY_COMBINATION, "the group is too large: reading it needs over 16 KiB",
	 "split the group"},
	{ENOSYS, user_stack, PERFEV_WHY_UNSUPPORTED, "this architecture cannot copy user stacks",
	 "use frame pointers"},
	{ENOSYS, always, PERFEV_WHY_NO_KERNEL,
	 "this kernel has no perf_event_open (CONFIG_PERF_EVENTS), or a sandbox hides it",
	 "use another kernel, or leave the sandbox"},
	{EOVERFLOW, deep_stack, PERFEV_WHY_ARGUMENT,
	 "call chains of {depth} frames are asked for, and perf_event_max_stack is {max_stack}",
	 "ask for less, or run sysctl kernel.perf_event_max_stack={depth}"},
	{EBADF, cgroup, PERFEV_WHY_ARGUMENT, "the descriptor is not of a cgroup's folder",
	 "open a folder under /sys/fs/cgroup"},
	{EBADF, always, PERFEV_WHY_ARGUMENT, "its group's leader is no open event", "open the group again"},
	{ENODATA, always, PERFEV_WHY_COMBINATION,
	 "on this CPU loads are sampled only beside mem-loads-aux, which leads the group",
	 "put mem-loads-aux before it, in a group with :S"},
	{EAGAIN, always, PERFEV_WHY_BUSY, "its PMU could not take it just now", "try again"},
	{EFAULT, always, PERFEV_WHY_ARGUMENT, "the attr points to what cannot be read",
	 "keep the probe's text until it is open"},
	{ENOMEM, always, PERFEV_WHY_MEMORY, "the kernel has no memory for it",
	 "ask for less: fewer events, shorter call chains"},
	{EBUSY, always, PERFEV_WHY_BUSY, "somebody else uses the PMU, which has one user at a time",
	 "end the other measurement first"},
	{ENOSPC, breakpoint, PERFEV_WHY_COUNTERS,
	 "all breakpoint registers are taken (x86 has 4 for each CPU)", "watch fewer places"},
	{EINVAL, always, PERFEV_WHY_COMBINATION,
	 "the kernel does not take this combination of options for this event",
	 "leave options out until it opens"},
};

int explain(const struct facts *facts, struct perfev_error *err)
{
	char target[48], cause[320], remedy[224];
	size_t i;

	explain_target(facts, target, sizeof(target));
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].code && rows[i].code != -facts->code)
			continue;
		if (!rows[i].applies(facts))
			continue;
		explain_expand(facts, rows[i].cause, cause, sizeof(cause));
		explain_expand(facts, rows[i].remedy, remedy, sizeof(remedy));
		return error_set(err, facts->code, rows[i].why, ERROR_NOWHERE,
				 "cannot open %.64s on %s: %s; %s", facts->event, target, cause, remedy);
	}
	return error_errno(err, facts->code, "cannot open %.64s on %s", facts->event, target);
}
