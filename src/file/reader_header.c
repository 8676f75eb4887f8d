/* SPDX-License-Identifier: MIT */
/*
 * The header of a recording, and its feature table.
 *
 * Version 2 begins with "PERFILE2" and says its own size: 104 bytes for a file, 72 for an old one
 * without features, 16 for the streamed form. Version 1 begins with "PERFFILE"; its byte order is
 * guessed from the attr size. All offsets are checked against the file before they are followed.
 */
#include "reader_base.h"
#include "writer_base.h"

#include "base/error.h"
#include "base/load.h"

#include <errno.h>
#include <stdlib.h>

#define MAGIC2	     UINT64_C(0x32454c4946524550)
#define MAGIC2_SWAP  UINT64_C(0x50455246494c4532)
#define HEADER_SIZE  104
#define HEADER_OLD   72
#define HEADER_PIPE  16
#define ATTR_BITMAP  72 /* offset of the feature bitmap */

struct header {
	uint64_t size, attr_size, attrs_offset, attrs_size, data_offset, data_size;
	uint64_t features[4];
	bool has_features;
};

static int not_a_recording(const struct perfev_reader *reader, struct perfev_error *err)
{
	return error_set(err, -EINVAL, PERFEV_WHY_FORMAT, 0,
			 "cannot read %s: it is no perf.data file (it does not begin with PERFILE2 or "
			 "PERFFILE); give the file that perfev record wrote",
			 reader->name);
}

/* Version 1: no byte order in its magic. */
static bool guess_order(const unsigned char *data, bool *swapped)
{
	static const uint8_t sizes[] = {64, 72, 80, 96, 104};
	uint64_t plain = load_u64(data + 16, false), swap = load_u64(data + 16, true);
	size_t i;

	for (i = 0; i < sizeof(sizes); i++) {
		if (plain == sizes[i] + 16u || swap == sizes[i] + 16u) {
			*swapped = plain != sizes[i] + 16u;
			return true;
		}
	}
	return false;
}

static int read_magic(struct perfev_reader *reader, const unsigned char *data,
		      struct perfev_error *err)
{
	uint64_t magic = load_u64(data, PERFEV_BIG_ENDIAN);

	reader->info.version = 2;
	if (magic == MAGIC2) {
		reader->info.swapped = PERFEV_BIG_ENDIAN;
		return 0;
	}
	if (magic == MAGIC2_SWAP) {
		reader->info.swapped = !PERFEV_BIG_ENDIAN;
		return 0;
	}
	reader->info.version = 1;
	if (memcmp(data, "PERFFILE", 8) || !source_at(&reader->source, 0, HEADER_OLD) ||
	    !guess_order(data, &reader->info.swapped))
		return not_a_recording(reader, err);
	return 0;
}

/* The bitmap is words of 64 bits, or of 32 where the recorder's long had 32: HOSTNAME is always set, so
 * that its absence tells. */
static void read_bitmap(struct header *h, const unsigned char *at, bool swapped)
{
	uint64_t hostname = UINT64_C(1) << PERFEV_FEATURE_HOSTNAME;
	int i;

	for (i = 0; i < 4; i++)
		h->features[i] = load_u64(at + i * 8, swapped);
	if (!swapped || (h->features[0] & hostname))
		return;
	for (i = 0; i < 4; i++)
		h->features[i] = load_u32(at + i * 8, true) |
				 (uint64_t)load_u32(at + i * 8 + 4, true) << 32;
	if (h->features[0] & hostname)
		return;
	memset(h->features, 0, sizeof(h->features));
	h->features[0] = UINT64_C(1) << PERFEV_FEATURE_BUILD_ID;
}

static int bad_header(struct perfev_reader *reader, struct perfev_error *err, const char *what)
{
	return reader_damage(reader, -EINVAL, PERFEV_WHY_CORRUPT, 0, err, "%s", what);
}

static int read_header(struct perfev_reader *reader, struct header *h, const unsigned char *data,
		       struct perfev_error *err)
{
	bool swapped = reader->info.swapped;

