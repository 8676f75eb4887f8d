/* SPDX-License-Identifier: MIT */
/*
 * Records from text and from JSON, as src/decode/text.c writes them. The fields are asked for in the order of the
 * record, and read straight into its bytes; what a layout says is there has to be there. Several blanks are as good as
 * one.
 */
#include "fields.h"
#include "layout.h"
#include "json.h"
#include "pen.h"

#include <perfev/json.h>

#include <errno.h>

#define HEADER	   sizeof(struct perf_event_header)
#define SIMPLEPERF 32768 /* from here on a larger size stands in place of the misc bits */

struct reading {
	struct input in;
	struct pen pen;
};

/* ---- values -------------------------------------------------------------------------------------------------- */

static void number(struct reading *r, struct scope *s, const char *name, unsigned width)
{
	pen_word(&r->pen, in_field(&r->in, s, name, width), width);
}

/* Returns how many. */
static size_t bytes(struct reading *r)
{
	unsigned char byte;
	size_t n = 0;

	if (!in_bytes(&r->in))
		return 0;
	for (; in_byte(&r->in, &byte); n++)
		pen_put(&r->pen, &byte, 1);
	return n;
}

/* Returns how many. */
static uint64_t words(struct reading *r)
{
	uint64_t n = 0;
	bool more;

	for (more = in_list(&r->in); more; more = in_next(&r->in), n++)
		pen_word(&r->pen, in_number(&r->in, 8), 8);
	return n;
}

/* Words behind their number, which counts items of @each words. */
static void counted_words(struct reading *r, unsigned each)
{
	size_t at = r->pen.at;
	uint64_t n;

	pen_word(&r->pen, 0, 8);
	n = words(r);
	if (n % each)
		in_wrong(&r->in, "half a pair");
	pen_set(&r->pen, at, n / each, 8);
}

/* JSON of what is no UTF-8: {"hex":"6162ff"} */
static void hex_text(struct reading *r)
{
	unsigned char c;
	struct scope s;

	in_open(&r->in, &s);
	if (in_find(&r->in, &s, "hex") && in_bytes(&r->in))
		while (in_byte(&r->in, &c)) {
			if (!c)
				in_wrong(&r->in, "no text has a zero byte");
			pen_put(&r->pen, &c, 1);
		}
	in_close(&r->in, &s);
}

static void quoted(struct reading *r)
{
	unsigned char c[4];
	size_t n;

	if (r->in.json && json_begins(&r->in, '{')) {
		hex_text(r);
		return;
	}
	if (!in_string(&r->in))
		return;
	while ((n = in_char(&r->in, c)) > 0) {
		if (!c[0])
			in_wrong(&r->in, "no text has a zero byte");
		pen_put(&r->pen, c, n);
	}
}

/* ---- parts ---------------------------------------------------------------------------------------------------------- */

/* What stands behind the count is written; the count is returned. */
static uint64_t member(struct reading *r, uint64_t format, bool with_count)
{
	struct scope s;
	uint64_t count;

	in_open(&r->in, &s);
	count = in_field(&r->in, &s, "count", 8);
	if (with_count)
		pen_word(&r->pen, count, 8);
	if (format & PERF_FORMAT_ID)
		number(r, &s, "id", 8);
	if (format & PERF_FORMAT_LOST)
		number(r, &s, "lost", 8);
	in_close(&r->in, &s);
	return count;
}

/* Returns how many members there are, or the count of the only one. */
static uint64_t members(struct reading *r, uint64_t format)
{
	bool group = format & PERF_FORMAT_GROUP, more = in_list(&r->in);
	uint64_t n = 0, count = 0;

	for (; more; more = in_next(&r->in), n++)
		count = member(r, format, group);
	if (!group && n != 1)
		in_wrong(&r->in, "one count has to be there");
	return group ? n : count;
}

/* The first word is the number of members, or the count of the only one. */
static void values(struct reading *r, uint64_t format)
{
	size_t first = r->pen.at;
	struct scope s;

	in_open(&r->in, &s);
	pen_word(&r->pen, 0, 8);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		number(r, &s, "enabled", 8);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		number(r, &s, "running", 8);
	if (in_find(&r->in, &s, "counts"))
		pen_set(&r->pen, first, members(r, format), 8);
	in_close(&r->in, &s);
}

static uint64_t part(struct reading *r, struct scope *s, const char *name, unsigned bits)
{
	uint64_t value = in_field(&r->in, s, name, 8);

	if (value >> bits)
		in_wrong(&r->in, "the number is too large");
	return value;
}

