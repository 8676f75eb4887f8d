/* SPDX-License-Identifier: MIT */
/* Call frame information made by hand, for each machine and in each form: the rule of each place, and the caller's registers
 * by it. Then what lies: cut, changed, random, circular. */
#include "rules.h"

#include "symbols/unwind_step.h"

static struct bytes frames, stack;

struct form {
	uint16_t machine;
	bool wide, big, eh;
	uint8_t ra, cfa_reg, cfa_offset;
	int8_t data_align;
};

static const struct form x86_64 = {62, true, false, true, 16, 7, 8, -8};
static const struct form i386 = {3, false, false, true, 8, 4, 4, -4};
static const struct form arm64 = {183, true, false, true, 30, 31, 0, -8};
static const struct form riscv = {243, true, false, true, 1, 2, 0, -8};

/* ---- sections ------------------------------------------------------------------------------------------------- */

static size_t begin_entry(void)
{
	put_u32(&frames, 0);
	return frames.size;
}

static void end_entry(size_t start)
{
	struct bytes size = {.big = frames.big};

	while (frames.size % 4)
		put_u8(&frames, 0);
	put_u32(&size, frames.size - start);
	memcpy(frames.data + start - 4, size.data, 4);
}

/* A CIE of the form's machine: its CFA is where the stack pointer was before the call. */
static size_t put_cie(const struct form *f, const char *letters)
{
	size_t start = begin_entry(), offset = start - 4;

	put_u32(&frames, f->eh ? 0 : 0xffffffff);
	put_u8(&frames, 1);
	put_bytes(&frames, letters, strlen(letters) + 1);
	put_u8(&frames, 1);
	put_u8(&frames, f->data_align & 0x7f);
	put_u8(&frames, f->ra);
	if (letters[0] == 'z') {
		put_u8(&frames, 1);
		put_u8(&frames, 0x1b); /* sdata4, relative to itself */
	}
	put_u8(&frames, 0x0c);
	put_u8(&frames, f->cfa_reg);
	put_u8(&frames, f->cfa_offset);
	if (f->machine == 62 || f->machine == 3) {
		put_u8(&frames, 0x80 | f->ra);
		put_u8(&frames, 1);
	}
	end_entry(start);
	return offset;
}

static void put_fde(const struct form *f, size_t cie, uint64_t code, uint32_t size, const void *program, size_t program_size)
{
	size_t start = begin_entry();

	put_u32(&frames, f->eh ? frames.size - cie : cie);
	if (f->eh) {
		put_u32(&frames, code - (FRAME_AT + frames.size));
		put_u32(&frames, size);
		put_u8(&frames, 0);
	} else {
		put_number(&frames, code, f->wide ? 8 : 4);
		put_number(&frames, size, f->wide ? 8 : 4);
	}
	put_bytes(&frames, program, program_size);
	end_entry(start);
}

static void begin(const struct form *f)
{
	memset(&frames, 0, sizeof(frames));
	frames.big = f->big;
}

static struct cfi_source source_of(const struct form *f)
{
	struct cfi_source s = {.section_count = 1, .range_count = 1, .machine = f->machine, .wide = f->wide,
			       .swap = f->big != PERFEV_BIG_ENDIAN};

	s.sections[0] = (struct cfi_section){frames.data, frames.size, FRAME_AT, f->eh ? CFI_EH_FRAME : CFI_DEBUG_FRAME};
	s.ranges[0].start = CODE_AT;
	s.ranges[0].end = CODE_AT + 0x100000;
	return s;
}

static void compile(struct unwind_table *table, const struct form *f)
{
	struct cfi_source s = source_of(f);

	assert_int_equal(cfi_compile(table, &s), 0);
}

/* push %rbp; mov %rsp,%rbp; ...; leave; ret */
static const unsigned char with_frame[] = {0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x4a, 0x0c, 7, 8};

