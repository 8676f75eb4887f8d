/* SPDX-License-Identifier: MIT */
/*
 * The packets of AUXTRACE records, and of samples that have the end of a trace (PERF_SAMPLE_AUX), below them. Each record is the next piece of a stream, of which there is one for each CPU
 * or thread: so a decoder is kept for each, with the packet that may have been cut at the end of a piece. A piece that does
 * not begin where the last one of its stream ended, as snapshots do, begins anew; what is in a sample always does.
 */
#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define STREAMS_MAX 8192 /* those above do not go on from one record to the next */

struct stream {
	uint32_t idx, cpu, tid;
	bool begun, synchronized;
	uint64_t next; /* where the next piece begins */
	union {
		struct perfev_pt_decoder pt;
		struct perfev_bts_decoder bts;
		struct perfev_spe_decoder spe;
	} decoder;
};

struct trace {
	struct perfev_record *info; /* the AUXTRACE_INFO, copied */
	uint32_t type;
	struct stream *streams, spare;
	size_t count, room;
	uint64_t limit; /* of packets below a record */
	/* of the record that is shown */
	bool json;
	bool in_sample;
	struct perfev_auxtrace piece;
	enum perfev_spe_family family;
	uint64_t shown;
	uint64_t pad_offset, pads; /* those that were not shown yet: a row of them is one line */
};

struct trace *trace_new(uint64_t limit)
{
	struct trace *trace = calloc(1, sizeof(*trace));

	if (trace)
		trace->limit = limit;
	return trace;
}

void trace_free(struct trace *trace)
{
	if (!trace)
		return;
	perfev_record_free(trace->info);
	free(trace->streams);
	free(trace);
}

static struct stream *stream_of(struct trace *trace, const struct perfev_auxtrace *piece)
{
	struct stream *found;
	size_t i;

