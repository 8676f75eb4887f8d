/* SPDX-License-Identifier: MIT */
/*
 * Stacks of samples.
 *
 * For each frame: address -> mapping -> table of the module -> rule -> registers of the caller. The first three are
 * remembered by address, because stacks have most of their frames in common; an entry belongs to one state of one
 * process's mappings, whose number is never used again. Entries point into tables, which live as long as the symbols.
 */
#include "unwind_base.h"
#include "unwind_module.h"

#include "base/error.h"
#include "base/opts.h"

#include <errno.h>
#include <stdlib.h>

#define FRAMES_DEFAULT 4096
#define FRAMES_MAX     65536
#define AHEAD	       1024 /* bytes of stack */
#define LINE	       64   /* of the cache */
#define ADDRESS_BITS   48

int perfev_unwinder_new(struct perfev_unwinder **ret, struct perfev_symbols *symbols,
			const struct perfev_unwinder_opts *opts, struct perfev_error *err)
{
	struct perfev_unwinder_opts full;
	struct perfev_unwinder *u;
	int r = opts_copy(&full, sizeof(full), opts, err);

	if (r < 0)
		return r;
	if (full.max_frames > FRAMES_MAX)
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot unwind %u frames: a stack has no more than %d", full.max_frames, FRAMES_MAX);
	u = calloc(1, sizeof(*u));
	if (!u)
		return error_memory(err);
	u->symbols = symbols;
	u->arch = full.arch ? (enum perfev_arch)full.arch : perfev_arch_host(NULL);
	u->max_frames = full.max_frames ? full.max_frames : FRAMES_DEFAULT;
	u->frames = malloc(u->max_frames * sizeof(*u->frames));
	u->chain = malloc((UNWIND_CHAIN_MAX + 2 * (size_t)u->max_frames) * sizeof(*u->chain));
	u->places = aligned_alloc(_Alignof(struct place), UNWIND_PLACES * sizeof(*u->places));
	if (!u->frames || !u->chain || !u->places) {
		perfev_unwinder_free(u);
		return error_memory(err);
	}
	*ret = u;
	return 0;
}

void perfev_unwinder_free(struct perfev_unwinder *unwinder)
{
	if (!unwinder)
		return;
	free(unwinder->frames);
	free(unwinder->chain);
	free(unwinder->places);
	free(unwinder);
}

const char *perfev_unwound_end_name(enum perfev_unwound_end end)
{
	static const char *const names[PERFEV_UNWOUND_COUNT_] = {
		"complete", "nothing", "stack-ended", "no-mapping", "no-rule", "bad-rule", "depth",
	};

	return (unsigned)end < PERFEV_UNWOUND_COUNT_ ? names[end] : NULL;
}

void perfev_unwinder_describe(const struct perfev_unwinder *unwinder, struct perfev_unwinder_info *ret)
{
	const struct perfev_symbols *s = unwinder->symbols;
	size_t i;

	*ret = unwinder->info;
	for (i = 0; i < s->module_count; i++) {
		const struct unwind_table *t = s->modules[i]->unwind;

		if (!t)
			continue;
		ret->rows += t->row_count;
		ret->rules += t->rule_count;
		ret->bytes += t->row_count * sizeof(*t->rows) + t->bucket_count * sizeof(*t->buckets) +
			      t->rule_count * sizeof(*t->rules) + t->save_count * sizeof(*t->saves) + t->code.size;
	}
}

/* ---- what is at an address --------------------------------------------------------------------------------------- */

/* The rule of a place. Return: 1, 0 no mapping, -ENOMEM. */
static int find_rule(struct perfev_unwinder *u, uint64_t ip, const struct unwind_table **table, const struct unwind_rule **rule)
{
	const struct mapping *mapping = space_find(u->view, ip);
	struct module *module;

	if (!mapping || mapping->is_data)
		return 0;
	module = mapping->module;
	if (unwind_module_load(module, &u->symbols->places) < 0)
		return -ENOMEM;
	*table = module->unwind;
	*rule = NULL;
	/* the vdso of a task of another word size is not the one that is known here */
	if (*table && !module->no_file && (*table)->machine == u->machine->elf)
		*rule = unwind_table_find(*table, module_address(module, ip - mapping->start + mapping->offset));
	return 1;
}

