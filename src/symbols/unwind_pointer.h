/* SPDX-License-Identifier: MIT */
/* Pointers as they are in call frame information. */
#ifndef SYMBOLS_UNWIND_POINTER_H
#define SYMBOLS_UNWIND_POINTER_H

#include "base/byte_cursor.h"

#define CFI_OMIT 0xff

struct cfi_bases {
	const unsigned char *data; /* of the section, which is at address in memory */
	uint64_t address, data_base, function;
	bool wide;
};

/* cfi_pointer() - by its encoding, one byte. False: there is none, or it cannot be known here. */
bool cfi_pointer(struct byte_cursor *c, uint8_t encoding, const struct cfi_bases *bases, uint64_t *ret);
/* cfi_value() - the number alone, by the lower bits of the encoding. */
bool cfi_value(struct byte_cursor *c, uint8_t format, bool wide, uint64_t *ret);

#endif
