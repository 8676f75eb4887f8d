/* SPDX-License-Identifier: MIT */
/*
 * Records other than samples: walk the rows of the type, then the trailer.
 *
 * The trailer is found from the end of the record, so that fields which a newer kernel adds in between
 * do no harm. A text must end before the trailer; when its terminator is only found in the trailer's
 * place, the record was written without one (old tools did that), and none is read.
 */
#include "fields.h"
#include "layout.h"
#include "sample.h"

#include "base/error.h"
#include "base/load.h"

#include <errno.h>
#include <stdlib.h>

#define HEADER sizeof(struct perf_event_header)

/* What is being decoded. */
struct walk {
	const unsigned char *data;
	size_t at;
	size_t end;  /* where fields end and the trailer begins */
	size_t size; /* of the record */
	const struct perfev_layout *layout;
	bool swap;
	bool no_trailer;
};

int perfev_record_from_bytes(struct perfev_record *ret, struct perfev_bytes bytes, unsigned flags,
			     struct perfev_error *err)
{
	bool swap = flags & PERFEV_RECORD_SWAPPED;
	const unsigned char *data = bytes.data;

	if (bytes.size < HEADER)
		return error_set(err, -EINVAL, PERFEV_WHY_TRUNCATED, 0,
				 "cannot read a record: its header needs 8 bytes and %zu remain",
				 bytes.size);
	memset(ret, 0, sizeof(*ret));
	ret->data = data;
	ret->type = load_u32(data, swap);
	ret->flags = (uint16_t)flags;
	if (ret->type >= 32768 && ret->type < 65536) { /* simpleperf: no misc, the upper half of the size in its place */
		ret->size = (uint32_t)load_u16(data + 4, swap) << 16 | load_u16(data + 6, swap);
	} else {
		ret->misc = load_u16(data + 4, swap);
		ret->size = load_u16(data + 6, swap);
	}
	if (ret->size < HEADER)
		return error_set(err, -EINVAL, PERFEV_WHY_CORRUPT, 0,
				 "cannot read a record of type %u: its size is %u, less than its own "
				 "header",
				 ret->type, ret->size);
	if (ret->size > bytes.size)
		return error_set(err, -EINVAL, PERFEV_WHY_TRUNCATED, 0,
				 "cannot read a record of type %u: it needs %u bytes and %zu remain",
				 ret->type, ret->size, bytes.size);
	return 0;
}

/* In one block: the struct, the bytes of the record, those that follow it. */
int perfev_record_copy(struct perfev_record **ret, const struct perfev_record *record, struct perfev_error *err)
{
	size_t size = record->size, tail = record->tail.size;
	struct perfev_record *copy =
		tail > SIZE_MAX - size - sizeof(*copy) ? NULL : malloc(sizeof(*copy) + size + tail);
	unsigned char *bytes = (unsigned char *)(copy + 1);

	if (!copy)
		return error_memory(err);
	*copy = *record;
	memcpy(bytes, record->data, size);
	copy->data = bytes;
	if (tail) {
		memcpy(bytes + size, record->tail.data, tail);
		copy->tail.data = bytes + size;
	}
	copy->flags |= PERFEV_RECORD_STABLE;
	*ret = copy;
	return 0;
}

void perfev_record_free(struct perfev_record *record)
{
	free(record);
}

static bool walk_take(struct walk *w, size_t size, const unsigned char **ret)
{
	if (w->at > w->end || size > w->end - w->at)
		return false;
	*ret = w->data + w->at;
	w->at += size;
	return true;
}

static bool take_text(struct walk *w, const char **ret)
{
	const unsigned char *nul;

	if (w->at > w->size)
		return false;
	nul = memchr(w->data + w->at, 0, w->size - w->at);
	if (!nul)
		return false;
	if ((size_t)(nul - w->data) >= w->end)
		w->no_trailer = true;
	*ret = (const char *)w->data + w->at;
	w->at = (size_t)(nul - w->data) + 1;
	return true;
}

static void no_inode(struct perfev_mmap *mmap)
{
	mmap->maj = mmap->min = 0;
	mmap->ino = mmap->ino_generation = 0;
	mmap->build_id_size = 0;
	mmap->prot = mmap->flags = 0;
}

/* A build-id is believed only when it looks like one: kernels up to 6.1 could set the mark on a record
 * that has the inode, where the major number of a disk (8) stands for the size. */
static bool is_build_id(const unsigned char *at)
{
	size_t size = at[0], i;

	if (size < 1 || size > 20 || at[1] || at[2] || at[3])
		return false;
	for (i = 4 + size; i < 24; i++)
		if (at[i])
			return false;
	return true;
}

