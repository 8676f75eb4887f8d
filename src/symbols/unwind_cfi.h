/* SPDX-License-Identifier: MIT */
/* Call frame information as it is in files and in memory (.eh_frame, .debug_frame), and its tables made of it. */
#ifndef SYMBOLS_UNWIND_CFI_H
#define SYMBOLS_UNWIND_CFI_H

#include "unwind_table.h"

#include "base/load.h"

#define UNWIND_SECTIONS 3
#define UNWIND_RANGES	16

/* A section of frames. */
struct cfi_section {
	const unsigned char *data;
	uint64_t size, address;
	bool eh; /* .eh_frame, else .debug_frame */
};

struct cfi_source {
	struct cfi_section sections[UNWIND_SECTIONS]; /* the first ones are believed before the others */
	uint32_t section_count;
	uint32_t range_count;
	struct {
		uint64_t start, end;
	} ranges[UNWIND_RANGES]; /* where code is: what is said of other places is dropped */
	uint64_t data_base;	 /* of pointers that are relative to data */
	uint16_t machine;	 /* of ELF */
	bool wide, swap;
};

/* cfi_compile() - Return: 0; -ENODATA when it says nothing; -ENOMEM. What is damaged is left out. */
int cfi_compile(struct unwind_table *ret, const struct cfi_source *source);

/* ---- inside ------------------------------------------------------------------------------------------------ */

/* Bytes that are read one after the other; reading beyond them gives zeros, and sets bad. */
struct cfi_cursor {
	const unsigned char *at, *end;
	bool swap, bad;
};

static inline const unsigned char *cfi_take(struct cfi_cursor *c, uint64_t size)
{
	const unsigned char *at = c->at;

	if (size > (uint64_t)(c->end - c->at)) {
		c->bad = true;
		c->at = c->end;
		return NULL;
	}
	c->at += size;
	return at;
}

static inline uint8_t cfi_u8(struct cfi_cursor *c)
{
	const unsigned char *at = cfi_take(c, 1);

	return at ? *at : 0;
}

static inline uint16_t cfi_u16(struct cfi_cursor *c)
{
	const unsigned char *at = cfi_take(c, 2);

	return at ? load_u16(at, c->swap) : 0;
}

static inline uint32_t cfi_u32(struct cfi_cursor *c)
{
	const unsigned char *at = cfi_take(c, 4);

	return at ? load_u32(at, c->swap) : 0;
}

static inline uint64_t cfi_u64(struct cfi_cursor *c)
{
	const unsigned char *at = cfi_take(c, 8);

	return at ? load_u64(at, c->swap) : 0;
}

/* A number of groups of seven bits; those above 64 bits are lost. */
static inline uint64_t cfi_uleb(struct cfi_cursor *c)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = cfi_u8(c);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += shift < 64 ? 7 : 0;
	} while (byte & 0x80);
	return value;
}

static inline int64_t cfi_sleb(struct cfi_cursor *c)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = cfi_u8(c);
		if (shift < 64) {
			value |= (uint64_t)(byte & 0x7f) << shift;
			shift += 7;
		}
	} while (byte & 0x80);
	if (shift < 64 && (byte & 0x40))
		value |= ~UINT64_C(0) << shift;
	return (int64_t)value;
}

/* What is known of the registers at a place. */
struct cfi_state {
	uint8_t cfa_how, cfa_reg;
	int32_t cfa_value;
	uint8_t how[UNWIND_REGISTERS];
	int32_t value[UNWIND_REGISTERS];
};

/* What functions have in common. */
struct cfi_cie {
	uint64_t code_align;
	int64_t data_align;
	struct cfi_cursor program;
	struct cfi_state state; /* after its program */
	uint8_t ra, encoding, address_size;
	bool augmented, signal, usable;
};

/* How pointers are written in .eh_frame. */
struct cfi_bases {
	const unsigned char *data; /* of the section, which is at address in memory */
	uint64_t address, data_base, function;
	bool wide;
};

bool cfi_pointer(struct cfi_cursor *c, uint8_t encoding, const struct cfi_bases *bases, uint64_t *ret);

/* A function's program. */
struct cfi_run {
	struct unwind_table *table;
	const struct cfi_cie *cie;
	const struct cfi_bases *bases;
	uint64_t origin;     /* where the program begins */
	uint64_t start, end; /* rows between these */
};

/* cfi_initial() - runs the program of a CIE, into its state. Return: 0, -EINVAL, -ENOMEM, -EFBIG. */
int cfi_initial(struct cfi_cie *cie, struct unwind_table *table);
/* cfi_run() - adds the rows of a function. Return: as above. */
int cfi_run(const struct cfi_run *run, struct cfi_cursor program);

#endif
