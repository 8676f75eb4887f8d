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

#include "base/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* Numbers of these names are addresses or sets of bits. */
static bool is_hex(const char *name)
{
	static const char *const names[] = {"addr",	"ip",	     "len",	"pgoff",    "misc",  "from",
					    "to",	"phys_addr", "data_src", "flags",   "prot",  "transaction",
					    "cookie",	"hw_id",     "weight",	"aux_offset", "weight_struct"};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

void out_char(struct out *o, char c)
{
	if (o->at + 1 < o->size)
		o->to[o->at] = c;
	o->at++;
}

void out_put(struct out *o, const char *format, ...)
{
	char text[128];
	va_list args;
	int n, i;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	for (i = 0; i < n; i++)
		out_char(o, text[i]);
}

void out_name(struct out *o, const char *name)
{
	if (!o->depth && !o->json)
		out_char(o, ' ');
	else if (o->more)
		out_char(o, ',');
	o->more = true;
	out_put(o, o->json ? "\"%s\":" : "%s=", name);
}

void out_field(struct out *o, const char *name, uint64_t value, unsigned width)
{
	bool hex = is_hex(name) && !(o->json && width < 8), quotes = o->json && (hex || value > JSON_EXACT);

	out_name(o, name);
	if (quotes)
		out_char(o, '"');
	out_put(o, hex ? "0x%" PRIx64 : "%" PRIu64, value);
	if (quotes)
		out_char(o, '"');
}

static void hex_bytes(struct out *o, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	size_t i;

	for (i = 0; i < size; i++)
		out_put(o, "%02x", at[i]);
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
	out_put(o, o->json ? "\"" : "hex:");
	hex_bytes(o, bytes.data, bytes.size);
	out_put(o, o->json ? "\"" : "");
}

void out_words(struct out *o, struct perfev_u64s words)
{
	uint32_t i;

	out_char(o, '[');
	for (i = 0; i < words.count; i++)
		out_put(o, o->json ? "%s\"0x%" PRIx64 "\"" : "%s0x%" PRIx64, i ? "," : "", perfev_u64s_at(words, i));
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
