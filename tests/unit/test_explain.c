/* SPDX-License-Identifier: MIT */
/* Refusals: for each row of the table its facts give its reason, the values that were measured stand in
 * the text, and the remedy; and what remains true when a remedy was followed comes first. */
#include "test.h"

#include "capture/explain.h"

#include <errno.h>

#define UNKNOWN	 INT64_MIN
#define SOFTWARE .attr = {.type = PERF_TYPE_SOFTWARE}
#define CPU_WIDE .facts.pid = -1, .facts.cpu = 3
#define SELF	 .facts.cpu = -1

static struct perfev_error err;

struct row {
	int code;
	enum perfev_why why;
	const char *cause;  /* with the values that were measured */
	const char *remedy; /* NULL: only the errno is known */
	struct facts facts;
	struct perf_event_attr attr;
};

static const struct row rows[] = {
	{EPERM, PERFEV_WHY_SECCOMP, "seccomp filter refuses perf_event_open", "container's profile",
	 SELF, .facts.seccomp_refuses = true, SOFTWARE},
	{ENOSYS, PERFEV_WHY_SECCOMP, "seccomp filter refuses", "container's profile",
	 SELF, .facts.seccomp_refuses = true, SOFTWARE},
	{EPERM, PERFEV_WHY_LOCKED_MEMORY,
	 "a ring of 8192 KiB does not fit: perf_event_mlock_kb is 516 KiB for each CPU and user, and "
	 "RLIMIT_MEMLOCK 64 KiB", "ulimit -l",
	 SELF, .facts.ring_bytes = 8 << 20, .facts.system = {.mlock_kb = 516, .memlock_soft = 65536},
	 SOFTWARE},
	{EPERM, PERFEV_WHY_LOCKED_MEMORY, "perf_event_mlock_kb is unknown KiB", "smaller rings",
	 SELF, .facts.ring_bytes = 4096, .facts.system = {.mlock_kb = UNKNOWN, .memlock_soft = UNKNOWN},
	 SOFTWARE},
	{ENOMEM, PERFEV_WHY_MEMORY, "no memory for a ring of 512 KiB", "smaller rings",
	 SELF, .facts.ring_bytes = 512 << 10, SOFTWARE},
	{EINVAL, PERFEV_WHY_COMBINATION, "an inherited event must be bound to a CPU", "for each CPU",
	 SELF, .facts.ring_bytes = 4096, SOFTWARE},
	{EACCES, PERFEV_WHY_PARANOID, "perf_event_paranoid is 3, which forbids", "perf_event_paranoid=2",
	 SELF, .facts.system = {.paranoid = 3, .capabilities = PERFEV_CAP_PERFMON}, SOFTWARE},
	{EACCES, PERFEV_WHY_PARANOID, "perf_event_paranoid is 4, which forbids", "run as root",
	 SELF, .facts.system = {.paranoid = 4}, .attr = {.type = PERF_TYPE_HARDWARE}},
	{EACCES, PERFEV_WHY_OTHER_USER, "it belongs to uid 1001, and this process is uid 1000",
	 "run as that user", .facts.pid = 812, SELF, .facts.owner = 1001,
	 .facts.system = {.paranoid = 2, .uid = 1000}, SOFTWARE},
	{EACCES, PERFEV_WHY_PARANOID, "every task on a CPU needs perf_event_paranoid <= 0 and it is 1",
	 "perf_event_paranoid=0", CPU_WIDE, .facts.system = {.paranoid = 1}, SOFTWARE},
	{EACCES, PERFEV_WHY_PARANOID, "every task on a CPU needs perf_event_paranoid <= 0 and it is 2",
	 "perf_event_paranoid=0", .facts.pid = 7, .facts.cgroup = true, .facts.system = {.paranoid = 2},
	 SOFTWARE},
	{ENOENT, PERFEV_WHY_NO_PMU, "no hardware counters (no CPU PMU in sysfs)", "use cpu-clock",
	 SELF, .attr = {.type = PERF_TYPE_HARDWARE}},
	{ENODEV, PERFEV_WHY_NO_PMU, "no hardware counters", "use cpu-clock",
	 SELF, .attr = {.type = PERF_TYPE_RAW}},
	{EOPNOTSUPP, PERFEV_WHY_NO_PMU, "no hardware counters", "use cpu-clock",
	 SELF, .attr = {.type = PERF_TYPE_HW_CACHE, .sample_period = 1}},
	{EACCES, PERFEV_WHY_NO_PMU, "no hardware counters", "use cpu-clock",
	 SELF, .facts.system = {.paranoid = 2}, .attr = {.type = PERF_TYPE_HARDWARE}},
	{EACCES, PERFEV_WHY_PARANOID, "kernel counting needs perf_event_paranoid <= 1 and it is 2",
	 "add ':u'", SELF, .facts.system = {.paranoid = 2}, SOFTWARE},
	{EACCES, PERFEV_WHY_PARANOID, "kernel counting needs perf_event_paranoid <= 1 and it is 2",
	 "perf_event_paranoid=1", SELF, .facts.hardware_pmu = true, .facts.system = {.paranoid = 2},
	 .attr = {.type = PERF_TYPE_HARDWARE}},
	{EACCES, PERFEV_WHY_CAPABILITY, "namespaces records need CAP_PERFMON", "leave them out",
	 SELF, .facts.system = {.paranoid = 1}, .attr = {.type = PERF_TYPE_SOFTWARE, .namespaces = 1}},
	{EPERM, PERFEV_WHY_PARANOID, "perf_event_paranoid <= -1 or CAP_PERFMON, and the level is 1",
	 "grant CAP_PERFMON", SELF, .facts.system = {.paranoid = 1}, .attr = {.type = PERF_TYPE_TRACEPOINT}},
	{EACCES, PERFEV_WHY_CAPABILITY, "uid 1000 has no CAP_PERFMON, and perf_event_paranoid is 1",
	 "grant CAP_PERFMON", SELF, .facts.system = {.paranoid = 1, .uid = 1000}, SOFTWARE},
	{EPERM, PERFEV_WHY_CAPABILITY, "uid 1000 has no CAP_PERFMON, and perf_event_paranoid is -1",
	 "run as root", SELF, .facts.system = {.paranoid = -1, .uid = 1000}, SOFTWARE},
	{EPERM, PERFEV_WHY_UNSUPPORTED, "its PMU cannot leave out idle time", "leave exclude_idle out",
	 SELF, .facts.hardware_pmu = true, .facts.system = {.capabilities = PERFEV_CAP_PERFMON},
	 .attr = {.type = PERF_TYPE_RAW, .exclude_idle = 1}},
	{EPERM, PERFEV_WHY_CAPABILITY, "uid 1000 has no CAP_PERFMON", "run as root",
	 SELF, .facts.hardware_pmu = true, .facts.system = {.paranoid = 1, .uid = 1000},
	 .attr = {.type = PERF_TYPE_RAW, .exclude_idle = 1}},
	{EACCES, PERFEV_WHY_CAPABILITY, "a security module forbids it", "audit log",
	 SELF, .facts.system = {.capabilities = PERFEV_CAP_PERFMON}, SOFTWARE},
	{EPERM, PERFEV_WHY_OTHER, "Operation not permitted", NULL,
	 SELF, .facts.system = {.capabilities = PERFEV_CAP_SYS_ADMIN}, SOFTWARE},
	{EPERM, PERFEV_WHY_OTHER, "Operation not permitted", NULL, /* not for want of a capability */
	 SELF, .facts.system = {.capabilities = PERFEV_CAP_PERFMON}, .attr = {.type = PERF_TYPE_TRACEPOINT}},
	{ENOENT, PERFEV_WHY_NO_EVENT, "this machine does not have the event", "perfev list", SELF, SOFTWARE},
	{ENOENT, PERFEV_WHY_NO_EVENT, "this machine does not have the event", "perfev list",
	 SELF, .facts.hardware_pmu = true, .attr = {.type = PERF_TYPE_HW_CACHE}},
	{ENOENT, PERFEV_WHY_NO_PMU, "which it has cannot be seen: there is no /sys/bus/event_source/devices",
	 "mount -t sysfs sysfs /sys", SELF, .facts.no_sysfs = true, .attr = {.type = PERF_TYPE_HW_CACHE}},
	{ESRCH, PERFEV_WHY_NO_TASK, "no such process or thread", "look at the number", .facts.pid = 9,
	 SELF, SOFTWARE},
	{EINVAL, PERFEV_WHY_RATE, "its frequency is 200000 Hz and perf_event_max_sample_rate is 100000",
	 "sysctl kernel.perf_event_max_sample_rate=200000", SELF, .facts.system = {.max_sample_rate = 100000},
	 .attr = {.type = PERF_TYPE_SOFTWARE, .freq = 1, .sample_freq = 200000}},
	{EINVAL, PERFEV_WHY_RATE, "its frequency is 18446744073709551615 Hz and perf_event_max_sample_rate is 100000",
	 "; ask for less", SELF, .facts.system = {.max_sample_rate = 100000},
	 .attr = {.type = PERF_TYPE_SOFTWARE, .freq = 1, .sample_freq = UINT64_MAX}},
	{EINVAL, PERFEV_WHY_NO_CPU, "CPU 3 is not there, or offline (2 are online)", "cpu/online",
	 CPU_WIDE, .facts.no_cpu = true, .facts.system = {.cpus_online = 2}, SOFTWARE},
	{ENODEV, PERFEV_WHY_NO_CPU, "CPU 3 is not there, or offline (2 are online)", "cpu/online",
	 CPU_WIDE, .facts.no_cpu = true, .facts.system = {.cpus_online = 2}, SOFTWARE},
	{ENODEV, PERFEV_WHY_NO_CPU, "its PMU does not serve this CPU", "cpumask", CPU_WIDE, SOFTWARE},
	{EOPNOTSUPP, PERFEV_WHY_NOT_SAMPLING, "cannot sample as precisely as the 2 p ask", "use fewer p",
	 SELF, .attr = {.type = PERF_TYPE_SOFTWARE, .precise_ip = 2, .sample_period = 1}},
	{EOPNOTSUPP, PERFEV_WHY_NOT_SAMPLING, "no branch stacks", "leave the branch stack out",
	 SELF, .attr = {.type = PERF_TYPE_SOFTWARE, .sample_type = PERF_SAMPLE_BRANCH_STACK, .sample_period = 1}},
	{EOPNOTSUPP, PERFEV_WHY_NOT_SAMPLING, "can count it, but not sample it", "perfev stat",
	 SELF, .attr = {.type = PERF_TYPE_SOFTWARE, .sample_period = 1}},
	{EOPNOTSUPP, PERFEV_WHY_UNSUPPORTED, "does not support what was asked", "leave out options",
	 SELF, SOFTWARE},
	{EINVAL, PERFEV_WHY_ARGUMENT, "the kernel puts no probe there: it is no file", "an offset in it", SELF,
	 .facts.pmu = "uprobe", .facts.fault = {.count = 1, .names = {"the type"}}, .attr = {.type = 9}},
	{EINVAL, PERFEV_WHY_ARGUMENT, "the kernel puts no probe there", "an offset in it", SELF,
	 .facts.pmu = "uprobe", .facts.fault = {.count = 1, .names = {"config2 (0x999999)"}}, .attr = {.type = 9}},
	{EINVAL, PERFEV_WHY_ARGUMENT, "the kernel lets nothing watch its address 0xffffffff81000000", "another address",
	 SELF, .facts.fault = {.count = 1, .names = {"the type"}},
	 .facts.system = {.capabilities = PERFEV_CAP_SYS_ADMIN},
	 .attr = {.type = PERF_TYPE_BREAKPOINT, .bp_type = HW_BREAKPOINT_X, .bp_len = 8,
		  .bp_addr = UINT64_C(0xffffffff81000000)}},
	{EMFILE, PERFEV_WHY_FILES, "may have 16 open files, and 30 more are needed, and its hard limit is no more",
	 "raise ulimit -n as root", SELF, .facts.need_files = 30,
	 .facts.system = {.files_soft = 16, .files_hard = 16}, SOFTWARE},
	{EMFILE, PERFEV_WHY_FILES, "may have 1024 open files, and 4096 more are needed", "ulimit -n (up to 9999)",
	 SELF, .facts.need_files = 4096, .facts.system = {.files_soft = 1024, .files_hard = 9999}, SOFTWARE},
	{EMFILE, PERFEV_WHY_FILES, "may have 1024 open files", "ulimit -n",
	 SELF, .facts.system = {.files_soft = 1024, .files_hard = 9999}, SOFTWARE},
	{ENFILE, PERFEV_WHY_FILES, "the system's table of open files is full", "fs.file-max", SELF, SOFTWARE},
	{E2BIG, PERFEV_WHY_OLD_KERNEL, "this kernel knows 112 bytes of the attr, and a field beyond them is set",
	 "leave the newer option out", SELF, .facts.known_size = 112, SOFTWARE},
	{E2BIG, PERFEV_WHY_OLD_KERNEL, "this kernel knows 112 bytes of the attr, and config3 beyond them is set",
	 "leave the newer option out", SELF, .facts.known_size = 112,
	 .attr = {.type = PERF_TYPE_RAW, .size = sizeof(struct perf_event_attr), .config3 = 1, .config1 = 1}},
	{E2BIG, PERFEV_WHY_COMBINATION, "the group is too large", "split the group", SELF, SOFTWARE},
	{ENOSYS, PERFEV_WHY_NO_KERNEL, "no perf_event_open (CONFIG_PERF_EVENTS)", "another kernel",
	 SELF, SOFTWARE},
	{EBUSY, PERFEV_WHY_BUSY, "somebody else uses the PMU", "end the other measurement", SELF, SOFTWARE},
	{ENOSPC, PERFEV_WHY_COUNTERS, "all breakpoint registers are taken", "watch fewer places",
	 SELF, .attr = {.type = PERF_TYPE_BREAKPOINT}},
	{EINVAL, PERFEV_WHY_COMBINATION, "this combination of options", "leave options out", SELF, SOFTWARE},
	{ENOSPC, PERFEV_WHY_OTHER, "No space left on device", NULL, SELF, SOFTWARE},
	{EXDEV, PERFEV_WHY_OTHER, "ross-device link", NULL, SELF, SOFTWARE},
	{EFAULT, PERFEV_WHY_ARGUMENT, "the attr points to what cannot be read", "keep the probe's text", SELF,
	 SOFTWARE},
	{EAGAIN, PERFEV_WHY_BUSY, "could not take it just now", "try again", SELF, SOFTWARE},
	{ENOMEM, PERFEV_WHY_MEMORY, "the kernel has no memory for it", "fewer events", SELF, SOFTWARE},
	{ENODATA, PERFEV_WHY_COMBINATION, "only beside mem-loads-aux", "put mem-loads-aux before it", SELF,
	 .attr = {.type = PERF_TYPE_RAW}},
	{EBADF, PERFEV_WHY_ARGUMENT, "its group's leader is no open event", "open the group again", SELF, SOFTWARE},
	{EBADF, PERFEV_WHY_ARGUMENT, "not of a cgroup's folder", "/sys/fs/cgroup", .facts.pid = 7,
	 .facts.cgroup = true, SOFTWARE},
	{ENOENT, PERFEV_WHY_NOT_FOUND, "hierarchy of this cgroup has no perf controller", "cgroup of version 2",
	 .facts.pid = 7, .facts.cgroup = true, SOFTWARE},
	{EOVERFLOW, PERFEV_WHY_ARGUMENT, "of 500 frames are asked for, and perf_event_max_stack is 127",
	 "kernel.perf_event_max_stack", SELF, .facts.system = {.max_stack = 127},
	 .attr = {.type = PERF_TYPE_SOFTWARE, .sample_max_stack = 500}},
	{ENOSYS, PERFEV_WHY_UNSUPPORTED, "this architecture cannot copy user stacks", "frame pointers", SELF,
	 .attr = {.type = PERF_TYPE_SOFTWARE, .sample_type = PERF_SAMPLE_STACK_USER}},
	{ENODEV, PERFEV_WHY_NO_TASK, "the leader of its group has ended", "open the group again", SELF,
	 .facts.in_group = true, SOFTWARE},
	{EINVAL, PERFEV_WHY_ARGUMENT, "neither a task nor a CPU is named", "name one of them",
	 .facts.pid = -1, .facts.cpu = -1, SOFTWARE},
	{EACCES, PERFEV_WHY_CAPABILITY, "probes need CAP_PERFMON, whatever perf_event_paranoid is, and uid 1000",
	 "grant CAP_PERFMON", SELF, .facts.pmu = "uprobe", .facts.system = {.paranoid = -1, .uid = 1000},
	 .attr = {.type = 9, .exclude_kernel = 1}},
	{EACCES, PERFEV_WHY_PARANOID, "physical addresses, the kernel's call chains, branches and code need "
	 "perf_event_paranoid <= 1 and it is 2", "leave them out", SELF, .facts.system = {.paranoid = 2},
	 .attr = {.type = PERF_TYPE_SOFTWARE, .exclude_kernel = 1, .sample_type = PERF_SAMPLE_PHYS_ADDR}},
	{EPERM, PERFEV_WHY_CAPABILITY, "0xffffffff81000000 is an address of the kernel", "run as root", SELF,
	 .attr = {.type = PERF_TYPE_BREAKPOINT, .bp_type = HW_BREAKPOINT_W, .bp_len = 4,
		  .bp_addr = UINT64_C(0xffffffff81000000)}},
	{EPERM, PERFEV_WHY_CAPABILITY, "locked down for confidentiality", "leave PERF_SAMPLE_REGS_INTR out", SELF,
	 .facts.confidential = true, .facts.system = {.capabilities = PERFEV_CAP_SYS_ADMIN},
	 .attr = {.type = PERF_TYPE_SOFTWARE, .sample_type = PERF_SAMPLE_REGS_INTR}},
	{ENOENT, PERFEV_WHY_NO_PMU, "no PMU has the type 77", "perfev list", SELF, .facts.no_type = true,
	 .attr = {.type = 77}},
	{ENOENT, PERFEV_WHY_NO_EVENT, "the kernel has no function of that name", "/proc/kallsyms", SELF,
	 .facts.pmu = "kprobe", .attr = {.type = 8}},
	{ENOENT, PERFEV_WHY_NOT_FOUND, "the file of the program is not there", "give its path", SELF,
	 .facts.pmu = "uprobe", .attr = {.type = 9}},
	{EINVAL, PERFEV_WHY_COMBINATION, "its PMU power counts the whole system, and cannot follow a task", "-a",
	 SELF, .facts.pmu = "power", .facts.system_wide = true, .attr = {.type = 30}},
	{EINVAL, PERFEV_WHY_NOT_SAMPLING, "its PMU power counts, and cannot sample", "perfev stat",
	 CPU_WIDE, .facts.pmu = "power", .facts.system_wide = true, .attr = {.type = 30, .sample_period = 1}},
	{EINVAL, PERFEV_WHY_ARGUMENT, "bp_type says neither reads, writes nor code", "HW_BREAKPOINT_W", SELF,
	 .attr = {.type = PERF_TYPE_BREAKPOINT, .bp_len = 4}},
	{EOPNOTSUPP, PERFEV_WHY_UNSUPPORTED, "does not support sample_regs_user (0x1)", "leave it out", SELF,
	 .facts.fault = {.names = {"sample_regs_user (0x1)"}, .count = 1}, .attr = {.type = PERF_TYPE_SOFTWARE, .precise_ip = 1, .sample_period = 1}},
	{EINVAL, PERFEV_WHY_UNSUPPORTED, "x86 cannot watch for reads alone", "use :rw", SELF,
	 .facts.system = {.arch = "x86_64"},
	 .attr = {.type = PERF_TYPE_BREAKPOINT, .bp_type = HW_BREAKPOINT_R, .bp_len = 4}},
	{EINVAL, PERFEV_WHY_ARGUMENT, "has length 8 on x86, also in 32-bit programs, and 4 was given",
	 "leave the length out", SELF, .facts.system = {.arch = "i686"},
	 .attr = {.type = PERF_TYPE_BREAKPOINT, .bp_type = HW_BREAKPOINT_X, .bp_len = 4}},
	{EINVAL, PERFEV_WHY_ARGUMENT, "on 1, 2, 4 or 8 bytes, and 3 were given", "give one of these", SELF,
	 .facts.system = {.arch = "x86_64"},
	 .attr = {.type = PERF_TYPE_BREAKPOINT, .bp_type = HW_BREAKPOINT_W, .bp_len = 3}},
	{EINVAL, PERFEV_WHY_ARGUMENT, "its address 0x1002 is no multiple of its length, 4", "fewer bytes", SELF,
	 .facts.system = {.arch = "x86_64"},
	 .attr = {.type = PERF_TYPE_BREAKPOINT, .bp_type = HW_BREAKPOINT_W, .bp_len = 4, .bp_addr = 0x1002}},
	{EINVAL, PERFEV_WHY_COMBINATION, "the kernel does not take sigtrap without remove_on_exec", "add that",
	 SELF, .facts.fault = {.names = {"sigtrap"}, .count = 1, .needs = "remove_on_exec"}, SOFTWARE},
	{EINVAL, PERFEV_WHY_UNSUPPORTED, "its PMU cannot leave out modes, and exclude_user was asked for",
	 "leave the modifiers", SELF, .facts.fault = {.names = {"exclude_user"}, .count = 1}, .attr = {.type = 12}},
	{EINVAL, PERFEV_WHY_COMBINATION, "does not take enable_on_exec together with remove_on_exec and pinned",
	 "leave one of them out", SELF, .facts.fault = {.names = {"enable_on_exec", "remove_on_exec", "pinned"}, .count = 3},
	 SOFTWARE},
	{EINVAL, PERFEV_WHY_ARGUMENT, "does not take clockid (0x63)", "another value", SELF,
	 .facts.fault = {.names = {"clockid (0x63)"}, .count = 1}, SOFTWARE},
	{EOPNOTSUPP, PERFEV_WHY_UNSUPPORTED, "its PMU does not support aux_output", "leave it out", SELF,
	 .facts.fault = {.names = {"aux_output"}, .count = 1}, SOFTWARE},
	{EINVAL, PERFEV_WHY_OLD_KERNEL, "this kernel does not know sigtrap, which Linux 5.13 brought", "leave it out", SELF,
	 .facts.fault = {.names = {"sigtrap", "pinned"}, .count = 2, .unknown = "sigtrap", .since = "5.13"}, SOFTWARE},
	{EINVAL, PERFEV_WHY_ARGUMENT, "the kernel puts no probe there: not into this function", "take another function", SELF,
	 .facts.pmu = "kprobe", .facts.fault = {.names = {"the type"}, .count = 1}, .attr = {.type = 8}},
	{EOPNOTSUPP, PERFEV_WHY_ARGUMENT, "this CPU does not watch 8 bytes at once", "4, 2 or 1", SELF,
	 .facts.system = {.arch = "i686"}, .facts.fault = {.names = {"bp_len (0x8)"}, .count = 1},
	 .attr = {.type = PERF_TYPE_BREAKPOINT, .bp_type = HW_BREAKPOINT_W, .bp_len = 8}},
	{EINVAL, PERFEV_WHY_UNSUPPORTED, "this CPU does not tell writes from reads", "watch both", SELF,
	 .facts.system = {.arch = "armv7l"}, .facts.fault = {.names = {"the type"}, .count = 1},
	 .attr = {.type = PERF_TYPE_BREAKPOINT, .bp_type = HW_BREAKPOINT_W, .bp_len = 4}},
	{ENODEV, PERFEV_WHY_UNSUPPORTED, "this CPU has no debug registers", "uprobe", SELF,
	 .attr = {.type = PERF_TYPE_BREAKPOINT, .bp_type = HW_BREAKPOINT_W, .bp_len = 4}},
	{EOPNOTSUPP, PERFEV_WHY_UNSUPPORTED, "does not support a together with b", "leave one of them out", SELF,
	 .facts.fault = {.names = {"a", "b"}, .count = 2}, SOFTWARE},
};

