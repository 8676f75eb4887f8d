/* SPDX-License-Identifier: MIT */
/*
 * How long an instruction is: prefixes, an opcode of one of a few maps, an address, constants. What follows an opcode is in
 * a table for each map, a letter for each opcode; all that is not a branch is known by its length only. Facts are from the
 * manual (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, appendix A).
 *
 * Bytes are read at cursor->at, and never beyond cursor->end: what is missing makes the whole fail.
 */
#include "x86_instruction.h"

#include <perfev/flow.h>

/*
 * . nothing   m address   b byte   z 16 or 32 bits by operand size   w 16 bits   v as z, or 64 bits with REX.W
 * B address and byte   Z address and z   o an offset by address size   e 16 bits and a byte   p far pointer
 * g group 3: address, and a constant with /0 and /1   c registers only, whatever mod says   - no instruction
 */
static const char one_byte[256 + 1] =
	"mmmmbz..mmmmbz.-" "mmmmbz..mmmmbz.." "mmmmbz-.mmmmbz-." "mmmmbz-.mmmmbz-."
	"................" "................" "...m----zZbB...." "bbbbbbbbbbbbbbbb"
	"BZBBmmmmmmmmmmmm" "..........p....." "oooo....bz......" "bbbbbbbbvvvvvvvv"
	"BBw.mmBZe.w..b.." "mmmmbb..mmmmmmmm" "bbbbbbbbzzpb...." "-.--..gg......mm";
static const char two_bytes[256 + 1] =
	"mmmm-.....-.-m.B" "mmmmmmmmmmmmmmmm" "cccc----mmmmmmmm" "........-.-....."
	"mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm" "BBBBmmm.mmmmmmmm"
	"zzzzzzzzzzzzzzzz" "mmmmmmmmmmmmmmmm" "...mBmmm...mBmmm" "mmmmmmmmmmBmmmmm"
	"mmBmBBBm........" "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm";
/* One-byte opcodes that 64-bit code has not. */
static const unsigned char gone[] = {0x06, 0x07, 0x0e, 0x16, 0x17, 0x1e, 0x1f, 0x27, 0x2f, 0x37, 0x3f, 0x60, 0x61,
				     0x82, 0x9a, 0xce, 0xd4, 0xd5, 0xd6, 0xea};

enum { MAP_ONE, MAP_0F, MAP_0F38, MAP_0F3A };

struct cursor {
	const unsigned char *at, *end;
	bool is_64, wide; /* wide: REX.W */
	bool operand_16, address_67;
	bool failed;
	bool extended; /* with VEX or EVEX */
	uint8_t map, opcode, modrm, repeat; /* repeat: 0xf2, 0xf3 or 0 */
	int64_t value; /* the last constant */
};

static unsigned peek(const struct cursor *c)
{
	return c->at < c->end ? *c->at : 0;
}

static unsigned char take(struct cursor *c)
{
	if (c->at < c->end)
		return *c->at++;
	c->failed = true;
	return 0;
}

static void take_value(struct cursor *c, size_t size)
{
	if ((size_t)(c->end - c->at) < size) {
		c->failed = true;
		return;
	}
	switch (size) {
	case 1:
		c->value = (int8_t)*c->at;
		break;
	case 2:
		c->value = (int16_t)(c->at[0] | c->at[1] << 8);
		break;
	case 4:
		c->value = (int32_t)((uint32_t)c->at[0] | (uint32_t)c->at[1] << 8 | (uint32_t)c->at[2] << 16 |
				     (uint32_t)c->at[3] << 24);
		break;
	default:
		break; /* is no displacement */
	}
	c->at += size;
}

/* ---- parts ----------------------------------------------------------------------------------------------------------- */

static void take_prefixes(struct cursor *c)
{
	while (c->at < c->end) {
		switch (*c->at) {
		case 0x66:
			c->operand_16 = true;
			break;
		case 0x67:
			c->address_67 = true;
			break;
		case 0xf2:
		case 0xf3:
			c->repeat = *c->at;
			break;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x64:
		case 0x65:
		case 0xf0:
			break;
		default:
			return;
		}
		c->at++;
	}
}

static void take_rex(struct cursor *c)
{
	if (c->is_64 && peek(c) >> 4 == 4)
		c->wide = take(c) & 8;
}

