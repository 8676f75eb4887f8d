/* SPDX-License-Identifier: MIT */
/* Packets of Intel PT: each type and width, decoded, as text, and written again; streams cut anywhere; what is no packet. */
#include "unit/test.h"
#include "unit/bytes.h"
#include "unit/packets.h"

#include <inttypes.h>

#define PSB "(02 82)*8 " /* the blank: a digit may follow */

static struct perfev_error err;

/* By the manual's packet definitions, without a look at the library's table. */
static const struct example {
	const char *bytes, *text;
	uint32_t type;
} examples[] = {
	{"00", "PAD", PERFEV_PT_PAD},
	{"06", "TNT T", PERFEV_PT_TNT_8},
	{"04", "TNT N", PERFEV_PT_TNT_8},
	{"0a", "TNT NT", PERFEV_PT_TNT_8},
	{"ac", "TNT NTNTTN", PERFEV_PT_TNT_8},
	{"02 a3 03 00 00 00 00 00", "TNT T", PERFEV_PT_TNT_64},
	{"02 a3 05 00 00 00 00 80", "TNT NNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNTNT", PERFEV_PT_TNT_64},
	{"0d", "TIP ip_bytes=0", PERFEV_PT_TIP},
	{"2d 36 11", "TIP payload=0x1136 ip_bytes=1", PERFEV_PT_TIP},
	{"4d 36 11 40 00", "TIP payload=0x401136 ip_bytes=2", PERFEV_PT_TIP},
	{"6d 36 11 40 00 ff ff", "TIP ip=0xffffffff00401136 ip_bytes=3", PERFEV_PT_TIP},
	{"6d 36 11 40 00 55 55", "TIP ip=0x555500401136 ip_bytes=3", PERFEV_PT_TIP},
	{"8d 36 11 40 00 55 55", "TIP payload=0x555500401136 ip_bytes=4", PERFEV_PT_TIP},
	{"cd 36 11 40 00 55 55 01 00", "TIP ip=0x1555500401136 ip_bytes=6", PERFEV_PT_TIP},
	{"11", "TIP.PGE ip_bytes=0", PERFEV_PT_TIP_PGE},
	{"71 36 11 40 00 00 00", "TIP.PGE ip=0x401136 ip_bytes=3", PERFEV_PT_TIP_PGE},
	{"01", "TIP.PGD ip_bytes=0", PERFEV_PT_TIP_PGD},
	{"61 36 11 40 00 00 00", "TIP.PGD ip=0x401136 ip_bytes=3", PERFEV_PT_TIP_PGD},
	{"1d", "FUP ip_bytes=0", PERFEV_PT_FUP},
	{"7d 36 11 40 00 00 00", "FUP ip=0x401136 ip_bytes=3", PERFEV_PT_FUP},
	{PSB, "PSB", PERFEV_PT_PSB},
	{"02 23", "PSBEND", PERFEV_PT_PSBEND},
	{"02 f3", "OVF", PERFEV_PT_OVF},
	{"02 83", "TraceStop", PERFEV_PT_TRACESTOP},
	{"19 01 02 03 04 05 06 07", "TSC tsc=0x7060504030201", PERFEV_PT_TSC},
	{"59 fe", "MTC ctc=254", PERFEV_PT_MTC},
	{"02 73 34 12 00 ff 01", "TMA ctc=4660 fast_counter=511", PERFEV_PT_TMA},
	{"fb", "CYC cycles=31", PERFEV_PT_CYC},
	{"07 02", "CYC cycles=32", PERFEV_PT_CYC},
	{"07 00", "CYC cycles=0", PERFEV_PT_CYC}, /* longer than it has to be */
	{"ff ff ff fe", "CYC cycles=67108863", PERFEV_PT_CYC},
	{"ff (ff)*7 fe", "CYC cycles=2305843009213693951", PERFEV_PT_CYC},
	{"02 03 28 00", "CBR ratio=40", PERFEV_PT_CBR},
	{"99 00", "MODE.Exec cs_l=0 cs_d=0 iflag=0", PERFEV_PT_MODE_EXEC},
	{"99 01", "MODE.Exec cs_l=1 cs_d=0 iflag=0", PERFEV_PT_MODE_EXEC},
	{"99 02", "MODE.Exec cs_l=0 cs_d=1 iflag=0", PERFEV_PT_MODE_EXEC},
	{"99 05", "MODE.Exec cs_l=1 cs_d=0 iflag=1", PERFEV_PT_MODE_EXEC},
	{"99 20", "MODE.TSX in_tx=0 abort=0", PERFEV_PT_MODE_TSX},
	{"99 21", "MODE.TSX in_tx=1 abort=0", PERFEV_PT_MODE_TSX},
	{"99 22", "MODE.TSX in_tx=0 abort=1", PERFEV_PT_MODE_TSX},
	{"02 43 03 00 00 00 00 80", "PIP cr3=0x8000000000020 non_root=1", PERFEV_PT_PIP},
	{"02 c8 01 00 00 00 80", "VMCS base=0x8000000001000", PERFEV_PT_VMCS},
	{"02 c3 88 01 02 03 04 05 06 07 88", "MNT payload=0x8807060504030201", PERFEV_PT_MNT},
	{"02 12 01 02 03 84", "PTW ip=0 payload=0x84030201 bytes=4", PERFEV_PT_PTW},
	{"02 92 01 02 03 84", "PTW ip=1 payload=0x84030201 bytes=4", PERFEV_PT_PTW},
	{"02 32 01 02 03 04 05 06 07 88", "PTW ip=0 payload=0x8807060504030201 bytes=8", PERFEV_PT_PTW},
	{"02 b2 01 02 03 04 05 06 07 88", "PTW ip=1 payload=0x8807060504030201 bytes=8", PERFEV_PT_PTW},
	{"02 62", "EXSTOP ip=0", PERFEV_PT_EXSTOP},
	{"02 e2", "EXSTOP ip=1", PERFEV_PT_EXSTOP},
	{"02 c2 60 00 00 00 01 00 00 00", "MWAIT hints=0x60 ext=0x1", PERFEV_PT_MWAIT},
	{"02 22 80 63", "PWRE state=6 sub_state=3 hw=1", PERFEV_PT_PWRE},
	{"02 22 00 10", "PWRE state=1 sub_state=0 hw=0", PERFEV_PT_PWRE},
	{"02 a2 63 01 00 00 00", "PWRX last=6 deepest=3 interrupt=1 deadline=0 store=0 hw=0", PERFEV_PT_PWRX},
	{"02 a2 00 02 00 00 00", "PWRX last=0 deepest=0 interrupt=0 deadline=1 store=0 hw=0", PERFEV_PT_PWRX},
	{"02 a2 00 04 00 00 00", "PWRX last=0 deepest=0 interrupt=0 deadline=0 store=1 hw=0", PERFEV_PT_PWRX},
	{"02 a2 00 08 00 00 00", "PWRX last=0 deepest=0 interrupt=0 deadline=0 store=0 hw=1", PERFEV_PT_PWRX},
	{"02 63 01", "BBP type=1 item_bytes=8", PERFEV_PT_BBP},
	{"02 63 9f", "BBP type=31 item_bytes=4", PERFEV_PT_BBP},
	{"02 33", "BEP ip=0", PERFEV_PT_BEP},
	{"02 b3", "BEP ip=1", PERFEV_PT_BEP},
	{"02 13 01 0e", "CFE type=1 vector=14 ip=0 INTR", PERFEV_PT_CFE},
	{"02 13 88 00", "CFE type=8 vector=0 ip=1 VMEXIT", PERFEV_PT_CFE},
	{"02 13 1f ff", "CFE type=31 vector=255 ip=0", PERFEV_PT_CFE},
	{"02 53 00 01 02 03 04 05 06 07 88", "EVD type=0 payload=0x8807060504030201", PERFEV_PT_EVD},
	{"02 53 3f 00 00 00 00 00 00 00 00", "EVD type=63 payload=0x0", PERFEV_PT_EVD},
	{"d9 80 05", "TRIG triggers=0x5 mult=0 icnt_valid=0 ip=1", PERFEV_PT_TRIG},
	{"d9 60 81 34 12", "TRIG triggers=0x81 mult=1 icnt_valid=1 ip=0 icnt=4660", PERFEV_PT_TRIG},
};

