/* SPDX-License-Identifier: MIT */
/*
 * perfev/jitdump.h - what a JIT compiler wrote down of its code: names, bytes, lines (jit-PID.dump)
 *
 * Such a file is announced by an executable mapping of it in the recording, of the process that wrote it. Files of any
 * machine are read on any host. All is views of the file, which is mapped, until the reader is closed.
 */
#ifndef PERFEV_JITDUMP_H
#define PERFEV_JITDUMP_H

#include <perfev/common.h>

PERFEV_BEGIN

enum perfev_jit_type {
	PERFEV_JIT_LOAD = 0,
	PERFEV_JIT_MOVE = 1,
	PERFEV_JIT_DEBUG = 2,	 /* lines of the code of the LOAD that follows */
	PERFEV_JIT_CLOSE = 3,
	PERFEV_JIT_UNWINDING = 4 /* of the code of the LOAD that follows */
};

/* Times are of the processor's own counter, and need a TIME_CONV record; else they are CLOCK_MONOTONIC, in ns. */
#define PERFEV_JIT_ARCH_TIMESTAMP 1

struct perfev_jitdump;

struct perfev_jitdump_opts {
	size_t size;
	uint32_t partial; /* not 0: damage ends the records; perfev_jitdump_damage() says what it was */
	uint32_t copy;	  /* not 0: the file is read into memory when it is opened: it may be cut by others */
};

/* What the file says of itself. */
struct perfev_jitdump_info {
	uint32_t version;
	uint32_t elf_machine; /* EM_* */
	uint32_t pid;	      /* in the namespace of the process */
	bool swapped;	      /* the other byte order */
	uint64_t timestamp, flags;
	uint64_t size; /* bytes of the file */
};

/* LOAD: a function; MOVE: it has gone from old_addr to code_addr. */
struct perfev_jit_code {
	uint32_t pid, tid;
	uint64_t vma, code_addr, old_addr, code_size, index;
	const char *name; /* terminated; NULL of MOVE */
	struct perfev_bytes code; /* its instructions; empty of MOVE */
};

/* DEBUG: from which lines the code comes. */
struct perfev_jit_lines {
	uint64_t code_addr, count;
	struct perfev_bytes entries; /* for perfev_jit_line_next() */
	bool swapped;
};

struct perfev_jit_unwinding {
	uint64_t eh_frame_hdr_size, mapped_size;
	struct perfev_bytes data; /* .eh_frame and, at its end, .eh_frame_hdr */
};

struct perfev_jit_record {
	uint32_t type; /* enum perfev_jit_type, or a later one: then only body is set */
	uint32_t size; /* bytes, header included */
	uint64_t timestamp, offset; /* of the record in the file */
	struct perfev_bytes body;   /* all behind its header */
	union {
		struct perfev_jit_code code; /* LOAD, MOVE */
		struct perfev_jit_lines lines;
		struct perfev_jit_unwinding unwinding;
	} as;
};

/*
 * perfev_jitdump_open() - open such a file
 * It has to be a regular one: its name comes from a recording, and may be that of anything.
 * Return: 0; -ENOENT, -EACCES, ...; -EINVAL (why FORMAT) when it is something else, (why TRUNCATED, CORRUPT) when its
 * header is damaged.
 * Since: 0.1
 */
PERFEV_API int perfev_jitdump_open(struct perfev_jitdump **ret, const char *path,
				   const struct perfev_jitdump_opts *opts, struct perfev_error *err);

/* perfev_jitdump_open_memory() - the same of a buffer, which must live until the reader is closed
 * @name: what to call it in errors. */
PERFEV_API int perfev_jitdump_open_memory(struct perfev_jitdump **ret, struct perfev_bytes bytes, const char *name,
					  const struct perfev_jitdump_opts *opts, struct perfev_error *err);
PERFEV_API void perfev_jitdump_close(struct perfev_jitdump *dump);

/* perfev_jitdump_describe() - what the header says */
PERFEV_API void perfev_jitdump_describe(const struct perfev_jitdump *dump, struct perfev_jitdump_info *ret);

/*
 * perfev_jitdump_next() - the next record, in the order of the file
 * Return: 1 a record; 0 the end; -EINVAL (why TRUNCATED or CORRUPT) with err->where = the offset. A writer may have died
 * in the middle of one.
 */
PERFEV_API int perfev_jitdump_next(struct perfev_jitdump *dump, struct perfev_jit_record *ret,
				   struct perfev_error *err);

/* With opts.partial: what ended the records before their time, or NULL. */
PERFEV_API const struct perfev_error *perfev_jitdump_damage(const struct perfev_jitdump *dump);

/* A place in the code, and the line that it comes from. */
struct perfev_jit_line {
	uint64_t addr;
	uint32_t line, discriminator;
	const char *file; /* terminated */
};

/* Where a walk over lines is; zero at first. */
struct perfev_jit_line_position {
	uint64_t index;
	size_t at;
	const char *file;
};

/* perfev_jit_line_next() - the next line; false at the end, or where the entries are damaged */
PERFEV_API bool perfev_jit_line_next(const struct perfev_jit_lines *lines, struct perfev_jit_line_position *position,
				     struct perfev_jit_line *ret);

PERFEV_END

#endif
