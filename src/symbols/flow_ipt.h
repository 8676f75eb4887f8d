/* SPDX-License-Identifier: MIT */
/*
 * What is used of libipt, declared here so that it need not be there to build: its types as libipt.so.2 lays them out.
 * Structs that are handed over go with their size, which tells the library what the caller knows of. tests/unit/test_flow.c
 * compares them with its header.
 */
#ifndef SYMBOLS_FLOW_IPT_H
#define SYMBOLS_FLOW_IPT_H

#include <stddef.h>
#include <stdint.h>

struct ipt_cpu {
	int vendor; /* IPT_INTEL */
	uint16_t family;
	uint8_t model, stepping;
};

struct ipt_config {
	size_t size;
	uint8_t *begin, *end;
	void (*unknown)(void); /* packets that it does not know: not set */
	void *unknown_context;
	struct ipt_cpu cpu;
	uint32_t errata[16]; /* filled in by pt_cpu_errata() */
	uint32_t tsc_ctc_d, tsc_ctc_n; /* EAX and EBX of leaf 0x15 */
	uint8_t mtc_period, nominal_ratio;
	uint32_t flags[4];
	uint64_t filters[17];
};

#define IPT_INTEL 1

/* The kinds of instructions. */
enum ipt_class {
	IPT_CLASS_ERROR, /* not all of the instruction is known */
	IPT_CLASS_OTHER,
	IPT_CLASS_CALL,
	IPT_CLASS_RETURN,
	IPT_CLASS_JUMP,
	IPT_CLASS_CONDITIONAL,
	IPT_CLASS_FAR_CALL,
	IPT_CLASS_FAR_RETURN,
	IPT_CLASS_FAR_JUMP,
	IPT_CLASS_PTWRITE
};

struct ipt_insn {
	uint64_t ip;
	int section, mode, iclass;
	uint8_t raw[15], size;
	uint32_t speculative : 1, truncated : 1;
};

enum ipt_event_type {
	IPT_ENABLED,
	IPT_DISABLED,
	IPT_ASYNC_DISABLED,
	IPT_ASYNC_BRANCH,
	IPT_PAGING,
	IPT_ASYNC_PAGING,
	IPT_OVERFLOW,
	IPT_EXEC_MODE,
	IPT_TSX,
	IPT_STOP
};

struct ipt_event {
	int type;
	uint32_t ip_suppressed : 1, status_update : 1, has_tsc : 1;
	uint64_t tsc;
	uint32_t lost_mtc, lost_cyc;
	uint64_t reserved[2];
	union {
		struct {
			uint64_t ip; /* of an asynchronous one, where it happened */
			uint64_t to; /* and where it went */
		} at;
		struct {
			uint64_t ip;
			uint32_t speculative : 1, aborted : 1;
		} tsx;
		uint64_t words[3];
	} as;
};

/* What functions return, when it is not an error. */
#define IPT_EVENT_PENDING 1
#define IPT_END_OF_TRACE  4

/* Errors are negative. */
enum ipt_error {
	IPT_ERROR_NOSYNC = 3,
	IPT_ERROR_OPCODE = 4,
	IPT_ERROR_PACKET = 5,
	IPT_ERROR_CONTEXT = 6,
	IPT_ERROR_END = 7,
	IPT_ERROR_QUERY = 8,
	IPT_ERROR_MEMORY = 9,
	IPT_ERROR_NO_IP = 11,
	IPT_ERROR_SUPPRESSED = 12,
	IPT_ERROR_NO_CODE = 13,
	IPT_ERROR_INSTRUCTION = 14,
	IPT_ERROR_NO_TIME = 15,
	IPT_ERROR_STACK_EMPTY = 20,
	IPT_ERROR_COMPRESSED_RETURN = 21
};

typedef int ipt_read(uint8_t *to, size_t size, const void *space, uint64_t ip, void *context);

struct ipt {
	void *handle;
	int (*cpu_errata)(uint32_t *errata, const struct ipt_cpu *cpu);
	void *(*alloc)(const struct ipt_config *config);
	void (*free)(void *decoder);
	void *(*image)(void *decoder);
	int (*set_callback)(void *image, ipt_read *read, void *context);
	int (*sync)(void *decoder);
	int (*offset)(const void *decoder, uint64_t *ret);
	int (*sync_offset)(const void *decoder, uint64_t *ret);
	int (*time)(void *decoder, uint64_t *tsc, uint32_t *lost_mtc, uint32_t *lost_cyc);
	int (*next)(void *decoder, struct ipt_insn *ret, size_t size);
	int (*event)(void *decoder, struct ipt_event *ret, size_t size);
};

#endif