#define EXAMPLES (sizeof(examples) / sizeof(examples[0]))

static void feed(struct perfev_pt_decoder *decoder, const unsigned char *bytes, size_t size)
{
	perfev_pt_feed(decoder, (struct perfev_bytes){bytes, size});
}

static void begin(struct perfev_pt_decoder *decoder, const unsigned char *bytes, size_t size)
{
	perfev_pt_begin(decoder, 0);
	feed(decoder, bytes, size);
}

static void check_text(const struct perfev_pt_packet *packet, const char *text)
{
	char line[400], cut[4];

	assert_int_equal(perfev_pt_format(line, sizeof(line), packet), (int)strlen(text));
	assert_string_equal(line, text);
	assert_int_equal(perfev_pt_format(NULL, 0, packet), (int)strlen(text));
	perfev_pt_format(cut, sizeof(cut), packet);
	assert_memory_equal(cut, text, 3);
}

static void check_bytes(const struct perfev_pt_packet *packet, const unsigned char *bytes, size_t size)
{
	unsigned char again[32];

	memset(again, 0xee, sizeof(again));
	assert_int_equal(perfev_pt_encode(again, size - 1, packet, &err), (int)size);
	assert_int_equal(again[0], 0xee); /* all or nothing */
	assert_int_equal(perfev_pt_encode(again, sizeof(again), packet, &err), (int)size);
	assert_memory_equal(again, bytes, size);
	assert_int_equal(again[size], 0xee);
}

