/* SPDX-License-Identifier: MIT */
/*
 * What the traces of a recording tell, as perf script prints it among the samples: branches, as samples of an event of that
 * name, and what else there is as events of perf's own (PTWRITE, power, synchronization); gaps have lines of another form.
 */
#include "itrace.h"
#include "script.h"
#include "script_spe.h"
#include "script_tell.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define KNOWN	    "bcrexwpfmtaM"
#define DEFAULT	    "cexwpfmtaM"

/* Events that are made up. */
enum made {
	MADE_BRANCHES,
	MADE_TRANSACTIONS,
	MADE_PTWRITE,
	MADE_CBR,
	MADE_PSB,
	MADE_MWAIT,
	MADE_PWRE,
	MADE_EXSTOP,
	MADE_PWRX,
	MADE_SPE, /* + enum spe_sample */
	MADE_COUNT = MADE_SPE + SPE_COUNT
};

static const struct {
	const char *name, *letters; /* any of those */
} spe_rows[SPE_COUNT] = {
	[SPE_L1D_MISS] = {"l1d-miss", "f"},	[SPE_L1D_ACCESS] = {"l1d-access", "f"}, [SPE_LLC_MISS] = {"llc-miss", "m"},
	[SPE_LLC_ACCESS] = {"llc-access", "m"}, [SPE_TLB_MISS] = {"tlb-miss", "t"},	[SPE_TLB_ACCESS] = {"tlb-access", "t"},
	[SPE_BRANCH_MISS] = {"branch-miss", "bcr"}, [SPE_REMOTE_ACCESS] = {"remote-access", "a"}, [SPE_MEMORY] = {"memory", "M"},
};

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
	struct tell_clock clock;
	uint64_t gaps;
	bool is_spe;
	uint64_t midr; /* of the CPU that was sampled */
};

/* ---- options ------------------------------------------------------------------------------------------------------ */

int itrace_check(const struct itrace_opts *opts)
{
	size_t known = opts->what ? strspn(opts->what, KNOWN) : 0;

	if (opts->what && opts->none)
		return usage_error("script", "--itrace and --no-itrace say the opposite of each other; give one");
	if (!opts->what || !opts->what[known])
		return -1;
	return usage_error("script", "--itrace knows b, c, r, x, w, p, e (branches, calls, returns, transactions, writes, power, errors), and "
			   "of Arm SPE f, m, t, a, M (first and last level caches, TLB, remote access, memory), not '%c'",
			   opts->what[known]);
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

/* ---- events that are made up -------------------------------------------------------------------------------------- */

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
	attr->type = made <= MADE_TRANSACTIONS || made >= MADE_SPE ? PERF_TYPE_HARDWARE : SCRIPT_TYPE_SYNTH;
	attr->config = made >= MADE_SPE ? PERF_COUNT_HW_CPU_CYCLES : made == MADE_BRANCHES ? PERF_COUNT_HW_BRANCH_INSTRUCTIONS : PERF_COUNT_HW_INSTRUCTIONS;
	attr->sample_period = 1;
	attr->sample_type = (from ? from->sample_type : PERF_SAMPLE_CPU) | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD |
			    PERF_SAMPLE_TIME | more;
	if (!timed)
		attr->sample_type &= ~(uint64_t)PERF_SAMPLE_TIME;
	if (!per_cpu && !si->is_spe)
		attr->sample_type &= ~(uint64_t)PERF_SAMPLE_CPU;
	event->name = name;
	si->names[si->name_count++] = name;
	event->attr = attr;
	event->kind = attr->type == PERF_TYPE_HARDWARE ? KIND_HARDWARE : KIND_SYNTH;
	event->is_branches = made == MADE_BRANCHES;
	si->wanted[made] = passes_text(&si->opts->filter->events, name);
	if ((int)strlen(name) > si->script->name_width)
		si->script->name_width = (int)strlen(name);
}

static void make_spe_events(struct script_itrace *si)
{
	const char *what = si->opts->what && *si->opts->what ? si->opts->what : DEFAULT;
	size_t i;

	for (i = 0; i < SPE_COUNT; i++)
		if (strpbrk(what, spe_rows[i].letters))
			make_event(si, (enum made)(MADE_SPE + i), spe_rows[i].name,
				   PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC);
}

