/* SPDX-License-Identifier: MIT */
/*
 * Records of tools. A cursor goes over the body and never beyond it: what is not there makes the record one that
 * cannot be decoded, and every number that counts something is compared with the bytes that are left before it is
 * used. Texts are checked for their end, because they are handed out as they are.
 */
#include "attr_bytes.h"
#include "user_cursor.h"

#include "base/error.h"

#include <perfev/user_record.h>

#include <errno.h>

/* ---- events and sections -------------------------------------------------------------------------------------- */

static void take_attr(struct byte_cursor *c, struct perfev_header_attr *ret)
{
	uint32_t size = cursor_left(c) >= 8 ? load_u32(c->at + 4, c->swap) : 0;

	if (!size)
		size = PERF_ATTR_SIZE_VER0;
	if (size < PERF_ATTR_SIZE_VER0 || size > cursor_left(c)) {
		c->bad = true;
		return;
	}
	attr_from_bytes(&ret->attr, c->at, size, c->swap);
	cursor_take(c, size);
	ret->ids = cursor_words(c, cursor_left(c) / 8);
}

static void take_event_type(struct byte_cursor *c, struct perfev_header_event_type *ret)
{
	struct perfev_bytes name;

	ret->event_id = cursor_u64(c);
	name = cursor_rest(c); /* without an end, when it fills the record */
	if (name.size > sizeof(ret->name) - 1)
		name.size = sizeof(ret->name) - 1;
	memcpy(ret->name, name.data, name.size);
}

static void take_tracing(struct byte_cursor *c, const struct perfev_record *record, struct perfev_header_tracing *ret)
{
	ret->size = cursor_u32(c);
	ret->section = record->tail;
	if (ret->size < ret->section.size)
		ret->section.size = ret->size; /* what follows is padding */
}

static int take_build_id(const struct perfev_record *record, struct perfev_build_id *ret, struct perfev_error *err)
{
	struct perfev_bytes bytes = {record->data, record->size};
	size_t position = 0;
	int r = perfev_feature_build_id(ret, bytes, record->flags & PERFEV_RECORD_SWAPPED, &position, err);

	return r < 0 ? r : 0;
}

/* ---- what ids, threads and CPUs are --------------------------------------------------------------------------- */

static void take_id_index(struct byte_cursor *c, struct perfev_id_index *ret)
{
	uint64_t count = cursor_u64(c);

	if (count > cursor_left(c) / 32) {
		c->bad = true;
		return;
	}
	ret->count = (uint32_t)count;
	ret->words = cursor_words(c, count * 4);
	if (cursor_left(c) / 16 >= count) /* of guests: only in files with some */
		ret->machines = cursor_words(c, count * 2);
}

bool perfev_id_index_at(const struct perfev_id_index *map, uint32_t index, struct perfev_id_index_entry *ret)
{
	if (index >= map->count)
		return false;
	memset(ret, 0, sizeof(*ret));
	ret->id = perfev_u64s_at(map->words, index * 4);
	ret->idx = perfev_u64s_at(map->words, index * 4 + 1);
	ret->cpu = (int64_t)perfev_u64s_at(map->words, index * 4 + 2);
	ret->tid = (int64_t)perfev_u64s_at(map->words, index * 4 + 3);
	if (map->machines.count) {
		ret->machine_pid = (int64_t)perfev_u64s_at(map->machines, index * 2);
		ret->vcpu = (int64_t)perfev_u64s_at(map->machines, index * 2 + 1);
	}
	return true;
}

static void take_thread_map(struct byte_cursor *c, struct perfev_thread_map *ret)
{
	uint64_t count = cursor_u64(c);

	if (count > cursor_left(c) / 24) {
		c->bad = true;
		return;
	}
	ret->entries = c->at;
	ret->count = (uint32_t)count;
	ret->swapped = c->swap;
}

bool perfev_thread_map_at(const struct perfev_thread_map *map, uint32_t index, struct perfev_thread_map_entry *ret)
{
	const unsigned char *at = map->entries;

	if (index >= map->count)
		return false;
	at += (size_t)index * 24;
	ret->pid = (int64_t)load_u64(at, map->swapped);
	memcpy(ret->comm, at + 8, 16);
	ret->comm[16] = 0;
	return true;
}

