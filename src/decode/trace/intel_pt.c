/* SPDX-License-Identifier: MIT */
/*
 * Packets of Intel PT, out of a stream of bytes.
 *
 * The first byte tells most: a table of 256 rows says type and size, and what has to be done with the up to 8 bytes that
 * follow, so that the packets that are nearly all of a trace (TNT, TIP, FUP, MTC, CYC, TSC, PAD) need no branch but one: whether
 * the byte is all, which it mostly is. A branch that is not foreseen costs more than such a packet. The other packets, those
 * that are near to the end of a piece, and all inside of a block go through one(), which checks everything.
 *
 * An address is what is in the packet and the rest of the address before (LastIP), which a PSB sets to 0. A byte that ends
 * in 100 is an item inside a block (BBP ... BEP) and a TNT outside: nothing but what came before tells them apart. A block
 * that has no BEP, because packets were lost, is ended by whatever cannot be inside.
 */
#include "decode/trace/intel_pt.h"
#include "decode/trace/input.h"

#include "base/error.h"

#include <errno.h>
#include <inttypes.h>

/* ---- packets that one byte tells --------------------------------------------------------------------------------- */

struct row {
	uint32_t size; /* 0: not here; this and type lie as in a packet */
	uint32_t type;
	uint8_t count; /* this and none too, with known for none */
	uint8_t none;
	uint8_t value;	 /* what the first byte says */
	uint8_t alone;	 /* which is all: a packet of one byte, and no address */
	uint8_t payload; /* bytes behind the first */
	uint8_t update;	 /* in updates[] */
};

#define IS_IP(b)     (((b) & 0x1f) == 0x0d || ((b) & 0x1f) == 0x11 || ((b) & 0x1f) == 0x01 || ((b) & 0x1f) == 0x1d)
#define IP_TYPE(b)                                                                                      \
	(((b) & 0x1f) == 0x0d	? PERFEV_PT_TIP                                                         \
	 : ((b) & 0x1f) == 0x11 ? PERFEV_PT_TIP_PGE                                                     \
	 : ((b) & 0x1f) == 0x01 ? PERFEV_PT_TIP_PGD                                                     \
				: PERFEV_PT_FUP)
#define IP_BYTES(b)  ((b) >> 5)
#define IP_LENGTH(n) ((n) == 0 ? 0 : (n) == 1 ? 2 : (n) == 2 ? 4 : (n) == 3 || (n) == 4 ? 6 : 8)
#define IS_TNT(b)    (((b) & 1) == 0 && (b) > 3)
#define TNT_COUNT(b) ((b) >= 128 ? 6 : (b) >= 64 ? 5 : (b) >= 32 ? 4 : (b) >= 16 ? 3 : (b) >= 8 ? 2 : 1)

#define IS_CYC(b)    (((b) & 7) == 3)
#define TYPE(b)                            \
	(IS_IP(b)	   ? IP_TYPE(b)    \
	 : IS_TNT(b)	   ? PERFEV_PT_TNT_8 \
	 : (b) == 0x19	   ? PERFEV_PT_TSC \
	 : (b) == 0x59	   ? PERFEV_PT_MTC \
	 : ((b) & 3) == 3  ? PERFEV_PT_CYC \
			   : PERFEV_PT_PAD)
#define SIZE(b)                                                                              \
	(IS_IP(b)      ? (IP_BYTES(b) == 5 || IP_BYTES(b) == 7 ? 0 : 1 + IP_LENGTH(IP_BYTES(b))) \
	 : (b) == 0x19 ? 8                                                                   \
	 : (b) == 0x59 ? 2                                                                   \
		       : ALONE(b))
#define ALONE(b) (IS_TNT(b) || IS_CYC(b) || (b) == 0)
#define VALUE(b) (IS_TNT(b) ? ((b) >> 1) & ((1 << TNT_COUNT(b)) - 1) : IS_CYC(b) ? (b) >> 3 : 0)

#define ROW(b)                                                                          \
	{                                                                               \
		SIZE(b), TYPE(b), IS_IP(b) ? IP_BYTES(b) : IS_TNT(b) ? TNT_COUNT(b) : 0, 0, VALUE(b), ALONE(b), \
		IS_IP(b) ? IP_LENGTH(IP_BYTES(b)) : (b) == 0x19 ? 7 : (b) == 0x59 ? 1 : 0,      \
		IS_IP(b) ? 1 + IP_BYTES(b) : 0                                          \
	}