static void test_each_packet(void **state)
{
	struct perfev_pt_decoder decoder;
	struct perfev_pt_packet packet;
	unsigned char bytes[64];
	bool seen[PERFEV_PT_COUNT_] = {false};
	size_t i, size;

	(void)state;
	for (i = 0; i < EXAMPLES; i++) {
		size = from_hex(bytes, examples[i].bytes);
		memset(bytes + size, 0xc9, sizeof(bytes) - size);
		begin(&decoder, bytes, sizeof(bytes)); /* so that it is read in the fast way */
		assert_int_equal(perfev_pt_next(&decoder, &packet, &err), 1);
		assert_int_equal(packet.type, examples[i].type);
		assert_int_equal(packet.size, size);
		check_text(&packet, examples[i].text);
		begin(&decoder, bytes, size); /* and in the other one */
		assert_int_equal(perfev_pt_next(&decoder, &packet, &err), 1);
		assert_int_equal(packet.type, examples[i].type);
		check_text(&packet, examples[i].text);
		check_bytes(&packet, bytes, size);
		assert_int_equal(perfev_pt_next(&decoder, &packet, &err), 0);
		assert_works(perfev_pt_end(&decoder, &err));
		seen[packet.type] = true;
	}
	seen[PERFEV_PT_BIP] = true; /* in a test of its own: it is nothing outside of a block */
	for (i = 0; i < PERFEV_PT_COUNT_; i++)
		assert_true(seen[i]);
}

/* The beginning of a packet is none, and no error until nothing more comes. */
static void test_cut_packets(void **state)
{
	struct perfev_pt_decoder decoder;
	struct perfev_pt_packet packet;
	unsigned char bytes[64];
	size_t i, size, cut;

	(void)state;
	for (i = 0; i < EXAMPLES; i++) {
		size = from_hex(bytes, examples[i].bytes);
		for (cut = 1; cut < size; cut++) {
			begin(&decoder, bytes, cut);
			assert_int_equal(perfev_pt_next(&decoder, &packet, &err), 0);
			assert_fails(perfev_pt_end(&decoder, &err), EINVAL);
			assert_int_equal(err.why, PERFEV_WHY_TRUNCATED);
			assert_int_equal(err.where, 0);
			feed(&decoder, bytes + cut, size - cut);
			assert_int_equal(perfev_pt_next(&decoder, &packet, &err), 1);
			check_text(&packet, examples[i].text);
			assert_int_equal(perfev_pt_next(&decoder, &packet, &err), 0);
			assert_works(perfev_pt_end(&decoder, &err));
		}
	}
}

