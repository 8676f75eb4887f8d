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
static uint32_t pt_cpu; /* of records that are written */

static inline struct perf_event_attr pt_attr(void)
{
	struct perf_event_attr attr = {.type = PT_TYPE, .size = sizeof(attr)};

	attr.config = 0x3611 | (uint64_t)STREAM_MTC_PERIOD << 14; /* branches, ptw, tsc, mtc, pwr_evt, pt */
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
		put_u32(to, pt_cpu);
		put_u32(to, 0);
		put_u64(to, PT_ID + pt_cpu);
	}
	end_record(to, at);
	assert_int_equal(perfev_record_from_bytes(&record, (struct perfev_bytes){to->data, to->size}, 0, &pt_err), 0);
	assert_int_equal(perfev_writer_append(writer, &record, &pt_err), 0);
	assert_int_equal(perfev_writer_flush(writer, &pt_err), 0);
	to->size = 0;
}

static inline void pt_info(struct perfev_writer *writer, struct bytes *to, bool times, bool per_cpu)
{
	const uint64_t words[18] = {PT_TYPE, PT_SHIFT, PT_MULT, PT_ZERO, 1, 0x400, 0x800, per_cpu ? 2 : 0, 0, per_cpu, 0x200, 0x3c000,
				    times ? STREAM_CTC : 0, times, 2, times ? STREAM_RATIO : 0, 0, 0};
	size_t at = begin_record(to, PERFEV_RECORD_AUXTRACE_INFO, 0), i;

	put_u32(to, PERFEV_AUXTRACE_INTEL_PT);
	put_u32(to, 0);
	for (i = 0; i < 18; i++)
		put_u64(to, words[i]);
	pt_append(writer, to, at, 0, 0);
}

/* ITRACE_START, or SWITCH, which names its task in the trailer. */
static inline void pt_task(struct perfev_writer *writer, struct bytes *to, uint32_t type, uint16_t misc, int pid, uint64_t time)
{
	size_t at = begin_record(to, type, misc);

	if (type == PERF_RECORD_ITRACE_START) {
		put_u32(to, (uint32_t)pid);
		put_u32(to, (uint32_t)pid);
	}
	pt_append(writer, to, at, pid, time);
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
	pt_task(writer, to, PERF_RECORD_ITRACE_START, 0, steps->pid, PT_ZERO + 100);
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
	pt_info(writer, &out, stream->times, false);
	pt_program(writer, &out, steps);
	for (at = 0; at < stream->size; at += size) {
		size = pt_cut(stream, at, piece_bytes) - at;
		pt_piece(writer, &out, steps, stream, at, size);
	}
	assert_int_equal(perfev_writer_put_string(writer, PERFEV_FEATURE_ARCH, "x86_64", &pt_err), 0);
	assert_int_equal(perfev_writer_finish(writer, &pt_err), 0);
	perfev_writer_close(writer);
}

/* The trace of one CPU, whole. */
static inline void pt_cpu_piece(struct perfev_writer *writer, struct bytes *to, int pid, const struct pt_stream *stream)
{
	struct perfev_auxtrace trace = {.reference = STREAM_START, .idx = pt_cpu, .cpu = pt_cpu, .tid = UINT32_MAX};
	struct perfev_bytes part[2] = {{stream->data, stream->size}, {NULL, 0}};
	size_t at = begin_record(to, PERF_RECORD_AUX, 0);

	put_u64(to, 0);
	put_u64(to, stream->size);
	put_u64(to, 0);
	pt_append(writer, to, at, pid, PT_ZERO + stream->now);
	assert_int_equal(perfev_writer_put_trace(writer, &trace, part, &pt_err), 0);
}

static inline void pt_half(struct pt_stream *s, const struct stepped *steps, size_t from, size_t to)
{
	stream_psb(s, 0);
	stream_ip(s, PERFEV_PT_TIP_PGE, steps->steps[from].ip);
	stream_steps(s, steps, from, to);
	stream_ip(s, PERFEV_PT_FUP, steps->steps[to].ip);
	stream_ip(s, PERFEV_PT_TIP_PGD, 0);
}

