/* SPDX-License-Identifier: MIT */
/* Meanings: each value of each field has its name, what was not said is not told, and a chain is split as the
 * kernel put it together. Expected texts are written by hand. */
#include "bytes.h"
#include "test.h"

#include <perfev/meaning.h>

static struct perfev_error err;

/* ---- memory accesses ---------------------------------------------------------------------------------- */

/* A text, written in full and into too little room: the length is the same, and nothing is written behind. */
static void expect_text(int (*format)(char *, size_t, uint64_t), uint64_t word, const char *expected)
{
	char text[300], small[300];
	size_t size;
	int length = format(text, sizeof(text), word);

	assert_int_equal(length, strlen(text));
	if (strcmp(text, expected))
		fail_msg("0x%llx is '%s', not '%s'", (unsigned long long)word, text, expected);
	assert_int_equal(format(NULL, 0, word), strlen(text));
	for (size = 1; size <= strlen(text) + 1; size++) {
		memset(small, 'x', sizeof(small));
		assert_int_equal(format(small, size, word), strlen(text));
		assert_int_equal(strlen(small), size - 1);
		assert_memory_equal(small, text, size - 1);
		assert_int_equal(small[size], 'x');
	}
}

#define NOT_AVAILABLE                                                                                    \
	(PERF_MEM_S(OP, NA) | PERF_MEM_S(LVL, NA) | PERF_MEM_S(SNOOP, NA) | PERF_MEM_S(LOCK, NA) | \
	 PERF_MEM_S(TLB, NA) | PERF_MEM_S(LVLNUM, NA))

