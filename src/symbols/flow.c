/* SPDX-License-Identifier: MIT */
/*
 * The way that a program took: what is the same for all kinds of traces. A decoder walks step by step; each step puts no
 * branch, or a few, into a queue, from which they are handed out.
 *
 * Invariant: perfev_flow_next() makes steps only while the queue is empty, and no step puts more than there is room for.
 */
#include "flow_etm.h"
#include "flow_pt.h"

#include "base/error.h"
#include "base/opts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const type_names[PERFEV_FLOW_COUNT_] = {
	[PERFEV_FLOW_NONE] = "none",
	[PERFEV_FLOW_CALL] = "call",
	[PERFEV_FLOW_RETURN] = "return",
	[PERFEV_FLOW_JUMP] = "jump",
	[PERFEV_FLOW_CONDITIONAL] = "conditional",
	[PERFEV_FLOW_SYSCALL] = "syscall",
	[PERFEV_FLOW_SYSRET] = "sysret",
	[PERFEV_FLOW_TRAP] = "trap",
	[PERFEV_FLOW_TRAP_RETURN] = "trap-return",
	[PERFEV_FLOW_FAR_JUMP] = "far-jump",
	[PERFEV_FLOW_INTERRUPT] = "interrupt",
	[PERFEV_FLOW_ABORT] = "abort",
	[PERFEV_FLOW_VM_ENTRY] = "vm-entry",
	[PERFEV_FLOW_PSB] = "psb",
	[PERFEV_FLOW_CBR] = "cbr",
	[PERFEV_FLOW_TRANSACTION] = "transaction",
	[PERFEV_FLOW_PTWRITE] = "ptwrite",
	[PERFEV_FLOW_MWAIT] = "mwait",
	[PERFEV_FLOW_PWRE] = "pwre",
	[PERFEV_FLOW_EXSTOP] = "exstop",
	[PERFEV_FLOW_PWRX] = "pwrx",
};

const char *perfev_flow_type_name(enum perfev_flow_type type)
{
	return (unsigned)type < PERFEV_FLOW_COUNT_ ? type_names[type] : NULL;
}

/* ---- what a recording says ------------------------------------------------------------------------------------------ */

/* Words of AUXTRACE_INFO for Intel PT. Older recordings have fewer. */
enum { WORD_SHIFT = 1, WORD_MULT, WORD_ZERO, WORD_HAS_ZERO, WORD_NORETCOMP = 6, WORD_MTC_PERIOD = 11, WORD_CTC_N, WORD_CTC_D, WORD_RATIO = 15 };

static uint64_t word_of(const struct perfev_auxtrace_info *info, size_t index)
{
	return index < info->numbers.count ? perfev_u64s_at(info->numbers, (uint32_t)index) : 0;
}

/* The part of @config that @mask has. */
static uint64_t field_of(uint64_t config, uint64_t mask)
{
	while (mask && !(mask & 1)) {
		mask >>= 1;
		config >>= 1;
	}
	return config & mask;
}

/* "GenuineIntel,6,142,10": family, model, stepping */
static void read_cpu(struct perfev_flow_opts *opts, const char *cpuid)
{
	unsigned family, model, stepping;

	if (!cpuid || sscanf(cpuid, "GenuineIntel,%u,%u,%u", &family, &model, &stepping) != 3)
		return;
	opts->family = family;
	opts->model = model;
	opts->stepping = stepping;
}

static uint64_t tsc_hz(const struct perfev_clock *clock)
{
	uint64_t second = 1000000000, shift = clock->shift < 32 ? clock->shift : 0;

	return (second / clock->mult << shift) + (second % clock->mult << shift) / clock->mult;
}

/* Of Intel PT. */
static void set_up_pt(struct perfev_flow_opts *ret, const struct perfev_auxtrace_info *info, const struct perf_event_attr *attr)
{
	if (word_of(info, WORD_HAS_ZERO)) {
		ret->clock.shift = (uint32_t)word_of(info, WORD_SHIFT);
		ret->clock.mult = (uint32_t)word_of(info, WORD_MULT);
		ret->clock.zero = word_of(info, WORD_ZERO);
		ret->clock.mask = UINT64_MAX;
	}
	ret->tsc_ctc_n = (uint32_t)word_of(info, WORD_CTC_N);
	ret->tsc_ctc_d = (uint32_t)word_of(info, WORD_CTC_D);
	ret->nonturbo_ratio = (uint32_t)word_of(info, WORD_RATIO);
	if (!ret->nonturbo_ratio && ret->clock.mult) /* it is that of the TSC, in steps of 100 MHz */
		ret->nonturbo_ratio = (uint32_t)((tsc_hz(&ret->clock) + 50000000) / 100000000);
	if (!attr)
		return;
	ret->mtc_period = (uint32_t)field_of(attr->config, word_of(info, WORD_MTC_PERIOD));
	ret->no_compression = (attr->config & word_of(info, WORD_NORETCOMP)) != 0;
}

