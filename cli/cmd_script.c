/* SPDX-License-Identifier: MIT */
/* perfev script: samples one by one, in the order of time, as perf script prints them or as JSON. */
#include "script.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct options {
	struct replay_opts replay;
	struct filter filter;
	struct texts fields;
	struct itrace_opts itrace;
	bool json, ns, no_chains;
	uint64_t max_stack;
	const char *output;
};

/* What an event counted when it was read last: samples may carry the counts of a whole group. */
struct count {
	uint64_t id, last;
	size_t event;
};

struct run {
	struct script script;
	const struct options *o;
	struct count *counts; /* sorted by id */
	size_t count_count;
	bool *wanted; /* by event */
	struct script_stat *stat; /* counts that were recorded; NULL: none */
	struct script_itrace *itrace; /* NULL: no trace is followed */
};

/* ---- events ---------------------------------------------------------------------------------------------------- */

static int compare_counts(const void *a_, const void *b_)
{
	const struct count *a = a_, *b = b_;

	return a->id < b->id ? -1 : a->id > b->id;
}

/* Ids of all events, with what was counted before. */
static int gather_counts(struct run *run)
{
	struct perfev_reader_event_info info;
	size_t count = 0, at = 0, e, i;
	struct count *counts;

	for (e = 0; perfev_reader_event_at(run->script.replay.reader, e, &info); e++)
		count += info.id_count;
	if (count == run->count_count)
		return 0;
	counts = calloc(count + 1, sizeof(*counts));
	if (!counts)
		return -ENOMEM;
	for (e = 0; perfev_reader_event_at(run->script.replay.reader, e, &info); e++)
		for (i = 0; i < info.id_count && at < count; i++) {
			counts[at].id = info.ids[i];
			counts[at++].event = e;
		}
	qsort(counts, at, sizeof(*counts), compare_counts);
	for (i = 0; i < run->count_count; i++) {
		struct count *same = bsearch(&run->counts[i], counts, at, sizeof(*counts), compare_counts);

		if (same)
			same->last = run->counts[i].last;
	}
	free(run->counts);
	run->counts = counts;
	run->count_count = at;
	return 0;
}

static void look_at_event(struct script *script, struct script_event *event, const struct perfev_reader_event_info *info)
{
	memset(event, 0, sizeof(*event));
	event->name = info->name;
	event->attr = info->attr;
	event->kind = script_kind(info->attr);
	event->has_callchain = script->chains && (info->attr->sample_type & PERF_SAMPLE_CALLCHAIN);
	event->is_branches = info->attr->type == PERF_TYPE_HARDWARE &&
			     (info->attr->config & UINT32_MAX) == PERF_COUNT_HW_BRANCH_INSTRUCTIONS &&
			     info->attr->sample_period == 1;
}

/* Tracepoints have call chains when they were recorded, without being asked for. */
static void show_chains(struct script *script, bool pipe)
{
	static const uint32_t place = 1 << FIELD_IP | 1 << FIELD_SYM, more = 1 << FIELD_SYMOFF | 1 << FIELD_DSO;
	size_t i;

	for (i = 0; i < script->event_count; i++)
		if (script->events[i].kind == KIND_TRACEPOINT && script->events[i].has_callchain &&
		    !script->fields.user_set[KIND_TRACEPOINT])
			script->fields.shown[KIND_TRACEPOINT] |= pipe ? place : place | more;
}

/* Called when a sample comes: in a stream events come with the first records. Of a file perf looks at the first
 * event of each kind, of a stream at all, when it decides what samples do not have. */
static int add_events(struct run *run, size_t count)
{
	struct script *script = &run->script;
	size_t i;
	struct perfev_reader_event_info info;
	struct perfev_reader_info file;
	struct script_event *events;
	uint32_t kinds = 0;
	bool *wanted;

	perfev_reader_describe(script->replay.reader, &file);
	events = realloc(script->events, count * sizeof(*events));
	wanted = realloc(run->wanted, count * sizeof(*wanted));
	script->events = events ? events : script->events;
	run->wanted = wanted ? wanted : run->wanted;
	if (!events || !wanted)
		return -ENOMEM;
	for (i = script->event_count; i < count; i++) {
		perfev_reader_event_at(script->replay.reader, i, &info);
		look_at_event(script, &events[i], &info);
		wanted[i] = passes_text(&run->o->filter.events, info.name);
		if ((int)strlen(info.name) > script->name_width)
			script->name_width = (int)strlen(info.name);
		if ((file.pipe || !(kinds >> events[i].kind & 1)) &&
		    script_fields_check(&script->fields, info.name, info.attr))
			return -ECANCELED;
		kinds |= UINT32_C(1) << events[i].kind;
	}
	script->event_count = count;
	show_chains(script, file.pipe);
	return gather_counts(run);
}

