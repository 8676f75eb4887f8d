/* SPDX-License-Identifier: MIT */
/*
 * The options of an event as JSON: each member and each bit by the kernel's name, as the table in attr.c has them; what
 * is 0 is left out. Nothing is lost: bits without a name are numbers among the names, reserved ones have the names
 * that the kernel gave them, and what lies behind the members that are known is a list of words.
 */
#include "attr_json.h"
#include "attr.h"

#include "base/error.h"
#include "base/load.h"

#include <perfev/json.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* ---- writing ------------------------------------------------------------------------------------------------ */

static void put_hex(struct out *o, uint64_t value)
{
	out_put(o, "\"0x%" PRIx64 "\"", value);
}

/* ["PERF_SAMPLE_IP","0x80000000"] */
static void put_flags(struct out *o, unsigned kind, uint64_t value)
{
	const struct attr_flag *flags;
	size_t count, i;

	flags = attr_flags(kind, &count);
	out_list(o);
	for (i = 0; i < count; i++)
		if (value & flags[i].bit) {
			out_item(o);
			out_string(o, flags[i].name);
			value &= ~flags[i].bit;
		}
	if (value) {
		out_item(o);
		put_hex(o, value);
	}
	out_list_end(o);
}

static void put_bits(struct out *o, const struct attr_field *field, uint64_t value)
{
	size_t i;

	for (i = 0; i < attr_bit_count; i++) {
		const struct attr_bit *b = &attr_bits[i];
		uint64_t part = value >> b->shift & ((UINT64_C(1) << b->count) - 1);

		if (b->offset == field->offset && part)
			out_field(o, b->name, part, 4);
	}
}

static void put_field(struct out *o, const struct perf_event_attr *attr, const struct attr_field *field)
{
	uint64_t value = attr_get(attr, field);
	const char *name = attr_name(attr, field);

	if (!value && field->offset > offsetof(struct perf_event_attr, config))
		return;
	if (field->kind == ATTR_BITS) {
		put_bits(o, field, value);
	} else if (field->kind == ATTR_NUMBER) {
		out_field(o, name, value, field->width);
	} else {
		out_name(o, name);
		if (field->kind == ATTR_HEX)
			put_hex(o, value);
		else if (field->kind == ATTR_SIGNED)
			out_put(o, "%" PRId32, (int32_t)value);
		else
			put_flags(o, field->kind, value);
	}
}

/* The words behind the members, without zeros at the end. */
static void put_unknown(struct out *o, const unsigned char *bytes, size_t size)
{
	size_t at;

	while (size && !bytes[size - 1])
		size--;
	if (!size)
		return;
	out_name(o, "unknown");
	out_list(o);
	for (at = 0; at < size; at += 8) {
		unsigned char word[8] = {0};

		memcpy(word, bytes + at, size - at < 8 ? size - at : 8);
		out_item(o);
		put_hex(o, load_u64(word, false));
	}
	out_list_end(o);
}

void attr_json_write(struct out *o, const struct perf_event_attr *attr)
{
	size_t size = attr->size, i;
	struct perf_event_attr full;

	memset(&full, 0, sizeof(full));
	memcpy(&full, attr, size < sizeof(full) ? size : sizeof(full));
	out_open(o);
	for (i = 0; i < attr_field_count; i++)
		put_field(o, &full, &attr_fields[i]);
	if (size > sizeof(full))
		put_unknown(o, (const unsigned char *)attr + sizeof(full), size - sizeof(full));
	out_close(o);
}

int perfev_attr_to_json(char *ret, size_t size, const struct perf_event_attr *attr, struct perfev_error *err)
{
	struct out o = {.to = ret, .size = size, .json = true};
	union {
		struct perf_event_attr attr;
		unsigned char bytes[PERF_ATTR_SIZE_VER0];
	} first;

	if (attr->size > ATTR_BYTES_MAX || (attr->size && attr->size < PERF_ATTR_SIZE_VER0))
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot write an attr as JSON: its size is %" PRIu32 ", and has to be 0 or from %d to %d",
				 attr->size, PERF_ATTR_SIZE_VER0, ATTR_BYTES_MAX);
	if (!attr->size) {
		memcpy(first.bytes, attr, sizeof(first.bytes));
		first.attr.size = PERF_ATTR_SIZE_VER0;
		attr = &first.attr;
	}
	attr_json_write(&o, attr);
	return out_end(&o);
}

/* ---- reading -------------------------------------------------------------------------------------------------- */

/* One item: a name, or a number. */
static uint64_t flag(struct input *in, const struct attr_flag *flags, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (json_is(in, flags[i].name))
			return flags[i].bit;
	return json_other(in, 8, "no such bit");
}

