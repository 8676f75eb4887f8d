/* SPDX-License-Identifier: MIT */
/* Call frame information made by hand: where its code, its section and a stack are; and the rules that a table has of it. */
#ifndef TESTS_UNIT_RULES_H
#define TESTS_UNIT_RULES_H

#include "bytes.h"
#include "test.h"

#include "symbols/unwind_cfi.h"

#define CODE_AT	 0x401000
#define FRAME_AT 0x500000
#define STACK_AT 0x7ffc1000

static inline const struct unwind_rule *rule_at(const struct unwind_table *table, uint64_t address)
{
	const struct unwind_rule *rule = unwind_table_find(table, address);

	if (!rule)
		fail_msg("no rule at 0x%llx", (unsigned long long)address);
	return rule;
}

static inline void expect_cfa(const struct unwind_table *table, uint64_t address, uint8_t reg, int32_t offset)
{
	const struct unwind_rule *rule = rule_at(table, address);

	assert_int_equal(rule->cfa_how, UNWIND_OFFSET);
	assert_int_equal(rule->cfa_reg, reg);
	assert_int_equal(rule->cfa_value, offset);
}

static inline const struct unwind_save *save_of(const struct unwind_table *table, uint64_t address, uint8_t reg)
{
	const struct unwind_rule *rule = rule_at(table, address);
	uint8_t i;

	for (i = 0; i < rule->count; i++)
		if (table->saves[rule->first + i].reg == reg)
			return &table->saves[rule->first + i];
	return NULL;
}

#endif