static void test_rows(void **state)
{
	static const bool kinds[] = {true, false};
	struct unwind_table table;
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct form f = x86_64;
		size_t cie;

		f.eh = kinds[i];
		begin(&f);
		cie = put_cie(&f, f.eh ? "zR" : "");
		put_fde(&f, cie, CODE_AT, 0x20, with_frame, sizeof(with_frame));
		put_fde(&f, cie, CODE_AT + 0x40, 0x10, "", 0);
		compile(&table, &f);
		assert_null(unwind_table_find(&table, CODE_AT - 1));
		expect_cfa(&table, CODE_AT, 7, 8);
		expect_cfa(&table, CODE_AT + 1, 7, 16);
		expect_cfa(&table, CODE_AT + 3, 7, 16);
		expect_cfa(&table, CODE_AT + 4, 6, 16);
		expect_cfa(&table, CODE_AT + 13, 6, 16);
		expect_cfa(&table, CODE_AT + 14, 7, 8);
		expect_cfa(&table, CODE_AT + 0x1f, 7, 8);
		assert_null(unwind_table_find(&table, CODE_AT + 0x20));
		assert_null(unwind_table_find(&table, CODE_AT + 0x3f));
		expect_cfa(&table, CODE_AT + 0x4f, 7, 8);
		assert_null(unwind_table_find(&table, CODE_AT + 0x50));
		assert_null(unwind_table_find(&table, 0));
		assert_null(unwind_table_find(&table, UINT64_MAX));
		unwind_table_free(&table);
	}
}

/* Every instruction, each between two known rows. */
static void test_instructions(void **state)
{
	static const unsigned char program[] = {
		0x0a,			    /* remember */
		0x02, 1, 0x12, 6, 0x7e,	    /* advance_loc1; def_cfa_sf rbp, -2 * -8 */
		0x03, 1, 0, 0x13, 0x7d,	    /* advance_loc2; def_cfa_offset_sf 24 */
		0x04, 1, 0, 0, 0, 0x05, 3, 4, /* advance_loc4; offset_extended rbx at -32 */
		0x41, 0x11, 12, 5,	    /* offset_extended_sf r12 at -40 */
		0x41, 0x14, 13, 2, 0x15, 14, 0x7e, /* val_offset r13 -16, val_offset_sf r14 16 */
		0x41, 0x09, 15, 3,	    /* r15 in rbx */
		0x41, 0x07, 12, 0x08, 13,   /* undefined r12, same r13 */
		0x41, 0x06, 14, 0x2e, 32,   /* restore_extended r14; args_size */
		0x41, 0x2f, 14, 1,	    /* negative_offset_extended r14 at 8 */
		0x41, 0xc3, 0x0b, 0x00,	    /* restore rbx; restore_state; nop */
	};
	struct unwind_table table;
	const struct unwind_rule *rule;
	const struct unwind_save *save;

	(void)state;
	begin(&x86_64);
	put_fde(&x86_64, put_cie(&x86_64, "zR"), CODE_AT, 0x20, program, sizeof(program));
	compile(&table, &x86_64);
	expect_cfa(&table, CODE_AT, 7, 8);
	expect_cfa(&table, CODE_AT + 1, 6, 16);
	expect_cfa(&table, CODE_AT + 2, 6, 24);
	rule = unwind_table_find(&table, CODE_AT + 3);
	assert_int_equal(rule->count, 1);
	save = &table.saves[rule->first];
	assert_int_equal(save->reg, 3);
	assert_int_equal(save->how, UNWIND_AT_OFFSET);
	assert_int_equal(save->value, -32);
	assert_true(rule->flags & UNWIND_PLAIN);
	rule = unwind_table_find(&table, CODE_AT + 5);
	assert_int_equal(rule->count, 4);
	save = &table.saves[rule->first];
	assert_int_equal(save[1].value, -40);
	assert_int_equal(save[2].how, UNWIND_OFFSET);
	assert_int_equal(save[2].value, -16);
	assert_int_equal(save[3].value, 16);
	assert_false(rule->flags & UNWIND_PLAIN);
	rule = unwind_table_find(&table, CODE_AT + 6);
	assert_int_equal(table.saves[rule->first + 4].how, UNWIND_IN_REGISTER);
	assert_int_equal(table.saves[rule->first + 4].value, 3);
	rule = unwind_table_find(&table, CODE_AT + 7);
	assert_int_equal(rule->count, 4);
	assert_int_equal(table.saves[rule->first + 1].how, UNWIND_UNDEFINED);
	rule = unwind_table_find(&table, CODE_AT + 8);
	assert_int_equal(rule->count, 3);
	rule = unwind_table_find(&table, CODE_AT + 9);
	assert_int_equal(rule->count, 4);
	assert_int_equal(table.saves[rule->first + 2].value, 8);
	expect_cfa(&table, CODE_AT + 10, 7, 8);
	unwind_table_free(&table);
}

