/* SPDX-License-Identifier: MIT */
/*
 * Records of tools, written: as a line of text, and as JSON, by one walk, with the marks of notation.h.
 */
#include "notation.h"

#include "base/load.h"

#include <perfev/json.h>
#include <perfev/user_record.h>

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#define ATTR_ROOM 8192 /* of an attr as JSON: each member has a name and at most 64 bits */

static void put_text(struct out *o, const char *name, const char *text)
{
	out_name(o, name);
	out_string(o, text);
}

static void put_bytes(struct out *o, const char *name, struct perfev_bytes bytes)
{
	out_name(o, name);
	out_bytes(o, bytes);
}

/* -1 is what none is. */
static void put_signed(struct out *o, const char *name, int64_t value)
{
	out_name(o, name);
	out_put(o, o->json && (value > INT64_C(0x1fffffffffffff) || value < -INT64_C(0x1fffffffffffff)) ? "\"%" PRId64 "\""
													: "%" PRId64,
		value);
}

static void put_double(struct out *o, const char *name, double value)
{
	bool finite = value - value == 0;

	out_name(o, name);
	if (o->json && !finite)
		out_put(o, "null");
	else
		out_put(o, "%.17g", value);
}

static void begin_list(struct out *o, const char *name)
{
	out_name(o, name);
	out_list(o);
}

static void put_words(struct out *o, const char *name, struct perfev_u64s words)
{
	uint32_t i;

	begin_list(o, name);
	for (i = 0; i < words.count; i++) {
		out_item(o);
		out_put(o, o->json ? "\"%" PRIu64 "\"" : "%" PRIu64, perfev_u64s_at(words, i));
	}
	out_list_end(o);
}

/* Numbers that are written as they stand in a structure. */
struct member {
	const char *name;
	uint16_t at;
	uint8_t bytes, width; /* as it is kept; as it is written, 0: with its sign */
};

#define MEMBER(type, member, name, width) {name, offsetof(struct type, member), sizeof(((struct type *)NULL)->member), width}
#define SIGNED(type, member) MEMBER(type, member, #member, 0)
#define COUNT(members)	     (sizeof(members) / sizeof((members)[0]))

static void put_members(struct out *o, const void *from, const struct member *members, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		const unsigned char *at = (const unsigned char *)from + members[i].at;
		uint64_t value = members[i].bytes == 8	 ? load_u64(at, false)
				 : members[i].bytes == 4 ? load_u32(at, false)
				 : members[i].bytes == 2 ? load_u16(at, false)
							 : *at;

		if (members[i].width)
			out_field(o, members[i].name, value, members[i].width);
		else
			put_signed(o, members[i].name, (int32_t)value);
	}
}

/* An item of a list that has fields of its own. */
static void begin_item(struct out *o)
{
	out_item(o);
	out_open(o);
}

/* A list of such items, as many as there are: @put_item writes one, and says whether it is there. */
static void put_items(struct out *o, const char *name, const void *from, bool (*put_item)(struct out *, const void *, uint32_t))
{
	uint32_t i = 0;

	begin_list(o, name);
	while (put_item(o, from, i))
		i++;
	out_list_end(o);
}

static void put_attr(struct out *o, const struct perfev_header_attr *h)
{
	char text[ATTR_ROOM];
	int n = perfev_attr_to_json(text, sizeof(text), &h->attr, NULL), i;

	out_name(o, "attr");
	for (i = 0; n > 0 && n < (int)sizeof(text) && i < n; i++)
		out_char(o, text[i]);
	put_words(o, "ids", h->ids);
}

static void put_build_id(struct out *o, const struct perfev_build_id *id)
{
	struct perfev_bytes bytes = {id->id, id->size};

	put_signed(o, "pid", id->pid);
	put_bytes(o, "build_id", bytes);
	put_text(o, "filename", id->filename);
}

