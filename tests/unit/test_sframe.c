/* SPDX-License-Identifier: MIT */
/* SFrame sections made by hand, of each version, for each machine: the rule of each place, and the caller's registers by it.
 * Then what lies: cut, changed, shared, repeated without end. */
#include "bytes.h"
#include "test.h"

#include "symbols/unwind_cfi.h"
#include "symbols/unwind_step.h"

#define CODE_AT	  0x401000
#define CODE_SIZE 0x100000
#define FRAME_AT  0x500000
#define STACK_AT  0x7ffc1000

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

static void begin(uint8_t version, uint8_t abi, uint8_t flags)
{
	memset(&made, 0, sizeof(made));
	made.version = version;
	made.abi = abi;
	made.flags = flags;
	made.fixed_ra = abi == AMD64 ? -8 : 0;
	made.functions.big = made.rows.big = abi == ARM64_BIG;
}

static uint32_t function_size(void)
{
	return made.version == 1 ? 17 : made.version == 2 ? 20 : 16;
}

/* @info: kind of rows, mask, signal. Rows are put behind it. */
static void put_function(uint64_t code, uint32_t size, uint32_t count, uint8_t info, uint8_t info2, uint8_t repeat)
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
static void put_row(uint8_t start, uint8_t base, unsigned count, int a, int b, int c)
{
	const int words[] = {a, b, c};
	unsigned i;

	put_u8(&made.rows, start);
	put_u8(&made.rows, base | WORDS(count, 0));
	for (i = 0; i < count; i++)
		put_u8(&made.rows, (uint8_t)words[i]);
}

static void put_section(void)
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

static struct cfi_source source_of(void)
{
	struct cfi_source s = {.section_count = 1, .range_count = 1, .machine = made.abi == AMD64 ? 62 : 183, .wide = true,
			       .swap = frames.big != PERFEV_BIG_ENDIAN};

	s.sections[0] = (struct cfi_section){frames.data, frames.size, FRAME_AT, CFI_SFRAME};
	s.ranges[0].start = CODE_AT;
	s.ranges[0].end = CODE_AT + CODE_SIZE;
	return s;
}

static void compile(struct unwind_table *table)
{
	struct cfi_source s;

	put_section();
	s = source_of();
	assert_int_equal(cfi_compile(table, &s), 0);
}

static void expect_nothing(void)
{
	struct unwind_table table;
	struct cfi_source s = source_of();

	assert_int_equal(cfi_compile(&table, &s), -ENODATA);
}

static const struct unwind_rule *rule_at(const struct unwind_table *table, uint64_t address)
{
	const struct unwind_rule *rule = unwind_table_find(table, address);

	if (!rule)
		fail_msg("no rule at 0x%llx", (unsigned long long)address);
	return rule;
}

static void expect_cfa(const struct unwind_table *table, uint64_t address, uint8_t reg, int32_t offset)
{
	const struct unwind_rule *rule = rule_at(table, address);

	assert_int_equal(rule->cfa_how, UNWIND_OFFSET);
	assert_int_equal(rule->cfa_reg, reg);
	assert_int_equal(rule->cfa_value, offset);
}

static const struct unwind_save *save_of(const struct unwind_table *table, uint64_t address, uint8_t reg)
{
	const struct unwind_rule *rule = rule_at(table, address);
	uint8_t i;

	for (i = 0; i < rule->count; i++)
		if (table->saves[rule->first + i].reg == reg)
			return &table->saves[rule->first + i];
	return NULL;
}

/* ---- rows -------------------------------------------------------------------------------------------------------------- */

/* push %rbp; mov %rsp,%rbp; ...; pop %rbp; ret */
static void put_framed(uint64_t code)
{
	put_function(code, 0x40, 4, 0, 0, 0);
	put_row(0, BY_SP, 1, 8, 0, 0);
	put_row(1, BY_SP, 2, 16, -16, 0);
	put_row(4, BY_FP, 2, 16, -16, 0);
	put_row(0x3f, BY_SP, 1, 8, 0, 0);
}

