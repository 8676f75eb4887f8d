/* SPDX-License-Identifier: MIT */
/* Filling in errors. Every function returns the code it was given, so that a failing function can
 * end with "return error_set(...)". @err may be NULL: then nothing is formatted. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <perfev/common.h>

#define ERROR_NOWHERE UINT64_MAX

/* The text is "cannot VERB OBJECT: CAUSE; REMEDY", one line, no full stop. Control characters that
 * come from outside are replaced. */
int error_set(struct perfev_error *err, int code, enum perfev_why why, uint64_t where,
	      const char *format, ...) PERFEV_PRINTF(5, 6);

/* The same when only the errno is known: its own text, and what helps against such, are put at the end. */
int error_errno(struct perfev_error *err, int code, const char *format, ...) PERFEV_PRINTF(3, 4);

/* -ENOMEM. */
int error_memory(struct perfev_error *err);

/* Put more text at the end of the one that is there. */
void error_append(struct perfev_error *err, const char *format, ...) PERFEV_PRINTF(2, 3);

#endif
