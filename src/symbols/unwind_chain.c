/* SPDX-License-Identifier: MIT */
/*
 * The call chain of a sample, completed.
 *
 * Chains have two kinds of addresses: of return addresses the call is one byte before, others are the place itself. Readers
 * tell them apart by the marks: the first address behind one is a place. So each place gets a mark of its own, also where an
 * interrupted function follows the frame of a signal; and of branches, whose addresses are those of the calls, the byte
 * behind is given.
 */
#include "unwind_base.h"

#include "base/error.h"

/* Words of the kernel's part; the user part, if there is one, begins behind them. */
static uint32_t kernel_words(const struct perfev_sample *sample, bool *has_user, uint64_t *user_ip)
{
	bool in_user = (sample->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER;
	uint32_t i;

	*has_user = false;
	for (i = 0; i < sample->callchain.count; i++) {
		uint64_t ip = perfev_u64s_at(sample->callchain, i);

		if (ip == PERF_CONTEXT_USER || ip == PERF_CONTEXT_USER_DEFERRED) {
			*has_user = i + 1 < sample->callchain.count;
			if (*has_user)
				*user_ip = perfev_u64s_at(sample->callchain, i + 1);
			return i;
		}
		if (ip < PERF_CONTEXT_MAX && in_user && i == 0) { /* without a mark they are what the sample is */
			*has_user = true;
			*user_ip = ip;
			return 0;
		}
	}
	return i;
}

static uint32_t copy_kernel(struct perfev_unwinder *u, const struct perfev_sample *sample, uint32_t count)
{
	uint32_t i;

	if (count > UNWIND_CHAIN_MAX)
		count = UNWIND_CHAIN_MAX;
	for (i = 0; i < count; i++)
		u->chain[i] = perfev_u64s_at(sample->callchain, i);
	return count;
}

static void put_chain(struct perfev_unwinder *u, struct perfev_sample *sample, uint32_t count)
{
	sample->callchain.data = u->chain;
	sample->callchain.count = count;
	sample->callchain.swapped = false;
	sample->present |= PERF_SAMPLE_CALLCHAIN;
}

/* The newest branch is the last call; each came from its caller. */
static uint32_t add_branches(struct perfev_unwinder *u, const struct perfev_sample *sample, uint32_t at, uint64_t ip)
{
	struct perfev_branch branch;
	uint32_t i;

	u->chain[at++] = PERF_CONTEXT_USER;
	if (!ip && perfev_branches_at(&sample->branches, 0, &branch))
		ip = branch.to;
	u->chain[at++] = ip;
	for (i = 0; i < u->max_frames && perfev_branches_at(&sample->branches, i, &branch); i++)
		if (branch.from)
			u->chain[at++] = branch.from + 1;
	return at;
}

static uint32_t add_frames(struct perfev_unwinder *u, const struct perfev_unwound *unwound, uint32_t at)
{
	uint32_t i;

	for (i = 0; i < unwound->count; i++) {
		if (!(unwound->frames[i].flags & PERFEV_UNWOUND_RETURN))
			u->chain[at++] = PERF_CONTEXT_USER;
		u->chain[at++] = unwound->frames[i].ip;
	}
	return at;
}

static bool has_call_stack(const struct perfev_sample *sample, const struct perfev_layout *layout)
{
	const struct perf_event_attr *attr = layout ? perfev_layout_attr(layout) : NULL;

	return attr && (sample->present & PERF_SAMPLE_BRANCH_STACK) && sample->branches.count &&
	       (attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK);
}

static bool has_stack(const struct perfev_sample *sample)
{
	const uint64_t both = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;

	return (sample->present & both) == both && sample->regs_user.abi != PERF_SAMPLE_REGS_ABI_NONE &&
	       sample->stack_user.size;
}

int perfev_unwind_sample(struct perfev_unwinder *unwinder, struct perfev_sample *sample, const struct perfev_layout *layout,
			 struct perfev_unwound *ret, struct perfev_error *err)
{
	bool in_user = (sample->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER, has_user = false;
	struct perfev_unwind_state state;
	struct perfev_unwound unwound = {unwinder->frames, 0, PERFEV_UNWOUND_NOTHING};
	uint64_t user_ip = in_user && (sample->present & PERF_SAMPLE_IP) ? sample->ip : 0;
	bool has_calls = has_call_stack(sample, layout);
	uint32_t count;
	int r;

	if (ret)
		*ret = unwound;
	if (!has_calls && !has_stack(sample))
		return 0;
	count = sample->present & PERF_SAMPLE_CALLCHAIN ? kernel_words(sample, &has_user, &user_ip) : 0;
	if (has_calls) {
		count = add_branches(unwinder, sample, copy_kernel(unwinder, sample, count), user_ip);
		put_chain(unwinder, sample, count);
		return 1;
	}
	if (has_user)
		return 0;
	state.registers = sample->regs_user;
	state.stack = sample->stack_user;
	state.pid = (int32_t)sample->pid;
	r = perfev_unwind(unwinder, &state, &unwound, err);
	if (r < 0)
		return r;
	if (ret)
		*ret = unwound;
	if (!unwound.count)
		return 0;
	count = copy_kernel(unwinder, sample, count);
	put_chain(unwinder, sample, add_frames(unwinder, &unwound, count));
	return 1;
}
