/* SPDX-License-Identifier: MIT */
/*
 * What the traces of a recording tell, as perf script prints it among the samples: branches, as samples of an event of that
 * name, and what else there is as events of perf's own (PTWRITE, power, synchronization); gaps have lines of another form.
 */
#include "itrace.h"
#include "script.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define KNOWN	    "bcrexwp"
#define DEFAULT	    "cexwp"
#define SYNTH_WIDTH 34 /* of the column of what those tell */

/* Events that are made up. */
enum made { MADE_BRANCHES, MADE_TRANSACTIONS, MADE_PTWRITE, MADE_CBR, MADE_PSB, MADE_MWAIT, MADE_PWRE, MADE_EXSTOP, MADE_PWRX, MADE_COUNT };

struct script_itrace {
	struct script *script;
	const struct itrace_opts *opts;
	struct itrace *itrace;
	struct itrace_sink sink;
	bool all, calls, returns, errors, transactions, ptwrites, power, forced;
	bool wanted[MADE_COUNT]; /* by --event */
	struct script_event events[MADE_COUNT];
	struct perf_event_attr attrs[MADE_COUNT];
	char branches[32]; /* "branches:u" */
	const char *names[MADE_COUNT + 1];
	size_t name_count;
	uint32_t nonturbo_ratio;
	uint64_t ratio_khz;
	uint64_t gaps;
};

/* ---- options ------------------------------------------------------------------------------------------------------------- */

int itrace_check(const struct itrace_opts *opts)
{
	size_t known = opts->what ? strspn(opts->what, KNOWN) : 0;

	if (opts->what && opts->none)
		return usage_error("script", "--itrace and --no-itrace say the opposite of each other; give one");
	if (!opts->what || !opts->what[known])
		return -1;
	return usage_error("script", "--itrace knows b, c, r, x, w, p and e (branches, calls, returns, transactions, writes, power, errors), "
			   "not '%c'", opts->what[known]);
}

static void choose(struct script_itrace *si)
{
	const char *what = si->opts->what && *si->opts->what ? si->opts->what : DEFAULT;

	si->forced = si->opts->what != NULL;
	si->calls = strchr(what, 'c');
	si->returns = strchr(what, 'r');
	si->all = strchr(what, 'b') && !si->calls && !si->returns;
	si->errors = strchr(what, 'e');
	si->transactions = strchr(what, 'x');
	si->ptwrites = strchr(what, 'w');
	si->power = strchr(what, 'p');
}

/* Where tracing begins is what comes back from what was not traced, and where it ends is what is called. */
static bool is_wanted(const struct script_itrace *si, const struct perfev_flow_branch *branch)
{
	bool call = branch->type == PERFEV_FLOW_CALL || branch->type == PERFEV_FLOW_SYSCALL || branch->type == PERFEV_FLOW_TRAP ||
		    branch->type == PERFEV_FLOW_INTERRUPT || branch->type == PERFEV_FLOW_VM_ENTRY ||
		    branch->flags & PERFEV_FLOW_ENDS;
	bool ret = branch->type == PERFEV_FLOW_RETURN || branch->type == PERFEV_FLOW_SYSRET ||
		   branch->type == PERFEV_FLOW_TRAP_RETURN || branch->flags & PERFEV_FLOW_BEGINS;

	switch (branch->type) {
	case PERFEV_FLOW_TRANSACTION:
		return si->transactions;
	case PERFEV_FLOW_PTWRITE:
		return si->ptwrites;
	case PERFEV_FLOW_PSB:
	case PERFEV_FLOW_CBR:
	case PERFEV_FLOW_MWAIT:
	case PERFEV_FLOW_PWRE:
	case PERFEV_FLOW_EXSTOP:
	case PERFEV_FLOW_PWRX:
		return si->power;
	default:
		return si->all || (si->calls && call) || (si->returns && ret);
	}
}

static enum made made_of(uint32_t type)
{
	switch (type) {
	case PERFEV_FLOW_TRANSACTION:
		return MADE_TRANSACTIONS;
	case PERFEV_FLOW_PTWRITE:
		return MADE_PTWRITE;
	case PERFEV_FLOW_PSB:
		return MADE_PSB;
	case PERFEV_FLOW_CBR:
		return MADE_CBR;
	case PERFEV_FLOW_MWAIT:
		return MADE_MWAIT;
	case PERFEV_FLOW_PWRE:
		return MADE_PWRE;
	case PERFEV_FLOW_EXSTOP:
		return MADE_EXSTOP;
	case PERFEV_FLOW_PWRX:
		return MADE_PWRX;
	default:
		return MADE_BRANCHES;
	}
}

