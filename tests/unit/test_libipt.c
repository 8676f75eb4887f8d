/* SPDX-License-Identifier: MIT */
/*
 * Intel PT packets, beside those that libipt's packet decoder finds in the same bytes: type, offset, size, each field, and
 * where there is no packet.
 *
 * The bytes are the traces of recordings (PERFEV_TEST_DATA), and random and changed ones, PERFEV_LIBIPT_BUFFERS of them. What
 * libipt 2.0.5 does otherwise is in expect() and in docs/packets.md: it does not know BBP, BIP, BEP, CFE, EVD, TRIG (where it
 * has a TNT for a BIP, and no packet for the others), and reads the HW bit of PWRE elsewhere.
 */
#include "unit/test.h"

#ifndef HAVE_LIBIPT

static void test_libipt(void **state)
{
	(void)state;
	SKIP("libipt is not there (Debian: libipt-dev): packets are not compared with another decoder");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_libipt)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

#include "unit/bytes.h"

#include <intel-pt.h>

#include <dirent.h>
#include <inttypes.h>

static const int their_types[PERFEV_PT_COUNT_] = {
	[PERFEV_PT_PAD] = ppt_pad,	   [PERFEV_PT_TNT_8] = ppt_tnt_8,     [PERFEV_PT_TNT_64] = ppt_tnt_64,
	[PERFEV_PT_TIP] = ppt_tip,	   [PERFEV_PT_TIP_PGE] = ppt_tip_pge, [PERFEV_PT_TIP_PGD] = ppt_tip_pgd,
	[PERFEV_PT_FUP] = ppt_fup,	   [PERFEV_PT_PSB] = ppt_psb,	      [PERFEV_PT_PSBEND] = ppt_psbend,
	[PERFEV_PT_OVF] = ppt_ovf,	   [PERFEV_PT_TRACESTOP] = ppt_stop,  [PERFEV_PT_TSC] = ppt_tsc,
	[PERFEV_PT_MTC] = ppt_mtc,	   [PERFEV_PT_TMA] = ppt_tma,	      [PERFEV_PT_CYC] = ppt_cyc,
	[PERFEV_PT_CBR] = ppt_cbr,	   [PERFEV_PT_MODE_EXEC] = ppt_mode,  [PERFEV_PT_MODE_TSX] = ppt_mode,
	[PERFEV_PT_PIP] = ppt_pip,	   [PERFEV_PT_VMCS] = ppt_vmcs,	      [PERFEV_PT_MNT] = ppt_mnt,
	[PERFEV_PT_PTW] = ppt_ptw,	   [PERFEV_PT_EXSTOP] = ppt_exstop,   [PERFEV_PT_MWAIT] = ppt_mwait,
	[PERFEV_PT_PWRE] = ppt_pwre,	   [PERFEV_PT_PWRX] = ppt_pwrx,
};

struct tally {
	uint64_t bytes, packets, errors, unknown, refused, types[PERFEV_PT_COUNT_];
};

static bool they_know(uint32_t type)
{
	return their_types[type] != 0;
}

/* Reserved bits that are set: the manual says that they may be. */
static bool they_refuse(const struct perfev_pt_packet *ours, const uint8_t *at)
{
	return ours->type == PERFEV_PT_TMA && (at[4] || at[6] & 0xfe);
}

static bool same_power(const struct perfev_pt_packet *ours, const struct pt_packet *theirs, const uint8_t *at)
{
	switch (ours->type) {
	case PERFEV_PT_EXSTOP:
		return ours->as.exstop.ip == theirs->payload.exstop.ip;
	case PERFEV_PT_MWAIT:
		return ours->as.mwait.hints == theirs->payload.mwait.hints && ours->as.mwait.ext == theirs->payload.mwait.ext;
	case PERFEV_PT_PWRE: /* the manual has HW in bit 7 of its byte, libipt looks at bit 3 */
		return ours->as.pwre.state == theirs->payload.pwre.state &&
		       ours->as.pwre.sub_state == theirs->payload.pwre.sub_state && ours->as.pwre.hw == at[2] >> 7 &&
		       theirs->payload.pwre.hw == (at[2] >> 3 & 1);
	default:
		return ours->as.pwrx.last == theirs->payload.pwrx.last &&
		       ours->as.pwrx.deepest == theirs->payload.pwrx.deepest &&
		       ours->as.pwrx.interrupt == theirs->payload.pwrx.interrupt &&
		       ours->as.pwrx.store == theirs->payload.pwrx.store &&
		       ours->as.pwrx.hw == theirs->payload.pwrx.autonomous;
	}
}