static uint64_t flags_of(struct input *in, unsigned kind)
{
	const struct attr_flag *flags;
	uint64_t value = 0;
	size_t count;
	bool more;

	if (!json_begins(in, '['))
		return in_number(in, 8);
	flags = attr_flags(kind, &count);
	for (more = in_list(in); more; more = in_next(in))
		value |= flag(in, flags, count);
	return value;
}

static uint64_t bits_of(struct input *in, struct scope *s, const struct attr_field *field)
{
	uint64_t value = 0, part;
	size_t i;

	for (i = 0; i < attr_bit_count; i++) {
		const struct attr_bit *b = &attr_bits[i];

		if (b->offset != field->offset || !in_maybe(in, s, b->name))
			continue;
		part = in_number(in, 4);
		if (part >> b->count)
			in_wrong(in, "the number is too large");
		value |= part << b->shift;
	}
	return value;
}

static uint64_t signed_number(struct input *in)
{
	bool minus = json_begins(in, '-');
	uint64_t value;

	in->at += minus;
	value = in_number(in, 4);
	if (minus ? value > (uint64_t)INT32_MAX + 1 : value > INT32_MAX)
		in_wrong(in, "the number is too large");
	return minus ? (uint32_t)0 - (uint32_t)value : value;
}

static void read_field(struct input *in, struct scope *s, struct perf_event_attr *attr, const struct attr_field *field)
{
	if (field->kind == ATTR_BITS)
		attr_set(attr, field, bits_of(in, s, field));
	else if (!in_maybe(in, s, field->name) && !(field->other && in_maybe(in, s, field->other)))
		return;
	else if (field->kind == ATTR_SIGNED)
		attr_set(attr, field, signed_number(in));
	else if (field->kind == ATTR_NUMBER || field->kind == ATTR_HEX)
		attr_set(attr, field, in_number(in, field->width));
	else
		attr_set(attr, field, flags_of(in, field->kind));
}

/* The words behind the members, as far as there is room. */
static void read_unknown(struct input *in, struct perf_event_attr *ret, size_t room, size_t size)
{
	size_t at = sizeof(*ret);
	bool more;

	for (more = in_list(in); more; more = in_next(in), at += 8) {
		uint64_t word = in_number(in, 8);

		if (word && at >= size)
			in_wrong(in, "this word lies behind the size of the attr");
		else if (word && at + 8 > room)
			in_wrong(in, "for this word there is no room");
		else if (word)
			store_u64((unsigned char *)ret + at, word);
	}
}

static void check_sizes(struct input *in, const struct perf_event_attr *attr, size_t room)
{
	const char *name;
	char what[96];

	if (attr->size < PERF_ATTR_SIZE_VER0 || attr->size > ATTR_BYTES_MAX) {
		in_wrong(in, "the size of an attr is from 64 to 4096");
		return;
	}
	name = attr_set_beyond(attr, attr->size, sizeof(*attr));
	if (!name && room < sizeof(*attr))
		name = attr_set_beyond(attr, (uint32_t)room, sizeof(*attr));
	if (!name)
		return;
	snprintf(what, sizeof(what), "%s lies behind the size of the attr", name);
	in_wrong(in, what);
}

void attr_json_read(struct input *in, struct perf_event_attr *ret, size_t room)
{
	struct perf_event_attr attr;
	size_t begin = in->at, i;
	struct scope s;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	in_open(in, &s);
	for (i = 0; i < attr_field_count; i++)
		read_field(in, &s, &attr, &attr_fields[i]);
	memset(ret, 0, room);
	if (in_maybe(in, &s, "unknown"))
		read_unknown(in, ret, room, attr.size);
	in_close(in, &s);
	if (!in->failed) {
		size_t end = in->at;

		in->at = begin;
		check_sizes(in, &attr, room);
		in->at = in->failed ? begin : end;
	}
	if (attr.size > room)
		attr.size = (uint32_t)room; /* all is 0 behind */
	memcpy(ret, &attr, room < sizeof(attr) ? room : sizeof(attr));
}

int perfev_attr_from_json(struct perf_event_attr *ret, size_t size, const char *json, struct perfev_error *err)
{
	struct input in = {.text = json, .json = true, .what = "an attr", .err = err};

	if (size < PERF_ATTR_SIZE_VER0)
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot read an attr from JSON: there is room for %zu bytes, and an attr has %d at least", size,
				 PERF_ATTR_SIZE_VER0);
	json_check(&in);
	attr_json_read(&in, ret, size);
	return in.failed ? -EINVAL : 0;
}
