/* SPDX-License-Identifier: MIT */
/*
 * Packets of Intel PT as a table: names, opcodes, fields; and what needs no more than that: bytes and text of a packet.
 *
 * The rows are those of the manual's packet definitions. Decoding, encoding and text all walk them; the packets that are
 * most of a trace (TNT, TIP, CYC, ...) have forms of their own, in intel_pt.c. TRIG is not in all editions of the manual: its
 * layout is that of libipt 2.1.
 */
#include "decode/trace/intel_pt.h"

#include "base/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define AT(member)   offsetof(struct perfev_pt_packet, as.member), sizeof(((struct perfev_pt_packet *)0)->as.member)

/* name, bit, width, shift, place, hexadecimal */
static const struct pt_field tsc[] = {{"tsc", 8, 56, 0, AT(tsc.tsc), true}};
static const struct pt_field mtc[] = {{"ctc", 8, 8, 0, AT(mtc.ctc), false}};
static const struct pt_field tma[] = {{"ctc", 16, 16, 0, AT(tma.ctc), false},
				      {"fast_counter", 40, 9, 0, AT(tma.fast_counter), false}};
static const struct pt_field cbr[] = {{"ratio", 16, 8, 0, AT(cbr.ratio), false}};
static const struct pt_field mode_exec[] = {{"cs_l", 8, 1, 0, AT(exec.cs_l), false},
					    {"cs_d", 9, 1, 0, AT(exec.cs_d), false},
					    {"iflag", 10, 1, 0, AT(exec.iflag), false}};
static const struct pt_field mode_tsx[] = {{"in_tx", 8, 1, 0, AT(tsx.in_tx), false},
					   {"abort", 9, 1, 0, AT(tsx.abort), false}};
static const struct pt_field pip[] = {{"cr3", 17, 47, 5, AT(pip.cr3), true},
				      {"non_root", 16, 1, 0, AT(pip.non_root), false}};
static const struct pt_field vmcs[] = {{"base", 16, 40, 12, AT(vmcs.base), true}};
static const struct pt_field mnt[] = {{"payload", 24, 64, 0, AT(mnt.payload), true}};
static const struct pt_field exstop[] = {{"ip", 15, 1, 0, AT(exstop.ip), false}};
static const struct pt_field mwait[] = {{"hints", 16, 32, 0, AT(mwait.hints), true},
					{"ext", 48, 32, 0, AT(mwait.ext), true}};
static const struct pt_field pwre[] = {{"state", 28, 4, 0, AT(pwre.state), false},
				       {"sub_state", 24, 4, 0, AT(pwre.sub_state), false},
				       {"hw", 23, 1, 0, AT(pwre.hw), false}};
static const struct pt_field pwrx[] = {
	{"last", 20, 4, 0, AT(pwrx.last), false},	    {"deepest", 16, 4, 0, AT(pwrx.deepest), false},
	{"interrupt", 24, 1, 0, AT(pwrx.interrupt), false}, {"deadline", 25, 1, 0, AT(pwrx.deadline), false},
	{"store", 26, 1, 0, AT(pwrx.store), false},	    {"hw", 27, 1, 0, AT(pwrx.hw), false}};
static const struct pt_field bbp[] = {{"type", 16, 5, 0, AT(bbp.type), false}};
static const struct pt_field bip[] = {{"id", 3, 5, 0, AT(bip.id), false}};
static const struct pt_field bep[] = {{"ip", 15, 1, 0, AT(bep.ip), false}};
static const struct pt_field cfe[] = {{"type", 16, 5, 0, AT(cfe.type), false},
				      {"vector", 24, 8, 0, AT(cfe.vector), false},
				      {"ip", 23, 1, 0, AT(cfe.ip), false}};
static const struct pt_field evd[] = {{"type", 16, 6, 0, AT(evd.type), false},
				      {"payload", 24, 64, 0, AT(evd.payload), true}};
static const struct pt_field ptw[] = {{"ip", 15, 1, 0, AT(ptw.ip), false}};
static const struct pt_field trig[] = {{"triggers", 16, 8, 0, AT(trig.triggers), true},
				       {"mult", 13, 1, 0, AT(trig.mult), false},
				       {"icnt_valid", 14, 1, 0, AT(trig.icnt_valid), false},
				       {"ip", 15, 1, 0, AT(trig.ip), false}};

#define FIELDS(array) COUNT(array), array

