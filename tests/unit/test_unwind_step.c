/* SPDX-License-Identifier: MIT */
/* A step up the stack of each machine by call frame information made by hand: the caller's registers. */
#include "frames.h"

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

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_step_x86_64),
	cmocka_unit_test(test_stubs),
	cmocka_unit_test(test_step_i386),
	cmocka_unit_test(test_step_arm64),
	cmocka_unit_test(test_step_riscv),
	cmocka_unit_test(test_frame_pointers),
	cmocka_unit_test(test_signal_frames),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
