/* SPDX-License-Identifier: MIT */
/* What a trace tells, in the words of perf script. */
#ifndef CLI_SCRIPT_TELL_H
#define CLI_SCRIPT_TELL_H

#include "cli.h"

struct tell_clock {
	uint32_t nonturbo_ratio; /* 0: not known */
	uint64_t ratio_khz;	 /* of a ratio of 1 */
};

/* perf's number and text of a gap (enum perfev_flow_gap). */
const char *tell_gap(uint32_t gap, int *code);
/* The value of what is no branch, filled up to its column: at most 160 bytes. */
void tell_value(const struct tell_clock *clock, char *to, size_t size, const struct perfev_flow_branch *b);
/* "call", "tr end  syscall", ...: at most 48 bytes. */
void tell_flags(char *to, size_t size, const struct perfev_flow_branch *branch);

#endif
