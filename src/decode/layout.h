/* SPDX-License-Identifier: MIT */
/* A layout: where the fields of one event's records are, worked out once from its attr. */
#ifndef DECODE_LAYOUT_H
#define DECODE_LAYOUT_H

#include <perfev/record.h>

/* How a field is stored. The first three take one word of 8 bytes. */
enum field_kind {
	FIELD_U64,
	FIELD_PAIR, /* two u32 */
	FIELD_CPU,  /* u32, and one that is reserved */
	FIELD_READ,
	FIELD_CHAIN,
	FIELD_RAW,
	FIELD_BRANCHES,
	FIELD_REGS_USER,
	FIELD_STACK,
	FIELD_REGS_INTR,
	FIELD_AUX
};

/* One field of a sample: the order of the table is the order in the record. */
struct sample_field {
	uint64_t bit; /* PERF_SAMPLE_* */
	const char *name;
	uint16_t to; /* offset in struct perfev_sample */
	uint8_t kind;
};

extern const struct sample_field sample_fields[];
extern const size_t sample_field_count;

/* The name of a row in JSON. No kernel takes both kinds of weight, but a layout does, and an object must not have two
 * members of one name. */
static inline const char *sample_json_name(const struct sample_field *field)
{
	return field->bit == PERF_SAMPLE_WEIGHT_STRUCT ? "weight_struct" : field->name;
}

/* Where a field is taken from, and where it goes. */
struct layout_step {
	uint16_t from; /* from the start of the record; unused after the first field of variable size */
	uint16_t to;
	uint8_t kind;
	uint8_t row; /* in sample_fields */
};

/* Fields that follow each other in the record and in struct perfev_sample: whole words. */
struct layout_run {
	uint16_t from, to, size;
};

#define LAYOUT_STEPS   26
#define LAYOUT_RUNS    14 /* one of each word that has a fixed place: 9 fields, 5 of READ */
#define LAYOUT_ID_BITS                                                                        \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |        \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)
#define SAMPLE_TYPE_KNOWN ((uint64_t)PERF_SAMPLE_MAX - 1)
#define READ_FORMAT_KNOWN ((uint64_t)PERF_FORMAT_MAX - 1)

struct perfev_layout {
	struct perf_event_attr attr; /* zero-extended */
	uint64_t present;	     /* PERF_SAMPLE_* bits of a complete sample */
	uint64_t id_present;	     /* those that identify a record */
	uint32_t fixed_size;	     /* bytes up to the first field of variable size */
	uint16_t sample_time;	     /* offset in a sample; 0: none */
	uint16_t sample_id;
	uint16_t trailer_time; /* offset from the end of other records; 0: none */
	uint16_t trailer_id;
	uint8_t trailer_size; /* bytes; 0 without sample_id_all */
	uint8_t trailer_count;
	uint8_t id_count;
	uint8_t fixed_count;
	uint8_t flat_count; /* fixed ones, and READ when that is of fixed size too */
	uint8_t step_count; /* flat ones included */
	uint8_t run_count;
	uint16_t flat_size;
	struct layout_step steps[LAYOUT_STEPS];
	struct layout_run runs[LAYOUT_RUNS]; /* of the flat ones */
	struct layout_step trailer[6]; /* from: offset in the trailer; to: in struct perfev_id */
	struct layout_step ids[7];     /* the same of a sample */
};

/* Whether a record of this type has a trailer when the layout has one. */
static inline bool layout_has_trailer(const struct perfev_layout *layout, uint32_t type)
{
	return layout && layout->trailer_size && type != PERF_RECORD_SAMPLE && type < 64;
}

/* The attr that @attr, read by its size, is in this library's terms. */
void layout_attr_copy(struct perf_event_attr *to, const struct perf_event_attr *attr);

#endif
