/* SPDX-License-Identifier: MIT */
/*
 * Instructions of x86: their size, and where they branch to. Those of whole libraries are compared with objdump by
 * tests/oracle/instructions, which gives their bytes to "unit-x86 --sizes 64"; here are the forms that are rare.
 */
#include "unit/test.h"
#include "unit/bytes.h"

#include "symbols/x86_instruction.h"

#include <perfev/flow.h>

static const struct {
	const char *bytes;
	uint8_t count, size, branch, type; /* size 0: no instruction */
	bool is_64;
	int32_t displacement;
} rows[] = {
#define ROW(bytes, ...) {bytes, sizeof(bytes) - 1, __VA_ARGS__}
	ROW("\x90", 1, X86_NONE, 0, true, 0),
	ROW("\xe8\x10\x00\x00\x00", 5, X86_DIRECT, PERFEV_FLOW_CALL, true, 16),
	ROW("\xe8\xf0\xff\xff\xff", 5, X86_DIRECT, PERFEV_FLOW_CALL, false, -16),
	ROW("\x66\xe8\xf0\xff\x90\x90", 6, X86_DIRECT, PERFEV_FLOW_CALL, true, (int32_t)0x9090fff0), /* no 16 bits there */
	ROW("\x66\xe8\xf0\xff", 4, X86_DIRECT, PERFEV_FLOW_CALL, false, -16),
	ROW("\xeb\xfe", 2, X86_DIRECT, PERFEV_FLOW_JUMP, true, -2),
	ROW("\xe9\x00\x01\x00\x00", 5, X86_DIRECT, PERFEV_FLOW_JUMP, true, 256),
	ROW("\x75\x7f", 2, X86_CONDITIONAL, PERFEV_FLOW_CONDITIONAL, true, 127),
	ROW("\x0f\x85\x80\xff\xff\xff", 6, X86_CONDITIONAL, PERFEV_FLOW_CONDITIONAL, true, -128),
	ROW("\xe3\x80", 2, X86_CONDITIONAL, PERFEV_FLOW_CONDITIONAL, true, -128), /* JRCXZ */
	ROW("\xf2\x75\x01", 3, X86_CONDITIONAL, PERFEV_FLOW_CONDITIONAL, true, 1), /* BND */
	ROW("\xff\xd0", 2, X86_INDIRECT, PERFEV_FLOW_CALL, true, 0),
	ROW("\xff\x15\x01\x02\x03\x04", 6, X86_INDIRECT, PERFEV_FLOW_CALL, true, 0),
	ROW("\x3e\xff\xe0", 3, X86_INDIRECT, PERFEV_FLOW_JUMP, true, 0), /* NOTRACK */
	ROW("\xff\x24\xc5\x01\x02\x03\x04", 7, X86_INDIRECT, PERFEV_FLOW_JUMP, true, 0),
	ROW("\xff\x28", 2, X86_INDIRECT, PERFEV_FLOW_FAR_JUMP, true, 0),
	ROW("\xff\x18", 2, X86_INDIRECT, PERFEV_FLOW_CALL, true, 0), /* far */
	ROW("\xff\x30", 2, X86_NONE, 0, true, 0),		      /* PUSH */
	ROW("\xc3", 1, X86_INDIRECT, PERFEV_FLOW_RETURN, true, 0),
	ROW("\xf3\xc3", 2, X86_INDIRECT, PERFEV_FLOW_RETURN, true, 0),
	ROW("\xc2\x08\x00", 3, X86_INDIRECT, PERFEV_FLOW_RETURN, true, 0),
	ROW("\xcb", 1, X86_INDIRECT, PERFEV_FLOW_RETURN, true, 0),
	ROW("\x48\xcf", 2, X86_INDIRECT, PERFEV_FLOW_TRAP_RETURN, true, 0),
	ROW("\xf2\x0f\x01\xca", 4, X86_INDIRECT, PERFEV_FLOW_TRAP_RETURN, true, 0), /* ERETS */
	ROW("\x0f\x01\xca", 3, X86_NONE, 0, true, 0),				     /* CLAC */
	ROW("\xcc", 1, X86_INDIRECT, PERFEV_FLOW_TRAP, true, 0),
	ROW("\xcd\x80", 2, X86_INDIRECT, PERFEV_FLOW_TRAP, false, 0),
	ROW("\xce", 1, X86_INDIRECT, PERFEV_FLOW_TRAP, false, 0),
	ROW("\xce", 0, 0, 0, true, 0),
	ROW("\x0f\x05", 2, X86_INDIRECT, PERFEV_FLOW_SYSCALL, true, 0),
	ROW("\x0f\x34", 2, X86_INDIRECT, PERFEV_FLOW_SYSCALL, false, 0),
	ROW("\x48\x0f\x07", 3, X86_INDIRECT, PERFEV_FLOW_SYSRET, true, 0),
	ROW("\x0f\x01\xc2", 3, X86_INDIRECT, PERFEV_FLOW_VM_ENTRY, true, 0),
	ROW("\x9a\x01\x02\x03\x04\x05\x06", 7, X86_INDIRECT, PERFEV_FLOW_CALL, false, 0),
	ROW("\x9a\x01\x02\x03\x04\x05\x06", 0, 0, 0, true, 0),
	ROW("\xea\x01\x02\x03\x04\x05\x06", 7, X86_INDIRECT, PERFEV_FLOW_FAR_JUMP, false, 0),
	ROW("\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08", 10, X86_NONE, 0, true, 0), /* MOV of 64 bits */
	ROW("\xb8\x01\x02\x03\x04", 5, X86_NONE, 0, true, 0),
	ROW("\x66\xb8\x01\x02", 4, X86_NONE, 0, true, 0),
	ROW("\xa1\x01\x02\x03\x04\x05\x06\x07\x08", 9, X86_NONE, 0, true, 0),
	ROW("\x67\xa1\x01\x02\x03\x04", 6, X86_NONE, 0, true, 0),
	ROW("\xa1\x01\x02\x03\x04", 5, X86_NONE, 0, false, 0),
	ROW("\x67\xa1\x01\x02", 4, X86_NONE, 0, false, 0),
	ROW("\x67\x8b\x46\x01", 4, X86_NONE, 0, false, 0), /* an address of 16 bits */
	ROW("\x67\x8b\x06\x01\x02", 5, X86_NONE, 0, false, 0),
	ROW("\x67\x8b\x86\x01\x02", 5, X86_NONE, 0, false, 0),
	ROW("\xf6\xc1\x01", 3, X86_NONE, 0, true, 0), /* TEST has a constant, */
	ROW("\xf6\xd1", 2, X86_NONE, 0, true, 0),     /* NOT has none */
	ROW("\xf7\x05\x01\x02\x03\x04\x05\x06\x07\x08", 10, X86_NONE, 0, true, 0),
	ROW("\xc8\x01\x02\x03", 4, X86_NONE, 0, true, 0), /* ENTER */
	ROW("\xc7\xf8\x01\x02\x03\x04", 6, X86_NONE, 0, true, 0), /* XBEGIN */
	ROW("\x0f\x20\x00", 3, X86_NONE, 0, true, 0), /* of control registers: never an address */
	ROW("\x0f\x0f\xc1\x9e", 4, X86_NONE, 0, true, 0), /* 3DNow! */
	ROW("\xc5\xf8\x77", 3, X86_NONE, 0, true, 0), /* VZEROUPPER */
	ROW("\xc5\xf9\x70\xc0\x01", 5, X86_NONE, 0, true, 0),
	ROW("\xc4\xe3\x7d\x39\xc1\x01", 6, X86_NONE, 0, true, 0),
	ROW("\xc4\xe2\x7d\x58\x05\x01\x02\x03\x04", 9, X86_NONE, 0, true, 0),
	ROW("\xc5\x00", 2, X86_NONE, 0, false, 0), /* LDS */
	ROW("\x62\xf1\x7c\x48\x28\x44\x24\x01", 8, X86_NONE, 0, true, 0), /* EVEX */
	ROW("\x62\xf3\x7d\x48\x25\xc0\xff", 7, X86_NONE, 0, true, 0),
	ROW("\x62\x00", 2, X86_NONE, 0, false, 0), /* BOUND */
	ROW("\x8f\xe9\x78\x80\xc1", 5, X86_NONE, 0, true, 0), /* XOP */
	ROW("\x8f\xea\x78\x10\xc1\x01\x02\x03\x04", 9, X86_NONE, 0, true, 0),
	ROW("\x8f\x00", 2, X86_NONE, 0, true, 0), /* POP */
	ROW("\x41", 0, 0, 0, true, 0), /* REX and nothing */
	ROW("\x41", 1, X86_NONE, 0, false, 0), /* INC */
	ROW("\x06", 0, 0, 0, true, 0),
	ROW("\x06", 1, X86_NONE, 0, false, 0),
	ROW("\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x90", 15, X86_NONE, 0, true, 0),
	ROW("\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x90", 0, 0, 0, true, 0), /* too long */
};

