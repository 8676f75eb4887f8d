/* SPDX-License-Identifier: MIT */
/* Arm SPE: each packet and width, decoded, as text, and written again; records; streams cut anywhere; what is no packet. And
 * the records of recordings that traces are in. */
#include "unit/test.h"
#include "unit/bytes.h"
#include "unit/packets.h"

static struct perfev_error err;

static const struct example {
	const char *bytes, *text;
	uint16_t type;
	uint8_t index;
} examples[] = {
	{"00", "Padding", PERFEV_SPE_PADDING, 0},
	{"01", "End", PERFEV_SPE_END, 0},
	{"71 08 07 06 05 04 03 02 01", "Timestamp 0x102030405060708", PERFEV_SPE_TIMESTAMP, 0},
	{"42 16", "Events 0x16 retired l1d-access tlb-access", PERFEV_SPE_EVENTS, 0},
	{"52 e9 0f", "Events 0xfe9 exception l1d-refill tlb-walk not-taken mispredicted llc-access llc-miss remote-access misaligned",
	 PERFEV_SPE_EVENTS, 0},
	{"62 00 10 ff 03",
	 "Events 0x3ff1000 event-12 transactional partial-predicate empty-predicate l2d-access l2d-miss data-modified "
	 "recently-fetched data-snooped streaming-sve smcu",
	 PERFEV_SPE_EVENTS, 0},
	{"72 02 00 00 00 00 00 00 80", "Events 0x8000000000000002 retired event-63", PERFEV_SPE_EVENTS, 0},
	{"43 0e", "Data Source 0xe dram", PERFEV_SPE_DATA_SOURCE, 0},
	{"53 34 12", "Data Source 0x1234", PERFEV_SPE_DATA_SOURCE, 0},
	{"63 00 00 00 00", "Data Source 0x0 l1d", PERFEV_SPE_DATA_SOURCE, 0},
	{"73 08 00 00 00 00 00 00 00", "Data Source 0x8 l2", PERFEV_SPE_DATA_SOURCE, 0},
	{"64 78 56 34 12", "Context el1=0x12345678", PERFEV_SPE_CONTEXT, 0},
	{"65 01 00 00 00", "Context el2=0x1", PERFEV_SPE_CONTEXT, 1},
	{"66 01 00 00 00", "Context index=2 payload=0x1", PERFEV_SPE_CONTEXT, 2},
	{"48 00", "Operation Type 0x0 other", PERFEV_SPE_OPERATION, 0},
	{"48 07", "Operation Type 0x7 other, SIMD, FP, conditional", PERFEV_SPE_OPERATION, 0},
	{"48 2e", "Operation Type 0x2e SVE, 128 bits, FP, predicated", PERFEV_SPE_OPERATION, 0},
	{"48 9e", "Operation Type 0x9e SME, 1024 bits, FP", PERFEV_SPE_OPERATION, 0},
	{"49 00", "Operation Type 0x0 load, general purpose", PERFEV_SPE_OPERATION, 1},
	{"49 05", "Operation Type 0x5 store, SIMD and FP", PERFEV_SPE_OPERATION, 1},
	{"49 10", "Operation Type 0x10 load, unspecified register", PERFEV_SPE_OPERATION, 1},
	{"49 14", "Operation Type 0x14 load, allocation tag", PERFEV_SPE_OPERATION, 1},
	{"49 20", "Operation Type 0x20 load, memory copy", PERFEV_SPE_OPERATION, 1},
	{"49 25", "Operation Type 0x25 store, memory set", PERFEV_SPE_OPERATION, 1},
	{"49 30", "Operation Type 0x30 load, system register", PERFEV_SPE_OPERATION, 1},
	{"49 1f", "Operation Type 0x1f store, atomic, exclusive, acquire-release", PERFEV_SPE_OPERATION, 1},
	{"49 02", "Operation Type 0x2 load", PERFEV_SPE_OPERATION, 1},
	{"49 ac", "Operation Type 0xac load, SVE or SME, 128 bits, predicated, gather-scatter", PERFEV_SPE_OPERATION, 1},
	{"49 45", "Operation Type 0x45 store, guarded control stack, common", PERFEV_SPE_OPERATION, 1},
	{"4a 00", "Operation Type 0x0 branch", PERFEV_SPE_OPERATION, 2},
	{"4a 0f", "Operation Type 0xf branch, conditional, indirect, guarded control stack, call", PERFEV_SPE_OPERATION, 2},
	{"4a 12", "Operation Type 0x12 branch, indirect, return", PERFEV_SPE_OPERATION, 2},
	{"4a 18", "Operation Type 0x18 branch, neither call nor return", PERFEV_SPE_OPERATION, 2},
	{"4b 01", "Operation Type 0x1 class 3", PERFEV_SPE_OPERATION, 3},
	{"b0 36 11 40 00 00 00 00 80", "Address pc=0x401136 el=0 ns=1 nse=0", PERFEV_SPE_ADDRESS, 0},
	{"b0 18 3c d7 83 00 80 ff d0", "Address pc=0xffff800083d73c18 el=2 ns=1 nse=1", PERFEV_SPE_ADDRESS, 0},
	{"b1 f0 10 40 00 00 00 00 20", "Address branch_target=0x4010f0 el=1 ns=0 nse=0", PERFEV_SPE_ADDRESS, 1},
	{"b2 00 10 00 00 00 00 ff b4", "Address data_virtual=0xffff000000001000 tag=0xb4", PERFEV_SPE_ADDRESS, 2},
	{"b3 00 10 c0 ab 00 00 80 c5", "Address data_physical=0x800000abc01000 ns=1 nse=0 ch=1 pat=5", PERFEV_SPE_ADDRESS, 3},
	{"b4 00 11 40 00 00 00 00 60", "Address previous_branch_target=0x401100 el=3 ns=0 nse=0", PERFEV_SPE_ADDRESS, 4},
	{"b7 01 00 00 00 00 00 00 00", "Address index=7 payload=0x1", PERFEV_SPE_ADDRESS, 7},
	{"21 b2 01 00 00 00 00 00 00 00", "Address index=10 payload=0x1", PERFEV_SPE_ADDRESS, 10},
	{"20 b2 01 00 00 00 00 00 00 00", "Address data_virtual=0x1 tag=0x0", PERFEV_SPE_ADDRESS, 2}, /* longer than needed */
	{"98 20 00", "Counter total_latency=32", PERFEV_SPE_COUNTER, 0},
	{"99 05 00", "Counter issue_latency=5", PERFEV_SPE_COUNTER, 1},
	{"9a ff ff", "Counter translation_latency=65535", PERFEV_SPE_COUNTER, 2},
	{"9f 01 00", "Counter index=7 payload=1", PERFEV_SPE_COUNTER, 7},
	{"23 9f 34 12", "Counter index=31 payload=4660", PERFEV_SPE_COUNTER, 31},
	{"20 00", "Alignment boundary=2", PERFEV_SPE_ALIGNMENT, 0},
	{"22 00 00 00 00 00 00 00", "Alignment boundary=8", PERFEV_SPE_ALIGNMENT, 2},
	{"25 00 (00)*62", "Alignment boundary=64", PERFEV_SPE_ALIGNMENT, 5},
};