static void branch(struct reading *r)
{
	static const struct {
		const char *name;
		unsigned shift, width;
	} parts[] = {{"mispredicted", 0, 1}, {"predicted", 1, 1}, {"in_tx", 2, 1},	  {"abort", 3, 1}, {"cycles", 4, 16},
		     {"type", 20, 4},	     {"spec", 24, 2},	  {"new_type", 26, 4}, {"priv", 30, 3}};
	bool big = r->pen.swap ? !PERFEV_BIG_ENDIAN : PERFEV_BIG_ENDIAN;
	uint64_t word = 0;
	struct scope s;
	size_t i;

	in_open(&r->in, &s);
	number(r, &s, "from", 8);
	number(r, &s, "to", 8);
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		word |= part(r, &s, parts[i].name, parts[i].width)
			<< (big ? 64 - parts[i].shift - parts[i].width : parts[i].shift);
	pen_word(&r->pen, word, 8);
	in_close(&r->in, &s);
}

/* Returns whether it was known. */
static bool hw_index(struct reading *r, struct scope *s)
{
	bool known = in_maybe(&r->in, s, "hw_idx");

	pen_word(&r->pen, known ? in_number(&r->in, 8) : UINT64_MAX, 8);
	return known;
}

static void branches(struct reading *r, uint64_t kind)
{
	bool more, index = kind & PERF_SAMPLE_BRANCH_HW_INDEX, known;
	size_t count_at = r->pen.at;
	struct scope s;
	uint64_t n = 0;

	in_open(&r->in, &s);
	pen_word(&r->pen, 0, 8);
	known = index && hw_index(r, &s);
	more = in_find(&r->in, &s, "entries") && in_list(&r->in);
	for (; more; more = in_next(&r->in), n++)
		branch(r);
	pen_set(&r->pen, count_at, n, 8);
	if (index && !known && !n)
		r->pen.at -= 8; /* of no branches the kernel leaves it out */
	if (kind & PERF_SAMPLE_BRANCH_COUNTERS && in_maybe(&r->in, &s, "counters") && words(r) != n)
		in_wrong(&r->in, "a counter for each branch has to be there");
	in_close(&r->in, &s);
}

/* A value for each bit of the mask that is set, unless there is no abi. */
static void registers(struct reading *r, uint64_t mask)
{
	struct scope s;
	uint64_t abi, n;

	in_open(&r->in, &s);
	abi = in_field(&r->in, &s, "abi", 8);
	pen_word(&r->pen, abi, 8);
	if (in_find(&r->in, &s, "values")) {
		for (n = words(r); abi && mask; mask &= mask - 1)
			n--;
		if (n)
			in_wrong(&r->in, "the layout has another number of registers");
	}
	in_close(&r->in, &s);
}

static void stack(struct reading *r)
{
	struct scope s;
	uint64_t size;
	size_t n = 0;

	in_open(&r->in, &s);
	size = in_field(&r->in, &s, "size", 8);
	pen_word(&r->pen, size, 8);
	if (size > RECORD_MAX)
		in_wrong(&r->in, "the stack is larger than a record");
	if (in_find(&r->in, &s, "data"))
		n = bytes(r);
	if (n > size)
		in_wrong(&r->in, "the stack has more bytes than its size");
	if (size && !r->in.failed) {
		pen_zeros(&r->pen, (size_t)size - n);
		pen_word(&r->pen, n, 8);
	}
	in_close(&r->in, &s);
}

static void raw(struct reading *r)
{
	size_t at = r->pen.at, n;

	pen_word(&r->pen, 0, 4);
	n = bytes(r);
	pen_zeros(&r->pen, (8 - (n + 4) % 8) % 8);
	pen_set(&r->pen, at, r->pen.at - at - 4, 4);
}

static void aux(struct reading *r)
{
	size_t at = r->pen.at;

	pen_word(&r->pen, 0, 8);
	pen_set(&r->pen, at, bytes(r), 8);
	pen_pad(&r->pen);
}

static void task(struct reading *r, struct scope *s)
{
	if (r->in.json) {
		number(r, s, "pid", 4);
		number(r, s, "tid", 4);
		return;
	}
	if (in_find(&r->in, s, "tid"))
		pen_word(&r->pen, in_number(&r->in, 4), 4);
	in_expect(&r->in, "/");
	pen_word(&r->pen, in_number(&r->in, 4), 4);
}

/* ---- records -------------------------------------------------------------------------------------------------------- */

