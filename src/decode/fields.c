/* SPDX-License-Identifier: MIT */
/*
 * The tables of record fields, in the order in which the kernel writes them (perf_event_open(2), and
 * for types 19 to 22 the kernel's own description of the interface).
 */
#include "fields.h"

#define AT(record, member) ((uint16_t)offsetof(struct perfev_##record, member))

static const struct record_field mmap_fields[] = {
	{"pid", AT(mmap, pid), RECORD_U32},	{"tid", AT(mmap, tid), RECORD_U32},
	{"addr", AT(mmap, addr), RECORD_U64},	{"len", AT(mmap, len), RECORD_U64},
	{"pgoff", AT(mmap, pgoff), RECORD_U64}, {"", 0, RECORD_NO_INODE},
	{"filename", AT(mmap, filename), RECORD_TEXT},
};

static const struct record_field mmap2_fields[] = {
	{"pid", AT(mmap, pid), RECORD_U32},	{"tid", AT(mmap, tid), RECORD_U32},
	{"addr", AT(mmap, addr), RECORD_U64},	{"len", AT(mmap, len), RECORD_U64},
	{"pgoff", AT(mmap, pgoff), RECORD_U64}, {"inode", 0, RECORD_INODE},
	{"prot", AT(mmap, prot), RECORD_U32},	{"flags", AT(mmap, flags), RECORD_U32},
	{"filename", AT(mmap, filename), RECORD_TEXT},
};

static const struct record_field lost_fields[] = {
	{"id", AT(lost, id), RECORD_U64},
	{"lost", AT(lost, lost), RECORD_U64},
};

static const struct record_field comm_fields[] = {
	{"pid", AT(comm, pid), RECORD_U32},
	{"tid", AT(comm, tid), RECORD_U32},
	{"comm", AT(comm, comm), RECORD_TEXT},
};

static const struct record_field task_fields[] = {
	{"pid", AT(task, pid), RECORD_U32},   {"ppid", AT(task, ppid), RECORD_U32},
	{"tid", AT(task, tid), RECORD_U32},   {"ptid", AT(task, ptid), RECORD_U32},
	{"time", AT(task, time), RECORD_U64},
};

static const struct record_field throttle_fields[] = {
	{"time", AT(throttle, time), RECORD_U64},
	{"id", AT(throttle, id), RECORD_U64},
	{"stream_id", AT(throttle, stream_id), RECORD_U64},
};

static const struct record_field read_fields[] = {
	{"pid", AT(read, pid), RECORD_U32},
	{"tid", AT(read, tid), RECORD_U32},
	{"values", AT(read, values), RECORD_VALUES},
};

static const struct record_field aux_fields[] = {
	{"aux_offset", AT(aux, aux_offset), RECORD_U64},
	{"aux_size", AT(aux, aux_size), RECORD_U64},
	{"flags", AT(aux, flags), RECORD_U64},
};

static const struct record_field itrace_start_fields[] = {
	{"pid", AT(itrace_start, pid), RECORD_U32},
	{"tid", AT(itrace_start, tid), RECORD_U32},
};

static const struct record_field lost_samples_fields[] = {
	{"lost", AT(lost_samples, lost), RECORD_U64},
};

static const struct record_field switch_cpu_wide_fields[] = {
	{"next_prev_pid", AT(switch, next_prev_pid), RECORD_U32},
	{"next_prev_tid", AT(switch, next_prev_tid), RECORD_U32},
};

static const struct record_field namespaces_fields[] = {
	{"pid", AT(namespaces, pid), RECORD_U32},
	{"tid", AT(namespaces, tid), RECORD_U32},
	{"links", AT(namespaces, links), RECORD_LINKS},
};

static const struct record_field ksymbol_fields[] = {
	{"addr", AT(ksymbol, addr), RECORD_U64},
	{"len", AT(ksymbol, len), RECORD_U32},
	{"ksym_type", AT(ksymbol, ksym_type), RECORD_U16},
	{"flags", AT(ksymbol, flags), RECORD_U16},
	{"name", AT(ksymbol, name), RECORD_TEXT},
};

static const struct record_field bpf_event_fields[] = {
	{"type", AT(bpf_event, type), RECORD_U16},
	{"flags", AT(bpf_event, flags), RECORD_U16},
	{"id", AT(bpf_event, id), RECORD_U32},
	{"tag", AT(bpf_event, tag), RECORD_TAG},
};

static const struct record_field cgroup_fields[] = {
	{"id", AT(cgroup, id), RECORD_U64},
	{"path", AT(cgroup, path), RECORD_TEXT},
};

static const struct record_field text_poke_fields[] = {
	{"addr", AT(text_poke, addr), RECORD_U64},
	{"bytes", 0, RECORD_POKE},
};

static const struct record_field aux_output_hw_id_fields[] = {
	{"hw_id", AT(aux_output_hw_id, hw_id), RECORD_U64},
};

static const struct record_field callchain_deferred_fields[] = {
	{"cookie", AT(callchain_deferred, cookie), RECORD_U64},
	{"ips", AT(callchain_deferred, ips), RECORD_WORDS},
};

#define ROWS(rows) {rows, sizeof(rows) / sizeof((rows)[0])}

static const struct {
	const struct record_field *rows;
	size_t count;
} tables[PERF_RECORD_MAX] = {
	[PERF_RECORD_MMAP] = ROWS(mmap_fields),
	[PERF_RECORD_LOST] = ROWS(lost_fields),
	[PERF_RECORD_COMM] = ROWS(comm_fields),
	[PERF_RECORD_EXIT] = ROWS(task_fields),
	[PERF_RECORD_THROTTLE] = ROWS(throttle_fields),
	[PERF_RECORD_UNTHROTTLE] = ROWS(throttle_fields),
	[PERF_RECORD_FORK] = ROWS(task_fields),
	[PERF_RECORD_READ] = ROWS(read_fields),
	[PERF_RECORD_MMAP2] = ROWS(mmap2_fields),
	[PERF_RECORD_AUX] = ROWS(aux_fields),
	[PERF_RECORD_ITRACE_START] = ROWS(itrace_start_fields),
	[PERF_RECORD_LOST_SAMPLES] = ROWS(lost_samples_fields),
	[PERF_RECORD_SWITCH_CPU_WIDE] = ROWS(switch_cpu_wide_fields),
	[PERF_RECORD_NAMESPACES] = ROWS(namespaces_fields),
	[PERF_RECORD_KSYMBOL] = ROWS(ksymbol_fields),
	[PERF_RECORD_BPF_EVENT] = ROWS(bpf_event_fields),
	[PERF_RECORD_CGROUP] = ROWS(cgroup_fields),
	[PERF_RECORD_TEXT_POKE] = ROWS(text_poke_fields),
	[PERF_RECORD_AUX_OUTPUT_HW_ID] = ROWS(aux_output_hw_id_fields),
	[PERF_RECORD_CALLCHAIN_DEFERRED] = ROWS(callchain_deferred_fields),
};

const struct record_field *record_fields(uint32_t type, size_t *count)
{
	*count = type < PERF_RECORD_MAX ? tables[type].count : 0;
	return type < PERF_RECORD_MAX ? tables[type].rows : NULL;
}

const char *record_json_name(const struct record_field *field)
{
	return field == &bpf_event_fields[0] ? "bpf_type" : field->name;
}
