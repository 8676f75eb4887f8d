/* SPDX-License-Identifier: MIT */
/*
 * JSON, read without memory of its own: a walk over the whole text finds out whether it is JSON (RFC 8259, in strict
 * UTF-8, no lone surrogates), with a stack of one bit for each open bracket. From then on values can be passed over by
 * counting brackets, and members be looked for by name: first where they stand in what we write, then everywhere in
 * their object.
 */
#include "json.h"

#include "base/error.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdio.h>

/* Of both notations. */
void in_wrong(struct input *in, const char *what)
{
	if (!in->failed && in->json)
		error_set(in->err, -EINVAL, PERFEV_WHY_SYNTAX, in->at, "cannot read %s from JSON: %s at offset %zu, '%.60s'",
			  in->what, what, in->at, in->text + in->at);
	else if (!in->failed)
		error_set(in->err, -EINVAL, PERFEV_WHY_SYNTAX, in->at + 1,
			  "cannot read %s from text: %s at column %zu of '%.120s'", in->what, what, in->at + 1, in->text);
	in->failed = true;
}

#define DEPTH_MAX   32	/* bits of nest.objects */
#define MEMBERS_MAX 128 /* in an object: bits of scope.seen */

/* ---- characters --------------------------------------------------------------------------------------------- */

static size_t skip_space(const char *text, size_t at)
{
	while (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r')
		at++;
	return at;
}

static unsigned digit(char c)
{
	return c >= '0' && c <= '9'   ? (unsigned)(c - '0')
	       : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
	       : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10)
				      : 99;
}

/* XXXX behind \u; UINT32_MAX for what is none. */
static uint32_t hex4(const char *at)
{
	uint32_t value = 0;
	int i;

	for (i = 0; i < 4; i++) {
		if (digit(at[i]) >= 16)
			return UINT32_MAX;
		value = value << 4 | digit(at[i]);
	}
	return value;
}

/* The character of \uXXXX, or of two of them, and how long that is; 0 for what is none. */
static size_t unicode_escape(const char *at, uint32_t *c)
{
	uint32_t low;

	*c = at[1] == 'u' ? hex4(at + 2) : UINT32_MAX;
	if (*c < 0xd800 || (*c >= 0xe000 && *c < 0x10000))
		return 6;
	if (*c >= 0xdc00 || at[6] != '\\' || at[7] != 'u')
		return 0;
	low = hex4(at + 8);
	if (low < 0xdc00 || low >= 0xe000)
		return 0;
	*c = 0x10000 + ((*c - 0xd800) << 10) + (low - 0xdc00);
	return 12;
}

