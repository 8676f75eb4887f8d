/* SPDX-License-Identifier: MIT */
/*
 * perfev/record.h - records: the value between everything that produces data and everything that
 * uses it
 *
 * A record is a view of bytes that somebody else owns: a ring, a mapped file, a buffer. Which fields
 * it has is decided by the event's attr; a layout is that decision, worked out once. Decoding writes
 * only the fields that are there, allocates nothing, and checks each size against the bytes that
 * remain, so that records from anywhere may be given to it.
 */
#ifndef PERFEV_RECORD_H
#define PERFEV_RECORD_H

#include <perfev/abi.h>
#include <perfev/common.h>

#include <string.h>

PERFEV_BEGIN

/* Bits of perfev_record.flags. */
enum perfev_record_flag {
	PERFEV_RECORD_SWAPPED = 1 << 0, /* its byte order is not this host's */
	PERFEV_RECORD_STABLE = 1 << 1,	/* its bytes stay until its producer is closed */
	PERFEV_RECORD_INNER = 1 << 2,	/* it was inside a compressed record, whose offset it has */
	PERFEV_RECORD_BROKEN = 1 << 3,	/* only its header could be read: it says a size that cannot be */
	PERFEV_RECORD_JOINED = 1 << 4	/* it is what the pieces before it are (SIMPLEPERF_SPLIT), whose offset it has */
};

/* One record. The bytes start at its header; how long they live is said by what produced it. */
struct perfev_record {
	const void *data;	  /* starts at the header */
	uint64_t offset;	  /* in the file or stream; running count in a ring */
	struct perfev_bytes tail; /* bytes that follow a record in a file (AUXTRACE, TRACING_DATA) */
	uint32_t type;
	uint32_t size; /* bytes, header included */
	uint32_t source; /* which ring or file */
	uint16_t misc;
	uint16_t flags; /* enum perfev_record_flag */
};

/* A record and the bytes of a trace that it announces: two parts, because they are too many to be copied when they
 * lie around the end of their area. */
struct perfev_chunk {
	struct perfev_record record; /* PERF_RECORD_AUX, for perfev_aux_decode() or perfev_any_decode(); or another,
				      * without parts */
	struct perfev_bytes part[2];
};

/*
 * perfev_record_from_bytes() - look at bytes as a record
 * @bytes: at least 8; the record's size must fit.
 * @flags: PERFEV_RECORD_SWAPPED when the bytes come from a machine of the other byte order.
 * Return: 0; -EINVAL (why TRUNCATED or CORRUPT) when the header's size is under 8 or over the bytes.
 * Since: 0.1
 */
PERFEV_API int perfev_record_from_bytes(struct perfev_record *ret, struct perfev_bytes bytes,
					unsigned flags, struct perfev_error *err);

/*
 * perfev_record_copy() - a record that owns its bytes, and those that follow it
 * For what has to live longer than its producer says: the copy is PERFEV_RECORD_STABLE until it is freed.
 * Return: 0; -ENOMEM.
 * Since: 0.1
 */
PERFEV_API int perfev_record_copy(struct perfev_record **ret, const struct perfev_record *record,
				  struct perfev_error *err);
PERFEV_API void perfev_record_free(struct perfev_record *record);

/*
 * perfev_record_name() - a record type's name as in PERF_RECORD_*, without the prefix
 * Knows the kernel's records, those of perf.data files (64 and up) and simpleperf's.
 * Return: a string that lives for ever, or NULL for an unknown type.
 */
PERFEV_API const char *perfev_record_name(uint32_t type);

/* ---- layouts -------------------------------------------------------------------------------------- */

struct perfev_layout;

/*
 * perfev_layout_new() - work out how an event's records are laid out
 * @attr: read by its size member (0 means 64), in this host's byte order.
 * Return: 0; -ENOMEM; -EINVAL when sample_type or read_format has bits whose place in a record is
 * not known (newer than this library): such samples cannot be decoded.
 * Since: 0.1
 */
