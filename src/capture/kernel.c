/* SPDX-License-Identifier: MIT */
/*
 * What the kernel knows: for each item the smallest event that has it is opened, and closed. Unknown bits
 * are refused (EINVAL, E2BIG) before rights are looked at and before a PMU is asked, so that any other
 * answer means that it is known. The table is also what docs/kernel-support.md shows.
 */
#include "kernel.h"

#include "kernel/sys.h"

#include <perfev/probe.h>
#include <perfev/abi.h>

#include <errno.h>
#include <string.h>

struct item {
	const char *name, *title, *since;
	struct perf_event_attr set; /* what is added to the event */
};

#define BRANCH(bit) .sample_type = PERF_SAMPLE_BRANCH_STACK, \
		    .branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY | (bit)
#define SAMPLE(bit) .sample_period = 1000000, .sample_type = (bit)

static const struct item items[PERFEV_KERNEL_COUNT] = {
	[PERFEV_KERNEL_MMAP2] = {"mmap2", "mappings with device and inode", "3.12", {.mmap = 1, .mmap2 = 1}},
	[PERFEV_KERNEL_IDENTIFIER] = {"identifier", "event ids at a fixed place in records", "3.12",
				      {SAMPLE(PERF_SAMPLE_IDENTIFIER)}},
	[PERFEV_KERNEL_COMM_EXEC] = {"comm-exec", "names that tell exec from renaming", "3.16",
				     {.comm = 1, .comm_exec = 1}},
	[PERFEV_KERNEL_CLOCKID] = {"clockid", "times of a clock of the user's choice", "4.1",
				   {.use_clockid = 1, .clockid = 1}},
	[PERFEV_KERNEL_CONTEXT_SWITCH] = {"context-switch", "records of context switches", "4.3",
					  {.context_switch = 1}},
	[PERFEV_KERNEL_WRITE_BACKWARD] = {"write-backward", "rings that are written over", "4.7",
					  {.write_backward = 1}},
	[PERFEV_KERNEL_MAX_STACK] = {"max-stack", "a depth of call chains for each event", "4.8",
				     {SAMPLE(PERF_SAMPLE_CALLCHAIN), .exclude_callchain_kernel = 1,
				      .sample_max_stack = 8}},
	[PERFEV_KERNEL_NAMESPACES] = {"namespaces", "records of namespaces", "4.12", {.namespaces = 1}},
	[PERFEV_KERNEL_PHYS_ADDR] = {"phys-addr", "physical addresses in samples", "4.14",
				     {SAMPLE(PERF_SAMPLE_PHYS_ADDR)}},
	[PERFEV_KERNEL_BRANCH_TYPE] = {"branch-type", "kinds of branches in branch stacks", "4.14",
				       {BRANCH(PERF_SAMPLE_BRANCH_TYPE_SAVE)}},
	[PERFEV_KERNEL_KSYMBOL] = {"ksymbol", "records of code that comes into the kernel", "5.1", {.ksymbol = 1}},
	[PERFEV_KERNEL_BPF_EVENT] = {"bpf-event", "records of BPF programs", "5.1", {.bpf_event = 1}},
	[PERFEV_KERNEL_CGROUP] = {"cgroup", "records of cgroups, and their ids in samples", "5.7",
				  {SAMPLE(PERF_SAMPLE_CGROUP), .cgroup = 1}},
	[PERFEV_KERNEL_BRANCH_INDEX] = {"branch-index", "the hardware's index of branch stacks", "5.7",
					{BRANCH(PERF_SAMPLE_BRANCH_HW_INDEX)}},
	[PERFEV_KERNEL_TEXT_POKE] = {"text-poke", "records of changes to the kernel's code", "5.9",
				     {.text_poke = 1}},
	[PERFEV_KERNEL_PAGE_SIZE] = {"page-size", "sizes of pages in samples", "5.11",
				     {SAMPLE(PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE)}},
	[PERFEV_KERNEL_WEIGHT_STRUCT] = {"weight-struct", "weights of three parts", "5.12",
					 {SAMPLE(PERF_SAMPLE_WEIGHT_STRUCT)}},
	[PERFEV_KERNEL_BUILD_ID] = {"build-id", "build-ids of mapped files", "5.12",
				    {.mmap = 1, .mmap2 = 1, .build_id = 1}},
	[PERFEV_KERNEL_INHERIT_THREAD] = {"inherit-thread", "events that threads inherit, and processes do not",
					  "5.13", {.inherit = 1, .inherit_thread = 1}},
	[PERFEV_KERNEL_REMOVE_ON_EXEC] = {"remove-on-exec", "events that end with exec", "5.13",
					  {.remove_on_exec = 1}},
	[PERFEV_KERNEL_SIGTRAP] = {"sigtrap", "a signal for each overflow", "5.13",
				   {.remove_on_exec = 1, .sigtrap = 1}},
	[PERFEV_KERNEL_LOST] = {"lost", "counts of lost records", "6.0", {.read_format = PERF_FORMAT_LOST}},
	[PERFEV_KERNEL_BRANCH_PRIV] = {"branch-priv", "privilege levels in branch stacks", "6.1",
				       {BRANCH(PERF_SAMPLE_BRANCH_PRIV_SAVE)}},
	[PERFEV_KERNEL_CONFIG3] = {"config3", "a fourth word of configuration", "6.3", {.config3 = 1}},
	[PERFEV_KERNEL_BRANCH_COUNTERS] = {"branch-counters", "counts of events between branches", "6.8",
					   {BRANCH(PERF_SAMPLE_BRANCH_COUNTERS)}},
	[PERFEV_KERNEL_INHERIT_READ] = {"inherit-read", "inherited events with counts in their samples", "6.12",
					{SAMPLE(PERF_SAMPLE_READ | PERF_SAMPLE_TID), .inherit = 1}},
	[PERFEV_KERNEL_AUX_ACTION] = {"aux-action", "events that pause and resume AUX tracing", "6.13",
				      {.aux_action = 1}},
	[PERFEV_KERNEL_DEFER] = {"defer", "user call chains that are taken later", "6.19", {.defer_output = 1}},
	[PERFEV_KERNEL_CONFIG4] = {"config4", "a fifth word of configuration", "6.19", {.config4 = 1}},
};

