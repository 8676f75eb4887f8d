/* SPDX-License-Identifier: MIT */
/*
 * perfev/arm_spe.h - packets and records of Arm's Statistical Profiling Extension
 *
 * SPE follows single operations through the CPU. What it saw of one is a record: a row of packets (an address, latencies, the
 * kind of operation, what happened to it) that ends with an End or a Timestamp packet. Names are those of the Arm
 * Architecture Reference Manual, "Statistical Profiling Extension Sample Record Specification".
 *
 * auxtrace.h says how decoders are used. Take packets (perfev_spe_next()) or records (perfev_spe_next_record()), not both of one
 * decoder in turns. There is no packet to synchronize at; behind something that is no packet go on with the next byte
 * (perfev_spe_skip()), until records come that make sense.
 */
#ifndef PERFEV_ARM_SPE_H
#define PERFEV_ARM_SPE_H

#include <perfev/auxtrace.h>

PERFEV_BEGIN

enum perfev_spe_type {
	PERFEV_SPE_PADDING,
	PERFEV_SPE_END,
	PERFEV_SPE_TIMESTAMP,
	PERFEV_SPE_EVENTS,
	PERFEV_SPE_DATA_SOURCE,
	PERFEV_SPE_CONTEXT,   /* index: enum perfev_spe_context */
	PERFEV_SPE_OPERATION, /* index: enum perfev_spe_class */
	PERFEV_SPE_ADDRESS,   /* index: enum perfev_spe_address */
	PERFEV_SPE_COUNTER,   /* index: enum perfev_spe_counter */
	PERFEV_SPE_ALIGNMENT, /* index: what follows is at a multiple of 2 << index; the bytes up to there belong to it */
	PERFEV_SPE_COUNT_
};

enum perfev_spe_context {
	PERFEV_SPE_CONTEXT_EL1 = 0, /* CONTEXTIDR_EL1 */
	PERFEV_SPE_CONTEXT_EL2 = 1
};

enum perfev_spe_class {
	PERFEV_SPE_OTHER = 0,
	PERFEV_SPE_LOAD_STORE = 1, /* and atomics */
	PERFEV_SPE_BRANCH = 2	   /* and exception returns */
};

enum perfev_spe_address {
	PERFEV_SPE_PC = 0,
	PERFEV_SPE_BRANCH_TARGET = 1,
	PERFEV_SPE_DATA_VIRTUAL = 2,
	PERFEV_SPE_DATA_PHYSICAL = 3,
	PERFEV_SPE_PREVIOUS_BRANCH_TARGET = 4
};

enum perfev_spe_counter {
	PERFEV_SPE_TOTAL_LATENCY = 0, /* cycles from dispatch to completion */
	PERFEV_SPE_ISSUE_LATENCY = 1,
	PERFEV_SPE_TRANSLATION_LATENCY = 2
};

/* Bits of an Events packet. Those that are not here are reserved, or belong to the CPU's maker. */
enum perfev_spe_event {
	PERFEV_SPE_EVENT_EXCEPTION = 0, /* generated an exception */
	PERFEV_SPE_EVENT_RETIRED = 1,	/* architecturally executed */
	PERFEV_SPE_EVENT_L1D_ACCESS = 2,
	PERFEV_SPE_EVENT_L1D_REFILL = 3,
	PERFEV_SPE_EVENT_TLB_ACCESS = 4,
	PERFEV_SPE_EVENT_TLB_WALK = 5,
	PERFEV_SPE_EVENT_NOT_TAKEN = 6,
	PERFEV_SPE_EVENT_MISPREDICTED = 7,
	PERFEV_SPE_EVENT_LLC_ACCESS = 8,
	PERFEV_SPE_EVENT_LLC_MISS = 9,
	PERFEV_SPE_EVENT_REMOTE_ACCESS = 10,
	PERFEV_SPE_EVENT_MISALIGNED = 11,
	PERFEV_SPE_EVENT_TRANSACTIONAL = 16,
	PERFEV_SPE_EVENT_PARTIAL_PREDICATE = 17,
	PERFEV_SPE_EVENT_EMPTY_PREDICATE = 18,
	PERFEV_SPE_EVENT_L2D_ACCESS = 19,
	PERFEV_SPE_EVENT_L2D_MISS = 20,
	PERFEV_SPE_EVENT_CACHE_DATA_MODIFIED = 21,
	PERFEV_SPE_EVENT_RECENTLY_FETCHED = 22,
	PERFEV_SPE_EVENT_DATA_SNOOPED = 23,
	PERFEV_SPE_EVENT_STREAMING_SVE = 24,
	PERFEV_SPE_EVENT_SMCU = 25
};

