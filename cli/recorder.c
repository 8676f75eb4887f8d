/* SPDX-License-Identifier: MIT */
/*
 * The recorder: sampler -> writer, with what a reader of the file needs beside the records: what ran
 * before, which id is of which ring, what the machine is, and at the end what was lost.
 */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ID_BYTES 32 /* of one entry of ID_INDEX */
#define IDS_MAX	 2000 /* in one record */
#define STAGE_BYTES (256 * 1024)

/* ---- records that the command makes itself ------------------------------------------------------------ */

/* All ids in one list. */
static struct perfev_sampler_id *list_ids(const struct recorder *r, size_t *count)
{
	size_t events = perfev_sampler_event_count(r->sampler), e, i, n = 0;
	struct perfev_sampler_event_info info;
	struct perfev_sampler_id *ids;

	for (e = 0; e < events; e++)
		if (perfev_sampler_event_at(r->sampler, e, &info))
			n += info.id_count;
	ids = calloc(n + 1, sizeof(*ids));
	*count = 0;
	for (e = 0; ids && e < events; e++)
		for (i = 0; perfev_sampler_id_at(r->sampler, e, i, &ids[*count]); i++)
			if (++*count == n)
				break;
	return ids;
}

static int write_id_index(struct recorder *r, struct perfev_error *err)
{
	size_t count, at;
	struct perfev_sampler_id *ids = list_ids(r, &count);
	unsigned char *bytes = malloc(16 + IDS_MAX * ID_BYTES);
	int ret = ids && bytes ? 0 : -ENOMEM;

	for (at = 0; ret == 0 && at < count; at += IDS_MAX) {
		uint64_t n = count - at < IDS_MAX ? count - at : IDS_MAX, i;

		memcpy(bytes + 8, &n, 8);
		for (i = 0; i < n; i++) {
			const struct perfev_sampler_id *id = &ids[at + i];
			uint64_t words[4] = {id->id, id->ring, (uint64_t)(int64_t)id->cpu,
					     (uint64_t)(int64_t)id->tid};

			memcpy(bytes + 16 + i * ID_BYTES, words, sizeof(words));
		}
		ret = trace_append(r, bytes, PERFEV_RECORD_ID_INDEX, 16 + n * ID_BYTES, err);
	}
	free(ids);
	free(bytes);
	return ret;
}

/* The trailer of a record that has an id and no time: the size of it, at @to. */
static size_t put_trailer(unsigned char *to, uint64_t sample_type, uint64_t id)
{
	static const uint64_t order[] = {PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
					 PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER};
	size_t i, size = 0;

	for (i = 0; i < 6; i++) {
		bool is_id = order[i] == PERF_SAMPLE_ID || order[i] == PERF_SAMPLE_IDENTIFIER;
		uint64_t word = is_id ? id : 0;

		if (!(sample_type & order[i]))
			continue;
		memcpy(to + size, &word, 8);
		size += 8;
	}
	return size;
}

/* LOST_SAMPLES records, one for each id that lost something: how perf writes PERF_FORMAT_LOST. */
static int write_lost(struct recorder *r, struct perfev_error *err)
{
	struct perfev_sampler_event_info info;
	struct perfev_sampler_id id;
	size_t e, i, n = 0;

	for (e = 0; perfev_sampler_event_at(r->sampler, e, &info); e++)
		for (i = 0; perfev_sampler_id_at(r->sampler, e, i, &id); i++, n++) {
			uint64_t all = perfev_sampler_id_lost(r->sampler, e, i), lost = all - r->told[n];
			unsigned char bytes[16 + 48];
			size_t size;
			int ret;

			if (!lost)
				continue;
			r->told[n] = all;
			memcpy(bytes + 8, &lost, 8);
			size = 16 + put_trailer(bytes + 16, info.attr->sample_type, id.id);
			ret = trace_append(r, bytes, PERF_RECORD_LOST_SAMPLES, size, err);
			if (ret < 0)
				return ret;
		}
	return 0;
}

/* ---- beginning --------------------------------------------------------------------------------------------- */

