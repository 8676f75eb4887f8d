/* SPDX-License-Identifier: MIT */
/* Call frame information made by hand, in each form: the rule of each place. Then what lies: cut, changed, circular. */
#include "frames.h"

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
	cmocka_unit_test(test_both_sections),
	cmocka_unit_test(test_many),
	cmocka_unit_test(test_each_byte_changed),
	cmocka_unit_test(test_bounds_of_expressions),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
