/* SPDX-License-Identifier: MIT */
/*
 * Records from text, as src/decode/text.c writes them. The fields are read in the order of the record, straight
 * into its bytes; what a layout says is there has to be there. Several blanks are as good as one.
 */
#include "fields.h"
#include "layout.h"
#include "notation.h"

#include "base/load.h"

#include <errno.h>

#define HEADER	   sizeof(struct perf_event_header)
#define RECORD_MAX 65528
#define SIMPLEPERF 32768 /* from here on a larger size stands in place of the misc bits */

struct reading {
	struct input in;
	unsigned char *to;
	size_t size, used; /* bytes; what has no room is counted */
	bool swap;
};

/* ---- bytes ---------------------------------------------------------------------------------------------------- */

static void put(struct reading *r, const void *bytes, size_t size)
{
	if (size && r->used <= r->size && size <= r->size - r->used)
		memcpy(r->to + r->used, bytes, size);
	r->used += size;
}

static void put_zeros(struct reading *r, size_t size)
{
	static const unsigned char zeros[8];

	for (; size > 8; size -= 8)
		put(r, zeros, 8);
	put(r, zeros, size);
}

static void put_word(struct reading *r, uint64_t value, unsigned width)
{
	uint64_t wide = r->swap ? swap_u64(value) : value;
	uint32_t half = r->swap ? swap_u32((uint32_t)value) : (uint32_t)value;
	uint16_t quarter = r->swap ? swap_u16((uint16_t)value) : (uint16_t)value;

	if (width == 8)
		put(r, &wide, 8);
	else if (width == 4)
		put(r, &half, 4);
	else
		put(r, &quarter, 2);
}

/* A word that was written before, when there was room. */
static void set_word(struct reading *r, size_t at, uint64_t value, unsigned width)
{
	size_t used = r->used;

	r->used = at;
	put_word(r, value, width);
	r->used = used;
}

static void pad(struct reading *r)
{
	put_zeros(r, (8 - r->used % 8) % 8);
}

/* ---- values -------------------------------------------------------------------------------------------------- */

static void number(struct reading *r, struct scope *s, const char *name, unsigned width)
{
	put_word(r, in_field(&r->in, s, name, width), width);
}

/* Returns how many. */
static size_t bytes(struct reading *r)
{
	unsigned char byte;
	size_t n = 0;

	if (!in_bytes(&r->in))
		return 0;
	for (; in_byte(&r->in, &byte); n++)
		put(r, &byte, 1);
	return n;
}

/* Returns how many. */
static uint64_t words(struct reading *r)
{
	uint64_t n = 0;
	bool more;

	for (more = in_list(&r->in); more; more = in_next(&r->in), n++)
		put_word(r, in_number(&r->in, 8), 8);
	return n;
}

/* Words behind their number, which counts items of @each words. */
static void counted_words(struct reading *r, unsigned each)
{
	size_t at = r->used;
	uint64_t n;

	put_word(r, 0, 8);
	n = words(r);
	if (n % each)
		in_wrong(&r->in, "half a pair");
	set_word(r, at, n / each, 8);
}

static void quoted(struct reading *r)
{
	unsigned char c[4];
	size_t n;

	if (!in_string(&r->in))
		return;
	while ((n = in_char(&r->in, c)) > 0) {
		if (!c[0])
			in_wrong(&r->in, "no text has a zero byte");
		put(r, c, n);
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
		put_word(r, count, 8);
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
	size_t first = r->used;
	struct scope s;

	in_open(&r->in, &s);
	put_word(r, 0, 8);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		number(r, &s, "enabled", 8);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		number(r, &s, "running", 8);
	if (in_find(&r->in, &s, "counts"))
		set_word(r, first, members(r, format), 8);
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
	bool big = r->swap ? !PERFEV_BIG_ENDIAN : PERFEV_BIG_ENDIAN;
	uint64_t word = 0;
	struct scope s;
	size_t i;

	in_open(&r->in, &s);
	number(r, &s, "from", 8);
	number(r, &s, "to", 8);
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		word |= part(r, &s, parts[i].name, parts[i].width)
			<< (big ? 64 - parts[i].shift - parts[i].width : parts[i].shift);
	put_word(r, word, 8);
	in_close(&r->in, &s);
}

/* Returns whether it was known. */
static bool hw_index(struct reading *r, struct scope *s)
{
	bool known = in_maybe(&r->in, s, "hw_idx");

	put_word(r, known ? in_number(&r->in, 8) : UINT64_MAX, 8);
	return known;
}

static void branches(struct reading *r, uint64_t kind)
{
	bool more, index = kind & PERF_SAMPLE_BRANCH_HW_INDEX, known;
	size_t count_at = r->used;
	struct scope s;
	uint64_t n = 0;

	in_open(&r->in, &s);
	put_word(r, 0, 8);
	known = index && hw_index(r, &s);
	more = in_find(&r->in, &s, "entries") && in_list(&r->in);
	for (; more; more = in_next(&r->in), n++)
		branch(r);
	set_word(r, count_at, n, 8);
	if (index && !known && !n)
		r->used -= 8; /* of no branches the kernel leaves it out */
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
	put_word(r, abi, 8);
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
	put_word(r, size, 8);
	if (size > RECORD_MAX)
		in_wrong(&r->in, "the stack is larger than a record");
	if (in_find(&r->in, &s, "data"))
		n = bytes(r);
	if (n > size)
		in_wrong(&r->in, "the stack has more bytes than its size");
	if (size && !r->in.failed) {
		put_zeros(r, (size_t)size - n);
		put_word(r, n, 8);
	}
	in_close(&r->in, &s);
}

static void raw(struct reading *r)
{
	size_t at = r->used, n;

	put_word(r, 0, 4);
	n = bytes(r);
	put_zeros(r, (8 - (n + 4) % 8) % 8);
	set_word(r, at, r->used - at - 4, 4);
}

static void aux(struct reading *r)
{
	size_t at = r->used;

	put_word(r, 0, 8);
	set_word(r, at, bytes(r), 8);
	pad(r);
}

static void task(struct reading *r, struct scope *s)
{
	if (in_find(&r->in, s, "tid"))
		put_word(r, in_number(&r->in, 4), 4);
	in_expect(&r->in, "/");
	put_word(r, in_number(&r->in, 4), 4);
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
		put_zeros(r, kind == FIELD_CPU ? 4 : 0);
	}
}