PERFEV_API int perfev_layout_new(struct perfev_layout **ret, const struct perf_event_attr *attr,
				 struct perfev_error *err);
PERFEV_API void perfev_layout_free(struct perfev_layout *layout);

/* The attr it was made from, zero-extended to the newest size. Lives as long as the layout. */
PERFEV_API const struct perf_event_attr *perfev_layout_attr(const struct perfev_layout *layout);

/* ---- arrays inside records -------------------------------------------------------------------------- */

/* Words inside a record: maybe unaligned, maybe of the other byte order. */
struct perfev_u64s {
	const void *data;
	uint32_t count;
	bool swapped;
};

/* perfev_u64s_at() - word @index, which must be below count */
static inline uint64_t perfev_u64s_at(struct perfev_u64s array, uint32_t index)
{
	uint64_t word;

	memcpy(&word, (const unsigned char *)array.data + (size_t)index * 8, 8);
	if (!array.swapped)
		return word;
	word = ((word & UINT64_C(0x00ff00ff00ff00ff)) << 8) | ((word >> 8) & UINT64_C(0x00ff00ff00ff00ff));
	word = ((word & UINT64_C(0x0000ffff0000ffff)) << 16) | ((word >> 16) & UINT64_C(0x0000ffff0000ffff));
	return (word << 32) | (word >> 32);
}

/* ---- what identifies a record: the trailer, or the same fields of a sample --------------------------- */

/* Fields whose bit is in present (PERF_SAMPLE_*) are set; the others are left as they were. */
struct perfev_id {
	uint64_t present;
	uint64_t time; /* ns, of the event's clock */
	uint64_t id;
	uint64_t stream_id;
	uint32_t pid, tid; /* in the pid namespace of the opener; -1 for a task that is ending */
	uint32_t cpu, reserved;
};

/*
 * perfev_id_decode() - the identifying fields of any record
 * From a sample's fixed fields, or from the trailer of other records (attr.sample_id_all). A record
 * that has none gives present = 0.
 * Return: 0; -EINVAL for a record too short to hold them.
 */
PERFEV_API int perfev_id_decode(struct perfev_id *ret, const struct perfev_record *record,
				const struct perfev_layout *layout, struct perfev_error *err);

/*
 * perfev_record_time() - the time of a record, in ns, without decoding the rest
 * Return: true, or false when the record has none.
 */
PERFEV_API bool perfev_record_time(const struct perfev_record *record,
				   const struct perfev_layout *layout, uint64_t *ret);

/* ---- READ: counts inside records, and from read(2) ----------------------------------------------------- */

/* Bits of perfev_values.present are PERF_FORMAT_*. */
struct perfev_values {
	uint64_t count; /* of the first (or only) event */
	uint64_t enabled_ns;
	uint64_t running_ns;
	uint64_t id;
	uint64_t lost;
	uint64_t present;
	struct perfev_u64s group; /* PERF_FORMAT_GROUP: members of stride words each */
	uint32_t members;
	uint32_t stride;
};

/* One member of a group's values. */
struct perfev_value {
	uint64_t count;
	uint64_t id;   /* 0 without PERF_FORMAT_ID */
	uint64_t lost; /* 0 without PERF_FORMAT_LOST */
};

/*
 * perfev_values_decode() - counts as read(2) gives them, of any attr.read_format
 * @swapped: the bytes are of a machine of the other byte order.
 * Views in @ret are of @bytes.
 * Return: how many bytes they took; -EINVAL when there are too few, or for a bit of @read_format that is not known.
 * Since: 0.1
 */
PERFEV_API int perfev_values_decode(struct perfev_values *ret, struct perfev_bytes bytes,
				    uint64_t read_format, bool swapped, struct perfev_error *err);

/* perfev_values_at() - member @index of a group, leader first; false when there is none */
PERFEV_API bool perfev_values_at(const struct perfev_values *values, uint32_t index,
				 struct perfev_value *ret);