/* One character of a text, written in some way: how long that is; 0 for what is none. */
static size_t one_char(const char *at, unsigned char to[4], size_t *size)
{
	static const char from[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
	const char *simple;
	uint32_t c;
	size_t n;

	if (at[0] != '\\') {
		*size = (unsigned char)at[0] < 0x20 ? 0 : utf8_length(at);
		memcpy(to, at, *size);
		return *size;
	}
	simple = at[1] ? strchr(from, at[1]) : NULL;
	if (simple) {
		to[0] = (unsigned char)means[simple - from];
		*size = 1;
		return 2;
	}
	n = unicode_escape(at, &c);
	*size = n ? utf8_put(to, c) : 0;
	return n;
}

/* ---- is it JSON -------------------------------------------------------------------------------------------------- */

static bool check_string(struct input *in)
{
	unsigned char c[4];
	size_t n, size;

	if (in->text[in->at] != '"') {
		in_wrong(in, "a text in quotes is missing");
		return false;
	}
	for (in->at++; in->text[in->at] != '"'; in->at += n) {
		n = one_char(in->text + in->at, c, &size);
		if (n)
			continue;
		in_wrong(in, in->text[in->at] == '\\'  ? "no such escape"
			     : in->text[in->at] == '\0' ? "the text has no end"
							: "no character");
		return false;
	}
	in->at++;
	return true;
}

static bool check_digits(struct input *in)
{
	size_t from = in->at;

	while (digit(in->text[in->at]) < 10)
		in->at++;
	return in->at > from;
}

static bool check_number(struct input *in)
{
	bool ok = true;

	if (in->text[in->at] == '-')
		in->at++;
	if (in->text[in->at] == '0')
		in->at++;
	else
		ok = check_digits(in);
	if (ok && in->text[in->at] == '.') {
		in->at++;
		ok = check_digits(in);
	}
	if (ok && (in->text[in->at] == 'e' || in->text[in->at] == 'E')) {
		in->at++;
		if (in->text[in->at] == '+' || in->text[in->at] == '-')
			in->at++;
		ok = check_digits(in);
	}
	if (!ok)
		in_wrong(in, "a value is missing");
	return ok;
}

static bool check_scalar(struct input *in)
{
	static const char *const words[] = {"true", "false", "null"};
	size_t i;

	if (in->text[in->at] == '"')
		return check_string(in);
	for (i = 0; i < 3; i++)
		if (!strncmp(in->text + in->at, words[i], strlen(words[i]))) {
			in->at += strlen(words[i]);
			return true;
		}
	return check_number(in);
}

static bool check_key(struct input *in)
{
	in->at = skip_space(in->text, in->at);
	if (!check_string(in))
		return false;
	in->at = skip_space(in->text, in->at);
	if (in->text[in->at] != ':') {
		in_wrong(in, "':' is missing");
		return false;
	}
	in->at++;
	return true;
}

/* Brackets that are open: a bit for each, which is set for an object. */
struct nest {
	uint32_t objects;
	unsigned depth;
};

/* Returns whether a value follows: the first item, or the value of the first member. */
static bool check_opening(struct input *in, struct nest *nest)
{
	bool object = in->text[in->at] == '{';

	if (nest->depth == DEPTH_MAX) {
		in_wrong(in, "too many brackets are open");
		return false;
	}
	in->at = skip_space(in->text, in->at + 1);
	if (in->text[in->at] == (object ? '}' : ']')) {
		in->at++;
		return false;
	}
	nest->depth++;
	nest->objects = nest->objects << 1 | object;
	return object ? check_key(in) : true;
}

/* Behind a value. Returns whether another one follows. */
static bool check_behind(struct input *in, struct nest *nest)
{
	while (nest->depth && !in->failed) {
		bool object = nest->objects & 1;

		in->at = skip_space(in->text, in->at);
		if (in->text[in->at] == ',') {
			in->at++;
			return object ? check_key(in) : true;
		}
		if (in->text[in->at] != (object ? '}' : ']')) {
			in_wrong(in, object ? "',' or '}' is missing" : "',' or ']' is missing");
			return false;
		}
		in->at++;
		nest->depth--;
		nest->objects >>= 1;
	}
	return false;
}

bool json_check(struct input *in)
{
	struct nest nest = {0, 0};
	bool more = true;

	while (more) {
		char c;

		in->at = skip_space(in->text, in->at);
		c = in->text[in->at];
		if (c == '{' || c == '[')
			more = check_opening(in, &nest);
		else
			more = !check_scalar(in);
		if (!more && !in->failed)
			more = check_behind(in, &nest);
		if (in->failed)
			return false;
	}
	in->at = skip_space(in->text, in->at);
	if (in->text[in->at])
		in_wrong(in, "something is left over");
	in->at = in->failed ? in->at : skip_space(in->text, 0);
	return !in->failed;
}

/* ---- what is known to be JSON --------------------------------------------------------------------------------------- */

static size_t skip_string(const char *text, size_t at)
{
	for (at++; text[at] != '"'; at++)
		if (text[at] == '\\')
			at++;
	return at + 1;
}

static size_t skip_value(const char *text, size_t at)
{
	unsigned depth = 0;

	do {
		char c = text[at];

		if (c == '"') {
			at = skip_string(text, at);
		} else if (c == '{' || c == '[') {
			depth++;
			at++;
		} else if (c == '}' || c == ']') {
			depth--;
			at++;
		} else if (depth) {
			at++;
		} else {
			at += strcspn(text + at, ",}] \t\n\r");
		}
	} while (depth);
	return at;
}

/* The member behind a value, or the end of its object. */
static size_t next_member(const char *text, size_t at)
{
	at = skip_space(text, at);
	return text[at] == ',' ? skip_space(text, at + 1) : at;
}

static size_t value_of(const char *text, size_t member)
{
	member = skip_space(text, skip_string(text, member));
	return skip_space(text, member + 1);
}

static bool string_is(const char *text, size_t at, const char *word)
{
	unsigned char c[4];
	size_t size;

	for (at++; text[at] != '"'; word += size) {
		at += one_char(text + at, c, &size);
		if (strncmp(word, (const char *)c, size) != 0 || !c[0])
			return false;
	}
	return !*word;
}

bool json_begins(const struct input *in, char c)
{
	return !in->failed && in->text[in->at] == c;
}

bool json_is(struct input *in, const char *word)
{
	if (!json_begins(in, '"') || !string_is(in->text, in->at, word))
		return false;
	in->at = skip_string(in->text, in->at);
	return true;
}

void json_open(struct input *in, struct scope *s)
{
	memset(s, 0, sizeof(*s));
	s->inner = true;
	if (!json_begins(in, '{')) {
		in_wrong(in, "an object is missing");
		return;
	}
	in->at = s->from = skip_space(in->text, in->at + 1);
}

static bool was_seen(const struct scope *s, unsigned index)
{
	return index < MEMBERS_MAX && s->seen[index / 64] >> index % 64 & 1;
}

/* Goes to the value of the member at @at, when it is the one and was not asked for before. */
static bool take_member(struct input *in, struct scope *s, size_t at, unsigned index, const char *name)
{
	if (index >= MEMBERS_MAX || was_seen(s, index) || !string_is(in->text, at, name))
		return false;
	s->seen[index / 64] |= UINT64_C(1) << index % 64;
	s->index = index + 1;
	in->at = value_of(in->text, at);
	return true;
}

bool json_find(struct input *in, struct scope *s, const char *name, bool must)
{
	size_t at = in->at;
	unsigned index;
	char what[64];

	if (in->failed)
		return false;
	at = next_member(in->text, at);
	if (in->text[at] != '}' && take_member(in, s, at, s->index, name))
		return true;
	at = s->from;
	for (index = 0; in->text[at] != '}' && index < MEMBERS_MAX; index++) {
		if (take_member(in, s, at, index, name)) {
			s->jumped = true;
			return true;
		}
		at = next_member(in->text, skip_value(in->text, value_of(in->text, at)));
	}
	if (must) {
		in->at = s->from;
		snprintf(what, sizeof(what), "'%.40s' is missing", name);
		in_wrong(in, what);
	}
	return false;
}

/* The members that are left, mostly none. */
void json_close(struct input *in, struct scope *s)
{
	unsigned index = s->jumped ? 0 : s->index;
	size_t at;

	if (in->failed)
		return;
	at = s->jumped ? s->from : next_member(in->text, in->at);
	for (; in->text[at] != '}'; index++) {
		if (!was_seen(s, index)) {
			in->at = at;
			in_wrong(in, "this member is not known here, or is there twice");
			return;
		}
		at = next_member(in->text, skip_value(in->text, value_of(in->text, at)));
	}
	in->at = at + 1;
}

bool json_list(struct input *in)
{
	if (!json_begins(in, '[')) {
		in_wrong(in, "a list is missing");
		return false;
	}
	in->at = skip_space(in->text, in->at + 1);
	if (in->text[in->at] != ']')
		return true;
	in->at++;
	return false;
}

bool json_next(struct input *in)
{
	if (in->failed)
		return false;
	in->at = skip_space(in->text, in->at);
	if (in->text[in->at] == ',') {
		in->at = skip_space(in->text, in->at + 1);
		return true;
	}
	in->at++;
	return false;
}

uint64_t json_number(struct input *in, unsigned width)
{
	uint64_t value = 0, most = width == 8 ? UINT64_MAX : (UINT64_C(1) << (8 * width)) - 1;
	bool quoted = json_begins(in, '"');
	size_t at = in->at + quoted, from;
	unsigned base = quoted && !strncmp(in->text + at, "0x", 2) ? 16 : 10;

	if (in->failed)
		return 0;
	at += base == 16 ? 2 : 0;
	for (from = at; digit(in->text[at]) < base; at++) {
		uint64_t d = digit(in->text[at]);

		if (value > (most - d) / base) {
			in_wrong(in, "the number is too large");
			return 0;
		}
		value = value * base + d;
	}
	if (at == from || (quoted ? in->text[at] != '"' : strchr(".eE", in->text[at]) && in->text[at])) {
		in_wrong(in, "a whole number is missing");
		return 0;
	}
	in->at = at + quoted;
	return value;
}

uint64_t json_other(struct input *in, unsigned width, const char *what)
{
	if (json_begins(in, '"') && digit(in->text[in->at + 1]) >= 10) {
		in_wrong(in, what);
		return 0;
	}
	return json_number(in, width);
}

bool json_quote(struct input *in)
{
	if (!json_begins(in, '"')) {
		in_wrong(in, "a text in quotes is missing");
		return false;
	}
	in->at++;
	return true;
}

bool json_byte(struct input *in, unsigned char *ret)
{
	const char *at = in->text + in->at;

	if (in->failed)
		return false;
	if (at[0] == '"') {
		in->at++;
		return false;
	}
	if (digit(at[0]) >= 16 || digit(at[1]) >= 16) {
		in_wrong(in, "two hexadecimal digits are missing");
		return false;
	}
	*ret = (unsigned char)(digit(at[0]) << 4 | digit(at[1]));
	in->at += 2;
	return true;
}

size_t json_char(struct input *in, unsigned char ret[4])
{
	size_t size = 0;

	if (in->failed)
		return 0;
	if (in->text[in->at] == '"')
		in->at++;
	else
		in->at += one_char(in->text + in->at, ret, &size);
	return size;
}