/* Those of perf are there when they may come: by bits of the event that traced. */
static void make_events(struct script_itrace *si)
{
	const struct perf_event_attr *attr = itrace_event(si->itrace)->attr;
	uint64_t config = attr ? attr->config : 0;

	if (si->is_spe) {
		make_spe_events(si);
		return;
	}
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

/* ---- text ------------------------------------------------------------------------------------------------------ */

static void put_gap(const struct script_itrace *si, const struct perfev_flow_branch *gap)
{
	int code;
	const char *why = tell_gap(gap->gap, &code);
	struct pen *pen = si->script->pen;

	pen_text(pen, " instruction trace error type 1");
	if (gap->time)
		pen_print(pen, " time %" PRIu64 ".%09" PRIu64, gap->time / 1000000000, gap->time % 1000000000);
	pen_print(pen, " cpu %d pid %d tid %d ip 0x%" PRIx64 " code %d: %s\n", gap->cpu, gap->pid, gap->tid,
		  gap->from ? gap->from : gap->to, code, why);
}

static uint16_t mode_of(uint64_t ip)
{
	return ip >> 63 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
}

static int put_text(struct script_itrace *si, const struct perfev_flow_branch *b, const struct perfev_sample *sample, const char *comm,
		    struct perfev_error *err)
{
	enum made made = made_of(b->type);
	char flags[48], synth[160];
	struct script_sample s = {sample, &si->events[made], comm, 1, mode_of(b->from ? b->from : b->to), b->pid, b->tid,
				  flags, synth};

	tell_flags(flags, sizeof(flags), b);
	if (made > MADE_TRANSACTIONS)
		tell_value(&si->clock, synth, sizeof(synth), b);
	if (!s.event->text.text)
		script_name_event(si->script, s.event);
	itrace_printed(si->itrace, sample->ip, b->pid);
	return script_text(si->script, &s, err);
}

/* ---- JSON --------------------------------------------------------------------------------------------------------- */

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

/* ---- the whole ---------------------------------------------------------------------------------------------------- */

/* A sample of Arm SPE: one of each event that is asked for. */
static int put_spe(struct script_itrace *si, const struct perfev_flow_branch *b, const struct perfev_spe_record *record,
		   struct perfev_error *err)
{
	uint64_t source = spe_data_source(record, si->midr);
	unsigned events = spe_events(record) | (source ? 1u << SPE_MEMORY : 0), i;
	struct perfev_sample sample;
	const char *comm = ":-1";
	int r = 0;

	sample.present = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
			 PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_PHYS_ADDR | (b->cpu >= 0 ? PERF_SAMPLE_CPU : 0);
	sample.misc = 0;
	sample.ip = record->pc.address;
	sample.pid = (uint32_t)b->pid;
	sample.tid = (uint32_t)b->tid;
	sample.time = b->time;
	sample.cpu = (uint32_t)b->cpu;
	sample.period = 1;
	sample.weight = record->total_latency;
	if (b->tid != -1)
		comm = perfev_symbols_comm(si->script->replay.symbols, b->pid, b->tid);
	if (!passes_text(&si->opts->filter->comms, comm) || !filter_passes(si->opts->filter, &sample))
		return 0;
	for (i = 0; r == 0 && i < SPE_COUNT; i++) {
		struct script_sample s = {&sample, &si->events[MADE_SPE + i], comm, 1, mode_of(sample.ip), b->pid, b->tid, NULL, NULL};
		bool branch = i == SPE_BRANCH_MISS;

		if (!(events >> i & 1) || !s.event->name || !si->wanted[MADE_SPE + i])
			continue;
		sample.addr = branch ? record->branch_target.address : record->data_virtual.address;
		sample.phys_addr = branch ? 0 : record->data_physical.address;
		sample.data_src = branch ? 0 : source;
		if (!s.event->text.text)
			script_name_event(si->script, s.event);
		si->script->printed++;
		r = si->opts->json ? script_json(si->script, &s, err) : script_text(si->script, &s, err);
	}
	return r;
}

static int put(void *context, const struct perfev_flow_branch *b, const struct perfev_spe_record *spe, struct perfev_error *err)
{
	struct script_itrace *si = context;
	bool gap = b->flags & PERFEV_FLOW_GAP, transaction = b->type == PERFEV_FLOW_TRANSACTION;
	enum made made = made_of(b->type);
	struct perfev_sample sample;
	const char *comm = ":-1";

	if (si->script->pen->failed)
		return -EIO;
	if (spe)
		return put_spe(si, b, spe, err);
	si->gaps += gap;
	if (gap ? !si->errors : !is_wanted(si, b) || !si->events[made].name || !si->wanted[made])
		return 0;
	sample.present = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD | PERF_SAMPLE_TIME | (b->cpu >= 0 ? PERF_SAMPLE_CPU : 0) |
			 PERF_SAMPLE_ADDR;
	sample.misc = 0;
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

/* What a recording is followed for without being asked: Intel PT and Arm SPE, in a file, whose traces are in its index. */
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

	si->clock.nonturbo_ratio = how->nonturbo_ratio;
	if (clock->mult && clock->shift < 32 && how->nonturbo_ratio)
		si->clock.ratio_khz = ((second / clock->mult << clock->shift) + (second % clock->mult << clock->shift) / clock->mult) /
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
		si->is_spe = itrace_is_spe(si->itrace, &si->midr);
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
