/* SPDX-License-Identifier: MIT */
/*
 * Expressions of call frame information: programs for a machine with a stack.
 *
 * They come from files, so each is interpreted within bounds: so many operations (they may jump back), so many words on
 * their stack, and memory of the recorded stack only. What asks for anything else has no value.
 */
#include "unwind_expression.h"

#include "base/byte_cursor.h"

#define STACK_MAX      64
#define OPERATIONS_MAX 1000

struct work {
	const struct unwind_state *state;
	const struct unwind_machine *machine;
	struct unwind_memory *memory;
	const unsigned char *code;
	struct byte_cursor c;
	uint64_t stack[STACK_MAX];
	unsigned depth;
	bool bad, missing; /* missing: a word of memory, which makes it bad too */
};

static uint64_t trimmed(const struct work *w, uint64_t value)
{
	return w->machine->word == 4 ? value & UINT32_MAX : value;
}

static void push(struct work *w, uint64_t value)
{
	if (w->depth == STACK_MAX)
		w->bad = true;
	else
		w->stack[w->depth++] = trimmed(w, value);
}

static uint64_t pop(struct work *w)
{
	if (!w->depth) {
		w->bad = true;
		return 0;
	}
	return w->stack[--w->depth];
}

static int64_t as_signed(const struct work *w, uint64_t value)
{
	return w->machine->word == 4 ? (int64_t)(int32_t)(uint32_t)value : (int64_t)value;
}

static void pick(struct work *w, unsigned index)
{
	if (index >= w->depth)
		w->bad = true;
	else
		push(w, w->stack[w->depth - 1 - index]);
}

static void push_register(struct work *w, uint64_t reg, int64_t offset)
{
	bool is_pc = reg == 16 && w->machine->elf == 62; /* stubs of linkage tables ask for where they are */

	if (is_pc)
		push(w, w->state->pc + (uint64_t)offset);
	else if (reg == 8 && w->machine->elf == 3)
		push(w, w->state->pc + (uint64_t)offset);
	else if (reg < UNWIND_REGISTERS && w->state->known >> reg & 1)
		push(w, w->state->regs[reg] + (uint64_t)offset);
	else
		w->bad = true;
}

static void load(struct work *w, unsigned size)
{
	uint64_t address = pop(w), value = 0;

	if (size != 4 && size != w->machine->word)
		w->bad = true;
	else if (!unwind_load(w->memory, address, (uint8_t)size, &value))
		w->bad = w->missing = true;
	push(w, value);
}

static void jump(struct work *w, bool taken)
{
	int16_t by = (int16_t)cursor_u16(&w->c);

	if (!taken)
		return;
	if (by < 0 ? -by > w->c.at - w->code : by > w->c.end - w->c.at)
		w->bad = true;
	else
		w->c.at += by;
}

static void constant(struct work *w, uint8_t op)
{
	switch (op) {
	case 0x03:
		push(w, w->machine->word == 8 ? cursor_u64(&w->c) : cursor_u32(&w->c));
		break;
	case 0x08:
		push(w, cursor_u8(&w->c));
		break;
	case 0x09:
		push(w, (uint64_t)(int64_t)(int8_t)cursor_u8(&w->c));
		break;
	case 0x0a:
		push(w, cursor_u16(&w->c));
		break;
	case 0x0b:
		push(w, (uint64_t)(int64_t)(int16_t)cursor_u16(&w->c));
		break;
	case 0x0c:
		push(w, cursor_u32(&w->c));
		break;
	case 0x0d:
		push(w, (uint64_t)(int64_t)(int32_t)cursor_u32(&w->c));
		break;
	case 0x0e:
	case 0x0f:
		push(w, cursor_u64(&w->c));
		break;
	case 0x10:
		push(w, cursor_uleb(&w->c));
		break;
	default:
		push(w, (uint64_t)cursor_sleb(&w->c));
	}
}

static void divide(struct work *w, uint8_t op, uint64_t a, uint64_t b)
{
	if (!b || (op == 0x1b && as_signed(w, b) == -1 && a == UINT64_C(1) << 63))
		w->bad = true;
	else
		push(w, op == 0x1b ? (uint64_t)(as_signed(w, a) / as_signed(w, b)) : a % b);
}

static void shift(struct work *w, uint8_t op, uint64_t a, uint64_t by)
{
	unsigned bits = w->machine->word * 8u;
	int64_t value = as_signed(w, a);

	if (op == 0x26) { /* arithmetic: what comes in is the sign */
		if (by >= bits)
			push(w, value < 0 ? UINT64_MAX : 0);
		else
			push(w, value < 0 ? ~(~(uint64_t)value >> by) : (uint64_t)value >> by);
	} else {
		push(w, by >= bits ? 0 : op == 0x24 ? a << by : a >> by);
	}
}

