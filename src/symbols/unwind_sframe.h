/* SPDX-License-Identifier: MIT */
/* SFrame sections (.sframe), versions 1 to 3: where the caller is, of each place, without a program to run. */
#ifndef SYMBOLS_UNWIND_SFRAME_H
#define SYMBOLS_UNWIND_SFRAME_H

#include "unwind_table.h"

#include "base/byte_cursor.h"

struct sframe {
	const unsigned char *data; /* of the section */
	uint64_t address;
	const unsigned char *functions, *rows; /* the two parts */
	uint64_t rows_size;
	uint32_t count; /* of functions that are there */
	uint8_t version, flags;
	int8_t fixed_fp, fixed_ra;
	bool swap;
	const struct sframe_machine *machine;
	uint64_t budget; /* bytes of rows that may still be read: more than there are only if functions share them */
	uint32_t repeats; /* rows that may still be made by repetition */
};

struct sframe_function {
	uint64_t start, size;
	struct byte_cursor rows;
	uint32_t count; /* of rows */
	uint8_t info, info2, repeat;
	bool described; /* else its rows cannot be read */
};

/* sframe_open() - @machine: of ELF. False: it is none, or of another machine, or of a version that is not known. */
bool sframe_open(struct sframe *ret, const unsigned char *data, uint64_t size, uint64_t address, uint16_t machine, bool wide,
		 bool swap);
/* sframe_function() - number @index, which is below count. */
void sframe_function(const struct sframe *sframe, uint32_t index, struct sframe_function *ret);
/* sframe_run() - adds the rows of a function from @start to @end. Return: 0, -ENOMEM, -EFBIG. */
int sframe_run(struct sframe *sframe, const struct sframe_function *function, uint64_t start, uint64_t end,
	       struct unwind_table *table);

#endif