static int add_events(struct recorder *r, struct perfev_error *err)
{
	struct perfev_sampler_event_info info;
	size_t e, i;
	int ret = 0;

	for (e = 0; ret == 0 && perfev_sampler_event_at(r->sampler, e, &info); e++) {
		uint64_t *ids;

		if (!info.id_count)
			continue;
		ids = calloc(info.id_count, sizeof(*ids));
		if (!ids)
			return -ENOMEM;
		for (i = 0; i < info.id_count; i++) {
			struct perfev_sampler_id id;

			if (perfev_sampler_id_at(r->sampler, e, i, &id))
				ids[i] = id.id;
		}
		ret = perfev_writer_add_event(r->writer, info.name, info.attr, ids, info.id_count, err);
		free(ids);
	}
	return ret;
}

static int put_u64s(struct recorder *r, unsigned feature, const uint64_t *words, size_t count,
		    struct perfev_error *err)
{
	struct perfev_bytes bytes = {words, count * 8};

	return perfev_writer_put_feature(r->writer, feature, bytes, err);
}

/* Tracepoints are read by their formats, which only this machine has. */
static int put_tracing(struct recorder *r, struct perfev_error *err)
{
	size_t events = perfev_sampler_event_count(r->sampler), count = 0, e;
	uint64_t *ids = calloc(events + 1, sizeof(*ids));
	struct perfev_sampler_event_info info;
	struct perfev_bytes bytes;
	int ret = 0;

	if (!ids)
		return -ENOMEM;
	for (e = 0; perfev_sampler_event_at(r->sampler, e, &info); e++)
		if (info.attr->type == PERF_TYPE_TRACEPOINT && info.id_count)
			ids[count++] = info.attr->config;
	if (count && perfev_tracing_read(&bytes, ids, count, NULL, err) == 0) {
		ret = perfev_writer_put_feature(r->writer, PERFEV_FEATURE_TRACING_DATA, bytes, err);
		free((void *)(uintptr_t)bytes.data);
	} else if (count) {
		note("the formats of tracepoints are not in the recording: %s", err->text);
	}
	free(ids);
	return ret;
}

static int put_command_line(struct recorder *r, struct perfev_error *err)
{
	const char **words = calloc((size_t)r->argc + 2, sizeof(*words));
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int i, ret;

	if (!words)
		return -ENOMEM;
	self[n > 0 ? n : 0] = 0;
	words[0] = n > 0 ? self : "perfev";
	words[1] = "record";
	for (i = 0; i < r->argc; i++)
		words[i + 2] = r->argv[i];
	ret = perfev_writer_put_strings(r->writer, PERFEV_FEATURE_CMDLINE, words, (size_t)r->argc + 2, err);
	free(words);
	return ret;
}

/* What the machine is. */
static int put_features(struct recorder *r, struct perfev_error *err)
{
	struct perfev_system s;
	uint32_t cpus[2];
	struct perfev_bytes bytes = {cpus, sizeof(cpus)};
	uint64_t words[1];
	size_t i;
	int ret;

	perfev_system_read(&s);
	{
		const struct {
			unsigned feature;
			const char *text;
		} texts[] = {{PERFEV_FEATURE_HOSTNAME, s.hostname}, {PERFEV_FEATURE_OSRELEASE, s.release},
			     {PERFEV_FEATURE_VERSION, perfev_version()}, {PERFEV_FEATURE_ARCH, s.arch},
			     {PERFEV_FEATURE_CPUDESC, s.cpu_desc}, {PERFEV_FEATURE_CPUID, s.cpu_id}};

		for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
			ret = texts[i].text[0] ? perfev_writer_put_string(r->writer, texts[i].feature,
									  texts[i].text, err)
					       : 0;
			if (ret < 0)
				return ret;
		}
	}
	cpus[0] = s.cpus_available > 0 ? (uint32_t)s.cpus_available : 1;
	cpus[1] = s.cpus_online > 0 ? (uint32_t)s.cpus_online : 1;
	words[0] = s.memory_kb > 0 ? (uint64_t)s.memory_kb : 0;
	ret = perfev_writer_put_feature(r->writer, PERFEV_FEATURE_NRCPUS, bytes, err);
	if (ret == 0)
		ret = put_u64s(r, PERFEV_FEATURE_TOTAL_MEM, words, 1, err);
	words[0] = 1; /* ns: the resolution of CLOCK_MONOTONIC */
	if (ret == 0 && !r->tracer)
		ret = put_u64s(r, PERFEV_FEATURE_CLOCKID, words, 1, err);
	if (ret == 0)
		ret = put_tracing(r, err);
	return ret < 0 ? ret : put_command_line(r, err);
}

