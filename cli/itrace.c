/* SPDX-License-Identifier: MIT */
/*
 * The ways that the traces of a recording tell.
 *
 * Each stream (of a CPU or a thread) is decoded on its own, and the branches of all are put in the order of time. What runs, and
 * what is mapped, the other records tell: they are replayed as far as the stream that is decoded has come, at the moment when
 * it asks for code. Times in traces are coarse, so that code may run before the trace knows that it is late enough for its
 * mapping; where code is missing, records that are a little later are looked at too.
 */
#include "itrace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STREAMS_MAX 8192
#define TIDS_MAX    4194304  /* of the kernel (PID_MAX_LIMIT) */
#define SLACK_NS    10000000 /* how coarse the time of a trace may be */

struct piece {
	uint64_t offset;
	struct perfev_bytes bytes;
	struct perfev_record *copy; /* of a recording that is read once */
};

struct task {
	int32_t pid, tid;
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
	struct itrace_branch next;
};

/* A record that tells what runs, or what is mapped. */
struct side {
	uint64_t time;
	size_t number; /* equal times keep their order */
	struct perfev_record record;
	struct perfev_record *copy;
	const struct perfev_layout *layout;
};

struct itrace {
	struct perfev_reader *reader;
	struct perfev_symbols *symbols;
	struct perfev_flow_opts how;
	struct perfev_record *info; /* the AUXTRACE_INFO, copied */
	struct perfev_reader_event_info event;
	bool per_cpu;
	struct stream *streams;
	size_t stream_count, stream_room;
	struct side *sides;
	size_t side_count, side_room, side_at;
	uint64_t *traced; /* a bit for each tid that an event traces: those of the streams, and what inherited from them */
	int failed; /* feeding the symbols: an errno */
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
	pieces[stream->count].bytes = trace.bytes;
	pieces[stream->count++].copy = copy;
	return 0;
}

static int add_side(struct itrace *it, const struct perfev_record *record, struct perfev_error *err)
{
	struct side *sides = grow(it->sides, &it->side_room, it->side_count, sizeof(*sides)), *side;

	if (!sides)
		return -ENOMEM;
	it->sides = sides;
	side = &sides[it->side_count];
	memset(side, 0, sizeof(*side));
	side->record = *record;
	if (!(record->flags & PERFEV_RECORD_STABLE)) {
		if (perfev_record_copy(&side->copy, record, err) < 0)
			return -ENOMEM;
		side->record = *side->copy;
	}
	side->layout = perfev_reader_layout(it->reader, &side->record);
	if (!side->layout || !perfev_record_time(&side->record, side->layout, &side->time))
		side->time = 0;
	side->number = it->side_count++;
	return 0;
}

static int take(struct itrace *it, const struct perfev_record *record, struct perfev_error *err)
{
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		return 0;
	case PERFEV_RECORD_AUXTRACE:
		return add_piece(it, record, err);
	case PERFEV_RECORD_AUXTRACE_INFO:
		perfev_record_free(it->info);
		it->info = NULL;
		return perfev_record_copy(&it->info, record, err);
	case PERFEV_RECORD_HEADER_BUILD_ID:
		return add_side(it, record, err);
	default:
		return record->type < PERFEV_RECORD_USER_FIRST ? add_side(it, record, err) : 0;
	}
}

