/* SPDX-License-Identifier: MIT */
/*
 * One step up a stack.
 *
 * The caller's stack pointer is the CFA of the function, unless its rules say otherwise; registers that functions give
 * back as they were keep their values when no rule says where they are; others are lost, except behind the frame of a
 * signal, which interrupts and does not call. A stack grows to one side only, so a CFA that is not beyond the stack pointer
 * ends the walk: no rule, however wrong, can make it go in circles.
 */
#include "unwind_expression.h"
#include "unwind_step.h"

#define BIT(n) (UINT64_C(1) << (n))

static uint64_t trimmed(const struct unwind_machine *machine, uint64_t value)
{
	return machine->word == 4 ? value & UINT32_MAX : value;
}

static void set(struct unwind_state *state, uint8_t reg, uint64_t value)
{
	state->regs[reg] = value;
	state->known |= BIT(reg);
}

/* A value by its rule, all of them of the state before. */
struct source {
	const struct unwind_state *before;
	const struct unwind_machine *machine;
	struct unwind_memory *memory;
	const struct unwind_table *table;
	uint64_t cfa;
};

static enum unwind_result value_of(const struct source *s, uint8_t how, int32_t value, uint64_t *ret)
{
	enum unwind_result r;
	uint64_t address;

	switch (how) {
	case UNWIND_AT_OFFSET:
		address = trimmed(s->machine, s->cfa + (uint64_t)(int64_t)value);
		return unwind_load(s->memory, address, s->machine->word, ret) ? UNWIND_CALLER : UNWIND_NO_STACK;
	case UNWIND_OFFSET:
		*ret = trimmed(s->machine, s->cfa + (uint64_t)(int64_t)value);
		return UNWIND_CALLER;
	case UNWIND_IN_REGISTER:
		*ret = s->before->regs[value];
		return s->before->known >> value & 1 ? UNWIND_CALLER : UNWIND_BAD;
	case UNWIND_AT_EXPRESSION:
		r = unwind_evaluate(s->table, (uint32_t)value, s->before, s->machine, s->memory, &s->cfa, &address);
		if (r != UNWIND_CALLER)
			return r;
		return unwind_load(s->memory, address, s->machine->word, ret) ? UNWIND_CALLER : UNWIND_NO_STACK;
	case UNWIND_EXPRESSION:
		return unwind_evaluate(s->table, (uint32_t)value, s->before, s->machine, s->memory, &s->cfa, ret);
	default:
		return UNWIND_BAD;
	}
}

static enum unwind_result return_address(const struct source *s, const struct unwind_rule *rule, uint64_t *ret)
{
	if (rule->ra_how == UNWIND_UNDEFINED)
		return UNWIND_OUTERMOST;
	if (rule->ra_how != UNWIND_SAME)
		return value_of(s, rule->ra_how, rule->ra_value, ret);
	/* still in its register, where there is one */
	if (rule->ra_reg != s->machine->link || !(s->before->known >> rule->ra_reg & 1))
		return UNWIND_BAD;
	*ret = s->before->regs[rule->ra_reg];
	return UNWIND_CALLER;
}

static enum unwind_result cfa_of(const struct unwind_rule *rule, const struct unwind_state *state, struct source *s)
{
	if (rule->cfa_how == UNWIND_OFFSET) {
		if (!(state->known >> rule->cfa_reg & 1))
			return UNWIND_BAD;
		s->cfa = trimmed(s->machine, state->regs[rule->cfa_reg] + (uint64_t)(int64_t)rule->cfa_value);
		return UNWIND_CALLER;
	}
	return unwind_evaluate(s->table, (uint32_t)rule->cfa_value, state, s->machine, s->memory, NULL, &s->cfa);
}

/* Most functions: each saved register is a word below the CFA. */
static enum unwind_result plain_step(struct unwind_state *state, const struct unwind_machine *machine,
				     struct unwind_memory *memory, const struct unwind_table *table,
				     const struct unwind_rule *rule, uint64_t cfa)
{
	const struct unwind_save *save = table->saves + rule->first, *end = save + rule->count;
	uint64_t pc, known = (state->known & machine->kept) | BIT(machine->sp) | machine->zero;

	if (!unwind_load(memory, trimmed(machine, cfa + (uint64_t)(int64_t)rule->ra_value), machine->word, &pc))
		return UNWIND_NO_STACK;
	state->regs[machine->sp] = cfa;
	for (; save < end; save++) {
		uint64_t address = trimmed(machine, cfa + (uint64_t)(int64_t)save->value);

		if (unwind_load(memory, address, machine->word, &state->regs[save->reg]))
			known |= BIT(save->reg);
		else
			known &= ~BIT(save->reg);
	}
	state->known = known;
	state->pc = pc;
	return UNWIND_CALLER;
}

static void restore_all(const struct source *s, const struct unwind_rule *rule, struct unwind_state *state)
{
	uint8_t i;

	for (i = 0; i < rule->count; i++) {
		const struct unwind_save *save = &s->table->saves[rule->first + i];
		uint64_t value;

		if (value_of(s, save->how, save->value, &value) == UNWIND_CALLER)
			set(state, save->reg, value);
		else
			state->known &= ~BIT(save->reg);
	}
	state->known |= s->machine->zero;
}

