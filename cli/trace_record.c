/* SPDX-License-Identifier: MIT */
/* What stands between the recorder and its rings and file: records of its own; and what a recording of a trace has beside
 * that of samples: the tracer in the place of its sampler, the bytes behind the records that announce them, and
 * whose they are. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int trace_append(struct recorder *r, unsigned char *bytes, uint32_t type, size_t size,
		 struct perfev_error *err)
{
	struct perf_event_header header = {type, 0, (uint16_t)size};
	struct perfev_record record;
	struct perfev_bytes all = {bytes, size};
	int ret;

	memcpy(bytes, &header, sizeof(header));
	ret = perfev_record_from_bytes(&record, all, 0, err);
	if (ret == 0)
		ret = perfev_writer_append(r->writer, &record, err);
	return ret < 0 ? ret : perfev_writer_flush(r->writer, err);
}

int trace_next(struct recorder *r, struct perfev_chunk *ret, struct perfev_error *err)
{
	if (r->tracer)
		return perfev_tracer_next(r->tracer, ret, err);
	memset(ret->part, 0, sizeof(ret->part));
	return perfev_sampler_next(r->sampler, &ret->record, err);
}

void trace_release(struct recorder *r)
{
	if (r->tracer)
		perfev_tracer_release(r->tracer);
	else
		perfev_sampler_release(r->sampler);
}

int trace_start(struct recorder *r, struct perfev_error *err)
{
	return r->tracer ? perfev_tracer_start(r->tracer, err) : perfev_sampler_start(r->sampler, err);
}

int trace_stop(struct recorder *r, struct perfev_error *err)
{
	return r->tracer ? perfev_tracer_stop(r->tracer, err) : perfev_sampler_stop(r->sampler, err);
}

void trace_close(struct recorder *r)
{
	if (r->tracer)
		perfev_tracer_close(r->tracer);
	else
		perfev_sampler_close(r->sampler);
}

/* The first event traces, and the others write into its rings. */
int trace_open(struct recorder *r, const struct perfev_event *const *events, size_t count, struct perfev_target on,
	       const struct perfev_sampler_opts *how, struct perfev_error *err)
{
	struct perfev_tracer_opts opts = {.size = sizeof(opts),
					  .ring_bytes = how->ring_bytes,
					  .may_drop = how->may_drop,
					  .leaders = how->leaders};
	struct perfev_event_info info;
	int ret;

	perfev_event_describe(events[0], &info);
	if (!is_traced(info.pmu))
		return perfev_sampler_open(&r->sampler, events, count, on, how, err);
	ret = perfev_tracer_open(&r->tracer, events, count, on, &opts, err);
	if (ret < 0)
		return ret;
	r->sampler = perfev_tracer_sampler(r->tracer);
	snprintf(r->traced, sizeof(r->traced), "%s", info.pmu);
	return 0;
}

/* Whose the traces are, where perf has a decoder for them. */
int trace_write_info(struct recorder *r, struct perfev_error *err)
{
	struct perfev_sampler_event_info info;
	struct perfev_sampler_id id;
	unsigned char *bytes;
	uint64_t *words;
	uint32_t type;
	size_t count;
	int ret = 0;

	if (!r->tracer || !perfev_sampler_event_at(r->sampler, 0, &info) || !perfev_sampler_id_at(r->sampler, 0, 0, &id))
		return 0;
	words = calloc(TRACE_INFO_WORDS, sizeof(*words));
	bytes = calloc(TRACE_INFO_WORDS + 2, 8);
	count = words && bytes ? trace_info(r->traced, info.attr, &id, words, &type) : 0;
	if (!words || !bytes)
		ret = -ENOMEM;
	if (count) {
		memcpy(bytes + 8, &type, sizeof(type));
		memcpy(bytes + 16, words, count * 8);
		ret = trace_append(r, bytes, PERFEV_RECORD_AUXTRACE_INFO, 16 + count * 8, err);
	}
	free(words);
	free(bytes);
	return ret;
}

/* The bytes that a record of the kernel announces, behind it. */
int trace_write(struct recorder *r, const struct perfev_chunk *chunk, struct perfev_error *err)
{
	struct perfev_auxtrace trace = {.idx = chunk->record.source, .cpu = UINT32_MAX, .tid = UINT32_MAX};
	struct perfev_ring_info ring;
	struct perfev_aux aux;
	int ret = perfev_aux_decode(&aux, &chunk->record, perfev_sampler_layout(r->sampler, &chunk->record), err);

	if (ret < 0)
		return ret;
	if (perfev_sampler_ring_at(r->sampler, chunk->record.source, &ring)) {
		trace.cpu = (uint32_t)ring.cpu;
		trace.tid = ring.cpu < 0 ? (uint32_t)ring.tid : UINT32_MAX;
	}
	trace.offset = aux.aux_offset;
	trace.reference = ++r->traces;
	return perfev_writer_put_trace(r->writer, &trace, chunk->part, err);
}

void trace_summarize(const struct recorder *r)
{
	struct perfev_trace_info info;
	char bytes[32];

	perfev_tracer_describe(r->tracer, &info);
	note("%s of trace by %s", text_bytes(bytes, info.bytes), r->traced);
	if (info.truncated)
		note("it was interrupted %llu times, as its area was full: what ran meanwhile is not in it",
		     (unsigned long long)info.truncated);
	if (info.gaps)
		note("it has %llu gaps", (unsigned long long)info.gaps);
}