static void test_branches(void **state)
{
	struct perfev_pt_packet packet = {.type = PERFEV_PT_TNT_8}, got;
	struct perfev_pt_decoder decoder;
	unsigned char bytes[8];
	uint64_t random = 7;
	unsigned count, i;
	int n;

	(void)state;
	for (count = 1; count <= 47; count++) {
		for (i = 0; i < 64; i++) {
			packet.type = count <= 6 && i % 2 ? PERFEV_PT_TNT_8 : PERFEV_PT_TNT_64;
			packet.as.tnt.count = (uint8_t)count;
			packet.as.tnt.bits = next_random(&random) & ((UINT64_C(1) << count) - 1);
			n = perfev_pt_encode(bytes, sizeof(bytes), &packet, &err);
			assert_int_equal(n, packet.type == PERFEV_PT_TNT_8 ? 1 : 8);
			begin(&decoder, bytes, (size_t)n);
			assert_int_equal(perfev_pt_next(&decoder, &got, &err), 1);
			assert_int_equal(got.type, packet.type);
			assert_int_equal(got.as.tnt.count, count);
			assert_int_equal(got.as.tnt.bits, packet.as.tnt.bits);
		}
	}
	for (i = 0; i < 256; i++) { /* each byte is a TNT, or is not */
		bytes[0] = (unsigned char)i;
		begin(&decoder, bytes, 1);
		if (perfev_pt_next(&decoder, &got, NULL) == 1)
			assert_int_equal(got.type == PERFEV_PT_TNT_8, i % 2 == 0 && i > 2);
	}
}

/* What the last address was decides. */
static void test_addresses(void **state)
{
	static const struct {
		const char *bytes;
		uint64_t ip;
		int known;
	} steps[] = {
		{"3d 36 11", 0, 0}, /* in the middle of a trace */
		{"9d 36 11 40 00 00 00", 0, 0},
		{PSB, 0, 0},
		{"2d 36 11", 0x1136, 1},
		{"4d 36 11 40 00", 0x401136, 1},
		{"0d", 0, 0},
		{"2d 00 20", 0x402000, 1},
		{"71 00 00 00 80 ff ff", UINT64_C(0xffffffff80000000), 1},
		{"3d 10 00", UINT64_C(0xffffffff80000010), 1},
		{"8d 01 00 00 00 00 70", UINT64_C(0xffff700000000001), 1},
		{"41 02 00 00 90", UINT64_C(0xffff700090000002), 1},
		{"01", 0, 0},
		{"cd 08 07 06 05 04 03 02 01", UINT64_C(0x0102030405060708), 1},
		{"02 f3", 0, 0},
		{"3d ff ff", UINT64_C(0x010203040506ffff), 1},
		{PSB, 0, 0},
		{"3d ff ff", 0xffff, 1},
	};
	struct perfev_pt_decoder decoder;
	struct perfev_pt_packet packet;
	unsigned char bytes[400];
	size_t i, size = 0;

	(void)state;
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		size += from_hex(bytes + size, steps[i].bytes);
	memset(bytes + size, 0, 40);
	begin(&decoder, bytes, size + 40);
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		assert_int_equal(perfev_pt_next(&decoder, &packet, &err), 1);
		if (packet.type > PERFEV_PT_FUP)
			continue;
		assert_int_equal(packet.as.ip.known, steps[i].known);
		if (steps[i].known)
			assert_int_equal(packet.as.ip.ip, steps[i].ip);
	}
}

static void test_blocks(void **state)
{
	static const char *const lines[] = {
		"TNT N", "BBP type=4 item_bytes=8", "BIP id=0 value=0x8807060504030201", "PAD", "MTC ctc=1",
		"BIP id=31 value=0x1", "BEP ip=0", "TNT N", "BBP type=1 item_bytes=4", "BIP id=1 value=0x84030201",
		"BBP type=1 item_bytes=8", "OVF", "TNT NNT", "BBP type=1 item_bytes=4", "TNT T", "TNT NNT"};
	struct perfev_pt_decoder decoder;
	struct perfev_pt_packet packet;
	unsigned char bytes[200];
	size_t size = from_hex(bytes, "04 02 63 04 04 01 02 03 04 05 06 07 88 00 59 01 fc 01 00 00 00 00 00 00 00 02 33 04"
				      "02 63 81 0c 01 02 03 84 02 63 01 02 f3 12 02 63 81 06 12"),
	       i, at, padded;

	(void)state;
	for (padded = 0; padded < 2; padded++) {
		memset(bytes + size, 0, 60);
		begin(&decoder, bytes, size + padded * 60);
		for (i = 0, at = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
			assert_int_equal(perfev_pt_next(&decoder, &packet, &err), 1);
			check_text(&packet, lines[i]);
			check_bytes(&packet, bytes + at, packet.size);
			at += packet.size;
		}
		assert_int_equal(at, size);
	}
}

