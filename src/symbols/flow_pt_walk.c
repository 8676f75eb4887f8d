/* SPDX-License-Identifier: MIT */
/*
 * The half of the decoder of Intel PT that walks over code, from one branch to the next. What a packet is needed for, the other
 * half does: here a walk ends there.
 *
 * Code that goes round without ever needing a packet is other code than what ran. It is noticed when a place comes again: one
 * that is looked out for, and given up for a later one after twice as many branches. And what few packets can make it walk is
 * bounded: a trace, and code, may be made to be slow.
 */
#include "flow_pt_base.h"

#include <errno.h>
#include <string.h>

#define IDLE_MAX (1u << 17) /* instructions, and */
#define LOOP_MAX 10000	    /* branches that need no packet in a row */

/* ---- code --------------------------------------------------------------------------------------------------------- */

static bool spend(struct pt *pt, uint64_t work)
{
	bool is_there = pt->work_left >= work;

	pt->work_left -= is_there ? work : pt->work_left;
	return is_there;
}

/* The window begins at pt->ip then. */
static enum pt_result fetch(struct pt *pt)
{
	const struct perfev_flow *flow = pt->flow;
	struct perfev_place place = {pt->ip, flow->pid, pt->ip >> 63 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER};
	int got = flow->opts.code(flow->opts.context, &place, pt->window, PT_WINDOW);

	pt->window_ip = pt->ip;
	pt->window_size = got > 0 ? (size_t)got < PT_WINDOW ? (size_t)got : PT_WINDOW : 0;
	return got > 0 ? PT_AGAIN : got == -ENODATA ? PT_SILENT : PT_NO_CODE;
}

static bool decode(struct pt *pt)
{
	uint64_t at = pt->ip - pt->window_ip;

	return at < pt->window_size &&
	       x86_decode(&pt->instruction, pt->window + at, pt->window_size - (size_t)at, pt->is_64);
}

static enum pt_result read_instruction(struct pt *pt)
{
	enum pt_result r;

	if (!spend(pt, 1))
		return PT_TOO_MUCH;
	if (decode(pt))
		return PT_AGAIN;
	if (!spend(pt, PT_WORK_FETCH))
		return PT_TOO_MUCH;
	r = fetch(pt);
	if (r != PT_AGAIN)
		return r;
	return decode(pt) ? PT_AGAIN : PT_BAD_INSTRUCTION;
}

static void count(struct pt *pt, uint32_t instructions)
{
	pt->flow->instructions += instructions;
	pt->time.instructions += instructions;
	pt->sample_instructions += instructions;
	pt->idle += instructions;
}

static struct pt_block *block_of(struct pt *pt, uint64_t ip)
{
	return &pt->blocks[(ip ^ ip >> 11) & (pt->block_count - 1)];
}

static bool is_known(const struct pt *pt, const struct pt_block *block)
{
	return block->count && block->age == pt->age && block->ip == pt->ip && block->pid == pt->flow->pid && block->is_64 == pt->is_64;
}

static void remember(struct pt *pt, uint64_t from, uint32_t instructions)
{
	struct pt_block *block = block_of(pt, from);

	block->ip = from;
	block->branch_ip = pt->ip;
	block->pid = pt->flow->pid;
	block->count = instructions;
	block->age = pt->age;
	block->branch = pt->instruction;
	block->is_64 = pt->is_64;
}

/* To a branch, or to @to. */
static enum pt_result walk_straight(struct pt *pt, uint64_t to, bool *there)
{
	uint64_t from = pt->ip;
	uint32_t instructions = 0;
	enum pt_result r;

	*there = to && pt->ip == to;
	while (!*there) {
		r = read_instruction(pt);
		if (r != PT_AGAIN)
			return r;
		if (pt->idle > IDLE_MAX)
			return PT_LOOP;
		count(pt, 1);
		instructions++;
		if (pt->instruction.branch != X86_NONE) {
			remember(pt, from, instructions);
			return PT_AGAIN;
		}
		pt->ip += pt->instruction.size;
		*there = to && pt->ip == to;
	}
	return PT_AGAIN;
}

/* The same, over what is known. */
static enum pt_result walk_block(struct pt *pt, uint64_t to, bool *there)
{
	const struct pt_block *block = block_of(pt, pt->ip);

	if (to || !is_known(pt, block))
		return walk_straight(pt, to, there);
	*there = false;
	if (pt->idle > IDLE_MAX)
		return PT_LOOP;
	count(pt, block->count);
	pt->ip = block->branch_ip;
	pt->instruction = block->branch;
	return PT_AGAIN;
}

/* ---- branches ----------------------------------------------------------------------------------------------------- */

static void push(struct pt *pt, uint64_t address)
{
	pt->stack[pt->stack_at++ % PT_STACK] = address;
	if (pt->stack_count < PT_STACK)
		pt->stack_count++;
}

static void pop(struct pt *pt)
{
	pt->return_to = pt->stack_count ? pt->stack[--pt->stack_at % PT_STACK] : 0;
	if (pt->stack_count)
		pt->stack_count--;
}

/* A direct call of what is behind it only asks where it is: nothing returns to there. */
static void note_call(struct pt *pt)
{
	const struct x86_instruction *instruction = &pt->instruction;

	if (instruction->type == PERFEV_FLOW_RETURN)
		pop(pt);
	else if (instruction->type == PERFEV_FLOW_CALL && (instruction->branch != X86_DIRECT || instruction->displacement))
		push(pt, pt->ip + instruction->size);
}

static bool is_stuck(struct pt *pt)
{
	uint32_t before = pt->stuck++;

	if (before == 0)
		return false;
	if (before == 1) {
		pt->stuck_ip = pt->ip;
		pt->stuck_period = pt->stuck_left = 1;
		return false;
	}
	if (before > LOOP_MAX || pt->ip == pt->stuck_ip)
		return true;
	if (--pt->stuck_left == 0) {
		pt->stuck_left = ++pt->stuck_period;
		pt->stuck_ip = pt->ip;
	}
	return false;
}

static enum pt_result fail(struct pt *pt, enum pt_result r)
{
	pt->stuck = 0;
	pt->where = r == PT_LOOP || r == PT_TOO_MUCH ? PT_RESYNC : PT_NO_IP;
	return r;
}

enum pt_result pt_walk(struct pt *pt, uint64_t to)
{
	bool there;
	enum pt_result r = walk_block(pt, to, &there);

	if (r != PT_AGAIN)
		return fail(pt, r);
	pt->told.in_tx |= pt->in_tx;
	if (there) {
		pt->instruction.branch = X86_NONE;
		pt->stuck = 0;
		return PT_AGAIN;
	}
	note_call(pt);
	if (!pt_is_at(pt, X86_DIRECT)) {
		pt->stuck = 0;
		return PT_AGAIN;
	}
	if (!spend(pt, PT_WORK_BRANCH))
		return fail(pt, PT_TOO_MUCH);
	pt->told.from = pt->ip;
	pt->ip += (uint64_t)(int64_t)(pt->instruction.size + pt->instruction.displacement);
	pt->told.to = pt->ip;
	return is_stuck(pt) ? fail(pt, PT_LOOP) : PT_STATE;
}
