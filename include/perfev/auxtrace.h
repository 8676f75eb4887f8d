/* SPDX-License-Identifier: MIT */
/*
 * perfev/auxtrace.h - traces in perf.data files
 *
 * What a tracer gives (tracer.h) is in two kinds of records of a file: PERF_RECORD_AUX, which the kernel wrote, say what
 * was traced where and when; AUXTRACE records, which the recorder wrote, carry the bytes, of each ring in order.
 * AUXTRACE_INFO says of which PMU they are.
 */
#ifndef PERFEV_AUXTRACE_H
#define PERFEV_AUXTRACE_H

#include <perfev/reader.h>
#include <perfev/writer.h>

PERFEV_BEGIN

/* Whose traces: the type in AUXTRACE_INFO. */
enum perfev_auxtrace_type {
	PERFEV_AUXTRACE_UNKNOWN = 0,
	PERFEV_AUXTRACE_INTEL_PT = 1,
	PERFEV_AUXTRACE_INTEL_BTS = 2,
	PERFEV_AUXTRACE_CS_ETM = 3,
	PERFEV_AUXTRACE_ARM_SPE = 4,
	PERFEV_AUXTRACE_S390_CPUMSF = 5,
	PERFEV_AUXTRACE_HISI_PTT = 6,
	PERFEV_AUXTRACE_VPA_DTL = 7
};

/* perfev_auxtrace_name() - its PMU, as perf calls it: "intel_pt"; NULL for an unknown one */
PERFEV_API const char *perfev_auxtrace_name(uint32_t type);

/* An AUXTRACE record. */
struct perfev_auxtrace {
	uint64_t offset;    /* of the first byte: runs freely, as in PERF_RECORD_AUX */
	uint64_t reference; /* differs from record to record: the same bytes twice are the same */
	uint32_t ring;	    /* its number, as in ID_INDEX records */
	int32_t cpu, tid;   /* -1: any */
	uint32_t reserved;
	struct perfev_bytes bytes; /* with up to 7 zero bytes at the end that are none of the trace */
};

/*
 * perfev_auxtrace_decode() - the fields of an AUXTRACE record, and its bytes
 * They live as long as the record's tail.
 * Return: 0; -EINVAL for another record, or one that is too short.
 * Since: 0.1
 */
PERFEV_API int perfev_auxtrace_decode(struct perfev_auxtrace *ret, const struct perfev_record *record,
				      struct perfev_error *err);

/*
 * perfev_auxtrace_info_decode() - whose traces a recording has
 * @words: what the PMU's decoder needs to know, of its own form; may be NULL.
 * Return: 0; -EINVAL.
 * Since: 0.1
 */
PERFEV_API int perfev_auxtrace_info_decode(uint32_t *type, struct perfev_u64s *words,
					   const struct perfev_record *record, struct perfev_error *err);

/*
 * perfev_writer_put_trace() - bytes of a trace, as an AUXTRACE record
 * @trace: where they are from; its bytes are not looked at. @part: of a chunk.
 * They are written at once, and perfev_writer_finish() makes the index of all of them (AUXTRACE).
 * Return: as perfev_writer_flush().
 * Since: 0.1
 */
PERFEV_API int perfev_writer_put_trace(struct perfev_writer *writer, const struct perfev_auxtrace *trace,
				       const struct perfev_bytes part[2], struct perfev_error *err);

/*
 * perfev_reader_trace() - the bytes that a PERF_RECORD_AUX announces
 * @skip: how many of them were looked at already: a call gives those that one AUXTRACE record has, as far as they
 * are the record's, so that it is to be repeated until it returns 0.
 * Only of a file, whose index it uses; it is read by the first call. The bytes live until the reader is closed.
 * Return: 1; 0 there are no more; -ENOENT they are not in the file; -EOPNOTSUPP of a pipe; -EINVAL.
 * Since: 0.1
 */
PERFEV_API int perfev_reader_trace(struct perfev_reader *reader, const struct perfev_record *aux, uint64_t skip,
				   struct perfev_bytes *ret, struct perfev_error *err);

PERFEV_END

#endif