static void test_amd64(void **state)
{
	uint8_t version;

	(void)state;
	for (version = 1; version <= 3; version++) {
		uint8_t flags = 0;

		for (; flags <= 4; flags += 4) {
			struct unwind_table table;

			begin(version, AMD64, flags);
			put_framed(CODE_AT + 0x100);
			put_framed(CODE_AT + 0x20); /* not sorted */
			compile(&table);
			assert_null(unwind_table_find(&table, CODE_AT + 0x1f));
			expect_cfa(&table, CODE_AT + 0x20, 7, 8);
			expect_cfa(&table, CODE_AT + 0x21, 7, 16);
			expect_cfa(&table, CODE_AT + 0x23, 7, 16);
			expect_cfa(&table, CODE_AT + 0x24, 6, 16);
			expect_cfa(&table, CODE_AT + 0x5e, 6, 16);
			expect_cfa(&table, CODE_AT + 0x5f, 7, 8);
			assert_null(unwind_table_find(&table, CODE_AT + 0x60));
			expect_cfa(&table, CODE_AT + 0x104, 6, 16);
			assert_int_equal(rule_at(&table, CODE_AT + 0x24)->ra_how, UNWIND_AT_OFFSET);
			assert_int_equal(rule_at(&table, CODE_AT + 0x24)->ra_value, -8);
			assert_int_equal(save_of(&table, CODE_AT + 0x24, 6)->how, UNWIND_AT_OFFSET);
			assert_int_equal(save_of(&table, CODE_AT + 0x24, 6)->value, -16);
			assert_null(save_of(&table, CODE_AT + 0x20, 6)); /* as it was */
			assert_int_equal(save_of(&table, CODE_AT + 0x24, 3)->how, UNWIND_UNDEFINED);
			unwind_table_free(&table);
		}
	}
}

static void test_sizes(void **state)
{
	struct unwind_table table;

	(void)state;
	begin(2, AMD64, 0);
	put_function(CODE_AT, 0x20000, 2, 1, 0, 0); /* starts of 2 bytes, words of 2 and 4 */
	put_u16(&made.rows, 0);
	put_u8(&made.rows, BY_SP | WORDS(1, 1));
	put_u16(&made.rows, 0x1008);
	put_u16(&made.rows, 0xfff0);
	put_u8(&made.rows, BY_SP | WORDS(2, 2));
	put_u32(&made.rows, 0x123450);
	put_u32(&made.rows, (uint32_t)-0x20010);
	put_function(CODE_AT + 0x20000, 0x20000, 2, 2, 0, 0);
	put_u32(&made.rows, 0);
	put_u8(&made.rows, BY_SP | WORDS(1, 0));
	put_u8(&made.rows, 0x78);
	put_u32(&made.rows, 0x1fff0);
	put_u8(&made.rows, BY_FP | WORDS(1, 0));
	put_u8(&made.rows, 0x88); /* -120 */
	compile(&table);
	expect_cfa(&table, CODE_AT, 7, 0x1008);
	expect_cfa(&table, CODE_AT + 0xffef, 7, 0x1008);
	expect_cfa(&table, CODE_AT + 0xfff0, 7, 0x123450);
	assert_int_equal(save_of(&table, CODE_AT + 0xfff0, 6)->value, -0x20010);
	expect_cfa(&table, CODE_AT + 0x20000, 7, 0x78);
	expect_cfa(&table, CODE_AT + 0x3fff0, 6, -120);
	unwind_table_free(&table);
}