/* ---- samples ---------------------------------------------------------------------------------------------- */

/* Registers: abi is PERF_SAMPLE_REGS_ABI_*; values in the order of the bits of mask. */
struct perfev_registers {
	uint64_t abi;
	uint64_t mask;
	struct perfev_u64s values;
};

/* perfev_registers_get() - the register whose perf number is @index; false when it is not there */
PERFEV_API bool perfev_registers_get(const struct perfev_registers *registers, unsigned index,
				     uint64_t *ret);

/* A branch, newest first in its stack. */
struct perfev_branch {
	uint64_t from, to;
	uint64_t counters; /* 0 unless the stack has counters */
	uint16_t cycles;   /* 0: not known */
	uint8_t mispredicted, predicted, in_tx, abort;
	uint8_t type, new_type, spec, priv; /* PERF_BR_* */
};

struct perfev_branches {
	struct perfev_bytes entries; /* of 24 bytes */
	struct perfev_u64s counters; /* count 0: none */
	uint64_t hw_idx;	     /* UINT64_MAX: not known */
	uint32_t count;
	bool swapped;
};

/* perfev_branches_at() - branch @index, newest first; false when there is none */
PERFEV_API bool perfev_branches_at(const struct perfev_branches *branches, uint32_t index,
				   struct perfev_branch *ret);

/* A sample. A field is set when its bit is in present (PERF_SAMPLE_*); else it is left alone. Views
 * point into the record. */
struct perfev_sample {
	uint64_t present;
	uint64_t ip; /* from here to read in the order of the kernel, so that they are taken at once */
	uint32_t pid, tid;
	uint64_t time;
	uint64_t addr;
	uint64_t id; /* of ID or IDENTIFIER: what the event was given when it was opened */
	uint64_t stream_id;
	uint32_t cpu, reserved;
	uint64_t period;
	struct perfev_values read;
	uint16_t misc; /* of the header; always set */
	struct perfev_u64s callchain; /* with PERF_CONTEXT_* marks among the addresses */
	struct perfev_bytes raw;      /* padding included */
	struct perfev_branches branches;
	struct perfev_registers regs_user;
	struct perfev_registers regs_intr;
	struct perfev_bytes stack_user; /* the bytes that are valid */
	uint64_t stack_user_size;	/* the bytes that were set aside for it */
	uint64_t weight;		/* the whole word; union perf_sample_weight has the parts */
	uint64_t data_src;
	uint64_t transaction;
	uint64_t phys_addr;
	uint64_t cgroup;
	uint64_t data_page_size;
	uint64_t code_page_size;
	struct perfev_bytes aux;
};

/*
 * perfev_sample_decode() - the fields of a PERF_RECORD_SAMPLE
 * Return: 0; -EINVAL (why TRUNCATED) when a field does not fit the record: the fields before it are
 * set, and present has their bits only.
 * Since: 0.1
 */
PERFEV_API int perfev_sample_decode(struct perfev_sample *ret, const struct perfev_record *record,
				    const struct perfev_layout *layout, struct perfev_error *err);

/* ---- the other records ---------------------------------------------------------------------------------------- */

/* MMAP and MMAP2. */
struct perfev_mmap {
	struct perfev_id trailer;
	uint64_t addr, len, pgoff; /* bytes */
	uint64_t ino, ino_generation;
	uint32_t pid, tid;
	uint32_t maj, min;
	uint32_t prot, flags;	      /* PROT_*, MAP_*; 0 in MMAP */
	uint8_t build_id[20];	      /* valid bytes: build_id_size */
	uint8_t build_id_size;	      /* 0: the inode is given in its place */
	const char *filename;	      /* terminated; in the record */
};

struct perfev_comm {
	struct perfev_id trailer;
	uint32_t pid, tid;
	const char *comm; /* terminated; in the record */
};

