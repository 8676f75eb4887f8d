/* SPDX-License-Identifier: MIT */
/*
 * perfev/abi.h - the kernel's perf event interface, as of Linux 7.3
 *
 * Types, constants and layouts of perf_event_open(2), its ring buffer and its records, under the
 * kernel's own names. Nothing here needs a kernel header or Linux: recorded data is read on any
 * host. Layouts hold for every word size; where bit-fields depend on byte order, both are given.
 *
 * Numbers in brackets are the first kernel that has the item. Sources: perf_event_open(2), the
 * kernel's behaviour as tested, and the published interface header (for names and values).
 *
 * Together with <linux/perf_event.h>: include this one first, and the other is satisfied by it.
 * The other order works with headers of Linux 7.0 and later; else the compiler says so.
 */
#ifndef PERFEV_ABI_H
#define PERFEV_ABI_H

#include <stdint.h>

/* The kernel whose interface this is, as LINUX_VERSION_CODE has it. */
#define PERFEV_ABI_LINUX 0x070300

#ifdef _MSC_VER
#define PERFEV_EXTENSION
#else
#define PERFEV_EXTENSION __extension__
#endif

/* Bit-fields begin at the top of a word where bytes do: by the ABIs of all these machines. */
#if defined(__BYTE_ORDER__) && defined(__ORDER_BIG_ENDIAN__)
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define PERFEV_BIG_ENDIAN 1
#endif
#elif defined(__BIG_ENDIAN__) || defined(__ARMEB__) || defined(__AARCH64EB__) || defined(__MIPSEB__)
#define PERFEV_BIG_ENDIAN 1
#endif
#ifndef PERFEV_BIG_ENDIAN
#define PERFEV_BIG_ENDIAN 0
#endif

#if defined(_LINUX_PERF_EVENT_H) || defined(_UAPI_LINUX_PERF_EVENT_H)
/* Constants can be added to an older header, but not members to its structs. */
#if !defined(PERF_ATTR_SIZE_VER9) || !defined(PERF_MEM_REGION_NA)
#error "include <perfev/abi.h> before <linux/perf_event.h>: the system's is older than Linux 7.0"
#endif
#define PERFEV_ABI_SYSTEM 1 /* the system's enums and structs serve; only macros are added */
#else
#define PERFEV_ABI_SYSTEM 0
#define _LINUX_PERF_EVENT_H
#define _UAPI_LINUX_PERF_EVENT_H
#ifdef __linux__
#if defined(__has_include) /* of an architecture's headers there may be but the common part */
#if __has_include(<linux/types.h>) && __has_include(<asm/types.h>)
#include <linux/types.h> /* what includers of <linux/perf_event.h> count on */
#include <linux/ioctl.h>
#include <asm/byteorder.h>
#endif
#endif
#endif
#endif

/* ---- attr sizes: bytes of struct perf_event_attr, and what the step added -------------------- */

#if !PERFEV_ABI_SYSTEM
#define PERF_ATTR_SIZE_VER0 64	/* [2.6.32] */
#define PERF_ATTR_SIZE_VER1 72	/* [2.6.33] config2 */
#define PERF_ATTR_SIZE_VER2 80	/* [3.4] branch_sample_type */
#define PERF_ATTR_SIZE_VER3 96	/* [3.7] sample_regs_user, sample_stack_user */
#define PERF_ATTR_SIZE_VER4 104 /* [3.19] sample_regs_intr */
#define PERF_ATTR_SIZE_VER5 112 /* [4.1] aux_watermark */
#define PERF_ATTR_SIZE_VER6 120 /* [5.5] aux_sample_size */
#define PERF_ATTR_SIZE_VER7 128 /* [5.13] sig_data */
#define PERF_ATTR_SIZE_VER8 136 /* [6.3] config3 */
#define PERF_ATTR_SIZE_VER9 144 /* [6.19] config4 */

/* ---- what is counted ------------------------------------------------------------------------- */

enum perf_type_id {
	PERF_TYPE_HARDWARE = 0,
	PERF_TYPE_SOFTWARE = 1,
	PERF_TYPE_TRACEPOINT = 2,
	PERF_TYPE_HW_CACHE = 3,
	PERF_TYPE_RAW = 4,
	PERF_TYPE_BREAKPOINT = 5, /* [2.6.33] */
	PERF_TYPE_MAX = 6	  /* dynamic PMUs are numbered from here; read sysfs */
};

