/* SPDX-License-Identifier: MIT */
/*
 * The format of a tracepoint, line by line:
 *
 *	name: sched_switch
 *	ID: 314
 *	format:
 *		field:unsigned short common_type;	offset:0;	size:2;	signed:0;
 *		...						(an empty line ends the common ones)
 *		field:char prev_comm[16];	offset:8;	size:16;	signed:0;
 *
 *	print fmt: "prev_comm=%s ...", REC->prev_comm, ...	(to the end, over several lines)
 *
 * It comes from any recording, and so from anybody. Nothing is read but by lines and words of known size;
 * every number has a bound; two allocations are made, by the number of lines and the size of the text.
 * Members that are not known are passed over: newer kernels may have some.
 */
#include "tracepoint.h"

#include "base/error.h"
#include "base/number.h"
#include "base/opts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS_MAX 1024
#define MASKS_MAX  64
#define ID_MAX	   INT32_MAX

/* ---- lines ------------------------------------------------------------------------------------------ */

struct line {
	const char *text;
	size_t size;
};

struct parser {
	struct perfev_tracepoint *tp;
	const char *text;
	size_t size, at;
	char *words; /* what is left of tp->words */
	bool has_id, own; /* own: the common fields have ended */
	struct perfev_error *err;
};

static void skip_blanks(struct line *line)
{
	while (line->size && (*line->text == ' ' || *line->text == '\t')) {
		line->text++;
		line->size--;
	}
}

static bool next_line(struct parser *p, struct line *line)
{
	const char *end;

	if (p->at >= p->size)
		return false;
	line->text = p->text + p->at;
	end = memchr(line->text, '\n', p->size - p->at);
	line->size = end ? (size_t)(end - line->text) : p->size - p->at;
	p->at += line->size + (end != NULL);
	skip_blanks(line);
	while (line->size && (line->text[line->size - 1] == '\r' || line->text[line->size - 1] == ' '))
		line->size--;
	return true;
}

/* @line begins with @word, which is cut off, and blanks behind it. */
static bool skip(struct line *line, const char *word)
{
	size_t n = strlen(word);

	if (line->size < n || memcmp(line->text, word, n))
		return false;
	line->text += n;
	line->size -= n;
	skip_blanks(line);
	return true;
}

static int wrong(const struct parser *p, const char *at, const char *what)
{
	return error_set(p->err, -EINVAL, PERFEV_WHY_SYNTAX, (uint64_t)(at - p->text),
			 "cannot understand the format of a tracepoint%s%.60s: at byte %llu: %s; give the text of "
			 "a file called format in tracefs",
			 *p->tp->info.name ? " " : "", p->tp->info.name,
			 (unsigned long long)(at - p->text), what);
}

/* ---- a field ----------------------------------------------------------------------------------------- */

/* One member "key:number", up to a semicolon or the end, is cut off. */
static bool take_member(struct line *line, struct line *key, uint64_t *number)
{
	const char *colon, *end, *value;

	while (line->size && (*line->text == ' ' || *line->text == '\t' || *line->text == ';')) {
		line->text++;
		line->size--;
	}
	if (!line->size)
		return false;
	end = memchr(line->text, ';', line->size);
	if (!end)
		end = line->text + line->size;
	colon = memchr(line->text, ':', (size_t)(end - line->text));
	key->text = line->text;
	key->size = (size_t)((colon ? colon : end) - line->text);
	for (value = colon ? colon + 1 : end; value < end && *value == ' '; value++)
		;
	if (!number_parse(value, (size_t)(end - value), number))
		*number = UINT64_MAX;
	line->size -= (size_t)(end - line->text);
	line->text = end;
	return true;
}

static bool is_key(const struct line *key, const char *word)
{
	return key->size == strlen(word) && !memcmp(key->text, word, key->size);
}

static const char *read_members(struct perfev_field *field, struct line line, bool *has_sign)
{
	uint64_t offset = UINT64_MAX, size = UINT64_MAX, number;
	struct line key;

	*has_sign = false;
	while (take_member(&line, &key, &number)) {
		if (is_key(&key, "offset")) {
			offset = number;
		} else if (is_key(&key, "size")) {
			size = number;
		} else if (is_key(&key, "signed")) {
			*has_sign = true;
			field->is_signed = number == 1;
		}
	}
	if (offset > RAW_BYTES_MAX || size > RAW_BYTES_MAX || offset + size > RAW_BYTES_MAX)
		return "its offset and size are not given, or no record is as large";
	field->offset = (uint32_t)offset;
	field->size = (uint32_t)size;
	return NULL;
}

