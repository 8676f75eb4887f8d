/* SPDX-License-Identifier: MIT */
/*
 * Samples: record + layout -> struct perfev_sample.
 *
 * Fixed fields are copied word by word from places the layout knows, after one check of the size. The
 * others are walked with a cursor; each count is compared with the bytes that remain before it is
 * used. Two parts of a branch stack may be missing without a mark (its hardware index when there is no
 * stack, its counters when the PMU has none): there the reading that makes the fields end exactly at
 * the record's end is taken.
 */
#include "sample.h"
#include "layout.h"

#include "base/error.h"
#include "base/load.h"

#include <errno.h>

#define BRANCH_BYTES sizeof(struct perf_branch_entry)

struct cursor {
	const unsigned char *at;
	size_t left;
	bool swap;
};

static bool take(struct cursor *c, size_t size, const unsigned char **ret)
{
	if (size > c->left)
		return false;
	*ret = c->at;
	c->at += size;
	c->left -= size;
	return true;
}

static bool take_u64(struct cursor *c, uint64_t *ret)
{
	const unsigned char *at;

	if (!take(c, 8, &at))
		return false;
	*ret = load_u64(at, c->swap);
	return true;
}

/* An array of @count words. */
static bool take_words(struct cursor *c, uint64_t count, struct perfev_u64s *ret)
{
	if (count > c->left / 8)
		return false;
	ret->data = c->at;
	ret->count = (uint32_t)count;
	ret->swapped = c->swap;
	c->at += (size_t)count * 8;
	c->left -= (size_t)count * 8;
	return true;
}

static unsigned bits_in(uint64_t mask)
{
	unsigned n = 0;

	for (; mask; mask &= mask - 1)
		n++;
	return n;
}

static bool take_single(struct cursor *c, uint64_t format, struct perfev_values *ret)
{
	ret->members = 1;
	return take_u64(c, &ret->count) &&
	       (!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) || take_u64(c, &ret->enabled_ns)) &&
	       (!(format & PERF_FORMAT_TOTAL_TIME_RUNNING) || take_u64(c, &ret->running_ns)) &&
	       (!(format & PERF_FORMAT_ID) || take_u64(c, &ret->id)) &&
	       (!(format & PERF_FORMAT_LOST) || take_u64(c, &ret->lost));
}

static bool take_group(struct cursor *c, uint64_t format, struct perfev_values *ret)
{
	struct perfev_value first = {0, 0, 0};
	uint64_t members;

	if (!take_u64(c, &members) ||
	    ((format & PERF_FORMAT_TOTAL_TIME_ENABLED) && !take_u64(c, &ret->enabled_ns)) ||
	    ((format & PERF_FORMAT_TOTAL_TIME_RUNNING) && !take_u64(c, &ret->running_ns)))
		return false;
	ret->stride = 1 + bits_in(format & (PERF_FORMAT_ID | PERF_FORMAT_LOST));
	if (members > c->left / 8 / ret->stride ||
	    !take_words(c, members * ret->stride, &ret->group))
		return false;
	ret->members = (uint32_t)members;
	perfev_values_at(ret, 0, &first);
	ret->count = first.count;
	ret->id = first.id;
	ret->lost = first.lost;
	return true;
}

static bool take_read(struct cursor *c, uint64_t format, struct perfev_values *ret)
{
	ret->present = format;
	ret->stride = 0;
	return format & PERF_FORMAT_GROUP ? take_group(c, format, ret) : take_single(c, format, ret);
}

size_t values_decode(struct perfev_values *ret, struct perfev_bytes bytes, bool swap,
		     uint64_t format)
{
	struct cursor c = {bytes.data, bytes.size, swap};

	return take_read(&c, format, ret) ? bytes.size - c.left : 0;
}

int perfev_values_decode(struct perfev_values *ret, struct perfev_bytes bytes, uint64_t read_format,
			 bool swapped, struct perfev_error *err)
{
	size_t used;

	if (read_format & ~READ_FORMAT_KNOWN)
		return error_set(err, -EINVAL, PERFEV_WHY_UNSUPPORTED, ERROR_NOWHERE,
				 "cannot decode counts: read_format 0x%llx has bits that this library does not know; "
				 "update the library",
				 (unsigned long long)read_format);
	used = values_decode(ret, bytes, swapped, read_format);
	if (used && used <= INT32_MAX)
		return (int)used;
	return error_set(err, -EINVAL, PERFEV_WHY_TRUNCATED, bytes.size,
			 "cannot decode counts: %zu bytes are too few for read_format 0x%llx", bytes.size,
			 (unsigned long long)read_format);
}

