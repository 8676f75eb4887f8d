/* SPDX-License-Identifier: MIT */
/* Call frame information as it is in files and in memory (.eh_frame, .debug_frame, .sframe), and its tables made of it. */
#ifndef SYMBOLS_UNWIND_CFI_H
#define SYMBOLS_UNWIND_CFI_H

#include "unwind_table.h"

#define UNWIND_SECTIONS 4
#define UNWIND_RANGES	16

enum cfi_kind { CFI_EH_FRAME, CFI_DEBUG_FRAME, CFI_SFRAME };

/* A section of frames. */
struct cfi_section {
	const unsigned char *data;
	uint64_t size, address;
	enum cfi_kind kind;
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

#endif
