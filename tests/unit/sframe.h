/* SPDX-License-Identifier: MIT */
/* SFrame sections made by hand. */
#ifndef TESTS_UNIT_SFRAME_H
#define TESTS_UNIT_SFRAME_H

#include "rules.h"

#include "symbols/unwind_step.h"

#define CODE_SIZE 0x100000

#define AMD64	  3
#define ARM64	  2
#define ARM64_BIG 1

#define BY_FP 0
#define BY_SP 1
#define WORDS(count, size) ((unsigned)((count) << 1 | (size) << 5))

/* A section: its functions, and behind them its rows. */
static struct {
	uint8_t version, abi, flags;
	int8_t fixed_fp, fixed_ra;
	struct bytes functions, rows;
	uint32_t function_count, row_total;
} made;

static struct bytes frames;

static inline void begin(uint8_t version, uint8_t abi, uint8_t flags)
{
	memset(&made, 0, sizeof(made));
	made.version = version;
	made.abi = abi;
	made.flags = flags;
	made.fixed_ra = abi == AMD64 ? -8 : 0;
	made.functions.big = made.rows.big = abi == ARM64_BIG;
}

static inline uint32_t function_size(void)
{
	return made.version == 1 ? 17 : made.version == 2 ? 20 : 16;
}

/* @info: kind of rows, mask, signal. Rows are put behind it. */
static inline void put_function(uint64_t code, uint32_t size, uint32_t count, uint8_t info, uint8_t info2, uint8_t repeat)
{
	uint64_t here = FRAME_AT + 28 + made.function_count * function_size();
	uint64_t start = code - (made.flags & 4 ? here : FRAME_AT);

	put_number(&made.functions, start, made.version == 3 ? 8 : 4);
	put_u32(&made.functions, size);
	put_u32(&made.functions, made.rows.size);
	if (made.version == 3) {
		put_u16(&made.rows, count);
		put_u8(&made.rows, info);
		put_u8(&made.rows, info2);
		put_u8(&made.rows, repeat);
	} else {
		put_u32(&made.functions, count);
		put_u8(&made.functions, info);
		if (made.version == 2) {
			put_u8(&made.functions, repeat);
			put_u16(&made.functions, 0);
		}
	}
	made.function_count++;
	made.row_total += count;
}

/* A row whose start has a byte, with words of a byte. */
static inline void put_row(uint8_t start, uint8_t base, unsigned count, int a, int b, int c)
{
	const int words[] = {a, b, c};
	unsigned i;

	put_u8(&made.rows, start);
	put_u8(&made.rows, base | WORDS(count, 0));
	for (i = 0; i < count; i++)
		put_u8(&made.rows, (uint8_t)words[i]);
}

static inline void put_section(void)
{
	memset(&frames, 0, sizeof(frames));
	frames.big = made.abi == ARM64_BIG;
	put_u16(&frames, 0xdee2);
	put_u8(&frames, made.version);
	put_u8(&frames, made.flags);
	put_u8(&frames, made.abi);
	put_u8(&frames, (uint8_t)made.fixed_fp);
	put_u8(&frames, (uint8_t)made.fixed_ra);
	put_u8(&frames, 0);
	put_u32(&frames, made.function_count);
	put_u32(&frames, made.row_total);
	put_u32(&frames, made.rows.size);
	put_u32(&frames, 0);
	put_u32(&frames, made.functions.size);
	put_bytes(&frames, made.functions.data, made.functions.size);
	put_bytes(&frames, made.rows.data, made.rows.size);
}

static inline struct cfi_source source_of(void)
{
	struct cfi_source s = {.section_count = 1, .range_count = 1, .machine = made.abi == AMD64 ? 62 : 183, .wide = true,
			       .swap = frames.big != PERFEV_BIG_ENDIAN};

	s.sections[0] = (struct cfi_section){frames.data, frames.size, FRAME_AT, CFI_SFRAME};
	s.ranges[0].start = CODE_AT;
	s.ranges[0].end = CODE_AT + CODE_SIZE;
	return s;
}

static inline void compile(struct unwind_table *table)
{
	struct cfi_source s;

	put_section();
	s = source_of();
	assert_int_equal(cfi_compile(table, &s), 0);
}

static inline void expect_nothing(void)
{
	struct unwind_table table;
	struct cfi_source s = source_of();

	assert_int_equal(cfi_compile(&table, &s), -ENODATA);
}

/* ---- rows that say where from each register comes ------------------------------------------------------------------------- */

#define OF_REGISTER 1
#define IN_MEMORY   2

static inline uint8_t control(unsigned reg, unsigned how)
{
	return (uint8_t)(reg << 3 | how);
}

static inline void put_flexible(uint8_t start, const int *words, unsigned count)
{
	unsigned i;

	put_u8(&made.rows, start);
	put_u8(&made.rows, WORDS(count, 0));
	for (i = 0; i < count; i++)
		put_u8(&made.rows, (uint8_t)words[i]);
}

static inline enum unwind_result step(const struct unwind_table *table, uint64_t pc, struct unwind_state *s)
{
	const struct unwind_machine *machine = unwind_machine(PERFEV_ARCH_X86, PERF_SAMPLE_REGS_ABI_64);
	static struct bytes stack;
	struct unwind_memory memory = {stack.data, STACK_AT, 0x100, PERFEV_BIG_ENDIAN, NULL}; /* its words are little-endian */
	unsigned i;

	stack.size = 0;
	for (i = 0; i < 32; i++) /* each word says where it is, but for one that points */
		put_u64(&stack, i == 4 ? STACK_AT + 0x80 : 0x1000 + i * 8);
	*s = (struct unwind_state){.pc = pc, .known = UINT32_MAX};
	for (i = 0; i < 16; i++)
		s->regs[i] = 0xa00 + i;
	s->regs[7] = STACK_AT;
	s->regs[6] = STACK_AT + 0x28;
	s->regs[10] = STACK_AT + 0x40;
	return unwind_step(s, machine, &memory, table, rule_at(table, pc), true);
}

#endif