bool perfev_values_at(const struct perfev_values *values, uint32_t index, struct perfev_value *ret)
{
	uint32_t at = index * values->stride;

	if (index >= values->members)
		return false;
	ret->id = 0;
	ret->lost = 0;
	if (!(values->present & PERF_FORMAT_GROUP)) {
		ret->count = values->count;
		if (values->present & PERF_FORMAT_ID)
			ret->id = values->id;
		if (values->present & PERF_FORMAT_LOST)
			ret->lost = values->lost;
		return true;
	}
	ret->count = perfev_u64s_at(values->group, at++);
	if (values->present & PERF_FORMAT_ID)
		ret->id = perfev_u64s_at(values->group, at++);
	if (values->present & PERF_FORMAT_LOST)
		ret->lost = perfev_u64s_at(values->group, at);
	return true;
}

static bool take_raw(struct cursor *c, struct perfev_bytes *ret)
{
	const unsigned char *at;
	uint32_t size;

	if (!take(c, 4, &at))
		return false;
	size = load_u32(at, c->swap);
	if (!take(c, size, &at))
		return false;
	ret->data = at;
	ret->size = size;
	return true;
}

static bool take_registers(struct cursor *c, uint64_t mask, struct perfev_registers *ret)
{
	ret->mask = mask;
	if (!take_u64(c, &ret->abi))
		return false;
	return take_words(c, ret->abi == PERF_SAMPLE_REGS_ABI_NONE ? 0 : bits_in(mask),
			  &ret->values);
}

bool perfev_registers_get(const struct perfev_registers *registers, unsigned index, uint64_t *ret)
{
	unsigned before;

	if (index >= 64 || !(registers->mask >> index & 1) ||
	    registers->abi == PERF_SAMPLE_REGS_ABI_NONE)
		return false;
	before = bits_in(registers->mask & ((UINT64_C(1) << index) - 1));
	if (before >= registers->values.count)
		return false;
	*ret = perfev_u64s_at(registers->values, before);
	return true;
}

static bool take_stack(struct cursor *c, struct perfev_sample *ret)
{
	uint64_t size, valid;
	const unsigned char *at;

	if (!take_u64(c, &size) || size > c->left || !take(c, (size_t)size, &at))
		return false;
	valid = 0;
	if (size && !take_u64(c, &valid))
		return false;
	ret->stack_user.data = at;
	ret->stack_user.size = (size_t)(valid < size ? valid : size);
	ret->stack_user_size = size;
	return true;
}

static bool take_aux(struct cursor *c, struct perfev_bytes *ret)
{
	uint64_t size;
	const unsigned char *at;

	if (!take_u64(c, &size) || size > c->left || !take(c, (size_t)size, &at))
		return false;
	ret->data = at;
	ret->size = (size_t)size;
	return true;
}

static unsigned take_steps(struct cursor *c, const struct perfev_layout *layout, unsigned from,
			   struct perfev_sample *ret);

/* Whether the fields behind a branch stack end exactly where the record does, and register dumps among
 * them begin with an abi that there is: a wrong reading may end there too, by the size of a stack. */
static bool rest_fits(struct cursor rest, const struct perfev_layout *layout, unsigned next)
{
	struct perfev_sample scratch;

	scratch.regs_user.abi = scratch.regs_intr.abi = PERF_SAMPLE_REGS_ABI_NONE;
	return take_steps(&rest, layout, next, &scratch) == layout->step_count && rest.left == 0 &&
	       scratch.regs_user.abi <= PERF_SAMPLE_REGS_ABI_64 &&
	       scratch.regs_intr.abi <= PERF_SAMPLE_REGS_ABI_64;
}

