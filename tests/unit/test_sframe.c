/* SPDX-License-Identifier: MIT */
/* SFrame sections made by hand, of each version, for each machine: the rule of each place, and the caller's registers by it.
 * Then what lies: cut, changed, shared, repeated without end. */
#include "sframe.h"

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
