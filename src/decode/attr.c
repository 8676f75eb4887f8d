/* SPDX-License-Identifier: MIT */
/*
 * The members of an attr by their place, and the names of their bits, for whoever has to go over all of them. An attr
 * may be larger than ours, when its owner has a newer header.
 *
 * Where the compiler puts bits of a member depends on the byte order; a member made of bits has its first bit lowest
 * here, as it is on little-endian machines.
 */
#include "attr.h"

#include "base/load.h"

#define SIZE(name)	 sizeof(((struct perf_event_attr *)0)->name)
#define OFFSET(name)	 offsetof(struct perf_event_attr, name)
#define FLAGS_AT	 (OFFSET(read_format) + 8)
#define MEMBER(name, kind) {#name, NULL, OFFSET(name), SIZE(name), kind}
#define UNION(name, other, kind) {#name, #other, OFFSET(name), SIZE(name), kind}

const struct attr_field attr_fields[] = {
	MEMBER(type, ATTR_NUMBER),
	MEMBER(size, ATTR_NUMBER),
	MEMBER(config, ATTR_HEX),
	UNION(sample_period, sample_freq, ATTR_NUMBER),
	MEMBER(sample_type, ATTR_SAMPLE),
	MEMBER(read_format, ATTR_READ),
	{"flags", NULL, FLAGS_AT, 8, ATTR_BITS},
	UNION(wakeup_events, wakeup_watermark, ATTR_NUMBER),
	MEMBER(bp_type, ATTR_NUMBER),
	UNION(config1, bp_addr, ATTR_HEX),
	UNION(config2, bp_len, ATTR_HEX),
	MEMBER(branch_sample_type, ATTR_BRANCH),
	MEMBER(sample_regs_user, ATTR_HEX),
	MEMBER(sample_stack_user, ATTR_NUMBER),
	MEMBER(clockid, ATTR_SIGNED),
	MEMBER(sample_regs_intr, ATTR_HEX),
	MEMBER(aux_watermark, ATTR_NUMBER),
	MEMBER(sample_max_stack, ATTR_NUMBER),
	MEMBER(__reserved_2, ATTR_NUMBER),
	MEMBER(aux_sample_size, ATTR_NUMBER),
	MEMBER(aux_action, ATTR_BITS),
	MEMBER(sig_data, ATTR_HEX),
	MEMBER(config3, ATTR_HEX),
	MEMBER(config4, ATTR_HEX),
};
const size_t attr_field_count = sizeof(attr_fields) / sizeof(attr_fields[0]);

#define FLAG(name, shift)   {#name, FLAGS_AT, shift, 1}
#define ACTION(name, shift) {#name, OFFSET(aux_action), shift, 1}

const struct attr_bit attr_bits[] = {
	FLAG(disabled, 0), FLAG(inherit, 1), FLAG(pinned, 2), FLAG(exclusive, 3), FLAG(exclude_user, 4),
	FLAG(exclude_kernel, 5), FLAG(exclude_hv, 6), FLAG(exclude_idle, 7), FLAG(mmap, 8), FLAG(comm, 9),
	FLAG(freq, 10), FLAG(inherit_stat, 11), FLAG(enable_on_exec, 12), FLAG(task, 13), FLAG(watermark, 14),
	{"precise_ip", FLAGS_AT, 15, 2},
	FLAG(mmap_data, 17), FLAG(sample_id_all, 18), FLAG(exclude_host, 19), FLAG(exclude_guest, 20),
	FLAG(exclude_callchain_kernel, 21), FLAG(exclude_callchain_user, 22), FLAG(mmap2, 23), FLAG(comm_exec, 24),
	FLAG(use_clockid, 25), FLAG(context_switch, 26), FLAG(write_backward, 27), FLAG(namespaces, 28),
	FLAG(ksymbol, 29), FLAG(bpf_event, 30), FLAG(aux_output, 31), FLAG(cgroup, 32), FLAG(text_poke, 33),
	FLAG(build_id, 34), FLAG(inherit_thread, 35), FLAG(remove_on_exec, 36), FLAG(sigtrap, 37),
	FLAG(defer_callchain, 38), FLAG(defer_output, 39),
	{"__reserved_1", FLAGS_AT, 40, 24},
	ACTION(aux_start_paused, 0), ACTION(aux_pause, 1), ACTION(aux_resume, 2),
	{"__reserved_3", OFFSET(aux_action), 3, 29},
};
const size_t attr_bit_count = sizeof(attr_bits) / sizeof(attr_bits[0]);

#define SAMPLE(name) {"PERF_SAMPLE_" #name, PERF_SAMPLE_##name}
#define FORMAT(name) {"PERF_FORMAT_" #name, PERF_FORMAT_##name}
#define BRANCH(name) {"PERF_SAMPLE_BRANCH_" #name, PERF_SAMPLE_BRANCH_##name}

