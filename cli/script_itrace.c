/* SPDX-License-Identifier: MIT */
/* The branches of traces, as perf script --itrace prints them: a line for each, from where to where. */
#include "itrace.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct printer {
	FILE *out;
	const struct itrace_opts *opts;
	bool all, calls, returns, errors, flags;
	bool cpu;	 /* CPUs are printed */
	char event[32];	 /* "branches:u" */
	int event_width;
};

int itrace_check(const struct itrace_opts *opts)
{
	size_t known = opts->what ? strspn(opts->what, "bcre") : 0, i;

	if (!opts->what)
		return -1;
	if (opts->what[known])
		return usage_error("script", "--itrace knows b, c, r and e (branches, calls, returns, errors), not '%c'",
				   opts->what[known]);
	for (i = 0; i < opts->fields->count; i++)
		if (strcmp(opts->fields->items[i], "+flags"))
			return usage_error("script", "of --itrace the fields are fixed, but for -F +flags, and '%s' was given",
					   opts->fields->items[i]);
	return -1;
}

static void choose(struct printer *p)
{
	const char *what = *p->opts->what ? p->opts->what : "cre";

	p->calls = strchr(what, 'c');
	p->returns = strchr(what, 'r');
	p->all = strchr(what, 'b') && !p->calls && !p->returns;
	p->errors = strchr(what, 'e');
	p->flags = p->opts->fields->count > 0;
}

static bool passes(const struct filter *filter, const struct itrace_branch *b)
{
	struct perfev_sample sample;

	sample.present = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | (b->branch.cpu >= 0 ? PERF_SAMPLE_CPU : 0);
	sample.pid = (uint32_t)b->branch.pid;
	sample.tid = (uint32_t)b->branch.tid;
	sample.time = b->branch.time;
	sample.cpu = (uint32_t)b->branch.cpu;
	return passes_text(&filter->comms, b->comm) && filter_passes(filter, &sample);
}

/* Where tracing begins is what comes back from what was not traced, and where it ends is what is called. */
static bool is_wanted(const struct printer *p, const struct perfev_flow_branch *branch)
{
	bool call = branch->type == PERFEV_FLOW_CALL || branch->type == PERFEV_FLOW_SYSCALL ||
		    branch->type == PERFEV_FLOW_TRAP || branch->type == PERFEV_FLOW_INTERRUPT ||
		    branch->flags & PERFEV_FLOW_ENDS;
	bool ret = branch->type == PERFEV_FLOW_RETURN || branch->type == PERFEV_FLOW_SYSRET ||
		   branch->type == PERFEV_FLOW_TRAP_RETURN || branch->flags & PERFEV_FLOW_BEGINS;

	if (branch->flags & PERFEV_FLOW_GAP)
		return p->errors;
	return p->all || (p->calls && call) || (p->returns && ret);
}

/* The name of the event as perf makes it up: with the privileges that the one that traced has. */
static void name_event(struct printer *p, const struct itrace *itrace, const struct perfev_reader *reader)
{
	const struct perfev_reader_event_info *event = itrace_event(itrace, &p->cpu);
	struct perfev_reader_event_info other;
	const struct perf_event_attr *attr = event->attr;
	bool some = attr && (attr->exclude_kernel || attr->exclude_user || attr->exclude_hv);
	bool guest = attr && (attr->exclude_host || (some && attr->exclude_guest));
	size_t i;

	snprintf(p->event, sizeof(p->event), "branches%s%s%s%s%s%s", some || guest ? ":" : "",
		 some && !attr->exclude_kernel ? "k" : "", some && !attr->exclude_user ? "u" : "",
		 some && !attr->exclude_hv ? "h" : "", guest && !attr->exclude_host ? "H" : "",
		 guest && !attr->exclude_guest ? "G" : "");
	p->event_width = (int)strlen(p->event);
	for (i = 0; perfev_reader_event_at(reader, i, &other); i++)
		if ((int)strlen(other.name) > p->event_width)
			p->event_width = (int)strlen(other.name);
	for (i = 0; p->cpu && perfev_reader_event_at(reader, i, &other); i++) {
		if (other.attr->type != PERF_TYPE_HARDWARE) /* branches are of that type, for perf, and have the fields of the first */
			continue;
		p->cpu = other.attr->sample_type & PERF_SAMPLE_CPU;
		break;
	}
}