static void long_step(struct reading *r, const struct perf_event_attr *attr, const struct layout_step *step)
{
	switch (step->kind) {
	case FIELD_READ:
		values(r, attr->read_format);
		break;
	case FIELD_CHAIN:
		counted_words(r, 1);
		break;
	case FIELD_RAW:
		raw(r);
		break;
	case FIELD_BRANCHES:
		branches(r, attr->branch_sample_type);
		break;
	case FIELD_REGS_USER:
		registers(r, attr->sample_regs_user);
		break;
	case FIELD_REGS_INTR:
		registers(r, attr->sample_regs_intr);
		break;
	case FIELD_STACK:
		stack(r);
		break;
	default:
		aux(r);
		break;
	}
}

static void short_field(struct reading *r, struct scope *s, const char *name, unsigned kind)
{
	if (kind == FIELD_PAIR) {
		task(r, s);
	} else {
		number(r, s, name, kind == FIELD_CPU ? 4 : 8);
		pen_zeros(&r->pen, kind == FIELD_CPU ? 4 : 0);
	}
}

static void step(struct reading *r, struct scope *s, const struct perfev_layout *layout, const struct layout_step *step)
{
	const struct sample_field *row = &sample_fields[step->row];
	const char *name = r->in.json ? sample_json_name(row) : row->name;

	if (step->kind <= FIELD_CPU)
		short_field(r, s, name, step->kind);
	else if (in_find(&r->in, s, name))
		long_step(r, &layout->attr, step);
}

static void build_id(struct reading *r)
{
	size_t at = r->pen.at, n;

	pen_zeros(&r->pen, 4);
	n = bytes(r);
	if (n < 1 || n > 20)
		in_wrong(&r->in, "a build-id has 1 to 20 bytes");
	else
		pen_zeros(&r->pen, 20 - n);
	if (!r->in.failed && at < r->pen.size)
		r->pen.to[at] = (unsigned char)n;
}

static void inode(struct reading *r, struct scope *s)
{
	if (in_maybe(&r->in, s, "build_id")) {
		build_id(r);
		return;
	}
	number(r, s, "maj", 4);
	number(r, s, "min", 4);
	number(r, s, "ino", 8);
	number(r, s, "ino_generation", 8);
}

static void poke(struct reading *r, struct scope *s)
{
	size_t at = r->pen.at;

	pen_zeros(&r->pen, 4);
	if (in_find(&r->in, s, "old"))
		pen_set(&r->pen, at, bytes(r), 2);
	if (in_find(&r->in, s, "new"))
		pen_set(&r->pen, at + 2, bytes(r), 2);
	pen_pad(&r->pen);
}

static void long_field(struct reading *r, unsigned kind, const struct perfev_layout *layout)
{
	if (kind == RECORD_TEXT) {
		quoted(r);
		pen_zeros(&r->pen, 1);
		pen_pad(&r->pen);
	} else if (kind == RECORD_TAG) {
		if (bytes(r) != 8)
			in_wrong(&r->in, "a tag has 8 bytes");
	} else if (kind == RECORD_VALUES) {
		values(r, layout->attr.read_format);
	} else {
		counted_words(r, kind == RECORD_LINKS ? 2 : 1);
	}
}

static void field(struct reading *r, struct scope *s, const struct record_field *f, const struct perfev_layout *layout)
{
	static const unsigned widths[] = {[RECORD_U16] = 2, [RECORD_U32] = 4, [RECORD_U64] = 8};
	const char *name = r->in.json ? record_json_name(f) : f->name;

	if (f->kind == RECORD_INODE)
		inode(r, s);
	else if (f->kind == RECORD_POKE)
		poke(r, s);
	else if (f->kind <= RECORD_U64)
		number(r, s, name, widths[f->kind]);
	else if (f->kind != RECORD_NO_INODE && in_find(&r->in, s, name))
		long_field(r, f->kind, layout);
}

static void trailer_fields(struct reading *r, struct scope *s, const struct perfev_layout *layout)
{
	static const struct {
		uint64_t bit;
		const char *name;
		unsigned kind;
	} rows[] = {{PERF_SAMPLE_TID, "tid", FIELD_PAIR},	     {PERF_SAMPLE_TIME, "time", FIELD_U64},
		    {PERF_SAMPLE_ID, "id", FIELD_U64},		     {PERF_SAMPLE_STREAM_ID, "stream_id", FIELD_U64},
		    {PERF_SAMPLE_CPU, "cpu", FIELD_CPU},	     {PERF_SAMPLE_IDENTIFIER, "identifier", FIELD_U64}};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (layout->id_present & rows[i].bit)
			short_field(r, s, rows[i].name, rows[i].kind);
}