#define ROWS_4(b)  ROW(b), ROW((b) + 1), ROW((b) + 2), ROW((b) + 3)
#define ROWS_16(b) ROWS_4(b), ROWS_4((b) + 4), ROWS_4((b) + 8), ROWS_4((b) + 12)
#define ROWS_64(b) ROWS_16(b), ROWS_16((b) + 16), ROWS_16((b) + 32), ROWS_16((b) + 48)

static const struct row rows[256] = {ROWS_64(0), ROWS_64(64), ROWS_64(128), ROWS_64(192)};

static const uint64_t payload_mask[9] = {0,
					 UINT64_C(0xff),
					 UINT64_C(0xffff),
					 UINT64_C(0xffffff),
					 UINT64_C(0xffffffff),
					 UINT64_C(0xffffffffff),
					 UINT64_C(0xffffffffffff),
					 UINT64_C(0xffffffffffffff),
					 UINT64_MAX};

/* What an address does: by 1 + IPBytes; the first row is of packets without any. */
static const struct update {
	uint64_t keep; /* of the address before */
	uint64_t sign; /* the bit that fills those above */
	uint64_t is;   /* all ones, for a packet that has one */
	uint8_t sets;  /* all of it is known now */
	uint8_t gives; /* there is one in the packet */
} updates[9] = {
	{0, 0, 0, 0, 0},
	{UINT64_MAX, 0, UINT64_MAX, 0, 0},
	{~UINT64_C(0xffff), 0, UINT64_MAX, 0, 1},
	{~UINT64_C(0xffffffff), 0, UINT64_MAX, 0, 1},
	{0, UINT64_C(1) << 47, UINT64_MAX, 1, 1},
	{~UINT64_C(0xffffffffffff), 0, UINT64_MAX, 0, 1},
	{0, 0, 0, 0, 0},
	{0, 0, UINT64_MAX, 1, 1},
	{0, 0, 0, 0, 0},
};

/* A packet of @row: 9 bytes may be read. */
static inline void simple(struct perfev_pt_packet *ret, const struct row *row, const unsigned char *at, uint64_t *last_ip,
			  uint64_t *ip_known)
{
	const struct update *update = &updates[row->update];
	uint64_t payload = input_u64(at + 1) & payload_mask[row->payload];
	uint64_t value = (((payload ^ update->sign) - update->sign) | (*last_ip & update->keep)) + row->value;

	*last_ip = (*last_ip & ~update->is) | (value & update->is);
	*ip_known |= update->sets;
	memcpy(&ret->size, &row->size, 8);
	ret->as.ip.ip = value; /* and what has another name in packets without an address */
	ret->as.ip.payload = payload;
	ret->as.ip.ip_bytes = row->count;
	ret->as.ip.known = update->gives & (uint8_t)*ip_known;
}

/* One that has no more than the first byte. */
static inline void alone(struct perfev_pt_packet *ret, const struct row *row)
{
	memcpy(&ret->size, &row->size, 8);
	ret->as.tnt.bits = row->value;
	memcpy(&ret->as.tnt.count, &row->count, 2);
}

_Static_assert(offsetof(struct perfev_pt_packet, size) + 4 == offsetof(struct perfev_pt_packet, type) &&
		       offsetof(struct row, size) + 4 == offsetof(struct row, type) &&
		       offsetof(struct perfev_pt_packet, as.ip.ip_bytes) + 1 == offsetof(struct perfev_pt_packet, as.ip.known),
	       "these are copied as one");
_Static_assert(offsetof(struct perfev_pt_packet, as.ip.ip) == offsetof(struct perfev_pt_packet, as.tnt.bits) &&
		       offsetof(struct perfev_pt_packet, as.ip.ip_bytes) == offsetof(struct perfev_pt_packet, as.tnt.count) &&
		       offsetof(struct perfev_pt_packet, as.ip.ip) == offsetof(struct perfev_pt_packet, as.tsc.tsc) &&
		       offsetof(struct perfev_pt_packet, as.ip.ip) == offsetof(struct perfev_pt_packet, as.mtc.ctc) &&
		       offsetof(struct perfev_pt_packet, as.ip.ip) == offsetof(struct perfev_pt_packet, as.cyc.cycles),
	       "simple() writes these as one");

