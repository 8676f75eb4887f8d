/* SPDX-License-Identifier: MIT */
/* Formats of tracepoints: any text is understood or refused, and fields of any shape read from any bytes only
 * what is inside. The input is a byte of flags, one of the size of a long, 16 bits with the size of the raw bytes,
 * the format, and the raw bytes. */
#include "fuzz.h"

#include <perfev/tracepoint.h>

#define HEAD 4

static void inside(struct perfev_bytes raw, struct perfev_bytes view)
{
	const uint8_t *from = raw.data, *at = view.data;

	if (at < from || view.size > raw.size || (size_t)(at - from) > raw.size - view.size)
		abort();
	touch(view.data, view.size);
}

static void use_field(const struct perfev_field *field, struct perfev_bytes raw)
{
	size_t count = perfev_field_count(field, raw);
	struct perfev_bytes bytes, text;
	uint64_t number;
	int64_t same;

	if (perfev_field_bytes(field, raw, &bytes))
		inside(raw, bytes);
	else if (count || perfev_field_uint(field, raw, &number) || perfev_field_string(field, raw, &text))
		abort();
	if (perfev_field_string(field, raw, &text)) {
		inside(raw, text);
		if (text.size > bytes.size || memchr(text.data, 0, text.size))
			abort();
	}
	if (perfev_field_uint(field, raw, &number) &&
	    (!perfev_field_int(field, raw, &same) || (uint64_t)same != number))
		abort();
	if (count && perfev_field_uint_at(field, raw, count - 1, &number) != (field->kind != PERFEV_FIELD_OTHER))
		abort();
	if (perfev_field_uint_at(field, raw, count, &number) || perfev_field_uint_at(field, raw, SIZE_MAX, &number))
		abort();
	perfev_field_bit(field, raw, 0);
	if (perfev_field_bit(field, raw, bytes.size * 8) && field->kind != PERFEV_FIELD_BITMASK)
		abort();
	perfev_field_bit(field, raw, SIZE_MAX);
}

static void use(const struct perfev_tracepoint *tp, struct perfev_bytes raw)
{
	struct perfev_tracepoint_info info;
	const struct perfev_field *field;
	char part[16], *text;
	size_t i, size;

	perfev_tracepoint_describe(tp, &info);
	touch(info.name, strlen(info.name) + 1);
	touch(info.print_format, strlen(info.print_format) + 1);
	if (info.common_count > info.field_count || perfev_tracepoint_field_at(tp, info.field_count))
		abort();
	for (i = 0; i < info.field_count; i++) {
		field = perfev_tracepoint_field_at(tp, i);
		touch(field->type, strlen(field->type) + 1);
		if (!perfev_tracepoint_field(tp, field->name) || field->kind > PERFEV_FIELD_OTHER ||
		    field->place > PERFEV_FIELD_REST)
			abort();
		use_field(field, raw);
	}
	size = perfev_tracepoint_format(part, sizeof(part), tp, raw);
	text = malloc(size + 1);
	if (!text)
		abort();
	if (perfev_tracepoint_format(text, size + 1, tp, raw) != size || strlen(text) != size)
		abort();
	if (strncmp(text, part, strlen(part)))
		abort();
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfev_tracepoint_opts opts = {sizeof(opts), "system", 0, 0};
	struct perfev_tracepoint *tp;
	struct perfev_bytes text, raw;
	struct perfev_error err;
	uint8_t *exact;

	if (size < HEAD)
		return 0;
	opts.swapped = data[0] & 1;
	opts.long_bytes = data[1] % 3 * 4;
	raw.size = (size_t)data[2] | (size_t)data[3] << 8;
	if (raw.size > size - HEAD)
		raw.size = size - HEAD;
	text.data = data + HEAD;
	text.size = size - HEAD - raw.size;
	exact = malloc(raw.size ? raw.size : 1); /* a sanitizer sees both ends */
	if (!exact)
		abort();
	memcpy(exact, data + size - raw.size, raw.size);
	raw.data = exact;
	if (perfev_tracepoint_parse(&tp, text, &opts, &err) == 0) {
		use(tp, raw);
		perfev_tracepoint_free(tp);
	} else if (!err.text[0] || err.where > text.size) {
		abort();
	}
	free(exact);
	return 0;
}
