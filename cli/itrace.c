/* SPDX-License-Identifier: MIT */
/*
 * The ways that the traces of a recording tell, among its records. Each stream (of a CPU or a thread) is decoded on its own, and
 * what they tell is handed out in the order of time, up to the time of the record that comes next. So what runs, and what is
 * mapped, is what records told up to then, as in perf script; but who runs on a CPU changes by records only, so that the last
 * steps of a task may be told of the one that follows it.
 *
 * Traces without times are told at the end, those of a thread when it ends.
 */
#include "itrace_base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CPUS_MAX 65536

/* ---- who runs ------------------------------------------------------------------------------------------------------- */

static int set_task(struct itrace *it, uint32_t cpu, uint32_t pid, uint32_t tid)
{
	struct task *tasks = it->tasks;
	size_t i;

	if (cpu >= CPUS_MAX)
		return 0;
	if (cpu >= it->task_count) {
		tasks = realloc(it->tasks, (cpu + 1) * sizeof(*tasks));
		if (!tasks)
			return -ENOMEM;
		for (i = it->task_count; i <= cpu; i++)
			tasks[i].pid = tasks[i].tid = -1;
		it->tasks = tasks;
		it->task_count = cpu + 1;
	}
	tasks[cpu].pid = (int32_t)pid;
	tasks[cpu].tid = (int32_t)tid;
	return 0;
}

/* A switch tells of the one that comes, or of the one that goes and maybe who follows. */
static int take_switch(struct itrace *it, const struct perfev_record *record, const struct perfev_switch *cswitch)
{
	const struct perfev_id *id = &cswitch->trailer;
	bool out = record->misc & PERF_RECORD_MISC_SWITCH_OUT;

	if (!(id->present & PERF_SAMPLE_CPU))
		return 0;
	if (!out && (id->present & PERF_SAMPLE_TID))
		return set_task(it, id->cpu, id->pid, id->tid);
	if (out && it->wide && record->type == PERF_RECORD_SWITCH_CPU_WIDE)
		return set_task(it, id->cpu, cswitch->next_prev_pid, cswitch->next_prev_tid);
	return 0;
}

/* The process of a thread that was traced. */
static void note_process(struct itrace *it, uint32_t pid, uint32_t tid)
{
	size_t i;

	for (i = 0; i < it->stream_count; i++)
		if (it->streams[i].tid == tid)
			it->streams[i].task.pid = (int32_t)pid;
}

/* What is mapped changes. */
static bool changes_code(uint32_t type)
{
	return type == PERF_RECORD_MMAP || type == PERF_RECORD_MMAP2 || type == PERF_RECORD_COMM || type == PERF_RECORD_FORK ||
	       type == PERF_RECORD_EXIT || type == PERF_RECORD_KSYMBOL || type == PERF_RECORD_TEXT_POKE;
}

static void forget_code(const struct itrace *it)
{
	size_t i;

	for (i = 0; i < it->stream_count; i++)
		perfev_flow_forget(it->streams[i].flow);
}

static int take_record(struct itrace *it, const struct perfev_record *record, const struct perfev_layout *layout)
{
	struct perfev_any any;
	const struct perfev_itrace_start *start = &any.as.itrace_start;

	switch (record->type) {
	case PERF_RECORD_ITRACE_START:
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		break;
	default:
		return 0;
	}
	if (!layout || perfev_any_decode(&any, record, layout, NULL) < 0)
		return 0;
	if (record->type == PERF_RECORD_MMAP || record->type == PERF_RECORD_MMAP2)
		return itrace_mapping(it, any.as.mmap.pid, any.as.mmap.addr, any.as.mmap.filename);
	if (record->type == PERF_RECORD_COMM)
		note_process(it, any.as.comm.pid, any.as.comm.tid);
	else if (record->type == PERF_RECORD_FORK)
		note_process(it, any.as.task.pid, any.as.task.tid);
	else if (record->type != PERF_RECORD_ITRACE_START)
		return take_switch(it, record, &any.as.cswitch);
	else if (start->trailer.present & PERF_SAMPLE_CPU && it->per_cpu)
		return set_task(it, start->trailer.cpu, start->pid, start->tid);
	return 0;
}

static void look_who_runs(struct stream *stream)
{
	const struct itrace *it = stream->itrace;
	static const struct task none = {-1, -1};

	if (stream->cpu >= 0 && (stream->tid == UINT32_MAX || it->by_cpu))
		stream->task = (size_t)stream->cpu < it->task_count ? it->tasks[stream->cpu] : none;
	perfev_flow_task(stream->flow, stream->task.pid, stream->task.tid, stream->cpu);
}

/* ---- streams --------------------------------------------------------------------------------------------------------- */

/* The bytes of a piece that the next one does not have too: pieces are padded, and snapshots overlap. */
static struct perfev_bytes own_bytes(const struct stream *stream, size_t at)
{
	struct perfev_bytes bytes = stream->pieces[at].bytes;
	uint64_t to_next;

