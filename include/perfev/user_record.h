/* SPDX-License-Identifier: MIT */
/*
 * perfev/user_record.h - the records that tools add to the kernel's in recordings: perf's (64 and up), and
 * simpleperf's (32768 and up)
 *
 * Nothing is allocated; what a struct points to is in the record, and lives as long. Each count and size is checked
 * against the bytes of the record. Where a later tool made a record longer, the fields that an older one does not
 * have are 0, unless it is said otherwise.
 */
#ifndef PERFEV_USER_RECORD_H
#define PERFEV_USER_RECORD_H

#include <perfev/auxtrace.h>
#include <perfev/feature.h>
#include <perfev/record.h>

PERFEV_BEGIN

/* Types of records that tools add to the kernel's (named as perf names them). */
enum perfev_user_record {
	PERFEV_RECORD_USER_FIRST = 64,
	PERFEV_RECORD_HEADER_ATTR = 64,
	PERFEV_RECORD_HEADER_EVENT_TYPE = 65,
	PERFEV_RECORD_HEADER_TRACING_DATA = 66,
	PERFEV_RECORD_HEADER_BUILD_ID = 67,
	PERFEV_RECORD_FINISHED_ROUND = 68,
	PERFEV_RECORD_ID_INDEX = 69,
	PERFEV_RECORD_AUXTRACE_INFO = 70,
	PERFEV_RECORD_AUXTRACE = 71,
	PERFEV_RECORD_AUXTRACE_ERROR = 72,
	PERFEV_RECORD_THREAD_MAP = 73,
	PERFEV_RECORD_CPU_MAP = 74,
	PERFEV_RECORD_STAT_CONFIG = 75,
	PERFEV_RECORD_STAT = 76,
	PERFEV_RECORD_STAT_ROUND = 77,
	PERFEV_RECORD_EVENT_UPDATE = 78,
	PERFEV_RECORD_TIME_CONV = 79,
	PERFEV_RECORD_HEADER_FEATURE = 80,
	PERFEV_RECORD_COMPRESSED = 81,
	PERFEV_RECORD_FINISHED_INIT = 82,
	PERFEV_RECORD_COMPRESSED2 = 83,
	PERFEV_RECORD_BPF_METADATA = 84,
	PERFEV_RECORD_SCHEDSTAT_CPU = 85,
	PERFEV_RECORD_SCHEDSTAT_DOMAIN = 86,
	/* from here up to 65535 the header has a size of 32 bits, and no misc */
	PERFEV_RECORD_SIMPLEPERF_FIRST = 32768,
	PERFEV_RECORD_SIMPLEPERF_KERNEL_SYMBOL = 32769,
	PERFEV_RECORD_SIMPLEPERF_DSO = 32770,
	PERFEV_RECORD_SIMPLEPERF_SYMBOL = 32771,
	PERFEV_RECORD_SIMPLEPERF_SPLIT = 32772,
	PERFEV_RECORD_SIMPLEPERF_SPLIT_END = 32773,
	PERFEV_RECORD_SIMPLEPERF_EVENT_ID = 32774,
	PERFEV_RECORD_SIMPLEPERF_CALLCHAIN = 32775,
	PERFEV_RECORD_SIMPLEPERF_UNWINDING_RESULT = 32776,
	PERFEV_RECORD_SIMPLEPERF_TRACING_DATA = 32777,
	PERFEV_RECORD_SIMPLEPERF_DEBUG = 32778
};

/* ---- events and sections, in streams ---------------------------------------------------------------------- */

struct perfev_header_attr {
	struct perf_event_attr attr; /* in this host's byte order; what it does not have is 0 */
	struct perfev_u64s ids;
};

/* Of the first perfs: the name of a tracepoint. */
struct perfev_header_event_type {
	uint64_t event_id;
	char name[65];
};

struct perfev_header_tracing {
	uint32_t size;
	uint32_t reserved;
	struct perfev_bytes section; /* the tail: for perfev_feature_tracing() */
};

struct perfev_header_feature {
	uint64_t feature; /* enum perfev_feature */
	struct perfev_bytes section; /* nothing: the end of the sections */
};

struct perfev_compressed {
	struct perfev_bytes data; /* the next piece of the zstd stream */
};

/* ---- what ids, threads and CPUs are ------------------------------------------------------------------------ */

