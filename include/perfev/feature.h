/* SPDX-License-Identifier: MIT */
/*
 * perfev/feature.h - feature sections: what a recording says about the machine and the session
 *
 * A section is bytes in the recording's byte order (@swapped tells); decoders give views into it.
 */
#ifndef PERFEV_FEATURE_H
#define PERFEV_FEATURE_H

#include <perfev/common.h>

PERFEV_BEGIN

enum perfev_feature {
	PERFEV_FEATURE_TRACING_DATA = 1,
	PERFEV_FEATURE_BUILD_ID = 2,
	PERFEV_FEATURE_HOSTNAME = 3,
	PERFEV_FEATURE_OSRELEASE = 4,
	PERFEV_FEATURE_VERSION = 5,
	PERFEV_FEATURE_ARCH = 6,
	PERFEV_FEATURE_NRCPUS = 7,
	PERFEV_FEATURE_CPUDESC = 8,
	PERFEV_FEATURE_CPUID = 9,
	PERFEV_FEATURE_TOTAL_MEM = 10,
	PERFEV_FEATURE_CMDLINE = 11,
	PERFEV_FEATURE_EVENT_DESC = 12,
	PERFEV_FEATURE_CPU_TOPOLOGY = 13,
	PERFEV_FEATURE_NUMA_TOPOLOGY = 14,
	PERFEV_FEATURE_BRANCH_STACK = 15,
	PERFEV_FEATURE_PMU_MAPPINGS = 16,
	PERFEV_FEATURE_GROUP_DESC = 17,
	PERFEV_FEATURE_AUXTRACE = 18,
	PERFEV_FEATURE_STAT = 19,
	PERFEV_FEATURE_CACHE = 20,
	PERFEV_FEATURE_SAMPLE_TIME = 21,
	PERFEV_FEATURE_MEM_TOPOLOGY = 22,
	PERFEV_FEATURE_CLOCKID = 23,
	PERFEV_FEATURE_DIR_FORMAT = 24,
	PERFEV_FEATURE_BPF_PROG_INFO = 25,
	PERFEV_FEATURE_BPF_BTF = 26,
	PERFEV_FEATURE_COMPRESSED = 27,
	PERFEV_FEATURE_CPU_PMU_CAPS = 28,
	PERFEV_FEATURE_CLOCK_DATA = 29,
	PERFEV_FEATURE_HYBRID_TOPOLOGY = 30,
	PERFEV_FEATURE_PMU_CAPS = 31,
	PERFEV_FEATURE_CPU_DOMAIN_INFO = 32,
	PERFEV_FEATURE_E_MACHINE = 33,
	PERFEV_FEATURE_CLN_SIZE = 34,
	PERFEV_FEATURE_SIMPLEPERF_FILE = 128,
	PERFEV_FEATURE_SIMPLEPERF_META_INFO = 129,
	PERFEV_FEATURE_SIMPLEPERF_DEBUG_UNWIND = 130,
	PERFEV_FEATURE_SIMPLEPERF_DEBUG_UNWIND_FILE = 131,
	PERFEV_FEATURE_SIMPLEPERF_FILE2 = 132,
	PERFEV_FEATURE_SIMPLEPERF_ETM_BRANCH_LIST = 133,
	PERFEV_FEATURE_SIMPLEPERF_INIT_MAP = 134,
	PERFEV_FEATURE_COUNT = 256 /* bits of the bitmap in a file's header */
};

/* perfev_feature_name() - "HOSTNAME", ...; NULL for a number without a name */
PERFEV_API const char *perfev_feature_name(unsigned feature);

/* ---- any section, field by field ------------------------------------------------------------------------- */

enum perfev_feature_kind {
	PERFEV_FEATURE_NUMBER, /* number */
	PERFEV_FEATURE_TEXT,   /* text: terminated, inside the section or, until the next step, the walk */
	PERFEV_FEATURE_BYTES   /* bytes; of a bitmap, number is how many bits of them there are */
};

/* A field of a section. */
struct perfev_feature_field {
	const char *name; /* "online", "cpus", ...; lives for ever */
	enum perfev_feature_kind kind;
	unsigned depth; /* of the lists that it is in; 0: none */
	uint64_t index; /* of the item of the innermost list */
	bool first;	/* of that item */
	uint64_t number;
	const char *text;
	struct perfev_bytes bytes;
};

/* Where a walk is; nothing of it is to be looked at. */
struct perfev_feature_walk {
	struct perfev_bytes section;
	const void *step;
	size_t position, limit;
	uint64_t numbers[4], cpus;
	struct {
		const void *begin;
		uint64_t left, index;
	} lists[3];
	unsigned feature, depth;
	bool swapped, fresh, ended;
	struct {
		uint8_t id[20], size;
		int32_t pid;
		const char *filename;
	} build_id;
	struct { /* of files of simpleperf */
		uint64_t min_address, offset, symbol_size;
		const void *symbols;
		size_t size, at;
		uint32_t kind, count;
		uint8_t packed;
		char text[4096]; /* a longer name is cut */
	} file;
	struct { /* of messages in messages */
		size_t begin, at, end;
		uint64_t index, count;
		uint8_t message, row;
	} levels[4];
};

/*
 * perfev_feature_begin() - walk over a section
 * Sections that are not known are one field, "bytes". A walk does not allocate and has nothing to be freed.
 * @cpus: the number of CPUs that NRCPUS says are available: parts of CPU_TOPOLOGY have as many items, and are
 *	not looked at when it is 0.
 * Since: 0.1
 */
PERFEV_API void perfev_feature_begin(struct perfev_feature_walk *ret, unsigned feature, struct perfev_bytes section,
				     bool swapped, uint32_t cpus);