/* Each packet inside of a block: the byte behind it is an item, or, when the block cannot go on, a TNT. */
static void test_ends_of_blocks(void **state)
{
	static const uint32_t inside[] = {PERFEV_PT_PAD,  PERFEV_PT_FUP,    PERFEV_PT_TSC,  PERFEV_PT_MTC,  PERFEV_PT_TMA,
					  PERFEV_PT_CYC,  PERFEV_PT_CBR,    PERFEV_PT_MNT,  PERFEV_PT_EXSTOP, PERFEV_PT_MWAIT,
					  PERFEV_PT_PWRE, PERFEV_PT_PWRX,   PERFEV_PT_BBP,  PERFEV_PT_CFE,  PERFEV_PT_EVD,
					  PERFEV_PT_TRIG};
	struct perfev_pt_decoder decoder;
	struct perfev_pt_packet packet;
	unsigned char bytes[128];
	bool goes_on;
	size_t i, k, size;

	(void)state;
	for (i = 0; i < EXAMPLES; i++) {
		size = from_hex(bytes, "02 63 01");
		size += from_hex(bytes + size, examples[i].bytes);
		if ((bytes[3] & 7) == 4) /* is an item itself */
			continue;
		memset(bytes + size, 0x0c, sizeof(bytes) - size);
		for (goes_on = false, k = 0; k < sizeof(inside) / sizeof(inside[0]); k++)
			goes_on |= inside[k] == examples[i].type;
		begin(&decoder, bytes, sizeof(bytes));
		assert_int_equal(perfev_pt_next(&decoder, &packet, &err), 1);
		assert_int_equal(perfev_pt_next(&decoder, &packet, &err), 1);
		assert_int_equal(packet.type, examples[i].type);
		assert_int_equal(perfev_pt_next(&decoder, &packet, &err), 1);
		assert_int_equal(packet.type, goes_on ? PERFEV_PT_BIP : PERFEV_PT_TNT_8);
	}
}

static void test_no_packets(void **state)
{
	static const struct {
		const char *bytes;
		size_t at; /* how many are needed to know */
	} wrong[] = {
		{"05", 1},	 {"c9", 1},	  {"39", 1},	     {"ad", 1},
		{"ed", 1},	 {"bd", 1},	  {"f1", 1},	     {"a1", 1},
		{"02 00", 2},	 {"02 04", 2},	  {"02 c3 87", 3},   {"02 52", 2},
		{"02 f2", 2},	 {"99 40", 2},	  {"99 e0", 2},	     {"02 a3 00 00 00 00 00 00", 8},
		{"02 a3 01 00 00 00 00 00", 8},	  {"02 82 02 82 02 82 02 82 02 82 02 82 02 82 02 83", 16},
		{"ff (ff)*8 fe", 10},
	};
	struct perfev_pt_decoder decoder;
	struct perfev_pt_packet packet;
	unsigned char bytes[64];
	size_t i, cut, size;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		size = from_hex(bytes, wrong[i].bytes);
		memset(bytes + size, 0, sizeof(bytes) - size);
		for (cut = wrong[i].at; cut <= sizeof(bytes); cut++) {
			perfev_pt_begin(&decoder, 100);
			feed(&decoder, bytes, cut);
			assert_fails(perfev_pt_next(&decoder, &packet, &err), EINVAL);
			assert_int_equal(err.why, PERFEV_WHY_CORRUPT);
			assert_int_equal(err.where, 100);
			assert_says("cannot decode Intel PT at 0x64: ");
			assert_fails(perfev_pt_next(&decoder, &packet, &err), EINVAL); /* it stays there */
			assert_fails(perfev_pt_read(&decoder, &packet, 1, &err), EINVAL);
			perfev_pt_skip(&decoder);
			assert_int_equal(perfev_trace_offset(&decoder.input), 101);
		}
		for (cut = 1; cut < wrong[i].at; cut++) {
			begin(&decoder, bytes, cut);
			assert_int_equal(perfev_pt_next(&decoder, &packet, &err), 0);
		}
	}
}

