/* SPDX-License-Identifier: MIT */
/* perfev list: what can be counted here, under the names that -e takes. */
#include "cli.h"

#include <errno.h>
#include <string.h>

struct listing {
	const char *glob;
	bool json;
	char kind[128]; /* what the heading says */
	size_t count;
};

static void heading(struct listing *l, const struct perfev_listed_event *event)
{
	char text[128];

	if (event->pmu[0])
		snprintf(text, sizeof(text), "pmu %s", event->pmu);
	else
		snprintf(text, sizeof(text), "%s", event->kind);
	if (!strcmp(text, l->kind))
		return;
	printf("%s%s:\n", l->kind[0] ? "\n" : "", text);
	memcpy(l->kind, text, sizeof(text));
}

static int put_line(void *context, const struct perfev_listed_event *event)
{
	struct listing *l = context;
	const char *alias = event->pmu[0] ? NULL : event->alias;
	bool more = alias || event->terms[0] || event->unit[0];

	heading(l, event);
	fputs("  ", stdout);
	text_name(stdout, event->name);
	if (more)
		printf("%*s", (int)(strlen(event->name) < 38 ? 39 - strlen(event->name) : 1), "");
	if (alias)
		printf("or %s", alias);
	text_name(stdout, event->terms);
	if (event->unit[0] && event->scale >= 1 && event->scale <= 1)
		printf("%s[%s]", event->terms[0] ? "  " : "", event->unit);
	else if (event->unit[0])
		printf("%s[x %.10g %s]", event->terms[0] ? "  " : "", event->scale, event->unit);
	fputc('\n', stdout);
	l->count++;
	return ferror(stdout) ? -EIO : 0;
}

static int put_json(void *context, const struct perfev_listed_event *event)
{
	struct listing *l = context;

	fputs(l->count++ ? ",\n" : "\n", stdout);
	json_listed_event(stdout, event);
	return ferror(stdout) ? -EIO : 0;
}

/* The tracepoints of a user who may not see them are told, and everything else was listed. */
static int list(struct listing *l)
{
	struct perfev_error err;
	int r;

	if (l->json)
		fputs("{\"events\":[", stdout);
	r = perfev_events_list(l->glob, l->json ? put_json : put_line, l, NULL, &err);
	if (l->json) {
		fputs("\n],\"pmus\":[", stdout);
		json_pmus(stdout);
		fputs("]}\n", stdout);
	}
	if (r == -EACCES || r == -ENOENT) {
		if (!l->glob || !l->count || strchr(l->glob, ':')) /* or nobody asked for them */
			note("%s", err.text);
	} else if (r < 0 && !ferror(stdout)) {
		return report_error(&err);
	}
	if (!l->count && !l->json && r >= 0)
		note("no event here matches '%s'; 'perfev list' shows all, and globs have to match the whole name",
		     l->glob ? l->glob : "*");
	return l->count || l->json ? EXIT_DONE : EXIT_FAILED;
}

int cmd_list(int argc, char **argv)
{
	struct listing l = {0};
	const struct option_row rows[] = {
		{0, "json", NULL, "one JSON document on standard output", OPTION_FLAG, &l.json},
	};
	struct command_line line = {
		.command = "list",
		.synopsis = "[GLOB] [--json]",
		.description = "Lists the events of this machine, each as -e takes it. GLOB (* ? [..]) picks by name:\n"
			       "'perfev list \"sched:*\"'. Beside these, -e takes raw codes (r1c2), terms of a PMU\n"
			       "(cpu/event=0x3c/), mem:ADDR[/LEN][:rwx], kprobe:FUNCTION[+OFFSET], kretprobe:,\n"
			       "uprobe:PATH:FUNCTION[+OFFSET], uretprobe:, and pfm:NAME where libpfm4 is installed.",
		.options = rows,
		.option_count = 1,
	};
	int r = parse_options(&line, argc, argv);

	if (r >= 0)
		return r;
	if (line.argc > 1)
		return usage_error("list", "it takes one GLOB, and '%s' is a second; quote a glob, so that the "
				   "shell leaves it", line.argv[1]);
	l.glob = line.argc ? line.argv[0] : NULL;
	return list(&l);
}