/* ---- events that are made up ---------------------------------------------------------------------------------------------- */

/* The name of the event as perf makes it up: with the privileges that the one that traced has. */
static void name_branches(struct script_itrace *si, const struct perf_event_attr *attr)
{
	bool some = attr && (attr->exclude_kernel || attr->exclude_user || attr->exclude_hv);
	bool guest = attr && (attr->exclude_host || (some && attr->exclude_guest));

	snprintf(si->branches, sizeof(si->branches), "branches%s%s%s%s%s%s", some || guest ? ":" : "",
		 some && !attr->exclude_kernel ? "k" : "", some && !attr->exclude_user ? "u" : "",
		 some && !attr->exclude_hv ? "h" : "", guest && !attr->exclude_host ? "H" : "",
		 guest && !attr->exclude_guest ? "G" : "");
}

static void make_event(struct script_itrace *si, enum made made, const char *name, uint64_t more)
{
	struct perf_event_attr *attr = &si->attrs[made];
	struct script_event *event = &si->events[made];
	bool per_cpu, timed;
	const struct perf_event_attr *from = itrace_event(si->itrace)->attr;

	itrace_how(si->itrace, &per_cpu, &timed);
	attr->type = made <= MADE_TRANSACTIONS ? PERF_TYPE_HARDWARE : SCRIPT_TYPE_SYNTH;
	attr->config = made == MADE_BRANCHES ? PERF_COUNT_HW_BRANCH_INSTRUCTIONS : PERF_COUNT_HW_INSTRUCTIONS;
	attr->sample_period = 1;
	attr->sample_type = (from ? from->sample_type : PERF_SAMPLE_CPU) | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD |
			    PERF_SAMPLE_TIME | more;
	if (!timed)
		attr->sample_type &= ~(uint64_t)PERF_SAMPLE_TIME;
	if (!per_cpu)
		attr->sample_type &= ~(uint64_t)PERF_SAMPLE_CPU;
	event->name = name;
	si->names[si->name_count++] = name;
	event->attr = attr;
	event->kind = made <= MADE_TRANSACTIONS ? KIND_HARDWARE : KIND_SYNTH;
	event->is_branches = made == MADE_BRANCHES;
	si->wanted[made] = passes_text(&si->opts->filter->events, name);
	if ((int)strlen(name) > si->script->name_width)
		si->script->name_width = (int)strlen(name);
}

/* Those of perf are there when they may come: by bits of the event that traced. */
static void make_events(struct script_itrace *si)
{
	const struct perf_event_attr *attr = itrace_event(si->itrace)->attr;
	uint64_t config = attr ? attr->config : 0;

	name_branches(si, attr);
	if (si->all || si->calls || si->returns)
		make_event(si, MADE_BRANCHES, si->branches, PERF_SAMPLE_ADDR);
	if (si->transactions)
		make_event(si, MADE_TRANSACTIONS, "transactions", 0);
	if (si->ptwrites)
		make_event(si, MADE_PTWRITE, "ptwrite", PERF_SAMPLE_RAW);
	if (!si->power)
		return;
	make_event(si, MADE_CBR, "cbr", PERF_SAMPLE_RAW);
	make_event(si, MADE_PSB, "psb", PERF_SAMPLE_RAW);
	if (!(config & 0x10)) /* pwr_evt */
		return;
	make_event(si, MADE_MWAIT, "mwait", PERF_SAMPLE_RAW);
	make_event(si, MADE_PWRE, "pwre", PERF_SAMPLE_RAW);
	make_event(si, MADE_EXSTOP, "exstop", PERF_SAMPLE_RAW);
	make_event(si, MADE_PWRX, "pwrx", PERF_SAMPLE_RAW);
}

/* Of kinds that the recording has no other event of, the first one says what there is. */
static int check_fields(struct script_itrace *si)
{
	uint32_t kinds = 0;
	size_t i;

	for (i = 0; i < si->script->event_count; i++)
		kinds |= UINT32_C(1) << si->script->events[i].kind;
	for (i = 0; i < MADE_COUNT; i++) {
		const struct script_event *event = &si->events[i];

		if (event->name && !(kinds >> event->kind & 1) && script_fields_check(&si->script->fields, event->name, event->attr))
			return -ECANCELED;
		if (event->name)
			kinds |= UINT32_C(1) << event->kind;
	}
	return 0;
}

/* ---- text ------------------------------------------------------------------------------------------------------------------ */

static const char *const names[PERFEV_FLOW_PSB] = {
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
	[PERFEV_FLOW_VM_ENTRY] = "vmentry",
};

