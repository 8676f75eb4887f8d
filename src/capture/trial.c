/* SPDX-License-Identifier: MIT */
/*
 * Reduced trials. Each part of the attr that is set is taken out, one after the other; when the kernel
 * refuses as before it stays out, else it is put back. What is left is a smallest attr that is refused:
 * one part is a bad field, two cannot go together. A refusal of another kind (EACCES, because
 * exclude_kernel was taken out) says nothing about a part: it stays, and is not blamed.
 *
 * A field may also be refused for want of another one, which taking out cannot find: for what is known
 * to need something (kernel/events/core.c up to 7.3) this is added, to see whether that helps.
 */
#include "kernel.h"
#include "trial.h"

#include "kernel/sys.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* A part of the attr: some bits of the word at an offset. */
struct part {
	const char *name;
	uint8_t offset, size;
	bool value; /* its value is worth saying */
	uint64_t bits;
};

#define OFFSET(member) offsetof(struct perf_event_attr, member)
#define FLAGS_AT       (OFFSET(read_format) + 8)
#if PERFEV_BIG_ENDIAN
#define FLAG_BIT(n) (UINT64_C(1) << (63 - (n)))
#else
#define FLAG_BIT(n) (UINT64_C(1) << (n))
#endif
#define FLAG(name, n)	 {#name, FLAGS_AT, 8, false, FLAG_BIT(n)}
#define SAMPLE(name)	 {"PERF_SAMPLE_" #name, OFFSET(sample_type), 8, false, PERF_SAMPLE_##name}
#define FORMAT(name)	 {"PERF_FORMAT_" #name, OFFSET(read_format), 8, false, PERF_FORMAT_##name}
#define FIELD(name)	 {#name, OFFSET(name), sizeof(((struct perf_event_attr *)0)->name), true, UINT64_MAX}
#define REST(name, bits) {"an unknown bit of " #name, OFFSET(name), 8, false, ~(uint64_t)(bits)}

/* In the order in which they are taken out: what is blamed least first. The last are the event itself,
 * which is looked at only when nothing else is at fault. */
static const struct part parts[] = {
	FLAG(sample_id_all, 18), FLAG(mmap, 8), FLAG(comm, 9), FLAG(task, 13), FLAG(mmap2, 23),
	FLAG(comm_exec, 24), FLAG(mmap_data, 17), FLAG(watermark, 14), FIELD(wakeup_events),
	SAMPLE(IP), SAMPLE(TIME), SAMPLE(ADDR), SAMPLE(ID), SAMPLE(CPU), SAMPLE(PERIOD),
	SAMPLE(STREAM_ID), SAMPLE(RAW), SAMPLE(IDENTIFIER), SAMPLE(DATA_SRC), SAMPLE(TRANSACTION),
	FORMAT(TOTAL_TIME_ENABLED), FORMAT(TOTAL_TIME_RUNNING), FORMAT(ID), FORMAT(LOST),
	FLAG(context_switch, 26), FLAG(namespaces, 28), FLAG(ksymbol, 29), FLAG(bpf_event, 30),
	FLAG(cgroup, 32), FLAG(text_poke, 33), FLAG(build_id, 34), FLAG(defer_callchain, 38),
	FLAG(defer_output, 39), FLAG(write_backward, 27), FLAG(inherit_stat, 11),
	SAMPLE(CALLCHAIN), FIELD(sample_max_stack), SAMPLE(PHYS_ADDR), SAMPLE(CGROUP),
	SAMPLE(DATA_PAGE_SIZE), SAMPLE(CODE_PAGE_SIZE), SAMPLE(WEIGHT), SAMPLE(WEIGHT_STRUCT),
	SAMPLE(READ), SAMPLE(TID), FORMAT(GROUP), SAMPLE(AUX), FIELD(aux_sample_size), FIELD(aux_watermark),
	FIELD(aux_action), FLAG(aux_output, 31), SAMPLE(BRANCH_STACK), FIELD(branch_sample_type),
	SAMPLE(REGS_USER), FIELD(sample_regs_user), SAMPLE(REGS_INTR), FIELD(sample_regs_intr),
	SAMPLE(STACK_USER), FIELD(sample_stack_user), FIELD(clockid), FLAG(use_clockid, 25),
	FLAG(enable_on_exec, 12), FIELD(sig_data), FLAG(sigtrap, 37), FLAG(remove_on_exec, 36),
	FLAG(inherit_thread, 35), FLAG(inherit, 1), FLAG(pinned, 2), FLAG(exclusive, 3),
	{"precise_ip", FLAGS_AT, 8, false, FLAG_BIT(15) | FLAG_BIT(16)},
	REST(sample_type, PERF_SAMPLE_MAX - 1), REST(read_format, PERF_FORMAT_MAX - 1),
	FIELD(__reserved_2),
	{"a reserved bit", FLAGS_AT, 8, false,
#if PERFEV_BIG_ENDIAN
	 (UINT64_C(1) << 24) - 1},
#else
	 ~((UINT64_C(1) << 40) - 1)},
