/* SPDX-License-Identifier: MIT */
/*
 * Tracepoints of a recording. Its formats are in the section TRACING_DATA of a file, or behind a record of
 * a stream. They are parsed when a tracepoint is first asked for; those that cannot be are left out, and
 * that is said when one of them is wanted. A stream may bring more of them: what was handed out stays.
 */
#include "reader_base.h"

#include "base/buffer.h"
#include "base/error.h"
#include "base/load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const char magic[] = "\x17\x08\x44" "tracing";

bool reader_tracing_inside(const struct perfev_reader *reader, const struct perfev_record *record)
{
	const unsigned char *body = (const unsigned char *)record->data + 8;
	uint64_t size = record->size >= 12 + sizeof(magic) ? load_u32(body, reader->info.swapped) : 0;

	return reader->tracing_inside && record->type == PERFEV_RECORD_HEADER_TRACING_DATA && size &&
	       record->size == 12 + ((size + 63) & ~UINT64_C(63)) && !memcmp(body + 4, magic, sizeof(magic) - 1);
}

/* They follow perf's record, and are in simpleperf's, behind their size. */
static struct perfev_bytes formats_of(const struct perfev_reader *reader, const struct perfev_record *record)
{
	struct perfev_bytes bytes = record->tail;

	if (record->type != PERFEV_RECORD_SIMPLEPERF_TRACING_DATA && !reader_tracing_inside(reader, record))
		return bytes;
	bytes.data = (const unsigned char *)record->data + 8;
	bytes.size = 0;
	if (record->size >= 12) {
		bytes.size = load_u32(bytes.data, reader->info.swapped);
		bytes.data = (const unsigned char *)record->data + 12;
	}
	if (bytes.size && bytes.size > record->size - 12)
		bytes.size = 0;
	return bytes;
}

int reader_take_tracing(struct perfev_reader *reader, const struct perfev_record *record,
			struct perfev_error *err)
{
	struct reader_section *section = &reader->features[PERFEV_FEATURE_TRACING_DATA];
	void *copy = NULL;
	struct perfev_bytes bytes = formats_of(reader, record);

	if (bytes.size < sizeof(magic) - 1 || memcmp(bytes.data, magic, sizeof(magic) - 1))
		return 0;
	if (!(record->flags & PERFEV_RECORD_STABLE)) {
		copy = malloc(bytes.size);
		if (!copy)
			return error_memory(err);
		memcpy(copy, bytes.data, bytes.size);
	}
	free(section->owned);
	section->owned = copy;
	section->bytes.data = copy ? copy : bytes.data;
	section->bytes.size = bytes.size;
	section->offset = record->offset + (uint64_t)((const char *)bytes.data - (const char *)record->data);
	section->there = true;
	reader->tracing.parsed = false;
	return reader_name_tracepoints(reader, err);
}

void reader_free_tracing(struct perfev_reader *reader)
{
	size_t i;

	for (i = 0; i < reader->tracing.count; i++)
		perfev_tracepoint_free(reader->tracing.items[i]);
	free(reader->tracing.items);
	map_free(&reader->tracing.ids);
}

static int add(struct reader_tracing *all, struct perfev_tracepoint *tp)
{
	struct perfev_tracepoint_info info;
	struct perfev_tracepoint **items;

	perfev_tracepoint_describe(tp, &info);
	if (map_find(&all->ids, info.id)) {
		perfev_tracepoint_free(tp);
		return 0;
	}
	items = array_grow(all->items, &all->room, all->count, sizeof(*items));
	if (items)
		all->items = items;
	if (!items || !map_put(&all->ids, info.id, all->count)) {
		perfev_tracepoint_free(tp);
		return -ENOMEM;
	}
	all->items[all->count++] = tp;
	return 0;
}

static int add_format(struct reader_tracing *all, const struct perfev_tracing *tracing,
		      const struct perfev_tracing_format *format)
{
	struct perfev_tracepoint_opts opts = {sizeof(opts), format->system, tracing->swapped, 0};
	struct perfev_tracepoint *tp;
	int r;

	if (tracing->long_bytes == 4 || tracing->long_bytes == 8)
		opts.long_bytes = tracing->long_bytes;
	r = perfev_tracepoint_parse(&tp, format->text, &opts, all->damage.code ? NULL : &all->damage);
	if (r == -ENOMEM) /* is no damage */
		memset(&all->damage, 0, sizeof(all->damage));
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	return add(all, tp);
}