static void expect_row(size_t i, const struct guard *guard)
{
	struct x86_instruction found;
	size_t n;

	if (x86_decode(&found, guard_put(guard, rows[i].bytes, rows[i].count), rows[i].count, rows[i].is_64) != (rows[i].size != 0))
		fail_msg("row %zu", i);
	if (rows[i].size && (found.size != rows[i].size || found.branch != rows[i].branch || found.type != rows[i].type ||
			     found.displacement != rows[i].displacement))
		fail_msg("row %zu: %u bytes, branch %u, type %u, %d", i, found.size, found.branch, found.type, found.displacement);
	for (n = 0; n < rows[i].size; n++) /* cut */
		assert_false(x86_decode(&found, guard_put(guard, rows[i].bytes, n), n, rows[i].is_64));
}

static void test_rows(void **state)
{
	struct guard guard;
	size_t i;

	(void)state;
	assert_true(guard_open(&guard));
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		expect_row(i, &guard);
	guard_close(&guard);
}

/* Whatever it is: with its own bytes it is the same, and with one less it is none. */
static void test_any_bytes(void **state)
{
	uint64_t random = 42;
	size_t known = 0, i, k;

	(void)state;
	for (i = 0; i < 2000000; i++) {
		unsigned char bytes[X86_INSTRUCTION_MAX + 1];
		struct x86_instruction whole, own;
		bool is_64 = i % 2;

		for (k = 0; k < sizeof(bytes); k++)
			bytes[k] = (unsigned char)next_random(&random);
		if (i % 3 == 0)
			bytes[0] = (unsigned char)"\x0f\xc4\xc5\x62\x66\xf2\xf3\x48"[i % 8];
		if (!x86_decode(&whole, bytes, sizeof(bytes), is_64))
			continue;
		known++;
		assert_true(whole.size >= 1 && whole.size <= X86_INSTRUCTION_MAX && whole.branch <= X86_INDIRECT);
		assert_int_equal(whole.branch == X86_NONE, whole.type == PERFEV_FLOW_NONE);
		assert_true(x86_decode(&own, bytes, whole.size, is_64));
		assert_true(own.size == whole.size && own.branch == whole.branch && own.type == whole.type &&
			    own.displacement == whole.displacement);
		assert_false(x86_decode(&own, bytes, whole.size - 1u, is_64));
	}
	print_message("%zu of %zu were instructions\n", known, i);
	assert_true(known > 1000000);
}

/* A line of hexadecimal bytes each: "SIZE BRANCH TYPE DISPLACEMENT", or "-". */
static int print_sizes(bool is_64)
{
	char line[256];

	while (fgets(line, sizeof(line), stdin)) {
		unsigned char bytes[32];
		size_t count = 0;
		const char *at = line;
		struct x86_instruction found;
		unsigned byte;
		int used;

		while (count < sizeof(bytes) && sscanf(at, " %2x%n", &byte, &used) == 1) {
			bytes[count++] = (unsigned char)byte;
			at += used;
		}
		if (x86_decode(&found, bytes, count, is_64))
			printf("%u %u %s %d\n", found.size, found.branch, perfev_flow_type_name(found.type), found.displacement);
		else
			puts("-");
	}
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_any_bytes)};

	if (argc == 3 && !strcmp(argv[1], "--sizes"))
		return print_sizes(!strcmp(argv[2], "64"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
