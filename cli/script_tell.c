/* SPDX-License-Identifier: MIT */
/* What a trace tells, in the words of perf script: kinds of branches, values of events that are no branches, reasons of gaps. */
#include "script_tell.h"

#include <inttypes.h>
#include <string.h>

#define SYNTH_WIDTH 34 /* of the column of what perf's own events tell */

static const char *const names[PERFEV_FLOW_PSB] = {
	[PERFEV_FLOW_NONE] = "",
	[PERFEV_FLOW_CALL] = "call",
	[PERFEV_FLOW_RETURN] = "return",
	[PERFEV_FLOW_JUMP] = "jmp",
	[PERFEV_FLOW_CONDITIONAL] = "jcc",
	[PERFEV_FLOW_SYSCALL] = "syscall",
	[PERFEV_FLOW_SYSRET] = "sysret",
	[PERFEV_FLOW_TRAP] = "int",
	[PERFEV_FLOW_TRAP_RETURN] = "iret",
	[PERFEV_FLOW_FAR_JUMP] = "jmp",
	[PERFEV_FLOW_INTERRUPT] = "hw int",
	[PERFEV_FLOW_ABORT] = "tx abrt",
	[PERFEV_FLOW_VM_ENTRY] = "vmentry",
};

/* What perf says of the gaps. */
static const struct {
	int code;
	const char *text;
} gaps[] = {
	[PERFEV_FLOW_GAP_NONE] = {9, "Unknown error!"},
	[PERFEV_FLOW_GAP_PACKETS] = {3, "Bad packet"},
	[PERFEV_FLOW_GAP_NO_CODE] = {5, "Failed to get instruction"},
	[PERFEV_FLOW_GAP_MISMATCH] = {6, "Trace doesn't match instruction"},
	[PERFEV_FLOW_GAP_OVERFLOW] = {7, "Overflow packet"},
	[PERFEV_FLOW_GAP_LOOP] = {10, "Never-ending loop"},
	[PERFEV_FLOW_GAP_LOST] = {8, "Lost trace data"},
	[PERFEV_FLOW_GAP_MEMORY] = {1, "Memory allocation failed"},
};

const char *tell_gap(uint32_t gap, int *code)
{
	const size_t i = gap < sizeof(gaps) / sizeof(gaps[0]) ? gap : PERFEV_FLOW_GAP_NONE;

	*code = gaps[i].code;
	return gaps[i].text;
}

/* A text of up to 8 bytes, as programs write it; "" for other values. */
static void text_of(char to[9], uint64_t value)
{
	int i, n = 0;

	for (i = 0; i < 8; i++)
		to[i] = (char)(value >> 8 * i & 0xff);
	to[8] = 0;
	while (to[n] >= 0x20 && to[n] < 0x7f)
		n++;
	for (i = n; i < 8; i++)
		if (to[i])
			n = 0;
	to[n] = 0;
}

static int put_write(char *to, size_t size, const struct perfev_flow_branch *b)
{
	char text[9];

	text_of(text, b->value);
	return snprintf(to, size, " IP: %d payload: %#" PRIx64 " %s ", b->flags & PERFEV_FLOW_AT_FROM ? 1 : 0, b->value, text);
}

static int put_ratio(const struct tell_clock *clock, char *to, size_t size, uint64_t ratio)
{
	int n = snprintf(to, size, " cbr: %2" PRIu64 " freq: %4" PRIu64 " MHz ", ratio, (ratio * clock->ratio_khz + 500) / 1000);

	if (clock->nonturbo_ratio)
		n += snprintf(to + n, size - (size_t)n, "(%3" PRIu64 "%%) ", (5 + 1000 * ratio / clock->nonturbo_ratio) / 10);
	return n;
}

/* What is told of perf's own events, in a column. */
void tell_value(const struct tell_clock *clock, char *to, size_t size, const struct perfev_flow_branch *b)
{
	int at = b->flags & PERFEV_FLOW_AT_FROM ? 1 : 0, n;
	unsigned low = b->value & 0xff, high = b->value >> 8 & 0xff;
	uint64_t rest = b->value >> 16;

	switch (b->type) {
	case PERFEV_FLOW_PSB:
		n = snprintf(to, size, " psb offs: %#" PRIx64, b->value);
		break;
	case PERFEV_FLOW_CBR:
		n = put_ratio(clock, to, size, b->value);
		break;
	case PERFEV_FLOW_PTWRITE:
		n = put_write(to, size, b);
		break;
	case PERFEV_FLOW_MWAIT:
		n = snprintf(to, size, " hints: %#" PRIx64 " extensions: %#" PRIx64 " ", b->value & UINT32_MAX, b->value >> 32);
		break;
	case PERFEV_FLOW_PWRE:
		n = snprintf(to, size, " hw: %u cstate: %u sub-cstate: %u ", (unsigned)rest, low, high);
		break;
	case PERFEV_FLOW_EXSTOP:
		n = snprintf(to, size, " IP: %d ", at);
		break;
	default:
		n = snprintf(to, size, " deepest cstate: %u last cstate: %u wake reason: %#" PRIx64 " ", high, low, rest);
		break;
	}
	for (; n < SYNTH_WIDTH; n++)
		to[n] = ' ';
	to[n] = 0;
}

void tell_flags(char *to, size_t size, const struct perfev_flow_branch *branch)
{
	const char *name = branch->type < PERFEV_FLOW_PSB ? names[branch->type] : "";
	const char *before = "";

	if (branch->type >= PERFEV_FLOW_PSB) {
		snprintf(to, size, "%s", branch->type == PERFEV_FLOW_TRANSACTION && branch->flags & PERFEV_FLOW_IN_TX ? "x" : "");
		return;
	}
	if (branch->flags & PERFEV_FLOW_BEGINS)
		before = branch->type != PERFEV_FLOW_NONE ? "tr strt " : "tr strt";
	else if (branch->flags & PERFEV_FLOW_ENDS)
		before = branch->type != PERFEV_FLOW_NONE || branch->from ? "tr end  " : "tr end";
	if (branch->flags & PERFEV_FLOW_ENDS && branch->type == PERFEV_FLOW_NONE && branch->from)
		name = "async";
	snprintf(to, size, "%s%-*s%6s", before, 15 - (int)strlen(before), name, branch->flags & PERFEV_FLOW_IN_TX ? "(x)" : "");
}