static bool put_id(struct out *o, const void *map_, uint32_t index)
{
	static const struct member members[] = {
		MEMBER(perfev_id_index_entry, id, "id", 8), MEMBER(perfev_id_index_entry, idx, "idx", 8),
		SIGNED(perfev_id_index_entry, cpu),	    SIGNED(perfev_id_index_entry, tid),
		SIGNED(perfev_id_index_entry, machine_pid), SIGNED(perfev_id_index_entry, vcpu),
	};
	const struct perfev_id_index *map = map_;
	struct perfev_id_index_entry entry;

	if (!perfev_id_index_at(map, index, &entry))
		return false;
	begin_item(o);
	put_members(o, &entry, members, map->machines.count ? 6 : 4);
	out_close(o);
	return true;
}

static bool put_thread(struct out *o, const void *map, uint32_t index)
{
	struct perfev_thread_map_entry entry;

	if (!perfev_thread_map_at(map, index, &entry))
		return false;
	begin_item(o);
	put_signed(o, "pid", entry.pid);
	put_text(o, "comm", entry.comm);
	out_close(o);
	return true;
}

static void put_cpu_map(struct out *o, const struct perfev_cpu_map *map)
{
	uint32_t position = 0;
	int32_t cpu;

	begin_list(o, "cpus");
	while (perfev_cpu_map_next(map, &position, &cpu)) {
		out_item(o);
		out_put(o, "%" PRId32, cpu);
	}
	out_list_end(o);
}

static void put_stat_config(struct out *o, const struct perfev_stat_config *config)
{
	static const char *const names[] = {"aggr_mode", "interval", "scale", "aggr_level"};
	char other[32];
	uint32_t i;

	for (i = 0; i + 1 < config->words.count; i += 2) {
		uint64_t tag = perfev_u64s_at(config->words, i);

		snprintf(other, sizeof(other), "tag_%" PRIu64, tag);
		out_field(o, tag < 4 ? names[tag] : other, perfev_u64s_at(config->words, i + 1), 8);
	}
}

static void put_stat(struct out *o, const struct perfev_stat *stat)
{
	static const struct member members[] = {
		MEMBER(perfev_stat, id, "id", 8),
		SIGNED(perfev_stat, cpu),
		MEMBER(perfev_stat, thread, "thread", 4),
		MEMBER(perfev_stat, value, "value", 8),
		MEMBER(perfev_stat, enabled_ns, "enabled", 8),
		MEMBER(perfev_stat, running_ns, "running", 8),
	};

	put_members(o, stat, members, COUNT(members));
}

static void put_update(struct out *o, const struct perfev_event_update *update)
{
	out_field(o, "id", update->id, 8);
	switch (update->type) {
	case PERFEV_UPDATE_UNIT:
		put_text(o, "unit", update->text);
		break;
	case PERFEV_UPDATE_SCALE:
		put_double(o, "scale", update->scale);
		break;
	case PERFEV_UPDATE_NAME:
		put_text(o, "name", update->text);
		break;
	case PERFEV_UPDATE_CPUS:
		put_cpu_map(o, &update->cpus);
		break;
	default:
		out_field(o, "update", update->type, 8);
		put_bytes(o, "bytes", update->bytes);
		break;
	}
}

static void put_time_conv(struct out *o, const struct perfev_time_conv *conv)
{
	static const struct member members[] = {
		MEMBER(perfev_time_conv, shift, "shift", 8),
		MEMBER(perfev_time_conv, mult, "mult", 8),
		MEMBER(perfev_time_conv, zero, "zero", 8),
		MEMBER(perfev_time_conv, cycles, "cycles", 8),
		MEMBER(perfev_time_conv, mask, "mask", 8),
		MEMBER(perfev_time_conv, user_time_zero, "user_time_zero", 1),
		MEMBER(perfev_time_conv, user_time_short, "user_time_short", 1),
	};

	put_members(o, conv, members, COUNT(members));
}