static void test_arm64(void **state)
{
	static const uint8_t abis[] = {ARM64, ARM64_BIG};
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct unwind_table table;

		begin((uint8_t)(2 + i), abis[i], 4);
		put_function(CODE_AT, 0x40, 3, 1 << 5, 0, 0); /* signed by the second key */
		put_u8(&made.rows, 0);
		put_u8(&made.rows, BY_SP | WORDS(1, 0));
		put_u8(&made.rows, 0);
		put_row(4, BY_SP | 0x80, 3, 32, -24, -32); /* signed */
		put_row(8, BY_FP | 0x80, 3, 32, -24, -32);
		compile(&table);
		expect_cfa(&table, CODE_AT, 31, 0);
		assert_int_equal(rule_at(&table, CODE_AT)->ra_how, UNWIND_SAME);
		assert_int_equal(rule_at(&table, CODE_AT)->ra_reg, 30);
		expect_cfa(&table, CODE_AT + 4, 31, 32);
		expect_cfa(&table, CODE_AT + 8, 29, 32);
		assert_int_equal(rule_at(&table, CODE_AT + 8)->ra_how, UNWIND_AT_OFFSET);
		assert_int_equal(rule_at(&table, CODE_AT + 8)->ra_value, -24);
		assert_int_equal(save_of(&table, CODE_AT + 8, 29)->value, -32);
		assert_int_equal(save_of(&table, CODE_AT + 8, 19)->how, UNWIND_UNDEFINED);
		unwind_table_free(&table);
	}
}

/* Frame pointers at one place in all functions. */
static void test_fixed_frame_pointer(void **state)
{
	struct unwind_table table;

	(void)state;
	begin(2, AMD64, 0);
	made.fixed_fp = -16;
	put_function(CODE_AT, 0x10, 2, 0, 0, 0);
	put_row(0, BY_SP, 1, 8, 0, 0);
	put_row(4, BY_SP, 2, 16, -32, 0);
	compile(&table);
	assert_int_equal(save_of(&table, CODE_AT, 6)->value, -16);
	assert_int_equal(save_of(&table, CODE_AT + 4, 6)->value, -32);
	unwind_table_free(&table);
}

static void test_repeated(void **state)
{
	uint8_t version;

	(void)state;
	for (version = 1; version <= 3; version++) {
		struct unwind_table table;
		uint64_t at;

		begin(version, AMD64, 0);
		put_function(CODE_AT, 0x1008, 2, 1 << 4, 0, 16);
		put_row(0, BY_SP, 1, 8, 0, 0);
		put_row(11, BY_SP, 1, 16, 0, 0);
		compile(&table);
		for (at = 0; at < 0x1008; at++)
			expect_cfa(&table, CODE_AT + at, 7, at % 16 >= 11 ? 16 : 8);
		assert_null(unwind_table_find(&table, CODE_AT + 0x1008));
		unwind_table_free(&table);
	}
	begin(2, AMD64, 0); /* before the first row nothing is known */
	put_function(CODE_AT, 0x40, 1, 1 << 4, 0, 16);
	put_row(4, BY_SP, 1, 8, 0, 0);
	{
		struct unwind_table table;

		compile(&table);
		assert_null(unwind_table_find(&table, CODE_AT + 0x13));
		expect_cfa(&table, CODE_AT + 0x14, 7, 8);
		expect_cfa(&table, CODE_AT + 0x1f, 7, 8);
		assert_null(unwind_table_find(&table, CODE_AT + 0x20));
		unwind_table_free(&table);
	}
}

static void test_outermost(void **state)
{
	const struct unwind_machine *machine = unwind_machine(PERFEV_ARCH_X86, PERF_SAMPLE_REGS_ABI_64);
	struct unwind_table table;
	uint64_t at;

	(void)state;
	begin(3, AMD64, 4);
	put_function(CODE_AT, 0x10, 0, 0, 0, 0); /* without rows */
	put_function(CODE_AT + 0x10, 0x10, 1, 0, 0, 0);
	put_row(0, BY_SP, 0, 0, 0, 0); /* a row without words */
	compile(&table);
	for (at = 0; at < 0x20; at += 0x10) {
		struct unwind_state s = {.pc = CODE_AT + at, .known = UINT32_MAX};
		struct unwind_memory memory = {frames.data, STACK_AT, 64, false, NULL};

		s.regs[7] = STACK_AT;
		assert_int_equal(unwind_step(&s, machine, &memory, &table, rule_at(&table, CODE_AT + at), false),
				 UNWIND_OUTERMOST);
	}
	unwind_table_free(&table);
	begin(2, AMD64, 0); /* what is no statement in version 2 */
	put_function(CODE_AT, 0x10, 0, 0, 0, 0);
	put_section();
	expect_nothing();
}