#endif
	FLAG(freq, 10), FIELD(sample_period),
	/* many may open nothing without these, so that they stay while others are looked at */
	FLAG(exclude_user, 4), FLAG(exclude_hv, 6), FLAG(exclude_idle, 7), FLAG(exclude_host, 19),
	FLAG(exclude_guest, 20), FLAG(exclude_callchain_user, 22), FLAG(exclude_callchain_kernel, 21),
	FLAG(exclude_kernel, 5), FIELD(config4), FIELD(config3), FIELD(config2),
	FIELD(config1), FIELD(bp_type), FIELD(config),
};
#define PARTS	  (sizeof(parts) / sizeof(parts[0]))
#define EVENT_FROM (PARTS - 6) /* config4 */

/* Beside them: what is not in the attr. */
enum { IN_GROUP = PARTS, ON_TARGET, OF_TYPE, SUSPECTS };

static uint64_t word_of(const struct perf_event_attr *attr, const struct part *part)
{
	const unsigned char *at = (const unsigned char *)attr + part->offset;
	uint64_t word = 0;
	uint32_t half;
	uint16_t quarter;

	if (part->size == 8) {
		memcpy(&word, at, 8);
	} else if (part->size == 4) {
		memcpy(&half, at, 4);
		word = half;
	} else {
		memcpy(&quarter, at, 2);
		word = quarter;
	}
	return word & part->bits;
}

/* A mask that must not be empty gets its simplest value, everything else nothing. */
static void clear_part(struct perf_event_attr *attr, const struct part *part)
{
	unsigned char *at = (unsigned char *)attr + part->offset;
	uint64_t word;

	if (part->offset == OFFSET(branch_sample_type) && (attr->sample_type & PERF_SAMPLE_BRANCH_STACK)) {
		attr->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
		return;
	}
	if (part->offset == OFFSET(sample_regs_user) && (attr->sample_type & PERF_SAMPLE_REGS_USER)) {
		attr->sample_regs_user = 1;
		return;
	}
	if (part->offset == OFFSET(sample_regs_intr) && (attr->sample_type & PERF_SAMPLE_REGS_INTR)) {
		attr->sample_regs_intr = 1;
		return;
	}
	if (part->size < 8) { /* whole fields */
		memset(at, 0, part->size);
		return;
	}
	memcpy(&word, at, 8);
	word &= ~part->bits;
	memcpy(at, &word, 8);
}

static bool is_set(const struct trial *t, size_t suspect)
{
	switch (suspect) {
	case IN_GROUP:
		return t->group_fd >= 0;
	case ON_TARGET:
		return t->pid != 0 || t->cpu != -1;
	case OF_TYPE:
		return t->attr->type != PERF_TYPE_SOFTWARE;
	default:
		return word_of(t->attr, &parts[suspect]) != 0;
	}
}

static void take_out(struct trial *t, struct perf_event_attr *attr, size_t suspect)
{
	switch (suspect) {
	case IN_GROUP:
		t->group_fd = -1;
		break;
	case ON_TARGET:
		t->pid = 0;
		t->cpu = -1;
		t->cgroup = false;
		break;
	case OF_TYPE:
		attr->type = PERF_TYPE_SOFTWARE;
		attr->config = PERF_COUNT_SW_DUMMY;
		break;
	default:
		clear_part(attr, &parts[suspect]);
		break;
	}
}

/* 0 or the negative errno. Whatever is opened is disabled. */
static int try_once(const struct trial *t, const struct perf_event_attr *attr)
{
	unsigned long flags = PERF_FLAG_FD_CLOEXEC | (t->cgroup ? PERF_FLAG_PID_CGROUP : 0);
	struct perf_event_attr once = *attr;
	int fd;

	once.disabled = 1;
	fd = sys_perf_event_open(&once, t->pid, t->cpu, t->group_fd, flags);
	if (fd < 0)
		return fd;
	sys_close(fd);
	return 0;
}

