/* SPDX-License-Identifier: MIT */
/* A recording of a stepped program as perf writes it: AUXTRACE_INFO, what is mapped, and the trace in pieces. */
#ifndef TESTS_PT_RECORDING_H
#define TESTS_PT_RECORDING_H

#include "bytes.h"
#include "pt_stream.h"

#include <perfev/writer.h>

#define PT_TYPE	 8
#define PT_ID	 42
#define PT_ZERO	 5000000 /* of the clock, ns; its mult and shift: */
#define PT_MULT	 2
#define PT_SHIFT 1

static struct perfev_error pt_err;

static inline struct perf_event_attr pt_attr(void)
{
	struct perf_event_attr attr = {.type = PT_TYPE, .size = sizeof(attr)};

	attr.config = 0x2601 | (uint64_t)STREAM_MTC_PERIOD << 14; /* branches, tsc, mtc, pt */
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	attr.read_format = PERF_FORMAT_ID;
	attr.exclude_kernel = attr.exclude_hv = attr.sample_id_all = attr.disabled = attr.mmap = attr.mmap2 = attr.comm = 1;
	return attr;
}

/* The trailer: TID, TIME, CPU, IDENTIFIER. */
static inline void pt_append(struct perfev_writer *writer, struct bytes *to, size_t at, int pid, uint64_t time)
{
	struct perfev_record record;

	if (pid) {
		put_u32(to, (uint32_t)pid);
		put_u32(to, (uint32_t)pid);
		put_u64(to, time);
		put_u64(to, 0);
		put_u64(to, PT_ID);
	}
	end_record(to, at);
	assert_int_equal(perfev_record_from_bytes(&record, (struct perfev_bytes){to->data, to->size}, 0, &pt_err), 0);
	assert_int_equal(perfev_writer_append(writer, &record, &pt_err), 0);
	assert_int_equal(perfev_writer_flush(writer, &pt_err), 0);
	to->size = 0;
}

static inline void pt_info(struct perfev_writer *writer, struct bytes *to, bool times)
{
	const uint64_t words[18] = {PT_TYPE, PT_SHIFT, PT_MULT, PT_ZERO, 1, 0x400, 0x800, 0, 0, 0, 0x200, 0x3c000,
				    times ? STREAM_CTC : 0, times, 2, times ? STREAM_RATIO : 0, 0, 0};
	size_t at = begin_record(to, PERFEV_RECORD_AUXTRACE_INFO, 0), i;

	put_u32(to, PERFEV_AUXTRACE_INTEL_PT);
	put_u32(to, 0);
	for (i = 0; i < 18; i++)
		put_u64(to, words[i]);
	pt_append(writer, to, at, 0, 0);
}

static inline void pt_program(struct perfev_writer *writer, struct bytes *to, const struct stepped *steps)
{
	uint32_t pid = (uint32_t)steps->pid;
	size_t at = begin_record(to, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC), i;

	put_u32(to, pid);
	put_u32(to, pid);
	put_text(to, "branches", 8);
	pt_append(writer, to, at, steps->pid, PT_ZERO + 10);
	for (i = 0; i < steps->map_count; i++) {
		at = begin_record(to, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
		put_u32(to, pid);
		put_u32(to, pid);
		put_u64(to, steps->maps[i].start);
		put_u64(to, steps->maps[i].end - steps->maps[i].start);
		put_u64(to, steps->maps[i].offset);
		put_u64(to, 0);
		put_u64(to, 0);
		put_u64(to, 0);
		put_u32(to, 5);
		put_u32(to, 2);
		put_text(to, steps->maps[i].name, 8);
		pt_append(writer, to, at, steps->pid, PT_ZERO + 20 + i);
	}
	at = begin_record(to, PERF_RECORD_ITRACE_START, 0);
	put_u32(to, pid);
	put_u32(to, pid);
	pt_append(writer, to, at, steps->pid, PT_ZERO + 100);
}

/* A piece of the trace, behind the record that announces it. */
static inline void pt_piece(struct perfev_writer *writer, struct bytes *to, const struct stepped *steps,
			    const struct pt_stream *stream, size_t offset, size_t size)
{
	struct perfev_auxtrace trace = {.offset = offset, .reference = STREAM_START + offset, .cpu = UINT32_MAX, .tid = (uint32_t)steps->pid}; /* 0 would end perf 6.1 with a fault */
	struct perfev_bytes part[2] = {{stream->data + offset, size}, {NULL, 0}};
	size_t at = begin_record(to, PERF_RECORD_AUX, 0);

	put_u64(to, offset);
	put_u64(to, size);
	put_u64(to, 0);
	pt_append(writer, to, at, steps->pid, PT_ZERO + stream->now);
	assert_int_equal(perfev_writer_put_trace(writer, &trace, part, &pt_err), 0);
}

/* Where a piece of at least @least bytes ends: in front of a PSB. A CPU writes whole packets when it is stopped. */
static inline size_t pt_cut(const struct pt_stream *stream, size_t from, size_t least)
{
	static const unsigned char psb[] = "\x02\x82\x02\x82\x02\x82\x02\x82";
	size_t at;

	for (at = from + least; least < stream->size && at + 16 < stream->size; at++)
		if (!memcmp(stream->data + at, psb, 8))
			return at;
	return stream->size;
}

static inline void pt_write(const char *path, const struct stepped *steps, const struct pt_stream *stream, size_t piece_bytes)
{
	struct perf_event_attr attr = pt_attr();
	const uint64_t ids[] = {PT_ID};
	struct perfev_writer *writer;
	static struct bytes out;
	size_t at, size;

	out.size = 0;
	out.big = host_is_big();
	assert_int_equal(perfev_writer_open(&writer, path, NULL, &pt_err), 0);
	assert_int_equal(perfev_writer_add_event(writer, "intel_pt//u", &attr, ids, 1, &pt_err), 0);
	assert_int_equal(perfev_writer_start(writer, &pt_err), 0);
	at = begin_record(&out, PERFEV_RECORD_ID_INDEX, 0);
	put_u64(&out, 1);
	put_u64(&out, PT_ID);
	put_u64(&out, 0);
	put_u64(&out, UINT64_MAX);
	put_u64(&out, (uint32_t)steps->pid);
	pt_append(writer, &out, at, 0, 0);
	pt_info(writer, &out, stream->times);
	pt_program(writer, &out, steps);
	for (at = 0; at < stream->size; at += size) {
		size = pt_cut(stream, at, piece_bytes) - at;
		pt_piece(writer, &out, steps, stream, at, size);
	}
	assert_int_equal(perfev_writer_put_string(writer, PERFEV_FEATURE_ARCH, "x86_64", &pt_err), 0);
	assert_int_equal(perfev_writer_finish(writer, &pt_err), 0);
	perfev_writer_close(writer);
}

#endif