/* name, size, opcode */
const struct pt_kind pt_kinds[PERFEV_PT_COUNT_] = {
	[PERFEV_PT_PAD] = {"PAD", 1, 1, {0x00}, 0, NULL},
	[PERFEV_PT_TNT_8] = {"TNT", 0, 0, {0}, 0, NULL},
	[PERFEV_PT_TNT_64] = {"TNT", 8, 2, {0x02, 0xa3}, 0, NULL},
	[PERFEV_PT_TIP] = {"TIP", 0, 1, {0x0d}, 0, NULL},
	[PERFEV_PT_TIP_PGE] = {"TIP.PGE", 0, 1, {0x11}, 0, NULL},
	[PERFEV_PT_TIP_PGD] = {"TIP.PGD", 0, 1, {0x01}, 0, NULL},
	[PERFEV_PT_FUP] = {"FUP", 0, 1, {0x1d}, 0, NULL},
	[PERFEV_PT_PSB] = {"PSB", 16, 2, {0x02, 0x82}, 0, NULL},
	[PERFEV_PT_PSBEND] = {"PSBEND", 2, 2, {0x02, 0x23}, 0, NULL},
	[PERFEV_PT_OVF] = {"OVF", 2, 2, {0x02, 0xf3}, 0, NULL},
	[PERFEV_PT_TRACESTOP] = {"TraceStop", 2, 2, {0x02, 0x83}, 0, NULL},
	[PERFEV_PT_TSC] = {"TSC", 8, 1, {0x19}, FIELDS(tsc)},
	[PERFEV_PT_MTC] = {"MTC", 2, 1, {0x59}, FIELDS(mtc)},
	[PERFEV_PT_TMA] = {"TMA", 7, 2, {0x02, 0x73}, FIELDS(tma)},
	[PERFEV_PT_CYC] = {"CYC", 0, 1, {0x03}, 0, NULL},
	[PERFEV_PT_CBR] = {"CBR", 4, 2, {0x02, 0x03}, FIELDS(cbr)},
	[PERFEV_PT_MODE_EXEC] = {"MODE.Exec", 2, 2, {0x99, 0x00}, FIELDS(mode_exec)},
	[PERFEV_PT_MODE_TSX] = {"MODE.TSX", 2, 2, {0x99, 0x20}, FIELDS(mode_tsx)},
	[PERFEV_PT_PIP] = {"PIP", 8, 2, {0x02, 0x43}, FIELDS(pip)},
	[PERFEV_PT_VMCS] = {"VMCS", 7, 2, {0x02, 0xc8}, FIELDS(vmcs)},
	[PERFEV_PT_MNT] = {"MNT", 11, 3, {0x02, 0xc3, 0x88}, FIELDS(mnt)},
	[PERFEV_PT_PTW] = {"PTW", 0, 2, {0x02, 0x12}, FIELDS(ptw)},
	[PERFEV_PT_EXSTOP] = {"EXSTOP", 2, 2, {0x02, 0x62}, FIELDS(exstop)},
	[PERFEV_PT_MWAIT] = {"MWAIT", 10, 2, {0x02, 0xc2}, FIELDS(mwait)},
	[PERFEV_PT_PWRE] = {"PWRE", 4, 2, {0x02, 0x22}, FIELDS(pwre)},
	[PERFEV_PT_PWRX] = {"PWRX", 7, 2, {0x02, 0xa2}, FIELDS(pwrx)},
	[PERFEV_PT_BBP] = {"BBP", 3, 2, {0x02, 0x63}, FIELDS(bbp)},
	[PERFEV_PT_BIP] = {"BIP", 0, 1, {0x04}, FIELDS(bip)},
	[PERFEV_PT_BEP] = {"BEP", 2, 2, {0x02, 0x33}, FIELDS(bep)},
	[PERFEV_PT_CFE] = {"CFE", 4, 2, {0x02, 0x13}, FIELDS(cfe)},
	[PERFEV_PT_EVD] = {"EVD", 11, 2, {0x02, 0x53}, FIELDS(evd)},
	[PERFEV_PT_TRIG] = {"TRIG", 0, 1, {0xd9}, FIELDS(trig)},
};

const char *perfev_pt_name(enum perfev_pt_type type)
{
	return (unsigned)type < PERFEV_PT_COUNT_ ? pt_kinds[type].name : NULL;
}

const char *perfev_pt_event_name(unsigned type)
{
	static const char *const names[] = {NULL,   "INTR",   "IRET",	"SMI",	  "RSM",
					    "SIPI", "INIT",   "VMENTRY", "VMEXIT", "VMEXIT_INTR",
					    "SHUTDOWN"};

	return type < COUNT(names) ? names[type] : NULL;
}