/* config of HARDWARE and HW_CACHE: the PMU's type in the upper half [5.13], the id in the lower */
#define PERF_PMU_TYPE_SHIFT 32
#define PERF_HW_EVENT_MASK  0xffffffff

enum perf_hw_id {
	PERF_COUNT_HW_CPU_CYCLES = 0,
	PERF_COUNT_HW_INSTRUCTIONS = 1,
	PERF_COUNT_HW_CACHE_REFERENCES = 2,
	PERF_COUNT_HW_CACHE_MISSES = 3,
	PERF_COUNT_HW_BRANCH_INSTRUCTIONS = 4,
	PERF_COUNT_HW_BRANCH_MISSES = 5,
	PERF_COUNT_HW_BUS_CYCLES = 6,
	PERF_COUNT_HW_STALLED_CYCLES_FRONTEND = 7, /* [3.0] */
	PERF_COUNT_HW_STALLED_CYCLES_BACKEND = 8,  /* [3.0] */
	PERF_COUNT_HW_REF_CPU_CYCLES = 9,	   /* [3.3] */
	PERF_COUNT_HW_MAX = 10
};

/* config of HW_CACHE: cache | op << 8 | result << 16 */
enum perf_hw_cache_id {
	PERF_COUNT_HW_CACHE_L1D = 0,
	PERF_COUNT_HW_CACHE_L1I = 1,
	PERF_COUNT_HW_CACHE_LL = 2,
	PERF_COUNT_HW_CACHE_DTLB = 3,
	PERF_COUNT_HW_CACHE_ITLB = 4,
	PERF_COUNT_HW_CACHE_BPU = 5,
	PERF_COUNT_HW_CACHE_NODE = 6, /* [3.1] */
	PERF_COUNT_HW_CACHE_MAX = 7
};

enum perf_hw_cache_op_id {
	PERF_COUNT_HW_CACHE_OP_READ = 0,
	PERF_COUNT_HW_CACHE_OP_WRITE = 1,
	PERF_COUNT_HW_CACHE_OP_PREFETCH = 2,
	PERF_COUNT_HW_CACHE_OP_MAX = 3
};

enum perf_hw_cache_op_result_id {
	PERF_COUNT_HW_CACHE_RESULT_ACCESS = 0,
	PERF_COUNT_HW_CACHE_RESULT_MISS = 1,
	PERF_COUNT_HW_CACHE_RESULT_MAX = 2
};

enum perf_sw_ids {
	PERF_COUNT_SW_CPU_CLOCK = 0,  /* ns, while the event is on a CPU */
	PERF_COUNT_SW_TASK_CLOCK = 1, /* ns of the task */
	PERF_COUNT_SW_PAGE_FAULTS = 2,
	PERF_COUNT_SW_CONTEXT_SWITCHES = 3, /* happens in the kernel: 0 with exclude_kernel */
	PERF_COUNT_SW_CPU_MIGRATIONS = 4,
	PERF_COUNT_SW_PAGE_FAULTS_MIN = 5,
	PERF_COUNT_SW_PAGE_FAULTS_MAJ = 6,
	PERF_COUNT_SW_ALIGNMENT_FAULTS = 7, /* [2.6.33] */
	PERF_COUNT_SW_EMULATION_FAULTS = 8, /* [2.6.33] */
	PERF_COUNT_SW_DUMMY = 9,	    /* [3.12] never counts: carries side-band records */
	PERF_COUNT_SW_BPF_OUTPUT = 10,	    /* [4.4] */
	PERF_COUNT_SW_CGROUP_SWITCHES = 11, /* [5.13] */
	PERF_COUNT_SW_MAX = 12
};

/* ---- what a sample carries: attr.sample_type ------------------------------------------------- */