/* One line that fits, as all errors are. */
static void check_shape(const char *text, const char *target)
{
	char begin[64];

	snprintf(begin, sizeof(begin), "cannot open some-event on %s: ", target);
	if (strncmp(text, begin, strlen(begin)))
		fail_msg("'%s' does not begin with '%s'", text, begin);
	assert_true(strlen(text) < sizeof(err.text) - 1);
	assert_null(strpbrk(text, "\n\r\t{}"));
	assert_true(text[strlen(text) - 1] != '.');
}

static const char *target_of(const struct facts *f)
{
	if (f->cgroup)
		return "a cgroup on CPU 0";
	if (f->pid == -1)
		return f->cpu < 0 ? "nothing" : "CPU 3";
	return f->pid == 0 ? "this thread" : f->pid == 9 ? "task 9" : "task 812";
}

static void test_rows(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct facts facts = rows[i].facts;
		struct perf_event_attr attr = rows[i].attr;

		facts.code = -rows[i].code;
		facts.event = "some-event";
		facts.attr = &attr;
		if (facts.owner == 0)
			facts.owner = UNKNOWN;
		memset(&err, 0xff, sizeof(err));
		assert_int_equal(explain(&facts, &err), -rows[i].code);
		if (err.why != rows[i].why || !strstr(err.text, rows[i].cause) ||
		    (rows[i].remedy && !strstr(strchr(err.text, ';') ? strrchr(err.text, ';') : "",
					       rows[i].remedy)))
			fail_msg("row %zu: %s: %s", i, perfev_why_name(err.why), err.text);
		assert_int_equal(err.code, -rows[i].code);
		assert_true(err.where == UINT64_MAX);
		check_shape(err.text, target_of(&facts));
		assert_int_equal(explain(&facts, NULL), -rows[i].code);
	}
}

