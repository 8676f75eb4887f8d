/* SPDX-License-Identifier: MIT */
/*
 * SFrame sections -> rows.
 *
 * They say of the CFA, the return address and the frame pointer how the caller's are found, and nothing of other registers:
 * so these are unknown behind such a function, not taken to be as they were. A header is followed by functions of a fixed
 * size, and these by their rows, which are of different sizes. Nothing keeps a hostile file from letting many functions share
 * rows, or repeat them over gigabytes of code; so what is read and what is made has an end.
 *
 * Versions 1 and 2 differ by the size of a function. In version 3 the number and kind of rows stand before these, signal
 * frames are marked, and a function may be flexible: then each value has a base (the CFA or any register), an offset, and
 * may be in memory.
 */
#include "unwind_sframe.h"

#include <errno.h>

#define MAGIC	    0xdee2
#define HEADER_SIZE 28
#define SHARED_MAX  4 /* times that all rows are read */
#define REPEATS_MAX (4u << 20)
#define BLOCK_MAX   255 /* bytes of code that repeat */
#define WORDS_MAX   15
#define REPEAT_V1   16 /* bytes, which version 1 does not say */

enum sframe_flag { STARTS_RELATIVE = 1 << 2 }; /* to where they stand, else to the section */
enum sframe_info { REPEATS = 1 << 4, SIGNAL = 1 << 7 };

struct sframe_machine {
	uint8_t abi; /* and byte order */
	bool big;
	uint16_t elf;
	uint8_t sp, fp, ra; /* by DWARF; ra may be no register */
	uint64_t others;    /* registers that functions give back, and that are not told of */
};

#define BIT(n) (UINT64_C(1) << (n))

static const struct sframe_machine machines[] = {
	{1, true, 183, 31, 29, 30, UINT64_C(0x3ff) << 19},
	{2, false, 183, 31, 29, 30, UINT64_C(0x3ff) << 19},
	{3, false, 62, 7, 6, 16, BIT(3) | BIT(12) | BIT(13) | BIT(14) | BIT(15)},
};

/* ---- sections ----------------------------------------------------------------------------------------------------- */

static uint32_t function_size(uint8_t version)
{
	return version == 1 ? 17 : version == 2 ? 20 : 16;
}

static const struct sframe_machine *find_machine(uint8_t abi, uint16_t elf, bool swap)
{
	bool big = swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	size_t i;

	for (i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].abi == abi && machines[i].elf == elf && machines[i].big == big)
			return &machines[i];
	return NULL;
}

/* What of a part's bytes is in the section. */
static uint64_t within(uint64_t wanted, uint64_t there)
{
	return wanted < there ? wanted : there;
}

bool sframe_open(struct sframe *ret, const unsigned char *data, uint64_t size, uint64_t address, uint16_t machine, bool wide,
		 bool swap)
{
	uint64_t header, functions, rows;

	*ret = (struct sframe){.data = data, .address = address, .swap = swap, .repeats = REPEATS_MAX};
	if (size < HEADER_SIZE || load_u16(data, swap) != MAGIC || !wide)
		return false;
	ret->version = data[2];
	ret->flags = data[3];
	ret->machine = find_machine(data[4], machine, swap);
	ret->fixed_fp = (int8_t)data[5];
	ret->fixed_ra = (int8_t)data[6];
	if (!ret->machine || ret->version < 1 || ret->version > 3)
		return false;
	header = HEADER_SIZE + (uint64_t)data[7];
	functions = header + load_u32(data + 20, swap);
	rows = header + load_u32(data + 24, swap);
	if (functions > size || rows > size)
		return false;
	ret->functions = data + functions;
	ret->count = (uint32_t)within(load_u32(data + 8, swap), (size - functions) / function_size(ret->version));
	ret->rows = data + rows;
	ret->rows_size = within(load_u32(data + 16, swap), size - rows);
	ret->budget = SHARED_MAX * ret->rows_size;
	return true;
}

