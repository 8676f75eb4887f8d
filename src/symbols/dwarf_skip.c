/* SPDX-License-Identifier: MIT */
/*
 * Most entries of debug information are variables, parameters and calls, of which nothing is wanted here but where the next entry
 * begins. How long their values are is said by the forms of their kind: forms of fixed sizes that stand together make one step, so
 * that most entries are passed over by one or two steps.
 *
 * A form that is not known ends the reading of a unit; so such kinds have no steps, and are read value by value (dwarf_die.c).
 */
#include "dwarf_skip.h"

/* Bytes of a form; -1: it has no fixed size. */
static int fixed_size(uint32_t form, struct dwarf_sizes sizes)
{
	static const int8_t plain[] = {[0x01] = -1, [0x05] = 2, [0x06] = 4, [0x07] = 8, [0x0b] = 1, [0x0c] = 1, [0x11] = 1,
				       [0x12] = 2,  [0x13] = 4, [0x14] = 8, [0x1c] = 4, [0x1e] = 16, [0x20] = 8, [0x24] = 8};

	if (form < sizeof(plain) && plain[form] > 0)
		return plain[form];
	if (form >= 0x25 && form <= 0x2c) /* strx1 to strx4, addrx1 to addrx4 */
		return (int)(form - 0x25) % 4 + 1;
	switch (form) {
	case 0x01: /* addr */
		return sizes.address;
	case 0x10: /* ref_addr */
		return sizes.version < 3 ? sizes.address : sizes.offset;
	case 0x0e:   /* strp */
	case 0x17:   /* sec_offset */
	case 0x1d:   /* strp_sup */
	case 0x1f:   /* line_strp */
	case 0x1f20: /* GNU_ref_alt */
	case 0x1f21: /* GNU_strp_alt */
		return sizes.offset;
	case 0x19: /* flag_present */
	case 0x21: /* implicit_const */
		return 0;
	default:
		return -1;
	}
}

/* 0: not known. */
static uint8_t step_of(uint32_t form)
{
	switch (form) {
	case 0x03:
		return STEP_BLOCK2;
	case 0x04:
		return STEP_BLOCK4;
	case 0x08: /* string */
		return STEP_TEXT;
	case 0x09: /* block */
	case 0x18: /* exprloc */
		return STEP_BLOCK;
	case 0x0a:
		return STEP_BLOCK1;
	case 0x0d:   /* sdata */
	case 0x0f:   /* udata */
	case 0x15:   /* ref_udata */
	case 0x1a:   /* strx */
	case 0x1b:   /* addrx */
	case 0x22:   /* loclistx */
	case 0x23:   /* rnglistx */
	case 0x1f01: /* GNU_addr_index */
	case 0x1f02: /* GNU_str_index */
		return STEP_LEB;
	default:
		return 0;
	}
}

int dwarf_steps(uint8_t *to, const struct dwarf_spec *specs, size_t count, struct dwarf_sizes sizes)
{
	bool open = false; /* the last step takes more bytes */
	size_t i;
	int n = 0;

	for (i = 0; i < count; i++) {
		int size = fixed_size(specs[i].form, sizes);

		if (size < 0) {
			to[n] = step_of(specs[i].form);
			open = false;
			if (!to[n++])
				return -1;
		} else if (open && to[n - 1] + size <= STEP_BYTES_MAX) {
			to[n - 1] = (uint8_t)(to[n - 1] + size);
		} else if (size) {
			to[n++] = (uint8_t)size;
			open = true;
		}
	}
	return n;
}

void dwarf_step_other(struct dwarf_reader *r, uint8_t step)
{
	switch (step) {
	case STEP_LEB:
		dwarf_uleb(r);
		break;
	case STEP_BLOCK:
		dwarf_skip(r, dwarf_uleb(r));
		break;
	case STEP_BLOCK1:
		dwarf_skip(r, dwarf_number(r, 1));
		break;
	case STEP_BLOCK2:
		dwarf_skip(r, dwarf_number(r, 2));
		break;
	case STEP_BLOCK4:
		dwarf_skip(r, dwarf_number(r, 4));
		break;
	default:
		dwarf_text(r);
		break;
	}
}