static void step(struct reading *r, struct scope *s, const struct perfev_layout *layout, const struct layout_step *step)
{
	const char *name = sample_fields[step->row].name;

	if (step->kind <= FIELD_CPU)
		short_field(r, s, name, step->kind);
	else if (in_find(&r->in, s, name))
		long_step(r, &layout->attr, step);
}

static void build_id(struct reading *r)
{
	size_t at = r->used, n;

	put_zeros(r, 4);
	n = bytes(r);
	if (n < 1 || n > 20)
		in_wrong(&r->in, "a build-id has 1 to 20 bytes");
	else
		put_zeros(r, 20 - n);
	if (!r->in.failed && at < r->size)
		r->to[at] = (unsigned char)n;
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
	size_t at = r->used;

	put_zeros(r, 4);
	if (in_find(&r->in, s, "old"))
		set_word(r, at, bytes(r), 2);
	if (in_find(&r->in, s, "new"))
		set_word(r, at + 2, bytes(r), 2);
	pad(r);
}

static void long_field(struct reading *r, unsigned kind, const struct perfev_layout *layout)
{
	if (kind == RECORD_TEXT) {
		quoted(r);
		put_zeros(r, 1);
		pad(r);
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

	if (f->kind == RECORD_INODE)
		inode(r, s);
	else if (f->kind == RECORD_POKE)
		poke(r, s);
	else if (f->kind <= RECORD_U64)
		number(r, s, f->name, widths[f->kind]);
	else if (f->kind != RECORD_NO_INODE && in_find(&r->in, s, f->name))
		long_field(r, f->kind, layout);
}

static void trailer(struct reading *r, struct scope *s, const struct perfev_layout *layout)
{
	static const struct {
		uint64_t bit;
		const char *name;
		unsigned kind;
	} rows[] = {{PERF_SAMPLE_TID, "tid", FIELD_PAIR},	     {PERF_SAMPLE_TIME, "time", FIELD_U64},
		    {PERF_SAMPLE_ID, "id", FIELD_U64},		     {PERF_SAMPLE_STREAM_ID, "stream_id", FIELD_U64},
		    {PERF_SAMPLE_CPU, "cpu", FIELD_CPU},	     {PERF_SAMPLE_IDENTIFIER, "identifier", FIELD_U64}};
	size_t i;

	in_skip_blanks(&r->in);
	in_expect(&r->in, "@");
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (layout->id_present & rows[i].bit)
			short_field(r, s, rows[i].name, rows[i].kind);
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

static int read_record(struct reading *r, const struct perfev_layout *layout)
{
	struct scope s = {.inner = false};
	uint32_t t = type(r);
	uint64_t misc = in_field(&r->in, &s, "misc", 2);

	if (misc && t >= SIMPLEPERF)
		in_wrong(&r->in, "records of this type have no misc bits");
	put_zeros(r, HEADER);
	body(r, &s, t, layout);
	in_skip_blanks(&r->in);
	if (!r->in.failed && r->in.text[r->in.at] && r->in.text[r->in.at] != '\n')
		in_wrong(&r->in, "something is left over");
	if (!r->in.failed && r->used > RECORD_MAX)
		in_wrong(&r->in, "more than a record can have");
	if (r->in.failed)
		return -EINVAL;
	set_word(r, 0, t, 4);
	set_word(r, 4, misc, 2);
	set_word(r, 6, r->used, 2);
	return (int)r->used;
}

int perfev_record_parse(void *to, size_t size, const char *text, const struct perfev_layout *layout,
			unsigned flags, struct perfev_error *err)
{
	struct reading r = {.in = {.text = text, .what = "a record", .err = err},
			    .to = to,
			    .size = size,
			    .swap = flags & PERFEV_RECORD_SWAPPED};

	return read_record(&r, layout);
}