/* Common fields come first, all have this prefix, and an empty line is behind them. */
static void count_field(struct parser *p, const struct perfev_field *field)
{
	struct perfev_tracepoint_info *info = &p->tp->info;

	if (strncmp(field->name, "common_", 7))
		p->own = true;
	info->field_count++;
	info->common_count += !p->own;
}

static int read_field(struct parser *p, struct line line)
{
	struct perfev_field *field = &p->tp->fields[p->tp->info.field_count];
	const char *end = memchr(line.text, ';', line.size), *what;
	struct line members;
	bool has_sign;

	if (!end)
		return wrong(p, line.text, "the declaration of a field does not end");
	memset(field, 0, sizeof(*field));
	members.text = end + 1;
	members.size = line.size - (size_t)(end + 1 - line.text);
	what = read_members(field, members, &has_sign);
	if (!what)
		what = field_declare(field, line.text, (size_t)(end - line.text), &p->words,
				     p->tp->info.long_bytes);
	if (what)
		return wrong(p, line.text, what);
	if (!has_sign)
		field->is_signed = field_type_signed(field->type);
	field->swapped = p->tp->info.swapped;
	count_field(p, field);
	return 0;
}

/* ---- the whole ---------------------------------------------------------------------------------------- */

static const char *keep(struct parser *p, const char *text, size_t size)
{
	char *copy = p->words;

	memcpy(copy, text, size);
	copy[size] = 0;
	p->words += size + 1;
	return copy;
}

/* Everything behind "print fmt:", which may have lines of its own. */
static void take_print_format(struct parser *p, const struct line *line)
{
	size_t size = p->size - (size_t)(line->text - p->text);

	while (size && (line->text[size - 1] == '\n' || line->text[size - 1] == '\r'))
		size--;
	p->tp->text_size = (size_t)(line->text - p->text) + size;
	p->tp->text[p->tp->text_size] = 0;
	p->tp->info.print_format = line->text;
	p->at = p->size;
}

static int read_line(struct parser *p, struct line line)
{
	struct perfev_tracepoint_info *info = &p->tp->info;

	if (!line.size && info->field_count)
		p->own = true;
	else if (skip(&line, "field:"))
		return read_field(p, line);
	else if (skip(&line, "print fmt:"))
		take_print_format(p, &line);
	else if (skip(&line, "name:") && !*info->name)
		info->name = keep(p, line.text, line.size);
	else if (skip(&line, "ID:")) {
		p->has_id = number_parse(line.text, line.size, &info->id) && info->id <= ID_MAX;
		if (!p->has_id)
			return wrong(p, line.text, "this is no id");
	}
	return 0;
}

static int read_lines(struct parser *p)
{
	struct line line;
	int r;

	while (next_line(p, &line)) {
		r = read_line(p, line);
		if (r < 0)
			return r;
	}
	if (!*p->tp->info.name)
		return wrong(p, p->text, "it has no name");
	return p->has_id ? 0 : wrong(p, p->text, "it has no id");
}

/* The elements of masks look like those of other arrays; the text that prints them tells. */
static void find_masks(struct perfev_tracepoint *tp)
{
	const char *at = tp->info.print_format;
	size_t i, size, masks;

	for (masks = 0; masks < MASKS_MAX && (at = strstr(at, "bitmask(")) != NULL; masks++) {
		at += strlen("bitmask(");
		size = strcspn(at, ") ");
		for (i = 0; i < tp->info.field_count; i++) {
			struct perfev_field *field = &tp->fields[i];

			if (!strncmp(field->name, at, size) && !field->name[size] && field->is_array &&
			    field->is_long)
				field->kind = PERFEV_FIELD_BITMASK;
		}
	}
}

/* How many fields there are at most, and the size of a word where the caller does not know. */
static int look_over(struct parser *p, size_t *count, uint32_t *long_bytes)
{
	struct perfev_field field;
	struct line line, type;
	bool has_sign;

	*count = 0;
	while (next_line(p, &line) && !skip(&line, "print fmt:")) {
		if (!skip(&line, "field:"))
			continue;
		if (++*count > FIELDS_MAX)
			return wrong(p, line.text, "it has more fields than any tracepoint");
		type = line;
		type.size = strcspn(line.text, ";[\n");
		if (*long_bytes || type.size >= line.size || line.text[type.size] != ';')
			continue;
		line.text += type.size;
		line.size -= type.size;
		if (!read_members(&field, line, &has_sign) && field_type_word(type.text, type.size) &&
		    (field.size == 4 || field.size == 8))
			*long_bytes = field.size;
	}
	if (!*long_bytes)
		*long_bytes = 8;
	p->at = 0;
	return 0;
}

