/* SPDX-License-Identifier: MIT */
/*
 * perfev/event.h - events: what is counted or sampled, and how
 *
 * An event owns a whole perf_event_attr, which is also its options: everything that the kernel lets
 * one say about an event is said there, by text, by a constructor, or by writing its fields through
 * perfev_event_attr() until the event is opened. An opened counter or sampler keeps its own copy.
 */
#ifndef PERFEV_EVENT_H
#define PERFEV_EVENT_H

#include <perfev/abi.h>
#include <perfev/common.h>

PERFEV_BEGIN

struct perfev_event;
struct perfev_events;

/*
 * perfev_event_parse() - the event that a text means
 *
 * The grammar is perf's:
 *	cycles, page-faults, L1-dcache-load-misses	a name: generic, or of any PMU
 *	r1c2, 4:0x1c2					raw: hex; type and config as numbers
 *	cpu/event=0x3c,umask=1/				a PMU, and terms; * ? [..] in its name mean many
 *	cycles/period=1000/				a name with terms
 *	mem:0x601040/8:rw				a breakpoint; without a length 4 bytes, or code
 *	sched:sched_switch				a tracepoint; * ? [..] mean many
 *	kprobe:do_sys_open+4, kretprobe:vfs_read	a function of the kernel
 *	uprobe:/bin/x:main+4, uretprobe:..., uprobe:/bin/x:0x4010(0x20)
 *		a function of a program, or an offset in its file; (REF) is the reference counter of a
 *		static probe; the offset of a function is found when the text is parsed
 *	pfm:NAME					a name that libpfm4 knows, where it is installed
 * Terms may follow any of them, and blanks may stand between words.
 * Modifiers follow a colon (after a slash they may follow at once), each once: u k h (count there
 * only), G H (guest, host), I (not when idle), p pp ppp P (precise), D (pinned), e (exclusive),
 * S (the leader samples, the others are read), W (a weak group), b R X (kept, see PERFEV_EVENT_...).
 * Terms are the PMU's own, and config config1 ... config4, name, period, freq, time, call-graph,
 * stack-size, max-stack, inherit, no-inherit, overwrite, no-overwrite, branch_type, aux-output,
 * aux-action, aux-sample-size, percore, cpu, nr; @NAME, a sink of a tracer. On the PMU of a CPU a generic event
 * is a term, too; where the PMU has an event of its own of that name, that is meant, and
 * legacy-hardware-config=NUMBER or legacy-cache-config=NUMBER is the generic one.
 *
 * Counting starts disabled (attr.disabled). Without u, k or h all modes are counted.
 * Return: 0; -EINVAL with err->where = the column, why SYNTAX or UNKNOWN_EVENT, and the nearest name
 * in the text; or when the text means several events; -EACCES when tracefs may not be read or written; -ENOENT
 * when tracefs, or a file or function to be probed, is not there; -EOPNOTSUPP for what this kernel or a missing
 * library cannot do; -ENOMEM.
 * Since: 0.1
 */
PERFEV_API int perfev_event_parse(struct perfev_event **ret, const char *text,
				  struct perfev_error *err);

/*
 * perfev_event_new() - an event from an attr
 * @name: what to call it; copied. @attr: read by its size; copied.
 * Return: 0; -E2BIG when a byte is set that this library's attr does not have; -EINVAL for a size that no attr has:
 * below 64 (0 means 64), above 4096; -ENOMEM.
 */
PERFEV_API int perfev_event_new(struct perfev_event **ret, const char *name,
				const struct perf_event_attr *attr, struct perfev_error *err);

/* perfev_event_copy() - a second event, the same as @event. Return: 0, or a negative errno. */
PERFEV_API int perfev_event_copy(struct perfev_event **ret, const struct perfev_event *event,
				 struct perfev_error *err);
PERFEV_API void perfev_event_free(struct perfev_event *event);

/* The attr, to be read or written until the event is opened. Its size member is kept at the newest
 * size; the bytes live as long as the event. */
PERFEV_API struct perf_event_attr *perfev_event_attr(struct perfev_event *event);

/* The name: the text that was parsed, modifiers included, or the part of it that means this event; or
 * what the term name= says. Of a name that means an event on several PMUs it is PMU/NAME/, for people: where
 * a PMU has one of its own of that name, perfev_event_format() tells which. Lives as long as the event. */
PERFEV_API const char *perfev_event_name(const struct perfev_event *event);