static bool take_hw_index(struct cursor *c, const struct perfev_layout *layout, unsigned next,
			  uint64_t entries, uint64_t *ret)
{
	struct cursor without = *c;

	*ret = UINT64_MAX;
	if (!(layout->attr.branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX))
		return true;
	if (entries == 0) {
		struct cursor with = *c;
		uint64_t ignored;

		if (!take_u64(&with, &ignored) || (!rest_fits(with, layout, next) &&
						   rest_fits(without, layout, next)))
			return true;
	}
	return take_u64(c, ret);
}

static bool take_branches(struct cursor *c, const struct perfev_layout *layout, unsigned next,
			  struct perfev_branches *ret)
{
	const struct perfev_u64s none = {NULL, 0, false};
	const unsigned char *at;
	struct cursor with;
	uint64_t count;

	ret->swapped = c->swap;
	ret->counters = none;
	if (!take_u64(c, &count) || !take_hw_index(c, layout, next, count, &ret->hw_idx) ||
	    count > c->left / BRANCH_BYTES || !take(c, (size_t)count * BRANCH_BYTES, &at))
		return false;
	ret->entries.data = at;
	ret->entries.size = (size_t)count * BRANCH_BYTES;
	ret->count = (uint32_t)count;
	if (!count || !(layout->attr.branch_sample_type & PERF_SAMPLE_BRANCH_COUNTERS))
		return true;
	with = *c;
	if (take_words(&with, count, &ret->counters) &&
	    (rest_fits(with, layout, next) || !rest_fits(*c, layout, next)))
		*c = with;
	else
		ret->counters = none;
	return true;
}

bool perfev_branches_at(const struct perfev_branches *branches, uint32_t index,
			struct perfev_branch *ret)
{
	const unsigned char *at = branches->entries.data;
	bool big = branches->swapped ? !PERFEV_BIG_ENDIAN : PERFEV_BIG_ENDIAN;
	uint64_t word;

	if (index >= branches->count)
		return false;
	at += (size_t)index * BRANCH_BYTES;
	ret->from = load_u64(at, branches->swapped);
	ret->to = load_u64(at + 8, branches->swapped);
	word = load_u64(at + 16, branches->swapped);
#define BITS(shift, width) \
	((word >> (big ? 64 - (shift) - (width) : (shift))) & ((UINT64_C(1) << (width)) - 1))
	ret->mispredicted = (uint8_t)BITS(0, 1);
	ret->predicted = (uint8_t)BITS(1, 1);
	ret->in_tx = (uint8_t)BITS(2, 1);
	ret->abort = (uint8_t)BITS(3, 1);
	ret->cycles = (uint16_t)BITS(4, 16);
	ret->type = (uint8_t)BITS(20, 4);
	ret->spec = (uint8_t)BITS(24, 2);
	ret->new_type = (uint8_t)BITS(26, 4);
	ret->priv = (uint8_t)BITS(30, 3);
#undef BITS
	ret->counters = index < branches->counters.count ? perfev_u64s_at(branches->counters, index) : 0;
	return true;
}

static inline bool take_chain(struct cursor *c, struct perfev_u64s *ret)
{
	uint64_t count;

	return take_u64(c, &count) && take_words(c, count, ret);
}

/* Some words, in moves of constant size, the last of which may begin before the one before it ends. */
static void copy_run(unsigned char *to, const unsigned char *from, size_t size)
{
	size_t at;

	if (size < 16) {
		memcpy(to, from, 8);
		return;
	}
	for (at = 0; at + 16 < size; at += 16)
		memcpy(to + at, from + at, 16);
	memcpy(to + size - 16, from + size - 16, 16);
}

/* One word that is a field, or two. */
static void copy_word(void *to, const unsigned char *from, const struct layout_step *step, bool swap)
{
	unsigned char *at = (unsigned char *)to + step->to;

	if (!swap) {
		memcpy(at, from, 8);
	} else if (step->kind == FIELD_U64) {
		store_u64(at, load_u64(from, true));
	} else {
		store_u32(at, load_u32(from, true));
		store_u32(at + 4, load_u32(from + 4, true));
	}
}

static bool take_step(struct cursor *c, const struct perfev_layout *layout, unsigned i,
		      struct perfev_sample *ret)
{
	const struct layout_step *step = &layout->steps[i];
	const unsigned char *at;