/* ---- records of the rings, and of what ran before ----------------------------------------------------------- */

static void note_sample(struct recorder *r, const struct perfev_record *record,
			const struct perfev_layout *layout)
{
	uint64_t time;

	r->samples++;
	if (!perfev_record_time(record, layout, &time))
		return;
	if (!r->first_time || time < r->first_time)
		r->first_time = time;
	if (time > r->last_time)
		r->last_time = time;
}

/* The first so many samples of an event, where its text says nr=. */
static bool is_wanted(struct recorder *r, const struct perfev_record *record)
{
	int event = r->left ? perfev_sampler_event(r->sampler, record) : -1;

	if (event < 0 || r->left[event] == UINT64_MAX)
		return true;
	if (!r->left[event])
		return false;
	r->left[event]--;
	return true;
}

/* All that is in the rings; returns 1 when there was something, which is not flushed yet. */
static int take_all(struct recorder *recorder, struct perfev_error *err)
{
	struct perfev_chunk chunk;
	int ret, count = 0;

	recorder->drained = 0;
	while ((ret = trace_next(recorder, &chunk, err)) != 0) {
		const struct perfev_record *record = &chunk.record;
		const struct perfev_layout *layout;

		if (ret == -EBADMSG) {
			note("%s", err->text);
			continue;
		}
		if (ret < 0)
			return ret;
		count++;
		recorder->drained += record->size;
		layout = perfev_sampler_layout(recorder->sampler, record);
		if (record->type == PERF_RECORD_SAMPLE && !is_wanted(recorder, record))
			continue;
		if (record->type == PERF_RECORD_SAMPLE)
			note_sample(recorder, record, layout);
		else if (record->type == PERF_RECORD_LOST)
			recorder->overflowed = true;
		else if (record->type == PERF_RECORD_MMAP2 || record->type == PERF_RECORD_MMAP)
			ids_note(&recorder->mapped, record, layout);
		ret = perfev_writer_append(recorder->writer, record, err);
		if (ret == 0 && chunk.part[0].size)
			ret = trace_write(recorder, &chunk, err);
		if (ret < 0)
			return ret;
	}
	return count > 0;
}

/* While the machine is looked at: no round ends before all that ran already is told. Those records have no time, and
 * come before all that have one. */
static int drain_meanwhile(struct recorder *recorder, struct perfev_error *err)
{
	int ret = recorder->started ? take_all(recorder, err) : 0;

	if (ret <= 0)
		return ret;
	ret = perfev_writer_flush(recorder->writer, err);
	trace_release(recorder);
	return ret;
}

static int flush_stage(struct recorder *r, const unsigned char *stage, size_t size,
		       struct perfev_error *err)
{
	struct perfev_record many = {.data = stage, .size = (uint32_t)size};
	int ret = perfev_writer_append(r->writer, &many, err);

	return ret < 0 ? ret : perfev_writer_flush(r->writer, err);
}

/* Each record lives until the next one is asked for, so they are put together first. */
static int copy_synthesized(struct recorder *r, struct perfev_synth *synth,
			    const struct perfev_layout *layout, struct perfev_error *err)
{
	unsigned char *stage = malloc(STAGE_BYTES);
	struct perfev_record record;
	size_t used = 0;
	int ret = stage ? 0 : -ENOMEM;

	while (ret == 0 && (ret = perfev_synth_next(synth, &record, err)) > 0) {
		ret = 0;
		if (used + record.size > STAGE_BYTES) {
			ret = flush_stage(r, stage, used, err);
			used = 0;
			if (ret == 0)
				ret = drain_meanwhile(r, err);
		}
		memcpy(stage + used, record.data, record.size);
		used += record.size;
		if (ret == 0 && (record.type == PERF_RECORD_MMAP2 || record.type == PERF_RECORD_MMAP))
			ret = ids_note(&r->mapped, &record, layout);
	}
	if (ret == 0)
		ret = flush_stage(r, stage, used, err);
	free(stage);
	return ret;
}

