/* SPDX-License-Identifier: MIT */
/* What the files of perfev script share. */
#ifndef CLI_SCRIPT_H
#define CLI_SCRIPT_H

#include "pen.h"

#include <string.h>

/* ---- script_fields.c: which fields are printed of which events ------------------------------------------ */

enum script_field {
	FIELD_COMM,
	FIELD_PID,
	FIELD_TID,
	FIELD_TIME,
	FIELD_CPU,
	FIELD_MISC,
	FIELD_PERIOD,
	FIELD_EVENT,
	FIELD_TRACE,
	FIELD_ADDR,
	FIELD_DATA_SRC,
	FIELD_WEIGHT,
	FIELD_IP,
	FIELD_SYM,
	FIELD_SYMOFF,
	FIELD_DSO,
	FIELD_IREGS,
	FIELD_UREGS,
	FIELD_BRSTACK,
	FIELD_BRSTACKSYM,
	FIELD_BRSTACKOFF,
	FIELD_BPF_OUTPUT,
	FIELD_PHYS_ADDR,
	FIELD_DATA_PAGE_SIZE,
	FIELD_CODE_PAGE_SIZE,
	FIELD_INS_LAT,
	FIELD_RETIRE_LAT,
	FIELD_SRCLINE,
	FIELD_FLAGS,
	FIELD_SYNTH,
	FIELD_COUNT
};

/* Kinds of events, as far as they differ in what is printed. */
enum script_kind {
	KIND_HARDWARE,
	KIND_SOFTWARE,
	KIND_TRACEPOINT,
	KIND_CACHE,
	KIND_RAW,
	KIND_BREAKPOINT,
	KIND_OTHER, /* of a PMU with a number of its own */
	KIND_SYNTH, /* perf's own, made up out of traces */
	KIND_COUNT
};

#define PLACE_FRAMES 64 /* of a place with all that was inlined there */

struct script_fields {
	uint32_t shown[KIND_COUNT]; /* bits 1 << enum script_field */
	uint32_t asked[KIND_COUNT]; /* of them by -F */
	bool user_set[KIND_COUNT];
};

static inline bool shows(const struct script_fields *fields, enum script_kind kind, enum script_field field)
{
	return fields->shown[kind] >> field & 1;
}

#define SCRIPT_TYPE_SYNTH (INT32_MAX + UINT32_C(1)) /* of events that perf makes up */

enum script_kind script_kind(const struct perf_event_attr *attr);
void script_fields_default(struct script_fields *fields);
/* Of -F. Returns -1 to go on, or an exit code. */
int script_fields_parse(struct script_fields *fields, const char *text);
/* Takes out what the samples of the first event of a kind do not have. Returns 0, or an exit code when that was
 * asked for. */
int script_fields_check(struct script_fields *fields, const char *event, const struct perf_event_attr *attr);

/* ---- cmd_script.c --------------------------------------------------------------------------------------- */

/* Bytes behind each of the texts below, and room that put_name() wants behind them: they are copied in steps. */
#define NAME_STEP 32

/* What is printed again and again. */
struct script_name {
	const char *text;
	size_t size;
};

static inline char *put_name(char *to, const struct script_name *name)
{
	size_t i = 0;

	do
		memcpy(to + i, name->text + i, NAME_STEP);
	while ((i += NAME_STEP) < name->size);
	return to + name->size;
}

/* Without the space that it begins with. */
static inline char *put_bare_name(char *to, const struct script_name *name)
{
	const struct script_name bare = {name->text + 1, name->size - 1};

	return name->size ? put_name(to, &bare) : to;
}

struct script_event {
	const char *name;
	struct script_name text; /* the name as it is printed, when the width is known; text NULL: not yet */
	const struct perf_event_attr *attr;
	enum script_kind kind;
	bool has_callchain;
	bool is_branches; /* every branch: perf's way to use BTS */
	const struct perfev_tracepoint *tracepoint;
	struct perfev_printer *printer; /* NULL: none yet */
	char why[256];			/* ... and why there is none; "" */
};

/* Of a frame: " main+0x" or " [unknown]", and " (/bin/ls)". */
struct script_frame {
	struct script_name symbol, module; /* text NULL: not looked at yet */
	size_t mark;			   /* bytes of "+0x" */
};

