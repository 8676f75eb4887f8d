/* SPDX-License-Identifier: MIT */
/*
 * What the kernel refuses, and whether the reason is the true one: attrs with one bad field, or with
 * two that cannot go together. Each must be named. What this kernel takes, or what it lacks, is a skip
 * of that row alone, counted and printed.
 */
#include "live.h"

#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

static struct perfev_error err;
static int watched[4];

enum where { SELF, ON_CPU, CHILD_OF_GROUP };

struct row {
	const char *what;
	const char *names[3]; /* what the text has to have */
	enum where where;
	struct perf_event_attr attr;
};

#define FAULTS	   .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS, .exclude_kernel = 1
#define WATCH(t, n) .type = PERF_TYPE_BREAKPOINT, .bp_type = HW_BREAKPOINT_##t, .bp_len = (n), .exclude_kernel = 1
#define SAMPLES(s) .sample_period = 1000, .sample_type = (s)

/* Types of PMUs that are known only when it runs. */
enum { PMU_MSR = 0x10000, PMU_NONE };

static const struct row rows[] = {
	{"a reserved bit", {"a reserved bit"}, SELF, {FAULTS, .__reserved_1 = 1 << 23}},
	{"a reserved field", {"__reserved_2 (0x7)"}, SELF, {FAULTS, .__reserved_2 = 7}},
	{"an unknown sample", {"an unknown bit of sample_type"}, SELF, {FAULTS, SAMPLES(UINT64_C(1) << 40)}},
	{"an unknown format", {"an unknown bit of read_format"}, SELF, {FAULTS, .read_format = 1 << 12}},
	{"inherit_thread alone", {"inherit_thread without inherit"}, SELF, {FAULTS, .inherit_thread = 1}},
	{"exec: on and off", {"enable_on_exec", "remove_on_exec"}, SELF,
	 {FAULTS, .enable_on_exec = 1, .remove_on_exec = 1}},
	{"sigtrap alone", {"sigtrap without remove_on_exec"}, SELF, {FAULTS, .sigtrap = 1}},
	{"sigtrap on a CPU", {"sigtrap", "this target"}, ON_CPU, {FAULTS, .sigtrap = 1, .remove_on_exec = 1}},
	{"both weights", {"PERF_SAMPLE_WEIGHT together with PERF_SAMPLE_WEIGHT_STRUCT"}, SELF,
	 {FAULTS, SAMPLES(PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)}},
	{"a crooked stack", {"PERF_SAMPLE_STACK_USER", "sample_stack_user (0x7)"}, SELF,
	 {FAULTS, SAMPLES(PERF_SAMPLE_STACK_USER), .sample_stack_user = 7}},
	{"a large stack", {"PERF_SAMPLE_STACK_USER", "sample_stack_user (0x10000)"}, SELF,
	 {FAULTS, SAMPLES(PERF_SAMPLE_STACK_USER), .sample_stack_user = 65536}},
	{"no registers", {"PERF_SAMPLE_REGS_USER without sample_regs_user"}, SELF,
	 {FAULTS, SAMPLES(PERF_SAMPLE_REGS_USER)}},
	{"unknown registers", {"sample_regs_user (0x8000000000000000)"}, SELF,
	 {FAULTS, SAMPLES(PERF_SAMPLE_REGS_USER), .sample_regs_user = UINT64_C(1) << 63}},
	{"no registers of an interrupt", {"PERF_SAMPLE_REGS_INTR without sample_regs_intr"}, SELF,
	 {FAULTS, SAMPLES(PERF_SAMPLE_REGS_INTR)}},
	{"unknown registers of an interrupt", {"sample_regs_intr (0x8000000000000000)"},
	 SELF, {FAULTS, SAMPLES(PERF_SAMPLE_REGS_INTR), .sample_regs_intr = UINT64_C(1) << 63}},
	{"no branches", {"PERF_SAMPLE_BRANCH_STACK", "without a kind of branch"}, SELF,
	 {FAULTS, SAMPLES(PERF_SAMPLE_BRANCH_STACK)}},
	{"modes of no branches", {"PERF_SAMPLE_BRANCH_STACK", "without a kind of branch"}, SELF,
	 {FAULTS, SAMPLES(PERF_SAMPLE_BRANCH_STACK), .branch_sample_type = PERF_SAMPLE_BRANCH_USER}},
	{"unknown branches", {"PERF_SAMPLE_BRANCH_STACK", "branch_sample_type (0x100000000000)"}, SELF,
	 {FAULTS, SAMPLES(PERF_SAMPLE_BRANCH_STACK), .branch_sample_type = UINT64_C(1) << 44}},
	{"branches of software", {"its PMU has no branch stacks"}, SELF,
	 {FAULTS, SAMPLES(PERF_SAMPLE_BRANCH_STACK),
	  .branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY}},
	{"too often", {"its frequency is 1000000000 Hz", "perf_event_max_sample_rate"}, SELF,
	 {FAULTS, .freq = 1, .sample_freq = 1000000000}},
	{"too seldom", {"sample_period (0x8000000000000000)"}, SELF, {FAULTS, .sample_period = UINT64_C(1) << 63}},
	{"counts that are inherited", {"PERF_SAMPLE_READ together with inherit"}, SELF,
	 {FAULTS, SAMPLES(PERF_SAMPLE_READ), .inherit = 1}},
	{"no clock", {"clockid (0x63)", "use_clockid"}, SELF, {FAULTS, .use_clockid = 1, .clockid = 99}},
	{"a clock that cannot be read in an NMI", {"use_clockid"}, SELF,
	 {WATCH(W, 4), .use_clockid = 1, .clockid = 0}},
	{"modes of msr", {"cannot leave out modes, and exclude_user"}, SELF, {.type = PMU_MSR, .exclude_user = 1}},
	{"samples of msr", {"sample_period (0x64)"}, SELF, {.type = PMU_MSR, .sample_period = 100}},
	{"no register of msr", {"config (0x63)"}, SELF, {.type = PMU_MSR, .config = 99}},
	{"a watch for reads", {"x86 cannot watch for reads alone"}, SELF, {WATCH(R, 4)}},
	{"a short breakpoint", {"has length 8 on x86, also in 32-bit programs, and 4"}, SELF, {WATCH(X, 4)}},
	{"an odd watch", {"1, 2, 4 or 8 bytes, and 3 were given"}, SELF, {WATCH(W, 3)}},
	{"a crooked watch", {"is no multiple of its length, 4"}, SELF, {WATCH(W, 4), .bp_addr = 1}},
	{"pinned within a group", {"pinned", "its group"}, CHILD_OF_GROUP, {FAULTS, .pinned = 1}},
	{"exclusive within a group", {"exclusive", "its group"}, CHILD_OF_GROUP, {FAULTS, .exclusive = 1}},
	{"two clocks in a group", {"use_clockid", "its group"}, CHILD_OF_GROUP,
	 {FAULTS, .use_clockid = 1, .clockid = 1}},
	{"AUX data without AUX", {"aux_sample_size (0x1000)"}, SELF,
	 {FAULTS, SAMPLES(PERF_SAMPLE_AUX), .aux_sample_size = 4096}},
	{"AUX output of software", {"aux_output"}, SELF, {FAULTS, .aux_output = 1}},
	{"AUX actions of software", {"aux_action (0x1)"}, SELF, {FAULTS, .aux_action = 1}},
	{"deep stacks", {"call chains of 60000 frames", "perf_event_max_stack"}, SELF,
	 {FAULTS, SAMPLES(PERF_SAMPLE_CALLCHAIN), .exclude_callchain_kernel = 1, .sample_max_stack = 60000}},
	{"no such software event", {"this machine does not have the event"}, SELF,
	 {.type = PERF_TYPE_SOFTWARE, .config = 99, .exclude_kernel = 1}},
	{"no such tracepoint", {"config (0x98967f)"}, SELF, {.type = PERF_TYPE_TRACEPOINT, .config = 9999999}},
	{"no such PMU", {"no PMU has the type 65537"}, SELF, {.type = PMU_NONE}},
	{"a watch for nothing", {"bp_type says neither reads, writes nor code"}, SELF, {WATCH(EMPTY, 4)}},
	{"output of deferred chains", {"defer_output"}, SELF, {FAULTS, .defer_output = 1}},
	{"a member of a later kernel", {"config4 beyond them is set"}, SELF, {FAULTS, .config4 = 1}},
};