static void trailer(struct reading *r, struct scope *s, const struct perfev_layout *layout)
{
	struct scope inner;

	if (!r->in.json) {
		in_skip_blanks(&r->in);
		in_expect(&r->in, "@");
		trailer_fields(r, s, layout);
	} else if (in_find(&r->in, s, "sample_id")) {
		in_open(&r->in, &inner);
		trailer_fields(r, &inner, layout);
		in_close(&r->in, &inner);
	}
}

/* The type of this name, of @n characters; 0 when there is none. */
static uint32_t type_of(const char *text, size_t n)
{
	uint32_t t;

	for (t = 1; t < PERF_RECORD_MAX; t++) {
		const char *name = perfev_record_name(t);

		if (name && strlen(name) == n && !memcmp(name, text, n))
			return t;
	}
	return 0;
}

static uint32_t json_type(struct reading *r)
{
	uint32_t t;

	for (t = 1; t < PERF_RECORD_MAX; t++)
		if (json_is(&r->in, perfev_record_name(t)))
			return t;
	return (uint32_t)json_other(&r->in, 4, "no type of record");
}

/* The type by its name, or by its number. */
static uint32_t type(struct reading *r)
{
	const char *at;
	uint32_t t;
	size_t n;

	in_skip_blanks(&r->in);
	at = r->in.text + r->in.at;
	if (*at >= '0' && *at <= '9')
		return (uint32_t)in_number(&r->in, 4);
	n = strcspn(at, " \t");
	t = type_of(at, n);
	if (t)
		r->in.at += n;
	else
		in_wrong(&r->in, "no type of record");
	return t;
}

static void body(struct reading *r, struct scope *s, uint32_t t, const struct perfev_layout *layout)
{
	const struct record_field *rows;
	size_t count, i;

	if (t == 0 || t >= PERF_RECORD_MAX) {
		if (in_find(&r->in, s, "body"))
			bytes(r);
		return;
	}
	if ((t == PERF_RECORD_SAMPLE || t == PERF_RECORD_READ) && !layout) {
		in_wrong(&r->in, "without a layout this type cannot be read");
		return;
	}
	for (i = 0; t == PERF_RECORD_SAMPLE && i < layout->step_count; i++)
		step(r, s, layout, &layout->steps[i]);
	rows = record_fields(t, &count);
	for (i = 0; i < count; i++)
		field(r, s, &rows[i], layout);
	if (layout_has_trailer(layout, t))
		trailer(r, s, layout);
}

/* Goes to the type. */
static void begin(struct reading *r, struct scope *s)
{
	memset(s, 0, sizeof(*s));
	if (!r->in.json)
		return;
	json_check(&r->in);
	in_open(&r->in, s);
	in_find(&r->in, s, "type");
}

static void end(struct reading *r, struct scope *s)
{
	if (r->in.json) {
		in_close(&r->in, s);
	} else {
		in_skip_blanks(&r->in);
		if (!r->in.failed && r->in.text[r->in.at] && r->in.text[r->in.at] != '\n')
			in_wrong(&r->in, "something is left over");
	}
	if (!r->in.failed && r->pen.at > RECORD_MAX)
		in_wrong(&r->in, "more than a record can have");
}

static int read_record(struct reading *r, const struct perfev_layout *layout)
{
	struct scope s;
	uint64_t misc;
	uint32_t t;

	begin(r, &s);
	t = r->in.json ? json_type(r) : type(r);
	misc = in_field(&r->in, &s, "misc", 2);
	if (misc && t >= SIMPLEPERF)
		in_wrong(&r->in, "records of this type have no misc bits");
	pen_zeros(&r->pen, HEADER);
	body(r, &s, t, layout);
	end(r, &s);
	if (r->in.failed)
		return -EINVAL;
	pen_set(&r->pen, 0, t, 4);
	pen_set(&r->pen, 4, misc, 2);
	pen_set(&r->pen, 6, r->pen.at, 2);
	return (int)r->pen.at;
}

int perfev_record_parse(void *to, size_t size, const char *text, const struct perfev_layout *layout,
			unsigned flags, struct perfev_error *err)
{
	struct reading r = {.in = {.text = text, .what = "a record", .err = err},
			    .pen = {to, size, 0, flags & PERFEV_RECORD_SWAPPED}};

	return read_record(&r, layout);
}

int perfev_record_from_json(void *to, size_t size, const char *json, const struct perfev_layout *layout,
			    unsigned flags, struct perfev_error *err)
{
	struct reading r = {.in = {.text = json, .json = true, .what = "a record", .err = err},
			    .pen = {to, size, 0, flags & PERFEV_RECORD_SWAPPED}};

	return read_record(&r, layout);
}