/* Names and numbers of the greatest length. */
static void test_texts_fit(void **state)
{
	struct perf_event_attr attr;
	struct facts facts;
	char name[500];
	size_t i;

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *end = rows[i].remedy;

		facts = rows[i].facts;
		attr = rows[i].attr;
		facts.code = -rows[i].code;
		facts.event = name;
		facts.attr = &attr;
		if (facts.owner == 0)
			facts.owner = UNKNOWN;
		if (facts.ring_bytes)
			facts.ring_bytes = UINT64_MAX;
		if (facts.need_files)
			facts.need_files = UINT32_MAX;
		facts.system.mlock_kb = facts.system.memlock_soft = INT64_MIN + 1;
		facts.system.files_soft = facts.system.files_hard = INT64_MAX;
		if (facts.cpu >= 0)
			facts.cpu = INT32_MAX;
		explain(&facts, &err);
		assert_int_equal(err.why, rows[i].why);
		assert_true(strlen(err.text) < sizeof(err.text) - 1);
		if (end && !strchr(end, '(')) /* the end of the sentence is there */
			assert_says(end);
	}
}

static void test_targets(void **state)
{
	static const struct {
		int32_t pid, cpu;
		bool cgroup;
		const char *says;
	} targets[] = {
		{0, -1, false, "on this thread: "}, {0, 2, false, "on this thread on CPU 2: "},
		{812, -1, false, "on task 812: "},  {812, 2, false, "on task 812 on CPU 2: "},
		{-1, 2, false, "on CPU 2: "},	    {5, 2, true, "on a cgroup on CPU 2: "},
	};
	struct perf_event_attr attr;
	struct facts facts;
	size_t i;

	(void)state;
	memset(&attr, 0, sizeof(attr));
	memset(&facts, 0, sizeof(facts));
	attr.type = PERF_TYPE_SOFTWARE;
	facts.code = -EINVAL;
	facts.event = "cs";
	facts.attr = &attr;
	facts.owner = UNKNOWN;
	for (i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		facts.pid = targets[i].pid;
		facts.cpu = targets[i].cpu;
		facts.cgroup = targets[i].cgroup;
		explain(&facts, &err);
		assert_says(targets[i].says);
	}
}