void sframe_function(const struct sframe *sframe, uint32_t index, struct sframe_function *ret)
{
	uint32_t size = function_size(sframe->version), offset;
	const unsigned char *at = sframe->functions + (uint64_t)index * size;
	uint64_t base = sframe->address + (sframe->flags & STARTS_RELATIVE ? (uint64_t)(at - sframe->data) : 0);
	struct byte_cursor c = {at, at + size, sframe->swap, false};

	*ret = (struct sframe_function){.repeat = REPEAT_V1};
	ret->start = base + (sframe->version == 3 ? cursor_u64(&c) : (uint64_t)(int64_t)(int32_t)cursor_u32(&c));
	ret->size = cursor_u32(&c);
	offset = cursor_u32(&c);
	if (offset > sframe->rows_size)
		return;
	ret->rows = (struct byte_cursor){sframe->rows + offset, sframe->rows + sframe->rows_size, sframe->swap, false};
	if (sframe->version == 3) {
		ret->count = cursor_u16(&ret->rows);
		c = ret->rows;
	} else {
		ret->count = cursor_u32(&c);
	}
	ret->info = cursor_u8(&c);
	if (sframe->version == 3)
		ret->info2 = cursor_u8(&c);
	if (sframe->version > 1)
		ret->repeat = cursor_u8(&c);
	if (sframe->version == 3)
		ret->rows = c;
	ret->described = !c.bad;
}

/* ---- rules --------------------------------------------------------------------------------------------------------- */

struct work {
	struct sframe *sframe;
	const struct sframe_function *function;
	struct unwind_table *table;
	struct byte_cursor c;
	struct unwind_rule rule;
	struct unwind_save fp; /* how is UNWIND_SAME: it was not saved */
	int32_t words[WORDS_MAX];
	uint32_t controls[WORDS_MAX]; /* the same, without sign */
	unsigned count;
	uint32_t read; /* rows */
	int error;
};

static void fail(struct work *w, int error)
{
	if (!w->error)
		w->error = error;
}

static void at_offset(uint8_t *how, int32_t *value, int32_t offset)
{
	*how = UNWIND_AT_OFFSET;
	*value = offset;
}

/* The usual kind: words are offsets, of the CFA, the return address if that has no fixed place, the frame pointer. */
static void default_row(struct work *w, bool by_sp)
{
	const struct sframe *s = w->sframe;
	unsigned fp = s->fixed_ra ? 1 : 2;

	w->rule.cfa_reg = by_sp ? s->machine->sp : s->machine->fp;
	w->rule.cfa_value = w->words[0];
	if (s->fixed_ra)
		at_offset(&w->rule.ra_how, &w->rule.ra_value, s->fixed_ra);
	else if (w->count > 1)
		at_offset(&w->rule.ra_how, &w->rule.ra_value, w->words[1]);
	if (w->count > fp)
		at_offset(&w->fp.how, &w->fp.value, w->words[fp]);
	else if (s->fixed_fp)
		at_offset(&w->fp.how, &w->fp.value, s->fixed_fp);
}

/* An expression of DWARF for a register and an offset, whose word of memory it may be. */
static int32_t expression(struct work *w, uint32_t reg, int32_t offset, bool in_memory)
{
	unsigned char code[8] = {(unsigned char)(0x70 + reg)};
	int64_t rest = offset;
	int32_t number = 0;
	size_t size = 1;
	int r;

	for (; rest < -64 || rest > 63; rest >>= 7)
		code[size++] = (unsigned char)((rest & 0x7f) | 0x80);
	code[size++] = (unsigned char)(rest & 0x7f);
	if (in_memory)
		code[size++] = 0x06;
	r = unwind_table_code(w->table, code, size, &number);
	if (r < 0)
		fail(w, r);
	return number;
}

/* A value whose control word is not 0. */
static void flexible_value(struct work *w, uint32_t control, int32_t offset, uint8_t *how, int32_t *value)
{
	bool of_register = control & 1, in_memory = control & 2;
	uint32_t reg = control >> 3;

	if (of_register && reg > 31) {
		fail(w, -EINVAL);
	} else if (!of_register) {
		*how = in_memory ? UNWIND_AT_OFFSET : UNWIND_OFFSET;
		*value = offset;
	} else if (!in_memory && !offset) {
		*how = UNWIND_IN_REGISTER;
		*value = (int32_t)reg;
	} else {
		*how = UNWIND_EXPRESSION;
		*value = expression(w, reg, offset, in_memory);
	}
}

