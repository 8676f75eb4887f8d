/* SPDX-License-Identifier: MIT */
/* perfev record: sample a command or what runs, into a file. */
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_HZ 999
#define PAGES_MAX  (1 << 30)
#define PASSES_MAX 16 /* over the rings, between two looks at signals and at the command */

struct options {
	struct texts events;
	struct session session;
	uint64_t frequency, period, pages;
	struct graph graph;
	bool no_inherit, no_build_ids;
	const char *call_graph, *output, *html, *when, *sync;
	struct recorder_files files;
	int argc; /* the words as given, for the file */
	char **argv;
};

struct record_work {
	const struct options *options;
	struct perfev_events *events;
	struct child child;
	struct recorder recorder;
	int signals;
	bool stopped;
	bool hurries, has_priority; /* has asked for real-time priority; has it */
	int policy;		    /* before that */
	bool closed; /* nobody reads our standard output any more, which is no failure */
	int64_t started_ms;
	int64_t rate_before; /* perf_event_max_sample_rate */
};

/* ---- events ----------------------------------------------------------------------------------------- */

static const char *default_event(void)
{
	struct perfev_error err;

	if (perfev_probe(PERFEV_CAN_HARDWARE, &err))
		return "cycles";
	note("no hardware counters here, so cpu-clock is sampled: it ticks while code runs on a CPU");
	return "cpu-clock";
}

static uint64_t default_frequency(void)
{
	struct perfev_system s;

	perfev_system_read(&s);
	if (s.max_sample_rate > 0 && s.max_sample_rate < DEFAULT_HZ) {
		note("the kernel allows %lld samples a second (perf_event_max_sample_rate): taking that",
		     (long long)s.max_sample_rate);
		return (uint64_t)s.max_sample_rate;
	}
	return DEFAULT_HZ;
}

/* PERF_SAMPLE_PERIOD with a fixed period would make each hit of a software event a sample. */
static void set_period(struct perf_event_attr *attr, const struct options *o, uint64_t frequency)
{
	if (o->period) {
		attr->freq = 0;
		attr->sample_period = o->period;
		return;
	}
	attr->freq = 1;
	attr->sample_freq = frequency;
	attr->sample_type |= PERF_SAMPLE_PERIOD;
}

/* What is hit now and then, and each hit of interest: tracepoints, probes, breakpoints. */
static bool is_place(const struct perf_event_attr *attr, const struct perfev_event_info *info)
{
	return attr->type == PERF_TYPE_TRACEPOINT || attr->type == PERF_TYPE_BREAKPOINT ||
	       !strcmp(info->pmu, "kprobe") || !strcmp(info->pmu, "uprobe");
}

static void choose_period(struct perf_event_attr *attr, const struct perfev_event_info *info,
			  const struct options *o, uint64_t frequency)
{
	if (info->flags & PERFEV_EVENT_PERIOD) {
		if (attr->freq)
			attr->sample_type |= PERF_SAMPLE_PERIOD;
	} else if (attr->sample_period && !o->period && !o->frequency) {
		; /* its PMU names one for it */
	} else if (is_place(attr, info) && !o->period && !o->frequency) {
		attr->freq = 0;
		attr->sample_period = 1;
	} else {
		set_period(attr, o, frequency);
	}
	if (attr->type == PERF_TYPE_TRACEPOINT)
		attr->sample_type |= PERF_SAMPLE_RAW | PERF_SAMPLE_CPU;
	if (attr->type == PERF_TYPE_BREAKPOINT)
		attr->sample_type |= PERF_SAMPLE_ADDR;
}

