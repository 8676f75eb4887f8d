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
	uint64_t runs, interval_ms;
	bool json, no_inherit, per_cpu, per_thread;
	const char *output, *separator;
};

/* All that is gathered over the runs. */
struct stat_work {
	const struct options *options;
	struct perfev_events *events;
	FILE *out;
	struct stat_row *rows; /* one an event, or one a place and event */
	size_t count;
	struct perfev_reading *now, *before; /* of the rows: as read last, and at the last interval */
	double *samples; /* runs x rows: scaled counts */
	double *elapsed; /* runs */
	uint64_t done;
	uint64_t started, last_interval; /* ns */
	size_t cpus;   /* online when counting began */
	unsigned told; /* bits: what was said already */
	int signals;
	bool stopped;
	int output_error;
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

	for (i = 0; i < perfev_events_count(work->events); i++) {
		struct perfev_event *event = perfev_events_at(work->events, i);
		struct perf_event_attr *attr = perfev_event_attr(event);
		struct perfev_event_info info;

		perfev_event_describe(event, &info);
		if (!(info.flags & PERFEV_EVENT_INHERIT)) /* a child's counts would be its parent's */
			attr->inherit = !work->options->no_inherit && !work->options->per_thread &&
					!s->cgroups.count && s->on.kind != PERFEV_TARGET_CPU;
		attr->enable_on_exec = s->is_command && attr->disabled;
	}
}

/* ---- what a reading means ----------------------------------------------------------------------------- */