static bool same_fields(const struct perfev_pt_packet *ours, const struct pt_packet *theirs, const uint8_t *at)
{
	switch (ours->type) {
	case PERFEV_PT_TNT_8:
	case PERFEV_PT_TNT_64:
		return ours->as.tnt.bits == theirs->payload.tnt.payload && ours->as.tnt.count == theirs->payload.tnt.bit_size;
	case PERFEV_PT_TIP:
	case PERFEV_PT_TIP_PGE:
	case PERFEV_PT_TIP_PGD:
	case PERFEV_PT_FUP:
		return ours->as.ip.payload == theirs->payload.ip.ip && ours->as.ip.ip_bytes == theirs->payload.ip.ipc;
	case PERFEV_PT_TSC:
		return ours->as.tsc.tsc == theirs->payload.tsc.tsc;
	case PERFEV_PT_MTC:
		return ours->as.mtc.ctc == theirs->payload.mtc.ctc;
	case PERFEV_PT_TMA:
		return ours->as.tma.ctc == theirs->payload.tma.ctc && ours->as.tma.fast_counter == theirs->payload.tma.fc;
	case PERFEV_PT_CYC:
		return ours->as.cyc.cycles == theirs->payload.cyc.value;
	case PERFEV_PT_CBR:
		return ours->as.cbr.ratio == theirs->payload.cbr.ratio;
	case PERFEV_PT_MODE_EXEC:
		return theirs->payload.mode.leaf == pt_mol_exec && ours->as.exec.cs_l == theirs->payload.mode.bits.exec.csl &&
		       ours->as.exec.cs_d == theirs->payload.mode.bits.exec.csd;
	case PERFEV_PT_MODE_TSX:
		return theirs->payload.mode.leaf == pt_mol_tsx && ours->as.tsx.in_tx == theirs->payload.mode.bits.tsx.intx &&
		       ours->as.tsx.abort == theirs->payload.mode.bits.tsx.abrt;
	case PERFEV_PT_PIP:
		return ours->as.pip.cr3 == theirs->payload.pip.cr3 && ours->as.pip.non_root == theirs->payload.pip.nr;
	case PERFEV_PT_VMCS:
		return ours->as.vmcs.base == theirs->payload.vmcs.base;
	case PERFEV_PT_MNT:
		return ours->as.mnt.payload == theirs->payload.mnt.payload;
	case PERFEV_PT_PTW:
		return ours->as.ptw.payload == theirs->payload.ptw.payload && ours->as.ptw.ip == theirs->payload.ptw.ip &&
		       ours->as.ptw.bytes == pt_ptw_size(theirs->payload.ptw.plc);
	case PERFEV_PT_EXSTOP:
	case PERFEV_PT_MWAIT:
	case PERFEV_PT_PWRE:
	case PERFEV_PT_PWRX:
		return same_power(ours, theirs, at);
	default:
		return true;
	}
}

static void differ(const uint8_t *bytes, size_t size, uint64_t offset, const char *how, int ours, int theirs)
{
	size_t i;

	print_error("at 0x%" PRIx64 " of %zu: %s: %d, libipt %d (%s):", offset, size, how, ours, theirs,
		    theirs < 0 ? pt_errstr(pt_errcode(theirs)) : "a packet");
	for (i = offset; i < size && i < offset + 20; i++)
		print_error(" %02x", bytes[i]);
	print_error("\n");
	fail();
}