#define EXAMPLES (sizeof(examples) / sizeof(examples[0]))

static void feed(struct perfev_spe_decoder *decoder, const unsigned char *bytes, size_t size)
{
	perfev_spe_feed(decoder, (struct perfev_bytes){bytes, size});
}

static void check(const struct perfev_spe_packet *packet, const struct example *example, const unsigned char *bytes, size_t size)
{
	unsigned char again[128];
	char line[400];

	assert_int_equal(packet->type, example->type);
	assert_int_equal(packet->index, example->index);
	assert_int_equal(packet->size, size);
	assert_int_equal(perfev_spe_format(line, sizeof(line), packet, PERFEV_SPE_FAMILY_NEOVERSE), (int)strlen(example->text));
	assert_string_equal(line, example->text);
	memset(again, 0xee, sizeof(again));
	assert_int_equal(perfev_spe_encode(again, size - 1, packet, &err), (int)size);
	assert_int_equal(again[0], 0xee);
	assert_int_equal(perfev_spe_encode(again, sizeof(again), packet, &err), (int)size);
	assert_memory_equal(again, bytes, size);
}

static void test_each_packet(void **state)
{
	struct perfev_spe_decoder decoder;
	struct perfev_spe_packet packet;
	unsigned char bytes[128];
	bool seen[PERFEV_SPE_COUNT_] = {false};
	size_t i, size, cut;

	(void)state;
	for (i = 0; i < EXAMPLES; i++) {
		size = from_hex(bytes, examples[i].bytes);
		for (cut = 0; cut < size; cut++) {
			perfev_spe_begin(&decoder, 0x10000);
			feed(&decoder, bytes, cut);
			if (examples[i].type == PERFEV_SPE_ALIGNMENT && cut >= 2) { /* its header says all */
				assert_int_equal(perfev_spe_next(&decoder, &packet, &err), 1);
				check(&packet, &examples[i], bytes, size);
			}
			assert_int_equal(perfev_spe_next(&decoder, &packet, &err), 0);
			assert_int_equal(perfev_spe_end(&decoder, &err), cut ? -EINVAL : 0);
			feed(&decoder, bytes + cut, size - cut);
			if (examples[i].type != PERFEV_SPE_ALIGNMENT || cut < 2) {
				assert_int_equal(perfev_spe_next(&decoder, &packet, &err), 1);
				check(&packet, &examples[i], bytes, size);
			}
			assert_int_equal(perfev_spe_next(&decoder, &packet, &err), 0);
			assert_works(perfev_spe_end(&decoder, &err));
		}
		seen[packet.type] = true;
	}
	for (i = 0; i < PERFEV_SPE_COUNT_; i++)
		assert_true(seen[i]);
}

