/* SPDX-License-Identifier: MIT */
/*
 * Records written: the tables that decode, walked the other way.
 *
 * Where the kernel leaves a choice there is one canonical form: texts and raw data are padded with zeros to
 * a multiple of 8 bytes, a stack is filled with zeros behind its valid bytes, the hardware index of branches
 * is left out when it is not known, and their counters when there are none.
 */
#include "fields.h"
#include "layout.h"

#include "base/error.h"
#include "base/load.h"

#include <errno.h>

#define HEADER	   sizeof(struct perf_event_header)
#define RECORD_MAX 65528 /* a multiple of 8 that 16 bits hold */

/* Where it goes: what does not fit is counted, not written. */
struct pen {
	unsigned char *to;
	size_t size, at;
	bool swap;
};

static void put(struct pen *p, const void *bytes, size_t size)
{
	if (size && p->at <= p->size && size <= p->size - p->at)
		memcpy(p->to + p->at, bytes, size);
	p->at += size;
}

static void put_zeros(struct pen *p, size_t size)
{
	if (size && p->at <= p->size && size <= p->size - p->at)
		memset(p->to + p->at, 0, size);
	p->at += size;
}

static void put_u16(struct pen *p, uint16_t v)
{
	v = p->swap ? swap_u16(v) : v;
	put(p, &v, sizeof(v));
}

static void put_u32(struct pen *p, uint32_t v)
{
	v = p->swap ? swap_u32(v) : v;
	put(p, &v, sizeof(v));
}

static void put_u64(struct pen *p, uint64_t v)
{
	v = p->swap ? swap_u64(v) : v;
	put(p, &v, sizeof(v));
}

static void put_words(struct pen *p, struct perfev_u64s words)
{
	uint32_t i;

	for (i = 0; i < words.count; i++)
		put_u64(p, perfev_u64s_at(words, i));
}

static void pad(struct pen *p)
{
	put_zeros(p, (8 - p->at % 8) % 8);
}

/* ---- READ ------------------------------------------------------------------------------------------------ */

static void put_values(struct pen *p, const struct perfev_values *values, uint64_t format)
{
	struct perfev_value one = {0, 0, 0};
	uint32_t i;

	if (!(format & PERF_FORMAT_GROUP))
		put_u64(p, values->count);
	else
		put_u64(p, values->members);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		put_u64(p, values->enabled_ns);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		put_u64(p, values->running_ns);
	for (i = 0; i < (format & PERF_FORMAT_GROUP ? values->members : 1); i++) {
		perfev_values_at(values, i, &one);
		if (format & PERF_FORMAT_GROUP)
			put_u64(p, one.count);
		if (format & PERF_FORMAT_ID)
			put_u64(p, one.id);
		if (format & PERF_FORMAT_LOST)
			put_u64(p, one.lost);
	}
}

/* ---- samples ---------------------------------------------------------------------------------------------- */

static void put_raw(struct pen *p, struct perfev_bytes raw)
{
	size_t whole = (raw.size + 4 + 7) / 8 * 8 - 4;

	put_u32(p, (uint32_t)whole);
	put(p, raw.data, raw.size);
	put_zeros(p, whole - raw.size);
}

static uint64_t branch_word(const struct perfev_branch *b, bool big)
{
	const struct {
		uint64_t value;
		unsigned shift, width;
	} parts[] = {{b->mispredicted, 0, 1}, {b->predicted, 1, 1}, {b->in_tx, 2, 1}, {b->abort, 3, 1},
		     {b->cycles, 4, 16},      {b->type, 20, 4},	    {b->spec, 24, 2}, {b->new_type, 26, 4},
		     {b->priv, 30, 3}};
	uint64_t word = 0;
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		word |= (parts[i].value & ((UINT64_C(1) << parts[i].width) - 1))
			<< (big ? 64 - parts[i].shift - parts[i].width : parts[i].shift);
	return word;
}

