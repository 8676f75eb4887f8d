/* SPDX-License-Identifier: MIT */
#ifndef DECODE_TRACEPOINT_H
#define DECODE_TRACEPOINT_H

#include <perfev/abi.h>
#include <perfev/tracepoint.h>

#define FORMAT_BYTES_MAX (1u << 20)
#define RAW_BYTES_MAX	 65536 /* what a record can hold */

struct perfev_tracepoint {
	struct perfev_tracepoint_info info;
	struct perfev_field *fields; /* common_count common ones first */
	char *text;		     /* the format as it was given, terminated */
	size_t text_size;
	char *words; /* names and types of the fields, and what else info points to */
};

/* field_declare() - name, type, kind and the shape of an array, from a declaration as in C
 * @words: room for @size + 3 characters; moves behind what was used.
 * Return: NULL, or what is wrong with it. offset, size and is_signed are set before. */
const char *field_declare(struct perfev_field *field, const char *text, size_t size, char **words,
			  uint32_t long_bytes);
/* Is that the type of a number with a sign, where the format does not say? */
bool field_type_signed(const char *type);
/* Of a long or a pointer: its size is the word of the machine. */
bool field_type_word(const char *text, size_t size);

#endif