/* What follows is at a multiple, wherever it begins; the bytes between are not looked at. */
static void test_alignment(void **state)
{
	struct perfev_spe_decoder decoder;
	struct perfev_spe_packet packet;
	static unsigned char bytes[200000];
	uint64_t offset, next;
	unsigned index;

	(void)state;
	memset(bytes, 0xff, sizeof(bytes));
	for (index = 0; index < 16; index++) {
		for (offset = 0x20000; offset < 0x20000 + 200; offset++) {
			bytes[0] = (unsigned char)(0x20 | index);
			bytes[1] = 0;
			perfev_spe_begin(&decoder, offset);
			feed(&decoder, bytes, sizeof(bytes));
			assert_int_equal(perfev_spe_next(&decoder, &packet, &err), 1);
			next = offset + packet.size;
			assert_true(packet.size >= 2 && packet.size < 2 + (2u << index));
			assert_int_equal(next % (2u << index), 0);
			assert_int_equal(perfev_trace_offset(&decoder.input), next);
		}
	}
}

static void test_no_packets(void **state)
{
	struct perfev_spe_decoder decoder;
	struct perfev_spe_packet packet = {0};
	unsigned char bytes[16] = {0};
	unsigned i, wrong = 0;
	int r;

	(void)state;
	for (i = 0; i < 65536; i++) {
		bytes[0] = (unsigned char)i;
		bytes[1] = (unsigned char)(i >> 8);
		perfev_spe_begin(&decoder, 64);
		feed(&decoder, bytes, sizeof(bytes));
		r = perfev_spe_next(&decoder, &packet, &err);
		if (r == 1)
			continue;
		wrong++;
		assert_int_equal(r, -EINVAL);
		assert_int_equal(err.where, 64);
		assert_says("cannot decode Arm SPE at 0x40: ");
		perfev_spe_skip(&decoder);
		assert_int_equal(perfev_trace_offset(&decoder.input), 65);
	}
	/* right: 35 headers of one byte, 4 with 16 behind them, and 16 with a zero */
	assert_int_equal(wrong, 65536 - 35 * 256 - 4 * 16 - 16);
}