static void test_refused_encoding(void **state)
{
	struct perfev_pt_packet packets[] = {
		{.type = PERFEV_PT_COUNT_},
		{.type = PERFEV_PT_TNT_8},
		{.type = PERFEV_PT_TNT_8, .as.tnt = {.count = 7}},
		{.type = PERFEV_PT_TNT_64, .as.tnt = {.count = 48}},
		{.type = PERFEV_PT_TNT_8, .as.tnt = {.count = 2, .bits = 4}},
		{.type = PERFEV_PT_TIP, .as.ip = {.ip_bytes = 5}},
		{.type = PERFEV_PT_TIP, .as.ip = {.ip_bytes = 8}},
		{.type = PERFEV_PT_FUP, .as.ip = {.ip_bytes = 1, .payload = 0x10000}},
		{.type = PERFEV_PT_TSC, .as.tsc = {.tsc = UINT64_C(1) << 56}},
		{.type = PERFEV_PT_CYC, .as.cyc = {.cycles = UINT64_C(1) << 61}},
		{.type = PERFEV_PT_PIP, .as.pip = {.cr3 = 1}},
		{.type = PERFEV_PT_VMCS, .as.vmcs = {.base = UINT64_C(1) << 52}},
		{.type = PERFEV_PT_PTW, .as.ptw = {.bytes = 5}},
		{.type = PERFEV_PT_PTW, .as.ptw = {.bytes = 4, .payload = UINT64_C(1) << 32}},
		{.type = PERFEV_PT_BBP, .as.bbp = {.item_bytes = 0}},
		{.type = PERFEV_PT_BIP, .as.bip = {.item_bytes = 8, .id = 32}},
		{.type = PERFEV_PT_EXSTOP, .as.exstop = {.ip = 2}},
	};
	unsigned char bytes[32];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(packets) / sizeof(packets[0]); i++) {
		assert_fails(perfev_pt_encode(bytes, sizeof(bytes), &packets[i], &err), EINVAL);
		assert_says("cannot encode a packet: ");
	}
}

/* ---- streams ---------------------------------------------------------------------------------------------------- */

static uint64_t random_state = 99;

/* Examples in any order; at most @room bytes. */
static size_t random_stream(unsigned char *to, size_t room)
{
	const struct example *example;
	unsigned char bytes[64];
	size_t size = 0, n;

	while (true) {
		example = &examples[random_below(&random_state, random_below(&random_state, 3) ? 5 : EXAMPLES)];
		n = from_hex(bytes, example->bytes);
		if (example->type == PERFEV_PT_BBP) /* a TNT inside of the block would be something else */
			n += from_hex(bytes + n, "00 fc 01 02 03 04 05 06 07 08 02 33");
		if (example->type == PERFEV_PT_BBP && bytes[2] & 0x80)
			continue;
		if (size + n > room)
			return size;
		memcpy(to + size, bytes, n);
		size += n;
	}
}

static size_t decode(struct perfev_pt_packet *packets, struct perfev_pt_decoder *decoder, int batch)
{
	size_t count = 0;
	int r;

	while ((r = perfev_pt_read(decoder, packets + count, batch, NULL)) > 0)
		count += (size_t)r;
	assert_int_equal(r, 0);
	return count;
}