static void prepare_event(struct perfev_event *event, const struct options *o, bool first, bool traced,
			  uint64_t frequency)
{
	const struct session *s = &o->session;
	struct perf_event_attr *attr = perfev_event_attr(event);
	bool cpu_wide = !s->is_command && (s->on.kind == PERFEV_TARGET_CPU || s->cgroups.count);
	struct perfev_event_info info;

	perfev_event_describe(event, &info);
	attr->sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	if (cpu_wide)
		attr->sample_type |= PERF_SAMPLE_CPU;
	choose_period(attr, &info, o, frequency);
	graph_apply(&o->graph, attr, &info);
	if (!(info.flags & PERFEV_EVENT_INHERIT))
		attr->inherit = !cpu_wide && !o->no_inherit;
	attr->enable_on_exec = s->is_command && attr->disabled;
	if (!traced) {
		attr->use_clockid = 1;
		attr->clockid = CLOCK_MONOTONIC;
	}
	if (!first)
		return;
	if (traced) { /* its decoder has to know what ran where */
		attr->sample_type |= PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_CPU;
		attr->context_switch = 1;
		attr->freq = 0;
		attr->sample_period = 1;
	}
	attr->mmap = attr->mmap2 = 1;
	attr->build_id = !o->no_build_ids && perfev_probe(PERFEV_CAN_BUILD_ID, NULL) > 0;
	attr->mmap_data = o->graph.how == PERFEV_GRAPH_DWARF; /* perf reads unwind tables through mappings of data */
	attr->comm = attr->comm_exec = 1;
	attr->task = 1;
}

/* nr=: how many samples of each event are wanted. */
static int set_limits(struct record_work *work)
{
	size_t count = perfev_events_count(work->events), i;
	struct perfev_event_info info;

	work->recorder.left = calloc(count, sizeof(*work->recorder.left));
	if (!work->recorder.left)
		return EXIT_FAILED;
	for (i = 0; i < count; i++) {
		perfev_event_describe(perfev_events_at(work->events, i), &info);
		work->recorder.left[i] = info.max_events ? info.max_events : UINT64_MAX;
	}
	return 0;
}

static void prepare_events(const struct record_work *work)
{
	uint64_t frequency = work->options->frequency;
	struct perfev_event_info first;
	size_t i;

	if (!frequency && !work->options->period)
		frequency = default_frequency();
	perfev_event_describe(perfev_events_at(work->events, 0), &first);
	for (i = 0; i < perfev_events_count(work->events); i++)
		prepare_event(perfev_events_at(work->events, i), work->options, i == 0, is_traced(first.pmu), frequency);
}

/* ---- opening ------------------------------------------------------------------------------------------- */

static int check_events(const struct record_work *work)
{
	size_t i;

	for (i = 0; i < perfev_events_count(work->events); i++) {
		struct perfev_event *event = perfev_events_at(work->events, i);
		struct perfev_event_info info;
		const char *what;

		perfev_event_describe(event, &info);
		what = perfev_event_attr(event)->write_backward    ? "overwrite"
		       : info.flags & PERFEV_EVENT_NO_TIME	     ? "time=0"
								     : NULL;
		if (what) {
			fprintf(stderr, "perfev record: the term %s (of %s) is not built yet\n", what,
				perfev_event_name(event));
			return EXIT_USAGE;
		}
	}
	return 0;
}

static int open_sampler(struct record_work *work)
{
	const struct options *o = work->options;
	struct perfev_sampler_opts opts = {.size = sizeof(opts),
					   .ring_bytes = o->pages * (uint64_t)sysconf(_SC_PAGESIZE),
					   .may_drop = PERFEV_DROP_KERNEL | PERFEV_DROP_RING,
					   .partial = 1};
	size_t count = perfev_events_count(work->events), i;
	const struct perfev_event **events = calloc(count, sizeof(*events));
	size_t *leaders = calloc(count, sizeof(*leaders));
	struct perfev_sampler_event_info info;
	struct perfev_error err;
	int r;

	for (i = 0; events && leaders && i < count; i++) {
		events[i] = perfev_events_at(work->events, i);
		leaders[i] = perfev_events_leader(work->events, i);
	}
	opts.leaders = leaders;
	if (!events || !leaders) {
		free(events);
		free(leaders);
		return out_of_memory();
	}
	r = trace_open(&work->recorder, events, count, o->session.on, &opts, &err);
	free(events);
	free(leaders);
	if (r < 0)
		return report_error(&err);
	for (i = 0; perfev_sampler_event_at(work->recorder.sampler, i, &info); i++) {
		if (info.error)
			note("%s", info.error->text);
		if (info.dropped & PERFEV_DROP_KERNEL)
			note("%s: user code only, as perf_event_paranoid does not let this user sample the "
			     "kernel",
			     info.name);
		if (info.dropped & PERFEV_DROP_INHERIT)
			note("%s: not in children, as this kernel has no counts in samples of inherited events (6.12 "
			     "has)",
			     info.name);
		if (info.every_hit)
			note("%s: each hit is a sample, as the kernel keeps no period where samples have theirs",
			     info.name);
	}
	if (o->pages && perfev_sampler_ring_bytes(work->recorder.sampler) < opts.ring_bytes)
		note("rings have %llu KiB: more than that is over the limit of locked memory, or of "
		     "what the kernel can map",
		     (unsigned long long)perfev_sampler_ring_bytes(work->recorder.sampler) / 1024);
	return 0;
}

