/* SPDX-License-Identifier: MIT */
/*
 * The programs of call frame information: a small language that changes the rules of registers from place to place.
 *
 * Each instruction is read once and makes a row at most, so that the work is bounded by the bytes. States that are put
 * aside are so many at most; numbers that fit no rule (offsets beyond 2 GiB) end the function's program: what comes behind
 * is not known then.
 */
#include "unwind_program.h"

#include <errno.h>

#define ASIDE_MAX      16
#define EXPRESSION_MAX 1024

struct work {
	struct unwind_table *table;
	const struct cfi_cie *cie;
	struct byte_cursor c;
	struct cfi_state now;
	struct cfi_state aside[ASIDE_MAX];
	unsigned aside_count;
	int error;
};

static void fail(struct work *w, int error)
{
	if (!w->error)
		w->error = error;
}

static int32_t narrow(struct work *w, int64_t value)
{
	if (value > INT32_MAX || value < INT32_MIN)
		fail(w, -EINVAL);
	return (int32_t)value;
}

/* Offsets that are counted in units; so large a number is none. */
static int32_t scaled(struct work *w, int64_t count)
{
	if (count > INT32_MAX || count < INT32_MIN || w->cie->data_align > 4096 || w->cie->data_align < -4096) {
		fail(w, -EINVAL);
		return 0;
	}
	return narrow(w, count * w->cie->data_align);
}

static int64_t positive(uint64_t value)
{
	return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

/* Registers that are of no use here are read and passed over. */
static void set(struct work *w, uint64_t reg, enum unwind_how how, int32_t value)
{
	if (reg >= UNWIND_REGISTERS)
		return;
	w->now.how[reg] = (uint8_t)how;
	w->now.value[reg] = value;
	w->now.told &= ~(UINT64_C(1) << reg);
	w->now.told |= (uint64_t)(how != UNWIND_SAME) << reg;
}

static void restore(struct work *w, uint64_t reg)
{
	if (reg < UNWIND_REGISTERS)
		set(w, reg, w->cie->state.how[reg], w->cie->state.value[reg]);
}

static void set_cfa(struct work *w, uint64_t reg, int32_t value)
{
	if (reg >= UNWIND_REGISTERS) {
		fail(w, -EINVAL);
		return;
	}
	w->now.cfa_how = UNWIND_OFFSET;
	w->now.cfa_reg = (uint8_t)reg;
	w->now.cfa_value = value;
}

static int32_t expression(struct work *w)
{
	uint64_t size = cursor_uleb(&w->c);
	const unsigned char *code = cursor_take(&w->c, size);
	int32_t number = 0;
	int r;

	if (!code || size > EXPRESSION_MAX) {
		fail(w, -EINVAL);
		return 0;
	}
	r = unwind_table_code(w->table, code, (size_t)size, &number);
	if (r < 0)
		fail(w, r);
	return number;
}

static void set_expression(struct work *w, enum unwind_how how)
{
	uint64_t reg = cursor_uleb(&w->c);

	set(w, reg, how, expression(w));
}

static void set_aside(struct work *w)
{
	if (w->aside_count == ASIDE_MAX)
		fail(w, -EINVAL);
	else
		w->aside[w->aside_count++] = w->now;
}

static void take_back(struct work *w)
{
	if (!w->aside_count)
		fail(w, -EINVAL);
	else
		w->now = w->aside[--w->aside_count];
}

static void cfa_offset(struct work *w, int32_t value)
{
	if (w->now.cfa_how != UNWIND_OFFSET)
		fail(w, -EINVAL);
	w->now.cfa_value = value;
}

/* Those that change the rule of the CFA. False: it is another instruction. */
static bool cfa_instruction(struct work *w, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case 0x0c: /* def_cfa */
		reg = cursor_uleb(&w->c);
		set_cfa(w, reg, narrow(w, positive(cursor_uleb(&w->c))));
		return true;
	case 0x0d: /* def_cfa_register */
		set_cfa(w, cursor_uleb(&w->c), w->now.cfa_value);
		return true;
	case 0x0e: /* def_cfa_offset */
		cfa_offset(w, narrow(w, positive(cursor_uleb(&w->c))));
		return true;
	case 0x0f: /* def_cfa_expression */
		w->now.cfa_value = expression(w);
		w->now.cfa_how = UNWIND_EXPRESSION;
		w->now.cfa_reg = 0;
		return true;
	case 0x12: /* def_cfa_sf */
		reg = cursor_uleb(&w->c);
		set_cfa(w, reg, scaled(w, cursor_sleb(&w->c)));
		return true;
	case 0x13: /* def_cfa_offset_sf */
		cfa_offset(w, scaled(w, cursor_sleb(&w->c)));
		return true;
	default:
		return false;
	}
}

