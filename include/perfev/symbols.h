/* SPDX-License-Identifier: MIT */
/*
 * perfev/symbols.h - from addresses to names
 *
 * Address spaces are replayed from records, which must come in the order of time: feed every record,
 * and ask for addresses in between. Files are looked for by what the recording says of them; one whose
 * build-id differs from the recording's is not used. Debug files are found by build-id (/usr/lib/debug/.build-id, a cache
 * of perf's), or by the name and the checksum that the file has of them (.gnu_debuglink).
 */
#ifndef PERFEV_SYMBOLS_H
#define PERFEV_SYMBOLS_H

#include <perfev/feature.h>
#include <perfev/record.h>

PERFEV_BEGIN

struct perfev_symbols_opts {
	size_t size;
	const char *symfs;    /* look for files below this folder; NULL: the machine's own */
	const char *kallsyms; /* symbols of the recorded kernel; NULL: this kernel's, if it is that one */
	uint32_t raw_names;   /* not 0: names as in the file, not demangled */
	uint32_t foreign;     /* not 0: recorded on another machine or kernel: this one's kernel symbols
			       * and vdso are used only when their build-ids are the recorded ones */
	uint32_t no_inline;   /* not 0: functions that were inlined are not looked for */
	uint32_t coarse;      /* not 0: the nameless places of a module have one key, and no address but
			       * file_offset: for whoever does not tell them apart */
	const char *cache;    /* perf's cache of files by build-id (~/.debug); NULL: none */
	const char *proc;     /* "/proc", when processes of the recording may live still, on this machine: their files
			       * are then taken as they see them (containers); NULL: not */
	uint32_t debuginfod;  /* not 0: debug files that are missing are fetched from the servers of the environment
			       * variable DEBUGINFOD_URLS, by libdebuginfod */
	uint32_t reserved;
	const char *vmlinux;  /* the recorded kernel's image: with its build-id, if that is known; NULL: it is looked for
			       * where kallsyms are not to be had, and for lines and inlined functions */
	const char *release;  /* of the recorded kernel ("6.1.0-50-amd64"), which its files are named by; NULL: they are
			       * found by build-id only */
};

enum perfev_frame_flag {
	PERFEV_FRAME_KERNEL = 1 << 0,
	PERFEV_FRAME_UNRESOLVED = 1 << 1, /* symbol is NULL */
	PERFEV_FRAME_INLINED = 1 << 2
};

/* What is known of an address. Strings live until the symbols are freed. */
struct perfev_frame {
	const char *symbol; /* NULL when it has no name */
	const char *module; /* the file, "[kernel.kallsyms]", "[vdso]", ...; "[unknown]" */
	uint64_t address;   /* in the module's own addresses: of the symbol's start, or, without a
			     * name, of the place itself; 0 of what was inlined */
	uint64_t file_offset; /* of the place in its file; of kernel code and what has no file, the place itself */
	uint32_t flags;	    /* enum perfev_frame_flag */
	uint32_t module_id; /* for perfev_symbols_module() */
	uint32_t key;	    /* the same for the same symbol or nameless place, counted from 0; places where
			     * nothing is mapped are one */
	uint32_t offset;    /* bytes from the symbol's start */
};

struct perfev_symbols;

PERFEV_API int perfev_symbols_new(struct perfev_symbols **ret,
				  const struct perfev_symbols_opts *opts, struct perfev_error *err);
PERFEV_API void perfev_symbols_free(struct perfev_symbols *symbols);

/*
 * perfev_symbols_feed() - learn from a record
 * MMAP, MMAP2, COMM, FORK, EXIT, KSYMBOL and HEADER_BUILD_ID change what is known; a SAMPLE tells that a program
 * runs, so that what was mapped before its exec is gone; others are passed over.
 * Return: 0; -EINVAL for a damaged record; -ENOMEM.
 * Since: 0.1
 */
PERFEV_API int perfev_symbols_feed(struct perfev_symbols *symbols,
				   const struct perfev_record *record,
				   const struct perfev_layout *layout, struct perfev_error *err);

/*
 * perfev_symbols_recorded() - a file's symbols that are in the recording (perfev_feature_file())
 * They are used where the file itself is not found, and, when the recording does not say its build-id, before a file of that
 * name on this machine; the kernel's before those of this machine, unless its build-id is the recorded one. With opts.symfs
 * they are not. What @file points to is copied.
 * Return: 0, a negative errno.
 * Since: 0.1
 */
PERFEV_API int perfev_symbols_recorded(struct perfev_symbols *symbols, const struct perfev_recorded_file *file,
				       struct perfev_error *err);

/* perfev_symbols_build_id() - what the recording says of a file (of its BUILD_ID section)
 * Return: 0, or a negative errno. */
PERFEV_API int perfev_symbols_build_id(struct perfev_symbols *symbols,
				       const struct perfev_build_id *entry,
				       struct perfev_error *err);

