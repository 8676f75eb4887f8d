/* SPDX-License-Identifier: MIT */
/*
 * The traces of a recording: their pieces, by CPU or thread, and what AUXTRACE_INFO says of them. The recording is read a second
 * time for that, since what a trace tells of stands before it.
 */
#include "itrace_base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STREAMS_MAX 8192

void *itrace_grow(void *array, size_t *room, size_t count, size_t item)
{
	size_t more = *room ? *room * 2 : 64;
	void *grown = count < *room ? array : realloc(array, more * item);

	if (grown && count >= *room)
		*room = more;
	return grown;
}

/* ---- reading ------------------------------------------------------------------------------------------------------ */

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
	streams = itrace_grow(it->streams, &it->stream_room, it->stream_count, sizeof(*streams));
	if (!streams)
		return NULL;
	it->streams = streams;
	memset(&streams[it->stream_count], 0, sizeof(*streams));
	streams[it->stream_count].idx = piece->idx;
	streams[it->stream_count].tid = piece->tid;
	streams[it->stream_count].cpu = (int32_t)piece->cpu;
	streams[it->stream_count].task.tid = (int32_t)piece->tid;
	streams[it->stream_count].task.pid = -1; /* until a record tells it */
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
	pieces = stream ? itrace_grow(stream->pieces, &stream->room, stream->count, sizeof(*pieces)) : NULL;
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
	struct perfev_auxtrace_info info;
	struct perfev_user user;
	int r;

	if (record->type == PERFEV_RECORD_AUXTRACE)
		return add_piece(it, record, err);
	if (record->type == PERFEV_RECORD_TIME_CONV && perfev_user_decode(&user, record, NULL) == 0)
		it->conv = user.as.time_conv;
	if (record->type != PERFEV_RECORD_AUXTRACE_INFO)
		return 0;
	perfev_record_free(it->info);
	it->info = NULL;
	r = perfev_record_copy(&it->info, record, err);
	if (r == 0 && it->usual && (perfev_auxtrace_info_decode(&info, it->info, err) < 0 ||
				   (info.type != PERFEV_AUXTRACE_INTEL_PT && info.type != PERFEV_AUXTRACE_ARM_SPE)))
		return -EOPNOTSUPP; /* all that follows need not be read */
	return r;
}

static int read_traces(struct itrace *it, struct perfev_error *err)
{
	struct perfev_record record;
	int r = 0;

	while (r == 0 && (r = perfev_reader_next(it->reader, &record, err)) > 0) {
		r = take_trace(it, &record, err);
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
	if (info->type == PERFEV_AUXTRACE_ARM_SPE && info->numbers.count > 2) /* since 6.13 a version and a size are before it */
		return perfev_u64s_at(info->numbers, 2);
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

/* Samples of Arm SPE: records tell of all tasks, and the clock is in a record of its own. */
static int set_up_spe(struct itrace *it)
{
	const char *cpuid = cpuid_of(it);
	struct perfev_reader_event_info event;
	size_t i;

	it->midr = cpuid ? strtoull(cpuid, NULL, 16) : 0;

	it->is_spe = it->by_cpu = it->wide = true;
	it->how.type = PERFEV_AUXTRACE_ARM_SPE;
	it->how.clock.shift = (uint32_t)it->conv.shift;
	it->how.clock.mult = (uint32_t)it->conv.mult;
	it->how.clock.zero = it->conv.zero;
	it->how.clock.cycles = it->conv.user_time_short ? it->conv.cycles : 0;
	it->how.clock.mask = it->conv.user_time_short ? it->conv.mask : UINT64_MAX;
	for (i = 0; it->how.clock.mult && perfev_reader_event_at(it->reader, i, &event); i++)
		it->timed |= (event.attr->sample_type & PERF_SAMPLE_TIME) != 0;
	return 0;
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
	if (info.type == PERFEV_AUXTRACE_ARM_SPE)
		return set_up_spe(it);
	set_up_tasks(it, &info);
	r = perfev_flow_setup(&it->how, &info, it->event.attr, cpuid_of(it), err);
	it->timed = r == 0 && has_times(it, &info);
	return r;
}

int itrace_read(struct itrace *it, struct perfev_error *err)
{
	int r = read_traces(it, err);

	return r < 0 ? r : set_up(it, err);
}