	if (at + 1 < stream->count && stream->pieces[at + 1].offset >= stream->pieces[at].offset) {
		to_next = stream->pieces[at + 1].offset - stream->pieces[at].offset;
		bytes.size = to_next < bytes.size ? (size_t)to_next : bytes.size;
	}
	return bytes;
}

/* The next pieces without a gap between. 1, 0 there are none, < 0. */
static int begin_trace(struct stream *stream, struct perfev_error *err)
{
	size_t from = stream->at, count = 0;
	struct perfev_bytes *pieces;
	int r;

	for (; stream->piece < from; stream->piece++)
		stream->padding += stream->pieces[stream->piece].bytes.size;
	stream->padding += stream->before;
	stream->before = 0;

	if (from == stream->count)
		return 0;
	pieces = calloc(stream->count - from, sizeof(*pieces));
	if (!pieces)
		return -ENOMEM;
	do {
		pieces[count++] = own_bytes(stream, stream->at);
		stream->at++;
	} while (stream->at < stream->count &&
		 stream->pieces[stream->at].offset == stream->pieces[stream->at - 1].offset + pieces[count - 1].size);
	r = perfev_flow_begin(stream->flow, pieces, count, err);
	free(pieces);
	return r < 0 ? r : 1;
}

static bool is_coresight(const struct itrace *it)
{
	return it->how.type == PERFEV_AUXTRACE_CS_ETM;
}

/* Where it is in all that was recorded of the stream, as perf counts: pieces are padded to 8 bytes, and it counts those too. */
static uint64_t with_padding(struct stream *stream, uint64_t offset)
{
	struct perfev_bytes own = own_bytes(stream, stream->piece);

	while (offset - stream->before >= own.size && stream->piece + 1 < stream->at) {
		stream->padding += stream->pieces[stream->piece].bytes.size - own.size;
		stream->before += own.size;
		own = own_bytes(stream, ++stream->piece);
	}
	return offset + stream->padding;
}

static int hand_out(struct stream *stream, struct perfev_error *err)
{
	struct itrace *it = stream->itrace;
	struct perfev_flow_branch branch = stream->next;

	branch.pid = stream->task.pid;
	branch.tid = stream->task.tid;
	if (!is_coresight(it)) /* there each branch says its own */
		branch.cpu = stream->cpu;
	if (!it->timed)
		branch.time = 0;
	if (branch.type == PERFEV_FLOW_PSB)
		branch.value = with_padding(stream, branch.value);
	return it->sink->put(it->sink->context, &branch, err);
}

/* What the stream tells next, but gaps: those are handed out at once, if they are wanted. 1, 0 at its end. */
static int advance(struct stream *stream, bool tell_gaps, struct perfev_error *err)
{
	int r = 1;

	stream->has = false;
	if (!stream->begun)
		r = begin_trace(stream, err);
	stream->begun = true;
	while (r > 0) {
		r = perfev_flow_next(stream->flow, &stream->next, err);
		if (r == 0) {
			r = begin_trace(stream, err);
		} else if (r > 0) {
			if (!(stream->next.flags & PERFEV_FLOW_GAP))
				break;
			if (tell_gaps)
				r = hand_out(stream, err);
			r = r < 0 ? r : 1;
		}
	}
	stream->has = r > 0;
	return r;
}

/* The first that has a time; what is before it cannot be put among the records. */
static int begin_timed(struct stream *stream, struct perfev_error *err)
{
	int r;

	do
		r = advance(stream, false, err);
	while (r > 0 && !stream->next.tsc);
	return r;
}

static int begin_streams(struct itrace *it, struct perfev_error *err)
{
	size_t i;
	int r = 0;

	it->begun = true;
	for (i = 0; r >= 0 && i < it->stream_count; i++) {
		struct stream *stream = &it->streams[i];

		stream->itrace = it;
		it->how.code = itrace_code;
		it->how.context = stream;
		it->how.reference = stream->pieces[0].reference;
		r = perfev_flow_new(&stream->flow, &it->how, err);
		if (r == 0)
			look_who_runs(stream);
		if (r == 0 && it->timed)
			r = begin_timed(stream, err);
	}
	return r < 0 ? r : 0;
}

/* All that it tells before @until. */
static int run(struct stream *stream, uint64_t until, struct perfev_error *err)
{
	int r = stream->has ? 1 : advance(stream, true, err);

	while (r > 0) {
		r = hand_out(stream, err);
		if (r >= 0)
			r = advance(stream, true, err);
		if (r > 0 && stream->next.tsc >= until)
			break;
	}
	return r < 0 ? r : 0;
}

/* The stream that is the first, and the time of the one behind it. */
static struct stream *first_stream(struct itrace *it, uint64_t *second)
{
	struct stream *first = NULL;
	size_t i;

	*second = UINT64_MAX;
	for (i = 0; i < it->stream_count; i++) {
		struct stream *stream = &it->streams[i];

		if (!stream->has)
			continue;
		if (!first || stream->next.tsc < first->next.tsc) {
			*second = first ? first->next.tsc : UINT64_MAX;
			first = stream;
		} else if (stream->next.tsc < *second) {
			*second = stream->next.tsc;
		}
	}
	return first;
}