static void take_cpu_map(struct byte_cursor *c, struct perfev_cpu_map *ret)
{
	ret->kind = cursor_u16(c);
	ret->swapped = c->swap;
	if (ret->kind == 2) {
		ret->any = cursor_u8(c) != 0;
		cursor_u8(c);
		ret->start = cursor_u16(c);
		ret->end = cursor_u16(c);
		return;
	}
	if (ret->kind > 2) {
		c->bad = true;
		return;
	}
	ret->count = cursor_u16(c);
	ret->word_bytes = 2;
	if (ret->kind == 1) {
		uint16_t bytes = cursor_u16(c);

		if (bytes != 4 && bytes != 8)
			c->bad = true;
		if (bytes == 8)
			cursor_take(c, 4);
		ret->word_bytes = (uint8_t)bytes;
	}
	ret->words = c->at;
	if (c->bad || ret->count > cursor_left(c) / ret->word_bytes)
		c->bad = true;
}

/* Whether that bit of a mask is set. */
static bool in_mask(const struct perfev_cpu_map *map, uint32_t bit)
{
	uint32_t width = map->word_bytes * 8u;
	const unsigned char *at = (const unsigned char *)map->words + (size_t)(bit / width) * map->word_bytes;
	uint64_t word = width == 64 ? load_u64(at, map->swapped) : load_u32(at, map->swapped);

	return word >> bit % width & 1;
}

bool perfev_cpu_map_next(const struct perfev_cpu_map *map, uint32_t *position, int32_t *cpu)
{
	uint32_t at = *position, bits = map->count * map->word_bytes * 8u;

	if (map->kind == 2) {
		uint32_t before = map->any ? 1 : 0;

		if (map->start > map->end && at >= before)
			return false;
		if (at >= before + (uint32_t)(map->end - map->start) + 1)
			return false;
		*cpu = at < before ? -1 : (int32_t)(map->start + at - before);
		*position = at + 1;
		return true;
	}
	if (map->kind == 0) {
		uint16_t word;

		if (at >= map->count)
			return false;
		word = load_u16((const unsigned char *)map->words + (size_t)at * 2, map->swapped);
		*cpu = word == UINT16_MAX ? -1 : word;
		*position = at + 1;
		return true;
	}
	while (at < bits && !in_mask(map, at))
		at++;
	*position = at + 1;
	*cpu = (int32_t)at;
	return at < bits;
}

/* ---- perf stat record ------------------------------------------------------------------------------------------- */

static void take_stat_config(struct byte_cursor *c, struct perfev_stat_config *ret)
{
	uint64_t count = cursor_u64(c);

	if (count > cursor_left(c) / 16)
		c->bad = true;
	else
		ret->words = cursor_words(c, count * 2);
}

static void take_stat(struct byte_cursor *c, struct perfev_stat *ret)
{
	ret->id = cursor_u64(c);
	ret->cpu = (int32_t)cursor_u32(c);
	ret->thread = cursor_u32(c);
	ret->value = cursor_u64(c);
	ret->enabled_ns = cursor_u64(c);
	ret->running_ns = cursor_u64(c);
}

static void take_stat_round(struct byte_cursor *c, struct perfev_stat_round *ret)
{
	ret->type = cursor_u64(c);
	ret->time_ns = cursor_u64(c);
}

static void take_update(struct byte_cursor *c, struct perfev_event_update *ret)
{
	uint64_t bits;

	ret->type = cursor_u64(c);
	ret->id = cursor_u64(c);
	ret->bytes.data = c->at;
	ret->bytes.size = cursor_left(c);
	switch (ret->type) {
	case PERFEV_UPDATE_UNIT:
	case PERFEV_UPDATE_NAME:
		ret->text = cursor_text(c);
		break;
	case PERFEV_UPDATE_SCALE:
		bits = cursor_u64(c);
		memcpy(&ret->scale, &bits, sizeof(bits));
		break;
	case PERFEV_UPDATE_CPUS:
		take_cpu_map(c, &ret->cpus);
		break;
	default:
		break;
	}
}

