/* SPDX-License-Identifier: MIT */
/* Texts of events, where there are neither PMUs nor tracepoints. */
#ifndef TESTS_UNIT_NOWHERE_H
#define TESTS_UNIT_NOWHERE_H

#include "test.h"

/* A machine without PMUs and tracepoints. */
static inline int parse_all(struct perfev_events **ret, const char *text, struct perfev_error *error)
{
	static const struct perfev_parse_opts nowhere = {sizeof(nowhere), "/nonexistent", "/nonexistent"};

	return perfev_events_parse_at(ret, text, &nowhere, error);
}

#endif