static int run_all(struct itrace *it, uint64_t until, struct perfev_error *err)
{
	struct stream *stream;
	uint64_t second;
	int r = 0;

	while (r == 0 && (stream = first_stream(it, &second)) && stream->next.tsc < until) {
		look_who_runs(stream);
		r = run(stream, second < until ? second + 1 : until, err);
	}
	return r;
}

/* Of those without times: the streams of a thread, or all. */
static int run_thread(struct itrace *it, uint32_t tid, bool all, struct perfev_error *err)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < it->stream_count; i++)
		if (all || it->streams[i].tid == tid) {
			look_who_runs(&it->streams[i]);
			r = run(&it->streams[i], UINT64_MAX, err);
		}
	return r;
}

/* ---- for the printer ------------------------------------------------------------------------------------------------- */

int itrace_open(struct itrace **ret, struct replay *replay, const struct itrace_sink *sink, bool pt_only,
		struct perfev_error *err)
{
	struct perfev_reader_opts opts = {.size = sizeof(opts), .partial = 1};
	struct itrace *it = calloc(1, sizeof(*it));
	int r;

	if (!it)
		return -ENOMEM;
	it->replay = replay;
	it->sink = sink;
	it->pt_only = pt_only;
	r = perfev_reader_open(&it->reader, replay->how.path, &opts, err);
	if (r == 0)
		r = itrace_read(it, err);
	if (r < 0)
		itrace_close(it);
	else
		*ret = it;
	return r < 0 ? r : 0;
}

void itrace_close(struct itrace *itrace)
{
	size_t i, k;

	if (!itrace)
		return;
	for (i = 0; i < itrace->stream_count; i++) {
		perfev_flow_free(itrace->streams[i].flow);
		for (k = 0; k < itrace->streams[i].count; k++)
			perfev_record_free(itrace->streams[i].pieces[k].copy);
		free(itrace->streams[i].pieces);
	}
	free(itrace->streams);
	free(itrace->tasks);
	free(itrace->unread);
	free(itrace->mapped);
	perfev_record_free(itrace->info);
	perfev_reader_close(itrace->reader);
	free(itrace);
}

const struct perfev_reader_event_info *itrace_event(const struct itrace *itrace)
{
	return &itrace->event;
}

const struct perfev_flow_opts *itrace_how(const struct itrace *itrace, bool *per_cpu, bool *timed)
{
	*per_cpu = itrace->per_cpu;
	*timed = itrace->timed;
	return &itrace->how;
}

/* The CPU had no room for the trace. */
static int take_aux(struct itrace *it, const struct perfev_record *record, const struct perfev_layout *layout,
		    struct perfev_error *err)
{
	struct perfev_flow_branch gap = {.flags = PERFEV_FLOW_GAP, .gap = PERFEV_FLOW_GAP_LOST, .pid = -1, .tid = -1, .cpu = -1,
					 .why = "bytes of the trace were lost: the recorder was too slow"};
	const struct perfev_id *id;
	struct perfev_any any;

	if (!layout || perfev_any_decode(&any, record, layout, NULL) < 0 || !(any.as.aux.flags & PERF_AUX_FLAG_TRUNCATED))
		return 0;
	id = &any.as.aux.trailer;
	if (id->present & PERF_SAMPLE_TID) {
		gap.pid = (int32_t)id->pid;
		gap.tid = (int32_t)id->tid;
	}
	gap.cpu = id->present & PERF_SAMPLE_CPU ? (int32_t)id->cpu : -1;
	gap.time = id->present & PERF_SAMPLE_TIME ? id->time : 0;
	return it->sink->put(it->sink->context, &gap, err);
}

int itrace_record(struct itrace *it, const struct perfev_record *record, const struct perfev_layout *layout,
		  struct perfev_error *err)
{
	struct perfev_any any;
	uint64_t time;
	int r = it->begun ? 0 : begin_streams(it, err);

	if (r == 0 && it->timed && layout && perfev_record_time(record, layout, &time) && time && time != UINT64_MAX)
		r = run_all(it, perfev_clock_cycles(&it->how.clock, time), err);
	if (r == 0 && !it->timed && record->type == PERF_RECORD_EXIT && layout && perfev_any_decode(&any, record, layout, NULL) >= 0)
		r = run_thread(it, any.as.task.tid, false, err);
	if (r == 0 && changes_code(record->type))
		forget_code(it);
	if (r == 0 && record->type == PERF_RECORD_AUX)
		r = take_aux(it, record, layout, err);
	return r < 0 ? r : take_record(it, record, layout);
}

int itrace_end(struct itrace *it, struct perfev_error *err)
{
	int r = it->begun ? 0 : begin_streams(it, err);

	if (r < 0)
		return r;
	return it->timed ? run_all(it, UINT64_MAX, err) : run_thread(it, 0, true, err);
}