static bool take_inode(struct walk *w, uint16_t misc, struct perfev_mmap *mmap)
{
	const unsigned char *at;

	if (!walk_take(w, 24, &at))
		return false;
	no_inode(mmap);
	if ((misc & PERF_RECORD_MISC_MMAP_BUILD_ID) && is_build_id(at)) {
		mmap->build_id_size = at[0];
		memcpy(mmap->build_id, at + 4, sizeof(mmap->build_id));
		return true;
	}
	mmap->maj = load_u32(at, w->swap);
	mmap->min = load_u32(at + 4, w->swap);
	mmap->ino = load_u64(at + 8, w->swap);
	mmap->ino_generation = load_u64(at + 16, w->swap);
	return true;
}

/* @each: words of one item. */
static bool walk_words(struct walk *w, unsigned each, struct perfev_u64s *ret)
{
	const unsigned char *at;
	uint64_t count;

	if (!walk_take(w, 8, &at))
		return false;
	count = load_u64(at, w->swap);
	if (count > (w->end - w->at) / (8 * each) || !walk_take(w, (size_t)count * 8 * each, &at))
		return false;
	ret->data = at;
	ret->count = (uint32_t)count * each;
	ret->swapped = w->swap;
	return true;
}

static bool take_poke(struct walk *w, struct perfev_text_poke *poke)
{
	const unsigned char *at;

	if (!walk_take(w, 4, &at))
		return false;
	poke->old_bytes.size = load_u16(at, w->swap);
	poke->new_bytes.size = load_u16(at + 2, w->swap);
	if (!walk_take(w, poke->old_bytes.size, &at))
		return false;
	poke->old_bytes.data = at;
	if (!walk_take(w, poke->new_bytes.size, &at))
		return false;
	poke->new_bytes.data = at;
	return true;
}

static bool take_values(struct walk *w, struct perfev_values *ret)
{
	struct perfev_bytes rest = {w->data + w->at, w->end - w->at};
	size_t used;

	if (!w->layout || (w->layout->attr.read_format & ~READ_FORMAT_KNOWN))
		return false;
	used = values_decode(ret, rest, w->swap, w->layout->attr.read_format);
	w->at += used;
	return used > 0;
}

static bool take_field(struct walk *w, const struct record_field *field, uint16_t misc, void *to)
{
	unsigned char *out = (unsigned char *)to + field->to;
	const unsigned char *at;

	switch (field->kind) {
	case RECORD_U16:
		if (!walk_take(w, 2, &at))
			return false;
		store_u16(out, load_u16(at, w->swap));
		return true;
	case RECORD_U32:
		if (!walk_take(w, 4, &at))
			return false;
		store_u32(out, load_u32(at, w->swap));
		return true;
	case RECORD_U64:
		if (!walk_take(w, 8, &at))
			return false;
		store_u64(out, load_u64(at, w->swap));
		return true;
	case RECORD_TEXT:
		return take_text(w, (const char **)(void *)out);
	case RECORD_TAG:
		if (!walk_take(w, 8, &at))
			return false;
		memcpy(out, at, 8);
		return true;
	case RECORD_INODE:
		return take_inode(w, misc, to);
	case RECORD_NO_INODE:
		no_inode(to);
		return true;
	case RECORD_LINKS:
		return walk_words(w, 2, (struct perfev_u64s *)(void *)out);
	case RECORD_WORDS:
		return walk_words(w, 1, (struct perfev_u64s *)(void *)out);
	case RECORD_VALUES:
		return take_values(w, (struct perfev_values *)(void *)out);
	default:
		return take_poke(w, to);
	}
}

static inline void copy_id_words(struct perfev_id *ret, const unsigned char *from, bool swap,
			  const struct layout_step *steps, unsigned count)
{
	unsigned i;

	for (i = 0; i < count; i++) {
		unsigned char *to = (unsigned char *)ret + steps[i].to;
		const unsigned char *at = from + steps[i].from;

		if (steps[i].kind == FIELD_U64) {
			store_u64(to, load_u64(at, swap));
		} else {
			store_u32(to, load_u32(at, swap));
			store_u32(to + 4, load_u32(at + 4, swap));
		}
	}
}

static void take_trailer(const struct walk *w, struct perfev_id *ret)
{
	if (w->no_trailer || w->end == w->size)
		return;
	copy_id_words(ret, w->data + w->end, w->swap, w->layout->trailer, w->layout->trailer_count);
	ret->present = w->layout->id_present;
}

static int too_short(const struct perfev_record *record, const char *what, struct perfev_error *err)
{
	const char *name = perfev_record_name(record->type);

	return error_set(err, -EINVAL, PERFEV_WHY_TRUNCATED, record->offset,
			 "cannot decode the %s record at 0x%llx: its %s does not fit its %u bytes; "
			 "the data are damaged",
			 name ? name : "unknown", (unsigned long long)record->offset, what,
			 record->size);
}