/* One step of both; false at the end. */
static bool step(struct perfev_pt_decoder *decoder, struct pt_packet_decoder *peer, const uint8_t *bytes, size_t size,
		 struct tally *tally)
{
	struct perfev_pt_packet ours;
	struct pt_packet theirs;
	uint64_t offset = perfev_trace_offset(&decoder->input), peer_offset = 0;
	int r, p;

	assert_int_equal(pt_pkt_get_offset(peer, &peer_offset), 0);
	if (offset != peer_offset)
		differ(bytes, size, offset, "another place", (int)offset, (int)peer_offset);
	p = pt_pkt_next(peer, &theirs, sizeof(theirs));
	r = perfev_pt_next(decoder, &ours, NULL);
	if (r == 0 && p == -pte_eos)
		return false;
	if (r < 0 && (p == -pte_bad_opc || p == -pte_bad_packet)) {
		tally->errors++;
		perfev_pt_skip(decoder);
		return pt_pkt_sync_set(peer, offset + 1) == 0;
	}
	if (r > 0 && !they_know(ours.type)) {
		if (ours.type == PERFEV_PT_BIP ? p < 0 || theirs.type != ppt_tnt_8 : p != -pte_bad_opc)
			differ(bytes, size, offset, "a packet that it does not know", (int)ours.type, p);
		tally->unknown++;
		return pt_pkt_sync_set(peer, ours.offset + ours.size) == 0;
	}
	if (r == 0 && decoder->input.carried && p != -pte_eos) {
		/* cut: of those that it does not know it cannot know that */
		if (bytes[offset] == 0x02 || bytes[offset] == 0xd9 ? p == -pte_bad_opc : p > 0 && theirs.type == ppt_tnt_8)
			return false;
	}
	if (r > 0 && p == -pte_bad_packet && they_refuse(&ours, bytes + offset)) {
		tally->refused++;
		return pt_pkt_sync_set(peer, ours.offset + ours.size) == 0;
	}
	if (r <= 0 || p < 0)
		differ(bytes, size, offset, "no packet", r, p);
	if (their_types[ours.type] != (int)theirs.type || ours.size != theirs.size || ours.offset != offset)
		differ(bytes, size, offset, "another packet", (int)ours.type, (int)theirs.type);
	if (!same_fields(&ours, &theirs, bytes + offset))
		differ(bytes, size, offset, "other fields", (int)ours.type, p);
	tally->types[ours.type]++;
	tally->packets++;
	return true;
}

static void compare(const uint8_t *bytes, size_t size, struct tally *tally)
{
	struct pt_packet_decoder *peer;
	struct perfev_pt_decoder decoder;
	struct perfev_bytes view = {bytes, size};
	struct pt_config config;

	pt_config_init(&config);
	config.begin = (uint8_t *)(uintptr_t)bytes;
	config.end = (uint8_t *)(uintptr_t)bytes + size;
	peer = pt_pkt_alloc_decoder(&config);
	assert_non_null(peer);
	assert_int_equal(pt_pkt_sync_set(peer, 0), 0);
	perfev_pt_begin(&decoder, 0);
	perfev_pt_feed(&decoder, view);
	tally->bytes += size;
	while (step(&decoder, peer, bytes, size, tally))
		;
	pt_pkt_free_decoder(peer);
}

/* Where the pattern of PSBs that begins at @at ends. */
static size_t pattern_end(const uint8_t *bytes, size_t size, size_t at)
{
	size_t end = at;

	while (end < size && bytes[end] == ((end - at) % 2 ? 0x82 : 0x02))
		end++;
	return end - (end - at) % 2;
}