static int writing_failed(struct record_work *work, const struct perfev_error *err)
{
	work->closed = err->code == -EPIPE && !strcmp(work->recorder.files.path, "-");
	return work->closed ? EXIT_FAILED : report_error(err);
}

static int open_file(struct record_work *work)
{
	struct recorder *r = &work->recorder;
	struct perfev_error err;

	r->files = work->options->files;
	r->files.path = work->options->output ? work->options->output : "perf.data";
	r->session = (struct session *)(uintptr_t)&work->options->session;
	r->argc = work->options->argc;
	r->argv = work->options->argv;
	return recorder_open(r, &err) < 0 ? writing_failed(work, &err) : 0;
}

/* ---- the loop -------------------------------------------------------------------------------------------- */

static bool is_done(struct record_work *work)
{
	if (take_signals(work->signals, &work->child))
		work->stopped = true;
	child_look(&work->child, false);
	if (work->child.pid && work->child.ended)
		return true;
	/* the user's Ctrl-C went to the command too: its end is waited for, but not for ever */
	if (work->stopped && (!work->child.pid || !work->options->session.is_command))
		return true;
	return perfev_sampler_ended(work->recorder.sampler);
}

static int drain_all(struct record_work *work)
{
	struct perfev_error err;
	int r = 1, passes = 0;

	while (r > 0 && passes++ < 64)
		r = recorder_drain(&work->recorder, &err);
	return r < 0 ? writing_failed(work, &err) : 0;
}

/* A ring was full because we were not there: from now on nothing but the kernel goes before us. We sleep most of the
 * time all the same. What we start has what it would have had. */
static void hurry(struct record_work *work)
{
	const struct sched_param first = {.sched_priority = sched_get_priority_min(SCHED_FIFO)};
	int before = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;

	if (work->hurries)
		return;
	work->hurries = true;
	if (before == SCHED_OTHER || before == SCHED_BATCH || before == SCHED_IDLE)
		work->has_priority = sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first) == 0;
	work->policy = before;
}

static void hurry_no_more(struct record_work *work)
{
	const struct sched_param none = {.sched_priority = 0};

	/* without CAP_SYS_NICE the flag cannot be taken back: it means nothing now */
	if (work->has_priority && sched_setscheduler(0, work->policy, &none) < 0)
		sched_setscheduler(0, work->policy | SCHED_RESET_ON_FORK, &none);
	work->has_priority = false;
}

/* What is there, once: what the recorder does may be recorded too, and there is always more then. But where a mark
 * was passed meanwhile, waiting for it to be told would only cost time. */
static int drain_some(struct record_work *work)
{
	struct recorder *r = &work->recorder;
	uint64_t mark = perfev_sampler_ring_bytes(r->sampler) / 4;
	struct perfev_error err;
	int passes = 0;

	do {
		if (perfev_sampler_wait(r->sampler, 0, &err) <= 0)
			return 0;
		if (recorder_drain(r, &err) < 0)
			return writing_failed(work, &err);
		if (r->overflowed)
			hurry(work);
	} while (r->drained >= mark && ++passes < PASSES_MAX);
	return 0;
}

static int loop(struct record_work *work)
{
	struct recorder *r = &work->recorder;
	struct progress progress;
	struct perfev_error err;
	int code = 0, ms;

	progress_begin(&progress, "recorded");
	while (!code && !is_done(work)) {
		ms = recorder_wait_ms(r);
		wait_for(perfev_sampler_fd(r->sampler), work->signals, progress.on && (ms < 0 || ms > 500) ? 500 : ms);
		code = drain_some(work);
		if (!code && recorder_switch(r, &err) < 0)
			code = writing_failed(work, &err);
		progress_at(&progress, recorder_bytes(r), 0);
	}
	progress_end(&progress);
	hurry_no_more(work);
	return code;
}

static int64_t max_rate(void)
{
	struct perfev_system s;

	perfev_system_read(&s);
	return s.max_sample_rate;
}

