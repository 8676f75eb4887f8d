/* SPDX-License-Identifier: MIT */
/* Functions of SFrame 3 whose rows say where from each register comes: the rule of each place, and the caller's registers by it. */
#include "sframe.h"

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

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_flexible),
	cmocka_unit_test(test_signal),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
