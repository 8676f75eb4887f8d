/* SPDX-License-Identifier: MIT */
/*
 * The marks of text and JSON, written.
 *
 * Numbers of text are decimal, or hexadecimal where they are addresses or sets of bits. Those of JSON have to stay
 * what they are where numbers are doubles: what has up to 32 bits is a number; of 64 bits, addresses and sets of bits
 * are always texts, "0x1f", and others are numbers up to 2^53 - 1 and decimal texts above. What is no UTF-8 cannot be
 * a text of JSON: it is an object with its bytes.
 */
#include "json.h"

#include "base/digits.h"
#include "base/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* Numbers of these names are addresses or sets of bits; by how long they are. */
static bool is_hex(const char *name, size_t size)
{
	static const char *const names[][4] = {
		[2] = {"ip", "to"},	       [3] = {"len"},
		[4] = {"addr", "misc", "from", "prot"}, [5] = {"pgoff", "flags", "hw_id"},
		[6] = {"cookie", "weight"},    [8] = {"data_src", "reg_mask"},
		[9] = {"phys_addr", "min_vaddr", "stack_end"}, [10] = {"aux_offset", "error_addr"},
		[11] = {"transaction", "stack_start"}, [13] = {"weight_struct"},
	};
	size_t i;

	if (size >= sizeof(names) / sizeof(names[0]))
		return false;
	for (i = 0; i < 4 && names[size][i]; i++)
		if (!memcmp(name, names[size][i], size))
			return true;
	return false;
}

void out_char(struct out *o, char c)
{
	if (o->at + 1 < o->size)
		o->to[o->at] = c;
	o->at++;
}

static void out_text(struct out *o, const char *text, size_t size)
{
	size_t room = o->at + 1 < o->size ? o->size - 1 - o->at : 0;

	if (room)
		memcpy(o->to + o->at, text, size < room ? size : room);
	o->at += size;
}

void out_put(struct out *o, const char *format, ...)
{
	char text[128];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (n > 0)
		out_text(o, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

/* Where there is room for a number, which is most often so, it needs no copy. */
void out_hex(struct out *o, uint64_t number)
{
	char text[DIGITS_ROOM];

	if (o->size > DIGITS_ROOM && o->at < o->size - DIGITS_ROOM)
		o->at = (size_t)(digits_hex(o->to + o->at, number) - o->to);
	else
		out_text(o, text, (size_t)(digits_hex(text, number) - text));
}

void out_decimal(struct out *o, uint64_t number)
{
	char text[DIGITS_ROOM];

	if (o->size > DIGITS_ROOM && o->at < o->size - DIGITS_ROOM)
		o->at = (size_t)(digits_decimal(o->to + o->at, number) - o->to);
	else
		out_text(o, text, (size_t)(digits_decimal(text, number) - text));
}

static void put_name(struct out *o, const char *name, size_t size)
{
	if (!o->depth && !o->json)
		out_char(o, ' ');
	else if (o->more)
		out_char(o, ',');
	o->more = true;
	if (o->json)
		out_char(o, '"');
	out_text(o, name, size);
	if (o->json)
		out_char(o, '"');
	out_char(o, o->json ? ':' : '=');
}

void out_name(struct out *o, const char *name)
{
	put_name(o, name, strlen(name));
}

void out_field(struct out *o, const char *name, uint64_t value, unsigned width)
{
	size_t size = strlen(name);
	bool hex = is_hex(name, size) && !(o->json && width < 8), quotes = o->json && (hex || value > JSON_EXACT);

	put_name(o, name, size);
	if (quotes)
		out_char(o, '"');
	if (hex) {
		out_text(o, "0x", 2);
		out_hex(o, value);
	} else {
		out_decimal(o, value);
	}
	if (quotes)
		out_char(o, '"');
}

static void hex_bytes(struct out *o, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	char text[2];
	size_t i;

	for (i = 0; i < size; i++) {
		digits_byte(text, at[i]);
		out_text(o, text, 2);
	}
}

void out_string(struct out *o, const char *text)
{
	if (o->json && text && !utf8_valid(text)) {
		out_put(o, "{\"hex\":\"");
		hex_bytes(o, text, strlen(text));
		out_put(o, "\"}");
		return;
	}
	out_char(o, '"');
	for (; text && *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			out_put(o, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			out_put(o, o->json ? "\\u%04x" : "\\x%02x", c);
		else
			out_char(o, (char)c);
	}
	out_char(o, '"');
}

void out_bytes(struct out *o, struct perfev_bytes bytes)
{
	if (o->json)
		out_char(o, '"');
	else
		out_text(o, "hex:", 4);
	hex_bytes(o, bytes.data, bytes.size);
	if (o->json)
		out_char(o, '"');
}

void out_words(struct out *o, struct perfev_u64s words)
{
	uint32_t i;

	out_char(o, '[');
	for (i = 0; i < words.count; i++) {
		if (i)
			out_char(o, ',');
		if (o->json)
			out_char(o, '"');
		out_text(o, "0x", 2);
		out_hex(o, perfev_u64s_at(words, i));
		if (o->json)
			out_char(o, '"');
	}
	out_char(o, ']');
}

void out_open(struct out *o)
{
	out_char(o, '{');
	o->depth++;
	o->more = false;
}

void out_close(struct out *o)
{
	out_char(o, '}');
	o->depth--;
	o->more = true;
}

void out_list(struct out *o)
{
	out_char(o, '[');
	o->more = false;
}

void out_item(struct out *o)
{
	if (o->more)
		out_char(o, ',');
	o->more = true;
}

void out_list_end(struct out *o)
{
	out_char(o, ']');
	o->more = true;
}

int out_end(struct out *o)
{
	if (o->size)
		o->to[o->at < o->size ? o->at : o->size - 1] = 0;
	return o->at > INT32_MAX ? -E2BIG : (int)o->at;
}