/* ---- flexible ones --------------------------------------------------------------------------------------------------------- */

#define OF_REGISTER 1
#define IN_MEMORY   2

static uint8_t control(unsigned reg, unsigned how)
{
	return (uint8_t)(reg << 3 | how);
}

static void put_flexible(uint8_t start, const int *words, unsigned count)
{
	unsigned i;

	put_u8(&made.rows, start);
	put_u8(&made.rows, WORDS(count, 0));
	for (i = 0; i < count; i++)
		put_u8(&made.rows, (uint8_t)words[i]);
}

static enum unwind_result step(const struct unwind_table *table, uint64_t pc, struct unwind_state *s)
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

static void test_flexible(void **state)
{
	/* CFA = *(rbp - 8), the return address as usual, rbp = *(rbp + 0) */
	const int aligned[] = {control(6, OF_REGISTER | IN_MEMORY), -8, 0, control(6, OF_REGISTER | IN_MEMORY), 0};
	/* CFA = r10 + 8, the return address in a register, rbp = CFA - 24 */
	const int moved[] = {control(10, OF_REGISTER), 8, control(3, OF_REGISTER), 0, control(0, IN_MEMORY), -24};
	/* CFA = rsp + 16, the return address at its usual place, said by a rule; rbp from rbx + 4 */
	const int plain[] = {control(7, OF_REGISTER), 16, control(0, IN_MEMORY), -8, control(3, OF_REGISTER), 4};
	const int no_register[] = {control(0, IN_MEMORY), 8};
	const int half[] = {control(7, OF_REGISTER), 8, control(0, IN_MEMORY)};
	struct unwind_table table;
	struct unwind_state s;

	(void)state;
	begin(3, AMD64, 4);
	put_function(CODE_AT, 0x30, 3, 0, 1, 0);
	put_flexible(0, aligned, 5);
	put_flexible(0x10, moved, 6);
	put_flexible(0x20, plain, 6);
	put_function(CODE_AT + 0x30, 0x10, 1, 0, 1, 0);
	put_flexible(0, no_register, 2);
	put_function(CODE_AT + 0x40, 0x10, 1, 0, 1, 0);
	put_flexible(0, half, 3);
	put_function(CODE_AT + 0x50, 0x10, 1, 0, 2, 0); /* a kind that nobody knows */
	put_flexible(0, plain, 6);
	compile(&table);

	assert_int_equal(step(&table, CODE_AT, &s), UNWIND_CALLER);
	assert_int_equal(s.regs[7], STACK_AT + 0x80);
	assert_int_equal(s.pc, 0x1000 + 0x78);
	assert_int_equal(s.regs[6], 0x1000 + 0x28);

	assert_int_equal(step(&table, CODE_AT + 0x10, &s), UNWIND_CALLER);
	assert_int_equal(s.regs[7], STACK_AT + 0x48);
	assert_int_equal(s.pc, 0xa03);
	assert_int_equal(s.regs[6], 0x1000 + 0x30);
	assert_true(s.known >> 6 & 1);
	assert_false(s.known >> 3 & 1);

	assert_int_equal(step(&table, CODE_AT + 0x20, &s), UNWIND_CALLER);
	assert_int_equal(s.regs[7], STACK_AT + 0x10);
	assert_int_equal(s.pc, 0x1000 + 8);
	assert_int_equal(s.regs[6], 0xa07);

	assert_null(unwind_table_find(&table, CODE_AT + 0x30));
	assert_null(unwind_table_find(&table, CODE_AT + 0x40));
	assert_null(unwind_table_find(&table, CODE_AT + 0x50));
	unwind_table_free(&table);
}

