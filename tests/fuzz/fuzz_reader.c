/* SPDX-License-Identifier: MIT */
/* Recordings: read in memory, whole and partly, and streams through a pipe too; ordered, fed to symbols,
 * addresses looked up, sections looked at. The input is the recording. No file that it names is opened: all
 * are looked for below a folder that is not there. */
#include "look.h"

#include <perfev/order.h>
#include <perfev/reader.h>
#include <perfev/symbols.h>

#include <stdio.h>
#include <unistd.h>

#define PIPE_MAX 60000 /* what a pipe takes without a reader */

static int open_pipe(struct perfev_reader **ret, const uint8_t *data, size_t size,
		     const struct perfev_reader_opts *opts)
{
	char path[64];
	int ends[2], r;

	if (pipe(ends) < 0 || write(ends[1], data, size) != (ssize_t)size)
		abort();
	close(ends[1]);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[0]);
	r = perfev_reader_open(ret, path, opts, NULL);
	close(ends[0]);
	return r;
}

static void use_tracepoints(struct perfev_reader *reader)
{
	const struct perfev_tracepoint *tp;
	struct perfev_reader_event_info event;
	size_t i;

	for (i = 0; perfev_reader_event_at(reader, i, &event) && i < 100; i++) {
		if (perfev_reader_tracepoint(reader, event.attr->config, &tp, NULL) == 0)
			perfev_tracepoint_format(NULL, 0, tp, (struct perfev_bytes){event.attr, event.attr->size});
	}
}

static void use_sections(struct perfev_reader *reader)
{
	struct perfev_reader_event_info event;
	struct perfev_reader_info info;
	struct perfev_bytes section;
	struct perfev_build_id id;
	struct perfev_loss loss;
	unsigned i;

	perfev_reader_describe(reader, &info);
	for (i = 0; i < PERFEV_FEATURE_COUNT; i++) {
		size_t position = 0;

		if (!perfev_reader_feature(reader, i, &section))
			continue;
		touch(section.data, section.size);
		perfev_feature_string(section, info.swapped);
		while (perfev_feature_strings(section, info.swapped, &position))
			;
		position = 0;
		while (perfev_feature_build_id(&id, section, info.swapped, &position, NULL) > 0)
			touch(id.filename, strlen(id.filename) + 1);
	}
	for (i = 0; perfev_reader_event_at(reader, i, &event); i++) {
		touch(event.attr, event.attr->size);
		touch(event.name, strlen(event.name) + 1);
		touch(event.ids, event.id_count * 8);
	}
	perfev_reader_loss(reader, &loss);
	use_tracepoints(reader);
}

/* In the order of time: what a report does. */
static void use_ordered(struct perfev_order *order, struct perfev_reader *reader,
			struct perfev_symbols *symbols)
{
	struct perfev_record record;
	struct perfev_frame frame;
	struct perfev_place place;
	struct perfev_any any;

	while (perfev_order_next(order, &record) > 0) {
		const struct perfev_layout *layout = perfev_reader_layout(reader, &record);

		perfev_symbols_feed(symbols, &record, layout, NULL);
		if (record.type != PERF_RECORD_SAMPLE ||
		    perfev_any_decode(&any, &record, layout, NULL) < 0)
			continue;
		place.ip = any.as.sample.present & PERF_SAMPLE_IP ? any.as.sample.ip : 0;
		place.pid = any.as.sample.present & PERF_SAMPLE_TID ? (int32_t)any.as.sample.pid : 0;
		place.cpumode = record.misc & PERF_RECORD_MISC_CPUMODE_MASK;
		if (perfev_symbols_find(symbols, &place, &frame, 1, NULL) != 1)
			abort();
		perfev_symbols_comm(symbols, place.pid, place.pid);
	}
}

static void use_records(struct perfev_reader *reader)
{
	struct perfev_symbols_opts opts;
	struct perfev_order_opts limit = {sizeof(limit), 1 << 16};
	struct perfev_symbols *symbols;
	struct perfev_order *order;
	struct perfev_record record;

	memset(&opts, 0, sizeof(opts));
	opts.size = sizeof(opts);
	opts.symfs = "/nowhere";
	opts.kallsyms = "/nowhere/kallsyms";
	opts.foreign = 1;
	if (perfev_symbols_new(&symbols, &opts, NULL) < 0 || perfev_order_new(&order, &limit, NULL) < 0)
		abort();
	while (perfev_reader_next(reader, &record, NULL) > 0) {
		look_at_record(reader, &record);
		if (record.tail.size < 1 << 20)
			perfev_order_push(order, &record, perfev_reader_layout(reader, &record), NULL);
		use_ordered(order, reader, symbols);
		perfev_reader_release(reader);
	}
	perfev_order_end(order, NULL);
	use_ordered(order, reader, symbols);
	perfev_order_free(order);
	perfev_symbols_free(symbols);
}

static void use(struct perfev_reader *reader)
{
	use_records(reader);
	use_sections(reader);
	look_at_sections(reader);
	perfev_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfev_reader_opts opts = {.size = sizeof(opts), .tracing_inside = 1};
	struct perfev_bytes bytes = {data, size};
	struct perfev_reader *reader;

	if (perfev_reader_open_memory(&reader, bytes, "fuzz", &opts, NULL) == 0)
		use(reader);
	opts.partial = 1;
	if (perfev_reader_open_memory(&reader, bytes, "fuzz", &opts, NULL) == 0)
		use(reader);
	if (size < 16 || size > PIPE_MAX || (data[8] != 16 && data[15] != 16))
		return 0;
	opts.partial = data[size - 1] & 1;
	if (open_pipe(&reader, data, size, &opts) == 0)
		use(reader);
	return 0;
}
