/* SPDX-License-Identifier: MIT */
/*
 * Compressed recordings: the kernel's records go through one zstd stream, whose output is the payload of COMPRESSED
 * records; those of tools stay as they are, between them.
 *
 * Each payload is flushed, and what it becomes is no more than 64 KiB: readers give a payload a buffer of the size that
 * the section COMPRESSED names, and take one that becomes nothing for damage. No record is half inside, so that a recording
 * may end behind any of them. When writing fails the stream would have a gap: then nothing is compressed any more.
 */
#include "writer_base.h"

#include "base/error.h"
#include "base/load.h"

#include <errno.h>
#include <stdlib.h>

#define ROOM	   65528	 /* of a record */
#define GIVE_MAX   (60 * 1024)	 /* bytes for one payload: with what zstd adds they fit, if they do not shrink at all */
#define MMAP_BYTES (512 * 1024 + 4096) /* what readers may need for a payload and the rest of the one before */

int writer_pack_begin(struct perfev_writer *writer, uint32_t level, struct perfev_error *err)
{
	struct writer_pack *pack = &writer->pack;
	int r;

	if (!level)
		return 0;
	if (level > 22)
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot write %.200s: %u is no level of compression; take 1 to 22", writer->path, level);
	pack->level = level;
	pack->record = malloc(ROOM);
	if (!pack->record)
		return error_memory(err);
	r = codec_open(&pack->codec, (int)level, err);
	return r < 0 ? r : writer_pack_describe(writer) < 0 ? error_memory(err) : 0;
}

void writer_pack_end(struct writer_pack *pack)
{
	codec_close(pack->codec);
	free(pack->record);
	pack->codec = NULL;
	pack->record = NULL;
}

/* The section COMPRESSED: version, type, level, ratio, mmap_len. */
int writer_pack_describe(struct perfev_writer *writer)
{
	const struct writer_pack *pack = &writer->pack;
	struct buffer *to = &writer->features[PERFEV_FEATURE_COMPRESSED].bytes;
	uint32_t words[5] = {0, CODEC_ZSTD, pack->level, pack->out ? (uint32_t)(pack->in / pack->out) : 1, MMAP_BYTES};

	to->size = 0;
	writer->features[PERFEV_FEATURE_COMPRESSED].set = true;
	writer->features[PERFEV_FEATURE_COMPRESSED].early = 0;
	return buffer_append(to, words, sizeof(words));
}

/* Gives the codec bytes, or asks for all that it holds. */
static int squeeze(struct writer_pack *pack, struct perfev_bytes *in, bool flush)
{
	const char *cause;
	size_t got;
	int r;

	do {
		r = codec_compress(pack->codec, in, flush, pack->record + 8 + pack->used, ROOM - 8 - pack->used, &got, &cause);
		pack->used += got;
		if (r > 0 && pack->used == ROOM - 8)
			r = -EFBIG; /* what cannot be: see GIVE_MAX */
	} while (r > 0);
	return r;
}

static int write_record(struct perfev_writer *writer)
{
	struct writer_pack *pack = &writer->pack;
	struct perfev_bytes none = {pack->record, 0}, piece = {pack->record, 0};
	int r = pack->given ? squeeze(pack, &none, true) : 0;

	if (r < 0 || !pack->used)
		return r;
	memset(pack->record, 0, 8);
	store_u32(pack->record, PERFEV_RECORD_COMPRESSED);
	store_u16(pack->record + 6, (uint16_t)(8 + pack->used));
	piece.size = 8 + pack->used;
	pack->in += pack->given;
	pack->out += piece.size;
	pack->given = 0;
	pack->used = 0;
	return output_write(&writer->output, &piece, 1);
}

/* Whole records at the front of @piece that have room; a record that never has is cut. 0: not now. */
static size_t whole_records(const struct writer_pack *pack, struct perfev_bytes piece)
{
	const unsigned char *data = piece.data;
	size_t room = GIVE_MAX - pack->given, at = 0;

	while (piece.size - at >= 8) {
		size_t size = load_u16(data + at + 6, false);

		if (size < 8 || size > piece.size - at || size > room - at)
			break;
		at += size;
	}
	if (at || pack->given)
		return at;
	return piece.size < room ? piece.size : room;
}

static int pack_piece(struct perfev_writer *writer, struct perfev_bytes piece)
{
	struct writer_pack *pack = &writer->pack;
	int r = 0;

	while (r == 0 && piece.size) {
		struct perfev_bytes now = {piece.data, whole_records(pack, piece)};

		if (!now.size) {
			r = write_record(writer);
			continue;
		}
		piece.data = (const char *)piece.data + now.size;
		piece.size -= now.size;
		pack->given += now.size;
		r = squeeze(pack, &now, false);
		if (r == 0 && pack->given == GIVE_MAX)
			r = write_record(writer);
	}
	return r;
}

int writer_pack_flush(struct perfev_writer *writer)
{
	uint64_t start = writer->output.offset;
	size_t i, from;
	int r = 0;

	for (i = 0; r == 0 && i < writer->piece_count;) {
		if (writer->packs[i]) {
			r = pack_piece(writer, writer->pieces[i++]);
			continue;
		}
		for (from = i; i < writer->piece_count && !writer->packs[i]; i++)
			;
		r = write_record(writer);
		if (r == 0)
			r = output_write(&writer->output, writer->pieces + from, i - from);
	}
	if (r == 0)
		r = write_record(writer);
	if (r < 0) {
		output_cut(&writer->output, start);
		writer_pack_end(&writer->pack);
	}
	return r;
}