/* The same PSBs. Where the pattern is longer than one, perfev takes the first that is complete, libipt the last. */
static uint64_t compare_syncs(const uint8_t *bytes, size_t size)
{
	struct pt_packet_decoder *peer;
	struct perfev_pt_decoder decoder;
	struct perfev_bytes view = {bytes, size};
	struct pt_config config;
	uint64_t offset, ours, end, count = 0;
	int r, p;

	pt_config_init(&config);
	config.begin = (uint8_t *)(uintptr_t)bytes;
	config.end = (uint8_t *)(uintptr_t)bytes + size;
	peer = pt_pkt_alloc_decoder(&config);
	assert_non_null(peer);
	perfev_pt_begin(&decoder, 0);
	perfev_pt_feed(&decoder, view);
	do {
		r = perfev_pt_sync(&decoder);
		p = pt_pkt_sync_forward(peer);
		if (r == 0 && p == -pte_eos)
			break;
		ours = perfev_trace_offset(&decoder.input);
		end = r == 1 ? pattern_end(bytes, size, ours) : ours;
		if (p < 0 || pt_pkt_get_sync_offset(peer, &offset) < 0 || r != 1 || offset + 16 != end)
			differ(bytes, size, ours, "another PSB", r, p < 0 ? p : (int)offset);
		for (count++; ours < end; ours++)
			perfev_pt_skip(&decoder);
	} while (true);
	pt_pkt_free_decoder(peer);
	return count;
}

static void show(const char *what, const struct tally *tally)
{
	unsigned i;

	print_message("%s: %" PRIu64 " bytes, %" PRIu64 " packets, %" PRIu64 " errors, %" PRIu64
		      " that libipt does not know, %" PRIu64 " of which it refuses reserved bits\n",
		      what, tally->bytes, tally->packets, tally->errors, tally->unknown, tally->refused);
	for (i = 0; i < PERFEV_PT_COUNT_; i++)
		if (tally->types[i])
			print_message("  %s%s %" PRIu64, perfev_pt_name((enum perfev_pt_type)i),
				      i == PERFEV_PT_TNT_64 ? "-64" : "", tally->types[i]);
	print_message("\n");
}

/* ---- random ------------------------------------------------------------------------------------------------------- */

static uint64_t state_ = UINT64_C(0x9e3779b97f4a7c15);

static size_t random_bytes(uint8_t *to, size_t room)
{
	static const uint8_t seconds[] = {0xa3, 0x82, 0x23, 0xf3, 0x83, 0x73, 0x03, 0x43, 0xc8, 0xc3, 0x62, 0xe2, 0xc2, 0x22,
					  0xa2, 0x63, 0x33, 0xb3, 0x13, 0x53, 0x12, 0x32, 0x92, 0xb2, 0x52, 0xf2};
	static const uint8_t firsts[] = {0x0d, 0x2d, 0x4d, 0x6d, 0x8d, 0xcd, 0x11, 0x31, 0x51, 0x01, 0x21, 0x1d, 0x3d, 0x5d,
					 0x7d, 0xdd, 0x19, 0x59, 0x99, 0xd9, 0x00, 0x06, 0x80, 0x07, 0x03};
	size_t size = 1 + random_below(&state_, (uint32_t)room - 1), at;

	for (at = 0; at < size; at++)
		to[at] = (uint8_t)(next_random(&state_) >> 24);
	for (at = 0; at + 16 < size && random_below(&state_, 4); at += 1 + random_below(&state_, 12)) {
		if (random_below(&state_, 3)) {
			to[at] = 0x02;
			to[at + 1] = seconds[random_below(&state_, sizeof(seconds))];
			if (to[at + 1] == 0x82 && random_below(&state_, 4))
				memcpy(to + at, "\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82", 16);
			if (to[at + 1] == 0xc3 && random_below(&state_, 4))
				to[at + 2] = 0x88;
			if (to[at + 1] == 0xa3 && random_below(&state_, 2))
				memset(to + at + 3, 0, 5);
		} else {
			to[at] = firsts[random_below(&state_, sizeof(firsts))];
			if (to[at] == 0x99 && random_below(&state_, 4))
				to[at + 1] &= 0x3f;
		}
	}
	return size;
}