static void test_data_source_texts(void **state)
{
	static const struct {
		uint64_t word;
		const char *text;
	} rows[] = {
		{0, "not available"},
		{NOT_AVAILABLE, "not available"},
		{UINT64_C(0x1e05080021), "not available"}, /* the same, as recordings have it */
		{UINT64_C(0x68100142), "load, L1 hit, snoop none, TLB L1|L2 hit"},
		{PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVLNUM, L1) | PERF_MEM_S(LVL, HIT) | PERF_MEM_S(LVL, L1), "load, L1 hit"},
		/* the number says more than the bits */
		{PERF_MEM_S(OP, STORE) | PERF_MEM_S(LVLNUM, PMEM) | PERF_MEM_S(LVL, HIT) | PERF_MEM_S(LVL, LOC_RAM),
		 "store, PMEM hit"},
		/* one that is not available leaves the bits */
		{PERF_MEM_S(LVLNUM, NA) | PERF_MEM_S(LVL, MISS) | PERF_MEM_S(LVL, L3), "L3 miss"},
		/* and the bits the number */
		{PERF_MEM_S(LVLNUM, CXL) | PERF_MEM_S(LVL, NA) | PERF_MEM_S(LVL, MISS), "CXL"},
		{PERF_MEM_S(LVL, HIT) | PERF_MEM_S(LVL, REM_RAM1), "remote RAM hit at 1 hop"},
		{PERF_MEM_S(LVL, HIT) | PERF_MEM_S(LVL, REM_CCE2), "remote any cache hit at 2 hops"},
		{PERF_MEM_S(LVL, HIT), "level not said hit"},
		{PERF_MEM_S(REMOTE, REMOTE) | PERF_MEM_S(LVLNUM, ANY_CACHE) | (UINT64_C(2) << PERF_MEM_HOPS_SHIFT) |
			 PERF_MEM_S(SNOOP, HITM) | PERF_MEM_S(SNOOPX, PEER),
		 "remote any cache in another node of the socket, snoop hit modified|from peer"},
		{PERF_MEM_S(LVL, HIT) | PERF_MEM_S(LVL, L1) | PERF_MEM_S(LVL, LFB), "L1|LFB hit"},
		{PERF_MEM_S(TLB, MISS) | PERF_MEM_S(TLB, WK) | PERF_MEM_S(LOCK, LOCKED) | PERF_MEM_S(BLK, DATA) |
			 PERF_MEM_S(BLK, ADDR),
		 "TLB walker miss, locked, blocked by data|address"},
		{PERF_MEM_S(BLK, NA) | PERF_MEM_S(SNOOP, NA) | PERF_MEM_S(SNOOPX, FWD), "snoop forwarded"},
		{PERF_MEM_S(OP, LOAD) | PERF_MEM_S(OP, EXEC) | PERF_MEM_S(REGION, MEM3), "load|execute, region memory 3"},
		{PERF_MEM_S(TLB, HIT), "TLB hit"},
		{PERF_MEM_S(LVLNUM, UNC), "uncached"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		expect_text(perfev_data_source_format, rows[i].word, rows[i].text);
}

static void test_levels_by_number(void **state)
{
	static const char *const names[16] = {NULL, "L1", "L2", "L3", "L4", "L2 MHB", "memory-side cache", "L0", "uncached",
					      "CXL", "I/O", "any cache", "LFB", "RAM", "PMEM", NULL};
	struct perfev_data_source source;
	unsigned i, level;

	(void)state;
	for (i = 0; i < 16; i++) {
		perfev_data_source_decode(&source, (uint64_t)i << 33);
		if (!names[i]) {
			assert_int_equal(source.levels, 0);
			continue;
		}
		for (level = 0; source.levels >> level != 1; level++)
			;
		assert_string_equal(perfev_mem_name(PERFEV_MEM_FIELD_LEVEL, level), names[i]);
	}
	assert_null(perfev_mem_name(PERFEV_MEM_FIELD_LEVEL, PERFEV_MEM_LEVEL_COUNT_));
}

/* By another way to the bits: those of the interface's union. */
static void test_each_bit_has_its_field(void **state)
{
	struct perfev_data_source source;
	union perf_mem_data_src word;
	int i;

	(void)state;
	for (i = 0; i < 64; i++) {
		word.val = UINT64_C(1) << i;
		perfev_data_source_decode(&source, word.val);
		assert_int_equal(source.op, word.mem_op & 0x1e);
		assert_int_equal(source.snoop, word.mem_snoop & 0x1e);
		assert_int_equal(source.snoopx, word.mem_snoopx);
		assert_int_equal(source.tlb, word.mem_dtlb & 0x7e);
		assert_int_equal(source.locked, word.mem_lock >> 1);
		assert_int_equal(source.blocked, word.mem_blk & 6);
		assert_int_equal(source.hops, word.mem_hops);
		assert_int_equal(source.hit, word.mem_lvl >> 1 & 1);
		assert_int_equal(source.miss, word.mem_lvl >> 2 & 1);
		if (i < 46)
			assert_true(source.unknown == 0);
		if (i >= 51 || i == 50)
			assert_true(source.unknown == word.val);
	}
}

static const char *name_of_bit(enum perfev_mem_field field, unsigned value)
{
	const char *name = perfev_mem_name(field, value);

	return name ? name : "-";
}

static void test_mem_names(void **state)
{
	unsigned value;

	(void)state;
	assert_string_equal(name_of_bit(PERFEV_MEM_FIELD_OP, PERF_MEM_OP_NA), "-");
	assert_string_equal(name_of_bit(PERFEV_MEM_FIELD_OP, PERF_MEM_OP_PFETCH), "prefetch");
	assert_string_equal(name_of_bit(PERFEV_MEM_FIELD_OP, PERF_MEM_OP_LOAD | PERF_MEM_OP_STORE), "-");
	assert_string_equal(name_of_bit(PERFEV_MEM_FIELD_OP, 0), "-");
	assert_string_equal(name_of_bit(PERFEV_MEM_FIELD_OP, 1u << 31), "-");
	assert_string_equal(name_of_bit(PERFEV_MEM_FIELD_SNOOP, PERF_MEM_SNOOP_MISS), "miss");
	assert_string_equal(name_of_bit(PERFEV_MEM_FIELD_SNOOPX, PERF_MEM_SNOOPX_FWD), "forwarded");
	assert_string_equal(name_of_bit(PERFEV_MEM_FIELD_TLB, PERF_MEM_TLB_OS), "fault handler");
	assert_string_equal(name_of_bit(PERFEV_MEM_FIELD_BLOCKED, PERF_MEM_BLK_ADDR), "address");
	assert_string_equal(name_of_bit(PERFEV_MEM_FIELD_HOPS, PERF_MEM_HOPS_3), "another board");
	assert_string_equal(name_of_bit(PERFEV_MEM_FIELD_HOPS, 5), "-");
	assert_string_equal(name_of_bit(PERFEV_MEM_FIELD_REGION, PERF_MEM_REGION_NA), "-");
	assert_string_equal(name_of_bit(PERFEV_MEM_FIELD_REGION, PERF_MEM_REGION_MMIO), "MMIO");
	assert_string_equal(name_of_bit((enum perfev_mem_field)99, 1), "-");
	for (value = 1; value < 16; value++)
		assert_non_null(perfev_mem_name(PERFEV_MEM_FIELD_REGION, value));
}

/* Any word: a text without an end that is missing, and no name of a value that was not there. */
static void test_any_word(void **state)
{
	uint64_t seed = 88172645463325252u;
	struct perfev_data_source source;
	char text[400];
	int i;

	(void)state;
	for (i = 0; i < 200000; i++) {
		uint64_t word = next_random(&seed);

		if (i & 1)
			word &= next_random(&seed) & next_random(&seed);
		assert_in_range(perfev_data_source_format(text, sizeof(text), word), 1, sizeof(text) - 1);
		perfev_data_source_decode(&source, word);
		assert_int_equal(!strncmp(text, "load", 4), !!(source.op & PERF_MEM_OP_LOAD));
		assert_int_equal(!!strstr(text, "remote "), source.remote);
		assert_null(strstr(text, ", ,"));
		assert_null(strstr(text, "||"));
	}
}

/* ---- samples ------------------------------------------------------------------------------------------------- */

/* A sample of a machine of this or the other byte order: numbers are the same. */
static void decode(struct perfev_sample *ret, uint64_t sample_type, uint64_t word, bool other_order, struct bytes *bytes)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .sample_type = sample_type};
	struct perfev_bytes view = {bytes->data, 16};
	struct perfev_layout *layout;
	struct perfev_record record;

	bytes->size = 0;
	bytes->big = host_is_big() != other_order;
	begin_record(bytes, PERF_RECORD_SAMPLE, 0);
	put_u64(bytes, word);
	end_record(bytes, 0);
	assert_works(perfev_layout_new(&layout, &attr, &err));
	assert_works(perfev_record_from_bytes(&record, view, other_order ? PERFEV_RECORD_SWAPPED : 0, &err));
	assert_works(perfev_sample_decode(ret, &record, layout, &err));
	perfev_layout_free(layout);
}