static int answer(const struct perf_event_attr *set)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_DUMMY,
				       .disabled = 1,
				       .exclude_kernel = 1,
				       .exclude_hv = 1};
	unsigned char *to = (unsigned char *)&attr;
	const unsigned char *from = (const unsigned char *)set;
	size_t i;
	int fd;

	for (i = 0; set && i < sizeof(attr); i++)
		to[i] |= from[i];
	fd = sys_perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return fd;
	sys_close(fd);
	return 0;
}

void perfev_kernel_read(struct perfev_kernel *ret)
{
	int bare = answer(NULL), i;

	ret->has = ret->unknown = 0;
	for (i = 0; i < PERFEV_KERNEL_COUNT; i++) {
		int r = answer(&items[i].set);
		uint64_t bit = UINT64_C(1) << i;

		/* a filter or a kernel without perf says the same to all; a level of 3 speaks last */
		if (r == -ENOSYS || r == -EMFILE || r == -ENOMEM || (r == bare && r < 0 && r != -EACCES))
			ret->unknown |= bit;
		else if (r != -EINVAL && r != -E2BIG)
			ret->has |= bit;
	}
}

bool perfev_kernel_item_at(size_t index, struct perfev_kernel_item *ret)
{
	if (index >= PERFEV_KERNEL_COUNT)
		return false;
	ret->name = items[index].name;
	ret->title = items[index].title;
	ret->since = items[index].since;
	return true;
}

static const struct {
	const char *part;
	int item;
} parts[] = {
	{"mmap2", PERFEV_KERNEL_MMAP2},
	{"PERF_SAMPLE_IDENTIFIER", PERFEV_KERNEL_IDENTIFIER},
	{"comm_exec", PERFEV_KERNEL_COMM_EXEC},
	{"use_clockid", PERFEV_KERNEL_CLOCKID},
	{"context_switch", PERFEV_KERNEL_CONTEXT_SWITCH},
	{"write_backward", PERFEV_KERNEL_WRITE_BACKWARD},
	{"sample_max_stack", PERFEV_KERNEL_MAX_STACK},
	{"namespaces", PERFEV_KERNEL_NAMESPACES},
	{"PERF_SAMPLE_PHYS_ADDR", PERFEV_KERNEL_PHYS_ADDR},
	{"ksymbol", PERFEV_KERNEL_KSYMBOL},
	{"bpf_event", PERFEV_KERNEL_BPF_EVENT},
	{"cgroup", PERFEV_KERNEL_CGROUP},
	{"PERF_SAMPLE_CGROUP", PERFEV_KERNEL_CGROUP},
	{"text_poke", PERFEV_KERNEL_TEXT_POKE},
	{"PERF_SAMPLE_DATA_PAGE_SIZE", PERFEV_KERNEL_PAGE_SIZE},
	{"PERF_SAMPLE_CODE_PAGE_SIZE", PERFEV_KERNEL_PAGE_SIZE},
	{"PERF_SAMPLE_WEIGHT_STRUCT", PERFEV_KERNEL_WEIGHT_STRUCT},
	{"build_id", PERFEV_KERNEL_BUILD_ID},
	{"inherit_thread", PERFEV_KERNEL_INHERIT_THREAD},
	{"remove_on_exec", PERFEV_KERNEL_REMOVE_ON_EXEC},
	{"sigtrap", PERFEV_KERNEL_SIGTRAP},
	{"PERF_FORMAT_LOST", PERFEV_KERNEL_LOST},
	{"config3", PERFEV_KERNEL_CONFIG3},
	{"aux_action", PERFEV_KERNEL_AUX_ACTION},
	{"defer_output", PERFEV_KERNEL_DEFER},
	{"defer_callchain", PERFEV_KERNEL_DEFER},
	{"config4", PERFEV_KERNEL_CONFIG4},
};

const char *kernel_lacks(const char *part)
{
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const struct item *item = &items[parts[i].item];
		int r;

		if (strcmp(parts[i].part, part))
			continue;
		r = answer(&item->set);
		return (r == -EINVAL || r == -E2BIG) && answer(NULL) != r ? item->since : NULL;
	}
	return NULL;
}
