/* SPDX-License-Identifier: MIT */
/*
 * Values of fields, and their text. A field says where its bytes are, or where it is said where they are;
 * both come from outside, and are compared with the bytes that there are at each read. Nothing is
 * allocated, and nothing is looked up.
 */
#include "tracepoint.h"

#include "base/load.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define ELEMENTS_SHOWN 256
#define BITS_SHOWN     16384 /* of a mask: no machine has as many CPUs */

/* ---- bytes ----------------------------------------------------------------------------------------------- */

static const unsigned char *inside(struct perfev_bytes raw, size_t offset, size_t size)
{
	if (!raw.data || offset > raw.size || size > raw.size - offset)
		return NULL;
	return (const unsigned char *)raw.data + offset;
}

static bool set_bytes(struct perfev_bytes *ret, struct perfev_bytes raw, size_t offset, size_t size)
{
	const unsigned char *at = inside(raw, offset, size);

	if (!at)
		return false;
	ret->data = at;
	ret->size = size;
	return true;
}

bool perfev_field_bytes(const struct perfev_field *field, struct perfev_bytes raw,
			struct perfev_bytes *ret)
{
	const unsigned char *at;
	uint32_t where;
	size_t from = 0;

	if (field->place == PERFEV_FIELD_FIXED)
		return set_bytes(ret, raw, field->offset, field->size);
	if (field->place == PERFEV_FIELD_REST)
		return field->offset <= raw.size &&
		       set_bytes(ret, raw, field->offset, raw.size - field->offset);
	at = inside(raw, field->offset, 4);
	if (!at)
		return false;
	where = load_u32(at, field->swapped);
	if (field->place == PERFEV_FIELD_REL_LOC)
		from = (size_t)field->offset + 4;
	return set_bytes(ret, raw, from + (where & 0xffff), where >> 16);
}

bool perfev_field_string(const struct perfev_field *field, struct perfev_bytes raw,
			 struct perfev_bytes *ret)
{
	struct perfev_bytes all;
	const char *end;

	if (field->kind != PERFEV_FIELD_STRING || !perfev_field_bytes(field, raw, &all))
		return false;
	ret->data = all.data;
	end = memchr(all.data, 0, all.size);
	ret->size = end ? (size_t)(end - (const char *)all.data) : all.size;
	return true;
}

/* ---- numbers ----------------------------------------------------------------------------------------------- */

static bool load(const struct perfev_field *field, const unsigned char *at, uint32_t size, uint64_t *ret)
{
	bool sign = field->is_signed;

	switch (size) {
	case 1:
		*ret = sign ? (uint64_t)(int8_t)*at : *at;
		return true;
	case 2:
		*ret = load_u16(at, field->swapped);
		if (sign)
			*ret = (uint64_t)(int16_t)*ret;
		return true;
	case 4:
		*ret = load_u32(at, field->swapped);
		if (sign)
			*ret = (uint64_t)(int32_t)*ret;
		return true;
	case 8:
		*ret = load_u64(at, field->swapped);
		return true;
	default:
		return false;
	}
}

/* What is no array is in its place: one comparison, one load. */
static bool read_number(const struct perfev_field *field, struct perfev_bytes raw, uint64_t *ret)
{
	const unsigned char *at;

	if (field->kind > PERFEV_FIELD_POINTER || field->is_array)
		return false;
	at = inside(raw, field->offset, field->size);
	return at && load(field, at, field->size, ret);
}

bool perfev_field_uint(const struct perfev_field *field, struct perfev_bytes raw, uint64_t *ret)
{
	return read_number(field, raw, ret);
}

bool perfev_field_int(const struct perfev_field *field, struct perfev_bytes raw, int64_t *ret)
{
	uint64_t value;

	if (!read_number(field, raw, &value))
		return false;
	*ret = (int64_t)value;
	return true;
}

size_t perfev_field_count(const struct perfev_field *field, struct perfev_bytes raw)
{
	struct perfev_bytes bytes;

	if (!perfev_field_bytes(field, raw, &bytes))
		return 0;
	if (!field->is_array)
		return 1;
	return field->element_size ? bytes.size / field->element_size : 0;
}

bool perfev_field_uint_at(const struct perfev_field *field, struct perfev_bytes raw, size_t index,
			  uint64_t *ret)
{
	struct perfev_bytes bytes;
	uint32_t size = field->element_size;

	if (field->kind == PERFEV_FIELD_OTHER || !size || !perfev_field_bytes(field, raw, &bytes) ||
	    index >= bytes.size / size)
		return false;
	return load(field, (const unsigned char *)bytes.data + index * size, size, ret);
}

bool perfev_field_int_at(const struct perfev_field *field, struct perfev_bytes raw, size_t index,
			 int64_t *ret)
{
	uint64_t value;

	if (!perfev_field_uint_at(field, raw, index, &value))
		return false;
	*ret = (int64_t)value;
	return true;
}

bool perfev_field_bit(const struct perfev_field *field, struct perfev_bytes raw, size_t bit)
{
	size_t width = (size_t)field->element_size * 8;
	uint64_t word;

	return field->kind == PERFEV_FIELD_BITMASK && width &&
	       perfev_field_uint_at(field, raw, bit / width, &word) && (word >> bit % width & 1);
}

/* ---- text ---------------------------------------------------------------------------------------------------- */