static void test_streams_cut_anywhere(void **state)
{
	static struct perfev_pt_packet whole[600], parts[600];
	struct perfev_pt_decoder decoder;
	unsigned char bytes[500];
	size_t size, cut, count, n, step;
	int round;

	(void)state;
	for (round = 0; round < 20; round++) {
		memset(whole, 0, sizeof(whole));
		memset(parts, 0, sizeof(parts));
		size = random_stream(bytes, sizeof(bytes));
		begin(&decoder, bytes, size);
		count = decode(whole, &decoder, 600);
		for (cut = 0; cut <= size; cut++) { /* at each byte */
			begin(&decoder, bytes, cut);
			n = decode(parts, &decoder, 1 + (int)cut % 9);
			feed(&decoder, bytes + cut, size - cut);
			n += decode(parts + n, &decoder, 5);
			assert_int_equal(n, count);
			assert_memory_equal(parts, whole, n * sizeof(whole[0]));
			assert_works(perfev_pt_end(&decoder, &err));
		}
		for (step = 1; step < 20; step++) { /* and at all of them */
			perfev_pt_begin(&decoder, 0);
			for (n = 0, cut = 0; cut < size; cut += step) {
				feed(&decoder, bytes + cut, step < size - cut ? step : size - cut);
				n += decode(parts + n, &decoder, 3);
				feed(&decoder, NULL, 0);
				assert_int_equal(perfev_pt_next(&decoder, &parts[n], &err), 0);
			}
			assert_int_equal(n, count);
			assert_memory_equal(parts, whole, n * sizeof(whole[0]));
		}
	}
}

/* No byte behind the end of a piece is read. */
static void test_ends_of_memory(void **state)
{
	struct perfev_pt_decoder decoder;
	struct perfev_pt_packet packet;
	struct guard guard;
	unsigned char bytes[100];
	const unsigned char *at;
	size_t size, cut;

	(void)state;
	assert_true(guard_open(&guard));
	size = random_stream(bytes, sizeof(bytes));
	for (cut = 0; cut <= size; cut++) {
		at = guard_put(&guard, bytes, cut);
		begin(&decoder, at, cut);
		while (perfev_pt_next(&decoder, &packet, &err) > 0)
			;
		perfev_pt_begin(&decoder, 0);
		feed(&decoder, at, cut);
		perfev_pt_sync(&decoder);
	}
	guard_close(&guard);
}

static void test_sync(void **state)
{
	struct perfev_pt_decoder decoder;
	struct perfev_pt_packet packet;
	unsigned char bytes[128];
	size_t at, cut, size;
	int r;

	(void)state;
	for (at = 0; at < 40; at++) {
		memset(bytes, 0xc9, sizeof(bytes)); /* no packet */
		for (cut = 0; cut < at; cut++)	    /* what only looks like one */
			bytes[cut] = cut % 3 == 1 && cut + 1 < at ? 0x82 : 0x02;
		size = at + from_hex(bytes + at, PSB "2d 36 11");
		for (cut = 0; cut <= size; cut++) {
			begin(&decoder, bytes, cut);
			r = perfev_pt_sync(&decoder);
			assert_int_equal(r, cut >= at + 16);
			if (!r) {
				feed(&decoder, bytes + cut, size - cut);
				assert_int_equal(perfev_pt_sync(&decoder), 1);
			}
			assert_int_equal(perfev_trace_offset(&decoder.input), at);
			assert_int_equal(perfev_pt_next(&decoder, &packet, &err), 1);
			assert_int_equal(packet.type, PERFEV_PT_PSB);
			assert_int_equal(packet.offset, at);
			r = perfev_pt_next(&decoder, &packet, &err);
			if (r == 0) {
				feed(&decoder, bytes + cut, size - cut);
				assert_int_equal(perfev_pt_next(&decoder, &packet, &err), 1);
			}
			assert_int_equal(packet.as.ip.ip, 0x1136);
			assert_int_equal(perfev_pt_sync(&decoder), 0);
		}
	}
}

/* A PSB that comes byte by byte, with other bytes before it, and none at all. */
static void test_sync_in_pieces(void **state)
{
	struct perfev_pt_decoder decoder;
	unsigned char bytes[64];
	size_t size = from_hex(bytes, "02 82 02 82 02 02 82 c9 02" PSB), i;

	(void)state;
	perfev_pt_begin(&decoder, 0);
	for (i = 0; i < size; i++) {
		feed(&decoder, bytes + i, 1);
		assert_int_equal(perfev_pt_sync(&decoder), i + 1 == size);
	}
	assert_int_equal(perfev_trace_offset(&decoder.input), size - 16);
	begin(&decoder, bytes, 9);
	assert_int_equal(perfev_pt_sync(&decoder), 0);
	assert_fails(perfev_pt_end(&decoder, &err), EINVAL); /* what may have been the beginning of one */
	begin(&decoder, bytes, 8);
	assert_int_equal(perfev_pt_sync(&decoder), 0);
	assert_works(perfev_pt_end(&decoder, &err));
}