enum perf_event_sample_format {
	PERF_SAMPLE_IP = 1 << 0,
	PERF_SAMPLE_TID = 1 << 1,
	PERF_SAMPLE_TIME = 1 << 2,
	PERF_SAMPLE_ADDR = 1 << 3,
	PERF_SAMPLE_READ = 1 << 4,
	PERF_SAMPLE_CALLCHAIN = 1 << 5,
	PERF_SAMPLE_ID = 1 << 6,
	PERF_SAMPLE_CPU = 1 << 7,
	PERF_SAMPLE_PERIOD = 1 << 8,
	PERF_SAMPLE_STREAM_ID = 1 << 9,
	PERF_SAMPLE_RAW = 1 << 10,
	PERF_SAMPLE_BRANCH_STACK = 1 << 11,   /* [3.4] */
	PERF_SAMPLE_REGS_USER = 1 << 12,      /* [3.7] */
	PERF_SAMPLE_STACK_USER = 1 << 13,     /* [3.7] */
	PERF_SAMPLE_WEIGHT = 1 << 14,	      /* [3.10] */
	PERF_SAMPLE_DATA_SRC = 1 << 15,	      /* [3.10] */
	PERF_SAMPLE_IDENTIFIER = 1 << 16,     /* [3.12] */
	PERF_SAMPLE_TRANSACTION = 1 << 17,    /* [3.13] */
	PERF_SAMPLE_REGS_INTR = 1 << 18,      /* [3.19] */
	PERF_SAMPLE_PHYS_ADDR = 1 << 19,      /* [4.14] */
	PERF_SAMPLE_AUX = 1 << 20,	      /* [5.5] */
	PERF_SAMPLE_CGROUP = 1 << 21,	      /* [5.7] */
	PERF_SAMPLE_DATA_PAGE_SIZE = 1 << 22, /* [5.11] */
	PERF_SAMPLE_CODE_PAGE_SIZE = 1 << 23, /* [5.11] */
	PERF_SAMPLE_WEIGHT_STRUCT = 1 << 24,  /* [5.12] excludes WEIGHT */
	PERF_SAMPLE_MAX = 1 << 25
};
#define PERF_SAMPLE_WEIGHT_TYPE (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)

/* ---- what a read carries: attr.read_format --------------------------------------------------- */

enum perf_event_read_format {
	PERF_FORMAT_TOTAL_TIME_ENABLED = 1 << 0,
	PERF_FORMAT_TOTAL_TIME_RUNNING = 1 << 1,
	PERF_FORMAT_ID = 1 << 2,
	PERF_FORMAT_GROUP = 1 << 3,
	PERF_FORMAT_LOST = 1 << 4, /* [6.0] */
	PERF_FORMAT_MAX = 1 << 5
};

/* ---- branch stacks: attr.branch_sample_type -------------------------------------------------- */

enum perf_branch_sample_type_shift {
	PERF_SAMPLE_BRANCH_USER_SHIFT = 0,
	PERF_SAMPLE_BRANCH_KERNEL_SHIFT = 1,
	PERF_SAMPLE_BRANCH_HV_SHIFT = 2,
	PERF_SAMPLE_BRANCH_ANY_SHIFT = 3,
	PERF_SAMPLE_BRANCH_ANY_CALL_SHIFT = 4,
	PERF_SAMPLE_BRANCH_ANY_RETURN_SHIFT = 5,
	PERF_SAMPLE_BRANCH_IND_CALL_SHIFT = 6,
	PERF_SAMPLE_BRANCH_ABORT_TX_SHIFT = 7,	 /* [3.11] */
	PERF_SAMPLE_BRANCH_IN_TX_SHIFT = 8,	 /* [3.11] */
	PERF_SAMPLE_BRANCH_NO_TX_SHIFT = 9,	 /* [3.11] */
	PERF_SAMPLE_BRANCH_COND_SHIFT = 10,	 /* [3.16] */
	PERF_SAMPLE_BRANCH_CALL_STACK_SHIFT = 11, /* [4.1] */
	PERF_SAMPLE_BRANCH_IND_JUMP_SHIFT = 12,	 /* [4.2] */
	PERF_SAMPLE_BRANCH_CALL_SHIFT = 13,	 /* [4.4] */
	PERF_SAMPLE_BRANCH_NO_FLAGS_SHIFT = 14,	 /* [4.5] */
	PERF_SAMPLE_BRANCH_NO_CYCLES_SHIFT = 15, /* [4.5] */
	PERF_SAMPLE_BRANCH_TYPE_SAVE_SHIFT = 16, /* [4.14] */
	PERF_SAMPLE_BRANCH_HW_INDEX_SHIFT = 17,	 /* [5.7] */
	PERF_SAMPLE_BRANCH_PRIV_SAVE_SHIFT = 18, /* [6.1] */
	PERF_SAMPLE_BRANCH_COUNTERS_SHIFT = 19,	 /* [6.8] */
	PERF_SAMPLE_BRANCH_MAX_SHIFT = 20
};