/* What an event is beside its attr. */
enum {
	PERFEV_EVENT_PERIOD = 1 << 0,	    /* its text says a period or a frequency */
	PERFEV_EVENT_TIME = 1 << 1,	    /* its text says time=1 */
	PERFEV_EVENT_NO_TIME = 1 << 2,	    /* its text says time=0 */
	PERFEV_EVENT_INHERIT = 1 << 3,	    /* its text says inherit or no-inherit: attr.inherit */
	PERFEV_EVENT_MAX_PRECISE = 1 << 4,  /* P: as precise as the PMU can */
	PERFEV_EVENT_READ_GROUP = 1 << 5,   /* S: the leader samples, the others are read in its samples */
	PERFEV_EVENT_WEAK = 1 << 6,	    /* W: if the group cannot be scheduled, its members are on their own */
	PERFEV_EVENT_BPF = 1 << 7,	    /* b: to be counted by BPF programs, which perfev does not */
	PERFEV_EVENT_RETIRE_LATENCY = 1 << 8, /* R: its retire latency is wanted, which perfev does not count */
	PERFEV_EVENT_OWN_GROUP = 1 << 9,    /* X: not to be regrouped; perfev never regroups */
	PERFEV_EVENT_PER_CORE = 1 << 10,    /* percore: threads of a core are summed */
	PERFEV_EVENT_SNAPSHOT = 1 << 11,    /* a gauge: two readings are not to be subtracted */
	PERFEV_EVENT_PER_PACKAGE = 1 << 12, /* the same on all CPUs of a package */
	PERFEV_EVENT_SYSTEM_WIDE = 1 << 13, /* its PMU counts the whole system, and cannot follow a task */
	PERFEV_EVENT_CPUS = 1 << 14	    /* its text says where (cpu=): cpus */
};

/* Tools: no events, but names that perf takes for them. Such an event counts nothing by itself. */
enum {
	PERFEV_TOOL_NONE = 0,
	PERFEV_TOOL_DURATION_TIME, /* ns from start to stop */
	PERFEV_TOOL_USER_TIME,	   /* ns of the command in user mode */
	PERFEV_TOOL_SYSTEM_TIME	   /* ns of the command in the kernel */
};

/* Call graphs that an event's text asks for. */
enum {
	PERFEV_GRAPH_DEFAULT = 0,
	PERFEV_GRAPH_NO,
	PERFEV_GRAPH_FP,
	PERFEV_GRAPH_DWARF, /* attr.sample_stack_user: how many bytes; 0: not said */
	PERFEV_GRAPH_LBR
};

struct perfev_event_info {
	const char *pmu;    /* "" for kinds that have none */
	const char *unit;   /* of count x scale; "" none */
	const char *filter; /* "" none */
	double scale;
	uint32_t flags;	     /* PERFEV_EVENT_* */
	uint32_t tool;	     /* PERFEV_TOOL_* */
	uint32_t call_graph; /* PERFEV_GRAPH_* */
	uint64_t max_events; /* nr=: how many to record; 0 all */
	const int32_t *cpus; /* where it is to be opened; cpu_count 0: anywhere */
	size_t cpu_count;
};

/* perfev_event_describe() - what the event is beside its attr; pointers live as long as it, unchanged */
PERFEV_API void perfev_event_describe(const struct perfev_event *event, struct perfev_event_info *ret);

/*
 * perfev_event_set_filter() - a condition on the fields of a tracepoint or probe ("prev_pid == 0 &&
 * next_comm ~ \"sh*\""), or the address filters of an AUX event ("filter 0x1000/0x200@/bin/x")
 * It is set when the event is opened, and refused there when the kernel does not take it.
 * @filter: copied; NULL: none. Return: 0, -ENOMEM.
 */
PERFEV_API int perfev_event_set_filter(struct perfev_event *event, const char *filter,
				       struct perfev_error *err);

/*
 * perfev_event_format() - the text that means this event, here and now
 * Parsing it gives the same attr again, but for a pointer (the path of a probe) and for attr.disabled of a
 * group's member, which its text alone is not. Names of PMUs and terms are those of this machine.
 * @ret: gets at most @size bytes, terminated; may be NULL when @size is 0.
 * Return: the length of the whole text; -EINVAL for what no text says (unknown bits of the attr).
 */
PERFEV_API int perfev_event_format(char *ret, size_t size, const struct perfev_event *event,
				   struct perfev_error *err);

/*
 * The same without text, a function for each kind. All count in all modes, and start disabled.
 * perfev_event_hardware(), perfev_event_software() - @id: PERF_COUNT_HW_..., PERF_COUNT_SW_...
 * perfev_event_cache() - @cache, @op, @result: PERF_COUNT_HW_CACHE_...
 * perfev_event_raw() - @config: as the CPU's manual codes it
 * perfev_event_breakpoint() - @type: HW_BREAKPOINT_R, _W, _RW or _X; @size: bytes, 0 for the usual
 * perfev_event_tracepoint() - -ENOENT: there is none of that name; -EACCES: tracefs may not be read
 * perfev_event_kprobe() - @function: of the kernel, or NULL when @offset is an address
 * perfev_event_uprobe() - @offset: in the file; @counter: offset of its reference counter, or 0
 * perfev_event_pmu() - @terms: as between the slashes of a text; "" for none
 * Return: 0, or a negative errno.
 */
