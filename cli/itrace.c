/* SPDX-License-Identifier: MIT */
/*
 * The ways that the traces of a recording tell, among its records. Each stream (of a CPU or a thread) is decoded on its own, and
 * what they tell is handed out in the order of time, up to the time of the record that comes next. So what runs, and what is
 * mapped, is what records told up to then, as in perf script; but who runs on a CPU changes by records only, so that the last
 * steps of a task may be told of the one that follows it.
 *
 * Traces without times are told at the end, those of a thread when it ends.
 */
#include "itrace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STREAMS_MAX 8192
#define CPUS_MAX    65536
#define MAPPED_MAX  4096

struct piece {
	uint64_t offset, reference;
	struct perfev_bytes bytes;
	struct perfev_record *copy; /* of a recording that is not mapped */
};

struct task {
	int32_t pid, tid; /* -1: not known */
};

struct stream {
	struct itrace *itrace;
	uint32_t idx, tid; /* tid -1: of all that run on the CPU */
	int32_t cpu;	  /* -1: of a thread */
	struct task task; /* who runs, and is traced */
	struct piece *pieces;
	size_t count, room, at; /* at: the first that was not decoded yet */
	struct perfev_flow *flow;
	bool begun, has;
	struct perfev_flow_branch next; /* if it has one: what is not handed out yet */
};

/* A file whose code was asked for, and is not there. */
struct unread {
	const char *module; /* as long as the symbols live */
	bool tried, told;
};

struct mapped {
	uint64_t start;
	int32_t pid;
};

struct itrace {
	struct replay *replay;
	struct perfev_reader *reader; /* a second one, of the traces */
	const struct itrace_sink *sink;
	struct perfev_flow_opts how;
	struct perfev_record *info; /* the AUXTRACE_INFO, copied */
	struct perfev_reader_event_info event;
	bool per_cpu, timed, begun;
	bool by_cpu; /* who runs is told for CPUs */
	bool wide;   /* by records of all tasks */
	struct stream *streams;
	size_t stream_count, stream_room;
	struct task *tasks; /* by CPU */
	size_t task_count;
	struct unread *unread;
	size_t unread_count, unread_room;
	struct mapped *mapped; /* of processes whose vdso is not mapped yet */
	size_t mapped_count, mapped_room;
};

static void *grow(void *array, size_t *room, size_t count, size_t item)
{
	size_t more = *room ? *room * 2 : 64;
	void *grown = count < *room ? array : realloc(array, more * item);

	if (grown && count >= *room)
		*room = more;
	return grown;
}

/* ---- reading ------------------------------------------------------------------------------------------------------- */

static struct stream *stream_of(struct itrace *it, const struct perfev_auxtrace *piece)
{
	struct stream *streams;
	size_t i;

	for (i = 0; i < it->stream_count; i++)
		if (it->streams[i].idx == piece->idx && it->streams[i].tid == piece->tid &&
		    it->streams[i].cpu == (int32_t)piece->cpu)
			return &it->streams[i];
	if (it->stream_count == STREAMS_MAX)
		return NULL;
	streams = grow(it->streams, &it->stream_room, it->stream_count, sizeof(*streams));
	if (!streams)
		return NULL;
	it->streams = streams;
	memset(&streams[it->stream_count], 0, sizeof(*streams));
	streams[it->stream_count].idx = piece->idx;
	streams[it->stream_count].tid = piece->tid;
	streams[it->stream_count].cpu = (int32_t)piece->cpu;
	streams[it->stream_count].task.pid = streams[it->stream_count].task.tid = (int32_t)piece->tid;
	return &streams[it->stream_count++];
}

/* The piece as it is in the file; of what is read once, with a copy. */
static int add_piece(struct itrace *it, const struct perfev_record *record, struct perfev_error *err)
{
	struct perfev_auxtrace trace;
	struct perfev_record *copy = NULL;
	struct stream *stream;
	struct piece *pieces;
	int r = perfev_auxtrace_decode(&trace, record, err);

	if (r == 0 && !(record->flags & PERFEV_RECORD_STABLE)) {
		r = perfev_record_copy(&copy, record, err);
		if (r == 0)
			r = perfev_auxtrace_decode(&trace, copy, err);
	}
	if (r < 0) {
		perfev_record_free(copy);
		return r;
	}
	stream = stream_of(it, &trace);
	pieces = stream ? grow(stream->pieces, &stream->room, stream->count, sizeof(*pieces)) : NULL;
	if (!pieces) {
		perfev_record_free(copy);
		return -ENOMEM;
	}
	stream->pieces = pieces;
	pieces[stream->count].offset = trace.offset;
	pieces[stream->count].reference = trace.reference;
	pieces[stream->count].bytes = trace.bytes;
	pieces[stream->count++].copy = copy;
	return 0;
}