enum unwind_result unwind_step(struct unwind_state *state, const struct unwind_machine *machine,
			       struct unwind_memory *memory, const struct unwind_table *table,
			       const struct unwind_rule *rule, bool first)
{
	struct source s = {state, machine, memory, table, 0};
	bool interrupted = rule->flags & UNWIND_SIGNAL;
	struct unwind_state before;
	enum unwind_result r;
	uint64_t pc, sp = state->regs[machine->sp];

	if (table->machine != machine->elf)
		return UNWIND_BAD;
	r = cfa_of(rule, state, &s);
	if (r != UNWIND_CALLER)
		return r;
	/* a function that was called has at least its return address on the stack, or somebody's frame */
	if (!interrupted && (s.cfa < sp || (s.cfa == sp && !first)))
		return rule->ra_how == UNWIND_UNDEFINED ? UNWIND_OUTERMOST : UNWIND_BAD;
	if (rule->flags & UNWIND_PLAIN)
		return plain_step(state, machine, memory, table, rule, s.cfa);
	r = return_address(&s, rule, &pc);
	if (r != UNWIND_CALLER)
		return r;
	before = *state;
	s.before = &before;
	if (!interrupted)
		state->known &= machine->kept;
	set(state, machine->sp, s.cfa);
	restore_all(&s, rule, state);
	state->pc = pc;
	return UNWIND_CALLER;
}

bool unwind_is_signal(const struct unwind_machine *machine, const unsigned char *code, size_t size)
{
	return machine->signal_size && size >= machine->signal_size &&
	       !memcmp(code, machine->signal_code, machine->signal_size);
}

enum unwind_result unwind_step_signal(struct unwind_state *state, const struct unwind_machine *machine,
				      struct unwind_memory *memory)
{
	struct unwind_state before = *state;
	uint64_t sp = before.regs[machine->sp];
	uint8_t i;

	if (!unwind_load(memory, sp + machine->signal_pc, machine->word, &state->pc))
		return UNWIND_NO_STACK;
	state->known = machine->zero;
	for (i = 0; i < 32; i++) {
		uint64_t at = sp + (machine->signal_at ? machine->signal_at[i & 15] : machine->signal_regs + 8u * i);

		if ((machine->signal_mask >> i & 1) && unwind_load(memory, at, machine->word, &state->regs[i]))
			state->known |= BIT(i);
	}
	return state->known >> machine->sp & 1 ? UNWIND_CALLER : UNWIND_NO_STACK;
}

bool unwind_quick(struct unwind_quick *ret, const struct unwind_machine *machine, const struct unwind_table *table,
		  const struct unwind_rule *rule)
{
	const struct unwind_save *saves = table->saves + rule->first;
	int32_t low = rule->ra_value;
	uint8_t i;

	if (!(rule->flags & UNWIND_PLAIN) || machine->word != 8 || table->machine != machine->elf ||
	    rule->count > UNWIND_QUICK_SAVES || rule->ra_value > -8)
		return false;
	for (i = 0; i < rule->count; i++) {
		if (saves[i].value > -8 || saves[i].reg == machine->sp || saves[i].reg > 31)
			return false;
		low = saves[i].value < low ? saves[i].value : low;
	}
	if (low < -(int32_t)UINT16_MAX)
		return false;
	*ret = (struct unwind_quick){.cfa_value = rule->cfa_value, .saved = UINT32_C(1) << machine->sp,
				     .size = (uint16_t)-low, .ra = (uint16_t)(rule->ra_value - low),
				     .cfa_reg = rule->cfa_reg, .count = rule->count};
	for (i = 0; i < rule->count; i++) {
		ret->saved |= UINT32_C(1) << saves[i].reg;
		ret->regs[i] = saves[i].reg;
		ret->at[i] = (uint16_t)(saves[i].value - low);
	}
	return true;
}

enum unwind_result unwind_step_frame(struct unwind_state *state, const struct unwind_machine *machine,
				     struct unwind_memory *memory)
{
	uint64_t fp = state->regs[machine->fp], sp = state->regs[machine->sp], saved, link, cfa;

	if (!(state->known >> machine->fp & 1) || fp % machine->word)
		return UNWIND_NO_RULE;
	cfa = trimmed(machine, fp + (uint64_t)(int64_t)machine->fp_cfa);
	if (cfa <= sp || fp < sp)
		return UNWIND_NO_RULE;
	if (!unwind_load(memory, trimmed(machine, fp + (uint64_t)(int64_t)machine->fp_saved), machine->word, &saved) ||
	    !unwind_load(memory, trimmed(machine, fp + (uint64_t)(int64_t)machine->fp_link), machine->word, &link))
		return UNWIND_NO_STACK;
	state->known = (state->known & machine->kept) | machine->zero;
	set(state, machine->fp, saved);
	set(state, machine->sp, cfa);
	state->pc = link;
	return UNWIND_CALLER;
}