static struct perfev_tracepoint *new_tracepoint(struct perfev_bytes text, const char *system)
{
	struct perfev_tracepoint *tp = calloc(1, sizeof(*tp));
	/* a field's words need 2 bytes more than its declaration, and "field:" alone has 6 */
	size_t words = text.size + strlen(system) + 2;

	if (!tp)
		return NULL;
	tp->text_size = text.size;
	tp->text = malloc(text.size + 1 + words);
	if (!tp->text) {
		free(tp);
		return NULL;
	}
	if (text.size)
		memcpy(tp->text, text.data, text.size);
	tp->text[text.size] = 0;
	tp->words = tp->text + text.size + 1;
	tp->info.name = tp->info.system = tp->info.print_format = "";
	return tp;
}

static int parse(struct parser *p, const struct perfev_tracepoint_opts *opts)
{
	struct perfev_tracepoint *tp = p->tp;
	size_t count;
	int r;

	p->words = tp->words;
	tp->info.system = keep(p, opts->system ? opts->system : "", strlen(opts->system ? opts->system : ""));
	tp->info.swapped = opts->swapped;
	tp->info.long_bytes = opts->long_bytes;
	r = look_over(p, &count, &tp->info.long_bytes);
	if (r < 0)
		return r;
	tp->fields = malloc((count ? count : 1) * sizeof(*tp->fields));
	if (!tp->fields)
		return error_memory(p->err);
	r = read_lines(p);
	if (r == 0)
		find_masks(tp);
	return r;
}

int perfev_tracepoint_parse(struct perfev_tracepoint **ret, struct perfev_bytes text,
			    const struct perfev_tracepoint_opts *opts, struct perfev_error *err)
{
	struct parser p = {.err = err};
	struct perfev_tracepoint_opts full;
	int r = opts_copy(&full, sizeof(full), opts, err);

	if (r < 0)
		return r;
	if (full.long_bytes != 0 && full.long_bytes != 4 && full.long_bytes != 8)
		return error_set(err, -EINVAL, PERFEV_WHY_ARGUMENT, ERROR_NOWHERE,
				 "cannot parse a format: a long of %u bytes cannot be; set long_bytes to 4 or 8, or "
				 "to 0",
				 full.long_bytes);
	if (text.size > FORMAT_BYTES_MAX)
		return error_set(err, -EINVAL, PERFEV_WHY_SYNTAX, FORMAT_BYTES_MAX,
				 "cannot understand the format of a tracepoint: it has %zu bytes, and no format has "
				 "more than %u; give the text of a file called format in tracefs",
				 text.size, FORMAT_BYTES_MAX);
	p.tp = new_tracepoint(text, full.system ? full.system : "");
	if (!p.tp)
		return error_memory(err);
	p.text = p.tp->text;
	p.size = text.size;
	r = parse(&p, &full);
	if (r < 0)
		perfev_tracepoint_free(p.tp);
	else
		*ret = p.tp;
	return r;
}

void perfev_tracepoint_free(struct perfev_tracepoint *tracepoint)
{
	if (!tracepoint)
		return;
	free(tracepoint->fields);
	free(tracepoint->text);
	free(tracepoint);
}

/* ---- what it has ---------------------------------------------------------------------------------------- */

void perfev_tracepoint_describe(const struct perfev_tracepoint *tracepoint,
				struct perfev_tracepoint_info *ret)
{
	*ret = tracepoint->info;
}

const struct perfev_field *perfev_tracepoint_field(const struct perfev_tracepoint *tracepoint,
						   const char *name)
{
	size_t i;

	for (i = 0; i < tracepoint->info.field_count; i++)
		if (!strcmp(tracepoint->fields[i].name, name))
			return &tracepoint->fields[i];
	return NULL;
}

const struct perfev_field *perfev_tracepoint_field_at(const struct perfev_tracepoint *tracepoint,
						      size_t index)
{
	return index < tracepoint->info.field_count ? &tracepoint->fields[index] : NULL;
}