static const char *const names[PERFEV_FLOW_COUNT_] = {
	[PERFEV_FLOW_NONE] = "",
	[PERFEV_FLOW_CALL] = "call",
	[PERFEV_FLOW_RETURN] = "return",
	[PERFEV_FLOW_JUMP] = "jmp",
	[PERFEV_FLOW_CONDITIONAL] = "jcc",
	[PERFEV_FLOW_SYSCALL] = "syscall",
	[PERFEV_FLOW_SYSRET] = "sysret",
	[PERFEV_FLOW_TRAP] = "int",
	[PERFEV_FLOW_TRAP_RETURN] = "iret",
	[PERFEV_FLOW_FAR_JUMP] = "jmp",
	[PERFEV_FLOW_INTERRUPT] = "hw int",
	[PERFEV_FLOW_ABORT] = "tx abrt",
};

static void put_flags(const struct printer *p, const struct perfev_flow_branch *branch)
{
	const char *name = names[branch->type], *before = "";
	char text[40];

	if (branch->flags & PERFEV_FLOW_BEGINS)
		before = "tr strt";
	else if (branch->flags & PERFEV_FLOW_ENDS)
		before = branch->type != PERFEV_FLOW_NONE || branch->from ? "tr end  " : "tr end";
	if (branch->flags & PERFEV_FLOW_ENDS && branch->type == PERFEV_FLOW_NONE && branch->from)
		name = "async";
	snprintf(text, sizeof(text), "%s%s%s", before, name, branch->flags & PERFEV_FLOW_IN_TX ? " (x)" : "");
	fprintf(p->out, "  %-21s ", text);
}

static void put_place(const struct printer *p, uint64_t ip, const struct perfev_frame *frame)
{
	fprintf(p->out, "%16" PRIx64 " ", ip);
	if (frame->symbol) {
		text_name(p->out, frame->symbol);
		fprintf(p->out, "+0x%x", frame->offset);
	} else {
		fputs("[unknown]", p->out);
	}
	fputs(" (", p->out);
	text_name(p->out, frame->module);
	fputc(')', p->out);
}

static void put_branch(const struct printer *p, const struct itrace_branch *b)
{
	uint64_t time = b->branch.time;

	fprintf(p->out, "%16s %5d ", b->comm, b->branch.tid);
	if (p->cpu)
		fprintf(p->out, "[%03d] ", b->branch.cpu);
	if (p->opts->ns)
		fprintf(p->out, "%5" PRIu64 ".%09" PRIu64 ": ", time / 1000000000, time % 1000000000);
	else
		fprintf(p->out, "%5" PRIu64 ".%06" PRIu64 ": ", time / 1000000000, time % 1000000000 / 1000);
	fprintf(p->out, "%10d %*s: ", 1, p->event_width, p->event);
	if (p->flags)
		put_flags(p, &b->branch);
	fputc(' ', p->out);
	put_place(p, b->branch.from, &b->from);
	fputs(" => ", p->out);
	put_place(p, b->branch.to, &b->to);
	fputc('\n', p->out);
}

/* The numbers that perf has for the same. */
static int gap_code(uint32_t gap)
{
	static const int codes[] = {[PERFEV_FLOW_GAP_NONE] = 9,	    [PERFEV_FLOW_GAP_PACKETS] = 3,  [PERFEV_FLOW_GAP_NO_CODE] = 5,
				    [PERFEV_FLOW_GAP_MISMATCH] = 6, [PERFEV_FLOW_GAP_OVERFLOW] = 7, [PERFEV_FLOW_GAP_LOOP] = 10,
				    [PERFEV_FLOW_GAP_MEMORY] = 1};

	return gap < sizeof(codes) / sizeof(codes[0]) ? codes[gap] : 9;
}