/* Of 32-bit code the first byte is one of VEX and EVEX only in front of what would be no address. */
static bool is_extended(const struct cursor *c)
{
	unsigned first = peek(c);

	if (first != 0xc4 && first != 0xc5 && first != 0x62)
		return false;
	return c->is_64 || (c->end - c->at > 1 && c->at[1] >> 6 == 3);
}

static void take_extended(struct cursor *c)
{
	unsigned first = take(c), second = take(c), map = 1;

	c->extended = true;
	if (first == 0xc4) {
		map = second & 31;
		take(c);
	} else if (first == 0x62) {
		map = second & 7;
		take(c);
		take(c);
	}
	c->map = map == 2 || map == 5 || map == 6 ? MAP_0F38 : map == 3 ? MAP_0F3A : MAP_0F; /* 5, 6: nothing but an address */
	c->failed |= map == 0 || map == 4 || map > 6;
}

/* AMD's: 0x8f in front of a map from 8 on; else it is POP. */
static bool take_xop(struct cursor *c, size_t *constant)
{
	static const size_t sizes[] = {1, 0, 4};
	unsigned map;

	if (c->end - c->at < 2 || c->at[0] != 0x8f || (c->at[1] & 31) < 8)
		return false;
	map = c->at[1] & 31;
	c->at += 2;
	take(c);
	c->opcode = take(c);
	c->failed |= map > 10;
	*constant = map > 10 ? 0 : sizes[map - 8];
	return true;
}

static void take_opcode(struct cursor *c)
{
	if (is_extended(c)) {
		take_extended(c);
	} else if (peek(c) == 0x0f) {
		take(c);
		c->map = peek(c) == 0x38 ? MAP_0F38 : peek(c) == 0x3a ? MAP_0F3A : MAP_0F;
		if (c->map != MAP_0F)
			take(c);
	}
	c->opcode = take(c);
}

/* With addresses of 16 bits: 32-bit code with a prefix. */
static size_t displacement_16(unsigned mod, unsigned rm)
{
	return mod == 1 ? 1 : mod == 2 || (mod == 0 && rm == 6) ? 2 : 0;
}

static void take_address(struct cursor *c)
{
	unsigned mod, rm, base;
	size_t size;

	c->modrm = take(c);
	mod = c->modrm >> 6;
	rm = c->modrm & 7;
	if (mod == 3)
		return;
	if (c->address_67 && !c->is_64) {
		take_value(c, displacement_16(mod, rm));
		return;
	}
	base = rm == 4 ? take(c) & 7 : rm;
	size = mod == 1 ? 1 : mod == 2 || (mod == 0 && base == 5) ? 4 : 0;
	take_value(c, size);
}

static char form_of(const struct cursor *c)
{
	size_t i;

	if (c->map == MAP_0F38)
		return 'm';
	if (c->map == MAP_0F3A)
		return 'B';
	if (c->map == MAP_0F)
		return c->extended && two_bytes[c->opcode] == 'z' ? 'm' : two_bytes[c->opcode];
	for (i = 0; c->is_64 && i < sizeof(gone); i++)
		if (gone[i] == c->opcode)
			return '-';
	if (c->opcode == 0x62) /* BOUND */
		return 'm';
	return one_byte[c->opcode];
}

/* Of a branch in 64-bit code the prefix for 16 bits is ignored. */
static size_t z_size(const struct cursor *c)
{
	bool branch = c->map == MAP_0F ? c->opcode >> 4 == 8 : c->opcode == 0xe8 || c->opcode == 0xe9;

	return c->operand_16 && !c->wide && !(branch && c->is_64) ? 2 : 4;
}

static size_t offset_size(const struct cursor *c)
{
	return c->is_64 ? c->address_67 ? 4 : 8 : c->address_67 ? 2 : 4;
}

static void take_form(struct cursor *c)
{
	char form = form_of(c);

	if (form == 'm' || form == 'B' || form == 'Z' || form == 'g')
		take_address(c);
	switch (form) {
	case '-':
		c->failed = true;
		break;
	case 'c':
		c->modrm = take(c);
		break;
	case 'b':
	case 'B':
		take_value(c, 1);
		break;
	case 'w':
		take_value(c, 2);
		break;
	case 'z':
	case 'Z':
		take_value(c, z_size(c));
		break;
	case 'v':
		take_value(c, c->wide ? 8 : z_size(c));
		break;
	case 'o':
		take_value(c, offset_size(c));
		break;
	case 'e':
		take_value(c, 3);
		break;
	case 'p':
		take_value(c, z_size(c) + 2);
		break;
	case 'g':
		if ((c->modrm >> 3 & 7) < 2)
			take_value(c, c->opcode == 0xf6 ? 1 : z_size(c));
		break;
	default:
		break;
	}
}