/* ---- steps ------------------------------------------------------------------------------------------------------ */

static struct unwind_memory memory_of(const struct unwind_machine *machine, struct unwind_state *s)
{
	struct unwind_memory m = {stack.data, STACK_AT, stack.size, stack.big != PERFEV_BIG_ENDIAN, NULL};

	s->regs[machine->sp] = STACK_AT;
	s->known |= UINT64_C(1) << machine->sp;
	return m;
}

static void test_step_x86_64(void **state)
{
	const struct unwind_machine *machine = unwind_machine(PERFEV_ARCH_X86, PERF_SAMPLE_REGS_ABI_64);
	struct unwind_state s = {.pc = CODE_AT + 4, .known = ~UINT64_C(0) >> 31};
	struct unwind_memory m;
	struct unwind_table table;

	(void)state;
	begin(&x86_64);
	put_fde(&x86_64, put_cie(&x86_64, "zR"), CODE_AT, 0x20, with_frame, sizeof(with_frame));
	compile(&table, &x86_64);
	memset(&stack, 0, sizeof(stack));
	put_u64(&stack, 0);
	put_u64(&stack, 0x1111); /* saved rbp */
	put_u64(&stack, 0x402222);
	m = memory_of(machine, &s);
	s.regs[6] = STACK_AT + 8;
	s.regs[3] = 33;
	assert_int_equal(unwind_step(&s, machine, &m, &table, unwind_table_find(&table, s.pc), true), UNWIND_CALLER);
	assert_int_equal(s.pc, 0x402222);
	assert_int_equal(s.regs[7], STACK_AT + 24);
	assert_int_equal(s.regs[6], 0x1111);
	assert_int_equal(s.regs[3], 33);
	assert_true(s.known >> 3 & 1);	/* rbx is given back */
	assert_false(s.known >> 0 & 1); /* rax is not */
	/* the same rule for the caller: its frame would lie below */
	s.regs[6] = STACK_AT;
	assert_int_equal(unwind_step(&s, machine, &m, &table, unwind_table_find(&table, CODE_AT + 4), false), UNWIND_BAD);
	s.regs[6] = STACK_AT + 24;
	assert_int_equal(unwind_step(&s, machine, &m, &table, unwind_table_find(&table, CODE_AT + 4), false), UNWIND_NO_STACK);
	/* a register that is not known */
	s.known &= ~(UINT64_C(1) << 6);
	assert_int_equal(unwind_step(&s, machine, &m, &table, unwind_table_find(&table, CODE_AT + 4), false), UNWIND_BAD);
	unwind_table_free(&table);
}

/* What the linker says of its stubs: 8 more bytes are on the stack from the 11th byte of each 16 on. */
static void test_stubs(void **state)
{
	static const unsigned char program[] = {0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};
	const struct unwind_machine *machine = unwind_machine(PERFEV_ARCH_X86, PERF_SAMPLE_REGS_ABI_64);
	struct unwind_table table;
	uint64_t pc;

	(void)state;
	begin(&x86_64);
	put_fde(&x86_64, put_cie(&x86_64, "zR"), CODE_AT, 0x40, program, sizeof(program));
	compile(&table, &x86_64);
	memset(&stack, 0, sizeof(stack));
	put_u64(&stack, 0x403333);
	put_u64(&stack, 0x404444);
	for (pc = CODE_AT; pc < CODE_AT + 0x40; pc++) {
		struct unwind_state s = {.pc = pc};
		struct unwind_memory m = memory_of(machine, &s);

		assert_int_equal(unwind_step(&s, machine, &m, &table, unwind_table_find(&table, pc), true), UNWIND_CALLER);
		assert_int_equal(s.pc, pc % 16 < 11 ? 0x403333 : 0x404444);
		assert_int_equal(s.regs[7], STACK_AT + (pc % 16 < 11 ? 8 : 16));
	}
	unwind_table_free(&table);
}