static bool register_instruction(struct work *w, uint8_t op)
{
	uint64_t reg, other;

	switch (op) {
	case 0x05: /* offset_extended */
		reg = cursor_uleb(&w->c);
		set(w, reg, UNWIND_AT_OFFSET, scaled(w, positive(cursor_uleb(&w->c))));
		return true;
	case 0x06: /* restore_extended */
		restore(w, cursor_uleb(&w->c));
		return true;
	case 0x07:
		set(w, cursor_uleb(&w->c), UNWIND_UNDEFINED, 0);
		return true;
	case 0x08:
		set(w, cursor_uleb(&w->c), UNWIND_SAME, 0);
		return true;
	case 0x09: /* register: the one is in the other; in one that is not known here, it is lost */
		reg = cursor_uleb(&w->c);
		other = cursor_uleb(&w->c);
		if (other < UNWIND_REGISTERS)
			set(w, reg, UNWIND_IN_REGISTER, (int32_t)other);
		else
			set(w, reg, UNWIND_UNDEFINED, 0);
		return true;
	case 0x10:
		set_expression(w, UNWIND_AT_EXPRESSION);
		return true;
	case 0x11: /* offset_extended_sf */
		reg = cursor_uleb(&w->c);
		set(w, reg, UNWIND_AT_OFFSET, scaled(w, cursor_sleb(&w->c)));
		return true;
	case 0x14: /* val_offset */
		reg = cursor_uleb(&w->c);
		set(w, reg, UNWIND_OFFSET, scaled(w, positive(cursor_uleb(&w->c))));
		return true;
	case 0x15: /* val_offset_sf */
		reg = cursor_uleb(&w->c);
		set(w, reg, UNWIND_OFFSET, scaled(w, cursor_sleb(&w->c)));
		return true;
	case 0x16:
		set_expression(w, UNWIND_EXPRESSION);
		return true;
	case 0x2f: /* GNU_negative_offset_extended */
		reg = cursor_uleb(&w->c);
		set(w, reg, UNWIND_AT_OFFSET, scaled(w, -positive(cursor_uleb(&w->c))));
		return true;
	default:
		return false;
	}
}

/* One that changes the rules, not the place. */
static void instruction(struct work *w, uint8_t op)
{
	if (op >> 6 == 2) { /* offset */
		set(w, op & 63, UNWIND_AT_OFFSET, scaled(w, positive(cursor_uleb(&w->c))));
	} else if (op >> 6 == 3) {
		restore(w, op & 63);
	} else if (op == 0x0a) {
		set_aside(w);
	} else if (op == 0x0b) {
		take_back(w);
	} else if (op == 0x2e) { /* GNU_args_size: of calls that throw */
		cursor_uleb(&w->c);
	} else if (op != 0 && op != 0x2d && !cfa_instruction(w, op) && !register_instruction(w, op)) {
		/* 0x2d: return addresses are signed from here on, or no longer; that is found out by looking at them */
		fail(w, -EINVAL);
	}
	if (w->c.bad)
		fail(w, -EINVAL);
}