static void test_refused_encoding(void **state)
{
	static const struct perfev_spe_packet packets[] = {
		{.type = PERFEV_SPE_COUNT_},
		{.type = PERFEV_SPE_EVENTS, .payload_bytes = 3},
		{.type = PERFEV_SPE_EVENTS, .payload_bytes = 0},
		{.type = PERFEV_SPE_EVENTS, .payload_bytes = 1, .payload = 256},
		{.type = PERFEV_SPE_EVENTS, .payload_bytes = 1, .index = 1},
		{.type = PERFEV_SPE_CONTEXT, .payload_bytes = 4, .index = 4},
		{.type = PERFEV_SPE_ADDRESS, .payload_bytes = 8, .index = 32},
		{.type = PERFEV_SPE_ADDRESS, .payload_bytes = 4},
		{.type = PERFEV_SPE_CONTEXT, .payload_bytes = 4, .header_bytes = 2},
		{.type = PERFEV_SPE_ALIGNMENT, .index = 16},
	};
	unsigned char bytes[32];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(packets) / sizeof(packets[0]); i++) {
		assert_fails(perfev_spe_encode(bytes, sizeof(bytes), &packets[i], &err), EINVAL);
		assert_says("cannot encode a packet: ");
	}
}

/* ---- records ---------------------------------------------------------------------------------------------------- */

static size_t two_records(unsigned char *to)
{
	return from_hex(to, "00 00 b0 36 11 40 00 00 00 00 80 99 05 00 98 20 00 64 07 00 00 00 49 01"
			    "b2 00 10 00 00 00 00 ff b4 b3 00 10 c0 ab 00 00 00 80 9a 02 00 52 16 04 43 0e"
			    "71 08 07 06 05 04 03 02 01 00 00 00"
			    "4a 01 b1 f0 10 40 00 00 00 00 20 b4 01 00 00 00 00 00 00 00 65 08 00 00 00 9d 01 00 42 82 01 00");
}

static void check_first(const struct perfev_spe_record *record)
{
	assert_int_equal(record->present,
			 PERFEV_SPE_HAS_PC | PERFEV_SPE_HAS_ISSUE_LATENCY | PERFEV_SPE_HAS_TOTAL_LATENCY |
				 PERFEV_SPE_HAS_CONTEXT_EL1 | PERFEV_SPE_HAS_OPERATION | PERFEV_SPE_HAS_DATA_VIRTUAL |
				 PERFEV_SPE_HAS_DATA_PHYSICAL | PERFEV_SPE_HAS_TRANSLATION_LATENCY | PERFEV_SPE_HAS_EVENTS |
				 PERFEV_SPE_HAS_DATA_SOURCE | PERFEV_SPE_HAS_TIMESTAMP);
	assert_int_equal(record->offset, 2);
	assert_int_equal(record->size, 57);
	assert_int_equal(record->pc.address, 0x401136);
	assert_int_equal(record->pc.ns, 1);
	assert_int_equal(record->issue_latency, 5);
	assert_int_equal(record->total_latency, 32);
	assert_int_equal(record->translation_latency, 2);
	assert_int_equal(record->context_el1, 7);
	assert_int_equal(record->op_class, PERFEV_SPE_LOAD_STORE);
	assert_int_equal(record->op, 1);
	assert_int_equal(record->data_virtual.address, UINT64_C(0xffff000000001000));
	assert_int_equal(record->data_virtual.tag, 0xb4);
	assert_int_equal(record->data_physical.address, 0xabc01000);
	assert_int_equal(record->events, 0x416);
	assert_int_equal(record->source, 0xe);
	assert_int_equal(record->timestamp, UINT64_C(0x102030405060708));
}

