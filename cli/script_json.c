/* SPDX-License-Identifier: MIT */
/*
 * A sample as JSON, one document a line: {"comm":"sleep","pid":3,"tid":3,"cpu":0,"time_ns":1,"event":"cycles",
 * "period":1,"ip":"0x1f","symbol":"main","offset":4,"module":"/bin/sleep","callchain":[{"ip":...},...]}.
 * Addresses are hexadecimal texts, as in what perfev dump --json prints; what a sample does not have is left out.
 */
#include "script.h"

#include <inttypes.h>
#include <string.h>

static int find(struct script *script, const struct script_sample *s, uint64_t ip, uint32_t cpumode,
		struct perfev_frame *frame, struct perfev_error *err)
{
	struct perfev_place place = {ip, s->pid, cpumode};

	return perfev_symbols_find(script->replay.symbols, &place, frame, 1, err);
}

static void put_place(FILE *out, uint64_t ip, const struct perfev_frame *frame)
{
	fprintf(out, "\"ip\":\"0x%" PRIx64 "\",\"symbol\":", ip);
	if (frame->symbol)
		json_string(out, frame->symbol);
	else
		fputs("null", out);
	fprintf(out, ",\"offset\":%" PRIu32 ",\"module\":", frame->symbol ? frame->offset : 0);
	json_string(out, frame->module);
}

/* A place of a chain, with what was inlined there before it, of those stacks where the text has that too. */
static int put_entry(struct script *script, const struct script_sample *s, const struct perfev_callchain_entry *entry, bool first,
		     struct perfev_error *err)
{
	struct perfev_place place = {entry->ip, s->pid, perfev_context_cpumode(entry->context)};
	bool is_unwound = script->unwound && place.cpumode == PERF_RECORD_MISC_USER;
	struct perfev_frame frames[PLACE_FRAMES];
	FILE *out = script->pen->out;
	int n, i;

	place.ip -= is_unwound && !entry->first;
	n = perfev_symbols_find(script->replay.symbols, &place, frames, is_unwound ? PLACE_FRAMES : 1, err);
	for (i = 0; i < n; i++) {
		fputs(first && !i ? "{" : ",{", out);
		frames[i].offset = frames[n - 1].offset; /* counted from where the function around it begins */
		put_place(out, entry->ip, &frames[i]);
		fputs(frames[i].flags & PERFEV_FRAME_INLINED ? ",\"inlined\":true}" : "}", out);
	}
	return n < 0 ? -1 : 0;
}

static int put_chain(struct script *script, const struct script_sample *s, struct perfev_error *err)
{
	FILE *out = script->pen->out;
	struct perfev_callchain_entry entry;
	struct perfev_callchain chain;
	uint32_t shown = 0;
	int r = 0;

	fputs(",\"callchain\":[", out);
	perfev_callchain_begin(&chain, s->sample->callchain, s->sample->misc);
	for (; r == 0 && shown < script->max_stack && perfev_callchain_next(&chain, &entry) > 0; shown++)
		r = put_entry(script, s, &entry, !shown, err);
	fputc(']', out);
	return r;
}

static int put_branches(struct script *script, const struct script_sample *s, struct perfev_error *err)
{
	FILE *out = script->pen->out;
	struct perfev_branch b;
	struct perfev_frame frame;
	uint32_t i;

	fputs(",\"branches\":[", out);
	for (i = 0; perfev_branches_at(&s->sample->branches, i, &b); i++) {
		fputs(i ? ",{\"from\":{" : "{\"from\":{", out);
		if (find(script, s, b.from, s->cpumode, &frame, err) < 0)
			return -1;
		put_place(out, b.from, &frame);
		fputs("},\"to\":{", out);
		if (find(script, s, b.to, s->cpumode, &frame, err) < 0)
			return -1;
		put_place(out, b.to, &frame);
		fprintf(out, "},\"mispredicted\":%s,\"cycles\":%u}", b.mispredicted ? "true" : "false", b.cycles);
	}
	fputc(']', out);
	return 0;
}

static void put_registers(FILE *out, const char *name, const struct script *script,
			  const struct perfev_registers *registers)
{
	unsigned size, bit;
	enum perfev_arch arch = script->arch ? perfev_arch_of(script->arch, &size) : perfev_arch_host(&size);
	uint32_t at = 0;

	fprintf(out, ",\"%s\":{", name);
	for (bit = 0; bit < 64 && at < registers->values.count; bit++) {
		const char *reg = perfev_reg_name(arch, size, bit);

		if (!(registers->mask >> bit & 1))
			continue;
		if (reg)
			fprintf(out, "%s\"%s\"", at ? "," : "", reg);
		else
			fprintf(out, "%s\"%u\"", at ? "," : "", bit);
		fprintf(out, ":\"0x%" PRIx64 "\"", perfev_u64s_at(registers->values, at));
		at++;
	}
	fputc('}', out);
}

