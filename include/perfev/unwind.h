/* SPDX-License-Identifier: MIT */
/*
 * perfev/unwind.h - who called: from the registers and the stack of a sample, or of the calling thread
 *
 * Programs without frame pointers have call frame information beside their code. An event with PERF_SAMPLE_REGS_USER and
 * PERF_SAMPLE_STACK_USER records what is needed to go by it: the registers, and the bytes above the stack pointer. The
 * information of each file is made into a table once, for all processes; then a frame takes some nanoseconds. Where a
 * file has none, the frame pointer is followed, and the frame marked as guessed.
 *
 * On x86-64, i386, arm64 and riscv64. No rule of a file, however wrong, makes it read outside of the recorded bytes or go
 * in circles.
 */
#ifndef PERFEV_UNWIND_H
#define PERFEV_UNWIND_H

#include <perfev/record.h>
#include <perfev/regs.h>
#include <perfev/symbols.h>

PERFEV_BEGIN

enum perfev_unwound_flag {
	PERFEV_UNWOUND_RETURN = 1 << 0,	 /* ip is a return address: what was called is at ip - 1 */
	PERFEV_UNWOUND_SIGNAL = 1 << 1,	 /* what a signal handler returns to; the next frame was interrupted */
	PERFEV_UNWOUND_GUESSED = 1 << 2	 /* found by the frame pointer of the frame before */
};

struct perfev_unwound_frame {
	uint64_t ip;
	uint32_t flags, reserved;
};

/* Why there are no more frames. */
enum perfev_unwound_end {
	PERFEV_UNWOUND_COMPLETE, /* that was the first function of the thread */
	PERFEV_UNWOUND_NOTHING,	 /* no registers or stack in the sample, or of a machine that is not known here */
	PERFEV_UNWOUND_STACK,	 /* the recorded part of the stack ends here */
	PERFEV_UNWOUND_NO_CODE,	 /* the caller's address is in no mapping */
	PERFEV_UNWOUND_NO_RULE,	 /* no call frame information for the last frame, and no frame pointer in use */
	PERFEV_UNWOUND_BAD_RULE, /* it has information that cannot be right here */
	PERFEV_UNWOUND_DEPTH,	 /* as many as asked for */
	PERFEV_UNWOUND_COUNT_
};

/* perfev_unwound_end_name() - "complete", "stack-ended", "no-mapping", ...; NULL out of range. Lives for ever. */
PERFEV_API const char *perfev_unwound_end_name(enum perfev_unwound_end end);

/* A stack, innermost frame first. */
struct perfev_unwound {
	const struct perfev_unwound_frame *frames;
	uint32_t count;
	uint32_t end; /* enum perfev_unwound_end */
};

struct perfev_unwinder_opts {
	size_t size;
	uint32_t arch;	     /* enum perfev_arch of the recording; 0: the host's */
	uint32_t max_frames; /* 0: 4096 */
};

struct perfev_unwinder;

/*
 * perfev_unwinder_new() - unwinds stacks in the address spaces of @symbols
 * It has to be freed before them, and is used, like them, by one thread at a time.
 * Return: 0; -ENOMEM; -E2BIG (why OPTIONS); -EINVAL: more than 65536 frames.
 * Since: 0.1
 */
PERFEV_API int perfev_unwinder_new(struct perfev_unwinder **ret, struct perfev_symbols *symbols,
				   const struct perfev_unwinder_opts *opts, struct perfev_error *err);
PERFEV_API void perfev_unwinder_free(struct perfev_unwinder *unwinder);

/* What was recorded of a thread. */
struct perfev_unwind_state {
	struct perfev_registers registers;
	struct perfev_bytes stack; /* from the stack pointer on, in the byte order of the registers */
	int32_t pid;
};

/*
 * perfev_unwind() - the frames of a thread
 * Files are read when the first address in them is met; then nothing is allocated.
 * @ret: its frames live until the next call for this unwinder. A stack that was cut short is no error: ret->end says why.
 * Return: 0; -ENOMEM.
 * Since: 0.1
 */
PERFEV_API int perfev_unwind(struct perfev_unwinder *unwinder, const struct perfev_unwind_state *state,
			     struct perfev_unwound *ret, struct perfev_error *err);

/*
 * perfev_unwind_sample() - completes the call chain of a sample
 * The kernel's part is kept. The user part is put behind it when there is none yet: unwound, if the sample has registers
 * and stack; or out of the branches, if these are the CPU's call stack (PERF_SAMPLE_BRANCH_CALL_STACK: then also in place
 * of one by frame pointers). Each address of it that is not a return address has a PERF_CONTEXT_USER mark before it,
 * so that perfev_callchain_next() says "first" of it, and of no other.
 * @sample: decoded, with perfev_symbols_feed() up to its time; its callchain then is a view that lives until the next call.
 * @ret: as above, and with end NOTHING and no frames when nothing was unwound; may be NULL.
 * Return: 1: the chain was completed; 0: it is as it was; -ENOMEM.
 * Since: 0.1
 */
PERFEV_API int perfev_unwind_sample(struct perfev_unwinder *unwinder, struct perfev_sample *sample,
				    const struct perfev_layout *layout, struct perfev_unwound *ret, struct perfev_error *err);

/* What an unwinder did. */
struct perfev_unwinder_info {
	uint64_t stacks, frames, guessed;
	uint64_t ends[PERFEV_UNWOUND_COUNT_]; /* stacks, by why they ended */
	uint64_t rows, rules, bytes;	      /* of the tables that were made */
};

/* perfev_unwinder_describe() - what it did so far; rows, rules and bytes are of all tables of its symbols */
PERFEV_API void perfev_unwinder_describe(const struct perfev_unwinder *unwinder, struct perfev_unwinder_info *ret);

/* ---- the calling thread ------------------------------------------------------------------------------------------ */

/* The tables of what is loaded in this process. */
struct perfev_own_tables;

/*
 * perfev_own_tables_new() - makes the tables of the program, its libraries and the vdso, as they are loaded now
 * Code that is loaded later is unwound by frame pointers: make another one then.
 * Return: 0; -ENOMEM; -ENOTSUP (why UNSUPPORTED) on other machines.
 * Since: 0.1
 */
PERFEV_API int perfev_own_tables_new(struct perfev_own_tables **ret, struct perfev_error *err);
PERFEV_API void perfev_own_tables_free(struct perfev_own_tables *self);

/*
 * perfev_unwind_self() - the frames of the calling thread
 * Can be called from a signal handler, by several threads at once: it allocates nothing, takes no lock, and changes nothing
 * but @frames and @end. Memory is read only after the kernel was asked whether it can be, once a page.
 * @ucontext: the third argument of a signal handler (SA_SIGINFO): frames from the interrupted place on; NULL: from the
 * caller of this function on.
 * @end: enum perfev_unwound_end; may be NULL.
 * Return: how many frames, at most @max.
 * Since: 0.1
 */
PERFEV_API uint32_t perfev_unwind_self(const struct perfev_own_tables *self, const void *ucontext,
				       struct perfev_unwound_frame *frames, uint32_t max, uint32_t *end);

PERFEV_END

#endif