static void take_time_conv(struct byte_cursor *c, struct perfev_time_conv *ret)
{
	ret->shift = cursor_u64(c);
	ret->mult = cursor_u64(c);
	ret->zero = cursor_u64(c);
	if (cursor_left(c) < 18)
		return;
	ret->cycles = cursor_u64(c);
	ret->mask = cursor_u64(c);
	ret->user_time_zero = cursor_u8(c) != 0;
	ret->user_time_short = cursor_u8(c) != 0;
}

/* ---- others ------------------------------------------------------------------------------------------------------ */

static void take_auxtrace_error(struct byte_cursor *c, struct perfev_auxtrace_error *ret)
{
	ret->type = cursor_u32(c);
	ret->code = cursor_u32(c);
	ret->cpu = cursor_u32(c);
	ret->pid = cursor_u32(c);
	ret->tid = cursor_u32(c);
	ret->format = cursor_u32(c);
	ret->ip = cursor_u64(c);
	if (ret->format)
		ret->time_ns = cursor_u64(c);
	if (ret->format < 2 || cursor_left(c) < 72) { /* where the text ends the record */
		ret->message = cursor_text(c);
		return;
	}
	ret->message = (const char *)c->at;
	if (!memchr(c->at, 0, 64))
		c->bad = true;
	cursor_take(c, 64);
	ret->machine_pid = cursor_u32(c);
	ret->vcpu = cursor_u32(c);
}

#define KEY_BYTES   64
#define ENTRY_BYTES (64 + 256)

static void take_bpf_metadata(struct byte_cursor *c, struct perfev_bpf_metadata *ret)
{
	uint64_t count, i;

	ret->program = (const char *)c->at;
	if (cursor_left(c) < 512 || !memchr(c->at, 0, 512)) {
		c->bad = true;
		return;
	}
	cursor_take(c, 512);
	count = cursor_u64(c);
	if (count > cursor_left(c) / ENTRY_BYTES) {
		c->bad = true;
		return;
	}
	ret->entries = c->at;
	ret->count = (uint32_t)count;
	for (i = 0; i < count; i++) {
		const unsigned char *entry = c->at + i * ENTRY_BYTES;

		if (!memchr(entry, 0, KEY_BYTES) || !memchr(entry + KEY_BYTES, 0, ENTRY_BYTES - KEY_BYTES))
			c->bad = true;
	}
}

bool perfev_bpf_metadata_at(const struct perfev_bpf_metadata *metadata, uint32_t index, const char **key,
			    const char **value)
{
	if (index >= metadata->count)
		return false;
	*key = (const char *)metadata->entries + (size_t)index * ENTRY_BYTES;
	*value = *key + KEY_BYTES;
	return true;
}

static void take_schedstat(struct byte_cursor *c, bool domain, struct perfev_schedstat *ret)
{
	ret->timestamp = cursor_u64(c);
	ret->cpu = cursor_u32(c);
	ret->version = cursor_u16(c);
	ret->domain = cursor_u16(c);
	ret->swapped = c->swap;
	if (domain) {
		ret->counters = c->at;
		ret->counter_count = (uint32_t)(cursor_left(c) / 4);
		return;
	}
	ret->domain = 0;
	ret->yld_count = cursor_u32(c);
	ret->array_exp = cursor_u32(c);
	ret->sched_count = cursor_u32(c);
	ret->sched_goidle = cursor_u32(c);
	ret->ttwu_count = cursor_u32(c);
	ret->ttwu_local = cursor_u32(c);
	ret->rq_cpu_time = cursor_u64(c);
	ret->run_delay = cursor_u64(c);
	ret->pcount = cursor_u64(c);
}

static void take_compressed2(struct byte_cursor *c, struct perfev_compressed *ret)
{
	uint64_t size = cursor_u64(c);

	ret->data.data = c->at;
	ret->data.size = cursor_left(c);
	if (size > cursor_left(c))
		c->bad = true;
	else
		ret->data.size = (size_t)size;
}

/* ---- any ----------------------------------------------------------------------------------------------------------- */

static int wrong_type(const struct perfev_record *record, struct perfev_error *err)
{
	return error_set(err, -ENOTSUP, PERFEV_WHY_UNSUPPORTED, record->offset,
			 "cannot decode the record at 0x%llx: type %u is no record of a tool that is known",
			 (unsigned long long)record->offset, record->type);
}

