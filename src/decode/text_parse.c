/* SPDX-License-Identifier: MIT */
/*
 * Records from text, as src/decode/text.c writes them. The fields are read in the order of the record, straight
 * into its bytes; what a layout says is there has to be there. Several blanks are as good as one.
 */
#include "fields.h"
#include "layout.h"
#include "text.h"

#include "base/error.h"
#include "base/load.h"

#include <errno.h>
#include <stdio.h>

#define HEADER	   sizeof(struct perf_event_header)
#define RECORD_MAX 65528
#define SIMPLEPERF 32768 /* from here on a larger size stands in place of the misc bits */

struct reading {
	const char *text;
	size_t at; /* in the text */
	unsigned char *to;
	size_t size, used; /* bytes; what has no room is counted */
	bool swap;
	bool failed; /* the first mistake stays */
	struct perfev_error *err;
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

/* ---- text ------------------------------------------------------------------------------------------------------- */

static void wrong(struct reading *r, const char *what)
{
	if (!r->failed)
		error_set(r->err, -EINVAL, PERFEV_WHY_SYNTAX, r->at + 1,
			  "cannot read a record from text: %s at column %zu of '%.120s'", what, r->at + 1, r->text);
	r->failed = true;
}

static void skip_blanks(struct reading *r)
{
	while (r->text[r->at] == ' ' || r->text[r->at] == '\t')
		r->at++;
}

/* A text that has to stand here. */
static bool expect(struct reading *r, const char *word)
{
	char what[64];

	if (r->failed)
		return false;
	if (!strncmp(r->text + r->at, word, strlen(word))) {
		r->at += strlen(word);
		return true;
	}
	snprintf(what, sizeof(what), "'%.40s' is missing", word);
	wrong(r, what);
	return false;
}

static bool comes(struct reading *r, const char *word)
{
	if (r->failed || strncmp(r->text + r->at, word, strlen(word)))
		return false;
	r->at += strlen(word);
	return true;
}

/* "NAME=" behind blanks. */
static bool expect_name(struct reading *r, const char *name)
{
	skip_blanks(r);
	return expect(r, name) && expect(r, "=");
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

static uint64_t number(struct reading *r, unsigned width)
{
	int base = comes(r, "0x") ? 16 : 10;
	uint64_t value = 0, most = width == 8 ? UINT64_MAX : (UINT64_C(1) << (8 * width)) - 1;
	size_t from = r->at;

	if (r->failed)
		return 0;
	for (; digit(r->text[r->at]) < base; r->at++) {
		uint64_t d = (uint64_t)digit(r->text[r->at]);

		if (value > (most - d) / (uint64_t)base) {
			wrong(r, "the number is too large");
			return 0;
		}
		value = value * (uint64_t)base + d;
	}
	if (r->at == from)
		wrong(r, "a number is missing");
	return value;
}

static uint64_t named_number(struct reading *r, const char *name, unsigned width)
{
	return expect_name(r, name) ? number(r, width) : 0;
}

/* hex:00ff: the bytes; returns how many. */
static size_t bytes(struct reading *r)
{
	size_t n = 0;

	if (!expect(r, "hex:"))
		return 0;
	for (; digit(r->text[r->at]) < 16; r->at += 2, n++) {
		unsigned char byte;

		if (digit(r->text[r->at + 1]) >= 16) {
			wrong(r, "half a byte");
			return n;
		}
		byte = (unsigned char)(digit(r->text[r->at]) << 4 | digit(r->text[r->at + 1]));
		put(r, &byte, 1);
	}
	return n;
}

/* [0x1,0x2]: the words; returns how many. */
static uint64_t words(struct reading *r)
{
	uint64_t n = 0;

	if (!expect(r, "[") || comes(r, "]"))
		return 0;
	do {
		put_word(r, number(r, 8), 8);
		n++;
	} while (comes(r, ","));
	expect(r, "]");
	return n;
}

static void quoted(struct reading *r)
{
	if (!expect(r, "\""))
		return;
	for (; r->text[r->at] != '"'; r->at++) {
		unsigned char c = (unsigned char)r->text[r->at];

		if (!c) {
			wrong(r, "the text has no end");
			return;
		}
		if (c == '\\') {
			c = (unsigned char)r->text[++r->at];
			if (c == 'x' && digit(r->text[r->at + 1]) < 16 && digit(r->text[r->at + 2]) < 16) {
				c = (unsigned char)(digit(r->text[r->at + 1]) << 4 | digit(r->text[r->at + 2]));
				r->at += 2;
			} else if (c != '"' && c != '\\') {
				wrong(r, "no such escape");
				return;
			}
		}
		put(r, &c, 1);
	}
	r->at++;
}

/* ---- parts ---------------------------------------------------------------------------------------------------------- */

/* {count=1,id=2,lost=3}: what stands behind the count is written; the count is returned. */
static uint64_t member(struct reading *r, uint64_t format, bool with_count)
{
	uint64_t count;

	expect(r, "{count=");
	count = number(r, 8);
	if (with_count)
		put_word(r, count, 8);
	if (format & PERF_FORMAT_ID && expect(r, ",id="))
		put_word(r, number(r, 8), 8);
	if (format & PERF_FORMAT_LOST && expect(r, ",lost="))
		put_word(r, number(r, 8), 8);
	expect(r, "}");
	return count;
}

static void time_of(struct reading *r, const char *name)
{
	expect(r, name);
	put_word(r, number(r, 8), 8);
	expect(r, ",");
}

/* The first word is the number of members, or the count of the only one. */
static void values(struct reading *r, uint64_t format)
{
	size_t first = r->used;
	uint64_t n = 0;

	expect(r, "{");
	put_word(r, 0, 8);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		time_of(r, "enabled=");
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		time_of(r, "running=");
	expect(r, "counts=[");
	if (!(format & PERF_FORMAT_GROUP)) {
		n = member(r, format, false);
	} else if (!r->failed && r->text[r->at] == '{') {
		do {
			member(r, format, true);
			n++;
		} while (comes(r, ","));
	}
	set_word(r, first, n, 8);
	expect(r, "]}");
}

static unsigned part(struct reading *r, const char *name, unsigned bits)
{
	uint64_t value = expect(r, name) ? number(r, 8) : 0;

	if (value >> bits)
		wrong(r, "the number is too large");
	return (unsigned)value;
}

static void branch(struct reading *r)
{
	static const struct {
		const char *name;
		unsigned shift, width;
	} parts[] = {{",mispredicted=", 0, 1}, {",predicted=", 1, 1}, {",in_tx=", 2, 1},   {",abort=", 3, 1}, {",cycles=", 4, 16},
		     {",type=", 20, 4},	       {",spec=", 24, 2},     {",new_type=", 26, 4}, {",priv=", 30, 3}};
	bool big = r->swap ? !PERFEV_BIG_ENDIAN : PERFEV_BIG_ENDIAN;
	uint64_t word = 0;
	size_t i;

	expect(r, "{from=");
	put_word(r, number(r, 8), 8);
	expect(r, ",to=");
	put_word(r, number(r, 8), 8);
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		word |= (uint64_t)part(r, parts[i].name, parts[i].width)
			<< (big ? 64 - parts[i].shift - parts[i].width : parts[i].shift);
	put_word(r, word, 8);
	expect(r, "}");
}

static void branches(struct reading *r, uint64_t kind)
{
	size_t count_at = r->used, from = 0;
	uint64_t n = 0, known = 0;

	expect(r, "{");
	put_word(r, 0, 8);
	if (kind & PERF_SAMPLE_BRANCH_HW_INDEX) {
		known = comes(r, "hw_idx=");
		from = r->used;
		put_word(r, known ? number(r, 8) : UINT64_MAX, 8);
		if (known)
			expect(r, ",");
	}
	expect(r, "entries=[");
	if (!r->failed && r->text[r->at] == '{') {
		do {
			branch(r);
			n++;
		} while (comes(r, ","));
	}
	expect(r, "]");
	set_word(r, count_at, n, 8);
	if (from && !known && !n)
		r->used -= 8; /* of no branches the kernel leaves it out */
	if (kind & PERF_SAMPLE_BRANCH_COUNTERS && comes(r, ",counters="))
		words(r);
	expect(r, "}");
}

static void registers(struct reading *r)
{
	expect(r, "{abi=");
	put_word(r, number(r, 8), 8);
	expect(r, ",values=");
	words(r);
	expect(r, "}");
}

static void stack(struct reading *r)
{
	uint64_t size;
	size_t n;

	expect(r, "{size=");
	size = number(r, 8);
	put_word(r, size, 8);
	if (size > RECORD_MAX)
		wrong(r, "the stack is larger than a record");
	expect(r, ",data=");
	n = bytes(r);
	if (n > size)
		wrong(r, "the stack has more bytes than its size");
	if (size && !r->failed) {
		put_zeros(r, (size_t)size - n);
		put_word(r, n, 8);
	}
	expect(r, "}");
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

static void pair(struct reading *r)
{
	put_word(r, number(r, 4), 4);
	expect(r, "/");
	put_word(r, number(r, 4), 4);
}

/* ---- records -------------------------------------------------------------------------------------------------------- */

static void step(struct reading *r, const struct perfev_layout *layout, const struct layout_step *s)
{
	if (!expect_name(r, sample_fields[s->row].name))
		return;
	switch (s->kind) {
	case FIELD_U64:
		put_word(r, number(r, 8), 8);
		break;
	case FIELD_PAIR:
		pair(r);
		break;
	case FIELD_CPU:
		put_word(r, number(r, 4), 4);
		put_word(r, 0, 4);
		break;
	case FIELD_READ:
		values(r, layout->attr.read_format);
		break;
	case FIELD_CHAIN: {
		size_t at = r->used;

		put_word(r, 0, 8);
		set_word(r, at, words(r), 8);
		break;
	}
	case FIELD_RAW:
		raw(r);
		break;
	case FIELD_BRANCHES:
		branches(r, layout->attr.branch_sample_type);
		break;
	case FIELD_REGS_USER:
	case FIELD_REGS_INTR:
		registers(r);
		break;
	case FIELD_STACK:
		stack(r);
		break;
	default:
		aux(r);
		break;
	}
}

static void inode(struct reading *r)
{
	size_t at = r->used, n;

	skip_blanks(r);
	if (comes(r, "build_id=")) {
		put_zeros(r, 4);
		n = bytes(r);
		if (n < 1 || n > 20)
			wrong(r, "a build-id has 1 to 20 bytes");
		else
			put_zeros(r, 20 - n);
		if (!r->failed && at < r->size)
			r->to[at] = (unsigned char)n;
		return;
	}
	put_word(r, named_number(r, "maj", 4), 4);
	put_word(r, named_number(r, "min", 4), 4);
	put_word(r, named_number(r, "ino", 8), 8);
	put_word(r, named_number(r, "ino_generation", 8), 8);
}

static void poke(struct reading *r)
{
	size_t at = r->used;

	put_zeros(r, 4);
	if (expect_name(r, "old"))
		set_word(r, at, bytes(r), 2);
	if (expect_name(r, "new"))
		set_word(r, at + 2, bytes(r), 2);
	pad(r);
}

static void field(struct reading *r, const struct record_field *f, const struct perfev_layout *layout)
{
	static const unsigned widths[] = {[RECORD_U16] = 2, [RECORD_U32] = 4, [RECORD_U64] = 8};
	size_t at;

	if (f->kind == RECORD_NO_INODE)
		return;
	if (f->kind == RECORD_INODE) {
		inode(r);
	} else if (f->kind == RECORD_POKE) {
		poke(r);
	} else if (f->kind <= RECORD_U64) {
		put_word(r, named_number(r, f->name, widths[f->kind]), widths[f->kind]);
	} else if (expect_name(r, f->name)) {
		at = r->used;
		if (f->kind == RECORD_TEXT) {
			quoted(r);
			put_zeros(r, 1);
			pad(r);
		} else if (f->kind == RECORD_TAG) {
			if (bytes(r) != 8)
				wrong(r, "a tag has 8 bytes");
		} else if (f->kind == RECORD_VALUES) {
			values(r, layout->attr.read_format);
		} else {
			put_word(r, 0, 8);
			set_word(r, at, words(r) / (f->kind == RECORD_LINKS ? 2 : 1), 8);
		}
	}
}

static void trailer(struct reading *r, const struct perfev_layout *layout)
{
	static const struct {
		uint64_t bit;
		const char *name;
	} rows[] = {{PERF_SAMPLE_TID, "tid"},		  {PERF_SAMPLE_TIME, "time"}, {PERF_SAMPLE_ID, "id"},
		    {PERF_SAMPLE_STREAM_ID, "stream_id"}, {PERF_SAMPLE_CPU, "cpu"},   {PERF_SAMPLE_IDENTIFIER, "identifier"}};
	size_t i;

	skip_blanks(r);
	expect(r, "@");
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!(layout->id_present & rows[i].bit) || !expect_name(r, rows[i].name))
			continue;
		if (rows[i].bit == PERF_SAMPLE_TID) {
			pair(r);
		} else if (rows[i].bit == PERF_SAMPLE_CPU) {
			put_word(r, number(r, 4), 4);
			put_word(r, 0, 4);
		} else {
			put_word(r, number(r, 8), 8);
		}
	}
}

/* The type by its name, or by its number. */
static uint32_t type(struct reading *r)
{
	uint32_t t;
	size_t n;

	skip_blanks(r);
	n = strcspn(r->text + r->at, " \t");
	if (digit(r->text[r->at]) < 10)
		return (uint32_t)number(r, 4);
	for (t = 1; t < PERF_RECORD_MAX; t++) {
		const char *name = perfev_record_name(t);

		if (name && strlen(name) == n && !memcmp(name, r->text + r->at, n)) {
			r->at += n;
			return t;
		}
	}
	wrong(r, "no type of record");
	return 0;
}

static void body(struct reading *r, uint32_t t, const struct perfev_layout *layout)
{
	const struct record_field *rows;
	size_t count, i;

	if (t == 0 || t >= PERF_RECORD_MAX) {
		if (expect_name(r, "body"))
			bytes(r);
		return;
	}
	if ((t == PERF_RECORD_SAMPLE || t == PERF_RECORD_READ) && !layout) {
		wrong(r, "without a layout this type cannot be read");
		return;
	}
	for (i = 0; t == PERF_RECORD_SAMPLE && i < layout->step_count; i++)
		step(r, layout, &layout->steps[i]);
	rows = record_fields(t, &count);
	for (i = 0; i < count; i++)
		field(r, &rows[i], layout);
	if (layout_has_trailer(layout, t))
		trailer(r, layout);
}

int perfev_record_parse(void *to, size_t size, const char *text, const struct perfev_layout *layout,
			unsigned flags, struct perfev_error *err)
{
	struct reading r = {.text = text, .to = to, .size = size, .swap = flags & PERFEV_RECORD_SWAPPED, .err = err};
	uint32_t t = type(&r);
	uint64_t misc = named_number(&r, "misc", 2);

	if (misc && t >= SIMPLEPERF)
		wrong(&r, "records of this type have no misc bits");
	put_zeros(&r, HEADER);
	body(&r, t, layout);
	skip_blanks(&r);
	if (!r.failed && r.text[r.at] && r.text[r.at] != '\n')
		wrong(&r, "something is left over");
	if (!r.failed && r.used > RECORD_MAX)
		wrong(&r, "more than a record can have");
	if (r.failed)
		return -EINVAL;
	set_word(&r, 0, t, 4);
	set_word(&r, 4, misc, 2);
	set_word(&r, 6, r.used, 2);
	return (int)r.used;
}