/* ---- all packets ---------------------------------------------------------------------------------------------------- */

enum verdict { GOOD, CUT, NO_OPCODE, NO_PAYLOAD };

/* By the second byte, behind 02; PTW is looked for by its lower bits. */
static const uint8_t extended[256] = {
	[0xa3] = PERFEV_PT_TNT_64, [0x82] = PERFEV_PT_PSB,    [0x23] = PERFEV_PT_PSBEND, [0xf3] = PERFEV_PT_OVF,
	[0x83] = PERFEV_PT_TRACESTOP, [0x73] = PERFEV_PT_TMA,  [0x03] = PERFEV_PT_CBR,	  [0x43] = PERFEV_PT_PIP,
	[0xc8] = PERFEV_PT_VMCS,   [0xc3] = PERFEV_PT_MNT,    [0x62] = PERFEV_PT_EXSTOP, [0xe2] = PERFEV_PT_EXSTOP,
	[0xc2] = PERFEV_PT_MWAIT,  [0x22] = PERFEV_PT_PWRE,   [0xa2] = PERFEV_PT_PWRX,	  [0x63] = PERFEV_PT_BBP,
	[0x33] = PERFEV_PT_BEP,	   [0xb3] = PERFEV_PT_BEP,    [0x13] = PERFEV_PT_CFE,	  [0x53] = PERFEV_PT_EVD,
	[0x12] = PERFEV_PT_PTW,	   [0x32] = PERFEV_PT_PTW,    [0x52] = PERFEV_PT_PTW,	  [0x72] = PERFEV_PT_PTW,
	[0x92] = PERFEV_PT_PTW,	   [0xb2] = PERFEV_PT_PTW,    [0xd2] = PERFEV_PT_PTW,	  [0xf2] = PERFEV_PT_PTW,
};

static void set_member(struct perfev_pt_packet *packet, const struct pt_field *field, uint64_t value)
{
	unsigned char *to = (unsigned char *)packet + field->at;
	uint32_t half = (uint32_t)value;
	uint16_t quarter = (uint16_t)value;

	switch (field->bytes) {
	case 8:
		memcpy(to, &value, 8);
		break;
	case 4:
		memcpy(to, &half, 4);
		break;
	case 2:
		memcpy(to, &quarter, 2);
		break;
	default:
		*to = (unsigned char)value;
	}
}

static void set_fields(struct perfev_pt_packet *packet, const unsigned char *at)
{
	const struct pt_kind *kind = &pt_kinds[packet->type];
	const struct pt_field *field;
	uint64_t value;
	unsigned i;

	for (i = 0; i < kind->field_count; i++) {
		field = &kind->fields[i];
		value = input_u64(at + field->bit / 8) >> field->bit % 8;
		if (field->width < 64)
			value &= (UINT64_C(1) << field->width) - 1;
		set_member(packet, field, value << field->shift);
	}
}

/* A longer CYC: 5 bits, then 7 of each byte. What has more bits than a word is not of this world. */
static enum verdict cyc(struct perfev_pt_packet *ret, const unsigned char *at, size_t there)
{
	uint64_t value = at[0] >> 3;
	unsigned shift = 5, size = 1;
	bool more = at[0] & 4;

	while (more) {
		if (size >= there)
			return CUT;
		if (shift + 7 > 64)
			return NO_PAYLOAD;
		value |= (uint64_t)(at[size] >> 1) << shift;
		more = at[size++] & 1;
		shift += 7;
	}
	ret->as.cyc.cycles = value;
	ret->size = size;
	return GOOD;
}

static enum verdict tnt_64(struct perfev_pt_packet *ret, const unsigned char *at)
{
	uint64_t payload = input_u64(at + 2) & payload_mask[6];
	unsigned count = 47;

	while (count && !(payload >> count))
		count--;
	ret->as.tnt.bits = payload & ((UINT64_C(1) << count) - 1);
	ret->as.tnt.count = (uint8_t)count;
	return count ? GOOD : NO_PAYLOAD;
}

