/* SPDX-License-Identifier: MIT */
/*
 * Ways out of any bytes: the first byte says how many quarters of KiB are code, which is found again and again at all
 * addresses; the rest is a trace of Intel PT. Whatever it is, the decoder comes to its end, and what it tells is possible.
 * Code is walked in 64-bit and 32-bit mode, as the trace says; half of the inputs are of a CPU without compressed returns.
 */
#include "fuzz.h"

#include <perfev/flow.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BRANCHES_MAX 20000

static int code(void *context, const struct perfev_place *place, void *to, size_t size)
{
	const struct perfev_bytes *bytes = context;
	size_t at;

	if (!bytes->size || place->ip >> 47 == 1)
		return -1;
	if (place->ip >> 46 == 1)
		return -ENODATA;
	at = (size_t)(place->ip % bytes->size);
	if (size > bytes->size - at)
		size = bytes->size - at;
	memcpy(to, (const unsigned char *)bytes->data + at, size);
	return (int)size;
}

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void follow(struct perfev_flow *flow, const struct perfev_bytes *trace)
{
	struct perfev_flow_branch branch;
	int i, r = 1;

	check(perfev_flow_begin(flow, trace, 1, NULL) == 0);
	perfev_flow_task(flow, 7, 8, 0);
	for (i = 0; i < BRANCHES_MAX && (r = perfev_flow_next(flow, &branch, NULL)) > 0; i++) {
		check(branch.type < PERFEV_FLOW_COUNT_ && branch.tid == 8);
		check(!!(branch.flags & PERFEV_FLOW_GAP) == !!branch.why);
		check(branch.offset <= trace->size && (branch.type < PERFEV_FLOW_PSB || !branch.why));
		if (i % 64 == 63)
			perfev_flow_forget(flow);
	}
	check(r >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfev_bytes bytes, trace;
	struct perfev_flow_opts opts = {.size = sizeof(opts), .code = code, .context = &bytes,
					.tsc_ctc_n = 100, .tsc_ctc_d = 1, .mtc_period = 3, .nonturbo_ratio = 20};
	struct perfev_flow *flow;

	if (size < 2)
		return 0;
	bytes.data = data + 1;
	bytes.size = (size_t)data[0] * 256 < size - 1 ? (size_t)data[0] * 256 : (size - 1) / 2;
	trace.data = data + 1 + bytes.size;
	trace.size = size - 1 - bytes.size;
	opts.no_compression = data[0] & 1;
	opts.reference = data[0] & 2 ? UINT64_C(0x1234567890123456) : 0;
	opts.model = data[0] & 4 ? 92 : 0;
	opts.family = 6;
	if (perfev_flow_new(&flow, &opts, NULL) < 0)
		return 0;
	follow(flow, &trace);
	follow(flow, &trace); /* the same decoder again */
	perfev_flow_free(flow);
	return 0;
}