static int parse(struct perfev_reader *reader, struct perfev_error *err)
{
	struct reader_tracing *all = &reader->tracing;
	struct perfev_tracing_format format;
	struct perfev_tracing tracing;
	int r = perfev_feature_tracing(&tracing, reader->features[PERFEV_FEATURE_TRACING_DATA].bytes,
				       &all->damage);

	while (r >= 0 && (r = perfev_feature_tracing_next(&tracing, &format, &all->damage)) > 0) {
		r = add_format(all, &tracing, &format);
		if (r < 0)
			return error_memory(err);
	}
	all->parsed = true;
	return 0;
}

int perfev_reader_tracepoint(struct perfev_reader *reader, uint64_t id, const struct perfev_tracepoint **ret,
			     struct perfev_error *err)
{
	struct reader_tracing *all = &reader->tracing;
	const uint64_t *index;
	int r = 0;

	if (!reader->features[PERFEV_FEATURE_TRACING_DATA].there)
		return error_set(err, -ENOENT, PERFEV_WHY_NOT_FOUND, ERROR_NOWHERE,
				 "cannot decode tracepoint %llu of %.150s: the recording has no formats of "
				 "tracepoints; on the machine where it was made, perfev_tracepoint_find_id() has it",
				 (unsigned long long)id, reader->name);
	if (!all->parsed)
		r = parse(reader, err);
	if (r < 0)
		return r;
	index = map_find(&all->ids, id);
	if (index) {
		*ret = all->items[*index];
		return 0;
	}
	if (all->damage.code)
		return error_set(err, -EINVAL, all->damage.why, all->damage.where,
				 "cannot decode tracepoint %llu of %.100s: its formats are damaged (%.200s)",
				 (unsigned long long)id, reader->name, all->damage.text);
	return error_set(err, -ENOENT, PERFEV_WHY_NOT_FOUND, ERROR_NOWHERE,
			 "cannot decode tracepoint %llu of %.150s: its format is not among the %zu of the "
			 "recording",
			 (unsigned long long)id, reader->name, all->count);
}

/* simpleperf has lines NAME,TYPE,CONFIG. Return: the length of the name, at *@ret; 0: the event is in none. */
static size_t find_line(const char *lines, const struct perf_event_attr *attr, const char **ret)
{
	char tail[64];
	size_t n = (size_t)snprintf(tail, sizeof(tail), ",%u,%llu", attr->type, (unsigned long long)attr->config), size;

	for (; *lines; lines += size + (lines[size] == '\n')) {
		size = strcspn(lines, "\n");
		if (size <= n || memcmp(lines + size - n, tail, n))
			continue;
		*ret = lines;
		return size - n;
	}
	return 0;
}

static size_t find_meta_name(const struct perfev_reader *reader, const struct perf_event_attr *attr, const char **ret)
{
	struct perfev_feature_walk walk;
	struct perfev_feature_field field;
	struct perfev_bytes section;
	bool is_info = false;

	if (!perfev_reader_feature(reader, PERFEV_FEATURE_SIMPLEPERF_META_INFO, &section))
		return 0;
	perfev_feature_begin(&walk, PERFEV_FEATURE_SIMPLEPERF_META_INFO, section, reader->info.swapped, 0);
	while (perfev_feature_next(&walk, &field, NULL) > 0) {
		if (is_info)
			return find_line(field.text, attr, ret);
		is_info = !strcmp(field.name, "key") && !strcmp(field.text, "event_type_info");
	}
	return 0;
}

int reader_name_tracepoints(struct perfev_reader *reader, struct perfev_error *err)
{
	const struct perfev_tracepoint *tp;
	struct perfev_tracepoint_info info;
	const char *text;
	char name[256];
	size_t i, n;
	int r;

	for (i = 0; i < reader->event_count; i++) {
		struct reader_event *event = reader->events[i];

		if (event->named || event->attr.type != PERF_TYPE_TRACEPOINT)
			continue;
		n = find_meta_name(reader, &event->attr, &text);
		if (n) {
			event->named = reader_rename(event, text, n) == 0;
			if (!event->named)
				return error_memory(err);
			continue;
		}
		r = perfev_reader_tracepoint(reader, event->attr.config, &tp, NULL);
		if (r == -ENOMEM)
			return error_memory(err);
		if (r < 0)
			continue;
		perfev_tracepoint_describe(tp, &info);
		snprintf(name, sizeof(name), "%.120s:%.120s", info.system, info.name);
		if (reader_rename(event, name, strlen(name)) < 0)
			return error_memory(err);
		event->named = true;
	}
	return 0;
}
