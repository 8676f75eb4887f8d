/* SPDX-License-Identifier: MIT */
/* perfev report: where the samples are. */
#include "cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_LIMIT 40
#define JOBS_MAX      256

struct options {
	struct load_opts load;
	struct filter filter;
	bool tree, no_children, json, folded;
	const char *html, *output;
	uint64_t limit, jobs;
};

static int write_file(void *context, const void *data, size_t size)
{
	return fwrite(data, 1, size, context) == size ? 0 : -errno;
}

/* ---- the page ---------------------------------------------------------------------------------------- */

#define FACTS_MAX 12

struct facts {
	struct perfev_profile_fact items[FACTS_MAX];
	char texts[FACTS_MAX][256];
	size_t count;
};

static void add_fact(struct facts *facts, const char *name, const char *value)
{
	if (!value || !value[0] || facts->count == FACTS_MAX)
		return;
	snprintf(facts->texts[facts->count], sizeof(facts->texts[0]), "%s", value);
	facts->items[facts->count].name = name;
	facts->items[facts->count].value = facts->texts[facts->count];
	facts->count++;
}

static void join_command(const struct loaded *l, char *to, size_t size)
{
	struct perfev_reader_info info;
	struct perfev_bytes bytes;
	size_t position = 0, used = 0;
	const char *word;

	to[0] = 0;
	perfev_reader_describe(l->replay.reader, &info);
	if (!perfev_reader_feature(l->replay.reader, PERFEV_FEATURE_CMDLINE, &bytes))
		return;
	while (used < size && (word = perfev_feature_strings(bytes, info.swapped, &position))) {
		int n = snprintf(to + used, size - used, "%s%s", used ? " " : "", word);

		used += n > 0 ? (size_t)n : 0;
	}
}

static void collect_facts(struct facts *facts, const struct loaded *l)
{
	char text[256], number[32];

	join_command(l, text, sizeof(text));
	add_fact(facts, "command", text);
	add_fact(facts, "samples", text_number(number, l->samples));
	snprintf(text, sizeof(text), "%s%s", l->loss.records && !l->loss.exact ? "at least " : "",
		 text_number(number, l->loss.records));
	add_fact(facts, "lost", text);
	snprintf(text, sizeof(text), "%.3f s", (double)(l->last_time - l->first_time) / 1e9);
	add_fact(facts, "duration", text);
	add_fact(facts, "host", replay_feature(&l->replay, PERFEV_FEATURE_HOSTNAME));
	add_fact(facts, "CPU", replay_feature(&l->replay, PERFEV_FEATURE_CPUDESC));
	add_fact(facts, "kernel", replay_feature(&l->replay, PERFEV_FEATURE_OSRELEASE));
	add_fact(facts, "recorded with", replay_feature(&l->replay, PERFEV_FEATURE_VERSION));
}

/* @path: a file, or "-". */
int write_html(const struct loaded *loaded, const char *path)
{
	struct perfev_profile_html_opts opts = {.size = sizeof(opts), .title = "perfev report"};
	struct perfev_profile_unresolved *unresolved =
		calloc(loaded->missing_count + 1, sizeof(*unresolved));
	struct facts facts = {.count = 0};
	struct perfev_sink sink = {write_file, NULL};
	struct perfev_error err;
	size_t i;
	bool is_file = strcmp(path, "-");
	FILE *out = is_file ? fopen(path, "w") : stdout;
	int r;

	if (!out || !unresolved) {
		r = file_failed("write", path, errno);
		free(unresolved);
		if (out && is_file)
			fclose(out);
		return r;
	}
	for (i = 0; i < loaded->missing_count; i++) {
		unresolved[i].module = loaded->missing[i].module;
		unresolved[i].why = loaded->missing[i].why;
		unresolved[i].samples = loaded->missing[i].samples;
	}
	collect_facts(&facts, loaded);
	opts.facts = facts.items;
	opts.fact_count = facts.count;
	opts.unresolved = unresolved;
	opts.unresolved_count = loaded->missing_count;
	sink.context = out;
	r = perfev_profile_write_html(loaded->profile, &opts, &sink, &err);
	free(unresolved);
	if (is_file && fclose(out) != 0 && r == 0)
		return file_failed("write", path, errno);
	if (r < 0)
		return report_error(&err);
	if (is_file)
		note("the page is %s", path);
	return EXIT_DONE;
}

/* ---- the other forms ------------------------------------------------------------------------------------ */

static int print_json(const struct options *o, const struct loaded *loaded, FILE *out)
{
	struct perfev_function *functions;
	struct perfev_error err;
	size_t count;

	if (perfev_profile_functions(loaded->profile, -1, &functions, &count, &err) < 0)
		return report_error(&err);
	json_report(out, loaded, functions, count, o->limit ? o->limit : SIZE_MAX);
	free(functions);
	return EXIT_DONE;
}