static void test_step_i386(void **state)
{
	static const unsigned char program[] = {0x41, 0x0e, 8, 0x85, 2, 0x42, 0x0d, 5, 0x41, 0x83, 3};
	const struct unwind_machine *machine = unwind_machine(PERFEV_ARCH_X86, PERF_SAMPLE_REGS_ABI_32);
	struct unwind_state s = {.pc = CODE_AT + 5, .known = 0xff};
	struct unwind_table table;
	struct unwind_memory m;

	(void)state;
	begin(&i386);
	put_fde(&i386, put_cie(&i386, "zR"), CODE_AT, 0x20, program, sizeof(program));
	compile(&table, &i386);
	memset(&stack, 0, sizeof(stack));
	put_u32(&stack, 0x5555); /* ebx */
	put_u32(&stack, 0x6666); /* ebp */
	put_u32(&stack, 0x8049000);
	m = memory_of(machine, &s);
	s.regs[5] = STACK_AT + 4;
	assert_int_equal(unwind_step(&s, machine, &m, &table, unwind_table_find(&table, s.pc), true), UNWIND_CALLER);
	assert_int_equal(s.pc, 0x8049000);
	assert_int_equal(s.regs[4], STACK_AT + 12);
	assert_int_equal(s.regs[5], 0x6666);
	assert_int_equal(s.regs[3], 0x5555);
	unwind_table_free(&table);
}

/* A leaf has its return address in the link register; then x29 and x30 are stored, signed or not. */
static void test_step_arm64(void **state)
{
	static const unsigned char program[] = {0x2d, 0x44, 0x0e, 32, 0x9d, 4, 0x9e, 3, 0x44, 0x0d, 29};
	const struct unwind_machine *machine = unwind_machine(PERFEV_ARCH_ARM64, PERF_SAMPLE_REGS_ABI_64);
	struct unwind_state s = {.pc = CODE_AT, .known = UINT32_MAX};
	struct unwind_table table;
	struct unwind_memory m;

	(void)state;
	begin(&arm64);
	put_fde(&arm64, put_cie(&arm64, "zR"), CODE_AT, 0x20, program, sizeof(program));
	compile(&table, &arm64);
	memset(&stack, 0, sizeof(stack));
	put_u64(&stack, 0x7fff1000); /* x29 */
	put_u64(&stack, 0x408888);   /* x30 */
	put_u64(&stack, 0);
	put_u64(&stack, 0);
	m = memory_of(machine, &s);
	s.regs[30] = 0x407777;
	s.regs[29] = STACK_AT;
	assert_int_equal(unwind_step(&s, machine, &m, &table, unwind_table_find(&table, CODE_AT), true), UNWIND_CALLER);
	assert_int_equal(s.pc, 0x407777);
	assert_int_equal(s.regs[31], STACK_AT);
	assert_false(s.known >> 30 & 1);
	/* a caller cannot have its own in it: it called */
	assert_int_equal(unwind_step(&s, machine, &m, &table, unwind_table_find(&table, CODE_AT), false), UNWIND_BAD);
	assert_int_equal(unwind_step(&s, machine, &m, &table, unwind_table_find(&table, CODE_AT + 8), false), UNWIND_CALLER);
	assert_int_equal(s.pc, 0x408888);
	assert_int_equal(s.regs[31], STACK_AT + 32);
	assert_int_equal(s.regs[29], 0x7fff1000);
	unwind_table_free(&table);
}

static void test_step_riscv(void **state)
{
	static const unsigned char program[] = {0x42, 0x0e, 16, 0x44, 0x81, 1, 0x88, 2, 0x42, 0x0c, 8, 0};
	const struct unwind_machine *machine = unwind_machine(PERFEV_ARCH_RISCV, PERF_SAMPLE_REGS_ABI_64);
	struct unwind_state s = {.pc = CODE_AT + 8, .known = UINT32_MAX};
	struct unwind_table table;
	struct unwind_memory m;

	(void)state;
	begin(&riscv);
	put_fde(&riscv, put_cie(&riscv, "zR"), CODE_AT, 0x20, program, sizeof(program));
	compile(&table, &riscv);
	memset(&stack, 0, sizeof(stack));
	put_u64(&stack, 0x7fff2000); /* s0 */
	put_u64(&stack, 0x12345);    /* ra */
	m = memory_of(machine, &s);
	s.regs[8] = STACK_AT + 16;
	assert_int_equal(unwind_step(&s, machine, &m, &table, unwind_table_find(&table, CODE_AT + 8), true), UNWIND_CALLER);
	assert_int_equal(s.pc, 0x12345);
	assert_int_equal(s.regs[2], STACK_AT + 16);
	assert_int_equal(s.regs[8], 0x7fff2000);
	unwind_table_free(&table);
}