/* The next pair of words; a single 0 stands for none. */
static bool take_pair(struct work *w, unsigned *at, uint32_t *control, int32_t *offset)
{
	if (*at >= w->count)
		return false;
	*control = w->controls[(*at)++];
	if (!*control)
		return false;
	if (*at >= w->count)
		fail(w, -EINVAL);
	else
		*offset = w->words[(*at)++];
	return w->error == 0;
}

static void flexible_row(struct work *w)
{
	uint32_t control = 0;
	int32_t offset = 0;
	unsigned at = 0;

	if (!take_pair(w, &at, &control, &offset) || !(control & 1) || control >> 3 > 31) {
		fail(w, -EINVAL);
		return;
	}
	if (control & 2) {
		w->rule.cfa_how = UNWIND_EXPRESSION;
		w->rule.cfa_value = expression(w, control >> 3, offset, true);
	} else {
		w->rule.cfa_reg = (uint8_t)(control >> 3);
		w->rule.cfa_value = offset;
	}
	if (take_pair(w, &at, &control, &offset))
		flexible_value(w, control, offset, &w->rule.ra_how, &w->rule.ra_value);
	else if (w->sframe->fixed_ra)
		at_offset(&w->rule.ra_how, &w->rule.ra_value, w->sframe->fixed_ra);
	if (take_pair(w, &at, &control, &offset))
		flexible_value(w, control, offset, &w->fp.how, &w->fp.value);
	else if (w->sframe->fixed_fp)
		at_offset(&w->fp.how, &w->fp.value, w->sframe->fixed_fp);
}

/* What is made of a row, and of what it does not tell. */
static uint32_t put_rule(struct work *w)
{
	const struct sframe_machine *m = w->sframe->machine;
	bool signal = w->sframe->version == 3 && w->function->info & SIGNAL;
	/* a handler of signals may have changed all */
	uint64_t lost = signal ? UINT32_MAX & ~(BIT(m->sp) | BIT(m->fp)) : m->others;
	struct unwind_save saves[UNWIND_REGISTERS];
	uint32_t number = 0;
	uint8_t reg;
	int r;

	memset(saves, 0, sizeof(saves));
	if (w->fp.how != UNWIND_SAME)
		saves[w->rule.count++] = w->fp;
	for (reg = 0; reg < 32; reg++)
		if (lost >> reg & 1)
			saves[w->rule.count++] = (struct unwind_save){.reg = reg, .how = UNWIND_UNDEFINED};
	w->rule.flags = (uint8_t)(UNWIND_FEW | (signal ? UNWIND_SIGNAL : 0));
	r = unwind_table_rule(w->table, &w->rule, saves, &number);
	if (r < 0)
		fail(w, r);
	return number;
}

static uint32_t rule_of_row(struct work *w, bool by_sp)
{
	bool flexible = w->sframe->version == 3 && (w->function->info2 & 31) == 1;

	memset(&w->rule, 0, sizeof(w->rule));
	w->rule.cfa_how = UNWIND_OFFSET;
	w->rule.ra_reg = w->sframe->machine->ra;
	w->fp = (struct unwind_save){.reg = w->sframe->machine->fp, .how = UNWIND_SAME};
	if (!w->count) { /* nobody called */
		w->rule.cfa_reg = w->sframe->machine->sp;
		w->rule.ra_how = UNWIND_UNDEFINED;
	} else if (flexible) {
		flexible_row(w);
	} else {
		default_row(w, by_sp);
	}
	return w->error ? 0 : put_rule(w);
}

/* ---- rows ---------------------------------------------------------------------------------------------------------- */

static uint32_t take_word(struct byte_cursor *c, unsigned kind, bool with_sign)
{
	uint32_t value;

	if (kind == 2)
		return cursor_u32(c);
	value = kind == 1 ? cursor_u16(c) : cursor_u8(c);
	if (!with_sign)
		return value;
	return (uint32_t)(kind == 1 ? (int32_t)(int16_t)(uint16_t)value : (int32_t)(int8_t)(uint8_t)value);
}