static int print_report(const struct options *o, const struct loaded *loaded, FILE *out)
{
	struct report_text_opts text = {.tree = o->tree, .no_children = o->no_children,
					.limit = o->limit ? o->limit : DEFAULT_LIMIT};
	struct perfev_sink sink = {write_file, out};
	struct perfev_error err;

	if (o->json)
		return print_json(o, loaded, out);
	if (o->folded) {
		if (perfev_profile_write_folded(loaded->profile, -1, &sink, &err) < 0 && err.code != -EPIPE)
			return report_error(&err);
		return EXIT_DONE;
	}
	text_report(out, loaded, strcmp(o->load.path, "-") ? o->load.path : "standard input", &text);
	return EXIT_DONE;
}

static int report(const struct options *o)
{
	struct loaded loaded;
	FILE *out = stdout;
	int r = load_profile(&loaded, &o->load), error;

	if (r)
		return r;
	if (o->html) {
		r = write_html(&loaded, o->html);
		loaded_free(&loaded);
		return r;
	}
	if (o->output) {
		out = fopen(o->output, "w");
		if (!out) {
			r = file_failed("write", o->output, errno);
			loaded_free(&loaded);
			return r;
		}
	}
	r = print_report(o, &loaded, out);
	error = o->output ? end_output(out) : 0;
	if (error)
		r = file_failed("write", o->output, error);
	loaded_free(&loaded);
	return r;
}

int cmd_report(int argc, char **argv)
{
	struct options o = {.load = {.path = "perf.data"}};
	const struct option_row rows[] = {
		{'i', "input", "FILE", "the recording (default perf.data; - is standard input)", OPTION_TEXT,
		 &o.load.path},
		{'g', NULL, NULL, "show the call tree", OPTION_FLAG, &o.tree},
		{0, "no-children", NULL, "functions by self only", OPTION_FLAG, &o.no_children},
		{0, "limit", "N", "show at most N functions", OPTION_COUNT, &o.limit},
		{0, "json", NULL, "one JSON document", OPTION_FLAG, &o.json},
		{0, "folded", NULL, "one stack a line: comm;outer;...;inner COUNT", OPTION_FLAG, &o.folded},
		{0, "html", "FILE", "a page with a flame graph, that opens from disk", OPTION_TEXT, &o.html},
		{'o', "output", "FILE", "write there instead of standard output", OPTION_TEXT, &o.output},
		FILTER_ROWS(&o.filter),
		{0, "symfs", "DIR", "look for files below this folder", OPTION_TEXT, &o.load.symfs},
		{0, "kallsyms", "FILE", "symbols of the recorded kernel", OPTION_TEXT, &o.load.kallsyms},
		{0, "vmlinux", "FILE", "its image, with symbols and debug information", OPTION_TEXT, &o.load.vmlinux},
		{0, "jitdump", "[PID:]FILE", "code that a process made at run time, and wrote into this file without mapping it", OPTION_LIST,
		 &o.load.jitdumps},
		{0, "debuginfod", NULL, "fetch debug files that are missing, from servers that $DEBUGINFOD_URLS names", OPTION_FLAG,
		 &o.load.debuginfod},
		{0, "sort", "KEYS", "", OPTION_LATER_TEXT, NULL},
		{0, "pprof", "FILE", "", OPTION_LATER_TEXT, NULL},
		{0, "speedscope", "FILE", "", OPTION_LATER_TEXT, NULL},
		{0, "firefox", "FILE", "", OPTION_LATER_TEXT, NULL},
		{0, "jobs", "N", "threads that work on stacks and names (default one for each CPU)", OPTION_COUNT, &o.jobs},
		{0, "no-inline", NULL, "functions that were inlined count for those around them", OPTION_FLAG, &o.load.no_inline},
	};
	struct command_line line = {
		.command = "report",
		.synopsis = "[-i FILE] [-g] [--limit N] [--json | --folded | --html FILE]",
		.description = "Shows where the samples of a recording are: functions by self (the function was "
			       "running)\nand by total (it was running, or had called what was).",
		.options = rows,
		.option_count = sizeof(rows) / sizeof(rows[0]),
	};
	int r = parse_options(&line, argc, argv);

	o.load.filter = &o.filter;
	o.load.flat = !o.tree && !o.folded && !o.html;
	if (r < 0 && line.argc)
		r = usage_error("report", "it takes no argument, and '%s' was given; -i FILE names the recording",
				line.argv[0]);
	if (r < 0 && (o.json + o.folded + (o.html != NULL)) > 1)
		r = usage_error("report", "--json, --folded and --html exclude each other");
	if (r < 0 && o.html && o.output)
		r = usage_error("report", "--html names the file of the page; leave out -o");
	if (r < 0 && o.jobs > JOBS_MAX)
		r = usage_error("report", "--jobs takes 1 to %d, and %" PRIu64 " is more", JOBS_MAX, o.jobs);
	o.load.jobs = (uint32_t)o.jobs;
	if (r < 0)
		r = filter_check(&o.filter, "report");
	if (r < 0)
		r = names_check(o.load.symfs, o.load.kallsyms, o.load.vmlinux);
	if (r < 0) {
		heap_in_large_pages();
		r = report(&o);
	}
	filter_free(&o.filter);
	free(o.load.jitdumps.items);
	return r;
}