static void put_feature(struct out *o, const struct perfev_header_feature *h)
{
	const char *name = h->feature < PERFEV_FEATURE_COUNT ? perfev_feature_name((unsigned)h->feature) : NULL;

	out_field(o, "feature", h->feature, 8);
	if (name)
		put_text(o, "name", name);
	put_bytes(o, "section", h->section);
}

static void put_auxtrace_error(struct out *o, const struct perfev_auxtrace_error *e)
{
	static const struct member members[] = {
		MEMBER(perfev_auxtrace_error, type, "error_type", 4), MEMBER(perfev_auxtrace_error, code, "code", 4),
		SIGNED(perfev_auxtrace_error, cpu),		      SIGNED(perfev_auxtrace_error, pid),
		SIGNED(perfev_auxtrace_error, tid),		      MEMBER(perfev_auxtrace_error, ip, "ip", 8),
		MEMBER(perfev_auxtrace_error, time_ns, "time", 8),
	};

	put_members(o, e, members, COUNT(members));
	put_text(o, "message", e->message);
	out_field(o, "machine_pid", e->machine_pid, 4);
	out_field(o, "vcpu", e->vcpu, 4);
}

static void put_auxtrace(struct out *o, const struct perfev_auxtrace *trace)
{
	static const struct member members[] = {
		MEMBER(perfev_auxtrace, size, "bytes", 8),
		MEMBER(perfev_auxtrace, offset, "aux_offset", 8),
		MEMBER(perfev_auxtrace, reference, "reference", 8),
		MEMBER(perfev_auxtrace, idx, "idx", 4),
		SIGNED(perfev_auxtrace, tid),
		SIGNED(perfev_auxtrace, cpu),
	};

	put_members(o, trace, members, COUNT(members));
}

static void put_auxtrace_info(struct out *o, const struct perfev_auxtrace_info *info)
{
	const char *name = perfev_auxtrace_type_name(info->type);

	out_field(o, "auxtrace_type", info->type, 4);
	if (name)
		put_text(o, "name", name);
	put_words(o, "numbers", info->numbers);
}

static bool put_bpf_entry(struct out *o, const void *metadata, uint32_t index)
{
	const char *key, *value;

	if (!perfev_bpf_metadata_at(metadata, index, &key, &value))
		return false;
	begin_item(o);
	put_text(o, "key", key);
	put_text(o, "value", value);
	out_close(o);
	return true;
}

static void put_schedstat(struct out *o, const struct perfev_schedstat *s, bool domain)
{
	static const struct member members[] = {
		MEMBER(perfev_schedstat, yld_count, "yld_count", 4),	 MEMBER(perfev_schedstat, array_exp, "array_exp", 4),
		MEMBER(perfev_schedstat, sched_count, "sched_count", 4), MEMBER(perfev_schedstat, sched_goidle, "sched_goidle", 4),
		MEMBER(perfev_schedstat, ttwu_count, "ttwu_count", 4),	 MEMBER(perfev_schedstat, ttwu_local, "ttwu_local", 4),
		MEMBER(perfev_schedstat, rq_cpu_time, "rq_cpu_time", 8), MEMBER(perfev_schedstat, run_delay, "run_delay", 8),
		MEMBER(perfev_schedstat, pcount, "pcount", 8),
	};
	struct perfev_bytes counters = {s->counters, s->counter_count * 4};

	out_field(o, "timestamp", s->timestamp, 8);
	out_field(o, "cpu", s->cpu, 4);
	out_field(o, "version", s->version, 2);
	if (domain) {
		out_field(o, "domain", s->domain, 2);
		put_bytes(o, "counters", counters);
		return;
	}
	put_members(o, s, members, COUNT(members));
}

/* ---- simpleperf's ------------------------------------------------------------------------------------------------ */