static const struct attr_flag sample_flags[] = {
	SAMPLE(IP), SAMPLE(TID), SAMPLE(TIME), SAMPLE(ADDR), SAMPLE(READ), SAMPLE(CALLCHAIN), SAMPLE(ID), SAMPLE(CPU),
	SAMPLE(PERIOD), SAMPLE(STREAM_ID), SAMPLE(RAW), SAMPLE(BRANCH_STACK), SAMPLE(REGS_USER), SAMPLE(STACK_USER),
	SAMPLE(WEIGHT), SAMPLE(DATA_SRC), SAMPLE(IDENTIFIER), SAMPLE(TRANSACTION), SAMPLE(REGS_INTR), SAMPLE(PHYS_ADDR),
	SAMPLE(AUX), SAMPLE(CGROUP), SAMPLE(DATA_PAGE_SIZE), SAMPLE(CODE_PAGE_SIZE), SAMPLE(WEIGHT_STRUCT),
};

static const struct attr_flag read_flags[] = {
	FORMAT(TOTAL_TIME_ENABLED), FORMAT(TOTAL_TIME_RUNNING), FORMAT(ID), FORMAT(GROUP), FORMAT(LOST),
};

static const struct attr_flag branch_flags[] = {
	BRANCH(USER), BRANCH(KERNEL), BRANCH(HV), BRANCH(ANY), BRANCH(ANY_CALL), BRANCH(ANY_RETURN), BRANCH(IND_CALL),
	BRANCH(ABORT_TX), BRANCH(IN_TX), BRANCH(NO_TX), BRANCH(COND), BRANCH(CALL_STACK), BRANCH(IND_JUMP), BRANCH(CALL),
	BRANCH(NO_FLAGS), BRANCH(NO_CYCLES), BRANCH(TYPE_SAVE), BRANCH(HW_INDEX), BRANCH(PRIV_SAVE), BRANCH(COUNTERS),
};

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

const struct attr_flag *attr_flags(unsigned kind, size_t *count)
{
	switch (kind) {
	case ATTR_SAMPLE:
		*count = COUNT(sample_flags);
		return sample_flags;
	case ATTR_READ:
		*count = COUNT(read_flags);
		return read_flags;
	default:
		*count = COUNT(branch_flags);
		return branch_flags;
	}
}

const char *attr_name(const struct perf_event_attr *attr, const struct attr_field *field)
{
	bool other = field->offset == OFFSET(sample_period)   ? attr->freq
		     : field->offset == OFFSET(wakeup_events) ? attr->watermark
							      : attr->type == PERF_TYPE_BREAKPOINT;

	return field->other && other ? field->other : field->name;
}

/* Bits in the compiler's order from ours, or back: the same turn. */
static uint64_t turn_bits(uint64_t word, const struct attr_field *field, bool back)
{
	unsigned whole = field->width * 8u;
	uint64_t turned = 0;
	size_t i;

	if (!PERFEV_BIG_ENDIAN)
		return word;
	for (i = 0; i < attr_bit_count; i++) {
		const struct attr_bit *b = &attr_bits[i];
		unsigned high = whole - b->shift - b->count;

		if (b->offset == field->offset)
			turned |= (word >> (back ? b->shift : high) & ((UINT64_C(1) << b->count) - 1))
				  << (back ? high : b->shift);
	}
	return turned;
}

uint64_t attr_get(const struct perf_event_attr *attr, const struct attr_field *field)
{
	const unsigned char *at = (const unsigned char *)attr + field->offset;
	uint64_t value = field->width == 8   ? load_u64(at, false)
			 : field->width == 4 ? load_u32(at, false)
					     : load_u16(at, false);

	return field->kind == ATTR_BITS ? turn_bits(value, field, false) : value;
}

void attr_set(struct perf_event_attr *attr, const struct attr_field *field, uint64_t value)
{
	unsigned char *at = (unsigned char *)attr + field->offset;

	if (field->kind == ATTR_BITS)
		value = turn_bits(value, field, true);
	if (field->width == 8)
		store_u64(at, value);
	else if (field->width == 4)
		store_u32(at, (uint32_t)value);
	else
		store_u16(at, (uint16_t)value);
}

static bool any_set(const unsigned char *bytes, size_t from, size_t end)
{
	for (; from < end; from++)
		if (bytes[from])
			return true;
	return false;
}

const char *attr_set_beyond(const struct perf_event_attr *attr, uint32_t known, uint32_t size)
{
	const unsigned char *bytes = (const unsigned char *)attr;
	size_t i;

	for (i = 0; i < attr_field_count; i++) {
		size_t from = attr_fields[i].offset, end = from + attr_fields[i].width;

		if (end > size)
			end = size;
		if (from < PERF_ATTR_SIZE_VER0) /* what every kernel has */
			continue;
		if (any_set(bytes, from < known ? known : from, end))
			return attr_name(attr, &attr_fields[i]);
	}
	if (any_set(bytes, known > sizeof(*attr) ? known : sizeof(*attr), size))
		return "a member newer than this library";
	return NULL;
}
