/* SPDX-License-Identifier: MIT */
/*
 * perfev/meaning.h - what the numbers in samples mean
 *
 * A sample has words whose bits are a small language: where a load found its data, what kind a branch is,
 * why a transaction was aborted, which privilege each address of a call chain belongs to. Here they become
 * fields and names. What the hardware did not say stays unsaid: such a field is 0, has no name, and is
 * not in a text.
 *
 * All of it is computing only, works on any host, and takes any number: bits that are newer than the library have no
 * name.
 */
#ifndef PERFEV_MEANING_H
#define PERFEV_MEANING_H

#include <perfev/record.h>
#include <perfev/regs.h>

PERFEV_BEGIN

/* ---- memory accesses: perfev_sample.data_src ---------------------------------------------------------- */

/* Where data can be. */
enum perfev_mem_level {
	PERFEV_MEM_L0,
	PERFEV_MEM_L1,
	PERFEV_MEM_L2,
	PERFEV_MEM_L3,
	PERFEV_MEM_L4,
	PERFEV_MEM_LFB,	      /* line fill buffer, or what else handles misses of L1 */
	PERFEV_MEM_L2_MHB,    /* what handles misses of L2 */
	PERFEV_MEM_MSC,	      /* memory-side cache */
	PERFEV_MEM_ANY_CACHE, /* a cache, which is not said */
	PERFEV_MEM_RAM,
	PERFEV_MEM_PMEM, /* persistent memory */
	PERFEV_MEM_CXL,	 /* memory behind CXL */
	PERFEV_MEM_IO,
	PERFEV_MEM_UNCACHED,
	PERFEV_MEM_LEVEL_COUNT_
};

/*
 * A memory access. Members are sets of bits or numbers as the kernel has them (PERF_MEM_OP_LOAD, ...), without
 * the bits that say "not available": 0 is what was not said.
 */
struct perfev_data_source {
	uint64_t unknown; /* bits that this library does not know, where they are in the word */
	uint32_t levels;  /* set of 1 << enum perfev_mem_level, of the newer field where it speaks, else of the older */
	uint8_t op;	  /* set of PERF_MEM_OP_* */
	uint8_t hit, miss; /* 1: at the levels */
	uint8_t remote;	  /* 1: of another core, node, socket or board */
	uint8_t hops;	  /* PERF_MEM_HOPS_*: how far that is */
	uint8_t old_hops; /* 1 or 2, of older fields, which do not say of what */
	uint8_t snoop;	  /* set of PERF_MEM_SNOOP_* */
	uint8_t snoopx;	  /* set of PERF_MEM_SNOOPX_* */
	uint8_t locked;	  /* 1: an atomic access; 0: it was not, or not said */
	uint8_t tlb;	  /* set of PERF_MEM_TLB_* */
	uint8_t blocked;  /* set of PERF_MEM_BLK_* */
	uint8_t region;	  /* PERF_MEM_REGION_* [7.0] */
};

/*
 * perfev_data_source_decode() - the fields of a data source word
 * @word: perfev_sample.data_src: one number, the same on machines of both byte orders.
 * Since: 0.1
 */
PERFEV_API void perfev_data_source_decode(struct perfev_data_source *ret, uint64_t word);

/* The members that have values with names. */
enum perfev_mem_field {
	PERFEV_MEM_FIELD_OP,
	PERFEV_MEM_FIELD_LEVEL,
	PERFEV_MEM_FIELD_HOPS,
	PERFEV_MEM_FIELD_SNOOP,
	PERFEV_MEM_FIELD_SNOOPX,
	PERFEV_MEM_FIELD_TLB,
	PERFEV_MEM_FIELD_BLOCKED,
	PERFEV_MEM_FIELD_REGION
};

/*
 * perfev_mem_name() - the name of one value
 * @value: of a set one bit (PERF_MEM_OP_LOAD); an enum perfev_mem_level; PERF_MEM_HOPS_*; PERF_MEM_REGION_*.
 * Return: a string that lives for ever; NULL for what has no name, and for "not available".
 * Since: 0.1
 */
PERFEV_API const char *perfev_mem_name(enum perfev_mem_field field, unsigned value);

/*
 * perfev_data_source_format() - a data source word as text: "load, L1 hit, snoop none, TLB L1|L2 hit"
 * Parts in this order, each only when it was said: the operation; the level, with "remote", "hit", "miss" and how
 * far; snoop; TLB; locked; blocked; region. Of a set the names have a bar between them. "not available" when
 * nothing was said.
 * @ret: gets at most @size bytes, terminated; may be NULL when @size is 0.
 * Return: the length of the whole text.
 * Since: 0.1
 */
PERFEV_API int perfev_data_source_format(char *ret, size_t size, uint64_t word);

/* ---- latencies: perfev_sample.weight ----------------------------------------------------------------------- */

/* What an access or instruction cost. Units are the PMU's, cycles as a rule. */
struct perfev_weight {
	uint64_t whole;	   /* of WEIGHT; of WEIGHT_STRUCT the same as the first part */
	uint32_t first;	   /* x86: of the memory access */
	uint16_t second;   /* x86: of the instruction, till it was dispatched; 0 without parts */
	uint16_t third;	   /* x86: of its retirement; 0 without parts */
	uint8_t has_parts; /* 1: of PERF_SAMPLE_WEIGHT_STRUCT */
};