enum perf_branch_sample_type {
	PERF_SAMPLE_BRANCH_USER = 1 << 0,
	PERF_SAMPLE_BRANCH_KERNEL = 1 << 1,
	PERF_SAMPLE_BRANCH_HV = 1 << 2,
	PERF_SAMPLE_BRANCH_ANY = 1 << 3,
	PERF_SAMPLE_BRANCH_ANY_CALL = 1 << 4,
	PERF_SAMPLE_BRANCH_ANY_RETURN = 1 << 5,
	PERF_SAMPLE_BRANCH_IND_CALL = 1 << 6,
	PERF_SAMPLE_BRANCH_ABORT_TX = 1 << 7,
	PERF_SAMPLE_BRANCH_IN_TX = 1 << 8,
	PERF_SAMPLE_BRANCH_NO_TX = 1 << 9,
	PERF_SAMPLE_BRANCH_COND = 1 << 10,
	PERF_SAMPLE_BRANCH_CALL_STACK = 1 << 11,
	PERF_SAMPLE_BRANCH_IND_JUMP = 1 << 12,
	PERF_SAMPLE_BRANCH_CALL = 1 << 13,
	PERF_SAMPLE_BRANCH_NO_FLAGS = 1 << 14,
	PERF_SAMPLE_BRANCH_NO_CYCLES = 1 << 15,
	PERF_SAMPLE_BRANCH_TYPE_SAVE = 1 << 16,
	PERF_SAMPLE_BRANCH_HW_INDEX = 1 << 17,
	PERF_SAMPLE_BRANCH_PRIV_SAVE = 1 << 18,
	PERF_SAMPLE_BRANCH_COUNTERS = 1 << 19,
	PERF_SAMPLE_BRANCH_MAX = 1 << 20
};
#define PERF_SAMPLE_BRANCH_PLM_ALL \
	(PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV)

enum { /* perf_branch_entry.type [4.14] */
       PERF_BR_UNKNOWN = 0,
       PERF_BR_COND = 1,
       PERF_BR_UNCOND = 2,
       PERF_BR_IND = 3,
       PERF_BR_CALL = 4,
       PERF_BR_IND_CALL = 5,
       PERF_BR_RET = 6,
       PERF_BR_SYSCALL = 7,
       PERF_BR_SYSRET = 8,
       PERF_BR_COND_CALL = 9,
       PERF_BR_COND_RET = 10,
       PERF_BR_ERET = 11,	/* [5.18] */
       PERF_BR_IRQ = 12,	/* [5.18] */
       PERF_BR_SERROR = 13,	/* [6.1] */
       PERF_BR_NO_TX = 14,	/* [6.1] */
       PERF_BR_EXTEND_ABI = 15, /* [6.1] new_type says */
       PERF_BR_MAX = 16
};

enum { /* perf_branch_entry.spec [6.1] */
       PERF_BR_SPEC_NA = 0,
       PERF_BR_SPEC_WRONG_PATH = 1,
       PERF_BR_NON_SPEC_CORRECT_PATH = 2,
       PERF_BR_SPEC_CORRECT_PATH = 3,
       PERF_BR_SPEC_MAX = 4
};