	for (i = 0; i < trace->count; i++) {
		found = &trace->streams[i];
		if (found->idx == piece->idx && found->cpu == piece->cpu && found->tid == piece->tid)
			return found;
	}
	if (trace->count == trace->room && trace->room < STREAMS_MAX) {
		size_t room = trace->room ? trace->room * 2 : 16;

		found = realloc(trace->streams, room * sizeof(*found));
		if (found) {
			trace->streams = found;
			trace->room = room;
		}
	}
	found = trace->count < trace->room ? &trace->streams[trace->count++] : &trace->spare;
	memset(found, 0, sizeof(*found));
	found->idx = piece->idx;
	found->cpu = piece->cpu;
	found->tid = piece->tid;
	return found;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* The bytes of a packet, as far as they are in this record. */
static void put_bytes(const struct trace *trace, uint64_t offset, uint64_t size)
{
	const unsigned char *bytes = trace->piece.bytes.data;
	uint64_t at = offset - trace->piece.offset, i;
	int column = 0;

	for (i = 0; i < size && i < 16; i++)
		if (offset + i >= trace->piece.offset && at + i < trace->piece.bytes.size)
			column += printf(" %02x", bytes[at + i]);
	if (size > 16)
		column += printf(" ...");
	printf("%*s", column < 36 ? 36 - column : 1, "");
}

/* @kind: the member in JSON. */
static void put_line(struct trace *trace, const char *kind, uint64_t offset, uint64_t size, const char *text)
{
	trace->shown++;
	if (trace->shown > trace->limit)
		return;
	if (trace->json) {
		printf("%s{\"offset\":%" PRIu64 ",\"size\":%" PRIu64 ",\"%s\":", trace->shown > 1 ? "," : "", offset, size, kind);
		json_string(stdout, text);
		fputc('}', stdout);
		return;
	}
	printf("          0x%08" PRIx64 " ", offset);
	put_bytes(trace, offset, size);
	printf("%s\n", text);
}

static void put_pads(struct trace *trace, const char *name)
{
	char text[64];

	if (!trace->pads)
		return;
	snprintf(text, sizeof(text), trace->pads > 1 ? "%s x%" PRIu64 : "%s", name, trace->pads);
	put_line(trace, "text", trace->pad_offset, trace->pads, text);
	trace->pads = 0;
}

static void add_pad(struct trace *trace, uint64_t offset)
{
	if (!trace->pads)
		trace->pad_offset = offset;
	trace->pads++;
}

static void put_passed(struct trace *trace, uint64_t from, uint64_t to)
{
	char text[100];

	snprintf(text, sizeof(text), "%" PRIu64 " bytes in front of a PSB are passed over", to - from);
	if (to > from)
		put_line(trace, "error", from, to - from, text);
}

/* ---- each kind of trace -------------------------------------------------------------------------------------------- */

static bool synchronize(struct trace *trace, struct stream *stream)
{
	struct perfev_pt_decoder *decoder = &stream->decoder.pt;
	uint64_t from = perfev_trace_offset(&decoder->input);

	stream->synchronized = perfev_pt_sync(decoder) > 0;
	put_passed(trace, from, perfev_trace_offset(&decoder->input));
	return stream->synchronized;
}

static void put_pt(struct trace *trace, struct stream *stream)
{
	struct perfev_pt_decoder *decoder = &stream->decoder.pt;
	struct perfev_pt_packet packet;
	struct perfev_error err;
	char text[300];
	int r;

	perfev_pt_feed(decoder, trace->piece.bytes);
	while (stream->synchronized || synchronize(trace, stream)) {
		r = perfev_pt_next(decoder, &packet, &err);
		if (r > 0 && packet.type == PERFEV_PT_PAD) {
			add_pad(trace, packet.offset);
			continue;
		}
		put_pads(trace, "PAD");
		if (r == 0)
			return;
		if (r < 0) {
			put_line(trace, "error", perfev_trace_offset(&decoder->input), 0, err.text);
			stream->synchronized = false;
		} else if (trace->shown < trace->limit) {
			perfev_pt_format(text, sizeof(text), &packet);
			put_line(trace, "text", packet.offset, packet.size, text);
		} else {
			trace->shown++;
		}
	}
}

static void put_bts(struct trace *trace, struct stream *stream)
{
	struct perfev_bts_branch branch;
	char text[200];

	perfev_bts_feed(&stream->decoder.bts, trace->piece.bytes);
	while (perfev_bts_next(&stream->decoder.bts, &branch) > 0) {
		perfev_bts_format(text, sizeof(text), &branch);
		put_line(trace, "text", branch.offset, 24, text);
	}
}

static void put_spe(struct trace *trace, struct stream *stream)
{
	struct perfev_spe_decoder *decoder = &stream->decoder.spe;
	struct perfev_spe_packet packet;
	struct perfev_error err;
	char text[1400];
	int r;

	perfev_spe_feed(decoder, trace->piece.bytes);
	do {
		r = perfev_spe_next(decoder, &packet, &err);
		if (r > 0 && packet.type == PERFEV_SPE_PADDING) {
			add_pad(trace, packet.offset);
			continue;
		}
		put_pads(trace, "Padding");
		if (r > 0) {
			perfev_spe_format(text, sizeof(text), &packet, trace->family);
			put_line(trace, "text", packet.offset, packet.size, text);
		} else if (r < 0) {
			put_line(trace, "error", perfev_trace_offset(&decoder->input), 1, err.text);
			perfev_spe_skip(decoder);
		}
	} while (r);
}

static void put_unknown(struct trace *trace)
{
	const char *name = perfev_auxtrace_type_name(trace->type);
	char text[120];

	snprintf(text, sizeof(text), "%zu bytes of %s, whose packets are not shown", trace->piece.bytes.size,
		 name ? name : "a trace of an unknown kind");
	put_line(trace, "error", trace->piece.offset, 0, text);
}

static void begin(struct trace *trace, struct stream *stream)
{
	uint64_t offset = trace->piece.offset;

	if (trace->type == PERFEV_AUXTRACE_INTEL_PT)
		perfev_pt_begin(&stream->decoder.pt, offset);
	else if (trace->type == PERFEV_AUXTRACE_INTEL_BTS)
		perfev_bts_begin(&stream->decoder.bts, offset, 8);
	else if (trace->type == PERFEV_AUXTRACE_ARM_SPE)
		perfev_spe_begin(&stream->decoder.spe, offset);
	stream->begun = true;
	stream->synchronized = false;
}

static void put_piece(struct trace *trace)
{
	struct stream *stream = trace->in_sample ? &trace->spare : stream_of(trace, &trace->piece);

	trace->shown = trace->pads = 0;
	if (!stream->begun || stream->next != trace->piece.offset || stream == &trace->spare)
		begin(trace, stream);
	stream->next = trace->piece.offset + trace->piece.bytes.size;
	if (trace->type == PERFEV_AUXTRACE_INTEL_PT)
		put_pt(trace, stream);
	else if (trace->type == PERFEV_AUXTRACE_INTEL_BTS)
		put_bts(trace, stream);
	else if (trace->type == PERFEV_AUXTRACE_ARM_SPE)
		put_spe(trace, stream);
	else
		put_unknown(trace);
}

/* ---- records ------------------------------------------------------------------------------------------------------ */

static void keep_info(struct trace *trace, const struct perfev_record *record)
{
	struct perfev_auxtrace_info info;

	if (perfev_auxtrace_info_decode(&info, record, NULL) < 0)
		return;
	dump_info(&info, trace->json);
	perfev_record_free(trace->info);
	trace->info = NULL;
	perfev_record_copy(&trace->info, record, NULL);
	if (trace->type != info.type) /* the decoders of another kind are of no use */
		trace->count = 0;
	trace->type = info.type;
}

static enum perfev_spe_family family_of(const struct trace *trace)
{
	struct perfev_auxtrace_info info;
	uint64_t midr;