	memset(h, 0, sizeof(*h));
	h->size = load_u64(data + 8, swapped);
	if (h->size < HEADER_OLD || !source_at(&reader->source, 0, h->size))
		return bad_header(reader, err, "its header says a size that cannot be");
	h->attr_size = load_u64(data + 16, swapped);
	h->attrs_offset = load_u64(data + 24, swapped);
	h->attrs_size = load_u64(data + 32, swapped);
	h->data_offset = load_u64(data + 40, swapped);
	h->data_size = load_u64(data + 48, swapped);
	h->has_features = h->size >= HEADER_SIZE;
	if (h->has_features)
		read_bitmap(h, data + ATTR_BITMAP, swapped);
	if (h->data_offset < h->size)
		return reader_damage(reader, -EINVAL, PERFEV_WHY_CORRUPT, h->data_offset, err,
				     "its records begin at offset %llu, inside its header",
				     (unsigned long long)h->data_offset);
	if (h->attr_size < PERF_ATTR_SIZE_VER0 + 16)
		return bad_header(reader, err, "its events are shorter than any event can be");
	if (!source_at(&reader->source, h->attrs_offset, h->attrs_size))
		return reader_damage(reader, -EINVAL, PERFEV_WHY_TRUNCATED, 0, err,
				     "its table of events is outside of the file");
	if (h->data_offset > reader->source.size)
		return reader_damage(reader, -EINVAL, PERFEV_WHY_TRUNCATED, 0, err,
				     "its records begin at 0x%llx, behind the end of the file",
				     (unsigned long long)h->data_offset);
	return 0;
}

/* perf walks entries by attr.size + 16, and the header's attr_size is the same in files it writes. */
static uint64_t entry_size(const struct perfev_reader *reader, const struct header *h)
{
	const unsigned char *first = source_at(&reader->source, h->attrs_offset, 8);
	uint64_t own;

	if (h->attrs_size % h->attr_size == 0 || !first)
		return h->attr_size;
	own = load_u32(first + 4, reader->info.swapped) + UINT64_C(16);
	return own >= PERF_ATTR_SIZE_VER0 + 16 && h->attrs_size % own == 0 ? own : h->attr_size;
}

/* The table of sections follows the records; its places are those of the bits that are set. */
static int read_features(struct perfev_reader *reader, const struct header *h,
			 struct perfev_error *err)
{
	uint64_t at = h->data_offset + h->data_size;
	unsigned bit;

	for (bit = 0; bit < PERFEV_FEATURE_COUNT; bit++) {
		struct reader_section *section = &reader->features[bit];
		const unsigned char *entry;
		uint64_t size;

		if (!(h->features[bit / 64] >> bit % 64 & 1))
			continue;
		entry = source_at(&reader->source, at, 16);
		if (!entry)
			return reader_damage(reader, -EINVAL, PERFEV_WHY_TRUNCATED, at, err,
					     "its table of feature sections is outside of the file");
		at += 16;
		section->offset = load_u64(entry, reader->info.swapped);
		size = load_u64(entry + 8, reader->info.swapped);
		section->bytes.data = source_at(&reader->source, section->offset, size);
		section->bytes.size = (size_t)size;
		section->there = section->bytes.data != NULL;
		if (!section->there)
			return reader_damage(reader, -EINVAL, PERFEV_WHY_TRUNCATED, section->offset, err,
					     "its section %s is outside of the file",
					     perfev_feature_name(bit) ? perfev_feature_name(bit) : "?");
	}
	return 0;
}

/* Sections that a recorder wrote in front of the records, and whose table behind them it did not come to write (see
 * writer_early.c). What does not fit is left out: they are more than there would be otherwise. */