/* What a handler of signals returns to: all in memory, and what is not told is not known. */
static void test_signal(void **state)
{
	const int words[] = {control(7, OF_REGISTER | IN_MEMORY), 0x20, control(7, OF_REGISTER | IN_MEMORY), 0x28,
			     control(7, OF_REGISTER | IN_MEMORY), 0x30};
	struct unwind_table table;
	struct unwind_state s;

	(void)state;
	begin(3, AMD64, 4);
	put_function(CODE_AT, 0x10, 1, 1 << 7, 1, 0);
	put_flexible(0, words, 6);
	compile(&table);
	assert_true(unwind_is_poor_signal(rule_at(&table, CODE_AT)));
	assert_int_equal(step(&table, CODE_AT, &s), UNWIND_CALLER);
	assert_int_equal(s.regs[7], STACK_AT + 0x80);
	assert_int_equal(s.pc, 0x1000 + 0x28);
	assert_int_equal(s.regs[6], 0x1000 + 0x30);
	assert_int_equal(s.known, UINT64_C(1) << 6 | UINT64_C(1) << 7);
	unwind_table_free(&table);
}

/* ---- beside others --------------------------------------------------------------------------------------------------------- */

/* What .eh_frame says of a part of a function is believed before what .sframe says of it. */
static void test_behind_others(void **state)
{
	static const unsigned char cie[] = {0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x0b, 0x0c, 7, 99, 0, 0, 0};
	static struct bytes eh;
	struct unwind_table table;
	struct cfi_source s;

	(void)state;
	memset(&eh, 0, sizeof(eh));
	eh.big = PERFEV_BIG_ENDIAN;
	put_u32(&eh, 3 + sizeof(cie) + 1);
	put_number(&eh, 0, 3);
	put_bytes(&eh, cie, sizeof(cie));
	put_u8(&eh, 0);
	put_u32(&eh, 16);
	put_u32(&eh, eh.size);
	put_u32(&eh, CODE_AT + 0x30);
	put_u32(&eh, 8);
	put_u32(&eh, 0);
	begin(2, AMD64, 0);
	put_framed(CODE_AT);
	put_section();
	s = source_of();
	s.sections[1] = s.sections[0];
	s.sections[0] = (struct cfi_section){eh.data, eh.size, 0x600000, CFI_EH_FRAME};
	s.section_count = 2;
	assert_int_equal(cfi_compile(&table, &s), 0);
	expect_cfa(&table, CODE_AT + 0x2f, 6, 16);
	expect_cfa(&table, CODE_AT + 0x30, 7, 99);
	expect_cfa(&table, CODE_AT + 0x37, 7, 99);
	expect_cfa(&table, CODE_AT + 0x38, 6, 16);
	expect_cfa(&table, CODE_AT + 0x3f, 7, 8);
	unwind_table_free(&table);
}

/* ---- what lies ------------------------------------------------------------------------------------------------------- */

static void test_refused(void **state)
{
	struct cfi_source s;
	struct unwind_table table;

	(void)state;
	begin(4, AMD64, 0);
	put_framed(CODE_AT);
	put_section();
	expect_nothing();
	begin(2, 4, 0); /* s390x */
	put_framed(CODE_AT);
	put_section();
	expect_nothing();
	begin(2, AMD64, 0);
	put_framed(CODE_AT);
	put_section();
	s = source_of();
	s.machine = 183;
	assert_int_equal(cfi_compile(&table, &s), -ENODATA);
	s = source_of();
	s.wide = false;
	assert_int_equal(cfi_compile(&table, &s), -ENODATA);
	frames.data[0] = 0;
	expect_nothing();
	begin(2, AMD64, 0);
	put_framed(CODE_AT - 0x1000); /* where no code is */
	put_section();
	expect_nothing();
	begin(2, AMD64, 0);
	put_function(CODE_AT, 0x10, 1, 3, 0, 0); /* starts of a size that is not known */
	put_row(0, BY_SP, 1, 8, 0, 0);
	put_section();
	expect_nothing();
}

/* Rows that go back end what is known before them: how far does the last good one hold? */
static void test_order(void **state)
{
	struct unwind_table table;

	(void)state;
	begin(2, AMD64, 0);
	put_function(CODE_AT, 0x40, 4, 0, 0, 0);
	put_row(0, BY_SP, 1, 8, 0, 0);
	put_row(0x10, BY_SP, 1, 16, 0, 0);
	put_row(0x20, BY_SP, 1, 24, 0, 0);
	put_row(0x18, BY_SP, 1, 32, 0, 0);
	compile(&table);
	expect_cfa(&table, CODE_AT + 0x1f, 7, 16);
	assert_null(unwind_table_find(&table, CODE_AT + 0x20));
	assert_null(unwind_table_find(&table, CODE_AT + 0x3f));
	unwind_table_free(&table);
}