static void test_both_byte_orders(void **state)
{
	const uint64_t word = PERF_MEM_S(OP, STORE) | PERF_MEM_S(LVLNUM, L2) | PERF_MEM_S(BLK, DATA);
	struct perfev_weight weight;
	struct perfev_sample sample;
	static struct bytes bytes;
	int other;

	(void)state;
	for (other = 0; other < 2; other++) {
		decode(&sample, PERF_SAMPLE_DATA_SRC, word, other, &bytes);
		expect_text(perfev_data_source_format, sample.data_src, "store, L2, blocked by data");
		assert_false(perfev_sample_weight(&sample, &weight));
		decode(&sample, PERF_SAMPLE_WEIGHT_STRUCT, UINT64_C(0x0007000600000005), other, &bytes);
		assert_true(perfev_sample_weight(&sample, &weight));
		assert_int_equal(weight.first, 5);
		assert_int_equal(weight.second, 6);
		assert_int_equal(weight.third, 7);
		assert_true(weight.has_parts && weight.whole == 5);
		decode(&sample, PERF_SAMPLE_WEIGHT, UINT64_C(0x0007000600000005), other, &bytes);
		assert_true(perfev_sample_weight(&sample, &weight));
		assert_true(weight.whole == UINT64_C(0x0007000600000005));
		assert_true(weight.first == UINT32_MAX && !weight.second && !weight.third && !weight.has_parts);
		decode(&sample, PERF_SAMPLE_TRANSACTION, UINT64_C(0x0000000700000026), other, &bytes);
		expect_text(perfev_transaction_format, sample.transaction, "transaction, synchronous, conflict, abort code 7");
	}
}

static void test_transactions(void **state)
{
	(void)state;
	expect_text(perfev_transaction_format, 0, "");
	expect_text(perfev_transaction_format, UINT64_C(0xff),
		    "elision, transaction, synchronous, asynchronous, retry, conflict, capacity write, capacity read");
	expect_text(perfev_transaction_format, UINT64_C(0xffffffff00000000), "abort code 4294967295");
	expect_text(perfev_transaction_format, PERF_TXN_MAX, "");
	assert_string_equal(perfev_transaction_name(PERF_TXN_CAPACITY_READ), "capacity read");
	assert_null(perfev_transaction_name(PERF_TXN_MAX));
	assert_null(perfev_transaction_name(3));
	assert_int_equal(perfev_transaction_abort_code(UINT64_C(0x1234567800000001)), 0x12345678);
}

