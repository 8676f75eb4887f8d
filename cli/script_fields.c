/* SPDX-License-Identifier: MIT */
/*
 * Which fields perfev script prints: -F, and what is printed without it, are perf's. Kinds of events differ in both;
 * a field that the samples of a kind do not have is left out, unless it was asked for.
 */
#include "script.h"

#include <string.h>

static const struct {
	const char *name;
	enum script_field field;
	uint64_t needs; /* PERF_SAMPLE_*, any of them; 0: nothing */
} rows[] = {
	{"comm", FIELD_COMM, 0},
	{"pid", FIELD_PID, PERF_SAMPLE_TID},
	{"tid", FIELD_TID, PERF_SAMPLE_TID},
	{"time", FIELD_TIME, PERF_SAMPLE_TIME},
	{"cpu", FIELD_CPU, PERF_SAMPLE_CPU},
	{"misc", FIELD_MISC, 0},
	{"period", FIELD_PERIOD, 0},
	{"event", FIELD_EVENT, 0},
	{"trace", FIELD_TRACE, 0},
	{"addr", FIELD_ADDR, PERF_SAMPLE_ADDR},
	{"data_src", FIELD_DATA_SRC, PERF_SAMPLE_DATA_SRC},
	{"weight", FIELD_WEIGHT, PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT},
	{"ip", FIELD_IP, PERF_SAMPLE_IP},
	{"sym", FIELD_SYM, PERF_SAMPLE_IP | PERF_SAMPLE_ADDR},
	{"symoff", FIELD_SYMOFF, PERF_SAMPLE_IP | PERF_SAMPLE_ADDR},
	{"dso", FIELD_DSO, PERF_SAMPLE_IP | PERF_SAMPLE_ADDR},
	{"iregs", FIELD_IREGS, PERF_SAMPLE_REGS_INTR},
	{"uregs", FIELD_UREGS, PERF_SAMPLE_REGS_USER},
	{"brstack", FIELD_BRSTACK, 0},
	{"brstacksym", FIELD_BRSTACKSYM, 0},
	{"brstackoff", FIELD_BRSTACKOFF, 0},
	{"bpf-output", FIELD_BPF_OUTPUT, 0},
	{"phys_addr", FIELD_PHYS_ADDR, PERF_SAMPLE_PHYS_ADDR},
	{"data_page_size", FIELD_DATA_PAGE_SIZE, PERF_SAMPLE_DATA_PAGE_SIZE},
	{"code_page_size", FIELD_CODE_PAGE_SIZE, PERF_SAMPLE_CODE_PAGE_SIZE},
	{"ins_lat", FIELD_INS_LAT, PERF_SAMPLE_WEIGHT_STRUCT},
	{"retire_lat", FIELD_RETIRE_LAT, PERF_SAMPLE_WEIGHT_STRUCT},
	{"srcline", FIELD_SRCLINE, PERF_SAMPLE_IP},
	{"flags", FIELD_FLAGS, 0},
	{"synth", FIELD_SYNTH, 0},
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static const struct {
	const char *prefix, *name;
} kinds[KIND_COUNT] = {
	[KIND_HARDWARE] = {"hw", "hardware"}, [KIND_SOFTWARE] = {"sw", "software"},
	[KIND_TRACEPOINT] = {"trace", "tracepoint"}, [KIND_CACHE] = {"hw-cache", "cache"},
	[KIND_RAW] = {"raw", "raw"}, [KIND_BREAKPOINT] = {"break", "breakpoint"}, [KIND_OTHER] = {"pmu", "PMU"},
	[KIND_SYNTH] = {"synth", "synthesized"},
};

#define BIT(field) (UINT32_C(1) << FIELD_##field)
#define ALWAYS	   (BIT(COMM) | BIT(TID) | BIT(TIME) | BIT(CPU) | BIT(EVENT))
#define PLACE	   (BIT(IP) | BIT(SYM) | BIT(SYMOFF) | BIT(DSO))

enum script_kind script_kind(const struct perf_event_attr *attr)
{
	if (attr->type == SCRIPT_TYPE_SYNTH)
		return KIND_SYNTH;
	return attr->type <= PERF_TYPE_BREAKPOINT ? (enum script_kind)attr->type : KIND_OTHER;
}

void script_fields_default(struct script_fields *fields)
{
	static const uint32_t shown[KIND_COUNT] = {
		[KIND_HARDWARE] = ALWAYS | PLACE | BIT(PERIOD),
		[KIND_SOFTWARE] = ALWAYS | PLACE | BIT(PERIOD) | BIT(BPF_OUTPUT),
		[KIND_TRACEPOINT] = ALWAYS | BIT(TRACE),
		[KIND_CACHE] = ALWAYS | PLACE | BIT(PERIOD),
		[KIND_RAW] = ALWAYS | PLACE | BIT(PERIOD) | BIT(ADDR) | BIT(DATA_SRC) | BIT(WEIGHT) | BIT(PHYS_ADDR) |
			     BIT(DATA_PAGE_SIZE) | BIT(CODE_PAGE_SIZE) | BIT(INS_LAT),
		[KIND_BREAKPOINT] = ALWAYS | PLACE | BIT(PERIOD),
		[KIND_OTHER] = ALWAYS | PLACE | BIT(PERIOD),
		[KIND_SYNTH] = ALWAYS | PLACE | BIT(SYNTH),
	};

	memset(fields, 0, sizeof(*fields));
	memcpy(fields->shown, shown, sizeof(shown));
}

/* What cannot be printed of a kind. */
static bool is_valid(enum script_kind kind, enum script_field field)
{
	if (field == FIELD_TRACE)
		return kind == KIND_TRACEPOINT;
	return field != FIELD_BPF_OUTPUT || kind == KIND_SOFTWARE;
}

/* ---- -F ------------------------------------------------------------------------------------------------ */

static size_t find_row(const char *name, size_t size)
{
	size_t i;

	for (i = 0; i < ROWS; i++)
		if (strlen(rows[i].name) == size && !memcmp(rows[i].name, name, size))
			break;
	return i;
}

static int unknown_field(const char *name, size_t size)
{
	const char *names[ROWS], *near;
	char word[64];
	size_t i;

	for (i = 0; i < ROWS; i++)
		names[i] = rows[i].name;
	snprintf(word, sizeof(word), "%.*s", (int)(size < 60 ? size : 60), name);
	near = perfev_nearest(word, names, ROWS);
	if (near)
		return usage_error("script", "-F: there is no field '%s'; did you mean '%s'?", word, near);
	return usage_error("script", "-F: there is no field '%s'; 'perfev script --help' lists them", word);
}

/* The kind of "sw:" before the fields, KIND_COUNT for none. */
static int take_kind(const char **text, enum script_kind *ret)
{
	const char *colon = strchr(*text, ':');
	size_t size = colon ? (size_t)(colon - *text) : 0;
	int kind;

	*ret = KIND_COUNT;
	if (!colon)
		return -1;
	for (kind = 0; kind < KIND_COUNT; kind++)
		if (strlen(kinds[kind].prefix) == size && !memcmp(kinds[kind].prefix, *text, size)) {
			*ret = (enum script_kind)kind;
			*text = colon + 1;
			return -1;
		}
	return usage_error("script",
			   "-F: '%.*s' is no kind of event; there are hw, sw, trace, hw-cache, raw, break, pmu and synth",
			   (int)(size < 60 ? size : 60), *text);
}

static void change(struct script_fields *fields, enum script_kind kind, enum script_field field, bool on)
{
	uint32_t bit = UINT32_C(1) << field;

	fields->shown[kind] = on ? fields->shown[kind] | bit : fields->shown[kind] & ~bit;
	fields->asked[kind] = on ? fields->asked[kind] | bit : fields->asked[kind] & ~bit;
	fields->user_set[kind] |= field != FIELD_FLAGS; /* as with perf, those are beside the others */
}

static int change_all(struct script_fields *fields, enum script_kind only, size_t row, bool on)
{
	enum script_field field = rows[row].field;
	int kind;

	if (only != KIND_COUNT) {
		if (on && !is_valid(only, field))
			return usage_error("script", "-F: %s events have no field '%s'", kinds[only].name,
					   rows[row].name);
		change(fields, only, field, on);
		return -1;
	}
	for (kind = 0; kind < KIND_COUNT; kind++)
		if (is_valid((enum script_kind)kind, field))
			change(fields, (enum script_kind)kind, field, on);
	return -1;
}

static void clear(struct script_fields *fields, enum script_kind only)
{
	int kind;

	for (kind = 0; kind < KIND_COUNT; kind++)
		if (only == KIND_COUNT || only == (enum script_kind)kind) {
			fields->shown[kind] = fields->asked[kind] = 0;
			fields->user_set[kind] = true;
		}
}

int script_fields_parse(struct script_fields *fields, const char *text)
{
	enum script_kind only;
	bool adds;
	int r = take_kind(&text, &only);

	if (r >= 0)
		return r;
	adds = text[0] == '+' || text[0] == '-';
	if (!adds)
		clear(fields, only);
	if (!text[0] && only == KIND_COUNT)
		return usage_error("script", "-F takes fields, as in -F comm,tid,time,ip,sym; none is given");
	while (*text && r < 0) {
		size_t size = strcspn(text, ","), sign = *text == '+' || *text == '-', row;

		if (sign != (size_t)adds)
			return usage_error("script", "-F: '%s': either all fields have a + or - before them, or none",
					   text);
		row = find_row(text + sign, size - sign);
		r = row == ROWS ? unknown_field(text + sign, size - sign)
				: change_all(fields, only, row, *text != '-');
		text += size + (text[size] == ',');
	}
	return r;
}

/* ---- what samples have ------------------------------------------------------------------------------------ */

/* Fields that say more of another one, which has to be there. */
static int check_pairs(const struct script_fields *fields, enum script_kind kind, const char *event)
{
	bool lacks_sym = fields->asked[kind] & BIT(SYMOFF) && !shows(fields, kind, FIELD_SYM);
	bool lacks_ip = fields->asked[kind] & BIT(SRCLINE) && !shows(fields, kind, FIELD_IP);

	if (!lacks_sym && !lacks_ip)
		return 0;
	fprintf(stderr, "perfev: cannot print %s of %s: it is printed behind %s, which is not printed; add %s to -F\n",
		lacks_sym ? "symoff" : "srcline", event, lacks_sym ? "sym" : "ip", lacks_sym ? "sym" : "ip");
	return EXIT_FAILED;
}

/* Those that perf refuses of samples without them even when the recording has traces. */
#define NEVER_MADE_UP (BIT(UREGS) | BIT(DATA_PAGE_SIZE) | BIT(CODE_PAGE_SIZE) | BIT(INS_LAT) | BIT(RETIRE_LAT))

int script_fields_check(struct script_fields *fields, const char *event, const struct perf_event_attr *attr)
{
	enum script_kind kind = script_kind(attr);
	size_t i;

	for (i = 0; i < ROWS; i++) {
		uint32_t bit = UINT32_C(1) << rows[i].field;

		if (!(fields->shown[kind] & bit) || !rows[i].needs || (attr->sample_type & rows[i].needs))
			continue;
		if (fields->with_traces && (fields->asked[kind] & bit & ~NEVER_MADE_UP))
			continue;
		fields->shown[kind] &= ~bit;
		if (!(fields->asked[kind] & bit))
			continue;
		fprintf(stderr, "perfev: cannot print %s of %s: its samples were recorded without it; leave it out of -F\n",
			rows[i].name, event);
		return EXIT_FAILED;
	}
	return check_pairs(fields, kind, event);
}