static uint64_t member(const struct perfev_pt_packet *packet, const struct pt_field *field)
{
	const unsigned char *at = (const unsigned char *)packet + field->at;
	uint64_t wide;
	uint32_t half;
	uint16_t quarter;

	switch (field->bytes) {
	case 8:
		memcpy(&wide, at, 8);
		return wide;
	case 4:
		memcpy(&half, at, 4);
		return half;
	case 2:
		memcpy(&quarter, at, 2);
		return quarter;
	default:
		return *at;
	}
}

/* ---- bytes ------------------------------------------------------------------------------------------------------ */

/* Ors @width bits of @value in; false when it has more. */
static bool put_bits(unsigned char *to, unsigned bit, unsigned width, uint64_t value)
{
	if (width < 64 && value >> width)
		return false;
	for (; value; value >>= 1, bit++)
		if (value & 1)
			to[bit / 8] |= (unsigned char)(1u << bit % 8);
	return true;
}

static bool put_field(unsigned char *to, const struct perfev_pt_packet *packet, const struct pt_field *field)
{
	uint64_t value = member(packet, field);

	return (value & ((UINT64_C(1) << field->shift) - 1)) == 0 &&
	       put_bits(to, field->bit, field->width, value >> field->shift);
}

/* A number in groups of 7 bits, behind the 5 of the first byte. What was longer than it has to be stays so. */
static size_t put_cyc(unsigned char *to, const struct perfev_pt_packet *packet)
{
	uint64_t rest = packet->as.cyc.cycles >> 5;
	size_t size = 1;

	to[0] = (unsigned char)(0x03 | (packet->as.cyc.cycles & 0x1f) << 3);
	while (rest || (size < packet->size && size < 9)) {
		if (size == 9)
			return 0;
		to[size - 1] |= size == 1 ? 4 : 1;
		to[size++] = (unsigned char)((rest & 0x7f) << 1);
		rest >>= 7;
	}
	return size;
}

static size_t put_ip(unsigned char *to, const struct perfev_pt_packet *packet)
{
	static const unsigned char widths[8] = {0, 2, 4, 6, 6, 0, 8, 0};
	unsigned ip_bytes = packet->as.ip.ip_bytes;
	unsigned width = ip_bytes < 8 ? widths[ip_bytes] : 0;

	if ((ip_bytes && !width) || (width && !put_bits(to, 8, width * 8, packet->as.ip.payload)))
		return 0;
	to[0] |= (unsigned char)(ip_bytes << 5);
	return 1 + width;
}

static size_t put_tnt(unsigned char *to, const struct perfev_pt_packet *packet, bool wide)
{
	unsigned count = packet->as.tnt.count;

	if (count == 0 || count > (wide ? 47 : 6) || packet->as.tnt.bits >> count)
		return 0;
	put_bits(to, wide ? 16 : 1, 48, packet->as.tnt.bits | UINT64_C(1) << count);
	return wide ? 8 : 1;
}

static size_t put_item(unsigned char *to, unsigned at, unsigned bytes, uint64_t value)
{
	return (bytes == 4 || bytes == 8) && put_bits(to, at * 8, bytes * 8, value) ? at + bytes : 0;
}

/* The parts that are not in the table. Returns the size; 0 for what cannot be. */
static size_t put_rest(unsigned char *to, const struct perfev_pt_packet *packet)
{
	unsigned i;

	switch (packet->type) {
	case PERFEV_PT_TNT_8:
	case PERFEV_PT_TNT_64:
		return put_tnt(to, packet, packet->type == PERFEV_PT_TNT_64);
	case PERFEV_PT_TIP:
	case PERFEV_PT_TIP_PGE:
	case PERFEV_PT_TIP_PGD:
	case PERFEV_PT_FUP:
		return put_ip(to, packet);
	case PERFEV_PT_CYC:
		return put_cyc(to, packet);
	case PERFEV_PT_PSB:
		for (i = 2; i < 16; i++)
			to[i] = to[i % 2];
		return 16;
	case PERFEV_PT_PTW:
		to[1] |= packet->as.ptw.bytes == 8 ? 0x20 : 0;
		return put_item(to, 2, packet->as.ptw.bytes, packet->as.ptw.payload);
	case PERFEV_PT_BBP:
		to[2] |= packet->as.bbp.item_bytes == 4 ? 0x80 : 0;
		return packet->as.bbp.item_bytes == 4 || packet->as.bbp.item_bytes == 8 ? 3 : 0;
	case PERFEV_PT_BIP:
		return put_item(to, 1, packet->as.bip.item_bytes, packet->as.bip.value);
	case PERFEV_PT_TRIG:
		if (packet->as.trig.icnt_valid)
			put_bits(to, 24, 16, packet->as.trig.icnt);
		return packet->as.trig.icnt_valid ? 5 : 3;
	default:
		return pt_kinds[packet->type].size;
	}
}