static int begin(struct record_work *work)
{
	const struct session *s = &work->options->session;
	struct perfev_error err;
	int error;

	if (!s->is_command && !work->recorder.started && trace_start(&work->recorder, &err) < 0)
		return report_error(&err);
	work->started_ms = now_ms();
	work->rate_before = max_rate();
	if (!work->child.pid)
		return 0;
	error = child_go(&work->child);
	return error ? child_refused(s->command, error) : 0;
}

/* The kernel does that when its interrupts take too long (perf_cpu_time_max_percent), and keeps it. */
static void tell_lower_rate(const struct record_work *work)
{
	int64_t now = max_rate();

	if (now < work->rate_before && now > 0)
		note("the kernel lowered perf_event_max_sample_rate from %lld to %lld meanwhile, as samples took "
		     "too long: some may be missing; take a lower -F, and set it back with sysctl",
		     (long long)work->rate_before, (long long)now);
}

static void summarize(struct record_work *work)
{
	const struct recorder *r = &work->recorder;
	char samples[32], lost[32], bytes[32];
	struct perfev_loss loss;

	perfev_sampler_loss(r->sampler, &loss, NULL);
	note("%s samples, %s%s lost, %s in %.1f s: %s", text_number(samples, r->samples),
	     loss.records && !loss.exact ? "at least " : "", text_number(lost, loss.records),
	     text_bytes(bytes, recorder_bytes(r)),
	     (double)(now_ms() - work->started_ms) / 1000, strcmp(r->path, "-") ? r->path : "standard output");
	if (loss.records)
		note("records were lost because the rings were full; -m N gives them N pages, -F a lower rate");
	tell_lower_rate(work);
	if (r->tracer)
		trace_summarize(r);
	else if (!r->samples)
		note("there is no sample: what was measured ran too short, or its events never happened");
}

/* ---- the whole ---------------------------------------------------------------------------------------------- */

static int finish(struct record_work *work, int code)
{
	struct perfev_error err;
	int r;

	trace_stop(&work->recorder, NULL);
	r = code == EXIT_FAILED ? 0 : drain_all(work);
	if (recorder_finish(&work->recorder, &err) < 0 && !code)
		r = writing_failed(work, &err);
	if (!work->closed)
		summarize(work);
	return code ? code : r;
}

static int write_page(const struct options *o)
{
	struct load_opts opts = {.path = o->output ? o->output : "perf.data"};
	struct loaded loaded;
	int r = load_profile(&loaded, &opts);

	if (r)
		return r;
	r = write_html(&loaded, o->html);
	loaded_free(&loaded);
	return r;
}

static int record(struct record_work *work)
{
	struct options *o = (struct options *)(uintptr_t)work->options;
	bool to_stdout = o->output && !strcmp(o->output, "-");
	int r = parse_events(&work->events, "record", &o->events,
			     o->events.count ? "" : default_event()), error;

	if (r == 0)
		r = check_events(work);
	if (r == 0)
		r = set_limits(work);
	if (r)
		return r;
	prepare_events(work);
	work->signals = watch_signals();
	raise_file_limit();
	if (o->session.command) {
		r = child_start(&work->child, o->session.command, to_stdout);
		if (r < 0) {
			unwatch_signals(work->signals);
			return child_refused(o->session.command, -r);
		}
	}
	if (o->session.is_command)
		o->session.on = perfev_on_task(work->child.pid);
	r = open_sampler(work);
	if (r == 0 && o->session.command && (error = child_find(o->session.command)))
		r = child_refused(o->session.command, error); /* and an earlier recording stays where it is */
	if (r == 0)
		r = open_file(work);
	if (r == 0) {
		r = begin(work);
		if (r == 0)
			r = loop(work);
		r = finish(work, r);
	}
	unwatch_signals(work->signals); /* from here on Ctrl-C ends us at once */
	if (r == 0 && o->html)
		r = write_page(o);
	if (r)
		child_kill(&work->child);
	if (work->closed)
		return EXIT_DONE;
	child_look(&work->child, !o->session.is_command ? work->child.ended : true);
	if (r == 0 && work->child.pid && work->child.ended)
		r = child_exit_code(&work->child);
	return r;
}

