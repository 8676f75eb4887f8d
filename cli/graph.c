/* SPDX-License-Identifier: MIT */
/*
 * How call chains are recorded: by the kernel, which follows frame pointers; as registers and stack, out of which whoever
 * reads the recording makes them; or by the CPU, which keeps the last calls.
 */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

#define STACK_BYTES	8192
#define STACK_BYTES_MAX 65528

/* The kernel takes multiples of 8, below 64 KiB. */
static int read_stack_bytes(struct graph *graph, const char *text)
{
	char *end;
	unsigned long long bytes = strtoull(text, &end, 0);

	if (*end == 'k' || *end == 'K') {
		bytes = bytes > STACK_BYTES_MAX ? bytes : bytes * 1024;
		end++;
	}
	if (*end || text[0] < '0' || text[0] > '9' || bytes < 8 || bytes > STACK_BYTES_MAX)
		return usage_error("record", "--call-graph dwarf,BYTES takes 8 to %d bytes of stack, and '%s' is not that",
				   STACK_BYTES_MAX, text);
	graph->stack_bytes = (uint32_t)((bytes + 7) / 8 * 8);
	return 0;
}

int graph_parse(struct graph *ret, const char *how, bool asked)
{
	memset(ret, 0, sizeof(*ret));
	ret->how = PERFEV_GRAPH_FP;
	if (!how || !strcmp(how, "fp"))
		return 0;
	if (!strcmp(how, "no")) {
		ret->how = PERFEV_GRAPH_NO;
		return asked ? usage_error("record", "-g and --call-graph no contradict each other") : 0;
	}
	if (!strcmp(how, "lbr")) {
		ret->how = PERFEV_GRAPH_LBR;
		return 0;
	}
	ret->how = PERFEV_GRAPH_DWARF;
	if (!strcmp(how, "dwarf"))
		return 0;
	if (!strncmp(how, "dwarf,", 6))
		return read_stack_bytes(ret, how + 6);
	return usage_error("record", "--call-graph takes no, fp, dwarf, dwarf,BYTES or lbr, and '%s' is none", how);
}

static void take_stack(const struct graph *graph, struct perf_event_attr *attr)
{
	struct perfev_system s;
	enum perfev_arch arch;
	unsigned abi;

	perfev_system_read(&s);
	arch = perfev_arch_of(s.arch, &abi); /* the kernel's, not that of this program */
	attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->exclude_callchain_user = 1;
	if (!attr->sample_regs_user)
		attr->sample_regs_user = perfev_reg_mask(arch, abi);
	if (!attr->sample_stack_user)
		attr->sample_stack_user = graph->stack_bytes ? graph->stack_bytes : STACK_BYTES;
}

void graph_apply(const struct graph *graph, struct perf_event_attr *attr, const struct perfev_event_info *info)
{
	uint32_t how = info->call_graph == PERFEV_GRAPH_DEFAULT ? graph->how : info->call_graph;

	if (how == PERFEV_GRAPH_NO) {
		attr->sample_max_stack = 0;
		return;
	}
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (attr->exclude_user) /* there is no user part */
		return;
	if (how == PERFEV_GRAPH_DWARF)
		take_stack(graph, attr);
	if (how == PERFEV_GRAPH_LBR) {
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type |= PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
					    PERF_SAMPLE_BRANCH_NO_CYCLES | PERF_SAMPLE_BRANCH_NO_FLAGS;
	}
}
