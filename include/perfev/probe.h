/* SPDX-License-Identifier: MIT */
/*
 * perfev/probe.h - the environment: what this machine, this kernel and this user can do
 */
#ifndef PERFEV_PROBE_H
#define PERFEV_PROBE_H

#include <perfev/common.h>

PERFEV_BEGIN

/* Facts about the machine and the user. A number that is not known is INT64_MIN, a text "". */
struct perfev_system {
	char hostname[65];
	char release[65]; /* of the kernel */
	char arch[65];	  /* uname -m */
	char cpu_desc[128];
	char cpu_id[128]; /* as perf writes it: "GenuineIntel,6,85,7" */
	int64_t cpus_available;
	int64_t cpus_online;
	int64_t memory_kb;
	int64_t paranoid;	  /* kernel.perf_event_paranoid; not known: no perf events */
	int64_t kptr_restrict;	  /* kernel.kptr_restrict */
	int64_t max_sample_rate;  /* Hz */
	int64_t mlock_kb;	  /* ring memory for each CPU, of a user without CAP_IPC_LOCK */
	int64_t max_stack;	  /* frames */
	int64_t files_soft, files_hard;	    /* RLIMIT_NOFILE */
	int64_t memlock_soft, memlock_hard; /* RLIMIT_MEMLOCK, bytes */
	int64_t uid;
	int64_t seccomp;       /* 0 none, 1 strict, 2 filter */
	uint64_t capabilities; /* effective set, bit n is capability n */
};

/* Capabilities that matter here, as bits of perfev_system.capabilities. */
#define PERFEV_CAP_IPC_LOCK   (UINT64_C(1) << 14)
#define PERFEV_CAP_SYS_PTRACE (UINT64_C(1) << 19)
#define PERFEV_CAP_SYS_ADMIN  (UINT64_C(1) << 21)
#define PERFEV_CAP_SYSLOG     (UINT64_C(1) << 34)
#define PERFEV_CAP_PERFMON    (UINT64_C(1) << 38) /* [5.8] */

/* perfev_system_read() - read the facts now; what cannot be read is marked as not known */
PERFEV_API void perfev_system_read(struct perfev_system *ret);

/* Abilities: each is tried in a small way, not derived from a version. */
enum perfev_ability {
	PERFEV_CAN_OPEN = 0,	  /* perf_event_open(2) at all: a software event of the own thread */
	PERFEV_CAN_COUNT_KERNEL,  /* kernel mode of own tasks */
	PERFEV_CAN_COUNT_CPU,	  /* everything on a CPU */
	PERFEV_CAN_HARDWARE,	  /* hardware counters: cycles */
	PERFEV_CAN_SAMPLE,	  /* a ring of the default size */
	PERFEV_CAN_READ_LOST,	  /* PERF_FORMAT_LOST [6.0] */
	PERFEV_CAN_USER_READ,	  /* counter reads without a system call */
	PERFEV_CAN_TRACEPOINTS,	  /* tracefs is there and readable */
	PERFEV_CAN_KPROBES,	  /* the kprobe PMU */
	PERFEV_CAN_UPROBES,	  /* the uprobe PMU */
	PERFEV_CAN_BREAKPOINTS,	  /* a watch on a variable */
	PERFEV_CAN_KERNEL_SYMBOLS, /* addresses in /proc/kallsyms */
	PERFEV_CAN_BUILD_ID,	  /* build-ids in MMAP2 records [5.12] */
	PERFEV_CAN_INHERIT_READ,  /* inherit together with PERF_SAMPLE_READ [6.12] */
	PERFEV_CAN_DEFER,	  /* deferred user call chains [6.19] */
	PERFEV_ABILITY_COUNT
};

/* perfev_ability_name() - a stable word for programs: "open", "count-kernel", ... */
PERFEV_API const char *perfev_ability_name(enum perfev_ability ability);
/* perfev_ability_title() - the same for people: "count kernel code of own tasks" */
PERFEV_API const char *perfev_ability_title(enum perfev_ability ability);

/*
 * perfev_probe() - try an ability now
 * Opens disabled events only, and closes them.
 * Return: 1 it works; 0 it does not, and @err (if not NULL) has the cause and the remedy.
 * Since: 0.1
 */
PERFEV_API int perfev_probe(enum perfev_ability ability, struct perfev_error *err);

/* What a kernel may know or not: parts of its interface, by the version of Linux that brought them. */
enum perfev_kernel_id {
	PERFEV_KERNEL_MMAP2 = 0,
	PERFEV_KERNEL_IDENTIFIER,
	PERFEV_KERNEL_COMM_EXEC,
	PERFEV_KERNEL_CLOCKID,
	PERFEV_KERNEL_CONTEXT_SWITCH,
	PERFEV_KERNEL_WRITE_BACKWARD,
	PERFEV_KERNEL_MAX_STACK,
	PERFEV_KERNEL_NAMESPACES,
	PERFEV_KERNEL_PHYS_ADDR,
	PERFEV_KERNEL_BRANCH_TYPE,
	PERFEV_KERNEL_KSYMBOL,
	PERFEV_KERNEL_BPF_EVENT,
	PERFEV_KERNEL_CGROUP,
	PERFEV_KERNEL_BRANCH_INDEX,
	PERFEV_KERNEL_TEXT_POKE,
	PERFEV_KERNEL_PAGE_SIZE,
	PERFEV_KERNEL_WEIGHT_STRUCT,
	PERFEV_KERNEL_BUILD_ID,
	PERFEV_KERNEL_INHERIT_THREAD,
	PERFEV_KERNEL_REMOVE_ON_EXEC,
	PERFEV_KERNEL_SIGTRAP,
	PERFEV_KERNEL_LOST,
	PERFEV_KERNEL_BRANCH_PRIV,
	PERFEV_KERNEL_CONFIG3,
	PERFEV_KERNEL_BRANCH_COUNTERS,
	PERFEV_KERNEL_INHERIT_READ,
	PERFEV_KERNEL_AUX_ACTION,
	PERFEV_KERNEL_DEFER,
	PERFEV_KERNEL_CONFIG4,
	PERFEV_KERNEL_COUNT
};

/* The answers, for as long as the caller keeps them: a kernel does not change while it runs. */
struct perfev_kernel {
	uint64_t has;	  /* bit n: it knows item n */
	uint64_t unknown; /* bit n: nothing can be told, as the system call is refused or not there */
};

/*
 * perfev_kernel_read() - what this kernel knows
 * Opens one disabled software event for each item, of the calling thread, and closes it: kernels with
 * backports, and containers, are asked and not guessed. That it is known does not say that this user may,
 * or that a PMU can.
 */
PERFEV_API void perfev_kernel_read(struct perfev_kernel *ret);

struct perfev_kernel_item {
	const char *name;  /* "sigtrap" */
	const char *title; /* for people */
	const char *since; /* the version of Linux that brought it */
};

/* perfev_kernel_item_at() - an item; false when there is none of that number */
PERFEV_API bool perfev_kernel_item_at(size_t index, struct perfev_kernel_item *ret);

/*
 * perfev_cpus_online() - the CPUs that are online
 * @ret: an array of *count, to be freed with free().
 * Return: 0, or a negative errno.
 */
PERFEV_API int perfev_cpus_online(int32_t **ret, size_t *count, struct perfev_error *err);

/* perfev_cpus_parse() - a list of CPUs as text: "0-3,8"; as perfev_cpus_online() */
PERFEV_API int perfev_cpus_parse(int32_t **ret, size_t *count, const char *text,
				 struct perfev_error *err);

PERFEV_END

#endif