int perfev_pt_encode(void *to, size_t room, const struct perfev_pt_packet *packet, struct perfev_error *err)
{
	const struct pt_kind *kind;
	unsigned char bytes[32] = {0};
	size_t size;
	unsigned i;

	if (packet->type >= PERFEV_PT_COUNT_)
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot encode a packet: there is no type %" PRIu32, packet->type);
	kind = &pt_kinds[packet->type];
	memcpy(bytes, kind->opcode, kind->opcode_bytes);
	for (i = 0; i < kind->field_count; i++)
		if (!put_field(bytes, packet, &kind->fields[i]))
			return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
					 "cannot encode a packet: %s of %s has no room for 0x%" PRIx64, kind->fields[i].name,
					 kind->name, member(packet, &kind->fields[i]));
	size = put_rest(bytes, packet);
	if (!size)
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot encode a packet: no %s has such fields", kind->name);
	if (room >= size)
		memcpy(to, bytes, size);
	return (int)size;
}

/* ---- text ------------------------------------------------------------------------------------------------------- */

struct text {
	char at[256];
	size_t length;
};

static void put(struct text *text, const char *name, uint64_t value, bool hex)
{
	text->length += (size_t)snprintf(text->at + text->length, sizeof(text->at) - text->length,
					 hex ? " %s=0x%" PRIx64 : " %s=%" PRIu64, name, value);
}

static void put_branches(struct text *text, const struct perfev_pt_packet *packet)
{
	unsigned i = packet->as.tnt.count < 64 ? packet->as.tnt.count : 64;

	text->at[text->length++] = ' ';
	while (i--)
		text->at[text->length++] = packet->as.tnt.bits >> i & 1 ? 'T' : 'N';
	text->at[text->length] = 0;
}

static void put_address(struct text *text, const struct perfev_pt_packet *packet)
{
	if (packet->as.ip.known)
		put(text, "ip", packet->as.ip.ip, true);
	else if (packet->as.ip.ip_bytes)
		put(text, "payload", packet->as.ip.payload, true);
	put(text, "ip_bytes", packet->as.ip.ip_bytes, false);
}

static void put_others(struct text *text, const struct perfev_pt_packet *packet)
{
	const char *name;

	switch (packet->type) {
	case PERFEV_PT_TNT_8:
	case PERFEV_PT_TNT_64:
		put_branches(text, packet);
		break;
	case PERFEV_PT_TIP:
	case PERFEV_PT_TIP_PGE:
	case PERFEV_PT_TIP_PGD:
	case PERFEV_PT_FUP:
		put_address(text, packet);
		break;
	case PERFEV_PT_CYC:
		put(text, "cycles", packet->as.cyc.cycles, false);
		break;
	case PERFEV_PT_PTW:
		put(text, "payload", packet->as.ptw.payload, true);
		put(text, "bytes", packet->as.ptw.bytes, false);
		break;
	case PERFEV_PT_BBP:
		put(text, "item_bytes", packet->as.bbp.item_bytes, false);
		break;
	case PERFEV_PT_BIP:
		put(text, "value", packet->as.bip.value, true);
		break;
	case PERFEV_PT_CFE:
		name = perfev_pt_event_name(packet->as.cfe.type);
		if (name)
			text->length += (size_t)snprintf(text->at + text->length, sizeof(text->at) - text->length, " %s", name);
		break;
	case PERFEV_PT_TRIG:
		if (packet->as.trig.icnt_valid)
			put(text, "icnt", packet->as.trig.icnt, false);
		break;
	default:
		break;
	}
}

int perfev_pt_format(char *ret, size_t size, const struct perfev_pt_packet *packet)
{
	struct text text = {.length = 0};
	const struct pt_kind *kind;
	unsigned i;

	if (packet->type >= PERFEV_PT_COUNT_)
		return snprintf(ret, size, "packet %" PRIu32, packet->type);
	kind = &pt_kinds[packet->type];
	text.length = (size_t)snprintf(text.at, sizeof(text.at), "%s", kind->name);
	for (i = 0; i < kind->field_count; i++)
		put(&text, kind->fields[i].name, member(packet, &kind->fields[i]), kind->fields[i].hex);
	put_others(&text, packet);
	return snprintf(ret, size, "%s", text.at);
}