/* The next row; they ascend. False at the end, and where it is damaged: then error is set. */
static bool next_row(struct work *w, uint32_t *offset, uint32_t *rule)
{
	const unsigned char *before = w->c.at;
	uint32_t last = *offset;
	uint8_t info;
	unsigned i;

	if (w->error || w->read == w->function->count)
		return false;
	*offset = take_word(&w->c, w->function->info & 15, false);
	info = cursor_u8(&w->c);
	w->count = info >> 1 & 15;
	for (i = 0; i < w->count; i++) {
		struct byte_cursor again = w->c;

		w->controls[i] = take_word(&again, info >> 5 & 3, false);
		w->words[i] = (int32_t)take_word(&w->c, info >> 5 & 3, true);
	}
	if (w->c.bad || (info >> 5 & 3) == 3 || (w->read++ && *offset <= last) || (uint64_t)(w->c.at - before) > w->sframe->budget) {
		fail(w, -EINVAL);
		return false;
	}
	w->sframe->budget -= (uint64_t)(w->c.at - before);
	*rule = rule_of_row(w, info & 1);
	return w->error == 0;
}

static int put_row(struct work *w, uint64_t place, uint64_t start, uint64_t end, uint32_t rule)
{
	return place >= end ? 0 : unwind_table_row(w->table, place > start ? place : start, rule);
}

/* Each row holds until the next one begins. */
static int run_rows(struct work *w, uint64_t start, uint64_t end)
{
	uint64_t origin = w->function->start, place = origin, next;
	uint32_t offset = 0, rule = 0, next_rule = 0;
	int r = 0;

	while (r == 0 && place < end && next_row(w, &offset, &next_rule)) {
		next = origin + offset;
		if (next > start)
			r = put_row(w, place, start, end, rule);
		place = next;
		rule = next_rule;
	}
	if (r == 0) /* of a row before one that is damaged nobody knows how far it holds */
		r = put_row(w, place, start, end, w->error ? 0 : rule);
	return r;
}

/* Code in blocks that are alike, as linkage tables have it: the rows are of a block. */
static int run_repeated(struct work *w, uint64_t start, uint64_t end)
{
	uint32_t offsets[BLOCK_MAX + 1] = {0}, rules[BLOCK_MAX + 1], count = 0, offset = 0, i;
	uint64_t block = w->function->repeat, at;
	int r = 0;

	while (next_row(w, &offset, &rules[count]) && offset < block)
		offsets[count++] = offset;
	if (w->error || !count || !block)
		return w->error;
	at = w->function->start + (start - w->function->start) / block * block;
	for (; r == 0 && at < end; at += block) {
		if (w->sframe->repeats < count)
			return unwind_table_row(w->table, at > start ? at : start, 0);
		w->sframe->repeats -= count;
		if (offsets[0])
			r = put_row(w, at, start, end, 0);
		for (i = 0; r == 0 && i < count; i++)
			if (i + 1 == count || at + offsets[i + 1] > start)
				r = put_row(w, at + offsets[i], start, end, rules[i]);
	}
	return r;
}

/* Version 3 says by a function without rows that nobody called it. */
static int run_outermost(struct work *w, uint64_t start)
{
	uint32_t rule = rule_of_row(w, true);

	return w->error ? w->error : unwind_table_row(w->table, start, rule);
}

int sframe_run(struct sframe *sframe, const struct sframe_function *function, uint64_t start, uint64_t end,
	       struct unwind_table *table)
{
	struct work w = {.sframe = sframe, .function = function, .table = table, .c = function->rows};
	unsigned kind = function->info2 & 31;
	int r;

	if (!function->described || (function->info & 15) > 2 || (sframe->version == 3 && kind > 1))
		return 0;
	if (!function->count)
		r = sframe->version == 3 && kind == 0 ? run_outermost(&w, start) : 0;
	else if (function->info & REPEATS)
		r = run_repeated(&w, start, end);
	else
		r = run_rows(&w, start, end);
	if (r == -ENOMEM || w.error == -ENOMEM)
		return -ENOMEM;
	return unwind_table_row(table, end, 0);
}
