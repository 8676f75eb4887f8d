/* SPDX-License-Identifier: MIT */
/* perfev stat: count events while a command runs, or on what runs already. */
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RUNS_MAX 10000

struct options {
	struct texts events;
	struct session session;
	uint64_t runs;
	bool json, no_inherit;
	const char *output;
};

/* All that is gathered over the runs. */
struct stat_work {
	const struct options *options;
	struct perfev_events *events;
	size_t count;
	struct stat_row *rows;
	double *samples; /* runs x events: scaled counts */
	double *elapsed; /* runs */
	uint64_t done;
	int signals;
	bool stopped;
	struct child child;
	int status; /* the first that is not 0 */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Hardware events only where there is hardware: perf's own choice otherwise shows lines of nothing. */
static const char *default_events(void)
{
	if (perfev_probe(PERFEV_CAN_HARDWARE, NULL))
		return "task-clock,context-switches,cpu-migrations,page-faults,cycles,instructions,"
		       "branches,branch-misses";
	return "task-clock,context-switches,cpu-migrations,page-faults";
}

static void prepare_events(const struct stat_work *work)
{
	const struct session *s = &work->options->session;
	size_t i;

	for (i = 0; i < work->count; i++) {
		struct perf_event_attr *attr = perfev_event_attr(perfev_events_at(work->events, i));

		if (!(work->rows[i].info.flags & PERFEV_EVENT_INHERIT))
			attr->inherit = !work->options->no_inherit && s->on.kind != PERFEV_TARGET_CPU;
		attr->enable_on_exec = s->is_command && attr->disabled;
	}
}

/* ---- what a reading means ----------------------------------------------------------------------------- */

static void explain_row(struct stat_row *row, const struct perfev_set *set, size_t index)
{
	const struct perfev_error *error = perfev_set_error(set, index);

	row->why[0] = 0;
	switch (row->total.status) {
	case PERFEV_NOT_SUPPORTED:
		snprintf(row->why, sizeof(row->why), "%s", error ? error->text : "it could not be opened");
		break;
	case PERFEV_NOT_COUNTED:
		if (row->info.tool)
			snprintf(row->why, sizeof(row->why),
				 "it is the time of a command, and none was run");
		else if (row->total.why == PERFEV_WHY_PARANOID)
			snprintf(row->why, sizeof(row->why),
				 "it happens in the kernel, and kernel code was left out, as "
				 "perf_event_paranoid demands of this user");
		else
			snprintf(row->why, sizeof(row->why),
				 "it never had a counter: nothing ran, or other events took all of them");
		break;
	case PERFEV_ERROR_STATE:
		snprintf(row->why, sizeof(row->why), "it is pinned, and could not stay on the PMU");
		break;
	case PERFEV_GONE:
		snprintf(row->why, sizeof(row->why), "its PMU was removed");
		break;
	default:
		break;
	}
}

/* Times that are no events. */
static void read_tool(const struct stat_work *work, uint32_t tool, struct perfev_reading *reading)
{
	uint64_t elapsed = (uint64_t)work->elapsed[work->done];

	if (tool != PERFEV_TOOL_DURATION_TIME && !work->child.pid)
		return;
	reading->status = PERFEV_COUNTED;
	reading->enabled_ns = reading->running_ns = elapsed;
	reading->count = tool == PERFEV_TOOL_DURATION_TIME ? elapsed
			 : tool == PERFEV_TOOL_USER_TIME   ? work->child.user_ns
							   : work->child.system_ns;
}

static int take_readings(struct stat_work *work, const struct perfev_set *set)
{
	struct perfev_reading *readings = calloc(work->count, sizeof(*readings));
	struct perfev_error err;
	size_t i;
	int r;

	if (!readings)
		return EXIT_FAILED;
	r = perfev_set_read(set, readings, work->count, &err);
	for (i = 0; r == 0 && i < work->count; i++) {
		struct stat_row *row = &work->rows[i];
		uint64_t scaled = 0;

		if (row->info.tool)
			read_tool(work, row->info.tool, &readings[i]);
		perfev_reading_scaled(&readings[i], &scaled);
		work->samples[work->done * work->count + i] = (double)scaled;
		if (work->done == 0 || row->info.flags & PERFEV_EVENT_SNAPSHOT) {
			row->total = readings[i];
			row->user_only = perfev_set_dropped(set, i) & PERFEV_DROP_KERNEL;
		} else {
			perfev_reading_add(&row->total, &readings[i]);
		}
		explain_row(row, set, i);
	}
	free(readings);
	return r < 0 ? report_error(&err) : 0;
}

/* ---- running -------------------------------------------------------------------------------------------- */

/* Until the command has ended, or the user stops, or the measured tasks are gone. */
static void wait_until_done(struct stat_work *work)
{
	const struct session *s = &work->options->session;

	for (;;) {
		if (take_signals(work->signals))
			work->stopped = true;
		child_look(&work->child, false);
		if (work->child.pid ? work->child.ended : work->stopped)
			return;
		if (session_ended(s))
			return;
		wait_for(-1, work->signals, s->on.id_count ? 100 : -1);
	}
}

static int command_failed(const struct session *session, int error)
{
	note("cannot run %s: %s; %s", session->command[0], strerror(error),
	     error == ENOENT ? "give the path of a program, or a name in PATH"
			     : "make it executable, or give another program");
	return error == ENOENT ? EXIT_NO_CMD : EXIT_NO_RUN;
}

static int start_counting(struct stat_work *work, struct perfev_set *set)
{
	const struct session *s = &work->options->session;
	struct perfev_error err;
	int error;

	if (!s->is_command && perfev_set_start(set, &err) < 0)
		return report_error(&err);
	if (!work->child.pid)
		return 0;
	error = child_go(&work->child);
	return error ? command_failed(s, error) : 0;
}

static int run_once(struct stat_work *work)
{
	const struct session *s = &work->options->session;
	struct perfev_set_opts opts = {.size = sizeof(opts), .may_drop = PERFEV_DROP_KERNEL, .partial = 1};
	struct perfev_target on = s->on;
	struct perfev_set *set;
	struct perfev_error err;
	uint64_t start;
	int r;

	if (s->command) {
		r = child_start(&work->child, s->command, work->options->json && !work->options->output);
		if (r < 0)
			return command_failed(s, -r);
	}
	if (s->is_command)
		on = perfev_on_task(work->child.pid);
	if (perfev_set_open(&set, work->events, on, &opts, &err) < 0)
		return report_error(&err);
	start = now_ns();
	r = start_counting(work, set);
	if (r == 0) {
		wait_until_done(work);
		work->elapsed[work->done] = (double)(now_ns() - start);
		r = take_readings(work, set);
		work->done++;
	}
	perfev_set_close(set);
	child_look(&work->child, true);
	if (work->child.pid && !work->status)
		work->status = child_exit_code(&work->child);
	return r;
}

/* ---- the result ----------------------------------------------------------------------------------------------- */

/* Of every @stride-th of the numbers. */
static double mean_of(const double *numbers, size_t stride, uint64_t count, double *stddev)
{
	double sum = 0, squares = 0, mean;
	uint64_t i;

	for (i = 0; i < count; i++)
		sum += numbers[i * stride];
	mean = count ? sum / (double)count : 0;
	for (i = 0; i < count; i++)
		squares += (numbers[i * stride] - mean) * (numbers[i * stride] - mean);
	*stddev = count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
	return mean;
}

static int print_result(struct stat_work *work)
{
	const struct options *o = work->options;
	struct stat_result result = {work->rows, work->count, 0, 0, work->done, work->status,
				     o->session.command != NULL};
	FILE *out = o->json ? stdout : stderr;
	char what[256];
	size_t i;

	for (i = 0; i < work->count; i++)
		work->rows[i].mean =
			mean_of(work->samples + i, work->count, work->done, &work->rows[i].stddev);
	result.elapsed_ns = (uint64_t)mean_of(work->elapsed, 1, work->done, &result.elapsed_stddev_ns);
	if (o->output) {
		out = fopen(o->output, "w");
		if (!out) {
			note("cannot write %s: %s", o->output, strerror(errno));
			return EXIT_FAILED;
		}
	}
	session_name(&o->session, what, sizeof(what));
	if (o->json)
		json_stat(out, &result);
	else
		text_stat(out, &result, what);
	if (o->output && fclose(out) != 0) {
		note("cannot write %s: %s", o->output, strerror(errno));
		return EXIT_FAILED;
	}
	return work->status;
}

static int run_all(struct stat_work *work)
{
	const struct options *o = work->options;
	uint64_t i;
	int r = 0;

	for (i = 0; i < o->runs && !work->stopped && r == 0; i++)
		r = run_once(work);
	if (r) {
		child_kill(&work->child);
		return r;
	}
	return print_result(work);
}

static int measure(const struct options *o)
{
	struct stat_work work = {.options = o};
	size_t i;
	int r = parse_events(&work.events, "stat", &o->events, default_events());

	if (r)
		return r;
	work.count = perfev_events_count(work.events);
	work.rows = calloc(work.count, sizeof(*work.rows));
	work.samples = calloc(work.count * o->runs, sizeof(*work.samples));
	work.elapsed = calloc(o->runs, sizeof(*work.elapsed));
	if (work.rows && work.samples && work.elapsed) {
		for (i = 0; i < work.count; i++) {
			work.rows[i].event = perfev_event_name(perfev_events_at(work.events, i));
			work.rows[i].attr = perfev_event_attr(perfev_events_at(work.events, i));
			perfev_event_describe(perfev_events_at(work.events, i), &work.rows[i].info);
		}
		prepare_events(&work);
		work.signals = watch_signals();
		raise_file_limit();
		r = run_all(&work);
		unwatch_signals(work.signals);
	} else {
		r = EXIT_FAILED;
	}
	perfev_events_free(work.events);
	free(work.rows);
	free(work.samples);
	free(work.elapsed);
	return r;
}

int cmd_stat(int argc, char **argv)
{
	struct options o = {.runs = 1};
	const struct option_row rows[] = {
		{'e', "event", "EVENTS", "what to count; more than once, or separated by commas",
		 OPTION_LIST, &o.events},
		{0, "filter", "EXPR", "only where the fields of the -e before it meet this: 'prev_pid == 0'",
		 OPTION_FILTER, &o.events},
		{'p', "pid", "PID", "a running process, all its threads", OPTION_LIST, &o.session.pids},
		{'t', "tid", "TID", "a running thread", OPTION_LIST, &o.session.tids},
		{'a', "all-cpus", NULL, "everything on all CPUs", OPTION_FLAG, &o.session.all_cpus},
		{'C', "cpu", "LIST", "these CPUs only, as in 0-3,8", OPTION_TEXT, &o.session.cpus},
		{'r', "repeat", "N", "run the command N times, and show the spread", OPTION_COUNT, &o.runs},
		{'i', "no-inherit", NULL, "leave out threads and children that start later", OPTION_FLAG,
		 &o.no_inherit},
		{0, "json", NULL, "one JSON document on standard output", OPTION_FLAG, &o.json},
		{'o', "output", "FILE", "write the result there", OPTION_TEXT, &o.output},
		{'I', "interval-print", "MS", "", OPTION_LATER_TEXT, NULL},
		{'x', "field-separator", "SEP", "", OPTION_LATER_TEXT, NULL},
		{'G', "cgroup", "CGROUP", "", OPTION_LATER_TEXT, NULL},
		{0, "per-cpu", NULL, "", OPTION_LATER, NULL},
		{0, "per-thread", NULL, "", OPTION_LATER, NULL},
	};
	struct command_line line = {
		.command = "stat",
		.synopsis = "[-e EVENTS] [-p PID | -t TID | -a | -C LIST] [-r N] [--json] [-- COMMAND]",
		.description = "Counts events while COMMAND runs (children and threads included), or, on what "
			       "runs\nalready, until COMMAND ends or Ctrl-C. The exit status is the command's.",
		.options = rows,
		.option_count = sizeof(rows) / sizeof(rows[0]),
		.takes_command = true,
	};
	int r = parse_options(&line, argc, argv);

	if (r >= 0)
		return r;
	if (o.runs < 1 || o.runs > RUNS_MAX)
		return usage_error("stat", "-r takes 1 to %d", RUNS_MAX);
	r = session_open(&o.session, &line);
	if (r == 0 && o.runs > 1 && !o.session.command)
		r = usage_error("stat", "-r needs a command to run again");
	if (r == 0)
		r = measure(&o);
	session_close(&o.session);
	texts_free(&o.events);
	return r;
}