/* perfev_sample_weight() - the weight of a sample, in one part or three; false when it has none. Since: 0.1 */
PERFEV_API bool perfev_sample_weight(const struct perfev_sample *sample, struct perfev_weight *ret);

/* ---- branches: struct perfev_branch ------------------------------------------------------------------------- */

/*
 * perfev_branch_type_name() - what kind of branch: "conditional", "return", "system call", ...
 * @arch: of the machine that was recorded: five of the newer kinds are each architecture's own.
 * Return: a string that lives for ever; NULL when it was not said, or has no name.
 * Since: 0.1
 */
PERFEV_API const char *perfev_branch_type_name(const struct perfev_branch *branch, enum perfev_arch arch);

/* perfev_branch_speculation_name() - of branch->spec; NULL when it was not said. Since: 0.1 */
PERFEV_API const char *perfev_branch_speculation_name(const struct perfev_branch *branch);

/* perfev_branch_privilege_name() - "user", "kernel", "hypervisor": of branch->priv; NULL when it was not said.
 * Since: 0.1 */
PERFEV_API const char *perfev_branch_privilege_name(const struct perfev_branch *branch);

/* ---- transactions: perfev_sample.transaction ------------------------------------------------------------- */

/* The number that the program gave to the abort, or the hardware. */
static inline uint32_t perfev_transaction_abort_code(uint64_t transaction)
{
	return (uint32_t)(transaction >> PERF_TXN_ABORT_SHIFT);
}

/* perfev_transaction_name() - of one bit, PERF_TXN_*; NULL when it has none. Since: 0.1 */
PERFEV_API const char *perfev_transaction_name(uint64_t bit);

/*
 * perfev_transaction_format() - the word as text: "transaction, synchronous, conflict, abort code 3"
 * Empty for 0: the sample is of no transaction.
 * Return: the length of the whole text; @ret and @size as above.
 * Since: 0.1
 */
PERFEV_API int perfev_transaction_format(char *ret, size_t size, uint64_t transaction);

/* ---- whose code: the misc bits of a record --------------------------------------------------------------------- */

/* perfev_cpumode_name() - "kernel", "user", "hypervisor", "guest kernel", "guest user", of perfev_record.misc or
 * perfev_sample.misc; NULL when it was not said. Since: 0.1 */
PERFEV_API const char *perfev_cpumode_name(uint16_t misc);

/* ---- call chains: perfev_sample.callchain -------------------------------------------------------------------- */

/* Whose an address is. */
enum perfev_context {
	PERFEV_CONTEXT_UNKNOWN, /* behind a mark that is newer than this library */
	PERFEV_CONTEXT_KERNEL,
	PERFEV_CONTEXT_USER,
	PERFEV_CONTEXT_HYPERVISOR,
	PERFEV_CONTEXT_GUEST, /* it is not said of which part */
	PERFEV_CONTEXT_GUEST_KERNEL,
	PERFEV_CONTEXT_GUEST_USER,
	PERFEV_CONTEXT_USER_DEFERRED, /* of the user's code, and unwound later [6.19] */
	PERFEV_CONTEXT_COUNT_
};

/* perfev_context_name() - "kernel", "user", ...; NULL for PERFEV_CONTEXT_UNKNOWN. Since: 0.1 */
PERFEV_API const char *perfev_context_name(enum perfev_context context);
/* perfev_context_cpumode() - the same as PERF_RECORD_MISC_KERNEL, _USER, ..., for perfev_place; 0: where such addresses are is not
 * known. Since: 0.1 */
PERFEV_API uint32_t perfev_context_cpumode(enum perfev_context context);

/* A walk over a chain. */
struct perfev_callchain {
	struct perfev_u64s ips;
	uint64_t cookie; /* of the user part that comes in a record of its own; 0: none does */
	uint32_t at;
	uint32_t context; /* enum perfev_context, of the next address */
};

/* An address of a chain. The first is where the sample was taken; the others are where calls return to. */
struct perfev_callchain_entry {
	uint64_t ip;
	uint32_t context; /* enum perfev_context */
	uint32_t first;	  /* 1: the first of its context: where that was left, not where a call returns to */
};

/*
 * perfev_callchain_begin() - walk over a chain
 * @misc: of the sample: says whose addresses before the first mark are.
 *
 * When the chain ends in PERF_CONTEXT_USER_DEFERRED and one word, that word is the cookie: it is in ret->cookie
 * at once, and is no address. When there are more words behind the mark, they are addresses which a tool has put
 * there, as perf does. (deferred.h joins the parts.)
 * Since: 0.1
 */
PERFEV_API void perfev_callchain_begin(struct perfev_callchain *ret, struct perfev_u64s ips, uint16_t misc);

/*
 * perfev_callchain_next() - the next address, marks left out
 * Return: 1 an address; 0 the end.
 */
PERFEV_API int perfev_callchain_next(struct perfev_callchain *chain, struct perfev_callchain_entry *ret);

PERFEV_END

#endif