/*
 * perfev_symbols_jitdump() - code that a process made at run time, as it wrote down in a jitdump file
 * Such a file is found by itself where the process mapped it, as it should; this is for one that did not, and for one that is
 * elsewhere now. It stays the process's over what that maps and runs.
 * @pid: whose it is; -1: as the file says, which is not so in a namespace of processes.
 * Return: 0; a negative errno: it cannot be read, or is of another format.
 * Since: 0.1
 */
PERFEV_API int perfev_symbols_jitdump(struct perfev_symbols *symbols, const char *path, int32_t pid, struct perfev_error *err);

/* An address in a recording. */
struct perfev_place {
	uint64_t ip;
	int32_t pid;
	uint32_t cpumode; /* PERF_RECORD_MISC_KERNEL, _USER, ... */
};

/*
 * perfev_symbols_find() - what is at an address, now
 * @ret: up to @max frames: the innermost function first, then those it is inlined in, as debug information tells. With
 *	@max 1 it is the one that symbol tables have: the outermost of them.
 * Return: the number of frames, at least 1: an address without a name gives an unresolved frame.
 */
PERFEV_API int perfev_symbols_find(struct perfev_symbols *symbols, const struct perfev_place *place,
				   struct perfev_frame *ret, size_t max, struct perfev_error *err);

/* perfev_symbols_frame() - what is known of a frame by its key, whatever the place: offset is 0, file_offset that of the place
 * that was met first. False when no frame has it. */
PERFEV_API bool perfev_symbols_frame(const struct perfev_symbols *symbols, uint32_t key, struct perfev_frame *ret);

/*
 * perfev_symbols_mapped() - where a place is in what is mapped there: behind the start of the mapping, plus the offset that it
 * has in its file; of the kernel and its modules, behind where they begin
 * Return: false when nothing is: then *@ret is the place itself.
 * Since: 0.1
 */
PERFEV_API bool perfev_symbols_mapped(struct perfev_symbols *symbols, const struct perfev_place *place, uint64_t *ret);

/*
 * perfev_symbols_code() - the bytes of the program at an address, now: out of the file that is mapped there
 * @size: at most; fewer where the mapping or the file ends.
 * Only of programs: the kernel's code, and what is made at run time, is in no file.
 * Return: how many, at least 1; -ENOENT (why NOT_FOUND): they are not known; -ENOMEM.
 * Since: 0.1
 */
PERFEV_API int perfev_symbols_code(struct perfev_symbols *symbols, const struct perfev_place *place, void *to, size_t size,
				   struct perfev_error *err);

/* Where code comes from. */
struct perfev_source {
	const char *file; /* NULL: not known; lives until the symbols are freed */
	uint32_t line;	  /* 0: not known */
	uint32_t reserved;
};

/*
 * perfev_symbols_source() - the lines that an address comes from, now
 * @ret: up to @max, for the same frames as perfev_symbols_find() gives: of the innermost function the line of the address,
 *	of each one around it the line where the one before is called.
 * Needs debug information, of the file or of its debug file (found by build-id).
 * Return: how many; 0 when no line is known. -ENOMEM.
 * Since: 0.1
 */
PERFEV_API int perfev_symbols_source(struct perfev_symbols *symbols, const struct perfev_place *place,
				     struct perfev_source *ret, size_t max, struct perfev_error *err);

/* perfev_symbols_comm() - the name of a thread, now; of its process when none was recorded of the thread; ":TID" when there
 * is none at all; "swapper" of the idle task, 0
 * Lives until the symbols are freed. */
PERFEV_API const char *perfev_symbols_comm(struct perfev_symbols *symbols, int32_t pid, int32_t tid);

/* perfev_symbols_thread_comm() - the same, but ":TID" when no record told of the thread, whatever its process is called
 * Since: 0.1 */
PERFEV_API const char *perfev_symbols_thread_comm(struct perfev_symbols *symbols, int32_t pid, int32_t tid);

/* A module, and what became of the search for its symbols. */
struct perfev_module_info {
	const char *name;
	const char *path;	   /* what the recording calls it: "/lib/modules/6.1.0/ext4.ko" for "[ext4]" */
	const char *file;	   /* where symbols were read, or NULL */
	const char *why;	   /* why there are none, or why an address has no name: what was looked for, and what
				    * was found and not used */
	const char *debug_file;	   /* where debug information was read; NULL: nowhere, or not asked for yet */
	const char *debug_why;	   /* what is missing of it: the first .dwo or shared file; NULL: nothing */
	struct perfev_bytes build_id; /* as recorded, or of the file; size 0: not known */
	uint32_t symbol_count;
};

/* perfev_symbols_module() - about a module that frames named; false when there is none of that number */
PERFEV_API bool perfev_symbols_module(const struct perfev_symbols *symbols, uint32_t module_id,
				      struct perfev_module_info *ret);

/*
 * perfev_build_id_read() - the build-id in a file's notes
 * @path: an ELF file, or a file that holds ELF notes only (/sys/kernel/notes).
 * Return: its size in bytes; 0 when the file has none; a negative errno.
 */
PERFEV_API int perfev_build_id_read(uint8_t ret[20], const char *path, struct perfev_error *err);

PERFEV_END

#endif