/* What some parts need beside them. */
struct need {
	const char *part, *needs;
	bool (*has)(const struct perf_event_attr *attr);
	void (*add)(struct perf_event_attr *attr);
};

static bool has_remove_on_exec(const struct perf_event_attr *attr)
{
	return attr->remove_on_exec;
}

static void add_remove_on_exec(struct perf_event_attr *attr)
{
	attr->remove_on_exec = 1;
}

static bool has_inherit(const struct perf_event_attr *attr)
{
	return attr->inherit;
}

static void add_inherit(struct perf_event_attr *attr)
{
	attr->inherit = 1;
}

static bool has_tid(const struct perf_event_attr *attr)
{
	return attr->sample_type & PERF_SAMPLE_TID;
}

static void add_tid(struct perf_event_attr *attr)
{
	attr->sample_type |= PERF_SAMPLE_TID;
}

static bool has_branch_type(const struct perf_event_attr *attr)
{
	return attr->branch_sample_type & ~(uint64_t)PERF_SAMPLE_BRANCH_PLM_ALL;
}

static void add_branch_type(struct perf_event_attr *attr)
{
	attr->branch_sample_type |= PERF_SAMPLE_BRANCH_ANY;
}

static bool has_regs_user(const struct perf_event_attr *attr)
{
	return attr->sample_regs_user;
}

static void add_regs_user(struct perf_event_attr *attr)
{
	attr->sample_regs_user = 1;
}

static bool has_regs_intr(const struct perf_event_attr *attr)
{
	return attr->sample_regs_intr;
}

static void add_regs_intr(struct perf_event_attr *attr)
{
	attr->sample_regs_intr = 1;
}

static bool has_period(const struct perf_event_attr *attr)
{
	return attr->sample_period;
}

static void add_period(struct perf_event_attr *attr)
{
	attr->sample_period = 1000000;
}

static bool has_exclude_guest(const struct perf_event_attr *attr)
{
	return attr->exclude_guest;
}

static void add_exclude_guest(struct perf_event_attr *attr)
{
	attr->exclude_guest = 1;
}

static bool has_exclude_callchain_user(const struct perf_event_attr *attr)
{
	return attr->exclude_callchain_user;
}

static void add_exclude_callchain_user(struct perf_event_attr *attr)
{
	attr->exclude_callchain_user = 1;
}

static const struct need needs[] = {
	{"sigtrap", "remove_on_exec", has_remove_on_exec, add_remove_on_exec},
	{"inherit_thread", "inherit", has_inherit, add_inherit},
	{"PERF_SAMPLE_READ", "PERF_SAMPLE_TID", has_tid, add_tid},
	{"PERF_SAMPLE_BRANCH_STACK", "a kind of branch in branch_sample_type", has_branch_type, add_branch_type},
	{"branch_sample_type", "a kind of branch beside its modes", has_branch_type, add_branch_type},
	{"PERF_SAMPLE_REGS_USER", "sample_regs_user", has_regs_user, add_regs_user},
	{"PERF_SAMPLE_REGS_INTR", "sample_regs_intr", has_regs_intr, add_regs_intr},
	{"precise_ip", "sample_period", has_period, add_period},
	{"PERF_SAMPLE_CALLCHAIN", "exclude_callchain_user", has_exclude_callchain_user, add_exclude_callchain_user},
	{NULL, "exclude_guest, as a guest with a PMU of its own is running", has_exclude_guest, add_exclude_guest},
};

static bool is_blamed(const struct trial_result *result, const char *part)
{
	size_t length = part ? strlen(part) : 0;
	unsigned i;

	for (i = 0; part && i < result->count; i++)
		if (!strncmp(result->names[i], part, length) &&
		    (!result->names[i][length] || result->names[i][length] == ' '))
			return true;
	return !part;
}

static void look_for_needs(struct trial_result *ret, const struct trial *t,
			   const struct perf_event_attr *first, const struct perf_event_attr *least)
{
	size_t i;

	for (i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
		struct perf_event_attr more = *least;

		if (!is_blamed(ret, needs[i].part) || needs[i].has(first))
			continue;
		needs[i].add(&more);
		if (try_once(t, &more) != t->code) {
			ret->needs = needs[i].needs;
			return;
		}
	}
}