static void read_early(struct perfev_reader *reader, const unsigned char *header)
{
	bool swapped = reader->info.swapped;
	uint64_t at = load_u64(header + EARLY_PLACE, swapped), size = load_u64(header + EARLY_PLACE + 8, swapped);
	const unsigned char *table = source_at(&reader->source, at, size);

	if (!table || size < 8 || load_u64(table, swapped) != EARLY_MAGIC)
		return;
	for (table += 8, size -= 8; size >= 24; table += 24, size -= 24) {
		uint64_t feature = load_u64(table, swapped);
		struct reader_section *section = feature < PERFEV_FEATURE_COUNT ? &reader->features[feature] : NULL;

		if (!section)
			continue;
		section->offset = load_u64(table + 8, swapped);
		section->bytes.size = (size_t)load_u64(table + 16, swapped);
		section->bytes.data = source_at(&reader->source, section->offset, section->bytes.size);
		section->there = section->bytes.data != NULL;
	}
}

/* Damage of the header is forgiven (partial) as long as there is something to read. */
static int forgive(const struct perfev_reader *reader, int r)
{
	return r < 0 && r != -ENOMEM && reader->partial ? 0 : r;
}

static int open_file(struct perfev_reader *reader, const unsigned char *data,
		     struct perfev_error *err)
{
	struct header h;
	uint64_t left;
	int r = read_header(reader, &h, data, err);

	reader->info.size += reader->source.size;
	if (r < 0 && reader->partial) { /* nothing of it can be found */
		reader->ended = true;
		return 0;
	}
	if (r < 0)
		return r;
	reader->info.data_offset = h.data_offset;
	reader->info.data_size = h.data_size;
	reader->info.position = h.data_offset;
	reader->info.cut = h.data_size == 0;
	reader->attrs_offset = h.attrs_offset;
	reader->entry_size = entry_size(reader, &h);
	reader->attrs_count = h.attrs_size / reader->entry_size;
	left = reader->source.size - h.data_offset;
	reader->end = reader->info.cut ? reader->source.size : h.data_offset + h.data_size;
	r = forgive(reader, reader_read_attrs(reader, h.attrs_offset, h.attrs_size,
					      reader->entry_size, err));
	if (r == 0 && h.data_size > left) {
		r = reader_damage(reader, -EINVAL, PERFEV_WHY_TRUNCATED, reader->source.size, err,
				  "its header says 0x%llx bytes of records and 0x%llx are there; the file was "
				  "cut short",
				  (unsigned long long)h.data_size, (unsigned long long)left);
		reader->end = reader->source.size;
		return forgive(reader, r);
	}
	if (r == 0 && h.has_features && !reader->info.cut)
		r = forgive(reader, read_features(reader, &h, err));
	if (h.has_features && (reader->info.cut || !(h.features[0] | h.features[1] | h.features[2] | h.features[3])))
		read_early(reader, data);
	if (r == 0)
		r = forgive(reader, reader_take_event_desc(reader, err));
	return r < 0 ? r : reader_name_tracepoints(reader, err);
}

int reader_open_header(struct perfev_reader *reader, struct perfev_error *err)
{
	const unsigned char *data = reader_need(reader, HEADER_PIPE);
	int r;

	if (reader->stream_error)
		return error_errno(err, reader->stream_error, "cannot read %.200s", reader->name);
	if (!data)
		return not_a_recording(reader, err);
	r = read_magic(reader, data, err);
	if (r < 0)
		return r;
	if (load_u64(data + 8, reader->info.swapped) == HEADER_PIPE) {
		reader->info.pipe = true;
		reader->info.data_offset = HEADER_PIPE;
		reader->info.position = HEADER_PIPE;
		reader->info.size = reader->source.size;
		reader->end = reader->source.data ? reader->source.size : UINT64_MAX;
		reader->stream_at = HEADER_PIPE;
		return 0;
	}
	if (!reader->source.data)
		return error_set(err, -ESPIPE, PERFEV_WHY_FORMAT, 0,
				 "cannot read %s from a pipe: it is a file, whose tables are at its end; "
				 "give its name, or record with -o - to make a stream",
				 reader->name);
	return open_file(reader, data, err);
}