struct perfev_id_index {
	struct perfev_u64s words, machines; /* perfev_id_index_at() knows what they are */
	uint32_t count;
};

struct perfev_id_index_entry {
	uint64_t id, idx;      /* of an event; the ring it writes to */
	int64_t cpu, tid;      /* -1: any */
	int64_t machine_pid, vcpu; /* of a guest; 0 of the host */
};

/* perfev_id_index_at() - entry @index; false when there is none */
PERFEV_API bool perfev_id_index_at(const struct perfev_id_index *map, uint32_t index,
				   struct perfev_id_index_entry *ret);

struct perfev_thread_map {
	const void *entries;
	uint32_t count;
	bool swapped;
};

struct perfev_thread_map_entry {
	int64_t pid; /* -1: all */
	char comm[17];
};

/* perfev_thread_map_at() - entry @index; false when there is none */
PERFEV_API bool perfev_thread_map_at(const struct perfev_thread_map *map, uint32_t index,
				     struct perfev_thread_map_entry *ret);

/* A set of CPUs, however it is written down. */
struct perfev_cpu_map {
	uint16_t kind; /* 0 a list, 1 a mask, 2 a range */
	uint16_t start, end;   /* of a range, both included */
	uint8_t any;	       /* of a range: CPU -1 is in it too */
	uint8_t word_bytes;    /* of a mask: 4 or 8 */
	uint32_t count;	       /* of a list or mask: words */
	const void *words;
	bool swapped;
};

/*
 * perfev_cpu_map_next() - the next CPU of the set
 * @position: 0 at first; moved on by each call.
 * Return: true, with @cpu, -1 for any; false at the end.
 */
PERFEV_API bool perfev_cpu_map_next(const struct perfev_cpu_map *map, uint32_t *position, int32_t *cpu);

/* ---- perf stat record --------------------------------------------------------------------------------------- */

/* Tags of STAT_CONFIG. */
enum perfev_stat_tag { PERFEV_STAT_AGGR_MODE, PERFEV_STAT_INTERVAL, PERFEV_STAT_SCALE, PERFEV_STAT_AGGR_LEVEL };

struct perfev_stat_config {
	struct perfev_u64s words; /* pairs: a tag, its value */
};

struct perfev_stat {
	uint64_t id; /* of the event */
	int32_t cpu; /* -1: any */
	uint32_t thread; /* the index in the thread map */
	uint64_t value, enabled_ns, running_ns;
};

struct perfev_stat_round {
	uint64_t type; /* 0 an interval, 1 the last */
	uint64_t time_ns;
};

/* What EVENT_UPDATE updates. */
enum perfev_update { PERFEV_UPDATE_UNIT, PERFEV_UPDATE_SCALE, PERFEV_UPDATE_NAME, PERFEV_UPDATE_CPUS };

struct perfev_event_update {
	uint64_t type; /* enum perfev_update, or a later one: then only bytes are set */
	uint64_t id;
	const char *text; /* a unit or name; else NULL */
	double scale;
	struct perfev_cpu_map cpus;
	struct perfev_bytes bytes; /* all of it */
};

struct perfev_time_conv {
	uint64_t shift, mult, zero;
	uint64_t cycles, mask; /* in longer records, as the next two */
	uint8_t user_time_zero, user_time_short;
};

/* ---- others of perf's ----------------------------------------------------------------------------------------- */

struct perfev_auxtrace_error {
	uint32_t type, code;
	uint32_t cpu, pid, tid, format;
	uint64_t ip;
	uint64_t time_ns; /* of format 1 and up */
	const char *message;
	uint32_t machine_pid, vcpu; /* of format 2 and up */
};

struct perfev_bpf_metadata {
	const char *program;
	const void *entries;
	uint32_t count;
};

/* perfev_bpf_metadata_at() - a key and its value; false when there is none */
PERFEV_API bool perfev_bpf_metadata_at(const struct perfev_bpf_metadata *metadata, uint32_t index,
				       const char **key, const char **value);

/* SCHEDSTAT_CPU and SCHEDSTAT_DOMAIN. */
struct perfev_schedstat {
	uint64_t timestamp;
	uint32_t cpu;
	uint16_t version, domain;
	const void *counters; /* of a domain: 32 bits each, in an order that depends on the version */
	uint32_t counter_count;
	bool swapped;
	uint32_t yld_count, array_exp, sched_count, sched_goidle, ttwu_count, ttwu_local; /* of a CPU */
	uint64_t rq_cpu_time, run_delay, pcount;
};