PERFEV_API int perfev_event_hardware(struct perfev_event **ret, uint32_t id, struct perfev_error *err);
PERFEV_API int perfev_event_software(struct perfev_event **ret, uint32_t id, struct perfev_error *err);
PERFEV_API int perfev_event_cache(struct perfev_event **ret, uint32_t cache, uint32_t op,
				  uint32_t result, struct perfev_error *err);
PERFEV_API int perfev_event_raw(struct perfev_event **ret, uint64_t config, struct perfev_error *err);
PERFEV_API int perfev_event_breakpoint(struct perfev_event **ret, uint64_t address, uint64_t size,
				       uint32_t type, struct perfev_error *err);
PERFEV_API int perfev_event_tracepoint(struct perfev_event **ret, const char *system,
				       const char *name, struct perfev_error *err);
PERFEV_API int perfev_event_kprobe(struct perfev_event **ret, const char *function, uint64_t offset,
				   bool at_return, struct perfev_error *err);
PERFEV_API int perfev_event_uprobe(struct perfev_event **ret, const char *path, uint64_t offset,
				   uint64_t counter, bool at_return, struct perfev_error *err);
PERFEV_API int perfev_event_pmu(struct perfev_event **ret, const char *pmu, const char *terms,
				struct perfev_error *err);

/*
 * perfev_events_parse() - all events that a text means
 * @text: events separated by commas; {a,b} is a group, whose first member leads, and may have
 *	modifiers behind it for all. A name may mean many events: globs, instances of a PMU, the PMUs of
 *	a hybrid CPU. Members of a group that mean the same PMUs make a group on each of them.
 * Return: as perfev_event_parse().
 * Since: 0.1
 */
PERFEV_API int perfev_events_parse(struct perfev_events **ret, const char *text,
				   struct perfev_error *err);

/* Where names are looked up. */
struct perfev_parse_opts {
	size_t size;
	const char *sysfs;   /* NULL: /sys; or the root of a copy of another machine's */
	const char *tracefs; /* NULL: where it is mounted; or the root of a copy */
};

/* perfev_events_parse_at() - the same on another machine's tree */
PERFEV_API int perfev_events_parse_at(struct perfev_events **ret, const char *text,
				      const struct perfev_parse_opts *opts, struct perfev_error *err);

/* What there is to count: one event that has a name. */
struct perfev_listed_event {
	const char *name;  /* a text for perfev_event_parse() */
	const char *alias; /* another name for the same, or NULL */
	const char *kind;  /* "hardware", "cache", "software", "tool", "pmu", "tracepoint" */
	const char *pmu;   /* of kind "pmu", else "" */
	const char *terms; /* of kind "pmu": what the name stands for; else "" */
	const char *unit;  /* of count x scale; "" none */
	double scale;
};

/*
 * perfev_events_list() - the events of this machine, kind by kind
 * Generic hardware and cache events are listed when the kernel opens them (tried, disabled), or when
 * only rights are missing; of another machine's tree, when it has a PMU of the CPU.
 * @glob: of their names or aliases; NULL: all.
 * @each: is called with each; its texts live during the call. What it returns, when negative, ends the
 *	list, and is returned.
 * Return: how many there were; -EACCES: all but the tracepoints were listed, as tracefs may not be read;
 * -ENOMEM.
 * Since: 0.1
 */
PERFEV_API int perfev_events_list(const char *glob,
				  int (*each)(void *context, const struct perfev_listed_event *event),
				  void *context, const struct perfev_parse_opts *opts,
				  struct perfev_error *err);

PERFEV_API int perfev_events_new(struct perfev_events **ret, struct perfev_error *err);
PERFEV_API void perfev_events_free(struct perfev_events *events);

/*
 * perfev_events_add() - put a copy of @event at the end
 * @leader: the index of the group's leader, or -1 for an event of its own.
 * Return: the new event's index; -EINVAL when @leader is not the leader of the last group; -ENOMEM.
 */
PERFEV_API int perfev_events_add(struct perfev_events *events, const struct perfev_event *event,
				 int leader, struct perfev_error *err);

/* perfev_events_append() - put copies of all of @more at the end, groups kept
 * Return: 0, or a negative errno. */
PERFEV_API int perfev_events_append(struct perfev_events *events, const struct perfev_events *more,
				    struct perfev_error *err);

/* perfev_events_count() - how many events there are */
PERFEV_API size_t perfev_events_count(const struct perfev_events *events);

/* The event at @index, owned by @events; NULL when there is none of that number. */
PERFEV_API struct perfev_event *perfev_events_at(const struct perfev_events *events, size_t index);

/* The index of the leader of the group that the event at @index is in; its own when it is alone. */
PERFEV_API size_t perfev_events_leader(const struct perfev_events *events, size_t index);

PERFEV_END

#endif