static void check_second(const struct perfev_spe_record *record)
{
	assert_int_equal(record->present, PERFEV_SPE_HAS_OPERATION | PERFEV_SPE_HAS_BRANCH_TARGET |
						  PERFEV_SPE_HAS_PREVIOUS_BRANCH_TARGET | PERFEV_SPE_HAS_CONTEXT_EL2 |
						  PERFEV_SPE_HAS_OTHER | PERFEV_SPE_HAS_EVENTS);
	assert_int_equal(record->branch_target.address, 0x4010f0);
	assert_int_equal(record->branch_target.el, 1);
	assert_int_equal(record->previous_branch_target.address, 1);
	assert_int_equal(record->context_el2, 8);
	assert_int_equal(record->timestamp, 0); /* nothing of the record before */
	assert_int_equal(record->pc.address, 0);
}

static void test_records(void **state)
{
	struct perfev_spe_decoder decoder;
	struct perfev_spe_record record;
	unsigned char bytes[256];
	size_t size = two_records(bytes), cut;
	unsigned n;
	int r;

	(void)state;
	for (cut = 0; cut <= size; cut++) {
		perfev_spe_begin(&decoder, 0);
		feed(&decoder, bytes, cut);
		for (n = 0; n < 3; n++) {
			r = perfev_spe_next_record(&decoder, &record, &err);
			if (r == 0 && n < 2) {
				feed(&decoder, bytes + cut, size - cut);
				r = perfev_spe_next_record(&decoder, &record, &err);
			}
			assert_int_equal(r, n < 2);
			if (n == 0)
				check_first(&record);
			else if (n == 1)
				check_second(&record);
		}
		assert_works(perfev_spe_end(&decoder, &err));
	}
	perfev_spe_begin(&decoder, 0);
	feed(&decoder, bytes, 11); /* a whole packet, and no whole record */
	assert_int_equal(perfev_spe_next_record(&decoder, &record, &err), 0);
	assert_fails(perfev_spe_end(&decoder, &err), EINVAL);
	assert_says("inside of a record");
}

/* What there was of a record in front of something wrong is not in the next one. */
static void test_damaged_record(void **state)
{
	struct perfev_spe_decoder decoder;
	struct perfev_spe_record record;
	unsigned char bytes[64];
	size_t size = from_hex(bytes, "b0 36 11 40 00 00 00 00 80 ff 49 01 01");

	(void)state;
	perfev_spe_begin(&decoder, 0);
	feed(&decoder, bytes, size);
	assert_fails(perfev_spe_next_record(&decoder, &record, &err), EINVAL);
	assert_int_equal(err.where, 9);
	perfev_spe_skip(&decoder);
	assert_int_equal(perfev_spe_next_record(&decoder, &record, &err), 1);
	assert_int_equal(record.present, PERFEV_SPE_HAS_OPERATION);
	assert_int_equal(record.offset, 10);
}

static void test_streams_cut_anywhere(void **state)
{
	struct perfev_spe_decoder decoder;
	struct perfev_spe_packet packet, whole[400];
	unsigned char bytes[900], part[128];
	uint64_t random = 5;
	size_t size, n, count, step, at;
	int round;

	(void)state;
	for (round = 0; round < 30; round++) {
		for (size = 0; (n = from_hex(part, examples[random_below(&random, EXAMPLES - 2)].bytes)) + size < 900; size += n)
			memcpy(bytes + size, part, n);
		memset(whole, 0, sizeof(whole));
		perfev_spe_begin(&decoder, 0);
		feed(&decoder, bytes, size);
		for (count = 0; count < 400 && perfev_spe_next(&decoder, &whole[count], &err) > 0; count++)
			;
		for (step = 1; step < 40; step++) {
			perfev_spe_begin(&decoder, 0);
			for (at = 0, n = 0; at < size; at += step) {
				feed(&decoder, bytes + at, step < size - at ? step : size - at);
				memset(&packet, 0, sizeof(packet));
				while (n < count && perfev_spe_next(&decoder, &packet, &err) > 0)
					assert_memory_equal(&packet, &whole[n++], sizeof(packet));
			}
			assert_int_equal(n, count);
		}
	}
}