/* perfev_spe_name() - a kind of packet: "Address", ...; NULL for values out of range */
PERFEV_API const char *perfev_spe_name(enum perfev_spe_type type);

/* perfev_spe_event_name() - a bit of Events as a word: "l1d-refill"; NULL for one without a name */
PERFEV_API const char *perfev_spe_event_name(unsigned bit);

/* A packet. */
struct perfev_spe_packet {
	uint64_t offset;       /* in the stream, of its first byte */
	uint64_t payload;      /* as it is in the packet, zero-extended */
	uint32_t size;	       /* bytes, header included */
	uint16_t type;	       /* enum perfev_spe_type */
	uint8_t index;	       /* see the type */
	uint8_t payload_bytes; /* 0, 1, 2, 4, 8 */
	uint8_t header_bytes;  /* 2 with an extended header */
};

/* ---- parts of a payload ----------------------------------------------------------------------------------------------- */

/* An Address packet. */
struct perfev_spe_place {
	uint64_t address; /* of code and virtual data sign-extended from bit 55; of physical memory 56 bits */
	uint8_t el;	  /* of code: the exception level */
	uint8_t ns, nse;  /* of code and physical memory: the security state (0,0 secure; 1,0 not; 0,1 root; 1,1 realm) */
	uint8_t tag;	  /* of virtual data: the top byte */
	uint8_t pat, ch;  /* of physical memory: allocation tag; whether it was checked */
};

/* perfev_spe_place_of() - the parts of an Address packet; false when it is another one, or its index is not known */
PERFEV_API bool perfev_spe_place_of(struct perfev_spe_place *ret, const struct perfev_spe_packet *packet);

/*
 * perfev_spe_operation_format() - an operation in words: "load, atomic, acquire-release", "branch, conditional"
 * @spe_class: enum perfev_spe_class. @payload: of the Operation Type packet.
 * Return: the length of the whole text.
 * Since: 0.1
 */
PERFEV_API int perfev_spe_operation_format(char *ret, size_t size, unsigned spe_class, unsigned payload);

/* CPUs that agree on what the numbers of a Data Source packet mean. */
enum perfev_spe_family {
	PERFEV_SPE_FAMILY_UNKNOWN = 0,
	PERFEV_SPE_FAMILY_NEOVERSE, /* and those of Arm's Cortex that have SPE */
	PERFEV_SPE_FAMILY_AMPEREONE,
	PERFEV_SPE_FAMILY_HISILICON_HIP
};

/* perfev_spe_family_of() - by the CPU's MIDR_EL1. Since: 0.1 */
PERFEV_API enum perfev_spe_family perfev_spe_family_of(uint64_t midr);

/*
 * perfev_spe_source_name() - where data came from: "l1d", "dram"
 * Return: a string that lives for ever; NULL when the family's numbers are not known, or not this one.
 * Since: 0.1
 */
PERFEV_API const char *perfev_spe_source_name(enum perfev_spe_family family, uint64_t source);

/*
 * perfev_spe_midr() - the MIDR_EL1 of a CPU, as perf wrote it down
 * @info: of type ARM_SPE, of a recording of perf 6.13 or later.
 * @cpu: UINT32_MAX means any, when all are the same.
 * Return: true; false when it is not there.
 * Since: 0.1
 */
PERFEV_API bool perfev_spe_midr(uint64_t *ret, const struct perfev_auxtrace_info *info, uint32_t cpu);

/* ---- records ------------------------------------------------------------------------------------------------------------ */

/* Bits of perfev_spe_record.present. */
enum perfev_spe_present {
	PERFEV_SPE_HAS_PC = 1 << 0,
	PERFEV_SPE_HAS_BRANCH_TARGET = 1 << 1,
	PERFEV_SPE_HAS_DATA_VIRTUAL = 1 << 2,
	PERFEV_SPE_HAS_DATA_PHYSICAL = 1 << 3,
	PERFEV_SPE_HAS_PREVIOUS_BRANCH_TARGET = 1 << 4,
	PERFEV_SPE_HAS_TOTAL_LATENCY = 1 << 5,
	PERFEV_SPE_HAS_ISSUE_LATENCY = 1 << 6,
	PERFEV_SPE_HAS_TRANSLATION_LATENCY = 1 << 7,
	PERFEV_SPE_HAS_CONTEXT_EL1 = 1 << 8,
	PERFEV_SPE_HAS_CONTEXT_EL2 = 1 << 9,
	PERFEV_SPE_HAS_OPERATION = 1 << 10,
	PERFEV_SPE_HAS_EVENTS = 1 << 11,
	PERFEV_SPE_HAS_DATA_SOURCE = 1 << 12,
	PERFEV_SPE_HAS_TIMESTAMP = 1 << 13,
	PERFEV_SPE_HAS_OTHER = 1 << 14 /* addresses, counters or contexts of an index that is not known */
};