static int take_trace(struct itrace *it, const struct perfev_record *record, struct perfev_error *err)
{
	if (record->type == PERFEV_RECORD_AUXTRACE)
		return add_piece(it, record, err);
	if (record->type != PERFEV_RECORD_AUXTRACE_INFO)
		return 0;
	perfev_record_free(it->info);
	it->info = NULL;
	return perfev_record_copy(&it->info, record, err);
}

static int read_traces(struct itrace *it, struct perfev_error *err)
{
	struct perfev_record record;
	int r = 0;

	while (r == 0 && (r = perfev_reader_next(it->reader, &record, err)) > 0) {
		r = take_trace(it, &record, err);
		if (record.type == PERFEV_RECORD_FINISHED_ROUND)
			perfev_reader_release(it->reader);
	}
	return r;
}

/* The number of the PMU, as perf writes it down. */
static uint64_t pmu_of(const struct perfev_auxtrace_info *info)
{
	bool coresight = info->type == PERFEV_AUXTRACE_CS_ETM;

	if (info->numbers.count < 2)
		return UINT64_MAX;
	return coresight ? perfev_u64s_at(info->numbers, 1) >> 32 : perfev_u64s_at(info->numbers, 0);
}

/* Words of Intel PT: 7 how switches are told (1 by samples of sched_switch, 2, 3 of all tasks by records), 9 whether CPUs were
 * traced. */
static void set_up_tasks(struct itrace *it, const struct perfev_auxtrace_info *info)
{
	bool pt = info->type == PERFEV_AUXTRACE_INTEL_PT;
	uint64_t switches = pt && info->numbers.count > 7 ? perfev_u64s_at(info->numbers, 7) : 0;

	it->per_cpu = !pt || (info->numbers.count > 9 && perfev_u64s_at(info->numbers, 9));
	it->by_cpu = !pt || switches;
	it->wide = !pt || switches == 3;
}

/* Times are known when the trace has them, and all records too. */
static bool has_times(const struct itrace *it, const struct perfev_auxtrace_info *info)
{
	struct perfev_reader_event_info event;
	size_t i;

	if (!it->how.clock.mult || info->numbers.count < 6 || !it->event.attr ||
	    !(it->event.attr->config & perfev_u64s_at(info->numbers, 5)))
		return false;
	for (i = 0; perfev_reader_event_at(it->reader, i, &event); i++)
		if (!(event.attr->sample_type & PERF_SAMPLE_TIME))
			return false;
	return true;
}

static const char *cpuid_of(const struct itrace *it)
{
	struct perfev_reader_info info;
	struct perfev_bytes section;

	perfev_reader_describe(it->reader, &info);
	if (!perfev_reader_feature(it->reader, PERFEV_FEATURE_CPUID, &section))
		return NULL;
	return perfev_feature_string(section, info.swapped);
}

static int set_up(struct itrace *it, struct perfev_error *err)
{
	struct perfev_auxtrace_info info;
	struct perfev_reader_event_info event;
	size_t i;
	int r;

	if (!it->info) {
		memset(err, 0, sizeof(*err));
		snprintf(err->text, sizeof(err->text), "cannot follow traces: the recording has none; record one with an event "
			 "of a PMU that traces instructions, as in perfev record -e intel_pt//u");
		return err->code = -ENOENT;
	}
	r = perfev_auxtrace_info_decode(&info, it->info, err);
	if (r < 0)
		return r;
	for (i = 0; perfev_reader_event_at(it->reader, i, &event); i++)
		if (event.attr->type == pmu_of(&info) && !it->event.attr)
			it->event = event;
	set_up_tasks(it, &info);
	r = perfev_flow_setup(&it->how, &info, it->event.attr, cpuid_of(it), err);
	it->timed = r == 0 && has_times(it, &info);
	return r;
}

/* ---- code ------------------------------------------------------------------------------------------------------------- */