/* FORK and EXIT. */
struct perfev_task {
	struct perfev_id trailer;
	uint64_t time; /* ns */
	uint32_t pid, ppid, tid, ptid;
};

struct perfev_lost {
	struct perfev_id trailer;
	uint64_t id; /* of the event that wrote next, not of the one that lost */
	uint64_t lost;
};

struct perfev_lost_samples {
	struct perfev_id trailer;
	uint64_t lost;
};

/* THROTTLE and UNTHROTTLE. */
struct perfev_throttle {
	struct perfev_id trailer;
	uint64_t time, id, stream_id;
};

struct perfev_read {
	struct perfev_id trailer;
	uint32_t pid, tid;
	struct perfev_values values;
};

struct perfev_aux {
	struct perfev_id trailer;
	uint64_t aux_offset, aux_size;
	uint64_t flags; /* PERF_AUX_FLAG_* */
};

struct perfev_itrace_start {
	struct perfev_id trailer;
	uint32_t pid, tid;
};

/* SWITCH and SWITCH_CPU_WIDE; the task is the other one, and given in the second only. */
struct perfev_switch {
	struct perfev_id trailer;
	uint32_t next_prev_pid, next_prev_tid;
};

struct perfev_namespaces {
	struct perfev_id trailer;
	uint32_t pid, tid;
	struct perfev_u64s links; /* dev, ino of each, in the order of *_NS_INDEX: count / 2 of them */
};

struct perfev_ksymbol {
	struct perfev_id trailer;
	uint64_t addr;
	uint32_t len;
	uint16_t ksym_type, flags; /* PERF_RECORD_KSYMBOL_* */
	const char *name;	   /* terminated; in the record */
};

struct perfev_bpf_event {
	struct perfev_id trailer;
	uint16_t type, flags; /* PERF_BPF_EVENT_* */
	uint32_t id;
	uint8_t tag[8];
};

struct perfev_cgroup {
	struct perfev_id trailer;
	uint64_t id;
	const char *path; /* terminated; in the record */
};

struct perfev_text_poke {
	struct perfev_id trailer;
	uint64_t addr;
	struct perfev_bytes old_bytes, new_bytes;
};

struct perfev_aux_output_hw_id {
	struct perfev_id trailer;
	uint64_t hw_id;
};

struct perfev_callchain_deferred {
	struct perfev_id trailer;
	uint64_t cookie;
	struct perfev_u64s ips;
};

/* Any record of the kernel; which member is set follows from the record's type. */
struct perfev_any {
	uint32_t type;
	union {
		struct perfev_id trailer; /* of every member but sample */
		struct perfev_sample sample;
		struct perfev_mmap mmap;
		struct perfev_comm comm;
		struct perfev_task task;
		struct perfev_lost lost;
		struct perfev_lost_samples lost_samples;
		struct perfev_throttle throttle;
		struct perfev_read read;
		struct perfev_aux aux;
		struct perfev_itrace_start itrace_start;
		struct perfev_switch cswitch;
		struct perfev_namespaces namespaces;
		struct perfev_ksymbol ksymbol;
		struct perfev_bpf_event bpf_event;
		struct perfev_cgroup cgroup;
		struct perfev_text_poke text_poke;
		struct perfev_aux_output_hw_id aux_output_hw_id;
		struct perfev_callchain_deferred callchain_deferred;
	} as;
};

/*
 * perfev_any_decode() - the fields of any record of the kernel
 * @layout: may be NULL for records other than SAMPLE and READ: then no trailer is looked for.
 * Return: 0; -EINVAL (why TRUNCATED or CORRUPT) when a field does not fit; -ENOTSUP for a type that
 * is not the kernel's, or newer than this library.
 * Since: 0.1
 */
PERFEV_API int perfev_any_decode(struct perfev_any *ret, const struct perfev_record *record,
				 const struct perfev_layout *layout, struct perfev_error *err);