/* ---- branches ----------------------------------------------------------------------------------------------------------- */

static void set(struct x86_instruction *ret, enum x86_branch branch, enum perfev_flow_type type)
{
	ret->branch = (uint8_t)branch;
	ret->type = (uint8_t)type;
}

static void name_two_bytes(struct x86_instruction *ret, const struct cursor *c)
{
	switch (c->opcode) {
	case 0x05:
	case 0x34:
		set(ret, X86_INDIRECT, PERFEV_FLOW_SYSCALL);
		break;
	case 0x07:
	case 0x35:
		set(ret, X86_INDIRECT, PERFEV_FLOW_SYSRET);
		break;
	case 0x01:
		if (c->modrm == 0xc2 || c->modrm == 0xc3) /* VMLAUNCH, VMRESUME */
			set(ret, X86_INDIRECT, PERFEV_FLOW_VM_ENTRY);
		else if (c->modrm == 0xca && c->repeat) /* ERETU, ERETS */
			set(ret, X86_INDIRECT, PERFEV_FLOW_TRAP_RETURN);
		break;
	default:
		if (c->opcode >> 4 == 8)
			set(ret, X86_CONDITIONAL, PERFEV_FLOW_CONDITIONAL);
		break;
	}
}

static void name_group_5(struct x86_instruction *ret, const struct cursor *c)
{
	switch (c->modrm >> 3 & 7) {
	case 2:
	case 3:
		set(ret, X86_INDIRECT, PERFEV_FLOW_CALL);
		break;
	case 4:
		set(ret, X86_INDIRECT, PERFEV_FLOW_JUMP);
		break;
	case 5:
		set(ret, X86_INDIRECT, PERFEV_FLOW_FAR_JUMP);
		break;
	default:
		break;
	}
}

static void name_one_byte(struct x86_instruction *ret, const struct cursor *c)
{
	switch (c->opcode) {
	case 0x9a:
		set(ret, X86_INDIRECT, PERFEV_FLOW_CALL);
		break;
	case 0xc2:
	case 0xc3:
	case 0xca:
	case 0xcb:
		set(ret, X86_INDIRECT, PERFEV_FLOW_RETURN);
		break;
	case 0xcc:
	case 0xcd:
	case 0xce:
	case 0xf1:
		set(ret, X86_INDIRECT, PERFEV_FLOW_TRAP);
		break;
	case 0xcf:
		set(ret, X86_INDIRECT, PERFEV_FLOW_TRAP_RETURN);
		break;
	case 0xe8:
		set(ret, X86_DIRECT, PERFEV_FLOW_CALL);
		break;
	case 0xe9:
	case 0xeb:
		set(ret, X86_DIRECT, PERFEV_FLOW_JUMP);
		break;
	case 0xea:
		set(ret, X86_INDIRECT, PERFEV_FLOW_FAR_JUMP);
		break;
	case 0xff:
		name_group_5(ret, c);
		break;
	default:
		if (c->opcode >> 4 == 7 || (c->opcode >= 0xe0 && c->opcode <= 0xe3))
			set(ret, X86_CONDITIONAL, PERFEV_FLOW_CONDITIONAL);
		break;
	}
}

bool x86_decode(struct x86_instruction *ret, const unsigned char *at, size_t size, bool is_64)
{
	struct cursor c = {.at = at, .end = at + (size < X86_INSTRUCTION_MAX ? size : X86_INSTRUCTION_MAX), .is_64 = is_64};
	size_t constant;
	bool xop;

	take_prefixes(&c);
	take_rex(&c);
	xop = take_xop(&c, &constant);
	if (xop) {
		take_address(&c);
		take_value(&c, constant);
	} else {
		take_opcode(&c);
		take_form(&c);
	}
	ret->size = (uint8_t)(c.at - at);
	set(ret, X86_NONE, PERFEV_FLOW_NONE);
	if (!xop && !c.extended && c.map == MAP_0F)
		name_two_bytes(ret, &c);
	else if (!xop && c.map == MAP_ONE)
		name_one_byte(ret, &c);
	ret->displacement = ret->branch == X86_DIRECT || ret->branch == X86_CONDITIONAL ? (int32_t)c.value : 0;
	return !c.failed;
}