/* Records of perf. Return: false for a type that is none. */
static bool take_perf(struct byte_cursor *c, struct perfev_user *ret, const struct perfev_record *record)
{
	switch (record->type) {
	case PERFEV_RECORD_HEADER_ATTR:
		take_attr(c, &ret->as.header_attr);
		break;
	case PERFEV_RECORD_HEADER_EVENT_TYPE:
		take_event_type(c, &ret->as.header_event_type);
		break;
	case PERFEV_RECORD_HEADER_TRACING_DATA:
		take_tracing(c, record, &ret->as.header_tracing);
		break;
	case PERFEV_RECORD_FINISHED_ROUND:
	case PERFEV_RECORD_FINISHED_INIT:
		break;
	case PERFEV_RECORD_ID_INDEX:
		take_id_index(c, &ret->as.id_index);
		break;
	case PERFEV_RECORD_AUXTRACE_ERROR:
		take_auxtrace_error(c, &ret->as.auxtrace_error);
		break;
	case PERFEV_RECORD_THREAD_MAP:
		take_thread_map(c, &ret->as.thread_map);
		break;
	case PERFEV_RECORD_CPU_MAP:
		take_cpu_map(c, &ret->as.cpu_map);
		break;
	case PERFEV_RECORD_STAT_CONFIG:
		take_stat_config(c, &ret->as.stat_config);
		break;
	case PERFEV_RECORD_STAT:
		take_stat(c, &ret->as.stat);
		break;
	case PERFEV_RECORD_STAT_ROUND:
		take_stat_round(c, &ret->as.stat_round);
		break;
	case PERFEV_RECORD_EVENT_UPDATE:
		take_update(c, &ret->as.event_update);
		break;
	case PERFEV_RECORD_TIME_CONV:
		take_time_conv(c, &ret->as.time_conv);
		break;
	case PERFEV_RECORD_HEADER_FEATURE:
		ret->as.header_feature.feature = cursor_u64(c);
		ret->as.header_feature.section = cursor_rest(c);
		break;
	case PERFEV_RECORD_COMPRESSED:
		ret->as.compressed.data = cursor_rest(c);
		break;
	case PERFEV_RECORD_COMPRESSED2:
		take_compressed2(c, &ret->as.compressed);
		break;
	case PERFEV_RECORD_BPF_METADATA:
		take_bpf_metadata(c, &ret->as.bpf_metadata);
		break;
	case PERFEV_RECORD_SCHEDSTAT_CPU:
	case PERFEV_RECORD_SCHEDSTAT_DOMAIN:
		take_schedstat(c, record->type == PERFEV_RECORD_SCHEDSTAT_DOMAIN, &ret->as.schedstat);
		break;
	default:
		return false;
	}
	return true;
}

int perfev_user_decode(struct perfev_user *ret, const struct perfev_record *record, struct perfev_error *err)
{
	const unsigned char *data = record->data;
	struct byte_cursor c = {data + 8, data + record->size, record->flags & PERFEV_RECORD_SWAPPED, false};

	if (record->size < 8)
		return error_set(err, -EINVAL, PERFEV_WHY_CORRUPT, record->offset, "cannot decode a record of %u bytes",
				 record->size);
	memset(ret, 0, sizeof(*ret));
	ret->type = record->type;
	if (record->type == PERFEV_RECORD_HEADER_BUILD_ID)
		return take_build_id(record, &ret->as.build_id, err);
	if (record->type == PERFEV_RECORD_AUXTRACE_INFO)
		return perfev_auxtrace_info_decode(&ret->as.auxtrace_info, record, err);
	if (record->type == PERFEV_RECORD_AUXTRACE)
		return perfev_auxtrace_decode(&ret->as.auxtrace, record, err);
	if (!take_perf(&c, ret, record) && !user_take_simpleperf(&c, ret, record->type))
		return wrong_type(record, err);
	if (c.bad)
		return error_set(err, -EINVAL, PERFEV_WHY_TRUNCATED, record->offset,
				 "cannot decode the record of type %u at 0x%llx: a field does not fit its %u bytes",
				 record->type, (unsigned long long)record->offset, record->size);
	return 0;
}