/*
 * perfev_record_encode() - the bytes of a record, as the kernel would write them
 * What perfev_any_decode() made of a record of the same @layout becomes the same record again, but for bytes
 * that have no meaning (padding, the rest of a stack), which become 0. It is also the way to make records.
 * @to: gets at most @size bytes; all or, when there is no room, an unfinished part. May be NULL with size 0.
 * @layout: may be NULL for records other than SAMPLE and READ: then there is no trailer.
 * @flags: PERFEV_RECORD_SWAPPED for the byte order that is not this host's.
 * Return: the size of the whole record; -E2BIG when that is more than a record can have; -ENOTSUP; -EINVAL.
 * Since: 0.1
 */
PERFEV_API int perfev_record_encode(void *to, size_t size, const struct perfev_any *any, uint16_t misc,
				    const struct perfev_layout *layout, unsigned flags,
				    struct perfev_error *err);

/*
 * perfev_record_format() - a record as a line of text: COMM misc=0x2000 pid=3 tid=3 comm="bash" @ time=12
 * Everything that has a meaning is in it: perfev_record_parse() makes the same record of it. A type that is
 * not the kernel's is its number and its bytes.
 * @ret: gets at most @size bytes, terminated; may be NULL when @size is 0.
 * Return: the length of the whole text; as perfev_any_decode().
 * Since: 0.1
 */
PERFEV_API int perfev_record_format(char *ret, size_t size, const struct perfev_record *record,
				    const struct perfev_layout *layout, struct perfev_error *err);

/*
 * perfev_record_parse() - the bytes of a record from such a line
 * @to, @size, @layout, @flags: as for perfev_record_encode().
 * Return: the size of the whole record; -EINVAL with err->where = the column.
 * Since: 0.1
 */
PERFEV_API int perfev_record_parse(void *to, size_t size, const char *text,
				   const struct perfev_layout *layout, unsigned flags,
				   struct perfev_error *err);

/* The same for one kind. Each returns what perfev_any_decode() does, and -EINVAL (why ARGUMENT) for
 * a record of another type. */
PERFEV_API int perfev_mmap_decode(struct perfev_mmap *ret, const struct perfev_record *record,
				  const struct perfev_layout *layout, struct perfev_error *err);
PERFEV_API int perfev_comm_decode(struct perfev_comm *ret, const struct perfev_record *record,
				  const struct perfev_layout *layout, struct perfev_error *err);
PERFEV_API int perfev_task_decode(struct perfev_task *ret, const struct perfev_record *record,
				  const struct perfev_layout *layout, struct perfev_error *err);
PERFEV_API int perfev_lost_decode(struct perfev_lost *ret, const struct perfev_record *record,
				  const struct perfev_layout *layout, struct perfev_error *err);
PERFEV_API int perfev_aux_decode(struct perfev_aux *ret, const struct perfev_record *record,
				 const struct perfev_layout *layout, struct perfev_error *err);
PERFEV_API int perfev_lost_samples_decode(struct perfev_lost_samples *ret,
					  const struct perfev_record *record,
					  const struct perfev_layout *layout,
					  struct perfev_error *err);

/* In misc of LOST_SAMPLES records of perf 6.4 and later: what its BPF filter dropped, which is no loss. */
#define PERFEV_MISC_LOST_BY_BPF (1 << 15)

/* ---- losses ------------------------------------------------------------------------------------------------------ */

/* What is known to be lost, over all rings of a sampler, or in a recording. */
struct perfev_loss {
	uint64_t records;  /* dropped from rings: for each the larger of what follows */
	uint64_t said;	   /* by LOST records */
	uint64_t counted;  /* by PERF_FORMAT_LOST */
	uint64_t samples;  /* by LOST_SAMPLES records: dropped by the hardware's own buffer */
	uint64_t filtered; /* by those of PERFEV_MISC_LOST_BY_BPF: a BPF program did not want them */
	bool exact;	   /* the kernel has PERF_FORMAT_LOST; else records is a lower bound */
};

PERFEV_END

#endif