int perfev_flow_setup(struct perfev_flow_opts *ret, const struct perfev_auxtrace_info *info,
		      const struct perf_event_attr *attr, const char *cpuid, struct perfev_error *err)
{
	const char *name = perfev_auxtrace_type_name(info->type);

	if (info->type != PERFEV_AUXTRACE_INTEL_PT && info->type != PERFEV_AUXTRACE_CS_ETM)
		return error_set(err, -EOPNOTSUPP, PERFEV_WHY_UNSUPPORTED, ERROR_NOWHERE,
				 "cannot follow a trace of %s (%u): only of intel_pt and cs_etm it is known which way the "
				 "program took",
				 name ? name : "an unknown type", info->type);
	memset(ret, 0, sizeof(*ret));
	ret->size = sizeof(*ret);
	ret->type = info->type;
	if (info->type == PERFEV_AUXTRACE_CS_ETM)
		ret->units = info->numbers;
	else
		set_up_pt(ret, info, attr);
	read_cpu(ret, cpuid);
	return 0;
}

static bool is_known(uint32_t type)
{
	return !type || type == PERFEV_AUXTRACE_INTEL_PT || type == PERFEV_AUXTRACE_CS_ETM;
}

/* ---- for callers ------------------------------------------------------------------------------------------------------ */

int perfev_flow_new(struct perfev_flow **ret, const struct perfev_flow_opts *opts, struct perfev_error *err)
{
	struct perfev_flow_opts full;
	struct perfev_flow *flow;
	int r = opts_copy(&full, sizeof(full), opts, err);

	if (r < 0)
		return r;
	if (!full.code || !is_known(full.type))
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot follow traces: opts.%s", full.code ? "type is of none that can be" : "code is missing");
	flow = calloc(1, sizeof(*flow));
	if (!flow)
		return error_memory(err);
	flow->opts = full;
	flow->pid = flow->tid = flow->cpu = -1;
	flow->ended = true;
	flow->kind = full.type == PERFEV_AUXTRACE_CS_ETM ? &flow_etm : &flow_pt;
	r = flow->kind->make(flow, err);
	if (r < 0)
		perfev_flow_free(flow);
	else
		*ret = flow;
	return r;
}

void perfev_flow_free(struct perfev_flow *flow)
{
	if (!flow)
		return;
	flow->kind->free(flow);
	free(flow->copy);
	free(flow);
}

void perfev_flow_task(struct perfev_flow *flow, int32_t pid, int32_t tid, int32_t cpu)
{
	flow->pid = pid;
	flow->tid = tid;
	flow->cpu = cpu;
}

void perfev_flow_forget(struct perfev_flow *flow)
{
	if (flow->kind->forget)
		flow->kind->forget(flow);
}

/* The pieces in one; one is taken as it is. */
static int join(struct perfev_flow *flow, const struct perfev_bytes *pieces, size_t count, struct perfev_error *err)
{
	uint64_t size = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		size += pieces[i].size;
		if (size > PERFEV_FLOW_BYTES_MAX || size > SIZE_MAX / 2)
			return error_set(err, -EFBIG, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
					 "cannot follow a trace of more than %llu bytes",
					 (unsigned long long)PERFEV_FLOW_BYTES_MAX);
	}
	if (count == 1) {
		flow->trace = pieces[0];
		return 0;
	}
	flow->copy = malloc((size_t)size + 1);
	if (!flow->copy)
		return error_memory(err);
	flow->trace.data = flow->copy;
	for (i = 0; i < count; i++) {
		if (pieces[i].size)
			memcpy(flow->copy + flow->trace.size, pieces[i].data, pieces[i].size);
		flow->trace.size += pieces[i].size;
	}
	return 0;
}

int perfev_flow_begin(struct perfev_flow *flow, const struct perfev_bytes *pieces, size_t count, struct perfev_error *err)
{
	int r;

	free(flow->copy);
	flow->copy = NULL;
	memset(&flow->trace, 0, sizeof(flow->trace));
	memset(&flow->pending, 0, sizeof(flow->pending));
	flow->head = flow->tail = 0;
	flow->time = flow->instructions = flow->place = 0;
	flow->ended = true;
	r = join(flow, pieces, count, err);
	return r < 0 || !flow->trace.size ? r : flow->kind->begin(flow, err);
}

int perfev_flow_next(struct perfev_flow *flow, struct perfev_flow_branch *ret, struct perfev_error *err)
{
	(void)err;
	while (flow->head == flow->tail && !flow->ended)
		flow->kind->step(flow);
	if (flow->head == flow->tail)
		return 0;
	*ret = flow->queue[flow->head++ % FLOW_QUEUE];
	return 1;
}
