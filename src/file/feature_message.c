/* SPDX-License-Identifier: MIT */
/*
 * Sections that are one message of protocol buffers: SIMPLEPERF_DEBUG_UNWIND and SIMPLEPERF_ETM_BRANCH_LIST.
 *
 * A message is handed out as what it says of itself, in the order of the table, and then the messages in it, one after the
 * other: so that the order in which they were written does not matter. What is missing is 0 or empty, as the format has it;
 * what the table does not have is passed over. No field is looked at twice at a level but once for each row of its table.
 */
#include "feature_message.h"

#include "base/error.h"
#include "message.h"

#include <errno.h>

enum kind { NUMBER, MAYBE /* a number that is told when it is there */, TEXT, BYTES, INNER /* a message of one number */, LIST };

enum message { FILES, DEBUG_FILE, BRANCHES, BINARY, ADDRESS, BRANCH };

struct row {
	uint8_t number, kind, message; /* of LIST */
	const char *name;
};

/* LIST is the last one, and each table has one, or ends with one of no number. */
static const struct row tables[][6] = {
	[FILES] = {{1, LIST, DEBUG_FILE, NULL}},
	[DEBUG_FILE] = {{1, TEXT, 0, "path"}, {2, NUMBER, 0, "size"}, {0, LIST, 0, NULL}},
	[BRANCHES] = {{1, TEXT, 0, "magic"}, {3, MAYBE, 0, "kernel_start_address"}, {2, LIST, BINARY, NULL}},
	[BINARY] = {{1, TEXT, 0, "path"}, {2, TEXT, 0, "build_id"}, {4, NUMBER, 0, "binary_type"},
		    {5, INNER, 0, "kernel_start_address"}, {3, LIST, ADDRESS, NULL}},
	[ADDRESS] = {{1, NUMBER, 0, "address"}, {2, LIST, BRANCH, NULL}},
	[BRANCH] = {{1, BYTES, 0, "branch"}, {2, NUMBER, 0, "branch_size"}, {3, NUMBER, 0, "count"}, {0, LIST, 0, NULL}},
};

#define LEVEL_OF(w) (&(w)->levels[(w)->depth])

static struct byte_cursor cursor_at(const struct perfev_feature_walk *w, size_t at)
{
	struct perfev_bytes rest = {(const unsigned char *)w->section.data + at, LEVEL_OF(w)->end - at};

	return message_begin(rest);
}

static void enter(struct perfev_feature_walk *w, enum message message, struct perfev_bytes bytes, uint64_t index)
{
	size_t at = (size_t)((const unsigned char *)bytes.data - (const unsigned char *)w->section.data);

	w->levels[w->depth].begin = w->levels[w->depth].at = at;
	w->levels[w->depth].end = at + bytes.size;
	w->levels[w->depth].message = (uint8_t)message;
	w->levels[w->depth].row = 0;
	w->levels[w->depth].index = index;
	w->levels[w->depth].count = 0;
	w->fresh = true;
}

bool feature_message_begin(struct perfev_feature_walk *w)
{
	bool is_message = w->feature == PERFEV_FEATURE_SIMPLEPERF_DEBUG_UNWIND ||
			  w->feature == PERFEV_FEATURE_SIMPLEPERF_ETM_BRANCH_LIST;

	if (is_message)
		enter(w, w->feature == PERFEV_FEATURE_SIMPLEPERF_DEBUG_UNWIND ? FILES : BRANCHES, w->section, 0);
	return is_message;
}

void feature_keep_text(struct perfev_feature_walk *w, struct perfev_bytes from)
{
	size_t size = from.size < sizeof(w->file.text) ? from.size : sizeof(w->file.text) - 1;

	if (size)
		memcpy(w->file.text, from.data, size);
	w->file.text[size] = 0;
}

static uint64_t inner_number(struct perfev_bytes message, bool *bad)
{
	struct byte_cursor c = message_begin(message);
	struct message_field f;
	uint64_t value = 0;

	while (message_next(&c, &f))
		if (f.number == 1 && !f.is_bytes)
			value = f.value;
	*bad |= c.bad;
	return value;
}

/* What the message says last of a row counts. Return: 1 it is a field; 0 it is not there; -EINVAL. */
static int take_row(struct perfev_feature_walk *w, const struct row *row, struct perfev_feature_field *ret)
{
	struct byte_cursor c = cursor_at(w, LEVEL_OF(w)->begin);
	bool is_bytes = row->kind >= TEXT, found = row->kind != MAYBE && row->kind != INNER, bad = false;
	struct perfev_bytes bytes = {"", 0};
	struct message_field f;

	while (message_next(&c, &f)) {
		if (f.number != row->number || f.is_bytes != is_bytes)
			continue;
		found = true;
		bytes = f.bytes;
		ret->number = row->kind == INNER ? inner_number(f.bytes, &bad) : f.value;
	}
	ret->name = row->name;
	ret->kind = row->kind == TEXT ? PERFEV_FEATURE_TEXT : row->kind == BYTES ? PERFEV_FEATURE_BYTES : PERFEV_FEATURE_NUMBER;
	if (row->kind == TEXT)
		feature_keep_text(w, bytes);
	ret->text = w->file.text;
	ret->bytes = bytes;
	return c.bad || bad ? -EINVAL : found;
}

/* The next message in the one where it is, or back to the one that this is in. Return: 0; -EINVAL. */
static int go_on(struct perfev_feature_walk *w, const struct row *row)
{
	struct byte_cursor c = cursor_at(w, LEVEL_OF(w)->at);
	struct message_field f;

	while (row->number && message_next(&c, &f)) { /* a message that has no list is the innermost */
		if (f.number != row->number || !f.is_bytes)
			continue;
		LEVEL_OF(w)->at = (size_t)(c.at - (const unsigned char *)w->section.data);
		w->depth++;
		enter(w, row->message, f.bytes, w->levels[w->depth - 1].count++);
		return 0;
	}
	w->ended = c.bad || !w->depth;
	w->depth -= !w->ended;
	return c.bad ? -EINVAL : 0;
}

static int cut(struct perfev_feature_walk *w, struct perfev_error *err)
{
	w->ended = true;
	return error_set(err, -EINVAL, PERFEV_WHY_TRUNCATED, LEVEL_OF(w)->begin,
			 "cannot read section %s: its message at byte %zu of %zu does not fit", perfev_feature_name(w->feature),
			 LEVEL_OF(w)->begin, w->section.size);
}

int feature_message_next(struct perfev_feature_walk *w, struct perfev_feature_field *ret, struct perfev_error *err)
{
	int r = 0;

	while (r == 0 && !w->ended) {
		const struct row *row = &tables[LEVEL_OF(w)->message][LEVEL_OF(w)->row];

		if (row->kind == LIST) {
			r = go_on(w, row);
			continue;
		}
		memset(ret, 0, sizeof(*ret));
		r = take_row(w, row, ret);
		LEVEL_OF(w)->row++;
		if (r <= 0)
			continue;
		ret->depth = w->depth;
		ret->index = LEVEL_OF(w)->index;
		ret->first = w->depth && w->fresh;
		w->fresh = false;
	}
	return r < 0 ? cut(w, err) : r;
}