/* Every struct of a record begins with its trailer. */
static int decode_fields(void *to, const struct perfev_record *record,
			 const struct perfev_layout *layout, struct perfev_error *err)
{
	struct walk w = {record->data,
			 HEADER,
			 record->size,
			 record->size,
			 layout,
			 record->flags & PERFEV_RECORD_SWAPPED,
			 false};
	struct perfev_id *trailer = to;
	const struct record_field *rows;
	size_t count, i;

	trailer->present = 0;
	if (layout_has_trailer(layout, record->type)) {
		if (record->size < HEADER + layout->trailer_size)
			return too_short(record, "trailer", err);
		w.end -= layout->trailer_size;
	}
	rows = record_fields(record->type, &count);
	for (i = 0; i < count; i++)
		if (!take_field(&w, &rows[i], record->misc, to))
			return too_short(record, rows[i].name, err);
	take_trailer(&w, trailer);
	return 0;
}

int perfev_any_decode(struct perfev_any *ret, const struct perfev_record *record,
		      const struct perfev_layout *layout, struct perfev_error *err)
{
	ret->type = record->type;
	if (record->type == PERF_RECORD_SAMPLE)
		return perfev_sample_decode(&ret->as.sample, record, layout, err);
	if (record->type == 0 || record->type >= PERF_RECORD_MAX)
		return error_set(err, -ENOTSUP, PERFEV_WHY_UNSUPPORTED, record->offset,
				 "cannot decode the record at 0x%llx: type %u is no kernel record that "
				 "this library knows",
				 (unsigned long long)record->offset, record->type);
	return decode_fields(&ret->as, record, layout, err);
}

int perfev_id_decode(struct perfev_id *ret, const struct perfev_record *record,
		     const struct perfev_layout *layout, struct perfev_error *err)
{
	const unsigned char *data = record->data;
	bool swap = record->flags & PERFEV_RECORD_SWAPPED;

	ret->present = 0;
	if (layout && record->type == PERF_RECORD_SAMPLE) {
		if (record->size < layout->fixed_size)
			return too_short(record, "id", err);
		copy_id_words(ret, data, swap, layout->ids, layout->id_count);
		ret->present = layout->id_present;
	} else if (layout_has_trailer(layout, record->type)) {
		if (record->size < HEADER + layout->trailer_size)
			return too_short(record, "trailer", err);
		copy_id_words(ret, data + record->size - layout->trailer_size, swap, layout->trailer,
			      layout->trailer_count);
		ret->present = layout->id_present;
	}
	return 0;
}

static int wrong_type(const struct perfev_record *record, const char *wanted,
		      struct perfev_error *err)
{
	return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, record->offset,
			 "cannot decode the record as %s: it is of type %u", wanted, record->type);
}

int perfev_mmap_decode(struct perfev_mmap *ret, const struct perfev_record *record,
		       const struct perfev_layout *layout, struct perfev_error *err)
{
	if (record->type != PERF_RECORD_MMAP && record->type != PERF_RECORD_MMAP2)
		return wrong_type(record, "MMAP", err);
	return decode_fields(ret, record, layout, err);
}

int perfev_comm_decode(struct perfev_comm *ret, const struct perfev_record *record,
		       const struct perfev_layout *layout, struct perfev_error *err)
{
	if (record->type != PERF_RECORD_COMM)
		return wrong_type(record, "COMM", err);
	return decode_fields(ret, record, layout, err);
}

int perfev_task_decode(struct perfev_task *ret, const struct perfev_record *record,
		       const struct perfev_layout *layout, struct perfev_error *err)
{
	if (record->type != PERF_RECORD_FORK && record->type != PERF_RECORD_EXIT)
		return wrong_type(record, "FORK or EXIT", err);
	return decode_fields(ret, record, layout, err);
}

int perfev_lost_decode(struct perfev_lost *ret, const struct perfev_record *record,
		       const struct perfev_layout *layout, struct perfev_error *err)
{
	if (record->type != PERF_RECORD_LOST)
		return wrong_type(record, "LOST", err);
	return decode_fields(ret, record, layout, err);
}

int perfev_aux_decode(struct perfev_aux *ret, const struct perfev_record *record,
		      const struct perfev_layout *layout, struct perfev_error *err)
{
	if (record->type != PERF_RECORD_AUX)
		return wrong_type(record, "AUX", err);
	return decode_fields(ret, record, layout, err);
}

int perfev_lost_samples_decode(struct perfev_lost_samples *ret, const struct perfev_record *record,
			       const struct perfev_layout *layout, struct perfev_error *err)
{
	if (record->type != PERF_RECORD_LOST_SAMPLES)
		return wrong_type(record, "LOST_SAMPLES", err);
	return decode_fields(ret, record, layout, err);
}