static enum verdict psb(const unsigned char *at)
{
	unsigned i;

	for (i = 2; i < 16; i++)
		if (at[i] != at[i % 2])
			return NO_PAYLOAD;
	return GOOD;
}

static enum verdict ptw(struct perfev_pt_packet *ret, const unsigned char *at, size_t there)
{
	unsigned bytes = 4u << (at[1] >> 5 & 3);

	if (bytes > 8)
		return NO_PAYLOAD;
	ret->size = 2 + bytes;
	if (ret->size > there)
		return CUT;
	ret->as.ptw.payload = input_u64(at + 2) & payload_mask[bytes];
	ret->as.ptw.bytes = (uint8_t)bytes;
	ret->as.ptw.ip = at[1] >> 7;
	return GOOD;
}

static enum verdict trig(struct perfev_pt_packet *ret, const unsigned char *at, size_t there)
{
	if (there < 2)
		return CUT;
	ret->size = at[1] & 0x40 ? 5 : 3;
	if (ret->size > there)
		return CUT;
	set_fields(ret, at);
	ret->as.trig.icnt = (uint16_t)(at[1] & 0x40 ? at[3] | at[4] << 8 : 0);
	return GOOD;
}

static enum verdict behind_02(struct perfev_pt_packet *ret, const unsigned char *at, size_t there)
{
	if (there < 2)
		return CUT;
	ret->type = extended[at[1]];
	if (ret->type == 0)
		return NO_OPCODE;
	if (ret->type == PERFEV_PT_PTW)
		return ptw(ret, at, there);
	if (ret->type == PERFEV_PT_MNT && there > 2 && at[2] != 0x88)
		return NO_OPCODE;
	ret->size = pt_kinds[ret->type].size;
	if (ret->size > there)
		return CUT;
	if (ret->type == PERFEV_PT_TNT_64)
		return tnt_64(ret, at);
	if (ret->type == PERFEV_PT_PSB)
		return psb(at);
	set_fields(ret, at);
	if (ret->type == PERFEV_PT_BBP)
		ret->as.bbp.item_bytes = at[2] & 0x80 ? 4 : 8;
	return GOOD;
}

static enum verdict mode(struct perfev_pt_packet *ret, const unsigned char *at, size_t there)
{
	if (there < 2)
		return CUT;
	if (at[1] >> 5 > 1)
		return NO_PAYLOAD;
	ret->type = at[1] >> 5 ? PERFEV_PT_MODE_TSX : PERFEV_PT_MODE_EXEC;
	ret->size = 2;
	set_fields(ret, at);
	return GOOD;
}

static enum verdict item(struct perfev_pt_packet *ret, const unsigned char *at, size_t there, unsigned bytes)
{
	ret->type = PERFEV_PT_BIP;
	ret->size = 1 + bytes;
	if (ret->size > there)
		return CUT;
	ret->as.bip.value = input_u64(at + 1) & payload_mask[bytes];
	ret->as.bip.id = at[0] >> 3;
	ret->as.bip.item_bytes = (uint8_t)bytes;
	return GOOD;
}

/* The packet at @at, of which @there bytes are there. The state changes only when it is a good one. */
static enum verdict one(struct perfev_pt_decoder *d, struct perfev_pt_packet *ret, const unsigned char *at, size_t there)
{
	const struct row *row = &rows[at[0]];

	if (there == 0)
		return CUT;
	if (d->item_bytes && (at[0] & 7) == 4)
		return item(ret, at, there, d->item_bytes);
	if (row->size > there)
		return CUT;
	if (row->size) {
		simple(ret, row, at, &d->last_ip, &d->ip_known);
		return GOOD;
	}
	ret->type = row->type;
	if (at[0] == 0x02)
		return behind_02(ret, at, there);
	if ((at[0] & 3) == 3)
		return cyc(ret, at, there);
	if (at[0] == 0x99)
		return mode(ret, at, there);
	ret->type = PERFEV_PT_TRIG;
	if (at[0] == 0xd9)
		return trig(ret, at, there);
	return row->update ? NO_PAYLOAD : NO_OPCODE;
}