static void put_branches(struct pen *p, const struct perfev_branches *branches, uint64_t kind)
{
	bool big = p->swap ? !PERFEV_BIG_ENDIAN : PERFEV_BIG_ENDIAN;
	struct perfev_branch one;
	uint32_t i;

	put_u64(p, branches->count);
	if ((kind & PERF_SAMPLE_BRANCH_HW_INDEX) && (branches->count || branches->hw_idx != UINT64_MAX))
		put_u64(p, branches->hw_idx);
	for (i = 0; i < branches->count; i++) {
		memset(&one, 0, sizeof(one));
		perfev_branches_at(branches, i, &one);
		put_u64(p, one.from);
		put_u64(p, one.to);
		put_u64(p, branch_word(&one, big));
	}
	if (kind & PERF_SAMPLE_BRANCH_COUNTERS)
		put_words(p, branches->counters);
}

static void put_registers(struct pen *p, const struct perfev_registers *registers)
{
	put_u64(p, registers->abi);
	if (registers->abi != PERF_SAMPLE_REGS_ABI_NONE)
		put_words(p, registers->values);
}

static void put_stack(struct pen *p, const struct perfev_sample *sample)
{
	uint64_t size = sample->stack_user_size;
	size_t valid = sample->stack_user.size < size ? sample->stack_user.size : (size_t)size;

	put_u64(p, size);
	if (!size)
		return;
	put(p, sample->stack_user.data, valid);
	put_zeros(p, (size_t)size - valid);
	put_u64(p, valid);
}

static void put_step(struct pen *p, const struct perfev_layout *layout, const struct layout_step *step,
		     const struct perfev_sample *sample)
{
	const unsigned char *from = (const unsigned char *)sample + step->to;

	switch (step->kind) {
	case FIELD_U64:
		put_u64(p, load_u64(from, false));
		break;
	case FIELD_READ:
		put_values(p, &sample->read, layout->attr.read_format);
		break;
	case FIELD_CHAIN:
		put_u64(p, sample->callchain.count);
		put_words(p, sample->callchain);
		break;
	case FIELD_RAW:
		put_raw(p, sample->raw);
		break;
	case FIELD_BRANCHES:
		put_branches(p, &sample->branches, layout->attr.branch_sample_type);
		break;
	case FIELD_REGS_USER:
		put_registers(p, &sample->regs_user);
		break;
	case FIELD_REGS_INTR:
		put_registers(p, &sample->regs_intr);
		break;
	case FIELD_STACK:
		put_stack(p, sample);
		break;
	case FIELD_AUX:
		put_u64(p, sample->aux.size);
		put(p, sample->aux.data, sample->aux.size);
		pad(p);
		break;
	default: /* two halves */
		put_u32(p, load_u32(from, false));
		put_u32(p, load_u32(from + 4, false));
		break;
	}
}

static void put_sample(struct pen *p, const struct perfev_layout *layout, const struct perfev_sample *sample)
{
	unsigned i;

	for (i = 0; i < layout->step_count; i++)
		put_step(p, layout, &layout->steps[i], sample);
}

/* ---- the other records ------------------------------------------------------------------------------------- */

static void put_text(struct pen *p, const char *text)
{
	if (text)
		put(p, text, strlen(text));
	put_zeros(p, 1);
	pad(p);
}

static void put_inode(struct pen *p, const struct perfev_mmap *mmap)
{
	unsigned char zeros[4] = {mmap->build_id_size, 0, 0, 0};
	size_t size = mmap->build_id_size < 20 ? mmap->build_id_size : 20;

	if (mmap->build_id_size) {
		put(p, zeros, 4);
		put(p, mmap->build_id, size);
		put_zeros(p, 20 - size);
		return;
	}
	put_u32(p, mmap->maj);
	put_u32(p, mmap->min);
	put_u64(p, mmap->ino);
	put_u64(p, mmap->ino_generation);
}

static void put_poke(struct pen *p, const struct perfev_text_poke *poke)
{
	put_u16(p, (uint16_t)poke->old_bytes.size);
	put_u16(p, (uint16_t)poke->new_bytes.size);
	put(p, poke->old_bytes.data, poke->old_bytes.size);
	put(p, poke->new_bytes.data, poke->new_bytes.size);
	pad(p);
}