static void explain_row(struct stat_row *row, const struct perfev_set *set)
{
	const struct perfev_error *error = perfev_set_error(set, row->index);

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

/* ---- rows ---------------------------------------------------------------------------------------------- */

static void begin_row(struct stat_work *work, size_t index, int32_t cpu, int32_t tid)
{
	struct perfev_event *event = perfev_events_at(work->events, index);
	struct stat_row *row = &work->rows[work->count++];

	row->event = perfev_event_name(event);
	row->attr = perfev_event_attr(event);
	row->index = index;
	row->cpu = cpu;
	row->tid = tid;
	perfev_event_describe(event, &row->info);
}

/* Rows of the set come first, in its order; tools have none there. */
static int make_rows(struct stat_work *work, const struct perfev_set *set)
{
	const struct options *o = work->options;
	bool places = o->per_cpu || o->per_thread;
	size_t events = perfev_events_count(work->events), most = perfev_set_row_count(set) + events, i;
	struct perfev_set_row row;

	work->rows = calloc(most, sizeof(*work->rows));
	work->now = calloc(most, sizeof(*work->now));
	work->before = calloc(most, sizeof(*work->before));
	work->samples = calloc(most * o->runs, sizeof(*work->samples));
	if (!work->rows || !work->now || !work->before || !work->samples)
		return out_of_memory();
	for (i = 0; places && perfev_set_row_at(set, i, &row); i++)
		begin_row(work, row.event, o->per_cpu ? row.cpu : -1, o->per_thread ? row.tid : -1);
	for (i = 0; i < events; i++) {
		struct perfev_event_info info;

		perfev_event_describe(perfev_events_at(work->events, i), &info);
		if (!places || info.tool)
			begin_row(work, i, -1, -1);
	}
	return 0;
}

static int read_rows(struct stat_work *work, const struct perfev_set *set, struct perfev_error *err)
{
	const struct options *o = work->options;
	size_t i;
	int r = 0;

	if (o->per_cpu || o->per_thread) {
		memset(work->now, 0, work->count * sizeof(*work->now));
		for (i = 0; r == 0 && i < perfev_set_row_count(set) && i < work->count; i++)
			r = perfev_set_row_read(set, i, &work->now[i], err);
	} else {
		r = perfev_set_read(set, work->now, work->count, err);
	}
	for (i = 0; i < work->count; i++)
		if (work->rows[i].info.tool) {
			work->now[i].status = PERFEV_NOT_COUNTED;
			read_tool(work, work->rows[i].info.tool, &work->now[i]);
		}
	return r;
}

static int take_readings(struct stat_work *work, const struct perfev_set *set)
{
	struct perfev_error err;
	size_t i;
	int r = read_rows(work, set, &err);

	for (i = 0; r == 0 && i < work->count; i++) {
		struct stat_row *row = &work->rows[i];
		uint64_t scaled = 0;

		perfev_reading_scaled(&work->now[i], &scaled);
		work->samples[work->done * work->count + i] = (double)scaled;
		if (work->done == 0 || row->info.flags & PERFEV_EVENT_SNAPSHOT) {
			row->total = work->now[i];
			row->user_only = perfev_set_dropped(set, row->index) & PERFEV_DROP_KERNEL;
		} else {
			perfev_reading_add(&row->total, &work->now[i]);
		}
		explain_row(row, set);
	}
	return r < 0 ? report_error(&err) : 0;
}

/* ---- the result ---------------------------------------------------------------------------------------------- */

static void print(struct stat_work *work, const struct stat_result *result)
{
	const struct options *o = work->options;
	char what[256];

	session_name(&o->session, what, sizeof(what));
	if (o->json)
		json_stat(work->out, result);
	else if (o->separator)
		csv_stat(work->out, result, o->separator);
	else
		text_stat(work->out, result, what);
	if (flush_output(work->out))
		return;
	work->stopped = true;
	if (!work->output_error) /* closing the file does not tell it again */
		work->output_error = errno;
}

static struct stat_result result_of(const struct stat_work *work)
{
	const struct options *o = work->options;
	struct stat_result result = {.rows = work->rows,
				     .count = work->count,
				     .per_cpu = o->per_cpu,
				     .per_thread = o->per_thread,
				     .runs = work->done ? work->done : 1,
				     .command_status = work->status,
				     .has_command = o->session.command != NULL};

	return result;
}

/* What came since the last interval. A gauge is what it is. */
static void subtract(struct stat_row *row, const struct perfev_reading *now, const struct perfev_reading *before)
{
	row->total = *now;
	if (row->info.flags & PERFEV_EVENT_SNAPSHOT || now->status != PERFEV_COUNTED)
		return;
	row->total.count -= before->count;
	row->total.enabled_ns -= before->enabled_ns;
	row->total.running_ns -= before->running_ns;
	if (row->total.running_ns == 0) {
		row->total.status = PERFEV_NOT_COUNTED;
		row->total.why = PERFEV_WHY_COUNTERS;
	}
}

static int print_interval(struct stat_work *work, const struct perfev_set *set, bool last)
{
	struct stat_result result;
	struct perfev_error err;
	uint64_t now = now_ns();
	size_t i;
	int r;

	work->elapsed[0] = (double)(now - work->started);
	r = read_rows(work, set, &err);
	if (r < 0)
		return report_error(&err);
	for (i = 0; i < work->count; i++) {
		struct stat_row *row = &work->rows[i];

		subtract(row, &work->now[i], &work->before[i]);
		row->user_only = perfev_set_dropped(set, row->index) & PERFEV_DROP_KERNEL;
		explain_row(row, set);
	}
	result = result_of(work);
	result.interval = true;
	result.last = last;
	result.has_command &= last;
	result.time_ns = now - work->started;
	result.elapsed_ns = now - work->last_interval;
	print(work, &result);
	memcpy(work->before, work->now, work->count * sizeof(*work->now));
	work->last_interval = now;
	return 0;
}

/* ---- running -------------------------------------------------------------------------------------------- */

/* What is to be said once only. */
static void tell_once(struct stat_work *work, unsigned what, const char *text)
{
	if (!(work->told & what))
		note("%s", text);
	work->told |= what;
}

/* The kernel takes events away from a CPU that goes offline, for good; when it is back it gets new ones. */
static void look_at_cpus(struct stat_work *work, struct perfev_set *set)
{
	const struct session *s = &work->options->session;
	struct perfev_error err;
	int32_t *cpus;
	size_t count;
	int r;

	if (s->on.kind == PERFEV_TARGET_TASK || s->on.kind == PERFEV_TARGET_PROCESS ||
	    perfev_cpus_online(&cpus, &count, NULL) < 0)
		return;
	free(cpus);
	if (!work->cpus)
		work->cpus = count;
	if (count < work->cpus)
		tell_once(work, 1, "a CPU went offline: what it counted until then is kept");
	if (count > work->cpus)
		tell_once(work, 2, "a CPU came online that was not when counting began: it is not counted");
	r = perfev_set_revive(set, &err);
	if (r > 0)
		tell_once(work, 4, "a CPU that was offline is counted again; the time between is missing");
	if (r < 0)
		tell_once(work, 8, err.text);
}

/* How long to sleep: until the next interval, or till there is something to look at. */
static int sleep_ms(const struct stat_work *work)
{
	const struct options *o = work->options;
	uint64_t now = now_ns(), next = work->last_interval + o->interval_ms * 1000000u;
	int most = o->session.on.id_count && !o->session.cgroups.count ? 100
		   : o->session.is_command				  ? -1
									  : 500;

	if (!o->interval_ms)
		return most;
	if (next <= now)
		return 0;
	now = (next - now + 999999) / 1000000;
	return most >= 0 && (uint64_t)most < now ? most : (int)now;
}

/* Until the command has ended, or the user stops, or the measured tasks are gone. */
static int wait_until_done(struct stat_work *work, struct perfev_set *set)
{
	const struct session *s = &work->options->session;
	uint64_t interval = work->options->interval_ms * 1000000u;
	int r = 0;

	while (r == 0) {
		if (take_signals(work->signals, &work->child))
			work->stopped = true;
		child_look(&work->child, false);
		if (work->child.pid ? work->child.ended : work->stopped)
			break;
		if (session_ended(s))
			break;
		look_at_cpus(work, set);
		if (interval && now_ns() >= work->last_interval + interval)
			r = print_interval(work, set, false);
		else
			wait_for(-1, work->signals, sleep_ms(work));
	}
	return r;
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
	return error ? child_refused(s->command, error) : 0;
}

static int run_once(struct stat_work *work)
{
	const struct session *s = &work->options->session;
	struct perfev_set_opts opts = {.size = sizeof(opts), .may_drop = PERFEV_DROP_KERNEL, .partial = 1};
	struct perfev_target on = s->on;
	struct perfev_set *set;
	struct perfev_error err;
	int r;

	if (s->command) {
		r = child_start(&work->child, s->command, work->options->json && !work->options->output);
		if (r < 0)
			return child_refused(s->command, -r);
	}
	if (s->is_command)
		on = perfev_on_task(work->child.pid);
	if (perfev_set_open(&set, work->events, on, &opts, &err) < 0)
		return report_error(&err);
	r = work->rows ? 0 : make_rows(work, set);
	work->started = work->last_interval = now_ns();
	if (r == 0)
		r = start_counting(work, set);
	if (r == 0)
		r = wait_until_done(work, set);
	if (r == 0) {
		work->elapsed[work->done] = (double)(now_ns() - work->started);
		if (!work->options->interval_ms)
			r = take_readings(work, set);
		child_look(&work->child, true);
		if (work->child.pid && !work->status)
			work->status = child_exit_code(&work->child);
		if (work->options->interval_ms)
			r = print_interval(work, set, true);
		work->done++;
	}
	perfev_set_close(set);
	child_look(&work->child, true);
	return r;
}

/* ---- all runs ------------------------------------------------------------------------------------------------- */

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

static void print_result(struct stat_work *work)
{
	struct stat_result result = result_of(work);
	size_t i;

	for (i = 0; i < work->count; i++)
		work->rows[i].mean =
			mean_of(work->samples + i, work->count, work->done, &work->rows[i].stddev);
	result.elapsed_ns = (uint64_t)mean_of(work->elapsed, 1, work->done, &result.elapsed_stddev_ns);
	print(work, &result);
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
	if (!o->interval_ms)
		print_result(work);
	return work->status;
}

static int open_output(struct stat_work *work)
{
	const struct options *o = work->options;

	work->out = o->json ? stdout : stderr;
	if (o->output)
		work->out = fopen(o->output, "we");
	if (work->out)
		return 0;
	return file_failed("write", o->output, errno);
}

static int close_output(const struct stat_work *work, int r)
{
	int error = work->output_error;

	if (!work->options->output || !work->out)
		return r;
	if (fclose(work->out) != 0 && !error)
		error = errno;
	return error ? file_failed("write", work->options->output, error) : r;
}

static int measure(const struct options *o)
{
	struct stat_work work = {.options = o};
	int r = parse_events(&work.events, "stat", &o->events, default_events());

	if (r)
		return r;
	r = open_output(&work);
	work.elapsed = calloc(o->runs, sizeof(*work.elapsed));
	if (r == 0 && !work.elapsed)
		r = out_of_memory();
	if (r == 0) {
		prepare_events(&work);
		work.signals = watch_signals();
		raise_file_limit();
		r = run_all(&work);
		unwatch_signals(work.signals);
	}
	r = close_output(&work, r);
	perfev_events_free(work.events);
	free(work.rows);
	free(work.now);
	free(work.before);
	free(work.samples);
	free(work.elapsed);
	return r;
}

static int check(const struct options *o)
{
	const struct session *s = &o->session;
	bool cpus = s->all_cpus || s->cpus || s->cgroups.count;

	if (o->runs < 1 || o->runs > RUNS_MAX)
		return usage_error("stat", "-r takes 1 to %d", RUNS_MAX);
	if (o->interval_ms > 1000 * 86400)
		return usage_error("stat", "-I takes milliseconds, up to a day");
	if (o->interval_ms && o->runs > 1)
		return usage_error("stat", "-I and -r do not go together");
	if (o->json && o->separator)
		return usage_error("stat", "--json and -x do not go together");
	if (o->separator && !o->separator[0])
		return usage_error("stat", "-x needs a separator, as in -x ,");
	if (o->per_cpu && o->per_thread)
		return usage_error("stat", "--per-cpu and --per-thread do not go together");
	if (o->per_cpu && !cpus)
		return usage_error("stat", "--per-cpu needs CPUs: -a, -C or -G");
	if (o->per_thread && !s->pids.count && !s->tids.count)
		return usage_error("stat", "--per-thread needs threads: -p or -t");
	return 0;
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
		{'G', "cgroup", "CGROUP", "what runs in this cgroup: a folder, or a path below the hierarchy's root",
		 OPTION_LIST, &o.session.cgroups},
		{0, "per-cpu", NULL, "each CPU on its own", OPTION_FLAG, &o.per_cpu},
		{0, "per-thread", NULL, "each thread of -p or -t on its own", OPTION_FLAG, &o.per_thread},
		{'r', "repeat", "N", "run the command N times, and show the spread", OPTION_COUNT, &o.runs},
		{'i', "no-inherit", NULL, "leave out threads and children that start later", OPTION_FLAG,
		 &o.no_inherit},
		{'I', "interval-print", "MS", "show what came each so many milliseconds", OPTION_COUNT,
		 &o.interval_ms},
		{'x', "field-separator", "SEP", "lines of fields with this between them, as perf stat -x",
		 OPTION_TEXT, &o.separator},
		{0, "json", NULL, "one JSON document on standard output", OPTION_FLAG, &o.json},
		{'o', "output", "FILE", "write the result there", OPTION_TEXT, &o.output},
	};
	struct command_line line = {
		.command = "stat",
		.synopsis = "[-e EVENTS] [-p PID | -t TID | -a | -C LIST | -G CGROUP] [-r N | -I MS]\n"
			    "                   [--per-cpu | --per-thread] [--json | -x SEP] [-o FILE] [-- COMMAND]",
		.description = "Counts events while COMMAND runs (children and threads included), or, on what "
			       "runs\nalready, until COMMAND ends or Ctrl-C. The exit status is the command's.",
		.options = rows,
		.option_count = sizeof(rows) / sizeof(rows[0]),
		.takes_command = true,
	};
	int r = parse_options(&line, argc, argv);

	if (r >= 0)
		return r;
	r = check(&o);
	if (r)
		return r;
	r = session_open(&o.session, &line);
	if (r == 0 && o.runs > 1 && !o.session.command)
		r = usage_error("stat", "-r needs a command to run again");
	if (r == 0)
		r = measure(&o);
	session_close(&o.session);
	texts_free(&o.events);
	return r;
}