/* The same program on two CPUs, one after the other; on the second process 1 is before it. */
static inline void pt_write_cpus(const char *path, const struct stepped *steps)
{
	struct pt_stream first = {.now = STREAM_START, .psb_every = 1000}, second = {.psb_every = 777};
	struct perf_event_attr attr = pt_attr();
	const uint64_t ids[] = {PT_ID, PT_ID + 1};
	struct perfev_writer *writer;
	static struct bytes out;
	size_t at, middle = steps->count / 2;
	uint32_t i;

	attr.context_switch = 1;
	pt_half(&first, steps, 0, middle);
	second.now = first.now + 1000;
	pt_half(&second, steps, middle, steps->count - 1);
	out.big = host_is_big();
	assert_int_equal(perfev_writer_open(&writer, path, NULL, &pt_err), 0);
	assert_int_equal(perfev_writer_add_event(writer, "intel_pt//u", &attr, ids, 2, &pt_err), 0);
	assert_int_equal(perfev_writer_start(writer, &pt_err), 0);
	at = begin_record(&out, PERFEV_RECORD_ID_INDEX, 0);
	put_u64(&out, 2);
	for (i = 0; i < 2; i++) {
		put_u64(&out, ids[i]);
		put_u64(&out, i);
		put_u64(&out, i);
		put_u64(&out, UINT64_MAX);
	}
	pt_append(writer, &out, at, 0, 0);
	pt_info(writer, &out, false, true);
	/* what is written later may be earlier: the second CPU's records come first */
	pt_cpu = 1;
	pt_task(writer, &out, PERF_RECORD_ITRACE_START, 0, 1, PT_ZERO + 50);
	pt_task(writer, &out, PERF_RECORD_SWITCH, 0, steps->pid, PT_ZERO + second.now - (steps->count - 1 - middle) * 10 - 500 -
		second.stops * 1000);
	pt_cpu_piece(writer, &out, steps->pid, &second);
	pt_cpu = 0;
	pt_program(writer, &out, steps);
	pt_task(writer, &out, PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, steps->pid, PT_ZERO + first.now + 10);
	pt_cpu_piece(writer, &out, steps->pid, &first);
	assert_int_equal(perfev_writer_finish(writer, &pt_err), 0);
	perfev_writer_close(writer);
	stream_free(&first);
	stream_free(&second);
}

/* Samples that have the newest bytes of a trace each, which begin anywhere. */
static inline void pt_write_samples(const char *path, const struct stepped *steps, const struct pt_stream *stream)
{
	struct perf_event_attr attrs[2] = {pt_attr(), pt_attr()};
	const uint64_t ids[] = {PT_ID, PT_ID + 1};
	struct perfev_writer *writer;
	static struct bytes out;
	size_t at, end, i;

	attrs[1].type = PERF_TYPE_SOFTWARE;
	attrs[1].config = PERF_COUNT_SW_CPU_CLOCK;
	attrs[1].sample_type |= PERF_SAMPLE_AUX;
	attrs[1].aux_sample_size = 512;
	out.big = host_is_big();
	assert_int_equal(perfev_writer_open(&writer, path, NULL, &pt_err), 0);
	for (i = 0; i < 2; i++)
		assert_int_equal(perfev_writer_add_event(writer, i ? "cpu-clock" : "intel_pt//u", &attrs[i], ids + i, 1, &pt_err), 0);
	assert_int_equal(perfev_writer_start(writer, &pt_err), 0);
	pt_info(writer, &out, stream->times, false);
	for (end = 500; end < stream->size; end += 500) {
		size_t size = end < 512 ? end : 512;

		at = begin_record(&out, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
		put_u64(&out, PT_ID + 1);
		put_u64(&out, steps->steps[0].ip);
		put_u32(&out, (uint32_t)steps->pid);
		put_u32(&out, (uint32_t)steps->pid);
		put_u64(&out, PT_ZERO + end);
		put_u64(&out, 0);
		put_u64(&out, (size + 7) / 8 * 8);
		put_bytes(&out, stream->data + end - size, size);
		for (; size % 8; size++)
			put_u8(&out, 0);
		pt_append(writer, &out, at, 0, 0);
	}
	assert_int_equal(perfev_writer_finish(writer, &pt_err), 0);
	perfev_writer_close(writer);
}

#endif