/* As snprintf(): counts what does not fit too. */
struct text {
	char *to;
	size_t size, used;
};

static void put_bytes(struct text *text, const char *from, size_t size)
{
	size_t room = text->used < text->size ? text->size - 1 - text->used : 0;

	if (room && size)
		memcpy(text->to + text->used, from, size < room ? size : room);
	text->used += size;
}

static void put_char(struct text *text, char c)
{
	put_bytes(text, &c, 1);
}

PERFEV_PRINTF(2, 3)
static void put(struct text *text, const char *format, ...)
{
	char small[48];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(small, sizeof(small), format, args);
	va_end(args);
	put_bytes(text, small, n > 0 ? (size_t)n : 0);
}

/* Letters that need no quotes: a list of name=value is taken apart at blanks. */
static bool is_plain(struct perfev_bytes string)
{
	const unsigned char *at = string.data;
	size_t i;

	for (i = 0; i < string.size; i++)
		if (at[i] <= ' ' || at[i] >= 0x7f || at[i] == '"' || at[i] == '\\' || at[i] == '=')
			return false;
	return string.size > 0;
}

/* Controls are written as \xHH, those that UTF-8 has beyond ASCII too: nothing steers a terminal. */
static void put_string(struct text *text, struct perfev_bytes string)
{
	const unsigned char *at = string.data;
	size_t i;

	if (is_plain(string)) {
		put_bytes(text, string.data, string.size);
		return;
	}
	put_char(text, '"');
	for (i = 0; i < string.size; i++) {
		bool second = i && at[i - 1] == 0xc2 && at[i] >= 0x80 && at[i] <= 0x9f;
		bool first = at[i] == 0xc2 && i + 1 < string.size && at[i + 1] >= 0x80 && at[i + 1] <= 0x9f;

		if (at[i] < ' ' || at[i] == 0x7f || first || second)
			put(text, "\\x%02x", at[i]);
		else if (at[i] == '"' || at[i] == '\\')
			put(text, "\\%c", at[i]);
		else
			put_char(text, (char)at[i]);
	}
	put_char(text, '"');
}

static void put_number(struct text *text, const struct perfev_field *field, uint64_t value)
{
	if (field->kind == PERFEV_FIELD_POINTER)
		put(text, "0x%" PRIx64, value);
	else if (field->is_signed)
		put(text, "%" PRId64, (int64_t)value);
	else
		put(text, "%" PRIu64, value);
}

static void put_array(struct text *text, const struct perfev_field *field, struct perfev_bytes raw)
{
	size_t count = perfev_field_count(field, raw), i;
	uint64_t value;

	put_char(text, '{');
	for (i = 0; i < count && i < ELEMENTS_SHOWN && perfev_field_uint_at(field, raw, i, &value); i++) {
		if (i)
			put_char(text, ',');
		put_number(text, field, value);
	}
	put(text, i < count ? ",...}" : "}");
}

/* Bits as a list of ranges: 0-3,8. */
static void put_mask(struct text *text, const struct perfev_field *field, struct perfev_bytes raw)
{
	size_t bits = perfev_field_count(field, raw) * field->element_size * 8, from, to, ranges = 0;

	bits = bits < BITS_SHOWN ? bits : BITS_SHOWN;
	put_char(text, '{');
	for (from = 0; from < bits && ranges < ELEMENTS_SHOWN; from = to + 1) {
		to = from;
		if (!perfev_field_bit(field, raw, from))
			continue;
		while (to + 1 < bits && perfev_field_bit(field, raw, to + 1))
			to++;
		put(text, "%s%zu", ranges++ ? "," : "", from);
		if (to > from)
			put(text, "-%zu", to);
	}
	put(text, from < bits ? ",...}" : "}");
}

static void put_other(struct text *text, struct perfev_bytes bytes)
{
	const unsigned char *at = bytes.data;
	size_t i;

	for (i = 0; i < bytes.size && i < ELEMENTS_SHOWN; i++)
		put(text, "%02x", at[i]);
	if (i < bytes.size)
		put(text, "...");
}

static void put_value(struct text *text, const struct perfev_field *field, struct perfev_bytes raw)
{
	struct perfev_bytes bytes;
	uint64_t value;

	if (!perfev_field_bytes(field, raw, &bytes))
		put_char(text, '?');
	else if (perfev_field_uint(field, raw, &value))
		put_number(text, field, value);
	else if (perfev_field_string(field, raw, &bytes))
		put_string(text, bytes);
	else if (field->kind == PERFEV_FIELD_BITMASK)
		put_mask(text, field, raw);
	else if (field->kind == PERFEV_FIELD_OTHER)
		put_other(text, bytes);
	else
		put_array(text, field, raw);
}

size_t perfev_tracepoint_format(char *ret, size_t size, const struct perfev_tracepoint *tracepoint,
				struct perfev_bytes raw)
{
	struct text text = {ret, size, 0};
	size_t i;

	for (i = tracepoint->info.common_count; i < tracepoint->info.field_count; i++) {
		if (text.used)
			put_char(&text, ' ');
		put_bytes(&text, tracepoint->fields[i].name, strlen(tracepoint->fields[i].name));
		put_char(&text, '=');
		put_value(&text, &tracepoint->fields[i], raw);
	}
	if (size)
		ret[text.used < size ? text.used : size - 1] = 0;
	return text.used;
}