static void test_ends_of_memory(void **state)
{
	struct perfev_spe_decoder decoder;
	struct perfev_spe_packet packet;
	unsigned char bytes[256];
	const unsigned char *at;
	struct guard guard;
	size_t size = two_records(bytes), cut;

	(void)state;
	assert_true(guard_open(&guard));
	for (cut = 0; cut <= size; cut++) {
		at = guard_put(&guard, bytes, cut);
		perfev_spe_begin(&decoder, 0);
		feed(&decoder, at, cut);
		while (perfev_spe_next(&decoder, &packet, &err) > 0)
			;
	}
	guard_close(&guard);
}

/* ---- names and CPUs --------------------------------------------------------------------------------------------- */

static void test_names(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < PERFEV_SPE_COUNT_; i++)
		assert_non_null(perfev_spe_name((enum perfev_spe_type)i));
	assert_null(perfev_spe_name(PERFEV_SPE_COUNT_));
	assert_string_equal(perfev_spe_event_name(PERFEV_SPE_EVENT_TLB_WALK), "tlb-walk");
	assert_null(perfev_spe_event_name(12));
	assert_null(perfev_spe_event_name(64));
	assert_int_equal(perfev_spe_family_of(0x413fd0c1), PERFEV_SPE_FAMILY_NEOVERSE);
	assert_int_equal(perfev_spe_family_of(0xc00fac40), PERFEV_SPE_FAMILY_AMPEREONE);
	assert_int_equal(perfev_spe_family_of(0x480fd060), PERFEV_SPE_FAMILY_HISILICON_HIP);
	assert_int_equal(perfev_spe_family_of(0x410fd034), PERFEV_SPE_FAMILY_UNKNOWN);
	assert_string_equal(perfev_spe_source_name(PERFEV_SPE_FAMILY_NEOVERSE, 0xd), "remote");
	assert_string_equal(perfev_spe_source_name(PERFEV_SPE_FAMILY_AMPEREONE, 8), "l1d");
	assert_string_equal(perfev_spe_source_name(PERFEV_SPE_FAMILY_HISILICON_HIP, 18), "l1d");
	assert_null(perfev_spe_source_name(PERFEV_SPE_FAMILY_NEOVERSE, 1));
	assert_null(perfev_spe_source_name(PERFEV_SPE_FAMILY_UNKNOWN, 0));
	assert_null(perfev_spe_source_name((enum perfev_spe_family)9, 0));
}

/* ---- records of recordings ---------------------------------------------------------------------------------------- */

static struct perfev_record record_at(const struct bytes *bytes, bool swapped)
{
	struct perfev_record record;
	struct perfev_bytes view = {bytes->data, bytes->size};

	assert_works(perfev_record_from_bytes(&record, view, swapped ? PERFEV_RECORD_SWAPPED : 0, &err));
	return record;
}

static void put_cpus(struct bytes *bytes, uint64_t first, uint64_t second)
{
	static const uint64_t words[] = {2, 4, 9, 2};
	uint64_t midrs[] = {first, second};
	size_t at = begin_record(bytes, PERFEV_RECORD_AUXTRACE_INFO, 0), i;

	put_u32(bytes, PERFEV_AUXTRACE_ARM_SPE);
	put_u32(bytes, 0);
	for (i = 0; i < 4; i++)
		put_u64(bytes, words[i]);
	for (i = 0; i < 2; i++) {
		put_u64(bytes, UINT64_C(0x1010101010101010));
		put_u64(bytes, i + 4);
		put_u64(bytes, 4);
		put_u64(bytes, midrs[i]);
		put_u64(bytes, 9);
		put_u64(bytes, 1024);
		put_u64(bytes, 2);
	}
	end_record(bytes, at);
}