static int compare_sides(const void *a_, const void *b_)
{
	const struct side *a = a_, *b = b_;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static bool is_coresight(const struct itrace *it)
{
	return it->how.type == PERFEV_AUXTRACE_CS_ETM;
}

/* The number of the PMU, as perf writes it down. */
static uint64_t pmu_of(const struct perfev_auxtrace_info *info)
{
	bool coresight = info->type == PERFEV_AUXTRACE_CS_ETM;

	if (info->numbers.count < 2)
		return UINT64_MAX;
	return coresight ? perfev_u64s_at(info->numbers, 1) >> 32 : perfev_u64s_at(info->numbers, 0);
}

/* Word 9 of what perf writes about Intel PT is whether it traced CPUs. */
static int set_up(struct itrace *it, struct perfev_error *err)
{
	struct perfev_auxtrace_info info;
	struct perfev_reader_event_info event;
	struct perfev_reader_info file;
	const char *cpuid = NULL;
	struct perfev_bytes section;
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
	it->per_cpu = info.type == PERFEV_AUXTRACE_CS_ETM || (info.numbers.count > 9 && perfev_u64s_at(info.numbers, 9));
	perfev_reader_describe(it->reader, &file);
	if (perfev_reader_feature(it->reader, PERFEV_FEATURE_CPUID, &section))
		cpuid = perfev_feature_string(section, file.swapped);
	return perfev_flow_setup(&it->how, &info, it->event.attr, cpuid, err);
}

/* ---- what runs, and what is mapped --------------------------------------------------------------------------------- */

static bool traces_tid(const struct itrace *it, uint32_t tid)
{
	return tid < TIDS_MAX && it->traced[tid / 64] >> tid % 64 & 1;
}

static void add_traced(struct itrace *it, uint32_t tid)
{
	if (tid < TIDS_MAX)
		it->traced[tid / 64] |= UINT64_C(1) << tid % 64;
}

/* What a CPU runs is in the stream of that CPU; in that of an event of a task, only if such an event traces it. */
static void set_task(struct itrace *it, uint32_t cpu, uint32_t pid, uint32_t tid)
{
	bool traced = traces_tid(it, tid);
	size_t i;

	for (i = 0; i < it->stream_count; i++) {
		struct stream *stream = &it->streams[i];

		if (stream->cpu < 0 ? stream->tid == tid :
				      (uint32_t)stream->cpu == cpu && (stream->tid == UINT32_MAX || traced)) {
			stream->task.pid = (int32_t)pid;
			stream->task.tid = (int32_t)tid;
		}
	}
}

/* A switch tells of the one that comes, or of the one that goes and maybe who follows. */
static void take_switch(struct itrace *it, const struct side *side, const struct perfev_any *any)
{
	const struct perfev_switch *cswitch = &any->as.cswitch;
	const struct perfev_id *id = &cswitch->trailer;
	bool out = side->record.misc & PERF_RECORD_MISC_SWITCH_OUT;

	if (!(id->present & PERF_SAMPLE_CPU))
		return;
	if (!out && (id->present & PERF_SAMPLE_TID))
		set_task(it, id->cpu, id->pid, id->tid);
	else if (out && side->record.type == PERF_RECORD_SWITCH_CPU_WIDE)
		set_task(it, id->cpu, cswitch->next_prev_pid, cswitch->next_prev_tid);
}

/* An event that traces a task says so when that runs first; what the task makes inherits it. */
static void take_start(struct itrace *it, const struct perfev_itrace_start *start)
{
	add_traced(it, start->tid);
	set_task(it, start->trailer.present & PERF_SAMPLE_CPU ? start->trailer.cpu : UINT32_MAX, start->pid, start->tid);
}

static void take_side(struct itrace *it, const struct side *side)
{
	struct perfev_any any;
	int r = perfev_symbols_feed(it->symbols, &side->record, side->layout, NULL);

	if (r == -ENOMEM)
		it->failed = r;
	if (side->record.type != PERF_RECORD_ITRACE_START && side->record.type != PERF_RECORD_SWITCH &&
	    side->record.type != PERF_RECORD_SWITCH_CPU_WIDE && side->record.type != PERF_RECORD_FORK)
		return;
	if (!side->layout || perfev_any_decode(&any, &side->record, side->layout, NULL) < 0)
		return;
	if (side->record.type == PERF_RECORD_ITRACE_START)
		take_start(it, &any.as.itrace_start);
	else if (side->record.type != PERF_RECORD_FORK)
		take_switch(it, side, &any);
	else if (traces_tid(it, any.as.task.ptid))
		add_traced(it, any.as.task.tid);
}

/* All records up to a time. */
static void catch_up(struct itrace *it, uint64_t time)
{
	while (it->side_at < it->side_count && it->sides[it->side_at].time <= time)
		take_side(it, &it->sides[it->side_at++]);
}

static int code(void *context, const struct perfev_place *where, void *to, size_t size)
{
	struct stream *stream = context;
	struct itrace *it = stream->itrace;
	struct perfev_place place = *where;
	uint64_t time = it->how.clock.mult ? perfev_flow_time(stream->flow) : UINT64_MAX - SLACK_NS;
	int r;

	catch_up(it, time);
	do {
		place.pid = stream->task.pid;
		r = perfev_symbols_code(it->symbols, &place, to, size, NULL);
		if (r >= 0 || place.cpumode == PERF_RECORD_MISC_KERNEL || it->side_at == it->side_count ||
		    it->sides[it->side_at].time > time + SLACK_NS)
			return r;
		take_side(it, &it->sides[it->side_at++]);
	} while (true);
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

static int find_place(const struct itrace *it, const struct stream *stream, uint64_t ip, struct perfev_frame *ret,
		      struct perfev_error *err)
{
	struct perfev_place place = {ip, stream->task.pid, ip >> 63 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER};

	memset(ret, 0, sizeof(*ret));
	ret->flags = PERFEV_FRAME_UNRESOLVED;
	ret->module = "[unknown]";
	return ip ? perfev_symbols_find(it->symbols, &place, ret, 1, err) : 1;
}

/* The names are those of now: other streams may be further when this branch is handed out. */
static int name_branch(struct itrace *it, struct stream *stream, struct perfev_error *err)
{
	struct itrace_branch *next = &stream->next;

	catch_up(it, it->how.clock.mult ? next->branch.time : UINT64_MAX);
	next->branch.pid = stream->task.pid;
	next->branch.tid = stream->task.tid;
	if (!is_coresight(it)) /* there each branch says its own */
		next->branch.cpu = stream->cpu;
	next->comm = perfev_symbols_comm(it->symbols, next->branch.pid, next->branch.tid);
	if (find_place(it, stream, next->branch.from, &next->from, err) < 0 ||
	    find_place(it, stream, next->branch.to, &next->to, err) < 0)
		return -ENOMEM;
	return it->failed;
}

/* The next branch of a stream, if it has one. */
static int advance(struct itrace *it, struct stream *stream, struct perfev_error *err)
{
	int r = 1;

	stream->has = false;
	if (!stream->begun)
		r = begin_trace(stream, err);
	stream->begun = true;
	while (r > 0) {
		r = perfev_flow_next(stream->flow, &stream->next.branch, err);
		if (r != 0)
			break;
		r = begin_trace(stream, err);
	}
	if (r <= 0)
		return r;
	stream->has = true;
	return name_branch(it, stream, err);
}

static int begin_streams(struct itrace *it, struct perfev_error *err)
{
	size_t i;
	int r = 0;

	it->traced = calloc(TIDS_MAX / 64, sizeof(*it->traced));
	if (!it->traced)
		return -ENOMEM;
	for (i = 0; i < it->stream_count; i++)
		add_traced(it, it->streams[i].tid);
	catch_up(it, 0);
	for (i = 0; r >= 0 && i < it->stream_count; i++) {
		struct stream *stream = &it->streams[i];

		stream->itrace = it;
		it->how.code = code;
		it->how.context = stream;
		r = perfev_flow_new(&stream->flow, &it->how, err);
		if (r == 0)
			r = advance(it, stream, err);
	}
	return r;
}

/* ---- for the printer ------------------------------------------------------------------------------------------------- */

int itrace_open(struct itrace **ret, struct perfev_reader *reader, struct perfev_symbols *symbols, struct perfev_error *err)
{
	struct itrace *it = calloc(1, sizeof(*it));
	struct perfev_record record;
	int r;

	if (!it)
		return -ENOMEM;
	it->reader = reader;
	it->symbols = symbols;
	while ((r = perfev_reader_next(reader, &record, err)) > 0) {
		r = take(it, &record, err);
		if (r < 0)
			break;
	}
	if (r == 0)
		r = set_up(it, err);
	if (r == 0) {
		qsort(it->sides, it->side_count, sizeof(*it->sides), compare_sides);
		r = begin_streams(it, err);
	}
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
	for (i = 0; i < itrace->side_count; i++)
		perfev_record_free(itrace->sides[i].copy);
	free(itrace->streams);
	free(itrace->sides);
	free(itrace->traced);
	perfev_record_free(itrace->info);
	free(itrace);
}

const struct perfev_reader_event_info *itrace_event(const struct itrace *itrace, bool *per_cpu)
{
	*per_cpu = itrace->per_cpu;
	return &itrace->event;
}

int itrace_next(struct itrace *itrace, struct itrace_branch *ret, struct perfev_error *err)
{
	struct stream *first = NULL;
	size_t i;

	for (i = 0; i < itrace->stream_count; i++)
		if (itrace->streams[i].has && (!first || itrace->streams[i].next.branch.time < first->next.branch.time))
			first = &itrace->streams[i];
	if (!first)
		return 0;
	*ret = first->next;
	return advance(itrace, first, err) < 0 ? -ENOMEM : 1;
}