static uint32_t type_of(const char *pmu)
{
	char path[80], text[16] = "";
	int fd;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", pmu);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	return (uint32_t)strtoul(text, NULL, 10);
}

static bool complete(struct perf_event_attr *attr)
{
	bool msr = attr->type == PMU_MSR;

	if (attr->type == PERF_TYPE_BREAKPOINT)
		attr->bp_addr += (uint64_t)(uintptr_t)watched;
	if (msr)
		attr->type = type_of("msr");
	attr->size = sizeof(*attr);
	attr->disabled = 1;
	return !msr || attr->type != 0; /* there is none on this machine */
}

/* 0, or the refusal in err. */
static int try_row(const struct row *row, const struct perf_event_attr *attr)
{
	struct perf_event_attr leader = {FAULTS, .size = sizeof(leader), .disabled = 1};
	struct perfev_target on = row->where == ON_CPU ? perfev_on_cpu(0) : perfev_on_self();
	struct perfev_event *first, *event;
	struct perfev_events *events;
	struct perfev_set *set;
	int r;

	assert_works(perfev_events_new(&events, &err));
	assert_works(perfev_event_new(&first, "leader", &leader, &err));
	assert_works(perfev_event_new(&event, "bad", attr, &err));
	if (row->where == CHILD_OF_GROUP) {
		assert_works(perfev_events_add(events, first, -1, &err));
		assert_works(perfev_events_add(events, event, 0, &err));
	} else {
		assert_works(perfev_events_add(events, event, -1, &err));
	}
	r = perfev_set_open(&set, events, on, NULL, &err);
	if (r == 0)
		perfev_set_close(set);
	perfev_event_free(first);
	perfev_event_free(event);
	perfev_events_free(events);
	return r;
}

