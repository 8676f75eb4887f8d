/* SPDX-License-Identifier: MIT */
/*
 * Files with their symbols, as simpleperf writes them down: SIMPLEPERF_FILE, and SIMPLEPERF_FILE2, whose entries are messages of
 * protocol buffers.
 *
 * An entry says its size. All of it is looked at before it is handed out, so that what is handed out fits: its symbols are
 * then taken one by one, without memory of their own.
 */
#include <perfev/feature.h>

#include "base/error.h"
#include "message.h"

#include <errno.h>

/* A text up to its zero, without it. */
static struct perfev_bytes take_ended(struct byte_cursor *c)
{
	const unsigned char *zero = c->at < c->end ? memchr(c->at, 0, (size_t)(c->end - c->at)) : NULL;
	struct perfev_bytes bytes;

	if (!zero) {
		c->bad = true;
		return message_bytes(c, 0);
	}
	bytes = message_bytes(c, (uint64_t)(zero - c->at));
	c->at++;
	return bytes;
}

static struct byte_cursor cursor_of(struct perfev_bytes bytes, bool swapped)
{
	const unsigned char *at = bytes.size ? bytes.data : (const unsigned char *)"";

	return (struct byte_cursor){at, at + bytes.size, swapped, false};
}

/* ---- SIMPLEPERF_FILE ------------------------------------------------------------------------------------------------ */

static void take_plain_symbol(struct byte_cursor *c, struct perfev_recorded_symbol *ret)
{
	ret->address = cursor_u64(c);
	ret->size = cursor_u32(c);
	ret->name = take_ended(c);
}

static void take_plain(struct byte_cursor c, struct perfev_recorded_file *ret, bool *bad)
{
	struct perfev_recorded_symbol symbol;
	const unsigned char *first;
	uint32_t i;

	ret->path = take_ended(&c);
	ret->kind = cursor_u32(&c);
	ret->min_address = cursor_u64(&c);
	ret->symbol_count = cursor_u32(&c);
	first = c.at;
	for (i = 0; i < ret->symbol_count && !c.bad; i++)
		take_plain_symbol(&c, &symbol);
	ret->symbols.data = first;
	ret->symbols.size = (size_t)(c.at - first);
	/* older ones end here */
	if ((ret->kind == PERFEV_RECORDED_ELF || ret->kind == PERFEV_RECORDED_KERNEL_MODULE) && c.at < c.end)
		ret->offset = cursor_u64(&c);
	*bad = c.bad;
}

/* ---- SIMPLEPERF_FILE2 ------------------------------------------------------------------------------------------------ */

static bool take_packed_symbol(struct perfev_bytes message, struct perfev_recorded_symbol *ret)
{
	struct byte_cursor c = message_begin(message);
	struct message_field f;

	memset(ret, 0, sizeof(*ret));
	ret->name.data = "";
	while (message_next(&c, &f)) {
		if (f.number == 1 && !f.is_bytes)
			ret->address = f.value;
		else if (f.number == 2 && !f.is_bytes)
			ret->size = f.value;
		else if (f.number == 3 && f.is_bytes)
			ret->name = f.bytes;
	}
	return !c.bad;
}

/* The only number of a message: where something is. */
static uint64_t take_offset(struct perfev_bytes message, bool *bad)
{
	struct byte_cursor c = message_begin(message);
	uint64_t offset = 0;
	struct message_field f;

	while (message_next(&c, &f))
		if (f.number == 1 && !f.is_bytes)
			offset = f.value;
	*bad |= c.bad;
	return offset;
}

static void take_packed(struct perfev_bytes message, struct perfev_recorded_file *ret, bool *bad)
{
	struct byte_cursor c = message_begin(message);
	struct perfev_recorded_symbol symbol;
	struct message_field f;

	ret->symbols = message;
	ret->packed = 1;
	ret->path.data = "";
	while (!*bad && message_next(&c, &f)) {
		if (f.number == 1 && f.is_bytes)
			ret->path = f.bytes;
		else if (f.number == 2 && !f.is_bytes)
			ret->kind = (uint32_t)f.value;
		else if (f.number == 3 && !f.is_bytes)
			ret->min_address = f.value;
		else if ((f.number == 6 || f.number == 7) && f.is_bytes)
			ret->offset = take_offset(f.bytes, bad);
		if (f.number != 4 || !f.is_bytes)
			continue;
		*bad = !take_packed_symbol(f.bytes, &symbol);
		ret->symbol_count++;
	}
	*bad |= c.bad;
}

/* ---- both ------------------------------------------------------------------------------------------------------------ */

int perfev_feature_file(struct perfev_recorded_file *ret, struct perfev_bytes section, unsigned feature, bool swapped,
			size_t *position, struct perfev_error *err)
{
	struct perfev_bytes rest = {(const unsigned char *)section.data + *position, section.size - *position}, entry;
	struct byte_cursor c = cursor_of(rest, swapped);
	bool bad;

	if (*position >= section.size)
		return 0;
	memset(ret, 0, sizeof(*ret));
	ret->offset = UINT64_MAX;
	ret->swapped = swapped;
	entry = message_bytes(&c, cursor_u32(&c));
	bad = c.bad;
	if (!bad && feature == PERFEV_FEATURE_SIMPLEPERF_FILE2)
		take_packed(entry, ret, &bad);
	else if (!bad)
		take_plain(cursor_of(entry, swapped), ret, &bad);
	if (bad)
		return error_set(err, -EINVAL, PERFEV_WHY_TRUNCATED, *position,
				 "cannot read section %s: its file at byte %zu of %zu does not fit", perfev_feature_name(feature),
				 *position, section.size);
	*position += (size_t)(c.at - (const unsigned char *)rest.data);
	return 1;
}

bool perfev_recorded_file_next(const struct perfev_recorded_file *file, size_t *position, struct perfev_recorded_symbol *ret)
{
	struct perfev_bytes rest = {(const unsigned char *)file->symbols.data + *position, file->symbols.size - *position};
	struct byte_cursor c = cursor_of(rest, file->packed ? PERFEV_BIG_ENDIAN : file->swapped);
	bool found = false;
	struct message_field f;

	if (*position >= file->symbols.size)
		return false;
	if (!file->packed)
		take_plain_symbol(&c, ret);
	while (file->packed && !found && message_next(&c, &f))
		found = f.number == 4 && f.is_bytes && take_packed_symbol(f.bytes, ret);
	*position += (size_t)(c.at - (const unsigned char *)rest.data);
	return file->packed ? found : !c.bad;
}