	if (trace->type != PERFEV_AUXTRACE_ARM_SPE || !trace->info ||
	    perfev_auxtrace_info_decode(&info, trace->info, NULL) < 0 || !perfev_spe_midr(&midr, &info, trace->piece.cpu))
		return PERFEV_SPE_FAMILY_UNKNOWN;
	return perfev_spe_family_of(midr);
}

/* What a sample has of a trace: its offset is counted from there. */
static bool take_sample(struct trace *trace, const struct perfev_record *record, const struct perfev_layout *layout)
{
	struct perfev_sample sample;

	if (!layout || !(perfev_layout_attr(layout)->sample_type & PERF_SAMPLE_AUX))
		return false;
	sample.aux.size = 0;
	if (perfev_sample_decode(&sample, record, layout, NULL) < 0 || !sample.aux.size)
		return false;
	memset(&trace->piece, 0, sizeof(trace->piece));
	trace->piece.cpu = sample.present & PERF_SAMPLE_CPU ? sample.cpu : UINT32_MAX;
	trace->piece.tid = sample.present & PERF_SAMPLE_TID ? sample.tid : UINT32_MAX;
	trace->piece.size = sample.aux.size;
	trace->piece.bytes = sample.aux;
	return true;
}

/* Whether the record has a piece of a trace; one that tells of which PMU is remembered. */
static bool take(struct trace *trace, const struct perfev_record *record, const struct perfev_layout *layout)
{
	trace->in_sample = record->type == PERF_RECORD_SAMPLE;
	if (record->type == PERFEV_RECORD_AUXTRACE_INFO)
		keep_info(trace, record);
	if (trace->in_sample ? !take_sample(trace, record, layout)
			     : record->type != PERFEV_RECORD_AUXTRACE || perfev_auxtrace_decode(&trace->piece, record, NULL) < 0)
		return false;
	trace->family = family_of(trace);
	return true;
}

void trace_text(struct trace *trace, const struct perfev_record *record, const struct perfev_layout *layout)
{
	trace->json = false;
	if (!take(trace, record, layout))
		return;
	put_piece(trace);
	if (trace->shown > trace->limit)
		printf("          and %" PRIu64 " more\n", trace->shown - trace->limit);
}

void trace_json(struct trace *trace, const struct perfev_record *record, const struct perfev_layout *layout)
{
	trace->json = true;
	if (!take(trace, record, layout))
		return;
	fputs(",\"trace\":[", stdout);
	put_piece(trace);
	printf("],\"trace_lines\":%" PRIu64, trace->shown);
}