enum { /* perf_branch_entry.new_type [6.1] */
       PERF_BR_NEW_FAULT_ALGN = 0,
       PERF_BR_NEW_FAULT_DATA = 1,
       PERF_BR_NEW_FAULT_INST = 2,
       PERF_BR_NEW_ARCH_1 = 3,
       PERF_BR_NEW_ARCH_2 = 4,
       PERF_BR_NEW_ARCH_3 = 5,
       PERF_BR_NEW_ARCH_4 = 6,
       PERF_BR_NEW_ARCH_5 = 7,
       PERF_BR_NEW_MAX = 8
};
#define PERF_BR_ARM64_FIQ	 PERF_BR_NEW_ARCH_1
#define PERF_BR_ARM64_DEBUG_HALT PERF_BR_NEW_ARCH_2
#define PERF_BR_ARM64_DEBUG_EXIT PERF_BR_NEW_ARCH_3
#define PERF_BR_ARM64_DEBUG_INST PERF_BR_NEW_ARCH_4
#define PERF_BR_ARM64_DEBUG_DATA PERF_BR_NEW_ARCH_5

enum { /* perf_branch_entry.priv [6.1] */
       PERF_BR_PRIV_UNKNOWN = 0,
       PERF_BR_PRIV_USER = 1,
       PERF_BR_PRIV_KERNEL = 2,
       PERF_BR_PRIV_HV = 3
};

enum perf_sample_regs_abi { /* the word before a register dump */
	PERF_SAMPLE_REGS_ABI_NONE = 0, /* no registers follow */
	PERF_SAMPLE_REGS_ABI_32 = 1,
	PERF_SAMPLE_REGS_ABI_64 = 2
};
#endif /* !PERFEV_ABI_SYSTEM */

/* ---- transactions: SAMPLE_TRANSACTION, a 64-bit word [3.13] ---------------------------------- */

/* The system's header has these in an enum, which a macro of the same value may hide. */
#define PERF_TXN_ELISION	(UINT64_C(1) << 0)
#define PERF_TXN_TRANSACTION	(UINT64_C(1) << 1)
#define PERF_TXN_SYNC		(UINT64_C(1) << 2)
#define PERF_TXN_ASYNC		(UINT64_C(1) << 3)
#define PERF_TXN_RETRY		(UINT64_C(1) << 4)
#define PERF_TXN_CONFLICT	(UINT64_C(1) << 5)
#define PERF_TXN_CAPACITY_WRITE (UINT64_C(1) << 6)
#define PERF_TXN_CAPACITY_READ	(UINT64_C(1) << 7)
#define PERF_TXN_MAX		(UINT64_C(1) << 8)
#define PERF_TXN_ABORT_MASK	(UINT64_C(0xffffffff) << 32)
#define PERF_TXN_ABORT_SHIFT	32

/* ---- call chains: marks among the addresses; a value >= PERF_CONTEXT_MAX is a mark ----------- */

#define PERF_CONTEXT_HV		   UINT64_C(0xffffffffffffffe0)
#define PERF_CONTEXT_KERNEL	   UINT64_C(0xffffffffffffff80)
#define PERF_CONTEXT_USER	   UINT64_C(0xfffffffffffffe00)
#define PERF_CONTEXT_USER_DEFERRED UINT64_C(0xfffffffffffffd80) /* [6.19] one cookie follows */
#define PERF_CONTEXT_GUEST	   UINT64_C(0xfffffffffffff800)
#define PERF_CONTEXT_GUEST_KERNEL  UINT64_C(0xfffffffffffff780)
#define PERF_CONTEXT_GUEST_USER	   UINT64_C(0xfffffffffffff600)
#define PERF_CONTEXT_MAX	   UINT64_C(0xfffffffffffff001)

#if !PERFEV_ABI_SYSTEM
#define PERF_MAX_STACK_DEPTH	       127
#define PERF_MAX_CONTEXTS_PER_STACK    8
#define PERF_BRANCH_ENTRY_INFO_BITS_MAX 33

/* ---- struct perf_event_attr ------------------------------------------------------------------ */

/* Offsets and size are the same on every ABI. Bit n of the flag word is bit 63-n of its value on
 * a big-endian kernel: C bit-fields fill from the other end there, as they do here. */