/* Those that take two words and give one. */
static void binary(struct work *w, uint8_t op)
{
	uint64_t b = pop(w), a = pop(w);
	int64_t sa = as_signed(w, a), sb = as_signed(w, b);

	switch (op) {
	case 0x1a:
		push(w, a & b);
		break;
	case 0x1b:
	case 0x1d:
		divide(w, op, a, b);
		break;
	case 0x1c:
		push(w, a - b);
		break;
	case 0x1e:
		push(w, a * b);
		break;
	case 0x21:
		push(w, a | b);
		break;
	case 0x22:
		push(w, a + b);
		break;
	case 0x24:
	case 0x25:
	case 0x26:
		shift(w, op, a, b);
		break;
	case 0x27:
		push(w, a ^ b);
		break;
	case 0x29:
		push(w, sa == sb);
		break;
	case 0x2a:
		push(w, sa >= sb);
		break;
	case 0x2b:
		push(w, sa > sb);
		break;
	case 0x2c:
		push(w, sa <= sb);
		break;
	case 0x2d:
		push(w, sa < sb);
		break;
	case 0x2e:
		push(w, sa != sb);
		break;
	default:
		w->bad = true;
	}
}

/* swap; and rot: the third becomes the first */
static void turn(struct work *w, bool three)
{
	uint64_t a = pop(w), b = pop(w), c = three ? pop(w) : 0;

	push(w, a);
	if (three)
		push(w, c);
	push(w, b);
}

static void unary(struct work *w, uint8_t op)
{
	uint64_t a = pop(w);

	switch (op) {
	case 0x19:
		push(w, as_signed(w, a) < 0 ? 0 - a : a);
		break;
	case 0x1f:
		push(w, 0 - a);
		break;
	case 0x20:
		push(w, ~a);
		break;
	default: /* 0x23 */
		push(w, a + cursor_uleb(&w->c));
	}
}

static void other(struct work *w, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case 0x06:
		load(w, w->machine->word);
		break;
	case 0x94:
		load(w, cursor_u8(&w->c));
		break;
	case 0x12:
		pick(w, 0);
		break;
	case 0x13:
		pop(w);
		break;
	case 0x14:
		pick(w, 1);
		break;
	case 0x15:
		pick(w, cursor_u8(&w->c));
		break;
	case 0x16:
	case 0x17:
		turn(w, op == 0x17);
		break;
	case 0x28:
		jump(w, pop(w) != 0);
		break;
	case 0x2f:
		jump(w, true);
		break;
	case 0x92: /* bregx */
		reg = cursor_uleb(&w->c);
		push_register(w, reg, cursor_sleb(&w->c));
		break;
	case 0x96: /* nop */
		break;
	default:
		binary(w, op);
	}
}

static void operation(struct work *w)
{
	uint8_t op = cursor_u8(&w->c);

	if (op >= 0x30 && op <= 0x4f)
		push(w, op - 0x30u);
	else if (op >= 0x70 && op <= 0x8f)
		push_register(w, op - 0x70u, cursor_sleb(&w->c));
	else if (op == 0x03 || (op >= 0x08 && op <= 0x11))
		constant(w, op);
	else if (op == 0x19 || op == 0x1f || op == 0x20 || op == 0x23)
		unary(w, op);
	else
		other(w, op);
}

enum unwind_result unwind_evaluate(const struct unwind_table *table, uint32_t number, const struct unwind_state *state,
		     const struct unwind_machine *machine, struct unwind_memory *memory, const uint64_t *cfa,
		     uint64_t *ret)
{
	const struct unwind_code *code = &table->codes[number];
	struct work w = {.state = state, .machine = machine, .memory = memory};
	unsigned left = OPERATIONS_MAX;

	if (!code->size)
		return UNWIND_BAD;
	w.code = table->code.data + code->offset;
	w.c.at = w.code;
	w.c.end = w.code + code->size;
	w.c.swap = table->swap;
	if (cfa)
		push(&w, *cfa);
	while (w.c.at < w.c.end && !w.bad && !w.c.bad && left--)
		operation(&w);
	if (w.missing)
		return UNWIND_NO_STACK;
	if (w.bad || w.c.bad || w.c.at < w.c.end || !w.depth)
		return UNWIND_BAD;
	*ret = w.stack[w.depth - 1];
	return UNWIND_CALLER;
}
