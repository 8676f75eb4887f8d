/* SPDX-License-Identifier: MIT */
/*
 * The marks of text, read; those of JSON in json.c. What stands in braces of text has to follow without blanks, in the
 * order in which it is written.
 */
#include "json.h"

#include "base/error.h"

#include <errno.h>
#include <stdio.h>

void in_skip_blanks(struct input *in)
{
	while (in->text[in->at] == ' ' || in->text[in->at] == '\t')
		in->at++;
}

bool in_comes(struct input *in, const char *word)
{
	if (in->failed || strncmp(in->text + in->at, word, strlen(word)))
		return false;
	in->at += strlen(word);
	return true;
}

bool in_expect(struct input *in, const char *word)
{
	char what[64];

	if (in->failed)
		return false;
	if (in_comes(in, word))
		return true;
	snprintf(what, sizeof(what), "'%.40s' is missing", word);
	in_wrong(in, what);
	return false;
}

/* A part with the comma before it, and "=" behind. */
static const char *part_name(char text[48], const struct scope *s, const char *name)
{
	snprintf(text, 48, "%s%s=", s->more ? "," : "", name);
	return text;
}

bool in_find(struct input *in, struct scope *s, const char *name)
{
	char text[48];

	if (in->json)
		return json_find(in, s, name, true);
	if (!s->inner) {
		in_skip_blanks(in);
		return in_expect(in, name) && in_expect(in, "=");
	}
	part_name(text, s, name);
	s->more = true;
	return in_expect(in, text);
}

bool in_maybe(struct input *in, struct scope *s, const char *name)
{
	char text[48];

	if (in->json)
		return json_find(in, s, name, false);
	if (s->inner) {
		part_name(text, s, name);
	} else {
		in_skip_blanks(in);
		snprintf(text, sizeof(text), "%s=", name);
	}
	if (!in_comes(in, text))
		return false;
	s->more = true;
	return true;
}

void in_open(struct input *in, struct scope *s)
{
	if (in->json) {
		json_open(in, s);
		return;
	}
	memset(s, 0, sizeof(*s));
	s->inner = true;
	in_expect(in, "{");
}

void in_close(struct input *in, struct scope *s)
{
	if (in->json)
		json_close(in, s);
	else
		in_expect(in, "}");
}

bool in_list(struct input *in)
{
	if (in->json)
		return json_list(in);
	return in_expect(in, "[") && !in_comes(in, "]");
}

bool in_next(struct input *in)
{
	if (in->json)
		return json_next(in);
	if (in_comes(in, ","))
		return true;
	in_expect(in, "]");
	return false;
}

static unsigned digit(char c)
{
	return c >= '0' && c <= '9'   ? (unsigned)(c - '0')
	       : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
	       : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10)
				      : 99;
}

static uint64_t text_number(struct input *in, unsigned width)
{
	unsigned base = in_comes(in, "0x") ? 16 : 10;
	uint64_t value = 0, most = width == 8 ? UINT64_MAX : (UINT64_C(1) << (8 * width)) - 1;
	size_t from = in->at;

	if (in->failed)
		return 0;
	for (; digit(in->text[in->at]) < base; in->at++) {
		uint64_t d = digit(in->text[in->at]);

		if (value > (most - d) / base) {
			in_wrong(in, "the number is too large");
			return 0;
		}
		value = value * base + d;
	}
	if (in->at == from)
		in_wrong(in, "a number is missing");
	return value;
}

uint64_t in_number(struct input *in, unsigned width)
{
	return in->json ? json_number(in, width) : text_number(in, width);
}

uint64_t in_field(struct input *in, struct scope *s, const char *name, unsigned width)
{
	return in_find(in, s, name) ? in_number(in, width) : 0;
}

bool in_bytes(struct input *in)
{
	return in->json ? json_quote(in) : in_expect(in, "hex:");
}

bool in_byte(struct input *in, unsigned char *ret)
{
	const char *at = in->text + in->at;

	if (in->json)
		return json_byte(in, ret);
	if (in->failed || digit(at[0]) >= 16)
		return false;
	if (digit(at[1]) >= 16) {
		in_wrong(in, "half a byte");
		return false;
	}
	*ret = (unsigned char)(digit(at[0]) << 4 | digit(at[1]));
	in->at += 2;
	return true;
}

bool in_string(struct input *in)
{
	return in->json ? json_quote(in) : in_expect(in, "\"");
}

static size_t text_char(struct input *in, unsigned char ret[4])
{
	const char *at = in->text + in->at;

	if (in->failed)
		return 0;
	ret[0] = (unsigned char)at[0];
	if (at[0] == '"') {
		in->at++;
		return 0;
	}
	if (at[0] == '\\' && at[1] == 'x' && digit(at[2]) < 16 && digit(at[3]) < 16) {
		ret[0] = (unsigned char)(digit(at[2]) << 4 | digit(at[3]));
		in->at += 4;
	} else if (at[0] == '\\') {
		in->at++;
		ret[0] = (unsigned char)at[1];
		if (at[1] == '"' || at[1] == '\\')
			in->at++;
		else
			in_wrong(in, "no such escape");
	} else if (at[0]) {
		in->at++;
	} else {
		in_wrong(in, "the text has no end");
	}
	return !in->failed;
}

size_t in_char(struct input *in, unsigned char ret[4])
{
	return in->json ? json_char(in, ret) : text_char(in, ret);
}
