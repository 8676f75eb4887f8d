/* SPDX-License-Identifier: MIT */
/*
 * What script prints again and again: names of functions and files, and what tracepoints say. Names are made once, by the
 * numbers that frames have; formats of a tracepoint are looked for when it comes for the first time.
 */
#include "script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 16384

/* ---- names that are printed again and again ----------------------------------------------------------------- */

/* A copy, without what would steer a terminal, and with NAME_STEP bytes behind it. */
void script_set_name(struct script_name *name, const char *before, const char *text, const char *behind)
{
	static const char empty[NAME_STEP];
	size_t n = strlen(text), i;
	char *copy;

	n = (n < NAME_MAX_BYTES ? n : NAME_MAX_BYTES) + strlen(before) + strlen(behind);
	copy = calloc(1, n + NAME_STEP);
	name->text = copy ? copy : empty;
	name->size = copy ? n : 0;
	if (!copy)
		return;
	snprintf(copy, n + 1, "%s%.*s%s", before, NAME_MAX_BYTES, text, behind);
	for (i = 0; i < n; i++)
		if ((unsigned char)copy[i] < 0x20 || copy[i] == 0x7f)
			copy[i] = '?';
}

/* What perf calls the file: of kernel code that was not said to be mapped nothing; of a module of the kernel that is in the list of build-ids its path; of code that came
 * while the kernel ran the name of that code. */
static const char *module_text(const struct script *script, const struct perfev_frame *frame)
{
	struct perfev_module_info info;

	if (frame->flags & PERFEV_FRAME_INLINED)
		return "inlined";
	if (!(frame->flags & PERFEV_FRAME_KERNEL))
		return frame->module;
	if (!frame->symbol && !script->replay.kernel_mapped)
		return "[unknown]";
	if (frame->symbol && !strcmp(frame->module, "[bpf]"))
		return frame->symbol;
	if (perfev_symbols_module(script->replay.symbols, frame->module_id, &info) && info.build_id.size)
		return info.path;
	return frame->module;
}

const struct script_frame *script_new_frame(struct script *script, const struct perfev_frame *frame)
{
	static const char empty[NAME_STEP];
	static const struct script_frame none = {{empty, 0}, {empty, 0}, 0};
	struct script_frame *frames;

	if (frame->key >= script->frame_count) {
		size_t count = (size_t)frame->key + 1024;

		frames = realloc(script->frames, count * sizeof(*frames));
		if (!frames)
			return &none;
		memset(frames + script->frame_count, 0, (count - script->frame_count) * sizeof(*frames));
		script->frames = frames;
		script->frame_count = count;
	}
	frames = &script->frames[frame->key];
	script_set_name(&frames->symbol, " ", frame->symbol ? frame->symbol : "[unknown]", frame->symbol ? "+0x" : "");
	script_set_name(&frames->module, " (", module_text(script, frame), ")");
	frames->mark = frame->symbol && frames->symbol.size ? 3 : 0;
	return frames;
}

void script_free_frames(struct script *script)
{
	size_t i;

	for (i = 0; i < script->frame_count; i++) {
		if (script->frames[i].symbol.size)
			free((void *)(uintptr_t)script->frames[i].symbol.text);
		if (script->frames[i].module.size)
			free((void *)(uintptr_t)script->frames[i].module.text);
	}
	free(script->frames);
}

/* ---- tracepoints --------------------------------------------------------------------------------------------- */

/* Of the kernel: what a field that has its address means. */
static const char *name_function(void *context, uint64_t address, uint64_t *start)
{
	const struct script *script = context;
	const struct perfev_place place = {address, 0, PERF_RECORD_MISC_KERNEL};
	struct perfev_frame frame;

	if (perfev_symbols_find(script->replay.symbols, &place, &frame, 1, NULL) < 1)
		return NULL;
	*start = address - frame.offset;
	return frame.symbol;
}

static void prepare_trace(struct script *script, struct script_event *event)
{
	struct perfev_printer_opts opts = {.size = sizeof(opts), .function = name_function, .context = script};
	struct perfev_reader *reader = script->replay.reader;
	struct perfev_reader_info info;
	struct perfev_tracing tracing;
	struct perfev_bytes section;
	struct perfev_error err;

	if (event->tracepoint || event->why[0])
		return;
	if (perfev_reader_tracepoint(reader, event->attr->config, &event->tracepoint, &err) < 0) {
		snprintf(event->why, sizeof(event->why), "%.250s", err.text);
		return;
	}
	perfev_reader_describe(reader, &info);
	if (perfev_reader_feature(reader, PERFEV_FEATURE_TRACING_DATA, &section) &&
	    perfev_feature_tracing(&tracing, section, NULL) == 0)
		opts.printk_formats = tracing.printk_formats;
	if (perfev_printer_new(&event->printer, event->tracepoint, &opts, &err) < 0)
		snprintf(event->why, sizeof(event->why), "%.250s", err.text);
}

size_t script_trace(struct script *script, struct script_event *event, struct perfev_bytes raw, char *to, size_t size)
{
	int n = -1;

	prepare_trace(script, event);
	to[0] = 0;
	if (event->printer)
		n = perfev_printer_format(to, size, event->printer, raw, NULL);
	if (n < 0 && event->tracepoint)
		n = (int)perfev_tracepoint_format(to, size, event->tracepoint, raw);
	return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

/* ---- marks of call chains -------------------------------------------------------------------------------- */

uint32_t script_mode_of(uint64_t context)
{
	switch (context) {
	case (uint64_t)PERF_CONTEXT_HV:
		return PERF_RECORD_MISC_HYPERVISOR;
	case (uint64_t)PERF_CONTEXT_KERNEL:
		return PERF_RECORD_MISC_KERNEL;
	case (uint64_t)PERF_CONTEXT_USER:
	case (uint64_t)PERF_CONTEXT_USER_DEFERRED:
		return PERF_RECORD_MISC_USER;
	default:
		return 0;
	}
}

uint32_t script_known_marks(const struct perfev_u64s *chain)
{
	uint32_t i;

	for (i = 0; i < chain->count; i++) {
		uint64_t ip = perfev_u64s_at(*chain, i);

		if (ip >= (uint64_t)PERF_CONTEXT_MAX && !script_mode_of(ip))
			return 0;
	}
	return chain->count;
}

/* The names of events stand in a column, as wide as those that are known when the first sample is printed. */
void script_name_event(struct script *script, struct script_event *event)
{
	char spaces[256];
	int n = script->name_width - (int)strlen(event->name);

	n = n < 0 ? 0 : n < 255 ? n : 255;
	memset(spaces, ' ', (size_t)n);
	spaces[n] = 0;
	script_set_name(&event->text, spaces, event->name, ": ");
}