/* What perf says of the gaps. */
static const struct {
	int code;
	const char *text;
} gaps[] = {
	[PERFEV_FLOW_GAP_NONE] = {9, "Unknown error!"},
	[PERFEV_FLOW_GAP_PACKETS] = {3, "Bad packet"},
	[PERFEV_FLOW_GAP_NO_CODE] = {5, "Failed to get instruction"},
	[PERFEV_FLOW_GAP_MISMATCH] = {6, "Trace doesn't match instruction"},
	[PERFEV_FLOW_GAP_OVERFLOW] = {7, "Overflow packet"},
	[PERFEV_FLOW_GAP_LOOP] = {10, "Never-ending loop"},
	[PERFEV_FLOW_GAP_LOST] = {8, "Lost trace data"},
	[PERFEV_FLOW_GAP_MEMORY] = {1, "Memory allocation failed"},
};

static void put_gap(const struct script_itrace *si, const struct perfev_flow_branch *gap)
{
	size_t i = gap->gap < sizeof(gaps) / sizeof(gaps[0]) ? gap->gap : PERFEV_FLOW_GAP_NONE;
	struct pen *pen = si->script->pen;

	pen_text(pen, " instruction trace error type 1");
	if (gap->time)
		pen_print(pen, " time %" PRIu64 ".%09" PRIu64, gap->time / 1000000000, gap->time % 1000000000);
	pen_print(pen, " cpu %d pid %d tid %d ip 0x%" PRIx64 " code %d: %s\n", gap->cpu, gap->pid, gap->tid,
		  gap->from ? gap->from : gap->to, gaps[i].code, gaps[i].text);
}

/* A text of up to 8 bytes, as programs write it; "" for other values. */
static void text_of(char to[9], uint64_t value)
{
	int i, n = 0;

	for (i = 0; i < 8; i++)
		to[i] = (char)(value >> 8 * i & 0xff);
	to[8] = 0;
	while (to[n] >= 0x20 && to[n] < 0x7f)
		n++;
	for (i = n; i < 8; i++)
		if (to[i])
			n = 0;
	to[n] = 0;
}

static int put_write(char *to, size_t size, const struct perfev_flow_branch *b)
{
	char text[9];

	text_of(text, b->value);
	return snprintf(to, size, " IP: %d payload: %#" PRIx64 " %s ", b->flags & PERFEV_FLOW_AT_FROM ? 1 : 0, b->value, text);
}

static int put_ratio(const struct script_itrace *si, char *to, size_t size, uint64_t ratio)
{
	int n = snprintf(to, size, " cbr: %2" PRIu64 " freq: %4" PRIu64 " MHz ", ratio, (ratio * si->ratio_khz + 500) / 1000);

	if (si->nonturbo_ratio)
		n += snprintf(to + n, size - (size_t)n, "(%3" PRIu64 "%%) ", (5 + 1000 * ratio / si->nonturbo_ratio) / 10);
	return n;
}

/* What is told of perf's own events, in a column. */
static void tell(const struct script_itrace *si, char *to, size_t size, const struct perfev_flow_branch *b)
{
	int at = b->flags & PERFEV_FLOW_AT_FROM ? 1 : 0, n;
	unsigned low = b->value & 0xff, high = b->value >> 8 & 0xff;
	uint64_t rest = b->value >> 16;

	switch (b->type) {
	case PERFEV_FLOW_PSB:
		n = snprintf(to, size, " psb offs: %#" PRIx64, b->value);
		break;
	case PERFEV_FLOW_CBR:
		n = put_ratio(si, to, size, b->value);
		break;
	case PERFEV_FLOW_PTWRITE:
		n = put_write(to, size, b);
		break;
	case PERFEV_FLOW_MWAIT:
		n = snprintf(to, size, " hints: %#" PRIx64 " extensions: %#" PRIx64 " ", b->value & UINT32_MAX, b->value >> 32);
		break;
	case PERFEV_FLOW_PWRE:
		n = snprintf(to, size, " hw: %u cstate: %u sub-cstate: %u ", (unsigned)rest, low, high);
		break;
	case PERFEV_FLOW_EXSTOP:
		n = snprintf(to, size, " IP: %d ", at);
		break;
	default:
		n = snprintf(to, size, " deepest cstate: %u last cstate: %u wake reason: %#" PRIx64 " ", high, low, rest);
		break;
	}
	for (; n < SYNTH_WIDTH; n++)
		to[n] = ' ';
	to[n] = 0;
}

