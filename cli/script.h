/* SPDX-License-Identifier: MIT */
/* What the files of perfev script share. */
#ifndef CLI_SCRIPT_H
#define CLI_SCRIPT_H

#include "cli.h"

#include <string.h>

/* ---- pen.c: text, much of it ------------------------------------------------------------------------ */

#define PEN_BYTES 65536

struct pen {
	FILE *out;
	size_t used;
	bool failed; /* errno says why */
	char text[PEN_BYTES];
};

void pen_flush(struct pen *pen);
void pen_bytes(struct pen *pen, const char *text, size_t size);
void pen_text(struct pen *pen, const char *text);
void pen_print(struct pen *pen, const char *format, ...) PERFEV_PRINTF(2, 3);
void pen_spaces(struct pen *pen, int count);

/* Room for @n bytes, at most PEN_BYTES: where they go. Then pen_end() says where they end. */
static inline char *pen_room(struct pen *pen, size_t n)
{
	if (sizeof(pen->text) - pen->used < n)
		pen_flush(pen);
	return pen->text + pen->used;
}

static inline void pen_end(struct pen *pen, const char *end)
{
	pen->used = (size_t)(end - pen->text);
}

static inline void pen_char(struct pen *pen, char c)
{
	*pen_room(pen, 1) = c;
	pen->used++;
}

/* Numbers at @to, where there is room for 96 bytes, with spaces before them to @width, at most 48. Return their end. */
char *put_hex(char *to, uint64_t number, int width);
char *put_number(char *to, uint64_t number, int width);
/* At least @digits of a number, with zeros before it. */
char *put_zeros(char *to, uint64_t number, int digits);

static inline void pen_hex(struct pen *pen, uint64_t number, int width)
{
	pen_end(pen, put_hex(pen_room(pen, 96), number, width));
}

static inline void pen_number(struct pen *pen, uint64_t number, int width)
{
	pen_end(pen, put_number(pen_room(pen, 96), number, width));
}

static inline void pen_zeros(struct pen *pen, uint64_t number, int digits)
{
	pen_end(pen, put_zeros(pen_room(pen, 96), number, digits));
}

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
	KIND_COUNT
};

struct script_fields {
	uint32_t shown[KIND_COUNT]; /* bits 1 << enum script_field */
	uint32_t asked[KIND_COUNT]; /* of them by -F */
	bool user_set[KIND_COUNT];
};

static inline bool shows(const struct script_fields *fields, enum script_kind kind, enum script_field field)
{
	return fields->shown[kind] >> field & 1;
}

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

/* Of a frame: "main" or "[unknown]", and "(/bin/ls)". */
struct script_frame {
	struct script_name symbol, module; /* text NULL: not looked at yet */
};

struct script {
	struct replay replay;
	struct script_fields fields;
	struct pen *pen;
	struct script_event *events;
	size_t event_count;
	int name_width; /* of the longest name of an event */
	bool chains;	/* call chains are printed */
	uint32_t max_stack;
	const char *arch; /* of the recording, or NULL */
	bool ns;	  /* times with all digits */
	struct script_frame *frames; /* by frame key */
	size_t frame_count;
	const char *comm; /* the one that was printed last, */
	char comm_text[64]; /* as it is printed with or without spaces before it, */
	int comm_size, comm_width;
};

/* A sample, as it is printed. */
struct script_sample {
	const struct perfev_sample *sample;
	struct script_event *event;
	const char *comm;
	uint64_t period;
	uint32_t cpumode;
	int32_t pid, tid; /* -1: not known */
};

/* Makes it. Texts are empty without memory. */
const struct script_frame *script_new_frame(struct script *script, const struct perfev_frame *frame);

static inline const struct script_frame *script_frame(struct script *script, const struct perfev_frame *frame)
{
	if (frame->key < script->frame_count && script->frames[frame->key].module.text)
		return &script->frames[frame->key];
	return script_new_frame(script, frame);
}

/* The text of a tracepoint's sample; its length. */
size_t script_trace(struct script *script, struct script_event *event, struct perfev_bytes raw, char *to, size_t size);

/* script_text.c, script_json.c: one sample. Return 0, or < 0 with an error. */
int script_text(struct script *script, const struct script_sample *sample, struct perfev_error *err);
int script_json(struct script *script, const struct script_sample *sample, struct perfev_error *err);

#endif