/* Frame pointers, of each machine. */
static void test_frame_pointers(void **state)
{
	static const struct {
		enum perfev_arch arch;
		uint64_t abi;
		uint8_t fp, word;
		int8_t at; /* the frame pointer, behind the saved one, in words */
	} kinds[] = {{PERFEV_ARCH_X86, PERF_SAMPLE_REGS_ABI_64, 6, 8, 0},
		     {PERFEV_ARCH_X86, PERF_SAMPLE_REGS_ABI_32, 5, 4, 0},
		     {PERFEV_ARCH_ARM64, PERF_SAMPLE_REGS_ABI_64, 29, 8, 0},
		     {PERFEV_ARCH_RISCV, PERF_SAMPLE_REGS_ABI_64, 8, 8, 2}};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct unwind_machine *machine = unwind_machine(kinds[i].arch, kinds[i].abi);
		struct unwind_state s = {.pc = 1, .known = UINT32_MAX};
		struct unwind_memory m;

		memset(&stack, 0, sizeof(stack));
		put_number(&stack, 0, kinds[i].word);
		put_number(&stack, STACK_AT + 0x100, kinds[i].word);
		put_number(&stack, 0x405555, kinds[i].word);
		m = memory_of(machine, &s);
		s.regs[kinds[i].fp] = STACK_AT + (uint64_t)(kinds[i].word * (1 + kinds[i].at));
		assert_int_equal(unwind_step_frame(&s, machine, &m), UNWIND_CALLER);
		assert_int_equal(s.pc, 0x405555);
		assert_int_equal(s.regs[machine->sp], STACK_AT + 3u * kinds[i].word);
		assert_int_equal(s.regs[machine->fp], STACK_AT + 0x100);
		assert_int_equal(unwind_step_frame(&s, machine, &m), UNWIND_NO_STACK);
		s.regs[machine->fp] = STACK_AT;
		assert_int_equal(unwind_step_frame(&s, machine, &m), UNWIND_NO_RULE);
		s.regs[machine->fp] = STACK_AT + 0x101;
		assert_int_equal(unwind_step_frame(&s, machine, &m), UNWIND_NO_RULE);
	}
	assert_null(unwind_machine(PERFEV_ARCH_S390, PERF_SAMPLE_REGS_ABI_64));
	assert_null(unwind_machine(PERFEV_ARCH_X86, PERF_SAMPLE_REGS_ABI_NONE));
}