/*
 * perfev_feature_next() - the next field
 * Return: 1 a field; 0 the end; -EINVAL (why TRUNCATED) for a section that ends in the middle of one.
 * Since: 0.1
 */
PERFEV_API int perfev_feature_next(struct perfev_feature_walk *walk, struct perfev_feature_field *ret,
				   struct perfev_error *err);

/* ---- single ones ------------------------------------------------------------------------------------------ */

/*
 * perfev_feature_string() - the text of a section that is one string (HOSTNAME, ARCH, ...)
 * Return: a terminated string inside @section, or NULL when there is none.
 */
PERFEV_API const char *perfev_feature_string(struct perfev_bytes section, bool swapped);

/*
 * perfev_feature_strings() - the next string of a section that is a list of them (CMDLINE)
 * @position: 0 at first; moved on by each call.
 * Return: a terminated string inside @section, or NULL at the end.
 */
PERFEV_API const char *perfev_feature_strings(struct perfev_bytes section, bool swapped,
					      size_t *position);

/* One entry of BUILD_ID, and one HEADER_BUILD_ID record. */
struct perfev_build_id {
	uint16_t misc;	/* PERF_RECORD_MISC_KERNEL, _USER, ... */
	int32_t pid;	/* -1: the host */
	uint8_t size;	/* valid bytes of id */
	uint8_t id[20];
	const char *filename; /* terminated; inside the section */
};

/*
 * perfev_feature_build_id() - the next entry of a BUILD_ID section
 * @position: 0 at first; moved on by each call.
 * Return: 1 an entry; 0 the end; -EINVAL when the section is damaged.
 */
PERFEV_API int perfev_feature_build_id(struct perfev_build_id *ret, struct perfev_bytes section,
				       bool swapped, size_t *position, struct perfev_error *err);

enum perfev_recorded_kind {
	PERFEV_RECORDED_KERNEL,
	PERFEV_RECORDED_KERNEL_MODULE,
	PERFEV_RECORDED_ELF,
	PERFEV_RECORDED_DEX, /* code of Java; addresses are offsets in the file */
	PERFEV_RECORDED_MAP, /* code that was made at run time; addresses are those of the process */
	PERFEV_RECORDED_OTHER
};

/* A file that was mapped, with those of its symbols that samples are in, as simpleperf writes them down on the machine that
 * was recorded: an entry of SIMPLEPERF_FILE or SIMPLEPERF_FILE2. */
struct perfev_recorded_file {
	struct perfev_bytes path; /* inside the section, as are the others; no zero ends it */
	uint32_t kind;		  /* enum perfev_recorded_kind, or a later one */
	uint32_t symbol_count;
	uint64_t min_address; /* where the first executable part of it is, in the addresses of its symbols */
	uint64_t offset;      /* where that is in the file (of a kernel module: in its memory); UINT64_MAX: not said */
	struct perfev_bytes symbols; /* for perfev_recorded_file_next() */
	uint8_t packed, swapped, reserved[6];
};

/* A symbol of it. */
struct perfev_recorded_symbol {
	uint64_t address, size;
	struct perfev_bytes name; /* no zero ends it */
};

/*
 * perfev_feature_file() - the next file of a section SIMPLEPERF_FILE or SIMPLEPERF_FILE2
 * @feature: which of them.
 * @position: 0 at first; moved on by each call.
 * Return: 1 a file, all of whose symbols fit; 0 the end; -EINVAL (why TRUNCATED) when the section is damaged.
 * Since: 0.1
 */
PERFEV_API int perfev_feature_file(struct perfev_recorded_file *ret, struct perfev_bytes section, unsigned feature, bool swapped,
				   size_t *position, struct perfev_error *err);

/*
 * perfev_recorded_file_next() - its next symbol
 * @position: 0 at first; moved on by each call.
 * Return: false at the end.
 * Since: 0.1
 */
PERFEV_API bool perfev_recorded_file_next(const struct perfev_recorded_file *file, size_t *position,
				       struct perfev_recorded_symbol *ret);

/* A TRACING_DATA section, or what follows a HEADER_TRACING_DATA record: the formats of the tracepoints that
 * were recorded. The section says its byte order itself. */
struct perfev_tracing {
	const char *version; /* "0.6" */
	bool swapped;	     /* the machine had the other byte order */
	uint8_t long_bytes;
	uint32_t page_bytes;
	struct perfev_bytes header_page, header_event; /* formats of the kernel's own rings */
	/* after the last format: texts that some formats refer to; size 0: none */
	struct perfev_bytes kallsyms;	   /* symbols, in old recordings */
	struct perfev_bytes printk_formats;
	struct perfev_bytes saved_cmdlines; /* pids and their names */
	/* where it stands */
	struct perfev_bytes section;
	size_t position;
	const char *system;
	uint32_t formats_left, systems_left;
	bool ended;
};

/* The format of one tracepoint: what perfev_tracepoint_parse() takes. */
struct perfev_tracing_format {
	const char *system; /* terminated; "ftrace" for the tracers' own events */
	struct perfev_bytes text;
};

/*
 * perfev_feature_tracing() - the beginning of a TRACING_DATA section
 * @ret: points into @section.
 * Return: 0; -EINVAL (why FORMAT) when it is something else, (why TRUNCATED) when it is cut.
 */
PERFEV_API int perfev_feature_tracing(struct perfev_tracing *ret, struct perfev_bytes section,
				      struct perfev_error *err);

/*
 * perfev_feature_tracing_next() - the next format
 * Return: 1 a format; 0 the end: the texts behind the formats are set; -EINVAL when the section is
 * damaged, also in those texts.
 */
PERFEV_API int perfev_feature_tracing_next(struct perfev_tracing *tracing,
					   struct perfev_tracing_format *ret, struct perfev_error *err);

PERFEV_END

#endif