static void put_counted(struct pen *p, struct perfev_u64s words, unsigned each)
{
	put_u64(p, words.count / each);
	put_words(p, words);
}

static void put_field(struct pen *p, const struct record_field *field, const void *record,
		      const struct perfev_layout *layout)
{
	const unsigned char *from = (const unsigned char *)record + field->to;

	switch (field->kind) {
	case RECORD_U16:
		put_u16(p, load_u16(from, false));
		break;
	case RECORD_U32:
		put_u32(p, load_u32(from, false));
		break;
	case RECORD_U64:
		put_u64(p, load_u64(from, false));
		break;
	case RECORD_TEXT:
		put_text(p, *(const char *const *)(const void *)from);
		break;
	case RECORD_TAG:
		put(p, from, 8);
		break;
	case RECORD_INODE:
		put_inode(p, record);
		break;
	case RECORD_NO_INODE:
		break;
	case RECORD_LINKS:
		put_counted(p, *(const struct perfev_u64s *)(const void *)from, 2);
		break;
	case RECORD_WORDS:
		put_counted(p, *(const struct perfev_u64s *)(const void *)from, 1);
		break;
	case RECORD_VALUES:
		put_values(p, (const struct perfev_values *)(const void *)from, layout->attr.read_format);
		break;
	default:
		put_poke(p, record);
		break;
	}
}

static void put_trailer(struct pen *p, const struct perfev_layout *layout, const struct perfev_id *id)
{
	unsigned i;

	for (i = 0; i < layout->trailer_count; i++) {
		const struct layout_step *step = &layout->trailer[i];
		const unsigned char *from = (const unsigned char *)id + step->to;

		if (step->kind == FIELD_U64) {
			put_u64(p, load_u64(from, false));
		} else {
			put_u32(p, load_u32(from, false));
			put_u32(p, load_u32(from + 4, false));
		}
	}
}

static int check(const struct perfev_any *any, const struct perfev_layout *layout, struct perfev_error *err)
{
	bool needs = any->type == PERF_RECORD_SAMPLE || any->type == PERF_RECORD_READ;

	if (any->type == 0 || any->type >= PERF_RECORD_MAX)
		return error_set(err, -ENOTSUP, PERFEV_WHY_UNSUPPORTED, ERROR_NOWHERE,
				 "cannot encode a record of type %u: it is no kernel record that this library "
				 "knows",
				 any->type);
	if (needs && !layout)
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot encode a %s record: no layout was given",
				 perfev_record_name(any->type));
	return 0;
}

static void put_record(struct pen *p, const struct perfev_any *any, const struct perfev_layout *layout)
{
	const struct record_field *rows;
	size_t count, i;

	put_zeros(p, HEADER);
	if (any->type == PERF_RECORD_SAMPLE) {
		put_sample(p, layout, &any->as.sample);
		return;
	}
	rows = record_fields(any->type, &count);
	for (i = 0; i < count; i++)
		put_field(p, &rows[i], &any->as, layout);
	if (layout_has_trailer(layout, any->type))
		put_trailer(p, layout, &any->as.trailer);
}

int perfev_record_encode(void *to, size_t size, const struct perfev_any *any, uint16_t misc,
			 const struct perfev_layout *layout, unsigned flags, struct perfev_error *err)
{
	struct pen p = {to, size, 0, flags & PERFEV_RECORD_SWAPPED};
	int r = check(any, layout, err);
	size_t whole;

	if (r < 0)
		return r;
	put_record(&p, any, layout);
	whole = p.at;
	if (whole > RECORD_MAX)
		return error_set(err, -E2BIG, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot encode a %s record: it has %zu bytes, and no record has more than %d",
				 perfev_record_name(any->type), whole, RECORD_MAX);
	if (whole > size)
		return (int)whole;
	p.at = 0;
	put_u32(&p, any->type);
	put_u16(&p, misc);
	put_u16(&p, (uint16_t)whole);
	return (int)whole;
}