static void tell_flags(char *to, size_t size, const struct perfev_flow_branch *branch)
{
	const char *name = branch->type < PERFEV_FLOW_PSB ? names[branch->type] : "";
	const char *before = "";

	if (branch->type >= PERFEV_FLOW_PSB) {
		snprintf(to, size, "%s", branch->type == PERFEV_FLOW_TRANSACTION && branch->flags & PERFEV_FLOW_IN_TX ? "x" : "");
		return;
	}
	if (branch->flags & PERFEV_FLOW_BEGINS)
		before = branch->type != PERFEV_FLOW_NONE ? "tr strt " : "tr strt";
	else if (branch->flags & PERFEV_FLOW_ENDS)
		before = branch->type != PERFEV_FLOW_NONE || branch->from ? "tr end  " : "tr end";
	if (branch->flags & PERFEV_FLOW_ENDS && branch->type == PERFEV_FLOW_NONE && branch->from)
		name = "async";
	snprintf(to, size, "%s%-*s%6s", before, 15 - (int)strlen(before), name, branch->flags & PERFEV_FLOW_IN_TX ? "(x)" : "");
}

static int put_text(struct script_itrace *si, const struct perfev_flow_branch *b, const struct perfev_sample *sample, const char *comm,
		    struct perfev_error *err)
{
	enum made made = made_of(b->type);
	char flags[48], synth[160];
	struct script_sample s = {sample, &si->events[made], comm, 1, sample->misc & PERF_RECORD_MISC_CPUMODE_MASK, b->pid, b->tid,
				  flags, synth};

	tell_flags(flags, sizeof(flags), b);
	if (made > MADE_TRANSACTIONS)
		tell(si, synth, sizeof(synth), b);
	if (!s.event->text.text)
		script_name_event(si->script, s.event);
	itrace_printed(si->itrace, sample->ip, b->pid);
	return script_text(si->script, &s, err);
}

/* ---- JSON ------------------------------------------------------------------------------------------------------------- */

static uint16_t mode_of(uint64_t ip)
{
	return ip >> 63 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
}

static int json_place(const struct script_itrace *si, const char *key, uint64_t ip, int32_t pid, struct perfev_error *err)
{
	struct perfev_place place = {ip, pid, mode_of(ip)};
	FILE *out = si->script->pen->out;
	struct perfev_frame frame;

	if (!ip) {
		fprintf(out, ",\"%s\":null", key);
		return 0;
	}
	if (perfev_symbols_find(si->script->replay.symbols, &place, &frame, 1, err) < 0)
		return -ENOMEM;
	fprintf(out, ",\"%s\":{\"ip\":\"0x%" PRIx64 "\",\"symbol\":", key, ip);
	if (frame.symbol)
		json_string(out, frame.symbol);
	else
		fputs("null", out);
	fprintf(out, ",\"offset\":%u,\"module\":", frame.symbol ? frame.offset : 0);
	json_string(out, frame.module);
	fputc('}', out);
	return 0;
}

static void json_rest(FILE *out, const struct perfev_flow_branch *b)
{
	fprintf(out, ",\"instructions\":%" PRIu64 ",\"begins\":%s,\"ends\":%s,\"in_tx\":%s", b->instructions,
		b->flags & PERFEV_FLOW_BEGINS ? "true" : "false", b->flags & PERFEV_FLOW_ENDS ? "true" : "false",
		b->flags & PERFEV_FLOW_IN_TX ? "true" : "false");
	if (b->type >= PERFEV_FLOW_PSB)
		fprintf(out, ",\"value\":\"0x%" PRIx64 "\"", b->value);
	fputs(",\"why\":", out);
	if (b->why)
		json_string(out, b->why);
	else
		fputs("null", out);
	fputs("}\n", out);
}

static int json_branch(const struct script_itrace *si, const struct perfev_flow_branch *b, const char *comm, struct perfev_error *err)
{
	FILE *out = si->script->pen->out;

	fprintf(out, "{\"branch\":\"%s\",\"time_ns\":%" PRIu64 ",\"pid\":%d,\"tid\":%d,\"cpu\":",
		b->flags & PERFEV_FLOW_GAP ? "gap" : perfev_flow_type_name((enum perfev_flow_type)b->type), b->time, b->pid, b->tid);
	if (b->cpu < 0)
		fputs("null", out);
	else
		fprintf(out, "%d", b->cpu);
	fputs(",\"comm\":", out);
	json_string(out, comm);
	if (json_place(si, "from", b->from, b->pid, err) < 0 || json_place(si, "to", b->to, b->pid, err) < 0)
		return -ENOMEM;
	json_rest(out, b);
	return 0;
}

/* ---- the whole ------------------------------------------------------------------------------------------------------------- */