/* Where nothing describes what a handler returns to: its code tells, and the kernel's layout of the frame. */
static void test_signal_frames(void **state)
{
	static const unsigned char x86[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05}, a64[] = {0x68, 0x11, 0x80, 0xd2, 1, 0, 0, 0xd4, 0},
				   rv[] = {0x93, 8, 0xb0, 8, 0x73, 0, 0, 0, 0};
	static const struct {
		enum perfev_arch arch;
		const unsigned char *code;
		uint16_t pc, r; /* places of the pc and of some register, as struct rt_sigframe of the kernel has them */
		uint8_t reg;
		uint16_t sp;
	} kinds[] = {{PERFEV_ARCH_X86, x86, 40 + 16 * 8, 40 + 11 * 8, 3, 40 + 15 * 8},
		     {PERFEV_ARCH_ARM64, a64, 128 + 176 + 8 + 32 * 8, 128 + 176 + 8 + 19 * 8, 19, 128 + 176 + 8 + 31 * 8},
		     {PERFEV_ARCH_RISCV, rv, 128 + 176, 128 + 176 + 9 * 8, 9, 128 + 176 + 2 * 8}};
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		const struct unwind_machine *machine = unwind_machine(kinds[i].arch, PERF_SAMPLE_REGS_ABI_64);
		struct unwind_state s = {.pc = CODE_AT};
		struct unwind_memory m;

		assert_true(unwind_is_signal(machine, kinds[i].code, 9));
		assert_false(unwind_is_signal(machine, kinds[i].code, 7));
		assert_false(unwind_is_signal(machine, kinds[(i + 1) % 3].code, 9));
		memset(&stack, 0, sizeof(stack));
		stack.size = kinds[i].pc;
		put_u64(&stack, 0x405678);
		stack.size = kinds[i].r;
		put_u64(&stack, 0x1919);
		stack.size = kinds[i].sp;
		put_u64(&stack, 0x7ffc9000);
		stack.size = 600;
		m = memory_of(machine, &s);
		assert_int_equal(unwind_step_signal(&s, machine, &m), UNWIND_CALLER);
		assert_int_equal(s.pc, 0x405678);
		assert_int_equal(s.regs[kinds[i].reg], 0x1919);
		assert_int_equal(s.regs[machine->sp], 0x7ffc9000);
		stack.size = 100;
		m = memory_of(machine, &s);
		assert_int_equal(unwind_step_signal(&s, machine, &m), UNWIND_NO_STACK);
	}
	assert_false(unwind_is_signal(unwind_machine(PERFEV_ARCH_X86, PERF_SAMPLE_REGS_ABI_32), x86, 9));
}

/* ---- several sections, many entries -------------------------------------------------------------------------------- */

/* .eh_frame is believed; .debug_frame fills what it leaves open; what the linker left out is dropped. */
static void test_both_sections(void **state)
{
	static const unsigned char other[] = {0x0e, 99};
	struct form debug = x86_64;
	struct cfi_source s;
	struct unwind_table table;
	size_t eh_size, cie;

	(void)state;
	debug.eh = false;
	begin(&x86_64);
	cie = put_cie(&x86_64, "zR");
	put_fde(&x86_64, cie, CODE_AT + 0x10, 0x10, "", 0);
	put_fde(&x86_64, cie, 0, 0x10, "", 0);
	eh_size = frames.size;
	s = source_of(&x86_64);
	cie = put_cie(&debug, "") - eh_size;
	put_fde(&debug, cie, CODE_AT + 0x08, 0x28, other, sizeof(other));
	s.sections[1] = (struct cfi_section){frames.data + eh_size, frames.size - eh_size, 0, CFI_DEBUG_FRAME};
	s.section_count = 2;
	assert_int_equal(cfi_compile(&table, &s), 0);
	assert_null(unwind_table_find(&table, CODE_AT + 7));
	expect_cfa(&table, CODE_AT + 0x08, 7, 99);
	expect_cfa(&table, CODE_AT + 0x0f, 7, 99);
	expect_cfa(&table, CODE_AT + 0x10, 7, 8);
	expect_cfa(&table, CODE_AT + 0x1f, 7, 8);
	expect_cfa(&table, CODE_AT + 0x20, 7, 99);
	expect_cfa(&table, CODE_AT + 0x2f, 7, 99);
	assert_null(unwind_table_find(&table, CODE_AT + 0x30));
	unwind_table_free(&table);
}

static void test_many(void **state)
{
	struct unwind_table table;
	size_t cie, count;

	(void)state;
	begin(&x86_64);
	cie = put_cie(&x86_64, "zR");
	for (count = 0; frames.size < BYTES_MAX - 64; count++) /* the last one first */
		put_fde(&x86_64, cie, CODE_AT + 0x80000 - count * 0x40, 0x30, with_frame, sizeof(with_frame));
	compile(&table, &x86_64);
	assert_true(count > 1500);
	while (count--) {
		uint64_t at = CODE_AT + 0x80000 - count * 0x40;

		assert_null(unwind_table_find(&table, at - 1));
		expect_cfa(&table, at, 7, 8);
		expect_cfa(&table, at + 2, 7, 16);
		expect_cfa(&table, at + 5, 6, 16);
		expect_cfa(&table, at + 0x2f, 7, 8);
		assert_null(unwind_table_find(&table, at + 0x30));
	}
	assert_int_equal(table.rule_count, 5); /* that of no place too */
	unwind_table_free(&table);
}