struct perf_event_attr {
	uint32_t type;
	uint32_t size;
	uint64_t config;
	PERFEV_EXTENSION union {
		uint64_t sample_period;
		uint64_t sample_freq; /* Hz, when freq is set */
	};
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t disabled : 1, inherit : 1, pinned : 1, exclusive : 1, exclude_user : 1,
		exclude_kernel : 1, exclude_hv : 1, exclude_idle : 1, mmap : 1, comm : 1, freq : 1,
		inherit_stat : 1, enable_on_exec : 1, task : 1, watermark : 1,
		precise_ip : 2,	   /* [2.6.35] 0 any skid, 1 constant, 2 ask zero, 3 demand zero */
		mmap_data : 1,	   /* [2.6.36] */
		sample_id_all : 1, /* [2.6.38] */
		exclude_host : 1, exclude_guest : 1,			     /* [3.2] */
		exclude_callchain_kernel : 1, exclude_callchain_user : 1, /* [3.7] */
		mmap2 : 1,						     /* [3.16] */
		comm_exec : 1,						     /* [3.16] */
		use_clockid : 1,					     /* [4.1] */
		context_switch : 1,					     /* [4.3] */
		write_backward : 1,					     /* [4.7] */
		namespaces : 1,						     /* [4.12] */
		ksymbol : 1, bpf_event : 1,				     /* [5.1] */
		aux_output : 1,						     /* [5.4] */
		cgroup : 1,						     /* [5.7] */
		text_poke : 1,						     /* [5.9] */
		build_id : 1,						     /* [5.12] */
		inherit_thread : 1, remove_on_exec : 1, sigtrap : 1,	     /* [5.13] */
		defer_callchain : 1, defer_output : 1,			     /* [6.19] */
		__reserved_1 : 24;
	PERFEV_EXTENSION union {
		uint32_t wakeup_events;
		uint32_t wakeup_watermark; /* bytes, when watermark is set */
	};
	uint32_t bp_type;
	PERFEV_EXTENSION union {
		uint64_t bp_addr;
		uint64_t kprobe_func; /* [4.17] address of a string, for the kprobe PMU */
		uint64_t uprobe_path; /* [4.17] address of a string, for the uprobe PMU */
		uint64_t config1;     /* [2.6.39] */
	};
	PERFEV_EXTENSION union {
		uint64_t bp_len;
		uint64_t kprobe_addr;
		uint64_t probe_offset;
		uint64_t config2;
	};
	uint64_t branch_sample_type;
	uint64_t sample_regs_user;
	uint32_t sample_stack_user; /* bytes, a multiple of 8 below 65535 */
	int32_t clockid;	    /* [4.1] with use_clockid */
	uint64_t sample_regs_intr;
	uint32_t aux_watermark;
	uint16_t sample_max_stack; /* [4.8] frames; 0: the sysctl perf_event_max_stack */
	uint16_t __reserved_2;
	uint32_t aux_sample_size;
	PERFEV_EXTENSION union {
		uint32_t aux_action; /* [6.13] */
		PERFEV_EXTENSION struct {
			uint32_t aux_start_paused : 1, aux_pause : 1, aux_resume : 1,
				__reserved_3 : 29;
		};
	};
	uint64_t sig_data;
	uint64_t config3;
	uint64_t config4;
};

/* PERF_EVENT_IOC_QUERY_BPF; ids_len entries of ids follow */
struct perf_event_query_bpf {
	uint32_t ids_len;
	uint32_t prog_cnt;
#ifdef __cplusplus
	uint32_t ids[1]; /* C++ has no flexible arrays */
#else
	uint32_t ids[];
#endif
};

enum perf_event_ioc_flags { PERF_IOC_FLAG_GROUP = 1U << 0 };

#define PERF_FLAG_FD_NO_GROUP (1UL << 0)
#define PERF_FLAG_FD_OUTPUT   (1UL << 1)
#define PERF_FLAG_PID_CGROUP  (1UL << 2) /* [2.6.39] */
#define PERF_FLAG_FD_CLOEXEC  (1UL << 3) /* [3.14] */

/* ---- the control page of a mapped event ------------------------------------------------------ */