/* As it is called for this type of event. */
static const char *name_of(const struct perf_event_attr *attr, size_t suspect)
{
	bool breakpoint = attr->type == PERF_TYPE_BREAKPOINT;

	if (breakpoint && parts[suspect].offset == OFFSET(config1))
		return "bp_addr";
	return breakpoint && parts[suspect].offset == OFFSET(config2) ? "bp_len" : parts[suspect].name;
}

static void blame(struct trial_result *ret, const struct perf_event_attr *attr, size_t suspect)
{
	static const char *const others[] = {"being in its group", "this target", "the type"};
	char *to = ret->names[ret->count];
	size_t size = sizeof(ret->names[0]);

	if (ret->count == TRIAL_NAMES)
		return;
	ret->count++;
	if (suspect == OF_TYPE && attr->config)
		snprintf(to, size, "config (0x%" PRIx64 ") with type %" PRIu32, (uint64_t)attr->config,
			 attr->type);
	else if (suspect >= PARTS)
		snprintf(to, size, "%s", others[suspect - PARTS]);
	else if (parts[suspect].value)
		snprintf(to, size, "%s (0x%" PRIx64 ")", name_of(attr, suspect), word_of(attr, &parts[suspect]));
	else
		snprintf(to, size, "%s", name_of(attr, suspect));
}

/* Without it the kernel would refuse for another reason: what needs it was not taken out. */
static bool is_needed(const struct perf_event_attr *least, const struct trial_result *ret, size_t suspect)
{
	const char *name = suspect < PARTS ? parts[suspect].name : "";

	return (!strcmp(name, "remove_on_exec") && least->sigtrap) ||
	       (!strcmp(name, "inherit") && least->inherit_thread) ||
	       (!strcmp(name, "PERF_SAMPLE_TID") && (least->sample_type & PERF_SAMPLE_READ) &&
		is_blamed(ret, "PERF_SAMPLE_READ"));
}

static bool is_the_event(size_t suspect)
{
	return (suspect >= EVENT_FROM && suspect < PARTS) || suspect == OF_TYPE;
}

/* Takes out all that can be, and blames the rest. Behind the fault a refusal for want of rights may wait:
 * what has shown that one is suspected, and blamed when the others say nothing. */
static void reduce(struct trial_result *ret, const struct trial *first, struct trial *t,
		   struct perf_event_attr *least)
{
	size_t suspected[TRIAL_NAMES], suspects = 0, i;

	for (i = 0; i < SUSPECTS; i++) {
		struct perf_event_attr attr = *least;
		struct trial less = *t;
		int outcome;

		if (!is_set(t, i) || is_needed(least, ret, i) || (is_the_event(i) && ret->count))
			continue;
		take_out(&less, &attr, i);
		outcome = try_once(&less, &attr);
		if (outcome == t->code) {
			*t = less;
			*least = attr;
			t->attr = least;
		} else if (outcome != -EACCES && outcome != -EPERM) {
			blame(ret, first->attr, i);
		} else if (suspects < TRIAL_NAMES && (i >= PARTS || strncmp(parts[i].name, "exclude_", 8))) {
			suspected[suspects++] = i;
		}
	}
	if (ret->count == 0 || !strcmp(ret->names[0], "this target"))
		for (i = 0; i < suspects; i++)
			blame(ret, first->attr, suspected[i]);
}

/* A kernel that never heard of a part refuses it as it does a wrong one. */
static void look_for_unknown(struct trial_result *ret)
{
	unsigned i;

	for (i = 0; i < ret->count && !ret->since; i++) {
		char *end;

		snprintf(ret->unknown, sizeof(ret->unknown), "%s", ret->names[i]);
		end = strchr(ret->unknown, ' ');
		if (end)
			*end = 0;
		ret->since = kernel_lacks(ret->unknown);
	}
	if (!ret->since)
		ret->unknown[0] = 0;
}

void trial_run(struct trial_result *ret, const struct trial *trial)
{
	struct perf_event_attr least = *trial->attr;
	struct trial t = *trial;

	memset(ret, 0, sizeof(*ret));
	t.attr = &least;
	least.size = sizeof(least);
	if (try_once(&t, &least) != trial->code)
		return; /* it depends on the moment */
	reduce(ret, trial, &t, &least);
	look_for_unknown(ret);
	if (!ret->since)
		look_for_needs(ret, &t, trial->attr, &least);
}
