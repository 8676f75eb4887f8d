/* SPDX-License-Identifier: MIT */
/*
 * perfev/flow.h - the way that a program took: calls, returns and jumps, out of a trace of instructions
 *
 * The packets of a trace (intel_pt.h) say only what cannot be known beforehand: which way a conditional branch went, and
 * where an indirect one did. To know what ran, the instructions between have to be walked, and so their bytes are needed: a
 * function of the caller's gives them; perfev_symbols_code() (symbols.h) has those of mapped files.
 *
 * Intel PT is decoded here; Arm CoreSight (cs_etm: ETMv4) by OpenCSD (libopencsd_c_api.so.1), which is loaded when a flow of
 * it is made and not needed otherwise. A trace of CoreSight is that of all CPUs whose bytes went to one sink, and
 * each branch says of which it is; times are those of the trace's own clock.
 *
 *	perfev_flow_setup(&opts, &info, attr, cpuid, &err);	of the AUXTRACE_INFO record
 *	opts.code = ...;
 *	perfev_flow_new(&flow, &opts, &err);
 *	perfev_flow_begin(flow, pieces, count, &err);		the bytes of one CPU or thread
 *	while (perfev_flow_next(flow, &branch, &err) > 0)
 *		...
 */
#ifndef PERFEV_FLOW_H
#define PERFEV_FLOW_H

#include <perfev/auxtrace.h>
#include <perfev/clock.h>
#include <perfev/symbols.h>

PERFEV_BEGIN

enum perfev_flow_type {
	PERFEV_FLOW_NONE,	 /* no instruction: see the flags */
	PERFEV_FLOW_CALL,
	PERFEV_FLOW_RETURN,
	PERFEV_FLOW_JUMP,
	PERFEV_FLOW_CONDITIONAL, /* a conditional jump that was taken; one that was not is no branch */
	PERFEV_FLOW_SYSCALL,	 /* into the kernel */
	PERFEV_FLOW_SYSRET,	 /* and back */
	PERFEV_FLOW_TRAP,	 /* an instruction that raises an interrupt: INT3, INTO, ... */
	PERFEV_FLOW_TRAP_RETURN, /* IRET */
	PERFEV_FLOW_FAR_JUMP,
	PERFEV_FLOW_INTERRUPT,	 /* no instruction: an interrupt, exception, signal, ... was taken behind from */
	PERFEV_FLOW_ABORT,	 /* a transaction was given up */
	PERFEV_FLOW_VM_ENTRY,	 /* VMLAUNCH, VMRESUME: into a guest */
	/* These are no branches, but what else packets of Intel PT tell on the way; value says more, from where it was. */
	PERFEV_FLOW_PSB,	 /* the trace can be understood from here on: offset in the trace */
	PERFEV_FLOW_CBR,	 /* the CPU's frequency changed: ratio to the bus's */
	PERFEV_FLOW_TRANSACTION, /* one began, ended (flag IN_TX), or was given up (ABORTED) */
	PERFEV_FLOW_PTWRITE,	 /* the operand of a PTWRITE */
	PERFEV_FLOW_MWAIT,	 /* hints (EAX), and from bit 32 on extensions (ECX) */
	PERFEV_FLOW_PWRE,	 /* a C-state was entered: bits 0-7 the state, 8-15 sub-state, 16 by hardware */
	PERFEV_FLOW_EXSTOP,	 /* execution stopped */
	PERFEV_FLOW_PWRX,	 /* a C-state was left: bits 0-7 the last, 8-15 the deepest, from 16 why: 1 an interrupt, 2 a
				    deadline, 4 a store, 8 by hardware */
	PERFEV_FLOW_COUNT_
};

/* perfev_flow_type_name() - "call", "return", ...; NULL for values out of range */
PERFEV_API const char *perfev_flow_type_name(enum perfev_flow_type type);

enum perfev_flow_flag {
	PERFEV_FLOW_BEGINS = 1 << 0, /* tracing begins, at to */
	PERFEV_FLOW_ENDS = 1 << 1,   /* tracing stops behind it, maybe for a while: of code that is not traced, ... */
	PERFEV_FLOW_GAP = 1 << 2,    /* an unknown part of the way is missing: why tells the reason */
	PERFEV_FLOW_IN_TX = 1 << 3,  /* in a transaction */
	PERFEV_FLOW_ABORTED = 1 << 4, /* of a TRANSACTION */
	PERFEV_FLOW_AT_FROM = 1 << 5  /* of a PTWRITE, EXSTOP: from is where it was exactly; else near to it */
};

/* What a gap comes from. */
enum perfev_flow_gap {
	PERFEV_FLOW_GAP_NONE,
	PERFEV_FLOW_GAP_PACKETS,  /* packets that cannot be: the trace is damaged */
	PERFEV_FLOW_GAP_NO_CODE,  /* the code is not known */
	PERFEV_FLOW_GAP_MISMATCH, /* packets do not fit the code: it is other code */
	PERFEV_FLOW_GAP_OVERFLOW, /* the CPU made more packets than it could store */
	PERFEV_FLOW_GAP_LOOP,	  /* the code goes round, or on and on, without a packet that tells of it: it is other code */
	PERFEV_FLOW_GAP_LOST,	  /* bytes of the trace are missing: who recorded it was too slow */
	PERFEV_FLOW_GAP_MEMORY	  /* out of memory */
};