struct perf_event_mmap_page {
	uint32_t version;
	uint32_t compat_version;
	uint32_t lock;	/* sequence counter, odd while it is written */
	uint32_t index; /* hardware counter + 1; 0: not readable from here now */
	int64_t offset; /* to be added to the hardware counter */
	uint64_t time_enabled;
	uint64_t time_running;
	PERFEV_EXTENSION union {
		uint64_t capabilities;
		PERFEV_EXTENSION struct {
			uint64_t cap_bit0 : 1, cap_bit0_is_deprecated : 1, cap_user_rdpmc : 1,
				cap_user_time : 1, cap_user_time_zero : 1,
				cap_user_time_short : 1, /* [5.9] */
				cap_____res : 58;
		};
	};
	uint16_t pmc_width; /* bits */
	uint16_t time_shift;
	uint32_t time_mult;
	uint64_t time_offset;
	uint64_t time_zero; /* [3.12] */
	uint32_t size;
	uint32_t __reserved_1;
	uint64_t time_cycles;
	uint64_t time_mask;
	uint8_t __reserved[116 * 8];
	uint64_t data_head;   /* at 1024: bytes written so far, free running */
	uint64_t data_tail;   /* bytes read so far, written by the reader */
	uint64_t data_offset; /* [4.1] */
	uint64_t data_size;   /* [4.1] */
	uint64_t aux_head;
	uint64_t aux_tail;
	uint64_t aux_offset;
	uint64_t aux_size;
};

/* ---- records --------------------------------------------------------------------------------- */

struct perf_event_header {
	uint32_t type;
	uint16_t misc;
	uint16_t size; /* of the whole record */
};

struct perf_ns_link_info {
	uint64_t dev;
	uint64_t ino;
};

enum {
	NET_NS_INDEX = 0,
	UTS_NS_INDEX = 1,
	IPC_NS_INDEX = 2,
	PID_NS_INDEX = 3,
	USER_NS_INDEX = 4,
	MNT_NS_INDEX = 5,
	CGROUP_NS_INDEX = 6,
	NR_NAMESPACES = 7
};

enum perf_event_type {
	PERF_RECORD_MMAP = 1,
	PERF_RECORD_LOST = 2,
	PERF_RECORD_COMM = 3,
	PERF_RECORD_EXIT = 4,
	PERF_RECORD_THROTTLE = 5,
	PERF_RECORD_UNTHROTTLE = 6,
	PERF_RECORD_FORK = 7,
	PERF_RECORD_READ = 8,
	PERF_RECORD_SAMPLE = 9,
	PERF_RECORD_MMAP2 = 10,		     /* [3.16] */
	PERF_RECORD_AUX = 11,		     /* [4.1] */
	PERF_RECORD_ITRACE_START = 12,	     /* [4.1] */
	PERF_RECORD_LOST_SAMPLES = 13,	     /* [4.2] */
	PERF_RECORD_SWITCH = 14,	     /* [4.3] */
	PERF_RECORD_SWITCH_CPU_WIDE = 15,    /* [4.3] */
	PERF_RECORD_NAMESPACES = 16,	     /* [4.12] */
	PERF_RECORD_KSYMBOL = 17,	     /* [5.1] */
	PERF_RECORD_BPF_EVENT = 18,	     /* [5.1] */
	PERF_RECORD_CGROUP = 19,	     /* [5.7] */
	PERF_RECORD_TEXT_POKE = 20,	     /* [5.9] */
	PERF_RECORD_AUX_OUTPUT_HW_ID = 21,   /* [5.16] */
	PERF_RECORD_CALLCHAIN_DEFERRED = 22, /* [6.19] */
	PERF_RECORD_MAX = 23
};

enum perf_record_ksymbol_type {
	PERF_RECORD_KSYMBOL_TYPE_UNKNOWN = 0,
	PERF_RECORD_KSYMBOL_TYPE_BPF = 1,
	PERF_RECORD_KSYMBOL_TYPE_OOL = 2, /* [5.9] out of line: kprobe slots, trampolines */
	PERF_RECORD_KSYMBOL_TYPE_MAX = 3
};

enum perf_bpf_event_type {
	PERF_BPF_EVENT_UNKNOWN = 0,
	PERF_BPF_EVENT_PROG_LOAD = 1,
	PERF_BPF_EVENT_PROG_UNLOAD = 2,
	PERF_BPF_EVENT_MAX = 3
};

#define PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER (1 << 0)