/* A record. Fields whose bit is in present are set; the others are 0. */
struct perfev_spe_record {
	uint64_t present;
	uint64_t offset; /* in the stream, of its first packet; padding is not in it */
	uint64_t size;	 /* bytes, up to and with the End or Timestamp packet */
	struct perfev_spe_place pc, branch_target, data_virtual, data_physical, previous_branch_target;
	uint64_t timestamp; /* of the generic timer, or what PMSCR says */
	uint64_t events;    /* bits: enum perfev_spe_event */
	uint64_t source;
	uint32_t context_el1, context_el2;
	uint16_t total_latency, issue_latency, translation_latency; /* cycles */
	uint8_t op_class;					    /* enum perfev_spe_class */
	uint8_t op;						    /* payload of the Operation Type packet */
};

/* Decodes one stream. Its members are the library's. */
struct perfev_spe_decoder {
	struct perfev_trace_input input;
	struct perfev_spe_record building;
	uint32_t has_begun; /* a record has */
};

/*
 * perfev_spe_begin() - a decoder in front of a stream
 * @offset: of the first byte that will be fed, counted from a place that is aligned to 64 KiB, or as far as the CPU aligns.
 * Since: 0.1
 */
PERFEV_API void perfev_spe_begin(struct perfev_spe_decoder *decoder, uint64_t offset);

/* perfev_spe_feed() - the next piece of the stream, which has to stay until 0 is returned. Since: 0.1 */
PERFEV_API void perfev_spe_feed(struct perfev_spe_decoder *decoder, struct perfev_bytes bytes);

/*
 * perfev_spe_next() - the next packet
 * Each byte of padding is one; an Alignment packet is one, however long it is.
 * Return: 1 a packet; 0 the piece is used up; -EINVAL (why CORRUPT) no packet is like that: err->where is its offset, and
 * the decoder stays there.
 * Since: 0.1
 */
PERFEV_API int perfev_spe_next(struct perfev_spe_decoder *decoder, struct perfev_spe_packet *ret, struct perfev_error *err);

/*
 * perfev_spe_next_record() - the next record
 * Of a kind of packet that is there twice the later one counts.
 * Return: 1 a record; 0 the piece is used up, and what there was of a record is kept; -EINVAL as perfev_spe_next(), and what
 * there was of a record is gone.
 * Since: 0.1
 */
PERFEV_API int perfev_spe_next_record(struct perfev_spe_decoder *decoder, struct perfev_spe_record *ret, struct perfev_error *err);

/* perfev_spe_skip() - pass over one byte. Since: 0.1 */
PERFEV_API void perfev_spe_skip(struct perfev_spe_decoder *decoder);

/*
 * perfev_spe_end() - nothing more will come
 * Return: 0; -EINVAL (why TRUNCATED) the last packet, or record, is not complete.
 * Since: 0.1
 */
PERFEV_API int perfev_spe_end(const struct perfev_spe_decoder *decoder, struct perfev_error *err);

/*
 * perfev_spe_encode() - the bytes of a packet
 * What perfev_spe_next() gave becomes the same again; the bytes that belong to an Alignment packet become 0, and its size
 * follows from its offset.
 * @to: gets at most @room bytes, all or nothing; may be NULL with room 0.
 * Return: the size; -EINVAL for what no packet can have: an index of 40, a payload of 3 bytes, ...
 * Since: 0.1
 */
PERFEV_API int perfev_spe_encode(void *to, size_t room, const struct perfev_spe_packet *packet, struct perfev_error *err);

/*
 * perfev_spe_format() - a packet as a line of text: Address pc=0x401136 el=0 ns=1
 * docs/packets.md has the forms of all packets.
 * @family: for Data Source packets; its number is written too.
 * Return: the length of the whole text.
 * Since: 0.1
 */
PERFEV_API int perfev_spe_format(char *ret, size_t size, const struct perfev_spe_packet *packet, enum perfev_spe_family family);

PERFEV_END

#endif
