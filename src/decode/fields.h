/* SPDX-License-Identifier: MIT */
/* The fields of each kernel record but SAMPLE: one row decodes it, and whatever else walks fields. */
#ifndef DECODE_FIELDS_H
#define DECODE_FIELDS_H

#include <perfev/record.h>

enum record_kind {
	RECORD_U16,
	RECORD_U32,
	RECORD_U64,
	RECORD_TEXT,   /* terminated, padded to the trailer */
	RECORD_TAG,    /* 8 bytes */
	RECORD_INODE,  /* 24 bytes: device and inode, or a build-id; to: struct perfev_mmap */
	RECORD_NO_INODE, /* not in the record: those members become 0 */
	RECORD_LINKS,  /* u64 count, pairs of words */
	RECORD_WORDS,  /* u64 count, words; the trailer follows */
	RECORD_VALUES, /* as from read(2) */
	RECORD_POKE    /* u16 sizes of two byte strings, then these; to: struct perfev_text_poke */
};

struct record_field {
	const char *name;
	uint16_t to; /* offset in the struct of the record */
	uint8_t kind;
};

/* The rows of a record type, or NULL with *count 0 for a type that has none. */
const struct record_field *record_fields(uint32_t type, size_t *count);

/* The name of a row in JSON, where "type" is the record's own. */
const char *record_json_name(const struct record_field *field);

#endif