/* How far the place moves; false: it is another instruction. */
static bool moves(struct work *w, const struct cfi_bases *bases, uint8_t op, uint64_t *place)
{
	uint64_t to, units;

	switch (op) {
	case 0x01: /* set_loc */
		if (cfi_pointer(&w->c, w->cie->encoding, bases, &to))
			*place = to;
		else
			fail(w, -EINVAL);
		return true;
	case 0x02:
		units = cursor_u8(&w->c);
		break;
	case 0x03:
		units = cursor_u16(&w->c);
		break;
	case 0x04:
		units = cursor_u32(&w->c);
		break;
	case 0x1d: /* MIPS_advance_loc8 */
		units = cursor_u64(&w->c);
		break;
	default:
		if (op >> 6 != 1)
			return false;
		units = op & 63;
	}
	if (w->c.bad || (units && w->cie->code_align > UINT64_MAX / units) || *place > UINT64_MAX - units * w->cie->code_align)
		fail(w, -EINVAL);
	else
		*place += units * w->cie->code_align;
	return true;
}

/* The rule that a state means. */
static uint32_t rule_of(struct work *w)
{
	struct unwind_rule rule = {.cfa_how = w->now.cfa_how, .cfa_reg = w->now.cfa_reg, .cfa_value = w->now.cfa_value};
	struct unwind_save saves[UNWIND_REGISTERS];
	bool plain = rule.cfa_how == UNWIND_OFFSET;
	uint32_t number = 0;
	uint64_t told;
	int r;

	if (w->now.cfa_how == UNWIND_SAME)
		return 0;
	rule.ra_reg = w->cie->ra;
	rule.ra_how = w->now.how[rule.ra_reg];
	rule.ra_value = w->now.value[rule.ra_reg];
	for (told = w->now.told; told; told &= told - 1) {
		uint8_t reg = (uint8_t)__builtin_ctzll(told);
		struct unwind_save save = {reg, w->now.how[reg], 0, w->now.value[reg]};

		/* what was called and returned has changed the link register: its caller has nothing of it */
		if (reg == rule.ra_reg && !w->cie->signal)
			continue;
		plain = plain && save.how == UNWIND_AT_OFFSET;
		saves[rule.count++] = save;
	}
	rule.flags = (uint8_t)((w->cie->signal ? UNWIND_SIGNAL : 0) |
			       (plain && rule.ra_how == UNWIND_AT_OFFSET && !w->cie->signal ? UNWIND_PLAIN : 0));
	r = unwind_table_rule(w->table, &rule, saves, &number);
	if (r < 0)
		fail(w, r);
	return number;
}

/* States that were put aside are written before they are read: there are too many to be set for each function. */
static void begin(struct work *w, struct unwind_table *table, const struct cfi_cie *cie, struct byte_cursor program)
{
	w->table = table;
	w->cie = cie;
	w->c = program;
	w->aside_count = 0;
	w->error = 0;
}

int cfi_initial(struct cfi_cie *cie, struct unwind_table *table)
{
	struct work w;

	begin(&w, table, cie, cie->program);
	memset(&w.now, 0, sizeof(w.now));
	while (!w.error && w.c.at < w.c.end) {
		uint8_t op = cursor_u8(&w.c);

		if (op >> 6 == 1 || (op >= 1 && op <= 4)) /* a CIE is of no place */
			return -EINVAL;
		instruction(&w, op);
	}
	cie->state = w.now;
	return w.error;
}

static int put_row(struct work *w, const struct cfi_run *run, uint64_t place)
{
	uint32_t rule = rule_of(w);

	if (!w->error) {
		int r = unwind_table_row(run->table, place > run->start ? place : run->start, rule);

		if (r < 0)
			fail(w, r);
	}
	return w->error;
}

int cfi_run(const struct cfi_run *run, struct byte_cursor program)
{
	uint64_t place = run->origin;
	struct work w;
	int r;

	begin(&w, run->table, run->cie, program);
	w.now = run->cie->state;
	while (!w.error && w.c.at < w.c.end && place < run->end) {
		uint64_t next = place;
		uint8_t op = cursor_u8(&w.c);

		if (!moves(&w, run->bases, op, &next)) {
			instruction(&w, op);
			continue;
		}
		if (w.error || next < place)
			break;
		if (next > place && next > run->start && put_row(&w, run, place) < 0)
			break;
		place = next;
	}
	if (!w.error && place < run->end)
		put_row(&w, run, place);
	if (place < run->start)
		place = run->start;
	r = unwind_table_row(run->table, w.error && place < run->end ? place : run->end, 0);
	return w.error == -ENOMEM ? w.error : r;
}