/* A kernel that is older than a part says so, whatever else is wrong with it. */
static bool names_all(const struct row *row)
{
	size_t i;

	if (err.why == PERFEV_WHY_OLD_KERNEL && strstr(err.text, "this kernel does not know "))
		return true;

	for (i = 0; i < 3 && row->names[i]; i++)
		if (!strstr(err.text, row->names[i]))
			return false;
	return true;
}

static bool x86(void)
{
	struct utsname name;

	return uname(&name) == 0 && strstr(name.machine, "86");
}

static void test_the_fault_is_named(void **state)
{
	size_t i, taken = 0, wrong = 0, right = 0;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct perf_event_attr attr = rows[i].attr;
		int r;

		if (!complete(&attr) || (attr.type == PERF_TYPE_BREAKPOINT && !x86()))
			continue;
		r = try_row(&rows[i], &attr);
		if (r == -EACCES || r == -EPERM || r == -ENOSYS)
			continue; /* this user may not even do it wrongly */
		if (r == 0) {
			printf("taken here: %s\n", rows[i].what);
			taken++;
		} else if (!names_all(&rows[i])) {
			fprintf(stderr, "%s: %s\n", rows[i].what, err.text);
			wrong++;
		} else {
			right++;
		}
	}
	printf("%zu refusals explained, %zu wrongly, %zu taken, of %zu\n", right, wrong, taken,
	       sizeof(rows) / sizeof(rows[0]));
	if (wrong)
		fail_msg("%zu of %zu", wrong, sizeof(rows) / sizeof(rows[0]));
	if (!right)
		SKIP("this user may open nothing");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_the_fault_is_named),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