/* ---- what lies ------------------------------------------------------------------------------------------------------- */

static void step_everywhere(const struct unwind_table *table)
{
	const struct unwind_machine *machine = unwind_machine(PERFEV_ARCH_X86, PERF_SAMPLE_REGS_ABI_64);
	uint64_t pc;

	for (pc = CODE_AT; pc < CODE_AT + 0x40; pc++) {
		const struct unwind_rule *rule = unwind_table_find(table, pc);
		struct unwind_state s = {.pc = pc, .known = UINT32_MAX};
		struct unwind_memory m = memory_of(machine, &s);
		int i;

		for (i = 0; rule && i < 100; i++)
			if (unwind_step(&s, machine, &m, table, rule, i == 0) != UNWIND_CALLER)
				break;
	}
}

static void test_each_byte_changed(void **state)
{
	static const unsigned char program[] = {0x0a, 0x41, 0x0f, 4, 0x77, 8, 0x06, 0x96, 0x42, 0x10, 3, 2, 0x91, 0x70,
						0x41, 0x16, 12, 3, 0x77, 0x80, 0x01, 0x41, 0x0b};
	struct unwind_table table;
	struct cfi_source s;
	size_t at, size;

	(void)state;
	begin(&x86_64);
	put_fde(&x86_64, put_cie(&x86_64, "zR"), CODE_AT, 0x40, program, sizeof(program));
	memset(stack.data, 0x7f, 4096);
	stack.size = 4096;
	size = frames.size;
	for (at = 0; at < size; at++) {
		unsigned char good = frames.data[at];
		unsigned value;

		for (value = 0; value < 256; value++) {
			frames.data[at] = (unsigned char)value;
			s = source_of(&x86_64);
			if (cfi_compile(&table, &s) < 0)
				continue;
			step_everywhere(&table);
			unwind_table_free(&table);
		}
		frames.data[at] = good;
	}
	for (at = 0; at < size; at++) { /* cut anywhere */
		frames.size = at;
		s = source_of(&x86_64);
		if (cfi_compile(&table, &s) == 0)
			unwind_table_free(&table);
	}
}

/* An expression that jumps back for ever, and one that fills its stack: no value. */
static void test_bounds_of_expressions(void **state)
{
	static const unsigned char loop[] = {0x0f, 4, 0x30, 0x2f, 0xfc, 0xff}, deep[] = {0x0f, 5, 0x30, 0x12, 0x2f, 0xfb, 0xff};
	static const unsigned char outside[] = {0x0f, 3, 0x2f, 0x10, 0x00}, empty[] = {0x0f, 0};
	static const struct {
		const void *program;
		size_t size;
	} all[] = {{loop, sizeof(loop)}, {deep, sizeof(deep)}, {outside, sizeof(outside)}, {empty, sizeof(empty)}};
	const struct unwind_machine *machine = unwind_machine(PERFEV_ARCH_X86, PERF_SAMPLE_REGS_ABI_64);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct unwind_state s = {.pc = CODE_AT, .known = UINT32_MAX};
		struct unwind_memory m = memory_of(machine, &s);
		struct unwind_table table;

		begin(&x86_64);
		put_fde(&x86_64, put_cie(&x86_64, "zR"), CODE_AT, 0x40, all[i].program, all[i].size);
		compile(&table, &x86_64);
		assert_int_equal(unwind_step(&s, machine, &m, &table, unwind_table_find(&table, CODE_AT), true), UNWIND_BAD);
		unwind_table_free(&table);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_rows),
	cmocka_unit_test(test_instructions),
	cmocka_unit_test(test_step_x86_64),
	cmocka_unit_test(test_stubs),
	cmocka_unit_test(test_step_i386),
	cmocka_unit_test(test_step_arm64),
	cmocka_unit_test(test_step_riscv),
	cmocka_unit_test(test_frame_pointers),
	cmocka_unit_test(test_signal_frames),
	cmocka_unit_test(test_both_sections),
	cmocka_unit_test(test_many),
	cmocka_unit_test(test_each_byte_changed),
	cmocka_unit_test(test_bounds_of_expressions),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
