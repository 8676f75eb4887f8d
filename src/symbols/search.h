/* SPDX-License-Identifier: MIT */
/* Where the files of a module may be: itself, its debug file, and the files that debug information is spread over. */
#ifndef SYMBOLS_SEARCH_H
#define SYMBOLS_SEARCH_H

#include "dwarf.h"
#include "elf.h"

struct module_places {
	const char *symfs;    /* a folder that stands for the root; or NULL */
	const char *cache;    /* perf's cache of files by build-id; or NULL */
	const char *proc;     /* where processes that still live show their roots; or NULL */
	const char *vmlinux;  /* the kernel's image, as the user says; or NULL */
	const char *release;  /* of the recorded kernel, which is in names of images; or NULL */
	bool debuginfod;      /* debug files may be fetched */
	const struct recorded_files *recorded; /* symbols that are in the recording */
};

#define SEARCH_PATH 8192

struct search {
	const struct module_places *places;
	const char *name;     /* as recorded */
	int32_t pid;	      /* of a process that maps it; 0: not known */
	const struct elf *mapped; /* the mapped file; NULL: it was not found */
	char *mapped_path;
	char *debug_path;     /* of its debug file, when one is open */
	uint8_t id[20];
	uint8_t id_size;      /* 0: not known */
	bool recorded_id;     /* the recording says it */
	uint64_t bare_inode;  /* of a mapped file of which the kernel found no build-id; 0: it is not known */
	bool linked;	      /* the mapped file names a debug file */
	char refused[512];    /* what was found, and not used; "": nothing */
};

enum search_fit { FIT_NO_FILE, FIT_NO_ELF, FIT_OTHER_ID, FIT_YES };

/* search_mapped() - the file that was mapped, whose build-id is the recorded one if there is one
 * @path: SEARCH_PATH bytes: where it is.
 * @error: of the file where the recording says it is, when it does not fit.
 * Return: FIT_YES, or why the file where the recording says it is cannot be used. */
enum search_fit search_mapped(struct search *s, struct elf *ret, char *path, int *error);

/* search_debug() - a debug file of it that has what is @wanted: by build-id, then by its .gnu_debuglink
 * @path: SEARCH_PATH bytes. */
bool search_debug(struct search *s, struct elf *ret, char *path, bool (*wanted)(const struct elf *));

/* search_kernel() - the image of a kernel, or its debug file, that has what is @wanted: the one that the user names, which is
 * believed when no build-id is known; else by build-id, and then by its usual names
 * @path: SEARCH_PATH bytes. */
bool search_kernel(struct search *s, struct elf *ret, char *path, bool (*wanted)(const struct elf *));

/* search_object() - the file of a module of the kernel, which may be packed, or its debug file, that has what is @wanted
 * @path: SEARCH_PATH bytes. */
bool search_object(struct search *s, struct elf *ret, char *path, bool (*wanted)(const struct elf *));

/* search_cached() - the path of a file of a build-id in a cache like perf's, whether it is there or not; false: there is none
 * @path: SEARCH_PATH bytes. */
bool search_cached(const uint8_t *id, uint8_t id_size, const char *cache, const char *file, char *path);

/* search_list() - the ways to a process's list of functions, "/tmp/perf-PID.map": number 0, 1, ..., in @path of SEARCH_PATH bytes;
 * false: there is none of that number. */
bool search_list(const struct module_places *places, const char *name, unsigned number, char *path);
/* search_in_process() - where a process that still lives sees a file; false: nothing is known of processes. */
bool search_in_process(const struct module_places *places, int32_t pid, const char *name, char *path);

/* search_other() - a struct dwarf_others' open */
bool search_other(void *search, struct elf *ret, struct dwarf_wish *wish);

#endif
