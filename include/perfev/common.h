/* SPDX-License-Identifier: MIT */
/*
 * perfev/common.h - what every other header uses: errors, byte views, sinks, versions
 *
 * Rules that hold for the whole library:
 *
 *  - A call that can fail returns 0 or more when it worked, and a negative errno when it did not;
 *    then it fills the caller's struct perfev_error, unless that pointer is NULL.
 *  - Iterators return 1 (an item), 0 (nothing now, or the end), < 0 (an error).
 *  - What opens, makes, parses or decodes something takes the result ("ret") first; other functions
 *    take their object first. "err" is always last.
 *  - Options are structs whose first member is their size; zero in any other member is the default,
 *    and NULL means all defaults. A caller built with a newer header is refused (-E2BIG) only when
 *    it sets a member that this library does not know.
 *  - Different objects may be used by different threads at once. One object may be used by one
 *    thread at a time, except that functions which take a const object may run together.
 *  - close and free functions take NULL and cannot fail. The library never prints.
 */
#ifndef PERFEV_COMMON_H
#define PERFEV_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define PERFEV_BEGIN extern "C" {
#define PERFEV_END   }
#else
#define PERFEV_BEGIN
#define PERFEV_END
#endif

#if defined(__GNUC__) && !defined(_WIN32)
#define PERFEV_API __attribute__((visibility("default")))
#else
#define PERFEV_API
#endif

#if defined(__MINGW32__) && !defined(__clang__) /* whose printf is not C's, unless it is asked for */
#define PERFEV_PRINTF(text, args) __attribute__((format(gnu_printf, text, args)))
#elif defined(__GNUC__)
#define PERFEV_PRINTF(text, args) __attribute__((format(printf, text, args)))
#else
#define PERFEV_PRINTF(text, args)
#endif

#define PERFEV_VERSION_MAJOR 0
#define PERFEV_VERSION_MINOR 1
#define PERFEV_VERSION_PATCH 0

PERFEV_BEGIN

/*
 * perfev_version() - the version of the library that is running, as "MAJOR.MINOR.PATCH"
 * Return: a string that lives for ever.
 */
PERFEV_API const char *perfev_version(void);

/* Bytes that somebody else owns. */
struct perfev_bytes {
	const void *data;
	size_t size;
};

/* Why a call failed: stable, for programs. The text of the error has the details. */
enum perfev_why {
	PERFEV_WHY_NONE = 0,
	PERFEV_WHY_OTHER,	   /* only the errno is known */
	PERFEV_WHY_MEMORY,	   /* an allocation failed */
	PERFEV_WHY_ARGUMENT,	   /* the caller passed something that cannot be */
	PERFEV_WHY_OPTIONS,	   /* an option struct from a newer header, with an unknown member set */
	PERFEV_WHY_SYNTAX,	   /* text that does not follow its grammar */
	PERFEV_WHY_UNKNOWN_EVENT,  /* no event of that name */
	PERFEV_WHY_PARANOID,	   /* perf_event_paranoid forbids it to this user */
	PERFEV_WHY_CAPABILITY,	   /* a capability is missing */
	PERFEV_WHY_OTHER_USER,	   /* the task belongs to another user */
	PERFEV_WHY_SECCOMP,	   /* a seccomp filter forbids the system call */
	PERFEV_WHY_NO_TASK,	   /* no such process or thread, or it has ended */
	PERFEV_WHY_NO_CPU,	   /* no such CPU, or it is offline */
	PERFEV_WHY_NO_PMU,	   /* this machine has no hardware counters */
	PERFEV_WHY_NO_EVENT,	   /* this CPU or PMU does not have the event */
	PERFEV_WHY_NO_KERNEL,	   /* the kernel was built without perf events */
	PERFEV_WHY_OLD_KERNEL,	   /* this kernel does not know a field that was set */
	PERFEV_WHY_NOT_SAMPLING,   /* the event cannot sample */
	PERFEV_WHY_COMBINATION,	   /* two settings that cannot go together */
	PERFEV_WHY_RATE,	   /* the frequency is above perf_event_max_sample_rate */
	PERFEV_WHY_FILES,	   /* too many open files */
	PERFEV_WHY_LOCKED_MEMORY,  /* the budget for ring buffers is used up */
	PERFEV_WHY_BUSY,	   /* somebody else has the PMU, or the ring */
	PERFEV_WHY_COUNTERS,	   /* no counter or breakpoint register is left */
	PERFEV_WHY_NOT_FOUND,	   /* a file or a member is not there */
	PERFEV_WHY_FORMAT,	   /* the file is something else */
	PERFEV_WHY_TRUNCATED,	   /* the data end too early */
	PERFEV_WHY_CORRUPT,	   /* the data contradict themselves */
	PERFEV_WHY_UNSUPPORTED,	   /* known, but this build or version cannot do it */
	PERFEV_WHY_DISK,	   /* writing failed: no space, quota, or the device */
	PERFEV_WHY_COUNT_
};

/*
 * perfev_why_name() - a reason as a word: "paranoid", "no-pmu", ...
 * Return: a string that lives for ever; "other" for values out of range.
 */
PERFEV_API const char *perfev_why_name(enum perfev_why why);

/* An error: 512 bytes for good, owned by the caller. */
struct perfev_error {
	int code;		/* the negative errno that was returned */
	enum perfev_why why;	/* stable, for programs */
	uint64_t where;		/* column in the text (from 1), or offset in the file; UINT64_MAX if neither */
	uint64_t reserved[4];
	char text[464];		/* one line: cannot VERB OBJECT: CAUSE; REMEDY */
};

/* A place to write to. The function takes all the bytes and returns 0, or returns a negative errno,
 * which ends the work and is passed on. */
struct perfev_sink {
	int (*write)(void *context, const void *data, size_t size);
	void *context;
};

/*
 * perfev_nearest() - the candidate that a mistyped word most likely means
 * @names: count strings; NULL entries are passed over.
 * Return: one of @names, or NULL when none is near enough to be worth naming.
 */
PERFEV_API const char *perfev_nearest(const char *word, const char *const *names, size_t count);

PERFEV_END

#endif