static void test_branches(void **state)
{
	struct perfev_branch branch;
	unsigned type;

	(void)state;
	memset(&branch, 0, sizeof(branch));
	assert_null(perfev_branch_type_name(&branch, PERFEV_ARCH_X86));
	assert_null(perfev_branch_speculation_name(&branch));
	assert_null(perfev_branch_privilege_name(&branch));
	for (type = 1; type < PERF_BR_EXTEND_ABI; type++) {
		branch.type = (uint8_t)type;
		branch.new_type = 7; /* means nothing here */
		assert_non_null(perfev_branch_type_name(&branch, PERFEV_ARCH_X86));
	}
	branch.type = PERF_BR_IND_CALL;
	assert_string_equal(perfev_branch_type_name(&branch, PERFEV_ARCH_X86), "indirect call");
	branch.type = PERF_BR_SYSRET;
	assert_string_equal(perfev_branch_type_name(&branch, PERFEV_ARCH_X86), "system call return");
	branch.type = PERF_BR_EXTEND_ABI;
	branch.new_type = PERF_BR_NEW_FAULT_DATA;
	assert_string_equal(perfev_branch_type_name(&branch, PERFEV_ARCH_ARM64), "data fault");
	branch.new_type = PERF_BR_ARM64_DEBUG_HALT;
	assert_string_equal(perfev_branch_type_name(&branch, PERFEV_ARCH_ARM64), "debug halt");
	assert_string_equal(perfev_branch_type_name(&branch, PERFEV_ARCH_OTHER), "architecture 2");
	branch.new_type = 8;
	assert_null(perfev_branch_type_name(&branch, PERFEV_ARCH_ARM64));
	branch.type = 16;
	assert_null(perfev_branch_type_name(&branch, PERFEV_ARCH_ARM64));
	branch.spec = PERF_BR_NON_SPEC_CORRECT_PATH;
	assert_string_equal(perfev_branch_speculation_name(&branch), "not speculative, correct path");
	branch.spec = 4;
	assert_null(perfev_branch_speculation_name(&branch));
	branch.priv = PERF_BR_PRIV_HV;
	assert_string_equal(perfev_branch_privilege_name(&branch), "hypervisor");
	branch.priv = 4;
	assert_null(perfev_branch_privilege_name(&branch));
}

static void test_cpumodes(void **state)
{
	(void)state;
	assert_null(perfev_cpumode_name(PERF_RECORD_MISC_CPUMODE_UNKNOWN));
	assert_string_equal(perfev_cpumode_name(PERF_RECORD_MISC_KERNEL), "kernel");
	assert_string_equal(perfev_cpumode_name(PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP), "user");
	assert_string_equal(perfev_cpumode_name(PERF_RECORD_MISC_HYPERVISOR), "hypervisor");
	assert_string_equal(perfev_cpumode_name(PERF_RECORD_MISC_GUEST_KERNEL), "guest kernel");
	assert_string_equal(perfev_cpumode_name(PERF_RECORD_MISC_GUEST_USER), "guest user");
	assert_null(perfev_cpumode_name(6));
	assert_null(perfev_cpumode_name(7));
}

/* ---- call chains -------------------------------------------------------------------------------------------------- */

static void expect_chain(const uint64_t *words, uint32_t count, uint16_t misc, uint64_t cookie, const char *expected)
{
	struct perfev_u64s ips = {words, count, false};
	struct perfev_callchain_entry entry;
	struct perfev_callchain chain;
	char text[300] = "";
	size_t used = 0;

	perfev_callchain_begin(&chain, ips, misc);
	assert_true(chain.cookie == cookie);
	while (perfev_callchain_next(&chain, &entry) > 0) {
		const char *name = perfev_context_name(entry.context);

		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s:%llx%s", used ? " " : "", name ? name : "?",
					 (unsigned long long)entry.ip, entry.first ? "*" : "");
	}
	assert_int_equal(perfev_callchain_next(&chain, &entry), 0);
	assert_string_equal(text, expected);
}

#define EXPECT(misc, cookie, expected, ...)                                                                   \
	do {                                                                                                  \
		static const uint64_t words_[] = {__VA_ARGS__};                                               \
		expect_chain(words_, (uint32_t)(sizeof(words_) / 8), misc, cookie, expected);                 \
	} while (0)