/* perf_event_header.misc: the CPU's mode in the low bits, then bits whose meaning the type gives */
#define PERF_RECORD_MISC_CPUMODE_MASK		(7 << 0)
#define PERF_RECORD_MISC_CPUMODE_UNKNOWN	(0 << 0)
#define PERF_RECORD_MISC_KERNEL			(1 << 0)
#define PERF_RECORD_MISC_USER			(2 << 0)
#define PERF_RECORD_MISC_HYPERVISOR		(3 << 0)
#define PERF_RECORD_MISC_GUEST_KERNEL		(4 << 0)
#define PERF_RECORD_MISC_GUEST_USER		(5 << 0)
#define PERF_RECORD_MISC_PROC_MAP_PARSE_TIMEOUT (1 << 12) /* set by tools only */
#define PERF_RECORD_MISC_MMAP_DATA		(1 << 13) /* MMAP, MMAP2: not executable */
#define PERF_RECORD_MISC_COMM_EXEC		(1 << 13) /* COMM [3.16] */
#define PERF_RECORD_MISC_FORK_EXEC		(1 << 13) /* FORK: set by tools only */
#define PERF_RECORD_MISC_SWITCH_OUT		(1 << 13) /* SWITCH, SWITCH_CPU_WIDE */
#define PERF_RECORD_MISC_EXACT_IP		(1 << 14) /* SAMPLE */
#define PERF_RECORD_MISC_SWITCH_OUT_PREEMPT	(1 << 14) /* SWITCH, SWITCH_CPU_WIDE [4.17] */
#define PERF_RECORD_MISC_MMAP_BUILD_ID		(1 << 14) /* MMAP2 [5.12] */
#define PERF_RECORD_MISC_EXT_RESERVED		(1 << 15)

/* PERF_RECORD_AUX flags */
#define PERF_AUX_FLAG_TRUNCATED			 0x0001
#define PERF_AUX_FLAG_OVERWRITE			 0x0002
#define PERF_AUX_FLAG_PARTIAL			 0x0004 /* [4.12] */
#define PERF_AUX_FLAG_COLLISION			 0x0008 /* [4.15] */
#define PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK	 0xff00 /* [5.13] */
#define PERF_AUX_FLAG_CORESIGHT_FORMAT_CORESIGHT 0x0000
#define PERF_AUX_FLAG_CORESIGHT_FORMAT_RAW	 0x0100

/* ---- SAMPLE_DATA_SRC: one 64-bit number, the same on both byte orders ------------------------ */

union perf_mem_data_src {
	uint64_t val;
	PERFEV_EXTENSION struct {
#if PERFEV_BIG_ENDIAN
		uint64_t mem_rsvd : 13, mem_region : 5, mem_hops : 3, mem_blk : 3, mem_snoopx : 2,
			mem_remote : 1, mem_lvl_num : 4, mem_dtlb : 7, mem_lock : 2, mem_snoop : 5,
			mem_lvl : 14, mem_op : 5;
#else
		uint64_t mem_op : 5, mem_lvl : 14, mem_snoop : 5, mem_lock : 2, mem_dtlb : 7,
			mem_lvl_num : 4, mem_remote : 1, mem_snoopx : 2, mem_blk : 3, mem_hops : 3,
			mem_region : 5, mem_rsvd : 13;
#endif
	};
};

/* ---- a branch: 24 bytes; the third word fills from the top on big-endian kernels ------------- */

struct perf_branch_entry {
	uint64_t from;
	uint64_t to;
	uint64_t mispred : 1, predicted : 1, in_tx : 1, abort : 1, cycles : 16, type : 4, spec : 2,
		new_type : 4, priv : 3, reserved : 31;
};

/* ---- SAMPLE_WEIGHT_STRUCT: the parts of the same 64-bit number ------------------------------- */

union perf_sample_weight {
	uint64_t full;
	PERFEV_EXTENSION struct {
#if PERFEV_BIG_ENDIAN
		uint16_t var3_w;
		uint16_t var2_w;
		uint32_t var1_dw;
#else
		uint32_t var1_dw;
		uint16_t var2_w;
		uint16_t var3_w;
#endif
	};
};
#endif /* !PERFEV_ABI_SYSTEM */

#include <perfev/abi_values.h>

#endif