static void put_gap(const struct printer *p, const struct itrace_branch *b)
{
	fprintf(p->out, " instruction trace error type 1 time %" PRIu64 ".%09" PRIu64 " cpu %d pid %d tid %d ip 0x%" PRIx64
		" code %d: %s\n", b->branch.time / 1000000000, b->branch.time % 1000000000, b->branch.cpu, b->branch.pid,
		b->branch.tid, b->branch.from ? b->branch.from : b->branch.to, gap_code(b->branch.gap), b->branch.why);
}

/* ---- JSON ------------------------------------------------------------------------------------------------------------- */

static void json_place(FILE *out, const char *key, uint64_t ip, const struct perfev_frame *frame)
{
	if (!ip) {
		fprintf(out, ",\"%s\":null", key);
		return;
	}
	fprintf(out, ",\"%s\":{\"ip\":\"0x%" PRIx64 "\",\"symbol\":", key, ip);
	if (frame->symbol)
		json_string(out, frame->symbol);
	else
		fputs("null", out);
	fprintf(out, ",\"offset\":%u,\"module\":", frame->symbol ? frame->offset : 0);
	json_string(out, frame->module);
	fputc('}', out);
}

static void json_branch(const struct printer *p, const struct itrace_branch *b)
{
	fprintf(p->out, "{\"branch\":\"%s\",\"time_ns\":%" PRIu64 ",\"pid\":%d,\"tid\":%d,\"cpu\":",
		b->branch.flags & PERFEV_FLOW_GAP ? "gap" : perfev_flow_type_name((enum perfev_flow_type)b->branch.type),
		b->branch.time, b->branch.pid, b->branch.tid);
	if (b->branch.cpu < 0)
		fputs("null", p->out);
	else
		fprintf(p->out, "%d", b->branch.cpu);
	fputs(",\"comm\":", p->out);
	json_string(p->out, b->comm);
	json_place(p->out, "from", b->branch.from, &b->from);
	json_place(p->out, "to", b->branch.to, &b->to);
	fprintf(p->out, ",\"instructions\":%" PRIu64 ",\"begins\":%s,\"ends\":%s,\"in_tx\":%s,\"why\":", b->branch.instructions,
		b->branch.flags & PERFEV_FLOW_BEGINS ? "true" : "false", b->branch.flags & PERFEV_FLOW_ENDS ? "true" : "false",
		b->branch.flags & PERFEV_FLOW_IN_TX ? "true" : "false");
	if (b->branch.why)
		json_string(p->out, b->branch.why);
	else
		fputs("null", p->out);
	fputs("}\n", p->out);
}

static int print_all(struct printer *p, struct replay *replay, struct perfev_error *err)
{
	struct itrace_branch branch;
	struct itrace *itrace;
	uint64_t gaps = 0;
	int r = itrace_open(&itrace, replay->reader, replay->symbols, err);

	if (r < 0)
		return r;
	name_event(p, itrace, replay->reader);
	while (!ferror(p->out) && (r = itrace_next(itrace, &branch, err)) > 0) {
		gaps += (branch.branch.flags & PERFEV_FLOW_GAP) != 0;
		if (!is_wanted(p, &branch.branch) || !passes(p->opts->filter, &branch))
			continue;
		if (p->opts->json)
			json_branch(p, &branch);
		else if (branch.branch.flags & PERFEV_FLOW_GAP)
			put_gap(p, &branch);
		else
			put_branch(p, &branch);
	}
	itrace_close(itrace);
	if (gaps)
		note("the traces have %" PRIu64 " gaps%s", gaps, p->errors ? "" : "; --itrace=e tells them");
	return r;
}

int script_itrace(const struct replay_opts *how, const struct itrace_opts *opts, FILE *out)
{
	struct printer p = {.out = out, .opts = opts};
	const struct perfev_error *damage = NULL;
	struct perfev_error err;
	struct replay replay;
	int r;

	memset(&err, 0, sizeof(err));
	memset(&replay, 0, sizeof(replay));
	choose(&p);
	r = replay_open(&replay, how, &err);
	if (r == 0)
		r = replay_symbols(&replay, &err);
	if (r == 0)
		r = print_all(&p, &replay, &err);
	if (r < 0)
		r = err.code ? report_error(&err) : out_of_memory();
	else
		damage = perfev_reader_damage(replay.reader);
	if (damage)
		r = report_error(damage);
	replay_close(&replay);
	return r;
}