/* The file at a place that has no code; NULL: nothing is mapped there. */
static struct unread *unread_at(struct itrace *it, const struct perfev_place *place)
{
	struct perfev_frame frame;
	struct unread *unread;
	size_t i;

	if (perfev_symbols_find(it->replay->symbols, place, &frame, 1, NULL) <= 0 || !strcmp(frame.module, "[unknown]"))
		return NULL;
	for (i = 0; i < it->unread_count; i++)
		if (!strcmp(it->unread[i].module, frame.module))
			return &it->unread[i];
	unread = grow(it->unread, &it->unread_room, it->unread_count, sizeof(*unread));
	if (!unread)
		return NULL;
	it->unread = unread;
	memset(&unread[it->unread_count], 0, sizeof(*unread));
	unread[it->unread_count].module = frame.module;
	return &unread[it->unread_count++];
}

/* Gaps of one file are told as often as perf script tells them: twice, or once when a sample in it was printed before. */
static int code_is_missing(struct itrace *it, const struct perfev_place *place)
{
	struct unread *unread = unread_at(it, place);

	if (unread && unread->tried && unread->told)
		return -ENODATA;
	if (unread && unread->tried)
		unread->told = true;
	if (unread)
		unread->tried = true;
	return -ENOENT;
}

/* perf tried to read there. Return: whether it could. */
static bool try_place(struct itrace *it, uint64_t ip, int32_t pid)
{
	struct perfev_place place = {ip, pid, ip >> 63 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER};
	struct unread *unread;
	unsigned char byte;

	if (perfev_symbols_code(it->replay->symbols, &place, &byte, 1, NULL) > 0)
		return true;
	unread = unread_at(it, &place);
	if (unread)
		unread->tried = true;
	return false;
}

void itrace_printed(struct itrace *it, uint64_t ip, int32_t pid)
{
	if (ip)
		try_place(it, ip, pid);
}

/* At the vdso of a process perf looks at the files that it mapped before, for one that tells which kind of program it is. */
static int look_at_files(struct itrace *it, int32_t pid)
{
	size_t i, kept = 0;
	bool found = false;

	for (i = 0; i < it->mapped_count; i++) {
		if (it->mapped[i].pid != pid)
			it->mapped[kept++] = it->mapped[i];
		else if (!found)
			found = try_place(it, it->mapped[i].start, pid);
	}
	it->mapped_count = kept;
	return 0;
}

static int take_mapping(struct itrace *it, uint32_t pid, uint64_t start, const char *name)
{
	struct mapped *mapped;

	if (!strcmp(name, "[vdso]"))
		return look_at_files(it, (int32_t)pid);
	if (name[0] != '/' || it->mapped_count == MAPPED_MAX)
		return 0;
	mapped = grow(it->mapped, &it->mapped_room, it->mapped_count, sizeof(*mapped));
	if (!mapped)
		return -ENOMEM;
	it->mapped = mapped;
	mapped[it->mapped_count].start = start;
	mapped[it->mapped_count++].pid = (int32_t)pid;
	return 0;
}

static int code(void *context, const struct perfev_place *where, void *to, size_t size)
{
	struct stream *stream = context;
	struct perfev_place place = *where;
	int r;

	place.pid = stream->task.pid;
	if (!stream->itrace->replay->symbols || (stream->task.tid < 0 && place.cpumode == PERF_RECORD_MISC_USER))
		return -ENOENT;
	r = perfev_symbols_code(stream->itrace->replay->symbols, &place, to, size, NULL);
	return r > 0 ? r : code_is_missing(stream->itrace, &place);
}

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
		return take_mapping(it, any.as.mmap.pid, any.as.mmap.addr, any.as.mmap.filename);
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
		it->how.code = code;
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

int itrace_open(struct itrace **ret, struct replay *replay, const struct itrace_sink *sink, struct perfev_error *err)
{
	struct perfev_reader_opts opts = {.size = sizeof(opts), .partial = 1};
	struct itrace *it = calloc(1, sizeof(*it));
	int r;

	if (!it)
		return -ENOMEM;
	it->replay = replay;
	it->sink = sink;
	r = perfev_reader_open(&it->reader, replay->how.path, &opts, err);
	if (r == 0)
		r = read_traces(it, err);
	if (r == 0)
		r = set_up(it, err);
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
