/* SPDX-License-Identifier: MIT */
/*
 * Traces and code that are made to be slow, or that cannot be: what few packets can make the decoder of Intel PT do is bounded
 * by how many they are, and clocks that are damaged leave a time that only goes on. The code is made here, so no program is
 * stepped, and this runs on any host.
 */
#include "unit/test.h"

#include "symbols/flow_pt_base.h"

#include <perfev/intel_pt.h>

#include <stdlib.h>
#include <string.h>

#define START	   UINT64_C(0x400000)
#define CODE_BYTES (UINT32_C(1) << 18)
#define NOPS	   130000
#define TRACE_MAX  (UINT32_C(1) << 17)

static unsigned char code[CODE_BYTES], trace[TRACE_MAX];
static size_t trace_size, chunk, asked;
static struct perfev_error err;

static int code_of(void *context, const struct perfev_place *place, void *to, size_t size)
{
	uint64_t at = place->ip - START;

	(void)context;
	if (at >= CODE_BYTES)
		return -1;
	size = size < chunk ? size : chunk;
	size = size < CODE_BYTES - at ? size : (size_t)(CODE_BYTES - at);
	asked += size;
	memcpy(to, code + at, size);
	return (int)size;
}

static void put(const struct perfev_pt_packet *packet)
{
	int n = perfev_pt_encode(trace + trace_size, TRACE_MAX - trace_size, packet, NULL);

	assert_true(n > 0);
	trace_size += (size_t)n;
}

static void put_type(enum perfev_pt_type type)
{
	struct perfev_pt_packet packet = {.type = type};

	put(&packet);
}

/* The low 32 bits of an address, or all. */
static void put_ip(enum perfev_pt_type type, uint64_t ip, uint8_t bytes)
{
	struct perfev_pt_packet packet = {.type = type};

	packet.as.ip.ip_bytes = bytes;
	packet.as.ip.payload = ip;
	put(&packet);
}

static void put_bits(uint64_t bits, uint8_t count)
{
	struct perfev_pt_packet packet = {.type = PERFEV_PT_TNT_8};

	packet.as.tnt.bits = bits;
	packet.as.tnt.count = count;
	put(&packet);
}

static void begin(void)
{
	trace_size = 0;
	chunk = SIZE_MAX;
	put_type(PERFEV_PT_PSB);
	put_ip(PERFEV_PT_FUP, START, 6);
	put_type(PERFEV_PT_PSBEND);
}

/* A jump of @size bytes at @at, to @to. */
static void put_jump(size_t at, const char *opcode, size_t size, size_t to)
{
	int32_t displacement = (int32_t)to - (int32_t)(at + size);
	size_t i;

	memcpy(code + at, opcode, size - 4);
	for (i = 0; i < 4; i++)
		code[at + size - 4 + i] = (unsigned char)((uint32_t)displacement >> 8 * i);
}

struct seen {
	size_t branches, gaps, loops;
	uint64_t last;
};

static struct seen follow(const struct perfev_flow_opts *more)
{
	struct perfev_flow_opts opts = {.size = sizeof(opts)};
	struct perfev_bytes bytes = {trace, trace_size};
	struct perfev_flow_branch branch;
	struct perfev_flow *flow;
	struct seen seen = {0};

	if (more)
		opts = *more;
	opts.code = code_of;
	asked = 0;
	assert_int_equal(perfev_flow_new(&flow, &opts, &err), 0);
	assert_int_equal(perfev_flow_begin(flow, &bytes, 1, &err), 0);
	while (perfev_flow_next(flow, &branch, &err) > 0) {
		seen.branches++;
		seen.gaps += branch.gap != PERFEV_FLOW_GAP_NONE;
		seen.loops += branch.gap == PERFEV_FLOW_GAP_LOOP;
		seen.last = branch.tsc;
	}
	perfev_flow_free(flow);
	return seen;
}

static uint64_t work_max(void)
{
	return PT_WORK_MAX + trace_size * PT_WORK_BYTE;
}

/* Each pair of packets leads over all of it; a byte at a time, what is asked for is what is walked. */
static void test_far_away(void **state)
{
	struct seen seen;

	(void)state;
	memset(code, 0x90, sizeof(code));
	begin();
	chunk = 1;
	while (trace_size < 10000) {
		put_ip(PERFEV_PT_FUP, START + NOPS, 2);
		put_ip(PERFEV_PT_TIP, START, 2);
	}
	seen = follow(NULL);
	assert_true(seen.loops > 100 && seen.gaps == seen.loops);
	assert_true(asked > 100000 && asked <= work_max() / PT_WORK_FETCH);
	chunk = SIZE_MAX;
	seen = follow(NULL);
	assert_true(seen.loops > 100 && asked <= work_max());
}

/* Ten thousand jumps for each bit. */
static void test_many_jumps(void **state)
{
	struct seen seen;
	size_t i;

	(void)state;
	memset(code, 0, sizeof(code));
	for (i = 0; i < 9900; i++)
		code[2 * i] = 0xeb; /* to behind itself */
	put_jump(2 * i, "\x0f\x84", 6, 0);
	begin();
	while (trace_size < 10000) {
		put_bits(63, 6);
		put_ip(PERFEV_PT_TIP_PGD, 0, 0);
		put_ip(PERFEV_PT_TIP_PGE, START, 2);
	}
	seen = follow(NULL);
	assert_true(seen.loops > 10 && seen.branches > 100000);
	assert_true(seen.branches <= work_max() / PT_WORK_BRANCH + trace_size);
}