/* A user who does what is said is not told the same again. */
static void test_order(void **state)
{
	struct perf_event_attr attr;
	struct facts facts;

	(void)state;
	memset(&attr, 0, sizeof(attr));
	memset(&facts, 0, sizeof(facts));
	attr.type = PERF_TYPE_HARDWARE;
	facts.code = -EACCES;
	facts.event = "cycles";
	facts.attr = &attr;
	facts.pid = 812;
	facts.cpu = -1;
	facts.owner = 0;
	facts.system.uid = 1000;
	facts.system.paranoid = 3;
	explain(&facts, &err);
	assert_says("perf_event_paranoid=2"); /* nothing else helps before */
	facts.system.paranoid = 2;
	explain(&facts, &err);
	assert_int_equal(err.why, PERFEV_WHY_OTHER_USER); /* ':u' would not help */
	facts.system.capabilities = PERFEV_CAP_SYS_PTRACE;
	explain(&facts, &err);
	assert_int_equal(err.why, PERFEV_WHY_NO_PMU); /* nor here */
	facts.hardware_pmu = true;
	explain(&facts, &err);
	assert_says("add ':u'");
	attr.exclude_kernel = 1;
	explain(&facts, &err);
	assert_int_equal(err.why, PERFEV_WHY_CAPABILITY);
	facts.system.capabilities |= PERFEV_CAP_SYS_ADMIN;
	explain(&facts, &err);
	assert_says("security module");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_rows),
	cmocka_unit_test(test_texts_fit),
	cmocka_unit_test(test_targets),
	cmocka_unit_test(test_order),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