struct script {
	struct replay replay;
	struct script_fields fields;
	struct pen *pen;
	struct script_event *events;
	size_t event_count;
	int name_width; /* of the longest name of an event */
	int memory_width; /* of the longest memory access that was printed */
	bool chains;	/* call chains are printed */
	uint32_t max_stack;
	bool unwound; /* the user part of the sample's call chain was made here */
	const char *arch; /* of the recording, or NULL */
	bool ns;	  /* times with all digits */
	uint64_t printed;
	struct script_frame *frames; /* by frame key */
	size_t frame_count;
	/* what was printed last, which often comes again: the name and number of a thread, the second, and the period */
	struct {
		const char *comm;
		int32_t pid, tid;
		uint32_t shown;
		int width;
		size_t size;
		char text[128];
	} thread;
	struct {
		uint64_t second;
		size_t size; /* 0: none yet */
		char text[24];
	} time;
	struct {
		uint64_t number;
		size_t size; /* 0: none yet */
		char text[32];
	} period;
};

/* A sample, as it is printed. */
struct script_sample {
	const struct perfev_sample *sample;
	struct script_event *event;
	const char *comm;
	uint64_t period;
	uint32_t cpumode;
	int32_t pid, tid; /* -1: not known */
	const char *flags, *synth; /* of what traces tell; else NULL */
};

/* cmd_script.c: its name in the column of names */
void script_name_event(struct script *script, struct script_event *event);

/* script_names.c: a text with something before and behind it, without what would steer a terminal */
void script_set_name(struct script_name *name, const char *before, const char *text, const char *behind);
/* Makes it. Texts are empty without memory. */
const struct script_frame *script_new_frame(struct script *script, const struct perfev_frame *frame);
void script_free_frames(struct script *script);

static inline const struct script_frame *script_frame(struct script *script, const struct perfev_frame *frame)
{
	if (frame->key < script->frame_count && script->frames[frame->key].module.text)
		return &script->frames[frame->key];
	return script_new_frame(script, frame);
}

/* The text of a tracepoint's sample; its length. */
size_t script_trace(struct script *script, struct script_event *event, struct perfev_bytes raw, char *to, size_t size);

/* script_memory.c: where a memory access found its data */
void script_memory(struct script *script, uint64_t word);

/* script_text.c, script_json.c: one sample. Return 0, or < 0 with an error. */
int script_text(struct script *script, const struct script_sample *sample, struct perfev_error *err);
int script_json(struct script *script, const struct script_sample *sample, struct perfev_error *err);

/* Whose the addresses behind a mark of a call chain are (PERF_RECORD_MISC_...); 0: perf does not know it. */
uint32_t script_mode_of(uint64_t context);
/* How many addresses of a chain are printed: none, as perf does, where it has a mark that is not known. */
uint32_t script_known_marks(const struct perfev_u64s *chain);

/* ---- script_itrace.c: what traces of instructions tell, among the samples ----------------------------------- */

struct script_itrace;

/* *ret NULL: nothing is to be followed. @script, @opts: have to stay. -ECANCELED: it was said why not. */
int script_itrace_open(struct script_itrace **ret, struct script *script, const struct itrace_opts *opts, struct perfev_error *err);
/* A record comes next: prints what was before it. */
int script_itrace_record(struct script_itrace *itrace, const struct perfev_record *record, const struct perfev_layout *layout,
			 struct perfev_error *err);
void script_itrace_printed(struct script_itrace *itrace, uint64_t ip, int32_t pid);
int script_itrace_end(struct script_itrace *itrace, struct perfev_error *err);
const char *const *script_itrace_names(const struct script_itrace *itrace); /* of events; NULL ends them */
void script_itrace_say(const struct script_itrace *itrace); /* of gaps; NULL: nothing */
void script_itrace_free(struct script_itrace *itrace);

/* ---- script_stat.c: what perf stat record wrote ----------------------------------------------------------- */

struct script_stat;

/* A record of a tool; those of counts print. @state: NULL at first. Returns 0; -ENOMEM; -ECANCELED when
 * there are too many, which is said. */
int script_stat(struct script_stat **state, struct pen *pen, struct perfev_reader *reader, const struct perfev_record *record);
bool script_stat_printed(const struct script_stat *state);
void script_stat_free(struct script_stat *state);

#endif