/* What is walked again and again is known, and goes on without end: a loop of that many instructions is possible. */
static void test_a_long_loop(void **state)
{
	struct seen seen;
	size_t i;

	(void)state;
	memset(code, 0x90, sizeof(code));
	put_jump(NOPS, "\x0f\x84", 6, 0);
	begin();
	for (i = 0; i < 5000; i++)
		put_bits(63, 6);
	seen = follow(NULL);
	assert_int_equal(seen.gaps, 0);
	assert_true(seen.branches >= 30000 && seen.branches <= 30002);
}

/* The same decoder takes another trace: code may be other then, and there is work for it again. */
static void test_begin_again(void **state)
{
	struct perfev_flow_opts opts = {.size = sizeof(opts), .code = code_of};
	struct perfev_flow_branch branch;
	struct perfev_bytes bytes;
	struct perfev_flow *flow;
	size_t i, jumps;

	(void)state;
	assert_int_equal(perfev_flow_new(&flow, &opts, &err), 0);
	for (i = 0; i < 3; i++) {
		memset(code, 0x90, sizeof(code));
		put_jump(10 + i, "\x0f\x84", 6, 0);
		begin();
		put_bits(7, 3);
		bytes = (struct perfev_bytes){trace, trace_size};
		assert_int_equal(perfev_flow_begin(flow, &bytes, 1, &err), 0);
		for (jumps = 0; perfev_flow_next(flow, &branch, &err) > 0; jumps += branch.type == PERFEV_FLOW_CONDITIONAL)
			assert_true(branch.type != PERFEV_FLOW_CONDITIONAL || branch.from == START + 10 + i);
		assert_int_equal(jumps, 3);
	}
	perfev_flow_free(flow);
}

static void put_tsc(uint64_t tsc)
{
	struct perfev_pt_packet packet = {.type = PERFEV_PT_TSC};

	packet.as.tsc.tsc = tsc;
	put(&packet);
}

static void put_cyc(uint64_t cycles)
{
	struct perfev_pt_packet packet = {.type = PERFEV_PT_CYC};

	packet.as.cyc.cycles = cycles;
	put(&packet);
}

/* Cycles that cannot be, of a frequency that cannot be, do not move the time. */
static void test_cycles_that_cannot_be(void **state)
{
	static const uint64_t cycles[] = {1000, UINT64_C(1) << 30, UINT64_C(1) << 60, UINT64_C(1) << 60, 0};
	struct perfev_flow_opts opts = {.size = sizeof(opts), .tsc_ctc_n = 100, .tsc_ctc_d = 1, .nonturbo_ratio = UINT32_MAX};
	const uint64_t expected = 5000 + ((UINT64_C(1) << 30) + 1000) * UINT32_MAX;
	struct perfev_pt_packet packet = {.type = PERFEV_PT_CBR};
	struct seen seen;
	size_t i;

	(void)state;
	memset(code, 0x90, sizeof(code));
	put_jump(10, "\x0f\x84", 6, 0);
	begin();
	packet.as.cbr.ratio = 1;
	put(&packet);
	put_cyc(1);
	put_tsc(5000);
	for (i = 0; i < sizeof(cycles) / sizeof(cycles[0]); i++) {
		put_cyc(cycles[i]);
		put_bits(1, 1);
	}
	seen = follow(&opts);
	assert_int_equal(seen.gaps, 0);
	/* the last that can be; a product of so many bits is rounded where doubles have no more than theirs */
	assert_in_range(seen.last, expected - 2048, expected + 2048);
}

/* A TSC that is earlier came behind cycles that were too long, and holds the time; when it went round the time goes on. */
static void test_earlier_tsc(void **state)
{
	static const uint64_t tscs[][3] = {
		{2000000, 1000000, 2000000},
		{2000000, 3000000, 3000000},
		{UINT64_C(0xfffffffffff000), 5000, UINT64_C(0x100000000001388)},
		{UINT64_C(0xf0000000000000), UINT64_C(0x90000000000000), UINT64_C(0xf0000000000000)},
	};
	struct seen seen;
	size_t i;

	(void)state;
	memset(code, 0x90, sizeof(code));
	put_jump(10, "\x0f\x84", 6, 0);
	for (i = 0; i < sizeof(tscs) / sizeof(tscs[0]); i++) {
		begin();
		put_tsc(tscs[i][0]);
		put_bits(1, 1);
		put_tsc(tscs[i][1]);
		put_bits(1, 1);
		seen = follow(NULL);
		assert_int_equal(seen.last, tscs[i][2]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_far_away),	    cmocka_unit_test(test_many_jumps),
		cmocka_unit_test(test_a_long_loop),	    cmocka_unit_test(test_begin_again),
		cmocka_unit_test(test_cycles_that_cannot_be), cmocka_unit_test(test_earlier_tsc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