/* A branch, or what else there is to say of the way. */
struct perfev_flow_branch {
	uint64_t time;	 /* ns of the perf clock; without one, cycles; 0: not known (yet) */
	uint64_t from;	 /* the branch instruction; 0: not known, or none */
	uint64_t to;	 /* where it went; 0: not known, or not traced */
	uint64_t offset; /* in the trace: up to where its packets were read */
	uint64_t tsc;	 /* of Intel PT: time in cycles of the time stamp counter; 0: not known (yet) */
	uint64_t value;	 /* of what is no branch: see its type */
	uint64_t instructions; /* that were walked since the branch before; the branch is one */
	uint32_t type;	 /* enum perfev_flow_type */
	uint32_t flags;	 /* enum perfev_flow_flag */
	int32_t pid, tid, cpu; /* as perfev_flow_task() said */
	uint32_t gap;	/* enum perfev_flow_gap */
	const char *why; /* of a gap; lives for ever. Else NULL */
};

/*
 * The bytes of the program at @place, which are @size at most: fewer where code ends. Called by perfev_flow_next().
 * Return: how many; <= 0 where it is not known, which is a gap; -ENODATA: not known, and told often enough: no gap is told.
 */
typedef int perfev_flow_code(void *context, const struct perfev_place *place, void *to, size_t size);

/* What is known of a trace; perfev_flow_setup() fills in all but code and context. */
struct perfev_flow_opts {
	size_t size;
	perfev_flow_code *code;
	void *context;
	struct perfev_clock clock; /* mult 0: none, times are cycles */
	uint32_t type;		   /* PERFEV_AUXTRACE_INTEL_PT; 0 is that too; _CS_ETM */
	uint32_t family, model, stepping; /* of the CPU: some tell of an interrupt otherwise; 0: not known */
	uint32_t tsc_ctc_n, tsc_ctc_d; /* cycles for each tick of the crystal: n / d; 0: not known */
	uint32_t mtc_period;	   /* exponent, as in the event's term */
	uint32_t nonturbo_ratio;   /* of the CPU; 0: not known */
	uint32_t no_compression;   /* of Intel PT, 1: every return has a packet of its own (noretcomp) */
	uint64_t reference;	   /* of Intel PT: a TSC near the trace's first, as AUXTRACE has; packets lack the highest byte. 0: is 0 */
	struct perfev_u64s units;  /* of CoreSight: what AUXTRACE_INFO has; its bytes have to stay */
};

/*
 * perfev_flow_setup() - what a recording says of its traces
 * @info: of the AUXTRACE_INFO record.
 * @attr: of the event that traced; may be NULL, and then times are known less exactly.
 * @cpuid: the CPUID feature section ("GenuineIntel,6,142,10"), or NULL.
 * Return: 0; -EOPNOTSUPP (why UNSUPPORTED): no way is made of traces of that type.
 * Since: 0.1
 */
PERFEV_API int perfev_flow_setup(struct perfev_flow_opts *ret, const struct perfev_auxtrace_info *info,
				 const struct perf_event_attr *attr, const char *cpuid, struct perfev_error *err);

struct perfev_flow;

/*
 * perfev_flow_new() - a decoder of ways
 * Return: 0; -EOPNOTSUPP (why UNSUPPORTED): the library that decodes such traces is not installed, or this program is
 * linked statically; -EINVAL; -ENOMEM.
 * Since: 0.1
 */
PERFEV_API int perfev_flow_new(struct perfev_flow **ret, const struct perfev_flow_opts *opts, struct perfev_error *err);
PERFEV_API void perfev_flow_free(struct perfev_flow *flow);

/* Of one trace that is put together. */
#define PERFEV_FLOW_BYTES_MAX (UINT64_C(4) << 30)

/*
 * perfev_flow_begin() - a trace: the bytes of one CPU or thread, without gaps
 * What was before is forgotten. A gap, as of a snapshot, is another trace.
 * @pieces: joined in that order; one is used where it is and has to stay there, several are copied.
 * Return: 0; -EFBIG beyond PERFEV_FLOW_BYTES_MAX; -ENOMEM.
 * Since: 0.1
 */
PERFEV_API int perfev_flow_begin(struct perfev_flow *flow, const struct perfev_bytes *pieces, size_t count,
				 struct perfev_error *err);

/* perfev_flow_task() - who runs from here on: whose code is asked for, and what branches say
 * Since: 0.1 */
PERFEV_API void perfev_flow_task(struct perfev_flow *flow, int32_t pid, int32_t tid, int32_t cpu);

/* perfev_flow_forget() - code may be other from here on: something was mapped, or written anew
 * Code that was asked for is remembered until then, or until perfev_flow_begin(), for each process.
 * Since: 0.1 */
PERFEV_API void perfev_flow_forget(struct perfev_flow *flow);

/*
 * perfev_flow_next() - the next branch, or what else there is to tell
 * Damaged packets, code that is not known and packets that do not fit it are gaps. The way of Intel PT goes on with the next
 * packet that has a whole address.
 * Return: 1; 0 the trace is at its end.
 * Since: 0.1
 */
PERFEV_API int perfev_flow_next(struct perfev_flow *flow, struct perfev_flow_branch *ret, struct perfev_error *err);

/* perfev_flow_time() - the time up to which the trace was walked, as in branches: for the function that gives code, which
 * may have to know what is mapped then
 * Since: 0.1 */
PERFEV_API uint64_t perfev_flow_time(const struct perfev_flow *flow);

PERFEV_END

#endif