/* What ran before the recording. */
static int write_synthesized(struct recorder *r, struct perfev_error *err)
{
	const struct perfev_synth_opts opts = {.size = sizeof(opts), .build_id = perfev_build_id_read};
	struct perfev_sampler_event_info info;
	struct perfev_layout *layout;
	struct perfev_synth *synth;
	int ret;

	if (!perfev_sampler_event_at(r->sampler, 0, &info))
		return 0;
	ret = perfev_layout_new(&layout, info.attr, err);
	if (ret < 0)
		return ret;
	ret = perfev_synth_open(&synth, r->session->on, layout, &opts, err);
	if (ret < 0) {
		perfev_layout_free(layout);
		return ret;
	}
	ret = copy_synthesized(r, synth, layout, err);
	perfev_synth_close(synth);
	perfev_layout_free(layout);
	return ret;
}

/* Some readers wait for it. */
static int write_finished_init(struct recorder *r, struct perfev_error *err)
{
	unsigned char bytes[8] = {0};

	return trace_append(r, bytes, PERFEV_RECORD_FINISHED_INIT, sizeof(bytes), err);
}

static int make_told(struct recorder *r)
{
	size_t count;

	if (!r->told) {
		free(list_ids(r, &count));
		r->told = calloc(count + 1, sizeof(*r->told));
	}
	return r->told ? 0 : -ENOMEM;
}

int recorder_begin(struct recorder *recorder, struct perfev_error *err)
{
	bool again = recorder->told != NULL;
	int ret = make_told(recorder);

	if (ret == 0)
		ret = add_events(recorder, err);

	if (ret == 0) /* before the start: then they are in the file whatever comes */
		ret = put_features(recorder, err);
	if (ret == 0)
		ret = perfev_writer_start(recorder->writer, err);
	if (ret == 0)
		ret = write_id_index(recorder, err);
	if (ret == 0)
		ret = trace_write_info(recorder, err);
	/* a process is looked at while its changes are recorded: there is no time between. Of a whole machine, that
	 * would be a part of what is recorded. */
	if (!again) {
		recorder->started = !recorder->session->is_command && recorder->session->on.kind <= PERFEV_TARGET_PROCESS;
		if (ret == 0 && recorder->started)
			ret = trace_start(recorder, err);
	}
	if (ret == 0)
		ret = write_synthesized(recorder, err);
	return ret < 0 ? ret : write_finished_init(recorder, err);
}

/* ---- recording ------------------------------------------------------------------------------------------------- */

int recorder_drain(struct recorder *recorder, struct perfev_error *err)
{
	uint64_t before = recorder->samples;
	int ret = take_all(recorder, err);

	if (ret == 0)
		return 0;
	if (ret > 0)
		ret = perfev_writer_round(recorder->writer, err);
	if (ret < 0)
		recorder->samples = before; /* the others are not in the file */
	trace_release(recorder);
	recorder->rounds++;
	return ret < 0 ? ret : 1;
}

int recorder_finish(struct recorder *recorder, struct perfev_error *err)
{
	uint64_t times[2] = {recorder->first_time, recorder->last_time};
	int ret = write_lost(recorder, err);

	if (ret == 0)
		ret = ids_write(&recorder->mapped, recorder->writer, err);
	if (ret == 0)
		ret = put_u64s(recorder, PERFEV_FEATURE_SAMPLE_TIME, times, 2, err);
	return ret < 0 ? ret : perfev_writer_finish(recorder->writer, err);
}

void recorder_free(struct recorder *recorder)
{
	ids_free(&recorder->mapped);
	free(recorder->left);
	free(recorder->told);
	trace_close(recorder);
	perfev_writer_close(recorder->writer);
}