/* Offsets count on where they are told to, also behind 4 GiB. */
static void test_offsets(void **state)
{
	struct perfev_pt_decoder decoder;
	struct perfev_pt_packet packets[8];
	unsigned char bytes[64];
	size_t size = from_hex(bytes, "06 59 01 02 73 34 12 00 ff 01 06"), i;
	static const uint64_t offsets[] = {0, 1, 3, 10};
	uint64_t base = UINT64_C(0xfffffffffffff000);

	(void)state;
	perfev_pt_begin(&decoder, base);
	feed(&decoder, bytes, 5);
	assert_int_equal(perfev_pt_read(&decoder, packets, 8, &err), 2);
	feed(&decoder, bytes + 5, size - 5);
	assert_int_equal(perfev_pt_read(&decoder, packets + 2, 6, &err), 2);
	for (i = 0; i < 4; i++)
		assert_int_equal(packets[i].offset, base + offsets[i]);
}

static void test_names(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < PERFEV_PT_COUNT_; i++)
		assert_non_null(perfev_pt_name((enum perfev_pt_type)i));
	assert_string_equal(perfev_pt_name(PERFEV_PT_TIP_PGE), "TIP.PGE");
	assert_null(perfev_pt_name(PERFEV_PT_COUNT_));
	assert_string_equal(perfev_pt_event_name(10), "SHUTDOWN");
	assert_null(perfev_pt_event_name(0));
	assert_null(perfev_pt_event_name(11));
}

/* ---- BTS --------------------------------------------------------------------------------------------------------- */

static void test_bts(void **state)
{
	static const char *const bytes_of[] = {"01 02 03 84 11 00 00 00 10 00 00 00", "01 02 03 04 05 06 07 88"
										      "11 00 00 00 00 00 00 80 2f 00 00 00 00 00 00 00"};
	static const char *const lines[] = {"from=0x84030201 to=0x11 predicted=1",
					    "from=0x8807060504030201 to=0x8000000000000011 predicted=0"};
	struct perfev_bts_decoder decoder;
	struct perfev_bts_branch branch;
	unsigned char bytes[64];
	char line[100];
	unsigned wide;
	size_t size, cut;

	(void)state;
	for (wide = 0; wide < 2; wide++) {
		size = from_hex(bytes, bytes_of[wide]);
		assert_int_equal(size, wide ? 24 : 12);
		memcpy(bytes + size, bytes, size);
		for (cut = 0; cut < size; cut++) {
			perfev_bts_begin(&decoder, 96, wide ? 8 : 4);
			perfev_bts_feed(&decoder, (struct perfev_bytes){bytes, cut});
			assert_int_equal(perfev_bts_next(&decoder, &branch), 0);
			assert_int_equal(perfev_bts_end(&decoder, &err), cut ? -EINVAL : 0);
			perfev_bts_feed(&decoder, (struct perfev_bytes){bytes + cut, 2 * size - cut});
			assert_int_equal(perfev_bts_next(&decoder, &branch), 1);
			assert_int_equal(branch.offset, 96);
			assert_int_equal(perfev_bts_next(&decoder, &branch), 1);
			assert_int_equal(branch.offset, 96 + size);
			assert_int_equal(branch.misc, wide ? 0x2f : 0x10);
			perfev_bts_format(line, sizeof(line), &branch);
			assert_string_equal(line, lines[wide]);
			assert_int_equal(perfev_bts_next(&decoder, &branch), 0);
			assert_works(perfev_bts_end(&decoder, &err));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_packet),	   cmocka_unit_test(test_cut_packets),
		cmocka_unit_test(test_branches),	   cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_blocks),		   cmocka_unit_test(test_ends_of_blocks),
		cmocka_unit_test(test_no_packets),
		cmocka_unit_test(test_refused_encoding),   cmocka_unit_test(test_streams_cut_anywhere),
		cmocka_unit_test(test_ends_of_memory),	   cmocka_unit_test(test_sync),
		cmocka_unit_test(test_sync_in_pieces),	   cmocka_unit_test(test_offsets),
		cmocka_unit_test(test_names),		   cmocka_unit_test(test_bts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
