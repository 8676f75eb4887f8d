/* SPDX-License-Identifier: MIT */
/*
 * The table of a module: rows of 8 bytes, sorted, and the rules that they name.
 *
 * A module has ten rows for each function, but only some hundreds of rules: those stay in the cache, and a lookup touches
 * one line of buckets and one or two of rows. What is not covered has rule 0, so that rows need no end.
 */
#include "unwind_table.h"

#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX    (64u << 20)
#define RULES_MAX   (1u << 20)
#define SAVES_MAX   (8u << 20)
#define CODES_MAX   (1u << 20)
#define CODE_MAX    (16u << 20)
#define BUCKETS_MAX (1u << 22)

int unwind_table_begin(struct unwind_table *table, uint64_t base)
{
	static const struct unwind_rule none;
	uint32_t number;

	memset(table, 0, sizeof(*table));
	table->base = base;
	table->code.max = CODE_MAX;
	table->saves = array_grow(NULL, &table->save_room, 0, sizeof(*table->saves)); /* these are there also when nothing is in them */
	if (!table->saves || buffer_reserve(&table->code, 1) < 0)
		return -ENOMEM;
	return unwind_table_rule(table, &none, NULL, &number);
}

_Static_assert(sizeof(struct unwind_rule) % 8 == 0 && sizeof(struct unwind_save) == 8, "hashed by words");

/* For each row: so by words. */
static uint64_t hash_words(uint64_t hash, const void *data, size_t count)
{
	const unsigned char *at = data;
	uint64_t word;

	for (; count--; at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 29;
	}
	return hash;
}

static bool is_rule(const struct unwind_table *table, size_t number, const struct unwind_rule *rule,
		    const struct unwind_save *saves)
{
	struct unwind_rule wanted = *rule;
	const struct unwind_rule *there = &table->rules[number];

	wanted.first = there->first;
	return !memcmp(&wanted, there, sizeof(wanted)) &&
	       (!rule->count || !memcmp(saves, table->saves + there->first, rule->count * sizeof(*saves)));
}

static int add_saves(struct unwind_table *table, const struct unwind_save *saves, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		struct unwind_save *more = array_grow(table->saves, &table->save_room, table->save_count, sizeof(*more));

		if (!more)
			return -ENOMEM;
		table->saves = more;
		more[table->save_count++] = saves[i];
	}
	return 0;
}

int unwind_table_rule(struct unwind_table *table, const struct unwind_rule *rule, const struct unwind_save *saves,
		      uint32_t *ret)
{
	struct unwind_rule *rules, plain = *rule;
	uint64_t hash, *known;

	plain.first = 0;
	hash = hash_words(hash_words(0, &plain, sizeof(plain) / 8), saves, rule->count);
	known = map_find(&table->rule_of_hash, hash);
	if (known && is_rule(table, (size_t)*known, rule, saves)) {
		*ret = (uint32_t)*known;
		return 0;
	}
	if (table->rule_count >= RULES_MAX || table->save_count + rule->count > SAVES_MAX)
		return -EFBIG;
	rules = array_grow(table->rules, &table->rule_room, table->rule_count, sizeof(*rules));
	if (!rules)
		return -ENOMEM;
	table->rules = rules;
	rules[table->rule_count] = *rule;
	rules[table->rule_count].first = (uint32_t)table->save_count;
	if (add_saves(table, saves, rule->count) < 0)
		return -ENOMEM;
	known = map_put(&table->rule_of_hash, hash, table->rule_count);
	if (!known)
		return -ENOMEM;
	*known = table->rule_count;
	*ret = (uint32_t)table->rule_count++;
	return 0;
}

int unwind_table_code(struct unwind_table *table, const unsigned char *code, size_t size, int32_t *ret)
{
	uint64_t hash = hash_bytes(code, size), *known = map_find(&table->code_of_hash, hash);
	struct unwind_code *codes;
	int r;

	if (known && table->codes[*known].size == size &&
	    !memcmp(table->code.data + table->codes[*known].offset, code, size)) {
		*ret = (int32_t)*known;
		return 0;
	}
	if (table->code_count >= CODES_MAX)
		return -EFBIG;
	codes = array_grow(table->codes, &table->code_room, table->code_count, sizeof(*codes));
	if (!codes)
		return -ENOMEM;
	table->codes = codes;
	codes[table->code_count].offset = (uint32_t)table->code.size;
	codes[table->code_count].size = (uint32_t)size;
	r = buffer_append(&table->code, code, size);
	if (r < 0)
		return r;
	known = map_put(&table->code_of_hash, hash, table->code_count);
	if (!known)
		return -ENOMEM;
	*known = table->code_count;
	*ret = (int32_t)table->code_count++;
	return 0;
}

int unwind_table_row(struct unwind_table *table, uint64_t address, uint32_t rule)
{
	struct unwind_row *rows, *last = table->row_count ? &table->rows[table->row_count - 1] : NULL;
	uint64_t start = address - table->base;

	if (start > UINT32_MAX || (last && start < last->start))
		return -EFBIG;
	if (last ? last->rule == rule : rule == 0)
		return 0;
	if (last && last->start == start) { /* nothing is between: the new one is right */
		last->rule = rule;
		return 0;
	}
	if (table->row_count >= ROWS_MAX)
		return -EFBIG;
	rows = array_grow(table->rows, &table->row_room, table->row_count, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	table->rows = rows;
	rows[table->row_count].start = (uint32_t)start;
	rows[table->row_count++].rule = rule;
	return 0;
}

int unwind_table_finish(struct unwind_table *table)
{
	uint64_t span = table->row_count ? (uint64_t)table->rows[table->row_count - 1].start + 1 : 1;
	uint32_t wanted = table->row_count / 2 < BUCKETS_MAX ? (uint32_t)(table->row_count / 2) + 1 : BUCKETS_MAX;
	uint32_t i, row = 0;

	map_free(&table->rule_of_hash);
	map_free(&table->code_of_hash);
	memset(&table->rule_of_hash, 0, sizeof(table->rule_of_hash));
	memset(&table->code_of_hash, 0, sizeof(table->code_of_hash));
	while (span >> table->bucket_shift > wanted)
		table->bucket_shift++;
	table->bucket_count = (uint32_t)(span >> table->bucket_shift) + 1;
	table->buckets = malloc(((size_t)table->bucket_count + 1) * sizeof(*table->buckets));
	if (!table->buckets)
		return -ENOMEM;
	for (i = 0; i <= table->bucket_count; i++) {
		while (row < table->row_count && table->rows[row].start >> table->bucket_shift < i)
			row++;
		table->buckets[i] = row;
	}
	return 0;
}

const struct unwind_rule *unwind_table_find(const struct unwind_table *table, uint64_t address)
{
	uint64_t start = address - table->base, bucket = start >> table->bucket_shift;
	uint32_t low, high;

	if (start > UINT32_MAX || !table->row_count)
		return NULL;
	if (bucket >= table->bucket_count) { /* behind the last row, which says that nothing is there */
		low = high = (uint32_t)table->row_count;
	} else {
		low = table->buckets[bucket];
		high = table->buckets[bucket + 1];
	}
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (table->rows[middle].start <= start)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || !table->rows[low - 1].rule)
		return NULL;
	return &table->rules[table->rows[low - 1].rule];
}

void unwind_table_free(struct unwind_table *table)
{
	free(table->rows);
	free(table->buckets);
	free(table->rules);
	free(table->saves);
	free(table->codes);
	buffer_free(&table->code);
	map_free(&table->rule_of_hash);
	map_free(&table->code_of_hash);
	memset(table, 0, sizeof(*table));
}
