/* SPDX-License-Identifier: MIT */
/*
 * The way that a program took, out of Arm CoreSight: ETMv4 packets and the frames of their formatter, as the architecture
 * describes them, of two CPUs in one trace; a few instructions of A64 with a branch of each kind. And a recording of
 * simpleperf (PERFEV_TEST_DATA), of whose program there is no code here.
 */
#include "bytes.h"
#include "test.h"

#include "symbols/flow_ocsd.h"

#include <perfev/flow.h>
#include <perfev/reader.h>

#ifdef HAVE_OPENCSD
#include <opencsd/c_api/opencsd_c_api.h>

#define SAME(ours, our_member, theirs, their_member) \
	_Static_assert(offsetof(struct ours, our_member) == offsetof(theirs, their_member), #our_member)

_Static_assert(sizeof(struct ocsd_etmv4) == sizeof(ocsd_etmv4_cfg), "etmv4");
SAME(ocsd_etmv4, idr0, ocsd_etmv4_cfg, reg_idr0);
SAME(ocsd_etmv4, idr8, ocsd_etmv4_cfg, reg_idr8);
SAME(ocsd_etmv4, configr, ocsd_etmv4_cfg, reg_configr);
SAME(ocsd_etmv4, traceidr, ocsd_etmv4_cfg, reg_traceidr);
SAME(ocsd_etmv4, architecture, ocsd_etmv4_cfg, arch_ver);
SAME(ocsd_etmv4, profile, ocsd_etmv4_cfg, core_prof);
_Static_assert(sizeof(struct ocsd_element) == sizeof(ocsd_generic_trace_elem), "element");
SAME(ocsd_element, type, ocsd_generic_trace_elem, elem_type);
SAME(ocsd_element, start, ocsd_generic_trace_elem, st_addr);
SAME(ocsd_element, end, ocsd_generic_trace_elem, en_addr);
SAME(ocsd_element, context, ocsd_generic_trace_elem, context);
SAME(ocsd_element, context.level, ocsd_generic_trace_elem, context.exception_level);
SAME(ocsd_element, context.id, ocsd_generic_trace_elem, context.context_id);
SAME(ocsd_element, timestamp, ocsd_generic_trace_elem, timestamp);
SAME(ocsd_element, instruction, ocsd_generic_trace_elem, last_i_type);
SAME(ocsd_element, subtype, ocsd_generic_trace_elem, last_i_subtype);
SAME(ocsd_element, number, ocsd_generic_trace_elem, exception_number);
SAME(ocsd_element, number, ocsd_generic_trace_elem, num_instr_range);
SAME(ocsd_element, number, ocsd_generic_trace_elem, trace_on_reason);
SAME(ocsd_element, number, ocsd_generic_trace_elem, unsync_eot_info);
SAME(ocsd_element, data, ocsd_generic_trace_elem, ptr_extended_data);
_Static_assert((int)OCSD_NO_SYNC == OCSD_GEN_TRC_ELEM_NO_SYNC && (int)OCSD_TRACE_ON == OCSD_GEN_TRC_ELEM_TRACE_ON &&
		       (int)OCSD_END_OF_TRACE == OCSD_GEN_TRC_ELEM_EO_TRACE &&
		       (int)OCSD_CONTEXT == OCSD_GEN_TRC_ELEM_PE_CONTEXT && (int)OCSD_RANGE == OCSD_GEN_TRC_ELEM_INSTR_RANGE &&
		       (int)OCSD_NO_ACCESS == OCSD_GEN_TRC_ELEM_ADDR_NACC &&
		       (int)OCSD_EXCEPTION == OCSD_GEN_TRC_ELEM_EXCEPTION &&
		       (int)OCSD_TIMESTAMP == OCSD_GEN_TRC_ELEM_TIMESTAMP,
	       "elements");
_Static_assert((int)OCSD_OPERATION_DATA == OCSD_OP_DATA && (int)OCSD_OPERATION_END == OCSD_OP_EOT &&
		       (int)OCSD_OPERATION_FLUSH == OCSD_OP_FLUSH && (int)OCSD_OPERATION_RESET == OCSD_OP_RESET,
	       "operations");
_Static_assert((int)OCSD_ANSWER_GO == OCSD_RESP_CONT && (int)OCSD_ANSWER_WAIT == OCSD_RESP_WAIT &&
		       (int)OCSD_ANSWER_FATAL == OCSD_RESP_FATAL_NOT_INIT,
	       "answers");
_Static_assert((int)OCSD_BRANCH == OCSD_INSTR_BR && (int)OCSD_INDIRECT == OCSD_INSTR_BR_INDIRECT &&
		       (int)OCSD_LINK == OCSD_S_INSTR_BR_LINK && (int)OCSD_RETURN == OCSD_S_INSTR_V8_RET &&
		       (int)OCSD_ERET == OCSD_S_INSTR_V8_ERET && (int)OCSD_IMPLIED_RETURN == OCSD_S_INSTR_V7_IMPLIED_RET,
	       "instructions");
_Static_assert((int)OCSD_LOST_OVERFLOW == UNSYNC_OVERFLOW && (int)OCSD_LOST_PACKET == UNSYNC_BAD_PACKET &&
		       (int)OCSD_ON_OVERFLOW == TRACE_ON_OVERFLOW,
	       "reasons");
_Static_assert(OCSD_FORMATTED == OCSD_TRC_SRC_FRAME_FORMATTED && OCSD_FRAMES_ALIGNED == OCSD_DFRMTR_FRAME_MEM_ALIGN &&
		       OCSD_FULL_DECODER == OCSD_CREATE_FLG_FULL_DECODER && (int)OCSD_ANY_SPACE == OCSD_MEM_SPACE_ANY &&
		       (int)OCSD_V8 == ARCH_V8 && OCSD_CORTEX_A == profile_CortexA,
	       "numbers");

/* Bit-fields have no offset. */
static void test_bits_of_the_library(void **state)
{
	union {
		struct ocsd_element ours;
		ocsd_generic_trace_elem theirs;
	} e;

	(void)state;
	memset(&e, 0, sizeof(e));
	e.theirs.last_instr_sz = 4;
	e.theirs.last_instr_exec = e.theirs.last_instr_cond = e.theirs.excep_ret_addr = 1;
	e.theirs.context.el_valid = e.theirs.context.ctxt_id_valid = 1;
	assert_true(e.ours.size == 4 && e.ours.executed && e.ours.conditional && e.ours.has_return);
	assert_true(!e.ours.has_cycles && !e.ours.has_time && !e.ours.return_is_target);
	assert_true(e.ours.context.has_level && e.ours.context.has_id && !e.ours.context.has_vmid && !e.ours.context.bits64);
}
#else
static void test_bits_of_the_library(void **state)
{
	(void)state;
	SKIP("OpenCSD's headers are not there (Debian: libopencsd-dev): its types are not compared with ours");
}
#endif

static struct perfev_error err;

/* OpenCSD 1.3.3 never frees what holds the function that is given its elements; to know whose that is takes a whole stack. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "fast_unwind_on_malloc=0";
}

const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:ocsd_dt_set_gen_elem_outfn\n";
}

/* ---- a program ------------------------------------------------------------------------------------------------------------- */

#define START UINT64_C(0x400000)

static const uint32_t program[] = {
	0x94000008, /* 00 bl 20 */
	0x54000040, /* 04 b.eq 0c */
	0xd503201f, /* 08 nop */
	0xd63f0020, /* 0c blr x1: to 20 */
	0xd4000001, /* 10 svc */
	0x14000001, /* 14 b 18 */
	0xd503201f, /* 18 nop */
	0xd65f03c0, /* 1c ret: away */
	0xb4000040, /* 20 cbz x0, 28 */
	0xd503201f, /* 24 nop */
	0xd65f03c0, /* 28 ret */
};

static int code(void *context, const struct perfev_place *place, void *to, size_t size)
{
	uint64_t at = place->ip - START;
	size_t i;

	(void)context;
	if (place->ip < START || at >= sizeof(program))
		return -ENOENT;
	for (i = 0; i < size && at + i < sizeof(program); i++)
		((unsigned char *)to)[i] = (unsigned char)(program[(at + i) / 4] >> 8 * ((at + i) % 4));
	return (int)i;
}

/* ---- packets --------------------------------------------------------------------------------------------------------------- */

static void put_address(struct bytes *to, uint64_t address, bool context)
{
	unsigned i;

	put_u8(to, context ? 0x85 : 0x9d);
	put_u8(to, address >> 2 & 0x7f);
	put_u8(to, address >> 9 & 0x7f);
	for (i = 16; i < 64; i += 8)
		put_u8(to, address >> i & 0xff);
	if (context)
		put_u8(to, 0x30); /* 64 bits, not secure, EL0 */
}

static void put_sync(struct bytes *to)
{
	unsigned i;

	for (i = 0; i < 11; i++)
		put_u8(to, 0);
	put_u8(to, 0x80);
	put_u8(to, 0x01); /* Trace Info, of nothing special */
	put_u8(to, 0x01);
	put_u8(to, 0x00);
}

static void put_atom(struct bytes *to, bool taken)
{
	put_u8(to, 0xf6 | taken);
}

/* What a CPU says of one time through the program. */
static void put_way(struct bytes *to, bool equal)
{
	put_sync(to);
	put_u8(to, 0x04); /* Trace On */
	put_address(to, START, true);
	put_atom(to, true);  /* bl */
	put_atom(to, false); /* cbz */
	put_atom(to, true);  /* ret */
	put_address(to, START + 4, false);
	put_atom(to, equal); /* b.eq */
	put_atom(to, true);  /* blr */
	put_address(to, START + 0x20, false);
	put_atom(to, true); /* cbz */
	put_atom(to, true); /* ret */
	put_address(to, START + 0x10, false);
	put_u8(to, 0x06); /* Exception: a call, and where it will return to */
	put_u8(to, 0x05);
	put_address(to, START + 0x14, false);
	put_u8(to, 0x04); /* the kernel is not traced */
	put_address(to, START + 0x14, true);
	put_atom(to, true); /* b */
	put_atom(to, true); /* ret */
	put_address(to, 0x500000, false);
}

struct wanted {
	uint32_t type;
	uint64_t from, to; /* offsets + 1; 0: none */
	uint32_t flags;
};

#define AT(offset) (START + (offset))

static const struct wanted way[] = {
	{PERFEV_FLOW_NONE, 0, AT(0), PERFEV_FLOW_BEGINS},
	{PERFEV_FLOW_CALL, AT(0), AT(0x20), 0},
	{PERFEV_FLOW_RETURN, AT(0x28), AT(4), 0},
	{PERFEV_FLOW_CONDITIONAL, AT(4), AT(0xc), 0}, /* when it was taken */
	{PERFEV_FLOW_CALL, AT(0xc), AT(0x20), 0},
	{PERFEV_FLOW_CONDITIONAL, AT(0x20), AT(0x28), 0},
	{PERFEV_FLOW_RETURN, AT(0x28), AT(0x10), 0},
	{PERFEV_FLOW_SYSCALL, AT(0x10), 0, PERFEV_FLOW_ENDS},
	{PERFEV_FLOW_NONE, 0, AT(0x14), PERFEV_FLOW_BEGINS},
	{PERFEV_FLOW_JUMP, AT(0x14), AT(0x18), 0},
};

/* ---- frames ---------------------------------------------------------------------------------------------------------------- */

/* A frame of one source: its id, and up to 14 bytes; the lowest bits of every second byte are in the last one. */
static size_t put_frame(struct bytes *to, unsigned id, const unsigned char *from, size_t size)
{
	unsigned char frame[16] = {0};
	size_t i, used = 0;

	frame[0] = (unsigned char)(id << 1 | 1);
	for (i = 1; i < 15; i++) {
		if (used == size) { /* the rest is of nobody */
			if (i % 2 == 0) {
				frame[i] = 1;
				break;
			}
			continue;
		}
		frame[i] = i % 2 ? from[used] : from[used] & 0xfe;
		if (i % 2 == 0)
			frame[15] |= (unsigned char)((from[used] & 1) << i / 2);
		used++;
	}
	put_bytes(to, frame, 16);
	return used;
}

/* Streams of several sources, frame by frame in turn; each is a whole number of frames, but for zeros behind. */
static void put_frames(struct bytes *to, struct bytes *streams, size_t count)
{
	size_t at[2] = {0, 0}, i;
	bool more = true;

	while (more)
		for (more = false, i = 0; i < count; i++) {
			if (at[i] >= streams[i].size)
				continue;
			at[i] += put_frame(to, 0x10 + 2 * (unsigned)i, streams[i].data + at[i], streams[i].size - at[i]);
			more = true;
		}
}

/* ---- following --------------------------------------------------------------------------------------------------------------- */

/* AUXTRACE_INFO of two CPUs, version 1. */
static const uint64_t words[] = {
	1, UINT64_C(9) << 32 | 2, 0, /* PMU 9 */
	UINT64_C(0x4040404040404040), 4, 7, 0, 0x10, 0x28000ea1, 0x4100f422, 0x20001088, 0, 0x8c,
	UINT64_C(0x4040404040404040), 6, 7, 0, 0x12, 0x28000ea1, 0x4100f422, 0x20001088, 0, 0x8c,
};

static struct perfev_flow *open_flow(uint32_t count)
{
	struct perfev_auxtrace_info info = {PERFEV_AUXTRACE_CS_ETM, 0, {words, count, false}};
	struct perfev_flow_opts opts;
	struct perfev_flow *flow;
	int r;

	assert_works(perfev_flow_setup(&opts, &info, NULL, NULL, &err));
	opts.code = code;
	r = perfev_flow_new(&flow, &opts, &err);
	if (r == -EOPNOTSUPP)
		SKIP("%s", err.text);
	assert_int_equal(r, 0);
	perfev_flow_task(flow, 70, 71, -1);
	return flow;
}

static void expect_one(const struct perfev_flow_branch *branch, const struct wanted *wanted)
{
	if (branch->type != wanted->type || branch->from != wanted->from || branch->to != wanted->to ||
	    branch->flags != wanted->flags)
		fail_msg("%s 0x%llx -> 0x%llx flags %u, not %s 0x%llx -> 0x%llx flags %u",
			 perfev_flow_type_name(branch->type), (unsigned long long)branch->from, (unsigned long long)branch->to,
			 branch->flags, perfev_flow_type_name(wanted->type), (unsigned long long)wanted->from,
			 (unsigned long long)wanted->to, wanted->flags);
	assert_int_equal(branch->tid, 71);
}

/* CPU 4 goes @times, taking b.eq in each second one; CPU 6 never takes it. */
static void test_two_cpus(void **state)
{
	const int times = 300;
	static struct bytes streams[2], trace;
	struct perfev_flow_branch branch;
	struct perfev_bytes pieces[3];
	struct perfev_flow *flow = open_flow(sizeof(words) / 8);
	size_t row[2] = {0, 0}, rounds[2] = {0, 0}, gaps = 0;
	int i, cpu;

	(void)state;
	streams[0].size = streams[1].size = trace.size = 0;
	for (i = 0; i < times; i++) {
		put_way(&streams[0], i % 2 == 0);
		put_way(&streams[1], false);
	}
	put_frames(&trace, streams, 2);
	pieces[0] = (struct perfev_bytes){trace.data, 160};
	pieces[1] = (struct perfev_bytes){trace.data + 160, 7};
	pieces[2] = (struct perfev_bytes){trace.data + 167, trace.size - 167};
	assert_works(perfev_flow_begin(flow, pieces, 3, &err));
	while (perfev_flow_next(flow, &branch, &err) > 0) {
		cpu = branch.cpu == 6;
		assert_true(branch.cpu == 4 || branch.cpu == 6);
		if (branch.flags & PERFEV_FLOW_GAP) { /* where it went at last there is no code */
			assert_int_equal(branch.gap, PERFEV_FLOW_GAP_NO_CODE);
			assert_int_equal(branch.from, 0x500000);
			gaps++;
			continue;
		}
		if (row[cpu] == sizeof(way) / sizeof(way[0])) {
			assert_int_equal(branch.type, PERFEV_FLOW_RETURN);
			assert_int_equal(branch.from, AT(0x1c));
			assert_int_equal(branch.to, branch.flags & PERFEV_FLOW_ENDS ? 0 : 0x500000);
			row[cpu] = 0;
			rounds[cpu]++;
			continue;
		}
		if (way[row[cpu]].from == AT(4) && (cpu || rounds[cpu] % 2))
			row[cpu]++;
		expect_one(&branch, &way[row[cpu]++]);
	}
	print_message("%zu bytes, %zu and %zu rounds, %zu gaps\n", trace.size, rounds[0], rounds[1], gaps);
	/* where the last branch of all went is not in the trace */
	assert_true(rounds[0] >= (size_t)times - 1 && rounds[1] >= (size_t)times - 1);
	perfev_flow_free(flow);
}

/* Anything at all ends, and says nothing that cannot be. */
static void test_changed(void **state)
{
	static struct bytes stream, trace;
	uint64_t random = UINT64_C(0xda942042e4dd58b5), branches = 0, gaps = 0;
	struct perfev_flow *flow = open_flow(sizeof(words) / 8);
	struct perfev_flow_branch branch;
	unsigned char *copy;
	const char *asked = getenv("PERFEV_ETM_BUFFERS");
	int count = asked ? atoi(asked) : 300, i, k;

	(void)state;
	stream.size = trace.size = 0;
	for (i = 0; i < 50; i++)
		put_way(&stream, i % 3 == 0);
	put_frames(&trace, &stream, 1);
	copy = malloc(trace.size);
	assert_non_null(copy);
	for (i = 0; i < count; i++) {
		struct perfev_bytes piece = {copy, trace.size - random_below(&random, 40)};

		memcpy(copy, trace.data, trace.size);
		for (k = 0; k < i % 300; k++)
			copy[random_below(&random, (uint32_t)trace.size)] = (unsigned char)next_random(&random);
		assert_works(perfev_flow_begin(flow, &piece, 1, &err));
		while (perfev_flow_next(flow, &branch, &err) > 0) {
			branches++;
			gaps += (branch.flags & PERFEV_FLOW_GAP) != 0;
			assert_true(branch.type < PERFEV_FLOW_COUNT_);
			assert_int_equal((branch.flags & PERFEV_FLOW_GAP) != 0, branch.why != NULL);
		}
	}
	print_message("%llu branches, %llu gaps\n", (unsigned long long)branches, (unsigned long long)gaps);
	assert_true(branches > 5000 && gaps > 100);
	free(copy);
	perfev_flow_free(flow);
}

static void test_no_units(void **state)
{
	struct perfev_bytes piece = {words, 64};
	uint32_t count;

	(void)state;
	for (count = 0; count < sizeof(words) / 8; count++) {
		struct perfev_flow *flow = open_flow(count);
		int r = perfev_flow_begin(flow, &piece, 1, &err);

		assert_int_equal(r, count < 13 ? -EOPNOTSUPP : 0);
		if (r < 0)
			assert_says("names no ETMv4");
		perfev_flow_free(flow);
	}
}

/* The parts of the trace that are in the program of the recording, whose code is not here: each is a gap in its mapping. */
static void test_recording(void **state)
{
	const char *folder = getenv("PERFEV_TEST_DATA");
	struct perfev_flow_branch branch;
	struct perfev_auxtrace_info info;
	struct perfev_flow_opts opts;
	struct perfev_auxtrace trace;
	struct perfev_reader *reader;
	struct perfev_record record;
	struct perfev_flow *flow;
	struct perfev_mmap mmap;
	uint64_t starts[64], ends[64];
	char path[4096];
	size_t maps = 0, gaps = 0, i;

	(void)state;
	if (!folder)
		SKIP("PERFEV_TEST_DATA is not set");
	snprintf(path, sizeof(path), "%s/simpleperf/perf_etm.data", folder);
	perfev_flow_free(open_flow(3));
	trace.size = 0;
	assert_works(perfev_reader_open(&reader, path, NULL, &err));
	while (perfev_reader_next(reader, &record, &err) > 0) {
		if (record.type == PERFEV_RECORD_AUXTRACE_INFO)
			assert_works(perfev_auxtrace_info_decode(&info, &record, &err));
		else if (record.type == PERFEV_RECORD_AUXTRACE)
			assert_works(perfev_auxtrace_decode(&trace, &record, &err));
		else if (record.type == PERF_RECORD_MMAP2 && maps < 64) {
			assert_works(perfev_mmap_decode(&mmap, &record, perfev_reader_layout(reader, &record), &err));
			starts[maps] = mmap.addr;
			ends[maps++] = mmap.addr + mmap.len;
		}
	}
	assert_true(trace.size > 0 && maps > 0);
	assert_works(perfev_flow_setup(&opts, &info, NULL, NULL, &err));
	opts.code = code;
	assert_works(perfev_flow_new(&flow, &opts, &err));
	assert_works(perfev_flow_begin(flow, &trace.bytes, 1, &err));
	while (perfev_flow_next(flow, &branch, &err) > 0) {
		assert_int_equal(branch.cpu, 7);
		if (!(branch.flags & PERFEV_FLOW_GAP))
			continue;
		assert_int_equal(branch.gap, PERFEV_FLOW_GAP_NO_CODE);
		for (i = 0; i < maps && (branch.from < starts[i] || branch.from >= ends[i]); i++)
			;
		assert_true(i < maps);
		gaps++;
	}
	assert_true(gaps >= 3);
	perfev_flow_free(flow);
	perfev_reader_close(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bits_of_the_library), cmocka_unit_test(test_two_cpus), cmocka_unit_test(test_changed),
		cmocka_unit_test(test_no_units),	    cmocka_unit_test(test_recording),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