/* A section in which many functions share the same many rows ends soon, and so does one of repeated code without end. */
static void test_no_end(void **state)
{
	struct unwind_table table;
	struct cfi_source s;
	uint32_t i;

	(void)state;
	begin(2, AMD64, 0);
	for (i = 0; i < 1500; i++) {
		put_function(CODE_AT + i * 0x100, 0x100, 200, 0, 0, 0);
		set_number(&made.functions, made.functions.size - 12, 0, 4);
	}
	for (i = 0; i < 200; i++)
		put_row((uint8_t)i, BY_SP, 1, i & 1 ? 8 : 16, 0, 0);
	compile(&table);
	assert_in_range(table.row_count, 200, 1000);
	unwind_table_free(&table);

	begin(2, AMD64, 0);
	put_function(CODE_AT, 0xfffff000, 2, 1 << 4, 0, 2);
	put_row(0, BY_SP, 1, 8, 0, 0);
	put_row(1, BY_SP, 1, 16, 0, 0);
	put_section();
	s = source_of();
	s.ranges[0].end = UINT64_MAX;
	assert_int_equal(cfi_compile(&table, &s), 0);
	assert_in_range(table.row_count, 1u << 20, 5u << 20);
	unwind_table_free(&table);
}

static void use_everywhere(const struct unwind_table *table)
{
	struct unwind_state s;
	uint64_t pc;

	for (pc = CODE_AT; pc < CODE_AT + 0x60; pc++)
		if (unwind_table_find(table, pc))
			step(table, pc, &s);
}

static void test_each_byte_changed(void **state)
{
	const int words[] = {control(6, OF_REGISTER | IN_MEMORY), -8, 0, control(6, OF_REGISTER | IN_MEMORY), 0};
	struct guard guard;
	struct cfi_source s;
	size_t at;
	uint8_t version;

	(void)state;
	assert_true(guard_open(&guard));
	for (version = 1; version <= 3; version++) {
		begin(version, AMD64, version > 1 ? 4 : 0);
		put_framed(CODE_AT);
		put_function(CODE_AT + 0x40, 0x20, 2, 1 << 4, 0, 16);
		put_row(0, BY_SP, 1, 8, 0, 0);
		put_row(11, BY_SP, 1, 16, 0, 0);
		put_function(CODE_AT + 0x60, 0x20, 1, 0, 1, 0);
		put_flexible(0, words, 5);
		put_section();
		s = source_of();
		for (at = 0; at < frames.size; at++) {
			unsigned char good = frames.data[at];
			unsigned value;

			for (value = 0; value < 256; value++) {
				struct unwind_table table;

				frames.data[at] = (unsigned char)value;
				s.sections[0].data = guard_put(&guard, frames.data, frames.size);
				if (cfi_compile(&table, &s) == 0) {
					use_everywhere(&table);
					unwind_table_free(&table);
				}
			}
			frames.data[at] = good;
		}
		for (at = 0; at < frames.size; at++) { /* and cut */
			struct unwind_table table;

			s.sections[0].data = guard_put(&guard, frames.data, at);
			s.sections[0].size = at;
			if (cfi_compile(&table, &s) == 0)
				unwind_table_free(&table);
		}
	}
	guard_close(&guard);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_amd64),
	cmocka_unit_test(test_sizes),
	cmocka_unit_test(test_arm64),
	cmocka_unit_test(test_fixed_frame_pointer),
	cmocka_unit_test(test_repeated),
	cmocka_unit_test(test_outermost),
	cmocka_unit_test(test_flexible),
	cmocka_unit_test(test_signal),
	cmocka_unit_test(test_behind_others),
	cmocka_unit_test(test_refused),
	cmocka_unit_test(test_order),
	cmocka_unit_test(test_no_end),
	cmocka_unit_test(test_each_byte_changed),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