static void put_memory(FILE *out, const struct perfev_sample *sample)
{
	struct perfev_weight weight;
	char text[256];

	if (sample->present & PERF_SAMPLE_ADDR)
		fprintf(out, ",\"addr\":\"0x%" PRIx64 "\"", sample->addr);
	if (sample->present & PERF_SAMPLE_DATA_SRC) {
		perfev_data_source_format(text, sizeof(text), sample->data_src);
		fputs(",\"data_src\":", out);
		json_string(out, text);
	}
	if (perfev_sample_weight(sample, &weight)) {
		fprintf(out, ",\"weight\":%" PRIu64, weight.has_parts ? weight.first : weight.whole);
		if (weight.has_parts)
			fprintf(out, ",\"ins_lat\":%u,\"retire_lat\":%u", weight.second, weight.third);
	}
	if (sample->present & PERF_SAMPLE_PHYS_ADDR)
		fprintf(out, ",\"phys_addr\":\"0x%" PRIx64 "\"", sample->phys_addr);
	if (sample->present & PERF_SAMPLE_DATA_PAGE_SIZE)
		fprintf(out, ",\"data_page_size\":%" PRIu64, sample->data_page_size);
	if (sample->present & PERF_SAMPLE_CODE_PAGE_SIZE)
		fprintf(out, ",\"code_page_size\":%" PRIu64, sample->code_page_size);
}

static void put_task(FILE *out, const struct script_sample *s)
{
	fputs("{\"comm\":", out);
	json_string(out, s->comm);
	if (s->sample->present & PERF_SAMPLE_TID)
		fprintf(out, ",\"pid\":%" PRId32 ",\"tid\":%" PRId32, s->pid, s->tid);
	if (s->sample->present & PERF_SAMPLE_CPU)
		fprintf(out, ",\"cpu\":%" PRIu32, s->sample->cpu);
	if (s->sample->present & PERF_SAMPLE_TIME)
		fprintf(out, ",\"time_ns\":%" PRIu64, s->sample->time);
	fputs(",\"event\":", out);
	json_string(out, s->event->name);
	fprintf(out, ",\"period\":%" PRIu64, s->period);
}

static void put_trace(struct script *script, const struct script_sample *s)
{
	char text[8192];

	if (s->event->kind != KIND_TRACEPOINT || !(s->sample->present & PERF_SAMPLE_RAW))
		return;
	script_trace(script, s->event, s->sample->raw, text, sizeof(text));
	fputs(",\"trace\":", script->pen->out);
	json_string(script->pen->out, text);
	if (!s->event->tracepoint)
		return;
	perfev_tracepoint_format(text, sizeof(text), s->event->tracepoint, s->sample->raw);
	fputs(",\"fields\":", script->pen->out);
	json_string(script->pen->out, text);
}

int script_json(struct script *script, const struct script_sample *s, struct perfev_error *err)
{
	const struct perfev_sample *sample = s->sample;
	FILE *out = script->pen->out;
	struct perfev_frame frame;

	put_task(out, s);
	if (sample->present & PERF_SAMPLE_IP) {
		if (find(script, s, sample->ip, s->cpumode, &frame, err) < 0)
			return -1;
		fputc(',', out);
		put_place(out, sample->ip, &frame);
	}
	put_memory(out, sample);
	put_trace(script, s);
	if ((sample->present & PERF_SAMPLE_CALLCHAIN) && put_chain(script, s, err) < 0)
		return -1;
	if (script->unwound && script->replay.unwound.count)
		fprintf(out, ",\"stack_end\":\"%s\"",
			perfev_unwound_end_name((enum perfev_unwound_end)script->replay.unwound.end));
	if ((sample->present & PERF_SAMPLE_BRANCH_STACK) && put_branches(script, s, err) < 0)
		return -1;
	if ((sample->present & PERF_SAMPLE_REGS_INTR) && sample->regs_intr.abi)
		put_registers(out, "iregs", script, &sample->regs_intr);
	if ((sample->present & PERF_SAMPLE_REGS_USER) && sample->regs_user.abi)
		put_registers(out, "uregs", script, &sample->regs_user);
	fputs("}\n", out);
	return 0;
}
