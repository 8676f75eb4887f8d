/* SPDX-License-Identifier: MIT */
/*
 * Layouts: attr -> where each field of a record is.
 *
 * The kernel writes the fields of a sample in an order of its own (not that of the bits). Those before
 * the first field of variable size have fixed places; the rest is walked. Other records end in a
 * trailer of fixed size when sample_id_all is set. Samples begin with IDENTIFIER and trailers end with
 * it, which is how records of unknown events are told apart.
 */
#include "layout.h"

#include "base/error.h"
#include "base/load.h"

#include <errno.h>
#include <stdlib.h>

#define TO(field) ((uint16_t)offsetof(struct perfev_sample, field))

const struct sample_field sample_fields[] = {
	{PERF_SAMPLE_IDENTIFIER, "identifier", TO(id), FIELD_U64},
	{PERF_SAMPLE_IP, "ip", TO(ip), FIELD_U64},
	{PERF_SAMPLE_TID, "tid", TO(pid), FIELD_PAIR},
	{PERF_SAMPLE_TIME, "time", TO(time), FIELD_U64},
	{PERF_SAMPLE_ADDR, "addr", TO(addr), FIELD_U64},
	{PERF_SAMPLE_ID, "id", TO(id), FIELD_U64},
	{PERF_SAMPLE_STREAM_ID, "stream_id", TO(stream_id), FIELD_U64},
	{PERF_SAMPLE_CPU, "cpu", TO(cpu), FIELD_CPU},
	{PERF_SAMPLE_PERIOD, "period", TO(period), FIELD_U64},
	{PERF_SAMPLE_READ, "read", TO(read), FIELD_READ},
	{PERF_SAMPLE_CALLCHAIN, "callchain", TO(callchain), FIELD_CHAIN},
	{PERF_SAMPLE_RAW, "raw", TO(raw), FIELD_RAW},
	{PERF_SAMPLE_BRANCH_STACK, "branches", TO(branches), FIELD_BRANCHES},
	{PERF_SAMPLE_REGS_USER, "regs_user", TO(regs_user), FIELD_REGS_USER},
	{PERF_SAMPLE_STACK_USER, "stack_user", TO(stack_user), FIELD_STACK},
	{PERF_SAMPLE_WEIGHT, "weight", TO(weight), FIELD_U64},
	{PERF_SAMPLE_WEIGHT_STRUCT, "weight", TO(weight), FIELD_U64},
	{PERF_SAMPLE_DATA_SRC, "data_src", TO(data_src), FIELD_U64},
	{PERF_SAMPLE_TRANSACTION, "transaction", TO(transaction), FIELD_U64},
	{PERF_SAMPLE_REGS_INTR, "regs_intr", TO(regs_intr), FIELD_REGS_INTR},
	{PERF_SAMPLE_PHYS_ADDR, "phys_addr", TO(phys_addr), FIELD_U64},
	{PERF_SAMPLE_CGROUP, "cgroup", TO(cgroup), FIELD_U64},
	{PERF_SAMPLE_DATA_PAGE_SIZE, "data_page_size", TO(data_page_size), FIELD_U64},
	{PERF_SAMPLE_CODE_PAGE_SIZE, "code_page_size", TO(code_page_size), FIELD_U64},
	{PERF_SAMPLE_AUX, "aux", TO(aux), FIELD_AUX},
};
const size_t sample_field_count = sizeof(sample_fields) / sizeof(sample_fields[0]);

/* The trailer's order, and where its fields go. */
static const struct {
	uint64_t bit;
	uint16_t to;
	uint8_t kind;
} trailer_fields[] = {
	{PERF_SAMPLE_TID, offsetof(struct perfev_id, pid), FIELD_PAIR},
	{PERF_SAMPLE_TIME, offsetof(struct perfev_id, time), FIELD_U64},
	{PERF_SAMPLE_ID, offsetof(struct perfev_id, id), FIELD_U64},
	{PERF_SAMPLE_STREAM_ID, offsetof(struct perfev_id, stream_id), FIELD_U64},
	{PERF_SAMPLE_CPU, offsetof(struct perfev_id, cpu), FIELD_CPU},
	{PERF_SAMPLE_IDENTIFIER, offsetof(struct perfev_id, id), FIELD_U64},
};

void layout_attr_copy(struct perf_event_attr *to, const struct perf_event_attr *attr)
{
	uint32_t size = attr->size ? attr->size : PERF_ATTR_SIZE_VER0;

	memset(to, 0, sizeof(*to));
	if (size > sizeof(*to))
		size = sizeof(*to); /* what the struct has: its size member must be true of it */
	memcpy(to, attr, size);
	to->size = size < PERF_ATTR_SIZE_VER0 ? PERF_ATTR_SIZE_VER0 : size;
}

/* The same field of struct perfev_id, for a field of a sample that identifies it. */
static const uint16_t *id_place(uint64_t bit)
{
	size_t i;

	for (i = 0; i < sizeof(trailer_fields) / sizeof(trailer_fields[0]); i++)
		if (trailer_fields[i].bit == bit)
			return &trailer_fields[i].to;
	return NULL;
}

static void add_sample_step(struct perfev_layout *layout, uint8_t row, bool *fixed, uint16_t *at)
{
	const struct sample_field *field = &sample_fields[row];
	struct layout_step step = {*at, field->to, field->kind, row};
	const uint16_t *place = id_place(field->bit);

	layout->steps[layout->step_count++] = step;
	layout->present |= field->bit;
	if (field->kind > FIELD_CPU)
		*fixed = false;
	if (!*fixed)
		return;
	layout->fixed_count++;
	if (place) {
		step.to = *place;
		layout->ids[layout->id_count++] = step;
	}
	if (field->bit == PERF_SAMPLE_TIME)
		layout->sample_time = *at;
	if (field->bit == PERF_SAMPLE_IDENTIFIER ||
	    (field->bit == PERF_SAMPLE_ID && !layout->sample_id))
		layout->sample_id = *at;
	*at = (uint16_t)(*at + 8);
}