static int check(struct options *o, bool graph)
{
	if (o->frequency && o->period)
		return usage_error("record", "-F (a frequency) and -c (a period) exclude each other");
	if (o->pages & (o->pages - 1))
		return usage_error("record", "-m takes a power of two, and %llu is none",
				   (unsigned long long)o->pages);
	if (o->pages > PAGES_MAX)
		return usage_error("record", "-m takes up to %d pages", PAGES_MAX);
	if (check_files(&o->files, o->output, o->html, o->when, o->sync))
		return EXIT_USAGE;
	return graph_parse(&o->graph, o->call_graph, graph);
}

int cmd_record(int argc, char **argv)
{
	struct options o = {0};
	struct record_work work = {.options = &o};
	bool graph = false;
	const struct option_row rows[] = {
		{'e', "event", "EVENTS", "what to sample; more than once, or separated by commas",
		 OPTION_LIST, &o.events},
		{0, "filter", "EXPR", "only where the fields of the -e before it meet this: 'prev_pid == 0'",
		 OPTION_FILTER, &o.events},
		{'F', "freq", "HZ", "samples a second (default 999)", OPTION_COUNT, &o.frequency},
		{'c', "count", "PERIOD", "a sample each PERIOD events", OPTION_COUNT, &o.period},
		{'g', NULL, NULL, "record call chains (the default)", OPTION_FLAG, &graph},
		{0, "call-graph", "HOW", "call chains: fp (frame pointers, the default), dwarf[,BYTES], lbr or no", OPTION_TEXT,
		 &o.call_graph},
		{'o', "output", "FILE", "where to (default perf.data; - is standard output)", OPTION_TEXT,
		 &o.output},
		{0, "html", "FILE", "write the report page too", OPTION_TEXT, &o.html},
		{'m', "mmap-pages", "PAGES", "size of each ring, a power of two", OPTION_COUNT, &o.pages},
		{'p', "pid", "PID", "a running process, all its threads", OPTION_LIST, &o.session.pids},
		{'t', "tid", "TID", "a running thread", OPTION_LIST, &o.session.tids},
		{'a', "all-cpus", NULL, "everything on all CPUs", OPTION_FLAG, &o.session.all_cpus},
		{'C', "cpu", "LIST", "these CPUs only, as in 0-3,8", OPTION_TEXT, &o.session.cpus},
		{'G', "cgroup", "CGROUP", "what runs in this cgroup: a folder, or a path below the hierarchy's root",
		 OPTION_LIST, &o.session.cgroups},
		{'i', "no-inherit", NULL, "leave out threads and children that start later", OPTION_FLAG,
		 &o.no_inherit},
		{0, "no-buildid-mmap", NULL, "mappings with inodes in place of build-ids", OPTION_FLAG, &o.no_build_ids},
		{'z', NULL, NULL, "compress the records with zstd", OPTION_FLAG, &o.files.compress},
		{0, "switch-output", "WHEN", "go on in a new file after so many bytes (100M) or so long (30s)", OPTION_TEXT,
		 &o.when},
		{0, "sync", "WHEN", "what was written is on the disk: end, round, or never (the default)", OPTION_TEXT, &o.sync},
		{0, "off-cpu", NULL, "", OPTION_LATER, NULL},
	};
	struct command_line line = {
		.command = "record",
		.synopsis = "[-e EVENTS] [-F HZ | -c PERIOD] [-o FILE] [--html FILE]\n"
			    "                     [-p PID | -t TID | -a | -C LIST | -G CGROUP] [-- COMMAND]",
		.description = "Samples COMMAND (children and threads included), or what runs already, until "
			       "COMMAND\nends or Ctrl-C. The file is one that perf reads. The exit status is "
			       "the command's.",
		.options = rows,
		.option_count = sizeof(rows) / sizeof(rows[0]),
		.takes_command = true,
	};
	char **words = calloc((size_t)argc + 1, sizeof(*words)); /* parsing moves them */
	int r;

	if (!words)
		return out_of_memory();
	memcpy(words, argv, (size_t)argc * sizeof(*words));
	o.argc = argc;
	o.argv = words;
	r = parse_options(&line, argc, argv);
	if (r < 0) {
		r = check(&o, graph);
		if (r == 0)
			r = session_open(&o.session, &line);
		if (r == 0)
			r = record(&work);
		recorder_free(&work.recorder);
		perfev_events_free(work.events);
		session_close(&o.session);
	}
	texts_free(&o.events);
	free(words);
	return r;
}