static inline int look_for_events(struct run *run)
{
	size_t count = perfev_reader_event_count(run->script.replay.reader);

	return count == run->script.event_count ? 0 : add_events(run, count);
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

static int put(struct run *run, const struct perfev_sample *sample, size_t event, uint64_t period,
	       struct perfev_error *err)
{
	struct script_sample s = {sample, &run->script.events[event], ":-1", period,
				  sample->misc & PERF_RECORD_MISC_CPUMODE_MASK, -1, -1, NULL, NULL};

	if (sample->present & PERF_SAMPLE_TID) {
		s.pid = (int32_t)sample->pid;
		s.tid = (int32_t)sample->tid;
	}
	if (s.tid != -1)
		s.comm = perfev_symbols_thread_comm(run->script.replay.symbols, s.pid, s.tid);
	if (!passes_text(&run->o->filter.comms, s.comm) || !run->wanted[event])
		return 0;
	if (s.cpumode != PERF_RECORD_MISC_KERNEL && s.cpumode != PERF_RECORD_MISC_USER)
		s.cpumode = 0;
	run->script.printed++;
	if (!s.event->text.text)
		script_name_event(&run->script, s.event);
	if (run->itrace)
		script_itrace_printed(run->itrace, sample->ip, s.pid);
	return run->o->json ? script_json(&run->script, &s, err) : script_text(&run->script, &s, err);
}

/* A sample with counts stands for each event that counted since the last one. */
static int put_counts(struct run *run, const struct perfev_sample *sample, struct perfev_error *err)
{
	struct perfev_value value = {sample->read.count, sample->read.id, 0};
	bool group = sample->read.present & PERF_FORMAT_GROUP;
	uint32_t i;
	int r = 0;

	for (i = 0; r == 0 && (group ? perfev_values_at(&sample->read, i, &value) : i == 0); i++) {
		struct count key = {value.id, 0, 0}, *count;
		uint64_t period;

		count = bsearch(&key, run->counts, run->count_count, sizeof(key), compare_counts);
		if (!count)
			continue;
		period = value.count - count->last;
		count->last = value.count;
		if (period)
			r = put(run, sample, count->event, period, err);
	}
	return r;
}

static bool is_guest(const struct perfev_sample *sample)
{
	uint32_t mode = sample->misc & PERF_RECORD_MISC_CPUMODE_MASK;

	return mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER;
}

static int take(void *context, const struct perfev_record *record, const struct perfev_layout *layout,
		struct perfev_error *err)
{
	struct run *run = context;
	int event = perfev_reader_event(run->script.replay.reader, record), r = look_for_events(run);
	struct perfev_sample sample;

	if (r < 0)
		return r;
	if (event < 0 || (size_t)event >= run->script.event_count || !layout)
		return 0;
	sample.ip = 0;
	r = perfev_sample_decode(&sample, record, layout, err);
	if (r < 0)
		return r;
	if (run->o->no_chains)
		sample.present &= ~(uint64_t)PERF_SAMPLE_CALLCHAIN;
	if (is_guest(&sample) || !filter_passes(&run->o->filter, &sample))
		return 0;
	run->script.unwound = false;
	/* perf has chains of events that were recorded with them only, though others may have a stack */
	if (!run->o->no_chains && (run->o->json || sample.present & PERF_SAMPLE_CALLCHAIN)) {
		r = replay_unwind(&run->script.replay, &sample, layout, err);
		if (r < 0)
			return r;
		run->script.unwound = r > 0;
	}
	if (run->script.pen->failed) {
		r = -EIO;
	} else if (sample.present & PERF_SAMPLE_READ) {
		r = put_counts(run, &sample, err);
	} else {
		const struct perf_event_attr *attr = run->script.events[event].attr;

		r = put(run, &sample, (size_t)event,
			sample.present & PERF_SAMPLE_PERIOD ? sample.period : attr->sample_period, err);
	}
	return r;
}

static int take_before(void *context, const struct perfev_record *record, const struct perfev_layout *layout,
		       struct perfev_error *err)
{
	struct run *run = context;

	return script_itrace_record(run->itrace, record, layout, err);
}

static int take_count(void *context, const struct perfev_record *record)
{
	struct run *run = context;

	return script_stat(&run->stat, run->script.pen, run->script.replay.reader, record);
}

/* ---- the whole ------------------------------------------------------------------------------------------------------ */

static void say_missing(const struct run *run)
{
	const char *said = NULL;
	size_t i;

	for (i = 0; i < run->script.event_count; i++) {
		const struct script_event *event = &run->script.events[i];

		if (event->why[0] && !said)
			note("fields of %s are printed as they are: %s", event->name, text_cause(event->why));
		said = event->why[0] ? event->why : said;
	}
	if (!run->script.printed && !script_stat_printed(run->stat))
		note("%s has no sample%s", run->o->replay.path,
		     perfev_reader_event_count(run->script.replay.reader) ? " that is asked for" : "");
}

static int run_all(struct run *run)
{
	struct replay *replay = &run->script.replay;
	const struct perfev_error *damage;
	struct perfev_bytes section;
	struct perfev_error err;
	int r;

	memset(&err, 0, sizeof(err));
	r = replay_open(replay, &run->o->replay, &err);
	if (r < 0)
		return report_error(&err);
	replay->sample = take;
	replay->count = run->o->json ? NULL : take_count;
	replay->context = run;
	run->script.arch = replay_feature(replay, PERFEV_FEATURE_ARCH);
	run->script.fields.with_traces = perfev_reader_feature(replay->reader, PERFEV_FEATURE_AUXTRACE, &section);
	r = look_for_events(run);
	if (r == 0)
		r = script_itrace_open(&run->itrace, &run->script, &run->o->itrace, &err);
	replay->before = run->itrace ? take_before : NULL;
	if (r == 0)
		r = replay_run(replay, &err);
	if (r == 0 && run->itrace)
		r = script_itrace_end(run->itrace, &err);
	pen_flush(run->script.pen);
	if (r == -ECANCELED)
		return EXIT_FAILED;
	if (run->script.pen->failed)
		return EXIT_DONE; /* whoever closes the file says why */
	if (r < 0)
		return err.code ? report_error(&err) : out_of_memory();
	say_missing(run);
	script_itrace_say(run->itrace);
	filter_look(&run->o->filter, replay->reader, run->itrace ? script_itrace_names(run->itrace) : NULL);
	damage = perfev_reader_damage(replay->reader);
	return damage ? report_error(damage) : EXIT_DONE;
}

static void run_free(struct run *run)
{
	size_t i;

	for (i = 0; i < run->script.event_count; i++) {
		perfev_printer_free(run->script.events[i].printer);
		if (run->script.events[i].text.size)
			free((void *)(uintptr_t)run->script.events[i].text.text);
	}
	free(run->script.events);
	free(run->wanted);
	free(run->counts);
	script_free_frames(&run->script);
	script_stat_free(run->stat);
	script_itrace_free(run->itrace);
	replay_close(&run->script.replay);
	free(run->script.pen);
	free(run);
}

static int script(const struct options *o)
{
	struct run *run = calloc(1, sizeof(*run));
	FILE *out = stdout;
	int r = -1, error;
	size_t i;

	if (!run)
		return out_of_memory();
	run->o = o;
	run->script.pen = malloc(sizeof(*run->script.pen));
	script_fields_default(&run->script.fields);
	for (i = 0; i < o->fields.count && r < 0; i++)
		r = script_fields_parse(&run->script.fields, o->fields.items[i]);
	if (r < 0 && !run->script.pen)
		r = out_of_memory();
	if (r < 0 && o->output && !(out = fopen(o->output, "we")))
		r = file_failed("write", o->output, errno);
	if (r < 0) {
		if (!o->json) /* the pen has whole pieces, of which the C library would write each first page by itself */
			setvbuf(out, NULL, _IONBF, 0);
		run->script.pen->out = out;
		run->script.pen->used = 0;
		run->script.pen->failed = false;
		run->script.ns = o->ns;
		run->script.chains = !o->no_chains;
		run->script.max_stack = o->max_stack < UINT32_MAX ? (uint32_t)o->max_stack : UINT32_MAX;
		r = run_all(run);
	}
	error = o->output && out && out != stdout ? end_output(out) : 0;
	if (error)
		r = file_failed("write", o->output, error);
	run_free(run);
	return r;
}

int cmd_script(int argc, char **argv)
{
	struct options o = {.replay = {.path = "perf.data", .partial = true, .coarse = true}, .max_stack = 127};
	const struct option_row rows[] = {
		{'i', "input", "FILE", "the recording (default perf.data; - is standard input)", OPTION_TEXT,
		 &o.replay.path},
		{'F', "fields", "FIELDS",
		 "what is printed, as in -F comm,tid,time,ip,sym, or +FIELD and -FIELD to change what is printed without -F; "
		 "of one kind of events when it begins with hw:, sw:, trace:, hw-cache:, raw:, break: or pmu:. Fields: comm, "
		 "pid, tid, time, cpu, misc, period, event, trace, addr, data_src, weight, ip, sym, symoff, dso, iregs, uregs, "
		 "brstack, brstacksym, brstackoff, bpf-output, phys_addr, data_page_size, code_page_size, ins_lat, retire_lat, srcline, flags, synth",
		 OPTION_LIST, &o.fields},
		{0, "json", NULL, "one JSON document a line for each sample", OPTION_FLAG, &o.json},
		{'G', "hide-call-graph", NULL, "do not print call chains", OPTION_FLAG, &o.no_chains},
		{0, "max-stack", "N", "at most N addresses of a call chain (default 127)", OPTION_COUNT, &o.max_stack},
		{0, "no-inline", NULL, "leave out the functions that were inlined", OPTION_FLAG, &o.replay.no_inline},
		{0, "ns", NULL, "times with all nine digits", OPTION_FLAG, &o.ns},
		FILTER_ROWS(&o.filter),
		{'o', "output", "FILE", "write there instead of standard output", OPTION_TEXT, &o.output},
		{0, "symfs", "DIR", "look for files below this folder", OPTION_TEXT, &o.replay.symfs},
		{0, "debuginfod", NULL, "fetch debug files that are missing, from servers that $DEBUGINFOD_URLS names", OPTION_FLAG,
		 &o.replay.debuginfod},
		{0, "kallsyms", "FILE", "symbols of the recorded kernel", OPTION_TEXT, &o.replay.kallsyms},
		{0, "vmlinux", "FILE", "its image, with symbols and debug information", OPTION_TEXT, &o.replay.vmlinux},
		{0, "jitdump", "[PID:]FILE", "code that a process made at run time, and wrote into this file without mapping it", OPTION_LIST,
		 &o.replay.jitdumps},
		{0, "itrace", "WHAT",
		 "of a trace of instructions (Intel PT, Arm CoreSight): b branches, c calls, r returns, x transactions, w writes, "
		 "p power, e what could not be followed; of Arm SPE: f, m caches, t TLB, b branches, a remote, M memory (default "
		 "cexwpfmtaM; of Intel PT and Arm SPE without being asked)", OPTION_MAYBE, &o.itrace.what},
		{0, "no-itrace", NULL, "do not follow traces of instructions", OPTION_FLAG, &o.itrace.none},
	};
	struct command_line line = {
		.command = "script",
		.synopsis = "[-i FILE] [-F FIELDS] [--json] [--time A,B]",
		.description = "Prints the samples of a recording one by one, in the order of time, with the text of perf "
			       "script.",
		.options = rows,
		.option_count = sizeof(rows) / sizeof(rows[0]),
	};
	char copy[32];
	int r = parse_options(&line, argc, argv);

	if (r < 0 && line.argc)
		r = usage_error("script", "it takes no argument, and '%s' was given; -i FILE names the recording",
				line.argv[0]);
	if (r < 0 && o.json && o.fields.count)
		r = usage_error("script", "--json has all fields; leave out -F");
	o.itrace.filter = &o.filter;
	o.itrace.json = o.json;
	if (r < 0)
		r = itrace_check(&o.itrace);
	if (r < 0)
		r = filter_check(&o.filter, "script");
	if (r < 0)
		r = names_check(o.replay.symfs, o.replay.kallsyms, o.replay.vmlinux);
	if (r < 0 && o.itrace.what)
		r = spool(&o.replay.path, copy);
	if (r < 0) {
		heap_in_large_pages();
		r = script(&o);
	}
	filter_free(&o.filter);
	free(o.replay.jitdumps.items);
	free(o.fields.items);
	return r;
}