static void add_word(struct perfev_layout *layout, uint16_t to)
{
	struct layout_run run = {layout->flat_size, to, 8};
	struct layout_run *last = layout->run_count ? &layout->runs[layout->run_count - 1] : NULL;

	layout->flat_size = (uint16_t)(layout->flat_size + 8);
	if (last && last->from + last->size == run.from && last->to + last->size == run.to)
		last->size = (uint16_t)(last->size + 8);
	else
		layout->runs[layout->run_count++] = run;
}

/* The counts of one event. */
static const struct {
	uint64_t bit; /* PERF_FORMAT_*; 0: always */
	uint16_t to;
} read_fields[] = {
	{0, TO(read.count)},
	{PERF_FORMAT_TOTAL_TIME_ENABLED, TO(read.enabled_ns)},
	{PERF_FORMAT_TOTAL_TIME_RUNNING, TO(read.running_ns)},
	{PERF_FORMAT_ID, TO(read.id)},
	{PERF_FORMAT_LOST, TO(read.lost)},
};

/* What a record of this host's byte order is copied by. */
static void place_runs(struct perfev_layout *layout)
{
	uint64_t format = layout->attr.read_format;
	size_t i;

	layout->flat_size = sizeof(struct perf_event_header);
	for (i = 0; i < layout->fixed_count; i++)
		add_word(layout, layout->steps[i].to);
	layout->flat_count = layout->fixed_count;
	if (!(layout->present & PERF_SAMPLE_READ) || format & PERF_FORMAT_GROUP)
		return;
	layout->flat_count++;
	for (i = 0; i < sizeof(read_fields) / sizeof(read_fields[0]); i++)
		if (!read_fields[i].bit || format & read_fields[i].bit)
			add_word(layout, read_fields[i].to);
}

static void place_sample(struct perfev_layout *layout)
{
	uint16_t at = sizeof(struct perf_event_header);
	bool fixed = true;
	uint8_t row;

	for (row = 0; row < sample_field_count; row++)
		if (layout->attr.sample_type & sample_fields[row].bit)
			add_sample_step(layout, row, &fixed, &at);
	layout->fixed_size = at;
	layout->id_present = layout->attr.sample_type & LAYOUT_ID_BITS;
	place_runs(layout);
}

static void place_trailer(struct perfev_layout *layout)
{
	uint16_t at = 0;
	size_t i;

	if (!layout->attr.sample_id_all)
		return;
	for (i = 0; i < sizeof(trailer_fields) / sizeof(trailer_fields[0]); i++) {
		struct layout_step step = {at, trailer_fields[i].to, trailer_fields[i].kind, 0};

		if (!(layout->attr.sample_type & trailer_fields[i].bit))
			continue;
		layout->trailer[layout->trailer_count++] = step;
		at = (uint16_t)(at + 8);
	}
	layout->trailer_size = (uint8_t)at;
	for (i = 0; i < layout->trailer_count; i++) {
		uint16_t from_end = (uint16_t)(at - layout->trailer[i].from);

		if (layout->trailer[i].to == offsetof(struct perfev_id, time))
			layout->trailer_time = from_end;
		if (layout->trailer[i].to == offsetof(struct perfev_id, id))
			layout->trailer_id = from_end;
	}
}

int perfev_layout_new(struct perfev_layout **ret, const struct perf_event_attr *attr,
		      struct perfev_error *err)
{
	struct perfev_layout *layout;
	struct perf_event_attr copy;

	layout_attr_copy(&copy, attr);
	if (copy.sample_type & ~SAMPLE_TYPE_KNOWN)
		return error_set(err, -EINVAL, PERFEV_WHY_UNSUPPORTED, ERROR_NOWHERE,
				 "cannot decode samples of this event: sample_type 0x%llx has bits "
				 "that this library does not know; update the library",
				 (unsigned long long)copy.sample_type);
	if ((copy.sample_type & PERF_SAMPLE_READ) && (copy.read_format & ~READ_FORMAT_KNOWN))
		return error_set(err, -EINVAL, PERFEV_WHY_UNSUPPORTED, ERROR_NOWHERE,
				 "cannot decode samples of this event: read_format 0x%llx has bits "
				 "that this library does not know; update the library",
				 (unsigned long long)copy.read_format);
	layout = calloc(1, sizeof(*layout));
	if (!layout)
		return error_memory(err);
	layout->attr = copy;
	place_sample(layout);
	place_trailer(layout);
	*ret = layout;
	return 0;
}

void perfev_layout_free(struct perfev_layout *layout)
{
	free(layout);
}

const struct perf_event_attr *perfev_layout_attr(const struct perfev_layout *layout)
{
	return &layout->attr;
}

bool perfev_record_time(const struct perfev_record *record, const struct perfev_layout *layout,
			uint64_t *ret)
{
	size_t at;

	if (!layout)
		return false;
	if (record->type == PERF_RECORD_SAMPLE) {
		at = layout->sample_time;
	} else {
		if (!layout_has_trailer(layout, record->type) || !layout->trailer_time ||
		    record->size < sizeof(struct perf_event_header) + layout->trailer_size)
			return false;
		at = record->size - layout->trailer_time;
	}
	if (!at || at + 8 > record->size)
		return false;
	*ret = load_u64((const unsigned char *)record->data + at,
			record->flags & PERFEV_RECORD_SWAPPED);
	return true;
}