/* What a packet changes beside the last address. */
static void follow(struct perfev_pt_decoder *d, const struct perfev_pt_packet *packet)
{
	switch (packet->type) {
	case PERFEV_PT_PSB:
		d->last_ip = 0;
		d->ip_known = 1;
		d->item_bytes = 0;
		break;
	case PERFEV_PT_BBP:
		d->item_bytes = packet->as.bbp.item_bytes;
		break;
	case PERFEV_PT_BEP:
	case PERFEV_PT_TNT_8:
	case PERFEV_PT_TNT_64:
	case PERFEV_PT_TIP:
	case PERFEV_PT_TIP_PGE:
	case PERFEV_PT_TIP_PGD:
	case PERFEV_PT_PSBEND:
	case PERFEV_PT_OVF:
	case PERFEV_PT_TRACESTOP:
	case PERFEV_PT_MODE_EXEC:
	case PERFEV_PT_MODE_TSX:
	case PERFEV_PT_PIP:
	case PERFEV_PT_VMCS:
	case PERFEV_PT_PTW:
		d->item_bytes = 0;
		break;
	default:
		break;
	}
}

/* ---- streams --------------------------------------------------------------------------------------------------------- */

void perfev_pt_begin(struct perfev_pt_decoder *d, uint64_t offset)
{
	memset(d, 0, sizeof(*d));
	input_begin(&d->input, offset);
}

void perfev_pt_feed(struct perfev_pt_decoder *d, struct perfev_bytes bytes)
{
	input_feed(&d->input, bytes);
	input_safe(&d->input, d->item_bytes == 0);
}

static int refuse(const struct perfev_pt_decoder *d, enum verdict verdict, const unsigned char *at, size_t there,
		  struct perfev_error *err)
{
	uint64_t offset = perfev_trace_offset(&d->input);

	if (verdict == NO_OPCODE)
		return error_set(err, -EINVAL, PERFEV_WHY_CORRUPT, offset,
				 "cannot decode Intel PT at 0x%" PRIx64 ": no packet begins with %02x %02x; go on at the next PSB",
				 offset, at[0], there > 1 ? at[1] : 0);
	return error_set(err, -EINVAL, PERFEV_WHY_CORRUPT, offset,
			 "cannot decode Intel PT at 0x%" PRIx64 ": a packet that begins with %02x %02x has a payload that cannot "
			 "be; go on at the next PSB",
			 offset, at[0], there > 1 ? at[1] : 0);
}

static int slow(struct perfev_pt_decoder *d, struct perfev_pt_packet *ret, struct perfev_error *err)
{
	unsigned char room[INPUT_LOOK];
	const unsigned char *at;
	size_t there = input_look(&d->input, room, &at);
	enum verdict verdict = one(d, ret, at, there);

	if (verdict == CUT) {
		input_keep(&d->input);
		return 0;
	}
	if (verdict != GOOD)
		return refuse(d, verdict, at, there, err);
	ret->offset = perfev_trace_offset(&d->input);
	input_advance(&d->input, ret->size);
	follow(d, ret);
	input_safe(&d->input, d->item_bytes == 0);
	return 1;
}

/* Simple packets, until something else comes. Rows of packets of one byte are most of a trace: what they need is less, and
 * where the next one begins is known before the table was read. */
static inline int fast(struct perfev_pt_decoder *d, struct perfev_pt_packet *ret, int room)
{
	const unsigned char *at = d->input.at, *safe = d->input.safe;
	uint64_t last_ip = d->last_ip, ip_known = d->ip_known;
	uint64_t to_offset = d->input.offset - (uint64_t)(uintptr_t)d->input.start;
	struct perfev_pt_packet *first = ret, *end = ret + room;

	for (; ret < end && at < safe; ret++) {
		const struct row *row = &rows[*at];

		ret->offset = to_offset + (uint64_t)(uintptr_t)at;
		if (row->alone) {
			alone(ret, row);
			at++;
		} else if (row->size) {
			simple(ret, row, at, &last_ip, &ip_known);
			at += row->size;
		} else {
			break;
		}
	}
	d->input.at = at;
	d->last_ip = last_ip;
	d->ip_known = ip_known;
	return (int)(ret - first);
}

