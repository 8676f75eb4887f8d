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
#include "pen.h"

#include "base/error.h"
#include "base/load.h"

#include <errno.h>

#define HEADER sizeof(struct perf_event_header)

static void put_words(struct pen *p, struct perfev_u64s words)
{
	uint32_t i;

	for (i = 0; i < words.count; i++)
		pen_word(p, perfev_u64s_at(words, i), 8);
}

/* ---- READ ------------------------------------------------------------------------------------------------ */

static void put_values(struct pen *p, const struct perfev_values *values, uint64_t format)
{
	struct perfev_value one = {0, 0, 0};
	uint32_t i;

	if (!(format & PERF_FORMAT_GROUP))
		pen_word(p, values->count, 8);
	else
		pen_word(p, values->members, 8);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		pen_word(p, values->enabled_ns, 8);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		pen_word(p, values->running_ns, 8);
	for (i = 0; i < (format & PERF_FORMAT_GROUP ? values->members : 1); i++) {
		perfev_values_at(values, i, &one);
		if (format & PERF_FORMAT_GROUP)
			pen_word(p, one.count, 8);
		if (format & PERF_FORMAT_ID)
			pen_word(p, one.id, 8);
		if (format & PERF_FORMAT_LOST)
			pen_word(p, one.lost, 8);
	}
}

/* ---- samples ---------------------------------------------------------------------------------------------- */

static void put_raw(struct pen *p, struct perfev_bytes raw)
{
	size_t whole = (raw.size + 4 + 7) / 8 * 8 - 4;

	pen_word(p, whole, 4);
	pen_put(p, raw.data, raw.size);
	pen_zeros(p, whole - raw.size);
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

	pen_word(p, branches->count, 8);
	if ((kind & PERF_SAMPLE_BRANCH_HW_INDEX) && (branches->count || branches->hw_idx != UINT64_MAX))
		pen_word(p, branches->hw_idx, 8);
	for (i = 0; i < branches->count; i++) {
		memset(&one, 0, sizeof(one));
		perfev_branches_at(branches, i, &one);
		pen_word(p, one.from, 8);
		pen_word(p, one.to, 8);
		pen_word(p, branch_word(&one, big), 8);
	}
	if (kind & PERF_SAMPLE_BRANCH_COUNTERS)
		put_words(p, branches->counters);
}

static void put_registers(struct pen *p, const struct perfev_registers *registers)
{
	pen_word(p, registers->abi, 8);
	if (registers->abi != PERF_SAMPLE_REGS_ABI_NONE)
		put_words(p, registers->values);
}

static void put_stack(struct pen *p, const struct perfev_sample *sample)
{
	uint64_t size = sample->stack_user_size;
	size_t valid = sample->stack_user.size < size ? sample->stack_user.size : (size_t)size;

	pen_word(p, size, 8);
	if (!size)
		return;
	pen_put(p, sample->stack_user.data, valid);
	pen_zeros(p, (size_t)size - valid);
	pen_word(p, valid, 8);
}

static void put_step(struct pen *p, const struct perfev_layout *layout, const struct layout_step *step,
		     const struct perfev_sample *sample)
{
	const unsigned char *from = (const unsigned char *)sample + step->to;

	switch (step->kind) {
	case FIELD_U64:
		pen_word(p, load_u64(from, false), 8);
		break;
	case FIELD_READ:
		put_values(p, &sample->read, layout->attr.read_format);
		break;
	case FIELD_CHAIN:
		pen_word(p, sample->callchain.count, 8);
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
		pen_word(p, sample->aux.size, 8);
		pen_put(p, sample->aux.data, sample->aux.size);
		pen_pad(p);
		break;
	default: /* two halves */
		pen_word(p, load_u32(from, false), 4);
		pen_word(p, load_u32(from + 4, false), 4);
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
		pen_put(p, text, strlen(text));
	pen_zeros(p, 1);
	pen_pad(p);
}

static void put_inode(struct pen *p, const struct perfev_mmap *mmap)
{
	unsigned char zeros[4] = {mmap->build_id_size, 0, 0, 0};
	size_t size = mmap->build_id_size < 20 ? mmap->build_id_size : 20;

	if (mmap->build_id_size) {
		pen_put(p, zeros, 4);
		pen_put(p, mmap->build_id, size);
		pen_zeros(p, 20 - size);
		return;
	}
	pen_word(p, mmap->maj, 4);
	pen_word(p, mmap->min, 4);
	pen_word(p, mmap->ino, 8);
	pen_word(p, mmap->ino_generation, 8);
}

static void put_poke(struct pen *p, const struct perfev_text_poke *poke)
{
	pen_word(p, poke->old_bytes.size, 2);
	pen_word(p, poke->new_bytes.size, 2);
	pen_put(p, poke->old_bytes.data, poke->old_bytes.size);
	pen_put(p, poke->new_bytes.data, poke->new_bytes.size);
	pen_pad(p);
}

static void put_counted(struct pen *p, struct perfev_u64s words, unsigned each)
{
	pen_word(p, words.count / each, 8);
	put_words(p, words);
}

static void put_field(struct pen *p, const struct record_field *field, const void *record,
		      const struct perfev_layout *layout)
{
	const unsigned char *from = (const unsigned char *)record + field->to;

	switch (field->kind) {
	case RECORD_U16:
		pen_word(p, load_u16(from, false), 2);
		break;
	case RECORD_U32:
		pen_word(p, load_u32(from, false), 4);
		break;
	case RECORD_U64:
		pen_word(p, load_u64(from, false), 8);
		break;
	case RECORD_TEXT:
		put_text(p, *(const char *const *)(const void *)from);
		break;
	case RECORD_TAG:
		pen_put(p, from, 8);
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
			pen_word(p, load_u64(from, false), 8);
		} else {
			pen_word(p, load_u32(from, false), 4);
			pen_word(p, load_u32(from + 4, false), 4);
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

	pen_zeros(p, HEADER);
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
	pen_word(&p, any->type, 4);
	pen_word(&p, misc, 2);
	pen_word(&p, whole, 2);
	return (int)whole;
}