static void put_chain(struct out *o, const struct perfev_simpleperf_callchain *chain)
{
	static const struct member members[] = {
		MEMBER(perfev_simpleperf_callchain, pid, "pid", 4), MEMBER(perfev_simpleperf_callchain, tid, "tid", 4),
		MEMBER(perfev_simpleperf_callchain, type, "chain_type", 8), MEMBER(perfev_simpleperf_callchain, time, "time", 8),
	};

	put_members(o, chain, members, COUNT(members));
	out_name(o, "ips");
	out_words(o, chain->ips);
	out_name(o, "sps");
	out_words(o, chain->sps);
}

/* Registers, stack and chain, as a sample has them. */
static void put_unwound(struct out *o, const struct perfev_simpleperf_unwinding *u)
{
	out_name(o, "regs_user");
	out_open(o);
	out_field(o, "abi", u->abi, 8);
	out_field(o, "reg_mask", u->reg_mask, 8);
	out_name(o, "values");
	out_words(o, u->regs);
	out_close(o);
	out_name(o, "stack_user");
	out_open(o);
	out_field(o, "size", u->stack.size, 8);
	put_bytes(o, "data", u->stack);
	out_field(o, "dyn_size", u->dyn_size, 8);
	out_close(o);
	out_name(o, "ips");
	out_words(o, u->ips);
	out_name(o, "sps");
	out_words(o, u->sps);
}

static void put_unwinding(struct out *o, const struct perfev_simpleperf_unwinding *u)
{
	static const struct member members[] = {
		MEMBER(perfev_simpleperf_unwinding, time, "time", 8),
		MEMBER(perfev_simpleperf_unwinding, used_time, "used_time", 8),
		MEMBER(perfev_simpleperf_unwinding, error_code, "error_code", 8),
		MEMBER(perfev_simpleperf_unwinding, error_addr, "error_addr", 8),
		MEMBER(perfev_simpleperf_unwinding, stack_start, "stack_start", 8),
		MEMBER(perfev_simpleperf_unwinding, stack_end, "stack_end", 8),
	};

	put_members(o, u, members, COUNT(members));
	if (u->abi || u->reg_mask || u->stack.size || u->ips.count)
		put_unwound(o, u);
}

static void put_simpleperf(struct out *o, const struct perfev_user *user)
{
	switch (user->type) {
	case PERFEV_RECORD_SIMPLEPERF_KERNEL_SYMBOL:
	case PERFEV_RECORD_SIMPLEPERF_SPLIT:
	case PERFEV_RECORD_SIMPLEPERF_TRACING_DATA:
		put_bytes(o, "bytes", user->as.bytes);
		break;
	case PERFEV_RECORD_SIMPLEPERF_DSO:
		out_field(o, "dso_type", user->as.dso.type, 8);
		out_field(o, "dso_id", user->as.dso.id, 8);
		out_field(o, "min_vaddr", user->as.dso.min_vaddr, 8);
		put_text(o, "name", user->as.dso.name);
		break;
	case PERFEV_RECORD_SIMPLEPERF_SYMBOL:
		out_field(o, "addr", user->as.symbol.addr, 8);
		out_field(o, "len", user->as.symbol.len, 8);
		out_field(o, "dso_id", user->as.symbol.dso_id, 8);
		put_text(o, "name", user->as.symbol.name);
		break;
	case PERFEV_RECORD_SIMPLEPERF_EVENT_ID:
		put_words(o, "pairs", user->as.event_id.words);
		break;
	case PERFEV_RECORD_SIMPLEPERF_CALLCHAIN:
		put_chain(o, &user->as.callchain);
		break;
	case PERFEV_RECORD_SIMPLEPERF_UNWINDING_RESULT:
		put_unwinding(o, &user->as.unwinding);
		break;
	case PERFEV_RECORD_SIMPLEPERF_DEBUG:
		out_field(o, "time", user->as.debug.time, 8);
		put_text(o, "text", user->as.debug.text);
		break;
	default:
		break;
	}
}

/* ---- any ---------------------------------------------------------------------------------------------------------- */