/* ---- simpleperf's ----------------------------------------------------------------------------------------------- */

struct perfev_simpleperf_dso {
	uint64_t type, id, min_vaddr;
	const char *name;
};

struct perfev_simpleperf_symbol {
	uint64_t addr, len, dso_id;
	const char *name;
};

struct perfev_simpleperf_event_id {
	struct perfev_u64s words; /* pairs: the index of an event, an id of it */
};

/* A stack that simpleperf unwound, as it was, and as joined with others of the thread; the sample behind it has the joined one. */
struct perfev_simpleperf_callchain {
	uint32_t pid, tid;
	uint64_t type; /* 0 as it was unwound later, 1 while it was recorded; 2 and 3 those, joined */
	uint64_t time; /* of the sample */
	struct perfev_u64s ips, sps;
};

/* How a stack was unwound. What is behind stack_end is there if the record is that long: regs, stack and chain are empty else. */
struct perfev_simpleperf_unwinding {
	uint64_t time, used_time; /* of the sample; nanoseconds that it took */
	uint64_t error_code, error_addr; /* those of Android's unwinder; before Android 10 why it stopped, and where */
	uint64_t stack_start, stack_end;
	uint64_t abi, reg_mask; /* as of a sample's registers */
	struct perfev_u64s regs;
	struct perfev_bytes stack;
	uint64_t dyn_size;
	struct perfev_u64s ips, sps;
};

struct perfev_simpleperf_debug {
	uint64_t time;
	const char *text;
};

/* ---- any of them ---------------------------------------------------------------------------------------------- */

/* Which member is set follows from the type; those without a member have no fields. */
struct perfev_user {
	uint32_t type;
	union {
		struct perfev_header_attr header_attr;
		struct perfev_header_event_type header_event_type;
		struct perfev_header_tracing header_tracing;
		struct perfev_build_id build_id;
		struct perfev_id_index id_index;
		struct perfev_auxtrace_info auxtrace_info;
		struct perfev_auxtrace auxtrace;
		struct perfev_auxtrace_error auxtrace_error;
		struct perfev_thread_map thread_map;
		struct perfev_cpu_map cpu_map;
		struct perfev_stat_config stat_config;
		struct perfev_stat stat;
		struct perfev_stat_round stat_round;
		struct perfev_event_update event_update;
		struct perfev_time_conv time_conv;
		struct perfev_header_feature header_feature;
		struct perfev_compressed compressed; /* and COMPRESSED2 */
		struct perfev_bpf_metadata bpf_metadata;
		struct perfev_schedstat schedstat; /* of a CPU, and of a domain */
		struct perfev_bytes bytes; /* SIMPLEPERF_KERNEL_SYMBOL: kallsyms; _SPLIT: a piece of a record;
					    * _TRACING_DATA: a section */
		struct perfev_simpleperf_dso dso;
		struct perfev_simpleperf_symbol symbol;
		struct perfev_simpleperf_event_id event_id;
		struct perfev_simpleperf_callchain callchain;
		struct perfev_simpleperf_unwinding unwinding;
		struct perfev_simpleperf_debug debug;
	} as;
};

/*
 * perfev_user_decode() - the fields of a record of a tool
 * Return: 0; -EINVAL (why TRUNCATED or CORRUPT) when a field does not fit; -ENOTSUP for a type that is the
 * kernel's, or not known.
 * Since: 0.1
 */
PERFEV_API int perfev_user_decode(struct perfev_user *ret, const struct perfev_record *record,
				  struct perfev_error *err);

/*
 * perfev_user_format() - such a record as a line of text: STAT misc=0x0 id=7 cpu=0 thread=0 value=12 ...
 * @ret: gets at most @size bytes, terminated; may be NULL when @size is 0.
 * Return: the length of the whole text; as perfev_user_decode().
 * Since: 0.1
 */
PERFEV_API int perfev_user_format(char *ret, size_t size, const struct perfev_record *record,
				  struct perfev_error *err);

/* perfev_user_to_json() - the same as a JSON object, with numbers as json.h has them
 * Return: as perfev_user_format(). Since: 0.1 */
PERFEV_API int perfev_user_to_json(char *ret, size_t size, const struct perfev_record *record,
				   struct perfev_error *err);

PERFEV_END

#endif