/* Packets of every kind that are right, and then a few bytes that are not. */
static size_t changed_packets(uint8_t *to, size_t room)
{
	struct perfev_pt_packet packet;
	struct perfev_pt_decoder decoder;
	uint8_t bytes[32] = {0}; /* what is behind the random ones is decoded too */
	size_t size = 0, changes;
	int n;

	while (size + 16 < room && random_below(&state_, 60)) {
		random_bytes(bytes, sizeof(bytes));
		memset(bytes + 24, 0, 8);
		perfev_pt_begin(&decoder, 0);
		perfev_pt_feed(&decoder, (struct perfev_bytes){bytes, sizeof(bytes)});
		while (perfev_pt_next(&decoder, &packet, NULL) > 0) {
			n = perfev_pt_encode(to + size, room - size, &packet, NULL);
			assert_true(n > 0);
			if (size + (size_t)n > room)
				break;
			size += (size_t)n;
		}
	}
	for (changes = random_below(&state_, 4); size && changes; changes--)
		to[random_below(&state_, (uint32_t)size)] ^= (uint8_t)(1u << random_below(&state_, 8));
	return size;
}

static void test_random_bytes(void **state)
{
	const char *asked = getenv("PERFEV_LIBIPT_BUFFERS");
	uint64_t count = asked ? strtoull(asked, NULL, 0) : 20000, i, psbs = 0;
	struct tally tally = {0};
	uint8_t bytes[300], *exact;
	size_t size;

	(void)state;
	for (i = 0; i < count; i++) {
		size = i % 2 ? random_bytes(bytes, sizeof(bytes)) : changed_packets(bytes, sizeof(bytes));
		exact = malloc(size + 1);
		assert_non_null(exact);
		memcpy(exact, bytes, size);
		compare(exact, size, &tally);
		psbs += compare_syncs(exact, size);
		free(exact);
	}
	show("random and changed", &tally);
	print_message("%" PRIu64 " buffers, %" PRIu64 " PSBs found\n", count, psbs);
	assert_true(psbs > 0);
	for (i = 0; i < PERFEV_PT_COUNT_; i++)
		assert_true(!they_know((uint32_t)i) || tally.types[i] > 0);
}

/* ---- recordings --------------------------------------------------------------------------------------------------- */

static unsigned recording(const char *path)
{
	struct perfev_error err;
	struct perfev_reader *reader;
	struct perfev_record record;
	struct perfev_auxtrace piece;
	struct tally tally = {0};
	uint64_t psbs = 0;
	unsigned pieces = 0;
	uint32_t type = 0;

	assert_works(perfev_reader_open(&reader, path, NULL, &err));
	while (perfev_reader_next(reader, &record, NULL) > 0) {
		struct perfev_auxtrace_info info;

		if (record.type == PERFEV_RECORD_AUXTRACE_INFO && perfev_auxtrace_info_decode(&info, &record, NULL) == 0)
			type = info.type;
		if (type != PERFEV_AUXTRACE_INTEL_PT || record.type != PERFEV_RECORD_AUXTRACE)
			continue;
		assert_works(perfev_auxtrace_decode(&piece, &record, &err));
		compare(piece.bytes.data, piece.bytes.size, &tally);
		psbs += compare_syncs(piece.bytes.data, piece.bytes.size);
		pieces++;
	}
	perfev_reader_close(reader);
	if (pieces) {
		show(strrchr(path, '/') + 1, &tally);
		print_message("%" PRIu64 " PSBs found\n", psbs);
		assert_true(tally.packets > 0 && psbs > 0);
	}
	return pieces;
}

static void test_recordings(void **state)
{
	const char *folder = getenv("PERFEV_TEST_DATA");
	char path[4096];
	struct dirent *entry;
	unsigned pieces = 0;
	DIR *dir;

	(void)state;
	snprintf(path, sizeof(path), "%s/quipper", folder ? folder : "");
	dir = folder ? opendir(path) : NULL;
	if (!dir)
		SKIP("PERFEV_TEST_DATA names no folder with recordings of Intel PT (quipper/)");
	while ((entry = readdir(dir)) != NULL) {
		if (!strstr(entry->d_name, "intel_pt"))
			continue;
		snprintf(path, sizeof(path), "%s/quipper/%s", folder, entry->d_name);
		pieces += recording(path);
	}
	closedir(dir);
	if (!pieces)
		SKIP("there is no recording of Intel PT in PERFEV_TEST_DATA");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_bytes),
		cmocka_unit_test(test_recordings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