static void put_fields(struct out *o, const struct perfev_user *user)
{
	switch (user->type) {
	case PERFEV_RECORD_HEADER_ATTR:
		put_attr(o, &user->as.header_attr);
		break;
	case PERFEV_RECORD_HEADER_EVENT_TYPE:
		out_field(o, "event_id", user->as.header_event_type.event_id, 8);
		put_text(o, "name", user->as.header_event_type.name);
		break;
	case PERFEV_RECORD_HEADER_TRACING_DATA:
		out_field(o, "bytes", user->as.header_tracing.size, 4);
		break;
	case PERFEV_RECORD_HEADER_BUILD_ID:
		put_build_id(o, &user->as.build_id);
		break;
	case PERFEV_RECORD_ID_INDEX:
		put_items(o, "entries", &user->as.id_index, put_id);
		break;
	case PERFEV_RECORD_AUXTRACE_INFO:
		put_auxtrace_info(o, &user->as.auxtrace_info);
		break;
	case PERFEV_RECORD_AUXTRACE:
		put_auxtrace(o, &user->as.auxtrace);
		break;
	case PERFEV_RECORD_AUXTRACE_ERROR:
		put_auxtrace_error(o, &user->as.auxtrace_error);
		break;
	case PERFEV_RECORD_THREAD_MAP:
		put_items(o, "threads", &user->as.thread_map, put_thread);
		break;
	case PERFEV_RECORD_CPU_MAP:
		put_cpu_map(o, &user->as.cpu_map);
		break;
	case PERFEV_RECORD_STAT_CONFIG:
		put_stat_config(o, &user->as.stat_config);
		break;
	case PERFEV_RECORD_STAT:
		put_stat(o, &user->as.stat);
		break;
	case PERFEV_RECORD_STAT_ROUND:
		out_field(o, "round", user->as.stat_round.type, 8);
		out_field(o, "time", user->as.stat_round.time_ns, 8);
		break;
	case PERFEV_RECORD_EVENT_UPDATE:
		put_update(o, &user->as.event_update);
		break;
	case PERFEV_RECORD_TIME_CONV:
		put_time_conv(o, &user->as.time_conv);
		break;
	case PERFEV_RECORD_HEADER_FEATURE:
		put_feature(o, &user->as.header_feature);
		break;
	case PERFEV_RECORD_COMPRESSED:
	case PERFEV_RECORD_COMPRESSED2:
		out_field(o, "bytes", user->as.compressed.data.size, 8);
		break;
	case PERFEV_RECORD_BPF_METADATA:
		put_text(o, "program", user->as.bpf_metadata.program);
		put_items(o, "entries", &user->as.bpf_metadata, put_bpf_entry);
		break;
	case PERFEV_RECORD_SCHEDSTAT_CPU:
	case PERFEV_RECORD_SCHEDSTAT_DOMAIN:
		put_schedstat(o, &user->as.schedstat, user->type == PERFEV_RECORD_SCHEDSTAT_DOMAIN);
		break;
	default:
		put_simpleperf(o, user);
		break;
	}
}

static int write_user(struct out *o, const struct perfev_record *record, struct perfev_error *err)
{
	const char *name = perfev_record_name(record->type);
	struct perfev_user user;
	int r = perfev_user_decode(&user, record, err);

	if (r < 0)
		return r;
	if (o->json) {
		out_open(o);
		if (name)
			put_text(o, "type", name);
		else
			out_field(o, "type", record->type, 4);
	} else {
		name ? out_put(o, "%s", name) : out_put(o, "%" PRIu32, record->type);
	}
	out_field(o, "misc", record->misc, 2);
	put_fields(o, &user);
	if (o->json)
		out_close(o);
	return out_end(o);
}

int perfev_user_format(char *ret, size_t size, const struct perfev_record *record, struct perfev_error *err)
{
	struct out o = {.to = ret, .size = size};

	return write_user(&o, record, err);
}

int perfev_user_to_json(char *ret, size_t size, const struct perfev_record *record, struct perfev_error *err)
{
	struct out o = {.to = ret, .size = size, .json = true};

	return write_user(&o, record, err);
}
