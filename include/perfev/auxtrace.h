/* SPDX-License-Identifier: MIT */
/*
 * perfev/auxtrace.h - trace data in recordings: whose they are, and how they are given to a packet decoder
 *
 * A PMU that traces (Intel PT, Arm SPE, ...) writes bytes of its own into an AUX area. A recording has one AUXTRACE_INFO
 * record, which says what PMU that is, and AUXTRACE records with the bytes: each is the next piece of one stream, that of a
 * CPU or of a thread. intel_pt.h, intel_bts.h and arm_spe.h split such streams into packets, from recordings or from an
 * AUX area that is being written.
 */
#ifndef PERFEV_AUXTRACE_H
#define PERFEV_AUXTRACE_H

#include <perfev/record.h>

PERFEV_BEGIN

/* The type in an AUXTRACE_INFO record. */
enum perfev_auxtrace_type {
	PERFEV_AUXTRACE_UNKNOWN = 0,
	PERFEV_AUXTRACE_INTEL_PT = 1,
	PERFEV_AUXTRACE_INTEL_BTS = 2,
	PERFEV_AUXTRACE_CS_ETM = 3,
	PERFEV_AUXTRACE_ARM_SPE = 4,
	PERFEV_AUXTRACE_S390_CPUMSF = 5,
	PERFEV_AUXTRACE_HISI_PTT = 6,
	PERFEV_AUXTRACE_VPA_DTL = 7 /* [6.18] */
};

/* perfev_auxtrace_type_name() - "intel_pt", ...; NULL for a type that is not known */
PERFEV_API const char *perfev_auxtrace_type_name(uint32_t type);

/* An AUXTRACE_INFO record. */
struct perfev_auxtrace_info {
	uint32_t type;		    /* enum perfev_auxtrace_type, or a later one */
	uint32_t reserved;
	struct perfev_u64s numbers; /* what else perf wrote down, in an order that depends on the type; views the record */
};

/*
 * perfev_auxtrace_info_decode() - the fields of an AUXTRACE_INFO record (70)
 * Return: 0; -EINVAL (why TRUNCATED, or ARGUMENT when the record is of another type).
 * Since: 0.1
 */
PERFEV_API int perfev_auxtrace_info_decode(struct perfev_auxtrace_info *ret, const struct perfev_record *record,
					   struct perfev_error *err);

/* An AUXTRACE record: a piece of a stream. */
struct perfev_auxtrace {
	uint64_t size;	    /* of the piece, as the record says it */
	uint64_t offset;    /* in the stream: a running count of its bytes */
	uint64_t reference; /* what tells a piece that is there twice */
	uint32_t idx;	    /* which stream: the number of the AUX area */
	uint32_t tid;	    /* of a stream of one thread; else UINT32_MAX */
	uint32_t cpu;	    /* of a stream of one CPU; else UINT32_MAX */
	uint32_t reserved;
	struct perfev_bytes bytes; /* the piece: the record's tail */
};

/*
 * perfev_auxtrace_decode() - the fields of an AUXTRACE record (71)
 * Return: 0; -EINVAL (why TRUNCATED, or ARGUMENT when the record is of another type).
 * Since: 0.1
 */
PERFEV_API int perfev_auxtrace_decode(struct perfev_auxtrace *ret, const struct perfev_record *record,
				      struct perfev_error *err);

/* ---- streams in pieces ------------------------------------------------------------------------------------------- */

/* Of the packets that a decoder has to keep until the rest comes. */
#define PERFEV_TRACE_CARRY_BYTES 32

/*
 * Where a packet decoder is in its stream; each has one as its first member, and this is how all are used:
 *
 *	struct perfev_pt_decoder decoder;
 *
 *	perfev_pt_begin(&decoder, offset);
 *	while (... the next piece ...) {
 *		perfev_pt_feed(&decoder, bytes);
 *		while ((r = perfev_pt_next(&decoder, &packet, &err)) > 0)
 *			... use the packet ...
 *	}
 *	r = perfev_pt_end(&decoder, &err);
 *
 * next returns 1 with a packet; 0 when all of the piece was used, so that its bytes are not needed any more; and a negative
 * errno for what is no packet: then the decoder stays in front of it, until it is told to go on behind it (sync, skip). A
 * packet that is cut at the end of a piece is kept in carry; its rest comes with the next one. end is an error when there is
 * no next one. The decoder is the caller's memory: nothing is allocated, and there is nothing to free.
 */
struct perfev_trace_input {
	const unsigned char *start, *at, *end; /* the piece, and what is next in it */
	const unsigned char *safe;	       /* in front of it a packet may be read without looking at the end */
	uint64_t offset;		       /* in the stream, of start */
	unsigned char carry[PERFEV_TRACE_CARRY_BYTES];
	uint32_t carried; /* bytes of a packet that was cut; they are in front of at */
	uint32_t skip;	  /* bytes of the next pieces that are passed over */
};

/* perfev_trace_offset() - in the stream, of what is next: the place of an error */
static inline uint64_t perfev_trace_offset(const struct perfev_trace_input *input)
{
	return input->offset + (uint64_t)(input->at - input->start) - input->carried;
}

PERFEV_END

#endif
