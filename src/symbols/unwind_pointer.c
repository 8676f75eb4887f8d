/* SPDX-License-Identifier: MIT */
/*
 * Pointers of call frame information, each written as its encoding says: how many bytes, and what they are relative to.
 *
 * What can only be known while the program runs (words that its linker fills in) is no pointer here.
 */
#include "unwind_pointer.h"

#define INDIRECT 0x80

bool cfi_value(struct byte_cursor *c, uint8_t format, bool wide, uint64_t *ret)
{
	switch (format) {
	case 0x00:
		*ret = wide ? cursor_u64(c) : cursor_u32(c);
		break;
	case 0x01:
		*ret = cursor_uleb(c);
		break;
	case 0x02:
		*ret = cursor_u16(c);
		break;
	case 0x03:
		*ret = cursor_u32(c);
		break;
	case 0x04:
	case 0x0c:
		*ret = cursor_u64(c);
		break;
	case 0x09:
		*ret = (uint64_t)cursor_sleb(c);
		break;
	case 0x0a:
		*ret = (uint64_t)(int64_t)(int16_t)cursor_u16(c);
		break;
	case 0x0b:
		*ret = (uint64_t)(int64_t)(int32_t)cursor_u32(c);
		break;
	default:
		return false;
	}
	return !c->bad;
}

bool cfi_pointer(struct byte_cursor *c, uint8_t encoding, const struct cfi_bases *bases, uint64_t *ret)
{
	uint64_t value, here = bases->address + (uint64_t)(c->at - bases->data);

	if (encoding == CFI_OMIT || encoding & INDIRECT)
		return false;
	if (encoding == 0x50) { /* aligned */
		uint64_t word = bases->wide ? 8 : 4;

		cursor_take(c, (word - here % word) % word);
		return cfi_value(c, 0, bases->wide, ret);
	}
	if (!cfi_value(c, encoding & 15, bases->wide, &value))
		return false;
	switch (encoding & 0x70) {
	case 0x00:
		break;
	case 0x10:
		value += here;
		break;
	case 0x30:
		value += bases->data_base;
		break;
	case 0x40:
		value += bases->function;
		break;
	default: /* relative to the text, which has no address of its own */
		return false;
	}
	*ret = bases->wide ? value : value & UINT32_MAX;
	return true;
}