	switch (step->kind) {
	case FIELD_READ:
		return take_read(c, layout->attr.read_format, &ret->read);
	case FIELD_CHAIN:
		return take_chain(c, &ret->callchain);
	case FIELD_RAW:
		return take_raw(c, &ret->raw);
	case FIELD_BRANCHES:
		return take_branches(c, layout, i + 1, &ret->branches);
	case FIELD_REGS_USER:
		return take_registers(c, layout->attr.sample_regs_user, &ret->regs_user);
	case FIELD_REGS_INTR:
		return take_registers(c, layout->attr.sample_regs_intr, &ret->regs_intr);
	case FIELD_STACK:
		return take_stack(c, ret);
	case FIELD_AUX:
		return take_aux(c, &ret->aux);
	default:
		if (!take(c, 8, &at))
			return false;
		copy_word(ret, at, step, c->swap);
		return true;
	}
}

/* Returns the step that does not fit, or the number of steps. */
static unsigned take_steps(struct cursor *c, const struct perfev_layout *layout, unsigned from,
			   struct perfev_sample *ret)
{
	unsigned i;

	for (i = from; i < layout->step_count; i++)
		if (!take_step(c, layout, i, ret))
			break;
	return i;
}

static int cut_short(const struct perfev_record *record, const char *field, struct perfev_error *err)
{
	return error_set(err, -EINVAL, PERFEV_WHY_TRUNCATED, record->offset,
			 "cannot decode the sample at 0x%llx: its %s does not fit its %u bytes; the "
			 "data are damaged, or the attr is another event's",
			 (unsigned long long)record->offset, field, record->size);
}

/* Decodes field by field: in the other byte order, or to find the field that does not fit. */
static int decode_slowly(struct perfev_sample *ret, const struct perfev_record *record,
			 const struct perfev_layout *layout, struct perfev_error *err)
{
	const size_t header = sizeof(struct perf_event_header);
	struct cursor c = {(const unsigned char *)record->data + header,
			   record->size > header ? record->size - header : 0,
			   record->flags & PERFEV_RECORD_SWAPPED};
	unsigned bad = take_steps(&c, layout, 0, ret), i;

	ret->present = layout->present;
	if (bad == layout->step_count)
		return 0;
	ret->present = 0;
	for (i = 0; i < bad; i++)
		ret->present |= sample_fields[layout->steps[i].row].bit;
	return cut_short(record, sample_fields[layout->steps[bad].row].name, err);
}

/* Of this host's byte order: fields that have a fixed place, READ among them. */
static void copy_runs(struct perfev_sample *ret, const unsigned char *data, const struct perfev_layout *layout)
{
	unsigned i;

	for (i = 0; i < layout->run_count; i++) {
		const struct layout_run *run = &layout->runs[i];

		copy_run((unsigned char *)ret + run->to, data + run->from, run->size);
	}
	if (layout->flat_count > layout->fixed_count) {
		ret->read.present = layout->attr.read_format;
		ret->read.members = 1;
		ret->read.stride = 0;
	}
}

int perfev_sample_decode(struct perfev_sample *ret, const struct perfev_record *record,
			 const struct perfev_layout *layout, struct perfev_error *err)
{
	const unsigned char *data = record->data;
	struct cursor c;
	unsigned i;

	if (record->type != PERF_RECORD_SAMPLE || !layout)
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, record->offset,
				 "cannot decode the record as a sample: it is of type %u%s",
				 record->type, layout ? "" : ", and no layout was given");
	ret->misc = record->misc;
	if (record->flags & PERFEV_RECORD_SWAPPED || record->size < layout->flat_size)
		return decode_slowly(ret, record, layout, err);
	copy_runs(ret, data, layout);
	c.at = data + layout->flat_size;
	c.left = record->size - layout->flat_size;
	c.swap = false;
	for (i = layout->flat_count; i < layout->step_count; i++) {
		bool chain = layout->steps[i].kind == FIELD_CHAIN; /* which most samples have, and nothing else */

		if (!(chain ? take_chain(&c, &ret->callchain) : take_step(&c, layout, i, ret)))
			return decode_slowly(ret, record, layout, err);
	}
	ret->present = layout->present;
	return 0;
}