/* Whether signal handlers return to the byte behind @ip, or run what is at it: some machines' have no call frame information. */
static bool is_signal(const struct perfev_unwinder *u, uint64_t ip)
{
	const struct mapping *mapping = space_find(u->view, ip);
	unsigned char code[UNWIND_SIGNAL_CODE + 1];
	const struct module *module = mapping->module;
	size_t size = module->no_file
			      ? 0
			      : unwind_module_code(module, ip - mapping->start + mapping->offset, code, sizeof(code));

	return size && (unwind_is_signal(u->machine, code, size) || unwind_is_signal(u->machine, code + 1, size - 1));
}

static int look_up(struct perfev_unwinder *u, struct place *place, uint64_t ip)
{
	const struct unwind_table *table;
	const struct unwind_rule *rule;
	int r = find_rule(u, ip, &table, &rule);

	if (r <= 0)
		return r;
	if (rule && unwind_is_poor_signal(rule) && is_signal(u, ip))
		rule = NULL;
	place->ip = ip;
	place->generation = u->view->generation;
	if (rule && unwind_quick(&place->as.quick, u->machine, table, rule)) {
		place->kind = PLACE_QUICK;
		return 1;
	}
	place->kind = rule ? PLACE_RULE : is_signal(u, ip) ? PLACE_SIGNAL : PLACE_NO_RULE;
	place->as.slow.table = table;
	place->as.slow.rule = rule;
	return 1;
}

static inline int find_place(struct perfev_unwinder *u, uint64_t ip, const struct place **ret)
{
	uint32_t generation = u->view->generation;
	struct place *place = &u->places[(ip ^ ip >> 12 ^ generation * UINT64_C(0x9e5)) % UNWIND_PLACES];

	*ret = place;
	if (place->ip == ip && place->generation == generation && place->kind != PLACE_EMPTY)
		return 1;
	return look_up(u, place, ip);
}

/* Return addresses of arm64 may be signed: above the bits that are the address. */
static int find_signed(struct perfev_unwinder *u, struct unwind_state *state, bool exact, const struct place **ret)
{
	uint64_t pc = state->pc & ((UINT64_C(1) << ADDRESS_BITS) - 1);
	int r;

	if (u->arch != PERFEV_ARCH_ARM64 || pc == state->pc)
		return 0;
	r = find_place(u, pc - !exact, ret);
	if (r > 0)
		state->pc = pc;
	return r;
}

/* ---- walking ------------------------------------------------------------------------------------------------------ */

static const uint8_t end_of[] = {
	[UNWIND_OUTERMOST] = PERFEV_UNWOUND_COMPLETE,
	[UNWIND_NO_RULE] = PERFEV_UNWOUND_NO_RULE,
	[UNWIND_NO_STACK] = PERFEV_UNWOUND_STACK,
	[UNWIND_BAD] = PERFEV_UNWOUND_BAD_RULE,
};

/* Bytes of a recording come from far: those that the next frames will want are asked for while this one is worked on. */
static inline void fetch_ahead(const struct unwind_memory *memory, uint64_t sp, uint64_t *fetched)
{
	uint64_t wanted = sp - memory->start + AHEAD;

	if (wanted > memory->size)
		wanted = memory->size;
	for (; *fetched < wanted; *fetched += LINE)
		__builtin_prefetch(memory->data + *fetched);
}

/* By whatever is known of the place. @flags: of the caller. */
static enum unwind_result step(struct perfev_unwinder *u, const struct place *place, struct unwind_state *state,
			       struct unwind_memory *memory, uint64_t ip, uint32_t *flags)
{
	bool exact = !(*flags & PERFEV_UNWOUND_RETURN);
	const struct unwind_table *table;
	const struct unwind_rule *rule;

	*flags = PERFEV_UNWOUND_RETURN;
	if (place->kind == PLACE_SIGNAL) {
		*flags = 0;
		return unwind_step_signal(state, u->machine, memory);
	}
	if (place->kind == PLACE_NO_RULE) {
		*flags |= PERFEV_UNWOUND_GUESSED;
		return unwind_step_frame(state, u->machine, memory);
	}
	if (place->kind == PLACE_RULE) {
		table = place->as.slow.table;
		rule = place->as.slow.rule;
	} else if (find_rule(u, ip, &table, &rule) <= 0) {
		return UNWIND_BAD;
	}
	if (rule->flags & UNWIND_SIGNAL)
		*flags = 0;
	return unwind_step(state, u->machine, memory, table, rule, exact);
}