static void test_chains(void **state)
{
	(void)state;
	expect_chain(NULL, 0, 2, 0, "");
	EXPECT(1, 0, "kernel:ffffffff80000001* kernel:ffffffff80000002 user:401000* user:402000", PERF_CONTEXT_KERNEL,
	       UINT64_C(0xffffffff80000001), UINT64_C(0xffffffff80000002), PERF_CONTEXT_USER, 0x401000, 0x402000);
	EXPECT(2, 0, "user:1* user:2", 1, 2); /* without a mark: whose the sample is */
	EXPECT(0, 0, "?:1*", 1);
	EXPECT(7, 0, "?:1*", 1);
	EXPECT(5, 0, "guest user:1* hypervisor:2* guest:3* guest kernel:4* guest user:5*", 1, PERF_CONTEXT_HV, 2,
	       PERF_CONTEXT_GUEST, 3, PERF_CONTEXT_GUEST_KERNEL, 4, PERF_CONTEXT_GUEST_USER, 5);
	EXPECT(1, 0, "?:7* ?:8 user:9*", PERF_CONTEXT_MAX, 7, 8, PERF_CONTEXT_USER, 9); /* a mark of another day */
	EXPECT(1, 0, "kernel:fffffffffffff000*", PERF_CONTEXT_KERNEL, UINT64_C(0xfffffffffffff000));
	EXPECT(1, 0, "", PERF_CONTEXT_KERNEL, PERF_CONTEXT_USER);
}

static void test_deferred_chains(void **state)
{
	(void)state;
	EXPECT(1, 77, "kernel:5*", PERF_CONTEXT_KERNEL, 5, PERF_CONTEXT_USER_DEFERRED, 77);
	EXPECT(2, UINT64_C(0xfffffffffffffe00), "", PERF_CONTEXT_USER_DEFERRED, PERF_CONTEXT_USER); /* any number may be one */
	EXPECT(1, 0, "kernel:5*", PERF_CONTEXT_KERNEL, 5, PERF_CONTEXT_USER_DEFERRED); /* cut */
	/* put together by perf: the mark stays, the cookie does not */
	EXPECT(1, 0, "kernel:5* user, deferred:6* user, deferred:7", PERF_CONTEXT_KERNEL, 5, PERF_CONTEXT_USER_DEFERRED, 6, 7);
	assert_null(perfev_context_name(PERFEV_CONTEXT_UNKNOWN));
	assert_null(perfev_context_name((enum perfev_context)99));
	assert_int_equal(perfev_context_cpumode(PERFEV_CONTEXT_UNKNOWN), 0);
	assert_int_equal(perfev_context_cpumode((enum perfev_context)99), 0);
	assert_int_equal(perfev_context_cpumode(PERFEV_CONTEXT_KERNEL), PERF_RECORD_MISC_KERNEL);
	assert_int_equal(perfev_context_cpumode(PERFEV_CONTEXT_USER_DEFERRED), PERF_RECORD_MISC_USER);
	assert_int_equal(perfev_context_cpumode(PERFEV_CONTEXT_GUEST_USER), PERF_RECORD_MISC_GUEST_USER);
}

/* As many addresses come out as words are no marks, and in their order. */
static void test_any_chain(void **state)
{
	uint64_t words[40], seed = 99, i;

	(void)state;
	for (i = 0; i < 100000; i++) {
		uint32_t count = random_below(&seed, 40), k, at = 0;
		struct perfev_callchain_entry entry;
		struct perfev_callchain chain;

		for (k = 0; k < count; k++)
			words[k] = random_below(&seed, 3) ? next_random(&seed) >> 1
							  : UINT64_MAX - 32 * random_below(&seed, 140);
		perfev_callchain_begin(&chain, (struct perfev_u64s){words, count, i & 1}, (uint16_t)i);
		count = chain.ips.count;
		while (perfev_callchain_next(&chain, &entry) > 0) {
			while (at < count && perfev_u64s_at(chain.ips, at) >= PERF_CONTEXT_MAX)
				at++;
			assert_true(at < count && perfev_u64s_at(chain.ips, at) == entry.ip);
			assert_in_range(entry.context, 0, PERFEV_CONTEXT_COUNT_ - 1);
			at++;
		}
		for (; at < count; at++)
			assert_true(perfev_u64s_at(chain.ips, at) >= PERF_CONTEXT_MAX);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_data_source_texts),
	cmocka_unit_test(test_levels_by_number),
	cmocka_unit_test(test_each_bit_has_its_field),
	cmocka_unit_test(test_mem_names),
	cmocka_unit_test(test_any_word),
	cmocka_unit_test(test_both_byte_orders),
	cmocka_unit_test(test_transactions),
	cmocka_unit_test(test_branches),
	cmocka_unit_test(test_cpumodes),
	cmocka_unit_test(test_chains),
	cmocka_unit_test(test_deferred_chains),
	cmocka_unit_test(test_any_chain),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