static void test_info(void **state)
{
	static struct bytes bytes;
	struct perfev_auxtrace_info info;
	struct perfev_record record;
	uint64_t midr;
	int swapped;

	(void)state;
	for (swapped = 0; swapped < 2; swapped++) {
		bytes.big = host_is_big() != swapped;
		bytes.size = 0;
		put_cpus(&bytes, 0x410fd0c1, 0x410fd490);
		record = record_at(&bytes, swapped);
		assert_works(perfev_auxtrace_info_decode(&info, &record, &err));
		assert_int_equal(info.type, PERFEV_AUXTRACE_ARM_SPE);
		assert_int_equal(info.numbers.count, 18);
		assert_true(perfev_spe_midr(&midr, &info, 4));
		assert_int_equal(midr, 0x410fd0c1);
		assert_true(perfev_spe_midr(&midr, &info, 5));
		assert_int_equal(midr, 0x410fd490);
		assert_false(perfev_spe_midr(&midr, &info, 6));
		assert_false(perfev_spe_midr(&midr, &info, UINT32_MAX)); /* not the same */
		bytes.size = 0;
		put_cpus(&bytes, 0x410fd0c1, 0x410fd0c1);
		assert_true(perfev_spe_midr(&midr, &info, UINT32_MAX));
		info.type = PERFEV_AUXTRACE_INTEL_PT;
		assert_false(perfev_spe_midr(&midr, &info, 4));
	}
	record.size = 15;
	assert_fails(perfev_auxtrace_info_decode(&info, &record, &err), EINVAL);
	assert_int_equal(err.why, PERFEV_WHY_TRUNCATED);
	record.type = PERFEV_RECORD_AUXTRACE;
	assert_fails(perfev_auxtrace_info_decode(&info, &record, &err), EINVAL);
	assert_int_equal(err.why, PERFEV_WHY_ARGUMENT);
}

static void test_piece(void **state)
{
	static struct bytes bytes;
	struct perfev_auxtrace piece;
	struct perfev_record record;
	size_t at;
	int swapped;

	(void)state;
	for (swapped = 0; swapped < 2; swapped++) {
		bytes.big = host_is_big() != swapped;
		bytes.size = 0;
		at = begin_record(&bytes, PERFEV_RECORD_AUXTRACE, 0);
		put_u64(&bytes, 3);
		put_u64(&bytes, 0x1000);
		put_u64(&bytes, 77);
		put_u32(&bytes, 2);
		put_u32(&bytes, 0xffffffff);
		put_u32(&bytes, 5);
		put_u32(&bytes, 0);
		end_record(&bytes, at);
		record = record_at(&bytes, swapped);
		record.tail.data = "abc";
		record.tail.size = 3;
		assert_works(perfev_auxtrace_decode(&piece, &record, &err));
		assert_int_equal(piece.size, 3);
		assert_int_equal(piece.offset, 0x1000);
		assert_int_equal(piece.reference, 77);
		assert_int_equal(piece.idx, 2);
		assert_int_equal(piece.tid, UINT32_MAX);
		assert_int_equal(piece.cpu, 5);
		assert_int_equal(piece.bytes.size, 3);
	}
	record.size = 47;
	assert_fails(perfev_auxtrace_decode(&piece, &record, &err), EINVAL);
	assert_string_equal(perfev_auxtrace_type_name(PERFEV_AUXTRACE_HISI_PTT), "hisi_ptt");
	assert_null(perfev_auxtrace_type_name(0));
	assert_null(perfev_auxtrace_type_name(8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_packet),	 cmocka_unit_test(test_alignment),
		cmocka_unit_test(test_no_packets),	 cmocka_unit_test(test_refused_encoding),
		cmocka_unit_test(test_records),		 cmocka_unit_test(test_damaged_record),
		cmocka_unit_test(test_streams_cut_anywhere), cmocka_unit_test(test_ends_of_memory),
		cmocka_unit_test(test_names),		 cmocka_unit_test(test_info),
		cmocka_unit_test(test_piece),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
