/* SPDX-License-Identifier: MIT */
/*
 * How to find the caller of each place in a module: call frame information, worked out once, and sorted.
 *
 * A row says from which address on a rule holds. Few rules are different ones, so each is kept once. Registers have the
 * numbers that DWARF gives them on the machine; those above UNWIND_REGISTERS are of no use for going up.
 */
#ifndef SYMBOLS_UNWIND_TABLE_H
#define SYMBOLS_UNWIND_TABLE_H

#include "base/buffer.h"
#include "base/map.h"

#include <perfev/common.h>

#define UNWIND_REGISTERS 33

/* What a value is made of. */
enum unwind_how {
	UNWIND_SAME,	      /* it was not changed; of the CFA: there is no rule */
	UNWIND_UNDEFINED,     /* it is lost; of the return address: nobody called */
	UNWIND_AT_OFFSET,     /* in memory, at CFA + value */
	UNWIND_OFFSET,	      /* CFA + value; of the CFA: register + value */
	UNWIND_IN_REGISTER,   /* in register number value */
	UNWIND_AT_EXPRESSION, /* in memory, at what expression number value gives */
	UNWIND_EXPRESSION     /* what expression number value gives */
};

struct unwind_save {
	uint8_t reg, how;
	uint16_t reserved;
	int32_t value;
};

enum unwind_flag {
	UNWIND_SIGNAL = 1 << 0, /* the kernel called: the caller was interrupted, and has all its registers */
	UNWIND_PLAIN = 1 << 1,	/* register + value, return address in memory, and so all that is saved */
	UNWIND_FEW = 1 << 2	/* of most registers it does not tell */
};

struct unwind_rule {
	uint8_t cfa_how, cfa_reg, ra_how, ra_reg;
	int32_t cfa_value, ra_value;
	uint32_t first; /* of the other registers' saves */
	uint8_t count, flags;
	uint16_t reserved[3]; /* 0: rules are compared as they lie in memory */
};

/* unwind_is_poor_signal() - whether the kernel's layout of a signal's frame, if the code is known to lead there, tells more. */
static inline bool unwind_is_poor_signal(const struct unwind_rule *rule)
{
	return (rule->flags & (UNWIND_FEW | UNWIND_SIGNAL)) == (UNWIND_FEW | UNWIND_SIGNAL);
}

struct unwind_row {
	uint32_t start; /* behind the table's base */
	uint32_t rule;
};

struct unwind_code {
	uint32_t offset, size; /* of an expression, in bytes */
};

struct unwind_table {
	uint64_t base;
	struct unwind_row *rows;
	size_t row_count, row_room;
	uint32_t *buckets; /* the first row that begins in or behind each, all of the same size; one more at the end */
	uint32_t bucket_count, bucket_shift;
	struct unwind_rule *rules; /* the first one: nothing is known */
	size_t rule_count, rule_room;
	struct unwind_save *saves;
	size_t save_count, save_room;
	struct unwind_code *codes;
	size_t code_count, code_room;
	struct buffer code; /* bytes of all expressions */
	struct map rule_of_hash, code_of_hash; /* while it is made */
	uint16_t machine;
	bool wide, swap;
};

/* unwind_table_begin() - an empty table of places from @base on. Return: 0, -ENOMEM. */
int unwind_table_begin(struct unwind_table *table, uint64_t base);
/* unwind_table_rule() - the number of a rule, which is new or there already; @saves has rule->count items. Return: 0,
 * -ENOMEM, -EFBIG. */
int unwind_table_rule(struct unwind_table *table, const struct unwind_rule *rule, const struct unwind_save *saves,
		      uint32_t *ret);
int unwind_table_code(struct unwind_table *table, const unsigned char *code, size_t size, int32_t *ret);
/* unwind_table_row() - from @address on, which is not below that of the last row. */
int unwind_table_row(struct unwind_table *table, uint64_t address, uint32_t rule);
int unwind_table_finish(struct unwind_table *table);
/* unwind_table_find() - the rule of a place; NULL when nothing is known of it. */
const struct unwind_rule *unwind_table_find(const struct unwind_table *table, uint64_t address);
void unwind_table_free(struct unwind_table *table);

#endif