int perfev_pt_next(struct perfev_pt_decoder *d, struct perfev_pt_packet *ret, struct perfev_error *err)
{
	const unsigned char *at = d->input.at;
	const struct row *row = &rows[at < d->input.safe ? *at : 0x02];

	if (row->alone) {
		ret->offset = d->input.offset + (uint64_t)(at - d->input.start);
		alone(ret, row);
		d->input.at = at + 1;
		return 1;
	}
	if (!row->size)
		return slow(d, ret, err);
	ret->offset = d->input.offset + (uint64_t)(at - d->input.start);
	simple(ret, row, at, &d->last_ip, &d->ip_known);
	d->input.at = at + row->size;
	return 1;
}

int perfev_pt_read(struct perfev_pt_decoder *d, struct perfev_pt_packet *ret, int room, struct perfev_error *err)
{
	int n = 0, r;

	while (n < room) {
		n += fast(d, ret + n, room - n);
		if (n == room)
			break;
		r = slow(d, ret + n, n ? NULL : err);
		if (r <= 0)
			return n ? n : r;
		n++;
	}
	return n;
}

void perfev_pt_skip(struct perfev_pt_decoder *d)
{
	if (d->input.carried || d->input.at < d->input.end)
		input_advance(&d->input, 1);
	input_safe(&d->input, d->item_bytes == 0);
}

int perfev_pt_end(const struct perfev_pt_decoder *d, struct perfev_error *err)
{
	uint64_t offset = perfev_trace_offset(&d->input);

	if (!d->input.carried)
		return 0;
	return error_set(err, -EINVAL, PERFEV_WHY_TRUNCATED, offset,
			 "cannot decode Intel PT at 0x%" PRIx64 ": the trace ends inside of a packet, of which %" PRIu32
			 " bytes are there",
			 offset, d->input.carried);
}

/* ---- synchronization --------------------------------------------------------------------------------------------------- */

#define PSB_BYTES 16

/* How many of the bytes at @at, at most 16, are the beginning of a PSB. */
static size_t psb_length(const unsigned char *at, size_t there)
{
	size_t n = 0;

	while (n < PSB_BYTES && n < there && at[n] == (n % 2 ? 0x82 : 0x02))
		n++;
	return n;
}

/* Whether a PSB begins at @at, or might, if more came. */
static bool psb_may_begin(const unsigned char *at, const unsigned char *end)
{
	size_t there = (size_t)(end - at);

	return psb_length(at, there) == (there < PSB_BYTES ? there : PSB_BYTES);
}

/* The first place where a PSB begins, or might, if more came. Every PSB has a word at a multiple of 8 from the first byte that
 * consists of its pattern, so that only one in 8 bytes has to be looked at. */
static const unsigned char *psb_find(const unsigned char *at, const unsigned char *end)
{
	const unsigned char *word = at, *from = at;
	uint64_t value;

	for (; end - word >= 8; word += 8) {
		value = input_u64(word);
		if (value != UINT64_C(0x8202820282028202) && value != UINT64_C(0x0282028202820282))
			continue;
		for (from = word - at >= 7 ? word - 7 : at; from <= word; from++)
			if (psb_may_begin(from, end))
				return from;
	}
	for (from = end - at >= PSB_BYTES - 1 ? end - (PSB_BYTES - 1) : at; from < end; from++)
		if (psb_may_begin(from, end))
			return from;
	return end;
}

int perfev_pt_sync(struct perfev_pt_decoder *d)
{
	struct perfev_trace_input *in = &d->input;
	unsigned char room[INPUT_LOOK];
	const unsigned char *at;
	size_t there;

	d->item_bytes = 0;
	while (in->carried) { /* bytes that may be the beginning of one, until they turn out not to be */
		there = input_look(in, room, &at);
		if (psb_length(at, there) == PSB_BYTES)
			return 1;
		if (psb_length(at, there) == there && there < PSB_BYTES) {
			input_keep(in);
			return 0;
		}
		input_advance(in, 1);
	}
	in->at = psb_find(in->at, in->end);
	if (in->end - in->at < PSB_BYTES) {
		input_keep(in);
		return 0;
	}
	input_safe(in, true);
	return 1;
}