/* Return: why it ended, or -ENOMEM. */
static int walk(struct perfev_unwinder *u, struct unwind_state *state, struct unwind_memory *memory, uint32_t *count)
{
	uint64_t fetched = 0;
	uint32_t flags = 0;

	for (*count = 0; *count < u->max_frames;) {
		bool exact = !(flags & PERFEV_UNWOUND_RETURN);
		struct perfev_unwound_frame *frame = &u->frames[*count];
		const struct place *place;
		enum unwind_result result = UNWIND_CALLER;
		int r;

		fetch_ahead(memory, state->regs[u->machine->sp], &fetched);
		r = find_place(u, state->pc - !exact, &place);
		if (r == 0)
			r = find_signed(u, state, exact, &place);
		if (r < 0)
			return r;
		if (r == 0 && *count)
			return PERFEV_UNWOUND_NO_CODE;
		frame->ip = state->pc;
		frame->flags = flags;
		frame->reserved = 0;
		++*count;
		if (r == 0)
			return PERFEV_UNWOUND_NO_CODE;
		if (place->kind == PLACE_QUICK && unwind_step_quick(state, u->machine, memory, &place->as.quick, exact)) {
			flags = PERFEV_UNWOUND_RETURN;
		} else {
			result = step(u, place, state, memory, state->pc - !exact, &flags);
			if (!flags)
				frame->flags = (frame->flags & ~(uint32_t)PERFEV_UNWOUND_RETURN) | PERFEV_UNWOUND_SIGNAL;
		}
		if (result != UNWIND_CALLER)
			return end_of[result];
		if (!state->pc)
			return PERFEV_UNWOUND_COMPLETE;
	}
	return PERFEV_UNWOUND_DEPTH;
}

/* Places have what the machine makes of their rules. */
static bool choose_machine(struct perfev_unwinder *u, uint64_t abi)
{
	const struct unwind_machine *machine = unwind_machine(u->arch, abi);
	uint8_t i;

	if (machine == u->machine || !machine)
		return machine != NULL;
	u->machine = machine;
	memset(u->places, 0, UNWIND_PLACES * sizeof(*u->places));
	memset(u->of_perf, UNWIND_REGISTERS, sizeof(u->of_perf));
	for (i = 0; i < machine->count; i++)
		if (!(machine->zero >> i & 1))
			u->of_perf[machine->numbers[i]] = i;
	return true;
}

/* The registers of a sample, in the order of DWARF. False: there is no stack pointer or place. */
static bool take_registers(const struct perfev_unwinder *u, const struct perfev_registers *from, struct unwind_state *to)
{
	uint64_t mask = from->mask, value;
	uint32_t i, bit;
	bool pc = false;

	to->known = u->machine->zero;
	to->regs[0] = 0;
	for (i = 0, bit = 0; mask && i < from->values.count; mask >>= 1, bit++) {
		if (!(mask & 1))
			continue;
		value = perfev_u64s_at(from->values, i++);
		if (u->machine->word == 4)
			value &= UINT32_MAX;
		if (bit == u->machine->pc) {
			to->pc = value;
			pc = true;
		} else if (u->of_perf[bit] < UNWIND_REGISTERS) {
			to->regs[u->of_perf[bit]] = value;
			to->known |= UINT64_C(1) << u->of_perf[bit];
		}
	}
	return pc && to->known >> u->machine->sp & 1;
}

int perfev_unwind(struct perfev_unwinder *unwinder, const struct perfev_unwind_state *state, struct perfev_unwound *ret,
		  struct perfev_error *err)
{
	struct unwind_memory memory = {state->stack.data, 0, state->stack.size, state->registers.values.swapped, NULL};
	struct space_process *process;
	struct unwind_state s;
	uint32_t i;
	int r;

	ret->frames = unwinder->frames;
	ret->count = 0;
	ret->end = PERFEV_UNWOUND_NOTHING;
	if (!choose_machine(unwinder, state->registers.abi) || !take_registers(unwinder, &state->registers, &s))
		return 0;
	if (!unwinder->kept) {
		process = symbols_process(unwinder->symbols, state->pid);
		if (!process)
			return error_memory(err);
		unwinder->view = &process->view;
	}
	memory.start = s.regs[unwinder->machine->sp];
	r = walk(unwinder, &s, &memory, &ret->count);
	if (r < 0)
		return error_memory(err);
	ret->end = (uint32_t)r;
	unwinder->info.stacks++;
	unwinder->info.frames += ret->count;
	unwinder->info.ends[r]++;
	for (i = 0; i < ret->count; i++)
		unwinder->info.guessed += (ret->frames[i].flags & PERFEV_UNWOUND_GUESSED) != 0;
	return 0;
}