static int put(void *context, const struct perfev_flow_branch *b, struct perfev_error *err)
{
	struct script_itrace *si = context;
	bool gap = b->flags & PERFEV_FLOW_GAP, transaction = b->type == PERFEV_FLOW_TRANSACTION;
	enum made made = made_of(b->type);
	struct perfev_sample sample;
	const char *comm = ":-1";

	if (si->script->pen->failed)
		return -EIO;
	si->gaps += gap;
	if (gap ? !si->errors : !is_wanted(si, b) || !si->events[made].name || !si->wanted[made])
		return 0;
	sample.present = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD | PERF_SAMPLE_TIME | (b->cpu >= 0 ? PERF_SAMPLE_CPU : 0) |
			 (made == MADE_BRANCHES ? PERF_SAMPLE_ADDR : 0);
	sample.misc = mode_of(b->from ? b->from : b->to);
	sample.ip = transaction || b->from ? b->from : 0;
	sample.addr = b->to;
	sample.pid = (uint32_t)b->pid;
	sample.tid = (uint32_t)b->tid;
	sample.time = b->time;
	sample.cpu = (uint32_t)b->cpu;
	sample.period = 1;
	if (b->tid != -1)
		comm = perfev_symbols_comm(si->script->replay.symbols, b->pid, b->tid);
	if (!passes_text(&si->opts->filter->comms, comm) || !filter_passes(si->opts->filter, &sample))
		return 0;
	si->script->printed++;
	if (si->opts->json)
		return json_branch(si, b, comm, err);
	if (!gap)
		return put_text(si, b, &sample, comm, err);
	put_gap(si, b);
	return 0;
}

/* What a recording is followed for without being asked: Intel PT, in a file, whose traces are in its index. */
static bool may_follow(const struct script *script, const struct itrace_opts *opts)
{
	struct perfev_bytes section;

	return opts->what || (!opts->none && perfev_reader_feature(script->replay.reader, PERFEV_FEATURE_AUXTRACE, &section));
}

static void set_clock(struct script_itrace *si)
{
	bool per_cpu, timed;
	const struct perfev_flow_opts *how = itrace_how(si->itrace, &per_cpu, &timed);
	const struct perfev_clock *clock = &how->clock;
	uint64_t second = 1000000000;

	si->nonturbo_ratio = how->nonturbo_ratio;
	if (clock->mult && clock->shift < 32 && how->nonturbo_ratio)
		si->ratio_khz = ((second / clock->mult << clock->shift) + (second % clock->mult << clock->shift) / clock->mult) /
				how->nonturbo_ratio / 1000;
}

int script_itrace_open(struct script_itrace **ret, struct script *script, const struct itrace_opts *opts, struct perfev_error *err)
{
	struct script_itrace *si;
	int r;

	*ret = NULL;
	if (!may_follow(script, opts))
		return 0;
	si = calloc(1, sizeof(*si));
	if (!si)
		return -ENOMEM;
	si->script = script;
	si->opts = opts;
	si->sink = (struct itrace_sink){put, si};
	choose(si);
	r = itrace_open(&si->itrace, &script->replay, &si->sink, !si->forced, err);
	if (!si->forced && (r == -EOPNOTSUPP || r == -ENOENT)) {
		script_itrace_free(si);
		return 0;
	}
	if (r == 0) {
		set_clock(si);
		make_events(si);
		r = check_fields(si);
	}
	if (r < 0)
		script_itrace_free(si);
	else
		*ret = si;
	return r;
}

int script_itrace_record(struct script_itrace *si, const struct perfev_record *record, const struct perfev_layout *layout,
			 struct perfev_error *err)
{
	return itrace_record(si->itrace, record, layout, err);
}

void script_itrace_printed(struct script_itrace *si, uint64_t ip, int32_t pid)
{
	itrace_printed(si->itrace, ip, pid);
}

int script_itrace_end(struct script_itrace *si, struct perfev_error *err)
{
	return itrace_end(si->itrace, err);
}

const char *const *script_itrace_names(const struct script_itrace *si)
{
	return si->names;
}

void script_itrace_say(const struct script_itrace *si)
{
	if (si && si->gaps)
		note("the traces have %" PRIu64 " gaps%s", si->gaps, si->errors ? "" : "; --itrace=e tells them");
}

void script_itrace_free(struct script_itrace *si)
{
	size_t i;

	if (!si)
		return;
	itrace_close(si->itrace);
	for (i = 0; i < MADE_COUNT; i++)
		if (si->events[i].text.size)
			free((void *)(uintptr_t)si->events[i].text.text);
	free(si);
}
